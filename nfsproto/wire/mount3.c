/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount3: coders of the MOUNT protocol version 3 (RFC 1813 appendix I).
 */
#include "nfsproto/wire/mount3.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/wire/nfs3_xdr.h"

static int got(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

const char *mount3_status_name(uint32_t status)
{
	switch (status) {
	case MOUNT3_OK:
		return "MNT3_OK";
	case MOUNT3ERR_PERM:
		return "MNT3ERR_PERM";
	case MOUNT3ERR_NOENT:
		return "MNT3ERR_NOENT";
	case MOUNT3ERR_IO:
		return "MNT3ERR_IO";
	case MOUNT3ERR_ACCES:
		return "MNT3ERR_ACCES";
	case MOUNT3ERR_NOTDIR:
		return "MNT3ERR_NOTDIR";
	case MOUNT3ERR_INVAL:
		return "MNT3ERR_INVAL";
	case MOUNT3ERR_NAMETOOLONG:
		return "MNT3ERR_NAMETOOLONG";
	case MOUNT3ERR_NOTSUPP:
		return "MNT3ERR_NOTSUPP";
	case MOUNT3ERR_SERVERFAULT:
		return "MNT3ERR_SERVERFAULT";
	default:
		return "MNT3ERR_?";
	}
}

static void put_string(struct xdr_out *x, const struct nfs_name *s)
{
	xdr_put_opaque(x, s->s, s->len);
}

static int get_string(struct xdr_in *x, uint32_t max, struct nfs_name *s)
{
	s->s = (const char *)xdr_get_opaque(x, max, &s->len);
	if (!s->s)
		s->len = 0;
	return got(x);
}

void mount3_put_path(struct xdr_out *x, const struct nfs_name *path)
{
	put_string(x, path);
}

int mount3_get_path(struct xdr_in *x, struct nfs_name *path)
{
	return get_string(x, MOUNT3_PATH_MAX, path);
}

void mount3_put_mnt_res(struct xdr_out *x, const struct mount3_mnt_res *r)
{
	xdr_put_u32(x, r->status);
	if (r->status != MOUNT3_OK)
		return;
	nfs3_put_fh(x, &r->fh);
	xdr_put_u32(x, r->nflavors);
	for (uint32_t i = 0; i < r->nflavors; i++)
		xdr_put_u32(x, r->flavor[i]);
}

int mount3_get_mnt_res(struct xdr_in *x, struct mount3_mnt_res *r)
{
	memset(r, 0, sizeof(*r));
	r->status = xdr_get_u32(x);
	if (r->status != MOUNT3_OK)
		return got(x);
	nfs3_get_fh(x, &r->fh);
	r->nflavors = xdr_get_count(x, MOUNT3_FLAVORS_MAX, 4);
	for (uint32_t i = 0; i < r->nflavors; i++)
		r->flavor[i] = xdr_get_u32(x);
	return got(x);
}

void mount3_put_mounted(struct xdr_out *x, const struct mount3_mounted *m)
{
	xdr_put_bool(x, true);
	put_string(x, &m->host);
	put_string(x, &m->path);
}

int mount3_get_mounted(struct xdr_in *x, struct mount3_mounted *m)
{
	memset(m, 0, sizeof(*m));
	if (!xdr_get_bool(x))
		return got(x);
	get_string(x, MOUNT3_NAME_MAX, &m->host);
	get_string(x, MOUNT3_PATH_MAX, &m->path);
	return xdr_in_ok(x) ? 1 : -EBADMSG;
}

void mount3_put_export(struct xdr_out *x, const struct nfs_name *path)
{
	xdr_put_bool(x, true);
	put_string(x, path);
}

int mount3_get_export(struct xdr_in *x, struct nfs_name *path)
{
	memset(path, 0, sizeof(*path));
	if (!xdr_get_bool(x))
		return got(x);
	return get_string(x, MOUNT3_PATH_MAX, path) ?: 1;
}

void mount3_put_group(struct xdr_out *x, const struct nfs_name *name)
{
	xdr_put_bool(x, true);
	put_string(x, name);
}

int mount3_get_group(struct xdr_in *x, struct nfs_name *name)
{
	memset(name, 0, sizeof(*name));
	if (!xdr_get_bool(x))
		return got(x);
	return get_string(x, MOUNT3_NAME_MAX, name) ?: 1;
}

void mount3_put_end(struct xdr_out *x)
{
	xdr_put_bool(x, false);
}
