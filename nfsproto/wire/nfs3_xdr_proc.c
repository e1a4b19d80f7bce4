/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_xdr_proc: arguments and results by the number of the procedure.
 */
#include "nfsproto/wire/nfs3_xdr.h"

#include <errno.h>
#include <string.h>

void nfs3_put_args(struct xdr_out *x, const struct nfs3_args *a)
{
	switch (a->proc) {
	case NFS3PROC_GETATTR:
	case NFS3PROC_READLINK:
	case NFS3PROC_FSSTAT:
	case NFS3PROC_FSINFO:
	case NFS3PROC_PATHCONF:
		nfs3_put_fh(x, &a->u.fh);
		break;
	case NFS3PROC_LOOKUP:
	case NFS3PROC_REMOVE:
	case NFS3PROC_RMDIR:
		nfs3_put_dirop(x, &a->u.dirop);
		break;
	case NFS3PROC_READDIR:
	case NFS3PROC_READDIRPLUS:
		nfs3_put_readdir_args(x, a->proc == NFS3PROC_READDIRPLUS, &a->u.readdir);
		break;
#define PUT(PROC, name)                                                                            \
	case NFS3PROC_##PROC:                                                                      \
		nfs3_put_##name##_args(x, &a->u.name);                                             \
		break;
		PUT(SETATTR, setattr)
		PUT(ACCESS, access)
		PUT(READ, read)
		PUT(WRITE, write)
		PUT(CREATE, create)
		PUT(MKDIR, mkdir)
		PUT(SYMLINK, symlink)
		PUT(MKNOD, mknod)
		PUT(RENAME, rename)
		PUT(LINK, link)
		PUT(COMMIT, commit)
#undef PUT
	default: /* NULL has none */
		break;
	}
}

static int get_args(struct xdr_in *x, struct nfs3_args *a)
{
	switch (a->proc) {
	case NFS3PROC_NULL:
		return 0;
	case NFS3PROC_GETATTR:
	case NFS3PROC_READLINK:
	case NFS3PROC_FSSTAT:
	case NFS3PROC_FSINFO:
	case NFS3PROC_PATHCONF:
		return nfs3_get_any_fh(x, &a->u.fh);
	case NFS3PROC_LOOKUP:
	case NFS3PROC_REMOVE:
	case NFS3PROC_RMDIR:
		return nfs3_get_dirop(x, &a->u.dirop);
	case NFS3PROC_READDIR:
	case NFS3PROC_READDIRPLUS:
		return nfs3_get_readdir_args(x, a->proc == NFS3PROC_READDIRPLUS, &a->u.readdir);
#define GET(PROC, name)                                                                            \
	case NFS3PROC_##PROC:                                                                      \
		return nfs3_get_##name##_args(x, &a->u.name);
		GET(SETATTR, setattr)
		GET(ACCESS, access)
		GET(READ, read)
		GET(WRITE, write)
		GET(CREATE, create)
		GET(MKDIR, mkdir)
		GET(SYMLINK, symlink)
		GET(MKNOD, mknod)
		GET(RENAME, rename)
		GET(LINK, link)
		GET(COMMIT, commit)
#undef GET
	default:
		return -EOPNOTSUPP;
	}
}

int nfs3_get_args(struct xdr_in *x, uint32_t proc, struct nfs3_args *a)
{
	int rc;

	memset(a, 0, sizeof(*a));
	a->proc = proc;
	rc = get_args(x, a);
	if (rc == 0 && !xdr_in_done(x))
		return xdr_in_fail(x);
	return rc;
}

#define RESULTS(CODE)                                                                              \
	CODE(GETATTR, getattr)                                                                     \
	CODE(SETATTR, wcc)                                                                         \
	CODE(LOOKUP, lookup)                                                                       \
	CODE(ACCESS, access)                                                                       \
	CODE(READLINK, readlink)                                                                   \
	CODE(READ, read)                                                                           \
	CODE(WRITE, write)                                                                         \
	CODE(CREATE, create)                                                                       \
	CODE(MKDIR, create)                                                                        \
	CODE(SYMLINK, create)                                                                      \
	CODE(MKNOD, create)                                                                        \
	CODE(REMOVE, wcc)                                                                          \
	CODE(RMDIR, wcc)                                                                           \
	CODE(RENAME, rename)                                                                       \
	CODE(LINK, link)                                                                           \
	CODE(READDIR, readdir)                                                                     \
	CODE(READDIRPLUS, readdir)                                                                 \
	CODE(FSSTAT, fsstat)                                                                       \
	CODE(FSINFO, fsinfo)                                                                       \
	CODE(PATHCONF, pathconf)                                                                   \
	CODE(COMMIT, commit)

void nfs3_put_res(struct xdr_out *x, const struct nfs3_res *r)
{
	switch (r->proc) {
#define PUT(PROC, name)                                                                            \
	case NFS3PROC_##PROC:                                                                      \
		nfs3_put_##name##_res(x, &r->u.name);                                              \
		break;
		RESULTS(PUT)
#undef PUT
	default: /* NULL has none */
		break;
	}
}

int nfs3_get_res(struct xdr_in *x, uint32_t proc, struct nfs3_res *r)
{
	memset(r, 0, sizeof(*r));
	r->proc = proc;
	switch (proc) {
	case NFS3PROC_NULL:
		return 0;
#define GET(PROC, name)                                                                            \
	case NFS3PROC_##PROC:                                                                      \
		return nfs3_get_##name##_res(x, &r->u.name);
		RESULTS(GET)
#undef GET
	default:
		return -EOPNOTSUPP;
	}
}
