/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * write: WRITEs by the kernel.
 */
#include "fs/file/write.h"

#include <errno.h>
#include <fcntl.h>

#include "fs/coherence/change.h"
#include "fs/kernel/data.h"
#include "fs/known/file.h"
#include "fs/file/flush.h"
#include "fs/kernel/io.h"
#include "fs/file/locker.h"
#include "fs/kernel/worker.h"
#include "transport/log.h"

#define TAKE_MIN   (512u << 10) /* least bytes for which a worker's block is kept */
#define APPEND_MAX (64u << 10)	/* most bytes that are appended by a stable WRITE */

/* --- gathered WRITEs -------------------------------------------------------------------------- */

/* Does the write rely on a lock that may be lost? Such a write must fail if the lock is lost. */
static bool relies_on_doubt(const struct fs *fs, const struct file *f)
{
	return locker_any(f->inode) && nfs_locks_doubtful(fs->client, f->open);
}

bool write_is_gathered(const struct fs *fs, const struct file *f, int flags, bool writepage)
{
	return fs->opt->gather && !atomic_load(&f->inode->written.failing) &&
	       (writepage || !(flags & (O_APPEND | O_DIRECT | O_DSYNC))) && !relies_on_doubt(fs, f);
}

/* size bytes at off are in the daemon's memory: tells the kernel, and notes the size that the
 * kernel will believe. */
static void gathered(struct file *f, fuse_req_t req, bool writepage, uint64_t off, uint32_t size)
{
	struct fs *fs = f->fs;

	stats_add(&fs->stats.write_bytes, size);
	change_doubt_set_id(fs, f->inode);
	attrs_touch(&f->inode->attrs);
	if (writepage)
		view_wrote_back(&f->inode->view);
	else
		view_wrote(&f->inode->view, off + size, fuse_req_ctx(req)->pid);
	fuse_reply_write(req, size);
}

bool write_gather(struct fuse_req *req, struct file *f, bool writepage, uint64_t off,
	const struct fuse_bufvec *in, uint32_t *took)
{
	const struct fuse_buf *from = &in->buf[0];
	uint32_t size = (uint32_t)from->size;

	*took = 0;
	if (in->count != 1 || from->flags & FUSE_BUF_IS_FD || from->size >= TAKE_MIN ||
		writeback_put(f->fs->writeback, &f->writer, off, from->mem, size, took) !=
			DIRTY_DONE)
		return false;
	stats_add(&f->fs->stats.small_bytes, size);
	gathered(f, req, writepage, off, size);
	return true;
}

/* Gathers the rest of r's data. */
static enum dirty_put gather(struct request *r)
{
	struct seg *at = &r->batch.data.one;
	const uint8_t *data = at->at.addr;
	uint32_t len = r->batch.data.len, n;
	struct file *f = r->file;
	enum dirty_put put;

	if (len >= TAKE_MIN && !io_of(r)->took) {
		put = writeback_take(f->fs->writeback, &f->writer, io_of(r)->offset, at->hold,
			(uint32_t)(data - at->hold->data), len);
		if (put == DIRTY_DONE)
			r->batch.data = (struct seg_list){.n = 0};
		return put;
	}
	put = writeback_put(f->fs->writeback, &f->writer, io_of(r)->offset + io_of(r)->took,
		data + io_of(r)->took, len - io_of(r)->took, &n);
	io_of(r)->took += n;
	stats_add(&f->fs->stats.small_bytes, n);
	return put;
}

static void gather_again(struct request *r)
{
	uint32_t len = r->batch.data.len;
	struct file *f = r->file;
	unsigned full = 0;
	fuse_req_t fuse;

	/* data in several pieces is sent as it is */
	while (r->batch.data.n == 1 &&
		write_is_gathered(r->fs, f, io_of(r)->flags, io_of(r)->writepage)) {
		switch (gather(r)) {
		case DIRTY_DONE:
			fuse = request_take_fuse(r);
			gathered(f, fuse, io_of(r)->writepage, io_of(r)->offset, len);
			request_free(r);
			return;
		case DIRTY_BUSY:
			if (flush_waits(r, f->inode, WRITTEN, gather_again))
				return;
			break;
		case DIRTY_FULL:
			if (full++) {
				r->next(r);
				return;
			}
			if (flush_waits_room(r, gather_again))
				return;
			break;
		}
	}
	r->next(r);
}

void write_gather_wait(struct request *r, request_step_fn *direct)
{
	r->next = direct;
	gather_again(r);
}

/* --- WRITEs that the request itself sends ----------------------------------------------------- */

/* Is this probably the only append before the file is closed? If so, a stable WRITE saves the
 * COMMIT at the close: a round trip, for a sync that the server does anyway. If more is written
 * after all, the server has done one sync more. */
static bool is_all(struct request *r)
{
	uint64_t gen;

	return io_of(r)->flags & O_APPEND && !io_of(r)->writepage &&
	       !atomic_exchange(&r->file->written, true) && r->batch.data.len <= APPEND_MAX &&
	       !filedata_dirty(&r->file->inode->data, &gen);
}

/* Would the data be gathered if there were memory for it? No copy is kept of a WRITE that r sends
 * itself, so data that is not stable would be lost in a restart of the server. */
static bool lacks_copy(const struct request *r)
{
	return write_is_gathered(r->fs, r->file, io_of(r)->flags, io_of(r)->writepage);
}

enum nfs_stable write_stable(struct request *r)
{
	if (is_all(r) || lacks_copy(r))
		return NFS_FILE_SYNC;
	if (io_of(r)->writepage || !(io_of(r)->flags & O_DSYNC))
		return NFS_UNSTABLE;
	return (io_of(r)->flags & O_SYNC) == O_SYNC ? NFS_FILE_SYNC : NFS_DATA_SYNC;
}

void write_unkept(struct inode *ino, const struct rpc_cred *by, enum nfs_stable committed,
	const uint8_t *verf)
{
	enum filedata_verf is = filedata_wrote(&ino->data, by, committed, verf, false);

	if (is == FILEDATA_LOST)
		log_always_error(
			"the server restarted before data of file %llu was committed: data "
			"written before may be lost",
			(unsigned long long)ino->fileid);
	if (is != FILEDATA_SAME)
		writeback_redo(&ino->written);
}

int write_took(struct request *r, struct nfs_op *op, uint32_t sent)
{
	struct inode *ino = r->file->inode;

	change_end(r->fs, ino, op);
	if (op->error)
		return op->error;
	if (!op->u.write.count || op->u.write.count > sent) {
		log_error(
			"server says it wrote %u of %u bytes: server bug", op->u.write.count, sent);
		return -EREMOTEIO;
	}
	attrs_touch(&ino->attrs);
	atomic_store(&ino->written.failing, false);
	written_cut_part(&ino->written, &r->cut, op->u.write.offset, op->u.write.count);
	write_unkept(ino, &op->cred, op->u.write.committed, op->u.write.verf);
	return 0;
}

void write_reply(struct request *r)
{
	fuse_req_t fuse;
	uint32_t n = batch_done_bytes(&r->batch);

	written_cut_end(&r->file->inode->written, &r->cut, 0, 0);
	stats_add(&r->fs->stats.write_bytes, n);
	if (n)
		change_doubt_set_id(r->fs, r->file->inode);
	/* The kernel knows no short count when it writes mapped pages back: the answer must be an
	 * error. No program sees the error, so the error is noted for close. */
	if (io_of(r)->error && (!n || io_of(r)->writepage)) {
		if (io_of(r)->writepage)
			filedata_unwritten(&r->file->inode->data, io_of(r)->error);
		request_end(r, io_of(r)->error);
		return;
	}
	if (io_of(r)->writepage)
		view_wrote_back(&r->file->inode->view);
	else
		view_wrote(&r->file->inode->view, io_of(r)->offset + n, r->pid);
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse) /* else r was LATE */
		fuse_reply_write(fuse, n);
}
