/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_credit: how many messages may be under way in one direction of a connection (RFC 8166
 * section 3.3.1).
 *
 * A credit is a receive buffer that waits at the receiver. A connection has two counters. One
 * counts our messages; the peer grants. The other counts the peer's messages; we grant, and count
 * to find a peer that exceeds the grant. The same functions serve both.
 *
 * A credit is taken with each message and comes back when the receive buffer behind it is known to
 * wait again. Only the Sends of calls count. The credits come back with the reply: one, or several
 * together for a continued call (rpcrdma_continue.c). An orphan is a call under way that the owner
 * has taken back. An orphan keeps the credits, because the peer still works on the call. The peer's
 * answer frees the credits, although no owner waits for the answer.
 *
 * Invariants: used <= max, orphans <= used, 1 <= granted <= max. used may exceed granted after the
 * grant was lowered. The connection's lock guards the counters.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CREDIT_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

struct rpcrdma_credit {
	uint32_t max; /* most useful credits: as many as we ask for, or have receives for; constant
		       */
	uint32_t granted;
	uint32_t used;
	uint32_t orphans; /* of used */
};

/* Sets the receiver's grant, clamped: 0 would stop the connection for good and counts as 1; more
 * than max is of no use. */
static inline void rpcrdma_credit_grant(struct rpcrdma_credit *c, uint32_t n)
{
	c->granted = n == 0 ? 1 : n > c->max ? c->max : n;
}

/* max >= 1. granted: 1 for our messages (RFC 8166 section 3.3.3). */
static inline void rpcrdma_credit_init(struct rpcrdma_credit *c, uint32_t max, uint32_t granted)
{
	*c = (struct rpcrdma_credit){.max = max};
	rpcrdma_credit_grant(c, granted);
}

/* Takes credits for n more messages, all or none. False: there are not enough. */
static inline bool rpcrdma_credit_take(struct rpcrdma_credit *c, uint32_t n)
{
	if (c->used >= c->granted || n > c->granted - c->used)
		return false;
	c->used += n;
	return true;
}

/* The credits of n messages are back, or the messages were never sent. */
static inline void rpcrdma_credit_put(struct rpcrdma_credit *c, uint32_t n)
{
	uint32_t most = c->used - c->orphans;

	c->used -= n < most ? n : most;
}

/* A call under way, of n messages, has lost its owner. */
static inline void rpcrdma_credit_orphan(struct rpcrdma_credit *c, uint32_t n)
{
	uint32_t most = c->used - c->orphans;

	c->orphans += n < most ? n : most;
}

/* A reply without an owner has come: the answer to an orphan of n messages, if there is one. A
 * forged reply does no harm: the peer only lets us send more to itself. */
static inline void rpcrdma_credit_late(struct rpcrdma_credit *c, uint32_t n)
{
	if (n > c->orphans)
		n = c->orphans;
	c->orphans -= n;
	c->used -= n;
}

#endif
