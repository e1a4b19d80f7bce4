/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of transport/rpc/xdr: the input's first half scripts the gets, the rest is the
 * stream.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/rpc/xdr.h"

static volatile uint8_t kept; /* keeps the reads alive */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2, len = size - half;
	uint8_t *stream = malloc(len + 1), sum = 0, fixed[256], placed[64] = {0};
	const uint8_t *p;
	struct xdr_in x;
	uint32_t n;

	memcpy(stream, data + half, len);
	xdr_in_init(&x, stream, len);
	if (half > 2 && data[2] & 1) /* aligned to 1, 2, or a multiple of 4 */
		x.padding = (struct xdr_padding){
			data[2] < 8 ? 1u + (data[2] >> 2) : data[2] & ~3u, data[2] >> 1, data[1]};
	if (half > 1) {
		x.payload[x.npayloads++] =
			(struct xdr_payload){.pos = data[0] & 1 ? XDR_POS_NEXT : data[0] & ~3u,
				.data = SEG_LIST_MEM(placed, data[1] % sizeof(placed))};
	}
	for (size_t i = 0; i < half; i++) {
		n = 0;
		p = NULL;
		switch (data[i] % 8) {
		case 0:
			sum += xdr_get_u32(&x);
			break;
		case 1:
			sum += xdr_get_u64(&x);
			break;
		case 2:
			sum += xdr_get_bool(&x);
			break;
		case 3:
			xdr_get_fixed(&x, fixed, data[i]);
			break;
		case 4:
			p = xdr_get_opaque(&x, data[i] * 4, &n);
			break;
		case 5:
			sum += xdr_get_count(&x, data[i] * 100, data[i] % 9);
			break;
		case 6:
			p = xdr_get_payload(&x, data[i], &n, NULL);
			break;
		case 7:
			p = xdr_consume(&x, n = data[i]);
			break;
		}
		for (uint32_t k = 0; p && k < n; k++)
			sum ^= p[k];
	}
	sum += xdr_in_done(&x);
	free(stream);
	kept = sum;
	return 0;
}
