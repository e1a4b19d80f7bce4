/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: segments placed before their headers have been read. Progress thread only.
 *
 * An FPDU should fit a segment of TCP, on an Ethernet 1448 bytes. A recvmsg() for each FPDU would
 * cost more than copying all FPDUs out of the look-ahead buffer. But inside a large message the
 * next segments can be foreseen, from the STag, size and end of the last one. So one recvmsg() gets
 * a row of pieces. First come the missing rest of this segment, a gap for its trailer and the next
 * header, and the place of the next payload. A gap and a place follow for each further segment, and
 * the look-ahead buffer behind all. Then the received headers are compared with the foreseen ones.
 *
 * Payload is thereby written to memory before its own header has been read. Four rules keep this
 * harmless:
 *
 *  I1 The places lie inside the open door (or the sink of our oldest read) named by the last
 *     header, which was checked. The peer may write there, and the foreseen segments are those that
 *     it may send next.
 *  I2 The places begin where the peer has written nothing yet (top of the door, got of the read). A
 *     wrong guess destroys no received byte.
 *  I3 iwarp_guess_settle() runs right after the recvmsg(). From the first unforeseen header on, it
 *     takes all bytes out again into the look-ahead buffer, in the order of the stream. There the
 *     bytes are judged as ever. Only then do completions come, doors close, reads end. Leftovers
 *     lie in bytes of a door that the peer has not written; their contents are undefined
 *     (provider.h).
 *  I4 A header equal to the foreseen one, bit by bit, breaks no rule of iwarp_msg_begin(): the door
 *     is open, allows writing, and is large enough. The same goes for a read's answer.
 */
#include "transport/iwarp/iwarp_guess.h"

#include <errno.h>
#include <string.h>

#include "transport/crc32c.h"
#include "transport/iwarp/iwarp_segment.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"
#include "transport/log.h"

enum {
	GUESS_MIN = 512,     /* smallest payload of a segment worth a guess */
	GUESS_MORE = 8,	     /* segments beyond those that came last time */
	GUESS_MISSES = 6,    /* first guesses wrong in a row: then 63 times without */
	HDR_LAST = 0x40,     /* of the third byte of an FPDU: the last segment of its message */
	TRAILER_MAX = 3 + 4, /* pad and CRC */
};

_Static_assert(IWARP_GUESS_BYTES >= IWARP_SEG_MAX, "one segment of any size must have room");
_Static_assert(IWARP_GAP == TRAILER_MAX + IWARP_FPDU_HDR, "a gap is a trailer and a header");

/* The place of the byte behind the current segment, and how many bytes may follow. NULL:
 * unknown. */
static uint8_t *place_behind(struct iwarp_conn *c, uint32_t *room)
{
	const struct iwarp_rx *rx = &c->rx;
	uint64_t end = rx->h.to + rx->pay;
	struct iwarp_door d;
	struct iwarp_read r;

	if (rx->h.op == DDP_OP_WRITE) {
		if (!iwarp_stags_find(&c->stags, rx->h.stag, &d) ||
			!(d.access & PROV_REMOTE_WRITE) || d.top != end)
			return NULL;
		*room = d.len - d.top;
		return d.addr + d.top;
	}
	if (!iwarp_tx_oldest_read(c, &r) || r.stag != rx->h.stag ||
		end != (uint64_t)r.got + (rx->state == IWARP_RX_HEADER ? 0 : rx->pay))
		return NULL;
	*room = r.len - (uint32_t)end;
	return r.addr + end;
}

static uint32_t size_of(const struct iwarp_guess *g, unsigned i)
{
	return i + 1 < g->n ? g->size : g->total - i * g->size;
}

static unsigned trailer_of(const struct iwarp_guess *g, unsigned i)
{
	return i ? mpa_pad(DDP_TAGGED_LEN + g->size) + 4 : g->tail;
}

/* Do the n bytes at p begin the header of segment i? The segment before i is current. */
static bool is_foreseen(const struct iwarp_rx *rx, unsigned i, const uint8_t *p, unsigned n)
{
	const struct iwarp_guess *g = &rx->guess;
	uint32_t ulpdu = DDP_TAGGED_LEN + size_of(g, i);
	uint64_t to = rx->h.to + rx->pay;
	uint8_t want[IWARP_FPDU_HDR] = {(uint8_t)(ulpdu >> 8), (uint8_t)ulpdu};
	bool last = g->ends && i + 1 == g->n;

	memcpy(want + 2, rx->raw, 2 + 4); /* versions, opcode, STag */
	for (int k = 0; k < 8; k++)
		want[8 + k] = (uint8_t)(to >> (56 - 8 * k));
	/* A Write may end anywhere, the answer to a read only at the end of the read. */
	if (rx->h.op == DDP_OP_WRITE ? n > 2 && (p[2] & HDR_LAST) : last)
		want[2] |= HDR_LAST;
	else
		want[2] &= (uint8_t)~HDR_LAST;
	return memcmp(want, p, n) == 0;
}

unsigned iwarp_guess_make(struct iwarp_conn *c, struct iovec *iov)
{
	struct iwarp_rx *rx = &c->rx;
	struct iwarp_guess *g = &rx->guess;
	unsigned n = 0, most = g->reach;
	uint32_t room = 0;

	g->n = 0;
	if (!rx->h.tagged || rx->h.last || rx->pay < GUESS_MIN || iwarp_is_held(c))
		return 0;
	g->place = place_behind(c, &room);
	if (!g->place || !room)
		return 0;
	if (g->skip) {
		g->skip--;
		return 0;
	}
	g->size = rx->pay;
	if (most > IWARP_GUESS_BYTES / g->size)
		most = IWARP_GUESS_BYTES / g->size;
	g->ends = room <= most * g->size;
	g->total = g->ends ? room : most * g->size;
	g->n = (g->total + g->size - 1) / g->size;
	g->had = rx->wr;
	g->tail = rx->state == IWARP_RX_HEADER ? 0 : mpa_pad(rx->ulpdu) + 4;
	if (g->had > g->tail && (g->had - g->tail >= IWARP_FPDU_HDR ||
					!is_foreseen(rx, 0, rx->buf + g->tail, g->had - g->tail))) {
		g->n = 0;
		return 0;
	}
	memcpy(g->gap[0], rx->buf, g->had);
	if (rx->state == IWARP_RX_PAYLOAD)
		iov[n++] = (struct iovec){.iov_base = rx->dst, .iov_len = rx->left};
	for (unsigned i = 0; i < g->n; i++) {
		unsigned had = i ? 0 : g->had;

		iov[n++] = (struct iovec){.iov_base = g->gap[i] + had,
			.iov_len = trailer_of(g, i) + IWARP_FPDU_HDR - had};
		iov[n++] = (struct iovec){
			.iov_base = g->place + i * g->size, .iov_len = size_of(g, i)};
	}
	iov[n++] = (struct iovec){.iov_base = rx->buf + IWARP_RX_BEHIND,
		.iov_len =
			g->ends ? iwarp_segment_look_ahead(rx, true, rx->msg + rx->pay + g->total)
				: IWARP_GAP};
	return n;
}

/* --- the outcome ------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The n bytes at p are all unread bytes. */
static void unread(struct iwarp_rx *rx, const uint8_t *p, unsigned n)
{
	memcpy(rx->buf, p, n);
	rx->rd = 0;
	rx->wr = n;
}

/* Takes n bytes out of the places of segment i and all pieces behind it, and appends them to the
 * unread bytes. */
static void take_back(struct iwarp_rx *rx, unsigned i, size_t n)
{
	struct iwarp_guess *g = &rx->guess;

	for (; n; i++) {
		size_t k = least(n, size_of(g, i));

		memcpy(rx->buf + rx->wr, g->place + (size_t)i * g->size, k);
		rx->wr += (unsigned)k;
		n -= k;
		if (i + 1 == g->n) {
			memmove(rx->buf + rx->wr, rx->buf + IWARP_RX_BEHIND, n);
			rx->wr += (unsigned)n;
			return;
		}
		k = least(n, trailer_of(g, i + 1) + IWARP_FPDU_HDR);
		memcpy(rx->buf + rx->wr, g->gap[i + 1], k);
		rx->wr += (unsigned)k;
		n -= k;
	}
}

/* The header of segment i, at p, is the foreseen one. */
static void begin(struct iwarp_conn *c, unsigned i, const uint8_t *p)
{
	struct iwarp_rx *rx = &c->rx;
	const struct iwarp_guess *g = &rx->guess;

	rx->h.to += rx->pay;
	rx->h.last = p[2] & HDR_LAST;
	memcpy(rx->raw, p + 2, DDP_TAGGED_LEN);
	rx->pay = rx->left = size_of(g, i);
	rx->ulpdu = DDP_TAGGED_LEN + rx->pay;
	rx->dst = g->place + (size_t)i * g->size;
	rx->state = IWARP_RX_PAYLOAD;
	if (c->crc)
		rx->crc = crc32c(0, p, IWARP_FPDU_HDR);
}

/* Rates the guess: i segments came as foreseen. */
static void judge(struct iwarp_guess *g, unsigned i, bool wrong)
{
	g->hits += i;
	if (i) {
		g->misses = 0;
	} else if (wrong) {
		g->misses += g->misses < GUESS_MISSES;
		g->skip = (1u << g->misses) - 1;
	}
	if (i < g->n)
		g->reach = i + GUESS_MORE;
	else if (g->reach < 2 * i)
		g->reach = 2 * i;
	if (g->reach > IWARP_GUESS_SEGS)
		g->reach = IWARP_GUESS_SEGS;
}

/* Records the ended segments, of `ended` bytes in all, and the begun ones. */
static void account(struct iwarp_conn *c, unsigned begun, uint32_t ended)
{
	struct iwarp_rx *rx = &c->rx;
	struct iwarp_door d;

	if (rx->h.op == DDP_OP_WRITE && begun)
		iwarp_stags_write(&c->stags, rx->h.stag, rx->h.to, rx->pay, &d);
	else if (rx->h.op == DDP_OP_READ_RESP && ended)
		iwarp_tx_read_got(c, ended);
	log_data("iwarp %s: received opcode %u, %u bytes in segments foreseen, %u begun", c->peer,
		rx->h.op, ended, begun);
}

int iwarp_guess_settle(struct iwarp_conn *c, size_t n)
{
	struct iwarp_rx *rx = &c->rx;
	struct iwarp_guess *g = &rx->guess;
	uint32_t ended = 0;
	bool wrong = false;
	unsigned i = 0;

	rx->rd = rx->wr = 0;
	for (;; i++) {
		unsigned tail = trailer_of(g, i), have = i ? 0 : g->had, k;
		uint8_t *gap;

		if (rx->state == IWARP_RX_PAYLOAD) {
			n -= iwarp_segment_placed(c, n);
			if (rx->left)
				break;
			rx->state = IWARP_RX_TRAILER;
		}
		if (i == g->n) {
			rx->rd = IWARP_RX_BEHIND;
			rx->wr = IWARP_RX_BEHIND + (unsigned)n;
			break;
		}
		gap = g->gap[i];
		k = (unsigned)least(n, tail + IWARP_FPDU_HDR - have);
		have += k;
		n -= k;
		if (have < tail) {
			unread(rx, gap, have);
			break;
		}
		if (tail) {
			if (!iwarp_segment_trailer(c, gap))
				return -EIO;
			ended += rx->pay;
		}
		wrong = !is_foreseen(rx, i, gap + tail, have - tail);
		if (wrong || have < tail + IWARP_FPDU_HDR) {
			unread(rx, gap + tail, have - tail);
			take_back(rx, i, n);
			break;
		}
		begin(c, i, gap + tail);
	}
	judge(g, i, wrong);
	account(c, i, ended);
	return 0;
}
