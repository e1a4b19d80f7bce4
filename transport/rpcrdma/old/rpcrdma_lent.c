/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_lent: replies with Read chunks, at the responder (draft-ietf-nfsv4-rpcrdma-01
 * section 3.8).
 *
 *   lent       the peer may read; from before the Send of the reply to the RDMA_DONE
 *   returned   RDMA_DONE has come and the doors are being closed
 *
 * The responder lends a copy: other replies need the buffers, and the peer may be slow. There are
 * three bounds. While RPCRDMA_LENT_MAX replies or RPCRDMA_LENT_BYTES are lent, no call begins, so
 * only calls already being served can add to the lent replies. A peer that keeps a reply for
 * rpcrdma_lent_ms has broken the protocol, and loses the connection.
 */
#include "transport/rpcrdma/old/rpcrdma_lent.h"

#include <errno.h>
#include <stdlib.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpcrdma/rpcrdma_hold.h"

bool rpcrdma_lends_enough(struct rpcrdma_conn *c)
{
	return c->old.nlent >= RPCRDMA_LENT_MAX ||
	       c->old.lent_bytes > mem_pool_share(c->pool, RPCRDMA_LENT_BYTES);
}

/* --- out -------------------------------------------------------------------------------------- */

static struct rpcrdma_lent *lent_new(struct rpcrdma_conn *c, uint32_t xid, uint64_t len)
{
	struct rpcrdma_lent *l = malloc(sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct rpcrdma_lent){.xid = xid, .since_ns = clock_ns(), .len = (uint32_t)len};
	l->buf = mem_buf_get(c->pool, len);
	if (!l->buf) {
		free(l);
		return NULL;
	}
	c->old.nlent++;
	c->old.lent_bytes += l->len;
	return l;
}

static void lent_free(struct rpcrdma_conn *c, struct rpcrdma_lent *l)
{
	c->old.lent_bytes -= l->len;
	c->old.nlent--;
	mem_buf_unref(l->buf);
	free(l);
}

static int open_part(struct rpcrdma_conn *c, struct rpcrdma_lent *l, struct rpcrdma_hdr *h,
	uint32_t off, uint32_t len, uint32_t position)
{
	struct prov_door *door = &l->door[l->ndoors];
	struct mem_sge at = mem_buf_sge(l->buf, off, len);
	struct rpcrdma_seg seg;
	int rc = c->prov->expose(c->pc, &at, PROV_REMOTE_READ, door);

	if (rc)
		return rc;
	l->ndoors++;
	seg = (struct rpcrdma_seg){door->stag, door->len, door->offset};
	return rpcrdma_hdr_add_read(h, position, &seg);
}

int rpcrdma_lend(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const struct rpcrdma_stream *part,
	const uint32_t *position, unsigned n)
{
	uint64_t len = 0;
	uint32_t off = 0;
	struct rpcrdma_lent *l;
	int rc = 0;

	for (unsigned i = 0; i < n; i++)
		len += part[i].len;
	if (len > MEM_MAX_SIZE)
		return -EMSGSIZE;
	l = lent_new(c, h->xid, len);
	if (!l)
		return -ENOMEM;
	for (unsigned i = 0; !rc && i < n; i++) {
		rpcrdma_stream_copy(&part[i], l->buf->data + off);
		rc = open_part(c, l, h, off, (uint32_t)part[i].len, position[i]);
		off += (uint32_t)part[i].len;
	}
	/* Also after a failure: only the progress thread may close doors. */
	mutex_lock(&c->lock);
	TAILQ_INSERT_TAIL(&c->old.lent, l, link);
	mutex_unlock(&c->lock);
	log_data("%s: reply %08x of %u bytes is to be read by the peer", c->x.peer, l->xid, l->len);
	if (!rpcrdma_is_handling(c))
		rpc_xprt_kick(&c->x); /* the progress thread may sleep without a timeout */
	return rc;
}

/* --- back ------------------------------------------------------------------------------------- */

void rpcrdma_lent_closed(struct rpcrdma_conn *c, struct rpcrdma_lent *l)
{
	mutex_lock(&c->lock);
	TAILQ_REMOVE(&c->old.returned, l, link);
	mutex_unlock(&c->lock);
	lent_free(c, l);
}

void rpcrdma_handle_done(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	struct rpcrdma_lent *l;
	int rc = 0;

	c->old.may_lend = c->reads_max > 0;
	mutex_lock(&c->lock);
	TAILQ_FOREACH (l, &c->old.lent, link)
		if (l->xid == h->xid)
			break;
	if (l) {
		TAILQ_REMOVE(&c->old.lent, l, link);
		TAILQ_INSERT_TAIL(&c->old.returned, l, link);
	}
	mutex_unlock(&c->lock);
	if (!l) {
		log_data("%s: RDMA_DONE %08x is for no reply: dropped", c->x.peer, h->xid);
		return;
	}
	if (l->ndoors)
		rc = c->prov->withdraw(
			c->pc, l->door, l->ndoors, (uintptr_t)l + RPCRDMA_LENT_COOKIE);
	if (rc != -EINPROGRESS)
		rpcrdma_lent_closed(c, l);
}

void rpcrdma_lent_look(struct rpcrdma_conn *c)
{
	struct rpcrdma_lent *l;
	bool overdue;
	uint32_t xid;

	mutex_lock(&c->lock);
	l = TAILQ_FIRST(&c->old.lent);
	overdue = l && clock_age(clock_ns(), l->since_ns) > rpcrdma_lent_ms * NSEC_PER_MSEC;
	xid = l ? l->xid : 0;
	mutex_unlock(&c->lock);
	if (overdue)
		rpcrdma_break(c, "no RDMA_DONE for reply %08x within %u ms", xid, rpcrdma_lent_ms);
}

void rpcrdma_lent_drop_all(struct rpcrdma_conn *c)
{
	struct rpcrdma_lent_list gone = TAILQ_HEAD_INITIALIZER(gone);
	struct rpcrdma_lent *l;

	mutex_lock(&c->lock);
	TAILQ_CONCAT(&gone, &c->old.lent, link);
	mutex_unlock(&c->lock);
	TAILQ_FOREACH (l, &gone, link)
		if (l->ndoors)
			c->prov->withdraw(c->pc, l->door, l->ndoors, 0);
	mutex_lock(&c->lock);
	TAILQ_CONCAT(&gone, &c->old.returned, link);
	mutex_unlock(&c->lock);
	while ((l = TAILQ_FIRST(&gone))) {
		TAILQ_REMOVE(&gone, l, link);
		lent_free(c, l);
	}
}
