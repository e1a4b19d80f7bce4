/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_close: closes the doors of a call of ours, and tells the owner. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_REQUESTER_CLOSE_H
#define RNFS_TRANSPORT_RPCRDMA_REQUESTER_CLOSE_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Logs the fault of the reply to call xid, as the end of a sentence. Always -EIO. */
int rpcrdma_bad_reply(struct rpcrdma_conn *c, uint32_t xid, const char *what);
/* All doors of p, which is in `closing`, are closed: tells the owner. */
/* requester_reply.c: takes replies to calls of ours. */
void rpcrdma_reply_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p);
/* Closes the doors of p, which is in no list. The owner gets the reply now, or when the provider
 * has closed the doors. */
void rpcrdma_close_doors(struct rpcrdma_conn *c, struct rpcrdma_posted *p);
/* Reports calls that could not be sent to the owner. */
void rpcrdma_reply_failed(struct rpcrdma_conn *c);
bool rpcrdma_forget(struct rpc_xprt *x, struct rpc_call *call);

#endif
