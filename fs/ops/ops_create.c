/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_create: creating files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/file/cached.h"
#include "fs/coherence/change.h"
#include "fs/file/close.h"
#include "fs/coherence/deleg.h"
#include "fs/lookup/entry.h"
#include "fs/coherence/file_info.h"
#include "fs/file/flush.h"
#include "fs/file/late.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/file/retry.h"
#include "transport/clock.h"
#include "transport/log.h"

static void settled(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;
	struct inode *ino = r->inode;
	bool written = written_dirty(&ino->written) ||
		       atomic_load(&ino->attrs.touched) != settle_of(r)->touched;

	inode_touch_end(ino);
	if (!op->error && !written) { /* else the attributes may lack written data */
		entry_note_attr(r->fs, ino, &op->u.setattr.attr, clock_ns());
		change_told(ino, &op->u.setattr.attr, clock_ns());
	} else if (op->error && op->error != -ESTALE) /* -ESTALE: the file has gone already */
		log_warn("the times of file %llu, which is new, could not be set: %s",
			(unsigned long long)ino->fileid, strerror(-op->error));
	opening_settle_end(r->fs, ino);
	request_free(r);
}

/* r has made r->inode, and sets the times to about those that the kernel was told. */
static void settle(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_SETATTR, setattr);

	op->u.setattr.fh = r->inode->fh;
	op->u.setattr.set.mask = NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW;
	inode_touch_begin(r->inode);
	settle_of(r)->touched = atomic_load(&r->inode->attrs.touched);
	request_submit(r, settled);
}

/* The kernel believed that the name was absent, but the name now stands for a file that this open
 * cannot open: a symbolic link, for example, which the kernel must follow. ESTALE makes the kernel
 * look the path up again. */
static void create_failed(struct request *r, int error)
{
	bool excl = r->batch.first.op.u.open.flags & O_EXCL;

	free(r->file);
	r->file = NULL;
	if (entry_not_made(r, error) && !excl && !open_of(r)->again && error != -EINTR) {
		stale_answered(&r->fs->stale, r->pid, request_number(r));
		error = -ESTALE;
	}
	request_end(r, error);
}

static void create_reply(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	bool late = op->u.open.times_left;
	struct inode *ino = r->inode;
	uint64_t as_of = deleg_note(r->fs, ino, op, r->born);
	struct told told = told_now(&op->u.open.attr, r->pid);
	struct fs *fs = r->fs;
	struct file *f = r->file;
	struct fuse_entry_param e;
	struct fuse_file_info fi;
	fuse_req_t fuse;

	if (open_of(r)->found) {
		told.asked = as_of;
		told.born = r->born;
	}
	entry_note_attr(fs, ino, told.attr, told.asked);
	if (op->u.open.have_access)
		attrs_note_access(&ino->attrs, &r->batch.cred, op->u.open.want, op->u.open.allowed,
			told.asked);
	entry_fill(fs, r->dir, r->name, ino, &told, &e);
	fi = file_info(fs, f, told.attr, told.asked);
	if (late) {
		opening_settle_begin(ino);
		if (e.attr_timeout > fs->opt->acregmin) /* the times are only about right */
			e.attr_timeout = fs->opt->acregmin;
	}
	fuse = request_take_fuse(r);
	inode_ref(ino);
	if (late) { /* before the answer: requests that follow the answer must find r parked */
		request_keep_going(r);
		opening_park(r, settle);
	} else {
		request_free(r);
	}
	if (fuse_reply_create(fuse, &e, &fi)) {
		close_file(fs, f, NULL, 0);
		inode_forget(fs->inodes, ino, 1);
	}
	inode_unref(ino);
}

/* r, which has opened a file, ends without the file. */
static void create_dropped(struct request *r, int error)
{
	inode_forget(r->fs->inodes, r->inode, 1);
	close_file(r->fs, r->file, NULL, 0);
	request_end(r, error);
}

static void create_gone(struct request *r)
{
	create_dropped(r, -EINTR);
}

static void create_cut_done(struct request *r)
{
	const struct nfs_op *op = &open_of(r)->cut->op;
	struct inode *ino = r->inode;

	late_end(r);
	inode_touch_end(ino);
	view_cut_end(&ino->view, r->pid);
	written_cut_end(&ino->written, &r->cut, 0, op->error ? 0 : UINT64_MAX);
	if (op->error || !r->fuse) { /* r was LATE */
		create_dropped(r, op->error);
		return;
	}
	view_cut(&ino->view, 0, r->pid);
	open_of(r)->found = false; /* this request has made these attributes */
	r->batch.first.op.u.open.attr = op->u.setattr.attr;
	create_reply(r);
}

static void create_cut(struct request *r)
{
	struct nfs_op *op;

	open_of(r)->cut = batch_part(&r->batch);
	op = part_op(open_of(r)->cut, NFS_SETATTR, setattr);
	op->u.setattr.fh = r->inode->fh;
	op->u.setattr.set.mask = NFS_SET_SIZE;
	op->u.setattr.open = r->file->open;
	view_cut_begin(&r->inode->view);
	written_cut_begin(&r->inode->written, &r->cut);
	inode_touch_begin(r->inode);
	late_begin(r, r->inode, 0, UINT64_MAX);
	request_submit(r, create_cut_done);
}

static void create_wait(struct request *r)
{
	if (!late_waits(r, r->inode, 0, UINT64_MAX, create_wait) &&
		!flush_waits(r, r->inode, WRITTEN, create_cut))
		create_cut(r);
}

/* r truncates the opened file, which existed under a name that the kernel did not know. CREATE
 * itself does not truncate. The CREATE of a killed process may come late, and would truncate
 * another file that has the name by then. Also, the opened file may have data that is still to be
 * written. */
static void create_truncates(struct request *r)
{
	struct inode *ino = r->inode;

	if (!r->batch.first.op.u.open.attr.size && !written_dirty(&ino->written) &&
		atomic_load(&ino->written_at) < r->born) {
		written_cut(&ino->written, 0, UINT64_MAX, r->born);
		create_reply(r);
		return;
	}
	r->flush.gone = create_gone;
	create_wait(r);
}

static void create_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct fs *fs = r->fs;
	struct file *f = r->file;
	struct inode *ino;

	if (op->error) {
		create_failed(r, op->error);
		return;
	}
	request_naming_end(r);
	ino = inode_lookup(fs->inodes, &op->u.open.fh, &op->u.open.attr);
	if (!ino) {
		/* the same request must close the file again */
		f->open = op->u.open.open;
		close_file(fs, f, r, -ENOMEM);
		return;
	}
	/* If the file was known here before, this request has made no attribute of the file. Other
	 * requests may have changed the file since the server answered. */
	open_of(r)->found = attrs_has(&ino->attrs);
	if (!open_of(r)->found)
		inode_touch(ino);
	r->inode = inode_ref(ino);
	opening_begin(fs, ino);
	file_opened(fs, f, ino, op->u.open.open);
	cached_opened(fs, f);
	if (f->flags & O_TRUNC)
		create_truncates(r);
	else
		create_reply(r);
}

/* May the answer to a create come before its times are right? Only if the kernel then asks for no
 * attributes for a while, and a close can wait for the times (ops_flush()). A successor does not
 * know of times that are still to be set. */
static bool late_times(const struct fs *fs, int flags)
{
	return flags & O_EXCL && (flags & O_ACCMODE) != O_RDONLY && fs->opt->acregmin > 0 &&
	       !fs->ledger;
}

void ops_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	op = request_op(r, NFS_OPEN, open);
	if (!request_set_name(r->name, &op->u.open.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	r->file = file_new(r->fs, &r->batch.cred, fi->flags);
	if (!r->file || !batch_reserve(&r->batch, 1)) { /* for create_cut() */
		free(r->file);
		request_end(r, -ENOMEM);
		return;
	}
	r->file->request = request_number(r);
	r->dir = inode_ref(inode_of(fs->inodes, parent));
	open_of(r)->again =
		stale_opens_again(&fs->stale, r->pid, request_number(r), request_is_again(r));
	retry_let_go(fs, r->pid);
	entry_making(r);
	op->u.open.dir = r->dir->fh;
	op->u.open.flags = (fi->flags & (O_ACCMODE | O_TRUNC | O_EXCL)) | O_CREAT;
	op->u.open.late_times = late_times(fs, fi->flags);
	op->u.open.want = deleg_to_write_may_come(fs, fi->flags) ? ENTRY_FILE_RIGHTS : 0;
	entry_set_mode(req, &op->u.open.set, mode, false);
	request_submit(r, create_done);
}
