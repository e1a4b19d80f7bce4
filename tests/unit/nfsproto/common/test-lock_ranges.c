/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/lock_ranges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/common/lock_ranges.h"

#define TOP UINT64_MAX

static void check(
	const struct lock_ranges *l, uint32_t i, uint64_t first, uint64_t last, bool write)
{
	assert_true(i < l->n);
	assert_int_equal(l->range[i].first, first);
	assert_int_equal(l->range[i].last, last);
	assert_int_equal(l->range[i].write, write);
}

static void test_split_and_merge(void **state)
{
	struct lock_ranges l;

	lock_ranges_init(&l);
	assert_int_equal(lock_ranges_set(&l, 100, 199, true), 0);
	assert_true(lock_ranges_splits(&l, 140, 149));
	assert_false(lock_ranges_splits(&l, 100, 149));
	assert_false(lock_ranges_splits(&l, 140, 199));
	assert_int_equal(lock_ranges_clear(&l, 140, 149), 0);
	assert_int_equal(l.n, 2);
	check(&l, 0, 100, 139, true);
	check(&l, 1, 150, 199, true);
	assert_int_equal(lock_ranges_set(&l, 140, 149, false), 0);
	assert_int_equal(l.n, 3); /* another kind: no merge */
	assert_int_equal(lock_ranges_set(&l, 140, 149, true), 0);
	assert_int_equal(l.n, 1);
	check(&l, 0, 100, 199, true);
	assert_int_equal(lock_ranges_set(&l, 120, 129, false), 0);
	assert_int_equal(l.n, 3);
	check(&l, 1, 120, 129, false);
	assert_int_equal(lock_ranges_set(&l, 0, TOP, false), 0);
	assert_int_equal(l.n, 1);
	check(&l, 0, 0, TOP, false);
	lock_ranges_drop(&l);
	assert_int_equal(l.n, 0);
	assert_int_equal(lock_ranges_clear(&l, 0, TOP), 0);
	lock_ranges_finish(&l);
}

/* The last possible byte has no neighbour behind, and 2^63 is a number like any other. */
static void test_edges(void **state)
{
	uint64_t half = 1ull << 63;
	struct lock_ranges l;

	lock_ranges_init(&l);
	assert_int_equal(lock_ranges_clear(&l, 0, TOP), 0);
	assert_int_equal(lock_ranges_set(&l, TOP, TOP, true), 0);
	assert_int_equal(lock_ranges_set(&l, 0, 0, true), 0);
	assert_int_equal(l.n, 2); /* 0 does not follow 2^64-1 */
	assert_int_equal(lock_ranges_set(&l, half - 10, half + 9, true), 0);
	check(&l, 1, half - 10, half + 9, true);
	assert_int_equal(lock_ranges_clear(&l, half - 1, half), 0);
	assert_int_equal(l.n, 4);
	check(&l, 1, half - 10, half - 2, true);
	check(&l, 2, half + 1, half + 9, true);
	assert_int_equal(lock_ranges_set(&l, half + 1, TOP, true), 0);
	assert_int_equal(l.n, 3);
	check(&l, 2, half + 1, TOP, true);
	assert_int_equal(lock_ranges_clear(&l, 1, TOP), 0);
	assert_int_equal(l.n, 1);
	check(&l, 0, 0, 0, true);
	lock_ranges_finish(&l);
}

/* A part of a lock keeps the lock's number, as long as the part stays locked. */
static void test_number(void **state)
{
	struct lock_ranges l;
	uint32_t first, second;

	lock_ranges_init(&l);
	lock_ranges_set(&l, 10, 99, true);
	first = l.range[0].number;
	lock_ranges_set(&l, 200, 299, true);
	second = l.range[1].number;
	assert_true(first != second);
	lock_ranges_clear(&l, 40, 59);
	assert_int_equal(lock_ranges_covering(&l, 10, 39, true)->number, first);
	assert_int_equal(lock_ranges_covering(&l, 60, 99, true)->number, first);
	lock_ranges_clear(&l, 200, 299);
	lock_ranges_set(&l, 200, 299, true);
	assert_true(lock_ranges_covering(&l, 200, 299, true)->number != second);
	lock_ranges_set(&l, 40, 59, true);
	assert_true(lock_ranges_covering(&l, 10, 99, true)->number != first);
	lock_ranges_finish(&l);
}

static void test_conflict(void **state)
{
	struct lock_ranges l;

	lock_ranges_init(&l);
	assert_null(lock_ranges_conflict(&l, 0, TOP, true));
	lock_ranges_set(&l, 10, 19, false);
	lock_ranges_set(&l, 20, 29, true);
	assert_null(lock_ranges_conflict(&l, 0, 9, true));
	assert_null(lock_ranges_conflict(&l, 30, TOP, true));
	assert_null(lock_ranges_conflict(&l, 0, 19, false)); /* readers agree */
	assert_ptr_equal(lock_ranges_conflict(&l, 19, 19, true), &l.range[0]);
	assert_ptr_equal(lock_ranges_conflict(&l, 19, 20, false), &l.range[1]);
	assert_true(lock_ranges_covers(&l, 12, 19, false));
	assert_false(lock_ranges_covers(&l, 12, 19, true));
	assert_false(lock_ranges_covers(&l, 12, 20, false));
	assert_false(lock_ranges_covers(&l, 9, 12, false));
	assert_false(lock_ranges_covers(&l, 0, 9, false));
	assert_ptr_equal(lock_ranges_covering(&l, 22, 29, true), &l.range[1]);
	assert_null(lock_ranges_covering(&l, 22, 30, true));
	assert_true(lock_ranges_any(&l, 29, 50));
	assert_false(lock_ranges_any(&l, 30, 50));
	lock_ranges_finish(&l);
}

/* --- against a byte map ---------------------------------------------------------------------- */

#define BYTES 97u
#define GAP   48u

/* Cell i of the model stands for the byte cell_first(i), so that both ends of the number line are
 * in play; the cell in the middle stands for all bytes between. */
static uint64_t cell_first(unsigned i)
{
	return i <= GAP ? i : TOP - (BYTES - 1 - i);
}

static uint64_t cell_last(unsigned i)
{
	return i == GAP ? cell_first(GAP + 1) - 1 : cell_first(i);
}

static void compare(const struct lock_ranges *l, const char *model)
{
	char seen[BYTES];

	memset(seen, '-', sizeof(seen));
	for (uint32_t k = 0; k < l->n; k++) {
		const struct lock_range *r = &l->range[k];

		assert_true(r->first <= r->last);
		if (k > 0) {
			const struct lock_range *p = r - 1;

			assert_true(p->last < r->first);
			assert_true(p->last + 1 < r->first || p->write != r->write);
		}
		for (unsigned i = 0; i < BYTES; i++)
			if (cell_first(i) >= r->first && cell_last(i) <= r->last)
				seen[i] = r->write ? 'w' : 'r';
	}
	assert_memory_equal(seen, model, BYTES);
}

static bool model_conflict(const char *model, unsigned a, unsigned b, bool write)
{
	for (unsigned i = a; i <= b; i++)
		if (model[i] == 'w' || (write && model[i] == 'r'))
			return true;
	return false;
}

static void test_random(void **state)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct lock_ranges l;
		char model[BYTES];

		srand(seed);
		lock_ranges_init(&l);
		memset(model, '-', sizeof(model));
		for (unsigned step = 0; step < 500; step++) {
			unsigned a = (unsigned)rand() % BYTES, b = (unsigned)rand() % BYTES;
			unsigned what = (unsigned)rand() % 3;
			unsigned most = 1 + seed % 20; /* how long */

			if (a > b || b - a > most)
				b = a + most < BYTES ? a + most : BYTES - 1;
			assert_int_equal(lock_ranges_conflict(&l, cell_first(a), cell_last(b),
						 what == 1) != NULL,
				model_conflict(model, a, b, what == 1));
			if (what == 2)
				assert_int_equal(
					lock_ranges_clear(&l, cell_first(a), cell_last(b)), 0);
			else
				assert_int_equal(
					lock_ranges_set(&l, cell_first(a), cell_last(b), what == 1),
					0);
			memset(model + a, "rw-"[what], b - a + 1);
			compare(&l, model);
		}
		lock_ranges_finish(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_and_merge),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_conflict),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
