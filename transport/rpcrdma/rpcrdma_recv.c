/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_recv: the receive buffers of a connection.
 */
#include "transport/rpcrdma/rpcrdma_recv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rpcrdma_recv_done(struct rpcrdma_conn *c, struct rpcrdma_recv *r)
{
	STAILQ_INSERT_TAIL(&c->to_post, r, link);
}

/* A call may keep the receive buffer with the call's data (rpc_call.moved); the receive then gets
 * another buffer. Without memory, the receive stays in `to_post` until the next time: there are
 * c->batch more receives than credits. */
void rpcrdma_recv_replenish(struct rpcrdma_conn *c)
{
	struct rpcrdma_recv *r;

	while ((r = STAILQ_FIRST(&c->to_post))) {
		struct mem_sge sge;
		int rc;

		if (r->buf && mem_buf_is_shared(r->buf))
			r->buf = mem_buf_unref(r->buf);
		if (!r->buf)
			r->buf = mem_buf_get_registered(c->pool, c->recv_off + c->recv_size);
		if (!r->buf)
			return;
		sge = mem_buf_sge(r->buf, c->recv_off, c->recv_size);
		rc = c->prov->post_recv(c->pc, (uintptr_t)r, &sge);
		if (rc) {
			if (rc != -ENOTCONN)
				rpcrdma_break(
					c, "a receive could not be posted: %s", strerror(-rc));
			return;
		}
		STAILQ_REMOVE_HEAD(&c->to_post, link);
	}
}

int rpcrdma_recvs_init(struct rpcrdma_conn *c, struct err *e)
{
	bool scarce;

	c->recvs = calloc(c->nrecvs, sizeof(*c->recvs));
	c->zero = mem_buf_get(c->pool, 4);
	if (!c->recvs || !c->zero)
		goto nomem;
	memset(c->zero->data, 0, 4);
	for (unsigned i = 0; i < c->nrecvs; i++) {
		c->recvs[i].buf = mem_buf_get_registered(c->pool, c->recv_off + c->recv_size);
		if (!c->recvs[i].buf)
			goto nomem;
		rpcrdma_recv_done(c, &c->recvs[i]);
	}
	return 0;
nomem:
	scarce = mem_pool_set_aside(c->pool, 1) != SIZE_MAX;
	err_set(e, scarce ? ERR_NO_MEMLOCK : ERR_INTERNAL,
		"no memory for %u receive buffers of %u bytes%s", c->nrecvs, c->recv_size,
		scarce ? ": raise RLIMIT_MEMLOCK (ulimit -l), or use iwarp or tcp" : "");
	return -ENOMEM;
}

void rpcrdma_msg_done(struct rpcrdma_conn *c, struct rpcrdma_msg *m)
{
	if (m->recv)
		rpcrdma_recv_done(c, m->recv);
	while (m->nmore)
		rpcrdma_recv_done(c, m->more[--m->nmore].recv);
	m->joined = mem_buf_unref(m->joined);
	m->recv = NULL;
}
