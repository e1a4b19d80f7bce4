/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * locker: the owners that may hold locks on a file, and clearing the locks that they leave behind.
 */
#include "fs/file/locker.h"

#include <fcntl.h>
#include <stdlib.h>

#include "transport/clock.h"

/* A FLUSH up to FLUSHED_NS before a request may belong to a close that the asker knows of: between
 * the answer to the FLUSH and the RELEASE, and between the RELEASE and the request, a program had
 * to be woken. The RELEASE was sent before the request. So a worker has read the RELEASE, and
 * begins with it within BEGUN_NS. */
#define FLUSHED_NS NSEC_PER_SEC
#define BEGUN_NS   50000000u

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
 * none. */
static bool take(struct inode *ino, const struct file *f, uint64_t owner, uint64_t *taken)
{
	struct locker *l;

	mutex_lock(&ino->lock);
	LIST_FOREACH (l, &ino->locks.owners, link)
		if (f ? l->file == f : l->owner == owner)
			break;
	if (l) {
		*taken = l->owner;
		LIST_REMOVE(l, link);
	}
	mutex_unlock(&ino->lock);
	if (!l)
		return false;
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

void locker_clear(struct request *r, uint64_t owner, request_step_fn *next)
{
	struct nfs_op *op = request_op(r, NFS_LOCK, lock);

	op->u.lock.open = r->file->open;
	op->u.lock.fh = r->file->inode->fh;
	op->u.lock.owner = owner;
	op->u.lock.type = F_UNLCK;
	op->u.lock.end = UINT64_MAX;
	request_submit(r, next);
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
		if (locker_known(f->inode, owner, NULL))
			continue;
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
