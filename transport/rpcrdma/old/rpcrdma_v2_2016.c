/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v2_2016: the headers of draft-cel-nfsv4-rpcrdma-version-two-01, section 4.2.
 */
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_rtr.h"

#define VERS	       2
#define MIN_CALL       28   /* errors are as in version 1 (section 4.2.3) */
#define INLINE_DEFAULT 4096 /* section 2.3 */
#define FIRST_MAX      1024 /* section 5 */
#define OPTIONAL       5    /* RDMA2_OPTIONAL on the wire */

/* --- out -------------------------------------------------------------------------------------- */

static size_t v2_2016_bound(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs)
{
	return RPCRDMA_FIXED_LEN + 4 + rpcrdma_lists_size(nreads, nwrites, has_reply, nsegs);
}

static size_t v2_2016_size(const struct rpcrdma_hdr *h)
{
	if (h->proc == RDMA_ERROR)
		return RPCRDMA_FIXED_LEN + 4;
	if (rpcrdma_rtr_is_proc(h->proc)) /* behind direction, operation and length */
		return RPCRDMA_FIXED_LEN + 12 + rpcrdma_rtr_size(h);
	return v2_2016_bound(h->nreads, h->nwrites, h->has_reply, h->nsegs);
}

static bool encodable(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		return !h->more && h->dir != RPCRDMA_DIR_UNSAID && h->nreads <= RPCRDMA_MAX_READS &&
		       h->nwrites <= RPCRDMA_MAX_WRITES && h->nsegs <= RPCRDMA_MAX_SEGS;
	case RDMA_ERROR:
		return h->err != RDMA_ERR_VERS;
	default:
		return rpcrdma_rtr_is_proc(h->proc) && h->dir != RPCRDMA_DIR_UNSAID;
	}
}

static int v2_2016_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct xdr_out x;

	if (!encodable(h))
		return -EINVAL;
	xdr_out_init(&x, buf, cap);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, VERS);
	xdr_put_u32(&x, h->dir == RPCRDMA_DIR_CALL ? h->want : h->grant);
	xdr_put_u32(&x, rpcrdma_rtr_is_proc(h->proc) ? OPTIONAL : h->proc);
	if (rpcrdma_rtr_is_proc(h->proc)) {
		xdr_put_u32(&x, h->dir == RPCRDMA_DIR_REPLY);
		xdr_put_u32(&x, h->proc - RPCRDMA_RTR_PRIVATE);
		xdr_put_u32(&x, (uint32_t)rpcrdma_rtr_size(h));
		rpcrdma_rtr_put(&x, h);
	} else if (h->proc == RDMA_ERROR) {
		xdr_put_u32(&x, h->err == RDMA_ERR_INVAL_OPTION ? h->err : RDMA_ERR_CHUNK);
	} else {
		xdr_put_u32(&x, h->dir == RPCRDMA_DIR_REPLY);
		rpcrdma_put_lists(&x, h);
	}
	return xdr_out_ok(&x) ? (int)x.len : -EMSGSIZE;
}

/* --- in --------------------------------------------------------------------------------------- */

/* Reads the word with a direction. */
static void get_dir(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	bool reply = xdr_get_bool(x);

	if (xdr_in_ok(x))
		h->dir = reply ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL;
}

/* Does the RPC message of n bytes have another direction than the header (section 4.2.2)? */
static bool contradicts(const struct rpcrdma_hdr *h, const uint8_t *rpc, size_t n)
{
	uint32_t mtype;

	if (n < 8)
		return false;
	memcpy(&mtype, rpc + 4, sizeof(mtype));
	return be32toh(mtype) != (h->dir == RPCRDMA_DIR_REPLY);
}

static void get_msg(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	const uint8_t *rpc;
	size_t n;

	get_dir(x, h);
	rpcrdma_get_lists(x, h);
	n = xdr_in_left(x);
	rpc = x->base + x->pos;
	if (h->proc == RDMA_MSG ? n < 4 || contradicts(h, rpc, n) : n || rpcrdma_hdr_chunkless(h))
		xdr_in_fail(x);
}

/* Reads an operation of the extension, with n bytes of information. */
static void get_rtr(struct xdr_in *x, struct rpcrdma_hdr *h, const uint8_t *info, uint32_t n)
{
	struct xdr_in in;

	xdr_in_init(&in, info, n);
	rpcrdma_rtr_get(&in, h);
	if (!xdr_in_ok(&in) || xdr_in_left(&in))
		xdr_in_fail(x);
}

/* Reads an optional operation; rtr: the extension's operations are known. */
static void get_optional(struct xdr_in *x, struct rpcrdma_hdr *h, bool rtr)
{
	const uint8_t *info;
	uint32_t type, n;

	h->proc = RDMA_OPTIONAL;
	get_dir(x, h);
	type = xdr_get_u32(x);
	info = xdr_get_opaque(x, UINT32_MAX, &n);
	if (!xdr_in_ok(x))
		return;
	if (rtr && type <= RPCRDMA_REPT_ERR - RPCRDMA_RTR_PRIVATE &&
		rpcrdma_rtr_is_proc(RPCRDMA_RTR_PRIVATE + type)) {
		h->proc = RPCRDMA_RTR_PRIVATE + type;
		get_rtr(x, h, info, n);
		return;
	}
	h->err = RDMA_ERR_INVAL_OPTION;
	xdr_in_fail(x);
}

static void get_error(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	h->dir = RPCRDMA_DIR_REPLY;
	h->err = xdr_get_u32(x);
	if (h->err != RDMA_ERR_CHUNK && h->err != RDMA_ERR_INVAL_OPTION)
		xdr_in_fail(x);
}

static int decode(struct rpcrdma_hdr *h, const void *msg, size_t len, bool rtr)
{
	struct xdr_in x;

	rpcrdma_get_fixed(&x, h, msg, len);
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		get_msg(&x, h);
		break;
	case RDMA_ERROR:
		get_error(&x, h);
		break;
	case OPTIONAL:
		get_optional(&x, h, rtr);
		break;
	default:
		xdr_in_fail(&x);
	}
	h->len = x.pos;
	if (xdr_in_ok(&x))
		return 0;
	if (h->err != RDMA_ERR_INVAL_OPTION)
		h->err = RDMA_ERR_CHUNK;
	return -EBADMSG;
}

static int v2_2016_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	return decode(h, msg, len, false);
}

static int v2_2016_rtr_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	return decode(h, msg, len, true);
}

/* As in version 1 (section 4.2.3): the operation may have been done. */
static enum rpcrdma_action v2_2016_on_error(const struct rpcrdma_hdr *h, const char **meaning)
{
	*meaning = h->err == RDMA_ERR_INVAL_OPTION
			   ? "the peer does not know its operation (RDMA2_ERR_INVAL_OPTION)"
			   : "the peer could not use its header or chunks (RDMA2_ERR_BAD_HEADER)";
	return RPCRDMA_FAIL;
}

#define COMMON                                                                                     \
	.vers = VERS, .min_call = MIN_CALL, .inline_default = INLINE_DEFAULT,                      \
	.inline_first = FIRST_MAX, .limits = RPCRDMA_LIMITS_OF_HDR, .bound = v2_2016_bound,        \
	.size = v2_2016_size, .encode = v2_2016_encode, .on_error = v2_2016_on_error

const struct rpcrdma_dialect rpcrdma_v2_2016 = {.name = "2-2016", .decode = v2_2016_decode, COMMON};
const struct rpcrdma_dialect rpcrdma_v2_2016_rtr = {
	.name = "2-2016-rtr", .decode = v2_2016_rtr_decode, .places = true, COMMON};
