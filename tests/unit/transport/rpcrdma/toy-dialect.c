/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * toy-dialect: version 9 of RPC-over-RDMA, for tests.
 */
#include "tests/unit/transport/rpcrdma/toy-dialect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpcrdma/v1/rpcrdma_v1.h"

static uint32_t get(const void *msg, unsigned i)
{
	uint32_t w;

	memcpy(&w, (const uint8_t *)msg + 4 * i, 4);
	return ntohl(w);
}

static void put(void *msg, unsigned i, uint32_t w)
{
	w = htonl(w);
	memcpy((uint8_t *)msg + 4 * i, &w, 4);
}

static size_t toy_bound(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs)
{
	return rpcrdma_v1.bound(nreads, nwrites, has_reply, nsegs);
}

static size_t toy_size(const struct rpcrdma_hdr *h)
{
	return rpcrdma_v1.size(h);
}

static int toy_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	struct rpcrdma_hdr *plain = malloc(sizeof(*plain));
	int n;

	memcpy(plain, h, sizeof(*h));
	plain->more = false;
	n = rpcrdma_v1.encode(plain, buf, cap);
	free(plain);
	if (n < 0)
		return n;
	put(buf, 1, TOY_VERS);
	put(buf, 3,
		h->proc | (h->more ? TOY_MORE : 0) | (h->dir == RPCRDMA_DIR_REPLY ? TOY_REPLY : 0));
	return n;
}

/* One of the codes that version 1 lacks. */
static int decode_error(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	rpcrdma_hdr_init(h, get(msg, 0), RPCRDMA_DIR_REPLY, RDMA_ERROR);
	h->vers = TOY_VERS;
	h->err = get(msg, 4);
	if (len < 24 || h->err < TOY_ERR_REPLY || h->err > TOY_ERR_SEGMENTS)
		return -EBADMSG;
	h->grant = get(msg, 2);
	h->err_arg = get(msg, 5);
	h->len = 24;
	return 0;
}

static int toy_decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	uint32_t proc = get(msg, 3);
	uint8_t *plain;
	int rc;

	if ((proc & ~(TOY_MORE | TOY_REPLY)) == RDMA_ERROR && len >= 20 && get(msg, 4) > 2)
		return decode_error(h, msg, len);
	plain = malloc(len);
	memcpy(plain, msg, len);
	put(plain, 3, proc & ~(TOY_MORE | TOY_REPLY));
	rc = rpcrdma_v1.decode(h, plain, len);
	free(plain);
	h->more = proc & TOY_MORE;
	if (h->proc != RDMA_ERROR)
		h->dir = proc & TOY_REPLY ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL;
	return rc;
}

static enum rpcrdma_action toy_on_error(const struct rpcrdma_hdr *h, const char **meaning)
{
	switch ((enum toy_errcode)h->err) {
	case TOY_ERR_REPLY:
		*meaning = "its Reply chunk is too small";
		return RPCRDMA_LARGER_REPLY;
	case TOY_ERR_WHOLE:
		*meaning = "the peer reads whole calls only";
		return RPCRDMA_WHOLE_CALL;
	case TOY_ERR_CHUNKS:
		*meaning = "it has too many Write chunks";
		return RPCRDMA_FEWER_CHUNKS;
	case TOY_ERR_SEGMENTS:
		*meaning = "it has too many segments";
		return RPCRDMA_FEWER_SEGMENTS;
	}
	return rpcrdma_v1.on_error(h, meaning);
}

const struct rpcrdma_dialect toy_dialect = {
	.vers = TOY_VERS,
	.min_call = 28,
	.inline_default = TOY_INLINE,
	.inline_first = UINT32_MAX,
	.limits = {.sends = TOY_SENDS,
		.reads = 40,
		.writes = 2,
		.segs = 30,
		.total = 70,
		.seg_size = UINT32_MAX},
	.bound = toy_bound,
	.size = toy_size,
	.encode = toy_encode,
	.decode = toy_decode,
	.on_error = toy_on_error,
};

const struct rpcrdma_dialect *const toy_table[] = {&toy_dialect, &rpcrdma_v1, NULL};
