/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of delegations (nfsproto/v4/mount/nfs4_deleg.h): the wants in OPEN, local opens,
 * recalls, and unmounting.
 */
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/deleg-fixture.h"
#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"
#include "transport/log.h"

/* --- asking and having ----------------------------------------------------------------------- */

static void only_who_reads_asks_for_one(void **state)
{
	static const int others[] = {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_ACCMODE};
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_op op;
	uint64_t id;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		op = deleg_open_op(1, others[i]);
		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
			OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
		assert_int_equal(op.u.open.deleg, 0);
		assert_int_equal(fix_close(f, op.u.open.open), 0);
	}
	id = deleg_given(f, 1, O_RDONLY, &fh);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
		OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
	assert_int_not_equal(id, 0);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	assert_false(nfs_deleg_holds(f->nfs, &fh, id + 1));
	assert_false(nfs_deleg_holds(f->nfs, &f->root, id));
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* OPEN and CLOSE cost nothing; READ goes with the stateid of the delegation. */
static void what_is_delegated_is_opened_without_asking(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	unsigned opens = fix_count(f, OP_OPEN), closes = fix_count(f, OP_CLOSE);
	struct nfs_open *a = deleg_open(f, &fh, id, O_RDONLY),
			*b = deleg_open(f, &fh, id, O_RDONLY);
	uint32_t n;

	assert_non_null(a);
	assert_non_null(b);
	assert_null(deleg_open(f, &fh, id + 1, O_RDONLY));
	assert_int_equal(fix_read(f, a, &fh, 1000, &n), 0);
	assert_int_equal(n, 1000);
	assert_int_equal(fix_close(f, a), 0);
	assert_int_equal(fix_read(f, b, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, b), 0);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	assert_int_equal(fix_count(f, OP_CLOSE), closes);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* An OPEN of a delegated file is answered without a new delegation, and finds the present one. */
static void who_opens_later_finds_it(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);

	f->srv.delegs.gives = false;
	assert_int_equal(deleg_given(f, 1, O_RDONLY, &fh), id);
	assert_int_equal(deleg_given(f, 2, O_RDONLY, &fh), 0);
	fix_unmount_clean(f);
}

/* The newer of two delegations counts, and the other goes back. */
static void a_second_one_takes_the_place_of_the_first(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh), next;
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
	uint32_t n;

	next = deleg_given(f, 1, O_RDONLY, &fh);
	assert_int_not_equal(next, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	assert_true(nfs_deleg_holds(f->nfs, &fh, next));
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void what_comes_recalled_or_to_write_goes_back_at_once(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	f->srv.delegs.recalled = true;
	assert_int_equal(deleg_given(f, 1, O_RDONLY, &fh), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	f->srv.delegs.recalled = false;
	f->srv.delegs.type = OPEN_DELEGATE_WRITE;
	assert_int_equal(deleg_given(f, 2, O_RDONLY, &fh), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	assert_int_equal(f->srv.delegs.held, 0);
	fix_unmount_clean(f);
}

/* Delegations that were used lately stay, and no more are asked for; unused ones make room. */
static void there_are_only_so_many(void **state)
{
	struct fix *f = *state;
	struct nfs4_client *c = nfs4_client(f->nfs);
	struct nfs4_deleg *d;
	struct nfs_fh fh;

	for (unsigned i = 0; i < NFS4_DELEGS_MAX; i++)
		assert_int_not_equal(deleg_given(f, i, O_RDONLY, &fh), 0);
	assert_int_equal(deleg_given(f, NFS4_DELEGS_MAX, O_RDONLY, &fh), 0);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
		OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 0);
	mutex_lock(&c->lock);
	d = TAILQ_FIRST(&c->delegs.list[NFS4_D_HELD]);
	atomic_store(&d->used_ns, clock_ns() - NFS4_DELEG_FRESH_NS - 1);
	mutex_unlock(&c->lock);
	assert_int_not_equal(deleg_given(f, NFS4_DELEGS_MAX, O_RDONLY, &fh), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	nfs4_deleg_recall_any(c, 10); /* as CB_RECALL_ANY */
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], NFS4_DELEGS_MAX - 9));
	assert_true(nfs_deleg_holds(f->nfs, &fh, c->delegs.last_id));
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void what_nobody_uses_goes_back(void **state)
{
	struct fix *f = *state;
	struct nfs4_client *c = nfs4_client(f->nfs);
	struct nfs_fh idle, busy;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &idle), used = deleg_given(f, 2, O_RDONLY, &busy);

	mutex_lock(&c->lock);
	/* the state thread may be about to look with a time that it read a while ago */
	atomic_store(&nfs4_deleg_find_locked(c, &idle, NULL)->used_ns,
		clock_ns() - NFS4_DELEG_IDLE_NS - 30 * NFS4_SEC);
	c->delegs.look_ns = 0;
	mutex_unlock(&c->lock);
	nfs4_state_poll(c->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_false(nfs_deleg_holds(f->nfs, &idle, id));
	assert_true(nfs_deleg_holds(f->nfs, &busy, used));
	nfs_deleg_give_back(f->nfs, &busy, used + 1); /* the number of another delegation */
	assert_true(nfs_deleg_holds(f->nfs, &busy, used));
	nfs_deleg_give_back(f->nfs, &busy, used);
	assert_false(nfs_deleg_holds(f->nfs, &busy, used));
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	fix_unmount_clean(f);
}

static uint32_t want_of_open(struct fix *f, unsigned file)
{
	struct nfs_op op = deleg_open_op(file, O_RDONLY);

	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	return f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
}

/* A mount that never stopped asking would not become settled. */
static void a_mount_that_settles_asks_for_none(void **state)
{
	struct fix *f = *state;
	struct nfs4_client *c = nfs4_client(f->nfs);
	struct nfs_fh fh;
	uint64_t before = clock_ns();

	assert_int_not_equal(deleg_given(f, 1, O_RDONLY, &fh), 0);
	while (nfs_client_settle(f->nfs))
		sched_yield();
	assert_int_equal(f->srv.delegs.held, 0);
	mutex_lock(&c->lock);
	assert_true(c->delegs.rest_ns > before);
	c->delegs.rest_ns = UINT64_MAX;
	mutex_unlock(&c->lock);
	assert_int_equal(want_of_open(f, 2), OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
	mutex_lock(&c->lock);
	c->delegs.rest_ns = clock_ns();
	mutex_unlock(&c->lock);
	assert_int_equal(want_of_open(f, 2), OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
	fix_unmount_clean(f);
}

/* --- recalls --------------------------------------------------------------------------------- */

/* The openers of the file get opens at the server, and then the delegation goes back. */
static void a_recall_leaves_the_file_open(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *o[3];
	uint32_t n;

	for (unsigned i = 0; i < 3; i++)
		o[i] = deleg_open(f, &fh, id, O_RDONLY);
	deleg_recall(f, 1, &fh);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	assert_null(deleg_open(f, &fh, id, O_RDONLY));
	assert_int_equal(atomic_load(&deleg_user.recalled), 1);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.delegs.claims, 3);
	assert_int_equal(f->srv.delegs.held, 0);
	assert_int_equal(f->srv.nopens, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(fix_read(f, o[i], &fh, 1000, &n), 0);
		assert_int_equal(fix_close(f, o[i]), 0);
	}
	assert_int_equal(f->srv.nopens, 0);
	assert_int_equal(f->srv.reopens, 1); /* the first OPEN, by file handle */
	fix_unmount_clean(f);
}

/* READ goes on while its stateid changes. */
static void a_read_meets_the_end_of_the_delegation(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
	struct mem_buf *buf = mem_buf_get(f->pool, 1000);
	struct nfs_op op = {.type = NFS_READ, .u.read = {.open = o, .fh = fh}};
	sem_t sem;

	op.u.read.to = seg_list_of_buf(buf, 0, 1000);
	f->srv.hold_op = OP_READ;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	mean_release(&f->srv); /* with a stateid that is no longer valid */
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	mem_buf_unref(buf);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* The closer need not wait for an OPEN that is no longer needed; afterwards that OPEN is closed. */
static void what_is_closed_in_the_middle_of_it_is_closed(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *a = deleg_open(f, &fh, id, O_RDONLY),
			*b = deleg_open(f, &fh, id, O_RDONLY);
	unsigned closes = fix_count(f, OP_CLOSE);

	f->srv.hold_op = OP_OPEN;
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	assert_int_equal(fix_close(f, a), 0);
	assert_int_equal(fix_close(f, b), 0);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], closes + 1));
	assert_int_equal(f->srv.delegs.claims, 1);
	fix_unmount_clean(f);
}

/* A recall before the answer to the OPEN that brings the delegation: answered with "later". */
static void a_recall_may_overtake_its_open(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = deleg_open_op(1, O_RDONLY);
	const struct nfs4_stateid sid = mean_deleg_id(1);
	sem_t sem;

	f->srv.hold_op = OP_OPEN;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	assert_int_equal(mean_recall(&f->srv, 1, &op.u.open.dir, &sid), NFS4ERR_DELAY);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_true(nfs_deleg_holds(f->nfs, &op.u.open.fh, op.u.open.deleg));
	assert_int_equal(mean_recall(&f->srv, 2, &op.u.open.fh, &sid), NFS4_OK);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* The answer to the OPEN that brings the delegation is lost, and the server has not kept the
 * answer. */
static void what_no_answer_brought_goes_back_at_its_recall(void **state)
{
	struct nfs_op op = deleg_open_op(1, O_RDONLY);
	struct fix *f = *state;

	f->srv.delegs.once = true;
	fix_quirk(f, Q_CUT_OPEN); /* and the second OPEN brings no delegation */
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.open.deleg, 0);
	assert_int_equal(f->srv.delegs.held, 1);
	deleg_recall(f, 1, &op.u.open.fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.delegs.held, 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* The server gives a delegation after all that is known by its recall. */
static void what_comes_after_its_recall_is_not_held(void **state)
{
	const struct nfs4_stateid second = mean_deleg_id(2);
	struct fix *f = *state;
	struct nfs_fh fh, other;
	uint64_t id;

	deleg_given(f, 1, O_RDONLY, &fh);
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	f->srv.hold_op = OP_DELEGRETURN;
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &second), NFS4_OK);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	id = deleg_given(f, 1, O_RDONLY, &other); /* delegation 2 */
	assert_true(nfs_fh_equal(&fh, &other));
	assert_int_equal(id, 0);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	fix_unmount_clean(f);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 2);
}

/* Recalls of unknown delegations, of the right stateid with another handle, the same again and
 * again. */
static void a_storm_of_recalls_does_no_harm(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, other;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	const struct nfs4_stateid sid = mean_deleg_id(1);
	uint32_t seq = 1;

	deleg_given(f, 2, O_RDONLY, &other);
	f->srv.hold_op = OP_DELEGRETURN;
	for (unsigned i = 0; i < 100; i++) {
		const struct nfs4_stateid none = mean_deleg_id(4711 + i);

		for (unsigned j = 0; j < 2; j++)
			assert_int_equal(mean_recall(&f->srv, seq++, &fh, &none),
				i < NFS4_DELEG_UNSEEN ? NFS4_OK : NFS4ERR_BAD_STATEID);
		assert_int_equal(mean_recall(&f->srv, seq++, &other, &sid), NFS4ERR_BAD_STATEID);
	}
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(mean_recall(&f->srv, seq++, &fh, &sid), NFS4_OK);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], NFS4_DELEG_UNSEEN + 1));
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), NFS4_DELEG_UNSEEN + 1);
	fix_unmount_clean(f);
}

/* A lock needs an open at the server. */
static void a_lock_makes_a_local_open_a_real_one(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	uint32_t n;

	for (unsigned i = 0; i < 2; i++) {
		struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
		struct nfs_op op = {.type = NFS_LOCK,
			.u.lock = {.open = o, .fh = fh, .owner = 7, .type = F_RDLCK, .end = 9}};

		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(f->srv.nopens, 1);
		assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
		op.u.lock.type = F_UNLCK;
		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(fix_close(f, o), 0);
		assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	}
	fix_unmount_clean(f);
}

/* --- the end --------------------------------------------------------------------------------- */

static void unmounting_returns_them_all(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;
	uint64_t id = 0;

	for (unsigned i = 0; i < 50; i++)
		id = deleg_given(f, i, O_RDONLY, &fh);
	o = deleg_open(f, &fh, id, O_RDONLY);
	assert_non_null(o); /* the open is not closed */
	fix_fails(f, OP_DELEGRETURN, NFS4ERR_BAD_STATEID, 1);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.count[OP_DELEGRETURN], 50);
	assert_int_equal(f->srv.delegs.held, 1);
	assert_int_equal(f->srv.delegs.claims, 0);
}

static void unmounting_returns_again_after_a_delay(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	for (unsigned i = 0; i < 10; i++)
		deleg_given(f, i, O_RDONLY, &fh);
	fix_fails(f, OP_DELEGRETURN, NFS4ERR_DELAY, 15);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.count[OP_DELEGRETURN], 25);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* A server that says "later" for ever. */
static void unmounting_does_not_wait_for_ever(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	deleg_given(f, 1, O_RDONLY, &fh);
	fix_fails(f, OP_DELEGRETURN, NFS4ERR_DELAY, UINT32_MAX);
	fix_unmount_clean(f);
	assert_true(f->srv.count[OP_DELEGRETURN] > 1);
	assert_int_equal(f->srv.delegs.held, 1);
}

/* In the middle of a recall. */
static void unmounting_ends_a_return(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);

	assert_non_null(deleg_open(f, &fh, id, O_RDONLY));
	fix_fails(f, OP_OPEN, NFS4ERR_DELAY, UINT32_MAX);
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_OPEN], 3));
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, deleg_setup_read, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_who_reads_asks_for_one),
		TEST(what_is_delegated_is_opened_without_asking),
		TEST(who_opens_later_finds_it),
		TEST(a_second_one_takes_the_place_of_the_first),
		TEST(what_comes_recalled_or_to_write_goes_back_at_once),
		TEST(there_are_only_so_many),
		TEST(what_nobody_uses_goes_back),
		TEST(a_mount_that_settles_asks_for_none),
		TEST(a_recall_leaves_the_file_open),
		TEST(a_read_meets_the_end_of_the_delegation),
		TEST(what_is_closed_in_the_middle_of_it_is_closed),
		TEST(a_recall_may_overtake_its_open),
		TEST(what_no_answer_brought_goes_back_at_its_recall),
		TEST(what_comes_after_its_recall_is_not_held),
		TEST(a_storm_of_recalls_does_no_harm),
		TEST(a_lock_makes_a_local_open_a_real_one),
		TEST(unmounting_returns_them_all),
		TEST(unmounting_returns_again_after_a_delay),
		TEST(unmounting_does_not_wait_for_ever),
		TEST(unmounting_ends_a_return),
	};

	log_init("test-nfs4_deleg", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
