/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_pnfs: recalls, closes, and the ends of mounts that use
 * layouts.
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

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "tests/unit/nfsproto/v4/mean-run.h"
#include "tests/unit/nfsproto/v4/pnfs/pnfs-fixture.h"

/* --- the metadata server ------------------------------------------------------------------- */

static struct nfs4_cb_layoutrecall_args recall_of(struct env *e)
{
	struct nfs4_cb_layoutrecall_args a = {
		.type = LAYOUT4_FLEX_FILES,
		.iomode = LAYOUTIOMODE4_ANY,
		.recall = LAYOUTRECALL4_FILE,
		.fh = e->fh,
		.length = NFS4_LENGTH_EOF,
	};

	pthread_mutex_lock(&e->f->srv.lock);
	a.stateid = mean_layout_id(&e->f->srv.layouts);
	pthread_mutex_unlock(&e->f->srv.lock);
	return a;
}

/* A recall of one file takes a seqid, which LAYOUTRETURN must know. */
static void take_seqid(struct env *e, struct nfs4_cb_layoutrecall_args *a)
{
	pthread_mutex_lock(&e->f->srv.lock);
	a->stateid.seqid = ++e->f->srv.layouts.seqid;
	pthread_mutex_unlock(&e->f->srv.lock);
}

static void a_recalled_layout_goes_back_and_comes_again(void **state)
{
	struct env *e = *state;
	struct nfs4_cb_layoutrecall_args a;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	a = recall_of(e);
	take_seqid(e, &a);
	assert_int_equal(mean_layoutrecall(&e->f->srv, 1, &a), NFS4_OK);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	a.fh.data[1]++;
	assert_int_equal(mean_layoutrecall(&e->f->srv, 2, &a), NFS4ERR_NOMATCHING_LAYOUT);
	a.type = LAYOUT4_BLOCK_VOLUME;
	assert_int_equal(mean_layoutrecall(&e->f->srv, 3, &a), NFS4ERR_NOMATCHING_LAYOUT);
	pnfs_until_written(e);
}

/* A server that recalls all layouts takes no LAYOUTRETURN of one (RFC 8881 section 12.5.5.2.1.5).
 */
static void all_layouts_are_let_go_if_the_server_wants_that(void **state)
{
	struct env *e = *state;
	struct nfs4_cb_layoutrecall_args a;
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	unsigned gets, calls;
	uint32_t seq = 0, status;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	fix_fails(e->f, OP_LAYOUTRETURN, NFS4ERR_RECALLCONFLICT, UINT32_MAX);
	gets = fix_count(e->f, OP_LAYOUTGET);
	a = recall_of(e);
	a.recall = LAYOUTRECALL4_ALL;
	while ((status = mean_layoutrecall(&e->f->srv, ++seq, &a)) != NFS4ERR_NOMATCHING_LAYOUT) {
		assert_int_equal(status, NFS4ERR_DELAY);
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_write_at(e, 0, 100000), 0);
		usleep(5000);
	}
	calls = pnfs_all_calls(e, 0);
	assert_int_equal(pnfs_write_at(e, 0, 100000), 0);
	assert_int_equal(pnfs_all_calls(e, 0), calls);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
	fix_fails(e->f, OP_LAYOUTRETURN, NFS4_OK, 0);
}

/* LAYOUTRETURN waits for the I/O under way, and for its LAYOUTCOMMIT. */
static void a_recall_waits_for_io_under_way(void **state)
{
	struct env *e = *state;
	struct nfs4_cb_layoutrecall_args a;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned commits;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTCOMMIT;
	commits = e->f->srv.layouts.commits;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 5000);
	op = pnfs_write_op(e, buf, 7000, 5000);
	fix_start(e->f, &op, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	a = recall_of(e);
	assert_int_equal(mean_layoutrecall(&e->f->srv, 1, &a), NFS4_OK);
	usleep(50000);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
	mean_release(&e->f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.commits), commits + 1);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	mem_buf_unref(buf);
}

/* The data servers refuse a fenced client while its WRITE is under way: the metadata server gets
 * the data, once the client has let go of the layout. */
static void a_layout_revoked_in_mid_write_loses_nothing(void **state)
{
	static const uint32_t how[] = {NFS4ERR_ADMIN_REVOKED, NFS4ERR_EXPIRED, NFS4ERR_BAD_STATEID};
	struct env *e = *state;
	unsigned writes;

	e->f->srv.layouts.nstripes = 2;
	e->f->srv.layouts.unit = UNIT;
	pnfs_open_file(e, O_RDWR);
	for (unsigned i = 0; i < 3; i++) {
		pnfs_order(&e->ds[1], 0);
		pnfs_until_written(e);
		writes = fix_count(e->f, OP_WRITE);
		fix_fails(e->f, OP_LAYOUTRETURN, how[i], 1);
		pnfs_order(&e->ds[1], NFS3ERR_ACCES);
		assert_int_equal(pnfs_write_at(e, 0, 4 * UNIT), 0);
		assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
		assert_int_equal(e->f->srv.write_at, 0);
		assert_int_equal(fix_count(e->f, OP_FREE_STATEID), i == 0 ? 1 : 2);
	}
}

static void data_that_cannot_be_committed_is_written_again(void **state)
{
	struct env *e = *state;
	unsigned writes;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	fix_fails(e->f, OP_LAYOUTCOMMIT, NFS4ERR_BAD_STATEID, 1);
	assert_int_equal(pnfs_write_at(e, 3000, 1000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.write_at, 3000);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	pnfs_until_written(e);
}

/* The metadata server shuts the data server out when the layout comes back (RFC 8435 section 2.2).
 * So a server that puts LAYOUTRETURN off is asked again before the data goes another way: otherwise
 * the WRITE that the data server has still to execute could undo a later one. */
static void a_failed_write_waits_until_the_layout_is_back(void **state)
{
	static const uint32_t how[] = {NFS4ERR_DELAY, NFS4ERR_GRACE};
	struct env *e = *state;
	struct mean_srv *srv;
	unsigned writes;

	pnfs_open_file(e, O_RDWR);
	srv = &e->f->srv;
	for (unsigned i = 0; i < 2; i++) {
		pnfs_until_written(e);
		writes = fix_count(e->f, OP_WRITE);
		fix_fails(e->f, OP_LAYOUTRETURN, how[i], 2);
		pnfs_order(&e->ds[0], NFS3ERR_IO);
		assert_int_equal(pnfs_write_at(e, 3000, 1000), 0);
		assert_int_equal(pnfs_count(e, &srv->layouts.returns), i + 1);
		assert_int_equal(pnfs_count(e, &srv->layouts.error), NFS4ERR_IO);
		assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
		pnfs_order(&e->ds[0], 0);
	}
}

/* Not for ever: after a lease time the server has ended the layout itself. */
static void a_failed_write_waits_for_a_lease_time_at_most(void **state)
{
	struct env *e = *state;
	unsigned writes;

	e->f->srv.lease_s = 1;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	fix_fails(e->f, OP_LAYOUTRETURN, NFS4ERR_DELAY, UINT32_MAX);
	pnfs_order(&e->ds[0], NFS3ERR_IO);
	assert_int_equal(pnfs_write_at(e, 3000, 1000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
}

static void a_restarted_server_has_no_layouts(void **state)
{
	struct env *e = *state;
	unsigned gets;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	gets = fix_count(e->f, OP_LAYOUTGET);
	mean_reboot(&e->f->srv);
	assert_int_equal(pnfs_write_at(e, 3000, 1000), 0);
	pnfs_until_written(e);
	assert_true(fix_count(e->f, OP_LAYOUTGET) > gets);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
	assert_int_equal(e->f->srv.early, 0);
}

static void a_layout_goes_back_at_close_if_the_server_wants_that(void **state)
{
	struct env *e = *state;

	struct nfs_open *other;
	struct nfs_fh fh;
	unsigned calls;

	e->f->srv.layouts.return_on_close = true;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	other = fix_open(e->f, O_RDONLY, &fh);
	assert_int_equal(fix_close(e->f, other), 0);
	usleep(50000);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
	calls = fix_count(e->f, OP_SEQUENCE);
	assert_int_equal(fix_close(e->f, e->open), 0);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 1);
	assert_int_equal(fix_count(e->f, OP_SEQUENCE), calls + 1);
	/* the file has a layout again at once */
	e->open = fix_open(e->f, O_RDWR, &e->fh);
	calls = fix_count(e->f, OP_WRITE);
	assert_int_equal(pnfs_write_at(e, 0, 100000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), calls);
}

/* The client closes the file even if the server refuses LAYOUTRETURN. */
static void closes_though(struct env *e, uint32_t status, unsigned calls)
{
	unsigned closes, before;

	e->f->srv.layouts.return_on_close = true;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	fix_fails(e->f, OP_LAYOUTRETURN, status, 1);
	closes = fix_count(e->f, OP_CLOSE);
	before = fix_count(e->f, OP_SEQUENCE);
	assert_int_equal(fix_close(e->f, e->open), 0);
	assert_int_equal(fix_count(e->f, OP_CLOSE), closes + 1);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	assert_int_equal(fix_count(e->f, OP_SEQUENCE), before + calls);
	fix_unmount_clean(e->f);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 1);
}

static void a_recall_beside_a_close_costs_a_second_attempt(void **state)
{
	closes_though(*state, NFS4ERR_OLD_STATEID, 2);
}

static void a_layout_that_does_not_go_back_with_close_goes_alone(void **state)
{
	closes_though(*state, NFS4ERR_SERVERFAULT, 3);
}

#define FILES 8

/* Opens FILES files, and has a large READ of each wait for its layout at a server that holds them
 * all back. */
static void all_ask(
	struct env *e, struct nfs_open **open, struct mem_buf *buf, struct nfs_op *op, sem_t *sem)
{
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	for (unsigned i = 0; i < FILES; i++) {
		struct nfs_op by_handle = {.type = NFS_OPEN};

		by_handle.u.open.dir = (struct nfs_fh){.len = 2, .data = "F"};
		by_handle.u.open.dir.data[1] = (uint8_t)('1' + i);
		by_handle.u.open.flags = O_RDONLY;
		assert_int_equal(fix_run(e->f, &by_handle), 0);
		open[i] = by_handle.u.open.open;
		op[i] = (struct nfs_op){.type = NFS_READ};
		op[i].u.read.open = open[i];
		op[i].u.read.fh = by_handle.u.open.fh;
		op[i].u.read.to = seg_list_of_buf(buf, 0, 50000);
		fix_start(e->f, &op[i], &sem[i]);
	}
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, FILES));
}

static void layouts_of_many_files_are_asked_for_at_once(void **state)
{
	struct env *e = *state;
	struct nfs_open *open[FILES];
	struct nfs_op op[FILES];
	sem_t sem[FILES];
	struct mem_buf *buf;
	unsigned reads;

	pnfs_open_file(e, O_RDONLY);
	pnfs_until_direct(e, 0);
	buf = mem_buf_get(e->f->pool, 50000);
	all_ask(e, open, buf, op, sem);
	reads = fix_count(e->f, OP_READ);
	mean_release(&e->f->srv);
	for (unsigned i = 0; i < FILES; i++) {
		assert_true(fix_ends_within(&sem[i], PATIENCE_MS));
		assert_int_equal(op[i].error, 0);
		assert_int_equal(op[i].u.read.count, 50000);
		assert_int_equal(fix_close(e->f, open[i]), 0);
	}
	assert_int_equal(fix_count(e->f, OP_READ), reads);
	mem_buf_unref(buf);
}

/* The server vanishes for good in the middle of the pNFS thread's calls. */
static void unmounting_waits_for_no_lost_server(void **state)
{
	struct env *e = *state;
	struct nfs_open *open[FILES];
	struct nfs_op op[FILES];
	sem_t sem[FILES];
	struct mem_buf *buf;
	uint64_t before;

	fix_mount_root(e->f);
	buf = mem_buf_get(e->f->pool, 50000);
	all_ask(e, open, buf, op, sem);
	mean_release(&e->f->srv);
	e->f->srv.server = rpc_server_free(e->f->srv.server);
	before = fix_now_ms();
	e->f->nfs = nfs_client_free(e->f->nfs);
	assert_true(fix_now_ms() - before < 9000);
	for (unsigned i = 0; i < FILES; i++)
		assert_true(fix_ends_within(&sem[i], PATIENCE_MS));
	mem_buf_unref(buf);
}

/* The server falls silent in the middle of the pNFS thread's call. */
static void unmounting_waits_for_no_silent_server(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	uint64_t before;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 50000);
	pnfs_start_read(e, &op, buf, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	before = fix_now_ms();
	e->f->nfs = nfs_client_free(e->f->nfs);
	assert_true(fix_now_ms() - before < 9000); /* the call alone may last 10 s */
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, -ENOTCONN);
	mem_buf_unref(buf);
}

/* --- without ------------------------------------------------------------------------------- */

static void without_the_option_no_layout_is_asked_for(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	e->f->pnfs = false;
	pnfs_open_file(e, O_RDWR);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(pnfs_read_at(e, 0, 100, true, &got, &eof), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTRETURN), 0);
}

static void rest_until(struct env *e, uint64_t ns)
{
	struct nfs4_pnfs *p = atomic_load(&nfs4_client(e->f->nfs)->pnfs);

	mutex_lock(&p->layouts.lock);
	p->layouts.rest_ns = ns;
	mutex_unlock(&p->layouts.lock);
}

static void settle(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;

	while (nfs_client_settle(e->f->nfs)) {
		assert_true(fix_now_ms() < until);
		usleep(1000);
	}
}

static void a_mount_that_settles_has_no_layouts(void **state)
{
	struct env *e = *state;
	unsigned gets, calls;
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0);
	settle(e);
	rest_until(e, UINT64_MAX); /* not only for a second */
	assert_int_equal(pnfs_count(e, &e->f->srv.count[OP_LAYOUTRETURN]), 1);
	pthread_mutex_lock(&e->f->srv.lock);
	assert_false(e->f->srv.layouts.held);
	pthread_mutex_unlock(&e->f->srv.lock);
	gets = fix_count(e->f, OP_LAYOUTGET);
	calls = pnfs_all_calls(e, 0);
	for (unsigned i = 0; i < 2 * NFS4_LAYOUT_SMALL; i++)
		assert_int_equal(pnfs_read_at(e, 0, 100, true, &got, &eof), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
	assert_int_equal(pnfs_all_calls(e, 0), calls);
	rest_until(e, 0);
	pnfs_until_direct(e, 0);
}

/* The mount is taken over, and its former client says nothing. */
static void a_mount_that_is_taken_over_has_layouts_again(void **state)
{
	struct env *e = *state;
	struct nfs_client *former;
	struct nfs_mount_params p;
	static uint8_t bytes[1 << 16];
	struct err err = {.kind = ERR_NONE};
	struct nfs_record rec = {.data = bytes, .nopens = 1, .open = &e->open};
	struct xdr_out x;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0);
	settle(e);
	rest_until(e, UINT64_MAX);
	xdr_out_init(&x, bytes, sizeof(bytes));
	nfs_client_record(e->f->nfs, &e->open, 1, &x);
	rec.len = x.len;
	rec.peer = *nfs_client_peer(e->f->nfs, &rec.peer_len);
	p = fix_params(e->f, "/");
	p.record = &rec;
	former = e->f->nfs;
	e->f->nfs = nfs_client_new(&p, &err);
	assert_non_null(e->f->nfs);
	pnfs_until_direct(e, 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	nfs_client_leave_by(former, 1);
	nfs_client_free(former);
}

static void a_server_without_layouts_is_mounted_all_the_same(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.gives = false;
	pnfs_open_file(e, O_RDWR);
	assert_int_equal(pnfs_read_at(e, 0, 100, true, &got, &eof), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DS(a_recalled_layout_goes_back_and_comes_again),
		WITH_DS(all_layouts_are_let_go_if_the_server_wants_that),
		WITH_DS(a_recall_waits_for_io_under_way),
		WITH_DS(a_layout_revoked_in_mid_write_loses_nothing),
		WITH_DS(data_that_cannot_be_committed_is_written_again),
		WITH_DS(a_failed_write_waits_until_the_layout_is_back),
		WITH_DS(a_failed_write_waits_for_a_lease_time_at_most),
		WITH_DS(a_restarted_server_has_no_layouts),
		WITH_DS(a_layout_goes_back_at_close_if_the_server_wants_that),
		WITH_DS(a_recall_beside_a_close_costs_a_second_attempt),
		WITH_DS(a_layout_that_does_not_go_back_with_close_goes_alone),
		WITH_DS(layouts_of_many_files_are_asked_for_at_once),
		WITH_DS(unmounting_waits_for_no_lost_server),
		WITH_DS(unmounting_waits_for_no_silent_server),
		WITH_DS(without_the_option_no_layout_is_asked_for),
		WITH_DS(a_mount_that_settles_has_no_layouts),
		WITH_DS(a_mount_that_is_taken_over_has_layouts_again),
		WITH_DS(a_server_without_layouts_is_mounted_all_the_same),
	};

	return cmocka_run_group_tests_name("nfs4_pnfs", tests, NULL, NULL);
}
