/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_open and nfs4_open_recover: the arguments of OPEN, lost
 * answers, state that is lost and recovered or not, delegations on their way back.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/log.h"

static struct nfs_op open_op(const struct fix *f, int flags)
{
	return (struct nfs_op){.type = NFS_OPEN,
		.u.open = {.dir = f->root,
			.name = {"file", 4},
			.flags = flags,
			.set = {.mask = NFS_SET_MODE, .mode = 0640}}};
}

/* An NFS_READ without a check of the data. A test starts the READ and does not wait. */
struct reader {
	struct nfs_op op;
	struct mem_buf *buf;
	struct seg piece;
	sem_t sem;
};

static void reader_start(
	struct fix *f, struct reader *r, struct nfs_open *open, const struct nfs_fh *fh)
{
	memset(r, 0, sizeof(*r));
	r->buf = mem_buf_get(f->pool, 1000);
	r->op.type = NFS_READ;
	r->op.u.read.open = open;
	r->op.u.read.fh = *fh;
	r->piece = (struct seg){mem_buf_sge(r->buf, 0, 1000), r->buf};
	assert_int_equal(seg_list_init(&r->op.u.read.to, &r->piece, 1), 0);
	fix_start(f, &r->op, &r->sem);
}

/* Returns the error of the read. */
static int reader_end(struct reader *r)
{
	assert_true(fix_ends_within(&r->sem, PATIENCE_MS));
	mem_buf_unref(r->buf);
	return r->op.error;
}

/* How many opens the server knows with exactly this access. */
static unsigned with_access(struct fix *f, uint32_t access)
{
	unsigned n = 0;

	pthread_mutex_lock(&f->srv.lock);
	for (int i = 0; i < MEAN_OPENS; i++)
		n += f->srv.opens[i].used && f->srv.opens[i].access == access;
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

/* The held COMPOUNDs are never answered. */
static void drop_held(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.hold_op = 0;
	for (unsigned i = 0; i < f->srv.nheld; i++)
		rpc_req_drop(f->srv.held[i]);
	f->srv.nheld = 0;
	pthread_mutex_unlock(&f->srv.lock);
}

/* --- arguments --------------------------------------------------------------------------- */

static void asks_for_the_access_that_is_needed(void **state)
{
	static const struct {
		int flags;
		uint32_t access;
	} cases[] = {
		{O_RDONLY, OPEN4_SHARE_ACCESS_READ},
		{O_RDONLY | NFS_O_EXEC, OPEN4_SHARE_ACCESS_READ},
		{O_WRONLY, OPEN4_SHARE_ACCESS_WRITE},
		{O_WRONLY | O_TRUNC, OPEN4_SHARE_ACCESS_WRITE},
		{O_RDWR, OPEN4_SHARE_ACCESS_BOTH},
		{O_RDONLY | O_TRUNC, OPEN4_SHARE_ACCESS_BOTH}, /* a truncation needs write access */
		{O_ACCMODE, OPEN4_SHARE_ACCESS_BOTH},
	};
	struct fix *f = *state;
	struct nfs_op op;
	struct nfs_fh fh;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fix_close(f, fix_open(f, cases[i].flags, &fh)), 0);
		assert_int_equal(
			f->srv.opened.access, cases[i].access | OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
		assert_int_equal(f->srv.opened.claim, CLAIM_NULL);
		assert_false(f->srv.opened.create);
	}
	op = open_op(f, O_RDONLY); /* a file known by its handle */
	op.u.open.dir = fh;
	op.u.open.name.len = 0;
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.opened.claim, CLAIM_FH);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* Opens of one file are independent, also when one comes while another goes. */
static void each_open_stands_alone(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *a = fix_open(f, O_RDWR, &fh), *b = fix_open(f, O_RDWR, &fh), *c;
	struct nfs_op op = {.type = NFS_CLOSE, .u.close = {.open = a}};
	uint32_t n;
	sem_t sem;

	assert_int_equal(f->srv.nopens, 2);
	f->srv.hold_op = OP_CLOSE;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	c = fix_open(f, O_RDONLY, &fh);
	mean_release_hold(&f->srv, OP_OPEN);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.nopens, 2);
	op = open_op(f, O_RDONLY);
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	assert_int_equal(fix_close(f, c), 0);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(fix_read(f, op.u.open.open, &fh, 1000, &n), 0);
	assert_int_equal(fix_read(f, b, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reopens, 0); /* no open was taken away */
	assert_int_equal(fix_close(f, b), 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

static void *open_and_close(void *arg)
{
	struct fix *f = arg;
	struct nfs_fh fh;
	uint32_t n;

	for (int i = 0; i < 30; i++) {
		struct nfs_open *o = fix_open(f, O_RDWR, &fh);

		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		assert_int_equal(fix_close(f, o), 0);
	}
	return NULL;
}

static void opens_and_closes_race(void **state)
{
	struct fix *f = *state;
	pthread_t t[6];

	for (int i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&t[i], NULL, open_and_close, f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 20));
	mean_lose_session(&f->srv);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(f->srv.nopens, 0);
	assert_int_equal(f->srv.reopens, 0);
	fix_unmount_clean(f);
}

/* --- lost answers ------------------------------------------------------------------------ */

/* The server has made the file, and the answer is lost with the connection: the repeated OPEN finds
 * our file. */
static void an_exclusive_create_may_be_repeated(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = open_op(f, O_RDWR | O_CREAT | O_EXCL), other = op;

	f->srv.exclusive = true;
	fix_quirk(f, Q_CUT_OPEN);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_OPEN], 2);
	assert_int_equal(f->srv.opened.mode, EXCLUSIVE4_1);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_run(f, &other), -EEXIST); /* another open is another create */
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* On a soft mount the opener has been told of a failure: a later request only finds out whether
 * there is an open to close. */
static void what_nobody_waits_for_makes_nothing(void **state)
{
	struct fix *f = *state;
	struct nfs_op op;

	fix_mount_soft(f, 10000, 500);
	op = open_op(f, O_RDWR | O_CREAT | O_EXCL);
	f->srv.hold_op = OP_OPEN;
	assert_int_equal(fix_run(f, &op), -ETIMEDOUT);
	assert_null(op.u.open.open);
	drop_held(f);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_false(f->srv.opened.create);
	assert_int_equal(f->srv.count[OP_SETATTR], 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* The server forgets an open before the step after the OPEN, when only that task knows of the
 * open. */
static void forgotten_in_the_middle(struct fix *f, int flags, unsigned steps)
{
	struct nfs_op op = open_op(f, flags);
	sem_t sem;

	f->srv.hold_op = OP_SETATTR;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	for (; steps > 1; steps--) {
		mean_release_hold(&f->srv, OP_SETATTR);
		assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	}
	assert_int_equal(f->srv.nopens, 1);
	fix_forget_opens(f);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	assert_int_equal(f->srv.nopens, 0);
}

static void state_lost_within_an_open_is_opened_again(void **state)
{
	struct fix *f = *state;

	f->srv.exclusive = true;
	forgotten_in_the_middle(f, O_RDWR | O_CREAT | O_EXCL, 1); /* with a mode to set */
	fix_fails(f, OP_SETATTR, NFS4ERR_DELAY, 1);
	forgotten_in_the_middle(f, O_WRONLY | O_TRUNC, 2);
	fix_unmount_clean(f);
}

/* --- a truncation without a waiting opener ------------------------------------------------- */

/* The user cancels an OPEN that truncates while the server has the request; then operation op of
 * the task fails with status, once. */
static void truncation_cancelled(struct fix *f, uint32_t op, uint32_t status, unsigned setattrs)
{
	struct nfs_op open = open_op(f, O_WRONLY | O_TRUNC);
	unsigned closes = f->srv.count[OP_CLOSE], before = f->srv.count[OP_SETATTR];
	sem_t sem;

	f->srv.hold_op = OP_OPEN;
	fix_start(f, &open, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&open);
	assert_int_equal(fix_getattr(f), 0);
	assert_false(fix_ends_within(&sem, 0)); /* the server may still execute the request */
	if (op)
		fix_fails(f, op, status, 1);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(open.error, -EINTR);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], closes + 1));
	assert_int_equal(f->srv.nopens, 0);
	assert_int_equal(f->srv.count[OP_SETATTR], before + setattrs);
}

static void a_truncation_that_the_server_has_is_waited_for(void **state)
{
	struct fix *f = *state;

	truncation_cancelled(f, 0, 0, 1);
	fix_unmount_clean(f);
}

static void no_truncation_is_sent_after_that(void **state)
{
	struct fix *f = *state;

	truncation_cancelled(f, OP_OPEN, NFS4ERR_DELAY, 0);
	truncation_cancelled(f, OP_SETATTR, NFS4ERR_DELAY, 1);
	truncation_cancelled(f, OP_SEQUENCE, NFS4ERR_BADSESSION, 0);
	fix_unmount_clean(f);
}

/* A truncation that is not at the server ends at once, and is not sent. */
static void a_truncation_that_is_put_off_is_not_made(void **state)
{
	struct fix *f = *state;
	struct nfs_op open = open_op(f, O_WRONLY | O_TRUNC);
	sem_t sem;

	fix_fails(f, OP_OPEN, NFS4ERR_GRACE, 1);
	fix_start(f, &open, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_OPEN], 1));
	assert_int_equal(fix_getattr(f), 0);
	nfs_cancel(&open);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(open.error, -EINTR);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.count[OP_SETATTR], 0);
	fix_unmount_clean(f);
}

/* --- lost state ---------------------------------------------------------------------------- */

static int truncate_by(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh)
{
	struct nfs_op op = {.type = NFS_SETATTR,
		.u.setattr = {.fh = *fh, .open = o, .set = {.mask = NFS_SET_SIZE}}};

	return fix_run(f, &op);
}

static uint32_t gen_of(struct nfs_open *o)
{
	uint32_t gen;

	mutex_lock(&o->lock);
	gen = o->gen;
	mutex_unlock(&o->lock);
	return gen;
}

/* Waits until the file has been opened anew n times. A call that is sent again, with the stateid
 * before, may end earlier. */
static void wait_reopened(struct fix *f, struct nfs_open *o, unsigned n)
{
	assert_true(mean_wait(&f->srv, &f->srv.reopens, n));
	while (gen_of(o) < n + 1) /* the client has the answer */
		sched_yield();
	assert_int_equal(f->srv.reopens, n);
}

static void whatever_is_said_of_the_stateid_it_is_opened_again(void **state)
{
	static const uint32_t said[] = {NFS4ERR_BAD_STATEID, NFS4ERR_OLD_STATEID,
		NFS4ERR_STALE_STATEID, NFS4ERR_EXPIRED, NFS4ERR_ADMIN_REVOKED,
		NFS4ERR_DELEG_REVOKED};
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	unsigned reopens = 0;
	uint32_t n;

	assert_int_equal(gen_of(o), 1);
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		fix_fails(f, OP_READ, said[i], 1);
		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		wait_reopened(f, o, ++reopens);
		fix_fails(f, OP_WRITE, said[i], 1);
		assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
		wait_reopened(f, o, ++reopens);
		fix_fails(f, OP_SETATTR, said[i], 1);
		assert_int_equal(truncate_by(f, o, &fh), 0);
		wait_reopened(f, o, ++reopens);
	}
	assert_int_equal(f->srv.nopens, 1); /* the same owner has only one open */
	fix_forget_opens(f);
	assert_int_equal(fix_close(f, o), 0); /* a lost file stays lost */
	assert_int_equal(f->srv.reopens, reopens);
	fix_unmount_clean(f);
}

/* A reclaim that is put off is repeated while the server takes reclaims. */
static void what_is_reclaimed_needs_no_new_open(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *r = fix_open(f, O_RDONLY, &fh), *w = fix_open(f, O_WRONLY, &fh);
	struct nfs_op op = fix_lock_op(r, &fh, 7, F_RDLCK, 0, 9);
	uint32_t n;

	assert_int_equal(fix_run(f, &op), 0);
	op = fix_lock_op(
		w, &fh, 7, F_WRLCK, 5, 9); /* the same owner's: this open gets more access */
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(with_access(f, OPEN4_SHARE_ACCESS_BOTH), 1);
	f->srv.reopens = 0;
	mean_reboot(&f->srv);
	fix_fails(f, OP_OPEN, NFS4ERR_DELAY, 2);
	assert_int_equal(fix_read(f, r, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reclaims, 2);
	assert_int_equal(f->srv.reopens, 0);
	/* and has the access again after the reclaim */
	assert_int_equal(with_access(f, OPEN4_SHARE_ACCESS_BOTH), 1);
	assert_int_equal(with_access(f, OPEN4_SHARE_ACCESS_WRITE), 1);
	assert_int_equal(f->srv.locks.reclaims, 2);
	fix_unmount_clean(f);
}

/* An open that the server does not give back is opened anew, but not before RECLAIM_COMPLETE. */
static void what_is_not_reclaimed_is_opened_after_that(void **state)
{
	static const uint32_t refusals[] = {NFS4ERR_NO_GRACE, NFS4ERR_RECLAIM_BAD,
		NFS4ERR_RECLAIM_CONFLICT, NFS4ERR_SERVERFAULT};
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	for (unsigned i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		mean_reboot(&f->srv);
		fix_fails(f, OP_OPEN, refusals[i], 1);
		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		assert_int_equal(f->srv.reopens, i + 1);
	}
	assert_int_equal(f->srv.reclaims, 0);
	assert_int_equal(f->srv.early, 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* While the server takes reclaims, the client sends no other OPEN. */
static void opens_wait_for_the_end_of_reclaiming(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = open_op(f, O_RDWR | O_CREAT);
	sem_t sem;

	mean_reboot(&f->srv);
	f->srv.hold_op = OP_RECLAIM_COMPLETE;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	assert_int_equal(f->srv.count[OP_OPEN], 0);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.early, 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* Neither reclaimed nor opened anew: that file is lost, and nothing else. */
static void what_cannot_be_had_again_is_lost(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *lost = fix_open(f, O_RDWR, &fh), *o;
	uint32_t n;

	mean_reboot(&f->srv);
	fix_fails(f, OP_OPEN, NFS4ERR_STALE, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fix_read(f, lost, &fh, 1000, &n), -EIO);
		assert_int_equal(fix_write(f, lost, &fh, NFS_UNSTABLE), -EIO);
		assert_int_equal(truncate_by(f, lost, &fh), -EIO);
	}
	assert_int_equal(f->srv.count[OP_OPEN], 3); /* no further attempt */
	o = fix_open(f, O_RDWR, &fh);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_close(f, lost), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* The server tells of a revocation, but not of which state. */
static void only_what_was_revoked_is_opened_again(void **state)
{
	enum { OPENS = 70 };
	/* the client tests stateids in groups of 32 */
	static const unsigned revoked[] = {0, 31, 32, 63, 64, 69};
	const unsigned nrevoked = sizeof(revoked) / sizeof(revoked[0]);
	struct nfs_open *open[OPENS];
	struct fix *f = *state;
	struct nfs_fh fh;
	uint32_t n;

	for (unsigned i = 0; i < OPENS; i++)
		open[i] = fix_open(f, O_RDWR, &fh);
	pthread_mutex_lock(&f->srv.lock);
	for (unsigned i = 0; i < nrevoked; i++)
		f->srv.opens[revoked[i]].used = false;
	f->srv.nopens -= nrevoked;
	f->srv.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.reopens, nrevoked));
	fix_status_flags(f, 0);
	for (unsigned i = 0; i < OPENS; i++) {
		assert_int_equal(fix_read(f, open[i], &fh, 1000, &n), 0);
		assert_int_equal(fix_close(f, open[i]), 0);
	}
	assert_int_equal(f->srv.reopens, nrevoked);
	assert_int_equal(f->srv.count[OP_FREE_STATEID], nrevoked);
	fix_unmount_clean(f);
}

/* The seqid of a stateid counts past its end: RFC 8881 8.2.2. */
static void a_stateid_may_wrap_around(void **state)
{
	struct fix *f = *state;
	struct nfs_op op;
	struct nfs_open *r, *w;
	struct nfs_fh fh;
	unsigned reopens;
	uint32_t n;

	f->srv.open_seqid = UINT32_MAX;
	r = fix_open(f, O_RDONLY, &fh);
	w = fix_open(f, O_WRONLY, &fh);
	assert_int_equal(fix_read(f, r, &fh, 1000, &n), 0);
	op = fix_lock_op(r, &fh, 7, F_RDLCK, 0, 9);
	assert_int_equal(fix_run(f, &op), 0);
	op = fix_lock_op(w, &fh, 7, F_WRLCK, 5, 9);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.opens[0].seqid, 1);
	reopens = f->srv.reopens;
	fix_status_flags(f, SEQ4_STATUS_ADMIN_STATE_REVOKED);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_TEST_STATEID], 1));
	fix_status_flags(f, 0);
	assert_int_equal(fix_read(f, r, &fh, 1000, &n), 0); /* the read waits for the recovery */
	assert_int_equal(f->srv.reopens, reopens);
	op = fix_lock_op(r, &fh, 7, F_UNLCK, 0, UINT64_MAX);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(fix_close(f, r), 0);
	fix_unmount_clean(f);
}

/* The file is closed while it is opened anew: the new open has no later closer. */
static void what_is_closed_meanwhile_is_closed_again(void **state)
{
	struct fix *f = *state;
	struct reader r;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	fix_forget_opens(f);
	f->srv.hold_op = OP_OPEN;
	reader_start(f, &r, o, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&r.op);
	assert_int_equal(reader_end(&r), -EINTR);
	assert_int_equal(fix_close(f, o), 0); /* the server does not know the open at that time */
	assert_int_equal(f->srv.count[OP_CLOSE], 1);
	fix_fails(f, OP_CLOSE, NFS4ERR_DELAY, 1);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 3));
	assert_int_equal(f->srv.reopens, 1);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* Unmounting does not wait for a server that puts the open off for ever. */
static void unmounting_ends_the_attempts(void **state)
{
	struct fix *f = *state;
	struct reader r;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);

	fix_forget_opens(f);
	fix_fails(f, OP_OPEN, NFS4ERR_DELAY, UINT32_MAX);
	reader_start(f, &r, o, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_OPEN], 2));
	fix_unmount_clean(f);
	assert_int_equal(reader_end(&r), -ENOTCONN);
}

/* --- delegations --------------------------------------------------------------------------- */

/* A delegation that was not asked for, from any kind of OPEN: returned with the opener's
 * credential. */
static void delegations_are_given_back(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = open_op(f, O_RDWR);
	uint32_t n;

	op.cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 4711, .gid = 4712};
	fix_quirk(f, Q_DELEGATION);
	fix_fails(f, OP_DELEGRETURN, NFS4ERR_DELAY, 1);
	assert_int_equal(fix_run(f, &op), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	assert_int_equal(f->srv.ndelegs, 0);
	assert_int_equal(f->srv.uid[OP_DELEGRETURN], 4711);
	mean_reboot(&f->srv);
	fix_quirk(f, Q_DELEGATION); /* with a reclaim */
	f->srv.uid[OP_DELEGRETURN] = 0;
	assert_int_equal(fix_read(f, op.u.open.open, &op.u.open.fh, 1000, &n), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 3));
	assert_int_equal(f->srv.reclaims, 1);
	assert_int_equal(f->srv.ndelegs, 0);
	assert_int_equal(f->srv.uid[OP_DELEGRETURN], 4711);
	fix_forget_opens(f);
	fix_quirk(f, Q_DELEGATION); /* also with a new open */
	assert_int_equal(fix_read(f, op.u.open.open, &op.u.open.fh, 1000, &n), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 4));
	assert_int_equal(f->srv.reopens, 1);
	assert_int_equal(f->srv.ndelegs, 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* The server has revoked the delegation, or the mount ends before the return. */
static void a_delegation_that_cannot_be_given_back_keeps_nobody(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	fix_quirk(f, Q_DELEGATION);
	fix_fails(f, OP_DELEGRETURN, NFS4ERR_BAD_STATEID, UINT32_MAX);
	assert_int_equal(fix_close(f, fix_open(f, O_RDONLY, &fh)), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	fix_quirk(f, Q_DELEGATION);
	fix_fails(f, OP_DELEGRETURN, NFS4ERR_DELAY, UINT32_MAX);
	assert_int_equal(fix_close(f, fix_open(f, O_RDONLY, &fh)), 0);
	/* the first DELEGRETURN: once */
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 3));
	fix_unmount_clean(f);
}

#define UNMOUNTED(fn) cmocka_unit_test_setup_teardown(fn, fix_setup_unmounted, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(asks_for_the_access_that_is_needed),
		ON_MOUNT(each_open_stands_alone),
		ON_MOUNT(opens_and_closes_race),
		ON_MOUNT(an_exclusive_create_may_be_repeated),
		UNMOUNTED(what_nobody_waits_for_makes_nothing),
		ON_MOUNT(state_lost_within_an_open_is_opened_again),
		ON_MOUNT(a_truncation_that_the_server_has_is_waited_for),
		ON_MOUNT(no_truncation_is_sent_after_that),
		ON_MOUNT(a_truncation_that_is_put_off_is_not_made),
		ON_MOUNT(whatever_is_said_of_the_stateid_it_is_opened_again),
		ON_MOUNT(what_is_reclaimed_needs_no_new_open),
		ON_MOUNT(what_is_not_reclaimed_is_opened_after_that),
		ON_MOUNT(opens_wait_for_the_end_of_reclaiming),
		ON_MOUNT(what_cannot_be_had_again_is_lost),
		ON_MOUNT(only_what_was_revoked_is_opened_again),
		ON_MOUNT(a_stateid_may_wrap_around),
		ON_MOUNT(what_is_closed_meanwhile_is_closed_again),
		ON_MOUNT(unmounting_ends_the_attempts),
		ON_MOUNT(delegations_are_given_back),
		ON_MOUNT(a_delegation_that_cannot_be_given_back_keeps_nobody),
	};

	log_init("test-nfs4_open", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
