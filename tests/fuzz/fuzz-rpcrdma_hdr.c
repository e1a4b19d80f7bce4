/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of transport/rpcrdma_hdr and rpcrdma_priv: what decodes, encodes to the same bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpcrdma_hdr.h"
#include "transport/rpcrdma_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t out[1024];
	struct rpcrdma_priv priv;
	struct rpcrdma_hdr h;
	int n;

	rpcrdma_priv_decode(&priv, data, size);
	if (rpcrdma_v1_decode(&h, data, size) || h.proc == RDMA_DONE)
		return 0;
	n = rpcrdma_v1_encode(&h, out, sizeof(out));
	if (n < 0 || (size_t)n != h.len || memcmp(out, data, n))
		abort();
	return 0;
}
