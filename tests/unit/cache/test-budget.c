/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/budget.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/budget.h"

#define MIB    ((size_t)1 << 20)
#define SECOND 1000000000ull

static void memory_that_is_short_halves_it(void **state)
{
	struct budget b;

	budget_init(&b, 64 * MIB, MIB);
	assert_int_equal(b.now, 64 * MIB);
	budget_cut(&b, 64 * MIB, 0);
	assert_int_equal(b.now, 32 * MIB);
	/* of the memory in use: the unused part would give nothing back */
	budget_cut(&b, 10 * MIB, SECOND);
	assert_int_equal(b.now, 5 * MIB);
	/* and not of more than the maximum, which is still READING */
	budget_cut(&b, 40 * MIB, 2 * SECOND);
	assert_int_equal(b.now, 5 * MIB / 2);
	budget_cut(&b, 0, 3 * SECOND);
	assert_int_equal(b.now, MIB);
}

static void it_grows_when_memory_has_not_been_short_for_long(void **state)
{
	struct budget b;
	uint64_t t = 100 * SECOND;
	unsigned looks = 0;

	budget_init(&b, 64 * MIB, MIB);
	assert_false(budget_grow(&b, t));
	budget_cut(&b, 0, t);
	for (; t < 100 * SECOND + BUDGET_CALM_NS; t += SECOND)
		assert_false(budget_grow(&b, t));
	for (; budget_grow(&b, t); t += SECOND)
		looks++;
	assert_int_equal(b.now, 64 * MIB);
	assert_in_range(looks, BUDGET_STEPS / 2, BUDGET_STEPS);
	budget_cut(&b, 64 * MIB, t);
	assert_false(budget_grow(&b, t + SECOND));
}

static void it_is_bounded_by_the_room_that_is_left(void **state)
{
	struct budget b;

	budget_init(&b, 64 * MIB, MIB);
	assert_false(budget_bound(&b, 0, SIZE_MAX));
	assert_false(budget_bound(&b, 0, 64 * MIB));
	assert_false(budget_bound(&b, 60 * MIB, 5 * MIB));
	assert_int_equal(b.now, 64 * MIB);
	assert_true(budget_bound(&b, 20 * MIB, 10 * MIB));
	assert_int_equal(b.now, 30 * MIB);
	assert_false(budget_bound(&b, 20 * MIB, 10 * MIB));
	assert_false(budget_bound(&b, 30 * MIB, 0)); /* bytes in use stay */
	assert_int_equal(b.now, 30 * MIB);
	assert_true(budget_bound(&b, 0, 0));
	assert_int_equal(b.now, MIB);
	/* memory was not short: the budget grows at once */
	assert_true(budget_grow(&b, 100 * SECOND));
	budget_init(&b, 1, MIB);
	assert_false(budget_bound(&b, 0, 0));
	assert_int_equal(b.now, 1);
}

static void a_small_one_is_left_alone(void **state)
{
	struct budget b;

	budget_init(&b, 1, MIB);
	budget_cut(&b, 1, 0);
	assert_int_equal(b.now, 1);
	budget_init(&b, 0, MIB);
	budget_cut(&b, 0, 0);
	assert_int_equal(b.now, 0);
	assert_false(budget_grow(&b, 100 * SECOND));
}

static void another_most_leaves_a_cut_as_it_is(void **state)
{
	struct budget b;

	budget_init(&b, 64 * MIB, MIB);
	budget_resize(&b, 24 * MIB);
	assert_int_equal(b.now, 24 * MIB);
	budget_resize(&b, 48 * MIB); /* the budget was full */
	assert_int_equal(b.now, 48 * MIB);
	budget_cut(&b, 20 * MIB, SECOND);
	budget_resize(&b, 64 * MIB);
	assert_int_equal(b.now, 10 * MIB);
	budget_resize(&b, 5 * MIB);
	assert_int_equal(b.now, 5 * MIB);
	assert_int_equal(b.full, 5 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_is_short_halves_it),
		cmocka_unit_test(it_grows_when_memory_has_not_been_short_for_long),
		cmocka_unit_test(it_is_bounded_by_the_room_that_is_left),
		cmocka_unit_test(a_small_one_is_left_alone),
		cmocka_unit_test(another_most_leaves_a_cut_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
