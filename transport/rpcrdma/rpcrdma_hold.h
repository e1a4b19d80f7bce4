/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_hold: holds messages back, so that several leave together.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_HOLD_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_HOLD_H

#include "transport/rpcrdma/rpcrdma_conn.h"

#define RPCRDMA_HOLD_NS 50000 /* a message is held back no longer while other work is left */

/* The flags for a message without large RDMA Writes before it. PROV_MORE on the progress thread
 * while handling the completions of one poll(), so that the answers leave together. On other
 * threads the cork (cork.h) decides, unless the message is alone under way. 0 otherwise. */
unsigned rpcrdma_more(struct rpcrdma_conn *c, bool alone);
/* Is the calling thread handling completions now? */
bool rpcrdma_is_handling(const struct rpcrdma_conn *c);
/* Sends the messages that are held back. Progress thread. */
void rpcrdma_unhold(struct rpcrdma_conn *c);

#endif
