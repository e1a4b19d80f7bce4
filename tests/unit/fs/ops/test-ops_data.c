/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_data: READ and WRITE as the kernel asks for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/coherence/change.h"
#include "fs/kernel/data.h"
#include "tests/unit/fs/kernel-file.h"

/* --- READ ------------------------------------------------------------------------------------- */

static void a_read_is_cut_into_parts(void **state)
{
	fill(SIZE);
	fs->info.rsize = 4096;
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), SIZE);
	assert_memory_equal(back, data, SIZE);
	assert_int_equal(count(NFS_READ), (SIZE + 4095) / 4096);
	assert_int_equal(kernel_read(node, fh, 5000, back, 100), 100);
	assert_memory_equal(back, data + 5000, 100);
	all_is_back();
	assert_int_equal(stats_get(&fs->stats.read_bytes), SIZE + 100);
}

static void what_comes_back_short_is_asked_for_again(void **state)
{
	fill(SIZE);
	fs->info.rsize = 8192;
	fake_knobs.short_read = 1000;
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), SIZE);
	assert_memory_equal(back, data, SIZE);
	assert_true(count(NFS_READ) >= SIZE / 1000);
}

static void the_end_of_the_file_ends_a_read(void **state)
{
	fill(10000);
	fs->info.rsize = 4096;
	assert_int_equal(kernel_read(node, fh, 0, back, 1 << 16), 10000);
	assert_memory_equal(back, data, 10000);
	assert_int_equal(kernel_read(node, fh, 10000, back, 1 << 16), 0);
	assert_int_equal(kernel_read(node, fh, 1 << 20, back, 4096), 0);
}

/* The first part sees the end at 1000, though the other parts have found data. */
static bool grows(struct nfs_op *op)
{
	if (op->type != NFS_READ || op->u.read.offset)
		return false;
	op->error = 0;
	op->u.read.count = 1000;
	op->u.read.eof = true;
	return true;
}

static void nothing_is_told_behind_a_gap(void **state)
{
	fill(SIZE);
	fs->info.rsize = 4096;
	fake_knobs.script = grows;
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), 1000);
}

/* Behind the end of the file there is no data, and there are no zeros either. */
static void behind_the_end_is_nothing(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node);
	struct answer a;

	fill(1000);
	change_notify(fs, ino, -1);
	a = kernel_wait(kernel_send_read(node, fh, 40960, 4096));
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, 0);
}

static void wait_for_reads(unsigned n)
{
	for (unsigned i = 0; i < 1000 && count(NFS_READ) < n; i++)
		usleep(10000);
	assert_true(count(NFS_READ) >= n);
}

/* The answer would have the kernel throw the attributes away. */
static void a_read_behind_the_end_lets_attributes_come_first(void **state)
{
	struct fuse_getattr_in in = {.getattr_flags = FUSE_GETATTR_FH, .fh = fh};
	uint64_t read, attr;
	struct answer a;

	fill(1000);
	assert_int_equal(kernel_fsync(node, fh), 0);
	fake_knobs.sync = false; /* each READ that is asked again would take more of the stack */
	fake_knobs.hang[NFS_GETATTR] = true;
	attr = kernel_send(FUSE_GETATTR, node, &in, sizeof(in), NULL, 0);
	read = kernel_send_read(node, fh, 40960, 4096);
	wait_for_reads(3);
	fake_knobs.hang[NFS_GETATTR] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(attr).error, 0);
	a = kernel_wait(read);
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, 0);
}

/* The third READ or WRITE fails. */
static bool third_fails(struct nfs_op *op)
{
	if ((op->type != NFS_READ && op->type != NFS_WRITE) || ++calls != 3)
		return false;
	op->error = -EIO;
	return true;
}

static void one_part_that_fails_fails_the_read(void **state)
{
	fill(SIZE);
	fs->info.rsize = 4096;
	fake_knobs.script = third_fails;
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), -EIO);
	all_is_back();
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), SIZE);
}

static bool brings_nothing(struct nfs_op *op)
{
	if (op->type != NFS_READ)
		return false;
	op->error = 0;
	op->u.read.count = 0;
	op->u.read.eof = false;
	return true;
}

static void a_read_that_does_not_advance_is_an_error(void **state)
{
	fill(SIZE);
	fake_knobs.script = brings_nothing;
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), -EREMOTEIO);
	all_is_back();
}

/* The pool has only blocks that are smaller than the request. */
static void a_read_may_lie_in_several_blocks(void **state)
{
	struct mem_buf *small[32], *large[16];
	unsigned n = 0, m = 0;
	struct answer a;

	fill(SIZE);
	for (unsigned i = 1; i < 10; i++)
		assert_int_equal(kernel_write(node, fh, i * SIZE, data, SIZE, O_RDWR), SIZE);
	all_is_back(); /* and the worker has a block again */
	while (n < 32 && (small[n] = mem_buf_get(fs->pool, DATA_PIECE_MIN)))
		n++;
	while (m < 16 && (large[m] = mem_buf_get(fs->pool, 1 << 20)))
		m++;
	for (unsigned i = 1; i < n; i += 2)
		mem_buf_unref(small[i]);
	fs->info.rsize = 200000;
	fake_knobs.short_read = 70000;
	a = kernel_wait(kernel_send_read(node, fh, 0, 1000000));
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, 1000000);
	assert_true(a.pieces > 1);
	for (unsigned i = 0; i < 10; i++)
		assert_memory_equal(a.data + (size_t)i * SIZE, data, SIZE);
	all_is_back();
	for (unsigned i = 0; i < n; i += 2)
		mem_buf_unref(small[i]);
	while (m)
		mem_buf_unref(large[--m]);
}

static void a_read_whose_process_is_killed_ends(void **state)
{
	uint64_t number;

	fill(SIZE);
	fs->info.rsize = 4096;
	fake_knobs.hang[NFS_READ] = true;
	number = kernel_send_read(node, fh, 0, SIZE);
	/* the READ is under way */
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(number));
	kernel_interrupt(number);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	all_is_back();
	assert_int_equal(stats_get(&fs->stats.interrupts), 1);
}

/* --- WRITE ------------------------------------------------------------------------------------ */

static void a_write_is_cut_into_parts(void **state)
{
	fs->info.wsize = 4096;
	fake_knobs.short_write = 3000;
	assert_int_equal(kernel_write(node, fh, 0, data, SIZE, O_RDWR), SIZE);
	assert_true(count(NFS_WRITE) >= 2 * SIZE / 4096);
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), SIZE);
	assert_memory_equal(back, data, SIZE);
	/* a small write goes another way */
	assert_int_equal(kernel_write(node, fh, 50, data, 10, O_RDWR), 10);
	assert_int_equal(stats_get(&fs->stats.small_bytes), 10);
	assert_int_equal(kernel_read(node, fh, 0, back, 100), 100);
	assert_memory_equal(back + 50, data, 10);
	assert_memory_equal(back + 60, data + 60, 40);
	all_is_back();
	assert_int_equal(stats_get(&fs->stats.write_bytes), SIZE + 10);
}

static void a_write_that_fails_on_its_way_is_short(void **state)
{
	fs->info.wsize = 4096;
	fake_knobs.script = third_fails;
	assert_int_equal(kernel_write(node, fh, 0, data, SIZE, O_RDWR), 2 * 4096);
	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	assert_int_equal(kernel_write(node, fh, 0, data, SIZE, O_RDWR), -ENOSPC);
	all_is_back();
	/* write(2) told the error: close need not tell again */
	assert_int_equal(kernel_flush(node, fh), 0);
}

/* No process waits for the page's WRITE: close(2) tells the error. */
static void a_page_that_cannot_be_written_is_told_at_close(void **state)
{
	uint64_t number;

	fs->info.wsize = 4096;
	fake_knobs.script = third_fails;
	number = kernel_send_write(node, fh, 0, data, SIZE, O_RDWR, FUSE_WRITE_CACHE);
	assert_int_equal(kernel_wait(number).error, -EIO);
	assert_int_equal(kernel_flush(node, fh), -EIO);
}

static bool wrote_too_much(struct nfs_op *op)
{
	if (op->type != NFS_WRITE)
		return false;
	op->error = 0;
	op->u.write.count = op->u.write.from.len + 1;
	return true;
}

static bool wrote_nothing(struct nfs_op *op)
{
	if (op->type != NFS_WRITE)
		return false;
	op->error = 0;
	op->u.write.count = 0;
	return true;
}

static void impossible_counts_are_errors(void **state)
{
	fake_knobs.script = wrote_too_much;
	assert_int_equal(kernel_write(node, fh, 0, data, SIZE, O_RDWR), -EREMOTEIO);
	fake_knobs.script = wrote_nothing;
	assert_int_equal(kernel_write(node, fh, 0, data, SIZE, O_RDWR), -EREMOTEIO);
	all_is_back();
}

static enum nfs_stable last_stable;

static bool note_stable(struct nfs_op *op)
{
	if (op->type == NFS_WRITE)
		last_stable = op->u.write.stable;
	return false;
}

static void what_is_to_be_durable_is_written_so(void **state)
{
	fake_knobs.script = note_stable;
	assert_int_equal(kernel_write(node, fh, 0, data, 100, O_RDWR | O_APPEND), 100);
	assert_int_equal(last_stable, NFS_FILE_SYNC); /* probably no more will be appended */
	assert_int_equal(kernel_write(node, fh, 0, data, 100, O_RDWR | O_APPEND), 100);
	assert_int_equal(last_stable, NFS_UNSTABLE);
	assert_int_equal(kernel_write(node, fh, 0, data, 100, O_RDWR), 100);
	assert_int_equal(last_stable, NFS_UNSTABLE);
	assert_int_equal(kernel_write(node, fh, 0, data, 100, O_RDWR | O_DSYNC), 100);
	assert_int_equal(last_stable, NFS_DATA_SYNC);
	assert_int_equal(kernel_write(node, fh, 0, data, 100, O_RDWR | O_SYNC), 100);
	assert_int_equal(last_stable, NFS_FILE_SYNC);
}

static void a_write_whose_process_is_killed_ends(void **state)
{
	uint64_t number;

	fake_knobs.hang[NFS_WRITE] = true;
	number = kernel_send_write(node, fh, 0, data, SIZE, O_RDWR, 0);
	looked_at();
	killed(number);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	assert_int_equal(used(), MEM_MAX_SIZE); /* until the server has answered */
	go_on();
	while (used())
		;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_is_cut_into_parts),
		TEST(what_comes_back_short_is_asked_for_again),
		TEST(the_end_of_the_file_ends_a_read),
		TEST(behind_the_end_is_nothing),
		TEST(a_read_behind_the_end_lets_attributes_come_first),
		TEST(nothing_is_told_behind_a_gap),
		TEST(one_part_that_fails_fails_the_read),
		TEST(a_read_that_does_not_advance_is_an_error),
		TEST(a_read_may_lie_in_several_blocks),
		TEST(a_read_whose_process_is_killed_ends),
		TEST(a_write_is_cut_into_parts),
		TEST(a_write_that_fails_on_its_way_is_short),
		TEST(a_page_that_cannot_be_written_is_told_at_close),
		TEST(impossible_counts_are_errors),
		TEST(what_is_to_be_durable_is_written_so),
		TEST(a_write_whose_process_is_killed_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
