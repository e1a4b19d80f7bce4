/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening: opens of files during the removal of a name, or before the times are set.
 */
#include "fs/file/opening.h"

#include <stdlib.h>
#include <sys/eventfd.h>

#include "fs/known/fs.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

/* the longest wait of the times for another request that sets times too */
#define PARK_NS 20000000u

struct openings {
	struct mutex lock;
	struct request_list waiting GUARDED_BY(lock); /* opens, by request.free; next goes on */
	/* each the settler of its inode; next sets the inode's times */
	struct request_list parked GUARDED_BY(lock);
	bool ticks GUARDED_BY(lock); /* the main thread looks again soon */
};

struct openings *openings_new(void)
{
	struct openings *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	mutex_init(&o->lock);
	SLIST_INIT(&o->waiting);
	SLIST_INIT(&o->parked);
	return o;
}

struct openings *openings_free(struct openings *o)
{
	if (!o)
		return NULL;
	mutex_destroy(&o->lock);
	free(o);
	return NULL;
}

void opening_begin(struct fs *fs, struct inode *ino)
{
	atomic_fetch_add(&fs->open_files, 1);
	mutex_lock(&ino->lock);
	ino->opens.count++;
	mutex_unlock(&ino->lock);
}

void opening_end(struct fs *fs, struct inode *ino)
{
	mutex_lock(&ino->lock);
	ino->opens.count--;
	mutex_unlock(&ino->lock);
	atomic_fetch_sub(&fs->open_files, 1);
}

static bool wait_for(struct request *r, bool settles, request_step_fn *next)
{
	struct openings *o = r->fs->openings;
	struct inode *ino = r->inode;
	bool waits;

	r->next = next;
	r->opening.settles = settles;
	mutex_lock(&o->lock);
	mutex_lock(&ino->lock);
	waits = (settles ? ino->opens.settling : ino->opens.unlinking) > 0;
	mutex_unlock(&ino->lock);
	if (waits)
		SLIST_INSERT_HEAD(&o->waiting, r, free);
	mutex_unlock(&o->lock);
	return waits;
}

/* Removes the settler of ino if the settler belongs to cred, or if cred is NULL. */
static struct request *unpark(struct openings *o, struct inode *ino, const struct rpc_cred *cred)
{
	struct request *settler;

	mutex_lock(&o->lock);
	settler = ino->opens.settler;
	if (settler && cred && !rpc_same_cred(cred, &settler->batch.cred))
		settler = NULL;
	if (settler) {
		SLIST_REMOVE(&o->parked, settler, request, free);
		ino->opens.settler = NULL;
	}
	mutex_unlock(&o->lock);
	return settler;
}

bool opening_waits(struct request *r, request_step_fn *next)
{
	return wait_for(r, false, next);
}

bool opening_settling(struct inode *ino)
{
	bool settling;

	mutex_lock(&ino->lock);
	settling = ino->opens.settling > 0;
	mutex_unlock(&ino->lock);
	return settling;
}

bool opening_settles(struct request *r, request_step_fn *next)
{
	struct request *settler;

	if (!opening_settling(r->inode))
		return false;
	settler = unpark(r->fs->openings, r->inode, NULL);
	if (settler)
		settler->next(settler);
	return wait_for(r, true, next);
}

bool opening_claim(struct request *r, struct inode *ino, bool hold)
{
	bool open;

	mutex_lock(&ino->lock);
	open = ino->opens.count > 0;
	if (open)
		ino->opens.count += hold;
	else
		ino->opens.unlinking++;
	mutex_unlock(&ino->lock);
	if (open && hold)
		atomic_fetch_add(&r->fs->open_files, 1);
	if (!open)
		r->unlinking = ino;
	return !open;
}

/* The end of an unlink or a settling: the count goes down, and all waiting requests look again. */
static void ended(struct fs *fs, struct inode *ino, unsigned *count)
{
	struct request_list list;
	struct openings *o = fs->openings;
	struct request *waits;

	mutex_lock(&o->lock);
	mutex_lock(&ino->lock);
	--*count;
	mutex_unlock(&ino->lock);
	list = o->waiting;
	SLIST_INIT(&o->waiting);
	mutex_unlock(&o->lock);
	inode_unref(ino);
	while ((waits = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, free);
		if (!wait_for(waits, waits->opening.settles, waits->next))
			waits->next(waits);
	}
}

void opening_claim_end(struct request *r)
{
	struct inode *ino = r->unlinking;

	r->unlinking = NULL;
	if (ino)
		ended(r->fs, ino, &ino->opens.unlinking);
}

void opening_settle_begin(struct inode *ino)
{
	mutex_lock(&ino->lock);
	ino->opens.settling++;
	mutex_unlock(&ino->lock);
}

void opening_settle_end(struct fs *fs, struct inode *ino)
{
	ended(fs, inode_ref(ino), &ino->opens.settling);
}

void opening_park(struct request *r, request_step_fn *next)
{
	struct openings *o = r->fs->openings;
	bool ticks;

	r->next = next;
	settle_of(r)->parked = clock_ns();
	mutex_lock(&o->lock);
	SLIST_INSERT_HEAD(&o->parked, r, free);
	r->inode->opens.settler = r;
	ticks = o->ticks;
	o->ticks = true;
	mutex_unlock(&o->lock);
	if (!ticks && eventfd_write(r->fs->wake_fd, 1))
		log_ctrl("eventfd: cannot wake the main thread");
}

bool opening_take(struct request *r)
{
	if (opening_settling(r->inode))
		r->opening.settler = unpark(r->fs->openings, r->inode, &r->batch.cred);
	return r->opening.settler != NULL;
}

void opening_settled(struct request *r)
{
	struct request *settler = r->opening.settler;

	r->opening.settler = NULL;
	if (!settler)
		return;
	opening_settle_end(r->fs, settler->inode);
	request_free(settler);
}

bool openings_tick(struct fs *fs, bool all)
{
	struct request_list due = SLIST_HEAD_INITIALIZER(due), stay = SLIST_HEAD_INITIALIZER(stay);
	struct openings *o = fs->openings;
	uint64_t now = clock_ns();
	struct request *r;
	bool ticks;

	mutex_lock(&o->lock);
	while ((r = SLIST_FIRST(&o->parked))) {
		SLIST_REMOVE_HEAD(&o->parked, free);
		if (all || clock_age(now, settle_of(r)->parked) >= PARK_NS) {
			SLIST_INSERT_HEAD(&due, r, free);
			r->inode->opens.settler = NULL;
		} else {
			SLIST_INSERT_HEAD(&stay, r, free);
		}
	}
	o->parked = stay;
	ticks = o->ticks = !SLIST_EMPTY(&stay);
	mutex_unlock(&o->lock);
	while ((r = SLIST_FIRST(&due))) {
		SLIST_REMOVE_HEAD(&due, free);
		r->next(r);
	}
	return ticks;
}

void openings_take_gone(struct fs *fs, struct request_list *gone)
{
	struct openings *o = fs->openings;

	mutex_lock(&o->lock);
	request_list_take_gone(&o->waiting, gone);
	mutex_unlock(&o->lock);
}
