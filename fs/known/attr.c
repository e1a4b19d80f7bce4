/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attr: attributes in three forms: of the server, of stat(2), and of setattr.
 */
#include "fs/known/attr.h"

#include <string.h>
#include <sys/sysmacros.h>

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

static const mode_t mode_of[] = {
	[NFS_REG] = S_IFREG,
	[NFS_DIR] = S_IFDIR,
	[NFS_BLK] = S_IFBLK,
	[NFS_CHR] = S_IFCHR,
	[NFS_LNK] = S_IFLNK,
	[NFS_SOCK] = S_IFSOCK,
	[NFS_FIFO] = S_IFIFO,
};

mode_t attr_type_mode(enum nfs_type type)
{
	return (unsigned)type < sizeof(mode_of) / sizeof(mode_of[0]) ? mode_of[type] : 0;
}

enum nfs_type attr_mode_type(mode_t mode)
{
	for (unsigned t = NFS_REG; t <= NFS_FIFO; t++)
		if (mode_of[t] == (mode & S_IFMT))
			return t;
	return 0;
}

void attr_to_stat(const struct nfs_attr *a, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = a->fileid;
	st->st_mode = attr_type_mode(a->type) | (a->mode & 07777);
	st->st_nlink = a->nlink;
	st->st_uid = a->uid;
	st->st_gid = a->gid;
	if (a->type == NFS_BLK || a->type == NFS_CHR)
		st->st_rdev = makedev(a->rdev_major, a->rdev_minor);
	/* The kernel's sizes are signed; a server's 2^63 and more would look negative. */
	st->st_size = a->size > INT64_MAX ? INT64_MAX : a->size;
	st->st_blksize = 1 << 20;
	st->st_blocks = a->used / 512 + (a->used % 512 != 0);
	st->st_atim = a->atime;
	st->st_mtim = a->mtime;
	st->st_ctim = a->ctime;
}

void attr_from_setattr(const struct stat *st, int to_set, struct nfs_sattr *out)
{
	memset(out, 0, sizeof(*out));
	if (to_set & FUSE_SET_ATTR_MODE) {
		out->mask |= NFS_SET_MODE;
		out->mode = st->st_mode & 07777;
	}
	if (to_set & FUSE_SET_ATTR_UID) {
		out->mask |= NFS_SET_UID;
		out->uid = st->st_uid;
	}
	if (to_set & FUSE_SET_ATTR_GID) {
		out->mask |= NFS_SET_GID;
		out->gid = st->st_gid;
	}
	if (to_set & FUSE_SET_ATTR_SIZE) {
		out->mask |= NFS_SET_SIZE;
		out->size = st->st_size;
	}
	if (to_set & FUSE_SET_ATTR_ATIME_NOW) {
		out->mask |= NFS_SET_ATIME_NOW;
	} else if (to_set & FUSE_SET_ATTR_ATIME) {
		out->mask |= NFS_SET_ATIME;
		out->atime = st->st_atim;
	}
	if (to_set & FUSE_SET_ATTR_MTIME_NOW) {
		out->mask |= NFS_SET_MTIME_NOW;
	} else if (to_set & FUSE_SET_ATTR_MTIME) {
		out->mask |= NFS_SET_MTIME;
		out->mtime = st->st_mtim;
	}
}
