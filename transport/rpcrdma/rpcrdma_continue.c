/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_continue: a message in several Sends.
 *
 * In a dialect that lets it (limits.sends) an RPC message that is too long for one Send goes on in
 * the next. All Sends of it have its XID and its direction, nobody else's come between, and its
 * chunks are in the header of the last. Those before the last are its lead. Each costs a receive,
 * and each of a call's a credit.
 *
 * Out, the whole lead is made before any of it is posted: no message stops in the middle for want
 * of memory. In, the Sends of one message are put together in one buffer, and their receives are
 * given back at once. A connection puts one message together at a time, of either direction; a peer
 * that breaks it off loses the connection.
 */
#include "transport/rpcrdma/rpcrdma_conn.h"

#include <errno.h>
#include <string.h>

/* --- out -------------------------------------------------------------------------------------- */

uint64_t rpcrdma_continue_room(
	const struct rpcrdma_dialect *d, uint32_t size, size_t hlen, unsigned n)
{
	uint64_t room = hlen < size ? size - hlen : 0;
	size_t first;

	if (n == 1)
		return room;
	first = d->bound(0, 0, false, 0);
	return first < size ? room + (n - 1) * (uint64_t)(size - first) : room;
}

unsigned rpcrdma_continue_sends(
	const struct rpcrdma_dialect *d, uint32_t size, size_t hlen, uint64_t len)
{
	unsigned n = 1;

	while (n <= d->limits.sends && rpcrdma_continue_room(d, size, hlen, n) < len)
		n++;
	return hlen <= size && n <= d->limits.sends ? n : 0;
}

int rpcrdma_lead_make(struct rpcrdma_conn *c, struct rpcrdma_lead *lead,
	const struct rpcrdma_hdr *h, struct rpcrdma_stream *s, unsigned n)
{
	struct rpcrdma_stream part;
	struct rpcrdma_hdr first;
	uint64_t off = 0, room;
	struct mem_buf *held;

	rpcrdma_hdr_init(&first, h->xid, h->dir, RDMA_MSG);
	first.grant = h->grant;
	first.want = h->want;
	first.more = true;
	room = c->x.inline_send - rpcrdma_dialect_size(c->dialect, &first);
	for (lead->n = 0; lead->n < n - 1; lead->n++) {
		int rc;

		rpcrdma_stream_cut(&part, s, off, room);
		off += part.len;
		rc = rpcrdma_make_send(c, &lead->wr[lead->n], &first, &part, NULL, &held);
		if (rc) {
			rpcrdma_lead_drop(lead);
			return rc;
		}
		lead->wr[lead->n].flags = PROV_MORE;
	}
	rpcrdma_stream_cut(&part, s, off, s->len - off);
	*s = part;
	return 0;
}

int rpcrdma_lead_post(struct rpcrdma_conn *c, struct rpcrdma_lead *lead)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < lead->n; i++)
		rc = c->prov->post(c->pc, &lead->wr[i]);
	rpcrdma_lead_drop(lead);
	return rc;
}

void rpcrdma_lead_drop(struct rpcrdma_lead *lead)
{
	while (lead->n)
		mem_buf_unref(lead->wr[--lead->n].hold[0]);
}

/* --- in --------------------------------------------------------------------------------------- */

/* Why the Send with header h, which is continued or continues what came before, may not come now;
 * NULL: it may. */
static const char *why_not(
	const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc, const struct prov_wc *wc)
{
	const struct rpcrdma_join *j = &c->join;

	if (rc || h->proc != RDMA_MSG || (j->sends && (h->xid != j->xid || h->dir != j->dir)))
		return "is broken off by another";
	if (h->more && (!rpcrdma_hdr_chunkless(h) || wc->invalidated))
		return "has chunks before its end";
	if (j->sends + 1 + h->more > c->dialect->limits.sends)
		return "takes too many Sends";
	return NULL;
}

/* Copies n bytes behind what has come. 0 or -ENOMEM. */
static int append(struct rpcrdma_conn *c, const void *data, uint32_t n)
{
	struct rpcrdma_join *j = &c->join;

	if (!j->buf)
		j->buf = mem_buf_get(c->pool, (size_t)c->dialect->limits.sends * c->recv_size);
	if (!j->buf)
		return -ENOMEM;
	memcpy(j->buf->data + j->len, data, n);
	j->len += n;
	j->sends++;
	return 0;
}

/* As rpcrdma_join(), of a message of several Sends. */
static bool join(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_recv *r, const struct prov_wc *wc, struct rpcrdma_msg *m)
{
	const char *why = why_not(c, h, rc, wc);
	struct rpcrdma_join *j = &c->join;

	if (why) {
		rpcrdma_break(c, "the peer's message %08x %s", j->sends ? j->xid : h->xid, why);
		rpcrdma_recv_done(c, r);
		return false;
	}
	j->xid = h->xid;
	j->dir = h->dir;
	if (append(c, r->buf->data + h->len, m->len))
		rpcrdma_break(c, "out of memory");
	if (h->more || !j->buf) {
		rpcrdma_recv_done(c, r);
		return false;
	}
	m->joined = j->buf;
	m->off = 0;
	m->len = j->len;
	m->sends = j->sends;
	*j = (struct rpcrdma_join){0};
	return true;
}

bool rpcrdma_join(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_recv *r, const struct prov_wc *wc, struct rpcrdma_msg *m)
{
	uint32_t off = rc ? 0 : (uint32_t)h->len;

	*m = (struct rpcrdma_msg){
		.recv = r, .recv_len = wc->len, .off = off, .len = wc->len - off, .sends = 1};
	if (c->join.sends || (!rc && h->more))
		return join(c, h, rc, r, wc, m);
	return true;
}

void rpcrdma_msg_done(struct rpcrdma_conn *c, struct rpcrdma_msg *m)
{
	if (m->recv)
		rpcrdma_recv_done(c, m->recv);
	m->joined = mem_buf_unref(m->joined);
	m->recv = NULL;
}
