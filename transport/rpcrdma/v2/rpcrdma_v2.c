/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v2: the headers of draft-ietf-nfsv4-rpcrdma-version-two (November 2019), section 6.
 *
 * The credit word has two halves. The lower half is the sender's grant. The upper half is the
 * number of credits that the sender itself can use. The text calls the upper half the most credits
 * that can be outstanding at the sender. The text may also mean the most credits that the sender
 * ever grants, so we send the larger number.
 *
 * The header of a CONNPROP is the prefix only. The properties count as the message behind the
 * header, since properties may continue in the next Send (rpcrdma_props.h).
 */
#include "transport/rpcrdma/v2/rpcrdma_v2.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_rtr.h"

#define VERS	       2
#define INLINE_DEFAULT 4096	     /* section 4.3.2 */
#define FIRST_MAX      1024	     /* section 4.3.3 */
#define SEG_SIZE       (1024 * 1024) /* section 5.2.3 */
#define SEG_COUNT      16	     /* section 5.2.4 */
#define CREDITS_MAX    UINT16_MAX
#define MSG_LEN	       (RPCRDMA_V2_PREFIX_LEN + 4) /* and inv_handle; the lists follow */

/* --- out -------------------------------------------------------------------------------------- */

static size_t v2_bound(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs)
{
	return MSG_LEN + rpcrdma_lists_size(nreads, nwrites, has_reply, nsegs);
}

/* Words behind the code of an error (section 6.4.3). */
static unsigned err_words(uint32_t err)
{
	switch (err) {
	case RDMA_ERR_READ_CHUNKS:
	case RDMA_ERR_WRITE_CHUNKS:
	case RDMA_ERR_SEGMENTS:
	case RDMA_ERR_REPLY_RESOURCE:
		return 1;
	case RDMA_ERR_VERS:
	case RDMA_ERR_WRITE_RESOURCE:
		return 2;
	default:
		return 0;
	}
}

static size_t v2_size(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_CONNPROP:
		return RPCRDMA_V2_PREFIX_LEN;
	case RDMA_ERROR:
		return RPCRDMA_V2_PREFIX_LEN + 4 + 4 * err_words(h->err);
	case RPCRDMA_XMT_REQ:
	case RPCRDMA_XMT_RESP:
	case RPCRDMA_XMT_CONT:
	case RPCRDMA_REPT_ERR:
		return RPCRDMA_V2_PREFIX_LEN + rpcrdma_rtr_size(h);
	default:
		return v2_bound(h->nreads, h->nwrites, h->has_reply, h->nsegs);
	}
}

static bool encodable(const struct rpcrdma_hdr *h)
{
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		return h->nreads <= RPCRDMA_MAX_READS && h->nwrites <= RPCRDMA_MAX_WRITES &&
		       h->nsegs <= RPCRDMA_MAX_SEGS &&
		       (!h->more || (h->proc == RDMA_MSG && rpcrdma_hdr_chunkless(h)));
	case RDMA_CONNPROP:
		return true;
	case RDMA_ERROR:
		return !h->more;
	case RPCRDMA_XMT_REQ:
	case RPCRDMA_XMT_RESP:
	case RPCRDMA_XMT_CONT:
	case RPCRDMA_REPT_ERR:
		return !h->more;
	default:
		return false;
	}
}

static uint32_t credit_word(const struct rpcrdma_hdr *h)
{
	uint32_t grant = h->grant < CREDITS_MAX ? h->grant : CREDITS_MAX;
	uint32_t most = h->want < CREDITS_MAX ? h->want : CREDITS_MAX;

	return (most > grant ? most : grant) << 16 | grant;
}

static int v2_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct xdr_out x;

	if (!encodable(h))
		return -EINVAL;
	xdr_out_init(&x, buf, cap);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, VERS);
	xdr_put_u32(&x, credit_word(h));
	xdr_put_u32(&x, h->proc);
	xdr_put_u32(&x, (h->dir == RPCRDMA_DIR_REPLY ? RPCRDMA_V2_RESPONSE : 0) |
				(h->more ? RPCRDMA_V2_MORE : 0));
	if (h->proc == RDMA_MSG || h->proc == RDMA_NOMSG) {
		xdr_put_u32(&x, h->inv_handle);
		rpcrdma_put_lists(&x, h);
	} else if (h->proc == RDMA_ERROR) {
		xdr_put_u32(&x, h->err);
		if (err_words(h->err) == 2)
			xdr_put_u32(&x, h->err_index);
		if (err_words(h->err))
			xdr_put_u32(&x, h->err_arg);
	} else if (rpcrdma_rtr_is_proc(h->proc)) {
		rpcrdma_rtr_put(&x, h);
	}
	return xdr_out_ok(&x) ? (int)x.len : -EMSGSIZE;
}

/* --- in --------------------------------------------------------------------------------------- */

static int refuse(struct rpcrdma_hdr *h, enum rpcrdma_errcode err)
{
	h->err = err;
	return -EBADMSG;
}

/* Reads the prefix; the first words are present. 0, or as v2_decode(). */
static int get_prefix(struct xdr_in *x, struct rpcrdma_hdr *h, bool rtr)
{
	uint32_t w[RPCRDMA_FIXED_LEN / 4], credit, flags;
	enum rpcrdma_dir dir;

	memcpy(w, xdr_consume(x, sizeof(w)), sizeof(w));
	flags = xdr_get_u32(x);
	dir = !xdr_in_ok(x)		    ? RPCRDMA_DIR_UNSAID
	      : flags & RPCRDMA_V2_RESPONSE ? RPCRDMA_DIR_REPLY
					    : RPCRDMA_DIR_CALL;
	rpcrdma_hdr_init(h, be32toh(w[0]), dir, be32toh(w[3]));
	h->vers = be32toh(w[1]);
	credit = be32toh(w[2]);
	h->grant = credit & 0xffff;
	h->want = credit >> 16;
	h->more = flags & RPCRDMA_V2_MORE;
	if (!xdr_in_ok(x))
		return refuse(h, RDMA_ERR_CHUNK);
	if (h->proc != RDMA_MSG && h->proc != RDMA_NOMSG && h->proc != RDMA_ERROR &&
		h->proc != RDMA_CONNPROP && !(rtr && rpcrdma_rtr_is_proc(h->proc)))
		return refuse(h, RDMA_ERR_INVAL_HTYPE);
	/* for unknown flags the text demands INVAL_HTYPE, and not INVAL_FLAG (section 6.4.3) */
	if (flags & ~(RPCRDMA_V2_RESPONSE | RPCRDMA_V2_MORE))
		return refuse(h, RDMA_ERR_INVAL_HTYPE);
	if (h->more && h->proc != RDMA_MSG && h->proc != RDMA_CONNPROP)
		return refuse(h, RDMA_ERR_INVAL_FLAG);
	return 0;
}

static void get_error(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	h->dir = RPCRDMA_DIR_REPLY;
	h->err = xdr_get_u32(x);
	if (err_words(h->err) == 2)
		h->err_index = xdr_get_u32(x);
	if (err_words(h->err))
		h->err_arg = xdr_get_u32(x);
	h->vers_low = h->err_index;
	h->vers_high = h->err_arg;
}

/* rtr: the operations of the extension are known. */
static int decode(struct rpcrdma_hdr *h, const void *msg, size_t len, bool rtr)
{
	struct xdr_in x;
	int rc;

	xdr_in_init(&x, msg, len);
	rc = get_prefix(&x, h, rtr);
	if (rc)
		return rc;
	switch (h->proc) {
	case RDMA_MSG:
		h->inv_handle = xdr_get_u32(&x);
		rpcrdma_get_lists(&x, h);
		if (xdr_in_left(&x) < 4) /* rdma_rpc_first_word */
			xdr_in_fail(&x);
		break;
	case RDMA_NOMSG:
		h->inv_handle = xdr_get_u32(&x);
		rpcrdma_get_lists(&x, h);
		if (xdr_in_left(&x))
			xdr_in_fail(&x);
		break;
	case RDMA_ERROR:
		get_error(&x, h);
		break;
	case RDMA_CONNPROP:
		break;
	default:
		rpcrdma_rtr_get(&x, h);
	}
	h->len = x.pos;
	if (!xdr_in_ok(&x)) /* err may be set already: more chunks or segments than we take */
		return refuse(h, h->err && h->proc != RDMA_ERROR ? h->err : RDMA_ERR_CHUNK);
	if (h->more && !rpcrdma_hdr_chunkless(h))
		return refuse(h, RDMA_ERR_INVAL_FLAG);
	return 0;
}

static int v2_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	return decode(h, msg, len, false);
}

static int v2_rtr_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	return decode(h, msg, len, true);
}

/* --- actions after an error ------------------------------------------------------------------- */

static enum rpcrdma_action v2_on_error(const struct rpcrdma_hdr *h, const char **meaning)
{
	switch (h->err) {
	case RDMA_ERR_CHUNK:
		*meaning = "the peer could not parse its header (RDMA2_ERR_BAD_XDR)";
		return RPCRDMA_FAIL;
	case RDMA_ERR_INVAL_HTYPE:
		*meaning = "the peer does not know its header type (RDMA2_ERR_INVAL_HTYPE)";
		return RPCRDMA_FAIL;
	case RDMA_ERR_INVAL_FLAG:
		*meaning = "the peer refuses its flags (RDMA2_ERR_INVAL_FLAG)";
		return RPCRDMA_FAIL;
	case RDMA_ERR_READ_CHUNKS:
		*meaning = "it has too many Read chunks (RDMA2_ERR_READ_CHUNKS)";
		return RPCRDMA_WHOLE_CALL;
	case RDMA_ERR_WRITE_CHUNKS:
		*meaning = "it has too many Write chunks (RDMA2_ERR_WRITE_CHUNKS)";
		return RPCRDMA_FEWER_CHUNKS;
	case RDMA_ERR_SEGMENTS:
		*meaning = "it has too many segments (RDMA2_ERR_SEGMENTS)";
		return RPCRDMA_FEWER_SEGMENTS;
	case RDMA_ERR_WRITE_RESOURCE:
		*meaning = "a Write chunk is too small for a result (RDMA2_ERR_WRITE_RESOURCE)";
		return h->err_arg ? RPCRDMA_NO_WRITES : RPCRDMA_FAIL;
	case RDMA_ERR_REPLY_RESOURCE:
		*meaning = "its Reply chunk is too small (RDMA2_ERR_REPLY_RESOURCE)";
		return h->err_arg ? RPCRDMA_LARGER_REPLY : RPCRDMA_FAIL;
	case RDMA_ERR_SYSTEM:
		*meaning = "the peer has a problem of its own (RDMA2_ERR_SYSTEM)";
		return RPCRDMA_FAIL;
	default:
		*meaning = "the peer says an error that is not known";
		return RPCRDMA_FAIL;
	}
}

#define COMMON                                                                                     \
	.vers = VERS, .min_call = RPCRDMA_FIXED_LEN, /* shorter calls get no answer */             \
		.inline_default = INLINE_DEFAULT, .inline_first = FIRST_MAX, .talks = true,        \
	.limits = {.sends = RPCRDMA_MAX_SENDS,                                                     \
		.reads = SEG_COUNT,                                                                \
		.writes = RPCRDMA_MAX_WRITES,                                                      \
		.segs = SEG_COUNT,                                                                 \
		.total = SEG_COUNT,                                                                \
		.seg_size = SEG_SIZE},                                                             \
	.bound = v2_bound, .size = v2_size, .encode = v2_encode, .on_error = v2_on_error

const struct rpcrdma_dialect rpcrdma_v2 = {.name = "2", .decode = v2_decode, COMMON};
const struct rpcrdma_dialect rpcrdma_v2_rtr = {
	.name = "2-rtr", .decode = v2_rtr_decode, .places = true, COMMON};
