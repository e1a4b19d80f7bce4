/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_priv: the private data of connection set-up, which RPC-over-RDMA peers exchange (RFC
 * 8797): inline sizes and support of remote invalidation.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PRIV_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPCRDMA_PRIV_LEN   8
#define RPCRDMA_INLINE_MIN 1024	 /* also the size of a peer without private data */
#define RPCRDMA_INLINE_MAX 65536 /* most we offer; the form can say 262144 */

struct rpcrdma_priv {
	bool remote_inval;  /* the sender supports remote invalidation */
	uint32_t send_size; /* bytes, 1024..262144, multiple of 1024 */
	uint32_t recv_size;
};

/* Sizes are rounded down to multiples of 1024 and clamped to 1024..262144. */
void rpcrdma_priv_encode(const struct rpcrdma_priv *p, uint8_t out[RPCRDMA_PRIV_LEN]);

/* Looks for the message anywhere in data (RFC 8797 section 5.2: at any offset). Returns true and
 * fills *p; or false, with *p as if the peer had sent the defaults (1024 both ways, no remote
 * invalidation). Any bytes are safe. */
bool rpcrdma_priv_decode(struct rpcrdma_priv *p, const void *data, size_t len);

#endif
