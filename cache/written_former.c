/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * written_former: a successor of the daemon takes over written data (writeback.h).
 *
 * The extents of the former daemon keep their memory, and get notes in the successor's ledger. If
 * the successor is killed before it has the notes of all objects, another successor reads the
 * former daemon's notes again. So nothing that these notes tell of may change until
 * written_former_end(): the pool holds the blocks, and no data is sent.
 *
 * An UNSTABLE extent stays UNSTABLE with the same verifier. But an operation of the former daemon
 * that changes the same bytes by other means may be in flight, and its request comes again only
 * later. So a cut is in flight for each file until written_former_end().
 */
#include <errno.h>
#include <stdlib.h>

#include "cache/dirty_note.h"
#include "cache/writeback_impl.h"
#include "transport/clock.h"
#include "transport/log.h"

/* An extent of the former daemon. */
struct item {
	struct dirty_noted noted;
	struct written *f; /* NULL: dropped */
	struct writer *by;
	struct dirty_mem *mem;
};

struct takeover {
	struct writeback *all;
	struct mem_pool *pool;
	const struct former *former;
	const struct written_find *find;
	struct item *item;
	uint32_t n;
	uint64_t unknown; /* bytes of files or writers that are not there */
	struct err *e;
};

static bool fails(struct err *e, const char *why)
{
	err_set(e, ERR_INTERNAL, "the written data of the former daemon cannot be taken over: %s",
		why);
	return false;
}

struct mem_pool *written_former_pool(size_t limit, int fd, const struct former *f, struct err *e)
{
	uint32_t n = former_count(f, NOTE_EXTENT);
	struct mem_place *place = calloc((size_t)n + 1, sizeof(*place));
	struct mem_pool *pool = NULL;
	struct dirty_noted noted;
	uint32_t i;

	for (i = 0; place && i < n && dirty_noted(f, i, &noted); i++)
		place[i] = noted.place;
	if (!place)
		fails(e, "no memory");
	else if (i < n)
		fails(e, "a note of an extent is damaged");
	else
		pool = mem_pool_take_over(limit, fd, place, n, e);
	free(place);
	return pool;
}

uint64_t written_former_bytes(const struct former *f)
{
	struct dirty_noted noted;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < former_count(f, NOTE_EXTENT); i++)
		if (dirty_noted(f, i, &noted))
			bytes += noted.len;
	return bytes;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool take_losses(struct takeover *t)
{
	uint32_t n = former_count(t->former, NOTE_LOSS);
	struct written *f;
	uint64_t id;

	for (uint32_t i = 0; i < n; i++) {
		if (!filedata_former_id(t->former, i, &id))
			return fails(t->e, "the note of a file is damaged");
		f = t->find->written(t->find->ctx, id);
		if (f && !filedata_former(f->data, t->former, i))
			return fails(t->e, "the note of a file is damaged");
	}
	return true;
}

/* Finds the file and the writer of an extent. */
static bool find_owner(struct takeover *t, struct item *it)
{
	it->f = t->find->written(t->find->ctx, it->noted.id);
	it->by = t->find->writer(t->find->ctx, it->noted.number);
	if (it->f && it->by && it->by->to != it->f)
		return fails(t->e, "the writer of an extent has another file open");
	if (it->f && it->noted.state != NOTED_NEW &&
		!filedata_former_keeps(it->f->data, it->noted.gen)) {
		it->f = NULL; /* a COMMIT has succeeded */
		return true;
	}
	if (it->f && it->by)
		return true;
	if (it->f)
		filedata_lost(it->f->data, -EIO);
	it->f = NULL;
	t->unknown += it->noted.len;
	return true;
}

static bool read_extents(struct takeover *t)
{
	uint32_t n = former_count(t->former, NOTE_EXTENT);

	t->item = calloc((size_t)n + 1, sizeof(*t->item));
	if (!t->item)
		return fails(t->e, "no memory");
	for (; t->n < n; t->n++) {
		struct item *it = &t->item[t->n];

		if (!dirty_noted(t->former, t->n, &it->noted))
			return fails(t->e, "a note of an extent is damaged");
		if (!find_owner(t, it))
			return false;
	}
	return true;
}

/* --- making extents --------------------------------------------------------------------------- */

/* By file, then by block. */
static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	const struct mem_place *p = &x->noted.place, *q = &y->noted.place;

	if (x->f != y->f)
		return (uintptr_t)x->f < (uintptr_t)y->f ? -1 : 1;
	if (p->slab != q->slab)
		return p->slab < q->slab ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

static bool same_block(const struct item *a, const struct item *b)
{
	return a->f == b->f && a->noted.place.slab == b->noted.place.slab &&
	       a->noted.place.index == b->noted.place.index;
}

/* The block of `it`, counted among the blocks of written data. */
static struct dirty_mem *take_block(struct takeover *t, const struct item *it)
{
	struct mem_buf *buf = mem_pool_kept(t->pool, &it->noted.place);
	struct dirty_mem *mem;

	if (!buf)
		return NULL;
	mem = dirty_mem_begin(buf);
	if (!mem) {
		mem_buf_unref(buf);
		return NULL;
	}
	atomic_fetch_add(&t->all->used, buf->size);
	t->all->ops->kept(t->all->ops->ctx, buf);
	return mem;
}

/* f is about to get extents. */
static void join(struct takeover *t, struct written *f)
{
	uint64_t now = clock_ns();

	mutex_lock(&f->lock);
	if (!f->former.begun) {
		f->former.begun = true;
		dirty_cut_begin(&f->dirty, &f->former.dirty, now);
	}
	written_join_locked(f, t->all);
	f->since = f->kept_since = f->kept_last = now;
	mutex_unlock(&f->lock);
}

static struct dirty_extent extent_of(const struct item *it)
{
	const struct dirty_noted *n = &it->noted;

	return (struct dirty_extent){
		.by = &it->by->owner,
		.mem = it->mem,
		.at = n->at,
		.off = n->off,
		.len = n->len,
		.state = n->state == NOTED_NEW ? DIRTY_NEW : DIRTY_UNSTABLE,
		.lost = n->state == NOTED_LOST,
		.sent = n->sent,
		.gen = n->gen,
		.got = n->got,
	};
}

/* Adds the extents of items [i, end), which have one file, that are NEW or not. */
static bool add(struct takeover *t, uint32_t i, uint32_t end, bool new)
{
	struct written *f = t->item[i].f;
	bool done = true;

	mutex_lock(&f->lock);
	for (; i < end && done; i++) {
		struct dirty_extent x = extent_of(&t->item[i]);

		if ((x.state == DIRTY_NEW) == new)
			done = dirty_former(&f->dirty, &x);
	}
	written_list_locked(f);
	mutex_unlock(&f->lock);
	return done;
}

/* Takes over the extents of one file. */
static bool take_file(struct takeover *t, uint32_t first, uint32_t end)
{
	struct written *f = t->item[first].f;
	bool done = true;

	join(t, f);
	for (uint32_t i = first; i < end && done; i++) {
		struct item *it = &t->item[i];

		it->mem = i > first && same_block(it - 1, it) ? it[-1].mem : take_block(t, it);
		done = it->mem;
	}
	/* NEW bytes are newer than UNSTABLE bytes in the same place (dirty_note.h) */
	done = done && add(t, first, end, true) && add(t, first, end, false);
	mutex_lock(&f->lock);
	for (uint32_t i = first; i < end; i++)
		if (t->item[i].mem && (i == first || t->item[i].mem != t->item[i - 1].mem))
			dirty_mem_end(&f->dirty, t->item[i].mem);
	mutex_unlock(&f->lock);
	return done || fails(t->e, "no memory");
}

static bool take_extents(struct takeover *t)
{
	uint32_t end;

	qsort(t->item, t->n, sizeof(*t->item), compare);
	for (uint32_t i = 0; i < t->n; i = end) {
		for (end = i + 1; end < t->n && t->item[end].f == t->item[i].f; end++)
			;
		if (t->item[i].f && !take_file(t, i, end))
			return false;
	}
	return true;
}

bool written_former(struct writeback *all, struct mem_pool *pool, const struct former *f,
	const struct written_find *find, struct err *e)
{
	struct takeover t = {.all = all, .pool = pool, .former = f, .find = find, .e = e};
	bool done = take_losses(&t) && read_extents(&t) && take_extents(&t);

	free(t.item);
	if (done && t.unknown)
		log_always_error(
			"%llu bytes that the former daemon has written are of no file that "
			"is open: the bytes are lost",
			(unsigned long long)t.unknown);
	/* the server may have restarted since the former daemon had a connection */
	writeback_connection_lost(all);
	return done;
}

/* The cut of join() ends. */
static void former_ends(struct written *f)
{
	written_cut_end(f, &f->former, 0, 0);
}

void written_former_end(struct writeback *all, struct mem_pool *pool)
{
	written_for_all(all, former_ends);
	mem_pool_kept_end(pool);
}
