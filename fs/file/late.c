/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * late: changes of a file's data that outlive the process that asked for them.
 *
 * All such requests of a mount are in one list, from late_begin() on, and all waiting requests in
 * another. An inode counts its LATE requests. Where the count is 0, as nearly always, no thread
 * takes the lock.
 */
#include "fs/file/late.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "fs/coherence/inval.h"
#include "fs/kernel/ending.h"
#include "fs/file/flush.h"
#include "transport/clock.h"
#include "transport/lock.h"

#define DRAIN_NS      (3 * NSEC_PER_SEC)
#define DRAIN_POLL_NS 5000000

TAILQ_HEAD(late_list, request); /* by request.late.wait */

struct lates {
	struct mutex lock;				 /* also guards request.late */
	GUARDED_BY(lock) LIST_HEAD(, request) under_way; /* by request.late.link */
	struct late_list waiting GUARDED_BY(lock);
	unsigned n GUARDED_BY(lock); /* requests that are LATE */
};

struct lates *lates_new(void)
{
	struct lates *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	mutex_init(&l->lock);
	LIST_INIT(&l->under_way);
	TAILQ_INIT(&l->waiting);
	return l;
}

struct lates *lates_free(struct lates *l)
{
	if (!l)
		return NULL;
	mutex_destroy(&l->lock);
	free(l);
	return NULL;
}

/* --- changes of a file ------------------------------------------------------------------------ */

/* As request.late.answers. If r is LATE, r stays until it is freed. */
static void answers(struct request *r)
{
	struct lates *l = r->fs->lates;
	struct inode *ino = NULL;

	mutex_lock(&l->lock);
	if (!r->late.is) {
		LIST_REMOVE(r, late.link);
		ino = r->late.of;
		r->late.of = NULL;
	}
	mutex_unlock(&l->lock);
	inode_unref(ino);
}

static bool meets_locked(const struct lates *l, const struct inode *ino, uint64_t first,
	uint64_t last) REQUIRES(l->lock)
{
	const struct request *r;

	LIST_FOREACH (r, &l->under_way, late.link)
		if (r->late.is && r->late.of == ino && r->late.first <= last &&
			first <= r->late.last)
			return true;
	return false;
}

static void go_on(struct request *r)
{
	if (request_is_gone(r) && !r->flush.closes && !r->flush.outlives)
		flush_end_killed(r);
	else
		r->late.next(r);
}

/* As request.late.freed: the change by r has ended, and requests that wait for r go on. */
static void freed(struct request *r)
{
	struct late_list ready = TAILQ_HEAD_INITIALIZER(ready);
	struct inode *ino = r->late.of;
	struct lates *l = r->fs->lates;
	struct request *w, *next;

	if (r->late.is) /* the kernel does not know that the file has changed */
		inval_doubt(r->fs->inval, ino);
	mutex_lock(&l->lock);
	LIST_REMOVE(r, late.link);
	r->late.of = NULL;
	if (r->late.is) {
		l->n--;
		atomic_fetch_sub(&ino->late, 1);
	}
	for (w = TAILQ_FIRST(&l->waiting); w; w = next) {
		next = TAILQ_NEXT(w, late.wait);
		if (w->late.behind != ino || meets_locked(l, ino, w->late.from, w->late.to))
			continue;
		TAILQ_REMOVE(&l->waiting, w, late.wait);
		TAILQ_INSERT_TAIL(&ready, w, late.wait);
	}
	mutex_unlock(&l->lock);
	while ((w = TAILQ_FIRST(&ready))) {
		TAILQ_REMOVE(&ready, w, late.wait);
		go_on(w);
	}
	inode_unref(ino);
}

void late_begin(struct request *r, struct inode *ino, uint64_t first, uint64_t last)
{
	struct lates *l = r->fs->lates;

	if (!r->fuse || r->late.of)
		return;
	atomic_store(&r->late.lasts, true);
	request_arm(r); /* here: from now on the main thread may answer r */
	r->late.first = first;
	r->late.last = last;
	r->late.answers = answers;
	r->late.freed = freed;
	mutex_lock(&l->lock);
	r->late.of = inode_ref(ino);
	LIST_INSERT_HEAD(&l->under_way, r, late.link);
	mutex_unlock(&l->lock);
}

void late_end(struct request *r)
{
	if (r->late.of)
		answers(r);
	if (r->late.of) /* r is LATE */
		freed(r);
}

/* --- waiting for the change ------------------------------------------------------------------- */

bool late_meets(struct fs *fs, struct inode *ino, uint64_t first, uint64_t last)
{
	bool any;

	if (!atomic_load(&ino->late))
		return false;
	mutex_lock(&fs->lates->lock);
	any = meets_locked(fs->lates, ino, first, last);
	mutex_unlock(&fs->lates->lock);
	return any;
}

bool late_waits(
	struct request *r, struct inode *ino, uint64_t first, uint64_t last, request_step_fn *next)
{
	struct lates *l = r->fs->lates;
	bool waits, gone;

	if (!late_meets(r->fs, ino, first, last))
		return false;
	if (!r->flush.closes && r->fuse)
		request_watch(r);
	r->late.behind = ino;
	r->late.from = first;
	r->late.to = last;
	r->late.next = next;
	mutex_lock(&l->lock);
	waits = meets_locked(l, ino, first, last);
	/* late_end_gone() may have looked before r was in the list */
	gone = waits && request_is_gone(r) && !r->flush.closes;
	if (gone && r->flush.outlives) {
		flush_outlive(r);
		gone = false;
	}
	if (waits && !gone)
		TAILQ_INSERT_TAIL(&l->waiting, r, late.wait);
	mutex_unlock(&l->lock);
	if (gone)
		flush_end_killed(r);
	return waits;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* r, which changes a file, is answered but goes on. */
static void make_late_locked(struct lates *l, struct request *r) REQUIRES(l->lock)
{
	r->late.is = true;
	l->n++;
	atomic_fetch_add(&r->late.of->late, 1);
	request_abandon(r);
}

void late_end_gone(struct fs *fs)
{
	struct late_list gone = TAILQ_HEAD_INITIALIZER(gone);
	struct lates *l = fs->lates;
	struct request *r, *next;

	mutex_lock(&l->lock);
	LIST_FOREACH (r, &l->under_way, late.link)
		if (!r->late.is && request_is_gone(r))
			make_late_locked(l, r);
	for (r = TAILQ_FIRST(&l->waiting); r; r = next) {
		next = TAILQ_NEXT(r, late.wait);
		if (r->flush.closes || !request_is_gone(r))
			continue;
		if (r->flush.outlives) {
			flush_outlive(r);
			continue;
		}
		TAILQ_REMOVE(&l->waiting, r, late.wait);
		TAILQ_INSERT_TAIL(&gone, r, late.wait);
	}
	mutex_unlock(&l->lock);
	while ((r = TAILQ_FIRST(&gone))) {
		TAILQ_REMOVE(&gone, r, late.wait);
		flush_end_killed(r);
	}
}

static bool any(struct lates *l)
{
	bool any;

	mutex_lock(&l->lock);
	any = l->n > 0;
	mutex_unlock(&l->lock);
	return any;
}

void late_drain(struct fs *fs)
{
	uint64_t until = ending_until(fs, DRAIN_NS);

	while (any(fs->lates) && clock_ns() < until)
		nanosleep(&(struct timespec){.tv_nsec = DRAIN_POLL_NS}, NULL);
}
