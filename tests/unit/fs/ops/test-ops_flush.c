/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_flush: flush, fsync and the last close, and which opener is told of lost
 * data.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/file/flush.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"

static uint64_t node, fh, other; /* a file, and two descriptors of the file */

static int setup(void **state)
{
	setup_mount(state);
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	return 0;
}

static void write_some(uint64_t to)
{
	assert_int_equal(kernel_write(node, to, 0, "data", 4, O_RDWR), 4);
}

static void what_is_not_dirty_needs_no_commit(void **state)
{
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 0);
	write_some(fh);
	assert_int_equal(kernel_fsync(node, other), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
}

#define STRANGER 4711u

static bool strangers_may_not_write(struct nfs_op *op)
{
	if (op->cred.uid != STRANGER || (op->type != NFS_COMMIT && op->type != NFS_SETATTR))
		return false;
	op->error = op->type == NFS_COMMIT ? -EACCES : -EPERM;
	return true;
}

/* Not with the credential of the waiting caller, which may not write the file: a failed COMMIT
 * would be a loss for the writers. */
static void what_was_written_is_committed_by_a_writer(void **state)
{
	struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0666};
	uint32_t me = kernel_uid;
	uint64_t reader;

	fake_knobs.script = strangers_may_not_write;
	write_some(fh);
	kernel_uid = STRANGER;
	assert_int_equal(kernel_open(node, O_RDONLY, &reader), 0);
	assert_int_equal(kernel_fsync(node, reader), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	write_some(fh);
	assert_int_equal(kernel_release(node, reader), 0);
	assert_int_equal(count(NFS_COMMIT), 2);
	write_some(fh);
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, node, &mode, sizeof(mode), NULL, 0, NULL, 0), -EPERM);
	kernel_uid = me;
	assert_int_equal(kernel_flush(node, other), 0);
	assert_int_equal(kernel_fsync(node, other), 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
}

static uint32_t refused_uid;
static atomic_int refused_with;

static bool one_may_not_commit(struct nfs_op *op)
{
	if (op->type != NFS_COMMIT || op->cred.uid != refused_uid)
		return false;
	op->error = refused_with;
	return true;
}

/* The last writer's right has been withdrawn: the waiting caller may have the right. */
static void who_waits_commits_what_its_writer_may_not(void **state)
{
	uint64_t reader;

	refused_uid = kernel_uid;
	refused_with = -EACCES;
	fake_knobs.script = one_may_not_commit;
	kernel_uid = STRANGER;
	assert_int_equal(kernel_open(node, O_RDONLY, &reader), 0);
	write_some(fh);
	assert_int_equal(kernel_fsync(node, reader), 0);
	assert_int_equal(count(NFS_COMMIT), 2);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_fsync(node, other), 0);
	assert_int_equal(count(NFS_COMMIT), 2);
	/* no other caller waits */
	refused_with = -EPERM;
	write_some(fh);
	assert_int_equal(kernel_fsync(node, fh), -EPERM);
	assert_int_equal(count(NFS_COMMIT), 3);
	/* a later COMMIT can still make the data safe, but the failure counts as a loss */
	assert_int_equal(kernel_fsync(node, reader), -EPERM);
	assert_int_equal(count(NFS_COMMIT), 5);
	assert_int_equal(kernel_fsync(node, reader), 0);
	assert_int_equal(count(NFS_COMMIT), 5);
	assert_int_equal(kernel_release(node, reader), 0);
	kernel_uid = refused_uid;
	fake_knobs.script = NULL;
}

static void a_loss_is_told_once_to_each(void **state)
{
	write_some(fh);
	fake_knobs.verf++; /* the server restarts */
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_fsync(node, other), -EIO);
	assert_int_equal(kernel_fsync(node, other), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
}

static void flush_tells_but_does_not_count_as_told(void **state)
{
	write_some(fh);
	fake_knobs.verf++;
	assert_int_equal(kernel_flush(node, other), -EIO);
	assert_int_equal(kernel_flush(node, fh), -EIO);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(kernel_fsync(node, other), -EIO);
}

static void a_commit_that_fails_is_sent_again(void **state)
{
	write_some(fh);
	fake_knobs.fail[NFS_COMMIT] = -ENOSPC;
	assert_int_equal(kernel_fsync(node, fh), -ENOSPC);
	assert_int_equal(kernel_fsync(node, other), -ENOSPC);
	fake_knobs.fail[NFS_COMMIT] = 0;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_fsync(node, other), 0);
	assert_int_equal(count(NFS_COMMIT), 3);
}

static void who_opens_after_a_loss_is_told_if_nobody_was(void **state)
{
	uint64_t third;

	write_some(fh);
	fake_knobs.verf++;
	/* the last close finds out, and no caller reads the answer */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_release(node, other), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &third), 0);
	assert_int_equal(kernel_fsync(node, third), -EIO);
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_fsync(node, other), 0);
}

/* A caller that was killed during the wait has not been told. */
static void a_killed_fsync_has_told_nobody(void **state)
{
	struct fuse_fsync_in in = {.fh = fh};
	uint64_t number;

	write_some(fh);
	fake_knobs.hang[NFS_COMMIT] = true;
	number = kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	kernel_interrupt(number);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_true(atomic_load(&fs->some_gone));
	flush_end_gone(fs);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	fake_knobs.hang[NFS_COMMIT] = false;
	fake_knobs.verf++;
	fake_release(fs->client);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
}

static void a_close_commits_and_goes_on_whatever_happens(void **state)
{
	write_some(fh);
	fake_knobs.fail[NFS_COMMIT] = -EIO;
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(count(NFS_CLOSE), 1);
	fake_knobs.fail[NFS_COMMIT] = 0;
	assert_int_equal(kernel_fsync(node, other), -EIO);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_dirty_needs_no_commit),
		TEST(what_was_written_is_committed_by_a_writer),
		TEST(who_waits_commits_what_its_writer_may_not),
		TEST(a_loss_is_told_once_to_each),
		TEST(flush_tells_but_does_not_count_as_told),
		TEST(a_commit_that_fails_is_sent_again),
		TEST(who_opens_after_a_loss_is_told_if_nobody_was),
		TEST(a_killed_fsync_has_told_nobody),
		TEST(a_close_commits_and_goes_on_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
