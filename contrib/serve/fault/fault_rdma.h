/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault_rdma: the faults that only a connection of RPC-over-RDMA can have.
 */
#ifndef RNFS_SERVE_FAULT_FAULT_RDMA_H
#define RNFS_SERVE_FAULT_FAULT_RDMA_H

#include "contrib/serve/fault/fault_xprt.h"

struct fault_rdma;

/* Is x a connection of RPC-over-RDMA? Call before fault_xprt_wrap(). */
bool fault_rdma_is(const struct rpc_xprt *x);
/* Wraps the provider of x, an RPC-over-RDMA connection that is not established yet. NULL: no
 * memory. */
struct fault_rdma *fault_rdma_new(struct rpc_xprt *x);
/* Call after the end of x. Accepts NULL. */
struct fault_rdma *fault_rdma_free(struct fault_rdma *f);

/* Refuses req with a fault of kind ERR_VERS or a later kind, in place of the reply. Ends req. */
void fault_rdma_refuse(const struct rpc_xprt_ops *inner, struct rpc_xprt *x, struct rpc_req *req,
	enum fault_kind kind);
/* Sends the reply with a fault of kind NO_CREDIT, ERR_CHUNK, ERR_VERS, LONG_CHUNK or CLOSE_MID, and
 * ends req. The reply's XID is at off of req->msg. inner: x's wrapped operations. Any thread. */
void fault_rdma_reply(struct fault_rdma *f, const struct rpc_xprt_ops *inner, struct rpc_xprt *x,
	struct rpc_req *req, uint32_t off, enum fault_kind kind);

#endif
