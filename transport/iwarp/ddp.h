/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ddp: the headers of DDP segments and RDMAP messages (RFC 5041, RFC 5040). Pure functions: no I/O,
 * no allocation, no state.
 *
 * A header lies behind the 16-bit length of its FPDU, so no field is aligned.
 */
#ifndef RNFS_TRANSPORT_IWARP_DDP_H
#define RNFS_TRANSPORT_IWARP_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDP_TAGGED_LEN	 14
#define DDP_UNTAGGED_LEN 18
#define DDP_READ_REQ_LEN 28
#define DDP_TERM_MAX	 (4 + 2 + DDP_UNTAGGED_LEN + DDP_READ_REQ_LEN)

enum ddp_op { /* RFC 5040 figure 4 */
	DDP_OP_WRITE = 0,
	DDP_OP_READ_REQ = 1,
	DDP_OP_READ_RESP = 2,
	DDP_OP_SEND = 3,
	DDP_OP_SEND_INV = 4,
	DDP_OP_SEND_SE = 5,
	DDP_OP_SEND_SE_INV = 6,
	DDP_OP_TERMINATE = 7,
};

enum { /* queue numbers of untagged messages */
	DDP_QN_SEND = 0,
	DDP_QN_READ_REQ = 1,
	DDP_QN_TERMINATE = 2,
};

struct ddp_hdr {
	bool tagged, last;
	uint8_t dv, rv;	      /* versions of DDP and RDMAP, both 1 */
	uint8_t op;	      /* enum ddp_op, 0..15 on the wire */
	uint32_t stag;	      /* tagged: the sink; untagged: Invalidate STag */
	uint64_t to;	      /* tagged */
	uint32_t qn, msn, mo; /* untagged */
};

/* Each function writes its header to p and returns the header's length. */
size_t ddp_put_tagged(uint8_t *p, enum ddp_op op, bool last, uint32_t stag, uint64_t to);
size_t ddp_put_untagged(
	uint8_t *p, enum ddp_op op, bool last, uint32_t inv_stag, uint32_t msn, uint32_t mo);

/* Decodes the header at p, if it ends within len bytes. Returns the header's length, or 0: more
 * bytes are needed. Any bytes decode; ddp_check() judges. */
size_t ddp_get(const uint8_t *p, size_t len, struct ddp_hdr *h);

struct ddp_read_req { /* RFC 5040 section 4.4 */
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t src_stag;
	uint64_t src_to;
};

void ddp_put_read_req(uint8_t p[DDP_READ_REQ_LEN], const struct ddp_read_req *r);
void ddp_get_read_req(const uint8_t p[DDP_READ_REQ_LEN], struct ddp_read_req *r);

/* The reason to terminate a stream: layer, error type and code in one number, 0xLTCC. RFC 5040
 * figure 9, RFC 5041 section 7.2, RFC 5044 section 8. */
enum ddp_err {
	RDMAP_ERR_LOCAL = 0x0000,
	RDMAP_ERR_STAG = 0x0100, /* protection errors: Read Requests, Send with Invalidate */
	RDMAP_ERR_BOUNDS = 0x0101,
	RDMAP_ERR_ACCESS = 0x0102,
	RDMAP_ERR_STREAM = 0x0103,
	RDMAP_ERR_WRAP = 0x0104,
	RDMAP_ERR_INVALIDATE = 0x0109,
	RDMAP_ERR_VERSION = 0x0205,
	RDMAP_ERR_OPCODE = 0x0206,
	RDMAP_ERR_STREAM_LOST = 0x0207,
	RDMAP_ERR_UNSPECIFIED = 0x02ff,
	DDP_ERR_LOCAL = 0x1000,
	DDP_ERR_STAG = 0x1100,
	DDP_ERR_BOUNDS = 0x1101,
	DDP_ERR_STREAM = 0x1102,
	DDP_ERR_WRAP = 0x1103,
	DDP_ERR_T_VERSION = 0x1104,
	DDP_ERR_QN = 0x1201,
	DDP_ERR_NO_BUFFER = 0x1202,
	DDP_ERR_MSN = 0x1203,
	DDP_ERR_MO = 0x1204,
	DDP_ERR_TOO_LONG = 0x1205,
	DDP_ERR_U_VERSION = 0x1206,
	MPA_ERR_CLOSED = 0x2001,
	MPA_ERR_CRC = 0x2002,
	MPA_ERR_FRAME = 0x2004,
	MPA_ERR_LOCAL = 0x2005,
	MPA_ERR_IRD = 0x2006,
	MPA_ERR_RTR = 0x2007,
};

#define DDP_OK (-1)

/* The first rule of RFC 5041 section 7.1 and RFC 5040 section 7.2 that the header alone breaks
 * (versions, opcode, queue number), or DDP_OK. */
int ddp_check(const struct ddp_hdr *h);

/* "DDP: base or bounds violation", for any number; never NULL. */
const char *ddp_err_text(unsigned err);

struct ddp_term {     /* RFC 5040 section 4.8 */
	uint16_t err; /* enum ddp_err */
	bool has_len, has_ddp, has_rdma;
	uint16_t seg_len;		/* of the wrong segment */
	uint8_t ddp[DDP_UNTAGGED_LEN];	/* its header as received */
	uint8_t ddp_len;		/* encode: DDP_TAGGED_LEN or DDP_UNTAGGED_LEN */
	uint8_t rdma[DDP_READ_REQ_LEN]; /* its RDMA Read Request header */
};

/* Writes the Terminate header to p (DDP_TERM_MAX bytes); returns its length. */
size_t ddp_put_term(uint8_t *p, const struct ddp_term *t);
/* Decodes a Terminate of len bytes. 0, or -EBADMSG: shorter than its own flags say. */
int ddp_get_term(const uint8_t *p, size_t len, struct ddp_term *t);

#endif
