/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_lock, nfs4_lock_wait and nfs4_lock_recover.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/clock.h"
#include "transport/log.h"

#define TOP UINT64_MAX

/* A request for a lock, perhaps in the background. */
struct want {
	struct nfs_op op;
	sem_t sem;
};

static void want_set(struct want *w, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner,
	int type, uint64_t start, uint64_t end)
{
	memset(w, 0, sizeof(*w));
	w->op.type = NFS_LOCK;
	w->op.u.lock.open = o;
	w->op.u.lock.fh = *fh;
	w->op.u.lock.owner = owner;
	w->op.u.lock.type = type;
	w->op.u.lock.start = start;
	w->op.u.lock.end = end;
}

static int lock(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner,
	int type, uint64_t start, uint64_t end)
{
	struct want w;

	want_set(&w, o, fh, owner, type, start, end);
	return fix_run(f, &w.op);
}

static void lock_wait(struct fix *f, struct want *w, struct nfs_open *o, const struct nfs_fh *fh,
	uint64_t owner, int type, uint64_t start, uint64_t end)
{
	want_set(w, o, fh, owner, type, start, end);
	w->op.u.lock.wait = true;
	sem_init(&w->sem, 0, 0);
	fix_start(f, &w->op, &w->sem);
}

static void others_hold(struct fix *f, uint64_t first, uint64_t last, bool write)
{
	pthread_mutex_lock(&f->srv.lock);
	assert_int_equal(lock_ranges_set(&f->srv.locks.others, first, last, write), 0);
	pthread_mutex_unlock(&f->srv.lock);
}

static void others_go(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	lock_ranges_drop(&f->srv.locks.others);
	pthread_mutex_unlock(&f->srv.lock);
}

static unsigned held(struct fix *f)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = mean_lock_held(&f->srv.locks);
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

static bool has(struct fix *f, uint64_t first, uint64_t last, bool write)
{
	bool yes;

	pthread_mutex_lock(&f->srv.lock);
	yes = mean_lock_has(&f->srv.locks, first, last, write);
	pthread_mutex_unlock(&f->srv.lock);
	return yes;
}

static void test_owners(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(f->srv.count[OP_LOCKU], 0); /* no lock was held */
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 20, TOP), 0);
	assert_int_equal(f->srv.locks.new_owners, 1); /* the second LOCK uses the lock stateid */
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 5, 5), -EAGAIN);
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 10, TOP), 0);
	assert_int_equal(f->srv.locks.new_owners, 2);
	assert_int_equal(held(f), 3);
	assert_true(has(f, 10, TOP, false));
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 4, 5), 0);
	assert_true(has(f, 6, 9, true));
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(f->srv.locks.new_owners, 2); /* the lock-owner was kept for this */
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
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
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 100, 109), 0);
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
	others_hold(f, 50, TOP, false);
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

	assert_int_equal(lock(f, r, &fh, 7, F_WRLCK, 0, 9), -EBADF);
	assert_int_equal(lock(f, w, &fh, 7, F_RDLCK, 0, 9), -EBADF);
	assert_int_equal(f->srv.count[OP_LOCK], 0);
	assert_int_equal(lock(f, r, &fh, 7, F_RDLCK, 0, 9), 0);
	/* the same owner through the other open: one lock-owner, and the open of that lock-owner
	 * gets more access */
	assert_int_equal(lock(f, w, &fh, 7, F_WRLCK, 5, 9), 0);
	assert_int_equal(f->srv.reopens, reopens + 1);
	assert_int_equal(f->srv.locks.new_owners, 1);
	assert_int_equal(lock(f, w, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(f->srv.reopens, reopens + 1);
	/* refused: the lock fails, and all else stays */
	assert_int_equal(lock(f, w, &fh, 8, F_WRLCK, 40, 49), 0);
	fix_fails(f, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(lock(f, r, &fh, 8, F_RDLCK, 60, 69), -EACCES);
	assert_true(has(f, 40, 49, true));
	assert_int_equal(fix_close(f, r), 0); /* not yet: locks go through this open */
	assert_int_equal(f->srv.nopens, 2);
	assert_int_equal(lock(f, w, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(lock(f, w, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

static void test_wait(void **state)
{
	struct fix *f = *state;
	struct nfs4_opaque owner = {.len = 8};
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct want w;

	others_hold(f, 0, 9, true);
	lock_wait(f, &w, o, &fh, 7, F_WRLCK, 0, 0);
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 2)); /* the client asks again */
	assert_int_equal(f->srv.locks.last_type, WRITEW_LT);
	assert_false(fix_ends_within(&w.sem, 0));
	others_go(f);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	/* a callback wakes the waiting request; callbacks for other locks do nothing */
	others_hold(f, 0, 9, true);
	lock_wait(f, &w, o, &fh, 7, F_RDLCK, 0, 0);
	/* now the request pauses for 2 s */
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 7));
	owner.data = (const uint8_t *)"somebody";
	assert_int_equal(mean_notify_lock(&f->srv, 1, &fh, &owner), NFS4_OK);
	owner.data = f->srv.locks.last_owner;
	assert_int_equal(mean_notify_lock(&f->srv, 2, &f->root, &owner), NFS4_OK);
	others_go(f);
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
	struct want w[4];

	assert_int_equal(lock(f, o, &fh, 1, F_WRLCK, 0, 9), 0);
	for (unsigned i = 0; i < 4; i++)
		lock_wait(f, &w[i], o, &fh, 10 + i, i < 2 ? F_WRLCK : F_RDLCK, 0, 9);
	assert_int_equal(lock(f, o, &fh, 1, F_UNLCK, 0, 9), 0);
	assert_true(fix_ends_within(&w[0].sem, 60000));
	assert_false(fix_ends_within(&w[1].sem, 50));
	nfs_cancel(&w[1].op);
	assert_true(fix_ends_within(&w[1].sem, 60000));
	assert_int_equal(w[1].op.error, -EINTR);
	assert_int_equal(lock(f, o, &fh, 10, F_UNLCK, 0, 9), 0);
	assert_true(fix_ends_within(&w[2].sem, 60000)); /* both readers */
	assert_true(fix_ends_within(&w[3].sem, 60000));
	assert_int_equal(held(f), 2);
	fix_unmount_clean(f);
}

/* A lock that is granted after its caller has gone is given back, and nothing more. */
static void test_given_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct want w;

	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 10, 19), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 30, 39), 0);
	f->srv.hold_op = OP_LOCK;
	lock_wait(f, &w, o, &fh, 7, F_WRLCK, 0, TOP);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	mean_release(&f->srv);
	/* the next request of the owner comes after the return */
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 35, 39), 0);
	assert_int_equal(held(f), 2);
	assert_true(has(f, 10, 19, false));
	assert_true(has(f, 30, 34, true));
	/* the first lock of an owner */
	f->srv.hold_op = OP_LOCK;
	lock_wait(f, &w, o, &fh, 8, F_RDLCK, 10, 19);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	mean_release(&f->srv);
	assert_int_equal(lock(f, o, &fh, 8, F_WRLCK, 100, 109), 0);
	assert_int_equal(held(f), 3);
	fix_unmount_clean(f);
}

/* Owner 7 holds 0..9 exclusively. A request for a shared lock of 5..14 is granted after its caller
 * has gone. */
static void downgrade_cancelled(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh)
{
	struct want w;

	assert_int_equal(lock(f, o, fh, 7, F_WRLCK, 0, 9), 0);
	f->srv.hold_op = OP_LOCK;
	lock_wait(f, &w, o, fh, 7, F_RDLCK, 5, 14);
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
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_true(has(f, 0, 9, true));
	assert_int_equal(held(f), 2);
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
	others_hold(f, 5, 5, false);
	mean_release(&f->srv);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(f->srv.locks.denied, 1);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), -EIO);
	assert_true(has(f, 0, 4, true));
	assert_true(has(f, 5, 9, false));
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 5, 9), 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(held(f), 2);
	fix_unmount_clean(f);
}

static void test_cancelled_unlock(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct want w;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, TOP), 0);
	f->srv.hold_op = OP_LOCKU;
	lock_wait(f, &w, o, &fh, 7, F_UNLCK, 0, 9);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&w.op);
	assert_true(fix_ends_within(&w.sem, 60000));
	assert_int_equal(w.op.error, -EINTR);
	mean_release(&f->srv);
	/* the unlock went on without a caller */
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 0, 9), 0);
	fix_unmount_clean(f);
}

static void test_unmount_while_waiting(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct want w[2];

	others_hold(f, 0, 9, true);
	lock_wait(f, &w[0], o, &fh, 7, F_WRLCK, 0, 0);
	lock_wait(f, &w[1], o, &fh, 8, F_WRLCK, 0, 0); /* behind the other request */
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
	static struct want w[2]; /* may outlive the test if it fails */
	pthread_t thread;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	f->srv.hold_op = OP_LOCK;
	lock_wait(f, &w[0], o, &fh, 7, F_WRLCK, 20, 29);
	lock_wait(f, &w[1], o, &fh, 7, F_WRLCK, 40, 49);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	pthread_mutex_unlock(&f->srv.lock);
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
	static struct want w[2]; /* may outlive the test if it fails */

	others_hold(f, 0, 9, true);
	lock_wait(f, &w[1], b, &fh, 7, F_WRLCK, 1, 1);
	lock_wait(f, &w[0], a, &fh, 7, F_WRLCK, 0, 0);
	assert_true(mean_wait(&f->srv, &f->srv.locks.denied, 2));
	nfs_cancel(&w[0].op);
	assert_true(fix_ends_within(&w[0].sem, 5000));
	assert_int_equal(fix_close(f, a), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.nopens, 1);
	others_go(f);
	assert_true(fix_ends_within(&w[1].sem, 5000));
	assert_int_equal(w[1].op.error, 0);
	assert_true(has(f, 1, 1, true));
	assert_int_equal(lock(f, b, &fh, 7, F_UNLCK, 0, TOP), 0);
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
		assert_int_equal(lock(f, o, &fh, i, F_WRLCK, 0, 9), 0);
		assert_int_equal(lock(f, o, &fh, i, F_UNLCK, 0, 9), 0);
	}
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_FREE_STATEID], 300 - 256));
	assert_int_equal(lock(f, o, &fh, 0, F_WRLCK, 0, 9), 0);
	assert_int_equal(f->srv.locks.new_owners, 300); /* this lock-owner is still known */
	assert_int_equal(lock(f, o, &fh, 0, F_UNLCK, 0, 9), 0);
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
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), -ETIMEDOUT);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_LOCKU], 1));
	assert_int_equal(held(f), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
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
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), -EREMOTEIO);
	assert_int_equal(held(f), 1);
	fix_fails(f, OP_LOCK, NFS4ERR_RETRY_UNCACHED_REP, 1);
	assert_int_equal(lock(f, o, &fh, 8, F_WRLCK, 20, 29), -EREMOTEIO);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_LOCKU], 2));
	assert_int_equal(held(f), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	/* the same with an unlock */
	fix_quirk(f, Q_TRAILING);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), -EREMOTEIO);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0); /* behind the others */
	assert_int_equal(f->srv.count[OP_LOCKU], 4);
	assert_int_equal(held(f), 1);
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
	struct want w = {.op = {.type = NFS_SETATTR}};

	fix_mount_soft(f, 10000, 30000);
	srv = nfs4_client(f->nfs)->srv;
	o = fix_open(f, O_RDWR, &fh);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	w.op.u.setattr.fh = fh;
	w.op.u.setattr.open = o;
	w.op.u.setattr.set.mask = NFS_SET_SIZE;
	sem_init(&w.sem, 0, 0);
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
	struct want w = {.op = {.type = NFS_SETATTR}};
	unsigned before;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	w.op.u.setattr.fh = fh;
	w.op.u.setattr.open = o;
	w.op.u.setattr.set.mask = NFS_SET_SIZE;
	sem_init(&w.sem, 0, 0);
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

/* --- recovery ------------------------------------------------------------------------------- */

static void test_reclaim(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 20, 24), 0);
	mean_reboot(&f->srv);
	others_hold(f, 0, TOP, true); /* no conflict with a reclaim */
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.locks.reclaims, 3);
	others_go(f);
	assert_true(has(f, 0, 9, true));
	assert_true(has(f, 20, 29, false));
	assert_int_equal(held(f), 3);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(held(f), 1);
	fix_unmount_clean(f);
}

/* "Later" is not taken for the answer to a reclaim: later is too late. */
static void test_reclaim_delayed(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	for (unsigned i = 0; i < 2; i++) {
		mean_reboot(&f->srv);
		others_hold(f, 0, TOP, true);
		fix_fails(f, i ? OP_LOCK : OP_OPEN, NFS4ERR_DELAY, 2);
		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		assert_int_equal(f->srv.reopens, 0);
		assert_int_equal(f->srv.locks.reclaims, i + 1);
		assert_true(has(f, 0, 9, true));
		others_go(f);
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
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, f->srv.size + 10), 0);
	assert_int_equal(append(f, o, &fh, Q_CUT, &ours), -EALREADY);
	assert_false(ours);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, TOP), 0);
	assert_int_equal(append(f, o, &fh, Q_CUT, &ours), -EALREADY);
	assert_true(ours);
	assert_int_equal(append(f, o, &fh, Q_CUT_REBOOT, &ours), -EALREADY);
	assert_true(ours); /* the lock was reclaimed */
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* The server has executed the LOCKU, and another client may have had the lock since. */
static void test_unlocked_before_a_restart(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	fix_quirk(f, Q_CUT_UNLOCK);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(f->srv.locks.reclaims, 1);
	assert_true(has(f, 20, 29, true));
	assert_int_equal(held(f), 1);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
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

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(lock(f, other, &fh, 8, F_RDLCK, 40, 49), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	others_hold(f, 25, 25, false);
	lock_is_lost(f, o, &fh);
	lock_is_lost(f, other, &fh);
	assert_int_equal(held(f), 0);
	assert_int_equal(f->srv.count[OP_READ] + f->srv.count[OP_WRITE], 0);
	assert_int_equal(lock(f, other, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_read(f, other, &fh, 1000, &n), 0);
	lock_is_lost(f, o, &fh);
	/* a new lock does not give back the lost one */
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	lock_is_lost(f, o, &fh);
	/* nor does one unlock clear all losses */
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	lock_is_lost(f, o, &fh);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 24), 0);
	lock_is_lost(f, o, &fh);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(held(f), 1);
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

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(fix_read(f, other, &fh, 1000, &n), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), 0);
	/* the same, and the open file is closed */
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
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

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 20, 29), 0);
	assert_int_equal(held(f), 1);
	assert_true(has(f, 20, 29, true));
	lock_is_lost(f, o, &fh);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	/* an unlock of a range that is no longer locked succeeds, and the rest is lost */
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 0, 0), 0);
	assert_int_equal(held(f), 1);
	lock_is_lost(f, o, &fh);
	/* and a request with the stateid of a lock notices the loss */
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 0, 0), 0);
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	pthread_mutex_unlock(&f->srv.lock);
	lock_is_lost(f, o, &fh);
	fix_unmount_clean(f);
}

static void test_revoked(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh), *other = fix_open(f, O_RDWR, &fh);

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	f->srv.status_flags = SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	/* with another open file's stateid: the WRITE waits until the lost locks are known */
	assert_int_equal(fix_write(f, other, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(f->srv.count[OP_WRITE], 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_FREE_STATEID], 1));
	pthread_mutex_lock(&f->srv.lock);
	f->srv.status_flags = 0;
	pthread_mutex_unlock(&f->srv.lock);
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

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	pthread_mutex_unlock(&f->srv.lock);
	lock_is_lost(f, o, &fh);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	/* again, and now the LOCK notices */
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(lock(f, o, &fh, 8, F_WRLCK, 20, 29), 0);
	assert_int_equal(held(f), 1);
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

	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	for (unsigned i = 0; i < 2; i++) {
		op[i].u.setattr.open = i ? other : o;
		op[i].u.setattr.fh = fh;
		op[i].u.setattr.set = (struct nfs_sattr){.mask = NFS_SET_SIZE, .size = 10};
		sem_init(&sem[i], 0, 0);
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
		ON_MOUNT(test_owners),
		ON_MOUNT(test_lockt),
		ON_MOUNT(test_modes),
		ON_MOUNT(test_wait),
		ON_MOUNT(test_order),
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

	log_init("test-nfs4_lock", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
