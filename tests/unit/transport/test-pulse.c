/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/pulse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/pulse.h"

static struct pulse a, b;

static int join(void **state)
{
	pulse_join(&a, "a");
	pulse_join(&b, "b");
	return 0;
}

static int leave(void **state)
{
	pulse_leave(&a);
	pulse_leave(&b);
	return 0;
}

static const char *look_often(unsigned n, unsigned most)
{
	const char *stuck = NULL;

	while (n-- && !stuck)
		stuck = pulse_look(most);
	return stuck;
}

static void threads_may_sleep(void **state)
{
	assert_null(look_often(100, 3));
	pulse_work(&a);
	pulse_sleep(&a);
	pulse_sleep(&b);
	assert_null(look_often(100, 3));
}

static void a_piece_of_work_may_not_last(void **state)
{
	pulse_work(&a);
	assert_null(look_often(4, 3));
	assert_string_equal(pulse_look(3), "a");
	pulse_work(&a); /* the next piece */
	assert_null(look_often(4, 3));
	pulse_sleep(&a);
	assert_null(look_often(100, 3));
	pulse_work(&b);
	pulse_work(&b);
	assert_string_equal(look_often(5, 3), "b");
}

static void new_work_at_each_look_is_life(void **state)
{
	for (int i = 0; i < 100; i++) {
		pulse_work(&a);
		pulse_work(&b);
		assert_null(pulse_look(0));
	}
	for (int i = 0; i < 100; i++) {
		pulse_work(&a);
		pulse_sleep(&a);
		pulse_work(&a);
		pulse_sleep(&b);
		assert_null(pulse_look(0));
	}
}

static void a_thread_that_has_left_is_not_stuck(void **state)
{
	pulse_work(&a);
	pulse_leave(&a);
	assert_null(look_often(100, 3));
	pulse_join(&a, "a");
	assert_null(look_often(100, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_may_sleep, join, leave),
		cmocka_unit_test_setup_teardown(a_piece_of_work_may_not_last, join, leave),
		cmocka_unit_test_setup_teardown(new_work_at_each_look_is_life, join, leave),
		cmocka_unit_test_setup_teardown(a_thread_that_has_left_is_not_stuck, join, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
