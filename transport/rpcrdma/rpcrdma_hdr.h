/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_hdr: the transport header of an RPC-over-RDMA message, and the header parts with the same
 * form in every version.
 *
 * All dialects share one structure in memory. Each dialect has a codec that turns the structure
 * into bytes and back (rpcrdma_dialect.h). The common parts are coded here: the four fixed words,
 * the chunk lists, and RDMA_ERROR with ERR_VERS. The coders check the number and the form of
 * chunks, but not the memory behind the chunks. The reader of a header checks whether the header
 * makes sense as a call or a reply.
 *
 * A header is held by value. The segments of all Write chunks and of the Reply chunk share one
 * array; a chunk is a run in the array.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_HDR_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_HDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/rpc/xdr.h"
#include "transport/rpcrdma/rpcrdma_rtr_fields.h"

/* Caps for decoding and encoding: the pages of 4 KiB of the largest payload one by one, and some
 * more. Linux sends at most 16 segments in a header. A header with all parts is below 12 KiB; a
 * peer's message is as long as a receive buffer at most. */
#define RPCRDMA_MAX_READS  288 /* segments of the Read list */
#define RPCRDMA_MAX_WRITES 16  /* Write chunks */
#define RPCRDMA_MAX_SEGS   288 /* segments in all Write chunks and the Reply chunk */

#define RPCRDMA_FIXED_LEN    16 /* xid, vers, credit, proc: the same in all versions */
#define RPCRDMA_ERR_VERS_LEN 28 /* RDMA_ERROR with ERR_VERS: the same in all versions */

#define RPCRDMA_ALIGN_MAX 65536 /* of RDMA_MSGP; no receive buffer is longer */

/* Does a message belong to a call or to a reply? */
enum rpcrdma_dir {
	RPCRDMA_DIR_UNSAID, /* decoded: the message does not say; the receiver's side decides */
	RPCRDMA_DIR_CALL,
	RPCRDMA_DIR_REPLY, /* errors too */
};

/* The last of the four fixed words (RFC 8166 section 4.2.4). */
enum rpcrdma_proc {
	RDMA_MSG = 0,	/* the RPC message follows the header */
	RDMA_NOMSG = 1, /* the RPC message is in the position-zero Read chunk or the Reply chunk */
	RDMA_MSGP = 2,	/* with padding (rpcrdma_legacy.h); not used in version 1: refused */
	RDMA_DONE = 3,	/* Read chunks of a reply were read; not used in version 1: dropped */
	RDMA_ERROR = 4,
	RDMA_CONNPROP = 5, /* version 2 only */
	/* RDMA2_OPTIONAL, 5 in version 2 of 2016, which has no properties */
	RDMA_OPTIONAL = 0x10005,
};

/* The codes of an RDMA_ERROR. Version 1 has the first two, and writes the second for all others. */
enum rpcrdma_errcode {
	RDMA_ERR_VERS = 1,
	RDMA_ERR_CHUNK = 2, /* version 2: BAD_XDR */
	RDMA_ERR_INVAL_HTYPE = 3,
	RDMA_ERR_INVAL_FLAG = 4,
	RDMA_ERR_READ_CHUNKS = 5,    /* err_arg: how many are taken */
	RDMA_ERR_WRITE_CHUNKS = 6,   /* the same */
	RDMA_ERR_SEGMENTS = 7,	     /* the same */
	RDMA_ERR_WRITE_RESOURCE = 8, /* err_arg: bytes needed of Write chunk err_index (from 1) */
	RDMA_ERR_REPLY_RESOURCE = 9, /* err_arg: bytes needed of the Reply chunk */
	RDMA_ERR_SYSTEM = 10,
	/* version 2 of 2016, which has none of the others but the first two */
	RDMA_ERR_INVAL_OPTION = 3,
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
	uint32_t vers; /* decoded; encoded only in RDMA_ERROR with ERR_VERS: the call's version */
	enum rpcrdma_dir dir;
	/* Credits, in messages. Where a dialect has one word for either grant or want, decoding
	 * sets both to the word. */
	uint32_t grant; /* how many the sender can receive */
	uint32_t want;	/* how many the sender would like to send */
	uint32_t proc;	/* enum rpcrdma_proc, or an unknown number from the peer */
	bool more;	/* the message goes on in the next Send, and h has no chunks */
	/* The handle that the reply may invalidate, 0: none. Not in version 1. */
	uint32_t inv_handle;

	uint32_t align, thresh; /* RDMA_MSGP, as in struct xdr_padding */

	/* RDMA_MSG, RDMA_NOMSG, RDMA_MSGP */
	unsigned nreads;
	struct rpcrdma_read read[RPCRDMA_MAX_READS];
	unsigned nwrites;
	struct rpcrdma_chunk write[RPCRDMA_MAX_WRITES];
	bool has_reply;
	struct rpcrdma_chunk reply;
	unsigned nsegs;
	struct rpcrdma_seg seg[RPCRDMA_MAX_SEGS];

	struct rpcrdma_rtr rtr; /* enum rpcrdma_rtr_proc */

	/* RDMA_ERROR. In a header that could not be decoded, err is the error for a responder's
	 * answer. */
	uint32_t err; /* enum rpcrdma_errcode, or another code of the dialect */
	uint32_t err_arg, err_index;
	uint32_t vers_low, vers_high;

	size_t len; /* bytes the header took (decoded) */
};

/* Makes h a header without chunks and credits. */
void rpcrdma_hdr_init(struct rpcrdma_hdr *h, uint32_t xid, enum rpcrdma_dir dir, uint32_t proc);
/* Appends to the lists. -E2BIG: over the cap, h unchanged. */
int rpcrdma_hdr_add_read(struct rpcrdma_hdr *h, uint32_t position, const struct rpcrdma_seg *seg);
/* A Write chunk, or the Reply chunk, of n segments (0..RPCRDMA_MAX_SEGS in sum). */
int rpcrdma_hdr_add_write(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n);
/* Adds a segment to the last Write chunk, before a further Write chunk or the Reply chunk is added.
 */
int rpcrdma_hdr_write_seg(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg);
int rpcrdma_hdr_set_reply(struct rpcrdma_hdr *h, const struct rpcrdma_seg *seg, unsigned n);
/* Sum of the lengths of a chunk's segments, which are a run in seg; cannot overflow. */
uint64_t rpcrdma_chunk_len(const struct rpcrdma_seg *seg, const struct rpcrdma_chunk *c);
/* Are all lists empty? */
static inline bool rpcrdma_hdr_chunkless(const struct rpcrdma_hdr *h)
{
	return !h->nreads && !h->nwrites && !h->has_reply;
}
/* Does the message convey no RPC message, only credits (version 2, section 6.4.2)? A reply with the
 * XID of a call is no grant, but an answer without the RPC message. */
static inline bool rpcrdma_hdr_is_grant(const struct rpcrdma_hdr *h)
{
	return h->proc == RDMA_NOMSG && rpcrdma_hdr_chunkless(h) &&
	       (h->dir != RPCRDMA_DIR_REPLY || !h->xid);
}
/* The padding of a message received under header h, if any. */
static inline struct xdr_padding rpcrdma_padding_of(const struct rpcrdma_hdr *h)
{
	return (struct xdr_padding){h->align, h->thresh, (uint32_t)h->len};
}
/* RDMA_ERROR with ERR_VERS. */
static inline bool rpcrdma_hdr_is_err_vers(const struct rpcrdma_hdr *h)
{
	return h->proc == RDMA_ERROR && h->err == RDMA_ERR_VERS;
}

/* --- coders for the codecs of all dialects ---------------------------------------------------- */

/* Reads xid, vers and proc, and the rest of an RDMA_ERROR with ERR_VERS in the common form. (The
 * codec of version 2 reads a second form.) h is complete only for such an error, and has no
 * credits. Any bytes are safe. 0; -EMSGSIZE if msg is shorter than the fixed words: h is undefined,
 * and the caller must not trust msg (RFC 8166 section 4.5); -EBADMSG: a truncated ERR_VERS. */
int rpcrdma_hdr_peek(struct rpcrdma_hdr *h, const void *msg, size_t len);
/* Writes RDMA_ERROR with ERR_VERS; the credit word is h->grant. Returns the size, or -EMSGSIZE. */
int rpcrdma_hdr_put_err_vers(const struct rpcrdma_hdr *h, void *buf, size_t cap);

/* Begins to read a header of len >= RPCRDMA_FIXED_LEN bytes: the fixed words, with the credit word
 * as grant and want. */
void rpcrdma_get_fixed(struct xdr_in *x, struct rpcrdma_hdr *h, const void *msg, size_t len);
/* One segment. */
void rpcrdma_put_seg(struct xdr_out *x, const struct rpcrdma_seg *s);
void rpcrdma_get_seg(struct xdr_in *x, struct rpcrdma_seg *s);
/* Bytes of the three chunk lists (Read list, Write list, Reply chunk; RFC 8166 section 4.1.2) with
 * nsegs segments in all Write chunks and the Reply chunk. */
size_t rpcrdma_lists_size(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs);
void rpcrdma_put_lists(struct xdr_out *x, const struct rpcrdma_hdr *h);
/* Reads into h, which has no chunks. A malformed list or a list over the caps fails the cursor. For
 * a list over the caps, h->err and err_arg name the list. */
void rpcrdma_get_lists(struct xdr_in *x, struct rpcrdma_hdr *h);
/* May RDMA_MSGP name the alignment? */
bool rpcrdma_align_ok(uint32_t align);

#endif
