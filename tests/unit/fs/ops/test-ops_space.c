/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_space: holes, reserved space and copies as the kernel asks for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/known/inode.h"
#include "tests/unit/fs/kernel-file.h"

static uint64_t node2, fh2;
static struct nfs_op seen; /* the last op that the server was asked for */
static uint64_t copied;	   /* bytes that the next COPY copies */
static int unsafe;	   /* and whether the copy is safe */

static bool server(struct nfs_op *op)
{
	op->error = 0;
	switch (op->type) {
	case NFS_SEEK:
		seen = *op;
		op->u.seek.pos = op->u.seek.offset + 1;
		return true;
	case NFS_ALLOCATE:
		seen = *op;
		op->u.allocate.unsafe = unsafe;
		return true;
	case NFS_COPY:
		seen = *op;
		op->u.copy.copied = copied < op->u.copy.count ? copied : op->u.copy.count;
		op->u.copy.committed = NFS_FILE_SYNC;
		op->u.copy.unsafe = unsafe;
		return true;
	default:
		return false;
	}
}

static int setup_space(void **state)
{
	setup(state);
	assert_int_equal(kernel_create(KERNEL_ROOT, "g", O_RDWR, &node2, &fh2), 0);
	fs->info.vers_minor = 2;
	fake_knobs.script = server;
	copied = UINT64_MAX;
	unsafe = 0;
	return 0;
}

static int seek(uint64_t off, uint32_t whence, uint64_t *pos)
{
	struct fuse_lseek_in in = {.fh = fh, .offset = off, .whence = whence};
	struct fuse_lseek_out out = {0};
	int error = kernel_ask(FUSE_LSEEK, node, &in, sizeof(in), NULL, 0, &out, sizeof(out));

	*pos = out.offset;
	return error;
}

static int allocate(uint64_t off, uint64_t len, int mode)
{
	struct fuse_fallocate_in in = {
		.fh = fh, .offset = off, .length = len, .mode = (uint32_t)mode};

	return kernel_ask(FUSE_FALLOCATE, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

/* Returns the number of copied bytes, or an error. */
static int64_t copy(uint64_t from, uint64_t to, uint64_t len, uint64_t to_node, uint64_t to_fh)
{
	struct fuse_copy_file_range_in in = {.fh_in = fh,
		.off_in = from,
		.nodeid_out = to_node,
		.fh_out = to_fh,
		.off_out = to,
		.len = len};
	struct fuse_write_out out = {0};
	int error =
		kernel_ask(FUSE_COPY_FILE_RANGE, node, &in, sizeof(in), NULL, 0, &out, sizeof(out));

	return error ? error : (int64_t)out.size;
}

/* --- lseek ------------------------------------------------------------------------------------ */

static void the_server_is_asked_where_data_and_holes_are(void **state)
{
	uint64_t pos;

	assert_int_equal(seek(10, SEEK_HOLE, &pos), 0);
	assert_int_equal(pos, 11);
	assert_true(seen.u.seek.hole);
	assert_int_equal(seek(1ull << 40, SEEK_DATA, &pos), 0);
	assert_int_equal(pos, (1ull << 40) + 1);
	assert_false(seen.u.seek.hole);
	assert_int_equal(seek(0, SEEK_END, &pos), -EINVAL);
}

static bool finds_data_at_once(struct nfs_op *op)
{
	if (op->type != NFS_SEEK)
		return false;
	op->error = 0;
	op->u.seek.pos = op->u.seek.offset;
	return true;
}

/* If the file may be mapped and stored to, the kernel must write its data in the hole that the
 * server has found. If the kernel has no data there, the server is not asked again. */
static void the_kernel_has_nothing_in_a_hole(void **state)
{
	unsigned dropped = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	unsigned asked = count(NFS_SEEK);
	uint64_t pos;

	assert_int_equal(seek(10, SEEK_DATA, &pos), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), ++dropped);
	assert_int_equal(seek(10, SEEK_HOLE, &pos), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), ++dropped);
	fake_knobs.script = finds_data_at_once;
	assert_int_equal(seek(10, SEEK_DATA, &pos), 0);
	assert_int_equal(pos, 10);
	fake_knobs.script = server;
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
	assert_int_equal(seek(10, SEEK_DATA, &pos), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), dropped);
	assert_int_equal(count(NFS_SEEK), asked + 4);
}

static void a_seek_behind_the_end_is_told_as_such(void **state)
{
	uint64_t pos;

	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_SEEK] = -ENXIO;
	assert_int_equal(seek(10, SEEK_DATA, &pos), -ENXIO);
}

/* --- features that the mount or the server does not have
 * --------------------------------------- */

static void before_nfs_4_2_the_kernel_need_not_ask_again(void **state)
{
	uint64_t pos;

	fs->info.vers_minor = 1;
	assert_int_equal(seek(0, SEEK_DATA, &pos), -ENOSYS);
	assert_int_equal(allocate(0, 10, 0), -ENOSYS);
	assert_int_equal(copy(0, 0, 10, node2, fh2), -ENOSYS);
	assert_int_equal(count(NFS_SEEK) + count(NFS_ALLOCATE) + count(NFS_COPY), 0);
}

static void a_server_without_them_is_not_asked_for_holes_again(void **state)
{
	uint64_t pos;

	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_SEEK] = -EOPNOTSUPP;
	fake_knobs.fail[NFS_ALLOCATE] = -EOPNOTSUPP;
	fake_knobs.fail[NFS_COPY] = -EOPNOTSUPP;
	assert_int_equal(seek(0, SEEK_DATA, &pos), -ENOSYS);
	/* another file system may have holes */
	assert_int_equal(allocate(0, 10, 0), -EOPNOTSUPP);
	assert_int_equal(copy(0, 0, 10, node2, fh2), -EOPNOTSUPP);
}

/* --- fallocate -------------------------------------------------------------------------------- */

static void space_is_reserved_and_holes_are_made(void **state)
{
	assert_int_equal(allocate(5, 10, 0), 0);
	assert_int_equal(seen.u.allocate.offset, 5);
	assert_int_equal(seen.u.allocate.length, 10);
	assert_false(seen.u.allocate.dealloc);
	assert_int_equal(allocate(0, 4096, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE), 0);
	assert_true(seen.u.allocate.dealloc);
	assert_int_equal(count(NFS_COMMIT), 0);
}

static void what_nfs_has_no_words_for_is_refused(void **state)
{
	assert_int_equal(allocate(0, 10, FALLOC_FL_KEEP_SIZE), -EOPNOTSUPP);
	assert_int_equal(allocate(0, 10, FALLOC_FL_ZERO_RANGE), -EOPNOTSUPP);
	assert_int_equal(count(NFS_ALLOCATE), 0);
}

/* The COMMIT must be sent again: fsync does so. If the COMMIT has failed, fsync tells. */
static void what_is_not_yet_safe_is_committed_by_fsync(void **state)
{
	unsafe = -EAGAIN;
	assert_int_equal(allocate(0, 10, 0), 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	unsafe = -ENOSPC;
	assert_int_equal(allocate(0, 10, 0), 0);
	assert_int_equal(kernel_fsync(node, fh), -ENOSPC);
}

/* --- copy_file_range -------------------------------------------------------------------------- */

static void the_server_copies(void **state)
{
	assert_int_equal(copy(100, 200, 300, node2, fh2), 300);
	assert_int_equal(seen.u.copy.from, 100);
	assert_int_equal(seen.u.copy.to, 200);
	assert_int_equal(seen.u.copy.count, 300);
	assert_true(seen.u.copy.from_open != seen.u.copy.to_open);
}

static void a_copy_may_be_short_and_is_bounded(void **state)
{
	copied = 7;
	assert_int_equal(copy(0, 0, 300, node2, fh2), 7);
	copied = UINT64_MAX;
	assert_int_equal(copy(0, 0, 1ull << 40, node2, fh2), 1 << 30);
	assert_int_equal(copy(0, 0, 0, node2, fh2), 0);
}

/* The kernel then copies by itself, and sees where the file ends. */
static void a_copy_of_nothing_is_left_to_the_kernel(void **state)
{
	copied = 0;
	assert_int_equal(copy(0, 0, 300, node2, fh2), -EOPNOTSUPP);
	assert_int_equal(copy(0, 10, 300, node, fh), -EOPNOTSUPP);
	assert_int_equal(count(NFS_COPY), 1);
}

/* A restart of the server before the copy would bring back the bytes from before the write. */
static void the_source_is_safe_before_it_is_copied(void **state)
{
	struct fuse_attr attr;

	assert_int_equal(kernel_write(node, fh, 0, "new", 3, O_RDWR), 3);
	assert_int_equal(kernel_getattr(node, &attr), 0); /* sends the data */
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(copy(0, 0, 3, node2, fh2), 3);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(count(NFS_COMMIT), 1);
}

static void a_copy_that_is_not_safe_is_committed_by_fsync(void **state)
{
	unsafe = -EAGAIN;
	assert_int_equal(copy(0, 0, 300, node2, fh2), 300);
	assert_int_equal(kernel_fsync(node2, fh2), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup_space, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_server_is_asked_where_data_and_holes_are),
		T(the_kernel_has_nothing_in_a_hole),
		T(a_seek_behind_the_end_is_told_as_such),
		T(before_nfs_4_2_the_kernel_need_not_ask_again),
		T(a_server_without_them_is_not_asked_for_holes_again),
		T(space_is_reserved_and_holes_are_made),
		T(what_nfs_has_no_words_for_is_refused),
		T(what_is_not_yet_safe_is_committed_by_fsync),
		T(the_server_copies),
		T(a_copy_may_be_short_and_is_bounded),
		T(a_copy_of_nothing_is_left_to_the_kernel),
		T(the_source_is_safe_before_it_is_copied),
		T(a_copy_that_is_not_safe_is_committed_by_fsync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
