/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_unsure: an operation that was sent twice, and failed the second time.
 */
#include "nfsproto/common/nfs_unsure.h"

#include <errno.h>
#include <string.h>
#include <time.h>

void nfs_unsure_mark(struct nfs_op *op)
{
	struct nfs_sattr *set = &op->u.create.set;

	if (set->mask & (NFS_SET_ATIME | NFS_SET_ATIME_NOW))
		return;
	if (clock_gettime(CLOCK_REALTIME, &set->atime) == 0)
		set->mask |= NFS_SET_ATIME;
}

enum nfs_verdict nfs_unsure_failed(const struct nfs_op *op, int error)
{
	switch (op->type) {
	case NFS_REMOVE:
		return error == -ENOENT ? NFS_V_DONE : NFS_V_FAILED;
	case NFS_REMOVEXATTR:
		return error == -ENODATA ? NFS_V_DONE : NFS_V_FAILED;
	case NFS_RENAME: /* -ESTALE: `to` stands for another file than `only` */
		return op->u.rename.moved && (error == -ENOENT || error == -ESTALE) ? NFS_V_LOOK
										    : NFS_V_FAILED;
	case NFS_LINK:
		return error == -EEXIST ? NFS_V_LOOK : NFS_V_FAILED;
	case NFS_CREATE:
		return error == -EEXIST && (op->u.create.set.mask & NFS_SET_ATIME) ? NFS_V_LOOK
										   : NFS_V_FAILED;
	default:
		return NFS_V_FAILED;
	}
}

void nfs_unsure_place(
	const struct nfs_op *op, const struct nfs_fh **dir, const struct nfs_name **name)
{
	switch (op->type) {
	case NFS_RENAME:
		*dir = &op->u.rename.to_dir;
		*name = &op->u.rename.to;
		break;
	case NFS_LINK:
		*dir = &op->u.link.dir;
		*name = &op->u.link.name;
		break;
	default: /* NFS_CREATE: nfs_unsure_failed() sends no other here */
		*dir = &op->u.create.dir;
		*name = &op->u.create.name;
		break;
	}
}

/* Did op make the object that it found under its name? */
static bool has_mark(const struct nfs_op *op, const struct nfs_attr *attr)
{
	const struct timespec *mark = &op->u.create.set.atime;

	return attr->type == op->u.create.type && attr->atime.tv_sec == mark->tv_sec &&
	       attr->atime.tv_nsec == mark->tv_nsec;
}

bool nfs_unsure_seen(struct nfs_op *op, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	switch (op->type) {
	case NFS_RENAME:
		return nfs_fh_equal(fh, op->u.rename.moved);
	case NFS_LINK:
		op->u.link.attr = *attr;
		return nfs_fh_equal(fh, &op->u.link.fh);
	default:
		op->u.create.fh = *fh;
		op->u.create.attr = *attr;
		op->u.create.have_access = false;
		return has_mark(op, attr);
	}
}
