/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_xdr_args: arguments of NFSv3's procedures (RFC 1813 section 3.3).
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/wire/nfs3_xdr.h"

static int got(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

/* A word beyond max is malformed and reads as 0. */
static uint32_t get_enum(struct xdr_in *x, uint32_t max)
{
	uint32_t v = xdr_get_u32(x);

	if (v <= max)
		return v;
	xdr_in_fail(x);
	return 0;
}

/* --- one object ------------------------------------------------------------------------------- */

void nfs3_put_setattr_args(struct xdr_out *x, const struct nfs3_setattr_args *a)
{
	nfs3_put_fh(x, &a->fh);
	nfs3_put_sattr(x, &a->set);
	xdr_put_bool(x, a->guard);
	if (a->guard)
		nfs3_put_time(x, &a->ctime);
}

int nfs3_get_setattr_args(struct xdr_in *x, struct nfs3_setattr_args *a)
{
	nfs3_get_any_fh(x, &a->fh);
	nfs3_get_sattr(x, &a->set);
	a->guard = xdr_get_bool(x);
	if (a->guard)
		nfs3_get_time(x, &a->ctime);
	return got(x);
}

void nfs3_put_access_args(struct xdr_out *x, const struct nfs3_access_args *a)
{
	nfs3_put_fh(x, &a->fh);
	xdr_put_u32(x, a->access);
}

int nfs3_get_access_args(struct xdr_in *x, struct nfs3_access_args *a)
{
	nfs3_get_any_fh(x, &a->fh);
	a->access = xdr_get_u32(x);
	return got(x);
}

void nfs3_put_read_args(struct xdr_out *x, const struct nfs3_read_args *a)
{
	nfs3_put_fh(x, &a->fh);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->count);
}

int nfs3_get_read_args(struct xdr_in *x, struct nfs3_read_args *a)
{
	nfs3_get_any_fh(x, &a->fh);
	a->offset = xdr_get_u64(x);
	a->count = xdr_get_u32(x);
	return got(x);
}

void nfs3_put_write_args(struct xdr_out *x, const struct nfs3_write_args *a)
{
	nfs3_put_fh(x, &a->fh);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->count);
	xdr_put_u32(x, a->stable);
	xdr_put_payload_list(x, &a->data);
}

int nfs3_get_write_args(struct xdr_in *x, struct nfs3_write_args *a)
{
	bool placed;

	nfs3_get_any_fh(x, &a->fh);
	a->offset = xdr_get_u64(x);
	a->count = xdr_get_u32(x);
	a->stable = get_enum(x, NFS_FILE_SYNC);
	xdr_get_payload_list(x, NFS3_IO_MAX, &a->data, &placed);
	return got(x);
}

void nfs3_put_commit_args(struct xdr_out *x, const struct nfs3_commit_args *a)
{
	nfs3_put_fh(x, &a->fh);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->count);
}

int nfs3_get_commit_args(struct xdr_in *x, struct nfs3_commit_args *a)
{
	nfs3_get_any_fh(x, &a->fh);
	a->offset = xdr_get_u64(x);
	a->count = xdr_get_u32(x);
	return got(x);
}

/* --- names ------------------------------------------------------------------------------------ */

void nfs3_put_create_args(struct xdr_out *x, const struct nfs3_create_args *a)
{
	nfs3_put_dirop(x, &a->where);
	xdr_put_u32(x, a->mode);
	if (a->mode == NFS3_EXCLUSIVE)
		xdr_put_fixed(x, a->verf, sizeof(a->verf));
	else
		nfs3_put_sattr(x, &a->set);
}

int nfs3_get_create_args(struct xdr_in *x, struct nfs3_create_args *a)
{
	memset(&a->set, 0, sizeof(a->set));
	memset(a->verf, 0, sizeof(a->verf));
	nfs3_get_dirop(x, &a->where);
	a->mode = get_enum(x, NFS3_EXCLUSIVE);
	if (a->mode != NFS3_EXCLUSIVE)
		return nfs3_get_sattr(x, &a->set);
	xdr_get_fixed(x, a->verf, sizeof(a->verf));
	return got(x);
}

void nfs3_put_mkdir_args(struct xdr_out *x, const struct nfs3_mkdir_args *a)
{
	nfs3_put_dirop(x, &a->where);
	nfs3_put_sattr(x, &a->set);
}

int nfs3_get_mkdir_args(struct xdr_in *x, struct nfs3_mkdir_args *a)
{
	nfs3_get_dirop(x, &a->where);
	return nfs3_get_sattr(x, &a->set);
}

void nfs3_put_symlink_args(struct xdr_out *x, const struct nfs3_symlink_args *a)
{
	nfs3_put_dirop(x, &a->where);
	nfs3_put_sattr(x, &a->set);
	nfs3_put_name(x, &a->target);
}

int nfs3_get_symlink_args(struct xdr_in *x, struct nfs3_symlink_args *a)
{
	nfs3_get_dirop(x, &a->where);
	nfs3_get_sattr(x, &a->set);
	/* the peer may have moved the target by a Read chunk: RFC 8267 section 4 */
	a->target.s = (const char *)xdr_get_payload(x, NFS3_STRING_MAX, &a->target.len, NULL);
	return got(x);
}

void nfs3_put_mknod_args(struct xdr_out *x, const struct nfs3_mknod_args *a)
{
	nfs3_put_dirop(x, &a->where);
	xdr_put_u32(x, a->type);
	if (a->type == NFS_CHR || a->type == NFS_BLK) {
		nfs3_put_sattr(x, &a->set);
		xdr_put_u32(x, a->rdev_major);
		xdr_put_u32(x, a->rdev_minor);
	} else if (a->type == NFS_SOCK || a->type == NFS_FIFO) {
		nfs3_put_sattr(x, &a->set);
	}
}

int nfs3_get_mknod_args(struct xdr_in *x, struct nfs3_mknod_args *a)
{
	memset(&a->set, 0, sizeof(a->set));
	a->rdev_major = a->rdev_minor = 0;
	nfs3_get_dirop(x, &a->where);
	a->type = xdr_get_u32(x);
	if (a->type == NFS_CHR || a->type == NFS_BLK) {
		nfs3_get_sattr(x, &a->set);
		a->rdev_major = xdr_get_u32(x);
		a->rdev_minor = xdr_get_u32(x);
	} else if (a->type == NFS_SOCK || a->type == NFS_FIFO) {
		nfs3_get_sattr(x, &a->set);
	}
	return got(x);
}

void nfs3_put_rename_args(struct xdr_out *x, const struct nfs3_rename_args *a)
{
	nfs3_put_dirop(x, &a->from);
	nfs3_put_dirop(x, &a->to);
}

int nfs3_get_rename_args(struct xdr_in *x, struct nfs3_rename_args *a)
{
	nfs3_get_dirop(x, &a->from);
	return nfs3_get_dirop(x, &a->to);
}

void nfs3_put_link_args(struct xdr_out *x, const struct nfs3_link_args *a)
{
	nfs3_put_fh(x, &a->fh);
	nfs3_put_dirop(x, &a->where);
}

int nfs3_get_link_args(struct xdr_in *x, struct nfs3_link_args *a)
{
	nfs3_get_any_fh(x, &a->fh);
	return nfs3_get_dirop(x, &a->where);
}

void nfs3_put_readdir_args(struct xdr_out *x, bool plus, const struct nfs3_readdir_args *a)
{
	nfs3_put_fh(x, &a->dir);
	xdr_put_u64(x, a->cookie);
	xdr_put_fixed(x, a->verf, sizeof(a->verf));
	if (plus)
		xdr_put_u32(x, a->dircount);
	xdr_put_u32(x, a->maxcount);
}

int nfs3_get_readdir_args(struct xdr_in *x, bool plus, struct nfs3_readdir_args *a)
{
	nfs3_get_any_fh(x, &a->dir);
	a->cookie = xdr_get_u64(x);
	xdr_get_fixed(x, a->verf, sizeof(a->verf));
	a->dircount = plus ? xdr_get_u32(x) : 0;
	a->maxcount = xdr_get_u32(x);
	return got(x);
}
