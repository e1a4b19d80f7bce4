/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: the actions of the peer. An action is a byte of the script, and the bytes that the
 * action takes.
 */
#include <endian.h>
#include <string.h>

#include "scripted-peer.h"
#include "transport/clock.h"

static struct scripted_end *const end = &scripted_end;

/* --- answering -------------------------------------------------------------------------------- */

/* The chunks of a dishonest answer. */
static void lie_about_chunks(struct script *s)
{
	uint8_t b = script_u8(s);

	if (!peer.hdr.nsegs)
		return;
	switch (b % 8) {
	case 0:
		peer.hdr.seg[b / 8 % peer.hdr.nsegs].length += script_u16(s);
		break;
	case 1:
		peer.hdr.seg[b / 8 % peer.hdr.nsegs].length = ~0u - script_u8(s);
		break;
	case 2:
		peer.hdr.nwrites -= peer.hdr.nwrites > 0;
		break;
	case 3:
		peer.hdr.has_reply = !peer.hdr.has_reply;
		break;
	case 4:
		rpcrdma_hdr_add_write(&peer.hdr, peer.hdr.seg, peer.hdr.nsegs);
		break;
	case 5:
		rpcrdma_hdr_add_read(&peer.hdr, script_u8(s) * 4u, peer.hdr.seg);
		break;
	case 6:
		peer.hdr.proc = script_u8(s) % 8;
		break;
	default:
		peer.hdr.xid += script_u8(s);
		break;
	}
}

/* Answers call i of the end. */
static void answer(struct script *s, unsigned i, const struct how *how, bool again)
{
	const struct rpcrdma_hdr *call = &peer.seen[i].h;
	/* the end may have changed its dialect since */
	const struct rpcrdma_dialect *d = peer.honest ? peer_spoken() : peer.seen[i].d;
	uint8_t shape = script_u8(s);
	uint32_t len = 24 + script_len(s), more = shape >> 4 & 3;
	bool placed = call->proc == RPCRDMA_XMT_REQ;
	struct rpcrdma_hdr asked;
	struct how send = *how;

	rpcrdma_hdr_init(&peer.hdr, call->xid, RPCRDMA_DIR_REPLY, RDMA_MSG);
	peer_credits(s);
	peer.hdr.nwrites = call->nwrites;
	memcpy(peer.hdr.write, call->write, sizeof(peer.hdr.write));
	peer.hdr.has_reply = call->has_reply;
	peer.hdr.reply = call->reply;
	peer.hdr.nsegs = call->nsegs;
	memcpy(peer.hdr.seg, call->seg, call->nsegs * sizeof(peer.hdr.seg[0]));
	for (unsigned k = 0; k < peer.hdr.nsegs; k++)
		peer.hdr.seg[k].length = 0;
	peer_words(peer.body, (const uint32_t[]){call->xid, 1, 0, 0, 0, 0}, 6);
	scripted_pattern(peer.body + 24, len - 24, call->xid);
	if (placed && !(shape & 0x80)) {
		asked = *call;
		if (!again && peer.honest)
			peer.seen[i] = peer.seen[--peer.nseen];
		peer_answer_placed(s, &asked, len, how);
		return;
	}
	if (shape & 0x40 && d->legacy && end->requester) {
		peer.hdr.nsegs -= call->has_reply ? call->reply.n : 0;
		peer.hdr.has_reply = false;
		len = peer_lend(s, call, len);
		shape &= ~2u;
		if (peer.honest && peer.hdr.proc == RDMA_MSG)
			peer.hdr.nwrites = peer.hdr.nsegs = 0;
	}
	for (unsigned k = 0; k < peer.hdr.nwrites && shape & 1; k++)
		peer_fill_chunk(&peer.hdr.write[k], peer.body, script_len(s), call);
	if (call->has_reply && shape & 2 && peer.nlong < PEER_SENDS) {
		peer.in_chunk[peer.nlong++] =
			scripted_memory(peer.hdr.seg[call->reply.first].handle);
		peer_fill_chunk(&peer.hdr.reply, peer.body, len, call);
		peer.hdr.proc = RDMA_NOMSG;
		len = 0;
	}
	if (!how->inv && shape & 4 && call->inv_handle) {
		send.inv = true;
		send.stag = call->inv_handle;
	}
	if (!peer.honest && shape & 8)
		lie_about_chunks(s);
	if (!again && peer.honest)
		peer.seen[i] = peer.seen[--peer.nseen];
	peer_say(d, len, &send, more);
}

static void refuse(struct script *s)
{
	static const uint32_t arg[] = {0, 1, 2, 3, 8, 100, 4096, 5000, 70000, 1u << 20, ~0u};
	const struct rpcrdma_dialect *d = peer_any_dialect(s);
	uint8_t b = script_u8(s);

	peer.honest = false;
	rpcrdma_hdr_init(&peer.hdr, 0x1000 + script_u8(s), RPCRDMA_DIR_REPLY, RDMA_ERROR);
	if (peer.nseen && b < 224) {
		unsigned i = b % peer.nseen;

		d = peer.seen[i].d;
		peer.hdr.xid = peer.seen[i].h.xid;
		peer.honest = b < 192;
		if (peer.honest)
			peer.seen[i] = peer.seen[--peer.nseen];
	}
	peer_credits(s);
	peer.hdr.vers = d->vers;
	peer.hdr.err = script_u8(s) % 13;
	peer.hdr.err_arg = arg[script_u8(s) % (sizeof(arg) / sizeof(arg[0]))];
	peer.hdr.err_index = script_u8(s) % 4;
	peer.hdr.vers_low = script_u8(s) % 4;
	peer.hdr.vers_high = peer.hdr.vers_low + script_u8(s) % 3;
	peer_say_one(d, peer.body, 0, &(struct how){0});
}

/* --- calling ---------------------------------------------------------------------------------- */

static void lie_about_call(struct script *s)
{
	uint8_t b = script_u8(s), i = script_u8(s);
	struct rpcrdma_seg *seg = peer.hdr.nsegs    ? &peer.hdr.seg[i % peer.hdr.nsegs]
				  : peer.hdr.nreads ? &peer.hdr.read[i % peer.hdr.nreads].seg
						    : NULL;

	if (b % 8 < 5 && !seg)
		return;
	switch (b % 8) {
	case 0:
		seg->length = b & 8 ? ~0u - i : seg->length + i;
		break;
	case 1:
		seg->handle = i;
		break;
	case 2:
		seg->offset = b & 8 ? ~UINT64_C(0) - i : seg->offset + i;
		break;
	case 3:
		seg->length = 0;
		break;
	case 4:
		if (peer.hdr.nreads)
			peer.hdr.read[i % peer.hdr.nreads].position = script_u8(s) * 4u;
		break;
	case 5:
		peer.hdr.proc = i % 8;
		break;
	case 6:
		peer.hdr.xid = 0x70000000 + i;
		break;
	default:
		for (unsigned k = 0; k < i && b & 8 && seg; k++)
			rpcrdma_hdr_add_read(&peer.hdr, 40 + 4 * k, seg);
		for (unsigned k = 0; k < i && !(b & 8); k++)
			rpcrdma_hdr_add_write(
				&peer.hdr, peer.hdr.seg, k % 4 < peer.hdr.nsegs ? k % 4 : 0);
		break;
	}
}

/* Segments of a Write chunk: most have few. */
static unsigned how_many(struct script *s)
{
	uint8_t b = script_u8(s);

	return b < 224 ? b % 4u : b % 24u;
}

static void call(struct script *s)
{
	struct how how = peer_how(s);
	uint8_t shape = script_u8(s), chunks = script_u8(s);
	const struct rpcrdma_dialect *d = shape & 0x80 ? peer_any_dialect(s) : peer_spoken();
	uint32_t xid = shape & 0x40 ? peer.next_xid - script_u8(s) % 4u : ++peer.next_xid;
	uint32_t opaque, len = peer_make_call(s, xid, &opaque, shape & 1), n, word;
	unsigned k = 1 + script_u8(s) % 8u;
	struct rpcrdma_seg seg[24];

	if (!peer_made(xid, len, 0))
		return;
	rpcrdma_hdr_init(&peer.hdr, xid, RPCRDMA_DIR_CALL, RDMA_MSG);
	peer_credits(s);
	if (shape & 2) {
		peer_give(peer.body, len, 0, k);
		peer.hdr.proc = RDMA_NOMSG;
		len = 0;
	} else if (shape & 4 && shape & 1) {
		memcpy(&word, peer.body + opaque - 4, 4);
		n = be32toh(word);
		if (shape & 8) /* with the round-up */
			n += xdr_pad(n);
		peer_give(peer.body + opaque, n, opaque, k);
		n += xdr_pad(n);
		memmove(peer.body + opaque, peer.body + opaque + n, len - opaque - n);
		len -= n;
	}
	for (unsigned i = 0; i < chunks % 4u; i++)
		rpcrdma_hdr_add_write(
			&peer.hdr, seg, peer_segments(seg, script_len(s), how_many(s)));
	if (chunks & 4)
		rpcrdma_hdr_set_reply(
			&peer.hdr, seg, peer_segments(seg, script_len(s), 1 + script_u8(s) % 3u));
	if (peer.hdr.nsegs && chunks & 8)
		peer.hdr.inv_handle = peer.hdr.seg[0].handle;
	if (end->requester && !d->talks && !rpcrdma_hdr_chunkless(&peer.hdr))
		peer.honest = false; /* the header does not say that the message is a call */
	if (!peer.honest && chunks & 16)
		lie_about_call(s);
	peer_say(d, len, &how, shape >> 4 & 3);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void properties(struct script *s)
{
	static const uint32_t some[] = {0, 1, 16, 38, 64, 511, 1024, 4096, 65536, 1u << 20, ~0u};
	struct how how = peer_how(s);
	unsigned n = script_u8(s) % 8, more = script_u8(s);
	struct xdr_out x;

	xdr_out_init(&x, peer.body, sizeof(peer.body));
	xdr_put_u32(&x, more & 8 ? script_u8(s) : n);
	for (unsigned i = 0; i < n; i++) {
		uint8_t b = script_u8(s);

		xdr_put_u32(&x, b & 0x40 ? RPCRDMA_PROP_RTR_OPS + b % 4u : b % 8u);
		xdr_put_u32(&x, b & 0x80 ? script_u8(s) : 4);
		xdr_put_u32(&x, some[script_u8(s) % (sizeof(some) / sizeof(some[0]))]);
	}
	rpcrdma_hdr_init(&peer.hdr, more & 16 ? 0x1000 : 0, RPCRDMA_DIR_CALL, RDMA_CONNPROP);
	peer_credits(s);
	peer.honest = false;
	peer.hdr.more = more & 32;
	peer_say_one(peer_any_dialect(s), peer.body, (uint32_t)x.len, &how);
}

static void grant(struct script *s)
{
	rpcrdma_hdr_init(&peer.hdr, 0, RPCRDMA_DIR_CALL, RDMA_NOMSG);
	peer_credits(s);
	peer.honest = peer_spoken()->talks;
	peer_say_one(peer_spoken(), peer.body, 0, &(struct how){0});
}

/* Bytes of the script, with the XID of a call if there is one. */
static void babble(struct script *s)
{
	uint8_t b = script_u8(s);
	uint32_t n = script_u8(s), xid = htobe32(0x1000u + b % 16);

	for (uint32_t i = 0; i < n; i++)
		peer.body[i] = script_u8(s);
	if (b & 0x80 && n >= 4)
		memcpy(peer.body, &xid, 4);
	peer.honest = false;
	peer_send(NULL, peer.body, n, b & 0x40, scripted.next_stag - b % 16u);
}

/* RDMA Write to a door of the end, or beside a door. */
static void write_somewhere(struct script *s)
{
	uint32_t stag = scripted.next_stag - script_u8(s) % 32u, at = script_u16(s);
	uint32_t len = script_len(s);

	scripted_pattern(peer.body, len, at);
	scripted_write(stag, 0x10000 + at - 16u, peer.body, len);
}

/* An optional operation of version 2 of 2016, or bytes like such an operation. */
static void option(struct script *s)
{
	uint8_t b = script_u8(s), cut = script_u8(s);
	uint32_t n = 4 + 4 * (b % 4u);

	peer_words(peer.body,
		(const uint32_t[]){0x1000u + script_u8(s), 2, 8, 5, b >> 4 & 1,
			b & 0x80 ? script_u8(s) : 5 + b / 32u % 4, 4 * (n - 7), 1, 2, 3, 4, 5, 6, 7,
			8, 9},
		16);
	peer.honest = false;
	peer_send(NULL, peer.body, 4 * n + cut % 8, false, 0);
}

static void pass_time(struct script *s)
{
	static const uint32_t ms[] = {1, 3, 60, 500, 2000, 10000, 31000, 100000};

	scripted_now += ms[script_u8(s) % 8] * NSEC_PER_MSEC;
}

static void answer_some(struct script *s)
{
	uint8_t b = script_u8(s);
	struct how how = peer_how(s);

	if (peer.nseen)
		answer(s, b % 64 % peer.nseen, &how, b & 0x80);
}

/* A call each way that goes well, and the peer's properties. */
void peer_open(struct script *s)
{
	static const struct script nothing;
	struct script none = nothing;
	uint8_t b = script_u8(s);

	if (b & 1)
		return;
	if (end->requester)
		scripted_call();
	else
		call(&none);
	scripted_progress();
	while (peer.nseen && !scripted.down)
		answer(&none, 0, &(struct how){0}, false);
	scripted_progress();
	if (!end->down && b & 2)
		peer_tell(s);
	scripted_progress();
}

void peer_act(struct script *s)
{
	uint8_t what = script_u8(s), b;

	switch (what % 24) {
	case 0:
	case 1:
		scripted_call();
		break;
	case 2:
	case 3:
		answer_some(s);
		break;
	case 4:
	case 5:
		call(s);
		break;
	case 6:
		refuse(s);
		break;
	case 7:
		properties(s);
		break;
	case 8:
		grant(s);
		break;
	case 9:
		babble(s);
		break;
	case 10:
		peer_answer_read();
		break;
	case 11:
		b = script_u8(s);
		scripted_serve(b % 64, b & 0x80);
		break;
	case 12:
		b = script_u8(s) % SCRIPTED_CALLS;
		if (end->call[b].live)
			scripted_forget(&end->call[b]);
		break;
	case 13:
		pass_time(s);
		break;
	case 14:
		write_somewhere(s);
		break;
	case 15:
		peer_call_placed(s);
		break;
	case 16:
		peer_tell(s);
		break;
	case 17:
		peer_report(s);
		break;
	case 18:
	case 19:
	case 20:
		if (peer_spoken()->legacy)
			(what % 24 == 18	  ? peer_ask
				: what % 24 == 19 ? peer_call_padded
						  : peer_say_done)(s);
		break;
	case 21:
		option(s);
		break;
	case 22:
		scripted_sent_all();
		break;
	default:
		b = script_u8(s);
		if (b % 8 == 0)
			scripted_close();
		else if (b % 8 == 1)
			scripted.failing = b / 8;
		else
			scripted_sent_all();
		break;
	}
	peer.honest = true;
	if (!(what & 0x80))
		scripted_progress();
}

bool peer_be_honest(void)
{
	static const struct script none;
	struct script s = none;
	bool more = false;

	peer.honest = true;
	for (; scripted.nreads && !scripted.down; more = true)
		peer_answer_read();
	for (; peer.nseen && !scripted.down; more = true)
		answer(&s, 0, &(struct how){0}, false);
	for (; peer.nlent && !scripted.down; more = true)
		peer_say_done(&s);
	if (scripted_rdma()->v2.stalls && !scripted.down) {
		grant(&s);
		more = true;
	}
	return more;
}
