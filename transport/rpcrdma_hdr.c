/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_hdr: RFC 8166 section 4.1.2 in C. One small coder per item of its XDR.
 *
 * Every list of the wire is "optional data": a word 1 before each element, a word 0 at the end. A
 * peer's list is bounded by the caps while it is read, element by element.
 */
#include "transport/rpcrdma_hdr.h"

#include <errno.h>
#include <string.h>

#include "transport/xdr.h"

#define SEG_LEN	 16u /* handle, length, offset */
#define READ_LEN (4u + SEG_LEN)

void rpcrdma_hdr_init(
	struct rpcrdma_hdr *h, uint32_t vers, uint32_t xid, uint32_t credit, enum rpcrdma_proc proc)
{
	h->xid = xid;
	h->vers = vers;
	h->credit = credit;
	h->proc = proc;
	h->nreads = h->nwrites = h->nsegs = 0;
	h->has_reply = false;
	h->reply = (struct rpcrdma_chunk){0};
	h->err = h->vers_low = h->vers_high = 0;
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

int rpcrdma_hdr_set_reply(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n)
{
	if (chunk_take(h, &h->reply, seg, n))
		return -E2BIG;
	h->has_reply = true;
	return 0;
}

uint64_t rpcrdma_chunk_len(const struct rpcrdma_hdr *h, const struct rpcrdma_chunk *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->n; i++)
		sum += h->seg[c->first + i].length;
	return sum;
}

/* --- out -------------------------------------------------------------------------------------- */

size_t rpcrdma_v1_size(const struct rpcrdma_hdr *h)
{
	size_t n = RPCRDMA_FIXED_LEN;

	if (h->proc == RDMA_ERROR)
		return n + (h->err == RDMA_ERR_VERS ? 12 : 4);
	n += 4 + (size_t)h->nreads * (4 + READ_LEN);
	n += 4;
	for (unsigned i = 0; i < h->nwrites; i++)
		n += 8 + (size_t)h->write[i].n * SEG_LEN;
	n += 4;
	if (h->has_reply)
		n += 4 + (size_t)h->reply.n * SEG_LEN;
	return n;
}

static void put_seg(struct xdr_out *x, const struct rpcrdma_seg *s)
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
		put_seg(x, &h->seg[c->first + i]);
}

static void put_lists(struct xdr_out *x, const struct rpcrdma_hdr *h)
{
	for (unsigned i = 0; i < h->nreads; i++) {
		xdr_put_bool(x, true);
		xdr_put_u32(x, h->read[i].position);
		put_seg(x, &h->read[i].seg);
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

static void put_error(struct xdr_out *x, const struct rpcrdma_hdr *h)
{
	xdr_put_u32(x, h->err);
	if (h->err == RDMA_ERR_VERS) {
		xdr_put_u32(x, h->vers_low);
		xdr_put_u32(x, h->vers_high);
	}
}

static bool encodable(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		return h->vers == 1 && h->nreads <= RPCRDMA_MAX_READS &&
		       h->nwrites <= RPCRDMA_MAX_WRITES && h->nsegs <= RPCRDMA_MAX_SEGS;
	case RDMA_ERROR:
		return h->err == RDMA_ERR_VERS || h->err == RDMA_ERR_CHUNK;
	default:
		return false;
	}
}

int rpcrdma_v1_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct xdr_out x;

	if (!encodable(h))
		return -EINVAL;
	xdr_out_init(&x, buf, cap);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, h->vers);
	xdr_put_u32(&x, h->credit);
	xdr_put_u32(&x, h->proc);
	if (h->proc == RDMA_ERROR)
		put_error(&x, h);
	else
		put_lists(&x, h);
	return xdr_out_ok(&x) ? (int)x.len : -EMSGSIZE;
}

/* --- in --------------------------------------------------------------------------------------- */

static void get_seg(struct xdr_in *x, struct rpcrdma_seg *s)
{
	s->handle = xdr_get_u32(x);
	s->length = xdr_get_u32(x);
	s->offset = xdr_get_u64(x);
}

static void get_reads(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	while (xdr_get_bool(x)) {
		struct rpcrdma_read r;

		r.position = xdr_get_u32(x);
		get_seg(x, &r.seg);
		/* RFC 8166 section 3.4.5: a multiple of four */
		if (r.position % 4 || !xdr_in_ok(x) || rpcrdma_hdr_add_read(h, r.position, &r.seg))
			xdr_in_fail(x);
	}
}

static void get_chunk(struct xdr_in *x, struct rpcrdma_hdr *h, struct rpcrdma_chunk *c)
{
	uint32_t n = xdr_get_count(x, RPCRDMA_MAX_SEGS, SEG_LEN);

	if (!xdr_in_ok(x) || chunk_take(h, c, NULL, n)) {
		xdr_in_fail(x);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		get_seg(x, &h->seg[c->first + i]);
}

static void get_writes(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	while (xdr_get_bool(x)) {
		if (h->nwrites == RPCRDMA_MAX_WRITES)
			xdr_in_fail(x);
		else
			get_chunk(x, h, &h->write[h->nwrites]);
		if (xdr_in_ok(x))
			h->nwrites++;
	}
}

static void get_error(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	h->err = xdr_get_u32(x);
	if (h->err == RDMA_ERR_VERS) {
		h->vers_low = xdr_get_u32(x);
		h->vers_high = xdr_get_u32(x);
	} else if (h->err != RDMA_ERR_CHUNK) {
		xdr_in_fail(x);
	}
}

static void get_fixed(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	uint32_t xid = xdr_get_u32(x), vers = xdr_get_u32(x), credit = xdr_get_u32(x);

	rpcrdma_hdr_init(h, vers, xid, credit, xdr_get_u32(x));
}

int rpcrdma_hdr_peek(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	struct xdr_in x;

	if (len < RPCRDMA_FIXED_LEN)
		return -EMSGSIZE;
	xdr_in_init(&x, msg, len);
	get_fixed(&x, h);
	return 0;
}

int rpcrdma_v1_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	struct xdr_in x;

	if (len < RPCRDMA_FIXED_LEN)
		return -EMSGSIZE;
	xdr_in_init(&x, msg, len);
	get_fixed(&x, h);
	if (h->vers != 1 && h->proc != RDMA_ERROR)
		return -EPROTONOSUPPORT;
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		get_reads(&x, h);
		get_writes(&x, h);
		if (xdr_get_bool(&x)) {
			h->has_reply = true;
			get_chunk(&x, h, &h->reply);
		}
		/* without a message in the Send, nothing may follow, and a chunk must carry it */
		if (h->proc == RDMA_NOMSG && (xdr_in_left(&x) || rpcrdma_hdr_chunkless(h)))
			xdr_in_fail(&x);
		break;
	case RDMA_DONE:
		break;
	case RDMA_ERROR:
		get_error(&x, h);
		if (h->vers != 1 && h->err != RDMA_ERR_VERS)
			return -EPROTONOSUPPORT;
		break;
	default: /* RDMA_MSGP among them */
		xdr_in_fail(&x);
	}
	h->len = x.pos;
	return xdr_in_ok(&x) ? 0 : -EBADMSG;
}
