/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_lock and nfs4_lock_wait, with a server.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/log.h"

static void test_owners(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(f->srv.count[OP_LOCKU], 0); /* no lock was held */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 20, TOP), 0);
	assert_int_equal(f->srv.locks.new_owners, 1); /* the second LOCK uses the lock stateid */
	assert_int_equal(fix_lock(f, o, &fh, 8, F_RDLCK, 5, 5), -EAGAIN);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_RDLCK, 10, TOP), 0);
	assert_int_equal(f->srv.locks.new_owners, 2);
	assert_int_equal(fix_locks_held(f), 3);
	assert_true(fix_has_lock(f, 10, TOP, false));
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 4, 5), 0);
	assert_true(fix_has_lock(f, 6, 9, true));
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(f->srv.locks.new_owners, 2); /* the lock-owner was kept for this */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

static void test_lockt(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct nfs_op op = {.type = NFS_LOCKT};

	op.u.lockt.open = o;
	op.u.lockt.fh = fh;
	op.u.lockt.owner = 7;
	op.u.lockt.type = F_WRLCK;
	op.u.lockt.end = TOP;
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 100, 109), 0);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.lockt.type, F_UNLCK); /* the owner's lock */
	op.u.lockt.owner = 8;
	op.u.lockt.type = F_RDLCK;
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.lockt.type, F_WRLCK);
	assert_true(op.u.lockt.start == 100 && op.u.lockt.end == 109);
	assert_true(op.u.lockt.here && op.u.lockt.holder == 7);
	op.u.lockt.owner = 7;
	op.u.lockt.start = 0;
	op.u.lockt.end = TOP;
	fix_others_hold(f, 50, TOP, false);
	op.u.lockt.type = F_WRLCK;
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.lockt.type, F_RDLCK);
	assert_int_equal(op.u.lockt.start, 50);
	assert_int_equal(op.u.lockt.end, TOP);
	assert_false(op.u.lockt.here);
	fix_unmount_clean(f); /* with a lock and an open */
	assert_int_equal(f->srv.count[OP_LOCKU], 1);
}

static void test_modes(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *r = fix_open(f, O_RDONLY, &fh), *w = fix_open(f, O_WRONLY, &fh);
	unsigned reopens = f->srv.reopens;

	assert_int_equal(fix_lock(f, r, &fh, 7, F_WRLCK, 0, 9), -EBADF);
	assert_int_equal(fix_lock(f, w, &fh, 7, F_RDLCK, 0, 9), -EBADF);
	assert_int_equal(f->srv.count[OP_LOCK], 0);
	assert_int_equal(fix_lock(f, r, &fh, 7, F_RDLCK, 0, 9), 0);
	/* the same owner through the other open: one lock-owner, and the open of that lock-owner
	 * gets more access */
	assert_int_equal(fix_lock(f, w, &fh, 7, F_WRLCK, 5, 9), 0);
	assert_int_equal(f->srv.reopens, reopens + 1);
	assert_int_equal(f->srv.locks.new_owners, 1);
	assert_int_equal(fix_lock(f, w, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(f->srv.reopens, reopens + 1);
	/* refused: the lock fails, and all else stays */
	assert_int_equal(fix_lock(f, w, &fh, 8, F_WRLCK, 40, 49), 0);
	fix_fails(f, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(fix_lock(f, r, &fh, 8, F_RDLCK, 60, 69), -EACCES);
	assert_true(fix_has_lock(f, 40, 49, true));
	assert_int_equal(fix_close(f, r), 0); /* not yet: locks go through this open */
	assert_int_equal(f->srv.nopens, 2);
	assert_int_equal(fix_lock(f, w, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(fix_lock(f, w, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

static void test_wait(void **state)
{
	struct fix *f = *state;
	struct nfs4_opaque owner = {.len = 8};
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w;

	fix_others_hold(f, 0, 9, true);
	fix_lock_wait(f, &w, o, &fh, 7, F_WRLCK, 0, 0);
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 2)); /* the client asks again */
	assert_int_equal(f->srv.locks.last_type, WRITEW_LT);
	assert_false(fix_ends_within(&w.sem, 0));
	fix_others_go(f);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	/* a callback wakes the waiting request; callbacks for other locks do nothing */
	fix_others_hold(f, 0, 9, true);
	fix_lock_wait(f, &w, o, &fh, 7, F_RDLCK, 0, 0);
	/* now the request pauses for 2 s */
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 7));
	owner.data = (const uint8_t *)"somebody";
	assert_int_equal(mean_notify_lock(&f->srv, 1, &fh, &owner), NFS4_OK);
	owner.data = f->srv.locks.last_owner;
	assert_int_equal(mean_notify_lock(&f->srv, 2, &f->root, &owner), NFS4_OK);
	fix_others_go(f);
	assert_int_equal(mean_notify_lock(&f->srv, 3, &fh, &owner), NFS4_OK);
	assert_true(fix_ends_within(&w.sem, 1500));
	assert_int_equal(w.op.error, 0);
	fix_unmount_clean(f);
}

/* Waiting requests of this mount get their turn in the order of their arrival. */
static void test_order(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w[4];

	assert_int_equal(fix_lock(f, o, &fh, 1, F_WRLCK, 0, 9), 0);
	for (unsigned i = 0; i < 4; i++)
		fix_lock_wait(f, &w[i], o, &fh, 10 + i, i < 2 ? F_WRLCK : F_RDLCK, 0, 9);
	assert_int_equal(fix_lock(f, o, &fh, 1, F_UNLCK, 0, 9), 0);
	assert_true(fix_ends_within(&w[0].sem, 60000));
	assert_false(fix_ends_within(&w[1].sem, 50));
	nfs_cancel(&w[1].op);
	assert_true(fix_ends_within(&w[1].sem, 60000));
	assert_int_equal(w[1].op.error, -EINTR);
	assert_int_equal(fix_lock(f, o, &fh, 10, F_UNLCK, 0, 9), 0);
	assert_true(fix_ends_within(&w[2].sem, 60000)); /* both readers */
	assert_true(fix_ends_within(&w[3].sem, 60000));
	assert_int_equal(fix_locks_held(f), 2);
	fix_unmount_clean(f);
}

/* -EINTR, and then another client asks for the range. No earlier LOCK may be granted in between. */
static void test_interrupted(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w;

	fix_others_hold(f, 0, 9, true);
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w, o, &fh, 7, F_WRLCK, 0, 9);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_interrupt(&w.op);
	assert_false(fix_ends_within(&w.sem, 200)); /* the LOCK is at the server */
	mean_release(&f->srv);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	assert_int_equal(f->srv.locks.denied, 1);
	fix_others_go(f);
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w, o, &fh, 7, F_WRLCK, 0, 9);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_interrupt(&w.op);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, 0); /* as if the signal had come a little later */
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_int_equal(f->srv.count[OP_LOCK], 2);
	/* the server stays silent: the caller need not wait */
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w, o, &fh, 8, F_WRLCK, 20, 29);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_interrupt(&w.op);
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_LOCKU], 1));
	/* between two LOCKs there is no answer to wait for */
	fix_others_hold(f, 40, 49, true);
	fix_lock_wait(f, &w, o, &fh, 8, F_WRLCK, 40, 49);
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 2));
	nfs_interrupt(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	assert_int_equal(fix_locks_held(f), 1);
	fix_unmount_clean(f);
}

/* A lock that is granted after its caller has gone is given back, and nothing more. */
static void test_given_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 10, 19), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 30, 39), 0);
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w, o, &fh, 7, F_WRLCK, 0, TOP);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	mean_release(&f->srv);
	/* the next request of the owner comes after the return */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 35, 39), 0);
	assert_int_equal(fix_locks_held(f), 2);
	assert_true(fix_has_lock(f, 10, 19, false));
	assert_true(fix_has_lock(f, 30, 34, true));
	/* the first lock of an owner */
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w, o, &fh, 8, F_RDLCK, 10, 19);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	mean_release(&f->srv);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 100, 109), 0);
	assert_int_equal(fix_locks_held(f), 3);
	fix_unmount_clean(f);
}

/* Owner 7 holds 0..9 exclusively. A request for a shared lock of 5..14 is granted after its caller
 * has gone. */
static void downgrade_cancelled(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh)
{
	struct fix_op w;

	assert_int_equal(fix_lock(f, o, fh, 7, F_WRLCK, 0, 9), 0);
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w, o, fh, 7, F_RDLCK, 5, 14);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
}

/* An exclusive lock that a granted shared one has replaced comes back. */
static void test_downgrade_undone(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	downgrade_cancelled(f, o, &fh);
	mean_release(&f->srv);
	/* the next request of the owner comes after the undo */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_int_equal(fix_locks_held(f), 2);
	fix_unmount_clean(f);
}

/* If the exclusive lock cannot come back, the program is not left to believe in that lock. */
static void test_downgrade_left(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	downgrade_cancelled(f, o, &fh);
	fix_others_hold(f, 5, 5, false);
	mean_release(&f->srv);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(f->srv.locks.denied, 1);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), -EIO);
	assert_true(fix_has_lock(f, 0, 4, true));
	assert_true(fix_has_lock(f, 5, 9, false));
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 5, 9), 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_locks_held(f), 2);
	fix_unmount_clean(f);
}

static void test_cancelled_unlock(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, TOP), 0);
	f->srv.hold_op = OP_LOCKU;
	fix_lock_wait(f, &w, o, &fh, 7, F_UNLCK, 0, 9);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	mean_release(&f->srv);
	/* the unlock went on without a caller */
	assert_int_equal(fix_lock(f, o, &fh, 8, F_RDLCK, 0, 9), 0);
	fix_unmount_clean(f);
}

static void test_unmount_while_waiting(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w[2];

	fix_others_hold(f, 0, 9, true);
	fix_lock_wait(f, &w[0], o, &fh, 7, F_WRLCK, 0, 0);
	fix_lock_wait(f, &w[1], o, &fh, 8, F_WRLCK, 0, 0); /* behind the other request */
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 1));
	fix_unmount_clean(f);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(fix_ends_within(&w[i].sem, 0));
		assert_int_equal(w[i].op.error, -ENOTCONN);
	}
}

static void *release_soon(void *srv)
{
	usleep(200000);
	mean_release(srv);
	return NULL;
}

/* The server disowns a lock's state during the unmount: the caller is told all the same, and so is
 * the next caller in the queue. */
static void test_unmount_disowned(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	static struct fix_op w[2]; /* may outlive the test if it fails */
	pthread_t thread;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	f->srv.hold_op = OP_LOCK;
	fix_lock_wait(f, &w[0], o, &fh, 7, F_WRLCK, 20, 29);
	fix_lock_wait(f, &w[1], o, &fh, 7, F_WRLCK, 40, 49);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	fix_forget_locks(f);
	pthread_create(&thread, NULL, release_soon, &f->srv);
	fix_unmount_clean(f);
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(fix_ends_within(&w[i].sem, 100));
		assert_true(w[i].op.error < 0);
	}
}

/* A file is closed while its lock owner waits through another open of the file. */
static void test_close_rebound(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *a = fix_open(f, O_RDWR, &fh), *b = fix_open(f, O_RDWR, &fh);
	static struct fix_op w[2]; /* may outlive the test if it fails */

	fix_others_hold(f, 0, 9, true);
	fix_lock_wait(f, &w[1], b, &fh, 7, F_WRLCK, 1, 1);
	fix_lock_wait(f, &w[0], a, &fh, 7, F_WRLCK, 0, 0);
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 2));
	nfs_cancel(&w[0].op);
	assert_true(fix_ends_within(&w[0].sem, 5000));
	assert_int_equal(fix_close(f, a), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.nopens, 1);
	fix_others_go(f);
	assert_true(fix_ends_within(&w[1].sem, 5000));
	assert_int_equal(w[1].op.error, 0);
	assert_true(fix_has_lock(f, 1, 1, true));
	assert_int_equal(fix_lock(f, b, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, b), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* Lock-owners without locks are kept, but not without a limit. */
static void test_many_owners(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(fix_lock(f, o, &fh, i, F_WRLCK, 0, 9), 0);
		assert_int_equal(fix_lock(f, o, &fh, i, F_UNLCK, 0, 9), 0);
	}
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_FREE_STATEID], 300 - 256));
	assert_int_equal(fix_lock(f, o, &fh, 0, F_WRLCK, 0, 9), 0);
	assert_int_equal(f->srv.locks.new_owners, 300); /* this lock-owner is still known */
	assert_int_equal(fix_lock(f, o, &fh, 0, F_UNLCK, 0, 9), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
	assert_int_equal(mean_lock_owners(&f->srv.locks), 0);
}

/* On a soft mount a lock that is granted too late is given back. */
static void test_soft(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;

	fix_mount_soft(f, 10000, 1500);
	o = fix_open(f, O_RDWR, &fh);
	f->srv.hold_op = OP_LOCK;
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), -ETIMEDOUT);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_LOCKU], 1));
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(fix_close(f, o), 0); /* deferred: the lock is still held */
	assert_int_equal(f->srv.nopens, 1);
	fix_unmount_clean(f);
}

/* The server has granted the lock, but the answer is unreadable: the lock is given back. */
static void test_unreadable(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	fix_quirk(f, Q_TRAILING);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), -EREMOTEIO);
	assert_int_equal(fix_locks_held(f), 1);
	fix_fails(f, OP_LOCK, NFS4ERR_RETRY_UNCACHED_REP, 1);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 20, 29), -EREMOTEIO);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_LOCKU], 2));
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	/* the same with an unlock */
	fix_quirk(f, Q_TRAILING);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, 9), -EREMOTEIO);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0); /* behind the others */
	assert_int_equal(f->srv.count[OP_LOCKU], 4);
	assert_int_equal(fix_locks_held(f), 1);
	fix_unmount_clean(f);
}

/* Neither many looks at a lock in doubt nor a status after the looks count for more time than they
 * took. */
static void test_soft_doubt(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct nfs_open *o;
	struct nfs_fh fh;
	struct fix_op w = {.op = {.type = NFS_SETATTR}};

	fix_mount_soft(f, 10000, 30000);
	srv = nfs4_client(f->nfs)->srv;
	o = fix_open(f, O_RDWR, &fh);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	w.op.u.setattr.fh = fh;
	w.op.u.setattr.open = o;
	w.op.u.setattr.set.mask = NFS_SET_SIZE;
	atomic_store(&srv->revoking, true);
	fix_start(f, &w.op, &w.sem);
	assert_false(fix_ends_within(&w.sem, 1000)); /* 50 looks */
	fix_fails(f, OP_SETATTR, NFS4ERR_GRACE, 1);
	atomic_store(&srv->revoking, false);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, 0);
	assert_int_equal(f->srv.fail_times, 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* SEQUENCE was answered DELAY: the server may be executing the request. A lock in doubt does not
 * make the client forget that the server may be busy. */
static void test_cancel_busy_doubt(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = nfs4_client(f->nfs)->srv;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op w = {.op = {.type = NFS_SETATTR}};
	unsigned before;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	w.op.u.setattr.fh = fh;
	w.op.u.setattr.open = o;
	w.op.u.setattr.set.mask = NFS_SET_SIZE;
	before = f->srv.count[OP_SEQUENCE];
	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 1000000);
	fix_start(f, &w.op, &w.sem);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_SEQUENCE], before + 2));
	atomic_store(&srv->revoking, true);
	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 0);
	assert_false(fix_ends_within(&w.sem, 500)); /* some looks at the lock */
	nfs_cancel(&w.op);
	assert_false(fix_ends_within(&w.sem, 500));
	atomic_store(&srv->revoking, false);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, 0);
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_owners),
		ON_MOUNT(test_lockt),
		ON_MOUNT(test_modes),
		ON_MOUNT(test_wait),
		ON_MOUNT(test_order),
		ON_MOUNT(test_interrupted),
		ON_MOUNT(test_given_back),
		ON_MOUNT(test_downgrade_undone),
		ON_MOUNT(test_downgrade_left),
		ON_MOUNT(test_cancelled_unlock),
		ON_MOUNT(test_unmount_while_waiting),
		ON_MOUNT(test_unmount_disowned),
		ON_MOUNT(test_close_rebound),
		ON_MOUNT(test_many_owners),
		cmocka_unit_test_setup_teardown(test_soft, fix_setup_unmounted, fix_teardown),
		ON_MOUNT(test_cancel_busy_doubt),
		ON_MOUNT(test_unreadable),
		cmocka_unit_test_setup_teardown(test_soft_doubt, fix_setup_unmounted, fix_teardown),
	};

	log_init("test-nfs4_lock", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
