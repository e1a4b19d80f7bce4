/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mem_pool: the pool of registered memory (mem.h).
 *
 * Each size class has a list of its slabs with a free block. A slab is on the list exactly while it
 * has one. The hot path (get and last unref) takes the class's lock only. Growing, which maps and
 * registers memory, takes the pool's lock. At the limit, slabs without a used block are given back
 * first, of any class.
 *
 * Slabs that need registration while the registrar is sparing are a group of classes of their own.
 * They grow in small steps, to waste little of the limit.
 *
 * A slab of 2 MiB or more is of huge pages where the system gives huge pages. Then the first
 * filling takes fewer faults, and the tables of processor and device have fewer entries.
 *
 * Lock order: pool->lock, then one class->lock. pool->lock also guards the registration of slabs,
 * class->lock the free lists of the slabs of the class. Reference counts are atomic.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)	  ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#include "transport/mem_impl.h"

#define KIB	  1024u
#define SLAB_MIN  (1024 * KIB)
#define SLAB_REG  (64 * KIB) /* of a slab that needs to be registered, where that is scarce */
#define PAGE	  (4 * KIB)
#define HUGE_PAGE ((size_t)2048 * KIB)

/* Powers of two, and from 64 KiB on each with room for headers beside that much payload. */
const uint32_t mem_class_size[MEM_SIZES] = {4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB,
	80 * KIB, 128 * KIB, 144 * KIB, 256 * KIB, 288 * KIB, 512 * KIB, 576 * KIB, 1024 * KIB,
	MEM_MAX_SIZE};

struct mem_pool *mem_pool_new(size_t limit)
{
	struct mem_pool *pool = aligned_alloc(64, (sizeof(*pool) + 63) & ~(size_t)63);

	if (!pool)
		return NULL;
	memset(pool, 0, sizeof(*pool));
	mutex_init(&pool->lock);
	TAILQ_INIT(&pool->all);
	pool->limit = limit;
	for (unsigned i = 0; i < MEM_CLASSES; i++) {
		mutex_init(&pool->class[i].lock);
		TAILQ_INIT(&pool->class[i].avail);
	}
	return pool;
}

static void slab_unmap(struct mem_pool *pool, void *base, size_t len) REQUIRES(pool->lock)
{
	if (!pool->file)
		munmap(base, len);
	else if (!pool->ends)
		mem_file_give(pool->file, base);
}

/* Unmaps a slab that is on no class list. */
static void slab_free_locked(struct mem_pool *pool, struct slab *s) REQUIRES(pool->lock)
{
	assert(s->used == 0 && !s->listed);
	if (s->pub.reg && pool->attached)
		pool->reg.unreg(pool->reg.ctx, &s->pub);
	TAILQ_REMOVE(&pool->all, s, all);
	pool->slab_bytes -= s->pub.len;
	pool->needs_reg -= s->pub.needs_reg ? s->pub.len : 0;
	ASAN_UNPOISON_MEMORY_REGION(s->pub.base, s->pub.len);
	slab_unmap(pool, s->pub.base, s->pub.len);
	free(s);
}

void mem_pool_kept_end(struct mem_pool *pool)
{
	struct mem_buf **kept;
	uint32_t n;

	mutex_lock(&pool->lock);
	kept = pool->kept;
	n = pool->nkept;
	pool->kept = NULL;
	pool->nkept = 0;
	mutex_unlock(&pool->lock);
	for (uint32_t i = 0; i < n; i++)
		mem_buf_unref(kept[i]);
	free(kept);
}

struct mem_pool *mem_pool_free(struct mem_pool *pool)
{
	struct slab *s;

	if (!pool)
		return NULL;
	mem_pool_kept_end(pool);
	mutex_lock(&pool->lock);
	pool->ends = true;
	while ((s = TAILQ_FIRST(&pool->all))) {
		s->listed = false;
		slab_free_locked(pool, s);
	}
	mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < MEM_CLASSES; i++)
		mutex_destroy(&pool->class[i].lock);
	mutex_destroy(&pool->lock);
	mem_file_free(pool->file);
	free(pool);
	return NULL;
}

int mem_pool_attach(struct mem_pool *pool, const struct mem_registrar *r)
{
	struct slab *s, *t;
	int rc = 0;

	mutex_lock(&pool->lock);
	if (pool->attached) {
		mutex_unlock(&pool->lock);
		return -EBUSY;
	}
	TAILQ_FOREACH (s, &pool->all, all) {
		rc = r->reg(r->ctx, &s->pub);
		if (rc < 0)
			break;
	}
	if (rc < 0) {
		TAILQ_FOREACH (t, &pool->all, all) {
			if (t == s)
				break;
			if (t->pub.reg)
				r->unreg(r->ctx, &t->pub);
			t->pub.reg = NULL;
		}
		s->pub.reg = NULL;
	} else {
		pool->reg = *r;
		pool->attached = true;
		atomic_store(&pool->sparing, r->sparing);
		atomic_store(&pool->per_rpcs, r->per_rpcs);
	}
	mutex_unlock(&pool->lock);
	return rc;
}

void mem_pool_detach(struct mem_pool *pool)
{
	struct slab *s;

	mutex_lock(&pool->lock);
	if (pool->attached) {
		TAILQ_FOREACH (s, &pool->all, all) {
			if (s->pub.reg)
				pool->reg.unreg(pool->reg.ctx, &s->pub);
			s->pub.reg = NULL;
		}
		pool->attached = false;
		atomic_store(&pool->sparing, 0);
		atomic_store(&pool->per_rpcs, 0);
	}
	mutex_unlock(&pool->lock);
}

/* Gives s back if it has no used block. */
static bool slab_release_locked(struct mem_pool *pool, struct slab *s) REQUIRES(pool->lock)
{
	struct class *c = &pool->class[s->class];
	bool idle;

	mutex_lock(&c->lock);
	idle = s->used == 0;
	if (idle) {
		TAILQ_REMOVE(&c->avail, s, avail);
		s->listed = false;
		c->nblocks -= s->nblocks;
	}
	mutex_unlock(&c->lock);
	if (idle)
		slab_free_locked(pool, s);
	return idle;
}

/* Bytes of slabs still allowed by the limit. */
static size_t below_limit_locked(const struct mem_pool *pool) REQUIRES(pool->lock)
{
	size_t bytes = pool->slab_bytes - pool->needs_reg;

	return bytes < pool->limit ? pool->limit - bytes : 0;
}

/* Gives back slabs without a used block until need more bytes fit. */
static void pool_reclaim_locked(struct mem_pool *pool, size_t need) REQUIRES(pool->lock)
{
	struct slab *s, *next;

	for (s = TAILQ_FIRST(&pool->all); s; s = next) {
		next = TAILQ_NEXT(s, all);
		if (need <= below_limit_locked(pool))
			return;
		if (!s->pub.needs_reg)
			slab_release_locked(pool, s);
	}
}

/* Gives back the memory of the free blocks of s, but not their addresses. */
static void slab_dry_locked(struct mem_pool *pool, struct slab *s) REQUIRES(pool->lock)
{
	struct class *c = &pool->class[s->class];

	if (s->pub.reg)
		return;
	/* with the lock held, so that no thread takes a block meanwhile */
	mutex_lock(&c->lock);
	for (struct mem_buf *b = s->free; b; b = b->next) {
		if (!b->dry && pool->file)
			mem_file_dry(pool->file, b->data, b->size);
		else if (!b->dry)
			madvise(b->data, b->size, MADV_DONTNEED);
		b->dry = true;
	}
	mutex_unlock(&c->lock);
}

void mem_pool_trim(struct mem_pool *pool)
{
	struct slab *s, *next;

	mutex_lock(&pool->lock);
	for (s = TAILQ_FIRST(&pool->all); s; s = next) {
		next = TAILQ_NEXT(s, all);
		if (!slab_release_locked(pool, s))
			slab_dry_locked(pool, s);
	}
	mutex_unlock(&pool->lock);
}

void mem_pool_save(struct mem_pool *pool, bool on)
{
	struct slab *s;

	mutex_lock(&pool->lock);
	if (pool->saves != on && !pool->file)
		TAILQ_FOREACH (s, &pool->all, all)
			if (s->pub.len >= HUGE_PAGE)
				madvise(s->pub.base, s->pub.len,
					on ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	pool->saves = on;
	mutex_unlock(&pool->lock);
}

/* Blocks for a new slab. A class grows by its present size, but by MEM_SLAB_MAX at most. The least
 * is SLAB_MIN, and less in a small pool. A class with many kept blocks must not take the room that
 * is left for all. */
static unsigned slab_blocks(const struct mem_pool *pool, size_t have, uint32_t size)
	REQUIRES(pool->lock)
{
	size_t least = !pool->limit || pool->limit / 32 > SLAB_MIN ? SLAB_MIN : pool->limit / 32;
	size_t bytes = have < least || pool->nkept ? least
		       : have > MEM_SLAB_MAX	   ? MEM_SLAB_MAX
						   : have;
	size_t room = pool->limit ? below_limit_locked(pool) : bytes;

	if (bytes > room)
		bytes = room;
	return bytes < size ? 1 : bytes / size;
}

/* The same for a slab that needs registration; 0: too much for the limit. */
static unsigned slab_blocks_registered(const struct mem_pool *pool, uint32_t size)
	REQUIRES(pool->lock)
{
	size_t bytes = SLAB_REG, room = SIZE_MAX;

	if (pool->sparing)
		room = pool->needs_reg < pool->sparing ? pool->sparing - pool->needs_reg : 0;
	if (size > room)
		return 0;
	if (bytes > room)
		bytes = room;
	return bytes < size ? 1 : bytes / size;
}

/* A slab with room for a huge page begins at a huge page's boundary, and asks for huge pages. */
static void *slab_map_private(size_t len, bool saves)
{
	size_t room = len < HUGE_PAGE ? len : len + HUGE_PAGE, before;
	uint8_t *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (room == len)
		return p;
	before = HUGE_PAGE - (uintptr_t)p % HUGE_PAGE;
	munmap(p, before);
	p += before;
	len = (len + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (room - before > len)
		munmap(p + len, room - before - len);
	/* or small ones, if the system has no huge pages */
	madvise(p, len, saves ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	return p;
}

/* Memory for a slab, or NULL. */
static void *slab_map(struct mem_pool *pool, size_t len) REQUIRES(pool->lock)
{
	return pool->file ? mem_file_take(pool->file, len) : slab_map_private(len, pool->saves);
}

struct slab *mem_slab_new_locked(
	struct mem_pool *pool, unsigned class, unsigned nblocks, void *base) REQUIRES(pool->lock)
{
	uint32_t size = mem_class_size[class % MEM_SIZES];
	struct slab *s = calloc(1, sizeof(*s) + nblocks * sizeof(s->buf[0]));

	if (!s)
		return NULL;
	s->class = class;
	s->nblocks = nblocks;
	s->pub.len = (size_t)nblocks * size;
	s->pub.block = size;
	s->pub.needs_reg = class >= MEM_SIZES;
	s->pub.base = base ? base : slab_map(pool, s->pub.len);
	if (!s->pub.base) {
		free(s);
		return NULL;
	}
	if (pool->attached && pool->reg.reg(pool->reg.ctx, &s->pub) < 0) {
		if (!base)
			slab_unmap(pool, s->pub.base, s->pub.len);
		free(s);
		return NULL;
	}
	for (unsigned i = nblocks; i-- > 0;) {
		struct mem_buf *b = &s->buf[i];

		b->data = (uint8_t *)s->pub.base + (size_t)i * size;
		b->size = size;
		b->slab = &s->pub;
		b->pool = pool;
		b->class = class;
		b->next = s->free;
		s->free = b;
	}
	ASAN_POISON_MEMORY_REGION(s->pub.base, s->pub.len);
	TAILQ_INSERT_TAIL(&pool->all, s, all);
	pool->slab_bytes += s->pub.len;
	pool->needs_reg += s->pub.needs_reg ? s->pub.len : 0;
	return s;
}

/* A block from the class's first slab with one, or NULL. */
static struct mem_buf *class_take_locked(struct class *c) REQUIRES(c->lock)
{
	struct slab *s = TAILQ_FIRST(&c->avail);
	struct mem_buf *b;

	if (!s)
		return NULL;
	b = s->free;
	s->free = b->next;
	s->used++;
	c->used++;
	if (!s->free) {
		TAILQ_REMOVE(&c->avail, s, avail);
		s->listed = false;
	}
	return b;
}

/* Blocks that a new slab of the class may have, 0: none. Unused slabs are first given back. */
static unsigned may_grow_locked(struct mem_pool *pool, unsigned class, size_t have)
	REQUIRES(pool->lock)
{
	uint32_t size = mem_class_size[class % MEM_SIZES];

	if (class >= MEM_SIZES)
		return slab_blocks_registered(pool, size);
	if (pool->limit) {
		pool_reclaim_locked(pool, size);
		if (size > below_limit_locked(pool))
			return 0;
	}
	return slab_blocks(pool, have, size);
}

static struct mem_buf *class_grow_and_take(struct mem_pool *pool, unsigned class)
{
	struct class *c = &pool->class[class];
	struct mem_buf *b;
	struct slab *s;
	size_t have;
	unsigned n;

	mutex_lock(&pool->lock);
	/* another thread may have grown the class while this one waited for the lock */
	mutex_lock(&c->lock);
	b = class_take_locked(c);
	have = c->nblocks * mem_class_size[class % MEM_SIZES];
	mutex_unlock(&c->lock);
	n = b ? 0 : may_grow_locked(pool, class, have);
	if (!n)
		goto out;
	s = mem_slab_new_locked(pool, class, n, NULL);
	/* memory not available in one large piece may still be available block by block */
	if (!s && n > 1)
		s = mem_slab_new_locked(pool, class, 1, NULL);
	if (!s)
		goto out;
	mutex_lock(&c->lock);
	TAILQ_INSERT_TAIL(&c->avail, s, avail);
	s->listed = true;
	c->nblocks += s->nblocks;
	b = class_take_locked(c);
	mutex_unlock(&c->lock);
out:
	mutex_unlock(&pool->lock);
	return b;
}

/* The counter of the pool that counts b while it is handed out. */
static _Atomic size_t *used_of(struct mem_pool *pool, const struct mem_buf *b)
{
	return b->class < MEM_SIZES ? &pool->used : &pool->used_reg;
}

struct mem_buf *mem_block_hand_out(struct mem_buf *b)
{
	atomic_fetch_add_explicit(used_of(b->pool, b), b->size, memory_order_relaxed);
	ASAN_UNPOISON_MEMORY_REGION(b->data, b->size);
	b->next = NULL;
	atomic_store_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

/* Puts b, which has no reference, back on the list of its slab. */
static void put(struct mem_buf *b)
{
	struct class *c = &b->pool->class[b->class];
	struct slab *s = (struct slab *)b->slab;

	mutex_lock(&c->lock);
	b->next = s->free;
	s->free = b;
	s->used--;
	c->used--;
	if (!s->listed) {
		TAILQ_INSERT_HEAD(&c->avail, s, avail);
		s->listed = true;
	}
	mutex_unlock(&c->lock);
}

/* Makes the memory of b, a block that was taken, fit for use. False: no memory; b is free again. */
static bool wet(struct mem_pool *pool, struct mem_buf *b)
{
	if (pool->file && b->dry && !mem_present(b->data, b->size)) {
		put(b);
		return false;
	}
	b->dry = false;
	return true;
}

static struct mem_buf *get(struct mem_pool *pool, size_t size, bool registered)
{
	struct mem_buf *b = NULL;
	unsigned i = 0;

	while (i < MEM_SIZES && mem_class_size[i] < size)
		i++;
	if (i < MEM_SIZES) {
		i += registered ? MEM_SIZES : 0;
		mutex_lock(&pool->class[i].lock);
		b = class_take_locked(&pool->class[i]);
		mutex_unlock(&pool->class[i].lock);
		if (!b)
			b = class_grow_and_take(pool, i);
	}
	if (!b || !wet(pool, b)) {
		atomic_fetch_add_explicit(&pool->failures, 1, memory_order_relaxed);
		return NULL;
	}
	return mem_block_hand_out(b);
}

struct mem_buf *mem_buf_get(struct mem_pool *pool, size_t size)
{
	return get(pool, size, false);
}

static bool is_attached(struct mem_pool *pool)
{
	bool attached;

	mutex_lock(&pool->lock);
	attached = pool->attached;
	mutex_unlock(&pool->lock);
	return attached;
}

/* Without scarce registration any slab will do, except one that could not be registered. */
struct mem_buf *mem_buf_get_registered(struct mem_pool *pool, size_t size)
{
	bool attached = is_attached(pool);
	struct mem_buf *b;

	if (!atomic_load(&pool->sparing)) {
		b = mem_buf_get(pool, size);
		if (!b || b->slab->reg || !attached)
			return b;
		mem_buf_unref(b);
	}
	return get(pool, size, true);
}

struct mem_buf *mem_buf_ref(struct mem_buf *buf)
{
	atomic_fetch_add_explicit(&buf->refs, 1, memory_order_relaxed);
	return buf;
}

bool mem_buf_is_shared(const struct mem_buf *buf)
{
	return atomic_load_explicit(&buf->refs, memory_order_acquire) > 1;
}

struct mem_buf *mem_buf_unref(struct mem_buf *buf)
{
	/* acq_rel: the acts of other holders on the block happen before its reuse */
	if (!buf || atomic_fetch_sub_explicit(&buf->refs, 1, memory_order_acq_rel) != 1)
		return NULL;
	ASAN_POISON_MEMORY_REGION(buf->data, buf->size);
	atomic_fetch_sub_explicit(used_of(buf->pool, buf), buf->size, memory_order_relaxed);
	put(buf);
	return NULL;
}

size_t mem_pool_limit(struct mem_pool *pool)
{
	return pool->limit;
}

size_t mem_pool_set_aside(struct mem_pool *pool, unsigned conns)
{
	size_t sparing = atomic_load(&pool->sparing), room, share;

	if (!sparing)
		return SIZE_MAX;
	mutex_lock(&pool->lock);
	room = pool->needs_reg < sparing ? sparing - pool->needs_reg : 0;
	/* and the free blocks of the existing slabs */
	for (unsigned i = MEM_SIZES; i < MEM_CLASSES; i++) {
		struct class *c = &pool->class[i];

		mutex_lock(&c->lock);
		room += (c->nblocks - c->used) * mem_class_size[i - MEM_SIZES];
		mutex_unlock(&c->lock);
	}
	mutex_unlock(&pool->lock);
	if (!conns)
		return room / 4;
	share = sparing / (conns + 1);
	if (room < share / 2)
		return room / 2;
	return room < share ? room : share;
}

size_t mem_pool_rpc_most(struct mem_pool *pool)
{
	size_t most = atomic_load(&pool->per_rpcs);

	return most ? most / 2 : SIZE_MAX;
}

size_t mem_pool_room(struct mem_pool *pool)
{
	size_t used = atomic_load_explicit(&pool->used, memory_order_relaxed);
	size_t limit = mem_pool_limit(pool);

	if (!limit)
		return SIZE_MAX;
	return used < limit ? limit - used : 0;
}

size_t mem_pool_share(struct mem_pool *pool, size_t most)
{
	size_t share = mem_pool_room(pool) / 16;

	if (share < MEM_SHARE_MIN)
		share = MEM_SHARE_MIN;
	return share < most ? share : most;
}

bool mem_pool_is_short(struct mem_pool *pool)
{
	size_t limit = mem_pool_limit(pool);

	return limit && mem_pool_room(pool) < limit / 4;
}

void mem_pool_stats(struct mem_pool *pool, struct mem_stats *out)
{
	*out = (struct mem_stats){
		.limit = mem_pool_limit(pool),
		.slab_bytes = atomic_load_explicit(&pool->slab_bytes, memory_order_relaxed),
		.used_bytes = atomic_load_explicit(&pool->used, memory_order_relaxed) +
			      atomic_load_explicit(&pool->used_reg, memory_order_relaxed),
		.failures = atomic_load_explicit(&pool->failures, memory_order_relaxed),
	};
}
