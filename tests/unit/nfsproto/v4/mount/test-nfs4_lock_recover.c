/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_lock_recover: locks that the server has lost, and I/O under
 * such locks.
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

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/clock.h"
#include "transport/log.h"

static void test_reclaim(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_RDLCK, 20, 24), 0);
	mean_reboot(&f->srv);
	fix_others_hold(f, 0, TOP, true); /* no conflict with a reclaim */
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.locks.reclaims, 3);
	fix_others_go(f);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_true(fix_has_lock(f, 20, 29, false));
	assert_int_equal(fix_locks_held(f), 3);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 1);
	fix_unmount_clean(f);
}

/* "Later" is not taken for the answer to a reclaim: later is too late. */
static void test_reclaim_delayed(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	for (unsigned i = 0; i < 2; i++) {
		mean_reboot(&f->srv);
		fix_others_hold(f, 0, TOP, true);
		fix_fails(f, i ? OP_LOCK : OP_OPEN, NFS4ERR_DELAY, 2);
		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		assert_int_equal(f->srv.reopens, 0);
		assert_int_equal(f->srv.locks.reclaims, i + 1);
		assert_true(fix_has_lock(f, 0, 9, true));
		fix_others_go(f);
	}
	fix_unmount_clean(f);
}

/* An append that is carried out, but not answered. */
static int append(
	struct fix *f, struct nfs_open *o, const struct nfs_fh *fh, enum quirk q, bool *ours)
{
	struct mem_buf *buf = mem_buf_get(f->pool, 100);
	struct nfs_op op = {.type = NFS_WRITE};
	int rc;

	op.u.write.open = o;
	op.u.write.fh = *fh;
	op.u.write.from = seg_list_of_buf(buf, 0, 100);
	op.u.write.append = true;
	op.u.write.offset = f->srv.size;
	fix_quirk(f, q);
	rc = fix_run(f, &op);
	*ours = op.u.write.ours;
	mem_buf_unref(buf);
	return rc;
}

/* Nor can another client have appended the same under a lock, if this mount has held the lock. */
static void test_append_under_a_lock(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	bool ours;

	assert_int_equal(append(f, o, &fh, Q_CUT, &ours), -EALREADY);
	assert_false(ours);
	/* not the whole range */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, f->srv.size + 10), 0);
	assert_int_equal(append(f, o, &fh, Q_CUT, &ours), -EALREADY);
	assert_false(ours);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, TOP), 0);
	assert_int_equal(append(f, o, &fh, Q_CUT, &ours), -EALREADY);
	assert_true(ours);
	assert_int_equal(append(f, o, &fh, Q_CUT_REBOOT, &ours), -EALREADY);
	assert_true(ours); /* the lock was reclaimed */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* The server has executed the LOCKU, and another client may have had the lock since. */
static void test_unlocked_before_a_restart(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	fix_quirk(f, Q_CUT_UNLOCK);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(f->srv.locks.reclaims, 1);
	assert_true(fix_has_lock(f, 20, 29, true));
	assert_int_equal(fix_locks_held(f), 1);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void lock_is_lost(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh)
{
	uint32_t n;

	assert_int_equal(fix_read(f, o, fh, 1000, &n), -EIO);
	assert_int_equal(fix_write(f, o, fh, NFS_UNSTABLE), -EIO);
}

/* The server takes no reclaims: another client may have had the lock in between, even if the lock
 * is free. */
static void test_lost(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh), *other = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(fix_lock(f, other, &fh, 8, F_RDLCK, 40, 49), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	fix_others_hold(f, 25, 25, false);
	lock_is_lost(f, o, &fh);
	lock_is_lost(f, other, &fh);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(f->srv.count[OP_READ] + f->srv.count[OP_WRITE], 0);
	assert_int_equal(fix_lock(f, other, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_read(f, other, &fh, 1000, &n), 0);
	lock_is_lost(f, o, &fh);
	/* a new lock does not give back the lost one */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	lock_is_lost(f, o, &fh);
	/* nor does one unlock clear all losses */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	lock_is_lost(f, o, &fh);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, 24), 0);
	lock_is_lost(f, o, &fh);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_locks_held(f), 1);
	fix_unmount_clean(f);
}

/* A process that has lost a lock may have another open file; other processes that only read go
 * on. */
static void test_lost_elsewhere(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh), *other = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(fix_read(f, other, &fh, 1000, &n), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), 0);
	/* the same, and the open file is closed */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), 0);
	fix_unmount_clean(f);
}

/* The server has forgotten a lock state, and only that. */
static void test_disowned(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	fix_forget_locks(f);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(fix_locks_held(f), 1);
	assert_true(fix_has_lock(f, 20, 29, true));
	lock_is_lost(f, o, &fh);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	/* an unlock of a range that is no longer locked succeeds, and the rest is lost */
	fix_forget_locks(f);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 0, 0), 0);
	assert_int_equal(fix_locks_held(f), 1);
	lock_is_lost(f, o, &fh);
	/* and a request with the stateid of a lock notices the loss */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 0, 0), 0);
	fix_forget_locks(f);
	lock_is_lost(f, o, &fh);
	fix_unmount_clean(f);
}

static void test_revoked(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh), *other = fix_open(f, O_RDWR, &fh);

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	f->srv.status_flags = SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	/* with another open file's stateid: the WRITE waits until the lost locks are known */
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(f->srv.count[OP_WRITE], 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_FREE_STATEID], 1));
	fix_status_flags(f, 0);
	lock_is_lost(f, o, &fh);
	fix_unmount_clean(f);
}

/* The open is gone, and so are the open's locks. */
static void test_open_disowned(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	fix_forget_locks(f);
	fix_forget_opens(f);
	lock_is_lost(f, o, &fh);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	/* again, and now the LOCK notices */
	fix_forget_locks(f);
	fix_forget_opens(f);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 20, 29), 0);
	assert_int_equal(fix_locks_held(f), 1);
	lock_is_lost(f, o, &fh);
	fix_unmount_clean(f);
}

static void not_renewed(struct fix *f)
{
	struct nfs4_server *srv = nfs4_client(f->nfs)->srv;

	atomic_store(&srv->renewed_ns, clock_ns() - (srv->lease_s + 1) * NFS4_SEC);
}

/* By our clock the lease is over: I/O under a lock waits until the server has renewed the lease. */
static void test_late(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh), *other = fix_open(f, O_RDWR, &fh);
	struct nfs_op op[2] = {{.type = NFS_SETATTR}, {.type = NFS_SETATTR}};
	unsigned before;
	sem_t sem[2];

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	for (unsigned i = 0; i < 2; i++) {
		op[i].u.setattr.open = i ? other : o;
		op[i].u.setattr.fh = fh;
		op[i].u.setattr.set = (struct nfs_sattr){.mask = NFS_SET_SIZE, .size = 10};
	}
	pthread_mutex_lock(&f->srv.lock);
	before = f->srv.count[OP_SETATTR];
	f->srv.hold_op = OP_SEQUENCE;
	pthread_mutex_unlock(&f->srv.lock);
	not_renewed(f);
	for (unsigned i = 0; i < 2; i++)
		fix_start(f, &op[i], &sem[i]);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1)); /* the request that renews the lease */
	pthread_mutex_lock(&f->srv.lock);
	assert_int_equal(f->srv.nheld, 1);
	assert_int_equal(f->srv.count[OP_SETATTR], before);
	pthread_mutex_unlock(&f->srv.lock);
	mean_release(&f->srv);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(fix_ends_within(&sem[i], 10000));
		assert_int_equal(op[i].error, 0);
	}
	assert_int_equal(f->srv.count[OP_SETATTR], before + 2);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_append_under_a_lock),
		ON_MOUNT(test_unlocked_before_a_restart),
		ON_MOUNT(test_reclaim),
		ON_MOUNT(test_reclaim_delayed),
		ON_MOUNT(test_lost),
		ON_MOUNT(test_lost_elsewhere),
		ON_MOUNT(test_disowned),
		ON_MOUNT(test_revoked),
		ON_MOUNT(test_open_disowned),
		ON_MOUNT(test_late),
	};

	log_init("test-nfs4_lock_recover", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
