/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v1: the header of RFC 8166 section 4.1.2.
 */
#include "transport/rpcrdma/v1/rpcrdma_v1.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define VERS	       1
#define MIN_CALL       28   /* a header without chunks; RFC 8166 section 4.5 */
#define INLINE_DEFAULT 1024 /* RFC 8166 section 3.3.2 */
#define ERROR_LEN      (RPCRDMA_FIXED_LEN + 4)

static size_t v1_bound(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs)
{
	return RPCRDMA_FIXED_LEN + rpcrdma_lists_size(nreads, nwrites, has_reply, nsegs);
}

static size_t v1_size(const struct rpcrdma_hdr *h)
{
	return h->proc == RDMA_ERROR ? ERROR_LEN
				     : v1_bound(h->nreads, h->nwrites, h->has_reply, h->nsegs);
}

static bool encodable(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		return !h->more && h->nreads <= RPCRDMA_MAX_READS &&
		       h->nwrites <= RPCRDMA_MAX_WRITES && h->nsegs <= RPCRDMA_MAX_SEGS;
	case RDMA_ERROR:
		return h->err != RDMA_ERR_VERS;
	default:
		return false;
	}
}

static int v1_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct xdr_out x;

	if (!encodable(h))
		return -EINVAL;
	xdr_out_init(&x, buf, cap);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, VERS);
	xdr_put_u32(&x, h->dir == RPCRDMA_DIR_CALL ? h->want : h->grant);
	xdr_put_u32(&x, h->proc);
	if (h->proc == RDMA_ERROR)
		xdr_put_u32(&x, RDMA_ERR_CHUNK);
	else
		rpcrdma_put_lists(&x, h);
	return xdr_out_ok(&x) ? (int)x.len : -EMSGSIZE;
}

enum rpcrdma_dir rpcrdma_v1_direction(const struct rpcrdma_hdr *h, const void *rpc, size_t len)
{
	uint32_t w[2];

	if (!rpcrdma_hdr_chunkless(h) || len < sizeof(w))
		return RPCRDMA_DIR_UNSAID;
	memcpy(w, rpc, sizeof(w));
	if (be32toh(w[0]) != h->xid || be32toh(w[1]) > 1)
		return RPCRDMA_DIR_UNSAID;
	return be32toh(w[1]) ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL;
}

static int v1_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	struct xdr_in x;

	rpcrdma_get_fixed(&x, h, msg, len);
	switch (h->proc) {
	case RDMA_MSG:
		rpcrdma_get_lists(&x, h);
		break;
	case RDMA_NOMSG:
		rpcrdma_get_lists(&x, h);
		/* without a message in the Send, no bytes may follow, and a chunk must carry the
		 * message */
		if (xdr_in_left(&x) || rpcrdma_hdr_chunkless(h))
			xdr_in_fail(&x);
		break;
	case RDMA_DONE:
		break;
	case RDMA_ERROR:
		h->dir = RPCRDMA_DIR_REPLY;
		h->err = xdr_get_u32(&x);
		if (h->err != RDMA_ERR_CHUNK)
			xdr_in_fail(&x);
		break;
	default: /* also RDMA_MSGP */
		xdr_in_fail(&x);
	}
	h->len = x.pos;
	if (!xdr_in_ok(&x)) {
		h->err = RDMA_ERR_CHUNK;
		return -EBADMSG;
	}
	if (h->proc == RDMA_MSG)
		h->dir = rpcrdma_v1_direction(h, (const uint8_t *)msg + h->len, len - h->len);
	return 0;
}

/* ERR_CHUNK stands for any error (RFC 8166 section 4.5), even for a reply without room. The server
 * may have carried out the operation, so the call is not repeated. */
static enum rpcrdma_action v1_on_error(const struct rpcrdma_hdr *h, const char **meaning)
{
	*meaning = "the peer could not use its chunks (RDMA_ERROR, ERR_CHUNK)";
	return RPCRDMA_FAIL;
}

const struct rpcrdma_dialect rpcrdma_v1 = {
	.name = "1",
	.vers = VERS,
	.min_call = MIN_CALL,
	.inline_default = INLINE_DEFAULT,
	.inline_first = UINT32_MAX,
	.limits = RPCRDMA_LIMITS_OF_HDR,
	.bound = v1_bound,
	.size = v1_size,
	.encode = v1_encode,
	.decode = v1_decode,
	.on_error = v1_on_error,
};
