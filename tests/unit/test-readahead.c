/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/readahead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cache/readahead.h"

#define KIB	(1u << 10)
#define REQUEST (128 * KIB)
#define MAX	(16u << 20)
#define SIZE	(1ull << 30)

static struct readahead ra;

static int setup(void **state)
{
	readahead_init(&ra, MAX);
	return 0;
}

/* How many bytes are asked for ahead. */
static uint64_t ahead(struct readahead_plan p)
{
	return p.to > p.from ? p.to - p.from : 0;
}

static void a_file_that_is_begun_is_read_to_its_end(void **state)
{
	struct readahead_plan p = readahead_note(&ra, 0, REQUEST, SIZE);

	assert_true(p.cache);
	assert_int_equal(p.from, REQUEST);
	assert_int_equal(ahead(p), READAHEAD_MIN);
}

static void a_small_read_at_the_beginning_reads_nothing_ahead(void **state)
{
	struct readahead_plan p = readahead_note(&ra, 0, 4096, SIZE);

	assert_true(p.cache);
	assert_int_equal(ahead(p), 0);
	p = readahead_note(&ra, 4096, 4096, SIZE);
	assert_true(p.cache);
	assert_int_equal(p.from, 8192);
	assert_int_equal(ahead(p), READAHEAD_MIN);
}

static void reads_all_over_the_file_are_not_worth_a_block(void **state)
{
	for (unsigned i = 1; i < 100; i++) {
		struct readahead_plan p =
			readahead_note(&ra, (uint64_t)(i * 37 % 100) * (8 << 20), 4096, SIZE);

		assert_false(p.cache);
		assert_int_equal(ahead(p), 0);
	}
}

static void two_in_a_row_are_a_stream(void **state)
{
	struct readahead_plan p = readahead_note(&ra, 5 << 20, REQUEST, SIZE);

	assert_false(p.cache);
	p = readahead_note(&ra, (5 << 20) + REQUEST, REQUEST, SIZE);
	assert_true(p.cache);
	assert_int_equal(p.from, (5 << 20) + 2 * REQUEST);
	assert_int_equal(ahead(p), READAHEAD_MIN);
}

/* What is asked for ahead is one piece after the other, without gap or overlap, never far behind
 * the reader and never further than the window. */
static void the_window_goes_with_the_reader(void **state)
{
	uint64_t to = REQUEST;

	for (uint64_t off = 0; off < 64 << 20; off += REQUEST) {
		struct readahead_plan p = readahead_note(&ra, off, REQUEST, SIZE);

		assert_true(p.cache);
		if (ahead(p)) {
			assert_int_equal(p.from, to);
			to = p.to;
		}
		assert_true(to > off + REQUEST);
		assert_true(to - off <= REQUEST + 2 * READAHEAD_EASY);
	}
}

static void a_reader_that_waits_is_read_ahead_of_further(void **state)
{
	uint64_t most = 0;

	for (uint64_t off = 0; off < 256 << 20; off += REQUEST) {
		struct readahead_plan p = readahead_note(&ra, off, REQUEST, SIZE);

		if (p.to > off && p.to - off > most)
			most = p.to - off;
		readahead_waited(&ra, off + REQUEST);
	}
	assert_true(most > MAX / 2);
	assert_true(most <= MAX + REQUEST);
}

/* As with many readers and little memory: however long each waits, the windows stay small. */
static void memory_that_is_wasted_makes_the_window_smaller(void **state)
{
	for (uint64_t off = 0; off < 256 << 20; off += REQUEST) {
		struct readahead_plan p = readahead_note(&ra, off, REQUEST, SIZE);

		if (off > 64 << 20)
			assert_true(p.to <= off + REQUEST + 4 * READAHEAD_MIN);
		readahead_waited(&ra, off + REQUEST);
		readahead_wasted(&ra);
	}
}

static void nothing_is_asked_for_behind_the_end(void **state)
{
	uint64_t size = (1 << 20) + 5000, to = 0;

	for (uint64_t off = 0; off < size; off += REQUEST) {
		struct readahead_plan p = readahead_note(&ra, off, REQUEST, size);

		if (ahead(p))
			to = p.to;
		assert_true(p.to <= size);
	}
	assert_int_equal(to, size);
}

static void requests_may_overtake_each_other(void **state)
{
	readahead_note(&ra, 0, REQUEST, SIZE);
	for (uint64_t off = REQUEST; off < 8 << 20; off += 2 * REQUEST) {
		assert_true(readahead_note(&ra, off + REQUEST, REQUEST, SIZE).cache);
		assert_true(readahead_note(&ra, off, REQUEST, SIZE).cache);
	}
	assert_int_equal(ra.stream[1].used, 0); /* all of one stream */
}

static void several_readers_are_several_streams(void **state)
{
	for (unsigned round = 0; round < 20; round++)
		for (unsigned i = 0; i < READAHEAD_STREAMS; i++) {
			uint64_t off = (uint64_t)i * (100 << 20) + (uint64_t)round * REQUEST;
			struct readahead_plan p = readahead_note(&ra, off, REQUEST, SIZE);

			assert_int_equal(p.cache, round > 0 || i == 0);
		}
}

static void no_window_means_no_cache(void **state)
{
	readahead_init(&ra, 0);
	for (uint64_t off = 0; off < 1 << 20; off += REQUEST)
		assert_false(readahead_note(&ra, off, REQUEST, SIZE).cache);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_begun_is_read_to_its_end),
		TEST(a_small_read_at_the_beginning_reads_nothing_ahead),
		TEST(reads_all_over_the_file_are_not_worth_a_block),
		TEST(two_in_a_row_are_a_stream),
		TEST(the_window_goes_with_the_reader),
		TEST(a_reader_that_waits_is_read_ahead_of_further),
		TEST(memory_that_is_wasted_makes_the_window_smaller),
		TEST(nothing_is_asked_for_behind_the_end),
		TEST(requests_may_overtake_each_other),
		TEST(several_readers_are_several_streams),
		TEST(no_window_means_no_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
