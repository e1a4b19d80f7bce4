/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cache: file data in blocks of registered memory.
 */
#include "cache/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CHAINS_MIN  8u
#define PAGE	    4096u
#define CHANCES_NEW 2u

TAILQ_HEAD(cache_ring, cache_block);
TAILQ_HEAD(cache_wait_list, cache_wait);

struct cache {
	struct mem_pool *pool;
	atomic_size_t limit;
	atomic_size_t bytes;
	struct cache_stats stats;
	struct mutex lock;
	struct cache_ring ring GUARDED_BY(lock); /* the hand is at its head */
	unsigned n GUARDED_BY(lock);		 /* blocks in the ring */
};

static void count(cache_counter *c, uint64_t n)
{
	atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

struct cache *cache_new(struct mem_pool *pool, size_t limit)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->pool = pool;
	atomic_init(&c->limit, limit);
	mutex_init(&c->lock);
	TAILQ_INIT(&c->ring);
	return c;
}

struct cache *cache_free(struct cache *c)
{
	if (!c)
		return NULL;
	mutex_destroy(&c->lock);
	assert(TAILQ_EMPTY(&c->ring));
	free(c);
	return NULL;
}

struct cache_stats *cache_stats(struct cache *c)
{
	return &c->stats;
}

size_t cache_bytes(const struct cache *c)
{
	return atomic_load_explicit(&c->bytes, memory_order_relaxed);
}

size_t cache_limit(const struct cache *c)
{
	return atomic_load_explicit(&c->limit, memory_order_relaxed);
}

void cache_file_init(struct cache_file *f)
{
	memset(f, 0, sizeof(*f));
	mutex_init(&f->lock);
	LIST_INIT(&f->ends);
}

void cache_file_finish(struct cache_file *f)
{
	cache_drop_all(f);
	mutex_lock(&f->lock); /* the hand may still hold the lock for its last block */
	assert(!atomic_load(&f->count));
	mutex_unlock(&f->lock);
	mutex_destroy(&f->lock);
	free(f->chains);
}

/* --- a file's blocks -------------------------------------------------------------------------- */

static struct cache_chain *chain_of(struct cache_file *f, uint64_t index) REQUIRES(f->lock)
{
	return &f->chains[(index ^ index >> 16) & (f->nchains - 1)];
}

static struct cache_block *lookup_locked(struct cache_file *f, uint64_t index) REQUIRES(f->lock)
{
	struct cache_block *b;

	if (!f->nchains)
		return NULL;
	LIST_FOREACH (b, chain_of(f, index), chain)
		if (b->index == index)
			return b;
	return NULL;
}

/* Makes room for one more block. */
static bool grow_locked(struct cache_file *f) REQUIRES(f->lock)
{
	unsigned n = f->nchains ? f->nchains * 2 : CHAINS_MIN, old = f->nchains;
	struct cache_chain *was = f->chains, *more;
	struct cache_block *b;

	if (atomic_load_explicit(&f->count, memory_order_relaxed) < old)
		return true;
	more = calloc(n, sizeof(*more));
	if (!more)
		return old > 0;
	f->chains = more;
	f->nchains = n;
	for (unsigned i = 0; i < old; i++)
		while ((b = LIST_FIRST(&was[i]))) {
			LIST_REMOVE(b, chain);
			LIST_INSERT_HEAD(chain_of(f, b->index), b, chain);
		}
	free(was);
	return true;
}

static void block_free(struct cache *c, struct cache_block *b)
{
	assert(TAILQ_EMPTY(&b->waits));
	atomic_fetch_sub_explicit(&c->bytes, b->buf->size, memory_order_relaxed);
	mem_buf_unref(b->buf);
	free(b);
}

/* The file ends in b, or ended there when the READ was made. */
static void set_at_end_locked(struct cache_block *b) REQUIRES(b->file->lock)
{
	if (!b->at_end)
		LIST_INSERT_HEAD(&b->file->ends, b, end);
	b->at_end = true;
}

/* Removes b from its file. */
static void unlink_locked(struct cache_block *b) REQUIRES(b->file->lock)
{
	LIST_REMOVE(b, chain);
	if (b->at_end)
		LIST_REMOVE(b, end);
	atomic_fetch_sub(&b->file->count, 1);
}

static void leave_ring(struct cache *c, struct cache_block *b)
{
	mutex_lock(&c->lock);
	TAILQ_REMOVE(&c->ring, b, ring);
	c->n--;
	mutex_unlock(&c->lock);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Takes the block at the hand, if the block has no chances left and the file's lock is free. Not
 * analysed: the function takes the lock of each file but held. */
static struct cache_block *evict_at_hand_locked(struct cache *c, const struct cache_file *held)
	REQUIRES(c->lock) NO_LOCK_ANALYSIS
{
	struct cache_block *b = TAILQ_FIRST(&c->ring);
	unsigned chances = atomic_load_explicit(&b->chances, memory_order_relaxed);
	bool lock = b->file != held;

	TAILQ_REMOVE(&c->ring, b, ring);
	if (chances || (lock && !mutex_trylock(&b->file->lock))) {
		if (chances)
			atomic_store_explicit(&b->chances, chances - 1, memory_order_relaxed);
		TAILQ_INSERT_TAIL(&c->ring, b, ring);
		return NULL;
	}
	c->n--;
	unlink_locked(b);
	if (!b->given)
		count(&c->stats.wasted, 1);
	if (lock)
		mutex_unlock(&b->file->lock);
	return b;
}

/* Evicts one block. The caller has the lock of held. False: no block may be evicted. */
static bool evict(struct cache *c, const struct cache_file *held)
{
	struct cache_block *b = NULL;

	mutex_lock(&c->lock);
	for (unsigned turns = (CHANCES_NEW + 1) * c->n; turns && !b; turns--)
		b = evict_at_hand_locked(c, held);
	mutex_unlock(&c->lock);
	if (!b)
		return false;
	count(&c->stats.evicted, 1);
	block_free(c, b);
	return true;
}

void cache_set_limit(struct cache *c, size_t limit)
{
	if (!cache_limit(c))
		return;
	atomic_store(&c->limit, limit ? limit : 1);
	while (cache_bytes(c) > limit && evict(c, NULL))
		;
}

static struct mem_buf *get_buf(struct cache *c, const struct cache_file *held, uint32_t size)
{
	size_t limit = cache_limit(c);
	struct mem_buf *buf;

	while (cache_bytes(c) + size > limit)
		if (size > limit || !evict(c, held))
			return NULL;
	buf = mem_buf_get(c->pool, size);
	if (buf)
		atomic_fetch_add_explicit(&c->bytes, buf->size, memory_order_relaxed);
	return buf;
}

static struct cache_block *block_new_locked(struct cache *c, struct cache_file *f, uint64_t index,
	uint32_t in, uint32_t cap) REQUIRES(f->lock)
{
	struct cache_block *b;
	struct mem_buf *buf;

	if (!grow_locked(f))
		return NULL;
	buf = get_buf(c, f, cap);
	b = buf ? calloc(1, sizeof(*b)) : NULL;
	if (!b) {
		if (buf)
			atomic_fetch_sub_explicit(&c->bytes, buf->size, memory_order_relaxed);
		mem_buf_unref(buf);
		return NULL;
	}
	b->file = f;
	b->index = index;
	b->buf = buf;
	b->in = in;
	b->cap = cap;
	b->drops = atomic_load(&f->drops);
	b->state = CACHE_READING;
	TAILQ_INIT(&b->waits);
	LIST_INSERT_HEAD(chain_of(f, index), b, chain);
	atomic_fetch_add(&f->count, 1);
	return b;
}

/* --- waits ------------------------------------------------------------------------------------ */

static void take_waits_locked(struct cache_block *b, struct cache_wait_list *to)
	REQUIRES(b->file->lock)
{
	struct cache_wait *w;

	while ((w = TAILQ_FIRST(&b->waits))) {
		TAILQ_REMOVE(&b->waits, w, link);
		w->block = NULL;
		TAILQ_INSERT_TAIL(to, w, link);
	}
}

static void call_ready(struct cache_wait_list *list)
{
	struct cache_wait *w;

	while ((w = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, w, link);
		w->ready(w);
	}
}

bool cache_unwait(struct cache_file *f, struct cache_wait *w)
{
	bool waits;

	mutex_lock(&f->lock);
	waits = w->block != NULL;
	if (waits)
		TAILQ_REMOVE(&w->block->waits, w, link);
	w->block = NULL;
	mutex_unlock(&f->lock);
	return waits;
}

/* --- looking ---------------------------------------------------------------------------------- */

/* How many of the n bytes at `in` of b's buffer are there: n, or fewer at the end of the file; -1:
 * none. A request may reach to the end of the page in which the file ends. The kernel asks for
 * later pages only if the file has grown; then the server must be asked. */
static int64_t have(const struct cache_block *b, uint32_t in, uint32_t n)
{
	if (in + n <= b->len)
		return n;
	if (!b->eof || in + n > (b->len + PAGE - 1) / PAGE * PAGE)
		return -1;
	return in < b->len ? b->len - in : 0;
}

/* Collects the segments of [off, end). */
static enum cache_found collect_locked(struct cache_file *f, uint64_t off, uint64_t end,
	struct cache_hit *hit, struct cache_block **reading) REQUIRES(f->lock)
{
	for (uint64_t at = off; at < end;) {
		struct cache_block *b = lookup_locked(f, at / CACHE_BLOCK);
		uint32_t in = (uint32_t)(at % CACHE_BLOCK);
		uint32_t n = end - at < CACHE_BLOCK - in ? (uint32_t)(end - at) : CACHE_BLOCK - in;
		int64_t there;

		if (!b)
			return CACHE_MISS;
		if (b->state == CACHE_READING) {
			*reading = b;
			return CACHE_PENDING;
		}
		there = in < b->in ? -1 : have(b, in - b->in, n);
		if (there < 0)
			return CACHE_MISS;
		if (there)
			hit->seg[hit->n++] = (struct seg){
				.at = mem_buf_sge(b->buf, b->at + in - b->in, (uint32_t)there),
				.hold = b->buf};
		if (there < n)
			break;
		at += n;
	}
	return CACHE_HIT;
}

/* Counts the hit's bytes as read by the kernel, and takes the references. */
static void give_locked(struct cache_file *f, uint64_t off, struct cache_hit *hit) REQUIRES(f->lock)
{
	for (unsigned i = 0; i < hit->n; i++) {
		struct cache_block *b = lookup_locked(f, off / CACHE_BLOCK + i);

		mem_buf_ref(b->buf);
		if (b->given >= b->len) {
			atomic_store_explicit(&b->chances, 1, memory_order_relaxed);
			continue;
		}
		b->given += hit->seg[i].at.len;
		if (b->given >= b->len)
			atomic_store_explicit(&b->chances, 0, memory_order_relaxed);
	}
}

enum cache_found cache_find(struct cache_file *f, uint64_t off, uint32_t len, struct cache_hit *hit,
	struct cache_wait *w)
{
	struct cache_block *reading = NULL;
	enum cache_found found;

	hit->n = 0;
	if (!atomic_load_explicit(&f->count, memory_order_relaxed))
		return CACHE_MISS;
	mutex_lock(&f->lock);
	found = collect_locked(f, off, off + len, hit, &reading);
	if (found == CACHE_HIT) {
		give_locked(f, off, hit);
		seg_list_init(&hit->data, hit->seg, hit->n);
	} else if (found == CACHE_PENDING && w) {
		w->block = reading;
		TAILQ_INSERT_TAIL(&reading->waits, w, link);
	}
	mutex_unlock(&f->lock);
	return found;
}

void cache_hit_end(struct cache_hit *hit)
{
	for (unsigned i = 0; i < hit->n; i++)
		mem_buf_unref(hit->seg[i].hold);
}

/* --- filling ---------------------------------------------------------------------------------- */

/* How many bytes of the block at `at` are worth reading. */
static uint32_t cap_of(uint64_t at, uint64_t size)
{
	uint64_t left = size > at ? size - at : PAGE;

	return left < CACHE_BLOCK ? ((uint32_t)left + PAGE - 1) / PAGE * PAGE : CACHE_BLOCK;
}

/* Is block i of f absent, or a piece to be replaced? Frees such a piece: with `whole`, any piece;
 * without, a piece that the kernel has fully read and that does not cover [off, end). */
static bool absent_locked(struct cache *c, struct cache_file *f, uint64_t i, uint64_t off,
	uint64_t end, bool whole) REQUIRES(f->lock)
{
	struct cache_block *b = lookup_locked(f, i);
	uint64_t at = i * CACHE_BLOCK;

	if (!b || !b->piece || b->state != CACHE_VALID)
		return !b;
	off = off > at ? off - at : 0;
	end = end - at < CACHE_BLOCK ? end - at : CACHE_BLOCK;
	if (!whole && (b->given < b->len || (off >= b->in && end <= b->in + b->cap)))
		return false;
	unlink_locked(b);
	leave_ring(c, b);
	block_free(c, b);
	return true;
}

/* With `whole`, whole blocks; otherwise only [off, end), in whole pages. */
static unsigned reserve(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, bool whole, struct cache_block **b, unsigned max, uint64_t *at)
{
	uint64_t i = off / CACHE_BLOCK, last = end / CACHE_BLOCK + (end % CACHE_BLOCK != 0);
	uint32_t in, cap, full;
	unsigned n = 0;

	mutex_lock(&f->lock);
	if (!f->cache)
		f->cache = c;
	while (i < last && !absent_locked(c, f, i, off, end, whole))
		i++;
	*at = i * CACHE_BLOCK;
	if (!whole && *at < off)
		*at = off;
	for (; i < last && n < max && absent_locked(c, f, i, off, end, whole); n++, i++) {
		cap = full = cap_of(i * CACHE_BLOCK, size);
		in = n ? 0 : (uint32_t)(*at % CACHE_BLOCK);
		if (!whole && end - i * CACHE_BLOCK < cap)
			cap = (uint32_t)(end - i * CACHE_BLOCK);
		b[n] = cap > in ? block_new_locked(c, f, i, in, cap - in) : NULL;
		if (!b[n])
			break;
		b[n]->piece = cap - in < full;
		if (full < CACHE_BLOCK) {
			set_at_end_locked(b[n++]);
			break;
		}
	}
	mutex_unlock(&f->lock);
	return n;
}

unsigned cache_reserve(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at)
{
	return reserve(c, f, off, end, size, true, b, max, at);
}

unsigned cache_reserve_piece(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at)
{
	return reserve(
		c, f, off / PAGE * PAGE, (end + PAGE - 1) / PAGE * PAGE, size, false, b, max, at);
}

/* The READ of b has brought n bytes. True if b is dropped or empty; the caller then frees b. If the
 * file was changed during the READ, the end of the file is unknown: the answer may be from before
 * the change. */
static bool fill_locked(struct cache *c, struct cache_block *b, uint32_t n, bool eof)
	REQUIRES(b->file->lock)
{
	if (b->dropped)
		return true;
	if (!n || (eof && atomic_load(&b->file->drops) != b->drops)) {
		unlink_locked(b);
		return true;
	}
	b->state = CACHE_VALID;
	b->len = n;
	b->eof = eof;
	if (eof)
		set_at_end_locked(b);
	atomic_store_explicit(&b->chances, CHANCES_NEW, memory_order_relaxed);
	mutex_lock(&c->lock);
	TAILQ_INSERT_TAIL(&c->ring, b, ring);
	c->n++;
	mutex_unlock(&c->lock);
	return false;
}

void cache_filled(struct cache_file *f, struct cache_block **b, unsigned n, uint64_t got, bool eof)
{
	struct cache_wait_list ready = TAILQ_HEAD_INITIALIZER(ready);
	struct cache *c;

	mutex_lock(&f->lock);
	c = f->cache;
	count(&c->stats.fetches, 1);
	for (unsigned i = 0; i < n; i++) {
		uint32_t share = got < b[i]->cap ? (uint32_t)got : b[i]->cap;

		got -= share;
		take_waits_locked(b[i], &ready);
		if (share < b[i]->cap && !eof) /* the rest is unknown: no reader could go on */
			share = 0;
		if (fill_locked(c, b[i], share, eof && !got))
			block_free(c, b[i]);
	}
	mutex_unlock(&f->lock);
	call_ready(&ready);
}

bool cache_move(struct cache_block *b, const struct seg_list *to)
{
	struct mem_buf *buf = to->one.hold;
	struct cache *c = b->file->cache;

	if (to->len < buf->size / 4 * 3)
		return false;
	/* as in cache_give(), no other thread looks at the memory of a READING block */
	atomic_fetch_add_explicit(
		&c->bytes, (size_t)buf->size - b->buf->size, memory_order_relaxed);
	mem_buf_unref(b->buf);
	b->buf = mem_buf_ref(buf);
	b->at = (uint32_t)((uint8_t *)to->one.at.addr - buf->data) + to->skip;
	return true;
}

/* Drops b. The thread that ends a READ in flight finds b dropped. */
static void drop_locked(struct cache_block *b, struct cache_wait_list *ready)
	REQUIRES(b->file->lock)
{
	struct cache *c = b->file->cache;

	unlink_locked(b);
	count(&c->stats.dropped, 1);
	if (b->state == CACHE_READING) {
		take_waits_locked(b, ready);
		b->dropped = true;
		return;
	}
	leave_ring(c, b);
	block_free(c, b);
}

uint32_t cache_first(uint64_t size)
{
	return cap_of(0, size);
}

void cache_give(struct cache *c, struct cache_file *f, struct mem_buf *buf, uint64_t size,
	unsigned drops, uint32_t got, bool eof)
{
	struct cache_block *b;
	uint64_t at;

	if (!cache_reserve(c, f, 0, 1, size, &b, 1, &at))
		return;
	/* only the thread that reserved a READING block looks at the block's memory */
	if (atomic_load(&f->drops) != drops || b->buf->size != buf->size) {
		cache_filled(f, &b, 1, 0, false);
		return;
	}
	mem_buf_unref(b->buf);
	b->buf = mem_buf_ref(buf);
	cache_filled(f, &b, 1, got, eof);
}

/* Drops the blocks first to last, by a walk through all blocks of f. */
static void drop_walk_locked(struct cache_file *f, uint64_t first, uint64_t last,
	struct cache_wait_list *ready) REQUIRES(f->lock)
{
	struct cache_block *b, *next;

	for (unsigned i = 0; i < f->nchains; i++)
		for (b = LIST_FIRST(&f->chains[i]); b; b = next) {
			next = LIST_NEXT(b, chain);
			if (b->index >= first && b->index <= last)
				drop_locked(b, ready);
		}
}

void cache_drop(struct cache_file *f, uint64_t off, uint64_t len)
{
	struct cache_wait_list ready = TAILQ_HEAD_INITIALIZER(ready);
	uint64_t first = off / CACHE_BLOCK;
	uint64_t last = len > UINT64_MAX - off ? UINT64_MAX : (off + len - 1) / CACHE_BLOCK;
	struct cache_block *b;

	/* Before the look at count. If a thread makes a block at this moment, either that thread
	 * sees the drop, or this thread sees the block (cache_give()). */
	atomic_fetch_add(&f->drops, 1);
	if (!len || !atomic_load(&f->count))
		return;
	mutex_lock(&f->lock);
	while ((b = LIST_FIRST(&f->ends)))
		drop_locked(b, &ready);
	/* look up each block, or walk through all chains, as is shorter */
	if (last - first < f->nchains)
		for (uint64_t i = first; i <= last; i++) {
			b = lookup_locked(f, i);
			if (b)
				drop_locked(b, &ready);
		}
	else
		drop_walk_locked(f, first, last, &ready);
	mutex_unlock(&f->lock);
	call_ready(&ready);
}
