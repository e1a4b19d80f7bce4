/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cork: what one thread sends in a row leaves together.
 *
 * A thread that is about to submit several calls puts the cork in, submits them, and pulls it out:
 * connections that can keep messages back send them with one system call then. While it is in, the
 * thread must not wait for anything that a call of its own brings. A connection keeps nothing back
 * for a call that is alone under way on it: that one would only get there later.
 */
#ifndef RNFS_TRANSPORT_RPC_CORK_H
#define RNFS_TRANSPORT_RPC_CORK_H

#include <stdbool.h>

struct rpc_xprt;

/* From here on what the calling thread sends may wait. Not nested. */
void cork_put(void);
/* Sends what waits; from here on nothing does any more. Harmless without cork_put(). */
void cork_pull(void);
/* How many messages of the calling thread wait. */
unsigned cork_held(void);

/* For connections. May a message that the calling thread sends on x now wait? If so it must, until
 * x->ops->flush(). */
bool cork_keeps(struct rpc_xprt *x);

#endif
