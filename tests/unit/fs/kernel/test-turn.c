/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/turn: another client has cut a file, and a process is about to write.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/turn.h"
#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/kernel-file.h"
#include "transport/clock.h"

#define FULL  1000u /* size that the kernel believes */
#define OTHER 1	    /* another process */

static _Atomic uint64_t size; /* size that the server tells; 0: the real one */

static bool cut_elsewhere(struct nfs_op *op)
{
	struct inode *ino = inode_of(fs->inodes, node);

	if (op->type == NFS_LOCK) {
		op->error = 0;
		return true;
	}
	if (size && op->type == NFS_LOOKUP && op->u.lookup.name.s[0] == 'f')
		return lookup_tells_change(op, ino, size);
	if (!size || op->type != NFS_GETATTR || !nfs_fh_equal(&op->u.getattr.fh, &ino->fh))
		return false;
	op->error = 0;
	op->u.getattr.attr = ino->attrs.attr;
	op->u.getattr.attr.change += 5;
	op->u.getattr.attr.size = size;
	return true;
}

static uint64_t send_lock(uint32_t type)
{
	struct fuse_lk_in in = {.fh = fh, .owner = 7, .lk = {.end = INT64_MAX, .type = type}};

	return kernel_send(FUSE_SETLKW, node, &in, sizeof(in), NULL, 0);
}

static int lock(uint32_t type)
{
	return kernel_wait(send_lock(type)).error;
}

static void asks(pid_t tid)
{
	kernel_tid = tid;
}

/* Makes the turn last, for any speed of this machine. */
static void turn_lasts(void)
{
	struct inode *ino = inode_of(fs->inodes, node);

	assert_true(atomic_load(&ino->turn.pid));
	atomic_store(&ino->turn.at, clock_ns() + 1000 * NSEC_PER_SEC);
}

static void lock_to_write(void)
{
	assert_int_equal(lock(F_WRLCK), 0);
	turn_lasts();
}

static uint64_t send_getattr(void)
{
	struct fuse_getattr_in in = {0};

	return kernel_send(FUSE_GETATTR, node, &in, sizeof(in), NULL, 0);
}

static uint64_t told(uint64_t number)
{
	struct answer a = kernel_wait(number);

	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, sizeof(struct fuse_attr_out));
	return ((struct fuse_attr_out *)a.data)->attr.size;
}

/* The test has written FULL bytes, and has closed the file; another client has cut the file to 40.
 */
static int setup_cut(void **state)
{
	setup(state);
	fake_knobs.script = cut_elsewhere;
	size = 0;
	asks(getpid());
	fill(FULL);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(told(send_getattr()), FULL);
	size = 40;
	return 0;
}

static int end(void **state)
{
	kernel_tid = 0;
	return teardown(state);
}

static void waits(uint64_t number)
{
	looked_at();
	assert_false(kernel_answered(number));
}

static void a_smaller_size_waits_for_the_unlock(void **state)
{
	uint64_t number;

	lock_to_write();
	asks(OTHER);
	number = send_getattr();
	waits(number);
	asks(getpid());
	size = 50; /* the server is asked again */
	assert_int_equal(lock(F_UNLCK), 0);
	assert_int_equal(told(number), 50);
	asks(OTHER);
	assert_int_equal(told(send_getattr()), 50);
}

static void the_process_on_turn_is_told_at_once(void **state)
{
	lock_to_write();
	assert_int_equal(told(send_getattr()), 40);
}

static void a_lock_to_read_is_no_turn(void **state)
{
	assert_int_equal(lock(F_RDLCK), 0);
	asks(OTHER);
	assert_int_equal(told(send_getattr()), 40);
}

static void a_size_that_is_not_smaller_is_told_at_once(void **state)
{
	lock_to_write();
	asks(OTHER);
	size = FULL;
	assert_int_equal(told(send_getattr()), FULL);
	size = 2 * FULL;
	assert_int_equal(told(send_getattr()), 2 * FULL);
}

/* The kernel may have discarded the answer before. */
static void a_smaller_size_waits_again(void **state)
{
	uint64_t number;

	assert_int_equal(told(send_getattr()), 40);
	lock_to_write();
	asks(OTHER);
	number = send_getattr();
	waits(number);
	turns_tick(fs, true);
	assert_int_equal(told(number), 40);
}

/* The kernel knows this size. */
static void our_own_cut_is_told_at_once(void **state)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE | FATTR_FH, .fh = fh, .size = 30};

	size = 0;
	assert_int_equal(kernel_ask(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0, NULL, 0), 0);
	lock_to_write();
	asks(OTHER);
	assert_int_equal(told(send_getattr()), 30);
}

static void an_open_to_write_is_a_turn_until_the_close(void **state)
{
	uint64_t again, number;

	assert_int_equal(kernel_open(node, O_WRONLY, &again), 0);
	turn_lasts();
	asks(OTHER);
	number = send_getattr();
	waits(number);
	asks(getpid());
	assert_int_equal(kernel_flush(node, again), 0);
	assert_int_equal(told(number), 40);
	assert_int_equal(kernel_open(node, O_RDONLY, &again), 0);
	asks(OTHER);
	assert_int_equal(told(send_getattr()), 40);
}

static void a_write_is_a_turn(void **state)
{
	uint64_t number;

	fill(20);
	turn_lasts();
	asks(OTHER);
	number = send_getattr();
	waits(number);
	turns_tick(fs, true);
	assert_int_equal(told(number), 40);
}

static void a_name_that_is_looked_up_waits_as_well(void **state)
{
	struct fuse_entry_out *e;
	struct answer a;
	uint64_t number;

	lock_to_write();
	asks(OTHER);
	number = kernel_send(FUSE_LOOKUP, KERNEL_ROOT, "f", 2, NULL, 0);
	/* read behind the lookup */
	assert_int_equal(kernel_getattr(KERNEL_ROOT, &(struct fuse_attr){0}), 0);
	assert_false(kernel_answered(number));
	asks(getpid());
	size = 50;
	assert_int_equal(lock(F_UNLCK), 0);
	a = kernel_wait(number);
	assert_int_equal(a.error, 0);
	e = (struct fuse_entry_out *)a.data;
	assert_int_equal(e->nodeid, node);
	assert_int_equal(e->attr.size, 50);
}

static void a_request_that_waits_long_is_told(void **state)
{
	uint64_t number;

	lock_to_write();
	asks(OTHER);
	number = send_getattr();
	waits(number);
	while (turns_tick(fs, false))
		;
	assert_int_equal(told(number), 40);
}

static void a_turn_is_over_after_a_while(void **state)
{
	lock_to_write();
	atomic_store(&inode_of(fs->inodes, node)->turn.at, clock_ns() - 2 * NSEC_PER_SEC);
	asks(OTHER);
	assert_int_equal(told(send_getattr()), 40);
}

/* --- earlier answers -------------------------------------------------------------------------- */

static void a_lock_is_granted_when_others_have_handled_a_smaller_size(void **state)
{
	uint64_t number;

	asks(OTHER);
	assert_int_equal(told(send_getattr()), 40);
	asks(getpid());
	number = send_lock(F_WRLCK);
	waits(number);
	asks(OTHER);
	looked_at();
	assert_int_equal(kernel_wait(number).error, 0);
}

static void an_open_to_write_is_answered_likewise(void **state)
{
	struct fuse_open_in in = {.flags = O_WRONLY};
	uint64_t number;

	asks(OTHER);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", NULL), 0);
	asks(getpid());
	number = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	waits(number);
	while (turns_tick(fs, false)) /* the other turn has had the time */
		;
	assert_int_equal(kernel_wait(number).error, 0);
}

static void a_thread_that_has_ended_is_not_waited_for(void **state)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	asks(child);
	assert_int_equal(told(send_getattr()), 40);
	asks(getpid());
	assert_int_equal(lock(F_WRLCK), 0);
}

static void a_larger_size_is_not_waited_for(void **state)
{
	asks(OTHER);
	size = FULL + 1;
	assert_int_equal(told(send_getattr()), FULL + 1);
	asks(getpid());
	assert_int_equal(lock(F_WRLCK), 0);
}

static void a_request_that_waits_at_the_end_is_answered(void **state)
{
	uint64_t number;

	lock_to_write();
	asks(OTHER);
	number = send_getattr();
	looked_at();
	request_pool_end(fs->requests);
	ops_end_gone(fs);
	assert_int_equal(kernel_wait(number).error, -ECONNABORTED);
}

static void no_request_waits_once_the_mount_ends(void **state)
{
	turns_tick(fs, true);
	asks(OTHER);
	assert_int_equal(told(send_getattr()), 40);
	lock_to_write();
	asks(OTHER + 1);
	assert_int_equal(told(send_getattr()), 40);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_cut, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_smaller_size_waits_for_the_unlock),
		TEST(the_process_on_turn_is_told_at_once),
		TEST(a_lock_to_read_is_no_turn),
		TEST(a_size_that_is_not_smaller_is_told_at_once),
		TEST(a_smaller_size_waits_again),
		TEST(our_own_cut_is_told_at_once),
		TEST(an_open_to_write_is_a_turn_until_the_close),
		TEST(a_write_is_a_turn),
		TEST(a_name_that_is_looked_up_waits_as_well),
		TEST(a_request_that_waits_long_is_told),
		TEST(a_turn_is_over_after_a_while),
		TEST(a_lock_is_granted_when_others_have_handled_a_smaller_size),
		TEST(an_open_to_write_is_answered_likewise),
		TEST(a_thread_that_has_ended_is_not_waited_for),
		TEST(a_larger_size_is_not_waited_for),
		TEST(a_request_that_waits_at_the_end_is_answered),
		TEST(no_request_waits_once_the_mount_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
