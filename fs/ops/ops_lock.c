/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_lock: byte-range locks (fcntl, OFD) and flock, which is a lock of the whole file, as in the
 * kernel's NFS client.
 *
 * Caches agree at locks. Before an unlock is sent, written data is on the server, and safe there.
 * The same holds before a shared lock replaces an exclusive one: the next reader on another client
 * must not lose sight of the data in a restart of the server. Before any other lock is asked for,
 * written data is on the server. After a lock is granted, the daemon invalidates the kernel's pages
 * and attributes of the file before answering. The invalidation may wait for pages that are being
 * read. So a separate thread invalidates (inval.h): not a worker, which may have to fetch that
 * READ, and not a progress thread, which has to answer the READ. The invalidation also makes the
 * kernel write back mapped dirty pages. Before an unlock the kernel does not write back: as on a
 * local file system, msync(2) does that.
 *
 * While a file is delegated to this mount to write, no other client sees the file. Before the
 * delegation is returned, the file is flushed, and the server is told of its locks
 * (nfs4_lock_local.c). So neither a lock nor an unlock waits. Cached data is valid if it was
 * invalidated at one lock since the delegation.
 *
 * A wait for a lock ends with EINTR at any signal, as fcntl(2) says; other waits only at a fatal
 * signal. But if the server has the LOCK, the process gets the answer: after EINTR another process
 * may try the lock at once, and must not be refused because of that LOCK.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "fs/coherence/deleg.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/file/late.h"
#include "fs/file/locker.h"
#include "fs/kernel/again.h"
#include "fs/kernel/underway.h"
#include "fs/ops/ops.h"
#include "fs/kernel/turn.h"
#include "transport/log.h"

struct lock_state {
	uint64_t owner, start, end;
	pid_t pid;
	int type;	/* F_RDLCK, ... */
	bool flock;	/* not of fcntl(2) */
	bool wait;	/* until the owner of the conflicting lock unlocks */
	unsigned tries; /* how often the lock was asked for again */
	unsigned ended; /* of locker_moved() */
	uint64_t since; /* deleg_alone_since() if the server was not asked */
};

static struct lock_state *lock_of(const struct request *r)
{
	return request_state(r, struct lock_state);
}

/* How often a lock is asked for again while a RELEASE clears locks of the file. Each time costs one
 * round trip. */
#define LEAVE_TRIES 1000

/* --- setting ---------------------------------------------------------------------------------- */

static void lock_submit(struct request *r, int type, bool wait, request_step_fn *step)
{
	struct nfs_op *op = request_op(r, NFS_LOCK, lock);

	op->u.lock.open = r->file->open;
	op->u.lock.fh = r->file->inode->fh;
	op->u.lock.owner = lock_of(r)->owner;
	op->u.lock.type = type;
	op->u.lock.start = lock_of(r)->start;
	op->u.lock.end = lock_of(r)->end;
	op->u.lock.wait = wait;
	request_submit(r, step);
}

static void lock_end(struct request *r)
{
	request_end(r, 0);
}

/* The lock was granted, and the kernel does not believe older attributes and pages. */
static void lock_granted(struct request *r)
{
	if (r->batch.first.op.u.lock.type != F_WRLCK || !turn_settles(r, lock_end))
		lock_end(r);
}

/* Older cached data was invalidated: all cached data was read since the lock. */
static void lock_dropped(struct request *r)
{
	struct inode *ino = r->file->inode;

	mutex_lock(&ino->lock);
	ino->deleg.dropped = lock_of(r)->since;
	mutex_unlock(&ino->lock);
	lock_granted(r);
}

/* op was granted: is cached data valid? */
static bool lock_finds_all(struct request *r, const struct nfs_op *op)
{
	struct inode *ino = r->file->inode;
	bool finds;

	lock_of(r)->since = op->u.lock.local ? deleg_alone_since(r->fs, ino) : 0;
	if (!lock_of(r)->since)
		return false;
	mutex_lock(&ino->lock);
	finds = ino->deleg.dropped == lock_of(r)->since;
	mutex_unlock(&ino->lock);
	return finds;
}

/* r was put off (again.h): the kernel's request begins anew later. False: r must be answered. */
static bool begins_anew(struct request *r)
{
	const struct lock_state *l = lock_of(r);
	const struct fuse_ctx *ctx;
	struct again_lock again = {
		.h = {.len = sizeof(again),
			.opcode = FUSE_SETLKW,
			.unique = r->account.unique,
			.nodeid = inode_id(r->fs->inodes, r->file->inode)},
		.in = {.fh = r->file->handle.number,
			.owner = l->flock ? 0 : l->owner,
			.lk = {.start = l->start,
				.end = l->end > INT64_MAX ? INT64_MAX : l->end,
				.type = (uint32_t)l->type,
				.pid = (uint32_t)l->pid},
			.lk_flags = l->flock ? FUSE_LK_FLOCK : 0},
	};

	if (!atomic_load(&r->fate.put_off) || request_is_gone(r) ||
		atomic_load(&r->fate.interrupted_ns) || !r->fuse)
		return false;
	ctx = fuse_req_ctx(r->fuse);
	again.h.uid = ctx->uid;
	again.h.gid = ctx->gid;
	again.h.pid = (uint32_t)ctx->pid;
	if (!again_keep(r->fs, &again, r->born))
		return false;
	if (r->fs->ledger) /* the calls of this try are nothing to a successor */
		nfs_client_answered(r->fs->client, underway_noted(&r->account));
	request_drop(r);
	return true;
}

static void lock_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	bool finds;

	if (op->error == -EAGAIN && locker_moved(r->file, &lock_of(r)->ended, r->born) &&
		lock_of(r)->tries++ < LEAVE_TRIES) {
		lock_submit(r, op->u.lock.type, false, lock_done);
		return;
	}
	if (op->error == -EINTR && begins_anew(r))
		return;
	if (op->error) {
		request_end(r, op->error);
		return;
	}
	/* Again, because a FLUSH of the same owner may have removed the owner from the list in
	 * between. */
	if (!locker_add(r->file, lock_of(r)->owner, lock_of(r)->pid))
		log_warn("a lock may outlast its owner: out of memory");
	finds = lock_finds_all(r, op);
	if (op->u.lock.type == F_WRLCK) {
		/* before older attributes are invalidated */
		turn_begin(r->file->inode, r->pid);
		locker_excludes(r->file, lock_of(r)->owner, lock_of(r)->start, lock_of(r)->end);
	}
	locker_granted(r->file, lock_of(r)->owner, lock_of(r)->since);
	if (finds) {
		lock_granted(r);
		return;
	}
	writeback_commit(&r->file->inode->written);
	inval_lock_then(r->fs->inval, r, lock_dropped);
}

static void unlock_done(struct request *r)
{
	request_end(r, r->batch.first.op.error);
}

static void lock(struct request *r)
{
	lock_submit(r, lock_of(r)->type, lock_of(r)->wait, lock_done);
}

/* fsync and close report losses. */
static void unlock(struct request *r)
{
	lock_submit(r, F_UNLCK, false, unlock_done);
}

/* flush_waits(), if another client may see the file. */
static bool waits(struct request *r, enum written_level level, request_step_fn *next)
{
	return !deleg_alone_since(r->fs, r->file->inode) &&
	       flush_waits(r, r->file->inode, level, next);
}

static void unlock_begin(struct request *r)
{
	if (!waits(r, STABLE, unlock))
		unlock(r);
}

static void lock_begin(struct request *r)
{
	const struct lock_state *l = lock_of(r);
	bool weakens =
		l->type == F_RDLCK && locker_may_weaken(r->file->inode, l->owner, l->start, l->end);

	if (!waits(r, weakens ? STABLE : WRITTEN, lock))
		lock(r);
}

/* late_waits(), if this mount may hold less of the file after r: a call of a killed process that is
 * still in flight must not overwrite data of another client that holds a lock. */
static bool waits_late(struct request *r, request_step_fn *next)
{
	return lock_of(r)->type != F_WRLCK && late_waits(r, r->file->inode, 0, UINT64_MAX, next);
}

static void set_lock(fuse_req_t req, struct file *f, uint64_t owner, pid_t pid, int type,
	uint64_t start, uint64_t end, bool wait)
{
	struct request *r;

	if (type == F_UNLCK)
		turn_end(fs_of(req), f->inode, fuse_req_ctx(req)->pid);
	if (type == F_UNLCK && !locker_known(f->inode, owner, NULL)) {
		fuse_reply_err(req, 0);
		return;
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	if (!r)
		return;
	view_heard(&f->inode->view, r->pid, r->born);
	r->file = f;
	lock_of(r)->owner = owner;
	lock_of(r)->pid = pid;
	lock_of(r)->start = start;
	lock_of(r)->end = end;
	lock_of(r)->type = type;
	lock_of(r)->wait = wait;
	lock_of(r)->flock = owner == f->flock_owner;
	if (type == F_UNLCK) {
		if (!waits_late(r, unlock_begin))
			unlock_begin(r);
		return;
	}
	/* before LOCK is sent: RELEASE then clears the lock however this request ends */
	if (!locker_add(f, owner, pid)) {
		request_end(r, -ENOMEM);
		return;
	}
	locker_moved(f, &lock_of(r)->ended, r->born);
	r->fate.any_signal = wait;
	if (!waits_late(r, lock_begin))
		lock_begin(r);
}

void ops_setlk(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep)
{
	uint64_t start = (uint64_t)lock->l_start;
	uint64_t end = lock->l_len ? start + ((uint64_t)lock->l_len - 1) : UINT64_MAX;

	set_lock(req, file_of(fs_of(req), fi), fi->lock_owner, lock->l_pid, lock->l_type, start,
		end, sleep);
}

void ops_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op)
{
	int type = op & LOCK_UN ? F_UNLCK : op & LOCK_EX ? F_WRLCK : F_RDLCK;

	set_lock(req, file_of(fs_of(req), fi), file_of(fs_of(req), fi)->flock_owner,
		fuse_req_ctx(req)->pid, type, 0, UINT64_MAX, !(op & LOCK_NB));
}

/* --- testing ---------------------------------------------------------------------------------- */

static void getlk_done(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
	fuse_req_t fuse;

	if (op->error || (op->u.lockt.type != F_UNLCK && op->u.lockt.start > INT64_MAX)) {
		request_end(r, op->error ? op->error : -EOVERFLOW);
		return;
	}
	if (op->u.lockt.type != F_UNLCK) {
		lock.l_type = (short)op->u.lockt.type;
		lock.l_start = (off_t)op->u.lockt.start;
		/* else pid stays 0: a process on another machine is not known */
		if (op->u.lockt.here)
			locker_known(r->file->inode, op->u.lockt.holder, &lock.l_pid);
		if (op->u.lockt.end < INT64_MAX)
			lock.l_len = (off_t)(op->u.lockt.end - op->u.lockt.start + 1);
	}
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_lock(fuse, &lock);
}

void ops_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r = request_new_cred(fs_of(req), req, &f->cred);
	struct nfs_op *op;

	if (!r)
		return;
	r->file = f;
	op = request_op(r, NFS_LOCKT, lockt);
	op->u.lockt.open = f->open;
	op->u.lockt.fh = f->inode->fh;
	op->u.lockt.owner = fi->lock_owner;
	op->u.lockt.type = lock->l_type;
	op->u.lockt.start = (uint64_t)lock->l_start;
	op->u.lockt.end =
		lock->l_len ? op->u.lockt.start + ((uint64_t)lock->l_len - 1) : UINT64_MAX;
	request_submit(r, getlk_done);
}
