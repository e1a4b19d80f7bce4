/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_credit: how many calls one side of a connection may have under way (RFC 8166
 * section 3.3.1).
 *
 * A credit is a receive buffer that waits at the peer. It is taken before a call is sent and comes
 * back with the reply. A call that its owner takes back while it is under way (an orphan) keeps its
 * credit: the peer still works on it, and its answer, which belongs to nobody by then, frees it.
 *
 * Invariants: used <= max, orphans <= used, 1 <= granted <= max. used may exceed granted after the
 * peer has lowered its grant. No lock of its own: the connection's.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_CREDIT_H
#define RNFS_TRANSPORT_RPCRDMA_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

struct rpcrdma_credit {
	uint32_t max; /* ours: what we ask for, and have receives for */
	uint32_t granted;
	uint32_t used;
	uint32_t orphans; /* of used */
};

/* max >= 1. A connection starts with one credit (RFC 8166 section 3.3.3). */
static inline void rpcrdma_credit_init(struct rpcrdma_credit *c, uint32_t max)
{
	*c = (struct rpcrdma_credit){.max = max, .granted = 1};
}

/* One more call may go out: true, and it is counted. */
static inline bool rpcrdma_credit_take(struct rpcrdma_credit *c)
{
	if (c->used >= c->granted)
		return false;
	c->used++;
	return true;
}

/* A call has ended, or was never sent. */
static inline void rpcrdma_credit_put(struct rpcrdma_credit *c)
{
	if (c->used > c->orphans)
		c->used--;
}

/* What the peer grants, clamped at the door: 0 would stop the connection for good and counts as 1;
 * more than max is of no use. */
static inline void rpcrdma_credit_grant(struct rpcrdma_credit *c, uint32_t n)
{
	c->granted = n == 0 ? 1 : n > c->max ? c->max : n;
}

/* A call under way has lost its owner. */
static inline void rpcrdma_credit_orphan(struct rpcrdma_credit *c)
{
	if (c->orphans < c->used)
		c->orphans++;
}

/* A reply that belongs to nobody: an orphan's, if there is one. A forged one can do no harm: the
 * peer only lets us send more to itself. */
static inline void rpcrdma_credit_late(struct rpcrdma_credit *c)
{
	if (c->orphans) {
		c->orphans--;
		c->used--;
	}
}

#endif
