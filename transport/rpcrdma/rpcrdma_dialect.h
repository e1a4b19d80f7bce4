/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_dialect: one version of RPC-over-RDMA, for the requester and the responder.
 *
 * A dialect is a constant table of functions and limits, one file each (rpcrdma_v1.c). A connection
 * has one dialect at a time; only the table knows the bytes of the version. The codec is pure: no
 * I/O, no allocation, no state between messages. The connection keeps all state from one message to
 * the next.
 *
 * The four fixed words and RDMA_ERROR with ERR_VERS have one form in all versions (RFC 8166
 * sections 4.1.2 and 7): the functions below add the common form to each dialect.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_DIALECT_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_DIALECT_H

#include "transport/rpcrdma/rpcrdma_hdr.h"

/* The action of a requester on a call after an RDMA_ERROR. The requester repeats the call only in a
 * form that differs from the refused one; otherwise FAIL. So the repetitions end. */
enum rpcrdma_action {
	RPCRDMA_FAIL,		/* tells the owner -EIO */
	RPCRDMA_RENEGOTIATE,	/* sends the call again in another dialect, if there is one */
	RPCRDMA_LARGER_REPLY,	/* ... with a Reply chunk of err_arg bytes or more */
	RPCRDMA_NO_WRITES,	/* ... with a Reply chunk, for err_arg bytes of data and the rest */
	RPCRDMA_WHOLE_CALL,	/* ... in a position-zero Read chunk */
	RPCRDMA_FEWER_CHUNKS,	/* ... with at most err_arg Write chunks */
	RPCRDMA_FEWER_SEGMENTS, /* ... with at most err_arg segments to a list */
};

/* The limits of a message. */
struct rpcrdma_limits {
	unsigned sends;	   /* 1..RPCRDMA_MAX_SENDS; 1: a message is never continued */
	unsigned reads;	   /* segments of the Read list: 1..RPCRDMA_MAX_READS */
	unsigned writes;   /* Write chunks, up to RPCRDMA_MAX_WRITES */
	unsigned segs;	   /* segments in all Write chunks and the Reply chunk, up to
			    * RPCRDMA_MAX_SEGS */
	unsigned total;	   /* segments in the header */
	uint32_t seg_size; /* bytes of a segment */
};

/* Where the text has no bounds: the room of a header in memory. */
#define RPCRDMA_LIMITS_OF_HDR                                                                      \
	{                                                                                          \
		.sends = 1, .reads = RPCRDMA_MAX_READS, .writes = RPCRDMA_MAX_WRITES,              \
		.segs = RPCRDMA_MAX_SEGS, .total = RPCRDMA_MAX_READS + RPCRDMA_MAX_SEGS,           \
		.seg_size = UINT32_MAX                                                             \
	}

#define RPCRDMA_MAX_SENDS 8 /* of a call of ours */

struct rpcrdma_dialect {
	const char *name;	 /* in options and logs */
	uint32_t vers;		 /* the version word */
	uint32_t min_call;	 /* bytes of the shortest call; a shorter message gets no answer */
	uint32_t inline_default; /* bytes of a Send for a peer that names no size */
	uint32_t inline_first;	 /* ... of the first Send, before the peer's dialect is known */
	/* The two ends exchange properties (rpcrdma_props.h), each message grants credits, and an
	 * RDMA_NOMSG without chunks only grants. */
	bool talks;
	/* The dialect has RDMA_DONE, RDMA_MSGP and the Connection Configuration Protocol
	 * (rpcrdma_legacy.h).
	 */
	bool legacy;
	bool places; /* places data by Sends (rpcrdma_rtr.h), if the peer does, too */
	struct rpcrdma_limits limits; /* until the peer has told its limits */
	/* Bytes of a header with so many Read segments, Write chunks, and segments in all Write
	 * chunks and the Reply chunk. */
	size_t (*bound)(unsigned nreads, unsigned nwrites, bool has_reply, unsigned nsegs);
	/* The bytes of h as encode() writes h. */
	size_t (*size)(const struct rpcrdma_hdr *h);
	/* Writes h at buf (4-byte aligned), with the credits in the dialect's form. Returns the
	 * size, or -EMSGSIZE (cap is too small), -EINVAL (not in this dialect: an unknown message
	 * type, or counts over the caps). */
	int (*encode)(const struct rpcrdma_hdr *h, void *buf, size_t cap);
	/* Reads a header of this version, of len >= RPCRDMA_FIXED_LEN bytes; any bytes are safe.
	 * The RPC message, if any, follows at msg + h->len. 0, or -EBADMSG: malformed, over the
	 * caps, or of a type outside the dialect. Then xid, vers and proc are set, dir if the
	 * message has a direction, and err is the error for a responder's answer. */
	int (*decode)(struct rpcrdma_hdr *h, const void *msg, size_t len);
	/* The action that a decoded RDMA_ERROR asks for. *meaning: the fate of the call, as the end
	 * of a sentence for the log. */
	enum rpcrdma_action (*on_error)(const struct rpcrdma_hdr *h, const char **meaning);
};

/* A table of dialects: best first, ends with NULL. The best dialect of a table with a version from
 * low to high, or NULL. */
const struct rpcrdma_dialect *rpcrdma_dialect_find(
	const struct rpcrdma_dialect *const *table, uint32_t low, uint32_t high);
/* The most Sends of a message in any dialect of a table that does not talk, and so has no credits
 * for the Sends. */
unsigned rpcrdma_dialect_sends(const struct rpcrdma_dialect *const *table);
/* Does a table have a legacy dialect? */
bool rpcrdma_dialect_has_legacy(const struct rpcrdma_dialect *const *table);
/* The lowest and the highest version of a non-empty table. */
void rpcrdma_dialect_range(
	const struct rpcrdma_dialect *const *table, uint32_t *low, uint32_t *high);

/* As d->on_error(), and for ERR_VERS. */
enum rpcrdma_action rpcrdma_dialect_on_error(
	const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, const char **meaning);
/* The bytes of h as rpcrdma_dialect_encode() writes h. */
size_t rpcrdma_dialect_size(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h);
/* As d->encode(), and RDMA_ERROR with ERR_VERS, which keeps h->vers. */
int rpcrdma_dialect_encode(
	const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, void *buf, size_t cap);
/* Reads the header of a message received on a connection with dialect d; any bytes are safe.
 *   0                 h is complete
 *   -EMSGSIZE         shorter than the fixed words, h is undefined: drop it
 *   -EPROTONOSUPPORT  another version; xid, vers and proc are set: a responder answers ERR_VERS.
 *                     (An RDMA_ERROR of ERR_VERS is decoded at any version.)
 *   -EBADMSG          as d->decode(): a responder answers ERR_CHUNK, a requester fails the call */
int rpcrdma_dialect_decode(
	const struct rpcrdma_dialect *d, struct rpcrdma_hdr *h, const void *msg, size_t len);

#endif
