/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_read: RDMA Reads, and calls that wait for memory. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_READ_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_READ_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Continues with t, now, or when there is memory for t. True: all of t has come, and the caller
 * delivers t. False: t comes from rpcrdma_read_next() later. */
bool rpcrdma_read_go(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* An RDMA Read of t has ended. */
void rpcrdma_read_done(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* The next call or reply that has come by RDMA Reads, for the caller to deliver; NULL: none. */
struct rpcrdma_taken *rpcrdma_read_next(struct rpcrdma_conn *c);
/* Continues with calls that waited for memory. As rpcrdma_read_next(). */
struct rpcrdma_taken *rpcrdma_read_waiting(struct rpcrdma_conn *c);
/* Frees all undelivered calls. */
void rpcrdma_read_drop_all(struct rpcrdma_conn *c);

#endif
