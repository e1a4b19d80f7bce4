/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_send: calls of ours, on their way out.
 *
 * How a call travels (RFC 8166 section 3.5), the first that fits what the peer receives:
 *
 * - inline: header and whole message in the Send; payload is copied into it ("pulled up").
 * - Read chunk: the largest payload is taken out, without its round-up, and read by the peer from
 *   where it lies; what follows it in the message stays in the Send.
 * - long: RDMA_NOMSG; all pieces of the message are segments of a position-zero Read chunk.
 *
 * How its reply may travel: each sink is a Write chunk of one segment. If the rest of the largest
 * possible reply is longer than what we receive inline, there is a Reply chunk, and then, since
 * some servers do not cope with both, the sinks are not offered: their data comes in the Reply
 * chunk and is copied. Callers avoid that by keeping reply_max small for calls with sinks.
 */
#include "transport/rpcrdma_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/log.h"

int rpcrdma_make_send(struct rpcrdma_conn *c, struct prov_wr *wr, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, struct mem_buf *buf, struct mem_buf **out)
{
	size_t hlen = rpcrdma_v1_size(h), off = 0;
	struct mem_buf *b;
	int rc;

	if (hlen > c->x.inline_send || s->len > c->x.inline_send - hlen)
		return -EMSGSIZE;
	if (s->n == 1)
		off = (size_t)((uint8_t *)s->piece[0].addr - buf->data);
	if (off >= hlen) {
		b = mem_buf_ref(buf);
		off -= hlen;
	} else {
		b = mem_buf_get(c->pool, hlen + s->len);
		if (!b)
			return -ENOMEM;
		off = 0;
		rpcrdma_stream_copy(s, b->data + hlen);
	}
	rc = rpcrdma_v1_encode(h, b->data + off, hlen);
	if (rc < 0) {
		mem_buf_unref(b);
		return rc;
	}
	*wr = (struct prov_wr){.op = PROV_SEND, .nsge = 1, .nhold = 1};
	wr->sge[0] = mem_buf_sge(b, (uint32_t)off, (uint32_t)(hlen + s->len));
	wr->hold[0] = b;
	*out = b;
	return 0;
}

/* --- what a call exposes ---------------------------------------------------------------------- */

/* Opens a door to sge and describes it in *seg. */
static int expose(struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct mem_sge *sge,
	unsigned access, struct rpcrdma_seg *seg)
{
	struct prov_door *door = &p->door[p->ndoors];
	int rc;

	*door = (struct prov_door){0};
	rc = c->prov->expose(c->pc, sge, access, door);
	if (rc)
		return rc;
	p->ndoors++;
	seg->handle = door->stag;
	seg->length = door->len;
	seg->offset = door->offset;
	return 0;
}

/* Sinks from one without room on are not offered: there is nothing to open a door to. */
static int expose_sinks(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h)
{
	for (unsigned i = 0; i < p->call->nsinks && p->call->sink[i].place.len; i++) {
		struct rpcrdma_seg seg;
		int rc = expose(c, p, &p->call->sink[i].place, PROV_REMOTE_WRITE, &seg);

		if (!rc)
			rc = rpcrdma_hdr_add_write(h, &seg, 1);
		if (rc)
			return rc;
		p->nsinks++;
	}
	return 0;
}

static int expose_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h, uint64_t len)
{
	struct rpcrdma_seg seg;
	struct mem_sge sge;
	int rc;

	if (len > MEM_MAX_SIZE)
		len = MEM_MAX_SIZE;
	p->reply_buf = mem_buf_get(c->pool, len);
	if (!p->reply_buf)
		return -ENOMEM;
	sge = mem_buf_sge(p->reply_buf, 0, (uint32_t)len);
	rc = expose(c, p, &sge, PROV_REMOTE_WRITE, &seg);
	return rc ? rc : rpcrdma_hdr_set_reply(h, &seg, 1);
}

/* Gives the reply the room it may need (see the top). */
static int provide_reply(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h)
{
	const struct rpc_call *call = p->call;
	uint64_t body = RPCRDMA_REPLY_HDR + (uint64_t)call->reply_max;
	uint64_t hlen = RPCRDMA_V1_MIN + (uint64_t)call->nsinks * (8 + sizeof(struct rpcrdma_seg));

	if (hlen + body <= c->x.inline_recv)
		return expose_sinks(c, p, h);
	for (unsigned i = 0; i < call->nsinks; i++)
		body += (uint64_t)call->sink[i].place.len + xdr_pad(call->sink[i].place.len);
	return expose_reply(c, p, h, (body + 3) & ~3ull);
}

/* --- how it travels --------------------------------------------------------------------------- */

static bool fits(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, size_t more)
{
	return rpcrdma_v1_size(h) + more + s->len <= c->x.inline_send;
}

static uint64_t payload_bytes(const struct xdr_out *x)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < x->npayloads; i++)
		n += x->payload[i].data.len;
	return n;
}

static int as_read_chunk(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h, unsigned which)
{
	const struct xdr_payload *pl = &p->call->args.payload[which];
	uint64_t pos = rpcrdma_stream_pos(p->off, &p->call->args, which);
	struct rpcrdma_seg seg;
	int rc;

	if (pos > UINT32_MAX)
		return -EMSGSIZE;
	rc = expose(c, p, &pl->data, PROV_REMOTE_READ, &seg);
	if (rc)
		return rc;
	rpcrdma_stat_add(c, bytes_exposed, pl->data.len);
	rpcrdma_stat_add(c, bytes_pulled_up, payload_bytes(&p->call->args) - pl->data.len);
	return rpcrdma_hdr_add_read(h, (uint32_t)pos, &seg);
}

static int as_long(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s)
{
	h->proc = RDMA_NOMSG;
	for (unsigned i = 0; i < s->n; i++) {
		struct rpcrdma_seg seg;
		int rc = expose(c, p, &s->piece[i], PROV_REMOTE_READ, &seg);

		if (!rc)
			rc = rpcrdma_hdr_add_read(h, 0, &seg);
		if (rc)
			return rc;
	}
	rpcrdma_stat_add(c, bytes_exposed, payload_bytes(&p->call->args));
	s->n = 0;
	s->len = 0;
	return 0;
}

static unsigned largest_payload(const struct xdr_out *x)
{
	unsigned best = 0;

	for (unsigned i = 1; i < x->npayloads; i++)
		if (x->payload[i].data.len > x->payload[best].data.len)
			best = i;
	return best;
}

/* Opens the doors of p and makes its Send. */
static int marshal(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct prov_wr *wr, struct mem_buf **held)
{
	const struct xdr_out *args = &p->call->args;
	struct rpcrdma_stream s;
	struct rpcrdma_hdr h;
	int rc;

	rpcrdma_hdr_init(&h, 1, p->call->xid, c->credit.max, RDMA_MSG);
	if (c->requester) {
		rc = provide_reply(c, p, &h);
		if (rc)
			return rc;
	}
	rpcrdma_stream_init(&s, p->call->msg, p->off, args, 0, c->zero);
	if (fits(c, &h, &s, 0)) {
		rpcrdma_stat_add(c, bytes_pulled_up, payload_bytes(args));
	} else if (c->requester) {
		unsigned which = largest_payload(args);
		struct rpcrdma_stream reduced;

		rpcrdma_stream_init(&reduced, p->call->msg, p->off, args, 1u << which, c->zero);
		if (args->npayloads && fits(c, &h, &reduced, 4 + 4 + sizeof(struct rpcrdma_seg))) {
			rc = as_read_chunk(c, p, &h, which);
			s = reduced;
		} else {
			rc = as_long(c, p, &h, &s);
		}
		if (rc)
			return rc;
	}
	return rpcrdma_make_send(c, wr, &h, &s, p->call->msg, held);
}

/* p is in MARSHAL, with a credit. */
static void post_call(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	struct mem_buf *held = NULL;
	struct prov_wr wr;
	int rc = marshal(c, p, &wr, &held);
	bool down = rc ==
		    -ENOTCONN; /* the owner will learn it from progress(), and take the call back */

	if (down)
		rc = 0;
	if (rc && rc != -ENOMEM)
		log_warn("%s: call %08x could not be sent: %s", c->x.peer, p->call->xid,
			rc == -EMSGSIZE ? "longer than the peer receives" : strerror(-rc));
	pthread_mutex_lock(&c->lock);
	if (rc) {
		p->state = RPCRDMA_FAILED;
		p->error = rc == -ENOMEM ? -ENOMEM : -EIO;
		TAILQ_REMOVE(&c->posted, p, link);
		TAILQ_INSERT_TAIL(&c->failed, p, link);
		rpcrdma_credit_put(&c->credit);
	} else {
		p->state = RPCRDMA_SENT;
	}
	pthread_cond_broadcast(&c->marshalled);
	pthread_mutex_unlock(&c->lock);
	if (rc) {
		rpc_xprt_kick(&c->x);
		return;
	}
	/* from here on p and its call may be gone */
	if (down)
		return;
	wr.flags = rpcrdma_more(c);
	rc = c->prov->post(c->pc, &wr);
	mem_buf_unref(held);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "a call could not be posted: %s", strerror(-rc));
}

/* --- credits and the backlog ------------------------------------------------------------------ */

static struct rpcrdma_posted *posted_new_locked(struct rpcrdma_conn *c)
{
	struct rpcrdma_posted *p = TAILQ_FIRST(&c->spare);

	if (p)
		TAILQ_REMOVE(&c->spare, p, link);
	else
		p = malloc(sizeof(*p));
	if (p) {
		p->error = 0;
		p->retried = false;
		p->ndoors = p->nsinks = 0;
		p->reply_buf = NULL;
		p->recv = NULL;
		p->closed = p->long_reply = false;
	}
	return p;
}

void rpcrdma_posted_free_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	TAILQ_INSERT_HEAD(&c->spare, p, link);
}

int rpcrdma_send_call(struct rpc_xprt *x, struct rpc_call *call, uint32_t off)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);
	struct rpcrdma_posted *p;
	bool now;

	pthread_mutex_lock(&c->lock);
	p = c->down ? NULL : posted_new_locked(c);
	if (!p) {
		bool down = c->down;

		pthread_mutex_unlock(&c->lock);
		if (!down)
			rpcrdma_break(c, "out of memory");
		return -ENOTCONN;
	}
	p->call = call;
	p->off = off;
	call->xprt_priv = p;
	now = TAILQ_EMPTY(&c->backlog) && rpcrdma_credit_take(&c->credit);
	p->state = now ? RPCRDMA_MARSHAL : RPCRDMA_BACKLOG;
	TAILQ_INSERT_TAIL(now ? &c->posted : &c->backlog, p, link);
	pthread_mutex_unlock(&c->lock);
	if (now)
		post_call(c, p);
	return 0;
}

void rpcrdma_send_backlog(struct rpcrdma_conn *c)
{
	struct rpcrdma_posted *p;

	while (!c->no_memory) {
		pthread_mutex_lock(&c->lock);
		p = TAILQ_FIRST(&c->backlog);
		if (p && !rpcrdma_credit_take(&c->credit))
			p = NULL;
		if (p) {
			TAILQ_REMOVE(&c->backlog, p, link);
			p->state = RPCRDMA_MARSHAL;
			TAILQ_INSERT_TAIL(&c->posted, p, link);
		}
		pthread_mutex_unlock(&c->lock);
		if (!p)
			return;
		post_call(c, p);
	}
}
