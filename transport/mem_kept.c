/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mem_kept: the pool of a daemon that is shared with its successor (mem.h).
 *
 * The successor makes the former daemon's slabs anew at the same offsets of the file, as far as
 * they have a kept block. The other blocks of such a slab are free. So the kept slabs take no more
 * of the limit than they did before.
 */
#include <stdlib.h>

#include "transport/mem_impl.h"

#define BYTES_LIMITED ((size_t)1 << 30)	 /* of addresses, beside several times the limit */
#define BYTES_FREE    ((size_t)64 << 30) /* without a limit */

/* Addresses of the file: with so many, no slab finds only gaps that are too small. */
static size_t file_bytes(size_t limit)
{
	if (!limit || limit > (BYTES_FREE - BYTES_LIMITED) / 4)
		return BYTES_FREE + limit;
	return 4 * limit + BYTES_LIMITED;
}

static struct mem_pool *pool_on_file(size_t limit, int fd, struct err *e)
{
	struct mem_pool *pool = mem_pool_new(limit);

	if (!pool) {
		err_set(e, ERR_INTERNAL, "out of memory for the pool of memory");
		return NULL;
	}
	pool->file = mem_file_new(file_bytes(limit), fd, e);
	return pool->file ? pool : mem_pool_free(pool);
}

struct mem_pool *mem_pool_new_shared(size_t limit, struct err *e)
{
	return pool_on_file(limit, -1, e);
}

int mem_pool_fd(const struct mem_pool *pool)
{
	return pool->file ? mem_file_fd(pool->file) : -1;
}

bool mem_buf_place(const struct mem_buf *buf, struct mem_place *place)
{
	const struct slab *s = (const struct slab *)buf->slab;

	if (!buf->pool->file)
		return false;
	*place = (struct mem_place){
		.slab = mem_file_offset(buf->pool->file, s->pub.base),
		.size = s->pub.block,
		.blocks = s->nblocks,
		.index = (uint32_t)(buf - s->buf),
	};
	return true;
}

/* By slab, then by index. */
static int compare(const void *a, const void *b)
{
	const struct mem_place *x = a, *y = b;

	if (x->slab != y->slab)
		return x->slab < y->slab ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool same_slab(const struct mem_place *a, const struct mem_place *b)
{
	return a->slab == b->slab && a->size == b->size && a->blocks == b->blocks;
}

static unsigned class_of(uint32_t size)
{
	unsigned i = 0;

	while (i < MEM_SIZES && mem_class_size[i] != size)
		i++;
	return i;
}

/* Makes the slab of the former daemon anew. All blocks count as used. NULL: no memory, or no such
 * slab is possible. */
static struct slab *keep_slab_locked(struct mem_pool *pool, const struct mem_place *p)
	REQUIRES(pool->lock)
{
	unsigned class = class_of(p->size);
	void *base = NULL;
	struct slab *s;

	if (class < MEM_SIZES && (p->blocks == 1 || p->blocks <= MEM_SLAB_MAX / p->size))
		base = mem_file_keep(pool->file, p->slab, (size_t)p->blocks * p->size);
	if (!base)
		return NULL;
	s = mem_slab_new_locked(pool, class, p->blocks, base);
	if (!s) {
		mem_file_let_go(pool->file, base);
		return NULL;
	}
	return s;
}

/* Puts s on the list of its class: the blocks that are not `kept`, n of them, are free. */
static void list_slab_locked(struct mem_pool *pool, struct slab *s, struct mem_buf *const kept[],
	uint32_t n) REQUIRES(pool->lock)
{
	struct class *c = &pool->class[s->class];

	mutex_lock(&c->lock);
	s->free = NULL;
	for (unsigned i = s->nblocks, left = n; i-- > 0;) {
		struct mem_buf *b = &s->buf[i];

		if (left && kept[left - 1] == b) {
			left--;
			continue;
		}
		b->next = s->free;
		s->free = b;
	}
	s->used = n;
	c->used += n;
	c->nblocks += s->nblocks;
	s->listed = s->free;
	if (s->listed)
		TAILQ_INSERT_TAIL(&c->avail, s, avail);
	mutex_unlock(&c->lock);
}

/* Keeps the blocks of one slab: the first of `kept`, in order. Returns how many places the slab
 * has; 0: no memory, or the places make no sense. */
static uint32_t keep_locked(struct mem_pool *pool, const struct mem_place kept[], uint32_t n)
	REQUIRES(pool->lock)
{
	struct slab *s = keep_slab_locked(pool, kept);
	uint32_t first = pool->nkept, i;

	if (!s)
		return 0;
	for (i = 0; i < n && kept[i].slab == kept->slab; i++) {
		if (!same_slab(&kept[i], kept) || kept[i].index >= s->nblocks)
			break;
		if (!i || kept[i].index != kept[i - 1].index)
			pool->kept[pool->nkept++] = mem_block_hand_out(&s->buf[kept[i].index]);
	}
	list_slab_locked(pool, s, &pool->kept[first], pool->nkept - first);
	return i < n && kept[i].slab == kept->slab ? 0 : i;
}

/* `kept` is in order. False: no memory, or the places make no sense. */
static bool keep_all_locked(struct mem_pool *pool, const struct mem_place kept[], uint32_t n)
	REQUIRES(pool->lock)
{
	size_t bytes;

	for (uint32_t i = 0, done; i < n; i += done) {
		done = keep_locked(pool, &kept[i], n - i);
		if (!done)
			return false;
	}
	bytes = pool->slab_bytes;
	if (pool->limit && bytes > pool->limit / 2)
		pool->limit = bytes + pool->limit / 2;
	mem_file_give_rest(pool->file);
	return true;
}

struct mem_pool *mem_pool_take_over(
	size_t limit, int fd, const struct mem_place *kept, uint32_t n, struct err *e)
{
	struct mem_pool *pool = pool_on_file(limit, fd, e);
	struct mem_place *sorted;
	bool done = false;

	if (!pool)
		return NULL;
	sorted = malloc(((size_t)n + 1) * sizeof(*sorted));
	pool->kept = malloc(((size_t)n + 1) * sizeof(struct mem_buf *));
	if (sorted && pool->kept) {
		for (uint32_t i = 0; i < n; i++)
			sorted[i] = kept[i];
		qsort(sorted, n, sizeof(*sorted), compare);
		mutex_lock(&pool->lock);
		done = keep_all_locked(pool, sorted, n);
		mutex_unlock(&pool->lock);
	}
	free(sorted);
	if (done)
		return pool;
	err_set(e, ERR_INTERNAL,
		"the data of the former daemon cannot be kept: there is no memory, or the notes of "
		"the data are damaged");
	return mem_pool_free(pool);
}

struct mem_buf *mem_pool_kept(struct mem_pool *pool, const struct mem_place *place)
{
	uint32_t low = 0, high = pool->nkept;
	struct mem_place at;

	while (low < high) {
		uint32_t i = low + (high - low) / 2;
		int way;

		mem_buf_place(pool->kept[i], &at);
		way = compare(place, &at);
		if (!way)
			return same_slab(place, &at) ? mem_buf_ref(pool->kept[i]) : NULL;
		if (way < 0)
			high = i;
		else
			low = i + 1;
	}
	return NULL;
}
