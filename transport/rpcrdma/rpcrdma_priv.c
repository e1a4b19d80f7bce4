/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_priv: the eight bytes of RFC 8797 section 4.
 */
#include "transport/rpcrdma/rpcrdma_priv.h"

#include <string.h>

#define PRIV_VERSION 1
#define PRIV_FLAG_R  0x01 /* the lowest bit of the third half-word's second byte, "R" */

static const uint8_t magic[4] = {0xf6, 0xab, 0x0e, 0x18};

static uint8_t size_byte(uint32_t bytes)
{
	uint32_t kib = bytes >> 10;

	return kib < 1 ? 0 : kib > 256 ? 255 : kib - 1;
}

void rpcrdma_priv_encode(const struct rpcrdma_priv *p, uint8_t out[RPCRDMA_PRIV_LEN])
{
	memcpy(out, magic, sizeof(magic));
	out[4] = PRIV_VERSION;
	out[5] = p->remote_inval ? PRIV_FLAG_R : 0;
	out[6] = size_byte(p->send_size);
	out[7] = size_byte(p->recv_size);
}

bool rpcrdma_priv_decode(struct rpcrdma_priv *p, const void *data, size_t len)
{
	const uint8_t *d = data;

	*p = (struct rpcrdma_priv){
		.send_size = RPCRDMA_INLINE_MIN,
		.recv_size = RPCRDMA_INLINE_MIN,
	};
	for (size_t i = 0; len >= RPCRDMA_PRIV_LEN && i <= len - RPCRDMA_PRIV_LEN; i++) {
		if (memcmp(d + i, magic, sizeof(magic)) || d[i + 4] != PRIV_VERSION)
			continue;
		p->remote_inval = d[i + 5] & PRIV_FLAG_R;
		p->send_size = ((uint32_t)d[i + 6] + 1) << 10;
		p->recv_size = ((uint32_t)d[i + 7] + 1) << 10;
		return true;
	}
	return false;
}
