/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/lookup/dir. Its notes: test-former; its record: test-record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fs/lookup/dir.h"
#include "tests/unit/fs/fs-fixture.h"

#define REQUEST 8u

static struct fs *fs;
static struct ledger *ledger;

static int setup(void **state)
{
	struct err e = {0};

	ledger = ledger_new(&e);
	assert_non_null(ledger);
	fs_fixture_ledger = ledger;
	fs = fs_fixture_new();
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	fs_fixture_ledger = NULL;
	return 0;
}

static struct dir *open_root(void)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_NONE};
	struct dir *d = dir_new(fs, inode_table_root(fs->inodes), &cred, true);

	assert_non_null(d);
	d->request = REQUEST;
	return d;
}

static uint32_t noted(void)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(ledger), &e);
	uint32_t n;

	assert_non_null(f);
	n = former_count(f, NOTE_DIR);
	former_free(f);
	return n;
}

static void an_open_directory_is_found_by_handle_and_request(void **state)
{
	struct dir *d = open_root();
	const struct fuse_file_info fi = {.fh = d->handle.number};

	assert_ptr_equal(dir_of(fs, &fi), d);
	assert_ptr_equal(dir_opened_by(fs, REQUEST), d);
	assert_null(dir_opened_by(fs, REQUEST + 2));
	dir_release(d);
	assert_null(dir_opened_by(fs, REQUEST));
}

static void a_closed_directory_has_no_note(void **state)
{
	struct dir *d = open_root();

	mutex_lock(&d->lock);
	dir_note_locked(d, NULL);
	mutex_unlock(&d->lock);
	assert_int_equal(noted(), 1);
	dir_release(d);
	assert_int_equal(noted(), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_open_directory_is_found_by_handle_and_request),
		TEST(a_closed_directory_has_no_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
