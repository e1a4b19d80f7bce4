/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/stale.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/known/stale.h"

static void an_open_is_tried_again_once(void **state)
{
	struct stale_threads s = {0};

	assert_false(stale_opens_again(&s, 7));
	stale_answered(&s, 7);
	assert_true(stale_walks_again(&s, 7));
	assert_false(stale_walks_again(&s, 8));
	assert_false(stale_opens_again(&s, 8));
	assert_true(stale_opens_again(&s, 7));
	assert_false(stale_walks_again(&s, 7));
	assert_false(stale_opens_again(&s, 7));
}

static void two_failed_look_ups_end_it(void **state)
{
	struct stale_threads s = {0};

	stale_answered(&s, 7);
	assert_false(stale_not_found(&s, 7));
	assert_true(stale_walks_again(&s, 7));
	assert_true(stale_not_found(&s, 7));
	assert_false(stale_walks_again(&s, 7));
	assert_false(stale_opens_again(&s, 7));
	assert_false(stale_not_found(&s, 7)); /* of a thread that is not remembered */
	assert_false(stale_walks_again(&s, 7));
	stale_answered(&s, 7);
	stale_not_found(&s, 7);
	assert_true(stale_opens_again(&s, 7));
}

static void a_thread_that_is_not_known_is_not_remembered(void **state)
{
	struct stale_threads s = {0};

	stale_answered(&s, 0);
	assert_false(stale_walks_again(&s, 0));
	stale_not_found(&s, 0);
	assert_false(stale_opens_again(&s, 0));
}

static void a_place_is_the_last_one_s(void **state)
{
	struct stale_threads s = {0};

	stale_answered(&s, 7);
	stale_answered(&s, 7 + STALE_THREADS);
	assert_false(stale_walks_again(&s, 7));
	stale_not_found(&s, 7);
	assert_false(stale_opens_again(&s, 7));
	assert_true(stale_opens_again(&s, 7 + STALE_THREADS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_is_tried_again_once),
		cmocka_unit_test(two_failed_look_ups_end_it),
		cmocka_unit_test(a_thread_that_is_not_known_is_not_remembered),
		cmocka_unit_test(a_place_is_the_last_one_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
