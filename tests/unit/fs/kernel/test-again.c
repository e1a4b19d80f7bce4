/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/again: waits for a lock that are put off, and begin anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/again.h"
#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"
#include "transport/clock.h"

#define ME  7u /* lock owners */
#define YOU 8u
#define PID 4242u

static uint64_t node, fh;
static _Atomic uint64_t holder; /* of the lock; 0: no owner */

/* A LOCK that waits hangs until fake_release(), and has been interrupted then. */
static bool lock_server(struct nfs_op *op)
{
	if (op->type != NFS_LOCK)
		return false;
	op->error = holder && holder != op->u.lock.owner ? -EINTR : 0;
	if (!op->error)
		holder = op->u.lock.type == F_UNLCK ? 0 : op->u.lock.owner;
	return true;
}

static int setup(void **state)
{
	setup_mount(state);
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	fake_knobs.script = lock_server;
	fake_knobs.hang[NFS_LOCK] = true;
	holder = YOU;
	kernel_tid = getpid();
	return 0;
}

static int end(void **state)
{
	kernel_tid = 0;
	return teardown(state);
}

/* The worker has looked at all earlier requests. */
static void looked_at(void)
{
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
}

static uint64_t wait_for_lock(uint64_t owner)
{
	struct fuse_lk_in in = {.fh = fh,
		.owner = owner,
		.lk = {.start = 3, .end = INT64_MAX, .type = F_WRLCK, .pid = PID}};
	uint64_t number = kernel_send(FUSE_SETLKW, node, &in, sizeof(in), NULL, 0);

	looked_at();
	return number;
}

static void put_off(void)
{
	request_pool_put_off(fs->requests);
	fake_release(fs->client);
	while (!request_pool_is_idle(fs->requests))
		sched_yield();
}

static void unlock_by_another(void)
{
	holder = 0;
	fake_knobs.hang[NFS_LOCK] = false;
	fake_release(fs->client);
}

static size_t put(struct fs *of, uint8_t *buf, size_t size)
{
	struct xdr_out x;

	xdr_out_init(&x, buf, size);
	again_put_record(of, &x);
	assert_true(xdr_out_ok(&x));
	return x.len;
}

static void a_wait_begins_anew(void **state)
{
	uint64_t number = wait_for_lock(ME);

	put_off();
	assert_false(kernel_answered(number));
	again_begin(fs);
	assert_false(request_pool_is_idle(fs->requests));
	assert_false(kernel_answered(number));
	unlock_by_another();
	assert_int_equal(kernel_wait(number).error, 0);
	assert_int_equal(holder, ME);
}

/* The daemon uses the memory of a request for later ones. */
static void a_wait_is_put_off_again_and_again(void **state)
{
	uint64_t number = wait_for_lock(ME);
	unsigned before = fake_interrupts;

	for (unsigned i = 0; i < 5; i++) {
		put_off();
		assert_int_equal(fake_interrupts, before + i + 1);
		assert_false(kernel_answered(number));
		again_begin(fs);
		looked_at();
		assert_false(request_pool_is_idle(fs->requests));
	}
	unlock_by_another();
	assert_int_equal(kernel_wait(number).error, 0);
}

static void a_lock_that_is_granted_meanwhile_is_had(void **state)
{
	uint64_t number = wait_for_lock(ME);
	uint8_t buf[1000];

	holder = 0;
	put_off();
	assert_int_equal(kernel_wait(number).error, 0);
	assert_int_equal(holder, ME);
	assert_int_equal(put(fs, buf, sizeof(buf)), 4); /* no request is kept */
}

static void a_signal_still_ends_a_wait(void **state)
{
	uint64_t number = wait_for_lock(ME);

	kernel_interrupt(number);
	looked_at();
	put_off();
	assert_int_equal(kernel_wait(number).error, -EINTR);
}

/* Later requests use the memory of the request that was put off. */
static void a_later_wait_can_be_killed(void **state)
{
	uint64_t number = wait_for_lock(ME);

	put_off();
	again_begin(fs);
	looked_at();
	kernel_interrupt(number);
	looked_at();
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	kernel_tid = kernel_killed_process();
	number = wait_for_lock(ME);
	kernel_interrupt(number);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	waitpid(kernel_tid, NULL, 0);
}

/* The time counts for the kernel's patience. */
static uint64_t born_of(const uint8_t *record, uint64_t number)
{
	struct again_lock lock;
	struct xdr_in x;

	xdr_in_init(&x, record, 4 + sizeof(lock) + 8 + 4);
	assert_int_equal(xdr_get_u32(&x), 1);
	xdr_get_fixed(&x, &lock, sizeof(lock));
	assert_int_equal(lock.h.unique, number);
	assert_int_equal(lock.h.nodeid, node);
	assert_int_equal(lock.in.fh, fh);
	assert_int_equal(lock.in.lk.start, 3);
	return xdr_get_u64(&x);
}

static void a_wait_is_as_old_as_the_request(void **state)
{
	uint64_t before = clock_ns(), number = wait_for_lock(ME), after = clock_ns(), born;
	uint8_t buf[1000];

	put_off();
	put(fs, buf, sizeof(buf));
	born = born_of(buf, number);
	assert_true(born >= before && born <= after);
	again_begin(fs);
	looked_at();
	put_off();
	put(fs, buf, sizeof(buf));
	assert_int_equal(born_of(buf, number), born);
	again_begin(fs);
	unlock_by_another();
	assert_int_equal(kernel_wait(number).error, 0);
}

static bool get(struct fs *into, const uint8_t *buf, size_t len)
{
	struct xdr_in x;

	xdr_in_init(&x, buf, len);
	return again_get_record(into, &x) && xdr_in_done(&x);
}

static void a_successor_has_the_waits(void **state)
{
	uint64_t number[] = {wait_for_lock(ME), wait_for_lock(ME + 10)};
	uint8_t buf[1000], other[1000];
	struct fs *heir = fs_fixture_new();
	size_t len;

	put_off();
	len = put(fs, buf, sizeof(buf));
	assert_true(get(heir, buf, len));
	assert_int_equal(put(heir, other, sizeof(other)), len);
	assert_memory_equal(buf, other, len);
	fs_fixture_free(heir);
	again_begin(fs);
	unlock_by_another();
	assert_int_equal(kernel_wait(number[0]).error, 0);
	kernel_wait(number[1]);
}

static void a_record_without_a_wait_is_refused(void **state)
{
	struct fs *heir = fs_fixture_new();
	uint64_t number = wait_for_lock(ME);
	_Alignas(8) uint8_t bytes[1004];
	uint8_t buf[1000], *bad = bytes + 4; /* the lock is behind a count */
	struct again_lock *lock = (struct again_lock *)(bytes + 8);
	size_t len;

	put_off();
	len = put(fs, buf, sizeof(buf));
	for (size_t n = 0; n < len; n += 4)
		assert_false(get(heir, buf, n));
	memcpy(bad, buf, len);
	lock->in.lk.type = F_UNLCK;
	assert_false(get(heir, bad, len));
	memcpy(bad, buf, len);
	lock->h.opcode = FUSE_SETLK;
	assert_false(get(heir, bad, len));
	memcpy(bad, buf, len);
	lock->h.unique = 0;
	assert_false(get(heir, bad, len));
	fs_fixture_free(heir);
	again_begin(fs);
	unlock_by_another();
	assert_int_equal(kernel_wait(number).error, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)
	const struct CMUnitTest tests[] = {
		TEST(a_wait_begins_anew),
		TEST(a_wait_is_put_off_again_and_again),
		TEST(a_lock_that_is_granted_meanwhile_is_had),
		TEST(a_signal_still_ends_a_wait),
		TEST(a_later_wait_can_be_killed),
		TEST(a_wait_is_as_old_as_the_request),
		TEST(a_successor_has_the_waits),
		TEST(a_record_without_a_wait_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
