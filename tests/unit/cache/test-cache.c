/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/cache: the life of blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cache/cache.h"

#define BLOCKS 16u
#define LARGE  (1ull << 40)

static struct mem_pool *pool;
static struct cache *cache;
static struct cache_file file, other;
static struct cache_block *run[BLOCKS + 1];
static struct cache_hit hit;
static struct cache_wait waits;
static unsigned readies;

static int setup(void **state)
{
	pool = mem_pool_new(64 << 20);
	cache = cache_new(pool, BLOCKS * CACHE_BLOCK);
	cache_file_init(&file);
	cache_file_init(&other);
	readies = 0;
	return 0;
}

static int teardown(void **state)
{
	struct mem_stats s;

	cache_file_finish(&file);
	cache_file_finish(&other);
	assert_int_equal(cache_bytes(cache), 0);
	cache_free(cache);
	mem_pool_stats(pool, &s);
	assert_int_equal(s.used_bytes, 0);
	mem_pool_free(pool);
	return 0;
}

static void ready(struct cache_wait *w)
{
	assert_null(w->block);
	readies++;
}

/* n blocks of f from the first one on. The bytes of a block tell the block's number. */
static void fill(struct cache_file *f, unsigned first, unsigned n)
{
	uint64_t at;

	for (unsigned i = first; i < first + n; i++) {
		assert_int_equal(cache_reserve(cache, f, (uint64_t)i * CACHE_BLOCK,
					 (i + 1ull) * CACHE_BLOCK, LARGE, run, 1, &at),
			1);
		assert_int_equal(at, (uint64_t)i * CACHE_BLOCK);
		memset(run[0]->buf->data, (int)i, CACHE_BLOCK);
		cache_filled(f, run, 1, CACHE_BLOCK, false);
	}
}

static enum cache_found look(struct cache_file *f, uint64_t off, uint32_t len)
{
	enum cache_found found = cache_find(f, off, len, &hit, NULL);

	if (found == CACHE_HIT)
		cache_hit_end(&hit);
	return found;
}

static void what_was_read_is_found(void **state)
{
	uint8_t *p;

	fill(&file, 3, 2);
	assert_int_equal(cache_find(&file, 4 * CACHE_BLOCK - 10, 20, &hit, NULL), CACHE_HIT);
	assert_int_equal(hit.data.len, 20);
	assert_int_equal(hit.n, 2);
	p = hit.seg[0].at.addr;
	assert_int_equal(p[9], 3);
	p = hit.seg[1].at.addr;
	assert_int_equal(p[0], 4);
	cache_hit_end(&hit);
	assert_int_equal(look(&file, 3 * CACHE_BLOCK - 1, 2), CACHE_MISS);
	assert_int_equal(look(&file, 5 * CACHE_BLOCK - 1, 2), CACHE_MISS);
	assert_int_equal(look(&other, 3 * CACHE_BLOCK, 1), CACHE_MISS);
}

static void a_run_ends_where_a_block_is(void **state)
{
	uint64_t at;

	fill(&file, 0, 1);
	fill(&file, 4, 1);
	assert_int_equal(
		cache_reserve(cache, &file, 10, 6 * CACHE_BLOCK, LARGE, run, BLOCKS, &at), 3);
	assert_int_equal(at, CACHE_BLOCK);
	cache_filled(&file, run, 3, 3 * CACHE_BLOCK, false);
	assert_int_equal(look(&file, 0, 5 * CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(
		cache_reserve(cache, &file, 0, 5 * CACHE_BLOCK, LARGE, run, BLOCKS, &at), 0);
}

static void a_file_ends_in_a_block(void **state)
{
	uint64_t at;

	assert_int_equal(cache_reserve(cache, &file, 0, 4 * CACHE_BLOCK, LARGE, run, 4, &at), 4);
	cache_filled(&file, run, 4, CACHE_BLOCK + 5000, true);
	assert_int_equal(atomic_load(&file.count), 2);
	/* the page of the file's end may be asked for, but no page behind that one */
	assert_int_equal(cache_find(&file, CACHE_BLOCK, 8192, &hit, NULL), CACHE_HIT);
	assert_int_equal(hit.data.len, 5000);
	cache_hit_end(&hit);
	assert_int_equal(look(&file, CACHE_BLOCK, 8193), CACHE_MISS);
	assert_int_equal(look(&file, 2 * CACHE_BLOCK, 1), CACHE_MISS);
}

static void a_small_file_takes_little_memory(void **state)
{
	uint64_t at;

	assert_int_equal(cache_reserve(cache, &file, 0, CACHE_BLOCK, 5000, run, 4, &at), 1);
	assert_int_equal(run[0]->cap, 8192);
	assert_int_equal(cache_bytes(cache), 8192);
	cache_filled(&file, run, 1, 5000, true);
	assert_int_equal(look(&file, 0, 8192), CACHE_HIT);
	/* the file has grown: other clients change the size */
	cache_drop(&file, 10 * CACHE_BLOCK, 1);
	assert_int_equal(look(&file, 0, 1), CACHE_MISS);
}

static void a_read_that_failed_leaves_nothing(void **state)
{
	uint64_t at;

	assert_int_equal(cache_reserve(cache, &file, 0, 3 * CACHE_BLOCK, LARGE, run, 3, &at), 3);
	cache_filled(&file, run, 3, CACHE_BLOCK + 100, false);
	assert_int_equal(look(&file, 0, CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(look(&file, CACHE_BLOCK, 1), CACHE_MISS);
	assert_int_equal(atomic_load(&file.count), 1);
}

static void who_waits_is_called_when_the_read_has_ended(void **state)
{
	uint64_t at;

	waits.ready = ready;
	assert_int_equal(cache_reserve(cache, &file, 0, CACHE_BLOCK, LARGE, run, 1, &at), 1);
	assert_int_equal(cache_find(&file, 0, 10, &hit, &waits), CACHE_PENDING);
	assert_int_equal(readies, 0);
	cache_filled(&file, run, 1, 0, false);
	assert_int_equal(readies, 1);
	assert_false(cache_unwait(&file, &waits));
}

static void who_waits_may_go(void **state)
{
	uint64_t at;

	waits.ready = ready;
	assert_int_equal(cache_reserve(cache, &file, 0, CACHE_BLOCK, LARGE, run, 1, &at), 1);
	assert_int_equal(cache_find(&file, 0, 10, &hit, &waits), CACHE_PENDING);
	assert_true(cache_unwait(&file, &waits));
	cache_filled(&file, run, 1, CACHE_BLOCK, false);
	assert_int_equal(readies, 0);
}

/* The READ may bring data from before the change. */
static void what_is_being_read_when_the_file_changes_is_not_believed(void **state)
{
	uint64_t at;

	waits.ready = ready;
	assert_int_equal(cache_reserve(cache, &file, 0, 2 * CACHE_BLOCK, LARGE, run, 2, &at), 2);
	assert_int_equal(cache_find(&file, 0, 10, &hit, &waits), CACHE_PENDING);
	cache_drop(&file, 100, 10);
	assert_int_equal(readies, 1); /* and the waiter looks again */
	assert_int_equal(look(&file, 0, 10), CACHE_MISS);
	cache_filled(&file, run, 2, 2 * CACHE_BLOCK, false);
	assert_int_equal(look(&file, 0, 10), CACHE_MISS);
	assert_int_equal(look(&file, CACHE_BLOCK, 10), CACHE_HIT);
}

/* The file was longer than the reader thought, or will be: the end is not where the READ found
 * it. */
static void where_a_file_ends_that_changes_meanwhile_is_not_believed(void **state)
{
	uint64_t at;

	assert_int_equal(
		cache_reserve(cache, &file, 0, 2 * CACHE_BLOCK, LARGE, run, BLOCKS, &at), 2);
	cache_drop(&file, 100 * CACHE_BLOCK, 10); /* a WRITE far behind the end */
	cache_filled(&file, run, 2, CACHE_BLOCK + 100, true);
	assert_int_equal(look(&file, 0, CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(look(&file, CACHE_BLOCK, 4096), CACHE_MISS);
}

static void a_change_drops_the_blocks_that_it_touches(void **state)
{
	fill(&file, 0, 5);
	cache_drop(&file, 2 * CACHE_BLOCK - 1, 2);
	assert_int_equal(look(&file, 0, CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(look(&file, CACHE_BLOCK, 1), CACHE_MISS);
	assert_int_equal(look(&file, 2 * CACHE_BLOCK, 1), CACHE_MISS);
	assert_int_equal(look(&file, 3 * CACHE_BLOCK, 2 * CACHE_BLOCK), CACHE_HIT);
	cache_drop(&file, 4 * CACHE_BLOCK, UINT64_MAX);
	assert_int_equal(look(&file, 3 * CACHE_BLOCK, CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(look(&file, 4 * CACHE_BLOCK, 1), CACHE_MISS);
}

/* For any number of blocks, and for a range that is smaller or larger than the blocks. */
static void a_change_drops_no_other_block(void **state)
{
	uint64_t at;

	fill(&file, 0, BLOCKS - 1);
	assert_int_equal(cache_reserve(cache, &file, (uint64_t)(BLOCKS - 1) * CACHE_BLOCK,
				 (uint64_t)BLOCKS * CACHE_BLOCK, LARGE, run, 1, &at),
		1);
	cache_filled(&file, run, 1, CACHE_BLOCK, true); /* a whole block, and the file's last */
	cache_drop(&file, 3 * CACHE_BLOCK + 1, 1);
	assert_int_equal(atomic_load(&file.count), BLOCKS - 2);
	assert_int_equal(look(&file, 3 * CACHE_BLOCK, 1), CACHE_MISS);
	assert_int_equal(look(&file, (BLOCKS - 1) * CACHE_BLOCK, 1), CACHE_MISS);
	cache_drop(&file, 100ull * CACHE_BLOCK, 1000ull * CACHE_BLOCK);
	assert_int_equal(atomic_load(&file.count), BLOCKS - 2);
	cache_drop(&file, 5 * CACHE_BLOCK, 1000ull * CACHE_BLOCK);
	assert_int_equal(atomic_load(&file.count), 4);
	assert_int_equal(look(&file, 4 * CACHE_BLOCK, CACHE_BLOCK), CACHE_HIT);
	cache_drop(&file, UINT64_MAX - 1, 1);
	cache_drop(&file, 0, 0);
	assert_int_equal(atomic_load(&file.count), 4);
}

static void what_the_kernel_has_got_goes_first(void **state)
{
	fill(&other, 0, BLOCKS / 2);
	fill(&file, 0, BLOCKS / 2);
	assert_int_equal(look(&file, 0, BLOCKS / 2 * CACHE_BLOCK), CACHE_HIT);
	fill(&file, BLOCKS / 2, BLOCKS / 2);
	for (unsigned i = 0; i < BLOCKS / 2; i++)
		assert_int_equal(look(&other, i * CACHE_BLOCK, CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(look(&file, 0, 1), CACHE_MISS);
	assert_true(cache_bytes(cache) <= cache_limit(cache));
}

static void what_it_comes_back_for_stays_longer(void **state)
{
	fill(&file, 0, 2);
	assert_int_equal(look(&file, 0, 2 * CACHE_BLOCK), CACHE_HIT);
	assert_int_equal(look(&file, CACHE_BLOCK, CACHE_BLOCK), CACHE_HIT);
	fill(&other, 0, BLOCKS - 1); /* one block must go */
	assert_int_equal(look(&file, 0, 1), CACHE_MISS);
	assert_int_equal(look(&file, CACHE_BLOCK, 1), CACHE_HIT);
}

/* A block that is being given to the kernel stays in memory until the kernel has the data. */
static void a_block_that_is_in_use_may_be_evicted(void **state)
{
	fill(&file, 7, 1);
	assert_int_equal(cache_find(&file, 7 * CACHE_BLOCK, CACHE_BLOCK, &hit, NULL), CACHE_HIT);
	fill(&other, 0, BLOCKS);
	assert_int_equal(atomic_load(&cache_stats(cache)->wasted), 0);
	fill(&other, BLOCKS, 1);
	assert_int_equal(atomic_load(&cache_stats(cache)->wasted), 1);
	assert_int_equal(
		cache_find(&file, 7 * CACHE_BLOCK, 1, &(struct cache_hit){0}, NULL), CACHE_MISS);
	assert_int_equal(*(uint8_t *)hit.seg[0].at.addr, 7);
	cache_hit_end(&hit);
}

static void no_more_is_kept_than_the_limit(void **state)
{
	struct cache_block *more;
	uint64_t at;

	assert_int_equal(
		cache_reserve(cache, &file, 0, LARGE, LARGE, run, BLOCKS + 1, &at), BLOCKS);
	/* READING blocks cannot go */
	assert_int_equal(cache_reserve(cache, &other, 0, LARGE, LARGE, &more, 1, &at), 0);
	cache_drop_all(&file);
	for (unsigned i = 0; i < BLOCKS; i++)
		cache_filled(&file, &run[i], 1, 0, false);
}

/* For a reader by steps. */
static void a_piece_takes_no_more_than_it_holds(void **state)
{
	uint64_t at, off = 5 * CACHE_BLOCK + 12288;

	assert_int_equal(
		cache_reserve_piece(cache, &file, off + 10, off + 5000, LARGE, run, 4, &at), 1);
	assert_int_equal(at, off);
	assert_int_equal(run[0]->cap, 8192);
	assert_int_equal(cache_bytes(cache), 8192);
	memset(run[0]->buf->data, 9, 8192);
	run[0]->buf->data[4096] = 10;
	assert_int_equal(look(&file, off, 1), CACHE_PENDING);
	cache_filled(&file, run, 1, 8192, false);
	assert_int_equal(cache_find(&file, off + 4095, 2, &hit, NULL), CACHE_HIT);
	assert_int_equal(((uint8_t *)hit.seg[0].at.addr)[0], 9);
	assert_int_equal(((uint8_t *)hit.seg[0].at.addr)[1], 10);
	cache_hit_end(&hit);
	assert_int_equal(look(&file, off - 1, 2), CACHE_MISS);
	assert_int_equal(look(&file, off + 8191, 2), CACHE_MISS);
	/* the end of the piece is no end of the file */
	cache_drop(&file, 100 * CACHE_BLOCK, 1);
	assert_int_equal(look(&file, off, 8192), CACHE_HIT);
	/* a block has one piece: after the READ of another piece, that piece takes the place */
	assert_int_equal(cache_reserve_piece(cache, &file, off, off + 100, LARGE, run, 4, &at), 0);
	off = 5 * CACHE_BLOCK;
	assert_int_equal(cache_reserve_piece(cache, &file, off, off + 100, LARGE, run, 4, &at), 1);
	cache_filled(&file, run, 1, 4096, false);
	assert_int_equal(cache_bytes(cache), 4096);
	assert_int_equal(
		cache_reserve_piece(cache, &file, off + 8192, off + 9000, LARGE, run, 4, &at), 0);
	assert_int_equal(look(&file, off, 100), CACHE_HIT);
	assert_int_equal(look(&file, off + 12288, 1), CACHE_MISS);
	/* a reader of the whole block gets the whole block */
	fill(&file, 5, 1);
	assert_int_equal(atomic_load(&file.count), 1);
	assert_int_equal(look(&file, 5 * CACHE_BLOCK, CACHE_BLOCK), CACHE_HIT);
	cache_drop(&file, off, 1);
	assert_int_equal(look(&file, off, 1), CACHE_MISS);
}

static void a_piece_may_lie_in_several_blocks(void **state)
{
	uint64_t at, off = 2 * CACHE_BLOCK - 8192;

	assert_int_equal(cache_reserve_piece(
				 cache, &file, off, off + CACHE_BLOCK + 12288, LARGE, run, 4, &at),
		3);
	assert_int_equal(at, off);
	assert_int_equal(run[0]->cap, 8192);
	assert_int_equal(run[1]->cap, CACHE_BLOCK);
	assert_int_equal(run[2]->cap, 4096);
	cache_filled(&file, run, 3, CACHE_BLOCK + 12288, false);
	assert_int_equal(look(&file, off, CACHE_BLOCK + 12288), CACHE_HIT);
	assert_int_equal(look(&file, off, CACHE_BLOCK + 12289), CACHE_MISS);
	assert_int_equal(look(&file, 2 * CACHE_BLOCK, CACHE_BLOCK), CACHE_HIT);
}

static void a_piece_ends_with_the_file(void **state)
{
	uint64_t at, off = 2 * CACHE_BLOCK + 4096, size = off + 5000;

	assert_int_equal(cache_reserve_piece(cache, &file, off, off + 65536, size, run, 4, &at), 1);
	assert_int_equal(run[0]->cap, 8192);
	cache_filled(&file, run, 1, 5000, true);
	assert_int_equal(cache_find(&file, off, 8192, &hit, NULL), CACHE_HIT);
	assert_int_equal(hit.data.len, 5000);
	cache_hit_end(&hit);
	cache_drop(&file, 0, 1); /* the file may have grown */
	assert_int_equal(look(&file, off, 1), CACHE_MISS);
	/* behind that there is nothing to read */
	assert_int_equal(cache_reserve_piece(cache, &file, size + CACHE_BLOCK,
				 size + CACHE_BLOCK + 4096, size, run, 4, &at),
		0);
	assert_int_equal(atomic_load(&file.count), 0);
}

static void data_may_come_in_another_place(void **state)
{
	struct mem_buf *far = mem_buf_get(pool, 72u << 10), *much = mem_buf_get(pool, 256u << 10);
	struct seg_list there = seg_list_of_buf(far, 4096, (64u << 10) + 1), cut;
	struct seg_list little = seg_list_of_buf(much, 0, 64u << 10);
	uint64_t at;

	assert_int_equal(
		cache_reserve_piece(cache, &file, 8192, 8192 + (64u << 10), LARGE, run, 1, &at), 1);
	assert_false(cache_move(run[0], &little));
	cut = seg_list_cut(&there, 1, UINT32_MAX);
	assert_true(cache_move(run[0], &cut));
	assert_int_equal(cache_bytes(cache), far->size);
	for (unsigned i = 0; i < 4096; i++)
		far->data[4097 + i] = (uint8_t)(i % 251);
	mem_buf_unref(far);
	mem_buf_unref(much);
	cache_filled(&file, run, 1, cut.len, false);
	assert_int_equal(cache_find(&file, 8192 + 100, 50, &hit, NULL), CACHE_HIT);
	assert_int_equal(*(uint8_t *)hit.seg[0].at.addr, 100);
	cache_hit_end(&hit);
	cache_drop_all(&file);
	/* less than the block was made for: the file has become shorter */
	far = mem_buf_get(pool, 72u << 10);
	there = seg_list_of_buf(far, 4096, 62u << 10);
	assert_int_equal(cache_reserve(cache, &file, 0, 1, LARGE, run, 1, &at), 1);
	assert_true(cache_move(run[0], &there));
	assert_int_equal(cache_bytes(cache), far->size);
	mem_buf_unref(far);
	cache_filled(&file, run, 1, there.len, true);
}

static void a_smaller_limit_evicts(void **state)
{
	uint64_t at;

	fill(&file, 0, BLOCKS - 2);
	assert_int_equal(cache_reserve(cache, &other, 0, 2 * CACHE_BLOCK, LARGE, run, 2, &at), 2);
	cache_set_limit(cache, 4 * CACHE_BLOCK);
	assert_int_equal(cache_bytes(cache), 4 * CACHE_BLOCK);
	assert_int_equal(atomic_load(&file.count), 2);
	cache_filled(&other, run, 2, 2 * CACHE_BLOCK, false); /* a READ is not harmed */
	assert_int_equal(look(&other, 0, 2 * CACHE_BLOCK), CACHE_HIT);
	fill(&file, 20, 3);
	assert_int_equal(cache_bytes(cache), 4 * CACHE_BLOCK);
	cache_set_limit(cache, BLOCKS * CACHE_BLOCK);
	fill(&file, 30, 10);
	assert_int_equal(cache_bytes(cache), 14 * CACHE_BLOCK);
	cache_set_limit(cache, 0);
	assert_int_equal(cache_bytes(cache), 0);
	assert_int_equal(cache_reserve(cache, &file, 0, 1, LARGE, run, 1, &at), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_read_is_found),
		TEST(a_run_ends_where_a_block_is),
		TEST(a_file_ends_in_a_block),
		TEST(a_small_file_takes_little_memory),
		TEST(a_read_that_failed_leaves_nothing),
		TEST(who_waits_is_called_when_the_read_has_ended),
		TEST(who_waits_may_go),
		TEST(what_is_being_read_when_the_file_changes_is_not_believed),
		TEST(where_a_file_ends_that_changes_meanwhile_is_not_believed),
		TEST(a_change_drops_the_blocks_that_it_touches),
		TEST(a_change_drops_no_other_block),
		TEST(what_the_kernel_has_got_goes_first),
		TEST(what_it_comes_back_for_stays_longer),
		TEST(a_block_that_is_in_use_may_be_evicted),
		TEST(no_more_is_kept_than_the_limit),
		TEST(a_piece_takes_no_more_than_it_holds),
		TEST(a_piece_may_lie_in_several_blocks),
		TEST(a_piece_ends_with_the_file),
		TEST(data_may_come_in_another_place),
		TEST(a_smaller_limit_evicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
