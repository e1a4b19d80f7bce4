/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_ds_v4: a mount of mean-nfs4 that gives layouts at another
 * mean-nfs4.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/nfs4_client.h"
#include "nfsproto/v4/pnfs/nfs4_ds_v4.h"

struct env {
	struct fix *f;
	struct mean_srv ds;
	struct nfs_open *open;
	struct nfs_fh fh;
};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	struct mean_layouts *l;

	fix_setup_unmounted((void **)&e->f);
	mean_start(&e->ds);
	e->f->pnfs = true;
	l = &e->f->srv.layouts;
	l->gives = true;
	l->nmirrors = l->nstripes = 1;
	l->version = 4;
	l->minor = 1;
	l->port[0] = rpc_server_port(e->ds.server);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	fix_teardown((void **)&e->f);
	mean_stop(&e->ds);
	free(e);
	return 0;
}

#define WITH_DS(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static unsigned ds_count(struct env *e, uint32_t op)
{
	unsigned n;

	pthread_mutex_lock(&e->ds.lock);
	n = e->ds.count[op];
	pthread_mutex_unlock(&e->ds.lock);
	return n;
}

static void ds_fails(struct env *e, uint32_t op, uint32_t status, unsigned times)
{
	pthread_mutex_lock(&e->ds.lock);
	e->ds.fail_op = op;
	e->ds.fail_status = status;
	e->ds.fail_times = times;
	pthread_mutex_unlock(&e->ds.lock);
}

static void open_file(struct env *e)
{
	fix_mount_root(e->f);
	e->open = fix_open(e->f, O_RDWR, &e->fh);
}

/* Writes until the data server gets it. */
static void until_written(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	unsigned before = ds_count(e, OP_WRITE);

	while (ds_count(e, OP_WRITE) == before) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(fix_write(e->f, e->open, &e->fh, NFS_UNSTABLE), 0);
		usleep(5000);
	}
}

/* One WRITE goes through the metadata server, which learns why. */
static void falls_back(struct env *e, uint32_t status)
{
	unsigned writes = fix_count(e->f, OP_WRITE);

	assert_int_equal(fix_write(e->f, e->open, &e->fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.layouts.errors, 1);
	assert_int_equal(e->f->srv.layouts.error, status);
}

static void data_goes_to_the_data_server(void **state)
{
	struct env *e = *state;
	unsigned writes, reads;
	uint32_t got;

	open_file(e);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	reads = fix_count(e->f, OP_READ);
	assert_int_equal(fix_write(e->f, e->open, &e->fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_read(e->f, e->open, &e->fh, 50000, &got), 0);
	assert_int_equal(got, 50000);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes);
	assert_int_equal(fix_count(e->f, OP_READ), reads);
	assert_int_equal(ds_count(e, OP_READ), 1);
	assert_int_equal(e->ds.uid[OP_WRITE], 1000); /* as the layout says */
	assert_int_equal(e->ds.nsessions, 1);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(e->ds.nsessions, 0);
	assert_int_equal(e->ds.nclients, 0);
}

static void a_coupled_data_server_knows_the_caller(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.tight = true;
	e->f->srv.layouts.user = "user@domain"; /* to be ignored */
	open_file(e);
	until_written(e);
	assert_int_equal(e->ds.uid[OP_WRITE], 0);
}

static void an_error_is_reported(void **state)
{
	struct env *e = *state;

	open_file(e);
	until_written(e);
	ds_fails(e, OP_WRITE, NFS4ERR_BAD_STATEID, 1);
	falls_back(e, NFS4ERR_BAD_STATEID);
	until_written(e);
}

static void a_data_server_in_its_grace_period_is_not_waited_for(void **state)
{
	struct env *e = *state;

	open_file(e);
	until_written(e);
	ds_fails(e, OP_WRITE, NFS4ERR_GRACE, 1000);
	falls_back(e, NFS4ERR_NXIO);
	ds_fails(e, 0, 0, 0);
	until_written(e);
}

static void less_than_stable_is_an_error(void **state)
{
	struct env *e = *state;

	open_file(e);
	until_written(e);
	pthread_mutex_lock(&e->ds.lock);
	e->ds.quirk = Q_WRITE_UNSTABLE;
	e->ds.quirk_times = 1;
	pthread_mutex_unlock(&e->ds.lock);
	falls_back(e, NFS4ERR_IO);
}

static void a_restarted_data_server_is_used_again(void **state)
{
	struct env *e = *state;

	open_file(e);
	until_written(e);
	mean_reboot(&e->ds);
	until_written(e);
	assert_int_equal(e->ds.nsessions, 1);
}

/* The data server answers, but takes its time over the next session. */
static void a_data_server_without_a_session_is_not_waited_for(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf = mem_buf_get(e->f->pool, 5000);
	struct nfs_op op;
	unsigned writes;
	sem_t sem;

	open_file(e);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	ds_fails(e, OP_EXCHANGE_ID, NFS4ERR_DELAY, UINT32_MAX);
	mean_reboot(&e->ds);
	for (unsigned i = 0; i < 5; i++) {
		op = (struct nfs_op){.type = NFS_WRITE};
		op.u.write.open = e->open;
		op.u.write.fh = e->fh;
		op.u.write.from = seg_list_of_buf(buf, 0, 5000);
		fix_start(e->f, &op, &sem);
		assert_true(fix_ends_within(&sem, PATIENCE_MS));
		assert_int_equal(op.error, 0);
	}
	assert_true(fix_count(e->f, OP_WRITE) >= writes + 5);
	ds_fails(e, 0, 0, 0);
	until_written(e);
	mem_buf_unref(buf);
}

static void a_write_under_way_at_a_dying_data_server_ends(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op = {.type = NFS_WRITE};
	unsigned writes;
	sem_t sem;

	open_file(e);
	until_written(e);
	pthread_mutex_lock(&e->ds.lock);
	e->ds.hold_op = OP_WRITE;
	pthread_mutex_unlock(&e->ds.lock);
	buf = mem_buf_get(e->f->pool, 5000);
	op.u.write.open = e->open;
	op.u.write.fh = e->fh;
	op.u.write.offset = 7000;
	op.u.write.from = seg_list_of_buf(buf, 0, 5000);
	fix_start(e->f, &op, &sem);
	assert_true(mean_wait(&e->ds, &e->ds.nheld, 1));
	writes = fix_count(e->f, OP_WRITE);
	e->ds.server = rpc_server_free(e->ds.server);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(op.u.write.count, 5000);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_NXIO);
	mean_release(&e->ds); /* into nothing */
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(fix_write(e->f, e->open, &e->fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	mem_buf_unref(buf);
}

static void a_lost_connection_ends_what_is_under_way(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op = {.type = NFS_WRITE};
	unsigned writes;
	sem_t sem;

	open_file(e);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	pthread_mutex_lock(&e->ds.lock);
	e->ds.cut_op = OP_WRITE;
	e->ds.cut_times = 1;
	pthread_mutex_unlock(&e->ds.lock);
	buf = mem_buf_get(e->f->pool, 5000);
	op.u.write.open = e->open;
	op.u.write.fh = e->fh;
	op.u.write.from = seg_list_of_buf(buf, 0, 5000);
	fix_start(e->f, &op, &sem);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	/* given up, or sent again over the next connection, whichever is sooner */
	assert_true(fix_count(e->f, OP_WRITE) <= writes + 1);
	mem_buf_unref(buf);
	until_written(e);
}

static void no_news(void *ctx)
{
}

/* The metadata server is the data server, and one of its connections is up. */
static void a_data_server_with_one_of_two_connections_is_up(void **state)
{
	struct env *e = *state;
	struct err err = {.kind = ERR_NONE};
	struct nfs4_server *srv;
	struct nfs4_ds_v4 *ds;

	e->f->nconnect = 2;
	fix_mount_root(e->f);
	srv = nfs4_client(e->f->nfs)->srv;
	rpc_client_stop(srv->conn[0].rpc);
	ds = nfs4_ds_v4_join(srv, no_news, NULL, &err);
	assert_non_null(ds);
	assert_false(atomic_load(&ds->lost));
	nfs4_ds_v4_free(ds);
	fix_unmount_clean(e->f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DS(data_goes_to_the_data_server),
		WITH_DS(a_coupled_data_server_knows_the_caller),
		WITH_DS(an_error_is_reported),
		WITH_DS(a_data_server_in_its_grace_period_is_not_waited_for),
		WITH_DS(less_than_stable_is_an_error),
		WITH_DS(a_restarted_data_server_is_used_again),
		WITH_DS(a_data_server_without_a_session_is_not_waited_for),
		WITH_DS(a_write_under_way_at_a_dying_data_server_ends),
		WITH_DS(a_lost_connection_ends_what_is_under_way),
		WITH_DS(a_data_server_with_one_of_two_connections_is_up),
	};

	return cmocka_run_group_tests_name("nfs4_ds_v4", tests, NULL, NULL);
}
