/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_lock: locks as the kernel asks for them, of a server that knows one.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/fake-kernel.h"
#include "tests/unit/fs/fs-fixture.h"

#define ME   7u /* lock owners */
#define YOU  8u
#define PID  4242u
#define LAST (uint64_t) INT64_MAX

static struct fs *fs;
static uint64_t node, fh, other;
static _Atomic uint64_t holder; /* of the lock; 0: no owner */
static atomic_int unlocks, refused;
static atomic_int writes, writes_before; /* WRITEs so far, and before the last LOCK */

static bool lock_server(struct nfs_op *op)
{
	op->error = 0;
	if (op->type == NFS_LOCKT) {
		bool free = !holder || holder == op->u.lockt.owner;

		op->u.lockt.type = free ? F_UNLCK : F_WRLCK;
		op->u.lockt.start = 5;
		op->u.lockt.end = 9;
		op->u.lockt.here = true;
		op->u.lockt.holder = holder;
		return true;
	}
	writes += op->type == NFS_WRITE;
	if (op->type != NFS_LOCK)
		return false;
	writes_before = writes;
	if (op->u.lock.type == F_UNLCK) {
		unlocks++;
		if (holder == op->u.lock.owner)
			holder = 0;
	} else if (holder && holder != op->u.lock.owner) {
		op->error = -EAGAIN;
		if (++refused == 3)
			fake_release(fs->client);
	} else {
		holder = op->u.lock.owner;
	}
	return true;
}

static int setup(void **state)
{
	fs = kernel_mount();
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	fake_knobs.script = lock_server;
	holder = 0;
	unlocks = refused = 0;
	writes = writes_before = 0;
	return 0;
}

static int setup_gather(void **state)
{
	fs_fixture_gather = true;
	return setup(state);
}

static int teardown(void **state)
{
	kernel_unmount();
	fs_fixture_gather = false;
	return 0;
}

static uint64_t count(enum nfs_op_type t)
{
	return stats_get(&fs->stats.ops[t]);
}

static uint64_t send_lock(uint32_t opcode, uint64_t to, uint64_t owner, uint32_t type)
{
	struct fuse_lk_in in = {
		.fh = to, .owner = owner, .lk = {.end = LAST, .type = type, .pid = PID}};

	return kernel_send(opcode, node, &in, sizeof(in), NULL, 0);
}

static int lock(uint64_t to, uint64_t owner, uint32_t type)
{
	return kernel_wait(send_lock(FUSE_SETLK, to, owner, type)).error;
}

static int flock_it(uint64_t to, uint32_t type)
{
	struct fuse_lk_in in = {.fh = to,
		.owner = ME,
		.lk = {.end = LAST, .type = type},
		.lk_flags = FUSE_LK_FLOCK};

	return kernel_ask(FUSE_SETLK, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

/* --- setting ---------------------------------------------------------------------------------- */

static void the_kernel_drops_pages_before_a_lock_is_granted(void **state)
{
	unsigned before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);

	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
	assert_int_equal(holder, ME);
}

/* A notification makes the kernel ignore the answer to the question of another holder. */
static void a_lock_waits_for_attributes_from_a_slow_server(void **state)
{
	struct fuse_getattr_in in = {0};
	uint64_t asks, locks;

	fake_knobs.hang[NFS_GETATTR] = true;
	asks = kernel_send(FUSE_GETATTR, node, &in, sizeof(in), NULL, 0);
	locks = send_lock(FUSE_SETLK, fh, ME, F_WRLCK);
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	assert_false(kernel_answered(locks));
	fake_knobs.hang[NFS_GETATTR] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(asks).error, 0);
	assert_int_equal(kernel_wait(locks).error, 0);
}

static void a_lock_that_another_holds_is_refused(void **state)
{
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(lock(other, YOU, F_WRLCK), -EAGAIN);
	assert_int_equal(refused, 1);
	assert_int_equal(lock(fh, ME, F_UNLCK), 0);
	assert_int_equal(lock(other, YOU, F_WRLCK), 0);
}

static void who_holds_nothing_need_not_unlock(void **state)
{
	assert_int_equal(lock(fh, ME, F_UNLCK), 0);
	assert_int_equal(unlocks, 0);
}

static void what_was_written_is_committed_before_an_unlock(void **state)
{
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(kernel_write(node, fh, 1, "data", 4, O_RDWR), 4);
	assert_int_equal(lock(fh, ME, F_UNLCK), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	/* the lock is released even if the COMMIT fails, and fsync tells */
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	fake_knobs.verf++;
	assert_int_equal(lock(fh, ME, F_UNLCK), 0);
	assert_int_equal(holder, 0);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
}

static void writes_under_a_lock_are_gathered_until_it_ends(void **state)
{
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(kernel_write(node, fh, 4 * i, "data", 4, O_RDWR), 4);
	assert_int_equal(writes, 0);
	assert_int_equal(lock(fh, ME, F_UNLCK), 0);
	assert_int_equal(writes_before, 1);
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(holder, 0);
}

/* Readers of other clients may come, and see the data, before the lock ends. */
static void what_was_written_is_committed_before_a_lock_is_weakened(void **state)
{
	assert_int_equal(lock(fh, ME, F_RDLCK), 0);
	assert_int_equal(kernel_write(node, fh, 1, "data", 4, O_RDWR), 4);
	assert_int_equal(lock(fh, ME, F_RDLCK), 0);
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(lock(fh, ME, F_RDLCK), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
}

/* Other readers may come under a lock that becomes a read lock. */
static void a_lock_is_asked_for_when_the_server_has_what_was_written(void **state)
{
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	assert_int_equal(writes, 0);
	assert_int_equal(lock(fh, ME, F_RDLCK), 0);
	assert_int_equal(writes_before, 1);
}

/* A writer that may have lost its lock must hear the error from the write. */
static void writes_under_a_lock_in_doubt_wait_for_the_server(void **state)
{
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	fake_knobs.doubtful = true;
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	assert_int_equal(writes, 1);
	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_WRITE] = -EIO;
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), -EIO);
}

static void a_loss_under_a_lock_is_told_by_fsync(void **state)
{
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	fake_knobs.fail[NFS_WRITE] = -EIO;
	assert_int_equal(lock(fh, ME, F_UNLCK), 0);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	assert_int_equal(kernel_fsync(node, fh), 0);
}

/* A signal to a living process. */
static void any_signal_ends_a_wait_for_a_lock(void **state)
{
	uint64_t number;

	kernel_tid = getpid();
	fake_knobs.hang[NFS_LOCK] = true;
	number = send_lock(FUSE_SETLKW, fh, ME, F_WRLCK);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(number));
	kernel_interrupt(number);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	request_check_killed(fs->requests);
	assert_false(kernel_answered(number)); /* the server may be granting the lock */
	while (!kernel_answered(number)) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		request_check_killed(fs->requests);
	}
	assert_int_equal(kernel_wait(number).error, -EINTR);
	assert_int_equal(stats_get(&fs->stats.interrupts), 1);
	/* a killed process does not wait for the server */
	kernel_tid = kernel_killed_process();
	number = send_lock(FUSE_SETLKW, fh, ME, F_WRLCK);
	kernel_interrupt(number);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	waitpid(kernel_tid, NULL, 0);
	kernel_tid = getpid();
	/* but not a request that does not wait for a lock */
	number = send_lock(FUSE_SETLK, fh, ME, F_WRLCK);
	kernel_interrupt(number);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(number));
	fake_knobs.hang[NFS_LOCK] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
}

/* --- clearing --------------------------------------------------------------------------------- */

static void a_close_of_the_process_clears_its_locks(void **state)
{
	struct fuse_flush_in in = {.fh = fh, .lock_owner = ME};

	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	assert_int_equal(kernel_ask(FUSE_FLUSH, node, &in, sizeof(in), NULL, 0, NULL, 0), 0);
	assert_int_equal(holder, 0);
	assert_int_equal(unlocks, 1);
	assert_int_equal(kernel_ask(FUSE_FLUSH, node, &in, sizeof(in), NULL, 0, NULL, 0), 0);
	assert_int_equal(unlocks, 1);
}

static void a_release_clears_what_came_through_the_open_file(void **state)
{
	assert_int_equal(flock_it(fh, F_WRLCK), 0);
	assert_int_equal(flock_it(other, F_WRLCK), -EAGAIN);
	assert_int_equal(kernel_release(node, other), 0);
	assert_int_not_equal(holder, 0);
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(holder, 0);
	assert_int_equal(kernel_open(node, O_RDWR, &fh), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
}

/* The kernel does not wait for RELEASE: a request just after a close must not be refused. */
static void a_lock_is_asked_for_again_while_a_release_clears(void **state)
{
	struct fuse_release_in in = {.fh = fh};
	uint64_t released;

	assert_int_equal(flock_it(fh, F_WRLCK), 0);
	/* in order: the unlock in the background comes before the next try */
	fake_knobs.sync = false;
	fake_knobs.hang[NFS_LOCK] = true;
	released = kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	fake_knobs.hang[NFS_LOCK] = false;
	assert_int_equal(flock_it(other, F_WRLCK), 0);
	assert_true(refused >= 3);
	assert_int_equal(kernel_wait(released).error, 0);
}

/* --- asking ----------------------------------------------------------------------------------- */

static struct fuse_file_lock ask(uint64_t to, uint64_t owner)
{
	struct answer a = kernel_wait(send_lock(FUSE_GETLK, to, owner, F_WRLCK));
	struct fuse_lk_out out;

	assert_int_equal(a.error, 0);
	memcpy(&out, a.data, sizeof(out));
	return out.lk;
}

static void who_asks_is_told_who_holds_a_lock(void **state)
{
	struct fuse_file_lock lk = ask(fh, ME);

	assert_int_equal(lk.type, F_UNLCK);
	assert_int_equal(lock(fh, ME, F_WRLCK), 0);
	lk = ask(other, YOU);
	assert_int_equal(lk.type, F_WRLCK);
	assert_int_equal(lk.start, 5);
	assert_int_equal(lk.end, 9);
	assert_int_equal(lk.pid, PID);
	holder = 99; /* an owner unknown to this mount */
	lk = ask(other, YOU);
	assert_int_equal(lk.type, F_WRLCK);
	assert_int_equal(lk.pid, 0);
	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_LOCKT] = -EIO;
	assert_int_equal(kernel_wait(send_lock(FUSE_GETLK, fh, ME, F_WRLCK)).error, -EIO);
}

#define TEST(f)	  cmocka_unit_test_setup_teardown(f, setup, teardown)
#define GATHER(f) cmocka_unit_test_setup_teardown(f, setup_gather, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_kernel_drops_pages_before_a_lock_is_granted),
		TEST(a_lock_waits_for_attributes_from_a_slow_server),
		TEST(a_lock_that_another_holds_is_refused),
		TEST(who_holds_nothing_need_not_unlock),
		TEST(what_was_written_is_committed_before_an_unlock),
		TEST(what_was_written_is_committed_before_a_lock_is_weakened),
		GATHER(writes_under_a_lock_are_gathered_until_it_ends),
		GATHER(a_lock_is_asked_for_when_the_server_has_what_was_written),
		GATHER(writes_under_a_lock_in_doubt_wait_for_the_server),
		GATHER(a_loss_under_a_lock_is_told_by_fsync),
		TEST(any_signal_ends_a_wait_for_a_lock),
		TEST(a_close_of_the_process_clears_its_locks),
		TEST(a_release_clears_what_came_through_the_open_file),
		TEST(a_lock_is_asked_for_again_while_a_release_clears),
		TEST(who_asks_is_told_who_holds_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
