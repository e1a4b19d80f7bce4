/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr: the frame of a COMPOUND, and the dispatch by operation number.
 */
#include "nfsproto/wire/nfs4_xdr.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* --- COMPOUND ------------------------------------------------------------------------------- */

size_t nfs4_put_compound_args(struct xdr_out *x, const char *tag, uint32_t minor)
{
	xdr_put_opaque(x, tag, (uint32_t)strlen(tag));
	xdr_put_u32(x, minor);
	return xdr_skip_u32(x);
}

size_t nfs4_put_cb_compound_args(
	struct xdr_out *x, const char *tag, uint32_t minor, uint32_t cb_ident)
{
	xdr_put_opaque(x, tag, (uint32_t)strlen(tag));
	xdr_put_u32(x, minor);
	xdr_put_u32(x, cb_ident);
	return xdr_skip_u32(x);
}

int nfs4_get_compound_args(struct xdr_in *x, struct nfs4_compound_args *c)
{
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &c->tag);
	c->minor = xdr_get_u32(x);
	c->cb_ident = 0;
	c->nops = xdr_get_count(x, UINT32_MAX, 4);
	return nfs4_got(x);
}

int nfs4_get_cb_compound_args(struct xdr_in *x, struct nfs4_compound_args *c)
{
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &c->tag);
	c->minor = xdr_get_u32(x);
	c->cb_ident = xdr_get_u32(x);
	c->nops = xdr_get_count(x, UINT32_MAX, 4);
	return nfs4_got(x);
}

size_t nfs4_begin_compound_res(struct xdr_out *x, const struct nfs4_opaque *tag)
{
	size_t at = xdr_skip_u32(x);

	nfs4_put_opaque(x, tag);
	xdr_skip_u32(x);
	return at;
}

void nfs4_end_compound_res(struct xdr_out *x, size_t at, uint32_t status, uint32_t nops)
{
	uint32_t taglen;

	if (!xdr_out_ok(x))
		return;
	/* the count stands behind the tag; the tag's length word stands behind the status */
	memcpy(&taglen, x->base + at + 4, 4);
	taglen = be32toh(taglen);
	xdr_patch_u32(x, at, status);
	xdr_patch_u32(x, at + 8 + taglen + xdr_pad(taglen), nops);
}

int nfs4_get_compound_res(struct xdr_in *x, struct nfs4_compound_res *c)
{
	c->status = xdr_get_u32(x);
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &c->tag);
	c->nops = xdr_get_count(x, UINT32_MAX, 8);
	return nfs4_got(x);
}

/* --- contents that several operations have ---------------------------------------------------- */

void nfs4_put_name_args(struct xdr_out *x, uint32_t op, const struct nfs4_name_args *a)
{
	nfs4_put_op(x, op);
	nfs4_put_name(x, &a->name);
}

int nfs4_get_name_args(struct xdr_in *x, struct nfs4_name_args *a)
{
	return nfs4_get_name(x, &a->name);
}

void nfs4_put_stateid_args(struct xdr_out *x, uint32_t op, const struct nfs4_stateid_args *a)
{
	nfs4_put_op(x, op);
	nfs4_put_stateid(x, &a->stateid);
}

int nfs4_get_stateid_args(struct xdr_in *x, struct nfs4_stateid_args *a)
{
	return nfs4_get_stateid(x, &a->stateid);
}

void nfs4_put_range_args(struct xdr_out *x, uint32_t op, const struct nfs4_range_args *a)
{
	nfs4_put_op(x, op);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
}

int nfs4_get_range_args(struct xdr_in *x, struct nfs4_range_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	return nfs4_got(x);
}

void nfs4_put_read_args(struct xdr_out *x, uint32_t op, const struct nfs4_read_args *a)
{
	nfs4_put_op(x, op);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->count);
}

int nfs4_get_read_args(struct xdr_in *x, struct nfs4_read_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	a->offset = xdr_get_u64(x);
	a->count = xdr_get_u32(x);
	return nfs4_got(x);
}

void nfs4_put_verify_args(struct xdr_out *x, uint32_t op, const struct nfs4_verify_args *a)
{
	nfs4_put_op(x, op);
	nfs4_put_fattr(x, &a->attrs);
}

int nfs4_get_verify_args(struct xdr_in *x, struct nfs4_verify_args *a)
{
	return nfs4_get_fattr(x, &a->attrs);
}

void nfs4_put_change_res(
	struct xdr_out *x, uint32_t op, uint32_t status, const struct nfs4_change_res *r)
{
	nfs4_put_op_res(x, op, status);
	if (status == NFS4_OK)
		nfs4_put_change_info(x, &r->cinfo);
}

int nfs4_get_change_res(struct xdr_in *x, uint32_t status, struct nfs4_change_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_change_info(x, &r->cinfo);
}

void nfs4_put_stateid_res(
	struct xdr_out *x, uint32_t op, uint32_t status, const struct nfs4_stateid_res *r)
{
	nfs4_put_op_res(x, op, status);
	if (status == NFS4_OK)
		nfs4_put_stateid(x, &r->stateid);
}

int nfs4_get_stateid_res(struct xdr_in *x, uint32_t status, struct nfs4_stateid_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_stateid(x, &r->stateid);
}

/* --- dispatch ------------------------------------------------------------------------------- */

static int nfs4_get_none_args(struct xdr_in *x, struct nfs4_none_args *a)
{
	return 0;
}

int nfs4_get_args(struct xdr_in *x, struct nfs4_args *a)
{
	a->op = xdr_get_u32(x);
	if (!xdr_in_ok(x))
		return -EBADMSG;
	switch (a->op) {
#define GET(op, number, args, ...)                                                                 \
	case op:                                                                                   \
		return nfs4_get_##args##_args(x, &a->u.args);
		NFS4_OPS(GET, GET, NFS4_SKIP)
#undef GET
	default:
		return -EOPNOTSUPP;
	}
}

/* Walks past one result that may stand before a READ. False: no such result, or cut short. */
static bool peek_skip(struct xdr_in *x, uint32_t op)
{
	union {
		struct nfs4_sequence_res sequence;
		struct nfs4_access_res access;
		struct nfs4_getfh_res getfh;
		struct nfs4_getattr_res getattr;
		struct nfs4_stateid_res close;
		struct nfs4_open_res open;
	} u;

	switch (op) {
	case OP_PUTFH:
	case OP_PUTROOTFH:
	case OP_SAVEFH:
	case OP_RESTOREFH:
	case OP_LOOKUP:
		return true;
	case OP_SEQUENCE:
		return nfs4_get_sequence_res(x, NFS4_OK, &u.sequence) == 0;
	case OP_ACCESS:
		return nfs4_get_access_res(x, NFS4_OK, &u.access) == 0;
	case OP_GETFH:
		return nfs4_get_getfh_res(x, NFS4_OK, &u.getfh) == 0;
	case OP_GETATTR:
		return nfs4_get_getattr_res(x, NFS4_OK, &u.getattr) == 0;
	case OP_CLOSE:
		return nfs4_get_stateid_res(x, NFS4_OK, &u.close) == 0;
	case OP_OPEN:
		return nfs4_get_open_res(x, NFS4_OK, &u.open) == 0;
	default:
		return false;
	}
}

size_t nfs4_peek_read(const void *res, size_t n)
{
	struct nfs4_opaque tag;
	struct xdr_in x;
	uint32_t nops;

	xdr_in_init(&x, res, n);
	xdr_get_u32(&x); /* the status of the last operation, which may come after the READ */
	nfs4_get_opaque(&x, NFS4_OPAQUE_LIMIT, &tag);
	nops = xdr_get_u32(&x); /* not xdr_get_count(): the rest of the stream is still to come */
	while (xdr_in_ok(&x) && nops-- > 0) {
		uint32_t op = xdr_get_u32(&x), status = xdr_get_u32(&x);

		if (!xdr_in_ok(&x) || status != NFS4_OK)
			return 0;
		if (op == OP_READ) {
			xdr_get_bool(&x);
			xdr_get_u32(&x);
			return xdr_in_ok(&x) ? x.pos : 0;
		}
		if (!peek_skip(&x, op))
			return 0;
	}
	return 0;
}
