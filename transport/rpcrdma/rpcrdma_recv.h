/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_recv: the receive buffers of a connection. Progress thread, or the connecting thread
 * before.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RECV_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RECV_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Makes all receives. 0, or -ENOMEM with *e set. */
int rpcrdma_recvs_init(struct rpcrdma_conn *c, struct err *e);
/* Gives a receive back to be posted again. Progress thread. */
void rpcrdma_recv_done(struct rpcrdma_conn *c, struct rpcrdma_recv *r);
/* Posts the receives that were given back. */
void rpcrdma_recv_replenish(struct rpcrdma_conn *c);
/* Gives back the buffers of a message. */
void rpcrdma_msg_done(struct rpcrdma_conn *c, struct rpcrdma_msg *m);

#endif
