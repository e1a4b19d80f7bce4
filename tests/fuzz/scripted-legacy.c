/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: the peer's actions in the dialect of 2005: limits, padding, and answers to be read.
 */
#include <endian.h>
#include <string.h>

#include "scripted-peer.h"
#include "transport/rpcrdma/old/rpcrdma_legacy.h"
#include "transport/rpcrdma/old/ccp.h"

static const uint32_t sizes[] = {1024, 4096, 0, 100, 2048, 8192, 65536, ~0u};
static const uint32_t aligns[] = {512, 4096, 4, 8, 1, 2, 64, 0, 3, 1024, 65536, 131072};

static uint32_t one_of(const uint32_t *of, unsigned n, struct script *s)
{
	return of[script_u8(s) % n];
}
#define ONE_OF(of, s) one_of(of, sizeof(of) / sizeof((of)[0]), s)

static void note_size(uint32_t n)
{
	if (n < 1024)
		n = 1024;
	if (n > peer.takes)
		peer.takes = n;
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The answer; a lie is an answer of the wrong kind. */
static void tell_limits(struct script *s, uint8_t what)
{
	uint32_t size = ONE_OF(sizes, s), align = ONE_OF(aligns, s), reads = script_u8(s) % 20u;
	uint32_t stat = what == 1 ? 1 + script_u8(s) % 5u : 0, n = what == 1 ? 6 : 9;

	rpcrdma_hdr_init(&peer.hdr, peer.asked_xid + (what == 2), RPCRDMA_DIR_REPLY, RDMA_MSG);
	peer_credits(s);
	if (what == 3) {
		peer.hdr.proc = RDMA_ERROR;
		peer.hdr.err = 1 + script_u8(s) % 2u;
		peer.hdr.vers = peer.hdr.vers_low = peer.hdr.vers_high = 1 + script_u8(s) % 2u;
		n = 0;
	} else if (what == 4) {
		peer.hdr.proc = RDMA_MSGP;
		peer.hdr.align = align;
		peer.hdr.thresh = script_u8(s);
	} else if (what == 5) {
		n = script_u8(s) % 12u;
	}
	peer_words(peer.body,
		(const uint32_t[]){peer.hdr.xid, 1, 0, 0, 0, stat, size, align, reads, 1, 2, 3},
		12);
	note_size(size);
	peer_say_one(&rpcrdma_legacy, peer.body, 4 * n, &(struct how){0});
}

void peer_configure(void)
{
	struct script *s = scripted_end.script;
	uint8_t b = script_u8(s);

	if (!peer.asked)
		return;
	if (b >= 250)
		scripted_close();
	else if (b < 240)
		tell_limits(s, b < 192 ? 0 : b / 2 % 6);
}

void peer_ask(struct script *s)
{
	struct how how = peer_how(s);
	uint8_t b = script_u8(s);
	uint32_t xid = ++peer.next_xid, call = ONE_OF(sizes, s), reply = ONE_OF(sizes, s),
		 reads = script_u8(s) % 20u;

	if (scripted_end.requester)
		return;
	peer_words(peer.body,
		(const uint32_t[]){xid, 0, 2, CCP_PROG, b & 1 ? 2 : 1, b & 2 ? b / 4 % 4u : 1, 0, 0,
			0, 0, call, reply, reads},
		13);
	rpcrdma_hdr_init(&peer.hdr, xid, RPCRDMA_DIR_CALL, RDMA_MSG);
	peer_credits(s);
	peer_taint(xid); /* the service does not see this call */
	note_size(reply);
	peer_say_one(&rpcrdma_legacy, peer.body, 4 * (b & 64 ? 12 : 13), &how);
}

/* --- padding ---------------------------------------------------------------------------------- */

void peer_unpad(const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len, struct flat *f)
{
	const struct scripted_call *c = scripted_find(h->xid);
	const struct xdr_out *args = c ? &c->rpc.args : NULL;
	uint32_t at, pad;

	*f = (struct flat){malloc(len + 1), len};
	memcpy(f->data, body, len);
	if (!c) {
		f->len = 0;
		return;
	}
	SCRIPTED_CHECK(args->npayloads == 1 && len >= c->flat.len);
	at = c->flat.len - (uint32_t)xdr_out_total(args) + args->payload[0].pos;
	pad = len - c->flat.len;
	SCRIPTED_CHECK(pad < h->align && !((h->len + at + pad) % h->align));
	SCRIPTED_CHECK(args->payload[0].data.len >= h->thresh);
	for (uint32_t i = 0; i < pad; i++)
		SCRIPTED_CHECK(!body[at + i]);
	memcpy(f->data + at, body + at + pad, len - at - pad);
	f->len = len - pad;
}

void peer_call_padded(struct script *s)
{
	struct how how = peer_how(s);
	uint32_t align = ONE_OF(aligns, s), thresh = script_len(s);
	uint32_t xid = ++peer.next_xid, opaque, past, pad = 0, n, word;
	uint32_t len = peer_make_call(s, xid, &opaque, true);

	if (!peer_made(xid, len, opaque))
		return;
	rpcrdma_hdr_init(&peer.hdr, xid, RPCRDMA_DIR_CALL, RDMA_MSGP);
	peer_credits(s);
	peer.hdr.align = align;
	peer.hdr.thresh = thresh;
	memcpy(&word, peer.body + opaque - 4, 4);
	n = be32toh(word);
	past = align ? (uint32_t)(rpcrdma_dialect_size(&rpcrdma_legacy, &peer.hdr) + opaque) % align
		     : 0;
	if (past && n >= thresh)
		pad = align - past;
	memmove(peer.body + opaque + pad, peer.body + opaque, len - opaque);
	memset(peer.body + opaque, 0, pad);
	if (!rpcrdma_align_ok(align) || !thresh) /* credentials would be padded, too */
		peer.honest = false;
	peer_say_one(&rpcrdma_legacy, peer.body, len + pad, &how);
}

bool peer_is_padded(const struct xdr_in *args, const struct made *m)
{
	struct xdr_in x = *args;
	const uint8_t *data;
	uint32_t n;

	if (!m->opaque || x.len < m->opaque || memcmp(x.base, m->flat.data, m->opaque - 4))
		return false;
	x.pos = m->opaque - 4;
	data = xdr_get_opaque(&x, UINT32_MAX, &n);
	return data && !memcmp(data, m->flat.data + m->opaque, n) &&
	       xdr_in_left(&x) == m->flat.len - m->opaque - n - xdr_pad(n) &&
	       !memcmp(x.base + x.pos, m->flat.data + m->flat.len - xdr_in_left(&x),
		       xdr_in_left(&x));
}

/* --- answers that the peer reads -------------------------------------------------------------- */

/* Sum of the lent bytes, if the peer can read all of them. */
static bool sum_of(const struct lent *l, uint32_t *sum)
{
	*sum = 1;
	for (unsigned i = 0; i < l->nreads; i++) {
		const struct rpcrdma_seg *g = &l->read[i].seg;
		const uint8_t *m = scripted_readable(g->handle, g->offset, g->length);

		if (!m)
			return false;
		for (uint32_t k = 0; k < g->length; k += 1 + g->length / 64)
			*sum = *sum * 31 + m[k];
	}
	return true;
}

void peer_note_lent(const struct rpcrdma_hdr *h)
{
	struct lent *l = &peer.lent[peer.nlent];

	SCRIPTED_CHECK(h->nreads <= XDR_MAX_PAYLOADS);
	if (peer.nlent == PEER_LENT) {
		scripted_close();
		return;
	}
	peer.nlent++;
	l->xid = h->xid;
	l->nreads = h->nreads;
	memcpy(l->read, h->read, h->nreads * sizeof(h->read[0]));
	if (!sum_of(l, &l->sum))
		peer.nlent--; /* the connection is down */
}

void peer_say_done(struct script *s)
{
	uint8_t b = script_u8(s);
	unsigned i = 0;
	uint32_t sum;

	rpcrdma_hdr_init(&peer.hdr, 0x70000000u + script_u8(s), RPCRDMA_DIR_CALL, RDMA_DONE);
	peer_credits(s);
	if (b < 224 && !peer.nlent)
		return;
	if (b < 224) {
		peer.hdr.xid = peer.lent[b % peer.nlent].xid;
		while (peer.lent[i].xid != peer.hdr.xid)
			i++;
		SCRIPTED_CHECK(scripted.down || peer_tainted(peer.hdr.xid) ||
			       (sum_of(&peer.lent[i], &sum) && sum == peer.lent[i].sum));
		memmove(&peer.lent[i], &peer.lent[i + 1],
			(--peer.nlent - i) * sizeof(peer.lent[0]));
	} else {
		peer.honest = false;
	}
	peer_say_one(&rpcrdma_legacy, peer.body, 0, &(struct how){0});
}

/* --- answers that the end reads --------------------------------------------------------------- */

/* Most bytes of the whole answer to a call. */
static uint32_t bound_of(uint32_t xid)
{
	const struct scripted_call *c = scripted_find(xid);
	uint32_t n = 24;

	n += c ? c->rpc.reply_max : 0;
	for (unsigned i = 0; c && i < c->rpc.nsinks; i++)
		n += c->rpc.sink[i].len;
	return n;
}

uint32_t peer_lend(struct script *s, const struct rpcrdma_hdr *call, uint32_t n)
{
	uint8_t how = script_u8(s), k = 1 + script_u8(s) % 4u;
	uint32_t at = 24, bound = bound_of(call->xid), part;

	if (peer.honest && n > bound)
		n = bound;
	if (peer.ndue == PEER_SAME || (!peer.honest && how & 0x80))
		return n;
	peer.due[peer.ndue++] = call->xid;
	if (how & 1) {
		peer_same(call->xid, peer.body, n);
		peer_give(peer.body, n, 0, k);
		peer.hdr.proc = RDMA_NOMSG;
		return 0;
	}
	/* the unread part goes to the front */
	for (unsigned i = 0, left = n - at, gone = 0; i < (how >> 1 & 3u); i++) {
		part = left / 2 & ~3u;
		if (part < 8)
			break;
		at += part / 2 & ~3u;
		peer_same(call->xid, peer.body + at, part / 2 & ~3u);
		peer_give(peer.body + at, part / 2 & ~3u,
			peer.honest || !(how & 0x40) ? at + gone : script_u8(s) * 4u, k);
		memmove(peer.body + at, peer.body + at + (part / 2 & ~3u),
			n - at - (part / 2 & ~3u));
		n -= part / 2 & ~3u;
		gone += part / 2 & ~3u;
		left = n - at;
	}
	peer_same(call->xid, peer.body, n);
	return n;
}

void peer_got_done(const struct rpcrdma_hdr *h)
{
	bool found = peer_tainted(h->xid);

	for (unsigned i = 0; i < peer.ndue && !found; i++) {
		if (peer.due[i] != h->xid)
			continue;
		peer.due[i] = peer.due[--peer.ndue];
		found = true;
	}
	SCRIPTED_CHECK(found);
}
