/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening: files that are opened while their names are being removed, or that are not quite made
 * yet.
 */
#include "fs/opening.h"

#include <stdlib.h>

#include "fs/fs.h"

struct openings {
	pthread_mutex_t lock;	     /* what follows */
	struct request_list waiting; /* opens, by request.free; next goes on */
};

struct openings *openings_new(void)
{
	struct openings *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	pthread_mutex_init(&o->lock, NULL);
	SLIST_INIT(&o->waiting);
	return o;
}

struct openings *openings_free(struct openings *o)
{
	if (!o)
		return NULL;
	pthread_mutex_destroy(&o->lock);
	free(o);
	return NULL;
}

void opening_begin(struct fs *fs, struct inode *ino)
{
	atomic_fetch_add(&fs->open_files, 1);
	pthread_mutex_lock(&ino->lock);
	ino->nopen++;
	pthread_mutex_unlock(&ino->lock);
}

void opening_end(struct fs *fs, struct inode *ino)
{
	pthread_mutex_lock(&ino->lock);
	ino->nopen--;
	pthread_mutex_unlock(&ino->lock);
	atomic_fetch_sub(&fs->open_files, 1);
}

static bool wait_for(struct request *r, bool settles, request_step_fn *next)
{
	struct openings *o = r->fs->openings;
	struct inode *ino = r->inode;
	bool waits;

	r->next = next;
	r->settles = settles;
	pthread_mutex_lock(&o->lock);
	pthread_mutex_lock(&ino->lock);
	waits = (settles ? ino->settling : ino->unlinking) > 0;
	pthread_mutex_unlock(&ino->lock);
	if (waits)
		SLIST_INSERT_HEAD(&o->waiting, r, free);
	pthread_mutex_unlock(&o->lock);
	return waits;
}

bool opening_waits(struct request *r, request_step_fn *next)
{
	return wait_for(r, false, next);
}

bool opening_settling(struct inode *ino)
{
	bool settling;

	pthread_mutex_lock(&ino->lock);
	settling = ino->settling > 0;
	pthread_mutex_unlock(&ino->lock);
	return settling;
}

bool opening_settles(struct request *r, request_step_fn *next)
{
	return opening_settling(r->inode) && wait_for(r, true, next);
}

bool opening_claim(struct request *r, struct inode *ino, bool hold)
{
	bool open;

	pthread_mutex_lock(&ino->lock);
	open = ino->nopen > 0;
	if (open)
		ino->nopen += hold;
	else
		ino->unlinking++;
	pthread_mutex_unlock(&ino->lock);
	if (open && hold)
		atomic_fetch_add(&r->fs->open_files, 1);
	if (!open)
		r->unlinking = ino;
	return !open;
}

/* Something that is waited for has ended: the count goes down, and all look again. */
static void ended(struct fs *fs, struct inode *ino, unsigned *count)
{
	struct request_list list;
	struct openings *o = fs->openings;
	struct request *waits;

	pthread_mutex_lock(&o->lock);
	pthread_mutex_lock(&ino->lock);
	--*count;
	pthread_mutex_unlock(&ino->lock);
	list = o->waiting;
	SLIST_INIT(&o->waiting);
	pthread_mutex_unlock(&o->lock);
	inode_unref(ino);
	while ((waits = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, free);
		if (!wait_for(waits, waits->settles, waits->next))
			waits->next(waits);
	}
}

void opening_claim_end(struct request *r)
{
	struct inode *ino = r->unlinking;

	r->unlinking = NULL;
	if (ino)
		ended(r->fs, ino, &ino->unlinking);
}

void opening_settle_begin(struct inode *ino)
{
	pthread_mutex_lock(&ino->lock);
	ino->settling++;
	pthread_mutex_unlock(&ino->lock);
}

void opening_settle_end(struct fs *fs, struct inode *ino)
{
	ended(fs, inode_ref(ino), &ino->settling);
}

void openings_take_gone(struct fs *fs, struct request_list *gone)
{
	struct openings *o = fs->openings;

	pthread_mutex_lock(&o->lock);
	request_list_take_gone(&o->waiting, gone);
	pthread_mutex_unlock(&o->lock);
}
