/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_lock_local: locks of files with a write delegation.
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

/* Opens the file; *id: the number of the file's write delegation. */
static struct nfs_open *open_it(struct fix *f, struct nfs_fh *fh, uint64_t *id)
{
	struct nfs_op op = deleg_open_op(1, O_RDWR);

	assert_int_equal(fix_run(f, &op), 0);
	assert_true(op.u.open.deleg_writes);
	*fh = op.u.open.fh;
	*id = op.u.open.deleg;
	return op.u.open.open;
}

/* The same, and a second, local open. Returns the local open. */
static struct nfs_open *open_locally(struct fix *f, struct nfs_fh *fh, uint64_t *id)
{
	struct nfs_open *o = open_it(f, fh, id);

	assert_int_equal(fix_close(f, o), 0);
	o = deleg_open(f, fh, *id, O_RDWR);
	assert_non_null(o);
	return o;
}

static int lock(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner,
	int type, uint64_t start, uint64_t end)
{
	struct nfs_op op = fix_lock_op(o, fh, owner, type, start, end);
	int rc = fix_run(f, &op);

	if (!fix_count(f, OP_LOCK))
		assert_int_equal(op.u.lock.local, rc == 0);
	return rc;
}

/* How many locks the server has granted by reclaim, or otherwise. More may be on their way. */
static unsigned granted(struct fix *f, bool reclaimed)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = reclaimed ? f->srv.locks.reclaims : f->srv.locks.granted - f->srv.locks.reclaims;
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

/* --- while the delegation is held
 * -------------------------------------------------------------- */

static void nobody_is_asked(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_LOCKT};
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *first = open_it(f, &fh, &id), *o;
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 4711};
	uint32_t n;

	o = nfs_deleg_open(f->nfs, &fh, id, O_RDWR, &cred);
	for (unsigned i = 0; i < 10;
		i++) { /* by an open that the server knows, and by a local open */
		assert_int_equal(lock(f, i & 1 ? o : first, &fh, 7, F_WRLCK, 0, 9), 0);
		assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 9, 9), -EAGAIN);
		assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 10, TOP), 0);
		assert_int_equal(lock(f, first, &fh, 7, F_RDLCK, 10, 20), 0);
		assert_int_equal(lock(f, first, &fh, 7, F_WRLCK, 10, 20), -EAGAIN);
		assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		op.u.lockt.open = o;
		op.u.lockt.fh = fh;
		op.u.lockt.owner = 8;
		op.u.lockt.type = F_RDLCK;
		op.u.lockt.start = 5;
		op.u.lockt.end = 30;
		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(op.u.lockt.type, F_WRLCK);
		assert_int_equal(op.u.lockt.start, 0);
		assert_int_equal(op.u.lockt.end, 9);
		assert_true(op.u.lockt.here);
		assert_int_equal(op.u.lockt.holder, 7);
		op.u.lockt.type = F_RDLCK;
		op.u.lockt.start = 15;
		op.u.lockt.end = 15;
		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(op.u.lockt.type, F_UNLCK);
		assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 4, 5), 0);
		assert_int_equal(lock(f, o, &fh, 8, F_WRLCK, 4, 5), 0);
		assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
		assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	}
	assert_int_equal(
		fix_count(f, OP_LOCK) + fix_count(f, OP_LOCKU) + fix_count(f, OP_LOCKT), 0);
	assert_int_equal(fix_count(f, OP_OPEN), 1);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_close(f, first), 0);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void who_waits_is_woken(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);
	struct nfs_op op, gone;
	sem_t sem, gone_sem;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	gone = fix_lock_op(o, &fh, 9, F_WRLCK, 0, 9);
	gone.u.lock.wait = true;
	fix_start(f, &gone, &gone_sem);
	op = fix_lock_op(o, &fh, 8, F_WRLCK, 5, TOP);
	op.u.lock.wait = true;
	fix_start(f, &op, &sem);
	nfs_cancel(&gone);
	sem_wait(&gone_sem);
	assert_int_equal(gone.error, -EINTR);
	assert_int_equal(sem_trywait(&sem), -1);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	sem_wait(&sem);
	assert_int_equal(op.error, 0);
	assert_true(op.u.lock.local);
	assert_int_equal(fix_count(f, OP_LOCK), 0);
	fix_unmount_clean(f); /* with a held lock that the server does not know */
	assert_int_equal(fix_count(f, OP_LOCKU), 0);
}

/* The server may carry out the LOCKU of an older lock after the LOCK that pushes a local one. */
static void none_is_granted_beside_an_unlock_on_its_way(void **state)
{
	struct fix *f = *state;
	struct nfs_op unlock, test = {.type = NFS_LOCKT}, op = deleg_open_op(1, O_RDWR);
	struct nfs_open *first, *o;
	struct fix_op wait;
	struct nfs_fh fh;
	uint64_t id;
	sem_t sem;

	f->srv.delegs.gives = false;
	assert_int_equal(fix_run(f, &op), 0);
	first = op.u.open.open;
	assert_int_equal(fix_lock(f, first, &op.u.open.fh, 7, F_WRLCK, 0, 9), 0);
	f->srv.delegs.gives = true;
	o = open_it(f, &fh, &id);
	f->srv.hold_op = OP_LOCKU;
	unlock = fix_lock_op(first, &fh, 7, F_UNLCK, 0, 9);
	fix_start(f, &unlock, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	test.u.lockt.open = o;
	test.u.lockt.fh = fh;
	test.u.lockt.owner = 8;
	test.u.lockt.type = F_WRLCK;
	test.u.lockt.end = TOP;
	assert_int_equal(fix_run(f, &test), 0);
	assert_int_equal(test.u.lockt.type, F_WRLCK);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 0, 9), -EAGAIN);
	fix_lock_wait(f, &wait, o, &fh, 8, F_WRLCK, 0, 9);
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	mean_release(&f->srv);
	sem_wait(&sem);
	assert_int_equal(unlock.error, 0);
	sem_wait(&wait.sem);
	assert_int_equal(wait.op.error, 0);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_int_equal(atomic_load(&deleg_user.locks_lost), 0);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_close(f, first), 0);
	fix_unmount_clean(f);
}

/* --- when the delegation goes
 * ------------------------------------------------------------------ */

static void all_are_pushed_before_it_goes_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);
	struct nfs_op op;
	sem_t sem;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 20, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 9, F_WRLCK, 15, 15), 0);
	atomic_store(&deleg_user.holds, true);
	deleg_recall(f, 1, &fh);
	deleg_wait(&deleg_user.flushes, 1);
	/* meanwhile: an unlock is local, a lock waits */
	assert_int_equal(lock(f, o, &fh, 9, F_UNLCK, 15, 15), 0);
	op = fix_lock_op(o, &fh, 9, F_WRLCK, 16, 16);
	fix_start(f, &op, &sem);
	assert_int_equal(fix_count(f, OP_LOCK) + fix_count(f, OP_LOCKU), 0);
	nfs_deleg_flushed(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	sem_wait(&sem);
	assert_int_equal(op.error, 0);
	assert_false(op.u.lock.local);
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(fix_locks_held(f), 4);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_true(fix_has_lock(f, 20, 29, false));
	assert_true(fix_has_lock(f, 16, 16, true));
	assert_int_equal(fix_write(f, o, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 2);
	assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 9, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(atomic_load(&deleg_user.locks_lost), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void what_is_refused_is_lost(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	fix_others_hold(f, 5, 5, true);
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	deleg_wait(&deleg_user.locks_lost, 1);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void they_go_with_what_is_revoked(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	deleg_revoke_told(f);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	fix_status_flags(f, 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(atomic_load(&deleg_user.locks_lost), 1);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* --- a server that restarts
 * -------------------------------------------------------------------- */

static void they_stay_while_it_is_reclaimed(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	mean_reboot(&f->srv);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(lock(f, o, &fh, 8, F_WRLCK, 0, 9), -EAGAIN);
	assert_int_equal(fix_count(f, OP_LOCK), 0);
	assert_int_equal(atomic_load(&deleg_user.locks_lost), 0);
	fix_unmount_clean(f);
}

static void they_are_reclaimed_where_it_is_not(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	f->srv.delegs.gives_back = false;
	mean_reboot(&f->srv);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_int_equal(atomic_load(&deleg_user.locks_lost), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* op is answered with DELAY until the server has restarted; n such calls are under way by then. */
static void restart_at(struct fix *f, const struct nfs_fh *fh, uint32_t op, unsigned n)
{
	f->srv.fail_op = op;
	f->srv.fail_status = NFS4ERR_DELAY;
	f->srv.fail_times = 100000;
	deleg_recall(f, 1, fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[op], n));
	mean_reboot(&f->srv);
	pthread_mutex_lock(&f->srv.lock);
	f->srv.fail_times = 0;
	pthread_mutex_unlock(&f->srv.lock);
}

/* All locks were pushed, and the server has forgotten the locks: they are reclaimed like any
 * others. */
static void it_restarts_before_it_has_the_delegation_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;
	struct nfs_open *o = open_locally(f, &fh, &id);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 20, 29), 0);
	restart_at(f, &fh, OP_DELEGRETURN, 1);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_true(fix_has_lock(f, 20, 29, false));
	assert_int_equal(granted(f, true), 2);
	assert_int_equal(atomic_load(&deleg_user.locks_lost), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* Some locks were not pushed: no other client may have such a lock in between. */
static void it_restarts_while_they_are_pushed(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		struct fix *f = *state;
		uint32_t op = i < 2 ? OP_LOCK : OP_OPEN;
		struct nfs_fh fh;
		uint64_t id;
		struct nfs_open *o = open_locally(f, &fh, &id);

		assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
		assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 20, 29), 0);
		f->srv.delegs.gives_back = i % 2 == 0;
		restart_at(f, &fh, op, fix_count(f, op) + 1);
		assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
		if (f->srv.delegs.gives_back)
			assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
		assert_true(fix_has_lock(f, 0, 9, true));
		assert_true(fix_has_lock(f, 20, 29, false));
		assert_int_equal(atomic_load(&deleg_user.locks_lost), 0);
		if (f->srv.delegs.gives_back) /* the other locks are pushed now */
			assert_int_equal(granted(f, false), 2);
		else
			assert_int_equal(granted(f, true), 2);
		assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
		assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
		assert_int_equal(fix_locks_held(f), 0);
		assert_int_equal(fix_close(f, o), 0);
		fix_unmount_clean(f);
		fix_teardown(state);
		deleg_setup_write(state);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, deleg_setup_write, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_is_asked),
		TEST(who_waits_is_woken),
		TEST(none_is_granted_beside_an_unlock_on_its_way),
		TEST(all_are_pushed_before_it_goes_back),
		TEST(what_is_refused_is_lost),
		TEST(they_go_with_what_is_revoked),
		TEST(they_stay_while_it_is_reclaimed),
		TEST(they_are_reclaimed_where_it_is_not),
		TEST(it_restarts_before_it_has_the_delegation_back),
		TEST(it_restarts_while_they_are_pushed),
	};

	log_init("test-nfs4_lock_local", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
