/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval: the thread that makes the kernel invalidate a file's cached pages.
 */
#include "fs/coherence/inval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/coherence/change.h"
#include "fs/kernel/ending.h"
#include "fs/kernel/thread.h"
#include "fs/known/file.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define INVAL_STOP_NS (2 * NSEC_PER_SEC)
#define WAIT_NS	      200000000u  /* the longest wait for attributes in flight, and SLOW_NS: */
#define SLOW_NS	      2000000000u /* if the server answers none */
#define POLL_NS	      1000000u

/* A file with attributes that the kernel may believe wrongly. */
struct doubt {
	STAILQ_ENTRY(doubt) link;
	struct inode *ino; /* a reference */
	unsigned times;	   /* view_times() when the doubt arose */
	uint64_t waits;	   /* the doubt waits for view_is_quiet() until this time at most */
};

struct inval {
	struct fs *fs;
	pthread_t thread;
	struct mutex lock; /* a leaf */
	pthread_cond_t wake;
	GUARDED_BY(lock) STAILQ_HEAD(inval_queue, request) queue; /* by request.inval.link */
	GUARDED_BY(lock) STAILQ_HEAD(doubt_queue, doubt) doubts;
	/* the kernel invalidates the pages of this request now; NULL: none, or GONE */
	struct request *now GUARDED_BY(lock);
	bool busy GUARDED_BY(lock); /* the thread is about a request or a doubt */
	bool stop GUARDED_BY(lock);
	bool ended; /* inval_stop() has joined the thread; only the thread that calls inval_stop()
		       uses this */
};

static struct inode *inode_of_job(const struct request *r)
{
	return r->inode ? r->inode : r->file->inode;
}

/* Are the kernel's attributes and pages invalid already? Attributes that a thread asks for after
 * the wait are newer than the lock, and a first notification has invalidated all older ones. A
 * second notification would only make the kernel ignore newer attributes, and the thread go on
 * without them. */
static bool is_blank(const struct request *r, struct inode *ino)
{
	return r->inval.waits && atomic_exchange(&ino->view.blank, true) && r->inval.quiet;
}

/* Makes the kernel invalidate the pages for v->now. The lock is released
 * during the call; inval_end_gone() may end v->now in that time. */
static void inval_one_locked(struct inval *v) REQUIRES(v->lock)
{
	struct inode *ino = inode_ref(inode_of_job(v->now));
	off_t from = v->now->inval.from, len = v->now->inval.len;
	bool alone = v->now->inval.alone, blank = is_blank(v->now, ino);
	struct request *r;
	int rc;

	mutex_unlock(&v->lock);
	if (!alone) {
		atomic_store(&ino->view.renewed, false); /* the next GETATTR asks the server */
		attrs_doubt(&ino->attrs);
		cache_drop_all(&ino->cache);
	}
	if (blank)
		rc = 0;
	else
		rc = change_notify_range(v->fs, ino, from, len);
	change_await_notices(ino);
	if (rc && rc != -ENOENT) /* the kernel has no such inode in its cache */
		log_ctrl("invalidating the pages of file %llu: %s", (unsigned long long)ino->fileid,
			strerror(-rc));
	inode_unref(ino);
	mutex_lock(&v->lock);
	r = v->now;
	v->now = NULL;
	mutex_unlock(&v->lock);
	if (r)
		r->next(r);
	mutex_lock(&v->lock);
}

/* Threads that ask again and again delay a lock by WAIT_NS at most. As long as the kernel is told
 * nothing, no thread does so: the server is slow. */
static bool may_go(struct inval *v, struct request *r, uint64_t now) REQUIRES(v->lock)
{
	struct view *view = &inode_of_job(r)->view;

	if (!r->inval.waits)
		return true;
	r->inval.quiet = view_is_quiet(view);
	if (r->inval.told == atomic_load(&view->count) && now < r->inval.most)
		r->inval.waits = now + WAIT_NS;
	return r->inval.quiet || r->inval.waits <= now || v->stop;
}

/* Removes from the queue the first request that need not wait any longer. NULL: there is none. */
static struct request *take_locked(struct inval *v) REQUIRES(v->lock)
{
	uint64_t now = clock_ns();
	struct request *r;

	STAILQ_FOREACH (r, &v->queue, inval.link)
		if (may_go(v, r, now)) {
			STAILQ_REMOVE(&v->queue, r, request, inval.link);
			return r;
		}
	return NULL;
}

/* Removes the first doubt that need not wait any longer. NULL: there is none. */
static struct doubt *take_doubt_locked(struct inval *v) REQUIRES(v->lock)
{
	uint64_t now = clock_ns();
	struct doubt *d;

	STAILQ_FOREACH (d, &v->doubts, link)
		if (view_is_quiet(&d->ino->view) || d->waits <= now || v->stop) {
			STAILQ_REMOVE(&v->doubts, d, doubt, link);
			return d;
		}
	return NULL;
}

/* Ends d. The lock is released meanwhile. */
static void doubt_one_locked(struct inval *v, struct doubt *d) REQUIRES(v->lock)
{
	mutex_unlock(&v->lock);
	change_forget(v->fs, d->ino, d->times);
	inode_unref(d->ino);
	free(d);
	mutex_lock(&v->lock);
}

/* Waits for the next request or, with requests or doubts in a queue, for POLL_NS at most. */
static void wait_locked(struct inval *v) REQUIRES(v->lock)
{
	struct timespec until = clock_timespec(clock_ns() + POLL_NS);

	if (STAILQ_EMPTY(&v->queue) && STAILQ_EMPTY(&v->doubts))
		cond_wait(&v->wake, &v->lock);
	else
		cond_timedwait(&v->wake, &v->lock, &until);
}

static void *inval_main(void *arg)
{
	struct inval *v = arg;
	struct doubt *d;

	mutex_lock(&v->lock);
	for (;;) {
		v->now = take_locked(v);
		d = v->now ? NULL : take_doubt_locked(v);
		v->busy = v->now || d;
		if (v->now)
			inval_one_locked(v);
		else if (d)
			doubt_one_locked(v, d);
		else if (v->stop)
			break;
		else
			wait_locked(v);
	}
	mutex_unlock(&v->lock);
	return NULL;
}

struct inval *inval_start(struct fs *fs)
{
	struct inval *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->fs = fs;
	mutex_init(&v->lock);
	clock_cond_init(&v->wake);
	STAILQ_INIT(&v->queue);
	STAILQ_INIT(&v->doubts);
	if (!thread_start(fs, &v->thread, inval_main, v, 0))
		return v;
	pthread_cond_destroy(&v->wake);
	mutex_destroy(&v->lock);
	free(v);
	return NULL;
}

bool inval_stop(struct inval *v)
{
	if (!v || v->ended)
		return true;
	mutex_lock(&v->lock);
	v->stop = true;
	pthread_cond_signal(&v->wake);
	mutex_unlock(&v->lock);
	v->ended = clock_join(v->thread, ending_until(v->fs, INVAL_STOP_NS));
	return v->ended;
}

bool inval_is_idle(struct inval *v)
{
	bool idle;

	mutex_lock(&v->lock);
	idle = !v->busy && STAILQ_EMPTY(&v->queue) && STAILQ_EMPTY(&v->doubts);
	mutex_unlock(&v->lock);
	return idle;
}

struct inval *inval_free(struct inval *v)
{
	if (!v)
		return NULL;
	if (!inval_stop(v)) {
		log_warn("the kernel still waits for pages to invalidate");
		pthread_detach(v->thread);
		return NULL;
	}
	pthread_cond_destroy(&v->wake);
	mutex_destroy(&v->lock);
	free(v);
	return NULL;
}

static void drop(struct inval *v, struct request *r, request_step_fn *next)
{
	bool stop;

	r->next = next;
	mutex_lock(&v->lock);
	stop = v->stop;
	if (!stop)
		STAILQ_INSERT_TAIL(&v->queue, r, inval.link);
	pthread_cond_signal(&v->wake);
	mutex_unlock(&v->lock);
	if (stop)
		next(r);
}

void inval_then(struct inval *v, struct request *r, request_step_fn *next)
{
	r->inval.alone = false;
	r->inval.from = r->inval.len = 0;
	r->inval.waits = 0;
	drop(v, r, next);
}

void inval_lock_then(struct inval *v, struct request *r, request_step_fn *next)
{
	r->inval.alone = false;
	r->inval.from = r->inval.len = 0;
	r->inval.waits = clock_ns() + WAIT_NS;
	r->inval.most = clock_ns() + SLOW_NS;
	r->inval.told = atomic_load(&inode_of_job(r)->view.count);
	drop(v, r, next);
}

void inval_pages_then(
	struct inval *v, struct request *r, off_t from, off_t len, request_step_fn *next)
{
	r->inval.alone = true;
	r->inval.from = from;
	r->inval.len = len;
	r->inval.waits = 0;
	drop(v, r, next);
}

/* True: the thread of v ends the doubt. */
static bool put_off(struct inval *v, struct inode *ino, unsigned times)
{
	struct doubt *d = malloc(sizeof(*d));
	bool stop;

	if (!d)
		return false;
	*d = (struct doubt){.ino = ino, .times = times, .waits = clock_ns() + WAIT_NS};
	mutex_lock(&v->lock);
	stop = v->stop;
	if (!stop) {
		inode_ref(ino);
		STAILQ_INSERT_TAIL(&v->doubts, d, link);
	}
	pthread_cond_signal(&v->wake);
	mutex_unlock(&v->lock);
	if (stop)
		free(d);
	return !stop;
}

void inval_doubt(struct inval *v, struct inode *ino)
{
	unsigned times;

	attrs_doubt_rights(&ino->attrs);
	times = view_times(&ino->view);
	if (!view_still_believes(&ino->view, times))
		return;
	if (view_is_quiet(&ino->view) || !put_off(v, ino, times))
		change_forget(v->fs, ino, times);
}

void inval_end_gone(struct inval *v)
{
	struct inval_queue gone = STAILQ_HEAD_INITIALIZER(gone);
	struct inval_queue all = STAILQ_HEAD_INITIALIZER(all);
	struct request *r;

	mutex_lock(&v->lock);
	STAILQ_CONCAT(&all, &v->queue);
	while ((r = STAILQ_FIRST(&all))) {
		STAILQ_REMOVE_HEAD(&all, inval.link);
		if (request_is_gone(r))
			STAILQ_INSERT_TAIL(&gone, r, inval.link);
		else
			STAILQ_INSERT_TAIL(&v->queue, r, inval.link);
	}
	if (v->now && request_is_gone(v->now)) {
		STAILQ_INSERT_TAIL(&gone, v->now, inval.link);
		v->now = NULL;
	}
	mutex_unlock(&v->lock);
	while ((r = STAILQ_FIRST(&gone))) {
		STAILQ_REMOVE_HEAD(&gone, inval.link);
		r->next(r);
	}
}
