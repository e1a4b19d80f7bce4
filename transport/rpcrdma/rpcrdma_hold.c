/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_hold: holds messages back, so that several leave together.
 *
 * The messages that the progress thread sends while handling the completions of one poll() leave
 * with one system call, if the provider can do so: at depth 16 the system calls for messages would
 * cost more than all other work. No message is held back across a poll, for longer than
 * RPCRDMA_HOLD_NS if more work is left, or behind large RDMA Writes. Other threads hold back while
 * they have the cork in.
 */
#include "transport/rpcrdma/rpcrdma_hold.h"

#include "transport/clock.h"
#include "transport/rpc/cork.h"

/* Only the handling thread itself gets true: no other thread can match the handler. */
bool rpcrdma_is_handling(const struct rpcrdma_conn *c)
{
	/* acquire: then `handler` is the present handler, not a former one */
	return atomic_load_explicit(&c->handling, memory_order_acquire) &&
	       pthread_equal(
		       atomic_load_explicit(&c->handler, memory_order_relaxed), pthread_self());
}

unsigned rpcrdma_more(struct rpcrdma_conn *c, bool alone)
{
	if (!rpcrdma_is_handling(c))
		return !alone && c->prov->flush && cork_keeps(&c->x) ? PROV_MORE : 0;
	if (!c->prov->flush || c->held >= RPCRDMA_HELD_MAX) {
		c->held = 0; /* this message takes the others along */
		return 0;
	}
	if (!c->held++)
		c->held_since = clock_ns();
	return PROV_MORE;
}

void rpcrdma_unhold(struct rpcrdma_conn *c)
{
	if (c->held)
		c->prov->flush(c->pc);
	c->held = 0;
}
