/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening: files that are opened while their names go.
 */
#include "fs/opening.h"

#include "fs/ops.h"

void opening_begin(struct fs *fs, struct inode *ino)
{
	atomic_fetch_add(&fs->open_files, 1);
	pthread_mutex_lock(&ino->lock);
	ino->nopen++;
	pthread_mutex_unlock(&ino->lock);
}

void opening_end(struct fs *fs, struct inode *ino)
{
	struct silly *s;

	pthread_mutex_lock(&ino->lock);
	ino->nopen--;
	pthread_mutex_unlock(&ino->lock);
	atomic_fetch_sub(&fs->open_files, 1);
	s = silly_take(ino);
	if (s)
		silly_remove(fs, s);
}

bool opening_waits(struct request *r, request_step_fn *next)
{
	struct inode *ino = r->inode;
	struct fs *fs = r->fs;
	bool going;

	r->next = next;
	pthread_mutex_lock(&fs->silly_lock);
	pthread_mutex_lock(&ino->lock);
	going = ino->going > 0;
	pthread_mutex_unlock(&ino->lock);
	if (going)
		SLIST_INSERT_HEAD(&fs->opens, r, free);
	pthread_mutex_unlock(&fs->silly_lock);
	return going;
}

bool opening_claim(struct request *r, struct inode *ino, bool hold)
{
	bool open;

	pthread_mutex_lock(&ino->lock);
	open = ino->nopen > 0;
	if (open)
		ino->nopen += hold;
	else
		ino->going++;
	pthread_mutex_unlock(&ino->lock);
	if (open && hold)
		atomic_fetch_add(&r->fs->open_files, 1);
	if (!open)
		r->going = ino;
	return !open;
}

void opening_claim_end(struct request *r)
{
	SLIST_HEAD(, request) list = SLIST_HEAD_INITIALIZER(list);
	struct request *waits;
	struct fs *fs = r->fs;

	if (!r->going)
		return;
	pthread_mutex_lock(&fs->silly_lock);
	pthread_mutex_lock(&r->going->lock);
	r->going->going--;
	pthread_mutex_unlock(&r->going->lock);
	while ((waits = SLIST_FIRST(&fs->opens))) {
		SLIST_REMOVE_HEAD(&fs->opens, free);
		SLIST_INSERT_HEAD(&list, waits, free);
	}
	pthread_mutex_unlock(&fs->silly_lock);
	r->going = inode_unref(r->going);
	while ((waits = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, free);
		if (!opening_waits(waits, waits->next))
			waits->next(waits);
	}
}

static _Atomic pid_t *slot_of(const struct request *r)
{
	return &r->fs->told_stale[(unsigned)r->pid % STALE_THREADS];
}

void opening_tell_stale(const struct request *r)
{
	if (r->pid)
		atomic_store(slot_of(r), r->pid);
}

bool opening_told_stale(const struct request *r)
{
	pid_t pid = atomic_load(slot_of(r));

	return r->pid && (pid == r->pid || pid == -r->pid);
}

void opening_not_found(const struct request *r)
{
	pid_t pid = r->pid, failed = -r->pid;

	if (pid && !atomic_compare_exchange_strong(slot_of(r), &pid, -r->pid))
		atomic_compare_exchange_strong(slot_of(r), &failed, 0);
}

bool opening_take_stale(const struct request *r)
{
	pid_t pid = r->pid, failed = -r->pid;

	return pid && (atomic_compare_exchange_strong(slot_of(r), &pid, 0) ||
			      atomic_compare_exchange_strong(slot_of(r), &failed, 0));
}
