/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * responder_call: receives the peer's calls.
 *
 * A call's message comes in one Send, in several Sends (rpcrdma_continue.c), or by RDMA Read of the
 * position-zero chunk. With one Send, the request takes the receive buffer. Other Read chunks
 * become payloads of the arguments. Positions on the wire count in the stream with all payloads,
 * our positions count in the buffer. RDMA Reads are posted in the order of the calls,
 * RPCRDMA_READS_MAX at a time; the provider keeps to the peer's limit (ORD).
 *
 * Memory. A call with a message or payload to pull needs buffers first. Without memory, or with
 * rpcrdma_pulled_max bytes in buffers of the connection, the call waits, in order, until other
 * calls end. Any call also waits while RPCRDMA_UNSENT_MAX bytes of answers are unsent, since a
 * credit ends when the provider gets the answer. Both bounds are lower while the pool has little
 * room (mem_pool_share()). A call that offers many segments waits, too, until there is room to post
 * the RDMA Writes of the reply (RPCRDMA_SEGS_MAX). Calls that wait count against the credits. A
 * peer that answers no RDMA Read for rpcrdma_pull_ms loses the connection.
 *
 * A malformed or too large call gets RDMA_ERROR (RFC 8166 section 4.5). A peer that sends more
 * calls than our grant loses the connection.
 */
#include "transport/rpcrdma/responder.h"
#include "transport/rpcrdma/rpcrdma_continue.h"
#include "transport/rpcrdma/rpcrdma_lent.h"
#include "transport/rpcrdma/rpcrdma_place.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/log.h"

struct rpcrdma_taken *rpcrdma_taken_free(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	if (!t)
		return NULL;
	mem_buf_unref(t->msg);
	while (t->nkept)
		mem_buf_unref(t->kept[--t->nkept]);
	for (unsigned i = 0; i < t->npayloads; i++)
		mem_buf_unref(t->pbuf[i]);
	if (t->held)
		atomic_fetch_sub_explicit(&c->pulled, t->held, memory_order_relaxed);
	if (t->segs) { /* add first, then subtract: no thread sees too small a sum */
		atomic_fetch_add_explicit(&c->segs_out, t->segs, memory_order_relaxed);
		atomic_fetch_sub_explicit(&c->segs, t->segs, memory_order_release);
	}
	free(t);
	return NULL;
}

void rpcrdma_taken_drop_all(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t;

	TAILQ_CONCAT(&c->pulls, &c->waiting, link);
	while ((t = TAILQ_FIRST(&c->pulls))) {
		TAILQ_REMOVE(&c->pulls, t, link);
		if (t->is_reply && t->posted)
			t->posted->pull = NULL;
		rpcrdma_taken_free(c, t);
	}
}

void rpcrdma_serve_done(struct rpcrdma_conn *c, unsigned sends)
{
	pthread_mutex_lock(&c->lock);
	rpcrdma_credit_put(&c->credit_in, sends);
	pthread_mutex_unlock(&c->lock);
}

static bool serve_begin(struct rpcrdma_conn *c, unsigned sends)
{
	bool ok;

	pthread_mutex_lock(&c->lock);
	ok = rpcrdma_credit_take(&c->credit_in, sends);
	pthread_mutex_unlock(&c->lock);
	return ok;
}

/* --- the plan ----------------------------------------------------------------------------------
 */

/* Sizes the message and the payloads from the Read list. Positions must not go down; a message is
 * either in the Send or, nomsg, in a position-zero chunk. 0, -EBADMSG, -E2BIG or -EFBIG. */
static int plan_reads(struct rpcrdma_taken *t, bool nomsg)
{
	uint64_t total = 0, msg_len = 0;

	for (unsigned i = 0; i < t->nreads; i++) {
		const struct rpcrdma_read *r = &t->read[i];
		uint32_t before = i ? t->read[i - 1].position : 0;

		total += r->seg.length;
		if (r->position < before)
			return -EBADMSG;
		if (total > MEM_MAX_SIZE)
			return -EFBIG;
		if (r->position == 0) {
			msg_len += r->seg.length;
			continue;
		}
		if (r->position != before) {
			if (t->npayloads == XDR_MAX_PAYLOADS)
				return -E2BIG;
			t->pbuf[t->npayloads] = NULL;
			t->payload[t->npayloads++] = (struct xdr_payload){.pos = r->position};
		}
		t->payload[t->npayloads - 1].data.len += r->seg.length;
	}
	if (nomsg != (t->nreads && t->read[0].position == 0))
		return -EBADMSG;
	if (nomsg)
		t->msg_len = (uint32_t)msg_len;
	return 0;
}

/* Positions of the whole stream to positions in the buffer: the payloads before do not count. */
static int plan_positions(struct rpcrdma_taken *t)
{
	uint64_t before = 0;
	uint32_t last = 0;

	for (unsigned i = 0; i < t->npayloads; i++) {
		struct xdr_payload *p = &t->payload[i];

		/* a payload begins behind the end of the one before */
		if (p->pos < last + before || p->pos - before > t->msg_len)
			return -EBADMSG;
		p->pos -= (uint32_t)before;
		last = p->pos;
		before += (uint64_t)p->data.len + xdr_pad(p->data.len);
	}
	return t->msg_len < 8 ? -EBADMSG : 0;
}

/* Bytes that still need buffers. */
static uint32_t bytes_to_pull(const struct rpcrdma_taken *t)
{
	uint32_t n = t->msg ? 0 : t->msg_len;

	for (unsigned i = 0; i < t->npayloads; i++)
		n += t->here & 1u << i ? 0 : t->payload[i].data.len;
	return n;
}

static bool has_room(struct rpcrdma_conn *c, uint32_t bytes)
{
	size_t pulled = atomic_load_explicit(&c->pulled, memory_order_relaxed);
	uint64_t sent;

	if (atomic_load_explicit(&c->nlent, memory_order_relaxed) && rpcrdma_lends_enough(c))
		return false;
	if (c->stalls && rpcrdma_flow_holds_enough(c))
		return false;
	if (c->prov->unsent &&
		c->prov->unsent(c->pc, &sent) > mem_pool_share(c->pool, RPCRDMA_UNSENT_MAX))
		return false;
	return !bytes || !pulled || pulled + bytes <= mem_pool_share(c->pool, rpcrdma_pulled_max);
}

/* Whether the RDMA Writes of one more reply can be posted (RPCRDMA_SEGS_MAX). */
static bool has_segs(struct rpcrdma_conn *c, const struct rpcrdma_taken *t)
{
	unsigned n = atomic_load_explicit(&c->segs, memory_order_acquire);
	uint64_t sent;

	if (t->nsegs <= RPCRDMA_SEGS_FREE)
		return true;
	if (!c->prov->unsent || !c->prov->unsent(c->pc, &sent))
		atomic_store_explicit(&c->segs_out, 0, memory_order_relaxed);
	n += atomic_load_explicit(&c->segs_out, memory_order_relaxed);
	return n + t->nsegs <= RPCRDMA_SEGS_MAX;
}

/* All or nothing. 0, -EAGAIN. */
static int get_buffers(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	uint32_t bytes = bytes_to_pull(t);
	bool had_msg = t->msg;

	if (!has_room(c, bytes) || !has_segs(c, t))
		return -EAGAIN;
	if (!bytes)
		return 0;
	if (!t->msg)
		t->msg = mem_buf_get(c->pool, t->msg_len);
	if (!t->msg)
		return -EAGAIN;
	for (unsigned i = 0; i < t->npayloads; i++) {
		struct xdr_payload *p = &t->payload[i];

		if (!p->data.len || t->here & 1u << i)
			continue;
		t->pbuf[i] = mem_buf_get(c->pool, p->data.len);
		if (!t->pbuf[i])
			goto nomem;
		p->data = seg_list_of_buf(t->pbuf[i], 0, p->data.len);
	}
	t->held = bytes;
	atomic_fetch_add_explicit(&c->pulled, bytes, memory_order_relaxed);
	return 0;
nomem:
	for (unsigned i = 0; i < t->npayloads; i++)
		t->pbuf[i] = mem_buf_unref(t->pbuf[i]);
	if (!had_msg)
		t->msg = mem_buf_unref(t->msg);
	return -EAGAIN;
}

/* Send with Invalidate is possible only with exactly one handle to name (RFC 8797 section 4.1 lets
 * any of the call's be named, but the other side closes the rest by itself anyway). */
static void find_handle(struct rpcrdma_taken *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->nreads + t->nsegs; i++) {
		uint32_t handle =
			i < t->nreads ? t->read[i].seg.handle : t->seg[i - t->nreads].handle;

		if (n++ && handle != t->inv_stag)
			return;
		t->inv_stag = handle;
	}
	t->has_inv = n > 0;
}

/* In a dialect that names the handle: takes the handle that the header names, if a chunk of the
 * header has the handle (version 2, section 6.3.3). */
static void find_named(struct rpcrdma_taken *t, uint32_t handle)
{
	for (unsigned i = 0; handle && !t->has_inv && i < t->nreads; i++)
		t->has_inv = t->read[i].seg.handle == handle;
	for (unsigned i = 0; handle && !t->has_inv && i < t->nsegs; i++)
		t->has_inv = t->seg[i].handle == handle;
	t->inv_stag = handle;
}

/* Which handle the reply to t may invalidate, if any. */
static void plan_inval(
	const struct rpcrdma_conn *c, struct rpcrdma_taken *t, const struct rpcrdma_hdr *h)
{
	t->has_inv = false;
	if (!c->prov->remote_inval)
		return;
	if (c->dialect->talks)
		find_named(t, h->inv_handle);
	else if (c->remote_inv)
		find_handle(t);
}

/* --- delivery --------------------------------------------------------------------------------- */

/* A chunk may or may not include the item's round-up (RFC 8166 section 3.4.5.2). The length word in
 * the stream before the payload tells. */
static uint32_t true_len(const struct xdr_in *in, const struct xdr_payload *p)
{
	uint32_t word;

	if (p->pos < 4)
		return p->data.len;
	memcpy(&word, in->base + p->pos - 4, 4);
	word = be32toh(word);
	if (word < p->data.len && word + xdr_pad(word) == p->data.len)
		return word;
	return p->data.len;
}

/* Room for results in the reply: in Sends under a header that returns all chunks, or in the Reply
 * chunk. */
static void set_room(
	const struct rpcrdma_conn *c, struct rpc_req *req, const struct rpcrdma_taken *t)
{
	uint64_t room, reply = t->has_reply ? rpcrdma_chunk_len(t->seg, &t->reply) : 0, sinks = 0;
	const struct rpcrdma_dialect *d = c->dialect;

	if (t->placed) {
		rpcrdma_set_places(c, req, t);
		return;
	}

	room = rpcrdma_continue_room(d, c->x.inline_send,
		d->bound(0, t->nwrites, t->has_reply, t->nsegs), rpcrdma_reply_sends(d));
	if (atomic_load_explicit(&c->may_lend, memory_order_relaxed))
		room = MEM_MAX_SIZE;
	room = room > RPCRDMA_REPLY_HDR ? room - RPCRDMA_REPLY_HDR : 0;
	if (reply > room + RPCRDMA_REPLY_HDR)
		room = reply - RPCRDMA_REPLY_HDR;
	for (unsigned i = 0; i < t->nwrites; i++) {
		uint64_t n = rpcrdma_chunk_len(t->seg, &t->write[i]);

		sinks += n;
		if (i < XDR_MAX_PAYLOADS)
			req->sink[req->nsinks++] = n > MEM_MAX_SIZE ? MEM_MAX_SIZE : (uint32_t)n;
	}
	req->res_max = room > MEM_MAX_SIZE ? MEM_MAX_SIZE : (uint32_t)room;
	req->sink_max = sinks > MEM_MAX_SIZE ? MEM_MAX_SIZE : (uint32_t)sinks;
}

void rpcrdma_taken_stream(const struct rpcrdma_taken *t, struct xdr_in *in)
{
	xdr_in_init(in, t->msg->data + t->msg_off, t->msg_len);
	in->padding = t->padding;
	for (unsigned i = 0; i < t->npayloads; i++) {
		struct xdr_payload *p = &in->payload[in->npayloads];

		if (!t->payload[i].data.len)
			continue;
		*p = t->payload[i];
		p->data = seg_list_cut(&p->data, 0, true_len(in, p));
		in->npayloads++;
	}
}

/* All of t has come. Takes t. */
static void deliver(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	struct rpc_req *req;
	struct xdr_in in;
	uint32_t xid;

	if (t->is_reply) {
		rpcrdma_reply_pulled(c, t);
		return;
	}
	req = rpc_req_new(&c->x);
	if (!req) {
		rpcrdma_break(c, "out of memory");
		goto out;
	}
	rpcrdma_taken_stream(t, &in);
	memcpy(&xid, in.base, 4);
	if (be32toh(xid) != t->xid) {
		log_data("%s: call %08x has another XID in its RPC message", c->x.peer, t->xid);
		rpcrdma_send_error(
			c, t->xid, t->vers, &(struct rpcrdma_fault){.err = RDMA_ERR_CHUNK});
		goto out;
	}
	if (rpc_req_parse(req, t->msg, &in)) {
		c->count.malformed++;
		goto out;
	}
	set_room(c, req, t);
	req->xprt_priv = t;
	if (!c->dialect->legacy || !rpcrdma_ccp_serve(c, req))
		rpc_req_deliver(req);
	return;
out:
	rpcrdma_serve_done(c, t->sends);
	rpcrdma_taken_free(c, t);
	if (req)
		rpc_req_free(req);
}

/* --- RDMA Reads ------------------------------------------------------------------------------- */

static bool pulled(const struct rpcrdma_taken *t)
{
	return t->next_read == t->nreads && t->reading == 0;
}

/* Asks for the next segment of t. */
static void read_next(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	const struct rpcrdma_read *r = &t->read[t->next_read];
	struct prov_wr wr = {
		.op = PROV_READ,
		.cookie = (uintptr_t)t,
		.nsge = 1,
		.remote_stag = r->seg.handle,
		.remote_offset = r->seg.offset,
	};
	struct mem_buf *buf;
	int rc;

	if (r->position && (!t->next_read || t->read[t->next_read - 1].position != r->position))
		do
			t->slot++;
		while (t->here & 1u << (t->slot - 1));
	t->next_read++;
	if (!r->seg.length)
		return;
	buf = t->slot ? t->pbuf[t->slot - 1] : t->msg;
	wr.sge[0] = mem_buf_sge(buf, t->filled[t->slot], r->seg.length);
	t->filled[t->slot] += r->seg.length;
	t->reading++;
	if (!c->reads++)
		c->read_ns = clock_ns();
	rc = c->prov->post(c->pc, &wr);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "an RDMA Read could not be posted: %s", strerror(-rc));
}

/* Posts the next RDMA Reads, as many as the peer takes, but at least one: the peer may have sent
 * the calls before its limit fell to 0. A call with only empty segments is complete at once. */
static void pump_reads(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t, *next;

	for (t = TAILQ_FIRST(&c->pulls); t; t = next) {
		while (t->next_read < t->nreads) {
			if (c->reads && c->reads >= c->reads_max)
				return;
			read_next(c, t);
		}
		next = TAILQ_NEXT(t, link);
		if (pulled(t)) {
			TAILQ_REMOVE(&c->pulls, t, link);
			deliver(c, t);
		}
	}
}

void rpcrdma_read_done(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	c->reads--;
	c->read_ns = clock_ns();
	t->reading--;
	pump_reads(c);
}

/* Goes on with t as far as possible now. 0: t is taken; -EAGAIN: t must wait for memory. */
static int start(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	int rc = get_buffers(c, t);

	if (rc)
		return rc;
	if (t->nsegs > RPCRDMA_SEGS_FREE) {
		t->segs = t->nsegs;
		atomic_fetch_add_explicit(&c->segs, t->segs, memory_order_relaxed);
	}
	if (t->nreads) {
		TAILQ_INSERT_TAIL(&c->pulls, t, link);
		pump_reads(c);
	} else {
		deliver(c, t);
	}
	return 0;
}

void rpcrdma_start_waiting(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t;

	while ((t = TAILQ_FIRST(&c->waiting))) {
		TAILQ_REMOVE(&c->waiting, t, link);
		if (start(c, t)) {
			TAILQ_INSERT_HEAD(&c->waiting, t, link);
			return;
		}
	}
}

/* --- arrival ---------------------------------------------------------------------------------- */

static void refuse(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	struct rpcrdma_fault f = {.err = RDMA_ERR_VERS};

	if (rc == -EBADMSG)
		f = (struct rpcrdma_fault){h->err ? h->err : RDMA_ERR_CHUNK, h->err_arg, 0};
	else if (rc == -E2BIG)
		f = (struct rpcrdma_fault){RDMA_ERR_READ_CHUNKS, XDR_MAX_PAYLOADS, 0};
	else if (rc == -EFBIG)
		f.err = RDMA_ERR_SYSTEM;
	log_data("%s: call %08x refused: %s", c->x.peer, h->xid,
		rc == -EPROTONOSUPPORT ? "another version"
		: rc == -EFBIG	       ? "more to be read than is taken"
				       : "malformed header or chunks");
	rpcrdma_send_error(c, h->xid, h->vers, &f);
}

struct rpcrdma_taken *rpcrdma_taken_new(const struct rpcrdma_hdr *h)
{
	size_t reads = h->nreads * sizeof(h->read[0]), segs = h->nsegs * sizeof(h->seg[0]);
	size_t pieces = h->rtr.nbsns * sizeof(struct seg);
	struct rpcrdma_taken *t = malloc(sizeof(*t) + reads + segs + pieces);

	if (!t)
		return NULL;
	t->xid = h->xid;
	t->vers = h->vers;
	t->msg = NULL;
	t->padding = rpcrdma_padding_of(h);
	t->is_reply = false;
	t->posted = NULL;
	t->nwrites = h->nwrites;
	memcpy(t->write, h->write, h->nwrites * sizeof(h->write[0]));
	t->has_reply = h->has_reply;
	t->reply = h->reply;
	t->nsegs = h->nsegs;
	t->seg = (struct rpcrdma_seg *)(t->read + h->nreads);
	memcpy(t->seg, h->seg, segs);
	t->nreads = h->nreads;
	memcpy(t->read, h->read, reads);
	t->held = 0;
	t->here = 0;
	t->placed = h->proc == RPCRDMA_XMT_REQ;
	t->placed_at = (struct seg *)(t->seg + h->nsegs);
	t->nkept = 0;
	t->reserved = 1;
	if (t->placed && h->rtr.reserved > 1)
		t->reserved =
			h->rtr.reserved < RPCRDMA_RTR_SENDS ? h->rtr.reserved : RPCRDMA_RTR_SENDS;
	t->nplaces = h->rtr.nplaces;
	memcpy(t->place, h->rtr.place, t->nplaces * sizeof(t->place[0]));
	t->segs = 0;
	t->npayloads = t->next_read = t->slot = t->reading = 0;
	memset(t->filled, 0, sizeof(t->filled));
	return t;
}

/* t takes the buffers with data of m, but not the buffer with the message. */
static void keep(struct rpcrdma_taken *t, struct rpcrdma_msg *m)
{
	for (unsigned i = 0; i < m->nmore; i++) {
		t->kept[t->nkept++] = m->more[i].recv->buf;
		m->more[i].recv->buf = NULL;
	}
	if (m->nmore && m->joined) { /* t->msg then */
		t->kept[t->nkept++] = m->recv->buf;
		m->recv->buf = NULL;
	}
}

int rpcrdma_taken_plan(struct rpcrdma_conn *c, struct rpcrdma_taken *t, const struct rpcrdma_hdr *h,
	struct rpcrdma_msg *m)
{
	bool nomsg = h->proc == RDMA_NOMSG;
	struct mem_buf **buf = m->joined ? &m->joined : &m->recv->buf;
	int rc;

	t->sends = m->sends;
	t->msg_off = nomsg ? 0 : m->off;
	t->msg_len = m->len;
	rc = plan_reads(t, nomsg);
	if (!rc && t->placed)
		rc = rpcrdma_taken_place(c, t, h, m);
	if (!rc)
		rc = plan_positions(t);
	if (!rc && !nomsg) {
		keep(t, m);
		t->msg = *buf;
		*buf = NULL;
	}
	return rc;
}

void rpcrdma_taken_go(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	/* a call without RDMA Reads does not queue behind waiting calls */
	if ((!TAILQ_EMPTY(&c->waiting) && t->nreads) || start(c, t)) {
		TAILQ_INSERT_TAIL(&c->waiting, t, link);
		atomic_store_explicit(&c->starved, true, memory_order_relaxed);
	}
}

/* Continues with a well-formed call. Takes t. */
static void take(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	if (!serve_begin(c, t->sends)) {
		rpcrdma_break(c, "the peer sent more calls than the %u it has credits for",
			c->credit_in.granted);
		rpcrdma_taken_free(c, t);
		return;
	}
	rpcrdma_taken_go(c, t);
}

/* Handles a message that is no call and gets no error (RFC 8166 section 4.5). */
static void not_a_call(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	if (!rc && h->proc == RDMA_DONE && c->dialect->legacy && !c->requester)
		rpcrdma_handle_done(c, h);
	else
		c->count.malformed++;
}

void rpcrdma_handle_call(
	struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc, struct rpcrdma_msg *m)
{
	struct rpcrdma_taken *t;

	if (m->recv_len < c->dialect->min_call ||
		(!rc && h->proc != RDMA_MSG && h->proc != RDMA_NOMSG && h->proc != RDMA_MSGP &&
			h->proc != RPCRDMA_XMT_REQ)) {
		not_a_call(c, h, rc);
		rpcrdma_msg_done(c, m);
		return;
	}
	if (h->align && !c->requester) /* an end of version 1 does not pad */
		c->may_lend = c->reads_max > 0;
	if (!rc && h->proc == RPCRDMA_XMT_REQ)
		rc = rpcrdma_as_chunks(h);
	t = rc ? NULL : rpcrdma_taken_new(h);
	if (t) {
		plan_inval(c, t, h);
		rc = rpcrdma_taken_plan(c, t, h, m);
		if (!rc && h->nreads && !c->reads_max) /* breaks its word: no RDMA Reads */
			rc = -EBADMSG;
	}
	rpcrdma_msg_done(c, m);
	if (rc) {
		if (rc != -EPROTO)
			refuse(c, h, rc);
		rpcrdma_taken_free(c, t);
	} else if (!t) {
		rpcrdma_break(c, "out of memory");
	} else {
		take(c, t);
	}
}
