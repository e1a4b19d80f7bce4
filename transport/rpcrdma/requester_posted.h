/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_posted: a call of ours on a connection, and its doors.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_REQUESTER_POSTED_H
#define RNFS_TRANSPORT_RPCRDMA_REQUESTER_POSTED_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* A new posted call, or NULL: no memory. */
struct rpcrdma_posted *rpcrdma_posted_new_locked(struct rpcrdma_conn *c) REQUIRES(c->lock);
/* Opens a door to sge and describes the door in *seg. p has room for the door. */
int rpcrdma_expose(struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct mem_sge *sge,
	unsigned access, struct rpcrdma_seg *seg);
/* Room for n doors more. 0 or -ENOMEM. */
int rpcrdma_reserve_doors(struct rpcrdma_posted *p, unsigned n);
/* A Write chunk for a sink; there is room. 0, or prov->expose()'s. */
int rpcrdma_expose_sink(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	const struct seg_list *sink);
/* Drops the memory of p; all doors of p are closed. No lock is needed. */
void rpcrdma_posted_let_go(struct rpcrdma_posted *p);
/* Frees p after rpcrdma_posted_let_go(). */
void rpcrdma_posted_free_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p) REQUIRES(c->lock);

#endif
