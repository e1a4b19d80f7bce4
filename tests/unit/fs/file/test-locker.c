/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/locker.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fs/file/locker.h"
#include "transport/clock.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"

static struct fs *fs;
static struct file one, two; /* open files of the same inode */
static int steps;

static int setup(void **state)
{
	fake_knobs = (struct fake_knobs){.sync = true};
	fs = fs_fixture_new();
	one = two = (struct file){.fs = fs, .inode = inode_table_root(fs->inodes)};
	steps = 0;
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	return 0;
}

static void step(struct request *r)
{
	steps++;
	request_end(r, 0);
}

static void release(struct file *f)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 1};
	struct request *r = request_new_cred(fs, NULL, &cred);

	r->file = f;
	locker_close(r, step);
}

static void an_owner_is_known_until_it_closes(void **state)
{
	pid_t pid = 0;

	assert_false(locker_known(one.inode, 5, &pid));
	assert_true(locker_add(&one, 5, 77));
	assert_true(locker_add(&one, 5, 78)); /* one call is enough */
	assert_true(locker_known(one.inode, 5, &pid));
	assert_int_equal(pid, 77);
	/* through any descriptor */
	assert_true(locker_add(&two, 5, 77));
	assert_true(locker_flush(&two, 5));
	assert_false(locker_known(one.inode, 5, NULL));
	assert_false(locker_flush(&two, 5));
}

/* Nothing is known yet of a lock that is still asked for. */
static void it_is_known_which_are_local(void **state)
{
	assert_true(locker_all_local(one.inode, 1000));
	locker_add(&one, 5, 77);
	assert_false(locker_all_local(one.inode, 1000));
	locker_granted(&one, 5, 1000);
	assert_true(locker_all_local(one.inode, 1000));
	locker_granted(&two, 6, 1000); /* unlocked meanwhile */
	locker_add(&one, 5, 77);
	assert_true(locker_all_local(one.inode, 1000));
	/* the server was told of the lock at the recall */
	assert_false(locker_all_local(one.inode, 2000));
	locker_add(&two, 6, 78);
	locker_granted(&two, 6, 2000);
	assert_false(locker_all_local(one.inode, 2000));
	locker_granted(&one, 5, 0);
	assert_true(locker_flush(&one, 5));
	assert_true(locker_all_local(one.inode, 2000));
}

static void it_is_known_which_ranges_may_be_locked_alone(void **state)
{
	locker_add(&one, 5, 77);
	assert_false(locker_may_weaken(one.inode, 5, 0, UINT64_MAX));
	locker_excludes(&one, 5, 10, 19);
	locker_excludes(&one, 5, 30, 39);
	locker_excludes(&two, 5, 0, UINT64_MAX); /* unlocked meanwhile */
	assert_true(locker_may_weaken(one.inode, 5, 0, 10));
	assert_true(locker_may_weaken(one.inode, 5, 39, UINT64_MAX));
	assert_false(locker_may_weaken(one.inode, 5, 0, 9));
	assert_false(locker_may_weaken(one.inode, 5, 40, UINT64_MAX));
	assert_false(locker_may_weaken(one.inode, 6, 10, 19));
	locker_add(&two, 5, 77); /* through any descriptor */
	locker_excludes(&two, 5, 0, 0);
	assert_true(locker_may_weaken(one.inode, 5, 0, 9));
	assert_true(locker_flush(&one, 5));
	assert_false(locker_may_weaken(one.inode, 5, 0, UINT64_MAX));
}

static void a_release_clears_what_came_through_the_file(void **state)
{
	locker_add(&one, 5, 77);
	locker_add(&one, 6, 77);
	locker_add(&two, 7, 77);
	locker_close_begin(&one);
	release(&one);
	assert_int_equal(steps, 1);
	assert_int_equal(fs->stats.ops[NFS_LOCK], 2);
	assert_false(locker_known(one.inode, 5, NULL));
	assert_true(locker_known(two.inode, 7, NULL));
}

/* The kernel may have used the number again for an open file that lives on. */
static void an_owner_of_another_open_file_keeps_its_locks(void **state)
{
	locker_add(&one, 5, 77);
	locker_add(&two, 5, 78);
	locker_close_begin(&one);
	release(&one);
	assert_int_equal(steps, 1);
	assert_int_equal(fs->stats.ops[NFS_LOCK], 0);
	assert_true(locker_known(two.inode, 5, NULL));
	locker_close_begin(&two);
	release(&two);
	assert_int_equal(fs->stats.ops[NFS_LOCK], 1);
}

static void who_is_refused_meanwhile_is_to_ask_again(void **state)
{
	unsigned ended = 0;

	assert_false(locker_moved(&two, &ended, clock_ns()));
	locker_add(&one, 5, 77);
	/* the owner holds the locks, and goes on */
	assert_false(locker_moved(&two, &ended, clock_ns()));
	locker_close_begin(&one);
	assert_true(locker_moved(&two, &ended, clock_ns())); /* the locks are about to go */
	assert_true(locker_moved(&two, &ended, clock_ns()));
	release(&one);
	assert_true(locker_moved(&two, &ended, clock_ns())); /* the locks have gone since */
	assert_false(locker_moved(&two, &ended, clock_ns()));
	/* a file without locks changes nothing */
	locker_close_begin(&one);
	assert_false(locker_moved(&two, &ended, clock_ns()));
	release(&one);
	assert_false(locker_moved(&two, &ended, clock_ns()));
}

static void a_flush_is_noted_of_what_may_be_released_next(void **state)
{
	struct locker *l;
	unsigned ended = 0;

	locker_add(&one, 5, 77);
	l = LIST_FIRST(&one.inode->locks.owners);
	assert_true(l->flushed == 0);
	locker_flushing(&two); /* a flush of another open file */
	assert_true(l->flushed == 0);
	locker_flushing(&one); /* a flush of another owner */
	assert_true(l->flushed != 0);
	assert_false(locker_moved(&one, &ended, clock_ns())); /* its own flush does not count */
	l->flushed = clock_ns() - NSEC_PER_SEC / 2;	      /* before the request came */
	assert_true(locker_moved(&two, &ended, clock_ns()));
	/* such a lock would be here */
	assert_false(locker_moved(&two, &ended, clock_ns() - NSEC_PER_SEC));
	l->flushed -= NSEC_PER_SEC; /* long ago */
	assert_false(locker_moved(&two, &ended, clock_ns()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_owner_is_known_until_it_closes, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_known_which_are_local, setup, teardown),
		cmocka_unit_test_setup_teardown(
			it_is_known_which_ranges_may_be_locked_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_release_clears_what_came_through_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_owner_of_another_open_file_keeps_its_locks, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_is_refused_meanwhile_is_to_ask_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_flush_is_noted_of_what_may_be_released_next, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
