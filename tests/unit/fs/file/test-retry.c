/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/retry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fs/file/opening.h"
#include "fs/file/retry.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"

#define TID 7

static struct fs *fs;
static struct inode *ino;

static int setup(void **state)
{
	fake_knobs = (struct fake_knobs){0};
	fs = fs_fixture_new();
	ino = inode_table_root(fs->inodes);
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	return 0;
}

/* Is ino taken for an open file? Then a rename gives ino a silly name. */
static bool is_open(void)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 1};
	struct request *r = request_new_cred(fs, NULL, &cred);
	bool claimed = opening_claim(r, ino, false);

	if (claimed)
		inode_ref(ino);
	opening_claim_end(r);
	request_end(r, 0);
	assert_int_equal(ino->opens.count, atomic_load(&fs->open_files));
	return !claimed;
}

static void a_file_is_held_until_its_thread_opens_again(void **state)
{
	assert_false(is_open());
	retry_hold(fs, TID, ino);
	assert_true(is_open());
	retry_let_go(fs, TID + 1);
	assert_true(is_open());
	retry_let_go(fs, TID);
	assert_false(is_open());
	retry_let_go(fs, TID);
	assert_false(is_open());
}

static void a_thread_holds_one_file(void **state)
{
	retry_hold(fs, TID, ino);
	retry_hold(fs, TID, ino);
	retry_hold(fs, TID + 256, ino); /* in the same place */
	assert_int_equal(ino->opens.count, 1);
	retry_let_go(fs, TID);
	assert_true(is_open());
	retry_let_go(fs, TID + 256);
	assert_false(is_open());
}

static void a_thread_that_is_not_known_holds_nothing(void **state)
{
	retry_hold(fs, 0, ino);
	assert_false(is_open());
}

static void a_hold_ends_with_the_mount(void **state)
{
	retry_hold(fs, TID, ino);
	retry_hold(fs, TID + 1, ino);
	retries_tick(fs, true);
	assert_false(is_open());
	retry_hold(fs, TID, ino); /* and is freed with the table */
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_held_until_its_thread_opens_again),
		TEST(a_thread_holds_one_file),
		TEST(a_thread_that_is_not_known_holds_nothing),
		TEST(a_hold_ends_with_the_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
