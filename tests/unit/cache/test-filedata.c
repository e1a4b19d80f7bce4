/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/filedata.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/filedata.h"

static const uint8_t boot1[NFS_VERF_SIZE] = {1}, boot2[NFS_VERF_SIZE] = {2};
static const struct rpc_cred writer = {.flavor = RPC_AUTH_SYS, .uid = 1, .ngids = 1, .gids = {7}};
static const struct rpc_cred other = {.flavor = RPC_AUTH_SYS, .uid = 2};
static struct filedata d;
static struct filedata_view a, b;

static int setup(void **state)
{
	filedata_init(&d);
	filedata_open(&d, &a);
	filedata_open(&d, &b);
	return 0;
}

static int teardown(void **state)
{
	filedata_finish(&d);
	return 0;
}

/* A WRITE without kept data was answered. True: with the verifier of the earlier WRITEs. */
static bool wrote(enum nfs_stable committed, const uint8_t *verf)
{
	return filedata_wrote(&d, &writer, committed, verf, false) == FILEDATA_SAME;
}

static bool committed(uint64_t gen, const uint8_t *verf)
{
	return filedata_committed(&d, gen, verf) == FILEDATA_SAME;
}

/* Data is written, and lost by a restart that the next COMMIT notices. */
static void lose(void)
{
	uint64_t gen;

	assert_true(wrote(NFS_UNSTABLE, boot1));
	assert_true(filedata_dirty(&d, &gen));
	assert_false(committed(gen, boot2));
	filedata_redone(&d, filedata_restarts(&d));
	assert_true(committed(gen, boot2));
}

static void committed_data_is_safe(void **state)
{
	uint64_t gen;

	assert_false(filedata_dirty(&d, &gen));
	assert_true(wrote(NFS_FILE_SYNC, boot1));
	assert_true(wrote(NFS_DATA_SYNC, boot1));
	assert_false(filedata_dirty(&d, &gen));
	assert_true(wrote(NFS_UNSTABLE, boot1));
	assert_true(filedata_dirty(&d, &gen));
	assert_true(committed(gen, boot1));
	assert_false(filedata_dirty(&d, &gen));
	/* a restart when nothing is unstable loses nothing */
	assert_true(wrote(NFS_UNSTABLE, boot2));
	assert_int_equal(filedata_fsync(&d, &a), 0);
}

static void a_restart_before_commit_is_seen(void **state)
{
	uint64_t gen;

	lose();
	assert_false(filedata_dirty(&d, &gen));
	assert_int_equal(filedata_fsync(&d, &a), -EIO);

	assert_true(wrote(NFS_UNSTABLE, boot2));
	assert_false(wrote(NFS_UNSTABLE, boot1));
	filedata_redone(&d, filedata_restarts(&d));
	assert_true(filedata_dirty(&d, &gen));
	assert_true(committed(gen, boot1));
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
	assert_int_equal(filedata_fsync(&d, &a), 0);
}

static void writes_during_a_commit_need_another(void **state)
{
	uint64_t gen;

	wrote(NFS_UNSTABLE, boot1);
	filedata_dirty(&d, &gen);
	wrote(NFS_UNSTABLE, boot1);
	assert_true(committed(gen, boot1));
	assert_true(filedata_dirty(&d, &gen));
	/* and the loss of the later writes is noticed */
	assert_false(committed(gen, boot2));
}

static void what_came_with_no_verifier_needs_a_commit(void **state)
{
	uint64_t gen;

	filedata_unsafe(&d, &writer, -EAGAIN);
	assert_int_equal(filedata_fsync(&d, &a), 0);
	assert_true(filedata_dirty(&d, &gen));
	assert_true(filedata_at_risk(&d));
	assert_true(committed(gen, boot1));
	assert_false(filedata_dirty(&d, &gen));
	assert_false(filedata_at_risk(&d));
	/* another WRITE has a verifier, which counts */
	wrote(NFS_UNSTABLE, boot1);
	filedata_unsafe(&d, &writer, -EAGAIN);
	filedata_dirty(&d, &gen);
	assert_false(committed(gen, boot2));
	filedata_redone(&d, filedata_restarts(&d));
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
	/* the server has named the error, perhaps for the only time */
	filedata_unsafe(&d, &writer, -ENOSPC);
	assert_true(filedata_dirty(&d, &gen));
	assert_true(committed(gen, boot2));
	assert_int_equal(filedata_fsync(&d, &a), -ENOSPC);
}

static void the_last_writer_commits(void **state)
{
	struct rpc_cred by;
	uint64_t gen;

	filedata_unsafe(&d, &other, -EAGAIN);
	assert_true(wrote(NFS_UNSTABLE, boot1));
	filedata_dirty(&d, &gen);
	assert_int_equal(filedata_commit(&d, &by), gen);
	assert_memory_equal(&by, &writer, sizeof(by));
	/* a writer without unstable data does not count */
	filedata_wrote(&d, &other, NFS_FILE_SYNC, boot1, true);
	filedata_commit(&d, &by);
	assert_memory_equal(&by, &writer, sizeof(by));
	filedata_unsafe(&d, &other, -EAGAIN);
	assert_int_equal(filedata_commit(&d, &by), gen + 1);
	assert_memory_equal(&by, &other, sizeof(by));
}

static void flush_does_not_consume(void **state)
{
	lose();
	for (int i = 0; i < 3; i++) /* a dup, a child that exits, a mapping */
		assert_int_equal(filedata_flush(&d, &a), -EIO);
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
	assert_int_equal(filedata_fsync(&d, &a), 0);
	assert_int_equal(filedata_flush(&d, &a), 0);
}

static void each_opener_is_told_once(void **state)
{
	lose();
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
	assert_int_equal(filedata_fsync(&d, &a), 0);
	assert_int_equal(filedata_flush(&d, &b), -EIO);
	assert_int_equal(filedata_fsync(&d, &b), -EIO);
	assert_int_equal(filedata_fsync(&d, &b), 0);
	lose();
	assert_int_equal(filedata_fsync(&d, &b), -EIO);
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
}

static void later_openers_are_told_what_nobody_was(void **state)
{
	struct filedata_view late, later;

	lose();
	filedata_open(&d, &late);
	assert_int_equal(filedata_flush(&d, &late), -EIO);
	/* the flush has told a process, which may have ignored the error: no later flush tells
	 * again, but fsync does */
	filedata_open(&d, &later);
	assert_int_equal(filedata_flush(&d, &later), 0);
	assert_int_equal(filedata_fsync(&d, &later), -EIO);
	filedata_open(&d, &later);
	assert_int_equal(filedata_flush(&d, &later), 0);
	assert_int_equal(filedata_fsync(&d, &later), 0);
	/* the earlier openers are told all the same */
	assert_int_equal(filedata_fsync(&d, &late), -EIO);
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
}

static void a_failed_commit_is_told_as_what_it_was(void **state)
{
	uint64_t gen;

	wrote(NFS_UNSTABLE, boot1);
	filedata_dirty(&d, &gen);
	filedata_failed(&d, gen, -ENOSPC);
	assert_int_equal(filedata_fsync(&d, &a), -ENOSPC);
	assert_int_equal(filedata_flush(&d, &b), -ENOSPC);
	/* the data is still unstable; the repeated error is not new to a, another error is */
	assert_true(filedata_dirty(&d, &gen));
	filedata_failed(&d, gen, -ENOSPC);
	assert_int_equal(filedata_fsync(&d, &a), 0);
	filedata_failed(&d, gen, -EDQUOT);
	assert_int_equal(filedata_fsync(&d, &a), -EDQUOT);
	assert_int_equal(filedata_fsync(&d, &b), -EDQUOT);
	/* a further loss */
	wrote(NFS_UNSTABLE, boot1);
	filedata_dirty(&d, &gen);
	filedata_failed(&d, gen, -EDQUOT);
	assert_int_equal(filedata_fsync(&d, &a), -EDQUOT);
	/* the server has room at last */
	assert_true(committed(gen, boot1));
	assert_int_equal(filedata_fsync(&d, &a), 0);
}

/* Kept data is written again: no loss. */
static void what_is_kept_is_not_lost(void **state)
{
	uint64_t gen;

	assert_int_equal(filedata_wrote(&d, &writer, NFS_UNSTABLE, boot1, true), FILEDATA_SAME);
	assert_int_equal(filedata_wrote(&d, &writer, NFS_UNSTABLE, boot2, true), FILEDATA_OTHER);
	filedata_dirty(&d, &gen);
	assert_int_equal(filedata_committed(&d, gen, boot1), FILEDATA_OTHER);
	/* a COMMIT that was answered before the data is written again makes no data safe */
	assert_true(filedata_dirty(&d, &gen));
	assert_int_equal(filedata_committed(&d, gen, boot1), FILEDATA_OTHER);
	assert_true(filedata_dirty(&d, &gen));
	filedata_redone(&d, filedata_restarts(&d));
	assert_int_equal(filedata_committed(&d, gen, boot1), FILEDATA_SAME);
	assert_false(filedata_dirty(&d, &gen));
	assert_int_equal(filedata_fsync(&d, &a), 0);
	/* but the other data is lost */
	assert_int_equal(filedata_wrote(&d, &writer, NFS_UNSTABLE, boot1, true), FILEDATA_SAME);
	assert_int_equal(filedata_wrote(&d, &writer, NFS_UNSTABLE, boot1, false), FILEDATA_SAME);
	assert_int_equal(filedata_wrote(&d, &writer, NFS_UNSTABLE, boot2, true), FILEDATA_LOST);
	assert_int_equal(filedata_fsync(&d, &a), -EIO);
	/* once */
	assert_int_equal(filedata_wrote(&d, &writer, NFS_UNSTABLE, boot1, true), FILEDATA_OTHER);
	filedata_redone(&d, filedata_restarts(&d));
	filedata_dirty(&d, &gen);
	assert_int_equal(filedata_committed(&d, gen, boot1), FILEDATA_SAME);
	assert_int_equal(filedata_fsync(&d, &a), 0);
	/* a WRITE that fails after the answer to write(2) */
	filedata_lost(&d, -ENOSPC);
	assert_int_equal(filedata_flush(&d, &b), -ENOSPC);
	assert_int_equal(filedata_fsync(&d, &a), -ENOSPC);
}

/* At fsync the kernel tells of such pages without help. */
static void mapped_pages_that_failed_are_told_by_flush(void **state)
{
	filedata_unwritten(&d, -ENOSPC);
	assert_int_equal(filedata_flush(&d, &a), -ENOSPC);
	assert_int_equal(filedata_flush(&d, &a), -ENOSPC);
	assert_int_equal(filedata_fsync(&d, &a), 0);
	assert_int_equal(filedata_flush(&d, &a), 0);
	assert_int_equal(filedata_flush(&d, &b), -ENOSPC);
	filedata_open(&d, &b);
	assert_int_equal(filedata_flush(&d, &b), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(committed_data_is_safe, setup, teardown),
		cmocka_unit_test_setup_teardown(a_restart_before_commit_is_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(
			writes_during_a_commit_need_another, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_came_with_no_verifier_needs_a_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_writer_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(flush_does_not_consume, setup, teardown),
		cmocka_unit_test_setup_teardown(each_opener_is_told_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			later_openers_are_told_what_nobody_was, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_failed_commit_is_told_as_what_it_was, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_kept_is_not_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(
			mapped_pages_that_failed_are_told_by_flush, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
