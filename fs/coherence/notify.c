/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * notify: invalidates names in the kernel.
 */
#include "fs/coherence/notify.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/kernel/ending.h"
#include "fs/kernel/thread.h"
#include "fs/known/fs.h"
#include "fs/known/inode_record.h"
#include "fs/known/names.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define STOP_WAIT_NS (3 * NSEC_PER_SEC)
#define AGAIN_NS     NSEC_PER_SEC
#define JOB_BYTES    24u /* the least that names to be told again take in a record */

struct job {
	STAILQ_ENTRY(job) next;
	/* the directory of the names; a reference. NULL: the job is to call step(r) */
	struct inode *dir;
	char *names;	   /* each with its NUL */
	size_t len, fresh; /* fresh: the number of bytes in front to tell again, AGAIN_NS later */
	bool again;	   /* the names are being told a second time */
	uint64_t due;	   /* when the job is due, on clock_ns() */
	struct request *r;
	request_step_fn *step;
};

struct notifier {
	struct fs *fs;
	pthread_t thread;
	struct mutex lock;
	pthread_cond_t some;
	GUARDED_BY(lock) STAILQ_HEAD(job_queue, job) jobs;
	struct job_queue later GUARDED_BY(lock); /* by job.due */
	/* names in this directory are being told; NULL: none */
	const struct inode *now GUARDED_BY(lock);
	bool busy GUARDED_BY(lock); /* the thread is about a job */
	bool stop GUARDED_BY(lock);
	bool ended; /* the thread has been joined; only the thread that calls notifier_stop() uses
		       this */
};

static void tell(struct fs *fs, struct inode *dir, const char *name)
{
	uint64_t id = inode_id(fs->inodes, dir);
	int r = fuse_lowlevel_notify_expire_entry(
		fs->se, id, name, strlen(name), FUSE_LL_EXPIRE_ONLY);

	/* An old kernel cannot expire a name, so the name is dropped from its cache. */
	if (r == -ENOSYS)
		r = fuse_lowlevel_notify_inval_entry(fs->se, id, name, strlen(name));
	if (r && r != -ENOENT && r != -ENOTDIR)
		log_ctrl("the kernel did not invalidate %s: %s", name, strerror(-r));
}

/* Ends a job, with its names told or not. */
static void drop_job(struct job *j)
{
	if (j->dir) {
		if (!j->again)
			atomic_fetch_sub(&j->dir->dirnames.recalls, 1);
		inode_unref(j->dir);
	} else {
		j->step(j->r);
	}
	free(j->names);
	free(j);
}

/* True: names of j, which have been told, wait to be told again. */
static bool tell_again_later(struct notifier *n, struct job *j)
{
	bool later = j->fresh && !j->again;

	if (!later)
		return false;
	atomic_fetch_sub(&j->dir->dirnames.recalls, 1);
	j->again = true;
	j->len = j->fresh;
	j->due = clock_ns() + AGAIN_NS;
	mutex_lock(&n->lock);
	later = !n->stop;
	if (later)
		STAILQ_INSERT_TAIL(&n->later, j, next);
	mutex_unlock(&n->lock);
	return later;
}

static void run_job(struct notifier *n, struct job *j)
{
	for (size_t i = 0; j->dir && i < j->len; i += strlen(j->names + i) + 1) {
		if (j->again)
			names_take_back_name(n->fs->names, j->dir, j->names + i);
		tell(n->fs, j->dir, j->names + i);
	}
	if (!tell_again_later(n, j))
		drop_job(j);
}

/* Moves due jobs to the end of the list: a step that waits there may free the directory. Returns
 * when the next job is due; 0: there is none. */
static uint64_t take_due_locked(struct notifier *n) REQUIRES(n->lock)
{
	struct job *j;

	while ((j = STAILQ_FIRST(&n->later)) && j->due <= clock_ns()) {
		STAILQ_REMOVE_HEAD(&n->later, next);
		STAILQ_INSERT_TAIL(&n->jobs, j, next);
	}
	return j ? j->due : 0;
}

/* The next job; NULL: the thread must end. */
static struct job *wait_job_locked(struct notifier *n) REQUIRES(n->lock)
{
	struct timespec t;
	uint64_t due;

	for (;;) {
		due = take_due_locked(n);
		if (!STAILQ_EMPTY(&n->jobs) || n->stop)
			return STAILQ_FIRST(&n->jobs);
		t = clock_timespec(due);
		if (due)
			cond_timedwait(&n->some, &n->lock, &t);
		else
			cond_wait(&n->some, &n->lock);
	}
}

static void *notifier_main(void *arg)
{
	struct notifier *n = arg;
	struct job *j;

	pthread_setname_np(pthread_self(), "rnfs-notify");
	for (;;) {
		mutex_lock(&n->lock);
		n->busy = false;
		j = wait_job_locked(n);
		n->busy = j;
		if (j)
			STAILQ_REMOVE_HEAD(&n->jobs, next);
		n->now = j ? j->dir : NULL;
		mutex_unlock(&n->lock);
		if (!j)
			return NULL;
		run_job(n, j);
	}
}

struct notifier *notifier_start(struct fs *fs)
{
	struct notifier *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->fs = fs;
	mutex_init(&n->lock);
	STAILQ_INIT(&n->jobs);
	STAILQ_INIT(&n->later);
	clock_cond_init(&n->some);
	if (!thread_start(fs, &n->thread, notifier_main, n, 0))
		return n;
	pthread_cond_destroy(&n->some);
	mutex_destroy(&n->lock);
	free(n);
	return NULL;
}

bool notifier_stop(struct notifier *n)
{
	struct job *j;

	if (!n || n->ended)
		return true;
	mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_signal(&n->some);
	mutex_unlock(&n->lock);
	n->ended = clock_join(n->thread, ending_until(n->fs, STOP_WAIT_NS));
	mutex_alone(&n->lock); /* only the thread that has ended added to `later` */
	while (n->ended && (j = STAILQ_FIRST(&n->later))) {
		STAILQ_REMOVE_HEAD(&n->later, next);
		drop_job(j);
	}
	return n->ended;
}

bool notifier_is_idle(struct notifier *n)
{
	bool idle;

	mutex_lock(&n->lock);
	idle = !n->busy && STAILQ_EMPTY(&n->jobs);
	mutex_unlock(&n->lock);
	return idle;
}

void notifier_put_record(struct notifier *n, struct xdr_out *x)
{
	size_t count = xdr_skip_u32(x);
	const struct job *j;
	uint32_t jobs = 0;

	mutex_lock(&n->lock);
	STAILQ_FOREACH (j, &n->later, next) {
		if (!inode_is_known(n->fs->inodes, j->dir))
			continue; /* with the directory, the kernel has forgotten its names */
		xdr_put_u64(x, inode_id(n->fs->inodes, j->dir));
		xdr_put_u64(x, j->due);
		xdr_put_opaque(x, j->names, (uint32_t)j->len);
		jobs++;
	}
	mutex_unlock(&n->lock);
	xdr_patch_u32(x, count, jobs);
}

static bool get_job(struct notifier *n, struct xdr_in *x)
{
	struct inode *dir = inode_get_id(n->fs->inodes, x);
	uint64_t due = xdr_get_u64(x);
	uint32_t len;
	const uint8_t *names = xdr_get_opaque(x, UINT32_MAX, &len);
	struct job *j;

	if (!names || !len || names[len - 1])
		xdr_in_fail(x);
	j = xdr_in_ok(x) ? calloc(1, sizeof(*j)) : NULL;
	if (j)
		j->names = malloc(len);
	if (!j || !j->names) {
		free(j);
		return false;
	}
	memcpy(j->names, names, len);
	j->len = j->fresh = len;
	j->dir = inode_ref(dir);
	j->again = true;
	j->due = due;
	mutex_lock(&n->lock);
	STAILQ_INSERT_TAIL(&n->later, j, next);
	pthread_cond_signal(&n->some);
	mutex_unlock(&n->lock);
	return true;
}

bool notifier_get_record(struct notifier *n, struct xdr_in *x)
{
	uint32_t jobs = xdr_get_count(x, UINT32_MAX, JOB_BYTES);

	for (uint32_t i = 0; i < jobs; i++)
		if (!get_job(n, x))
			return false;
	return true;
}

struct notifier *notifier_free(struct notifier *n)
{
	if (!n)
		return NULL;
	if (!notifier_stop(n)) {
		log_warn("the kernel still holds the lock of a directory with names to invalidate");
		pthread_detach(n->thread);
		return NULL;
	}
	pthread_cond_destroy(&n->some);
	mutex_destroy(&n->lock);
	free(n);
	return NULL;
}

static void add_job(struct notifier *n, struct job *j)
{
	bool stop;

	mutex_lock(&n->lock);
	stop = n->stop;
	if (!stop)
		STAILQ_INSERT_TAIL(&n->jobs, j, next);
	pthread_cond_signal(&n->some);
	mutex_unlock(&n->lock);
	if (stop)
		drop_job(j);
}

static void add_names_job(struct fs *fs, struct inode *dir, struct job *j)
{
	j->dir = inode_ref(dir);
	atomic_fetch_add(&dir->dirnames.recalls, 1);
	add_job(fs->notifier, j);
}

static void cannot_take_back(const struct fs *fs, const struct inode *dir)
{
	log_warn("names in directory %llu are believed for up to %u s more: out of memory",
		(unsigned long long)dir->fileid, fs->opt->acdirmax);
}

static void take_back(struct fs *fs, struct inode *dir)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j || !names_take_back(fs->names, dir, &j->names, &j->len, &j->fresh)) {
		cannot_take_back(fs, dir);
		free(j);
		return;
	}
	if (!j->len || !fs->notifier) {
		free(j->names);
		free(j);
		return;
	}
	add_names_job(fs, dir, j);
}

void notify_take_back(struct fs *fs, struct inode *dir)
{
	/* so a name that the kernel believes is at every moment noted as believed or counted in
	 * taking_back */
	atomic_fetch_add(&dir->dirnames.recalls, 1);
	take_back(fs, dir);
	atomic_fetch_sub(&dir->dirnames.recalls, 1);
}

static void take_back_name(struct fs *fs, struct inode *dir, const char *name, bool fresh)
{
	struct job *j = calloc(1, sizeof(*j));

	if (j)
		j->names = strdup(name);
	if (!j || !j->names || !fs->notifier) {
		if (fs->notifier)
			cannot_take_back(fs, dir);
		free(j ? j->names : NULL);
		free(j);
		return;
	}
	j->len = strlen(name) + 1;
	j->fresh = fresh ? j->len : 0;
	add_names_job(fs, dir, j);
}

void notify_take_back_name(struct fs *fs, struct inode *dir, const char *name)
{
	take_back_name(fs, dir, name, false);
}

void notify_take_back_names_of(struct fs *fs, struct inode *ino)
{
	char name[NAME_MAX + 1];
	struct inode *dir;

	while (names_believed(fs->names, ino, &dir, name, sizeof(name))) {
		atomic_fetch_add(&dir->dirnames.recalls, 1);
		names_take_back_name(fs->names, dir, name);
		take_back_name(fs, dir, name, true);
		atomic_fetch_sub(&dir->dirnames.recalls, 1);
		inode_unref(dir);
	}
}

bool notify_pending(const struct inode *dir)
{
	return atomic_load(&dir->dirnames.recalls) > 0;
}

void notifier_end_gone(struct notifier *n)
{
	struct job_queue gone = STAILQ_HEAD_INITIALIZER(gone);
	struct job_queue all = STAILQ_HEAD_INITIALIZER(all);
	struct job *j;

	if (!n)
		return;
	mutex_lock(&n->lock);
	STAILQ_CONCAT(&all, &n->jobs);
	while ((j = STAILQ_FIRST(&all))) {
		STAILQ_REMOVE_HEAD(&all, next);
		if (!j->dir && request_is_gone(j->r))
			STAILQ_INSERT_TAIL(&gone, j, next);
		else
			STAILQ_INSERT_TAIL(&n->jobs, j, next);
	}
	mutex_unlock(&n->lock);
	while ((j = STAILQ_FIRST(&gone))) {
		STAILQ_REMOVE_HEAD(&gone, next);
		drop_job(j);
	}
}

/* Will the kernel still take the lock of dir for this thread? */
static bool locks_locked(const struct notifier *n, const struct inode *dir) REQUIRES(n->lock)
{
	const struct job *j;

	if (n->now == dir)
		return true;
	STAILQ_FOREACH (j, &n->jobs, next)
		if (j->dir == dir)
			return true;
	return false;
}

bool notify_then(struct fs *fs, struct request *r, request_step_fn *step)
{
	struct notifier *n = fs->notifier;
	struct job *j = calloc(1, sizeof(*j));
	bool waits;

	if (!j)
		return false;
	j->r = r;
	j->step = step;
	mutex_lock(&n->lock);
	waits = !n->stop && !locks_locked(n, r->dir);
	if (waits)
		STAILQ_INSERT_TAIL(&n->jobs, j, next);
	pthread_cond_signal(&n->some);
	mutex_unlock(&n->lock);
	if (!waits)
		free(j);
	return waits;
}
