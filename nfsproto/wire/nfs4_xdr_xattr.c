/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_xattr: coders of the operations on user extended attributes (RFC 8276), and of ACLs.
 */
#include "nfsproto/wire/nfs4_xdr_xattr.h"

#include <string.h>

/* --- GETXATTR, SETXATTR ------------------------------------------------------------------------
 */

void nfs4_put_getxattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_getxattr_res *r)
{
	nfs4_put_op_res(x, OP_GETXATTR, status);
	if (status == NFS4_OK)
		nfs4_put_opaque(x, &r->value);
}

int nfs4_get_getxattr_res(struct xdr_in *x, uint32_t status, struct nfs4_getxattr_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_opaque(x, NFS4_IO_MAX, &r->value);
}

void nfs4_put_setxattr_args(struct xdr_out *x, const struct nfs4_setxattr_args *a)
{
	nfs4_put_op(x, OP_SETXATTR);
	xdr_put_u32(x, a->option);
	nfs4_put_name(x, &a->name);
	nfs4_put_opaque(x, &a->value);
}

int nfs4_get_setxattr_args(struct xdr_in *x, struct nfs4_setxattr_args *a)
{
	a->option = nfs4_get_enum(x, SETXATTR4_EITHER, SETXATTR4_REPLACE);
	nfs4_get_name(x, &a->name);
	return nfs4_get_opaque(x, NFS4_IO_MAX, &a->value);
}

/* --- LISTXATTRS ------------------------------------------------------------------------------- */

void nfs4_put_listxattrs_args(struct xdr_out *x, const struct nfs4_listxattrs_args *a)
{
	nfs4_put_op(x, OP_LISTXATTRS);
	xdr_put_u64(x, a->cookie);
	xdr_put_u32(x, a->maxcount);
}

int nfs4_get_listxattrs_args(struct xdr_in *x, struct nfs4_listxattrs_args *a)
{
	a->cookie = xdr_get_u64(x);
	a->maxcount = xdr_get_u32(x);
	return nfs4_got(x);
}

void nfs4_put_listxattrs_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_listxattrs_res *r)
{
	nfs4_put_op_res(x, OP_LISTXATTRS, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u64(x, r->cookie);
	xdr_put_u32(x, r->n);
	xdr_put_fixed(x, r->names.data, r->names.len);
	xdr_put_bool(x, r->eof);
}

int nfs4_get_listxattrs_res(struct xdr_in *x, uint32_t status, struct nfs4_listxattrs_res *r)
{
	struct nfs_name name;
	size_t start;

	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->cookie = xdr_get_u64(x);
	r->n = xdr_get_count(x, UINT32_MAX, 4);
	start = x->pos;
	for (uint32_t i = 0; i < r->n && xdr_in_ok(x); i++)
		nfs4_get_name(x, &name);
	if (xdr_in_ok(x)) {
		r->names.data = x->base + start;
		r->names.len = (uint32_t)(x->pos - start);
	}
	r->eof = xdr_get_bool(x);
	return nfs4_got(x);
}

bool nfs4_xattr_names_next(
	const struct nfs4_listxattrs_res *r, uint32_t *pos, struct nfs_name *name)
{
	struct xdr_in x;

	if (*pos >= r->names.len)
		return false;
	xdr_in_init(&x, r->names.data + *pos, r->names.len - *pos);
	nfs4_get_name(&x, name);
	*pos += (uint32_t)x.pos;
	return xdr_in_ok(&x);
}

#define XATTRS_HEAD 12 /* cookie, number of names */
#define XATTRS_TAIL 4  /* eof */

void nfs4_xattrs_begin(struct nfs4_xattrs *l, struct xdr_out *x, uint32_t maxcount, size_t reserve)
{
	size_t room;

	l->x = x;
	l->n = 0;
	l->start = x->len;
	nfs4_put_op_res(x, OP_LISTXATTRS, NFS4_OK);
	l->dead = !xdr_out_ok(x);
	l->body = x->len;
	xdr_put_u64(x, 0);
	xdr_put_u32(x, 0);
	room = x->cap - l->body;
	room = room > reserve ? room - reserve : 0;
	if (room > maxcount)
		room = maxcount;
	l->limit = room > XATTRS_TAIL ? l->body + room - XATTRS_TAIL : l->body;
}

bool nfs4_xattrs_add(struct nfs4_xattrs *l, const struct nfs_name *name)
{
	size_t mark = l->x->len;

	nfs4_put_name(l->x, name);
	if (xdr_out_ok(l->x) && l->x->len <= l->limit) {
		l->n++;
		return true;
	}
	if (!l->dead) {
		l->x->overflow = false;
		l->x->len = mark;
	}
	return false;
}

uint32_t nfs4_xattrs_end(struct nfs4_xattrs *l, uint64_t cookie, bool eof)
{
	struct xdr_out *x = l->x;

	if (l->dead)
		return NFS4ERR_TOOSMALL;
	if ((l->n == 0 && !eof) || x->len > l->limit || !xdr_out_ok(x)) {
		x->len = l->start;
		x->overflow = false;
		nfs4_put_op_res(x, OP_LISTXATTRS, NFS4ERR_TOOSMALL);
		return NFS4ERR_TOOSMALL;
	}
	xdr_patch_u32(x, l->body, (uint32_t)(cookie >> 32));
	xdr_patch_u32(x, l->body + 4, (uint32_t)cookie);
	xdr_patch_u32(x, l->body + XATTRS_HEAD - 4, l->n);
	xdr_put_bool(x, eof);
	return NFS4_OK;
}

/* --- ACL -------------------------------------------------------------------------------------- */

void nfs4_put_ace(struct xdr_out *x, const struct nfs4_ace *ace)
{
	xdr_put_u32(x, ace->type);
	xdr_put_u32(x, ace->flag);
	xdr_put_u32(x, ace->access_mask);
	nfs4_put_name(x, &ace->who);
}

int nfs4_get_ace(struct xdr_in *x, struct nfs4_ace *ace)
{
	ace->type = xdr_get_u32(x);
	ace->flag = xdr_get_u32(x);
	ace->access_mask = xdr_get_u32(x);
	return nfs4_get_name(x, &ace->who);
}

int nfs4_get_acl(struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, NFS4_ACES_MAX, 16);
	struct nfs4_ace ace;

	for (uint32_t i = 0; i < n; i++)
		nfs4_get_ace(x, &ace);
	return xdr_in_ok(x) ? (int)n : -EBADMSG;
}

bool nfs4_acl_valid(const void *value, size_t len)
{
	struct xdr_in x;

	xdr_in_init(&x, value, len);
	return nfs4_get_acl(&x) >= 0 && xdr_in_done(&x);
}
