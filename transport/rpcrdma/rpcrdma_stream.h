/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_stream: an outgoing RPC message as a list of pieces of memory.
 *
 * The message proper lies in one buffer, from the XID word on. Payloads lie elsewhere and belong
 * between parts of the message. A stream without some payloads, which go by RDMA, is the "reduced"
 * stream (RFC 8166 section 3.4.1); a payload leaves together with the round-up (section 3.4.4.4).
 * Parts only point to memory; the owner of the memory does not change.
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
	uint64_t len;				    /* the sum of the parts' bytes */
};

/* Makes s the stream of the message in msg. The XID word is at offset off, and the body x was
 * encoded at RPC_HEADROOM. Payload i is left out if bit i of reduced is set. zero: 4 or more bytes
 * of zero, for round-up. */
void rpcrdma_stream_init(struct rpcrdma_stream *s, const struct mem_buf *msg, uint32_t off,
	const struct xdr_out *x, unsigned reduced, const struct mem_buf *zero);
/* Bytes from the XID word to the data of payload i in the unreduced stream: the Position of payload
 * i. */
uint64_t rpcrdma_stream_pos(uint32_t off, const struct xdr_out *x, unsigned i);
/* The number of pieces of memory, with neighbours joined, of at most max bytes each
 * (seg_next_joined()). */
unsigned rpcrdma_stream_pieces(const struct rpcrdma_stream *s, uint32_t max);
/* Makes out the bytes [off, off + len) of s. s must have the bytes. */
void rpcrdma_stream_cut(
	struct rpcrdma_stream *out, const struct rpcrdma_stream *s, uint64_t off, uint64_t len);
/* Copies s->len bytes to dst. */
void rpcrdma_stream_copy(const struct rpcrdma_stream *s, void *dst);

#endif
