/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_name: operations that make, move and remove names. A name of an open file is not removed but
 * changed to a silly name (silly.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "fs/known/attr.h"
#include "fs/coherence/deleg.h"
#include "fs/lookup/entry.h"
#include "fs/file/flush.h"
#include "fs/known/names.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/file/silly.h"
#include "fs/file/silly_give.h"

#define RMDIR_TRIES 16 /* RMDIR is sent again when a silly name was removed, from any directory */

/* --- making ----------------------------------------------------------------------------------- */

static void create_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	entry_end_made(r, op->error, &op->u.create.fh, &op->u.create.attr);
}

/* A request for making name; the caller fills in its op. NULL if the kernel has been answered
 * already. */
static struct request *create_begin(
	fuse_req_t req, fuse_ino_t parent, const char *name, enum nfs_type type, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return NULL;
	r->dir = inode_ref(inode_of(fs->inodes, parent));
	op = request_op(r, NFS_CREATE, create);
	op->u.create.dir = r->dir->fh;
	op->u.create.type = type;
	entry_set_mode(req, &op->u.create.set, mode, type == NFS_LNK);
	if (!request_set_name(r->name, &op->u.create.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return NULL;
	}
	entry_making(r);
	return r;
}

static void mknod_closed(struct request *r)
{
	struct nfs_op *made = &r->batch.first.op;

	entry_end_made(r, 0, &made->u.open.fh, &made->u.open.attr);
}

static void mknod_opened(struct request *r)
{
	struct nfs_op *made = &r->batch.first.op;

	if (made->error) {
		entry_not_made(r, made->error);
		request_end(r, made->error);
		return;
	}
	part_op(batch_part(&r->batch), NFS_CLOSE, close)->u.close.open = made->u.open.open;
	request_submit(r, mknod_closed);
}

/* Makes a regular file without opening the file for the caller: servers make regular files by OPEN
 * only. */
static void make_regular(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	if (!batch_reserve(&r->batch, 1)) { /* for the CLOSE */
		request_end(r, -ENOMEM);
		return;
	}
	op = request_op(r, NFS_OPEN, open);
	r->dir = inode_ref(inode_of(fs->inodes, parent));
	op->u.open.dir = r->dir->fh;
	op->u.open.flags = O_WRONLY | O_CREAT | O_EXCL;
	entry_set_mode(req, &op->u.open.set, mode, false);
	if (!request_set_name(r->name, &op->u.open.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	entry_making(r);
	request_submit(r, mknod_opened);
}

void ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	enum nfs_type type = attr_mode_type(mode);
	struct request *r;

	switch (type) {
	case NFS_REG:
		make_regular(req, parent, name, mode);
		return;
	case NFS_BLK:
	case NFS_CHR:
	case NFS_FIFO:
	case NFS_SOCK:
		break;
	default:
		fuse_reply_err(req, EINVAL);
		return;
	}
	r = create_begin(req, parent, name, type, mode);
	if (!r)
		return;
	r->batch.first.op.u.create.rdev_major = major(rdev);
	r->batch.first.op.u.create.rdev_minor = minor(rdev);
	request_submit(r, create_done);
}

void ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct request *r = create_begin(req, parent, name, NFS_DIR, mode);

	if (!r)
		return;
	/* a caller that looks names up in the new directory must be known to have the right */
	r->batch.first.op.u.create.want = entry_keeps_names(r->fs, r->dir) ? ENTRY_DIR_RIGHTS : 0;
	request_submit(r, create_done);
}

void ops_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct request *r = create_begin(req, parent, name, NFS_LNK, 0777);

	if (!r)
		return;
	r->text = strdup(target);
	if (!r->text) {
		request_end(r, -ENOMEM);
		return;
	}
	r->batch.first.op.u.create.target = r->text;
	r->batch.first.op.u.create.target_len = strlen(target);
	request_submit(r, create_done);
}

static void link_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	inode_touch(r->inode);
	entry_end_made(r, op->error, &op->u.link.fh, &op->u.link.attr);
}

static void link_send(struct request *r)
{
	request_submit(r, link_done);
}

void ops_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	op = request_op(r, NFS_LINK, link);
	op->u.link.fh = r->inode->fh;
	r->dir = inode_ref(inode_of(fs->inodes, newparent));
	op->u.link.dir = r->dir->fh;
	if (!inode_same_fs(r->inode, r->dir)) {
		request_end(r, -EXDEV);
		return;
	}
	if (!request_set_name(r->name, &op->u.link.name, newname)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	entry_making(r);
	if (!flush_waits(r, r->inode, WRITTEN, link_send))
		link_send(r);
}

/* --- removing and moving ---------------------------------------------------------------------- */

static struct nfs_name name_of(const char *s)
{
	return (struct nfs_name){s, (uint32_t)strlen(s)};
}

/* A request for removing name. NULL if the kernel has been answered already. */
static struct request *remove_begin(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_name n;

	if (!r)
		return NULL;
	r->dir = inode_ref(inode_of(fs->inodes, parent));
	if (request_set_name(r->name, &n, name))
		return r;
	request_end(r, -ENAMETOOLONG);
	return NULL;
}

static void remove_submit(struct request *r, bool is_dir, request_step_fn *step)
{
	struct nfs_op *op = request_op(r, NFS_REMOVE, remove);

	op->u.remove.dir = r->dir->fh;
	op->u.remove.name = name_of(r->name);
	op->u.remove.is_dir = is_dir;
	op->u.remove.only = !is_dir && unlink_of(r)->only ? &r->unlinking->fh : NULL;
	op->u.remove.deleg = r->unlinking ? deleg_leaves(r->fs, r->unlinking) : 0;
	op->u.remove.deleg_fh = r->unlinking ? &r->unlinking->fh : NULL;
	request_submit(r, step);
}

static void unlink_end(struct request *r, int error)
{
	entry_removed(r, error);
	request_end(r, error);
}

static void unlink_checked(struct request *r);

static void unlink_done(struct request *r)
{
	int error = r->batch.first.op.error;
	struct nfs_name n = name_of(r->name);

	opening_claim_end(r);
	if (error == -ESTALE && unlink_of(r)->only) {
		/* the name stands for another file than was believed, which may be open */
		unlink_of(r)->ask = true;
		silly_check(r, &r->dir->fh, &n, unlink_checked);
		return;
	}
	unlink_end(r, error);
}

static void unlink_checked(struct request *r)
{
	if (unlink_of(r)->error || unlink_of(r)->renamed)
		unlink_end(r, unlink_of(r)->error);
	else
		remove_submit(r, false, unlink_done);
}

void ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request *r = remove_begin(req, parent, name);
	struct nfs_name n;

	if (!r)
		return;
	n = name_of(r->name);
	request_naming_begin(r);
	silly_check(r, &r->dir->fh, &n, unlink_checked);
}

static void rmdir_done(struct request *r);

static void rmdir_submit(struct request *r)
{
	unlink_of(r)->ended = silly_count_ended(r->fs);
	request_naming_begin(r);
	remove_submit(r, true, rmdir_done);
}

static void rmdir_done(struct request *r)
{
	int error = r->batch.first.op.error;

	entry_removed(r, error);
	if (error && request_is_again(r) && !r->batch.first.op.calls.n &&
		unlink_of(r)->tries++ < RMDIR_TRIES) {
		/* the answer to a former daemon, which may have sent RMDIR a second time */
		rmdir_submit(r);
		return;
	}
	if ((error == -ENOTEMPTY || error == -EEXIST) && unlink_of(r)->tries++ < RMDIR_TRIES &&
		silly_wait(r, unlink_of(r)->ended, rmdir_submit))
		return;
	request_end(r, error);
}

void ops_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request *r = remove_begin(req, parent, name);

	if (r)
		rmdir_submit(r);
}

/* The rename r has ended: updates the notes about both names. */
static void rename_note(struct request *r, int error)
{
	struct names *names = r->fs->names;
	struct inode *moved = NULL;
	struct name_info info;

	request_naming_end(r);
	entry_named(r->fs, r->dir, error);
	entry_named(r->fs, r->to_dir, error);
	if (names_get(names, r->dir, r->name, &info)) {
		inode_touch(info.ino);
		moved = info.ino;
	}
	if (names_get(names, r->to_dir, r->to_name, &info)) {
		if (error || info.ino == moved)
			inode_touch(info.ino);
		else
			inode_note_removed(info.ino);
		inode_unref(info.ino);
	}
	if (error) {
		names_doubt(names, r->dir, r->name);
		names_doubt(names, r->to_dir, r->to_name);
	} else {
		names_move(names, r->dir, r->name, r->to_dir, r->to_name);
	}
	inode_unref(moved);
}

static void rename_end(struct request *r)
{
	rename_note(r, unlink_of(r)->error);
	request_end(r, unlink_of(r)->error);
}

/* Sets moved to the file that moves, if known. */
static void rename_note_moved(struct request *r)
{
	struct name_info info;

	unlink_of(r)->moved.len = 0;
	if (!names_get(r->fs->names, r->dir, r->name, &info) || !info.ino)
		return;
	unlink_of(r)->moved = info.ino->fh;
	inode_unref(info.ino);
}

static void rename_checked(struct request *r);

static void rename_done(struct request *r)
{
	struct nfs_name name = name_of(r->to_name);
	int error = r->batch.first.op.error;

	opening_claim_end(r);
	if (error == -ESTALE && unlink_of(r)->only) {
		unlink_of(r)->ask = true;
		silly_check(r, &r->to_dir->fh, &name, rename_checked);
		return;
	}
	unlink_of(r)->error = error;
	if (error) {
		silly_undo(r, rename_end);
		return;
	}
	silly_replaced(r);
	rename_end(r);
}

static void rename_checked(struct request *r)
{
	struct nfs_op *op;

	if (unlink_of(r)->error) {
		rename_end(r);
		return;
	}
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = r->dir->fh;
	op->u.rename.to_dir = r->to_dir->fh;
	op->u.rename.from = name_of(r->name);
	op->u.rename.to = name_of(r->to_name);
	op->u.rename.only = unlink_of(r)->only ? &r->unlinking->fh : NULL;
	rename_note_moved(r);
	op->u.rename.moved = unlink_of(r)->moved.len ? &unlink_of(r)->moved : NULL;
	op->u.rename.deleg = r->unlinking ? deleg_leaves(r->fs, r->unlinking) : 0;
	op->u.rename.deleg_fh = r->unlinking ? &r->unlinking->fh : NULL;
	request_submit(r, rename_done);
}

void ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned flags)
{
	struct fs *fs = fs_of(req);
	struct request *r;
	struct nfs_name n;

	if (flags) { /* NFS has no exchange and no atomic no-replace */
		fuse_reply_err(req, EINVAL);
		return;
	}
	r = remove_begin(req, parent, name);
	if (!r)
		return;
	r->to_dir = inode_ref(inode_of(fs->inodes, newparent));
	if (!inode_same_fs(r->dir, r->to_dir)) {
		request_end(r, -EXDEV);
		return;
	}
	if (!request_set_name(r->to_name, &n, newname)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	unlink_of(r)->none = entry_believes_none(fs, r->to_dir, r->to_name, r->batch.cred.uid);
	entry_making(r);
	silly_check(r, &r->to_dir->fh, &n, rename_checked);
}
