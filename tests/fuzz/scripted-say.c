/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: how the peer says something.
 */
#include <endian.h>
#include <string.h>

#include "scripted-peer.h"
#include "transport/rpcrdma/old/rpcrdma_legacy.h"
#include "transport/rpcrdma/v1/rpcrdma_v1.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"

static uint32_t header[1u << 13]; /* encoded */

const struct rpcrdma_dialect *peer_spoken(void)
{
	return scripted_end.x ? scripted_rdma()->dialect : &rpcrdma_legacy;
}

const struct rpcrdma_dialect *peer_any_dialect(struct script *s)
{
	static const struct rpcrdma_dialect *const all[] = {&rpcrdma_v2, &rpcrdma_v1,
		&rpcrdma_v2_rtr, &rpcrdma_v2_2016, &rpcrdma_v2_2016_rtr, &rpcrdma_legacy};
	uint8_t b = script_u8(s);

	return b < 128 ? peer_spoken() : all[b % 6];
}

void peer_words(uint8_t *to, const uint32_t *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t be = htobe32(w[i]);

		memcpy(to + 4 * i, &be, 4);
	}
}

/* --- Sends ------------------------------------------------------------------------------------ */

bool peer_say_one(
	const struct rpcrdma_dialect *d, const uint8_t *data, uint32_t n, const struct how *how)
{
	static uint8_t msg[sizeof(header) + sizeof(peer.body)];
	int len = rpcrdma_dialect_encode(d, &peer.hdr, header, sizeof(header));

	if (len < 0)
		return true;
	memcpy(msg, header, (size_t)len);
	if (n)
		memcpy(msg + len, data, n);
	n += (uint32_t)len;
	msg[how->at % n] ^= (uint8_t)how->change;
	n -= how->cut < n ? how->cut : n;
	return peer_send(d, msg, n, how->inv && !peer.hdr.more, how->stag);
}

void peer_say(const struct rpcrdma_dialect *d, uint32_t n, const struct how *how, unsigned more)
{
	static struct rpcrdma_hdr last;
	uint32_t at = 0, room, hlen;

	last = peer.hdr;
	rpcrdma_hdr_init(&peer.hdr, last.xid, last.dir, last.proc);
	peer.hdr.grant = last.grant;
	peer.hdr.want = last.want;
	peer.hdr.more = true;
	hlen = (uint32_t)rpcrdma_dialect_size(d, &last);
	room = PEER_SEND_MAX - (uint32_t)rpcrdma_dialect_size(d, &peer.hdr);
	if (more && n / (more + 1) < room)
		room = (n / (more + 1) + 3) & ~3u;
	while (d->limits.sends > 1 && last.proc == RDMA_MSG && room &&
		(hlen + n - at > PEER_SEND_MAX || more) && n - at > room) {
		if (!peer_say_one(d, peer.body + at, room, how))
			return;
		at += room;
		more -= more > 0;
		if (how->stops && !more)
			return;
	}
	peer.hdr = last;
	peer_say_one(d, peer.body + at, n - at, how);
}

struct how peer_how(struct script *s)
{
	struct how how = {0};
	uint8_t b = script_u8(s);

	peer.honest = b < 192;
	how.stops = b >= 192 && b & 4;
	if (b < 208) /* from 192 on: a lie, in good form */
		return how;
	if (b & 1) {
		how.change = script_u8(s);
		how.at = script_u16(s);
	}
	if (b & 2)
		how.cut = script_u8(s);
	if (b & 8) { /* such a message was never sent */
		how.inv = true;
		how.stag = scripted.next_stag - script_u8(s) % 16u;
	}
	return how;
}

void peer_credits(struct script *s)
{
	static const uint16_t some[] = {32, 1, 2, 3, 0, 8, 64, 65535};
	uint8_t b = script_u8(s);

	peer.hdr.grant = some[b & 7];
	peer.hdr.want = some[b >> 3 & 7];
}

/* --- chunks ----------------------------------------------------------------------------------- */

void peer_fill_chunk(const struct rpcrdma_chunk *c, const uint8_t *data, uint32_t len,
	const struct rpcrdma_hdr *call)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct rpcrdma_seg *to = &peer.hdr.seg[c->first + i];
		uint32_t n = call->seg[c->first + i].length;

		if (n > len)
			n = len;
		if (n && !scripted_write(to->handle, to->offset, data, n))
			return;
		to->length = n;
		data += n;
		len -= n;
	}
}

unsigned peer_segments(struct rpcrdma_seg *seg, uint32_t len, unsigned k)
{
	unsigned n = 0;

	for (; n < k && peer.narena + len / k + k <= sizeof(peer.arena); n++) {
		seg[n].handle = PEER_HANDLE + n;
		seg[n].offset = peer.narena;
		seg[n].length = n + 1 < k ? len / k : len - len / k * n;
		peer.narena += seg[n].length;
	}
	return n;
}

void peer_give(const uint8_t *data, uint32_t len, uint32_t position, unsigned k)
{
	struct rpcrdma_seg seg[8];
	unsigned n = peer_segments(seg, len, k);

	if (n < k) /* the peer's memory is used up */
		peer.honest = false;
	for (unsigned i = 0; i < n; i++) {
		memcpy(peer.arena + seg[i].offset, data, seg[i].length);
		data += seg[i].length;
		rpcrdma_hdr_add_read(&peer.hdr, position, &seg[i]);
	}
}

/* --- calls ------------------------------------------------------------------------------------ */

uint32_t peer_make_call(struct script *s, uint32_t xid, uint32_t *opaque, bool has_opaque)
{
	uint32_t n = 40 + (script_len(s) & ~3u), len;

	peer_words(peer.body, (const uint32_t[]){xid, 0, 2, PEER_PROG, 1, 7, 0, 0, 0, 0}, 10);
	scripted_pattern(peer.body + 40, n - 40, xid);
	*opaque = n + 4;
	if (!has_opaque)
		return n;
	len = script_len(s);
	peer_words(peer.body + n, &len, 1);
	n += 4;
	scripted_pattern(peer.body + n, len, n);
	memset(peer.body + n + len, 0, xdr_pad(len));
	n += len + xdr_pad(len);
	peer_words(peer.body + n, &xid, 1);
	return n + 4;
}

bool peer_made(uint32_t xid, uint32_t len, uint32_t opaque)
{
	struct made *m = &peer.made[peer.nmade];

	if (peer.nmade == PEER_MADE)
		return false;
	peer.nmade++;
	*m = (struct made){.xid = xid, .opaque = opaque, .flat = {malloc(len), len}};
	memcpy(m->flat.data, peer.body, len);
	return true;
}
