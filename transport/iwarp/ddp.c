/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ddp: the headers of DDP segments and RDMAP messages.
 */
#include "transport/iwarp/ddp.h"

#include <errno.h>
#include <string.h>

enum {
	C_TAGGED = 0x80,
	C_LAST = 0x40,
	C_DV = 0x03,
	DDP_VERSION = 1,
	RDMAP_VERSION = 1,
};

static void put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)(v >> 32));
	put32(p + 4, (uint32_t)v);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static void put_control(uint8_t *p, bool tagged, bool last, enum ddp_op op)
{
	p[0] = (uint8_t)((tagged ? C_TAGGED : 0) | (last ? C_LAST : 0) | DDP_VERSION);
	p[1] = (uint8_t)(RDMAP_VERSION << 6 | op);
}

size_t ddp_put_tagged(uint8_t *p, enum ddp_op op, bool last, uint32_t stag, uint64_t to)
{
	put_control(p, true, last, op);
	put32(p + 2, stag);
	put64(p + 6, to);
	return DDP_TAGGED_LEN;
}

/* The queue for messages of an opcode, -1 for none. */
static int queue_of(unsigned op)
{
	switch (op) {
	case DDP_OP_SEND:
	case DDP_OP_SEND_INV:
	case DDP_OP_SEND_SE:
	case DDP_OP_SEND_SE_INV:
		return DDP_QN_SEND;
	case DDP_OP_READ_REQ:
		return DDP_QN_READ_REQ;
	case DDP_OP_TERMINATE:
		return DDP_QN_TERMINATE;
	default:
		return -1;
	}
}

size_t ddp_put_untagged(
	uint8_t *p, enum ddp_op op, bool last, uint32_t inv_stag, uint32_t msn, uint32_t mo)
{
	put_control(p, false, last, op);
	put32(p + 2, inv_stag);
	put32(p + 6, (uint32_t)queue_of(op));
	put32(p + 10, msn);
	put32(p + 14, mo);
	return DDP_UNTAGGED_LEN;
}

size_t ddp_get(const uint8_t *p, size_t len, struct ddp_hdr *h)
{
	if (len < DDP_TAGGED_LEN)
		return 0;
	memset(h, 0, sizeof(*h));
	h->tagged = p[0] & C_TAGGED;
	h->last = p[0] & C_LAST;
	h->dv = p[0] & C_DV;
	h->rv = p[1] >> 6;
	h->op = p[1] & 0x0f;
	h->stag = get32(p + 2);
	if (h->tagged) {
		h->to = get64(p + 6);
		return DDP_TAGGED_LEN;
	}
	if (len < DDP_UNTAGGED_LEN)
		return 0;
	h->qn = get32(p + 6);
	h->msn = get32(p + 10);
	h->mo = get32(p + 14);
	return DDP_UNTAGGED_LEN;
}

int ddp_check(const struct ddp_hdr *h)
{
	int qn = queue_of(h->op);

	if (h->dv != DDP_VERSION)
		return h->tagged ? DDP_ERR_T_VERSION : DDP_ERR_U_VERSION;
	if (!h->tagged && h->qn > DDP_QN_TERMINATE)
		return DDP_ERR_QN;
	if (h->rv != RDMAP_VERSION)
		return RDMAP_ERR_VERSION;
	if (h->tagged)
		return h->op == DDP_OP_WRITE || h->op == DDP_OP_READ_RESP ? DDP_OK
									  : RDMAP_ERR_OPCODE;
	return qn >= 0 && (uint32_t)qn == h->qn ? DDP_OK : RDMAP_ERR_OPCODE;
}

void ddp_put_read_req(uint8_t p[DDP_READ_REQ_LEN], const struct ddp_read_req *r)
{
	put32(p, r->sink_stag);
	put64(p + 4, r->sink_to);
	put32(p + 12, r->size);
	put32(p + 16, r->src_stag);
	put64(p + 20, r->src_to);
}

void ddp_get_read_req(const uint8_t p[DDP_READ_REQ_LEN], struct ddp_read_req *r)
{
	r->sink_stag = get32(p);
	r->sink_to = get64(p + 4);
	r->size = get32(p + 12);
	r->src_stag = get32(p + 16);
	r->src_to = get64(p + 20);
}

const char *ddp_err_text(unsigned err)
{
	static const struct {
		uint16_t err;
		const char *text;
	} texts[] = {
		{RDMAP_ERR_STAG, "RDMAP: invalid STag"},
		{RDMAP_ERR_BOUNDS, "RDMAP: base or bounds violation"},
		{RDMAP_ERR_ACCESS, "RDMAP: access rights violation"},
		{RDMAP_ERR_STREAM, "RDMAP: STag not associated with the stream"},
		{RDMAP_ERR_WRAP, "RDMAP: tagged offset wraps"},
		{RDMAP_ERR_INVALIDATE, "RDMAP: STag cannot be invalidated"},
		{0x01ff, "RDMAP: unspecified protection error"},
		{RDMAP_ERR_VERSION, "RDMAP: invalid version"},
		{RDMAP_ERR_OPCODE, "RDMAP: unexpected opcode"},
		{RDMAP_ERR_STREAM_LOST, "RDMAP: catastrophic error of the stream"},
		{0x0208, "RDMAP: catastrophic error of the device"},
		{0x0209, "RDMAP: STag cannot be invalidated"},
		{RDMAP_ERR_UNSPECIFIED, "RDMAP: unspecified operation error"},
		{DDP_ERR_LOCAL, "DDP: local catastrophic error"},
		{DDP_ERR_STAG, "DDP: invalid STag"},
		{DDP_ERR_BOUNDS, "DDP: base or bounds violation"},
		{DDP_ERR_STREAM, "DDP: STag not associated with the stream"},
		{DDP_ERR_WRAP, "DDP: tagged offset wraps"},
		{DDP_ERR_T_VERSION, "DDP: invalid version in a tagged segment"},
		{DDP_ERR_QN, "DDP: invalid queue number"},
		{DDP_ERR_NO_BUFFER, "DDP: no buffer for the message"},
		{DDP_ERR_MSN, "DDP: message number out of range"},
		{DDP_ERR_MO, "DDP: invalid message offset"},
		{DDP_ERR_TOO_LONG, "DDP: message too long for the buffer"},
		{DDP_ERR_U_VERSION, "DDP: invalid version in an untagged segment"},
		{MPA_ERR_CLOSED, "MPA: connection closed or lost"},
		{MPA_ERR_CRC, "MPA: CRC mismatch"},
		{0x2003, "MPA: marker and length disagree"},
		{MPA_ERR_FRAME, "MPA: invalid Request or Reply frame"},
		{MPA_ERR_LOCAL, "MPA: local catastrophic error"},
		{MPA_ERR_IRD, "MPA: insufficient inbound read depth"},
		{MPA_ERR_RTR, "MPA: no matching ready-to-receive option"},
	};

	if (err >> 8 == 0)
		return "RDMAP: local catastrophic error";
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].err == err)
			return texts[i].text;
	return "an error without a name";
}

/* Header control bits, in the byte behind the error code. */
enum {
	T_LEN = 0x80,
	T_DDP = 0x40,
	T_RDMA = 0x20,
};

size_t ddp_put_term(uint8_t *p, const struct ddp_term *t)
{
	size_t n = 4;

	p[0] = (uint8_t)(t->err >> 8);
	p[1] = (uint8_t)t->err;
	p[2] = (uint8_t)((t->has_len ? T_LEN : 0) | (t->has_ddp ? T_DDP : 0) |
			 (t->has_rdma ? T_RDMA : 0));
	p[3] = 0;
	if (t->has_len || t->has_ddp) {
		p[n++] = (uint8_t)(t->seg_len >> 8);
		p[n++] = (uint8_t)t->seg_len;
	}
	if (t->has_ddp) {
		memcpy(p + n, t->ddp, t->ddp_len);
		n += t->ddp_len;
	}
	if (t->has_rdma) {
		memcpy(p + n, t->rdma, DDP_READ_REQ_LEN);
		n += DDP_READ_REQ_LEN;
	}
	return n;
}

int ddp_get_term(const uint8_t *p, size_t len, struct ddp_term *t)
{
	size_t at = 4;

	memset(t, 0, sizeof(*t));
	if (len < at)
		return -EBADMSG;
	t->err = (uint16_t)(p[0] << 8 | p[1]);
	t->has_len = p[2] & T_LEN;
	t->has_ddp = p[2] & T_DDP;
	t->has_rdma = p[2] & T_RDMA;
	if (t->has_len || t->has_ddp) {
		if (len - at < 2)
			return -EBADMSG;
		t->seg_len = (uint16_t)(p[at] << 8 | p[at + 1]);
		at += 2;
	}
	if (t->has_ddp) {
		struct ddp_hdr h;
		size_t n = ddp_get(p + at, len - at, &h);

		if (!n)
			return -EBADMSG;
		memcpy(t->ddp, p + at, n);
		t->ddp_len = (uint8_t)n;
		at += n;
	}
	if (t->has_rdma) {
		if (len - at < DDP_READ_REQ_LEN)
			return -EBADMSG;
		memcpy(t->rdma, p + at, DDP_READ_REQ_LEN);
	}
	return 0;
}
