/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of delegations that go back with a REMOVE or RENAME
 * (nfsproto/v4/mount/nfs4_deleg_along.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/deleg-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/log.h"

static struct nfs_op remove_op(struct fix *f, const struct nfs_fh *fh, uint64_t id)
{
	struct nfs_op op = {.type = NFS_REMOVE,
		.u.remove = {.dir = f->root, .name = {"a", 1}, .deleg = id, .deleg_fh = fh}};

	return op;
}

/* Removes the file. Returns the number of calls. */
static unsigned calls_of_remove(struct fix *f, const struct nfs_fh *fh, uint64_t id)
{
	unsigned calls = fix_count(f, OP_SEQUENCE);
	struct nfs_op op = remove_op(f, fh, id);

	assert_int_equal(fix_run(f, &op), 0);
	assert_false(nfs_deleg_holds(f->nfs, fh, id));
	return fix_count(f, OP_SEQUENCE) - calls;
}

/* --- one call ----------------------------------------------------------------------------------
 */

static void it_costs_no_call(void **state)
{
	static const int flags[] = {O_RDONLY, O_RDWR};
	struct fix *f = *state;
	struct nfs_fh fh;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t id = deleg_given(f, i, flags[i], &fh);

		assert_int_equal(calls_of_remove(f, &fh, id), 1);
		assert_int_equal(fix_count(f, OP_DELEGRETURN), i + 1);
		assert_int_equal(f->srv.delegs.held, 0);
	}
	fix_unmount_clean(f);
}

static void nor_does_that_of_what_is_replaced(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	unsigned calls = fix_count(f, OP_SEQUENCE);
	struct nfs_op op = {.type = NFS_RENAME,
		.u.rename = {.from_dir = f->root,
			.to_dir = f->root,
			.from = {"a", 1},
			.to = {"b", 1},
			.deleg = id,
			.deleg_fh = &fh}};

	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_count(f, OP_SEQUENCE) - calls, 1);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 1);
	assert_int_equal(f->srv.delegs.held, 0);
	fix_unmount_clean(f);
}

/* The delegation is returned once, even if the name takes longer. */
static void what_is_to_come_later_comes_later(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);

	fix_fails(f, OP_DELEGRETURN, NFS4ERR_DELAY, 1);
	assert_int_equal(calls_of_remove(f, &fh, id), 2);
	assert_int_equal(f->srv.delegs.held, 0);
	id = deleg_given(f, 2, O_RDWR, &fh);
	fix_fails(f, OP_REMOVE, NFS4ERR_DELAY, 1);
	assert_int_equal(calls_of_remove(f, &fh, id), 2);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 3);
	assert_int_equal(f->srv.delegs.held, 0);
	fix_unmount_clean(f);
}

/* --- other answers
 * ----------------------------------------------------------------------------- */

static void one_that_is_not_held_is_not_returned(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);

	assert_int_equal(calls_of_remove(f, &fh, id + 1), 1);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 0);
	fix_unmount_clean(f);
}

static void one_that_the_server_has_forgotten_is_gone(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);

	pthread_mutex_lock(&f->srv.lock);
	mean_deleg_forget(&f->srv.delegs);
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(calls_of_remove(f, &fh, id), 2);
	assert_int_equal(fix_count(f, OP_REMOVE), 1);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 1);
	fix_unmount_clean(f);
}

static void one_that_is_revoked_is_freed(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_op op = remove_op(f, &fh, id);

	deleg_revoke(f);
	assert_int_equal(fix_run(f, &op), 0);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	fix_unmount_clean(f);
}

/* The server refuses the DELEGRETURN for no good reason: the name goes all the same. */
static void one_that_fails_goes_by_itself(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_op op = remove_op(f, &fh, id);

	fix_fails(f, OP_DELEGRETURN, NFS4ERR_RESOURCE, 1);
	assert_int_equal(fix_run(f, &op), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	assert_int_equal(f->srv.delegs.held, 0);
	fix_unmount_clean(f);
}

/* The state under the delegation must be told the server first. */
static void one_that_is_used_goes_by_itself(void **state)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 4711};
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_open *o = nfs_deleg_open(f->nfs, &fh, id, O_RDWR, &cred);
	struct nfs_op op = remove_op(f, &fh, id);

	assert_non_null(o);
	assert_int_equal(fix_run(f, &op), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(fix_write(f, o, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* The same with locks through an open that the server knows. */
static void so_does_one_with_locks(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_OPEN, .u.open = {.flags = O_RDWR}}, l = {.type = NFS_LOCK};
	struct nfs_op gone;
	struct nfs_open *o;

	op.u.open.dir = (struct nfs_fh){.len = 5, .data = "F\1"};
	assert_int_equal(fix_run(f, &op), 0);
	o = op.u.open.open;
	l.u.lock.open = o;
	l.u.lock.fh = op.u.open.fh;
	l.u.lock.type = F_WRLCK;
	l.u.lock.end = 9;
	assert_int_equal(fix_run(f, &l), 0);
	assert_true(l.u.lock.local);
	gone = remove_op(f, &op.u.open.fh, op.u.open.deleg);
	assert_int_equal(fix_run(f, &gone), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(fix_count(f, OP_LOCK), 1);
	l.u.lock.type = F_UNLCK;
	assert_int_equal(fix_run(f, &l), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* --- other events meanwhile
 * -------------------------------------------------------------------- */

static void it_is_recalled_meanwhile(void **state)
{
	struct fix *f = *state;
	const struct nfs4_stateid sid = mean_deleg_id(1);
	struct nfs_fh fh;
	struct nfs_op op = remove_op(f, &fh, deleg_given(f, 1, O_RDWR, &fh));
	sem_t sem;

	f->srv.hold_op = OP_REMOVE;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	deleg_recall(f, 1, &fh);
	mean_release(&f->srv);
	sem_wait(&sem);
	assert_int_equal(op.error, 0);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 1);
	/* a recall that comes after the return: the server says that there is nothing to return */
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &sid), NFS4_OK);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	fix_unmount_clean(f);
}

/* Then the client cannot know of the return: the delegation is returned alone, before the REMOVE is
 * done. */
static void the_process_is_killed_meanwhile(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_op op = remove_op(f, &fh, deleg_given(f, 1, O_RDWR, &fh));
	sem_t sem;

	f->srv.hold_op = OP_REMOVE;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	sem_wait(&sem);
	assert_int_equal(op.error, -EINTR);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.delegs.held, 0);
	mean_release(&f->srv);
	fix_unmount_clean(f);
}

/* A delegation on the way back is not reclaimed. */
static void the_server_restarts_meanwhile(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_op op = remove_op(f, &fh, id);

	mean_reboot(&f->srv);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.delegs.reclaims, 0);
	assert_int_equal(f->srv.delegs.held, 0);
	assert_int_equal(fix_count(f, OP_REMOVE), 1);
	fix_unmount_clean(f);
}

static void the_mount_ends_meanwhile(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_op op = remove_op(f, &fh, deleg_given(f, 1, O_RDWR, &fh));
	sem_t sem;

	pthread_mutex_lock(&f->srv.lock);
	f->srv.fail_op = OP_DELEGRETURN;
	f->srv.fail_status = NFS4ERR_DELAY;
	f->srv.fail_times = 2;
	pthread_mutex_unlock(&f->srv.lock);
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	f->nfs = nfs_client_free(f->nfs);
	sem_wait(&sem);
	assert_true(op.error == -ENOTCONN || op.error == 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, deleg_setup_write, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_costs_no_call),
		TEST(nor_does_that_of_what_is_replaced),
		TEST(what_is_to_come_later_comes_later),
		TEST(one_that_is_not_held_is_not_returned),
		TEST(one_that_the_server_has_forgotten_is_gone),
		TEST(one_that_is_revoked_is_freed),
		TEST(one_that_fails_goes_by_itself),
		TEST(one_that_is_used_goes_by_itself),
		TEST(so_does_one_with_locks),
		TEST(it_is_recalled_meanwhile),
		TEST(the_process_is_killed_meanwhile),
		TEST(the_server_restarts_meanwhile),
		TEST(the_mount_ends_meanwhile),
	};

	log_init("test-nfs4_deleg_along", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
