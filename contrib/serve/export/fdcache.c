/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fdcache: descriptors for the READs and WRITEs of NFSv3.
 *
 * An entry holds a reference to its object, which is the key of the table. In use: users > 0. Idle:
 * on the idle list, least recently used first. Dropped: out of the table, freed by the last user.
 * No descriptor is closed with the lock held.
 */
#include "contrib/serve/export/fdcache.h"

#include <stdlib.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/lock.h"

#define BUCKETS 256

struct fdcache_use {
	struct obj *o; /* referenced */
	int fd;
	bool read, write;
	bool dropped;
	unsigned users;
	uint64_t idle_ns;
	LIST_ENTRY(fdcache_use) hash;
	TAILQ_ENTRY(fdcache_use) link;
};

TAILQ_HEAD(use_list, fdcache_use);

struct fdcache {
	struct obj_table *objs;
	unsigned max;
	struct mutex lock;
	unsigned nidle GUARDED_BY(lock);
	struct use_list idle GUARDED_BY(lock);
	GUARDED_BY(lock) LIST_HEAD(, fdcache_use) bucket[BUCKETS];
};

static unsigned bucket_of(const struct obj *o)
{
	return (unsigned)((o->id.ino ^ o->id.dev) * 0x9e3779b97f4a7c15ull >> 56) % BUCKETS;
}

struct fdcache *fdcache_new(struct obj_table *t, unsigned max)
{
	struct fdcache *fc = calloc(1, sizeof(*fc));

	if (!fc)
		return NULL;
	mutex_init(&fc->lock);
	TAILQ_INIT(&fc->idle);
	fc->objs = t;
	fc->max = max;
	return fc;
}

static void destroy(struct fdcache *fc, struct fdcache_use *u)
{
	close(u->fd);
	obj_unref(fc->objs, u->o);
	free(u);
}

/* Takes an idle entry off the list and out of the table. */
static void take_locked(struct fdcache *fc, struct fdcache_use *u) REQUIRES(fc->lock)
{
	TAILQ_REMOVE(&fc->idle, u, link);
	fc->nidle--;
	LIST_REMOVE(u, hash);
}

/* Closes idle entries that are too many, or idle since before. */
static void trim(struct fdcache *fc, uint64_t before)
{
	struct fdcache_use *u;

	for (;;) {
		mutex_lock(&fc->lock);
		u = TAILQ_FIRST(&fc->idle);
		if (u && (fc->nidle > fc->max || u->idle_ns < before))
			take_locked(fc, u);
		else
			u = NULL;
		mutex_unlock(&fc->lock);
		if (!u)
			return;
		destroy(fc, u);
	}
}

struct fdcache *fdcache_free(struct fdcache *fc)
{
	if (!fc)
		return NULL;
	trim(fc, UINT64_MAX);
	mutex_destroy(&fc->lock);
	free(fc);
	return NULL;
}

struct fdcache_use *fdcache_get(struct fdcache *fc, struct obj *o, bool write, int *fd)
{
	struct fdcache_use *u;

	mutex_lock(&fc->lock);
	LIST_FOREACH (u, &fc->bucket[bucket_of(o)], hash)
		if (u->o == o && (write ? u->write : u->read))
			break;
	if (u) {
		if (u->users++ == 0) {
			TAILQ_REMOVE(&fc->idle, u, link);
			fc->nidle--;
		}
		*fd = u->fd;
	}
	mutex_unlock(&fc->lock);
	return u;
}

struct fdcache_use *fdcache_add(struct fdcache *fc, struct obj *o, int fd, bool read, bool write)
{
	struct fdcache_use *u = calloc(1, sizeof(*u));

	if (!u) {
		close(fd);
		return NULL;
	}
	u->o = obj_ref(fc->objs, o);
	u->fd = fd;
	u->read = read;
	u->write = write;
	u->users = 1;
	mutex_lock(&fc->lock);
	LIST_INSERT_HEAD(&fc->bucket[bucket_of(o)], u, hash);
	mutex_unlock(&fc->lock);
	return u;
}

void fdcache_put(struct fdcache *fc, struct fdcache_use *u)
{
	bool gone = false;

	if (!u)
		return;
	mutex_lock(&fc->lock);
	if (--u->users == 0) {
		gone = u->dropped;
		if (!gone) {
			u->idle_ns = clock_coarse_ns();
			TAILQ_INSERT_TAIL(&fc->idle, u, link);
			fc->nidle++;
		}
	}
	mutex_unlock(&fc->lock);
	if (gone)
		destroy(fc, u);
	trim(fc, 0);
}

void fdcache_drop(struct fdcache *fc, const struct obj *o)
{
	struct use_list gone = TAILQ_HEAD_INITIALIZER(gone);
	struct fdcache_use *u, *next;

	if (!fc)
		return;
	mutex_lock(&fc->lock);
	for (u = LIST_FIRST(&fc->bucket[bucket_of(o)]); u; u = next) {
		next = LIST_NEXT(u, hash);
		if (u->o != o)
			continue;
		if (u->users) {
			LIST_REMOVE(u, hash);
			u->dropped = true;
		} else {
			take_locked(fc, u);
			TAILQ_INSERT_TAIL(&gone, u, link);
		}
	}
	mutex_unlock(&fc->lock);
	while ((u = TAILQ_FIRST(&gone)) != NULL) {
		TAILQ_REMOVE(&gone, u, link);
		destroy(fc, u);
	}
}

void fdcache_age(struct fdcache *fc, uint64_t idle_ns)
{
	uint64_t now = clock_coarse_ns();

	trim(fc, now - idle_ns);
}
