/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_hdr: the header parts with one form in every version of RPC-over-RDMA (RFC 8166 section
 * 4.1.2). One small coder per item of the XDR.
 *
 * Every list of the wire is "optional data": a word 1 before each element, a word 0 at the end. The
 * reader checks the caps at every element of a peer's list.
 */
#include "transport/rpcrdma/rpcrdma_hdr.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define SEG_LEN	 16u /* handle, length, offset */
#define READ_LEN (4u + SEG_LEN)

void rpcrdma_hdr_init(struct rpcrdma_hdr *h, uint32_t xid, enum rpcrdma_dir dir, uint32_t proc)
{
	h->xid = xid;
	h->vers = 0;
	h->dir = dir;
	h->grant = h->want = 0;
	h->proc = proc;
	h->more = false;
	h->inv_handle = 0;
	h->align = h->thresh = 0;
	h->nreads = h->nwrites = h->nsegs = 0;
	h->has_reply = false;
	h->rtr.nitems = h->rtr.nplaces = h->rtr.nbsns = 0;
	h->rtr.number = 0; /* 0 for the first of a group */
	h->reply = (struct rpcrdma_chunk){0};
	h->err = h->err_arg = h->err_index = h->vers_low = h->vers_high = 0;
	h->len = 0;
}

int rpcrdma_hdr_add_read(struct rpcrdma_hdr *h, uint32_t position, const struct rpcrdma_seg *seg)
{
	if (h->nreads == RPCRDMA_MAX_READS)
		return -E2BIG;
	h->read[h->nreads].position = position;
	h->read[h->nreads++].seg = *seg;
	return 0;
}

/* Takes a run of n segments at the end of the array. seg may be NULL: to be filled by the caller.
 */
static int chunk_take(
	struct rpcrdma_hdr *h, struct rpcrdma_chunk *c, const struct rpcrdma_seg *seg, unsigned n)
{
	if (n > RPCRDMA_MAX_SEGS - h->nsegs)
		return -E2BIG;
	c->first = h->nsegs;
	c->n = n;
	if (seg && n)
		memcpy(&h->seg[h->nsegs], seg, n * sizeof(*seg));
	h->nsegs += n;
	return 0;
}

int rpcrdma_hdr_add_write(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n)
{
	if (h->nwrites == RPCRDMA_MAX_WRITES || chunk_take(h, &h->write[h->nwrites], seg, n))
		return -E2BIG;
	h->nwrites++;
	return 0;
}

int rpcrdma_hdr_write_seg(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg)
{
	if (h->nsegs == RPCRDMA_MAX_SEGS)
		return -E2BIG;
	h->seg[h->nsegs++] = *seg;
	h->write[h->nwrites - 1].n++;
	return 0;
}

int rpcrdma_hdr_set_reply(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n)
{
	if (chunk_take(h, &h->reply, seg, n))
		return -E2BIG;
	h->has_reply = true;
	return 0;
}

uint64_t rpcrdma_chunk_len(const struct rpcrdma_seg *seg, const struct rpcrdma_chunk *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->n; i++)
		sum += seg[c->first + i].length;
	return sum;
}

/* --- out -------------------------------------------------------------------------------------- */

size_t rpcrdma_lists_size(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs)
{
	return nreads * (4 + READ_LEN) + 4 + nwrites * (4 + 4) + 4 + (has_reply ? 4 + 4 : 4) +
	       (size_t)nsegs * SEG_LEN;
}

void rpcrdma_put_seg(struct xdr_out *x, const struct rpcrdma_seg *s)
{
	xdr_put_u32(x, s->handle);
	xdr_put_u32(x, s->length);
	xdr_put_u64(x, s->offset);
}

static void put_chunk(struct xdr_out *x, const struct rpcrdma_hdr *h, const struct rpcrdma_chunk *c)
{
	xdr_put_bool(x, true);
	xdr_put_u32(x, c->n);
	for (unsigned i = 0; i < c->n; i++)
		rpcrdma_put_seg(x, &h->seg[c->first + i]);
}

void rpcrdma_put_lists(struct xdr_out *x, const struct rpcrdma_hdr *h)
{
	for (unsigned i = 0; i < h->nreads; i++) {
		xdr_put_bool(x, true);
		xdr_put_u32(x, h->read[i].position);
		rpcrdma_put_seg(x, &h->read[i].seg);
	}
	xdr_put_bool(x, false);
	for (unsigned i = 0; i < h->nwrites; i++)
		put_chunk(x, h, &h->write[i]);
	xdr_put_bool(x, false);
	if (h->has_reply)
		put_chunk(x, h, &h->reply);
	else
		xdr_put_bool(x, false);
}

int rpcrdma_hdr_put_err_vers(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct xdr_out x;

	xdr_out_init(&x, buf, cap);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, h->vers);
	xdr_put_u32(&x, h->grant);
	xdr_put_u32(&x, RDMA_ERROR);
	xdr_put_u32(&x, RDMA_ERR_VERS);
	xdr_put_u32(&x, h->vers_low);
	xdr_put_u32(&x, h->vers_high);
	return xdr_out_ok(&x) ? (int)x.len : -EMSGSIZE;
}

/* --- in --------------------------------------------------------------------------------------- */

void rpcrdma_get_fixed(struct xdr_in *x, struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	uint32_t w[RPCRDMA_FIXED_LEN / 4];

	xdr_in_init(x, msg, len);
	memcpy(w, xdr_consume(x, sizeof(w)), sizeof(w));
	rpcrdma_hdr_init(h, be32toh(w[0]), RPCRDMA_DIR_UNSAID, be32toh(w[3]));
	h->vers = be32toh(w[1]);
	h->grant = h->want = be32toh(w[2]);
}

void rpcrdma_get_seg(struct xdr_in *x, struct rpcrdma_seg *s)
{
	s->handle = xdr_get_u32(x);
	s->length = xdr_get_u32(x);
	s->offset = xdr_get_u64(x);
}

/* More in a list than a header has room for, which is well-formed all the same. */
static void too_many(
	struct xdr_in *x, struct rpcrdma_hdr *h, enum rpcrdma_errcode err, uint32_t most)
{
	if (!xdr_in_ok(x))
		return;
	h->err = err;
	h->err_arg = most;
	xdr_in_fail(x);
}

static void get_reads(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	while (xdr_get_bool(x)) {
		struct rpcrdma_read r;

		r.position = xdr_get_u32(x);
		rpcrdma_get_seg(x, &r.seg);
		/* RFC 8166 section 3.4.5: a multiple of four */
		if (r.position % 4)
			xdr_in_fail(x);
		if (!xdr_in_ok(x) || rpcrdma_hdr_add_read(h, r.position, &r.seg))
			too_many(x, h, RDMA_ERR_SEGMENTS, RPCRDMA_MAX_READS);
	}
}

static void get_chunk(struct xdr_in *x, struct rpcrdma_hdr *h, struct rpcrdma_chunk *c)
{
	uint32_t n = xdr_get_count(x, UINT32_MAX, SEG_LEN);

	if (!xdr_in_ok(x) || chunk_take(h, c, NULL, n)) {
		too_many(x, h, RDMA_ERR_SEGMENTS, RPCRDMA_MAX_SEGS);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		rpcrdma_get_seg(x, &h->seg[c->first + i]);
}

static void get_writes(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	while (xdr_get_bool(x)) {
		if (h->nwrites == RPCRDMA_MAX_WRITES)
			too_many(x, h, RDMA_ERR_WRITE_CHUNKS, RPCRDMA_MAX_WRITES);
		else
			get_chunk(x, h, &h->write[h->nwrites]);
		if (xdr_in_ok(x))
			h->nwrites++;
	}
}

void rpcrdma_get_lists(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	get_reads(x, h);
	get_writes(x, h);
	if (xdr_get_bool(x)) {
		h->has_reply = true;
		get_chunk(x, h, &h->reply);
	}
}

/* Has an RDMA_ERROR the form of version 2? An RDMA_ERROR of version 2 has flags in place of the
 * code, and the flag of a response has the value of ERR_VERS. A responder that does not speak
 * version 2 answers a call of version 2 in the common form, with a range of versions. An error of
 * version 2 with the same length has a code and one number. No peer's lowest version equals such a
 * code. */
static bool has_flags(const struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	uint32_t code;

	if (h->vers != 2 || len < RPCRDMA_FIXED_LEN + 8)
		return false;
	memcpy(&code, (const uint8_t *)msg + RPCRDMA_FIXED_LEN + 4, sizeof(code));
	code = be32toh(code);
	return len != RPCRDMA_ERR_VERS_LEN ||
	       (code >= RDMA_ERR_READ_CHUNKS && code <= RDMA_ERR_REPLY_RESOURCE);
}

int rpcrdma_hdr_peek(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	uint32_t w[RPCRDMA_FIXED_LEN / 4]; /* w[2]: credits, which differ by dialect */
	const void *fixed;
	struct xdr_in x;

	xdr_in_init(&x, msg, len);
	fixed = xdr_consume(&x, sizeof(w));
	if (!fixed)
		return -EMSGSIZE;
	memcpy(w, fixed, sizeof(w));
	rpcrdma_hdr_init(h, be32toh(w[0]), RPCRDMA_DIR_UNSAID, be32toh(w[3]));
	h->vers = be32toh(w[1]);
	if (h->proc != RDMA_ERROR || xdr_in_left(&x) < 4)
		return 0;
	h->err = xdr_get_u32(&x);
	if (h->err != RDMA_ERR_VERS)
		return 0;
	if (has_flags(h, msg, len)) {
		h->err = 0;
		return 0;
	}
	h->dir = RPCRDMA_DIR_REPLY;
	h->vers_low = xdr_get_u32(&x);
	h->vers_high = xdr_get_u32(&x);
	h->len = x.pos;
	return xdr_in_ok(&x) ? 0 : -EBADMSG;
}

bool rpcrdma_align_ok(uint32_t align)
{
	return align == 1 || align == 2 || (align && align % 4 == 0 && align <= RPCRDMA_ALIGN_MAX);
}
