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

/* The number of bytes asked for ahead. */
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
	uint32_t dice = 5;

	for (unsigned i = 1; i < 1000; i++) {
		struct readahead_plan p;

		dice = dice * 1664525 + 1013904223;
		p = readahead_note(&ra, (uint64_t)(dice >> 14) * 4096, 4096, SIZE);
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

/* The pieces read ahead follow each other without gap or overlap, never far behind the reader and
 * never further than the window. */
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

/* --- back ------------------------------------------------------------------------------------- */

/* The pieces read ahead join the earlier ones, from above, and no byte is read twice. */
static void a_reader_who_goes_back_is_read_ahead_of(void **state)
{
	uint64_t low = 0, begin = 64 << 20, off = begin;
	unsigned plans = 0;

	for (unsigned i = 0; off; i++) {
		struct readahead_plan p = readahead_note(&ra, off -= REQUEST, REQUEST, begin);

		assert_int_equal(p.cache, i >= 2);
		if (!ahead(p))
			continue;
		assert_true(p.back);
		assert_int_equal(p.pieces, 0);
		assert_int_equal(p.to, plans++ ? low : off);
		low = p.from;
		assert_true(off - low <= 2 * READAHEAD_EASY);
	}
	assert_int_equal(low, 0);
	assert_in_range(plans, 1, 80);
}

/* The reader has read forward before, on the same open file. */
static void a_reader_may_turn_round(void **state)
{
	uint64_t off;
	unsigned i = 0, plans = 0;

	for (off = 0; off < 8 << 20; off += REQUEST)
		readahead_note(&ra, off, REQUEST, SIZE);
	for (off -= REQUEST; off; i++) {
		struct readahead_plan p = readahead_note(&ra, off -= REQUEST, REQUEST, SIZE);

		if (ahead(p) && i >= 4) {
			plans++;
			assert_true(p.back);
			assert_true(p.to <= off);
		}
	}
	assert_true(plans > 2);
	for (unsigned k = 0; k < 4; k++) { /* and forward again, elsewhere */
		struct readahead_plan p =
			readahead_note(&ra, (100 << 20) + k * REQUEST, REQUEST, SIZE);

		if (ahead(p))
			assert_false(p.back);
	}
}

static void a_window_back_grows_when_he_waits(void **state)
{
	uint64_t most = 0;

	for (uint64_t off = 256 << 20; off; off -= REQUEST) {
		struct readahead_plan p = readahead_note(&ra, off - REQUEST, REQUEST, 256 << 20);

		if (ahead(p) && off - p.from > most)
			most = off - p.from;
		readahead_waited(&ra, off - REQUEST);
	}
	assert_in_range(most, MAX / 2, MAX + REQUEST);
}

/* --- by steps --------------------------------------------------------------------------------- */

/* Pieces are read at `at`, at + stride and so on: is each asked for once, except the first ones?
 * Returns how many pieces were asked for and not read. */
static unsigned steps(uint64_t at, int64_t stride, uint32_t piece, unsigned n, unsigned asks)
{
	bool asked[1100] = {false};
	unsigned wasted = 0;

	for (unsigned i = 0; i < n; i++, at += (uint64_t)stride) {
		for (unsigned k = 0; k < asks; k++) {
			uint64_t off = at + (uint64_t)k * (piece / asks);
			struct readahead_plan p = readahead_note(&ra, off, piece / asks, SIZE);

			if (i < 3)
				continue;
			assert_false(p.cache);
			assert_true(asked[i]);
			if (!p.pieces)
				continue;
			assert_int_equal(p.stride, stride);
			for (unsigned j = 0; j < p.pieces; j++) {
				uint64_t from = p.from + (uint64_t)stride * j;
				int64_t further = (int64_t)(from - at) / stride;

				assert_int_equal(p.to - p.from, piece);
				assert_int_equal(from, at + (uint64_t)(stride * further));
				assert_in_range(further, 1, READAHEAD_MOST_PIECES);
				assert_false(asked[i + further]);
				asked[i + further] = true;
			}
		}
		if (i == 2) /* the plan of the third read is ignored */
			for (unsigned j = 1; j <= READAHEAD_FIRST_PIECES; j++)
				asked[i + j] = true;
	}
	for (unsigned i = n; i < sizeof(asked); i++)
		wasted += asked[i];
	return wasted;
}

static void pieces_that_are_equally_far_are_asked_for(void **state)
{
	assert_in_range(steps(5 << 20, 1 << 20, 4096, 100, 1), 1, READAHEAD_EASY_PIECES);
}

static void also_back(void **state)
{
	assert_in_range(steps(900 << 20, -(4 << 20), 64 * KIB, 100, 1), 1, READAHEAD_EASY_PIECES);
}

static void nothing_is_asked_for_off_the_ends(void **state)
{
	assert_int_equal(steps(100 << 20, -(1 << 20), 4096, 101, 1), 0);
	assert_int_equal(steps(SIZE - (100 << 20), 1 << 20, 4096, 100, 1), 0);
}

static void a_piece_may_be_several_requests(void **state)
{
	uint64_t at = 50 << 20;
	unsigned plans = 0;

	for (unsigned i = 0; i < 50; i++, at += 8 << 20)
		for (unsigned k = 0; k < 4; k++) {
			struct readahead_plan p =
				readahead_note(&ra, at + k * REQUEST, REQUEST, SIZE);

			if (i < 3)
				continue;
			for (unsigned j = 0; j < p.pieces; j++) {
				plans++;
				assert_int_equal(p.to - p.from, 4 * REQUEST);
				assert_int_equal(
					(p.from + (uint64_t)p.stride * j - at) % (8 << 20), 0);
			}
			if (!p.pieces)
				assert_int_equal(ahead(p), 0);
		}
	assert_true(plans >= 47);
}

/* Two readers with the same steps, one behind the other. */
static void several_go_by_steps(void **state)
{
	unsigned pieces = 0;

	for (unsigned i = 0; i < 50; i++) {
		uint64_t at = (uint64_t)i * (3 << 20) + (1 << 20);

		pieces += readahead_note(&ra, at, 4096, SIZE).pieces;
		pieces += readahead_note(&ra, at + (500 << 20) + 8192, 4096, SIZE).pieces;
	}
	assert_in_range(pieces, 90, 100 + 2 * READAHEAD_EASY_PIECES);
}

/* The small gaps are read, too. */
static void close_steps_are_a_stream(void **state)
{
	struct readahead_plan p;

	for (unsigned i = 0; i < 3; i++)
		p = readahead_note(&ra, (90 << 20) + i * (64 * KIB), 4096, SIZE);
	assert_true(p.cache);
	assert_true(ahead(p));
	assert_int_equal(p.pieces, 0);
	for (unsigned i = 0; i < 3; i++)
		p = readahead_note(&ra, (200 << 20) - i * (64 * KIB), 4096, SIZE);
	assert_true(p.cache);
	assert_true(p.back);
}

static void more_pieces_for_who_waits_fewer_if_wasted(void **state)
{
	unsigned most = 0;

	for (unsigned i = 1; i < 300; i++) {
		struct readahead_plan p = readahead_note(&ra, (uint64_t)i * (1 << 20), 4096, SIZE);

		if (p.pieces && (p.from >> 20) + p.pieces - i > most)
			most = (unsigned)(p.from >> 20) + p.pieces - i;
		readahead_waited(&ra, (uint64_t)i * (1 << 20));
	}
	assert_in_range(most, READAHEAD_MOST_PIECES, READAHEAD_MOST_PIECES + 1);
	for (unsigned i = 300; i < 310; i++) {
		readahead_wasted(&ra);
		readahead_note(&ra, (uint64_t)i * (1 << 20), 4096, SIZE);
	}
	assert_true(ra.stream[0].count <= READAHEAD_EASY_PIECES ||
		    ra.stream[1].count <= READAHEAD_EASY_PIECES);
}

/* For any reads, no wild offsets are asked for. */
static void any_requests_do_no_harm(void **state)
{
	uint32_t dice = 77;

	for (unsigned i = 0; i < 200000; i++) {
		uint64_t off, size = SIZE;
		struct readahead_plan p;

		dice = dice * 1664525 + 1013904223;
		off = (uint64_t)((dice >> 8) % 24) << (dice >> 16) % 40;
		if (dice % 64 == 0)
			off = UINT64_MAX - (dice >> 12);
		if (dice % 7 == 0)
			size = (dice >> 9) % 100000;
		p = readahead_note(&ra, off, 1 + (dice >> 20) % 4 * 4096, size);
		assert_true(p.pieces <= READAHEAD_MOST_PIECES);
		assert_true(p.to <= p.from || p.to - p.from <= 2 * MAX);
		for (unsigned j = 0; j < p.pieces; j++)
			assert_true(p.from + (uint64_t)p.stride * j < size);
		if (dice % 5 == 0)
			readahead_waited(&ra, off);
		if (dice % 501 == 0)
			readahead_wasted(&ra);
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
		TEST(a_reader_who_goes_back_is_read_ahead_of),
		TEST(a_reader_may_turn_round),
		TEST(a_window_back_grows_when_he_waits),
		TEST(pieces_that_are_equally_far_are_asked_for),
		TEST(also_back),
		TEST(nothing_is_asked_for_off_the_ends),
		TEST(a_piece_may_be_several_requests),
		TEST(several_go_by_steps),
		TEST(close_steps_are_a_stream),
		TEST(more_pieces_for_who_waits_fewer_if_wasted),
		TEST(any_requests_do_no_harm),
		TEST(no_window_means_no_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
