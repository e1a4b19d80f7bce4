/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * obj_table: the table of objects. by_name.c and by_handle.c open the descriptors.
 *
 * Invariants, all under the shard's lock:
 *     refs > 0 and not being re-opened  =>  fd >= 0
 *     refs == 0 and fd >= 0             <=> on the warm list, least recently used first
 *     refs == 0 and fd < 0              <=> on the cold list
 *     refs == 0 and doomed              =>  gone
 */
#include "contrib/serve/export/obj_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"

#define KNOWN_MAX 262144 /* objects remembered without a descriptor, over all shards */

static struct obj_shard *shard_of(struct obj_table *t, uint64_t dev, uint64_t ino)
{
	return &t->shard[(ino * 0x9e3779b97f4a7c15ull ^ dev) >> 7 & (OBJ_SHARDS - 1)];
}

static struct obj_bucket *bucket_of(struct obj_shard *s, uint64_t dev, uint64_t ino)
{
	return &s->bucket[((ino ^ dev) * 0x9e3779b97f4a7c15ull) >> 40 & (OBJ_BUCKETS - 1)];
}

static struct obj *find_locked(struct obj_shard *s, uint64_t dev, uint64_t ino) REQUIRES(s->lock)
{
	struct obj *o;

	LIST_FOREACH (o, bucket_of(s, dev, ino), hash)
		if (o->id.ino == ino && o->id.dev == dev)
			return o;
	return NULL;
}

/* The list with idle o, and the list's length. */
static struct obj_list *idle_list(struct obj_shard *s, const struct obj *o)
{
	return o->fd >= 0 ? &s->warm : &s->cold;
}

static size_t *idle_count(struct obj_shard *s, const struct obj *o)
{
	return o->fd >= 0 ? &s->nwarm : &s->ncold;
}

static void ref_locked(struct obj_shard *s, struct obj *o) REQUIRES(s->lock)
{
	if (o->refs++ == 0) {
		TAILQ_REMOVE(idle_list(s, o), o, lru);
		*idle_count(s, o) -= 1;
	}
}

static void unhash_locked(struct obj_shard *s, struct obj *o) REQUIRES(s->lock)
{
	if (o->hashed) {
		LIST_REMOVE(o, hash);
		o->hashed = false;
		s->known--;
	}
}

/* Frees o. The caller has taken o out of all lists, and holds no lock. */
static void destroy(struct obj *o)
{
	if (o->fd >= 0)
		close(o->fd);
	mutex_destroy(&o->lock);
	free(o->hint_name);
	free(o);
}

/* Takes the idle object o off the lists. */
static void drop_idle_locked(struct obj_shard *s, struct obj *o) REQUIRES(s->lock)
{
	TAILQ_REMOVE(idle_list(s, o), o, lru);
	*idle_count(s, o) -= 1;
	unhash_locked(s, o);
}

/* Evicts idle o. If the kernel can find o by its handle, o goes to the list `gone`, which the
 * caller frees after unlocking. Otherwise o stays known without a descriptor; the caller closes the
 * returned one. */
static int evict_locked(struct obj_table *t, struct obj_shard *s, struct obj *o,
	struct obj_bucket *gone) REQUIRES(s->lock)
{
	int fd = o->fd;

	if (t->by_handle && o->id.kh_len) {
		drop_idle_locked(s, o);
		LIST_INSERT_HEAD(gone, o, hash);
		return -1;
	}
	TAILQ_REMOVE(&s->warm, o, lru);
	s->nwarm--;
	o->fd = -1;
	TAILQ_INSERT_TAIL(&s->cold, o, lru);
	s->ncold++;
	return fd;
}

/* Brings the shard back within its bounds. */
static void trim_and_unlock(struct obj_table *t, struct obj_shard *s, uint64_t before)
	RELEASE(s->lock)
{
	struct obj_bucket gone = LIST_HEAD_INITIALIZER(gone);
	int fds[16], nfds = 0;
	struct obj *o;

	while (nfds < 16 && (o = TAILQ_FIRST(&s->warm)) != NULL) {
		bool over = s->nwarm > t->max_fds / OBJ_SHARDS;
		int fd;

		if (!over && (!before || o->idle_ns > before))
			break;
		fd = evict_locked(t, s, o, &gone);
		if (fd >= 0)
			fds[nfds++] = fd;
	}
	while (s->ncold > KNOWN_MAX / OBJ_SHARDS) {
		o = TAILQ_FIRST(&s->cold);
		drop_idle_locked(s, o);
		LIST_INSERT_HEAD(&gone, o, hash);
	}
	mutex_unlock(&s->lock);
	while (nfds)
		close(fds[--nfds]);
	while ((o = LIST_FIRST(&gone)) != NULL) {
		LIST_REMOVE(o, hash);
		destroy(o);
	}
}

struct obj *obj_ref(struct obj_table *t, struct obj *o)
{
	atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed); /* never from 0 */
	return o;
}

/* False: the caller has the last reference. */
static bool unref_quickly(struct obj *o)
{
	unsigned n = atomic_load_explicit(&o->refs, memory_order_relaxed);

	while (n > 1)
		if (atomic_compare_exchange_weak_explicit(
			    &o->refs, &n, n - 1, memory_order_release, memory_order_relaxed))
			return true;
	return false;
}

struct obj *obj_unref(struct obj_table *t, struct obj *o)
{
	struct obj_shard *s;

	if (!o || unref_quickly(o))
		return NULL;
	s = shard_of(t, o->id.dev, o->id.ino);
	mutex_lock(&s->lock);
	if (--o->refs > 0) {
		mutex_unlock(&s->lock);
		return NULL;
	}
	if (o->doomed || !o->hashed) {
		unhash_locked(s, o);
		mutex_unlock(&s->lock);
		if (o->doomed)
			gone_add(&t->gone, t->key, &o->id);
		destroy(o);
		return NULL;
	}
	o->idle_ns = clock_coarse_ns();
	TAILQ_INSERT_TAIL(idle_list(s, o), o, lru);
	*idle_count(s, o) += 1;
	trim_and_unlock(t, s, 0);
	return NULL;
}

void obj_table_age(struct obj_table *t, uint64_t idle_ns)
{
	uint64_t now = clock_coarse_ns();

	for (int i = 0; i < OBJ_SHARDS; i++) {
		struct obj_shard *s = &t->shard[i];

		mutex_lock(&s->lock);
		trim_and_unlock(t, s, now - idle_ns);
	}
}

struct obj *obj_find(struct obj_table *t, uint64_t dev, uint64_t ino)
{
	struct obj_shard *s = shard_of(t, dev, ino);
	struct obj *o;

	mutex_lock(&s->lock);
	o = find_locked(s, dev, ino);
	if (o)
		ref_locked(s, o);
	mutex_unlock(&s->lock);
	return o;
}

struct obj *obj_find_open(struct obj_table *t, const struct handle_id *id)
{
	struct obj_shard *s = shard_of(t, id->dev, id->ino);
	struct obj *o;

	mutex_lock(&s->lock);
	o = find_locked(s, id->dev, id->ino);
	if (o && (o->fd < 0 || !handle_id_equal(&o->id, id)))
		o = NULL;
	if (o)
		ref_locked(s, o);
	mutex_unlock(&s->lock);
	return o;
}

struct obj *obj_find_sealed(
	struct obj_table *t, uint64_t dev, uint64_t ino, const uint8_t *handle, size_t len)
{
	struct obj_shard *s = shard_of(t, dev, ino);
	struct obj *o;

	mutex_lock(&s->lock);
	o = find_locked(s, dev, ino);
	if (o && (o->fd < 0 || o->sealed_len != len || !handle_same(o->sealed, handle, len)))
		o = NULL;
	if (o)
		ref_locked(s, o);
	mutex_unlock(&s->lock);
	return o;
}

void obj_keep_handle(struct obj_table *t, struct obj *o, const uint8_t *handle, size_t len)
{
	struct obj_shard *s = shard_of(t, o->id.dev, o->id.ino);

	mutex_lock(&s->lock);
	if (!o->sealed_len) {
		memcpy(o->sealed, handle, len);
		atomic_store_explicit(&o->sealed_len, (uint8_t)len, memory_order_release);
	}
	mutex_unlock(&s->lock);
}

int obj_fd(struct obj_table *t, struct obj *o)
{
	struct obj_shard *s = shard_of(t, o->id.dev, o->id.ino);
	int fd;

	mutex_lock(&s->lock);
	fd = o->fd;
	mutex_unlock(&s->lock);
	return fd;
}

static struct obj *obj_alloc(
	const struct handle_id *id, const struct statx *st, const struct obj_hint *hint, int fd)
{
	struct obj *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	mutex_init(&o->lock);
	o->fd = fd;
	o->type = st->stx_mode & S_IFMT;
	o->id = *id;
	o->st_dev = obj_makedev(st);
	if (hint)
		o->trail = hint->trail;
	o->refs = 1;
	return o;
}

static void set_hint_locked(struct obj *o, const struct obj_hint *h)
{
	if (!h || !h->name[0] ||
		(o->hint_name && o->hint_dev == h->dev && o->hint_ino == h->ino &&
			strcmp(o->hint_name, h->name) == 0))
		return;
	free(o->hint_name);
	o->hint_name = strdup(h->name); /* without memory there is no hint */
	o->hint_dev = h->dev;
	o->hint_ino = h->ino;
}

/* Finds the known object with the identity, and gives fd to an object without a descriptor. NULL:
 * none. A known object with the same inode number but another generation is pushed out. */
static struct obj *reuse_locked(struct obj_shard *s, const struct handle_id *id, bool full, int *fd)
	REQUIRES(s->lock)
{
	struct obj *o = find_locked(s, id->dev, id->ino);

	if (!o)
		return NULL;
	if (o->fd < 0) {
		if (!full)
			return NULL; /* the caller gets the full identity and comes again */
		if (!handle_id_equal(&o->id, id)) {
			if (o->refs == 0) {
				TAILQ_REMOVE(&s->cold, o, lru);
				s->ncold--;
				TAILQ_INSERT_TAIL(&s->dead, o, lru);
			}
			unhash_locked(s, o);
			return NULL;
		}
	}
	ref_locked(s, o);
	if (o->fd < 0) {
		o->fd = *fd;
		*fd = -1;
	}
	return o;
}

static void bury(struct obj_shard *s)
{
	struct obj *o;

	for (;;) {
		mutex_lock(&s->lock);
		o = TAILQ_FIRST(&s->dead);
		if (o)
			TAILQ_REMOVE(&s->dead, o, lru);
		mutex_unlock(&s->lock);
		if (!o)
			return;
		destroy(o);
	}
}

/* Sets dev and ino, and the time of birth if it is known. */
static void short_id(struct obj_table *t, const struct statx *st, struct handle_id *id)
{
	uint64_t dev = obj_makedev(st);

	memset(id, 0, sizeof(*id));
	id->dev = dev == t->root_dev ? 0 : dev;
	id->ino = st->stx_ino;
	if (st->stx_mask & STATX_BTIME)
		id->birth = (uint64_t)st->stx_btime.tv_sec * 1000000000u + st->stx_btime.tv_nsec;
}

bool obj_find_held(
	struct obj_table *t, const struct statx *st, const struct obj_hint *hint, struct obj **out)
{
	struct handle_id id;
	struct obj_shard *s;
	struct obj *o;

	short_id(t, st, &id);
	s = shard_of(t, id.dev, id.ino);
	mutex_lock(&s->lock);
	o = find_locked(s, id.dev, id.ino);
	if (o && o->fd < 0)
		o = NULL;
	if (o) {
		ref_locked(s, o);
		set_hint_locked(o, hint);
	}
	mutex_unlock(&s->lock);
	*out = o;
	return o != NULL;
}

int obj_intern(struct obj_table *t, int fd, const struct statx *st, const struct obj_hint *hint,
	struct obj **out)
{
	struct handle_id id;
	struct obj_shard *s;
	struct obj *o, *fresh = NULL;
	bool dead;

	short_id(t, st, &id);
	s = shard_of(t, id.dev, id.ino);
	mutex_lock(&s->lock);
	o = reuse_locked(s, &id, false, &fd);
	if (!o) {
		mutex_unlock(&s->lock);
		obj_full_id(t, fd, st, &id);
		fresh = obj_alloc(&id, st, hint, fd);
		if (!fresh) {
			close(fd);
			return -ENOMEM;
		}
		mutex_lock(&s->lock);
		o = reuse_locked(s, &id, true, &fd);
		if (o) {
			fresh->fd = -1;
		} else {
			o = fresh;
			fresh = NULL;
			fd = -1;
			LIST_INSERT_HEAD(bucket_of(s, id.dev, id.ino), o, hash);
			o->hashed = true;
			s->known++;
		}
	}
	set_hint_locked(o, hint);
	dead = !TAILQ_EMPTY(&s->dead);
	mutex_unlock(&s->lock);
	if (fd >= 0)
		close(fd);
	if (fresh)
		destroy(fresh);
	if (dead)
		bury(s);
	*out = o;
	return 0;
}

void obj_make_hint(struct obj_table *t, struct obj_hint *h, const struct obj *dir, const void *name,
	size_t len)
{
	h->trail = dir->trail;
	if (dir != t->root && t->root)
		handle_trail_add(&h->trail, dir->id.ino);
	h->dev = dir->id.dev;
	h->ino = dir->id.ino;
	memcpy(h->name, name, len);
	h->name[len] = '\0';
}

void obj_full_id(struct obj_table *t, int fd, const struct statx *st, struct handle_id *id)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int mount_id;

	short_id(t, st, id);
	u.h.handle_bytes = HANDLE_KH_MAX;
	if (name_to_handle_at(fd, "", &u.h, &mount_id, AT_EMPTY_PATH) != 0)
		return;
	if (u.h.handle_bytes == 0 || u.h.handle_bytes > HANDLE_KH_MAX || u.h.handle_type < 0 ||
		u.h.handle_type > UINT16_MAX)
		return;
	id->kh_type = (uint16_t)u.h.handle_type;
	id->kh_len = (uint8_t)u.h.handle_bytes;
	memcpy(id->kh, u.h.f_handle, u.h.handle_bytes);
	if (!t->by_handle && id->kh_len > HANDLE_KH_FIT) { /* a sum leaves room for the trail */
		uint64_t sum = handle_siphash(t->key, u.h.f_handle, u.h.handle_bytes);

		memset(id->kh, 0, sizeof(id->kh));
		memcpy(id->kh, &sum, sizeof(sum));
		id->kh_len = sizeof(sum);
	}
}

bool obj_get_hint(struct obj_table *t, struct obj *o, struct obj_hint *h)
{
	struct obj_shard *s = shard_of(t, o->id.dev, o->id.ino);
	bool ok;

	mutex_lock(&s->lock);
	ok = o->hint_name != NULL;
	if (ok) {
		h->dev = o->hint_dev;
		h->ino = o->hint_ino;
		snprintf(h->name, sizeof(h->name), "%s", o->hint_name);
	}
	mutex_unlock(&s->lock);
	return ok;
}

void obj_give_fd(struct obj_table *t, struct obj *o, int fd)
{
	struct obj_shard *s = shard_of(t, o->id.dev, o->id.ino);

	mutex_lock(&s->lock);
	if (o->fd < 0) {
		o->fd = fd;
		fd = -1;
	}
	mutex_unlock(&s->lock);
	if (fd >= 0)
		close(fd);
}

bool obj_is(struct obj_table *t, int fd, const struct handle_id *want, struct statx *st)
{
	struct handle_id id;

	if (obj_stat_fd(fd, st) < 0)
		return false;
	obj_full_id(t, fd, st, &id);
	return handle_id_equal(&id, want);
}

void obj_moved(struct obj_table *t, struct obj *o, struct obj *dir, const void *name, size_t len)
{
	struct obj_shard *s = shard_of(t, o->id.dev, o->id.ino);
	struct obj_hint h;

	obj_make_hint(t, &h, dir, name, len);
	mutex_lock(&s->lock);
	set_hint_locked(o, &h);
	mutex_unlock(&s->lock);
}

bool obj_removed(struct obj_table *t, struct obj *o)
{
	struct obj_shard *s = shard_of(t, o->id.dev, o->id.ino);
	struct statx st;

	if (!S_ISDIR(o->type) && obj_stat(o, &st) == 0 && st.stx_nlink > 0)
		return false;
	mutex_lock(&s->lock);
	o->doomed = true;
	mutex_unlock(&s->lock);
	return true;
}

struct obj *obj_root(struct obj_table *t)
{
	return obj_ref(t, t->root);
}

bool obj_is_root(const struct obj_table *t, const struct obj *o)
{
	return o == t->root;
}

void obj_shards_init(struct obj_table *t)
{
	for (int i = 0; i < OBJ_SHARDS; i++) {
		struct obj_shard *s = &t->shard[i];

		mutex_init(&s->lock);
		TAILQ_INIT(&s->warm);
		TAILQ_INIT(&s->cold);
		TAILQ_INIT(&s->dead);
		for (int b = 0; b < OBJ_BUCKETS; b++)
			LIST_INIT(&s->bucket[b]);
	}
}

void obj_shards_finish(struct obj_table *t)
{
	for (int i = 0; i < OBJ_SHARDS; i++) {
		struct obj_shard *s = &t->shard[i];
		struct obj *o;

		mutex_destroy(&s->lock);
		while ((o = TAILQ_FIRST(&s->warm)) != NULL || (o = TAILQ_FIRST(&s->cold)) != NULL) {
			drop_idle_locked(s, o);
			destroy(o);
		}
		if (s->known)
			log_warn("%zu objects of the export are still referenced at the end",
				s->known);
	}
}
