/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_flush: making written data safe, and closing: FLUSH at each close(2), FSYNC, and RELEASE when
 * no process has the file open any more.
 */
#include <fcntl.h>

#include "fs/coherence/change.h"
#include "fs/file/close.h"
#include "fs/coherence/deleg.h"
#include "fs/lookup/entry.h"
#include "fs/file/flush.h"
#include "fs/file/late.h"
#include "fs/file/locker.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/kernel/turn.h"

struct flush_state {
	uint64_t owner; /* the owner of the locks to clear */
};

static struct flush_state *flush_of(const struct request *r)
{
	return request_state(r, struct flush_state);
}

/* flush_waits(), which also sets the times of the file if they are still to be set: behind the
 * WRITE if there is one WRITE, else beside. After a write and a sync or close, a program often
 * looks at the file next. The kernel, which has seen writes, then asks for attributes. The daemon
 * answers with the attributes that came with the last WRITE, as long as they are believed
 * (ops_getattr()). */
static bool waits_safe(struct request *r, enum written_level level, request_step_fn *next)
{
	static const struct nfs_sattr now = {.mask = NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW};
	bool settles = opening_take(r) && written_is_one(&r->inode->written, false);

	if (settles)
		inode_touch(r->inode);
	else
		request_give_back(r);
	return flush_waits_then(r, r->inode, level, settles ? &now : NULL, next);
}

static void note_safe(struct request *r)
{
	if (!r->flush.then.done) {
		request_give_back(r);
		return;
	}
	entry_note_attr(r->fs, r->inode, &r->flush.then.attr, r->flush.then.asked);
	atomic_store(&r->inode->view.renewed, true);
	opening_settled(r);
}

/* All written data is safe or lost: close(2) reports a loss. */
static void flush_done(struct request *r)
{
	int error = filedata_flush(&r->file->inode->data, &r->file->told);
	bool outlived = r->flush.closes;
	struct file *f = r->file;
	struct fs *fs = r->fs;

	request_end(r, error);
	if (outlived)
		flush_outlived(fs, f);
}

static void flush_clear(struct request *r)
{
	if (locker_flush(r->file, flush_of(r)->owner))
		locker_clear(r, flush_of(r)->owner, flush_done);
	else
		flush_done(r);
}

static void flush_unlock(struct request *r)
{
	struct inode *ino = r->file->inode;

	if (!locker_known(ino, flush_of(r)->owner, NULL)) {
		flush_done(r);
		return;
	}
	r->flush.outlives = true;
	if (!late_waits(r, ino, 0, UINT64_MAX, flush_clear))
		flush_clear(r);
}

/* All data is safe. The next look at the times must find the right times. */
static void flush_settle(struct request *r)
{
	note_safe(r);
	if (!opening_settles(r, flush_unlock))
		flush_unlock(r);
}

/* No other client sees a file that is delegated to write. So close(2) need only wait until the
 * server has taken the written data, and so has reported a lack of space. The release of the file
 * then commits the data. But an unlock sent to the server tells other clients that all data is
 * there. And data without a copy here cannot be written again: close(2) must report a loss. */
static enum written_level flush_level(const struct fs *fs, struct inode *ino)
{
	uint64_t since = deleg_alone_since(fs, ino);

	return since && locker_all_local(ino, since) && !filedata_at_risk(&ino->data) ? TRY_STABLE
										      : STABLE;
}

static void flush_begin(struct request *r)
{
	struct inode *ino = r->file->inode;

	locker_flushing(r->file);
	r->flush.outlives = locker_known(ino, flush_of(r)->owner, NULL);
	if (!waits_safe(r, flush_level(r->fs, ino), flush_settle))
		flush_settle(r);
}

void ops_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r = request_new_cred(fs_of(req), req, &f->cred);

	if (!r)
		return;
	change_file_used(f);
	view_heard(&f->inode->view, r->pid, r->born);
	if ((f->flags & O_ACCMODE) != O_RDONLY)
		turn_end(r->fs, f->inode, r->pid);
	r->file = f;
	r->inode = inode_ref(f->inode);
	flush_of(r)->owner = fi->lock_owner;
	flush_begin(r);
}

static void sync_done(struct request *r)
{
	request_end(r, filedata_fsync(&r->file->inode->data, &r->file->told));
}

static void sync_settle(struct request *r)
{
	note_safe(r);
	if (!opening_settles(r, sync_done))
		sync_done(r);
}

void ops_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r = request_new_cred(fs_of(req), req, &f->cred);

	if (!r)
		return;
	r->file = f;
	r->inode = inode_ref(f->inode);
	if (!waits_safe(r, STABLE, sync_settle))
		sync_settle(r);
}

void ops_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r;

	if (!f) { /* a former daemon has closed the file, and was killed before the answer */
		fuse_reply_err(req, 0);
		return;
	}
	if (f->fs->ledger && !f->fs->may_resend) {
		f->released = true;
		file_noted(f);
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	close_file(fs_of(req), f, r, 0);
}
