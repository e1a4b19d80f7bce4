/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_rtr: the headers and properties of draft-dnoveck-nfsv4-rpcrdma-rtrext-02, by which data
 * is placed by the Send that brings it, without RDMA Read or Write.
 *
 * A receiver tells the structure of its receive buffers: a run of segments, some of which may be
 * targets of placement. A sender takes bulk data out of the RPC message, as for a chunk, and puts
 * it behind the message in the same Send, so far behind that it comes to lie in such segments. An
 * item of the header says where in the message it belongs and in which segments it is (TBSN), or
 * which memory of the sender's it is to be read from or was written to (EXRW). A request says by
 * places what is to become of the bulk data of its reply.
 *
 * Pure functions, but for the layout nothing is kept. The operations are what follows the prefix of
 * a header of version 2 (rpcrdma_v2.c), or the information of an RDMA2_OPTIONAL of version 2 of
 * 2016.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RTR_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RTR_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/rpc/xdr.h"

struct rpcrdma_hdr;

#define RPCRDMA_RTR_ITEMS  16  /* of a header, and places likewise */
#define RPCRDMA_RTR_BSNS   288 /* segments that all items of a header name */
#define RPCRDMA_RTR_GROUPS 16  /* of a receive buffer's structure */
#define RPCRDMA_RTR_SEGS   320 /* segments of one that are looked at */

/* enum xmdp_type */
enum rpcrdma_rtr_type {
	RPCRDMA_RTR_EXRW = 1,	  /* by RDMA Read or Write */
	RPCRDMA_RTR_TBSN = 2,	  /* in segments of the receive buffer */
	RPCRDMA_RTR_CHOICE = 3,	  /* a place only: either */
	RPCRDMA_RTR_BYSIZE = 4,	  /* a place only: the second up to a size */
	RPCRDMA_RTR_TOOSHORT = 5, /* an item of a reply only: it is in the message */
	RPCRDMA_RTR_NOITEM = 6,	  /* an item of a reply only: there was none for the place */
};

/* A run of the header's segments (EXRW), or of the numbers in bsn[] (TBSN). */
struct rpcrdma_rtr_run {
	unsigned first, n;
};

/* One piece of bulk data of the message that this is the header of (xmdp_mitem). */
struct rpcrdma_rtr_item {
	uint32_t disp; /* its place in the stream as it would be with all data in it */
	uint32_t len;
	uint32_t type; /* EXRW, TBSN, TOOSHORT, NOITEM */
	uint32_t off;  /* TBSN: bytes into the first segment */
	struct rpcrdma_rtr_run at;
};

/* What is to become of one piece of the reply's (xmdp_rsditem), and of results to what part of the
 * request that applies. */
struct rpcrdma_rtr_place {
	uint32_t begin, end;	   /* displacements in the request */
	uint32_t min;		   /* what is shorter stays in the message */
	uint32_t type;		   /* EXRW, TBSN, CHOICE, BYSIZE */
	uint32_t most;		   /* BYSIZE: bytes, and what is longer is written by RDMA */
	struct rpcrdma_rtr_run at; /* segments; none for TBSN */
};

enum rpcrdma_rtr_err {
	RPCRDMA_RTR_BADHMT = 1, /* v: expected, current header type */
	RPCRDMA_RTR_BADOMT = 2, /* v: expected, current operation */
	RPCRDMA_RTR_BADCONT = 3,
	RPCRDMA_RTR_BADSEQ = 4,	 /* v: expected, current number of the transmission */
	RPCRDMA_RTR_BADXID = 5,	 /* v: expected, current */
	RPCRDMA_RTR_BADOFF = 6,	 /* v: value, lowest, highest */
	RPCRDMA_RTR_BADTBSN = 7, /* the same */
	RPCRDMA_RTR_BADPL = 8,	 /* the same */
};

/* One transmission (xms_id). */
struct rpcrdma_rtr_id {
	uint32_t xid, dir, seq; /* dir: 0 call, 1 reply */
};

/* Report Error. */
struct rpcrdma_rtr_fault {
	struct rpcrdma_rtr_id bad, lead;
	bool has_lead;
	uint32_t err; /* enum rpcrdma_rtr_err */
	uint32_t v[3];
};

/* What a header of one of the operations has besides. */
struct rpcrdma_rtr {
	unsigned nitems, nplaces, nbsns;
	struct rpcrdma_rtr_item item[RPCRDMA_RTR_ITEMS];
	struct rpcrdma_rtr_place place[RPCRDMA_RTR_ITEMS];
	uint32_t bsn[RPCRDMA_RTR_BSNS];
	uint32_t count;	   /* transmissions of the group */
	uint32_t reserved; /* a request's: receives for the reply's */
	uint32_t number;   /* of a Continue in its group, from 1 */
	uint32_t begun;	   /* a Continue's: the operation that began the group */
	uint32_t len;	   /* bytes of the message that follow the header */
	struct rpcrdma_rtr_fault fault;
};

/* The operations, for h->proc (rpcrdma_hdr.h). On the wire 5 to 8 in RDMA2_OPTIONAL, these numbers
 * in version 2 of 2019. */
#define RPCRDMA_RTR_PRIVATE 0x52540000u /* of a range that is ours by doc/protocol.md */
enum rpcrdma_rtr_proc {
	RPCRDMA_XMT_REQ = RPCRDMA_RTR_PRIVATE + 5,
	RPCRDMA_XMT_RESP = RPCRDMA_RTR_PRIVATE + 6,
	RPCRDMA_XMT_CONT = RPCRDMA_RTR_PRIVATE + 7,
	RPCRDMA_REPT_ERR = RPCRDMA_RTR_PRIVATE + 8,
};
static inline bool rpcrdma_rtr_is_proc(uint32_t proc)
{
	return proc >= RPCRDMA_XMT_REQ && proc <= RPCRDMA_REPT_ERR;
}

/* Bytes that rpcrdma_rtr_put() writes for h. */
size_t rpcrdma_rtr_size(const struct rpcrdma_hdr *h);
/* Writes what the operation h->proc has; segments are h's. */
void rpcrdma_rtr_put(struct xdr_out *x, const struct rpcrdma_hdr *h);
/* Reads it into h, which has no chunks; any bytes are safe. What is malformed, over the caps or
 * invalid where it stands (table 1 of the draft) fails the cursor. */
void rpcrdma_rtr_get(struct xdr_in *x, struct rpcrdma_hdr *h);

/* --- the structure of receive buffers --------------------------------------------------------- */

/* Segments in a row that are alike (xmrbs_group). */
struct rpcrdma_rtr_group {
	uint32_t count, len, align, flags;
};
#define RPCRDMA_RTR_TARGET 0x01u /* XMRSFLAG_PLT */

struct rpcrdma_rtr_layout {
	uint32_t len; /* of the whole buffer */
	unsigned ngroups;
	struct rpcrdma_rtr_group group[RPCRDMA_RTR_GROUPS];
};

void rpcrdma_rtr_put_layout(struct xdr_out *x, const struct rpcrdma_rtr_layout *l);
/* Any bytes are safe; what is malformed fails the cursor: more groups or segments than are looked
 * at, segments without bytes, or whose sum is not the length of the buffer. */
void rpcrdma_rtr_get_layout(struct xdr_in *x, struct rpcrdma_rtr_layout *l);
/* Segments that are targets. */
unsigned rpcrdma_rtr_targets(const struct rpcrdma_rtr_layout *l);
/* Where in the buffer target number i begins, in *off, and its bytes, in *len. False: there are not
 * so many. */
bool rpcrdma_rtr_target(
	const struct rpcrdma_rtr_layout *l, unsigned i, uint32_t *off, uint32_t *len);
/* The first target that begins at or behind `behind` and from which on len bytes lie in targets
 * without a gap, -1: there is none. *n: how many targets they take. */
int rpcrdma_rtr_fit(const struct rpcrdma_rtr_layout *l, uint32_t behind, uint32_t len, unsigned *n);

#endif
