/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stable: brings data and changes that the server has promised to keep to stable storage.
 */
#include "contrib/serve/ops/stable.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/open.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

/* A file with data that no sync has covered yet. */
struct unstable {
	struct obj *o;		  /* referenced */
	int fd;			  /* open since before the data was written */
	_Atomic unsigned writers; /* WRITEs under way keep the entry. */
	uint64_t writes;	  /* WRITEs begun so far: a sync covers the earlier ones */
	uint64_t wrote_ns;	  /* when the last WRITE began */
	bool due;		  /* stable_age() has asked for a sync */
	TAILQ_ENTRY(unstable) link;
};

TAILQ_HEAD(job_list, stable_job);

#define VERF_RUN (1ull << 32)

struct stable {
	struct obj_table *objs;
	bool async;
	uint64_t memory_dev; /* a file system without storage: 0 if there is none */
	uint64_t root_dev;
	int root_fd; /* a descriptor for syncfs(); -1: none */

	struct mutex lock;
	pthread_cond_t work;			/* a job came, or stop */
	pthread_cond_t synced;			/* a sync has ended */
	struct job_list queue GUARDED_BY(lock); /* the oldest first */
	struct job_list ended GUARDED_BY(lock); /* a worker is to call done() of each */
	GUARDED_BY(lock) TAILQ_HEAD(, unstable) unstable;
	unsigned nunstable GUARDED_BY(lock);
	unsigned max_unstable;
	uint64_t verf GUARDED_BY(lock); /* of the run; with the object's count added: a file's */
	struct obj *failed[STABLE_FAILED] GUARDED_BY(lock); /* referenced: the files with a count */
	unsigned nfailed GUARDED_BY(lock);
	bool stop GUARDED_BY(lock);
	unsigned nthreads;
	pthread_t thread[];
};

static void *worker(void *arg);

static void open_root(struct stable *s)
{
	struct obj *root = obj_root(s->objs);
	struct statfs fs;

	s->root_fd = obj_open(root, O_RDONLY);
	s->root_dev = root->st_dev;
	if (fstatfs(root->fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC))
		s->memory_dev = root->st_dev;
	obj_unref(s->objs, root);
}

struct stable *stable_new(struct obj_table *objs, unsigned nthreads, bool async)
{
	struct stable *s = calloc(1, sizeof(*s) + nthreads * sizeof(s->thread[0]));

	if (!s)
		return NULL;
	if (getrandom(&s->verf, sizeof(s->verf), 0) != (ssize_t)sizeof(s->verf)) {
		free(s);
		return NULL;
	}
	s->objs = objs;
	s->async = async;
	mutex_init(&s->lock);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->synced, NULL);
	TAILQ_INIT(&s->queue);
	TAILQ_INIT(&s->ended);
	s->max_unstable = obj_table_opens(objs) / 4;
	if (s->max_unstable > STABLE_UNSTABLE)
		s->max_unstable = STABLE_UNSTABLE;
	TAILQ_INIT(&s->unstable);
	open_root(s);
	for (; s->nthreads < nthreads; s->nthreads++)
		if (pthread_create(&s->thread[s->nthreads], NULL, worker, s) != 0)
			return stable_free(s);
	return s;
}

static void unstable_free(struct stable *s, struct unstable *u)
{
	if (!u)
		return;
	close(u->fd);
	obj_unref(s->objs, u->o);
	free(u);
}

static struct unstable *take_unstable_locked(struct stable *s, struct obj *o) REQUIRES(s->lock)
{
	struct unstable *u = o->unstable;

	TAILQ_REMOVE(&s->unstable, u, link);
	s->nunstable--;
	o->unstable = NULL;
	return u;
}

struct stable *stable_free(struct stable *s)
{
	struct unstable *u;

	if (!s)
		return NULL;
	mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->work);
	mutex_unlock(&s->lock);
	while (s->nthreads)
		pthread_join(s->thread[--s->nthreads], NULL);
	mutex_destroy(&s->lock);
	while ((u = TAILQ_FIRST(&s->unstable)) != NULL)
		unstable_free(s, take_unstable_locked(s, u->o));
	while (s->nfailed)
		obj_unref(s->objs, s->failed[--s->nfailed]);
	if (s->root_fd >= 0)
		close(s->root_fd);
	pthread_cond_destroy(&s->synced);
	pthread_cond_destroy(&s->work);
	free(s);
	return NULL;
}

/* --- data ----------------------------------------------------------------------------------------
 */

/* Makes o a file with unstable data. The lock is dropped for a moment. */
static void watch_locked(struct stable *s, struct obj *o, int fd) REQUIRES(s->lock)
{
	struct unstable *u;

	mutex_unlock(&s->lock);
	u = calloc(1, sizeof(*u));
	if (u) {
		u->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		u->o = obj_ref(s->objs, o);
	}
	mutex_lock(&s->lock);
	if (u && u->fd >= 0 && !o->unstable && s->nunstable < s->max_unstable) {
		o->unstable = u;
		TAILQ_INSERT_TAIL(&s->unstable, u, link);
		s->nunstable++;
		return;
	}
	if (!u)
		return;
	if (u->fd >= 0)
		close(u->fd);
	obj_unref(s->objs, o); /* not the last reference: the caller has one */
	free(u);
}

static void get_verf_locked(struct stable *s, const struct obj *o, uint8_t verf[STABLE_VERF])
	REQUIRES(s->lock)
{
	uint64_t now = s->verf + o->failed;

	memcpy(verf, &now, STABLE_VERF);
}

/* A sync of o's data has failed: changes o's verifier. Objects that need not be kept any longer are
 * added to drop, which has room for STABLE_FAILED. The caller drops the references without the
 * lock. Returns the number of objects. */
static unsigned failed_locked(struct stable *s, struct obj *o, struct obj *drop[]) REQUIRES(s->lock)
{
	unsigned n = 0;

	if (!S_ISREG(o->type))
		return 0;
	if (!o->failed && s->nfailed == STABLE_FAILED) {
		s->verf += VERF_RUN; /* larger than any count */
		while (s->nfailed) {
			drop[n] = s->failed[--s->nfailed];
			drop[n++]->failed = 0;
		}
		return n;
	}
	if (!o->failed++)
		s->failed[s->nfailed++] = obj_ref(s->objs, o);
	return 0;
}

/* Forgets o's count: o is not kept any longer. */
static void unfail_locked(struct stable *s, struct obj *o) REQUIRES(s->lock)
{
	unsigned i = 0;

	while (s->failed[i] != o)
		i++;
	s->failed[i] = s->failed[--s->nfailed];
	o->failed = 0;
}

bool stable_write_begin(struct stable *s, struct obj *o, int fd, uint8_t verf[STABLE_VERF])
{
	struct unstable *u;

	mutex_lock(&s->lock);
	if (!o->unstable)
		watch_locked(s, o, fd);
	get_verf_locked(s, o, verf); /* before the write: a later failed sync may lose its data */
	u = o->unstable;
	if (u) {
		u->writers++;
		u->writes++;
		u->wrote_ns = clock_coarse_ns();
	}
	mutex_unlock(&s->lock);
	return u != NULL;
}

bool stable_write_alone(struct stable *s, struct obj *o, uint8_t verf[STABLE_VERF])
{
	bool alone;

	mutex_lock(&s->lock);
	alone = !o->unstable;
	get_verf_locked(s, o, verf);
	mutex_unlock(&s->lock);
	return alone;
}

void stable_write_end(struct stable *s, struct obj *o)
{
	o->unstable->writers--; /* last: *o->unstable may be freed from then on */
}

void stable_forget(struct stable *s, struct obj *o)
{
	struct unstable *u = NULL;
	bool kept;

	mutex_lock(&s->lock);
	if (o->unstable && !o->unstable->writers && !o->syncing)
		u = take_unstable_locked(s, o);
	kept = o->failed;
	if (kept)
		unfail_locked(s, o);
	mutex_unlock(&s->lock);
	unstable_free(s, u);
	if (kept)
		obj_unref(s->objs, o); /* not the last reference: the caller has one */
}

bool stable_synced(struct stable *s, const struct obj *o)
{
	bool yes;

	mutex_lock(&s->lock);
	yes = o->synced;
	mutex_unlock(&s->lock);
	return yes;
}

void stable_verf(struct stable *s, const struct obj *o, uint8_t verf[STABLE_VERF])
{
	mutex_lock(&s->lock);
	get_verf_locked(s, o, verf);
	mutex_unlock(&s->lock);
}

/* --- syncs ---------------------------------------------------------------------------------------
 */

/* Syncs the whole file system, for objects that cannot be opened. */
static int sync_all(const struct stable *s, const struct obj *o)
{
	if (s->root_fd >= 0 && o->st_dev == s->root_dev)
		return syncfs(s->root_fd) == 0 ? 0 : -errno;
	sync();
	return 0;
}

/* A descriptor of o that can be synced, or -1. */
static int open_to_sync(struct obj *o)
{
	int fd = S_ISREG(o->type) ? st_any_fd(o) : -1;

	if (fd >= 0)
		return fd;
	ident_suspend(); /* the caller's permissions do not matter */
	fd = obj_open(o, O_RDONLY);
	if (fd < 0 && S_ISREG(o->type))
		fd = obj_open(o, O_WRONLY);
	ident_resume();
	return fd;
}

/* fd: the descriptor of o to sync; -1: any. */
static int sync_now(const struct stable *s, struct obj *o, int fd)
{
	int own = fd < 0 ? open_to_sync(o) : -1, r;

	if (fd < 0)
		fd = own;
	if (fd < 0)
		return sync_all(s, o);
	r = fsync(fd) == 0 ? 0 : -errno;
	if (own >= 0)
		close(own);
	return r == -EINVAL ? sync_all(s, o) : r; /* some file systems cannot sync such an object */
}

static struct obj *job_obj(const struct stable_job *job)
{
	return job->set.o[job->at];
}

/* Moves all jobs that wait for o from the queue to jobs. */
static void collect_locked(struct stable *s, struct obj *o, struct job_list *jobs) REQUIRES(s->lock)
{
	struct stable_job *job, *next;

	for (job = TAILQ_FIRST(&s->queue); job; job = next) {
		next = TAILQ_NEXT(job, link);
		if (job_obj(job) != o)
			continue;
		TAILQ_REMOVE(&s->queue, job, link);
		TAILQ_INSERT_TAIL(jobs, job, link);
	}
}

/* Has a sync of the job's object failed since the job's data was written? The kernel reports a
 * failed write-back once, so that sync may have had the only report about the data. */
static bool is_lost_locked(struct stable *s, const struct stable_job *job) REQUIRES(s->lock)
{
	const struct stable_set *set = &job->set;
	uint8_t verf[STABLE_VERF];

	get_verf_locked(s, set->o[job->at], verf);
	return set->data[job->at] && memcmp(verf, set->verf[job->at], STABLE_VERF) != 0;
}

/* The sync that jobs waited for has ended with r. A job with a further object goes back to the
 * queue. With an error, or without a further object, the job stays in jobs. */
static void advance_locked(struct stable *s, int r, struct job_list *jobs) REQUIRES(s->lock)
{
	struct stable_job *job, *next;

	for (job = TAILQ_FIRST(jobs); job; job = next) {
		next = TAILQ_NEXT(job, link);
		if (r < 0)
			job->err = r;
		else if (is_lost_locked(s, job))
			job->err = -EIO;
		job->at++;
		if (job->done && (job->err || job->at == job->set.n))
			continue; /* for end_locked() */
		TAILQ_REMOVE(jobs, job, link);
		if (job->done)
			TAILQ_INSERT_TAIL(&s->queue, job, link);
		else
			job->ended = true;
	}
}

static void job_end(struct stable *s, struct stable_job *job)
{
	while (job->set.n)
		obj_unref(s->objs, job->set.o[--job->set.n]);
	job->done(job, job->err);
}

/* Calls done() of ended jobs. The lock is dropped meanwhile. */
static void end_locked(struct stable *s) REQUIRES(s->lock)
{
	struct stable_job *job;

	while ((job = TAILQ_FIRST(&s->ended)) != NULL) {
		TAILQ_REMOVE(&s->ended, job, link);
		mutex_unlock(&s->lock);
		job_end(s, job);
		mutex_lock(&s->lock);
	}
}

/* Syncs o for all jobs that wait for o. No other sync of o runs. Ended jobs may be left in
 * s->ended. fd: a descriptor of o to use if none is kept, or -1. The lock is dropped
 * meanwhile. */
static void sync_locked(struct stable *s, struct obj *o, int fd) REQUIRES(s->lock)
{
	struct job_list jobs = TAILQ_HEAD_INITIALIZER(jobs);
	struct unstable *u = o->unstable;
	struct obj *drop[STABLE_FAILED];
	uint64_t writes = u ? u->writes : 0;
	unsigned ndrop = 0;
	int r;

	obj_ref(s->objs, o);
	o->syncing = true;
	collect_locked(s, o, &jobs);
	mutex_unlock(&s->lock);
	r = sync_now(s, o, u ? u->fd : fd);
	mutex_lock(&s->lock);
	o->syncing = false;
	o->synced = r == 0;
	if (r < 0) {
		ndrop = failed_locked(s, o, drop);
		collect_locked(s, o, &jobs); /* the next sync may succeed without their changes */
	}
	if (u)
		u->due = false;
	if (u && !u->writers && u->writes == writes)
		take_unstable_locked(s, o);
	else
		u = NULL;
	advance_locked(s, r, &jobs);
	TAILQ_CONCAT(&s->ended, &jobs, link);
	pthread_cond_broadcast(&s->synced);
	if (!TAILQ_EMPTY(&s->queue) || !TAILQ_EMPTY(&s->ended))
		pthread_cond_signal(&s->work); /* wakes a worker for jobs that still wait for o, or
						  go on with the next object */
	mutex_unlock(&s->lock);
	if (r < 0)
		log_always_error(
			"a sync failed (%s): clients that wrote %s are told to write it again",
			strerror(-r), ndrop ? "anything" : "to that file");
	while (ndrop)
		obj_unref(s->objs, drop[--ndrop]);
	unstable_free(s, u);
	obj_unref(s->objs, o);
	mutex_lock(&s->lock);
}

int stable_sync(struct stable *s, struct obj *o)
{
	return stable_sync_by(s, o, -1, NULL);
}

/* Adds o to set, which has room. */
static void set_add(struct stable_set *set, struct obj *o)
{
	set->data[set->n] = false;
	set->o[set->n++] = o;
}

/* The i-th object of set has data written while the object's verifier was verf. */
static void set_data(struct stable_set *set, unsigned i, const uint8_t verf[STABLE_VERF])
{
	if (set->data[i])
		return; /* the verifier of the earliest data counts */
	set->data[i] = true;
	memcpy(set->verf[i], verf, STABLE_VERF);
}

int stable_sync_by(struct stable *s, struct obj *o, int fd, const uint8_t *verf)
{
	struct stable_job job = {0};

	set_add(&job.set, o);
	if (verf)
		set_data(&job.set, 0, verf);
	mutex_lock(&s->lock);
	TAILQ_INSERT_TAIL(&s->queue, &job, link);
	while (!job.ended) {
		if (o->syncing)
			cond_wait(&s->synced, &s->lock);
		else
			sync_locked(s, o, fd);
	}
	mutex_unlock(&s->lock);
	return job.err;
}

/* --- jobs ----------------------------------------------------------------------------------------
 */

static struct stable_job *find_job_locked(struct stable *s) REQUIRES(s->lock)
{
	struct stable_job *job;

	TAILQ_FOREACH (job, &s->queue, link)
		if (!job_obj(job)->syncing)
			return job;
	return NULL;
}

static void *worker(void *arg)
{
	struct stable *s = arg;
	struct stable_job *job;

	mutex_lock(&s->lock);
	for (;;) {
		end_locked(s);
		job = find_job_locked(s);
		if (job)
			sync_locked(s, job_obj(job), -1);
		else if (s->stop && TAILQ_EMPTY(&s->queue) && TAILQ_EMPTY(&s->ended))
			break;
		else
			cond_wait(&s->work, &s->lock);
	}
	pthread_cond_broadcast(&s->work); /* other workers may wait for the queue to become empty */
	mutex_unlock(&s->lock);
	return NULL;
}

void stable_want(struct stable *s, struct stable_set *set, struct obj *o)
{
	if (!s->async)
		stable_want_data(s, set, o, NULL);
}

void stable_want_data(struct stable *s, struct stable_set *set, struct obj *o, const uint8_t *verf)
{
	unsigned i = 0;

	if (s->memory_dev && o->st_dev == s->memory_dev)
		return;
	while (i < set->n && set->o[i] != o)
		i++;
	if (i == STABLE_OBJS) {
		int r = stable_sync_by(s, o, -1, verf);

		set->err = r < 0 ? r : set->err;
		return;
	}
	if (i == set->n)
		set_add(set, obj_ref(s->objs, o));
	if (verf)
		set_data(set, i, verf);
}

void stable_finish(struct stable *s, struct stable_job *job)
{
	job->at = 0;
	job->err = job->set.err;
	if (s->nthreads && job->set.n && !job->err) {
		mutex_lock(&s->lock);
		TAILQ_INSERT_TAIL(&s->queue, job, link);
		pthread_cond_signal(&s->work);
		mutex_unlock(&s->lock);
		return;
	}
	for (; job->at < job->set.n && !job->err; job->at++)
		job->err = stable_sync_by(s, job_obj(job), -1,
			job->set.data[job->at] ? job->set.verf[job->at] : NULL);
	job_end(s, job);
}

static void aged(struct stable_job *job, int err)
{
	free(job);
}

void stable_age(struct stable *s, uint64_t idle_ns)
{
	uint64_t now = clock_coarse_ns();
	struct unstable *u;

	mutex_lock(&s->lock);
	TAILQ_FOREACH (u, &s->unstable, link) {
		struct stable_job *job;

		if (u->due || u->writers || clock_age(now, u->wrote_ns) <= idle_ns)
			continue;
		job = calloc(1, sizeof(*job));
		if (!job)
			break;
		u->due = true;
		job->set.o[job->set.n++] = obj_ref(s->objs, u->o);
		job->done = aged;
		TAILQ_INSERT_TAIL(&s->queue, job, link);
		pthread_cond_signal(&s->work);
	}
	mutex_unlock(&s->lock);
}
