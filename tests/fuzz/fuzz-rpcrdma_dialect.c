/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of the codecs behind transport/rpcrdma/rpcrdma_dialect, of rpcrdma_priv, of
 * rpcrdma_props and of ccp. A header that decodes must encode to the same bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/old/rpcrdma_legacy.h"
#include "transport/rpcrdma/rpcrdma_priv.h"
#include "transport/rpcrdma/v1/rpcrdma_v1.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"
#include "transport/rpcrdma/old/ccp.h"

static const struct rpcrdma_dialect *const all[] = {&rpcrdma_v2_rtr, &rpcrdma_v2_2016_rtr,
	&rpcrdma_v2, &rpcrdma_v2_2016, &rpcrdma_v1, &rpcrdma_legacy, NULL};

/* The codecs do not keep the credit word of an ERR_VERS, and make the credit word of version 2 from
 * its halves. An ERR_VERS in the form of version 2 is written in the common form. */
static bool same(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, size_t n,
	const uint8_t *a, const uint8_t *b)
{
	if (rpcrdma_hdr_is_err_vers(h) && h->len != RPCRDMA_ERR_VERS_LEN)
		return n == RPCRDMA_ERR_VERS_LEN && !memcmp(a + n - 8, b + h->len - 8, 8);
	/* the words behind the code of an error are written as zeros there */
	if (d->legacy && h->proc == RDMA_ERROR && !rpcrdma_hdr_is_err_vers(h))
		return n >= h->len && !memcmp(a, b, RPCRDMA_FIXED_LEN);
	if (h->proc == RPCRDMA_XMT_REQ) /* without empty sets of places */
		return n <= h->len && !memcmp(a, b, 8);
	if (n != h->len)
		return false;
	if (h->proc == RDMA_ERROR && d->talks) /* a response, for any flags */
		return !memcmp(a, b, 8) && !memcmp(a + 20, b + 20, n - 20);
	if (rpcrdma_hdr_is_err_vers(h) || d->talks)
		return !memcmp(a, b, 8) && !memcmp(a + 12, b + 12, n - 12);
	return !memcmp(a, b, n);
}

/* Properties that were read are the same after a write and a second reading. */
static void fuzz_props(const uint8_t *data, size_t size)
{
	static uint32_t out[1024 / 4];
	struct rpcrdma_props p, again;
	struct xdr_out to;
	struct xdr_in in;

	xdr_in_init(&in, data, size);
	if (rpcrdma_props_get(&in, &p))
		return;
	xdr_out_init(&to, out, sizeof(out));
	rpcrdma_props_put(&to, &p);
	xdr_in_init(&in, out, to.len);
	if (!xdr_out_ok(&to) || rpcrdma_props_get(&in, &again) || again.send_size != p.send_size ||
		again.recv_size != p.recv_size || again.seg_size != p.seg_size ||
		again.seg_count != p.seg_count || again.reverse != p.reverse)
		abort();
}

/* The same for the requests and answers of CONF_RDMA. */
static void fuzz_ccp(const uint8_t *data, size_t size)
{
	uint32_t out[CCP_WIRE / 4];
	struct ccp_req req;
	struct ccp_res res;
	struct xdr_out to;
	struct xdr_in in;

	xdr_in_init(&in, data, size);
	if (ccp_get_req(&in, &req))
		return;
	xdr_in_init(&in, data, size);
	if (ccp_get_res(&in, &res))
		abort();
	xdr_out_init(&to, out, sizeof(out));
	ccp_put_req(&to, &req);
	if (!xdr_out_ok(&to) || memcmp(out, data, CCP_WIRE))
		abort();
	xdr_out_init(&to, out, sizeof(out));
	ccp_put_res(&to, &res);
	if (!xdr_out_ok(&to) || memcmp(out, data, CCP_WIRE))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t out[4096]; /* the longest header is below 12 KiB */
	struct rpcrdma_priv priv;

	rpcrdma_priv_decode(&priv, data, size);
	fuzz_props(data, size);
	fuzz_ccp(data, size);
	for (const struct rpcrdma_dialect *const *d = all; *d; d++) {
		struct rpcrdma_hdr h;
		int n;

		if (rpcrdma_dialect_decode(*d, &h, data, size) ||
			(h.proc == RDMA_DONE && !(*d)->legacy))
			continue;
		n = rpcrdma_dialect_encode(*d, &h, out, sizeof(out));
		if (n < 0 || !same(*d, &h, (size_t)n, (const uint8_t *)out, data))
			abort();
	}
	return 0;
}
