/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of the codecs behind transport/rpcrdma/rpcrdma_dialect, and of rpcrdma_priv: what
 * decodes, encodes to the same bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/rpcrdma_priv.h"

/* The credit word of an ERR_VERS is not kept. */
static bool same(const struct rpcrdma_hdr *h, const uint8_t *a, const uint8_t *b)
{
	return rpcrdma_hdr_is_err_vers(h) ? !memcmp(a, b, 8) && !memcmp(a + 12, b + 12, h->len - 12)
					  : !memcmp(a, b, h->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t out[4096]; /* the longest header is below 12 KiB */
	struct rpcrdma_priv priv;

	rpcrdma_priv_decode(&priv, data, size);
	for (const struct rpcrdma_dialect *const *d = rpcrdma_dialects; *d; d++) {
		struct rpcrdma_hdr h;
		int n;

		if (rpcrdma_dialect_decode(*d, &h, data, size) || h.proc == RDMA_DONE)
			continue;
		n = rpcrdma_dialect_encode(*d, &h, out, sizeof(out));
		if (n < 0 || (size_t)n != h.len || !same(&h, (const uint8_t *)out, data))
			abort();
	}
	return 0;
}
