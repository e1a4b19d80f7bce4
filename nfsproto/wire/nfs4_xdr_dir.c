/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_dir: coders of the operations on handles, names, attributes and directories.
 */
#include <string.h>

#include "nfsproto/wire/nfs4_xdr.h"

/* --- ACCESS ----------------------------------------------------------------------------------- */

void nfs4_put_access_args(struct xdr_out *x, const struct nfs4_access_args *a)
{
	nfs4_put_op(x, OP_ACCESS);
	xdr_put_u32(x, a->access);
}

int nfs4_get_access_args(struct xdr_in *x, struct nfs4_access_args *a)
{
	a->access = xdr_get_u32(x);
	return nfs4_got(x);
}

void nfs4_put_access_res(struct xdr_out *x, uint32_t status, const struct nfs4_access_res *r)
{
	nfs4_put_op_res(x, OP_ACCESS, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u32(x, r->supported);
	xdr_put_u32(x, r->access);
}

int nfs4_get_access_res(struct xdr_in *x, uint32_t status, struct nfs4_access_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->supported = xdr_get_u32(x);
	r->access = xdr_get_u32(x);
	return nfs4_got(x);
}

/* --- CREATE ----------------------------------------------------------------------------------- */

void nfs4_put_create_args(struct xdr_out *x, const struct nfs4_create_args *a)
{
	nfs4_put_op(x, OP_CREATE);
	xdr_put_u32(x, a->type);
	if (a->type == NF4LNK) {
		nfs4_put_name(x, &a->target);
	} else if (a->type == NF4BLK || a->type == NF4CHR) {
		xdr_put_u32(x, a->rdev_major);
		xdr_put_u32(x, a->rdev_minor);
	}
	nfs4_put_name(x, &a->name);
	nfs4_put_fattr(x, &a->attrs);
}

int nfs4_get_create_args(struct xdr_in *x, struct nfs4_create_args *a)
{
	memset(a, 0, sizeof(*a));
	a->type = xdr_get_u32(x);
	if (a->type == NF4LNK) {
		/* the peer may have moved the target by a Read chunk: RFC 8267 6.1 */
		a->target.s =
			(const char *)xdr_get_payload(x, NFS4_STRING_MAX, &a->target.len, NULL);
	} else if (a->type == NF4BLK || a->type == NF4CHR) {
		a->rdev_major = xdr_get_u32(x);
		a->rdev_minor = xdr_get_u32(x);
	}
	nfs4_get_name(x, &a->name);
	return nfs4_get_fattr(x, &a->attrs);
}

void nfs4_put_create_res(struct xdr_out *x, uint32_t status, const struct nfs4_create_res *r)
{
	nfs4_put_op_res(x, OP_CREATE, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_change_info(x, &r->cinfo);
	nfs4_put_bitmap(x, &r->attrset);
}

int nfs4_get_create_res(struct xdr_in *x, uint32_t status, struct nfs4_create_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_change_info(x, &r->cinfo);
	return nfs4_get_bitmap(x, &r->attrset);
}

/* --- GETATTR, SETATTR --------------------------------------------------------------------------
 */

void nfs4_put_getattr_args(struct xdr_out *x, const struct nfs4_getattr_args *a)
{
	nfs4_put_op(x, OP_GETATTR);
	nfs4_put_bitmap(x, &a->want);
}

int nfs4_get_getattr_args(struct xdr_in *x, struct nfs4_getattr_args *a)
{
	return nfs4_get_bitmap(x, &a->want);
}

void nfs4_put_getattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_getattr_res *r)
{
	nfs4_put_op_res(x, OP_GETATTR, status);
	if (status == NFS4_OK)
		nfs4_put_fattr(x, &r->attrs);
}

int nfs4_get_getattr_res(struct xdr_in *x, uint32_t status, struct nfs4_getattr_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_fattr(x, &r->attrs);
}

void nfs4_put_setattr_args(struct xdr_out *x, const struct nfs4_setattr_args *a)
{
	nfs4_put_op(x, OP_SETATTR);
	nfs4_put_stateid(x, &a->stateid);
	nfs4_put_fattr(x, &a->attrs);
}

int nfs4_get_setattr_args(struct xdr_in *x, struct nfs4_setattr_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	return nfs4_get_fattr(x, &a->attrs);
}

void nfs4_put_setattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_setattr_res *r)
{
	static const struct nfs4_bitmap none;

	nfs4_put_op_res(x, OP_SETATTR, status);
	nfs4_put_bitmap(x, r ? &r->attrset : &none);
}

int nfs4_get_setattr_res(struct xdr_in *x, uint32_t status, struct nfs4_setattr_res *r)
{
	(void)status; /* SETATTR4res is no union */
	return nfs4_get_bitmap(x, &r->attrset);
}

/* --- GETFH, PUTFH ------------------------------------------------------------------------------
 */

void nfs4_put_getfh_res(struct xdr_out *x, uint32_t status, const struct nfs4_getfh_res *r)
{
	nfs4_put_op_res(x, OP_GETFH, status);
	if (status == NFS4_OK)
		nfs4_put_fh(x, &r->fh);
}

int nfs4_get_getfh_res(struct xdr_in *x, uint32_t status, struct nfs4_getfh_res *r)
{
	r->fh.len = 0;
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_fh(x, &r->fh);
}

void nfs4_put_putfh_args(struct xdr_out *x, const struct nfs4_putfh_args *a)
{
	nfs4_put_op(x, OP_PUTFH);
	nfs4_put_fh(x, &a->fh);
}

int nfs4_get_putfh_args(struct xdr_in *x, struct nfs4_putfh_args *a)
{
	return nfs4_get_any_fh(x, &a->fh);
}

/* --- RENAME ------------------------------------------------------------------------------------
 */

void nfs4_put_rename_args(struct xdr_out *x, const struct nfs4_rename_args *a)
{
	nfs4_put_op(x, OP_RENAME);
	nfs4_put_name(x, &a->from);
	nfs4_put_name(x, &a->to);
}

int nfs4_get_rename_args(struct xdr_in *x, struct nfs4_rename_args *a)
{
	nfs4_get_name(x, &a->from);
	return nfs4_get_name(x, &a->to);
}

void nfs4_put_rename_res(struct xdr_out *x, uint32_t status, const struct nfs4_rename_res *r)
{
	nfs4_put_op_res(x, OP_RENAME, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_change_info(x, &r->from);
	nfs4_put_change_info(x, &r->to);
}

int nfs4_get_rename_res(struct xdr_in *x, uint32_t status, struct nfs4_rename_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_change_info(x, &r->from);
	return nfs4_get_change_info(x, &r->to);
}

/* --- READDIR ---------------------------------------------------------------------------------- */

void nfs4_put_readdir_args(struct xdr_out *x, const struct nfs4_readdir_args *a)
{
	nfs4_put_op(x, OP_READDIR);
	xdr_put_u64(x, a->cookie);
	xdr_put_fixed(x, a->verf, sizeof(a->verf));
	xdr_put_u32(x, a->dircount);
	xdr_put_u32(x, a->maxcount);
	nfs4_put_bitmap(x, &a->want);
}

int nfs4_get_readdir_args(struct xdr_in *x, struct nfs4_readdir_args *a)
{
	a->cookie = xdr_get_u64(x);
	xdr_get_fixed(x, a->verf, sizeof(a->verf));
	a->dircount = xdr_get_u32(x);
	a->maxcount = xdr_get_u32(x);
	return nfs4_get_bitmap(x, &a->want);
}

int nfs4_get_readdir_res(struct xdr_in *x, uint32_t status, struct nfs4_readdir_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4_OK)
		xdr_get_fixed(x, r->verf, sizeof(r->verf));
	return nfs4_got(x);
}

int nfs4_get_entry(struct xdr_in *x, struct nfs4_entry *ent, bool *eof)
{
	memset(ent, 0, sizeof(*ent));
	*eof = false;
	if (!xdr_get_bool(x)) {
		*eof = xdr_get_bool(x);
		return nfs4_got(x);
	}
	ent->cookie = xdr_get_u64(x);
	nfs4_get_name(x, &ent->name);
	nfs4_get_fattr(x, &ent->attrs);
	return xdr_in_ok(x) ? 1 : -EBADMSG;
}

#define ENTRIES_TAIL 8 /* no further entry, eof */

void nfs4_entries_begin(struct nfs4_entries *e, struct xdr_out *x,
	const uint8_t verf[NFS4_VERIFIER_SIZE], uint32_t maxcount, size_t reserve)
{
	size_t body, room;

	e->x = x;
	e->n = 0;
	e->start = x->len;
	nfs4_put_op_res(x, OP_READDIR, NFS4_OK);
	e->dead = !xdr_out_ok(x);
	body = x->len;
	xdr_put_fixed(x, verf, NFS4_VERIFIER_SIZE);
	room = x->cap - body;
	room = room > reserve ? room - reserve : 0;
	if (room > maxcount)
		room = maxcount;
	/* room for the tail is set aside here, so that ending the list cannot fail */
	e->limit = room > ENTRIES_TAIL ? body + room - ENTRIES_TAIL : body;
	e->mark = x->len;
}

void nfs4_entries_start(struct nfs4_entries *e, uint64_t cookie, const struct nfs_name *name)
{
	e->mark = e->x->len;
	xdr_put_bool(e->x, true);
	xdr_put_u64(e->x, cookie);
	nfs4_put_name(e->x, name);
}

bool nfs4_entries_commit(struct nfs4_entries *e)
{
	if (xdr_out_ok(e->x) && e->x->len <= e->limit) {
		e->n++;
		e->mark = e->x->len;
		return true;
	}
	if (!e->dead) {
		e->x->overflow = false; /* the overflow was the entry's own */
		e->x->len = e->mark;
	}
	return false;
}

uint32_t nfs4_entries_end(struct nfs4_entries *e, bool eof)
{
	if (e->dead)
		return NFS4ERR_TOOSMALL;
	/* limit leaves room for the tail, but a maxcount below head and tail leaves none */
	if ((e->n == 0 && !eof) || e->x->len > e->limit || !xdr_out_ok(e->x)) {
		e->x->len = e->start;
		e->x->overflow = false;
		nfs4_put_op_res(e->x, OP_READDIR, NFS4ERR_TOOSMALL);
		return NFS4ERR_TOOSMALL;
	}
	xdr_put_bool(e->x, false);
	xdr_put_bool(e->x, eof);
	return NFS4_OK;
}

/* --- READLINK --------------------------------------------------------------------------------- */

void nfs4_put_readlink_res(struct xdr_out *x, uint32_t status, const struct nfs4_readlink_res *r)
{
	nfs4_put_op_res(x, OP_READLINK, status);
	if (status != NFS4_OK)
		return;
	if (r->data.n)
		xdr_put_payload_list(x, &r->data);
	else
		nfs4_put_name(x, &r->link);
}

int nfs4_get_readlink_res(struct xdr_in *x, uint32_t status, struct nfs4_readlink_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_name(x, &r->link);
}

/* --- SECINFO, SECINFO_NO_NAME ----------------------------------------------------------------- */

void nfs4_put_secinfo_no_name_args(struct xdr_out *x, const struct nfs4_secinfo_no_name_args *a)
{
	nfs4_put_op(x, OP_SECINFO_NO_NAME);
	xdr_put_u32(x, a->style);
}

int nfs4_get_secinfo_no_name_args(struct xdr_in *x, struct nfs4_secinfo_no_name_args *a)
{
	a->style = nfs4_get_enum(x, SECINFO_STYLE4_CURRENT_FH, SECINFO_STYLE4_PARENT);
	return nfs4_got(x);
}

void nfs4_put_secinfo_res(
	struct xdr_out *x, uint32_t op, uint32_t status, const struct nfs4_secinfo_res *r)
{
	nfs4_put_op_res(x, op, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u32(x, r->n);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct nfs4_flavor *f = &r->flavor[i];

		xdr_put_u32(x, f->flavor);
		if (f->flavor != NFS4_RPCSEC_GSS)
			continue;
		nfs4_put_opaque(x, &f->oid);
		xdr_put_u32(x, f->qop);
		xdr_put_u32(x, f->service);
	}
}

int nfs4_get_secinfo_res(struct xdr_in *x, uint32_t status, struct nfs4_secinfo_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->n = xdr_get_count(x, NFS4_FLAVORS_MAX, 4);
	for (uint32_t i = 0; i < r->n; i++) {
		struct nfs4_flavor *f = &r->flavor[i];

		f->flavor = xdr_get_u32(x);
		if (f->flavor != NFS4_RPCSEC_GSS)
			continue;
		nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &f->oid);
		f->qop = xdr_get_u32(x);
		f->service = xdr_get_u32(x);
	}
	return nfs4_got(x);
}
