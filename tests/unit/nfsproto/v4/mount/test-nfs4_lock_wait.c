/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_lock_wait: the order of the waiting requests, the wake-ups,
 * and the turns. No request is sent: all contexts are suspect, so requests with a turn stay READY.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/nfs4-locks.h"
#include "nfsproto/v4/mount/nfs4_lock_wait.h"
#include "nfsproto/v4/server/nfs4_task.h"

/* A request that waits for a lock, perhaps until the teardown; not to be moved. */
struct waiter {
	struct nfs_op op;
	unsigned ended;
};

static void waiter_done(struct nfs_op *op)
{
	container_of(op, struct waiter, op)->ended++;
}

static struct nfs4_lockreq *req_of(struct waiter *w)
{
	return w->op.be.v4.lock;
}

static struct nfs4_lockctx *quiet_ctx(struct locks *l, struct nfs_open *o, uint64_t owner)
{
	struct nfs4_lockctx *ctx;

	mutex_lock(&l->c.locks.lock);
	ctx = nfs4_lockctx_find_locked(&l->c.locks, &o->fh, owner, NULL);
	mutex_unlock(&l->c.locks.lock);
	if (!ctx)
		ctx = locks_ctx(l, o, owner);
	ctx->suspect = true;
	return ctx;
}

/* owner asks for a lock through o, and waits. */
static struct nfs4_lockreq *ask(struct locks *l, struct waiter *w, struct nfs_open *o,
	uint64_t owner, int type, uint64_t start, uint64_t end)
{
	quiet_ctx(l, o, owner);
	memset(w, 0, sizeof(*w));
	w->op.type = NFS_LOCK;
	w->op.done = waiter_done;
	w->op.client = &l->c.base;
	w->op.u.lock.open = o;
	w->op.u.lock.fh = o->fh;
	w->op.u.lock.owner = owner;
	w->op.u.lock.type = type;
	w->op.u.lock.start = start;
	w->op.u.lock.end = end;
	w->op.u.lock.wait = true;
	nfs4_mount_bind(&l->c, &w->op, NFS_LOCK);
	nfs4_lock_submit(&l->c, &w->op);
	assert_int_equal(w->ended, 0);
	return req_of(w);
}

static bool behind(struct locks *l, struct nfs4_lockreq *req)
{
	bool yes;

	mutex_lock(&l->c.locks.lock);
	yes = nfs4_lock_behind_locked(&l->c, req);
	mutex_unlock(&l->c.locks.lock);
	return yes;
}

static void wake(struct locks *l, const struct nfs_fh *fh, uint64_t start, uint64_t end)
{
	mutex_lock(&l->c.locks.lock);
	nfs4_lock_wake_locked(&l->c, fh, start, end);
	mutex_unlock(&l->c.locks.lock);
}

static bool is_parked(const struct nfs4_lockreq *req)
{
	return req->state == NFS4_LR_PARKED;
}

/* Is the lock asked for again at the next opportunity? */
static bool is_due(const struct nfs4_lockreq *req)
{
	return is_parked(req) && req->due_ns == 0;
}

static void whoever_comes_later_is_behind(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1), *g = locks_open(l, "g", 1);
	static struct waiter w[8];

	assert_false(is_parked(ask(l, &w[0], f, 1, F_WRLCK, 0, 9)));
	assert_true(is_parked(ask(l, &w[1], f, 2, F_WRLCK, 9, 14)));
	/* a neighbour of that range */
	assert_false(is_parked(ask(l, &w[2], f, 3, F_WRLCK, 15, 19)));
	assert_false(is_parked(ask(l, &w[3], f, 4, F_RDLCK, 20, 29)));
	/* both are readers */
	assert_false(is_parked(ask(l, &w[4], f, 5, F_RDLCK, 25, UINT64_MAX)));
	assert_true(is_parked(ask(l, &w[5], f, 6, F_WRLCK, 29, 29)));
	assert_true(is_parked(ask(l, &w[6], f, 7, F_RDLCK, 0, 0)));  /* the writer is in the way */
	assert_false(is_parked(ask(l, &w[7], g, 8, F_WRLCK, 0, 9))); /* another file */
	assert_false(behind(l, req_of(&w[0])));
	assert_true(behind(l, req_of(&w[1])));
}

/* A process has its locks in mind, not their order. */
static void nobody_is_behind_himself(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1);
	static struct waiter w[3];

	ask(l, &w[0], f, 1, F_WRLCK, 0, 9);
	assert_false(is_parked(ask(l, &w[1], f, 1, F_WRLCK, 0, 9)));
	assert_true(is_parked(ask(l, &w[2], f, 2, F_WRLCK, 0, 9)));
}

/* Other requests may wait for an owner that holds a lock. */
static void who_holds_something_queues_up_behind_nobody(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1);
	static struct waiter w[2];

	ask(l, &w[0], f, 1, F_WRLCK, 0, 9);
	assert_int_equal(lock_ranges_set(&quiet_ctx(l, f, 2)->ranges, 50, 59, true), 0);
	assert_false(is_parked(ask(l, &w[1], f, 2, F_WRLCK, 0, 9)));
}

static void an_unlock_wakes_who_is_first(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1), *g = locks_open(l, "g", 1);
	struct nfs4_lockreq *first, *second, *third;
	static struct waiter w[4];

	ask(l, &w[0], f, 1, F_WRLCK, 0, 99);
	first = ask(l, &w[1], f, 2, F_WRLCK, 0, 9);
	second = ask(l, &w[2], f, 3, F_WRLCK, 5, 14);
	third = ask(l, &w[3], f, 4, F_WRLCK, 20, 29);
	nfs4_lock_cancel(&l->c, &w[0].op, true); /* all the others were behind this request */
	assert_true(is_due(first));
	assert_false(is_due(second)); /* behind the first */
	assert_true(is_due(third));
	first->due_ns = second->due_ns = third->due_ns = clock_ns() + 3600 * NFS4_SEC;
	wake(l, &g->fh, 0, UINT64_MAX); /* another file */
	wake(l, &f->fh, 10, 19);	/* only the second request wants a lock in this range */
	assert_false(is_due(first) || is_due(second) || is_due(third));
	wake(l, &f->fh, 29, 30);
	assert_false(is_due(first) || is_due(second));
	assert_true(is_due(third));
	wake(l, &f->fh, 0, UINT64_MAX);
	assert_true(is_due(first));
	assert_false(is_due(second));
}

/* The request is woken while the LOCK is under way, and denied after that: the range may be free by
 * now. */
static void who_is_woken_while_he_asks_asks_again(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1);
	struct nfs4_lockreq *req;
	static struct waiter w;

	req = ask(l, &w, f, 1, F_WRLCK, 0, 9);
	mutex_lock(&l->c.locks.lock);
	TAILQ_REMOVE(&req->ctx->ready, req, link); /* the LOCK is sent, and denied */
	nfs4_lock_park_locked(&l->c, req, 3600 * 1000);
	mutex_unlock(&l->c.locks.lock);
	assert_true(is_parked(req));
	assert_false(is_due(req));
	mutex_lock(&l->c.locks.lock);
	req->ctx->nparked--;
	req->state = NFS4_LR_BUSY; /* once more */
	nfs4_lock_wake_locked(&l->c, &f->fh, 0, 9);
	nfs4_lock_park_locked(&l->c, req, 3600 * 1000);
	mutex_unlock(&l->c.locks.lock);
	assert_true(is_due(req));
	assert_false(req->again); /* the wake-up counts once */
	assert_int_equal(req->ctx->nparked, 1);
	assert_ptr_equal(TAILQ_FIRST(&l->c.locks.waiters), req);
	assert_null(TAILQ_NEXT(req, wait_link)); /* the request has kept its place */
}

static void a_callback_wakes_whom_it_names(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1), *g = locks_open(l, "g", 1);
	struct nfs4_lockreq *req;
	struct nfs4_opaque owner;
	static struct waiter w[2];
	uint64_t number;

	ask(l, &w[0], f, 1, F_WRLCK, 0, 9);
	req = ask(l, &w[1], f, 2, F_WRLCK, 0, 9);
	owner = (struct nfs4_opaque){(const uint8_t *)&number, sizeof(number)};
	number = req_of(&w[0])->ctx->number + 1000;
	nfs4_lock_notify(&l->c, &f->fh, &owner); /* wakes no request */
	number = req->ctx->number;
	nfs4_lock_notify(&l->c, &g->fh, &owner);
	owner.len = 7;
	nfs4_lock_notify(&l->c, &f->fh, &owner);
	owner.len = 0;
	nfs4_lock_notify(&l->c, &f->fh, &owner);
	assert_false(is_due(req));
	owner.len = sizeof(number);
	nfs4_lock_notify(&l->c, &f->fh, &owner);
	/* though the request is behind another: the server knows better */
	assert_true(is_due(req));
	assert_false(req_of(&w[0])->again);
}

/* Did polling do any work? Gives *next as polling leaves *next. */
static bool poll(struct locks *l, uint64_t now, uint64_t *next)
{
	*next = UINT64_MAX;
	return nfs4_lock_poll(&l->c, now, next);
}

static void who_is_due_gets_his_turn(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1);
	struct nfs4_lockreq *a, *b;
	static struct waiter w[3];
	uint64_t next;

	ask(l, &w[0], f, 1, F_WRLCK, 0, 9);
	a = ask(l, &w[1], f, 2, F_WRLCK, 0, 9);
	b = ask(l, &w[2], f, 3, F_WRLCK, 0, 9);
	a->due_ns = 2000;
	b->due_ns = 1000;
	assert_false(poll(l, 999, &next));
	assert_int_equal(next, 1000);
	assert_true(poll(l, 1000, &next)); /* one at a time */
	assert_false(is_parked(b));
	assert_int_equal(b->ctx->nparked, 0);
	assert_ptr_equal(TAILQ_FIRST(&b->ctx->ready), b);
	assert_false(poll(l, 1000, &next));
	assert_int_equal(next, 2000);
	assert_true(poll(l, 3000, &next));
	assert_false(poll(l, 3000, &next));
	assert_int_equal(next, UINT64_MAX); /* no request is parked */
	assert_true(a->waiting && b->waiting);
}

static void who_is_cancelled_leaves(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1);
	struct nfs4_lockreq *first, *last;
	static struct waiter w[3];
	uint64_t next;

	first = ask(l, &w[0], f, 1, F_WRLCK, 0, 9);
	ask(l, &w[1], f, 2, F_WRLCK, 0, 9);
	last = ask(l, &w[2], f, 3, F_RDLCK, 0, 0);
	nfs4_lock_cancel(&l->c, &w[1].op, true);
	nfs4_lock_cancel(&l->c, &w[1].op, true); /* a second cancel changes nothing */
	nfs4_task_pump(&l->srv);
	assert_int_equal(w[1].ended, 1);
	assert_int_equal(w[1].op.error, -EINTR);
	assert_true(poll(l, 0, &next)); /* though the request is not due */
	assert_false(poll(l, 0, &next));
	nfs4_lock_cancel(&l->c, &w[0].op, true); /* while the request is not parked */
	assert_false(behind(l, last));		 /* no request is behind one that has gone */
	assert_true(is_due(last));
	assert_true(poll(l, 0, &next));
	assert_false(poll(l, 0, &next));
	assert_false(is_parked(last));
	assert_ptr_equal(TAILQ_FIRST(&l->c.locks.waiters), first);
	assert_ptr_equal(TAILQ_NEXT(first, wait_link), last);
	assert_null(TAILQ_NEXT(last, wait_link));
	nfs4_task_pump(&l->srv);
	assert_int_equal(w[1].ended, 1);
	assert_int_equal(w[2].ended, 0);
}

/* The LOCK of the first is at the server. */
static void who_is_interrupted_gets_the_answer(void **state)
{
	struct locks *l = *state;
	struct nfs_open *f = locks_open(l, "f", 1);
	struct nfs4_lockreq *first, *last;
	static struct waiter w[2];

	first = ask(l, &w[0], f, 1, F_WRLCK, 0, 9);
	last = ask(l, &w[1], f, 2, F_WRLCK, 0, 9);
	first->state = NFS4_LR_BUSY;
	first->asks = true;
	nfs4_lock_cancel(&l->c, &w[0].op, false);
	nfs4_task_pump(&l->srv);
	assert_int_equal(w[0].ended, 0);
	assert_false(behind(l, last)); /* but no request waits behind it */
	assert_true(is_due(last));
	nfs4_lock_cancel(&l->c, &w[1].op, false); /* nothing of the last one is at the server */
	nfs4_task_pump(&l->srv);
	assert_int_equal(w[1].ended, 1);
	assert_int_equal(w[1].op.error, -EINTR);
	nfs4_lock_cancel(&l->c, &w[0].op, true);
	nfs4_task_pump(&l->srv);
	assert_int_equal(w[0].ended, 1);
	assert_int_equal(w[0].op.error, -EINTR);
	first->asks = false;
	first->state = NFS4_LR_READY;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, locks_setup, locks_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whoever_comes_later_is_behind),
		TEST(nobody_is_behind_himself),
		TEST(who_holds_something_queues_up_behind_nobody),
		TEST(an_unlock_wakes_who_is_first),
		TEST(who_is_woken_while_he_asks_asks_again),
		TEST(a_callback_wakes_whom_it_names),
		TEST(who_is_due_gets_his_turn),
		TEST(who_is_cancelled_leaves),
		TEST(who_is_interrupted_gets_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
