/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_file: coders of the operations on the data of open files, and of byte-range locks.
 */
#include <string.h>

#include "nfsproto/wire/nfs4_xdr.h"

/* --- CLOSE, OPEN_DOWNGRADE ---------------------------------------------------------------------
 */

void nfs4_put_close_args(struct xdr_out *x, const struct nfs4_close_args *a)
{
	nfs4_put_op(x, OP_CLOSE);
	xdr_put_u32(x, a->seqid);
	nfs4_put_stateid(x, &a->stateid);
}

int nfs4_get_close_args(struct xdr_in *x, struct nfs4_close_args *a)
{
	a->seqid = xdr_get_u32(x);
	return nfs4_get_stateid(x, &a->stateid);
}

void nfs4_put_open_downgrade_args(struct xdr_out *x, const struct nfs4_open_downgrade_args *a)
{
	nfs4_put_op(x, OP_OPEN_DOWNGRADE);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u32(x, a->seqid);
	xdr_put_u32(x, a->share_access);
	xdr_put_u32(x, a->share_deny);
}

int nfs4_get_open_downgrade_args(struct xdr_in *x, struct nfs4_open_downgrade_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	a->seqid = xdr_get_u32(x);
	a->share_access = xdr_get_u32(x);
	a->share_deny = xdr_get_u32(x);
	return nfs4_got(x);
}

/* --- COMMIT, READ, WRITE ---------------------------------------------------------------------- */

void nfs4_put_commit_args(struct xdr_out *x, const struct nfs4_commit_args *a)
{
	nfs4_put_op(x, OP_COMMIT);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->count);
}

int nfs4_get_commit_args(struct xdr_in *x, struct nfs4_commit_args *a)
{
	a->offset = xdr_get_u64(x);
	a->count = xdr_get_u32(x);
	return nfs4_got(x);
}

void nfs4_put_commit_res(struct xdr_out *x, uint32_t status, const struct nfs4_commit_res *r)
{
	nfs4_put_op_res(x, OP_COMMIT, status);
	if (status == NFS4_OK)
		xdr_put_fixed(x, r->verf, sizeof(r->verf));
}

int nfs4_get_commit_res(struct xdr_in *x, uint32_t status, struct nfs4_commit_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4_OK)
		xdr_get_fixed(x, r->verf, sizeof(r->verf));
	return nfs4_got(x);
}

void nfs4_put_read_res(struct xdr_out *x, uint32_t status, const struct nfs4_read_res *r)
{
	nfs4_put_op_res(x, OP_READ, status);
	if (status != NFS4_OK)
		return;
	xdr_put_bool(x, r->eof);
	xdr_put_payload_list(x, &r->data);
}

int nfs4_get_read_res(struct xdr_in *x, uint32_t status, struct nfs4_read_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4_OK)
		r->eof = xdr_get_bool(x);
	return nfs4_got(x);
}

void nfs4_put_write_args(struct xdr_out *x, const struct nfs4_write_args *a)
{
	nfs4_put_op(x, OP_WRITE);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->stable);
	xdr_put_payload_list(x, &a->data);
}

int nfs4_get_write_args(struct xdr_in *x, struct nfs4_write_args *a)
{
	bool placed;

	nfs4_get_stateid(x, &a->stateid);
	a->offset = xdr_get_u64(x);
	a->stable = nfs4_get_enum(x, UNSTABLE4, FILE_SYNC4);
	xdr_get_payload_list(x, NFS4_IO_MAX, &a->data, &placed);
	return nfs4_got(x);
}

void nfs4_put_write_res(struct xdr_out *x, uint32_t status, const struct nfs4_write_res *r)
{
	nfs4_put_op_res(x, OP_WRITE, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u32(x, r->count);
	xdr_put_u32(x, r->committed);
	xdr_put_fixed(x, r->verf, sizeof(r->verf));
}

int nfs4_get_write_res(struct xdr_in *x, uint32_t status, struct nfs4_write_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->count = xdr_get_u32(x);
	r->committed = nfs4_get_enum(x, UNSTABLE4, FILE_SYNC4);
	xdr_get_fixed(x, r->verf, sizeof(r->verf));
	return nfs4_got(x);
}

/* --- LOCK, LOCKT, LOCKU ----------------------------------------------------------------------- */

static void put_denied(struct xdr_out *x, const struct nfs4_lock_denied *d)
{
	xdr_put_u64(x, d->offset);
	xdr_put_u64(x, d->length);
	xdr_put_u32(x, d->type);
	nfs4_put_owner(x, &d->owner);
}

static int get_denied(struct xdr_in *x, struct nfs4_lock_denied *d)
{
	d->offset = xdr_get_u64(x);
	d->length = xdr_get_u64(x);
	d->type = nfs4_get_enum(x, READ_LT, WRITEW_LT);
	return nfs4_get_owner(x, &d->owner);
}

void nfs4_put_lock_args(struct xdr_out *x, const struct nfs4_lock_args *a)
{
	nfs4_put_op(x, OP_LOCK);
	xdr_put_u32(x, a->type);
	xdr_put_bool(x, a->reclaim);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	xdr_put_bool(x, a->new_owner);
	if (a->new_owner) {
		xdr_put_u32(x, a->open_seqid);
		nfs4_put_stateid(x, &a->open_stateid);
		xdr_put_u32(x, a->lock_seqid);
		nfs4_put_owner(x, &a->owner);
	} else {
		nfs4_put_stateid(x, &a->lock_stateid);
		xdr_put_u32(x, a->lock_seqid);
	}
}

int nfs4_get_lock_args(struct xdr_in *x, struct nfs4_lock_args *a)
{
	memset(a, 0, sizeof(*a));
	a->type = nfs4_get_enum(x, READ_LT, WRITEW_LT);
	a->reclaim = xdr_get_bool(x);
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	a->new_owner = xdr_get_bool(x);
	if (a->new_owner) {
		a->open_seqid = xdr_get_u32(x);
		nfs4_get_stateid(x, &a->open_stateid);
		a->lock_seqid = xdr_get_u32(x);
		nfs4_get_owner(x, &a->owner);
	} else {
		nfs4_get_stateid(x, &a->lock_stateid);
		a->lock_seqid = xdr_get_u32(x);
	}
	return nfs4_got(x);
}

void nfs4_put_lock_res(struct xdr_out *x, uint32_t status, const struct nfs4_lock_res *r)
{
	nfs4_put_op_res(x, OP_LOCK, status);
	if (status == NFS4_OK)
		nfs4_put_stateid(x, &r->stateid);
	else if (status == NFS4ERR_DENIED)
		put_denied(x, &r->denied);
}

int nfs4_get_lock_res(struct xdr_in *x, uint32_t status, struct nfs4_lock_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4_OK)
		return nfs4_get_stateid(x, &r->stateid);
	if (status == NFS4ERR_DENIED)
		return get_denied(x, &r->denied);
	return nfs4_got(x);
}

void nfs4_put_lockt_args(struct xdr_out *x, const struct nfs4_lockt_args *a)
{
	nfs4_put_op(x, OP_LOCKT);
	xdr_put_u32(x, a->type);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	nfs4_put_owner(x, &a->owner);
}

int nfs4_get_lockt_args(struct xdr_in *x, struct nfs4_lockt_args *a)
{
	a->type = nfs4_get_enum(x, READ_LT, WRITEW_LT);
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	return nfs4_get_owner(x, &a->owner);
}

void nfs4_put_lockt_res(struct xdr_out *x, uint32_t status, const struct nfs4_lockt_res *r)
{
	nfs4_put_op_res(x, OP_LOCKT, status);
	if (status == NFS4ERR_DENIED)
		put_denied(x, &r->denied);
}

int nfs4_get_lockt_res(struct xdr_in *x, uint32_t status, struct nfs4_lockt_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4ERR_DENIED)
		return get_denied(x, &r->denied);
	return nfs4_got(x);
}

void nfs4_put_locku_args(struct xdr_out *x, const struct nfs4_locku_args *a)
{
	nfs4_put_op(x, OP_LOCKU);
	xdr_put_u32(x, a->type);
	xdr_put_u32(x, a->seqid);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
}

int nfs4_get_locku_args(struct xdr_in *x, struct nfs4_locku_args *a)
{
	a->type = nfs4_get_enum(x, READ_LT, WRITEW_LT);
	a->seqid = xdr_get_u32(x);
	nfs4_get_stateid(x, &a->stateid);
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	return nfs4_got(x);
}
