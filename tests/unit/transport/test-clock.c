/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/clock.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/clock.h"

static void it_never_goes_back(void **state)
{
	uint64_t last = clock_ns(), last_coarse = clock_coarse_ns();

	for (int i = 0; i < 100000; i++) {
		uint64_t coarse = clock_coarse_ns(), now = clock_ns();

		assert_true(now >= last);
		assert_true(coarse >= last_coarse);
		/* both clocks have one beginning, and the coarse one is behind */
		assert_true(coarse <= now);
		last = now;
		last_coarse = coarse;
	}
}

static void a_timespec_keeps_every_nanosecond(void **state)
{
	struct timespec t = clock_timespec(CLOCK_BEGIN);

	assert_int_equal(t.tv_sec, 0);
	assert_int_equal(t.tv_nsec, 0);
	t = clock_timespec(0); /* has passed */
	assert_int_equal(t.tv_sec, 0);
	assert_int_equal(t.tv_nsec, 0);
	t = clock_timespec(CLOCK_BEGIN + 7 * NSEC_PER_SEC - 1);
	assert_int_equal(t.tv_sec, 6);
	assert_int_equal(t.tv_nsec, 999999999);
	t = clock_timespec(
		/* more than 32 bits of nanoseconds can hold */
		CLOCK_BEGIN + (NSEC_PER_SEC << 32 | 5));
	assert_int_equal(
		(uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec, NSEC_PER_SEC << 32 | 5);
	assert_in_range(t.tv_nsec, 0, 999999999);
}

/* Options are seconds of 32 bits. No time of an option is before the clock's zero or past the
 * clock's end, however young the machine is. */
static void no_interval_of_an_option_wraps(void **state)
{
	uint64_t longest = UINT32_MAX * NSEC_PER_SEC, now = clock_ns();

	assert_true(now >= CLOCK_BEGIN);
	assert_true(now - longest < now);
	assert_true(now + longest > now);
	assert_true(clock_age(now, 0) > longest); /* "never" is before all times */
}

static void an_age_is_never_negative(void **state)
{
	static const struct {
		uint64_t now, then, age;
	} row[] = {
		{CLOCK_BEGIN + 5, CLOCK_BEGIN + 3, 2},
		{CLOCK_BEGIN + 5, CLOCK_BEGIN + 5, 0},
		{CLOCK_BEGIN + 5, CLOCK_BEGIN + 6, 0}, /* noted after now was read */
		{CLOCK_BEGIN, CLOCK_BEGIN - 7, 7},     /* before the machine's start */
		{CLOCK_BEGIN, 0, CLOCK_BEGIN},	       /* never */
		{CLOCK_BEGIN, UINT64_MAX, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(clock_age(row[i].now, row[i].then), row[i].age);
}

/* By the realtime clock, which is decades ahead, the wait would end at once. */
static void a_condition_waits_by_this_clock(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t until = clock_ns() + 5 * NSEC_PER_MSEC;
	struct timespec t = clock_timespec(until);
	pthread_cond_t cond;
	int rc;

	clock_cond_init(&cond);
	pthread_mutex_lock(&lock);
	do
		rc = pthread_cond_timedwait(&cond, &lock, &t);
	while (rc == 0);
	pthread_mutex_unlock(&lock);
	assert_int_equal(rc, ETIMEDOUT);
	assert_true(clock_ns() >= until);
	pthread_cond_destroy(&cond);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_never_goes_back),
		cmocka_unit_test(a_timespec_keeps_every_nanosecond),
		cmocka_unit_test(no_interval_of_an_option_wraps),
		cmocka_unit_test(an_age_is_never_negative),
		cmocka_unit_test(a_condition_waits_by_this_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
