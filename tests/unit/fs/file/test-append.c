/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/append: WRITE through an O_APPEND descriptor, as the kernel asks for it.
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
#include <cmocka.h>

#include "fs/file/append.h"
#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/kernel-file.h"

static void what_is_appended_goes_to_the_end_on_the_server(void **state)
{
	fill(1000);
	fs->info.wsize = 4096;
	/* the kernel believes in an older size */
	assert_int_equal(kernel_write(node, fh, 10, data, 10000, O_RDWR | O_APPEND), 10000);
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), 11000);
	assert_memory_equal(back, data, 1000);
	assert_memory_equal(back + 1000, data, 10000);
	all_is_back();
}

/* Of the WRITEs of a killed process's append, no further one is sent. */
static void an_append_of_a_killed_process_does_not_go_on(void **state)
{
	uint64_t one;

	fs->info.wsize = 4096;
	fake_knobs.hang[NFS_WRITE] = true;
	one = kernel_send_write(node, fh, 0, data, 10000, O_RDWR | O_APPEND, 0);
	looked_at();
	killed(one);
	assert_int_equal(kernel_wait(one).error, -EINTR);
	go_on();
	assert_int_equal(kernel_write(node, fh, 0, data, 100, O_RDWR | O_APPEND), 100);
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), 4196);
	all_is_back();
}

static void appends_come_one_after_the_other(void **state)
{
	uint64_t one, two, three;

	fake_knobs.hang[NFS_WRITE] = true;
	one = kernel_send_write(node, fh, 0, data, 100, O_RDWR | O_APPEND, 0);
	two = kernel_send_write(node, fh, 0, data + 100, 100, O_RDWR | O_APPEND, 0);
	three = kernel_send_write(node, fh, 0, data + 200, 100, O_RDWR | O_APPEND, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	fake_knobs.hang[NFS_WRITE] = false;
	assert_false(kernel_answered(two));
	killed(one); /* the others wait on: the server may have the WRITE */
	assert_int_equal(kernel_wait(one).error, -EINTR);
	looked_at();
	assert_false(kernel_answered(two));
	assert_int_equal(count(NFS_WRITE), 0);
	go_on();
	assert_int_equal(kernel_wait(two).error, 0);
	assert_int_equal(kernel_wait(three).error, 0);
	assert_int_equal(kernel_read(node, fh, 0, back, SIZE), 300);
	assert_memory_equal(back, data, 300);
}

/* The answer to the first append is lost; the data may be at byte 1000. */
static bool answer_lost(struct nfs_op *op)
{
	if (op->type != NFS_WRITE || calls++)
		return false;
	op->u.write.offset = 1000;
	op->error = -EALREADY;
	return true;
}

/* Likewise, and the bytes at the end of the file are those of op. */
static bool answer_lost_by_us(struct nfs_op *op)
{
	bool lost = answer_lost(op);

	if (lost)
		op->u.write.ours = true;
	return lost;
}

static void an_append_that_was_carried_out_is_not_repeated(void **state)
{
	fill(1000);
	assert_int_equal(kernel_write(node, fh, 1000, data, 50, O_RDWR), 50);
	fs->info.rsize = 16;
	fake_knobs.script = answer_lost_by_us;
	assert_int_equal(kernel_write(node, fh, 1000, data, 50, O_RDWR | O_APPEND), 50);
	assert_int_equal(count(NFS_COMMIT), 1);
	fs->info.rsize = 4096;
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1050);
	all_is_back();
}

/* If an append was carried out in part, the rest follows. */
static void an_append_that_was_carried_out_in_part_goes_on(void **state)
{
	fill(1000);
	assert_int_equal(kernel_write(node, fh, 1000, data, 20, O_RDWR), 20);
	fake_knobs.script = answer_lost_by_us;
	assert_int_equal(kernel_write(node, fh, 1000, data, 50, O_RDWR | O_APPEND), 50);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1050);
	assert_memory_equal(back + 1000, data, 50);
	all_is_back();
}

/* n bytes of an append of 50 are found, which may be another client's. */
static int found_without_proof(uint32_t n)
{
	fill(1000);
	assert_int_equal(kernel_write(node, fh, 1000, data, n, O_RDWR), n);
	fake_knobs.script = answer_lost;
	return kernel_write(node, fh, 1000, data, 50, O_RDWR | O_APPEND);
}

/* The kernel must count the bytes: beside further appends the kernel takes no other size. */
static void an_append_in_doubt_is_told_at_the_close(void **state)
{
	assert_int_equal(found_without_proof(50), 50);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_write(node, fh, 1050, data + 50, 50, O_RDWR | O_APPEND), 50);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1100);
	assert_memory_equal(back + 1000, data, 100);
	assert_int_equal(kernel_flush(node, fh), -EIO);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	assert_int_equal(kernel_flush(node, fh), 0);
	all_is_back();
}

/* The bytes may be the beginning of the part that the server has written. */
static void some_equal_bytes_prove_nothing(void **state)
{
	assert_int_equal(found_without_proof(20), -EIO);
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1020);
	all_is_back();
}

static int second_fails;

/* The answer to the second part is lost. */
static bool second_answer_lost(struct nfs_op *op)
{
	if (op->type != NFS_WRITE || calls++ != 1)
		return false;
	op->u.write.offset = 0;
	op->error = second_fails;
	return true;
}

/* After a short write the program would write the rest again. */
static void an_append_of_unknown_length_fails_whole(void **state)
{
	static const int fails[] = {-ETIMEDOUT, -EREMOTEIO};

	fs->info.wsize = 4096;
	memset(data, 'x', 10000);
	for (unsigned i = 0; i < 2; i++) {
		second_fails = fails[i];
		calls = 0;
		fake_knobs.script = second_answer_lost;
		assert_int_equal(
			kernel_write(node, fh, 0, data, 10000, O_RDWR | O_APPEND), fails[i]);
		assert_int_equal(calls, 2);
		all_is_back();
	}
	second_fails = -ENOSPC; /* the server says that the append is not at the end */
	calls = 0;
	assert_int_equal(kernel_write(node, fh, 0, data, 10000, O_RDWR | O_APPEND), 4096);
}

static void an_append_that_was_not_carried_out_is_repeated(void **state)
{
	fill(1000);
	assert_int_equal(kernel_write(node, fh, 1000, data + 1, 50, O_RDWR), 50);
	fake_knobs.script = answer_lost;
	assert_int_equal(kernel_write(node, fh, 1000, data, 50, O_RDWR | O_APPEND), 50);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1100);
	assert_memory_equal(back + 1050, data, 50);
	all_is_back();
}

static void an_append_of_which_nobody_knows_is_an_error(void **state)
{
	fill(1000);
	fake_knobs.script = answer_lost;
	fake_knobs.fail[NFS_READ] = -EACCES;
	assert_int_equal(kernel_write(node, fh, 1000, data, 50, O_RDWR | O_APPEND), -EIO);
	all_is_back();
}

/* The kernel must not take the size for the end of the data that is being appended elsewhere. */
static void attributes_beside_an_append_that_goes_astray_are_thrown_away(void **state)
{
	struct fuse_attr attr;
	unsigned before;
	uint64_t one;

	fill(1000);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	fake_knobs.hang[NFS_WRITE] = true;
	one = kernel_send_write(node, fh, 1000, data, 100, O_RDWR | O_APPEND, 0);
	/* not astray, as far as the mount knows */
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before);
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(one).error, -ENOSPC);
	one = kernel_send_write(node, fh, 10, data, 100, O_RDWR | O_APPEND, 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 1000);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(one).error, -ENOSPC);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 2); /* the last */
	fake_knobs.hang[NFS_WRITE] = false;
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 2);
}

/* The waiting append's own WRITE has not begun: there is no WRITE to cancel. */
static void an_append_that_waits_is_ended_with_its_process(void **state)
{
	uint64_t one, two;

	fake_knobs.hang[NFS_WRITE] = true;
	one = kernel_send_write(node, fh, 0, data, 100, O_RDWR | O_APPEND, 0);
	two = kernel_send_write(node, fh, 0, data, 100, O_RDWR | O_APPEND, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	append_end_gone(fs); /* no request is GONE yet */
	assert_false(kernel_answered(one) || kernel_answered(two));
	request_pool_end(fs->requests);
	append_end_gone(fs);
	assert_int_equal(kernel_wait(two).error, -ECONNABORTED);
	ops_end_gone(fs);
	assert_int_equal(kernel_wait(one).error, -ECONNABORTED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_appended_goes_to_the_end_on_the_server),
		TEST(appends_come_one_after_the_other),
		TEST(an_append_of_a_killed_process_does_not_go_on),
		TEST(an_append_that_was_carried_out_is_not_repeated),
		TEST(an_append_that_was_carried_out_in_part_goes_on),
		TEST(an_append_in_doubt_is_told_at_the_close),
		TEST(some_equal_bytes_prove_nothing),
		TEST(an_append_of_unknown_length_fails_whole),
		TEST(an_append_that_was_not_carried_out_is_repeated),
		TEST(an_append_of_which_nobody_knows_is_an_error),
		TEST(attributes_beside_an_append_that_goes_astray_are_thrown_away),
		TEST(an_append_that_waits_is_ended_with_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
