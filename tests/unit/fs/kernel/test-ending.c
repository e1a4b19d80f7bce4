/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/ending.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/kernel/ending.h"
#include "fs/kernel/signals.h"
#include "transport/clock.h"

#define USUAL	(3 * NSEC_PER_SEC)
#define AN_HOUR 3600u

static struct options opt;
static struct fs fs = {.opt = &opt};

/* The tests follow each other: no signal, one, two. */
static void without_a_signal_steps_last_as_usual(void **state)
{
	uint64_t now = clock_ns();

	ending_begin(&fs);
	assert_false(ending_over(&fs));
	assert_true(ending_until(&fs, USUAL) >= now + USUAL);
	assert_int_equal(ending_leave_by(&fs), 0);
}

static void a_signal_begins_the_grace(void **state)
{
	uint64_t before = clock_ns();

	opt.grace_s = AN_HOUR;
	assert_int_equal(signals_stopped_at(), 0);
	signals_stop();
	assert_in_range(signals_stopped_at(), before, clock_ns());
	assert_int_equal(ending_leave_by(&fs), signals_stopped_at() + AN_HOUR * NSEC_PER_SEC);
	assert_false(ending_over(&fs));
	assert_true(ending_until(&fs, 2 * AN_HOUR * NSEC_PER_SEC) < ending_leave_by(&fs));
}

static void no_grace_is_no_bound(void **state)
{
	opt.grace_s = 0;
	assert_false(ending_over(&fs));
	assert_int_equal(ending_leave_by(&fs), 0);
}

static void a_second_signal_ends_it_whatever_the_server_takes(void **state)
{
	ending_took(&fs);
	signals_stop();
	assert_true(ending_over(&fs));
	assert_true(ending_until(&fs, USUAL) < clock_ns() + USUAL);
	assert_int_not_equal(ending_leave_by(&fs), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_signal_steps_last_as_usual),
		cmocka_unit_test(a_signal_begins_the_grace),
		cmocka_unit_test(no_grace_is_no_bound),
		cmocka_unit_test(a_second_signal_ends_it_whatever_the_server_takes),
	};

	return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
