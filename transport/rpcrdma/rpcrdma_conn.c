/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_conn: the steps with a connection that all its files share.
 */
#include "transport/rpcrdma/rpcrdma_conn.h"

#include <stdio.h>

unsigned rpcrdma_spin_us = 20;
size_t rpcrdma_pulled_max = 64u << 20;
unsigned rpcrdma_pull_ms = 30000;
unsigned rpcrdma_lent_ms = 30000;

void rpcrdma_begin_hdr(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, uint32_t xid,
	enum rpcrdma_dir dir, uint32_t proc)
{
	rpcrdma_hdr_init(h, xid, dir, proc);
	h->grant = c->requester && !c->dialect->talks ? c->reverse : rpcrdma_granted(c);
	h->want = rpcrdma_wanted(c);
}

void rpcrdma_break(struct rpcrdma_conn *c, const char *fmt, ...)
{
	va_list ap;

	atomic_store_explicit(&c->broken, true, memory_order_relaxed);
	mutex_lock(&c->lock);
	if (!c->why[0]) {
		va_start(ap, fmt);
		vsnprintf(c->why, sizeof(c->why), fmt, ap);
		va_end(ap);
	}
	mutex_unlock(&c->lock);
	c->prov->disconnect(c->pc);
}
