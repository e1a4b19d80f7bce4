/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_legacy: the header of draft-ietf-nfsv4-rpcrdma-01 section 4.
 *
 * The draft's XDR has eight more words in an error with another code than ERR_VERS. The draft is
 * not clear about ERR_CHUNK. So we write ERR_CHUNK with the eight words, and read ERR_CHUNK
 * without.
 */
#include "transport/rpcrdma/old/rpcrdma_legacy.h"

#include <errno.h>

#include "transport/rpcrdma/v1/rpcrdma_v1.h"

#define VERS	       1
#define MIN_CALL       28   /* a header without chunks; only RDMA_DONE is shorter */
#define INLINE_DEFAULT 1024 /* section 6.1 */
#define ERROR_EXTRA    8    /* words */
#define ERROR_LEN      (RPCRDMA_FIXED_LEN + 4 + 4 * ERROR_EXTRA)
#define PADDING_LEN    8 /* rdma_align, rdma_thresh */

static size_t legacy_bound(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs)
{
	return RPCRDMA_FIXED_LEN + rpcrdma_lists_size(nreads, nwrites, has_reply, nsegs);
}

static size_t legacy_size(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_DONE:
		return RPCRDMA_FIXED_LEN;
	case RDMA_ERROR:
		return ERROR_LEN;
	default:
		return legacy_bound(h->nreads, h->nwrites, h->has_reply, h->nsegs) +
		       (h->proc == RDMA_MSGP ? PADDING_LEN : 0);
	}
}

static bool encodable(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
	case RDMA_MSGP:
		return !h->more && h->nreads <= RPCRDMA_MAX_READS &&
		       h->nwrites <= RPCRDMA_MAX_WRITES && h->nsegs <= RPCRDMA_MAX_SEGS;
	case RDMA_DONE:
		return true;
	case RDMA_ERROR:
		return h->err != RDMA_ERR_VERS;
	default:
		return false;
	}
}

static int legacy_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct xdr_out x;

	if (!encodable(h))
		return -EINVAL;
	xdr_out_init(&x, buf, cap);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, VERS);
	xdr_put_u32(&x, h->dir == RPCRDMA_DIR_CALL ? h->want : h->grant);
	xdr_put_u32(&x, h->proc);
	if (h->proc == RDMA_ERROR) {
		xdr_put_u32(&x, RDMA_ERR_CHUNK);
		for (unsigned i = 0; i < ERROR_EXTRA; i++)
			xdr_put_u32(&x, 0);
	} else if (h->proc != RDMA_DONE) {
		if (h->proc == RDMA_MSGP) {
			xdr_put_u32(&x, h->align);
			xdr_put_u32(&x, h->thresh);
		}
		rpcrdma_put_lists(&x, h);
	}
	return xdr_out_ok(&x) ? (int)x.len : -EMSGSIZE;
}

/* Chunks and padding do not go together here: the draft does not say whether the position of a Read
 * chunk counts the padding before it. */
static void get_padded(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	h->align = xdr_get_u32(x);
	h->thresh = xdr_get_u32(x);
	rpcrdma_get_lists(x, h);
	if (!rpcrdma_align_ok(h->align) || h->nreads)
		xdr_in_fail(x);
}

static void get_error(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	h->dir = RPCRDMA_DIR_REPLY;
	h->err = xdr_get_u32(x);
	if (xdr_in_left(x) >= 4 * ERROR_EXTRA)
		xdr_consume(x, (size_t)4 * ERROR_EXTRA);
}

static int legacy_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	struct xdr_in x;

	rpcrdma_get_fixed(&x, h, msg, len);
	switch (h->proc) {
	case RDMA_MSG:
		rpcrdma_get_lists(&x, h);
		break;
	case RDMA_NOMSG:
		rpcrdma_get_lists(&x, h);
		if (xdr_in_left(&x) || rpcrdma_hdr_chunkless(h))
			xdr_in_fail(&x);
		break;
	case RDMA_MSGP:
		get_padded(&x, h);
		break;
	case RDMA_DONE:
		h->dir = RPCRDMA_DIR_CALL; /* only a client has reason to send RDMA_DONE */
		break;
	case RDMA_ERROR:
		get_error(&x, h);
		break;
	default:
		xdr_in_fail(&x);
	}
	h->len = x.pos;
	if (!xdr_in_ok(&x)) {
		h->err = RDMA_ERR_CHUNK;
		return -EBADMSG;
	}
	if (h->proc == RDMA_MSG || h->proc == RDMA_MSGP)
		h->dir = rpcrdma_v1_direction(h, (const uint8_t *)msg + h->len, len - h->len);
	return 0;
}

/* Section 5.3: other decoding errors; repeating the call mends none. */
static enum rpcrdma_action legacy_on_error(const struct rpcrdma_hdr *h, const char **meaning)
{
	*meaning = h->err == RDMA_ERR_CHUNK
			   ? "the peer could not use its chunks (RDMA_ERROR, ERR_CHUNK)"
			   : "the peer says an error that is not known";
	return RPCRDMA_FAIL;
}

const struct rpcrdma_dialect rpcrdma_legacy = {
	.name = "1-legacy",
	.vers = VERS,
	.min_call = MIN_CALL,
	.inline_default = INLINE_DEFAULT,
	.inline_first = UINT32_MAX,
	.legacy = true,
	.limits = RPCRDMA_LIMITS_OF_HDR,
	.bound = legacy_bound,
	.size = legacy_size,
	.encode = legacy_encode,
	.decode = legacy_decode,
	.on_error = legacy_on_error,
};
