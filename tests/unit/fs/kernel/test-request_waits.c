/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/request_waits: killed processes, and waits that are too long.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/request.h"
#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/fake-kernel.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"
#include "transport/clock.h"

static struct fs *fs;
static struct nfs_fh root;
static atomic_int ended, error;

static int setup(void **state)
{
	fake_knobs = (struct fake_knobs){0};
	fs = fs_fixture_new();
	root = inode_table_root(fs->inodes)->fh;
	ended = error = 0;
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	return 0;
}

static void end(struct request *r)
{
	error = r->batch.first.op.error;
	request_end(r, 0);
	ended = 1;
}

static void an_old_request_waits_for_the_end(void **state)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 1};
	struct request *r = request_new_cred(fs, NULL, &cred);

	fake_knobs.hang[NFS_GETATTR] = true;
	request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = root;
	request_submit(r, end);
	/* no process waits for the request: it is left alone, however old */
	r->born = 0;
	request_check_killed(fs->requests);
	assert_int_equal(ended, 0);
	/* the end of the mount ends the request */
	fs->client = nfs_client_free(fs->client);
	assert_int_equal(ended, 1);
	assert_int_equal(error, -ENOTCONN);
}

/* The kernel may send no INTERRUPT: the daemon finds the kill. Requests of living processes go
 * on. */
static void what_a_killed_process_waits_for_is_given_up(void **state)
{
	uint64_t node, fh, of_killed, of_living;

	fs = fs_fixture_free(fs);
	fs = kernel_mount();
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	fake_knobs.hang[NFS_READ] = true;
	kernel_tid = getpid();
	of_living = kernel_send_read(node, fh, 0, 100);
	kernel_tid = kernel_killed_process();
	of_killed = kernel_send_read(node, fh, 0, 100);
	for (int i = 0; i < 60000 && !kernel_answered(of_killed); i++) {
		request_check_killed(fs->requests);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	assert_int_equal(kernel_wait(of_killed).error, -EINTR);
	assert_true(request_check_killed(fs->requests)); /* the process may have more requests */
	assert_false(kernel_answered(of_living));
	waitpid(kernel_tid, NULL, 0);
	fake_release(fs->client);
	assert_int_equal(kernel_wait(of_living).error, 0);
	kernel_unmount();
	fs = fs_fixture_new();
}

/* Looks at the requests, as the main thread does, until the request with this number is
 * answered. */
static int looked_after(uint64_t number)
{
	for (int i = 0; i < 60000 && !kernel_answered(number); i++) {
		request_check_killed(fs->requests);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return kernel_wait(number).error;
}

/* The kernel would end the mount for a request that takes too long. */
static void what_is_late_is_answered(void **state)
{
	uint64_t node, fh, late;

	fs = fs_fixture_free(fs);
	fs = kernel_mount();
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	fake_knobs.hang[NFS_READ] = true;
	kernel_tid = getpid();
	late = kernel_send_read(node, fh, 0, 100);
	for (int i = 0; i < 100; i++) /* without a bound the request waits */
		request_check_killed(fs->requests);
	assert_false(kernel_answered(late));
	request_pool_limit(fs->requests, 1);
	assert_int_equal(looked_after(late), -ETIMEDOUT);
	assert_false(request_check_killed(fs->requests)); /* no process was killed */
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(kernel_send_read(node, fh, 0, 100)).error, 0);
	kernel_unmount();
	fs = fs_fixture_new();
}

/* A RELEASE goes on, but the kernel must not wait: the kernel's limit counts for a RELEASE as for
 * any request. */
static void what_goes_on_is_answered(void **state)
{
	struct fuse_release_in in = {0};
	uint64_t node, late;

	fs = fs_fixture_free(fs);
	fs = kernel_mount();
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &in.fh), 0);
	fake_knobs.hang[NFS_CLOSE] = true;
	late = kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	for (int i = 0; i < 100; i++)
		request_check_killed(fs->requests);
	assert_false(kernel_answered(late));
	request_pool_limit(fs->requests, 1);
	assert_int_equal(looked_after(late), -ETIMEDOUT);
	assert_int_equal(stats_get(&fs->stats.ops[NFS_CLOSE]), 0);
	fake_release(fs->client);
	while (!stats_get(&fs->stats.ops[NFS_CLOSE]))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	kernel_unmount();
	fs = fs_fixture_new();
}

static int statfs_now(void)
{
	return kernel_ask(FUSE_STATFS, KERNEL_ROOT, NULL, 0, NULL, 0, NULL, 0);
}

/* A request that a worker reads after a long wait may have waited as long in the kernel. */
static void what_comes_behind_a_long_wait_is_late(void **state)
{
	uint64_t late;

	fs = fs_fixture_free(fs);
	fs = kernel_mount();
	assert_false(request_pool_overdue(fs->requests, 0));
	request_pool_limit(fs->requests, 3600 * NSEC_PER_SEC);
	assert_false(request_pool_overdue(fs->requests, clock_ns()));
	assert_int_equal(statfs_now(), 0);
	fake_knobs.hang[NFS_STATFS] = true;
	do { /* once, unless this thread sleeps in between */
		fake_release(fs->client);
		request_pool_limit(fs->requests, 1);
		assert_true(request_pool_overdue(fs->requests, clock_ns() - 1));
		request_pool_limit(fs->requests, 3600 * NSEC_PER_SEC);
		late = kernel_send(FUSE_STATFS, KERNEL_ROOT, NULL, 0, NULL, 0);
		for (int i = 0; i < 2000 && !kernel_answered(late); i++)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	} while (!kernel_answered(late));
	assert_int_equal(kernel_wait(late).error, -ETIMEDOUT);
	fake_knobs.hang[NFS_STATFS] = false;
	while (request_pool_overdue(fs->requests, clock_ns()))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(statfs_now(), 0);
	kernel_unmount();
	fs = fs_fixture_new();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_old_request_waits_for_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_a_killed_process_waits_for_is_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_late_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(what_goes_on_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_comes_behind_a_long_wait_is_late, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
