/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * seek: finds an object by its handle alone.
 *
 * A walk goes down from the root and holds one descriptor for each level. When a wanted object is
 * seen, its path is looked up in the table, name by name. So the object, and each directory on the
 * path, is known in the table as if a client had come by name.
 */
#include "contrib/serve/export/seek.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/export/gone.h"
#include "contrib/serve/export/obj_table.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define DEPTH_MAX   64	  /* directories entered below each other */
#define TRAIL_READS 65536 /* directory entries read in a request */
#define SWEEP_NS    (60 * NSEC_PER_SEC)
#define WANTED_MAX  1024		 /* wanted at the same time */
#define MISSED_NS   (600 * NSEC_PER_SEC) /* so long, at most, a sweep's result counts */

struct wanted {
	struct handle_id id;
	struct handle_trail trail;
	struct obj *found; /* referenced */
};

struct seek {
	struct obj_table *t;
	struct mutex lock;
	pthread_cond_t cond;
	pthread_t thread;
	bool started GUARDED_BY(lock);
	_Atomic bool stop; /* lock to set */
	unsigned nwanted GUARDED_BY(lock);
	struct wanted wanted[WANTED_MAX] GUARDED_BY(lock); /* the running sweep's come first */
	struct wanted batch[WANTED_MAX];		   /* the thread's */
	struct gone missed GUARDED_BY(lock); /* objects that no sweep has found since missed_ns */
	uint64_t missed_ns GUARDED_BY(lock);
};

struct walk {
	struct seek *s;
	const struct handle_trail *trail; /* NULL: everywhere */
	struct wanted *want;		  /* sorted by inode number */
	unsigned nwant, missing;
	uint64_t reads;	 /* directory entries that may still be read */
	uint64_t end_ns; /* when to give up; 0: never */
	bool mounts;	 /* is any wanted object on another file system? */
	bool starved;	 /* a part of the walk was left out for want of descriptors or memory */
	unsigned depth;
	const char *name[DEPTH_MAX + 1]; /* the path from the root to the present place */
};

/* --- walks ---------------------------------------------------------------------------------- */

static bool over(const struct walk *w)
{
	return !w->missing || !w->reads ||
	       atomic_load_explicit(&w->s->stop, memory_order_relaxed) ||
	       (w->end_ns && clock_ns() > w->end_ns);
}

/* A step of the walk has failed with err, an errno. Other failures than these will come again, or
 * the entry has just been changed. */
static void failed(struct walk *w, int err)
{
	w->starved |= err == EMFILE || err == ENFILE || err == ENOMEM;
}

/* Looks up the directory in which the walk is: a reference or NULL. */
static struct obj *known_dir(struct walk *w)
{
	struct obj_table *t = w->s->t;
	struct obj *dir = obj_root(t);

	for (unsigned i = 0; dir && i < w->depth; i++) {
		struct obj *next = NULL;
		int r = obj_lookup(t, dir, w->name[i], strlen(w->name[i]), &next, NULL);

		if (r < 0) {
			failed(w, -r);
			next = NULL;
		}
		obj_unref(t, dir);
		dir = next;
	}
	return dir;
}

/* Takes the object with the last name if it is the wanted one. */
static void take(struct walk *w, struct wanted *want)
{
	const char *name = w->name[w->depth];
	struct obj *dir = known_dir(w);
	struct obj_hint h;
	struct statx st;
	int fd = -1, r;

	if (dir) {
		fd = openat(dir->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			failed(w, errno);
	}
	if (fd >= 0 && !obj_is(w->s->t, fd, &want->id, &st)) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0) {
		obj_make_hint(w->s->t, &h, dir, name, strlen(name));
		h.trail = want->trail; /* the object's handle keeps the bytes of the clients'
					  handles */
		r = obj_intern(w->s->t, fd, &st, &h, &want->found);
		if (r == 0)
			w->missing--;
		else
			failed(w, -r);
	}
	obj_unref(w->s->t, dir);
}

static int by_number(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->id.ino < y->id.ino ? -1 : x->id.ino > y->id.ino;
}

/* Is ino, the inode number of the last name, the number of a wanted object? */
static void look(struct walk *w, uint64_t ino)
{
	unsigned low = 0, high = w->nwant;

	while (low < high) {
		unsigned mid = low + (high - low) / 2;

		if (w->want[mid].id.ino < ino)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->nwant && w->want[low].id.ino == ino; low++)
		if (!w->want[low].found)
			take(w, &w->want[low]);
}

static void walk_dir(struct walk *w, int fd);

/* Enters the directory of the last name, which has the number ino according to readdir(). */
static void enter(struct walk *w, int at, uint64_t ino)
{
	int fd = openat(at, w->name[w->depth], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statx st;
	int dir = -1;

	if (fd < 0) {
		failed(w, errno);
		return;
	}
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, STATX_BASIC_STATS, &st) == 0 &&
		(w->mounts || obj_makedev(&st) == w->s->t->root_dev)) {
		if (st.stx_ino != ino && !w->trail) /* a mount point */
			look(w, st.stx_ino);
		dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			failed(w, errno);
	}
	close(fd);
	if (dir < 0)
		return;
	w->depth++;
	walk_dir(w, dir);
	w->depth--;
}

/* Looks through the directory fd (consumed), at the end of the path. */
static void walk_dir(struct walk *w, int fd)
{
	const struct handle_trail *trail = w->trail;
	bool here = !trail || w->depth >= trail->n; /* otherwise on the way */
	bool deeper = w->depth < DEPTH_MAX && (!here || !trail || trail->n == HANDLE_TRAIL);
	DIR *dir = fdopendir(fd);
	struct dirent *de;

	if (!dir) {
		failed(w, errno);
		close(fd);
		return;
	}
	while (!over(w) && (de = readdir(dir)) != NULL) {
		w->reads--;
		if (!obj_name_ok(de->d_name, strlen(de->d_name)))
			continue;
		w->name[w->depth] = de->d_name;
		if (here)
			look(w, de->d_ino);
		if (deeper && (de->d_type == DT_DIR || de->d_type == DT_UNKNOWN) &&
			(here || handle_step(de->d_ino) == trail->step[w->depth]))
			enter(w, dirfd(dir), de->d_ino);
	}
	closedir(dir);
}

static void walk(struct walk *w)
{
	struct obj *root = obj_root(w->s->t);
	int fd = openat(root->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	w->missing = 0;
	for (unsigned i = 0; i < w->nwant; i++) {
		w->missing += !w->want[i].found;
		w->mounts |= !w->want[i].found && w->want[i].id.dev;
	}
	if (fd >= 0)
		walk_dir(w, fd);
	else
		failed(w, errno);
	obj_unref(w->s->t, root);
}

static void follow_trail(struct seek *s, struct wanted *want, uint64_t reads, uint64_t end_ns)
{
	struct walk w = {.s = s, .trail = &want->trail, .want = want, .nwant = 1};

	w.reads = reads;
	w.end_ns = end_ns;
	walk(&w);
}

/* --- the thread ----------------------------------------------------------------------------- */

/* Looks for the first n objects of s->batch. Objects that are not found count as missed, unless the
 * walk was starved: then the next request for such an object asks for another sweep. */
static void sweep(struct seek *s, unsigned n)
{
	struct walk w = {.s = s, .want = s->batch, .nwant = n, .reads = UINT64_MAX};
	unsigned missing = 0;

	w.end_ns = clock_ns() + SWEEP_NS;
	for (unsigned i = 0; i < n; i++) /* on the trails where a request had to give up */
		follow_trail(s, &s->batch[i], UINT64_MAX, w.end_ns);
	qsort(s->batch, n, sizeof(s->batch[0]), by_number);
	walk(&w);
	for (unsigned i = 0; i < n; i++) {
		if (s->batch[i].found) {
			s->batch[i].found = obj_unref(s->t, s->batch[i].found);
		} else {
			if (!w.starved)
				gone_add(&s->missed, s->t->key, &s->batch[i].id);
			missing++;
		}
	}
	log_ctrl("of %u files that clients have handles of, %u are nowhere", n, missing);
	if (missing && clock_ns() > w.end_ns)
		log_warn("gave up to look for %u files that clients have handles of: the exported "
			 "directory is too large to go through it in a minute",
			missing);
}

/* Waits with the lock held, at most ns; 0: until a signal. */
static void wait_locked(struct seek *s, uint64_t ns) REQUIRES(s->lock)
{
	struct timespec end = clock_timespec(clock_ns() + ns);

	if (!ns) {
		cond_wait(&s->cond, &s->lock);
		return;
	}
	while (!s->stop && cond_timedwait(&s->cond, &s->lock, &end) != ETIMEDOUT)
		;
}

static void *seek_main(void *arg)
{
	struct seek *s = arg;

	mutex_lock(&s->lock);
	while (!s->stop) {
		unsigned n = s->nwanted;
		uint64_t begin = clock_ns();

		if (!n) {
			wait_locked(s, 0);
			continue;
		}
		memcpy(s->batch, s->wanted, n * sizeof(s->batch[0]));
		mutex_unlock(&s->lock);
		sweep(s, n);
		mutex_lock(&s->lock);
		s->nwanted -= n;
		memmove(s->wanted, s->wanted + n, s->nwanted * sizeof(s->wanted[0]));
		wait_locked(s, clock_age(clock_ns(), begin) + 1);
	}
	mutex_unlock(&s->lock);
	return NULL;
}

/* --- for the table -------------------------------------------------------------------------- */

struct seek *seek_new(struct obj_table *t)
{
	struct seek *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->t = t;
	mutex_init(&s->lock);
	clock_cond_init(&s->cond);
	return s;
}

struct seek *seek_free(struct seek *s)
{
	bool started;

	if (!s)
		return NULL;
	mutex_lock(&s->lock);
	started = s->started;
	atomic_store_explicit(&s->stop, true, memory_order_relaxed);
	pthread_cond_broadcast(&s->cond);
	mutex_unlock(&s->lock);
	if (started)
		pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->cond);
	mutex_destroy(&s->lock);
	free(s);
	return NULL;
}

/* An object that was missed may exist all the same: a program renamed the object during the sweep,
 * or its directory could not be read. */
static void forget_missed_locked(struct seek *s) REQUIRES(s->lock)
{
	uint64_t now = clock_coarse_ns();

	if (clock_age(now, s->missed_ns) <= MISSED_NS)
		return;
	gone_clear(&s->missed);
	s->missed_ns = now;
}

static bool is_wanted_locked(const struct seek *s, const struct handle_id *id) REQUIRES(s->lock)
{
	for (unsigned i = 0; i < s->nwanted; i++)
		if (handle_id_equal(&s->wanted[i].id, id))
			return true;
	return false;
}

/* Gives the object to the thread, if there is room. */
static void want_locked(struct seek *s, const struct wanted *want) REQUIRES(s->lock)
{
	if (s->nwanted == WANTED_MAX || is_wanted_locked(s, &want->id))
		return;
	if (!s->started) /* the thread inherits the caller's identity, here the server's own */
		s->started = pthread_create(&s->thread, NULL, seek_main, s) == 0;
	if (!s->started)
		return; /* the next call tries again */
	s->wanted[s->nwanted++] = *want;
	pthread_cond_broadcast(&s->cond);
}

int seek_find(struct seek *s, const struct handle_id *id, const struct handle_trail *trail,
	struct obj **out)
{
	struct wanted want = {.id = *id, .trail = *trail};
	bool asked;

	if (!handle_id_lasts(id) || gone_has(&s->t->gone, s->t->key, id))
		return -ESTALE;
	mutex_lock(&s->lock);
	forget_missed_locked(s);
	asked = is_wanted_locked(s, id);
	mutex_unlock(&s->lock);
	if (asked)
		return -EAGAIN;
	if (gone_has(&s->missed, s->t->key, id))
		return -ESTALE;
	follow_trail(s, &want, TRAIL_READS, 0);
	if (want.found) {
		*out = want.found;
		return 0;
	}
	mutex_lock(&s->lock);
	want_locked(s, &want);
	mutex_unlock(&s->lock);
	return -EAGAIN;
}
