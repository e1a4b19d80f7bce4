/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * written_all: what callers begin: puts, waits, the tick; and all files of a mount (writeback.h).
 */
#include "cache/writeback.h"

#include <assert.h>
#include <stdlib.h>

#include "cache/writeback_impl.h"
#include "transport/clock.h"

#define MUCH	   (8ull << 20) /* that many NEW bytes of a file are sent without waiting for more */
#define AGE_NS	   NSEC_PER_SEC
#define TICK_FILES 64
/* By then the kernel has sent again each request of the former daemon that changes bytes, and the
 * successor has begun it. */
#define FORMER_NS (30 * NSEC_PER_SEC)

/* --- memory ----------------------------------------------------------------------------------- */

static bool charge(struct writeback *all, size_t size)
{
	if (atomic_fetch_add(&all->used, size) + size <= all->limit)
		return true;
	atomic_fetch_sub(&all->used, size);
	return false;
}

static struct mem_buf *get(void *ctx, size_t size)
{
	struct writeback *all = ctx;
	struct mem_buf *buf;

	if (!charge(all, size))
		return NULL;
	buf = all->ops->get(all->ops->ctx, size);
	if (!buf)
		atomic_fetch_sub(&all->used, size);
	else
		atomic_fetch_add(&all->used, buf->size - size);
	return buf;
}

static void put(void *ctx, struct mem_buf *buf)
{
	struct writeback *all = ctx;

	atomic_fetch_sub(&all->used, buf->size);
	all->ops->put(all->ops->ctx, buf);
}

struct writeback *writeback_new(const struct writeback_ops *ops, size_t limit)
{
	struct writeback *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->ops = ops;
	all->memory = (struct dirty_memory){.get = get, .put = put, .ctx = all};
	all->limit = limit;
	mutex_init(&all->lock);
	batch_pool_init(&all->parts);
	SLIST_INIT(&all->spare);
	LIST_INIT(&all->files);
	TAILQ_INIT(&all->rooms);
	return all;
}

struct writeback *writeback_free(struct writeback *all)
{
	struct writeout *x;

	if (!all)
		return NULL;
	mutex_destroy(&all->lock);
	assert(!all->under_way && LIST_EMPTY(&all->files));
	while ((x = SLIST_FIRST(&all->spare))) {
		SLIST_REMOVE_HEAD(&all->spare, spare);
		writeout_destroy(x);
	}
	batch_pool_finish(&all->parts);
	free(all);
	return NULL;
}

void writeback_set_limit(struct writeback *all, size_t limit)
{
	if (atomic_load(&all->limit))
		atomic_store(&all->limit, limit);
}

void writeback_start(struct writeback *all, struct nfs_client *client, uint32_t wsize)
{
	all->client = client;
	all->wsize = wsize;
}

struct writeback_stats *writeback_stats(struct writeback *all)
{
	return &all->stats;
}

size_t writeback_bytes(const struct writeback *all)
{
	return atomic_load_explicit(&all->used, memory_order_relaxed);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* [off, end) was put. Sends a run that need not wait for more data. */
static void put_end(struct written *f, uint64_t end, bool whole)
{
	if (dirty_bytes(&f->dirty, DIRTY_NEW) >= MUCH)
		writeout_send_all(f, false, NULL);
	else if (whole || end % DIRTY_RUN == 0)
		writeout_send_to(f, end);
}

/* Before a put: from now on f has NEW data. */
static void put_begin_locked(struct written *f, struct writeback *all) REQUIRES(f->lock)
{
	written_join_locked(f, all);
	if (!dirty_bytes(&f->dirty, DIRTY_NEW))
		f->since = clock_ns();
}

enum dirty_put writeback_put(struct writeback *all, struct writer *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took)
{
	uint64_t first = off / DIRTY_RUN, last = (off + len) / DIRTY_RUN;
	struct written *f = by->to;
	enum dirty_put r;

	mutex_lock(&f->lock);
	put_begin_locked(f, all);
	r = dirty_put(&f->dirty, &by->owner, off, data, len, took);
	written_list_locked(f);
	mutex_unlock(&f->lock);
	writeback_count(&all->stats.gathered, *took);
	if (r == DIRTY_BUSY)
		writeout_send_all(f, false, NULL);
	else if (r == DIRTY_DONE)
		put_end(f, first == last ? off + len : last * DIRTY_RUN, false);
	return r;
}

enum dirty_put writeback_take(struct writeback *all, struct writer *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len)
{
	struct written *f = by->to;
	enum dirty_put r;

	if (!charge(all, buf->size))
		return DIRTY_FULL;
	mutex_lock(&f->lock);
	put_begin_locked(f, all);
	r = dirty_take(&f->dirty, &by->owner, off, buf, at, len);
	written_list_locked(f);
	mutex_unlock(&f->lock);
	if (r != DIRTY_DONE) {
		atomic_fetch_sub(&all->used, buf->size);
		return r;
	}
	writeback_count(&all->stats.taken, len);
	put_end(f, off + len, true);
	return r;
}

/* --- one file --------------------------------------------------------------------------------- */

void writeback_redo(struct written *f)
{
	uint64_t restarts = filedata_restarts(f->data);

	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE)) {
		filedata_redone(f->data, restarts);
		return;
	}
	mutex_lock(&f->lock);
	written_redo_locked(f);
	mutex_unlock(&f->lock);
	writeout_send_new(f);
}

void written_cut_end(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len)
{
	if (!written_cut_over(f, cut, off, len))
		return;
	writeout_send_new(f);
	writeout_look(f);
}

void writeback_commit(struct written *f)
{
	bool commit;

	filedata_note_replaced(f->data);
	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return;
	mutex_lock(&f->lock);
	commit = !f->stuck && written_commits_locked(f);
	mutex_unlock(&f->lock);
	if (commit)
		writeout_commit(f);
}

bool writeback_wait(struct writeback *all, struct written *f, struct writeback_wait *w,
	enum written_level level)
{
	uint64_t gen;

	if (!written_dirty(f) && (level != STABLE || !filedata_dirty(f->data, &gen)))
		return false;
	w->level = level;
	w->commits = w->refused = false;
	w->target = UINT64_MAX;
	w->rounds = 0;
	all->ops->hold(f); /* the callback of w may release f */
	mutex_lock(&f->lock);
	written_join_locked(f, all);
	mutex_unlock(&f->lock);
	writeout_send_all(f, level != WRITTEN, w);
	mutex_lock(&f->lock);
	w->waits = true;
	TAILQ_INSERT_TAIL(&f->waits, w, link);
	written_all_sent_locked(f);
	mutex_unlock(&f->lock);
	writeout_look(f);
	all->ops->release(f);
	return true;
}

/* --- all files -------------------------------------------------------------------------------- */

unsigned writeback_files(struct writeback *all, unsigned n, struct written *file[], unsigned max)
{
	struct written *f;
	unsigned got = 0;

	mutex_lock(&all->lock);
	LIST_FOREACH (f, &all->files, link) {
		if (n && n--)
			continue;
		if (got == max)
			break;
		all->ops->hold(f);
		file[got++] = f;
	}
	mutex_unlock(&all->lock);
	return got;
}

struct written *writeback_find(struct writeback *all, const struct nfs_fh *fh)
{
	struct written *f;

	mutex_lock(&all->lock);
	LIST_FOREACH (f, &all->files, link)
		if (nfs_fh_same(f->fh, fh))
			break;
	if (f)
		all->ops->hold(f);
	mutex_unlock(&all->lock);
	return f;
}

/* Sends the NEW data of f, and a COMMIT for its UNSTABLE data. */
static void push(struct written *f)
{
	bool commit;

	writeout_send_all(f, false, NULL);
	mutex_lock(&f->lock);
	commit = written_commits_locked(f);
	mutex_unlock(&f->lock);
	if (commit)
		writeout_commit(f);
}

void written_for_all(struct writeback *all, void (*fn)(struct written *f))
{
	struct written *file[TICK_FILES];
	unsigned n, at = 0;

	do {
		n = writeback_files(all, at, file, TICK_FILES);
		at += n;
		for (unsigned i = 0; i < n; i++) {
			fn(file[i]);
			all->ops->release(file[i]);
		}
	} while (n == TICK_FILES);
}

static void send_old(struct written *f)
{
	bool old, starved, commit;

	if (f->former.begun && clock_age(clock_ns(), f->former.dirty.since) >= FORMER_NS)
		written_cut_end(f, &f->former, 0, 0);
	mutex_lock(&f->lock);
	old = dirty_bytes(&f->dirty, DIRTY_NEW) && f->since + AGE_NS <= clock_ns();
	starved = f->starved;
	f->starved = false;
	commit = written_is_old_locked(f) && written_commits_locked(f);
	mutex_unlock(&f->lock);
	if (commit)
		writeout_commit(f);
	if (!old && !starved)
		return;
	writeout_send_new(f);
	writeout_look(f);
}

void writeback_connection_lost(struct writeback *all)
{
	atomic_store(&all->lost_at, clock_ns());
}

void writeback_tick(struct writeback *all)
{
	written_for_all(all, send_old);
}

bool writeback_sync(struct writeback *all)
{
	bool left;

	written_for_all(all, push);
	mutex_lock(&all->lock);
	left = all->under_way || !LIST_EMPTY(&all->files);
	mutex_unlock(&all->lock);
	return left;
}

bool writeback_busy(struct writeback *all)
{
	bool busy;

	mutex_lock(&all->lock);
	busy = all->under_way;
	mutex_unlock(&all->lock);
	return busy;
}

bool writeback_unwait_room(struct writeback *all, struct writeback_room *w)
{
	bool waited;

	mutex_lock(&all->lock);
	waited = w->waits;
	w->waits = false;
	if (waited)
		TAILQ_REMOVE(&all->rooms, w, link);
	mutex_unlock(&all->lock);
	return waited;
}

bool writeback_wait_room(struct writeback *all, struct writeback_room *w)
{
	struct writeback_room *one;
	uint64_t id;

	mutex_lock(&all->lock);
	id = w->id = all->next_room++;
	w->waits = true;
	TAILQ_INSERT_TAIL(&all->rooms, w, link);
	mutex_unlock(&all->lock);
	writeback_count(&all->stats.full, 1);
	written_for_all(all, push);
	/* w may have ended and be freed from here on */
	mutex_lock(&all->lock);
	TAILQ_FOREACH (one, &all->rooms, link)
		if (one->id == id)
			break;
	if (all->under_way)
		one = NULL;
	if (one) {
		one->waits = false;
		TAILQ_REMOVE(&all->rooms, one, link);
	}
	mutex_unlock(&all->lock);
	return !one;
}
