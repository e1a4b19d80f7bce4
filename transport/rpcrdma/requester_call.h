/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_call: sends calls of ours.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_REQUESTER_CALL_H
#define RNFS_TRANSPORT_RPCRDMA_REQUESTER_CALL_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* requester_call.c: sends calls of ours. */
int rpcrdma_send_call(struct rpc_xprt *x, struct rpc_call *call, uint32_t off);
/* Sends as many calls from the backlog as credits allow. Progress thread. */
void rpcrdma_send_backlog(struct rpcrdma_conn *c);

#endif
