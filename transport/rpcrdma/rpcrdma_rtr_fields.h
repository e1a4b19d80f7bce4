/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_rtr_fields: the fields of the headers and properties of
 * draft-dnoveck-nfsv4-rpcrdma-rtrext-02. With the extension a Send places its own data, without
 * RDMA Read or Write.
 *
 * A receiver announces the structure of its receive buffers: a run of segments, some of which may
 * be targets of placement. A sender takes bulk data out of the RPC message, as for a chunk. The
 * data follows the message in the same Send, at an offset that puts the data in targets. An item of
 * the header names the place in the message and the segments with the data (TBSN). Or the item
 * names the memory for RDMA Reads or RDMA Writes of the data (EXRW). The places of a request tell
 * how the bulk data of the reply is to be sent.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RTR_FIELDS_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RTR_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#define RPCRDMA_RTR_ITEMS  16  /* of a header, and places likewise */
#define RPCRDMA_RTR_BSNS   288 /* segments that all items of a header name */
#define RPCRDMA_RTR_GROUPS 16  /* of a receive buffer's structure */
#define RPCRDMA_RTR_SEGS   320 /* segments of a layout that are looked at */

/* enum xmdp_type */
enum rpcrdma_rtr_type {
	RPCRDMA_RTR_EXRW = 1,	  /* by RDMA Read or Write */
	RPCRDMA_RTR_TBSN = 2,	  /* in segments of the receive buffer */
	RPCRDMA_RTR_CHOICE = 3,	  /* a place only: either */
	RPCRDMA_RTR_BYSIZE = 4,	  /* a place only: the second up to a size */
	RPCRDMA_RTR_TOOSHORT = 5, /* an item of a reply only: the data is in the message */
	RPCRDMA_RTR_NOITEM = 6,	  /* an item of a reply only: no data for the place */
};

/* A run of the header's segments (EXRW), or of the numbers in bsn[] (TBSN). */
struct rpcrdma_rtr_run {
	unsigned first, n;
};

/* One piece of bulk data of the header's message (xmdp_mitem). */
struct rpcrdma_rtr_item {
	uint32_t disp; /* where the data begins in the stream with all data */
	uint32_t len;
	uint32_t type; /* EXRW, TBSN, TOOSHORT, NOITEM */
	uint32_t off;  /* TBSN: bytes into the first segment */
	struct rpcrdma_rtr_run at;
};

/* How one piece of the reply's bulk data is to travel (xmdp_rsditem), and for the results of which
 * part of the request. */
struct rpcrdma_rtr_place {
	uint32_t begin, end;	   /* displacements in the request */
	uint32_t min;		   /* shorter data stays in the message */
	uint32_t type;		   /* EXRW, TBSN, CHOICE, BYSIZE */
	uint32_t most;		   /* BYSIZE: bytes; longer data is written by RDMA */
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

/* The fields of a header of one of the operations. */
struct rpcrdma_rtr {
	unsigned nitems, nplaces, nbsns;
	struct rpcrdma_rtr_item item[RPCRDMA_RTR_ITEMS];
	struct rpcrdma_rtr_place place[RPCRDMA_RTR_ITEMS];
	uint32_t bsn[RPCRDMA_RTR_BSNS];
	uint32_t count;	   /* transmissions of the group */
	uint32_t reserved; /* a request's: receives for the reply's transmissions */
	uint32_t number;   /* of a Continue in the group, from 1 */
	uint32_t begun;	   /* a Continue's: the operation that began the group */
	uint32_t len;	   /* bytes of the message behind the header */
	struct rpcrdma_rtr_fault fault;
};

/* The operations, for h->proc (rpcrdma_hdr.h). On the wire 5 to 8 in RDMA2_OPTIONAL, and the
 * numbers here in version 2 of 2019. */
#define RPCRDMA_RTR_PRIVATE 0x52540000u /* of our private range, see doc/protocol.md */
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

/* --- the structure of receive buffers --------------------------------------------------------- */

/* Equal segments in a row (xmrbs_group). */
struct rpcrdma_rtr_group {
	uint32_t count, len, align, flags;
};
#define RPCRDMA_RTR_TARGET 0x01u /* XMRSFLAG_PLT */

struct rpcrdma_rtr_layout {
	uint32_t len; /* of the whole buffer */
	unsigned ngroups;
	struct rpcrdma_rtr_group group[RPCRDMA_RTR_GROUPS];
};

#endif
