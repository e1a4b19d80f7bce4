/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/names_dir: knowledge of all names in a directory, and the end of that
 * knowledge. The sets have a separate test (test-complete.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/fs/known/names-fixture.h"
#include "transport/clock.h"

#define US    1u
#define OTHER 2u

static struct inode *dir;

static int setup(void **state)
{
	names_begin();
	dir = get(1, NFS_DIR);
	return 0;
}

static bool lacks(const char *name, uint32_t uid)
{
	uint64_t since;

	return names_lacks(n, dir, name, uid, &since);
}

/* Lists dir, in which are only "a" and "b", for uid. */
static void list(uint32_t uid, uint64_t since)
{
	uint32_t token = names_list(n, dir, since, uid, 100);

	assert_int_not_equal(token, 0);
	assert_true(names_listed(n, dir, token, "a", 1));
	assert_true(names_listed(n, dir, token, "bcd", 1)); /* not terminated */
	names_list_end(n, dir, token, true);
}

static void of_a_new_directory_what_was_not_made_is_not_there(void **state)
{
	uint64_t since = 0;

	assert_false(lacks("x", US));
	assert_false(names_made_here(n, dir, &since));
	names_made_dir(n, dir, 1000);
	assert_true(names_lacks(n, dir, "x", OTHER, &since));
	assert_int_equal(since, 1000);
	assert_true(names_made_here(n, dir, &since));
	assert_int_equal(since, 1000);
	names_making(n, dir, "x");
	assert_false(lacks("x", US));
	assert_true(lacks("y", US));
	names_drop(n, dir, "x");
	assert_true(lacks("x", US));
	names_incomplete(n, dir);
	assert_false(lacks("x", US));
	assert_false(names_made_here(n, dir, &since));
	assert_int_equal(since, 0);
}

static void what_was_listed_is_for_who_listed_it(void **state)
{
	uint64_t since;

	list(US, 1000);
	assert_true(lacks("c", US));
	assert_true(lacks("bcd", US));
	assert_false(lacks("a", US));
	assert_false(lacks("b", US));
	assert_false(lacks("c", OTHER));
	assert_false(names_made_here(n, dir, &since));
}

/* Servers find such names, and names in another spelling, without listing them. */
static void hidden_and_foreign_names_are_always_asked_for(void **state)
{
	names_made_dir(n, dir, 1000);
	assert_false(lacks(".snapshot", US));
	assert_false(lacks("~snapshot", US));
	assert_false(lacks(".zfs", US));
	assert_false(lacks(".ckpt", US));
	assert_false(lacks("gr\xc3\xbc\xc3\x9f"
			   "e",
		US));
	assert_true(lacks(".sna", US));
	assert_true(lacks("snapshot", US));
}

static void what_is_moved_is_there_and_not_here_any_more(void **state)
{
	struct inode *file = get(2, NFS_REG);

	list(US, 1000);
	names_put(n, dir, "a", file, 1, 0);
	names_making(n, dir, "c");
	names_move(n, dir, "a", dir, "c");
	assert_true(lacks("a", US));
	assert_false(lacks("c", US));
	/* to its own name, or to another of its names: the server leaves all as it is */
	names_move(n, dir, "c", dir, "c");
	assert_false(lacks("c", US));
	names_put(n, dir, "b", file, 1, 0);
	names_move(n, dir, "c", dir, "b");
	assert_false(lacks("c", US));
	assert_false(lacks("b", US));
}

static void a_name_that_is_doubted_has_changed_as_far_as_a_listing_goes(void **state)
{
	struct inode *file = get(2, NFS_REG);

	assert_false(names_unchanged(n, dir, "a", 1000));
	names_watch(n, dir, 1000);
	assert_true(names_unchanged(n, dir, "a", 1000));
	assert_true(names_unchanged(n, dir, NULL, 1000));
	assert_false(names_unchanged(n, dir, "a", 999));
	assert_false(names_unchanged(n, dir, NULL, 999));
	names_doubt(n, dir, "a");
	assert_false(names_unchanged(n, dir, "a", 1000));
	assert_true(names_unchanged(n, dir, "b", 1000));
	names_put(n, dir, "b", file, 1, 0);
	names_unsure(n, file);
	assert_false(names_unchanged(n, dir, "b", 1000));
	names_doubt_all(n, dir);
	assert_false(names_unchanged(n, dir, "c", 1000));
}

static void a_listing_that_is_given_up_tells_nothing(void **state)
{
	uint32_t token = names_list(n, dir, 1000, US, 100);

	names_list_end(n, dir, token, false);
	assert_false(lacks("c", US));
	token = names_list(n, dir, 1000, US, 1);
	names_listed(n, dir, token, "a", 1);
	assert_false(names_listed(n, dir, token, "b", 1)); /* more than were wanted */
	names_list_end(n, dir, token, true);
	assert_false(lacks("c", US));
	/* and nothing is noted for a listing that was not begun */
	assert_false(names_listed(n, dir, token + 1, "a", 1));
}

static void of_a_directory_that_has_left_nothing_is_kept(void **state)
{
	struct inode *held = inode_ref(dir);

	names_made_dir(n, dir, 1000);
	inode_forget(t, dir, 1);
	assert_false(lacks("x", US));
	names_made_dir(n, held, 2000);
	names_making(n, held, "x");
	assert_int_equal(names_list(n, held, 1000, US, 100), 0);
	names_watch(n, held, 1000);
	assert_false(names_unchanged(n, held, "x", 1000));
	assert_false(lacks("y", US));
	assert_null(held->complete);
	inode_unref(held);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_a_new_directory_what_was_not_made_is_not_there),
		TEST(what_was_listed_is_for_who_listed_it),
		TEST(hidden_and_foreign_names_are_always_asked_for),
		TEST(what_is_moved_is_there_and_not_here_any_more),
		TEST(a_name_that_is_doubted_has_changed_as_far_as_a_listing_goes),
		TEST(a_listing_that_is_given_up_tells_nothing),
		TEST(of_a_directory_that_has_left_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
