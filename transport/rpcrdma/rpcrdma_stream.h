/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_stream: an outgoing RPC message as the pieces of memory it lies in.
 *
 * The message proper lies in one buffer, from its XID word on; payloads lie elsewhere and belong
 * between. What is left of the stream when some payloads are taken out of it to travel by RDMA is
 * the "reduced" stream (RFC 8166 section 3.4.1); a payload leaves with its round-up
 * (section 3.4.4.4). Parts only point: memory stays its owner's.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_STREAM_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_STREAM_H

#include <stdint.h>

#include "transport/rpc/rpc.h"

#define RPCRDMA_STREAM_PARTS                                                                       \
	(1 + 3 * XDR_MAX_PAYLOADS) /* message, then data, pad, message each                        \
				    */

struct rpcrdma_stream {
	unsigned n;
	struct seg_list part[RPCRDMA_STREAM_PARTS]; /* the data of a payload may be in pieces */
	uint64_t len;				    /* their sum in bytes */
};

/* The stream of the message in msg that begins (XID word) at offset off and whose body x was
 * encoded at RPC_HEADROOM. Payload i is left out if bit i of reduced is set. zero: 4 or more bytes
 * of zero, for round-up. */
void rpcrdma_stream_init(struct rpcrdma_stream *s, const struct mem_buf *msg, uint32_t off,
	const struct xdr_out *x, unsigned reduced, const struct mem_buf *zero);
/* Bytes from the XID word to the data of payload i in the unreduced stream: its Position. */
uint64_t rpcrdma_stream_pos(uint32_t off, const struct xdr_out *x, unsigned i);
/* Pieces of memory that it lies in, neighbours joined, of at most max bytes (seg_next_joined()). */
unsigned rpcrdma_stream_pieces(const struct rpcrdma_stream *s, uint32_t max);
/* Bytes [off, off + len) of s, which has them. */
void rpcrdma_stream_cut(
	struct rpcrdma_stream *out, const struct rpcrdma_stream *s, uint64_t off, uint64_t len);
/* Copies s->len bytes to dst. */
void rpcrdma_stream_copy(const struct rpcrdma_stream *s, void *dst);

#endif
