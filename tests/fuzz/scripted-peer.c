/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: the peer. The peer speaks any dialect, answers the end's calls, makes calls, and does
 * both well or badly, as the script says.
 *
 * A message under an XID with which the peer has been dishonest (`tainted`) is not expected back.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "scripted-peer.h"
#include "transport/clock.h"

struct peer peer;

/* --- messages of the peer --------------------------------------------------------------------- */

bool peer_tainted(uint32_t xid)
{
	for (unsigned i = 0; i < peer.ntaints; i++)
		if (peer.taint[i] == xid)
			return true;
	return peer.mixed;
}

void peer_taint(uint32_t xid)
{
	if (peer_tainted(xid))
		return;
	if (peer.ntaints == PEER_TAINTS)
		scripted_close();
	else
		peer.taint[peer.ntaints++] = xid;
}

static void offer_seg(const struct rpcrdma_seg *seg, unsigned access)
{
	if (peer.noffers == PEER_OFFERS) {
		scripted_close();
		return;
	}
	peer.offer[peer.noffers].seg = *seg;
	peer.offer[peer.noffers++].access = access;
}

static void offer_run(
	const struct rpcrdma_hdr *h, const struct rpcrdma_rtr_run *at, unsigned access)
{
	for (unsigned i = 0; i < at->n; i++)
		offer_seg(&h->seg[at->first + i], access);
}

/* The accesses to the peer's memory that a header allows the end. */
static void offer(const struct rpcrdma_hdr *h)
{
	bool lists = h->proc == RDMA_MSG || h->proc == RDMA_NOMSG || h->proc == RDMA_MSGP;

	for (unsigned i = 0; lists && i < h->nreads; i++)
		offer_seg(&h->read[i].seg, PROV_REMOTE_READ);
	for (unsigned i = 0; lists && i < h->nsegs; i++)
		offer_seg(&h->seg[i], PROV_REMOTE_WRITE);
	for (unsigned i = 0; h->proc == RPCRDMA_XMT_REQ && i < h->rtr.nitems; i++)
		offer_run(h, &h->rtr.item[i].at, PROV_REMOTE_READ);
	for (unsigned i = 0; h->proc == RPCRDMA_XMT_REQ && i < h->rtr.nplaces; i++)
		offer_run(h, &h->rtr.place[i].at, PROV_REMOTE_WRITE);
}

/* The dialect that the end takes a message for, by the version word; NULL: none of the end's
 * dialects. */
static const struct rpcrdma_dialect *taken_for(const uint8_t *msg, uint32_t len)
{
	uint32_t vers;

	if (len < RPCRDMA_FIXED_LEN)
		return NULL;
	if (!scripted_end.x)
		return peer_spoken();
	memcpy(&vers, msg + 4, 4);
	vers = be32toh(vers);
	return rpcrdma_dialect_find(scripted_rdma()->dialects, vers, vers);
}

/* The bytes of a Send that properties let the end use. */
static void note_props(const struct rpcrdma_hdr *h, const uint8_t *msg, uint32_t len)
{
	struct rpcrdma_props p;
	struct xdr_in x;

	xdr_in_init(&x, msg + h->len, len - h->len);
	if (h->more)
		peer.takes = UINT32_MAX;
	if (h->more || rpcrdma_props_get(&x, &p))
		return;
	if (p.recv_size > peer.takes)
		peer.takes = p.recv_size;
	if (!peer.told.rtr_ops)
		peer.told = p;
}

bool peer_send(
	const struct rpcrdma_dialect *d, const uint8_t *msg, uint32_t len, bool inv, uint32_t stag)
{
	const struct rpcrdma_dialect *as = taken_for(msg, len);
	static struct rpcrdma_hdr h;
	uint32_t xid;

	if (peer.nsent == PEER_SENDS || len > sizeof(peer.said) - peer.nsaid) {
		scripted_close();
		return false;
	}
	if (!peer.honest)
		peer.takes = UINT32_MAX;
	if (len >= 4) {
		memcpy(&xid, msg, 4);
		if (!peer.honest)
			peer_taint(be32toh(xid));
	}
	if (as && !rpcrdma_dialect_decode(as, &h, msg, len) && h.proc != RDMA_ERROR) {
		if (!peer.d)
			peer.d = as;
		offer(&h);
		if (h.proc == RDMA_CONNPROP)
			note_props(&h, msg, len);
	}
	if (len >= RPCRDMA_FIXED_LEN && msg[15] != RDMA_ERROR && as)
		peer.mixed |= (peer.d && as != peer.d) || (d && as != d);
	memcpy(peer.said + peer.nsaid, msg, len);
	peer.sent[peer.nsent].msg = peer.said + peer.nsaid;
	peer.sent[peer.nsent++].len = len;
	peer.nsaid += len;
	return scripted_deliver(msg, len, inv, stag);
}

void peer_same(uint32_t xid, const uint8_t *data, uint32_t n)
{
	struct made *m = &peer.same[peer.nsame];

	if (peer.nsame == PEER_SAME) {
		scripted_close();
		return;
	}
	peer.nsame++;
	*m = (struct made){.xid = xid, .flat = {malloc(n + 1), n}};
	memcpy(m->flat.data, data, n);
}

static bool is_same(uint32_t xid, const uint8_t *data, size_t n)
{
	for (unsigned i = 0; i < peer.nsame; i++)
		if (peer.same[i].xid == xid && peer.same[i].flat.len == n &&
			!memcmp(peer.same[i].flat.data, data, n))
			return true;
	return false;
}

/* Are these bytes the message that ended with Send i, under this XID? */
static bool said(unsigned i, uint32_t xid, const uint8_t *data, size_t len)
{
	static struct rpcrdma_hdr h;
	bool last = true;

	for (;; i--) {
		bool ok = !rpcrdma_dialect_decode(
			peer_spoken(), &h, peer.sent[i].msg, peer.sent[i].len);
		size_t n = ok ? peer.sent[i].len - h.len : 0;

		if (ok && h.proc == RDMA_MSG && h.xid == xid && h.more != last && n <= len &&
			!memcmp(data + len - n, peer.sent[i].msg + h.len, n)) {
			len -= n;
			last = false;
		} else if (last || peer.sent[i].len >= RPCRDMA_FIXED_LEN) {
			if (last || !ok || h.proc == RDMA_MSG)
				return false;
		}
		if (!len)
			return true;
		if (!i)
			return false;
	}
}

/* Is the data of a payload where the call wanted it? */
static bool in_sink(const struct scripted_call *c, const struct xdr_payload *p, unsigned *sink)
{
	while (*sink < c->rpc.nsinks && !seg_list_same(&p->data, &c->rpc.sink[*sink]))
		++*sink;
	return *sink < c->rpc.nsinks && p->data.len <= c->rpc.sink[(*sink)++].len;
}

/* Or does the payload equal data that the peer has sent with the message? */
static bool was_beside(const struct scripted_call *c, const struct xdr_payload *p)
{
	uint8_t *data;
	bool same;

	if (!peer_spoken()->places && !peer_spoken()->legacy)
		return false;
	data = malloc(p->data.len + 1);
	seg_list_gather(&p->data, data);
	same = peer_tainted(c->rpc.xid) || is_same(c->rpc.xid, data, p->data.len);
	free(data);
	return same;
}

void peer_check_reply(const struct scripted_call *c, const struct xdr_in *msg)
{
	const struct rpcrdma_dialect *d = peer_spoken();
	uint32_t xid = htobe32(c->rpc.xid);
	bool found = is_same(c->rpc.xid, msg->base, msg->len);

	SCRIPTED_CHECK(msg->len >= 4 && !memcmp(msg->base, &xid, 4));
	found |= (d->places || d->legacy) && peer_tainted(c->rpc.xid);
	for (unsigned i = 0; i < peer.nlong && !found; i++)
		found = peer.in_chunk[i] == msg->base;
	for (unsigned i = peer.nsent; i && !found; i--)
		found = said(i - 1, c->rpc.xid, msg->base, msg->len);
	SCRIPTED_CHECK(found);
	for (unsigned i = 0, sink = 0; i < msg->npayloads; i++)
		SCRIPTED_CHECK(
			in_sink(c, &msg->payload[i], &sink) || was_beside(c, &msg->payload[i]));
}

/* --- requests --------------------------------------------------------------------------------- */

/* A call at the service must equal a call with the same XID that the peer has made. */
void peer_check_request(const struct rpc_req *req)
{
	struct flat f = scripted_flatten(NULL, 0, req->args.base, (uint32_t)req->args.len,
		req->args.payload, req->args.npayloads);
	bool found = peer_tainted(req->xid);

	for (unsigned i = 0; i < peer.nmade && !found; i++) {
		const struct made *m = &peer.made[i];

		if (m->xid != req->xid)
			continue;
		found = req->args.padding.align
				? peer_is_padded(&req->args, m)
				: m->flat.len == f.len && !memcmp(m->flat.data, f.data, f.len);
	}
	free(f.data);
	SCRIPTED_CHECK(found);
}

void peer_expect_reply(const struct rpc_req *req, bool success)
{
	struct expected *e = &peer.expected[peer.nexpected];

	if (peer.nexpected == PEER_EXPECTED) {
		scripted_close();
		return;
	}
	peer.nexpected++;
	*e = (struct expected){.xid = req->xid, .success = success};
	if (!success)
		return;
	e->npayloads = req->res.npayloads;
	e->len = (uint32_t)req->res.len;
	e->data = malloc(e->len + 1);
	memcpy(e->data, req->res.base, e->len);
	for (unsigned i = 0; i < e->npayloads; i++) {
		const struct xdr_payload *p = &req->res.payload[i];

		e->pos[i] = p->pos;
		e->from[i] = p->from;
		e->payload[i].len = p->data.len;
		e->payload[i].data = malloc(p->data.len + 1);
		seg_list_gather(&p->data, e->payload[i].data);
	}
}

unsigned peer_unanswered(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < peer.nexpected; i++)
		n += !peer.expected[i].done;
	return n;
}

/* --- messages and accesses of the end
 * ---------------------------------------------------------- */

bool peer_offered(uint32_t handle, uint64_t offset, uint32_t len, unsigned access)
{
	for (unsigned i = 0; i < peer.noffers; i++) {
		const struct rpcrdma_seg *s = &peer.offer[i].seg;

		if (peer.offer[i].access == access && s->handle == handle && offset >= s->offset &&
			offset - s->offset <= s->length && len <= s->length - (offset - s->offset))
			return true;
	}
	return false;
}

uint8_t *peer_memory(uint32_t handle, uint64_t offset, uint32_t len)
{
	if (handle < PEER_HANDLE || handle >= PEER_HANDLE + 256 || offset > sizeof(peer.arena) ||
		len > sizeof(peer.arena) - offset)
		return NULL;
	return peer.arena + offset;
}

static void gather(const struct prov_wr *wr, uint8_t *to)
{
	for (unsigned i = 0; i < wr->nsge; i++) {
		memcpy(to, wr->sge[i].addr, wr->sge[i].len);
		to += wr->sge[i].len;
	}
}

static uint32_t bytes_of(const struct prov_wr *wr)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < wr->nsge; i++)
		n += wr->sge[i].len;
	return n;
}

bool peer_from_chunk(const struct rpcrdma_hdr *h, const struct rpcrdma_chunk *c, struct flat *f)
{
	f->data = malloc(rpcrdma_chunk_len(h->seg, c) + 1);
	f->len = 0;
	for (unsigned i = 0; i < c->n; i++) {
		const struct rpcrdma_seg *s = &h->seg[c->first + i];
		const uint8_t *m = peer_memory(s->handle, s->offset, s->length);

		SCRIPTED_CHECK(peer_offered(s->handle, s->offset, s->length, PROV_REMOTE_WRITE));
		if (!m)
			return false;
		memcpy(f->data + f->len, m, s->length);
		f->len += s->length;
	}
	return true;
}

/* As peer_placed_payload(), of any reply. */
static int payload(
	const struct expected *e, const struct rpcrdma_hdr *h, unsigned i, struct flat *f)
{
	if (h->proc == RPCRDMA_XMT_RESP)
		return peer_placed_payload(e, h, i, f);
	if (i >= h->nwrites || !h->write[i].n)
		return 0;
	return peer_from_chunk(h, &h->write[i], f) ? 1 : -1;
}

/* Are the words the expected answer? */
static bool answers(
	const struct expected *e, const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len)
{
	uint32_t head[] = {htobe32(e->xid), htobe32(1), 0, 0, 0, 0}, at = 0;

	if (len < sizeof(head) || memcmp(body, head, 4) || !e->success)
		return len >= sizeof(head) && !memcmp(body, head, 4);
	if (memcmp(body, head, sizeof(head)))
		return true; /* a service's denial */
	body += sizeof(head);
	len -= sizeof(head);
	for (unsigned i = 0; i < e->npayloads; i++) {
		uint32_t n = e->pos[i] - at, more = e->payload[i].len;
		struct flat f = {NULL, 0};
		bool same;
		int apart;

		if (len < n || memcmp(body, e->data + at, n))
			return false;
		body += n;
		len -= n;
		at += n;
		apart = payload(e, h, i, &f);
		if (!apart) {
			same = len >= more + xdr_pad(more) &&
			       !memcmp(body, e->payload[i].data, more);
			body += more + xdr_pad(more);
			len -= more + xdr_pad(more);
		} else {
			same = apart < 0 ||
			       (f.len == more && !memcmp(f.data, e->payload[i].data, more));
		}
		free(f.data);
		if (!same)
			return false;
	}
	return len == e->len - at && !memcmp(body, e->data + at, len);
}

static bool whole(struct flat *f, const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len);

static unsigned calls_made(uint32_t xid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < peer.nmade; i++)
		n += peer.made[i].xid == xid;
	return n;
}

void peer_got_reply(const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len)
{
	struct flat f = {NULL, 0};
	bool valid = true, error = h->proc == RDMA_ERROR;
	/* 0: about the peer's properties */
	bool found = peer_tainted(h->xid) || (error && !h->xid);

	if (h->nreads) {
		peer_note_lent(h);
		valid = whole(&f, h, body, len);
	} else if (h->proc == RDMA_NOMSG) {
		SCRIPTED_CHECK(h->has_reply);
		valid = peer_from_chunk(h, &h->reply, &f);
	}
	body = f.data ? f.data : body;
	len = f.data ? f.len : len;
	/* the error may be about any of several calls, or about a first transmission only */
	if (error && calls_made(h->xid) > !peer_spoken()->places)
		peer_taint(h->xid);
	/* an error is about the last answer: it waits behind no other */
	for (unsigned i = 0; i < peer.nexpected; i++) {
		struct expected *e = &peer.expected[error ? peer.nexpected - 1 - i : i];

		if (e->done || e->xid != h->xid)
			continue;
		if (!peer_tainted(h->xid) && valid && !error && !answers(e, h, body, len))
			continue;
		e->done = found = true;
		break;
	}
	found |= error && calls_made(h->xid); /* refused before the service saw the call */
	free(f.data);
	SCRIPTED_CHECK(found || !valid);
}

/* Reads memory of the end. */
static bool read_into(struct flat *f, const struct rpcrdma_seg *s)
{
	const uint8_t *m = scripted_readable(s->handle, s->offset, s->length);

	if (m)
		memcpy(f->data + f->len, m, s->length);
	f->len += s->length;
	return m;
}

/* Puts a message with Read chunks together. False: the peer cannot read it (any more). */
static bool whole(struct flat *f, const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len)
{
	uint32_t all = len, at = 0;
	bool ok = true;

	for (unsigned i = 0; i < h->nreads; i++)
		all += h->read[i].seg.length + 3;
	f->data = malloc(all + 1);
	f->len = 0;
	for (unsigned i = 0; i < h->nreads; i++) {
		uint32_t pos = h->read[i].position, n = 0;

		if (pos > f->len && i && pos != h->read[i - 1].position) {
			memset(f->data + f->len, 0, xdr_pad(f->len));
			f->len += xdr_pad(f->len);
		}
		if (pos > f->len) {
			n = pos - f->len;
			SCRIPTED_CHECK(n <= len - at);
			memcpy(f->data + f->len, body + at, n);
		}
		at += n;
		f->len += n;
		ok &= read_into(f, &h->read[i].seg);
	}
	if (h->proc == RDMA_MSG) {
		memset(f->data + f->len, 0, xdr_pad(f->len));
		f->len += xdr_pad(f->len);
	}
	memcpy(f->data + f->len, body + at, len - at);
	f->len += len - at;
	return ok;
}

void peer_got_call(
	const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, const struct flat *f)
{
	const struct scripted_call *c = scripted_find(h->xid);

	if (f && c)
		SCRIPTED_CHECK(f->len == c->flat.len && !memcmp(f->data, c->flat.data, f->len));
	if (peer.nseen == PEER_SEEN) {
		scripted_close();
		return;
	}
	peer.seen[peer.nseen].d = d;
	peer.seen[peer.nseen++].h = *h;
}

static void got_call(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h,
	const uint8_t *body, uint32_t len)
{
	struct flat f;
	bool ok = true;

	if (h->proc == RDMA_MSGP)
		peer_unpad(h, body, len, &f);
	else
		ok = whole(&f, h, body, len);
	peer_got_call(d, h, ok ? &f : NULL);
	free(f.data);
}

static bool is_call(const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len)
{
	if (h->dir != RPCRDMA_DIR_UNSAID)
		return h->dir == RPCRDMA_DIR_CALL;
	return h->proc == RDMA_NOMSG ? scripted_end.requester : len >= 8 && !body[7];
}

/* The most bytes of one Send of the end. */
static uint32_t takes(const struct rpcrdma_dialect *d)
{
	const struct prov_conn *pc = &scripted.prov;
	struct rpcrdma_priv p;

	if (d->talks || d->legacy)
		return peer.takes > d->inline_default ? peer.takes : d->inline_default;
	return rpcrdma_priv_decode(&p, pc->peer_priv, pc->peer_priv_len) ? p.recv_size
									 : d->inline_default;
}

static void got_message(const uint8_t *msg, uint32_t len)
{
	const struct rpcrdma_dialect *d = peer_spoken();
	static struct rpcrdma_hdr h;

	if (rpcrdma_dialect_decode(d, &h, msg, len)) {
		/* the peer has guessed the answer before the call left, and the end has made the
		 * call anew */
		SCRIPTED_CHECK(peer.ntaints);
		return;
	}
	SCRIPTED_CHECK(len <= takes(d));
	peer_flow_sent(d, &h);
	if (scripted_end.requester && !peer.nsent)
		SCRIPTED_CHECK(len <= d->inline_first);
	if (h.proc == RDMA_ERROR)
		peer_got_reply(&h, NULL, 0);
	if (h.proc == RDMA_DONE)
		peer_got_done(&h);
	if (rpcrdma_rtr_is_proc(h.proc))
		peer_got_transmission(d, &h, msg, len);
	if ((h.proc != RDMA_MSG && h.proc != RDMA_NOMSG && h.proc != RDMA_MSGP) ||
		(d->talks && rpcrdma_hdr_is_grant(&h)))
		return;
	SCRIPTED_CHECK(!peer.group.count);
	SCRIPTED_CHECK(!peer.njoined || (h.xid == peer.joined_xid && h.proc == RDMA_MSG));
	SCRIPTED_CHECK(len - h.len <= sizeof(peer.joined) - peer.njoined);
	memcpy(peer.joined + peer.njoined, msg + h.len, len - h.len);
	peer.njoined += (uint32_t)(len - h.len);
	peer.joined_xid = h.xid;
	if (h.more)
		return;
	len = peer.njoined;
	peer.njoined = 0;
	if (!scripted_end.x) {
		peer.asked = true;
		peer.asked_xid = h.xid;
	} else if (is_call(&h, peer.joined, len)) {
		got_call(d, &h, peer.joined, len);
	} else {
		peer_got_reply(&h, peer.joined, len);
	}
}

static bool offered_handle(uint32_t handle)
{
	for (unsigned i = 0; i < peer.noffers; i++)
		if (peer.offer[i].seg.handle == handle)
			return true;
	return false;
}

void peer_got(const struct prov_wr *wr)
{
	uint32_t len = bytes_of(wr);
	uint8_t *m;

	switch (wr->op) {
	case PROV_WRITE:
		SCRIPTED_CHECK(
			peer_offered(wr->remote_stag, wr->remote_offset, len, PROV_REMOTE_WRITE));
		m = peer_memory(wr->remote_stag, wr->remote_offset, len);
		if (m)
			gather(wr, m);
		else
			scripted_close();
		break;
	case PROV_READ:
		SCRIPTED_CHECK(
			peer_offered(wr->remote_stag, wr->remote_offset, len, PROV_REMOTE_READ));
		break;
	case PROV_SEND_INV:
		SCRIPTED_CHECK(offered_handle(wr->inv_stag));
		/* fall through */
	case PROV_SEND:
		SCRIPTED_CHECK(len <= sizeof(peer.msg));
		gather(wr, peer.msg);
		got_message(peer.msg, len);
		break;
	}
}

/* Carries out the end's oldest RDMA Read. */
void peer_answer_read(void)
{
	const struct prov_wr *wr = &scripted.reads[0];
	uint8_t *m;

	if (!scripted.nreads || scripted.down)
		return;
	m = peer_memory(wr->remote_stag, wr->remote_offset, wr->sge[0].len);
	if (m)
		memcpy(wr->sge[0].addr, m, wr->sge[0].len);
	else
		scripted_close();
	scripted_read_done();
}

/* --- life ------------------------------------------------------------------------------------- */

void peer_begin(struct script *s, bool requester)
{
	static const uint8_t priv[8] = {0xf6, 0xab, 0x0e, 0x18, 1};
	struct prov_conn *pc = &scripted.prov;
	uint8_t how = script_u8(s);

	peer.nsaid = peer.nsent = peer.noffers = peer.ntaints = peer.nmade = peer.nexpected = 0;
	peer.nseen = peer.njoined = peer.nlong = peer.narena = 0;
	peer.nsame = peer.nlent = peer.ndue = peer.takes = 0;
	peer.group.count = peer.group.n = 0;
	peer_flow_begin();
	peer.asked = false;
	peer.told.rtr_ops = 0;
	peer.honest = true;
	peer.d = NULL;
	peer.mixed = false;
	peer.next_xid = 0x70000000;
	pc->peer_priv_len = how % 4 == 0 ? 0 : sizeof(priv);
	memcpy(pc->peer_priv, priv, sizeof(priv));
	pc->peer_priv[5] = how >> 2 & 1;
	pc->peer_priv[6] = how >> 3 & 3;
	pc->peer_priv[7] = how >> 5;
}

void peer_finish(void)
{
	peer_drop_transmissions();
	for (unsigned i = 0; i < peer.nsame; i++)
		free(peer.same[i].flat.data);
	for (unsigned i = 0; i < peer.nmade; i++)
		free(peer.made[i].flat.data);
	for (unsigned i = 0; i < peer.nexpected; i++) {
		for (unsigned k = 0; k < peer.expected[i].npayloads; k++)
			free(peer.expected[i].payload[k].data);
		free(peer.expected[i].data);
	}
}
