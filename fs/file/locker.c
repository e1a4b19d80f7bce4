/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * locker: the owners that may hold locks on a file, and clearing the locks that they leave behind.
 */
#include "fs/file/locker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/ledger.h"

/* A FLUSH up to FLUSHED_NS before a request may belong to a close that the asker knows of: between
 * the answer to the FLUSH and the RELEASE, and between the RELEASE and the request, a program had
 * to be woken. The RELEASE was sent before the request. So a worker has read the RELEASE, and
 * begins with it within BEGUN_NS. */
#define FLUSHED_NS NSEC_PER_SEC
#define BEGUN_NS   50000000u

/* --- notes ------------------------------------------------------------------------------------ */

/* The note of a locker. */
struct locker_told {
	uint64_t file; /* file.handle.number */
	uint64_t owner;
	int64_t pid;
};

/* Before the server is asked for the lock. */
static void put_note_locked(struct ledger *l, struct locker *of, struct inode *ino)
	REQUIRES(ino->lock)
{
	struct locker_told told = {of->file->handle.number, of->owner, of->pid};

	ledger_put(l, &of->note, NOTE_LOCKER, &told, sizeof(told));
}

/* The locks of owner on ino are cleared. */
static void drop_notes(struct ledger *l, struct inode *ino, uint64_t owner)
{
	struct locker *of, *next;

	mutex_lock(&ino->lock);
	for (of = LIST_FIRST(&ino->locks.leaving); of; of = next) {
		next = LIST_NEXT(of, link);
		if (of->owner != owner)
			continue;
		LIST_REMOVE(of, link);
		ledger_drop(l, &of->note);
		free(of);
	}
	mutex_unlock(&ino->lock);
}

/* The file that has a number, if the file is open. */
static struct file *file_numbered(struct fs *fs, uint64_t number)
{
	struct handle *h = numbers_inherited(&fs->handle_numbers, number);

	return h && file_is(h) ? (struct file *)h : NULL;
}

int lockers_former(struct fs *fs, const struct former *former, struct err *e)
{
	for (uint32_t i = 0; i < former_count(former, NOTE_LOCKER); i++) {
		struct locker_told told;
		struct file *f;
		uint32_t len;
		const void *data = former_note(former, NOTE_LOCKER, i, &len);

		if (len != sizeof(told))
			return err_set(
				e, ERR_INTERNAL, "a note of the former daemon's locks is damaged");
		memcpy(&told, data, sizeof(told));
		f = file_numbered(fs, told.file);
		if (!f)
			continue;
		if (!locker_add(f, told.owner, (pid_t)told.pid))
			return err_set(e, ERR_INTERNAL, "out of memory for owners of locks");
		/* any of the bytes may be locked alone */
		locker_excludes(f, told.owner, 0, UINT64_MAX);
	}
	return 0;
}

/* --- owners ----------------------------------------------------------------------------------- */

bool locker_add(struct file *f, uint64_t owner, pid_t pid)
{
	struct inode *ino = f->inode;
	struct locker *l, *mine = malloc(sizeof(*mine));

	if (!mine)
		return false;
	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->owner == owner && l->file == f)
			break;
	if (!l) {
		mine->owner = owner;
		mine->file = f;
		mine->pid = pid;
		mine->flushed = mine->local_since = mine->last = 0;
		mine->first = UINT64_MAX;
		mine->note = (struct note){0};
		put_note_locked(f->fs->ledger, mine, ino);
		LIST_INSERT_HEAD(&ino->locks.owners, mine, link);
	}
	mutex_unlock(&ino->lock);
	if (l)
		free(mine);
	return true;
}

bool locker_known(struct inode *ino, uint64_t owner, pid_t *pid)
{
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->owner == owner)
			break;
	if (l && pid)
		*pid = l->pid;
	mutex_unlock(&ino->lock);
	return l != NULL;
}

bool locker_any(struct inode *ino)
{
	bool any;

	mutex_lock(&ino->lock);
	any = !LIST_EMPTY(&ino->locks.owners);
	mutex_unlock(&ino->lock);
	return any;
}

void locker_granted(struct file *f, uint64_t owner, uint64_t since)
{
	struct inode *ino = f->inode;
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->owner == owner && l->file == f)
			l->local_since = since;
	mutex_unlock(&ino->lock);
}

void locker_excludes(struct file *f, uint64_t owner, uint64_t first, uint64_t last)
{
	struct inode *ino = f->inode;
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link) {
		if (l->owner != owner || l->file != f)
			continue;
		l->first = first < l->first ? first : l->first;
		l->last = last > l->last ? last : l->last;
	}
	mutex_unlock(&ino->lock);
}

bool locker_may_weaken(struct inode *ino, uint64_t owner, uint64_t first, uint64_t last)
{
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->owner == owner && l->first <= l->last && first <= l->last &&
			last >= l->first)
			break;
	mutex_unlock(&ino->lock);
	return l;
}

bool locker_all_local(struct inode *ino, uint64_t since)
{
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->local_since != since)
			break;
	mutex_unlock(&ino->lock);
	return !l;
}

/* Removes one locker from the list: of the open file f or, with f NULL, of owner. False: there is
 * none. The note stays until the server has cleared the locks: drop_notes(). */
static bool take(struct inode *ino, const struct file *f, uint64_t owner, uint64_t *taken)
{
	bool noted = false;
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (f ? l->file == f : l->owner == owner)
			break;
	if (l) {
		*taken = l->owner;
		noted = l->note.at;
		LIST_REMOVE(l, link);
		if (noted)
			LIST_INSERT_HEAD(&ino->locks.leaving, l, link);
	}
	mutex_unlock(&ino->lock);
	if (!l)
		return false;
	if (!noted)
		free(l);
	return true;
}

bool locker_moved(struct file *f, unsigned *ended, uint64_t asked)
{
	bool expected = clock_age(clock_ns(), asked) < BEGUN_NS, moved;
	struct inode *ino = f->inode;
	struct locker *l;

	mutex_lock(&ino->lock);
	moved = ino->locks.pending || ino->locks.ended != *ended;
	LIST_FOREACH (l, &ino->locks.owners, link)
		moved |= expected && l->file != f && l->flushed && l->flushed + FLUSHED_NS > asked;
	*ended = ino->locks.ended;
	mutex_unlock(&ino->lock);
	return moved;
}

void locker_flushing(struct file *f)
{
	struct inode *ino = f->inode;
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->file == f)
			l->flushed = clock_ns();
	mutex_unlock(&ino->lock);
}

bool locker_flush(struct file *f, uint64_t owner)
{
	bool any = false;
	uint64_t taken;

	while (take(f->inode, NULL, owner, &taken))
		any = true;
	return any;
}

static void cleared(struct request *r)
{
	if (r->fs->ledger)
		drop_notes(r->fs->ledger, r->file->inode, r->batch.first.op.u.lock.owner);
	r->cleared(r);
}

void locker_clear(struct request *r, uint64_t owner, request_step_fn *next)
{
	struct nfs_op *op = request_op(r, NFS_LOCK, lock);

	r->cleared = next;
	op->u.lock.open = r->file->open;
	op->u.lock.fh = r->file->inode->fh;
	op->u.lock.owner = owner;
	op->u.lock.type = F_UNLCK;
	op->u.lock.end = UINT64_MAX;
	request_submit(r, cleared);
}

void locker_close_begin(struct file *f)
{
	struct inode *ino = f->inode;
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (l->file == f)
			break;
	f->drops_locks = l != NULL;
	ino->locks.pending += f->drops_locks;
	mutex_unlock(&ino->lock);
}

static void close_step(struct request *r)
{
	struct file *f = r->file;
	uint64_t owner;

	while (take(f->inode, f, 0, &owner)) {
		if (locker_known(f->inode, owner, NULL)) {
			drop_notes(f->fs->ledger, f->inode, owner);
			continue;
		}
		locker_clear(r, owner, close_step);
		return;
	}
	if (f->drops_locks) {
		mutex_lock(&f->inode->lock);
		f->inode->locks.pending--;
		f->inode->locks.ended++;
		mutex_unlock(&f->inode->lock);
	}
	r->next(r);
}

void locker_close(struct request *r, request_step_fn *next)
{
	r->next = next;
	close_step(r);
}
