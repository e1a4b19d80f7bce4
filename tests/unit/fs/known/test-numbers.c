/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fs/known/numbers.h"

#define MANY 1000

static void the_first_run_needs_no_table(void **state)
{
	struct numbers n = {0};
	int object = 0;

	assert_true(numbers_of(&n, &object) == (uintptr_t)&object);
	assert_ptr_equal(numbers_object(&n, numbers_of(&n, &object)), &object);
	assert_null(numbers_object(&n, UINT64_C(1) << NUMBERS_RUN_BITS));
	assert_false(numbers_inherit(&n, 16, &object));
	numbers_finish(&n);
}

static void a_number_tells_its_run(void **state)
{
	struct numbers first = {0}, second;
	int was, is;

	assert_true(numbers_init(&second, 1, 1));
	assert_true(numbers_inherit(&second, numbers_of(&first, &was), &is));
	/* the address of `was` belongs to another object now */
	assert_true(numbers_of(&second, &was) != numbers_of(&first, &was));
	assert_ptr_equal(numbers_object(&second, numbers_of(&second, &was)), &was);
	assert_ptr_equal(numbers_object(&second, numbers_of(&first, &was)), &is);
	assert_null(numbers_object(&second, numbers_of(&first, &is)));
	numbers_finish(&second);
}

static void a_number_is_inherited_once(void **state)
{
	struct numbers n;
	int object, other;

	assert_true(numbers_init(&n, 2, 4));
	assert_true(numbers_inherit(&n, 64, &object));
	assert_false(numbers_inherit(&n, 64, &other));
	assert_false(numbers_inherit(&n, numbers_of(&n, &object), &object)); /* of this run */
	assert_false(numbers_inherit(&n, UINT64_C(3) << NUMBERS_RUN_BITS, &object));
	assert_ptr_equal(numbers_inherited(&n, 64), &object);
	numbers_finish(&n);
}

static void all_of_many_are_found(void **state)
{
	static char object[MANY];
	struct numbers n;

	assert_true(numbers_init(&n, NUMBERS_RUN_MAX, MANY));
	for (unsigned i = 0; i < MANY; i++)
		assert_true(numbers_inherit(&n, i * 64 + ((uint64_t)(i % 7) << 48), &object[i]));
	for (unsigned i = 0; i < MANY; i++)
		assert_ptr_equal(
			numbers_object(&n, i * 64 + ((uint64_t)(i % 7) << 48)), &object[i]);
	assert_null(numbers_object(&n, MANY * 64));
	numbers_finish(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_run_needs_no_table),
		cmocka_unit_test(a_number_tells_its_run),
		cmocka_unit_test(a_number_is_inherited_once),
		cmocka_unit_test(all_of_many_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
