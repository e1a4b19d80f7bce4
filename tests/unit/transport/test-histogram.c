/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/histogram.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "transport/histogram.h"

#define US 1000u
#define MS 1000000u

static struct histogram of(const uint64_t *ns, unsigned n)
{
	struct histogram_live live = {0};
	struct histogram h = {0};

	for (unsigned i = 0; i < n; i++)
		histogram_note(&live, ns[i]);
	histogram_add(&h, &live);
	return h;
}

#define OF(...)                                                                                    \
	of((const uint64_t[]){__VA_ARGS__},                                                        \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void buckets_double(void **state)
{
	const struct histogram h =
		OF(0, 1023, 1024, 2047, 2048, 1ull << 40, 1ull << 41, UINT64_MAX);

	assert_int_equal(h.n[0], 2);
	assert_int_equal(h.n[1], 2);
	assert_int_equal(h.n[2], 1);
	assert_int_equal(h.n[HISTOGRAM_BUCKETS - 1], 3);
	assert_int_equal(histogram_count(&h), 8);
	assert_true(h.max_ns == UINT64_MAX);
	assert_int_equal(histogram_end(0), 1024);
	assert_int_equal(histogram_end(1), 2048);
	assert_true(histogram_end(HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
}

static void every_time_is_below_the_end_of_its_bucket(void **state)
{
	for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
		const struct histogram below = OF(histogram_end(i) - 1), at = OF(histogram_end(i));

		assert_int_equal(below.n[i], 1);
		assert_int_equal(at.n[i + 1], 1);
	}
}

static void an_empty_one_has_no_times(void **state)
{
	const struct histogram none = {0};

	assert_int_equal(histogram_count(&none), 0);
	assert_int_equal(histogram_mean(&none), 0);
	assert_int_equal(histogram_percentile(&none, 0), 0);
	assert_int_equal(histogram_percentile(&none, 500), 0);
	assert_int_equal(histogram_percentile(&none, 1000), 0);
}

static void percentiles(void **state)
{
	uint64_t ns[1000];
	struct histogram h;

	for (unsigned i = 0; i < 1000; i++) /* evenly from 0 to 1 ms */
		ns[i] = i * US;
	h = of(ns, 1000);
	assert_in_range(histogram_percentile(&h, 500), 490 * US, 510 * US);
	assert_in_range(histogram_percentile(&h, 900), 880 * US, 920 * US);
	assert_in_range(histogram_percentile(&h, 990), 970 * US, 999 * US);
	assert_int_equal(histogram_percentile(&h, 1000), 999 * US);
	assert_in_range(histogram_mean(&h), 499 * US, 500 * US);
}

static void few_slow_ones_show(void **state)
{
	uint64_t ns[100];
	struct histogram h;

	for (unsigned i = 0; i < 100; i++)
		ns[i] = i < 98 ? 20 * US : 700 * MS;
	h = of(ns, 100);
	assert_in_range(histogram_percentile(&h, 500), 16 * US, 33 * US);
	assert_in_range(histogram_percentile(&h, 900), 16 * US, 33 * US);
	assert_in_range(histogram_percentile(&h, 990), 500 * MS, 700 * MS);
	assert_int_equal(h.max_ns, 700 * MS);
}

static void none_is_longer_than_the_longest(void **state)
{
	const struct histogram h = OF(1100);

	for (unsigned p = 0; p <= 1000; p += 100)
		assert_true(histogram_percentile(&h, p) <= 1100);
}

static void a_part_is_a_difference(void **state)
{
	struct histogram_live live = {0};
	struct histogram before = {0}, h = {0};

	histogram_note(&live, 5 * MS);
	histogram_add(&before, &live);
	histogram_note(&live, 20 * US);
	histogram_add(&h, &live);
	histogram_subtract(&h, &before);
	assert_int_equal(histogram_count(&h), 1);
	assert_int_equal(h.sum_ns, 20 * US);
	assert_int_equal(h.max_ns, 0);
	assert_in_range(histogram_percentile(&h, 500), 16 * US, 33 * US);
}

static struct histogram_live shared;

static void *count_up(void *arg)
{
	unsigned *shard = arg;

	*shard = histogram_shard();
	for (unsigned i = 0; i < 10000; i++)
		histogram_note(&shared, i);
	assert_int_equal(histogram_shard(), *shard);
	return NULL;
}

static void threads_count_together(void **state)
{
	pthread_t t[8];
	unsigned shard[8], used = 0;
	struct histogram h = {0};

	for (unsigned i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, count_up, &shard[i]);
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(t[i], NULL);
		assert_true(shard[i] < HISTOGRAM_SHARDS);
		used |= 1u << shard[i];
	}
	assert_int_equal(used, (1u << HISTOGRAM_SHARDS) - 1);
	histogram_add(&h, &shared);
	assert_int_equal(histogram_count(&h), 80000);
	assert_int_equal(h.max_ns, 9999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_double),
		cmocka_unit_test(every_time_is_below_the_end_of_its_bucket),
		cmocka_unit_test(an_empty_one_has_no_times),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(few_slow_ones_show),
		cmocka_unit_test(none_is_longer_than_the_longest),
		cmocka_unit_test(a_part_is_a_difference),
		cmocka_unit_test(threads_count_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
