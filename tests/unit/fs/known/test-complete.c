/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/complete.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fs/known/complete.h"

#define DIRS 40u

static struct completes all;
static struct complete dirs[DIRS], *c = &dirs[0];
static uint64_t since;

static int setup(void **state)
{
	completes_init(&all);
	memset(dirs, 0, sizeof(dirs));
	return 0;
}

static int teardown(void **state)
{
	for (unsigned i = 0; i < DIRS; i++)
		complete_end(&all, &dirs[i]);
	assert_int_equal(all.slots, 0);
	assert_true(TAILQ_EMPTY(&all.used));
	return 0;
}

static bool lacks(uint64_t hash)
{
	return complete_lacks(&all, c, hash, 1, &since);
}

static void what_was_made_here_has_what_was_made_in_it(void **state)
{
	assert_false(lacks(1));
	complete_add(&all, c, 1);
	assert_false(lacks(2));
	complete_made(&all, c, 100);
	assert_true(lacks(1));
	assert_int_equal(since, 100);
	complete_add(&all, c, 1);
	complete_add(&all, c, 1);
	complete_add(&all, c, 0); /* a valid hash: 0 counts as 1 */
	assert_false(lacks(1));
	assert_true(lacks(2));
	complete_remove(&all, c, 2);
	complete_remove(&all, c, 1);
	assert_true(lacks(1));
	complete_end(&all, c);
	assert_false(lacks(1));
}

static void a_set_is_a_set(void **state)
{
	static bool in[1000];
	unsigned long n = 0;

	complete_made(&all, c, 100);
	srand(1);
	for (unsigned i = 0; i < 100000; i++) {
		/* few homes, so that there are long runs, also over the end of the slots */
		unsigned x = (unsigned)rand() % 1000;
		uint64_t hash = ((uint64_t)x << 32 | (x % 7 + 0xfffc)) + 1;

		if (rand() & 1)
			complete_add(&all, c, hash);
		else
			complete_remove(&all, c, hash);
		in[x] = !lacks(hash);
		n += in[x];
		x = (unsigned)rand() % 1000;
		hash = ((uint64_t)x << 32 | (x % 7 + 0xfffc)) + 1;
		assert_true(in[x] == !lacks(hash));
	}
	assert_true(n > 10000);
}

static void a_listing_makes_complete_for_who_listed(void **state)
{
	uint32_t token = complete_list(&all, c, 50, 1, 100);

	assert_true(complete_listed(&all, c, token, 7));
	assert_false(lacks(8));
	complete_add(&all, c, 8); /* made during the listing */
	complete_list_end(&all, c, token, true);
	assert_true(lacks(9));
	assert_int_equal(since, 50);
	assert_false(lacks(7));
	assert_false(lacks(8));
	assert_false(complete_lacks(&all, c, 9, 2, &since));
	complete_list_end(&all, c, token, true); /* nothing */
	assert_false(lacks(7));
}

static void what_is_removed_beside_a_listing_is_asked_for(void **state)
{
	uint32_t token;

	complete_made(&all, c, 10);
	complete_add(&all, c, 7);
	token = complete_list(&all, c, 50, 1, 100);
	assert_true(complete_listed(&all, c, token, 7));
	complete_remove(&all, c, 7);
	assert_true(lacks(7));
	complete_list_end(&all, c, token, true);
	assert_false(lacks(7));
}

static void a_listing_that_is_not_whole_counts_nothing(void **state)
{
	uint32_t token = complete_list(&all, c, 50, 1, 100), other;

	complete_listed(&all, c, token, 7);
	complete_list_end(&all, c, token, false);
	assert_false(lacks(8));
	token = complete_list(&all, c, 50, 1, 100);
	other = complete_list(&all, c, 60, 1, 100); /* the later listing counts */
	assert_false(complete_listed(&all, c, token, 7));
	complete_list_end(&all, c, token, true);
	assert_false(lacks(8));
	complete_end(&all, c); /* another client has changed the directory */
	complete_list_end(&all, c, other, true);
	assert_false(lacks(8));
	token = complete_list(&all, c, 70, 1, 2); /* too many */
	assert_true(complete_listed(&all, c, token, 1));
	assert_true(complete_listed(&all, c, token, 2));
	assert_false(complete_listed(&all, c, token, 3));
	complete_list_end(&all, c, token, true);
	assert_false(lacks(8));
	assert_false(complete_listed(&all, c, 0, 3));
}

static void the_least_used_makes_room(void **state)
{
	for (unsigned d = 0; d < DIRS; d++) {
		complete_made(&all, &dirs[d], 1);
		for (unsigned i = 0; i < COMPLETE_NAMES_MAX; i++)
			complete_add(&all, &dirs[d], i * 0x9e3779b97f4a7c15ull + 1);
		c = &dirs[1];
		lacks(5);
		assert_true(all.slots <= COMPLETE_SLOTS_MAX);
	}
	c = &dirs[DIRS - 1];
	assert_true(lacks(5));
	c = &dirs[2];
	assert_false(lacks(5));
	c = &dirs[1];
	assert_true(lacks(5));
	complete_add(&all, c, 5); /* one more than the limit */
	assert_false(lacks(6));
	c = &dirs[0];
}

static void what_changes_is_noted_while_it_is_watched(void **state)
{
	assert_false(complete_unchanged(c, 1, 200));
	complete_changed(&all, c, 1);
	complete_watch(&all, c, 100);
	assert_true(complete_unchanged(c, 1, 100));
	assert_false(complete_unchanged(c, 1, 99));
	complete_add(&all, c, 1);
	complete_changed(&all, c, 2);
	assert_false(complete_unchanged(c, 1, 200));
	assert_false(complete_unchanged(c, 2, 200));
	assert_true(complete_unchanged(c, 3, 200));
	complete_watch(&all, c, 150);
	assert_true(complete_unchanged(c, 1, 150));
	assert_false(complete_unchanged(c, 1, 149));
	complete_changed(&all, c, 1);
	complete_end(&all, c); /* another client has changed the directory */
	assert_false(complete_unchanged(c, 3, 200));
	assert_int_equal(all.slots, 0);
	/* more changes than can be noted: then nothing is known */
	complete_watch(&all, c, 100);
	for (uint64_t i = 0; i < COMPLETE_NAMES_MAX; i++)
		complete_changed(&all, c, i << 32 | i);
	assert_true(complete_unchanged(c, UINT64_MAX, 200));
	complete_changed(&all, c, UINT64_MAX - 1);
	complete_changed(&all, c, UINT64_MAX - 2);
	assert_false(complete_unchanged(c, UINT64_MAX, 200));
}

static void some_misses_are_worth_a_listing(void **state)
{
	assert_false(complete_missed(c, 1000, 100));
	assert_false(complete_missed(c, 1001, 100));
	assert_false(complete_missed(c, 1200, 100)); /* the other misses are too old */
	assert_false(complete_missed(c, 1201, 100));
	assert_true(complete_missed(c, 1202, 100));
	for (uint64_t now = 1203; now < 1302; now++)
		assert_false(complete_missed(c, now, 100));
	assert_true(complete_missed(c, 1302, 100));
	complete_too_large(c, 5000);
	for (uint64_t now = 1303; now < 5000; now++)
		assert_false(complete_missed(c, now, 100));
	assert_true(complete_missed(c, 5000, 100) || complete_missed(c, 5001, 100) ||
		    complete_missed(c, 5002, 100));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_made_here_has_what_was_made_in_it),
		TEST(a_set_is_a_set),
		TEST(a_listing_makes_complete_for_who_listed),
		TEST(what_is_removed_beside_a_listing_is_asked_for),
		TEST(a_listing_that_is_not_whole_counts_nothing),
		TEST(the_least_used_makes_room),
		TEST(what_changes_is_noted_while_it_is_watched),
		TEST(some_misses_are_worth_a_listing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
