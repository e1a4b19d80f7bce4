/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_layout_report: LAYOUTERROR and LAYOUTSTATS, of a mount of
 * NFSv4.2.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/pnfs/pnfs-fixture.h"

static int setup(void **state)
{
	struct env *e;

	pnfs_setup(state);
	e = *state;
	e->f->minor = e->f->srv.minor = 2;
	return 0;
}

static unsigned told(struct env *e)
{
	return pnfs_count(e, &e->f->srv.layouts.told);
}

static struct nfs4_layouterror_args last_told(struct env *e)
{
	struct nfs4_layouterror_args a;

	pthread_mutex_lock(&e->f->srv.lock);
	a = e->f->srv.layouts.last_told;
	pthread_mutex_unlock(&e->f->srv.lock);
	return a;
}

/* Makes the server hold COMPOUNDs with op. */
static void hold(struct env *e, uint32_t op)
{
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = op;
	pthread_mutex_unlock(&e->f->srv.lock);
}

/* A WRITE in the background. */
struct back {
	struct mem_buf *buf;
	struct nfs_op op;
	sem_t sem;
};

static void write_behind(struct env *e, struct back *b, uint64_t at, uint32_t len)
{
	b->buf = mem_buf_get(e->f->pool, len);
	b->op = pnfs_write_op(e, b->buf, at, len);
	fix_start(e->f, &b->op, &b->sem);
}

static void write_ends(struct back *b)
{
	assert_true(fix_ends_within(&b->sem, PATIENCE_MS));
	assert_int_equal(b->op.error, 0);
	mem_buf_unref(b->buf);
}

/* Other I/O of the layout is under way, so LAYOUTRETURN must wait. */
static void the_metadata_server_knows_before_the_layout_is_back(void **state)
{
	struct env *e = *state;
	struct nfs4_layouterror_args a;
	struct back first, second;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	hold(e, OP_LAYOUTCOMMIT);
	write_behind(e, &first, 0, 5000);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	pnfs_order(&e->ds[0], NFS3ERR_NOSPC);
	write_behind(e, &second, 7000, 3000);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.told, 1));
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
	a = last_told(e);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.error[0].status, NFS4ERR_NOSPC);
	assert_int_equal(a.error[0].op, OP_WRITE);
	assert_int_equal(a.error[0].device.id[0], 0);
	assert_int_equal(a.offset, 7000);
	assert_int_equal(a.length, 3000);
	mean_release(&e->f->srv);
	write_ends(&first);
	write_ends(&second);
	/* an error that the server must repair is one of LAYOUTRETURN, so there it is again */
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 1);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_NOSPC);
	assert_int_equal(told(e), 1);
}

/* Three WRITEs fail: LAYOUTERROR tells one error with the range of all three. */
static void errors_of_one_kind_are_one_error(void **state)
{
	struct env *e = *state;
	struct back commit, failing[3];

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	hold(e, OP_LAYOUTCOMMIT);
	write_behind(e, &commit, 0, 1000);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	for (unsigned i = 0; i < 3; i++)
		write_behind(e, &failing[i], 20000 - i * 5000, 1000);
	assert_true(mean_ds_wait(&e->ds[0], &e->ds[0].silenced, 3));
	mean_ds_kill(&e->ds[0]);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.told, 1));
	mean_release(&e->f->srv);
	write_ends(&commit);
	for (unsigned i = 0; i < 3; i++)
		write_ends(&failing[i]);
	assert_int_equal(told(e), 1);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 1);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_NXIO);
	assert_int_equal(e->f->srv.layouts.error_at.offset, 10000);
	assert_int_equal(e->f->srv.layouts.error_at.length, 11000);
}

/* All data servers that failed are told of in one COMPOUND. */
static void all_mirrors_that_fail_are_told_of(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.nmirrors = 2;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pnfs_order(&e->ds[0], NFS3ERR_IO);
	pnfs_order(&e->ds[1], NFS3ERR_ROFS);
	assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.told, 2));
	assert_int_equal(last_told(e).error[0].device.id[0], 1);
	assert_int_equal(last_told(e).error[0].status, NFS4ERR_ROFS);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 2);
}

/* The program's WRITE needs LAYOUTRETURN alone. */
static void no_program_waits_for_a_report(void **state)
{
	struct env *e = *state;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	hold(e, OP_LAYOUTERROR);
	pnfs_order(&e->ds[0], NFS3ERR_IO);
	assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 1);
	assert_int_equal(told(e), 0);
	mean_release(&e->f->srv); /* behind LAYOUTRETURN: the server does not know the layout */
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(e->f->srv.layouts.told, 0);
}

static void unmounting_ends_reports_that_have_no_answer(void **state)
{
	struct env *e = *state;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	hold(e, OP_LAYOUTERROR);
	pnfs_order(&e->ds[0], NFS3ERR_IO);
	assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	e->f->nfs = nfs_client_free(e->f->nfs);
	mean_release(&e->f->srv);
}

static void fails_twice(struct env *e)
{
	for (unsigned i = 0; i < 2; i++) {
		pnfs_order(&e->ds[0], 0);
		pnfs_until_written(e);
		pnfs_order(&e->ds[0], NFS3ERR_IO);
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	}
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 2);
}

static void a_server_without_the_operation_is_asked_once(void **state)
{
	struct env *e = *state;

	fix_fails(e->f, OP_LAYOUTERROR, NFS4ERR_NOTSUPP, 100);
	pnfs_open_file(e, O_RDWR);
	fails_twice(e);
	assert_int_equal(e->f->srv.fail_times, 99);
	assert_int_equal(told(e), 0);
}

static void a_server_of_nfsv4_1_is_not_asked(void **state)
{
	struct env *e = *state;

	e->f->minor = e->f->srv.minor = 1;
	pnfs_open_file(e, O_RDWR);
	fails_twice(e);
	assert_int_equal(fix_count(e->f, OP_LAYOUTERROR), 0);
}

/* A refusal is no matter for the data. */
static void a_report_that_is_refused_changes_nothing(void **state)
{
	struct env *e = *state;

	fix_fails(e->f, OP_LAYOUTERROR, NFS4ERR_BAD_STATEID, 100);
	pnfs_open_file(e, O_RDWR);
	fails_twice(e);
	assert_int_equal(e->f->srv.fail_times, 98);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
}

/* No I/O was under way when the data server died. */
static void a_data_server_that_is_down_is_told_of_once(void **state)
{
	struct env *e = *state;
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	mean_ds_kill(&e->ds[0]);
	while (!told(e)) { /* until the mount has seen it */
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_read_at(e, 20000, 100, true, &got, &eof), 0);
	}
	assert_int_equal(last_told(e).error[0].status, NFS4ERR_NXIO);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	assert_int_equal(told(e), 1);
}

static void a_data_server_that_never_was_there_is_told_of(void **state)
{
	struct env *e = *state;
	uint64_t until = fix_now_ms() + PATIENCE_MS;

	mean_ds_kill(&e->ds[0]);
	pnfs_open_file(e, O_RDWR);
	while (!told(e)) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	}
	assert_int_equal(last_told(e).error[0].status, NFS4ERR_NXIO);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
}

/* --- LAYOUTSTATS --------------------------------------------------------------------------- */

static unsigned nstats(struct env *e)
{
	return pnfs_count(e, &e->f->srv.layouts.nstats);
}

static void counts_are_told_while_a_layout_is_used(void **state)
{
	struct env *e = *state;
	struct mean_layouts *l = &e->f->srv.layouts;

	l->stats_hint = 1;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	assert_int_equal(pnfs_write_at(e, 0, 3000), 0);
	assert_true(mean_wait(&e->f->srv, &l->nstats, 1));
	pthread_mutex_lock(&e->f->srv.lock);
	assert_int_equal(l->stat.write.ops_completed, l->stat_write.count);
	assert_int_equal(l->stat.write.bytes_completed, l->stat_write.bytes);
	assert_true(l->stat_write.bytes >= 1000);
	assert_int_equal(l->stat_write.bytes % 1000, 0);
	assert_int_equal(l->stat.write.bytes_not_delivered, 0);
	assert_true(l->stat.duration.tv_sec >= 1);
	assert_int_equal(l->stat.fh.len, 2);
	pthread_mutex_unlock(&e->f->srv.lock);
	/* the counts go on, and LAYOUTRETURN has the last ones */
	assert_int_equal(pnfs_write_at(e, 0, 4000), 0);
	assert_true(mean_wait(&e->f->srv, &l->nstats, 2));
	assert_int_equal(l->nreturn_stats, 0);
	pnfs_order(&e->ds[0], NFS3ERR_IO);
	assert_int_equal(pnfs_write_at(e, 0, 500), 0);
	pthread_mutex_lock(&e->f->srv.lock);
	assert_int_equal(l->nreturn_stats, 1);
	assert_true(l->return_stat.write.bytes >= l->stat_write.bytes);
	assert_int_equal(l->return_stat.update.write.bytes_not_delivered, 500);
	pthread_mutex_unlock(&e->f->srv.lock);
}

/* Without I/O since the last report, there is none. */
static void an_idle_layout_has_no_reports(void **state)
{
	struct env *e = *state;
	unsigned sent;

	e->f->srv.layouts.stats_hint = 1;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.nstats, 1));
	sent = nstats(e);
	usleep(1500000);
	assert_true(nstats(e) <= sent + 1); /* if I/O ended behind the report */
}

/* A layout that goes back soon costs no round trip for its counts. */
static void a_layout_that_goes_with_close_brings_its_counts(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.return_on_close = true;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(e->f->srv.layouts.returns, 1);
	assert_int_equal(e->f->srv.layouts.nreturn_stats, 1);
	assert_true(e->f->srv.layouts.return_stat.write.bytes >= 1000);
	assert_int_equal(e->f->srv.layouts.nstats, 0);
}

static void a_server_without_layoutstats_is_asked_once(void **state)
{
	struct env *e = *state;
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	struct mean_srv *s = &e->f->srv;

	s->layouts.stats_hint = 1;
	fix_fails(e->f, OP_LAYOUTSTATS, NFS4ERR_NOTSUPP, 100);
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	while (pnfs_count(e, &s->fail_times) == 100) {
		assert_true(fix_now_ms() < until);
		usleep(10000);
	}
	assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	usleep(1500000);
	assert_int_equal(pnfs_count(e, &s->fail_times), 99);
	assert_int_equal(nstats(e), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, pnfs_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_metadata_server_knows_before_the_layout_is_back),
		TEST(errors_of_one_kind_are_one_error),
		TEST(all_mirrors_that_fail_are_told_of),
		TEST(no_program_waits_for_a_report),
		TEST(unmounting_ends_reports_that_have_no_answer),
		TEST(a_server_without_the_operation_is_asked_once),
		TEST(a_server_of_nfsv4_1_is_not_asked),
		TEST(a_report_that_is_refused_changes_nothing),
		TEST(a_data_server_that_is_down_is_told_of_once),
		TEST(a_data_server_that_never_was_there_is_told_of),
		TEST(counts_are_told_while_a_layout_is_used),
		TEST(an_idle_layout_has_no_reports),
		TEST(a_layout_that_goes_with_close_brings_its_counts),
		TEST(a_server_without_layoutstats_is_asked_once),
	};

	return cmocka_run_group_tests_name("nfs4_layout_report", tests, NULL, NULL);
}
