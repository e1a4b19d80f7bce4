/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/arrival: numbers of requests that have not come, or not begun.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/fuse.h>
#include <pthread.h>

#include "fs/kernel/arrival.h"

static struct arrivals *a;

static int setup(void **state)
{
	a = arrivals_new();
	assert_non_null(a);
	return 0;
}

static int teardown(void **state)
{
	a = arrivals_free(a);
	assert_null(a);
	return 0;
}

static void comes(uint32_t opcode, uint64_t unique)
{
	struct fuse_in_header h = {.len = sizeof(h), .opcode = opcode, .unique = unique};

	arrival_read(a, &h, sizeof(h));
}

static void nothing_is_missing_before_the_first(void **state)
{
	assert_false(arrival_is_missing(a));
	comes(FUSE_READ, 1000);
	assert_false(arrival_is_missing(a));
	comes(FUSE_READ, 1002);
	assert_false(arrival_is_missing(a));
}

static void a_number_that_was_passed_over_is_missing(void **state)
{
	comes(FUSE_INIT, 2);
	comes(FUSE_READ, 6);
	assert_true(arrival_is_missing(a));
	comes(FUSE_READ, 8);
	assert_true(arrival_is_missing(a));
	comes(FUSE_GETATTR, 4);
	assert_false(arrival_is_missing(a));
}

static void a_write_is_missing_until_it_begins(void **state)
{
	comes(FUSE_INIT, 2);
	comes(FUSE_WRITE, 4);
	assert_true(arrival_is_missing(a));
	arrival_begins(a);
	assert_false(arrival_is_missing(a));
	arrival_begins(a);
	assert_false(arrival_is_missing(a));
}

static void *reads_a_write(void *arg)
{
	comes(FUSE_WRITE, 4);
	return NULL;
}

/* Another worker begins its own WRITE alone. */
static void a_worker_begins_its_own_write(void **state)
{
	pthread_t other;

	comes(FUSE_INIT, 2);
	assert_int_equal(pthread_create(&other, NULL, reads_a_write, NULL), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	comes(FUSE_WRITE, 6);
	arrival_begins(a);
	assert_true(arrival_is_missing(a));
	/* the next request of a worker is not begun in place of the WRITE before */
	comes(FUSE_WRITE, 8);
	comes(FUSE_READ, 10);
	arrival_begins(a);
	comes(FUSE_GETATTR, 4);
	assert_true(arrival_is_missing(a));
}

static void numbers_outside_of_the_queue_do_not_count(void **state)
{
	struct fuse_in_header cut = {.len = sizeof(cut), .opcode = FUSE_READ, .unique = 20};

	comes(FUSE_INIT, 2);
	comes(FUSE_INTERRUPT, 9);
	comes(FUSE_READ, UINT64_C(1) << 63 | 40);
	comes(FUSE_NOTIFY_REPLY, 60);
	comes(FUSE_GETATTR, 0);
	arrival_read(a, &cut, sizeof(cut) - 1);
	assert_false(arrival_is_missing(a));
}

/* The kernel may never send a number. */
static void a_number_is_forgotten_in_the_end(void **state)
{
	uint64_t unique = 4;

	comes(FUSE_INIT, 2);
	for (unsigned n = 1; n < ARRIVALS; n++) {
		comes(FUSE_READ, unique += 2);
		assert_true(arrival_is_missing(a));
	}
	comes(FUSE_READ, unique += 2);
	assert_false(arrival_is_missing(a));
	/* the number of a later request that is missing is found as before */
	comes(FUSE_READ, unique + 4);
	assert_true(arrival_is_missing(a));
	/* a number that was forgotten changes nothing */
	comes(FUSE_READ, 4);
	assert_true(arrival_is_missing(a));
	comes(FUSE_READ, unique + 2);
	assert_false(arrival_is_missing(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(nothing_is_missing_before_the_first),
		T(a_number_that_was_passed_over_is_missing),
		T(a_write_is_missing_until_it_begins),
		T(a_worker_begins_its_own_write),
		T(numbers_outside_of_the_queue_do_not_count),
		T(a_number_is_forgotten_in_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
