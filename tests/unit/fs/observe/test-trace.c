/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/observe/trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "fs/observe/trace.h"

#define WRITERS	   4u
#define PER_WRITER 50000u

static struct trace trace;

static int setup(void **state)
{
	trace = (struct trace){0};
	return !trace_start(&trace);
}

static int teardown(void **state)
{
	trace_stop(&trace);
	trace_finish(&trace);
	return 0;
}

static bool write_one(uint64_t offset)
{
	struct trace_event *e = trace_place(&trace);

	if (!e)
		return false;
	e->offset = offset;
	trace_put(e);
	return true;
}

static void events_come_in_order(void **state)
{
	struct trace_event e;

	assert_false(trace_take(&trace, &e));
	for (uint64_t round = 0; round < 3 * TRACE_EVENTS; round += 100) {
		for (unsigned i = 0; i < 100; i++)
			assert_true(write_one(round + i));
		for (unsigned i = 0; i < 100; i++) {
			assert_true(trace_take(&trace, &e));
			assert_int_equal(e.offset, round + i);
		}
		assert_false(trace_take(&trace, &e));
	}
	assert_int_equal(trace_dropped(&trace), 0);
}

static void a_full_ring_drops_the_newest(void **state)
{
	struct trace_event e;

	for (unsigned i = 0; i < TRACE_EVENTS; i++)
		assert_true(write_one(i));
	assert_false(write_one(9999));
	assert_false(write_one(9999));
	assert_int_equal(trace_dropped(&trace), 2);
	assert_int_equal(trace_dropped(&trace), 0);
	assert_true(trace_take(&trace, &e));
	assert_true(write_one(TRACE_EVENTS));
	for (unsigned i = 1; i <= TRACE_EVENTS; i++) {
		assert_true(trace_take(&trace, &e));
		assert_int_equal(e.offset, i);
	}
}

static void a_new_listener_gets_nothing_old(void **state)
{
	struct trace_event e;

	for (unsigned i = 0; i < TRACE_EVENTS + 1; i++)
		write_one(i);
	trace_stop(&trace);
	assert_false(trace_is_on(&trace));
	assert_true(trace_start(&trace));
	assert_true(trace_is_on(&trace));
	assert_false(trace_take(&trace, &e));
	assert_int_equal(trace_dropped(&trace), 0);
	assert_true(write_one(5));
	assert_true(trace_take(&trace, &e) && e.offset == 5);
}

static void *write_many(void *arg)
{
	uint64_t writer = (uintptr_t)arg;

	for (uint64_t i = 0; i < PER_WRITER; i++)
		write_one(writer << 32 | i);
	return NULL;
}

static void threads_write_at_once(void **state)
{
	uint64_t last[WRITERS] = {0}, taken = 0, dropped = 0;
	pthread_t t[WRITERS];

	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&t[i], NULL, write_many, (void *)i);
	while (taken + dropped < WRITERS * PER_WRITER) {
		struct trace_event e;
		uint64_t writer, n;

		dropped += trace_dropped(&trace);
		if (!trace_take(&trace, &e)) {
			sched_yield();
			continue;
		}
		taken++;
		writer = e.offset >> 32;
		n = e.offset & UINT32_MAX;
		/* in the order of each writer */
		assert_true(writer < WRITERS && n + 1 > last[writer]);
		last[writer] = n + 1;
	}
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(t[i], NULL);
	assert_true(taken >= TRACE_EVENTS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_come_in_order),
		TEST(a_full_ring_drops_the_newest),
		TEST(a_new_listener_gets_nothing_old),
		TEST(threads_write_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
