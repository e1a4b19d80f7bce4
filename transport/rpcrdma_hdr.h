/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_hdr: the transport header of an RPC-over-RDMA message, and the version 1 form of it.
 *
 * One structure in memory for every dialect; a codec per dialect turns it into bytes and back.
 * Codecs are pure: no I/O, no allocation, no state. What the chunks point at is not looked at here,
 * only their number and their form; whether a header makes sense as a call or a reply is its
 * reader's business.
 *
 * A header is held by value. The segments of all Write chunks and of the Reply chunk share one
 * array; a chunk is a run in it.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_HDR_H
#define RNFS_TRANSPORT_RPCRDMA_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Caps on what is decoded or encoded. Linux sends at most 16 segments in a header. A version 1
 * header with everything in it is below 2 KiB. */
#define RPCRDMA_MAX_READS  32 /* segments of the Read list */
#define RPCRDMA_MAX_WRITES 16 /* Write chunks */
#define RPCRDMA_MAX_SEGS   64 /* segments in all Write chunks and the Reply chunk */

#define RPCRDMA_FIXED_LEN 16 /* xid, vers, credit, proc: the same in all versions */
#define RPCRDMA_V1_MIN	  28 /* a version 1 header without chunks, RFC 8166 section 4.5 */

/* The four fixed words' last (RFC 8166 section 4.2.4). */
enum rpcrdma_proc {
	RDMA_MSG = 0,	/* the RPC message follows the header */
	RDMA_NOMSG = 1, /* the RPC message is in the position-zero Read chunk or the Reply chunk */
	RDMA_MSGP = 2,	/* not used in version 1: refused */
	RDMA_DONE = 3,	/* not used in version 1: dropped */
	RDMA_ERROR = 4,
};

enum rpcrdma_errcode {
	RDMA_ERR_VERS = 1,
	RDMA_ERR_CHUNK = 2,
};

struct rpcrdma_seg {
	uint32_t handle;
	uint32_t length;
	uint64_t offset;
};

/* One element of the Read list. Neighbours with the same position are one chunk. */
struct rpcrdma_read {
	uint32_t position; /* byte offset in the unreduced stream, 0: the message itself */
	struct rpcrdma_seg seg;
};

/* seg[first .. first + n) of the header. n == 0 is an empty chunk (RFC 8166 section 4.3.2.3). */
struct rpcrdma_chunk {
	unsigned first, n;
};

struct rpcrdma_hdr {
	uint32_t xid;
	uint32_t vers;
	uint32_t credit;
	uint32_t proc; /* enum rpcrdma_proc, or what the peer sent */

	/* RDMA_MSG, RDMA_NOMSG */
	unsigned nreads;
	struct rpcrdma_read read[RPCRDMA_MAX_READS];
	unsigned nwrites;
	struct rpcrdma_chunk write[RPCRDMA_MAX_WRITES];
	bool has_reply;
	struct rpcrdma_chunk reply;
	unsigned nsegs;
	struct rpcrdma_seg seg[RPCRDMA_MAX_SEGS];

	/* RDMA_ERROR */
	uint32_t err; /* enum rpcrdma_errcode */
	uint32_t vers_low, vers_high;

	size_t len; /* bytes the header took (decoded) */
};

/* Makes h a header without chunks. */
void rpcrdma_hdr_init(struct rpcrdma_hdr *h, uint32_t vers, uint32_t xid, uint32_t credit,
	enum rpcrdma_proc proc);
/* Appends to the lists. -E2BIG: over the cap, h unchanged. */
int rpcrdma_hdr_add_read(struct rpcrdma_hdr *h, uint32_t position, const struct rpcrdma_seg *seg);
/* A Write chunk, or the Reply chunk, of n segments (0..RPCRDMA_MAX_SEGS in sum). */
int rpcrdma_hdr_add_write(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n);
int rpcrdma_hdr_set_reply(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n);
/* Sum of the segment lengths of a chunk; cannot overflow. */
uint64_t rpcrdma_chunk_len(const struct rpcrdma_hdr *h, const struct rpcrdma_chunk *c);
/* No list has anything in it. */
static inline bool rpcrdma_hdr_chunkless(const struct rpcrdma_hdr *h)
{
	return !h->nreads && !h->nwrites && !h->has_reply;
}

/* Reads the four words that every version has at the same place. 0, or -EMSGSIZE if msg is shorter:
 * nothing in it can be trusted (RFC 8166 section 4.5). */
int rpcrdma_hdr_peek(struct rpcrdma_hdr *h, const void *msg, size_t len);

/* Bytes that rpcrdma_v1_encode() will write for h. */
size_t rpcrdma_v1_size(const struct rpcrdma_hdr *h);
/* Writes h at buf (4-byte aligned). Returns its size, or -EMSGSIZE (cap is too small), -EINVAL (h
 * is not a version 1 message: MSGP, DONE, counts over the caps). RDMA_ERROR keeps h->vers. */
int rpcrdma_v1_encode(const struct rpcrdma_hdr *h, void *buf, size_t cap);

/* Reads a version 1 header; any bytes are safe. The RPC message, if any, follows at msg + h->len.
 *   0                 h is complete
 *   -EMSGSIZE         shorter than the fixed words, h is undefined: drop it
 *   -EPROTONOSUPPORT  another version; the fixed words are set: a responder answers ERR_VERS. (An
 *                     RDMA_ERROR of ERR_VERS has one form in all versions and is decoded.)
 *   -EBADMSG          malformed, over the caps, or RDMA_MSGP; the fixed words are set: a responder
 *                     answers ERR_CHUNK, a requester drops it */
int rpcrdma_v1_decode(struct rpcrdma_hdr *h, const void *msg, size_t len);

#endif
