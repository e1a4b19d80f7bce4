/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_wc: the completions of a connection, in order. Progress thread.
 *
 * Completions are handled in the order in which they were polled: first the rest of wc[], then
 * completions that forget() polled while waiting for doors to close (later[]), then the provider's
 * next ones. An upcall may call forget(), so no function here keeps an element across a handler.
 */
#include "transport/rpcrdma/rpcrdma_wc.h"

#include <errno.h>
#include <stdlib.h>

#include "transport/rpcrdma/rpcrdma_hold.h"
#include "transport/rpcrdma/rpcrdma_linger.h"

bool rpcrdma_wc_fill(struct rpcrdma_conn *c)
{
	if (c->wcs.iwc < c->wcs.nwc || c->wcs.ilater < c->wcs.nlater)
		return true;
	rpcrdma_unhold(c);
	c->wcs.iwc = 0;
	c->wcs.nwc = c->prov->poll(c->pc, c->wcs.wc, RPCRDMA_BATCH);
	return c->wcs.nwc > 0;
}

bool rpcrdma_wc_next(struct rpcrdma_conn *c, struct prov_wc *wc)
{
	if (!rpcrdma_wc_fill(c))
		return false;
	if (c->wcs.iwc < c->wcs.nwc) {
		*wc = c->wcs.wc[c->wcs.iwc++];
		return true;
	}
	*wc = c->wcs.later[c->wcs.ilater++];
	if (c->wcs.ilater == c->wcs.nlater)
		c->wcs.ilater = c->wcs.nlater = 0;
	return true;
}

static int later_add(struct rpcrdma_conn *c, const struct prov_wc *wc)
{
	if (c->wcs.nlater == c->wcs.later_cap) {
		size_t cap = c->wcs.later_cap ? c->wcs.later_cap * 2 : 64;
		struct prov_wc *more = realloc(c->wcs.later, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->wcs.later = more;
		c->wcs.later_cap = cap;
	}
	c->wcs.later[c->wcs.nlater++] = *wc;
	return 0;
}

/* Does one of n completions, polled and not handled yet, close the doors of p? The cookie of a
 * completion that names p becomes 0, because p is about to be freed. */
static bool take_closed(struct prov_wc *wc, size_t n, const struct rpcrdma_posted *p)
{
	bool closed = false;

	for (size_t i = 0; i < n; i++) {
		bool mine = wc[i].op == PROV_WC_WITHDRAWN && wc[i].cookie == (uintptr_t)p;

		if (mine)
			wc[i].cookie = 0;
		closed |= mine || wc[i].op == PROV_WC_DOWN;
	}
	return closed;
}

void rpcrdma_await_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	struct prov_wc wc[RPCRDMA_BATCH];

	rpcrdma_unhold(c);
	rpcrdma_linger_end(c);
	p->closed |= rpcrdma_is_down(c); /* no completion follows the last */
	/* search both arrays in any case: no completion may name p afterwards */
	if (!p->closed) {
		p->closed =
			take_closed(c->wcs.wc + c->wcs.iwc, (size_t)(c->wcs.nwc - c->wcs.iwc), p);
		if (c->wcs.nlater)
			p->closed |= take_closed(
				c->wcs.later + c->wcs.ilater, c->wcs.nlater - c->wcs.ilater, p);
	}
	while (!p->closed) {
		int n = c->prov->poll(c->pc, wc, RPCRDMA_BATCH);

		if (n <= 0)
			c->prov->wait(c->pc, -1, 10);
		p->closed = n > 0 && take_closed(wc, (size_t)n, p);
		for (int i = 0; i < n; i++)
			if (later_add(c, &wc[i]))
				rpcrdma_break(c, "out of memory");
	}
}
