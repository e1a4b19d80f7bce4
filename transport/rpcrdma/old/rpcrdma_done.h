/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_done: RDMA_DONE, and its credit, at the requester.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_DONE_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_DONE_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Sends RDMA_DONE. The caller has a credit for the RDMA_DONE. The credit comes back with a later
 * answer of the peer. */
void rpcrdma_send_done(struct rpcrdma_conn *c, uint32_t xid);
/* Credits of RDMA_DONEs, the first n of all, are back. */
void rpcrdma_dones_back_locked(struct rpcrdma_conn *c, uint32_t n) REQUIRES(c->lock);

#endif
