/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/request: the steps of a request, and requests of the daemon.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/request.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"

static struct fs *fs;
static struct nfs_fh root;
static atomic_int ended, error, steps;

static int setup(void **state)
{
	fake_knobs = (struct fake_knobs){0};
	fs = fs_fixture_new();
	root = inode_table_root(fs->inodes)->fh;
	ended = error = steps = 0;
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	return 0;
}

static struct request *own_request(void)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 1};

	return request_new_cred(fs, NULL, &cred);
}

static void wait_ended(void)
{
	for (int i = 0; i < 60000 && !ended; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(ended, 1);
}

static void end(struct request *r)
{
	struct part *p;

	STAILQ_FOREACH (p, &r->batch.parts, next)
		if (p->op.error)
			error = p->op.error;
	request_end(r, 0);
	ended = 1;
}

static void all_parts_end_before_the_step(void **state)
{
	for (int sync = 0; sync < 2; sync++) {
		struct request *r = own_request();

		fake_knobs.sync = sync;
		ended = 0;
		request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = root;
		assert_true(batch_reserve(&r->batch, 10));
		for (int i = 0; i < 10; i++)
			part_op(batch_part(&r->batch), NFS_GETATTR, getattr)->u.getattr.fh = root;
		request_submit(r, end);
		wait_ended();
	}
	assert_int_equal(stats_get(&fs->stats.ops[NFS_GETATTR]), 22);
	assert_int_equal(error, 0);
}

static void next_step(struct request *r)
{
	if (++steps == 100) {
		end(r);
		return;
	}
	request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = root;
	request_submit(r, next_step);
}

static void steps_follow_each_other(void **state)
{
	struct request *r = own_request();

	request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = root;
	request_submit(r, next_step);
	wait_ended();
	assert_int_equal(stats_get(&fs->stats.ops[NFS_GETATTR]), 100);
}

static void long_names_are_refused(void **state)
{
	char name[NFS_NAME_MAX + 2], dst[REQUEST_NAME_MAX];
	struct nfs_name n;

	memset(name, 'a', sizeof(name));
	name[NFS_NAME_MAX + 1] = 0;
	assert_false(request_set_name(dst, &n, name));
	name[NFS_NAME_MAX] = 0;
	assert_true(request_set_name(dst, &n, name));
	assert_int_equal(n.len, NFS_NAME_MAX);
	assert_ptr_equal(n.s, dst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_parts_end_before_the_step, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_follow_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(long_names_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
