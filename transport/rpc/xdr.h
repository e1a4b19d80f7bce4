/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xdr: one bounds-checked cursor per direction (RFC 4506).
 *
 * Bounds are checked in xdr_reserve() (out) and xdr_consume() (in) and nowhere else. Both cursors
 * carry a sticky error: coders need not check after every item, only once at the end with
 * xdr_out_ok()/xdr_in_ok(). After an error every get returns 0/NULL and every put does nothing.
 *
 * Payload. Bulk data (the opaque of READ and WRITE) never passes through a cursor's buffer.
 * xdr_put_payload() writes the length word and records where the data belongs; the transport places
 * it by RDMA, or splices it in with its round-up when it sends inline. xdr_get_payload() gives back
 * a pointer to the data wherever it is: in the stream, or where the transport has placed it. Data
 * that lies in several pieces goes as a list (seg.h): xdr_put_payload_list(),
 * xdr_get_payload_list().
 *
 * Functions that move a cursor by a word are inline: a READ has more than a hundred words.
 *
 * A cursor is owned by one thread at a time.
 */
#ifndef RNFS_TRANSPORT_RPC_XDR_H
#define RNFS_TRANSPORT_RPC_XDR_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "transport/mem.h"
#include "transport/rpc/seg.h"

#define XDR_MAX_PAYLOADS 4
#define XDR_POS_NEXT	 UINT32_MAX /* "the place where the next payload is decoded" */
#define XDR_FROM_NONE	 UINT32_MAX /* "the operation's result may not be placed" */

/* Bytes of zero that follow n bytes of opaque. */
static inline uint32_t xdr_pad(uint32_t n)
{
	return -n & 3;
}

/* Data of the stream at pos, outside the cursor's buffer. */
struct xdr_payload {
	uint32_t pos; /* byte offset in the cursor's buffer where the data would begin (after its
			 length word), payloads not counted; XDR_POS_NEXT in replies */
	struct seg_list data; /* data.len is the true length, without round-up */
	bool taken;	      /* in: xdr_get_payload() has returned it */
	uint32_t from;	      /* out: the cursor's when it was put */
};

struct xdr_out {
	uint8_t *base;
	size_t len; /* bytes written */
	size_t cap;
	bool overflow;
	/* Of results: the position in the call, as xdr_in_disp() counts, of the operation with the
	 * result being put, or XDR_FROM_NONE. notes_items: an item without data, or with data in
	 * the stream, is noted like a payload (xdr_note_item()). */
	uint32_t from;
	bool notes_items;
	unsigned npayloads;
	struct xdr_payload payload[XDR_MAX_PAYLOADS];
};

/* Padding before counted opaque data of `thresh` bytes or more, to align the data in the received
 * message (RDMA_MSGP of RPC-over-RDMA's draft of 2005). The data begins at a multiple of align,
 * counted from `before` bytes before the cursor's buffer. align: a multiple of 4, or 1 or 2; 0:
 * there is none. */
struct xdr_padding {
	uint32_t align, thresh, before;
};

struct xdr_in {
	const uint8_t *base;
	size_t len;
	size_t pos;
	bool bad;
	struct xdr_padding padding; /* none after xdr_in_init() */
	unsigned npayloads;
	struct xdr_payload payload[XDR_MAX_PAYLOADS];
};

/* --- out ------------------------------------------------------------------------------------ */

/* buf stays the caller's and must outlive the cursor; cap is in bytes, buf 4-byte aligned. */
void xdr_out_init(struct xdr_out *x, void *buf, size_t cap);

/* Room for n bytes (rounded up to 4, padding zeroed), or NULL and the sticky overflow. */
static inline void *xdr_reserve(struct xdr_out *x, size_t n)
{
	size_t pad = -n & 3;
	uint8_t *p;

	if (x->overflow || n > x->cap - x->len || pad > x->cap - x->len - n) {
		x->overflow = true;
		return NULL;
	}
	p = x->base + x->len;
	if (pad)
		memset(p + n, 0, pad);
	x->len += n + pad;
	return p;
}

static inline bool xdr_out_ok(const struct xdr_out *x)
{
	return !x->overflow;
}

static inline void xdr_put_u32(struct xdr_out *x, uint32_t v)
{
	void *p = xdr_reserve(x, 4);

	if (p) {
		v = htobe32(v);
		memcpy(p, &v, 4);
	}
}

static inline void xdr_put_u64(struct xdr_out *x, uint64_t v)
{
	void *p = xdr_reserve(x, 8);

	if (p) {
		v = htobe64(v);
		memcpy(p, &v, 8);
	}
}

static inline void xdr_put_bool(struct xdr_out *x, bool v)
{
	xdr_put_u32(x, v ? 1 : 0);
}

/* Fixed-length opaque: n bytes and round-up, no length word. */
void xdr_put_fixed(struct xdr_out *x, const void *data, size_t n);
/* Variable-length opaque or string: length word, bytes, round-up. */
void xdr_put_opaque(struct xdr_out *x, const void *data, uint32_t n);
/* Length word now, data by the transport. data stays the caller's until the message is done. More
 * than XDR_MAX_PAYLOADS is an overflow. A payload of length 0 is only its length word, and an item
 * in the sense of xdr_note_item(). */
void xdr_put_payload(struct xdr_out *x, const struct mem_sge *data);
/* Likewise, in pieces: the list is copied, its array stays the caller's. */
void xdr_put_payload_list(struct xdr_out *x, const struct seg_list *data);
/* An item in the stream before the cursor could have been a payload. A cursor that notes items
 * records a payload of length 0 for it, if there is room for one. */
void xdr_note_item(struct xdr_out *x);
/* Leaves room for a word that is known later: returns the word's offset for xdr_patch_u32(). */
size_t xdr_skip_u32(struct xdr_out *x);
void xdr_patch_u32(struct xdr_out *x, size_t at, uint32_t v);

/* Length of the whole stream with all payloads and their round-up spliced in. */
size_t xdr_out_total(const struct xdr_out *x);

/* --- in ------------------------------------------------------------------------------------- */

/* buf stays the caller's; pointers returned by gets point into it. */
void xdr_in_init(struct xdr_in *x, const void *buf, size_t len);

/* The next n bytes (and their round-up, skipped), or NULL and the sticky error. */
static inline const void *xdr_consume(struct xdr_in *x, size_t n)
{
	size_t pad = -n & 3;
	const uint8_t *p;

	if (x->bad || n > x->len - x->pos || pad > x->len - x->pos - n) {
		x->bad = true;
		return NULL;
	}
	p = x->base + x->pos;
	x->pos += n + pad;
	return p;
}

static inline bool xdr_in_ok(const struct xdr_in *x)
{
	return !x->bad;
}

static inline size_t xdr_in_left(const struct xdr_in *x)
{
	return x->bad ? 0 : x->len - x->pos;
}

/* The cursor's position in the full stream: the bytes read here and the taken payloads. */
size_t xdr_in_disp(const struct xdr_in *x);

/* Nothing was wrong, no byte is left over, and every payload has been taken. */
bool xdr_in_done(const struct xdr_in *x);

/* Passes over the padding before data of n bytes (x->padding); the cursor is behind the length
 * word. xdr_get_opaque() and xdr_get_payload() call this. */
void xdr_skip_padding(struct xdr_in *x, uint32_t n);

/* Marks the stream as malformed (a coder found an impossible value). Returns -EBADMSG. */
static inline int xdr_in_fail(struct xdr_in *x)
{
	x->bad = true;
	return -EBADMSG;
}

static inline uint32_t xdr_get_u32(struct xdr_in *x)
{
	const void *p = xdr_consume(x, 4);
	uint32_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 4);
	return be32toh(v);
}

static inline uint64_t xdr_get_u64(struct xdr_in *x)
{
	const void *p = xdr_consume(x, 8);
	uint64_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 8);
	return be64toh(v);
}

/* A word other than 0 or 1 is an error. */
static inline bool xdr_get_bool(struct xdr_in *x)
{
	uint32_t v = xdr_get_u32(x);

	if (v > 1)
		xdr_in_fail(x);
	return v == 1;
}

/* Fixed-length opaque of n bytes copied to dst. */
void xdr_get_fixed(struct xdr_in *x, void *dst, size_t n);
/* Variable-length opaque: *n its length (more than max is an error), returns a pointer into the
 * stream; never NULL unless the cursor is bad. */
const uint8_t *xdr_get_opaque(struct xdr_in *x, uint32_t max, uint32_t *n);
/* A count of elements each at least elem_min bytes on the wire: more than max, or more than the
 * rest of the stream could hold, is an error and returns 0. */
uint32_t xdr_get_count(struct xdr_in *x, uint32_t max, size_t elem_min);
/* A payload: *n its length (at most max). Returns the data: placed by the transport, or in the
 * stream. *placed tells which (may be NULL). NULL only if bad. A length word that disagrees with
 * the placed data is an error, and so is data placed in several pieces. */
const uint8_t *xdr_get_payload(struct xdr_in *x, uint32_t max, uint32_t *n, bool *placed);
/* Likewise, in as many pieces as were placed; data->len is the length. False only if bad. */
bool xdr_get_payload_list(struct xdr_in *x, uint32_t max, struct seg_list *data, bool *placed);

#endif
