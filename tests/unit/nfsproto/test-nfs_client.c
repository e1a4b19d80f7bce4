/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs_client: the upcalls of a mount to its user, for both versions.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/clock.h"
#include "transport/log.h"

/* The upcalls so far. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	unsigned recalled, lost[3], attributes, connection[5];
	struct nfs_fh fh;
	struct nfs_data_attr attr;
	uint64_t asked;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static void note(void *ctx, unsigned *what, const struct nfs_fh *fh)
{
	assert_ptr_equal(ctx, &told);
	pthread_mutex_lock(&told.lock);
	(*what)++;
	if (fh)
		told.fh = *fh;
	pthread_cond_broadcast(&told.cond);
	pthread_mutex_unlock(&told.lock);
}

static void recalled(void *ctx, const struct nfs_fh *fh)
{
	note(ctx, &told.recalled, fh);
}

static void lost(void *ctx, const struct nfs_fh *fh, enum nfs_lost what)
{
	note(ctx, &told.lost[what], fh);
}

static void attributes(
	void *ctx, const struct nfs_fh *fh, const struct nfs_data_attr *attr, uint64_t asked)
{
	told.attr = *attr;
	told.asked = asked;
	note(ctx, &told.attributes, fh);
}

static void connection(void *ctx, enum nfs_connection what)
{
	note(ctx, &told.connection[what], NULL);
}

static const struct nfs_client_upcalls upcalls = {
	.recalled = recalled, .lost = lost, .attributes = attributes, .connection = connection};

/* Waits until the counter has reached n. */
static void wait_told(const unsigned *what, unsigned n)
{
	struct timespec t;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	pthread_mutex_lock(&told.lock);
	while (*what < n && rc == 0)
		rc = pthread_cond_timedwait(&told.cond, &told.lock, &t);
	assert_int_equal(*what, n);
	pthread_mutex_unlock(&told.lock);
}

static void forget_told(void)
{
	told.recalled = told.attributes = 0;
	memset(told.lost, 0, sizeof(told.lost));
	memset(told.connection, 0, sizeof(told.connection));
}

static int setup4_unmounted(void **state)
{
	struct fix *f;

	forget_told();
	fix_setup_unmounted(state);
	f = *state;
	f->upcalls = &upcalls;
	f->upcalls_ctx = &told;
	return 0;
}

static int setup4(void **state)
{
	setup4_unmounted(state);
	fix_mount_root(*state);
	return 0;
}

static int setup3(void **state)
{
	struct err e;
	struct fix3 *f;

	forget_told();
	fix3_setup_unmounted(state);
	f = *state;
	f->upcalls = &upcalls;
	f->upcalls_ctx = &told;
	f->nfs = fix3_mount(f, "/", false, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	f->file = (struct nfs_fh){.len = 1, .data = {2}};
	return 0;
}

static void a_recall_is_told(void **state)
{
	const struct nfs4_stateid id = {.seqid = 1, .other = "deleg"};
	struct fix *f = *state;
	struct nfs_open *open;
	struct nfs_fh fh;

	f->srv.hold_op = OP_DELEGRETURN;
	fix_quirk(f, Q_DELEGATION);
	open = fix_open(f, O_RDONLY, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	assert_int_equal(mean_recall(&f->srv, 1, &f->root, &id), NFS4ERR_BAD_STATEID);
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &id), NFS4_OK);
	wait_told(&told.recalled, 1);
	assert_true(nfs_fh_equal(&told.fh, &fh));
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &id), NFS4_OK); /* a replay */
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
	assert_int_equal(told.recalled, 1);
}

static void lost_opens_are_told(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	fix_forget_opens(f);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	wait_told(&told.lost[NFS_LOST_GAP], 1);
	assert_true(nfs_fh_equal(&told.fh, &fh));
	mean_reboot(&f->srv); /* reclaimed: no other client has come in between */
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	fix_forget_opens(f);
	fix_fails(f, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), -EIO);
	wait_told(&told.lost[NFS_LOST_OPEN], 1);
	assert_int_equal(told.lost[NFS_LOST_GAP], 1);
	assert_int_equal(told.lost[NFS_LOST_LOCK], 0);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

static void lost_locks_are_told(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	struct nfs_op op = {.type = NFS_LOCK};
	uint32_t n;

	op.u.lock.open = open;
	op.u.lock.fh = fh;
	op.u.lock.owner = 7;
	op.u.lock.type = F_WRLCK;
	op.u.lock.end = 9;
	assert_int_equal(fix_run(f, &op), 0);
	mean_reboot(&f->srv);
	f->srv.reclaiming = f->srv.locks.reclaiming = false;
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), -EIO);
	wait_told(&told.lost[NFS_LOST_LOCK], 1);
	assert_true(nfs_fh_equal(&told.fh, &fh));
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* The caller of the CLOSE has gone; the attributes of the answer are told all the same. */
static void attributes_that_nobody_waits_for_are_told(void **state)
{
	uint64_t before = clock_ns();
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_op op = {.type = NFS_CLOSE};
	sem_t sem;

	op.u.close.open = fix_open(f, O_RDWR, &fh);
	f->srv.hold_op = OP_CLOSE;
	sem_init(&sem, 0, 0);
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, -EINTR);
	assert_int_equal(told.attributes, 0);
	f->srv.change = 77;
	mean_release(&f->srv);
	wait_told(&told.attributes, 1);
	assert_true(nfs_fh_equal(&told.fh, &fh));
	assert_true(told.attr.have && told.attr.change == 77);
	assert_true(told.asked > before && told.asked < clock_ns());
	fix_unmount_clean(f);
}

static void a_lost_connection_is_told_and_that_it_is_back(void **state)
{
	struct fix *f = *state;

	for (unsigned i = 1; i < 4; i++) {
		f->srv.cut = true;
		assert_int_equal(fix_getattr(f), 0);
		wait_told(&told.connection[NFS_CONNECTION_BACK], i);
		assert_int_equal(told.connection[NFS_CONNECTION_LOST], i);
	}
	fix_unmount_clean(f); /* the end of the mount is no loss */
	assert_int_equal(told.connection[NFS_CONNECTION_LOST], 3);
	assert_int_equal(told.connection[NFS_CONNECTION_SILENT], 0);
}

static void silence_is_told_and_its_end(void **state)
{
	struct fix *f = *state;
	unsigned silent;

	fix_mount_soft(f, 1000, 300);
	f->srv.hold_op = OP_GETATTR;
	assert_int_equal(fix_getattr(f), -ETIMEDOUT);
	assert_int_equal(fix_getattr(f), -ETIMEDOUT);
	pthread_mutex_lock(&told.lock); /* meanwhile the server may have answered another request */
	silent = told.connection[NFS_CONNECTION_SILENT];
	assert_true(silent && silent - told.connection[NFS_CONNECTION_ANSWERS] <= 1);
	pthread_mutex_unlock(&told.lock);
	mean_release(&f->srv);
	while (fix_getattr(f))
		;
	pthread_mutex_lock(&told.lock);
	silent = told.connection[NFS_CONNECTION_SILENT];
	assert_int_equal(told.connection[NFS_CONNECTION_ANSWERS], silent);
	pthread_mutex_unlock(&told.lock);
	f->nfs = nfs_client_free(f->nfs);
}

static void version_3_tells_of_its_connection(void **state)
{
	struct fix3 *f = *state;

	for (unsigned i = 1; i < 4; i++) {
		f->m.cut = NFS3PROC_GETATTR;
		assert_int_equal(fix3_getattr(f), 0);
		wait_told(&told.connection[NFS_CONNECTION_BACK], i);
		assert_int_equal(told.connection[NFS_CONNECTION_LOST], i);
	}
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(told.connection[NFS_CONNECTION_LOST], 3);
}

/* The server grants no claim after the connection was lost. */
static void version_3_tells_of_lost_locks(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = {.type = NFS_LOCK};

	op.u.lock.fh = f->file;
	op.u.lock.owner = 7;
	op.u.lock.type = F_WRLCK;
	op.u.lock.end = 9;
	assert_int_equal(fix3_run(f, &op), 0);
	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_status = NLM4_STALE_FH;
	f->m.nlm_times = 100;
	f->m.nlm_held = false;
	f->m.cut = NFS3PROC_GETATTR;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_getattr(f), 0);
	wait_told(&told.lost[NFS_LOST_LOCK], 1);
	assert_true(nfs_fh_equal(&told.fh, &f->file));
}

#define T4(fn)	cmocka_unit_test_setup_teardown(fn, setup4, fix_teardown)
#define T3(fn)	cmocka_unit_test_setup_teardown(fn, setup3, fix3_teardown)
#define T4U(fn) cmocka_unit_test_setup_teardown(fn, setup4_unmounted, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T4(a_recall_is_told),
		T4(lost_opens_are_told),
		T4(lost_locks_are_told),
		T4(attributes_that_nobody_waits_for_are_told),
		T4(a_lost_connection_is_told_and_that_it_is_back),
		T4U(silence_is_told_and_its_end),
		T3(version_3_tells_of_its_connection),
		T3(version_3_tells_of_lost_locks),
	};

	log_init("test-nfs_client", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
