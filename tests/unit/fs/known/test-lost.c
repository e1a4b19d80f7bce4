/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/lost and of the end of fs/file/flush: the fate, at the end of the mount,
 * of data that the server does not have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/file/flush.h"
#include "fs/known/lost.h"
#include "fs/known/names.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-file.h"

#define LARGE (1u << 20)

static uint8_t large[LARGE];

static int setup_gather(void **state)
{
	fs_fixture_gather = true;
	return setup(state);
}

static void put(uint64_t off, uint32_t len)
{
	assert_int_equal(kernel_write(node, fh, off, large, len, O_RDWR), len);
}

static bool always_another(struct nfs_op *op)
{
	if (op->type == NFS_COMMIT)
		fake_knobs.verf++;
	return false;
}

static void what_the_server_takes_is_safe_at_the_end(void **state)
{
	put(0, LARGE);
	put(2 * LARGE, 100);
	assert_true(flush_end(fs));
	assert_int_equal(writeback_bytes(fs->writeback), 0);
}

static void a_commit_that_always_fails_is_given_up(void **state)
{
	put(0, LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EIO;
	assert_false(flush_end(fs));
	assert_in_range(count(NFS_COMMIT), 2, 20);
	fake_knobs.fail[NFS_COMMIT] = 0;
}

static void a_server_that_never_stays_gets_stable_writes(void **state)
{
	put(0, LARGE);
	fake_knobs.script = always_another;
	assert_true(flush_end(fs));
	assert_in_range(count(NFS_COMMIT), 2, 20);
	fake_knobs.script = NULL;
}

static void what_cannot_be_written_is_lost_at_the_end(void **state)
{
	put(0, 100);
	fake_knobs.fail[NFS_WRITE] = -EIO;
	assert_false(flush_end(fs));
	assert_int_equal(count(NFS_WRITE), 1);
	fake_knobs.fail[NFS_WRITE] = 0;
}

static void what_is_lost_is_named(void **state)
{
	struct fuse_entry_out e;
	uint64_t dir, in_it, open;
	char path[100];

	lost_path(fs, inode_of(fs->inodes, node), path, sizeof(path));
	assert_string_equal(path, "/f");
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d\nd", &e), 0);
	dir = e.nodeid;
	assert_int_equal(kernel_create(dir, "file", O_RDWR, &in_it, &open), 0);
	lost_path(fs, inode_of(fs->inodes, in_it), path, sizeof(path));
	assert_string_equal(path, "/d?d/file");
	lost_path(fs, inode_of(fs->inodes, in_it), path, sizeof(".../file"));
	assert_string_equal(path, ".../file");
	names_forget(fs->names, inode_of(fs->inodes, dir), "file");
	lost_path(fs, inode_of(fs->inodes, in_it), path, sizeof(path));
	assert_string_equal(path, "...");
	assert_int_equal(kernel_release(in_it, open), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_gather, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_the_server_takes_is_safe_at_the_end),
		TEST(a_commit_that_always_fails_is_given_up),
		TEST(a_server_that_never_stays_gets_stable_writes),
		TEST(what_cannot_be_written_is_lost_at_the_end),
		TEST(what_is_lost_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
