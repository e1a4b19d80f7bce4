/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <poll.h>
#include <cmocka.h>

#include "cache/budget.h"
#include "cache/cache.h"
#include "fs/program/memory.h"
#include "tests/unit/cache/fake-groups.h"

#define MIB    ((size_t)1 << 20)
#define GROUP  "sys/fs/cgroup/one"
#define BLOCKS 64u

static const struct options opt = {.workers = 2};
static struct fs fs;
static struct cache_file file;

/* A group of 512 MiB, and a mount that would like to have 64 MiB. */
static int setup(void **state)
{
	static const struct writeback_ops ops;
	size_t data, cached;

	fake_groups_begin();
	fake_file("proc/self/cgroup", "0::/one\n");
	fake_file("proc/pressure/memory", "");
	fake_file(GROUP "/memory.max", "536870912\n");
	fake_file(GROUP "/memory.current", "1000000\n");
	fake_file(GROUP "/memory.stat", "inactive_file 0\nactive_file 0\n");
	fs = (struct fs){.opt = &opt, .memory = memory_new(fake_root, 64 * MIB)};
	assert_int_equal(memory_bytes(fs.memory), 64 * MIB);
	memory_split(memory_bytes(fs.memory), &data, &cached);
	fs.data_limit = data;
	fs.pool = mem_pool_new(memory_bytes(fs.memory));
	fs.cache = cache_new(fs.pool, cached);
	fs.writeback = writeback_new(&ops, data / 2);
	cache_file_init(&file);
	return 0;
}

static int teardown(void **state)
{
	cache_file_finish(&file);
	fs.writeback = writeback_free(fs.writeback);
	fs.cache = cache_free(fs.cache);
	fs.pool = mem_pool_free(fs.pool);
	fs.memory = memory_free(fs.memory);
	fake_groups_end();
	return 0;
}

static void fill(void)
{
	struct cache_block *b;
	uint64_t at;

	for (unsigned i = 0; i < BLOCKS; i++)
		if (cache_reserve(fs.cache, &file, (uint64_t)i * CACHE_BLOCK,
			    (uint64_t)(i + 1) * CACHE_BLOCK, UINT64_MAX, &b, 1, &at)) {
			memset(b->buf->data, 1, CACHE_BLOCK);
			cache_filled(&file, &b, 1, CACHE_BLOCK, false);
		}
}

static size_t mapped(void)
{
	struct mem_stats s;

	mem_pool_stats(fs.pool, &s);
	return s.slab_bytes;
}

static void shares_of(size_t bytes, size_t want_data, size_t want_cached)
{
	size_t data, cached;

	memory_split(bytes, &data, &cached);
	assert_int_equal(data, want_data);
	assert_int_equal(cached, want_cached);
}

static void there_is_memory_for_everything(void **state)
{
	shares_of(64 * MIB, 24 * MIB, 24 * MIB);
	shares_of(1024 * MIB, 480 * MIB, 480 * MIB);
	shares_of(16 * MIB, 6 * MIB, 6 * MIB);
	shares_of(12 * MIB, 9 * MIB, 0);
}

static void a_group_bounds_the_pool(void **state)
{
	struct memory *m;

	fake_file(GROUP "/memory.high", "67108864\n");
	m = memory_new(fake_root, 256 * MIB);
	assert_int_equal(memory_bytes(m), 32 * MIB);
	memory_free(m);
	m = memory_new(fake_root, 20 * MIB);
	assert_int_equal(memory_bytes(m), 20 * MIB);
	memory_free(m);
	fake_file(GROUP "/memory.max", "1000000\n"); /* less than any mount needs */
	m = memory_new(fake_root, 256 * MIB);
	assert_int_equal(memory_bytes(m), 8 * MIB);
	memory_free(m);
}

static void a_group_bounds_the_kernels_read_ahead(void **state)
{
	assert_int_equal(memory_ahead_kb(fs.memory, 16384), 4096);
	assert_int_equal(memory_ahead_kb(fs.memory, 64), 64);
	assert_int_equal(memory_ahead_kb(fs.memory, 0), 0);
	fake_file(GROUP "/memory.max", "134217728\n");
	memory_connected(&fs);
	memory_tick(&fs);
	assert_int_equal(memory_ahead_kb(fs.memory, 16384), 2048);
	fake_file(GROUP "/memory.max", "1000000\n");
	memory_tick(&fs);
	assert_int_equal(memory_ahead_kb(fs.memory, 16384), 128);
}

static void stalls_cost_the_cache_half_of_it(void **state)
{
	size_t all;

	memory_connected(&fs);
	assert_true(memory_fd(&fs) >= 0);
	fill();
	assert_int_equal(cache_bytes(fs.cache), BLOCKS * CACHE_BLOCK);
	all = mapped();
	memory_stalled(&fs, POLLPRI);
	assert_int_equal(cache_bytes(fs.cache), BLOCKS / 2 * CACHE_BLOCK);
	assert_true(mapped() < all);
	memory_stalled(&fs, POLLPRI);
	assert_int_equal(cache_bytes(fs.cache), BLOCKS / 4 * CACHE_BLOCK);
	fill(); /* and the cache stays small */
	assert_true(cache_bytes(fs.cache) <= BLOCKS / 4 * CACHE_BLOCK);
	memory_stalled(&fs, POLLERR);
	assert_int_equal(memory_fd(&fs), -1);
}

/* Other groups of the machine stall, and this mount keeps its cache. */
static void stalls_of_others_cost_nothing(void **state)
{
	fake_file("proc/meminfo", "MemTotal: 24000000 kB\nMemAvailable: 22000000 kB\n");
	memory_connected(&fs);
	fill();
	for (int i = 0; i < 10; i++)
		memory_stalled(&fs, POLLPRI);
	assert_int_equal(cache_bytes(fs.cache), BLOCKS * CACHE_BLOCK);
	fake_file("proc/meminfo", "MemTotal: 24000000 kB\nMemAvailable: 2000000 kB\n");
	memory_stalled(&fs, POLLPRI);
	assert_int_equal(cache_bytes(fs.cache), BLOCKS / 2 * CACHE_BLOCK);
}

static void a_group_without_room_costs_it_all_but_a_little(void **state)
{
	memory_connected(&fs);
	fill();
	memory_tick(&fs);
	assert_int_equal(cache_bytes(fs.cache), BLOCKS * CACHE_BLOCK);
	fake_file(GROUP "/memory.current", "536000000\n");
	for (int i = 0; i < 10; i++)
		memory_tick(&fs);
	assert_true(cache_bytes(fs.cache) <= MIB);
	fake_file(GROUP "/memory.current", "100000000\n");
	memory_tick(&fs); /* not at once */
	assert_true(cache_limit(fs.cache) <= MIB);
}

/* Other processes take memory while the mount rests. The mount may take half of the rest. */
static void a_share_that_rests_is_bounded_by_the_room(void **state)
{
	size_t all;

	memory_connected(&fs);
	all = cache_limit(fs.cache);
	fake_file(GROUP "/memory.current", "461373440\n"); /* 440 of 448 MiB */
	memory_tick(&fs);
	assert_int_equal(cache_limit(fs.cache), 4 * MIB);
	assert_int_equal(fs.data_limit, 4 * MIB + 2 * MEM_MAX_SIZE);
	fill();
	assert_int_equal(cache_bytes(fs.cache), 4 * MIB);
	memory_tick(&fs); /* blocks in the cache stay */
	assert_int_equal(cache_bytes(fs.cache), 4 * MIB);
	fake_file(GROUP "/memory.current", "100000000\n");
	for (int i = 0; i < BUDGET_STEPS; i++)
		memory_tick(&fs);
	assert_int_equal(cache_limit(fs.cache), all);
	assert_int_equal(fs.data_limit, 24 * MIB);
}

/* Half of the data under way is cut, but the workers have a block each, and there is room for
 * requests. */
static void data_under_way_is_cut_too(void **state)
{
	memory_connected(&fs);
	assert_int_equal(fs.data_limit, 24 * MIB);
	fs.data_used = 20 * MIB;
	memory_stalled(&fs, POLLPRI);
	assert_int_equal(fs.data_limit, 10 * MIB);
	fs.data_used = 0;
	memory_stalled(&fs, POLLPRI);
	assert_int_equal(fs.data_limit, 4 * MIB + 2 * MEM_MAX_SIZE);
	memory_tick(&fs); /* not at once */
	assert_int_equal(fs.data_limit, 4 * MIB + 2 * MEM_MAX_SIZE);
}

static void the_shares_follow_the_groups_limit(void **state)
{
	size_t all, data, cached;

	memory_connected(&fs);
	all = cache_limit(fs.cache);
	fill();
	fake_file(GROUP "/memory.max", "41943040\n");
	memory_tick(&fs);
	memory_split(20 * MIB, &data, &cached);
	assert_int_equal(cache_limit(fs.cache), cached);
	assert_true(cache_bytes(fs.cache) <= cached);
	assert_int_equal(fs.data_limit, data);
	fake_file(GROUP "/memory.max", "max\n");
	memory_tick(&fs);
	assert_int_equal(cache_limit(fs.cache), all);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(there_is_memory_for_everything),
		TEST(a_group_bounds_the_pool),
		TEST(a_group_bounds_the_kernels_read_ahead),
		TEST(stalls_cost_the_cache_half_of_it),
		TEST(stalls_of_others_cost_nothing),
		TEST(a_group_without_room_costs_it_all_but_a_little),
		TEST(a_share_that_rests_is_bounded_by_the_room),
		TEST(data_under_way_is_cut_too),
		TEST(the_shares_follow_the_groups_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
