/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * responder_reply: answers calls of the peer.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RESPONDER_REPLY_H
#define RNFS_TRANSPORT_RPCRDMA_RESPONDER_REPLY_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* responder_reply.c: answers calls of the peer. */
void rpcrdma_send_reply(struct rpc_xprt *x, struct rpc_req *req, uint32_t off);
void rpcrdma_drop(struct rpc_xprt *x, struct rpc_req *req);
/* A call of the peer's, of so many Sends, is no longer served. */
void rpcrdma_serve_done(struct rpcrdma_conn *c, unsigned sends);

#endif
