/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/late: requests that wait for a change of data that a killed process has
 * left under way.
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

#include "fs/file/late.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-file.h"

#define ME 7u /* a lock owner */

static atomic_int unlocks;

/* Every lock is granted. */
static bool lock_server(struct nfs_op *op)
{
	if (op->type != NFS_LOCK)
		return false;
	op->error = 0;
	unlocks += op->u.lock.type == F_UNLCK;
	return true;
}

static int setup_gather(void **state)
{
	fs_fixture_gather = true;
	return setup(state);
}

static int teardown_gather(void **state)
{
	teardown(state);
	fs_fixture_gather = false;
	return 0;
}

/* A process that writes len bytes to off is killed; the server has the WRITE. */
static void leave_write(uint64_t off, const void *from, uint32_t len)
{
	uint64_t one;

	fake_knobs.hang[NFS_WRITE] = true;
	one = kernel_send_write(node, fh, off, from, len, O_RDWR | O_DSYNC, 0);
	looked_at();
	assert_false(kernel_answered(one));
	killed(one);
	assert_int_equal(kernel_wait(one).error, -EINTR);
	fake_knobs.hang[NFS_WRITE] = false;
}

static uint64_t send_setattr(uint64_t size)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE | FATTR_FH, .size = size, .fh = fh};

	return kernel_send(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0);
}

static uint64_t send_lock(uint32_t type)
{
	struct fuse_lk_in in = {
		.fh = fh, .owner = ME, .lk = {.end = INT64_MAX, .type = type, .pid = 1}};

	return kernel_send(FUSE_SETLK, node, &in, sizeof(in), NULL, 0);
}

static uint64_t open_and_truncate(void)
{
	struct fuse_open_in in = {.flags = O_RDWR | O_TRUNC};

	return kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
}

static uint64_t send_flush(void)
{
	struct fuse_flush_in in = {.fh = fh, .lock_owner = ME};

	return kernel_send(FUSE_FLUSH, node, &in, sizeof(in), NULL, 0);
}

/* The kernel does not wait for the release either. */
static void send_release(void)
{
	struct fuse_release_in in = {.fh = fh};

	kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	looked_at();
}

static void waits(uint64_t number)
{
	looked_at();
	assert_false(kernel_answered(number));
}

static void stands(uint64_t off, const void *what, uint32_t len)
{
	assert_int_equal(kernel_read(node, fh, off, back, len), len);
	assert_memory_equal(back, what, len);
}

/* A WRITE is answered just before the memory of the data is given back. */
static void all_is_freed(void)
{
	while (used())
		sched_yield();
}

static void what_is_written_over_it_stands(void **state)
{
	uint64_t same, beside;

	fill(10000);
	leave_write(5000, "lost", 4);
	beside = kernel_send_write(node, fh, 5004, "b", 1, O_RDWR | O_DSYNC, 0);
	assert_int_equal(kernel_wait(beside).error, 0);
	same = kernel_send_write(node, fh, 5003, "new", 1, O_RDWR | O_DSYNC, 0);
	waits(same);
	go_on();
	assert_int_equal(kernel_wait(same).error, 0);
	stands(5000, "losnb", 5);
	all_is_freed();
}

static void what_is_gathered_waits_too(void **state)
{
	uint64_t same;

	fill(10000);
	assert_int_equal(kernel_fsync(node, fh), 0);
	leave_write(5000, "lost", 4);
	assert_int_equal(kernel_write(node, fh, 6000, "b", 1, O_RDWR), 1);
	same = kernel_send_write(node, fh, 5000, "kept", 4, O_RDWR, 0);
	waits(same);
	go_on();
	assert_int_equal(kernel_wait(same).error, 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	stands(5000, "kept", 4);
}

static void an_append_waits_for_any(void **state)
{
	uint64_t append;

	fill(1000);
	leave_write(1000, "lost", 4);
	append = kernel_send_write(node, fh, 1000, "new", 3, O_RDWR | O_APPEND, 0);
	waits(append);
	go_on();
	assert_int_equal(kernel_wait(append).error, 0);
	stands(1000, "lostnew", 7);
}

static void a_new_size_waits(void **state)
{
	uint64_t cut;

	fill(10000);
	leave_write(5000, "lost", 4);
	assert_int_equal(kernel_wait(send_setattr(9000)).error, 0);
	cut = send_setattr(5001);
	waits(cut);
	go_on();
	assert_int_equal(kernel_wait(cut).error, 0);
	assert_int_equal(kernel_read(node, fh, 5000, back, 4096), 1);
}

/* The server must not cut off data that is written behind the new size. */
static void what_is_written_behind_a_new_size_waits(void **state)
{
	uint64_t cut, before, behind;

	fill(10000);
	fake_knobs.hang[NFS_SETATTR] = true;
	cut = send_setattr(5000);
	looked_at();
	killed(cut);
	assert_int_equal(kernel_wait(cut).error, -EINTR);
	before = kernel_send_write(node, fh, 0, data, 5000, O_RDWR | O_DSYNC, 0);
	assert_int_equal(kernel_wait(before).error, 0);
	behind = kernel_send_write(node, fh, 4999, "new", 3, O_RDWR | O_DSYNC, 0);
	waits(behind);
	go_on();
	assert_int_equal(kernel_wait(behind).error, 0);
	stands(4999, "new", 3);
	assert_int_equal(kernel_read(node, fh, 5002, back, 1), 0);
}

static void an_open_that_truncates_waits(void **state)
{
	uint64_t open;

	fill(10000);
	leave_write(5000, "lost", 4);
	open = open_and_truncate();
	waits(open);
	go_on();
	assert_int_equal(kernel_wait(open).error, 0);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 0);
}

static uint64_t send_create(void)
{
	struct fuse_create_in in = {.flags = O_RDWR | O_TRUNC, .mode = 0644};

	return kernel_send(FUSE_CREATE, KERNEL_ROOT, &in, sizeof(in), "f", 2);
}

/* An open that truncates is under way at the server when the opener is killed. */
static void leave_open(uint64_t (*send)(void), enum nfs_op_type type)
{
	uint64_t one;

	fake_knobs.hang[type] = true;
	one = send();
	looked_at();
	assert_false(kernel_answered(one));
	killed(one);
	assert_int_equal(kernel_wait(one).error, -EINTR);
	fake_knobs.hang[type] = false;
}

/* A write after a truncation in flight waits for the truncation, and the open is closed. */
static void what_is_written_after_it_stands(uint64_t (*send)(void), enum nfs_op_type type)
{
	uint64_t write, again, closed = count(NFS_CLOSE);

	fill(1000);
	leave_open(send, type);
	write = kernel_send_write(node, fh, 0, "new", 3, O_RDWR | O_DSYNC, 0);
	waits(write);
	again = send();
	waits(again);
	killed(again);
	assert_int_equal(kernel_wait(again).error, -EINTR);
	go_on();
	assert_int_equal(kernel_wait(write).error, 0);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 3);
	assert_memory_equal(back, "new", 3);
	while (count(NFS_CLOSE) == closed)
		;
	all_is_freed();
}

static void an_open_that_truncates_is_waited_for(void **state)
{
	what_is_written_after_it_stands(open_and_truncate, NFS_OPEN);
}

static void a_create_that_truncates_is_waited_for(void **state)
{
	what_is_written_after_it_stands(send_create, NFS_SETATTR);
}

/* The server may carry out the open when the name stands for another file: the open changes no
 * file. */
static void a_create_that_is_not_answered_truncates_nothing(void **state)
{
	fill(1000);
	leave_open(send_create, NFS_OPEN);
	go_on();
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1000);
}

/* The server has opened the file, or not. */
static void a_late_open_that_fails_lets_others_go_on(void **state)
{
	uint64_t write;

	fill(1000);
	leave_open(open_and_truncate, NFS_OPEN);
	write = kernel_send_write(node, fh, 0, "new", 3, O_RDWR | O_DSYNC, 0);
	waits(write);
	fake_knobs.fail[NFS_OPEN] = -EIO;
	go_on();
	assert_int_equal(kernel_wait(write).error, 0);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1000);
	assert_memory_equal(back, "new", 3);
}

/* Other processes get the lock after the WRITE. */
static void an_unlock_waits(void **state)
{
	uint64_t unlock;

	unlocks = 0;
	fake_knobs.script = lock_server;
	assert_int_equal(kernel_wait(send_lock(F_WRLCK)).error, 0);
	leave_write(0, "lost", 4);
	unlock = send_lock(F_UNLCK);
	waits(unlock);
	killed(unlock);
	assert_int_equal(kernel_wait(unlock).error, -EINTR);
	unlock = send_lock(F_RDLCK);
	waits(unlock);
	assert_int_equal(unlocks, 0);
	go_on();
	assert_int_equal(kernel_wait(unlock).error, 0);
	assert_int_equal(kernel_wait(send_lock(F_UNLCK)).error, 0);
	assert_int_equal(unlocks, 1);
}

/* The flush at the end of the killed process: the process does not wait, but its lock goes after
 * the WRITE. */
static void a_flush_that_unlocks_outlives_its_process(void **state)
{
	uint64_t flush;

	unlocks = 0;
	fake_knobs.script = lock_server;
	assert_int_equal(kernel_wait(send_lock(F_WRLCK)).error, 0);
	leave_write(0, "lost", 4);
	flush = send_flush();
	waits(flush);
	killed(flush);
	assert_int_equal(kernel_wait(flush).error, -EINTR);
	send_release();
	assert_int_equal(unlocks, 0);
	assert_int_equal(count(NFS_CLOSE), 0);
	go_on();
	while (!count(NFS_CLOSE))
		;
	assert_int_equal(unlocks, 1);
}

static void a_flush_without_locks_does_not_wait(void **state)
{
	leave_write(0, "lost", 4);
	assert_int_equal(kernel_wait(send_flush()).error, 0);
}

static void who_waits_can_be_killed(void **state)
{
	uint64_t same, other;

	fill(1000);
	leave_write(0, "lost", 4);
	same = kernel_send_write(node, fh, 0, "new", 3, O_RDWR | O_DSYNC, 0);
	waits(same);
	killed(same);
	assert_int_equal(kernel_wait(same).error, -EINTR);
	other = send_setattr(0);
	waits(other);
	killed(other);
	assert_int_equal(kernel_wait(other).error, -EINTR);
	go_on();
	while (used())
		;
	stands(0, "lost", 4);
	assert_int_equal(kernel_read(node, fh, 0, back, 4096), 1000);
}

static void a_change_that_fails_lets_others_go_on(void **state)
{
	uint64_t same;

	fill(1000);
	leave_write(0, "lost", 4);
	fake_knobs.hang[NFS_WRITE] = true;
	same = kernel_send_write(node, fh, 0, "new", 3, O_RDWR | O_DSYNC, 0);
	waits(same);
	fake_knobs.fail[NFS_WRITE] = -EIO;
	fake_release(fs->client);
	while (used() != 4096) /* one block */
		;
	fake_knobs.fail[NFS_WRITE] = 0;
	go_on();
	assert_int_equal(kernel_wait(same).error, 0);
	stands(0, "new", 3);
}

/* The WRITE ends with the client. */
static void a_late_write_does_not_hold_up_the_end(void **state)
{
	fill(1000);
	leave_write(0, "lost", 4);
	send_release();
	assert_int_equal(count(NFS_CLOSE), 0);
}

#define TEST(f)	  cmocka_unit_test_setup_teardown(f, setup, teardown)
#define GATHER(f) cmocka_unit_test_setup_teardown(f, setup_gather, teardown_gather)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_over_it_stands),
		GATHER(what_is_gathered_waits_too),
		TEST(an_append_waits_for_any),
		TEST(a_new_size_waits),
		TEST(what_is_written_behind_a_new_size_waits),
		TEST(an_open_that_truncates_waits),
		TEST(an_open_that_truncates_is_waited_for),
		TEST(a_create_that_truncates_is_waited_for),
		TEST(a_create_that_is_not_answered_truncates_nothing),
		TEST(a_late_open_that_fails_lets_others_go_on),
		TEST(an_unlock_waits),
		TEST(a_flush_that_unlocks_outlives_its_process),
		TEST(a_flush_without_locks_does_not_wait),
		TEST(who_waits_can_be_killed),
		TEST(a_change_that_fails_lets_others_go_on),
		TEST(a_late_write_does_not_hold_up_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
