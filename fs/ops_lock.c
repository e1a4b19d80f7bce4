/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_lock: byte-range locks (fcntl, OFD) and flock, which is a lock of the whole file, as the
 * kernel's NFS client has it.
 *
 * Locks live on the server; the kernel keeps none when these operations are in the table. So it
 * does not know either which ones a process leaves behind: each inode has a list of lockers, a lock
 * owner and the open file through which it asked. When a process closes any descriptor of the file,
 * FLUSH names the owner, and all of that owner's locks go. At RELEASE go those of the owners that
 * came through that open file: flock's and OFD locks belong to it.
 *
 * Locking is where caches agree. Written data is on the server already (the kernel writes through);
 * it is committed before an unlock. After a lock is granted the kernel drops the file's pages and
 * attributes before it is told so. That may wait for pages that are being read, so it is done
 * neither on a worker, which may have to fetch that READ, nor on a progress thread, which has to
 * answer it, but on a thread of its own (inval.h). Pages that are mapped and dirty are written back
 * by it too, but not before an unlock: as on a local file system, msync(2) does that.
 *
 * The kernel does not wait for RELEASE: close(2) has returned, and the next process may have asked
 * for the lock that went with it, before the server knows. So a lock that is refused while a
 * RELEASE clears locks of the file, or did so meanwhile, is asked for again. So it is just after a
 * FLUSH of an open file that may hold locks: its RELEASE may be on its way.
 *
 * For the same reason the kernel's number of an open file, the owner of its flock and OFD locks,
 * may come again with the next open file before the RELEASE of the one that had it. So flock has
 * owners numbered here; and a RELEASE leaves alone an owner who is known through another open file
 * too, whose RELEASE then clears all.
 *
 * A wait for a lock ends with EINTR at any signal, as fcntl(2) says; all else only at a fatal one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "fs/inval.h"
#include "fs/ops.h"
#include "transport/log.h"

#define LEAVE_TRIES 1000 /* round trips: the server may be slow to clear what another leaves */
#define FLUSHED_NS  30000000ull /* how long after a FLUSH a RELEASE may be expected */

/* --- lockers ---------------------------------------------------------------------------------- */

static bool locker_add(struct file *f, uint64_t owner, pid_t pid)
{
	struct inode *ino = f->inode;
	struct locker *l, *mine = malloc(sizeof(*mine));

	if (!mine)
		return false;
	pthread_mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->lockers, link)
		if (l->owner == owner && l->file == f)
			break;
	if (!l) {
		mine->owner = owner;
		mine->file = f;
		mine->pid = pid;
		mine->flushed = 0;
		LIST_INSERT_HEAD(&ino->lockers, mine, link);
	}
	pthread_mutex_unlock(&ino->lock);
	if (l)
		free(mine);
	return true;
}

static bool locker_known(struct inode *ino, uint64_t owner, pid_t *pid)
{
	struct locker *l;

	pthread_mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->lockers, link)
		if (l->owner == owner)
			break;
	if (l && pid)
		*pid = l->pid;
	pthread_mutex_unlock(&ino->lock);
	return l != NULL;
}

/* Takes one locker off: of that open file, or with f NULL of that owner. False if there is none. */
static bool locker_take(struct inode *ino, const struct file *f, uint64_t owner, uint64_t *taken)
{
	struct locker *l;

	pthread_mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->lockers, link)
		if (f ? l->file == f : l->owner == owner)
			break;
	if (l) {
		*taken = l->owner;
		LIST_REMOVE(l, link);
	}
	pthread_mutex_unlock(&ino->lock);
	if (!l)
		return false;
	free(l);
	return true;
}

/* Has a RELEASE that cleared locks ended since r asked last, or is one under way or expected? */
static bool locks_moved(struct request *r)
{
	struct inode *ino = r->file->inode;
	struct locker *l;
	uint64_t now;
	bool moved;

	pthread_mutex_lock(&ino->lock);
	now = inode_clock();
	moved = ino->locks_leaving || ino->locks_left != r->locks_left;
	LIST_FOREACH (l, &ino->lockers, link)
		moved |= l->file != r->file && l->flushed && now - l->flushed < FLUSHED_NS;
	r->locks_left = ino->locks_left;
	pthread_mutex_unlock(&ino->lock);
	return moved;
}

/* --- setting ---------------------------------------------------------------------------------- */

static void fill_lock(struct nfs_op *op, struct file *f, uint64_t owner, int type)
{
	op->u.lock.open = f->open;
	op->u.lock.fh = f->inode->fh;
	op->u.lock.owner = owner;
	op->u.lock.type = type;
	op->u.lock.end = UINT64_MAX;
}

static void lock_done(struct request *r);

static void lock_submit(struct request *r, int type, bool wait)
{
	struct nfs_op *op = request_op(r, NFS_LOCK, lock);

	fill_lock(op, r->file, r->owner, type);
	op->u.lock.start = r->lock_start;
	op->u.lock.end = r->lock_end;
	op->u.lock.wait = wait;
	request_submit(r, lock_done);
}

static void lock_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	if (op->error == -EAGAIN && locks_moved(r) && r->lock_tries++ < LEAVE_TRIES) {
		lock_submit(r, op->u.lock.type, false);
		return;
	}
	if (op->error) {
		request_end(r, op->error);
		return;
	}
	/* A FLUSH of the same owner may have come in between. */
	if (!locker_add(r->file, r->owner, r->locker))
		log_warn("a lock may outlast its owner: out of memory");
	inval_then_end(r->fs->inval, r);
}

static void unlock_done(struct request *r)
{
	request_end(r, r->first.op.error);
}

static void unlock_submit(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_LOCK, lock);

	fill_lock(op, r->file, r->owner, F_UNLCK);
	op->u.lock.start = r->lock_start;
	op->u.lock.end = r->lock_end;
	request_submit(r, unlock_done);
}

static void unlock_committed(struct request *r)
{
	ops_commit_result(r); /* who calls fsync or close is told */
	unlock_submit(r);
}

static void set_lock(fuse_req_t req, struct file *f, uint64_t owner, pid_t pid, int type,
	uint64_t start, uint64_t end, bool wait)
{
	struct request *r;

	if (type == F_UNLCK && !locker_known(f->inode, owner, NULL)) {
		fuse_reply_err(req, 0);
		return;
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	if (!r)
		return;
	r->file = f;
	r->owner = owner;
	r->locker = pid;
	r->lock_start = start;
	r->lock_end = end;
	if (type == F_UNLCK) {
		if (inode_dirty(f->inode, &r->gen))
			ops_commit_submit(r, unlock_committed);
		else
			unlock_submit(r);
		return;
	}
	/* first, so that whatever becomes of this request, its lock is cleared in the end */
	if (!locker_add(f, r->owner, pid)) {
		request_end(r, -ENOMEM);
		return;
	}
	r->lock_tries = 0;
	locks_moved(r);
	r->any_signal = wait;
	lock_submit(r, type, wait);
}

void ops_setlk(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep)
{
	uint64_t start = (uint64_t)lock->l_start;
	uint64_t end = lock->l_len ? start + ((uint64_t)lock->l_len - 1) : UINT64_MAX;

	set_lock(req, file_of(fi), fi->lock_owner, lock->l_pid, lock->l_type, start, end, sleep);
}

void ops_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op)
{
	int type = op & LOCK_UN ? F_UNLCK : op & LOCK_EX ? F_WRLCK : F_RDLCK;

	set_lock(req, file_of(fi), file_of(fi)->flock_owner, fuse_req_ctx(req)->pid, type, 0,
		UINT64_MAX, !(op & LOCK_NB));
}

/* --- asking ----------------------------------------------------------------------------------- */

static void getlk_done(struct request *r)
{
	const struct nfs_op *op = &r->first.op;
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
	fuse_req_t fuse;

	if (op->error || (op->u.lockt.type != F_UNLCK && op->u.lockt.start > INT64_MAX)) {
		request_end(r, op->error ? op->error : -EOVERFLOW);
		return;
	}
	if (op->u.lockt.type != F_UNLCK) {
		lock.l_type = (short)op->u.lockt.type;
		lock.l_start = (off_t)op->u.lockt.start;
		/* else 0: of another machine's nobody tells */
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
	struct file *f = file_of(fi);
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

/* --- what is left behind ---------------------------------------------------------------------- */

bool lock_leave_owner(struct file *f, uint64_t owner)
{
	struct inode *ino = f->inode;
	struct locker *l;
	bool any = false;
	uint64_t taken;

	pthread_mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->lockers, link)
		if (l->file == f)
			l->flushed = inode_clock();
	pthread_mutex_unlock(&ino->lock);
	while (locker_take(ino, NULL, owner, &taken))
		any = true;
	return any;
}

void lock_clear(struct request *r, request_step_fn *next)
{
	fill_lock(request_op(r, NFS_LOCK, lock), r->file, r->owner, F_UNLCK);
	request_submit(r, next);
}

void lock_leaving_file(struct file *f)
{
	struct inode *ino = f->inode;
	struct locker *l;

	pthread_mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->lockers, link)
		if (l->file == f)
			break;
	f->locks_leave = l != NULL;
	ino->locks_leaving += f->locks_leave;
	pthread_mutex_unlock(&ino->lock);
}

static void leave_step(struct request *r)
{
	struct file *f = r->file;

	while (locker_take(f->inode, f, 0, &r->owner)) {
		if (locker_known(f->inode, r->owner, NULL))
			continue;
		lock_clear(r, leave_step);
		return;
	}
	if (f->locks_leave) {
		pthread_mutex_lock(&f->inode->lock);
		f->inode->locks_leaving--;
		f->inode->locks_left++;
		pthread_mutex_unlock(&f->inode->lock);
	}
	r->next(r);
}

void lock_leave_file(struct request *r, request_step_fn *next)
{
	r->next = next;
	leave_step(r);
}
