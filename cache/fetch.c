/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fetch: READs that bring file data into cache blocks.
 */
#include "cache/fetch.h"

#include <assert.h>
#include <stdlib.h>

#include "transport/clock.h"
#include "transport/log.h"

#define FETCH_BLOCKS (MEM_MAX_SIZE / CACHE_BLOCK)

/* One READ, or several if the server's largest READ is smaller than a block. */
struct fetch {
	struct batch batch;
	struct fetcher *by;
	uint64_t off;	/* in the file, of batch.data */
	uint64_t asked; /* when, on clock_ns() */
	struct cache_block *block[FETCH_BLOCKS];
	struct seg seg[FETCH_BLOCKS];
	unsigned n;
	SLIST_ENTRY(fetch) spare;
};

struct fetches {
	struct cache *cache;
	struct nfs_client *client;
	uint32_t rsize;
	struct batch_pool parts;
	struct mutex lock; /* a leaf */
	GUARDED_BY(lock) SLIST_HEAD(, fetch) spare;
	unsigned pending GUARDED_BY(lock);
};

struct fetches *fetches_new(struct cache *c)
{
	struct fetches *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->cache = c;
	mutex_init(&all->lock);
	batch_pool_init(&all->parts);
	SLIST_INIT(&all->spare);
	return all;
}

struct fetches *fetches_free(struct fetches *all)
{
	struct fetch *x;

	if (!all)
		return NULL;
	mutex_destroy(&all->lock);
	assert(!all->pending);
	while ((x = SLIST_FIRST(&all->spare))) {
		SLIST_REMOVE_HEAD(&all->spare, spare);
		batch_finish(&x->batch);
		free(x);
	}
	batch_pool_finish(&all->parts);
	free(all);
	return NULL;
}

void fetches_start(struct fetches *all, struct nfs_client *client, uint32_t rsize)
{
	all->client = client;
	all->rsize = rsize;
}

/* --- a fetcher -------------------------------------------------------------------------------- */

void fetcher_init(struct fetcher *f, uint32_t ahead_max)
{
	mutex_init(&f->lock);
	readahead_init(&f->ahead, ahead_max);
	f->pending = 0;
	f->idle = NULL;
	f->wasted = 0;
}

void fetcher_finish(struct fetcher *f)
{
	mutex_destroy(&f->lock);
	assert(!f->pending);
}

static void hold(struct fetcher *f)
{
	mutex_lock(&f->lock);
	f->pending++;
	mutex_unlock(&f->lock);
}

struct readahead_plan fetcher_plan(struct fetcher *f, uint64_t off, uint32_t len, uint64_t size)
{
	uint64_t wasted =
		atomic_load_explicit(&cache_stats(f->all->cache)->wasted, memory_order_relaxed);
	struct readahead_plan plan;

	mutex_lock(&f->lock);
	if (wasted != f->wasted)
		readahead_wasted(&f->ahead);
	f->wasted = wasted;
	plan = readahead_note(&f->ahead, off, len, size);
	f->pending++;
	mutex_unlock(&f->lock);
	return plan;
}

void fetcher_waited(struct fetcher *f, uint64_t off)
{
	mutex_lock(&f->lock);
	readahead_waited(&f->ahead, off);
	mutex_unlock(&f->lock);
}

void fetcher_release(struct fetcher *f)
{
	void (*idle)(void *ctx);
	void *ctx;

	mutex_lock(&f->lock);
	idle = --f->pending ? NULL : f->idle;
	ctx = f->ctx;
	mutex_unlock(&f->lock);
	if (idle)
		idle(ctx);
}

void fetcher_stop(struct fetcher *f, void (*idle)(void *ctx), void *ctx)
{
	mutex_lock(&f->lock);
	f->pending++;
	f->idle = idle;
	f->ctx = ctx;
	mutex_unlock(&f->lock);
	fetcher_release(f);
}

/* --- a fetch ---------------------------------------------------------------------------------- */

static struct fetch *fetch_new(struct fetches *all)
{
	struct fetch *x;

	mutex_lock(&all->lock);
	x = SLIST_FIRST(&all->spare);
	if (x)
		SLIST_REMOVE_HEAD(&all->spare, spare);
	all->pending++;
	mutex_unlock(&all->lock);
	if (x)
		return x;
	x = calloc(1, sizeof(*x));
	if (x) {
		batch_init(&x->batch, &all->parts);
		return x;
	}
	mutex_lock(&all->lock);
	all->pending--;
	mutex_unlock(&all->lock);
	return NULL;
}

static void fetch_free(struct fetches *all, struct fetch *x)
{
	mutex_lock(&all->lock);
	all->pending--;
	SLIST_INSERT_HEAD(&all->spare, x, spare);
	mutex_unlock(&all->lock);
}

/* The READs of x have brought got bytes from the beginning of x. */
static void finish(struct fetch *x, uint32_t got, bool eof)
{
	struct fetches *all = x->by->all;
	struct fetcher *by = x->by;

	cache_filled(by->file, x->block, x->n, got, eof);
	batch_end(&x->batch);
	fetch_free(all, x);
	fetcher_release(by);
}

static void fill(struct fetch *x, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_READ, read);

	op->u.read.open = x->by->open;
	op->u.read.fh = *x->by->fh;
	op->u.read.offset = x->off + p->off + p->got;
	op->u.read.to = part_rest(p);
	op->u.read.want_attr = x->by->ops->want_attr(x->by, x->asked);
	op->u.read.moves = x->n == 1 && op->u.read.to.len == x->block[0]->cap;
}

/* op may have brought the data in another place. If `may`, the block takes over the place;
 * otherwise the data is copied. */
static void stay(struct fetch *x, struct nfs_op *op, bool may)
{
	const struct seg_list *moved = &op->u.read.moved;

	if (moved->len && !(may && cache_move(x->block[0], moved)))
		seg_list_copy(&op->u.read.to, moved);
	nfs_read_let_go(op);
}

static void took(struct fetch *x, struct part *p)
{
	struct nfs_op *op = &p->op;

	x->by->ops->ended(x->by, op, x->asked);
	p->settled = true;
	if (op->error) {
		nfs_read_let_go(op);
		return;
	}
	p->got += op->u.read.count;
	if (!op->u.read.eof && p->got < p->want && op->u.read.count) {
		p->settled = false;
		stay(x, op, false);
		fill(x, p);
	} else {
		stay(x, op, true);
	}
}

/* Did the file end behind the bytes that have come? */
static bool ended_there(const struct fetch *x)
{
	const struct part *p, *last = NULL;

	STAILQ_FOREACH (p, &x->batch.parts, next) {
		last = p;
		if (p->got < p->want)
			break;
	}
	return !last->op.error && last->op.u.read.eof;
}

static void step(struct batch *b)
{
	struct fetch *x = (struct fetch *)((char *)b - offsetof(struct fetch, batch));
	struct part *p;

	STAILQ_FOREACH (p, &b->parts, next)
		if (!p->settled)
			took(x, p);
	if (batch_ready(b))
		batch_submit(b, step);
	else
		finish(x, batch_done_bytes(b), ended_there(x));
}

static void submit(struct fetch *x)
{
	struct fetches *all = x->by->all;
	struct part *p;

	for (unsigned i = 0; i < x->n; i++)
		x->seg[i] = (struct seg){.at = mem_buf_sge(x->block[i]->buf, 0, x->block[i]->cap),
			.hold = x->block[i]->buf};
	batch_begin(&x->batch, all->client, x->by->cred);
	seg_list_init(&x->batch.data, x->seg, x->n);
	x->asked = x->batch.since_ns = clock_ns();
	if (!batch_cut(&x->batch, all->rsize)) {
		finish(x, 0, false);
		return;
	}
	STAILQ_FOREACH (p, &x->batch.parts, next)
		fill(x, p);
	batch_submit(&x->batch, step);
}

typedef unsigned reserve_fn(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at);

static bool fetch_range(
	struct fetcher *f, uint64_t off, uint64_t end, uint64_t size, reserve_fn *reserve)
{
	struct fetches *all = f->all;
	unsigned max = all->rsize > CACHE_BLOCK ? all->rsize / CACHE_BLOCK : 1;
	bool any = false;

	if (max > FETCH_BLOCKS)
		max = FETCH_BLOCKS;
	while (off < end) {
		struct fetch *x = fetch_new(all);

		if (!x)
			return any;
		x->by = f;
		x->n = reserve(all->cache, f->file, off, end, size, x->block, max, &x->off);
		if (!x->n) {
			fetch_free(all, x);
			return any;
		}
		off = (x->block[x->n - 1]->index + 1) * CACHE_BLOCK;
		any = true;
		hold(f);
		submit(x);
	}
	return any;
}

bool fetch(struct fetcher *f, uint64_t off, uint64_t end, uint64_t size)
{
	return fetch_range(f, off, end, size, cache_reserve);
}

/* READs backwards: the last bytes are wanted first. */
static void fetch_back(struct fetcher *f, uint64_t off, uint64_t end, uint64_t size)
{
	uint64_t step = f->all->rsize > CACHE_BLOCK ? f->all->rsize / CACHE_BLOCK * CACHE_BLOCK
						    : CACHE_BLOCK;

	while (end > off) {
		uint64_t from = (end - 1) / step * step;

		fetch(f, from > off ? from : off, end, size);
		end = from;
	}
}

void fetch_ahead(struct fetcher *f, const struct readahead_plan *plan, uint64_t size)
{
	uint64_t from = plan->from;

	if (plan->to <= from)
		return;
	if (plan->back) {
		fetch_back(f, from, plan->to, size);
	} else if (!plan->pieces) {
		fetch(f, from, plan->to, size);
	} else {
		for (unsigned i = 0; i < plan->pieces; i++, from += (uint64_t)plan->stride)
			fetch_range(
				f, from, from + (plan->to - plan->from), size, cache_reserve_piece);
	}
}
