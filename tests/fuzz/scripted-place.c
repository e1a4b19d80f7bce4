/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: the peer's actions with data that Sends place: Transmit Requests, Responses and
 * Continues, errors about them, and the properties of the peer's receive buffers.
 */
#include <endian.h>
#include <string.h>

#include "scripted-peer.h"
#include "transport/rpcrdma/place/rpcrdma_place.h"
#include "transport/rpcrdma/rpcrdma_rtr.h"
#include "transport/rpcrdma/place/rpcrdma_group.h"

#define HEAD 1024u /* of the end's receive buffers, before the targets (rpcrdma_place.c) ... */
#define PAGE 4096u
#define OWN  17u /* ... of this size, and this many */
#define MOST RPCRDMA_RTR_SENDS

/* --- the end's -------------------------------------------------------------------------------- */

void peer_drop_transmissions(void)
{
	struct transmissions *g = &peer.group;

	while (g->n)
		free(g->at[--g->n].data);
	g->count = 0;
}

/* The bytes in the targets that an item names. */
static void gather(const struct rpcrdma_rtr_item *it, struct flat *f)
{
	const struct rpcrdma_rtr_layout *l = &scripted_rdma()->place.layout;
	const struct transmissions *g = &peer.group;
	unsigned per = rpcrdma_rtr_targets(l);
	uint32_t skip = it->off, left = it->len, off, size;

	SCRIPTED_CHECK(per);
	*f = (struct flat){malloc(it->len + 1), 0};
	for (unsigned i = 0; i < it->at.n; i++) {
		uint32_t bsn = g->h.rtr.bsn[it->at.first + i];
		unsigned k = bsn / per;

		SCRIPTED_CHECK(k < g->n && rpcrdma_rtr_target(l, bsn % per, &off, &size));
		SCRIPTED_CHECK(skip < size && left);
		off += skip;
		size = size - skip < left ? size - skip : left;
		SCRIPTED_CHECK(off >= g->at[k].end && off + size <= g->at[k].len);
		memcpy(f->data + f->len, g->at[k].data + off, size);
		f->len += size;
		left -= size;
		skip = 0;
	}
	SCRIPTED_CHECK(!left);
}

static struct made *find_made(uint32_t xid)
{
	for (unsigned i = 0; i < peer.nmade; i++)
		if (peer.made[i].xid == xid)
			return &peer.made[i];
	return NULL;
}

/* The place of payload i of the answer, m->nplaces: none. Each payload in turn takes the first free
 * place for its operation. */
static unsigned place_of(const struct made *m, const struct expected *e, unsigned i)
{
	bool taken[XDR_MAX_PAYLOADS] = {false};
	unsigned at = 0;

	for (unsigned k = 0; k <= i; k++) {
		at = 0;
		while (at < m->nplaces &&
			(taken[at] || e->from[k] < m->begin[at] || e->from[k] >= m->end[at]))
			at++;
		if (at < m->nplaces)
			taken[at] = true;
	}
	return at;
}

int peer_placed_payload(
	const struct expected *e, const struct rpcrdma_hdr *h, unsigned i, struct flat *f)
{
	const struct made *m = find_made(e->xid);
	const struct rpcrdma_rtr_item *it;
	struct rpcrdma_chunk c;
	unsigned at = place_of(m, e, i);

	SCRIPTED_CHECK(h->rtr.nitems == m->nplaces);
	if (at == m->nplaces)
		return 0;
	it = &h->rtr.item[at];
	SCRIPTED_CHECK(it->type != RPCRDMA_RTR_NOITEM);
	if (it->type == RPCRDMA_RTR_TOOSHORT)
		return 0;
	if (it->type == RPCRDMA_RTR_TBSN) {
		gather(it, f);
		return 1;
	}
	c = (struct rpcrdma_chunk){it->at.first, it->at.n};
	return peer_from_chunk(h, &c, f) ? 1 : -1;
}

/* The place of a call of len bytes is for the operation that the call's owner has named, or for
 * all. */
static void check_range(const struct rpcrdma_hdr *h, uint32_t len)
{
	const struct rpcrdma_rtr_place *at = &h->rtr.place[0];
	const struct scripted_call *c = scripted_find(h->xid);
	uint32_t before;

	if (!c)
		return;
	before = len - (uint32_t)c->rpc.args.len;
	SCRIPTED_CHECK(
		at->begin == (c->rpc.sink_for[0].end ? before + c->rpc.sink_for[0].begin : 0));
	SCRIPTED_CHECK(at->end == (c->rpc.sink_for[0].end ? before + c->rpc.sink_for[0].end : len));
}

/* The call is here: the message and the data. */
static void got_request(const struct rpcrdma_dialect *d, const uint8_t *msg, uint32_t len)
{
	const struct rpcrdma_hdr *h = &peer.group.h;
	const struct rpcrdma_rtr_item *it = &h->rtr.item[0];
	struct flat f, data = {NULL, 0};
	uint32_t at = h->rtr.nitems ? it->disp : len;

	/* the peer has told its size itself, and once only */
	if (d->talks && peer.takes != UINT32_MAX) {
		SCRIPTED_CHECK(peer.told.rtr_ops & RPCRDMA_RTR_XREQ);
		SCRIPTED_CHECK(h->rtr.count == 1 || peer.told.rtr_ops & RPCRDMA_RTR_XCONT);
		SCRIPTED_CHECK(h->rtr.count == 1 || h->rtr.count <= peer.told.rtr_req_sends);
	}
	SCRIPTED_CHECK(h->rtr.nitems <= 1 && h->rtr.nplaces <= 1 && at <= len);
	SCRIPTED_CHECK(!h->rtr.nitems || it->type == RPCRDMA_RTR_TBSN);
	if (h->rtr.nplaces)
		check_range(h, len);
	if (h->rtr.nitems)
		gather(it, &data);
	f.data = malloc(len + data.len + 4);
	f.len = len + data.len + xdr_pad(data.len);
	memcpy(f.data, msg, at);
	if (data.len)
		memcpy(f.data + at, data.data, data.len);
	memset(f.data + at + data.len, 0, xdr_pad(data.len));
	memcpy(f.data + f.len - (len - at), msg + at, len - at);
	free(data.data);
	peer_got_call(d, h, &f);
	free(f.data);
}

static void got_report(const struct rpcrdma_hdr *h)
{
	SCRIPTED_CHECK(peer_tainted(h->xid));
	/* a refused call has no answer */
	for (unsigned i = 0; i < peer.nexpected && h->dir == RPCRDMA_DIR_REPLY; i++)
		SCRIPTED_CHECK(peer.expected[i].done || peer.expected[i].xid != h->xid ||
			       peer_tainted(h->xid));
}

void peer_got_transmission(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h,
	const uint8_t *msg, uint32_t len)
{
	struct transmissions *g = &peer.group;

	if (h->proc == RPCRDMA_REPT_ERR) {
		got_report(h);
		return;
	}
	if (h->proc == RPCRDMA_XMT_CONT) {
		SCRIPTED_CHECK(g->count && h->xid == g->h.xid && h->dir == g->h.dir);
		SCRIPTED_CHECK(h->rtr.number == g->n);
		SCRIPTED_CHECK(h->rtr.begun == g->h.proc - RPCRDMA_RTR_PRIVATE);
	} else {
		SCRIPTED_CHECK(!g->count && h->rtr.count && h->rtr.count <= MOST);
		SCRIPTED_CHECK((h->proc == RPCRDMA_XMT_REQ) == (h->dir == RPCRDMA_DIR_CALL));
		SCRIPTED_CHECK(!peer.njoined);
		g->h = *h;
		g->count = h->rtr.count;
	}
	SCRIPTED_CHECK(h->rtr.len <= len - h->len);
	g->at[g->n].data = malloc(len);
	memcpy(g->at[g->n].data, msg, len);
	g->at[g->n].end = (uint32_t)h->len + h->rtr.len;
	g->at[g->n++].len = len;
	memcpy(peer.joined + peer.njoined, msg + h->len, h->rtr.len);
	peer.njoined += h->rtr.len;
	if (g->n < g->count)
		return;
	len = peer.njoined;
	peer.njoined = 0;
	if (g->h.dir == RPCRDMA_DIR_CALL)
		got_request(d, peer.joined, len);
	else
		peer_got_reply(&g->h, peer.joined, len);
	peer_drop_transmissions();
}

/* --- the peer's own --------------------------------------------------------------------------- */

/* A message and data in transmissions: for each transmission the message bytes and the targets. */
struct plan {
	uint32_t msg[MOST];
	unsigned first[MOST], n[MOST];
};

/* Measures out the one item of peer.hdr, and the n bytes of the message, half of them in a second
 * transmission if split. `per`: most targets of each transmission. Surplus bytes are cut. */
static void measure(
	const struct rpcrdma_dialect *d, struct plan *p, uint32_t n, unsigned per, bool split)
{
	struct rpcrdma_rtr *r = &peer.hdr.rtr;
	struct rpcrdma_rtr_item *it = &r->item[0];
	unsigned known = ~0u;

	memset(p, 0, sizeof(*p));
	p->msg[1] = split ? n / 2 & ~3u : 0;
	p->msg[0] = n - p->msg[1];
	for (unsigned tries = 0; r->nbsns != known && tries < 6; tries++) {
		uint32_t left = it->off + it->len,
			 at = (uint32_t)rpcrdma_dialect_size(d, &peer.hdr);

		known = r->nbsns;
		r->nbsns = 0;
		for (r->count = 0; r->count < MOST && (left || r->count <= split); r->count++) {
			uint32_t end = (r->count ? 40 : at) + p->msg[r->count];
			unsigned first = end <= HEAD ? 0 : (end - HEAD + PAGE - 1) / PAGE;
			unsigned k = (left + PAGE - 1) / PAGE;

			k = k > per ? per : k;
			k = first >= OWN ? 0 : k > OWN - first ? OWN - first : k;
			p->first[r->count] = first;
			p->n[r->count] = k;
			for (unsigned i = 0; i < k; i++)
				r->bsn[r->nbsns++] = r->count * OWN + first + i;
			left -= left < k * PAGE ? left : k * PAGE;
		}
		it->at.n = r->nbsns;
		it->len -= left < it->len ? left : it->len;
	}
}

/* Makes the header dishonest. i: byte of the script. */
static void twist(uint8_t what, uint8_t i)
{
	struct rpcrdma_rtr *r = &peer.hdr.rtr;

	switch (what % 12) {
	case 0:
		r->count += i;
		break;
	case 1:
		r->count -= 1;
		break;
	case 2:
		r->reserved = i & 1 ? 0 : i * 0x1000000u;
		break;
	case 3:
		if (r->nbsns)
			r->bsn[i % r->nbsns] = i;
		break;
	case 4:
		r->item[0].off = i & 1 ? i : i * 64u;
		break;
	case 5:
		r->item[0].len += i * 16u;
		break;
	case 6:
		r->item[0].disp += i - 128u;
		break;
	case 7:
		r->nitems = i % 4u;
		r->item[i % 4u].type = 1 + i / 16u % 6u;
		break;
	case 8:
		r->len += i;
		break;
	case 9:
		if (r->nplaces) {
			r->place[i % r->nplaces].type = i / 4u % 6u;
			r->place[i % r->nplaces].begin = i;
			r->place[i % r->nplaces].end += (i & 3) - 2;
		}
		break;
	case 10:
		peer.hdr.dir ^= 3; /* a call for a reply */
		break;
	default:
		r->item[0].at.n = i % 5u;
		break;
	}
}

/* Sends peer.hdr, with the item in Sends if it is at[], and the message in peer.body. */
static void say_placed(struct script *s, const struct rpcrdma_dialect *d, struct plan *p,
	const uint8_t *data, uint32_t ndata, const struct how *how)
{
	static uint8_t send[HEAD + OWN * PAGE + 4];
	uint32_t at = 0, done = 0, skip = peer.hdr.rtr.item[0].off;
	unsigned count = peer.hdr.rtr.count, lies = peer.honest ? 256 : script_u8(s);
	struct rpcrdma_hdr h = peer.hdr;

	for (unsigned k = 0; k < count && k < MOST; k++) {
		uint32_t hlen, from, n, room;

		if (k) {
			rpcrdma_hdr_init(&peer.hdr, h.xid, h.dir, RPCRDMA_XMT_CONT);
			peer.hdr.grant = h.grant;
			peer.hdr.want = h.want;
			peer.hdr.rtr.number = k;
			peer.hdr.rtr.begun = h.proc - RPCRDMA_RTR_PRIVATE;
		}
		peer.hdr.rtr.len = p->msg[k];
		if (lies % 16 == k && lies & 0x10) {
			twist(script_u8(s), script_u8(s));
			peer.hdr.rtr.number += lies >> 5 & 3;
			peer.hdr.xid += lies >> 7;
		}
		hlen = (uint32_t)rpcrdma_dialect_size(d, &peer.hdr);
		n = p->msg[k];
		if (n > sizeof(send)) /* more than any end takes */
			return;
		memcpy(send, peer.body + at, n);
		at += n;
		from = HEAD + p->first[k] * PAGE + skip;
		room = p->n[k] * PAGE - (p->n[k] ? skip : 0);
		room = room < ndata - done ? room : ndata - done;
		if (room && from >= hlen + n && from + room <= sizeof(send)) {
			memset(send + n, 0, from - hlen - n);
			memcpy(send + from - hlen, data + done, room);
			n = from - hlen + room;
			done += room;
			skip = 0;
		}
		if (!peer_say_one(
			    d, send, n, k == lies % 16 || k + 1 == count ? how : &(struct how){0}))
			return;
		if (how->stops && k == lies % 16)
			return;
	}
}

/* Places for the reply: of every type. */
static void ask_places(struct script *s, uint32_t len)
{
	struct made *m = &peer.made[peer.nmade - 1];
	struct rpcrdma_rtr *r = &peer.hdr.rtr;
	uint8_t shape = script_u8(s);
	unsigned n = shape % (XDR_MAX_PAYLOADS + 1);
	uint32_t begin = 0, end = len;

	for (r->nplaces = 0; r->nplaces < n; r->nplaces++) {
		struct rpcrdma_rtr_place *at = &r->place[r->nplaces];
		uint8_t b = script_u8(s);

		/* all in one range, or some in a separate one, which may be empty */
		if (shape & 0x80 && b & 0x10) {
			begin = r->nplaces ? end + script_upto(s, 8) : script_upto(s, len);
			end = begin + script_upto(s, len);
			if (r->nplaces && begin <= r->place[r->nplaces - 1].begin)
				begin = end = r->place[r->nplaces - 1].begin + 1;
		}
		m->begin[r->nplaces] = begin;
		m->end[r->nplaces] = end;
		*at = (struct rpcrdma_rtr_place){
			.begin = begin, .end = end, .type = 1 + b % 4u, .min = b >> 6};
		if (at->type == RPCRDMA_RTR_BYSIZE)
			at->most = script_len(s);
		if (at->type != RPCRDMA_RTR_TBSN) {
			at->at.first = peer.hdr.nsegs;
			at->at.n = peer_segments(
				&peer.hdr.seg[peer.hdr.nsegs], script_len(s), b >> 2 & 3);
			peer.hdr.nsegs += at->at.n;
		}
	}
	m->nplaces = n;
}

/* Takes the data of item 0, the opaque at `at`, out of the message of len bytes in peer.body, into
 * data. Returns the number of bytes of data. */
static uint32_t take_opaque(uint32_t at, uint32_t len, uint8_t *data)
{
	uint32_t word, n;

	memcpy(&word, peer.body + at - 4, 4);
	n = be32toh(word);
	memcpy(data, peer.body + at, n);
	memmove(peer.body + at, peer.body + at + n + xdr_pad(n), len - at - n - xdr_pad(n));
	peer.hdr.rtr.nitems = 1;
	peer.hdr.rtr.item[0].disp = at;
	peer.hdr.rtr.item[0].len = n;
	return n;
}

/* The end is to read n bytes of data for item i. */
static void to_be_read(unsigned i, const uint8_t *data, uint32_t n, unsigned k)
{
	struct rpcrdma_rtr_item *it = &peer.hdr.rtr.item[i];
	struct rpcrdma_seg seg[8];

	it->type = RPCRDMA_RTR_EXRW;
	it->at = (struct rpcrdma_rtr_run){peer.hdr.nsegs, peer_segments(seg, n, k)};
	if (it->at.n < k) /* the peer's memory is used up */
		peer.honest = false;
	for (k = 0; k < it->at.n; k++) {
		memcpy(peer.arena + seg[k].offset, data, seg[k].length);
		data += seg[k].length;
		peer.hdr.seg[peer.hdr.nsegs++] = seg[k];
	}
}

void peer_call_placed(struct script *s)
{
	static uint8_t data[512 * 1024];
	struct how how = peer_how(s);
	uint8_t shape = script_u8(s);
	uint32_t xid = ++peer.next_xid, opaque, len = peer_make_call(s, xid, &opaque, shape & 1);
	uint32_t all = len, n = 0;
	const struct rpcrdma_dialect *d = peer_spoken();
	struct rpcrdma_rtr *r = &peer.hdr.rtr;
	struct plan p;

	if (!d->places || !peer_made(xid, len, 0))
		return;
	rpcrdma_hdr_init(&peer.hdr, xid, RPCRDMA_DIR_CALL, RPCRDMA_XMT_REQ);
	peer_credits(s);
	r->nitems = r->nplaces = r->nbsns = 0;
	r->item[0] = (struct rpcrdma_rtr_item){0};
	if (shape & 1 && shape & 6)
		n = take_opaque(opaque, len, data);
	len -= n + xdr_pad(n);
	ask_places(s, all);
	r->reserved = script_u8(s) % 20u;
	if (r->nitems && n >= 4 && shape & 0x20) { /* the word behind the opaque */
		r->item[r->nitems++] = (struct rpcrdma_rtr_item){.disp = all - 4, .len = 4};
		to_be_read(1, peer.body + len - 4, 4, 1);
		len -= 4;
	}
	p = (struct plan){.msg = {len}};
	r->count = 1;
	if (r->nitems && shape & 2) {
		to_be_read(0, data, n, 1 + script_u8(s) % 4u);
	} else if (r->nitems) {
		r->item[0].type = RPCRDMA_RTR_TBSN;
		r->item[0].off = shape & 8 ? script_u8(s) * 4u : 0;
		measure(d, &p, len, 1 + script_u8(s) % OWN, shape & 0x40);
		if (r->count > rpcrdma_group_max(scripted_rdma()) || r->item[0].len < n ||
			!scripted_rdma()->place.targets)
			peer.honest = false;
	}
	if (peer.hdr.nsegs && shape & 0x10)
		peer.hdr.inv_handle = peer.hdr.seg[0].handle;
	say_placed(s, d, &p, data, shape & 2 ? 0 : n, &how);
}

void peer_answer_placed(
	struct script *s, const struct rpcrdma_hdr *call, uint32_t n, const struct how *how)
{
	static uint8_t data[512 * 1024];
	const struct rpcrdma_dialect *d = peer_spoken();
	struct rpcrdma_rtr *r = &peer.hdr.rtr;
	uint8_t shape = script_u8(s), per = 1 + script_u8(s) % OWN;
	const struct rpcrdma_rtr_place *at = &call->rtr.place[0];
	uint32_t most = call->rtr.reserved < MOST ? call->rtr.reserved : MOST;
	uint32_t len = script_len(s);
	struct plan p = {.msg = {n}};

	if (peer.honest && n > 3000)
		p.msg[0] = n = 3000;
	peer.hdr.proc = RPCRDMA_XMT_RESP;
	peer.hdr.nwrites = 0;
	peer.hdr.has_reply = false;
	r->nbsns = 0;
	r->count = 1;
	r->nitems = call->rtr.nplaces;
	r->item[0] = (struct rpcrdma_rtr_item){
		.disp = n, .type = shape & 1 ? RPCRDMA_RTR_TOOSHORT : RPCRDMA_RTR_NOITEM};
	if (r->nitems && shape & 2 && at->type != RPCRDMA_RTR_EXRW) {
		r->item[0].type = RPCRDMA_RTR_TBSN;
		r->item[0].off = shape & 8 ? script_u8(s) * 4u : 0;
		r->item[0].len = len;
		measure(d, &p, n, per, shape & 16);
		len = r->item[0].len;
		scripted_pattern(data, len, call->xid + 1);
		if (r->count > most || !scripted_rdma()->place.targets)
			peer.honest = false;
		peer_same(call->xid, data, len);
	} else if (r->nitems && shape & 4 && at->at.n) {
		const struct rpcrdma_chunk c = {at->at.first, at->at.n};

		scripted_pattern(data, len, call->xid + 1);
		r->item[0].type = RPCRDMA_RTR_EXRW;
		r->item[0].at = at->at;
		peer_fill_chunk(&c, data, len, call);
		len = 0;
	} else {
		len = 0;
	}
	peer_same(call->xid, peer.body, n);
	say_placed(s, d, &p, data, len, how);
}

void peer_report(struct script *s)
{
	uint8_t b = script_u8(s), which = script_u8(s);
	struct rpcrdma_rtr_fault *f = &peer.hdr.rtr.fault;

	if (!peer_spoken()->places)
		return;
	peer.honest = false;
	rpcrdma_hdr_init(&peer.hdr, 0x1000 + which, b & 1 ? RPCRDMA_DIR_CALL : RPCRDMA_DIR_REPLY,
		RPCRDMA_REPT_ERR);
	peer_credits(s);
	if (peer.nseen && b & 2) {
		peer.hdr.xid = peer.seen[which % peer.nseen].h.xid;
		peer.hdr.dir = RPCRDMA_DIR_REPLY;
		peer.honest = true;
		peer.seen[which % peer.nseen] = peer.seen[--peer.nseen];
	}
	*f = (struct rpcrdma_rtr_fault){.bad = {peer.hdr.xid, b & 1, b >> 2 & 3},
		.lead = {peer.hdr.xid, b & 1, 0},
		.has_lead = b & 16,
		.err = 1 + script_u8(s) % 8u};
	peer_say_one(peer_spoken(), peer.body, 0, &(struct how){0});
}

/* The peer's properties, in good form. */
void peer_tell(struct script *s)
{
	static const uint32_t sizes[] = {70656, 4096, 1024, 8192, 65536, 1u << 20, 16384, ~0u};
	static const struct rpcrdma_rtr_layout layouts[] = {
		{70656, 2, {{1, 1024, 1024, 0}, {17, 4096, 4096, 1}}},
		{4096 + 8192, 3, {{1, 1024, 4, 0}, {3, 1024, 4, 1}, {2, 4096, 4096, 1}}},
		{9216, 4, {{1, 512, 4, 0}, {1, 512, 4, 1}, {4, 1024, 4, 0}, {8, 512, 4, 1}}},
		{1024, 1, {{1, 1024, 4, 1}}},
		{5120, 1, {{320, 16, 4, 1}}},
		{16384, 2, {{1, 8192, 4, 1}, {1, 8192, 4, 1}}},
		{4096, 1, {{1, 4096, 4, 0}}},
		{65536 + 256, 2, {{1, 256, 4, 0}, {2, 32768, 4, 1}}},
	};
	struct rpcrdma_props p;
	struct xdr_out x;
	uint8_t b = script_u8(s), c = script_u8(s);

	if (!peer_spoken()->talks)
		return;
	rpcrdma_props_init(&p);
	p.layout = layouts[b % 8];
	p.recv_size = b & 8 ? sizes[c % 8] : p.layout.len;
	p.rtr_ops =
		b >> 4 & 8 ? b >> 4 & 7 : RPCRDMA_RTR_XREQ | RPCRDMA_RTR_XRESP | RPCRDMA_RTR_XCONT;
	p.rtr_req_sends = c & 8 ? script_u8(s) : 16;
	p.rtr_resp_sends = c & 16 ? script_u8(s) : 16;
	p.reverse = c >> 6;
	xdr_out_init(&x, peer.body, sizeof(peer.body));
	rpcrdma_props_put(&x, &p);
	rpcrdma_hdr_init(&peer.hdr, 0, RPCRDMA_DIR_CALL, RDMA_CONNPROP);
	peer_credits(s);
	peer_say_one(peer_spoken(), peer.body, (uint32_t)x.len, &(struct how){0});
}
