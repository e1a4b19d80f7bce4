/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cork: sends several messages of one thread together.
 *
 * A thread that is about to submit several calls puts the cork in, submits the calls, and pulls the
 * cork out. Connections that can keep messages back then send them with one system call. While the
 * cork is in, the thread must not wait for a result of its own calls. A connection does not keep
 * back the only call under way on it, since that would only delay the call.
 */
#ifndef RNFS_TRANSPORT_RPC_CORK_H
#define RNFS_TRANSPORT_RPC_CORK_H

#include <stdbool.h>

struct rpc_xprt;

/* From here on messages of the calling thread may wait. Not nested. */
void cork_put(void);
/* Sends the waiting messages; later messages do not wait. Harmless without cork_put(). */
void cork_pull(void);
/* The number of waiting messages of the calling thread. */
unsigned cork_held(void);

/* For connections. May a message that the calling thread sends on x now wait? If so, it must wait
 * until x->ops->flush(). */
bool cork_keeps(struct rpc_xprt *x);

#endif
