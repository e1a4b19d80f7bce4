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
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/log.h"

#define TOP UINT64_MAX

static struct {
	atomic_uint flushes;
	atomic_bool holds; /* the user takes its time to flush */
	atomic_uint lost;  /* lost locks that the user was told of */
	struct fix *f;
} user;

static bool flush(void *ctx, const struct nfs_fh *fh, uint64_t id)
{
	atomic_fetch_add(&user.flushes, 1);
	if (!atomic_load(&user.holds))
		nfs_deleg_flushed(user.f->nfs, fh, id);
	return true;
}

static void lost(void *ctx, const struct nfs_fh *fh, enum nfs_lost what)
{
	if (what == NFS_LOST_LOCK)
		atomic_fetch_add(&user.lost, 1);
}

static const struct nfs_client_upcalls told = {.flush = flush, .lost = lost};

static int setup(void **state)
{
	struct err e = {.kind = ERR_NONE};
	struct fix *f;

	fix_setup_unmounted(state);
	f = *state;
	memset(&user, 0, sizeof(user));
	user.f = f;
	f->delegations = NFS_DELEGATIONS_WRITE;
	f->upcalls = &told;
	f->srv.delegs.gives = f->srv.delegs.gives_back = true;
	f->nfs = fix_mount(f, "/", &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	return 0;
}

/* Opens the file; *id: the number of the file's write delegation. */
static struct nfs_open *open_it(struct fix *f, struct nfs_fh *fh, uint64_t *id)
{
	struct nfs_op op = {.type = NFS_OPEN, .u.open = {.flags = O_RDWR}};

	op.cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 4711};
	op.u.open.dir.len = 5;
	op.u.open.dir.data[0] = 'F';
	memcpy(op.u.open.dir.data + 1, &(uint32_t){1}, 4);
	assert_int_equal(fix_run(f, &op), 0);
	assert_true(op.u.open.deleg_writes);
	*fh = op.u.open.fh;
	*id = op.u.open.deleg;
	return op.u.open.open;
}

/* The same, and a second, local open. Returns the local open. */
static struct nfs_open *open_locally(struct fix *f, struct nfs_fh *fh, uint64_t *id)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 4711};
	struct nfs_open *o = open_it(f, fh, id);

	assert_int_equal(fix_close(f, o), 0);
	o = nfs_deleg_open(f->nfs, fh, *id, O_RDWR, &cred);
	assert_non_null(o);
	return o;
}

static unsigned count_of(struct fix *f, uint32_t op)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = f->srv.count[op];
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

static void lock_op(struct nfs_op *op, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner,
	int type, uint64_t start, uint64_t end)
{
	memset(op, 0, sizeof(*op));
	op->type = NFS_LOCK;
	op->u.lock.open = o;
	op->u.lock.fh = *fh;
	op->u.lock.owner = owner;
	op->u.lock.type = type;
	op->u.lock.start = start;
	op->u.lock.end = end;
}

static int lock(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner,
	int type, uint64_t start, uint64_t end)
{
	struct nfs_op op;
	int rc;

	lock_op(&op, o, fh, owner, type, start, end);
	rc = fix_run(f, &op);
	if (!count_of(f, OP_LOCK))
		assert_int_equal(op.u.lock.local, rc == 0);
	return rc;
}

static bool has(struct fix *f, uint64_t first, uint64_t last, bool write)
{
	bool yes;

	pthread_mutex_lock(&f->srv.lock);
	yes = mean_lock_has(&f->srv.locks, first, last, write);
	pthread_mutex_unlock(&f->srv.lock);
	return yes;
}

static unsigned held(struct fix *f)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = mean_lock_held(&f->srv.locks);
	pthread_mutex_unlock(&f->srv.lock);
	return n;
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

static void recall(struct fix *f, const struct nfs_fh *fh)
{
	const struct nfs4_stateid sid = mean_deleg_id(1);

	assert_int_equal(mean_recall(&f->srv, 1, fh, &sid), NFS4_OK);
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
	assert_int_equal(count_of(f, OP_LOCK) + count_of(f, OP_LOCKU) + count_of(f, OP_LOCKT), 0);
	assert_int_equal(count_of(f, OP_OPEN), 1);
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

	sem_init(&sem, 0, 0);
	sem_init(&gone_sem, 0, 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	lock_op(&gone, o, &fh, 9, F_WRLCK, 0, 9);
	gone.u.lock.wait = true;
	fix_start(f, &gone, &gone_sem);
	lock_op(&op, o, &fh, 8, F_WRLCK, 5, TOP);
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
	assert_int_equal(count_of(f, OP_LOCK), 0);
	fix_unmount_clean(f); /* with a held lock that the server does not know */
	assert_int_equal(count_of(f, OP_LOCKU), 0);
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

	sem_init(&sem, 0, 0);
	assert_int_equal(lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_RDLCK, 20, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 9, F_WRLCK, 15, 15), 0);
	atomic_store(&user.holds, true);
	recall(f, &fh);
	while (!atomic_load(&user.flushes))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	/* meanwhile: an unlock is local, a lock waits */
	assert_int_equal(lock(f, o, &fh, 9, F_UNLCK, 15, 15), 0);
	lock_op(&op, o, &fh, 9, F_WRLCK, 16, 16);
	fix_start(f, &op, &sem);
	assert_int_equal(count_of(f, OP_LOCK) + count_of(f, OP_LOCKU), 0);
	nfs_deleg_flushed(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	sem_wait(&sem);
	assert_int_equal(op.error, 0);
	assert_false(op.u.lock.local);
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(held(f), 4);
	assert_true(has(f, 0, 9, true));
	assert_true(has(f, 20, 29, false));
	assert_true(has(f, 16, 16, true));
	assert_int_equal(fix_write(f, o, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(held(f), 2);
	assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 9, F_UNLCK, 0, TOP), 0);
	assert_int_equal(held(f), 0);
	assert_int_equal(atomic_load(&user.lost), 0);
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
	pthread_mutex_lock(&f->srv.lock);
	assert_int_equal(lock_ranges_set(&f->srv.locks.others, 5, 5, true), 0);
	pthread_mutex_unlock(&f->srv.lock);
	recall(f, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	while (!atomic_load(&user.lost))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
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
	pthread_mutex_lock(&f->srv.lock);
	mean_deleg_revoke(&f->srv.delegs);
	f->srv.status_flags = SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	pthread_mutex_lock(&f->srv.lock);
	f->srv.status_flags = 0;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(atomic_load(&user.lost), 1);
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
	assert_int_equal(count_of(f, OP_LOCK), 0);
	assert_int_equal(atomic_load(&user.lost), 0);
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
	assert_true(has(f, 0, 9, true));
	assert_int_equal(atomic_load(&user.lost), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, 9), 0);
	assert_int_equal(held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* op is answered with DELAY until the server has restarted; n such calls are under way by then. */
static void restart_at(struct fix *f, const struct nfs_fh *fh, uint32_t op, unsigned n)
{
	f->srv.fail_op = op;
	f->srv.fail_status = NFS4ERR_DELAY;
	f->srv.fail_times = 100000;
	recall(f, fh);
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
	assert_true(has(f, 0, 9, true));
	assert_true(has(f, 20, 29, false));
	assert_int_equal(granted(f, true), 2);
	assert_int_equal(atomic_load(&user.lost), 0);
	assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(held(f), 0);
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
		restart_at(f, &fh, op, count_of(f, op) + 1);
		assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
		if (f->srv.delegs.gives_back)
			assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
		assert_true(has(f, 0, 9, true));
		assert_true(has(f, 20, 29, false));
		assert_int_equal(atomic_load(&user.lost), 0);
		if (f->srv.delegs.gives_back) /* the other locks are pushed now */
			assert_int_equal(granted(f, false), 2);
		else
			assert_int_equal(granted(f, true), 2);
		assert_int_equal(lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
		assert_int_equal(lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
		assert_int_equal(held(f), 0);
		assert_int_equal(fix_close(f, o), 0);
		fix_unmount_clean(f);
		fix_teardown(state);
		setup(state);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_is_asked),
		TEST(who_waits_is_woken),
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
