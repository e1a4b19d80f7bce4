/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_space: holes, reserved space and copies made by the server. If the mount cannot do an
 * operation, the right error makes the kernel act without the mount. The kernel remembers ENOSYS
 * for the whole mount, and EOPNOTSUPP for no longer than one call.
 *
 *     lseek            ENOSYS: all of a file is data
 *     copy_file_range  ENOSYS or EOPNOTSUPP: the kernel copies by reading and writing
 *     fallocate        ENOSYS or EOPNOTSUPP: the caller gets EOPNOTSUPP
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fs/coherence/change.h"
#include "fs/known/file.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/file/late.h"
#include "fs/ops/ops.h"
#include "fs/file/write.h"

struct seek_state {
	uint64_t offset;
	bool hole;	 /* SEEK_HOLE, else SEEK_DATA */
	bool dropped;	 /* the kernel's pages of the hole that was found were invalidated */
	unsigned writes; /* the inode's told_writes when the server was asked */
};

static struct seek_state *seek_of(const struct request *r)
{
	return request_state(r, struct seek_state);
}

/* Bytes of one copy, so that its count fits the kernel's answer; the server may do less at once. */
#define COPY_MAX (1u << 30)

static bool has_space_ops(const struct fs *fs)
{
	return fs->info.vers_major == 4 && fs->info.vers_minor >= 2;
}

/* --- lseek ------------------------------------------------------------------------------------ */

static void lseek_reply(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;
	off_t pos = (off_t)op->u.seek.pos;
	fuse_req_t fuse;

	if (op->error) {
		request_end(r, op->error == -EOPNOTSUPP ? -ENOSYS : op->error);
		return;
	}
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_lseek(fuse, pos);
}

static void lseek_begin(struct request *r);

/* The kernel has written its dirty pages of the hole. If it has written any, the server is asked
 * again: those bytes are data. */
static void lseek_dropped(struct request *r)
{
	if (request_is_gone(r))
		request_end(r, -EINTR);
	else if (atomic_load(&r->file->inode->view.writes) != seek_of(r)->writes)
		lseek_begin(r);
	else
		lseek_reply(r);
}

/* The range in which, as the server has said, there is no data. False: there is none. *len 0: to
 * the end. */
static bool found_hole(const struct nfs_op *op, uint64_t *from, uint64_t *len)
{
	bool none = op->error == -ENXIO && !op->u.seek.hole;

	*from = op->u.seek.hole ? op->u.seek.pos : op->u.seek.offset;
	*len = op->u.seek.hole ? 1 : none ? 0 : op->u.seek.pos - op->u.seek.offset;
	return none || (!op->error && *len);
}

/* A program may have stored something in a hole through a mapping, unknown to the server: the
 * kernel writes dirty pages before it invalidates them. */
static void lseek_done(struct request *r)
{
	uint64_t from, len;

	if (seek_of(r)->dropped || !atomic_load(&r->file->inode->opens.mappers) ||
		!found_hole(&r->batch.first.op, &from, &len)) {
		lseek_reply(r);
		return;
	}
	seek_of(r)->dropped = true;
	inval_pages_then(r->fs->inval, r, (off_t)from, (off_t)len, lseek_dropped);
}

static void lseek_send(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_SEEK, seek);

	op->u.seek.open = r->file->open;
	op->u.seek.fh = r->file->inode->fh;
	op->u.seek.offset = seek_of(r)->offset;
	op->u.seek.hole = seek_of(r)->hole;
	seek_of(r)->writes = atomic_load(&r->file->inode->view.writes);
	request_submit(r, lseek_done);
}

static void lseek_begin(struct request *r)
{
	if (!flush_waits(r, r->file->inode, WRITTEN, lseek_send))
		lseek_send(r);
}

void ops_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r;

	if (!has_space_ops(fs_of(req)) || (whence != SEEK_DATA && whence != SEEK_HOLE)) {
		fuse_reply_err(req, has_space_ops(fs_of(req)) ? EINVAL : ENOSYS);
		return;
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	if (!r)
		return;
	r->file = f;
	seek_of(r)->offset = (uint64_t)off;
	seek_of(r)->hole = whence == SEEK_HOLE;
	lseek_begin(r);
}

/* --- fallocate -------------------------------------------------------------------------------- */

static uint64_t fallocate_last(const struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;

	return op->u.allocate.offset + (op->u.allocate.length - 1);
}

static void fallocate_done(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;

	inode_touch_end(r->file->inode);
	if (!op->error)
		change_doubt_set_id(r->fs, r->file->inode);
	written_cut_end(&r->file->inode->written, &r->cut, op->u.allocate.offset,
		op->error ? 0 : op->u.allocate.length);
	if (!op->error && !op->u.allocate.dealloc)
		view_wrote(&r->file->inode->view, fallocate_last(r) + 1, r->pid);
	if (!op->error && op->u.allocate.unsafe)
		filedata_unsafe(&r->file->inode->data, &op->cred, op->u.allocate.unsafe);
	request_end(r, r->batch.first.op.error);
}

static void fallocate_send(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;

	inode_touch_begin(r->file->inode);
	if (op->u.allocate.dealloc)
		written_cut_begin(&r->file->inode->written, &r->cut);
	late_begin(r, r->file->inode, op->u.allocate.offset, fallocate_last(r));
	request_submit(r, fallocate_done);
}

static void fallocate_begin(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;
	struct inode *ino = r->file->inode;

	if (late_waits(r, ino, op->u.allocate.offset, fallocate_last(r), fallocate_begin))
		return;
	if (!flush_waits(r, ino, WRITTEN, fallocate_send))
		fallocate_send(r);
}

void ops_fallocate(
	fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r;
	struct nfs_op *op;

	/* as the kernel's own client: NFS can neither reserve space behind the end nor zero */
	if (!has_space_ops(fs_of(req)) ||
		(mode && mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))) {
		fuse_reply_err(req, has_space_ops(fs_of(req)) ? EOPNOTSUPP : ENOSYS);
		return;
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	if (!r)
		return;
	r->file = f;
	op = request_op(r, NFS_ALLOCATE, allocate);
	op->u.allocate.open = f->open;
	op->u.allocate.fh = f->inode->fh;
	op->u.allocate.offset = (uint64_t)off;
	op->u.allocate.length = (uint64_t)len;
	op->u.allocate.dealloc = mode != 0;
	fallocate_begin(r);
}

/* --- copy_file_range -------------------------------------------------------------------------- */

static void copy_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct inode *to = r->file->inode;
	fuse_req_t fuse;
	size_t n;

	inode_touch_end(to);
	written_cut_end(&to->written, &r->cut, op->u.copy.to, op->error ? 0 : op->u.copy.copied);
	/* Nothing copied, and no error: the source may have become shorter. The kernel's own
	 * reading will tell. */
	if (op->error || !op->u.copy.copied) {
		request_end(r, op->error ? op->error : -EOPNOTSUPP);
		return;
	}
	if (op->u.copy.unsafe)
		filedata_unsafe(&to->data, &op->cred, op->u.copy.unsafe);
	else
		write_unkept(to, &op->cred, op->u.copy.committed, op->u.copy.verf);
	change_doubt_set_id(r->fs, to);
	n = op->u.copy.copied;
	view_wrote(&to->view, op->u.copy.to + n, r->pid);
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse) /* else r was LATE */
		fuse_reply_write(fuse, n);
}

static uint64_t copy_last(const struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;

	return op->u.copy.to + (op->u.copy.count - 1);
}

static void copy_send(struct request *r)
{
	inode_touch_begin(r->file->inode);
	written_cut_begin(&r->file->inode->written, &r->cut);
	late_begin(r, r->file->inode, r->batch.first.op.u.copy.to, copy_last(r));
	request_submit(r, copy_done);
}

/* The source is safe on the server; data that the copy may overwrite must be there, too. */
static void copy_to(struct request *r)
{
	struct inode *to = r->file->inode;

	if (late_waits(r, to, r->batch.first.op.u.copy.to, copy_last(r), copy_to))
		return;
	if (!flush_waits(r, to, WRITTEN, copy_send))
		copy_send(r);
}

void ops_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
	struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
	struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct file *in = file_of(fs_of(req), fi_in), *out = file_of(fs_of(req), fi_out);
	struct request *r;
	struct nfs_op *op;

	/* a server need not copy within one file (RFC 7862 15.2.3): the kernel does */
	if (!has_space_ops(fs_of(req)) || in->inode == out->inode || flags) {
		fuse_reply_err(req, has_space_ops(fs_of(req)) ? EOPNOTSUPP : ENOSYS);
		return;
	}
	if (!len) {
		fuse_reply_write(req, 0);
		return;
	}
	r = request_new_cred(fs_of(req), req, &out->cred);
	if (!r)
		return;
	r->file = out;
	op = request_op(r, NFS_COPY, copy);
	op->u.copy.from_open = in->open;
	op->u.copy.from_fh = in->inode->fh;
	op->u.copy.from = (uint64_t)off_in;
	op->u.copy.to_open = out->open;
	op->u.copy.to_fh = out->inode->fh;
	op->u.copy.to = (uint64_t)off_out;
	op->u.copy.count = len < COPY_MAX ? len : COPY_MAX;
	r->inode = inode_ref(in->inode);
	/* A server that restarts before the copy must not copy bytes from before a write. */
	if (!flush_waits(r, in->inode, STABLE, copy_to))
		copy_to(r);
}
