/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * responder_reply: answers the peer's calls.
 *
 * The reply's header returns the chunks of the call with the used lengths (RFC 8166 sections 3.4.6,
 * 4.3.3). Payload i of the results goes to Write chunk i, or, for a Transmit Request, to the place
 * of the operation. Without a chunk or place the payload stays in the stream. The rest goes inline
 * if short enough, else into the Reply chunk, else into several Sends where the dialect continues
 * messages. A reply that fits nowhere becomes an RDMA_ERROR. RDMA Writes and the Send behind them
 * are one chain: no other thread posts in between.
 */
#include "transport/rpcrdma/responder_reply.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "transport/log.h"
#include "transport/rpcrdma/rpcrdma_continue.h"
#include "transport/rpcrdma/rpcrdma_error.h"
#include "transport/rpcrdma/rpcrdma_hold.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_send.h"
#include "transport/rpcrdma/rpcrdma_taken.h"

struct answer {
	struct rpcrdma_conn *c;
	const struct rpcrdma_taken *t;
	struct rpc_req *req;
	struct rpcrdma_hdr h;
	unsigned reduced;	      /* payloads outside the stream ... */
	int to[XDR_MAX_PAYLOADS];     /* ... and the Write chunk, or place, of each, -1: none */
	int by_send;		      /* the payload that the Send brings, -1: none */
	struct rpcrdma_stream stream; /* the rest */
	bool in_reply_chunk;
	/* Parts that the peer reads: the whole reply, or payloads, each at its position. */
	unsigned nlent;
	struct rpcrdma_stream lent[XDR_MAX_PAYLOADS];
	uint32_t position[XDR_MAX_PAYLOADS];
	unsigned sends;		    /* Sends of the rest */
	struct rpcrdma_fault fault; /* why the reply fits nowhere */
	uint64_t written;	    /* bytes of RDMA Writes */
};

/* --- where things go -------------------------------------------------------------------------- */

/* Sets the header with the call's chunks, still empty. Does not clear the whole of a, which is
 * long.
 */
static void answer_init(struct answer *a, struct rpcrdma_conn *c, const struct rpcrdma_taken *t,
	struct rpc_req *req, uint32_t xid)
{
	a->c = c;
	a->t = t;
	a->req = req;
	a->reduced = 0;
	a->by_send = -1;
	a->in_reply_chunk = false;
	a->nlent = 0;
	a->sends = 1;
	/* place() may set a better fault. The peer may lower its sizes while we make the answer. */
	a->fault = (struct rpcrdma_fault){.err = RDMA_ERR_SYSTEM};
	a->written = 0;
	rpcrdma_begin_hdr(c, &a->h, xid, RPCRDMA_DIR_REPLY, RDMA_MSG);
	a->h.nwrites = t->nwrites;
	memcpy(a->h.write, t->write, t->nwrites * sizeof(t->write[0]));
	a->h.has_reply = t->has_reply;
	a->h.reply = t->reply;
	a->h.nsegs = t->nsegs;
	memcpy(a->h.seg, t->seg, t->nsegs * sizeof(t->seg[0]));
	for (unsigned i = 0; i < a->h.nsegs; i++)
		a->h.seg[i].length = 0;
}

/* Spreads len bytes over the segments of a chunk, in order. -EMSGSIZE if the chunk is too small. */
static int fill_chunk(struct answer *a, const struct rpcrdma_chunk *chunk, uint64_t len)
{
	if (len > rpcrdma_chunk_len(a->t->seg, chunk))
		return -EMSGSIZE;
	a->written += len;
	for (unsigned i = chunk->first; len; i++) {
		uint32_t room = a->t->seg[i].length;

		a->h.seg[i].length = len < room ? (uint32_t)len : room;
		len -= a->h.seg[i].length;
	}
	return 0;
}

/* The rest becomes Read chunks (draft-ietf-nfsv4-rpcrdma-01 sections 3.4 and 5.1): only the
 * payloads, if the remainder then fits into the Send; else the whole rest. Payloads become Read
 * chunks only if no payload went to a Write chunk, because the draft does not say whether positions
 * count payloads in Write chunks. */
static int place_lent(struct answer *a, uint32_t off)
{
	const struct xdr_out *res = &a->req->res;
	const struct rpcrdma_dialect *d = a->c->dialect;
	struct rpcrdma_hdr *h = &a->h;
	struct rpcrdma_stream rest;
	uint64_t position;

	rpcrdma_stream_init(&rest, a->req->msg, off, res, (1u << res->npayloads) - 1, a->c->zero);
	if (res->npayloads && !a->reduced &&
		d->bound(res->npayloads, h->nwrites, h->has_reply, h->nsegs) + rest.len <=
			a->c->x.inline_send) {
		for (unsigned i = 0; i < res->npayloads; i++) {
			position = rpcrdma_stream_pos(off, res, i);
			if (position > UINT32_MAX)
				return -EMSGSIZE;
			a->position[i] = (uint32_t)position;
			a->lent[i] = (struct rpcrdma_stream){.n = 1,
				.part[0] = res->payload[i].data,
				.len = res->payload[i].data.len};
		}
		a->nlent = res->npayloads;
		a->stream = rest;
		return 0;
	}
	if (d->bound(1, h->nwrites, h->has_reply, h->nsegs) > a->c->x.inline_send)
		return -EMSGSIZE;
	h->proc = RDMA_NOMSG;
	a->position[0] = 0;
	a->lent[0] = a->stream;
	a->nlent = 1;
	a->stream.n = 0;
	a->stream.len = 0;
	return 0;
}

/* The place of payload i of the reply to a Transmit Request, which has one. */
static const struct rpcrdma_rtr_place *place_of(const struct answer *a, unsigned i)
{
	return &a->t->place[a->to[i]];
}

/* Is payload i to be placed? */
static bool is_long(const struct answer *a, unsigned i)
{
	uint32_t len = a->req->res.payload[i].data.len;

	return a->to[i] >= 0 && len && len >= place_of(a, i)->min;
}

/* Does the place of payload i ask for the payload in the Send? */
static bool asks_for_send(const struct answer *a, unsigned i)
{
	const struct rpcrdma_rtr_place *at = place_of(a, i);

	return at->type == RPCRDMA_RTR_TBSN || at->type == RPCRDMA_RTR_CHOICE ||
	       (at->type == RPCRDMA_RTR_BYSIZE && a->req->res.payload[i].data.len <= at->most);
}

/* Puts payload i into the Send. False: there is no room. */
static bool send_item(struct answer *a, unsigned i, uint32_t off)
{
	const struct xdr_out *res = &a->req->res;
	struct rpcrdma_rtr *r = &a->h.rtr;
	struct rpcrdma_stream s;

	rpcrdma_stream_init(&s, a->req->msg, off, res, a->reduced | 1u << i, a->c->zero);
	if (!a->c->place_ops->place_item(a->c, &a->h, (unsigned)a->to[i],
		    (uint32_t)rpcrdma_stream_pos(off, res, i), &res->payload[i].data, s.len,
		    a->t->reserved)) {
		a->by_send = (int)i;
		return true;
	}
	r->item[a->to[i]] = (struct rpcrdma_rtr_item){.type = RPCRDMA_RTR_TOOSHORT};
	r->nbsns = 0;
	r->count = 1;
	return false;
}

/* Plans an RDMA Write of payload i. False: the place has too little memory. */
static bool write_item(struct answer *a, unsigned i, uint32_t off)
{
	const struct xdr_payload *p = &a->req->res.payload[i];
	const struct rpcrdma_rtr_place *at = place_of(a, i);

	if (!at->at.n || fill_chunk(a, &a->h.write[a->to[i]], p->data.len))
		return false;
	a->h.rtr.item[a->to[i]] = (struct rpcrdma_rtr_item){
		.disp = (uint32_t)rpcrdma_stream_pos(off, &a->req->res, i),
		.len = p->data.len,
		.type = RPCRDMA_RTR_EXRW,
		.at = {at->at.first, at->at.n}};
	return true;
}

/* Finds the payload for the Send: the first payload with a place that asks for the Send. -1: none.
 */
static int find_for_send(const struct answer *a)
{
	for (unsigned i = 0; a->c->place.ops && i < a->req->res.npayloads; i++)
		if (is_long(a, i) && asks_for_send(a, i))
			return (int)i;
	return -1;
}

/* Makes an item for each place of a Transmit Request (table 2 of the draft). A payload goes to the
 * place of the operation. A payload that can go nowhere else is in the message, as a too short
 * payload is. The payload in the Send comes last, when all other items are in the header. */
static int place_items(struct answer *a, uint32_t off)
{
	const struct xdr_out *res = &a->req->res;
	struct rpcrdma_rtr *r = &a->h.rtr;
	int sent;

	a->h.proc = RPCRDMA_XMT_RESP;
	r->nitems = a->t->nplaces;
	r->count = 1;
	for (unsigned i = 0; i < r->nitems; i++)
		r->item[i] = (struct rpcrdma_rtr_item){.type = RPCRDMA_RTR_NOITEM};
	for (unsigned i = 0; i < res->npayloads; i++) {
		a->to[i] = rpc_req_sink(a->req, i);
		if (a->to[i] >= 0)
			r->item[a->to[i]].type = RPCRDMA_RTR_TOOSHORT;
	}
	sent = find_for_send(a);
	for (unsigned i = 0; i < res->npayloads; i++)
		if ((int)i != sent && is_long(a, i) && write_item(a, i, off))
			a->reduced |= 1u << i;
	if (sent >= 0 && (send_item(a, (unsigned)sent, off) || write_item(a, (unsigned)sent, off)))
		a->reduced |= 1u << sent;
	rpcrdma_stream_init(&a->stream, a->req->msg, off, res, a->reduced, a->c->zero);
	r->len = (uint32_t)a->stream.len;
	return a->c->dialect->size(&a->h) + a->stream.len <= a->c->x.inline_send ? 0 : -EMSGSIZE;
}

static int place(struct answer *a, uint32_t off)
{
	const struct xdr_out *res = &a->req->res;
	size_t hlen;
	int rc;

	if (a->t->placed)
		return place_items(a, off);
	hlen = a->c->dialect->size(&a->h);

	for (unsigned i = 0; i < res->npayloads && i < a->h.nwrites; i++) {
		if (!a->h.write[i].n)
			continue;
		a->to[i] = (int)i;
		rc = fill_chunk(a, &a->h.write[i], res->payload[i].data.len);
		if (rc) {
			a->fault = (struct rpcrdma_fault){
				RDMA_ERR_WRITE_RESOURCE, res->payload[i].data.len, i + 1};
			return rc;
		}
		a->reduced |= 1u << i;
	}
	rpcrdma_stream_init(&a->stream, a->req->msg, off, res, a->reduced, a->c->zero);
	if (hlen + a->stream.len <= a->c->x.inline_send)
		return 0;
	if (a->h.has_reply && !fill_chunk(a, &a->h.reply, a->stream.len)) {
		a->in_reply_chunk = true;
		a->h.proc = RDMA_NOMSG;
		return 0;
	}
	if (a->c->old.may_lend && a->stream.len <= MEM_MAX_SIZE)
		return place_lent(a, off);
	a->sends = rpcrdma_continue_sends(a->c->dialect, rpcrdma_reply_sends(a->c->dialect),
		a->c->x.inline_send, hlen, a->stream.len);
	a->fault = (struct rpcrdma_fault){
		RDMA_ERR_REPLY_RESOURCE, (uint32_t)(a->stream.len + xdr_pad(a->stream.len)), 0};
	return a->sends ? 0 : -EMSGSIZE;
}

/* --- the chain -------------------------------------------------------------------------------- */

static int post_write(struct answer *a, struct prov_wr *wr)
{
	wr->op = PROV_WRITE;
	wr->flags = PROV_MORE;
	return a->c->prov->post(a->c->pc, wr);
}

/* The position of write_parts() in the segments of a chunk, and the current RDMA Write. */
struct target {
	unsigned i, end; /* a->h.seg[i] */
	uint32_t done;	 /* bytes of the segment */
	struct prov_wr wr;
};

static int target_flush(struct answer *a, struct target *to)
{
	int rc = to->wr.nsge ? post_write(a, &to->wr) : 0;

	to->wr.nsge = to->wr.nhold = 0;
	return rc;
}

/* wr is about to name memory of the block b. */
static void hold(struct prov_wr *wr, struct mem_buf *b)
{
	if (!wr->nhold || wr->hold[wr->nhold - 1] != b)
		wr->hold[wr->nhold++] = b;
}

/* Writes one part, in order, into the segments from fill_chunk(). */
static int write_part(struct answer *a, struct target *to, const struct seg_list *part)
{
	struct seg_iter it = seg_iter_of(part);
	struct prov_wr *wr = &to->wr;
	struct mem_buf *b;
	int rc = 0;

	while (!rc && it.left && to->i < to->end) {
		const struct rpcrdma_seg *seg = &a->h.seg[to->i];

		if (to->done == seg->length) {
			rc = target_flush(a, to);
			to->i++;
			to->done = 0;
			continue;
		}
		if (!wr->nsge) {
			wr->remote_stag = seg->handle;
			wr->remote_offset = seg->offset + to->done;
		}
		seg_next(&it, seg->length - to->done, &wr->sge[wr->nsge], &b);
		hold(wr, b ? b : a->req->msg);
		to->done += wr->sge[wr->nsge++].len;
		if (wr->nsge == PROV_MAX_SGE)
			rc = target_flush(a, to);
	}
	return rc;
}

static int write_parts(struct answer *a, const struct rpcrdma_chunk *chunk,
	const struct seg_list *part, unsigned n)
{
	struct target to = {.i = chunk->first, .end = chunk->first + chunk->n};
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++)
		rc = write_part(a, &to, &part[i]);
	return rc ? rc : target_flush(a, &to);
}

/* Each RDMA Write gathers as many pieces of the data as one Write takes. If the queue has too
 * little room for the Writes, the data goes through one buffer. */
static int write_payload(
	struct answer *a, const struct rpcrdma_chunk *chunk, const struct seg_list *data)
{
	struct seg_list whole;
	struct mem_buf *b;
	int rc;

	if (data->n <= PROV_MAX_SGE || chunk->n + data->n / PROV_MAX_SGE < RPCRDMA_SEGS_FREE)
		return write_parts(a, chunk, data, 1);
	b = mem_buf_get(a->c->pool, data->len);
	if (!b)
		return -ENOMEM;
	seg_list_gather(data, b->data);
	whole = seg_list_of_buf(b, 0, data->len);
	rc = write_parts(a, chunk, &whole, 1);
	mem_buf_unref(b);
	return rc;
}

static int write_all(struct answer *a)
{
	const struct xdr_out *res = &a->req->res;

	for (unsigned i = 0; i < res->npayloads; i++) {
		int rc;

		if (!(a->reduced & (1u << i)) || (int)i == a->by_send)
			continue;
		rc = write_payload(a, &a->h.write[a->to[i]], &res->payload[i].data);
		if (rc)
			return rc;
	}
	if (!a->in_reply_chunk)
		return 0;
	return write_parts(a, &a->h.reply, a->stream.part, a->stream.n);
}

static int post_answer(struct answer *a)
{
	static const struct rpcrdma_stream nothing;
	struct rpcrdma_conn *c = a->c;
	struct rpcrdma_lead lead = {0};
	struct mem_buf *held;
	struct prov_wr wr;
	int rc = 0;

	if (a->nlent)
		rc = c->old_ops->lend(c, &a->h, a->lent, a->position, a->nlent);
	if (!rc && a->sends > 1)
		rc = rpcrdma_lead_make(c, &lead, &a->h, &a->stream, a->sends);
	if (!rc && a->by_send >= 0)
		rc = c->place_ops->make_placed(c, &lead, &wr, &a->h, &a->stream,
			&a->req->res.payload[a->by_send].data, &held);
	else if (!rc)
		rc = rpcrdma_make_send(c, &wr, &a->h, a->in_reply_chunk ? &nothing : &a->stream,
			lead.n ? NULL : a->req->msg, &held);
	if (rc) {
		rpcrdma_lead_drop(&lead);
		return rc;
	}
	if (a->t->has_inv) {
		wr.op = PROV_SEND_INV;
		wr.inv_stag = a->t->inv_stag;
	}
	mutex_lock(&c->chain);
	rc = write_all(a);
	if (a->written <= RPCRDMA_HELD_WRITE)
		wr.flags = rpcrdma_more(c, true);
	if (!rc)
		rc = rpcrdma_post_message(c, &lead, &wr, false);
	mutex_unlock(&c->chain);
	rpcrdma_lead_drop(&lead);
	mem_buf_unref(held);
	return rc;
}

static int answer(struct rpcrdma_conn *c, const struct rpcrdma_taken *t, struct rpc_req *req,
	uint32_t off, struct rpcrdma_fault *f)
{
	struct answer a;
	uint32_t xid;
	int rc;

	memcpy(&xid, req->msg->data + off, sizeof(xid));
	answer_init(&a, c, t, req, be32toh(xid));
	rc = place(&a, off);
	*f = a.fault;
	return rc ? rc : post_answer(&a);
}

/* --- errors and the ends of a request --------------------------------------------------------- */

void rpcrdma_serve_done(struct rpcrdma_conn *c, unsigned sends)
{
	mutex_lock(&c->lock);
	rpcrdma_credit_put(&c->credit_in, sends);
	mutex_unlock(&c->lock);
}

static void end(struct rpcrdma_conn *c, struct rpcrdma_taken *t, struct rpc_req *req)
{
	req->xprt_priv = NULL;
	rpcrdma_taken_free(c, t);
	if (atomic_load_explicit(&c->starved, memory_order_relaxed))
		rpc_xprt_kick(&c->x);
	rpc_req_free(req); /* c may be gone */
}

void rpcrdma_send_reply(struct rpc_xprt *x, struct rpc_req *req, uint32_t off)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);
	struct rpcrdma_taken *t = req->xprt_priv;
	struct rpcrdma_fault f;
	int rc;

	/* first: the peer may use the credits as soon as the reply arrives */
	rpcrdma_serve_done(c, t->sends);
	rc = answer(c, t, req, off, &f);
	if (rc == -EMSGSIZE) {
		log_data("%s: the reply to call %08x fits neither the peer's receives nor its "
			 "chunks",
			c->x.peer, t->xid);
		rpcrdma_send_error(c, t->xid, t->vers, &f);
	} else if (rc && rc != -ENOTCONN) {
		rpcrdma_break(c, "a reply could not be sent: %s", strerror(-rc));
	}
	end(c, t, req);
}

void rpcrdma_drop(struct rpc_xprt *x, struct rpc_req *req)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);
	struct rpcrdma_taken *t = req->xprt_priv;

	rpcrdma_serve_done(c, t->sends);
	end(c, t, req);
}
