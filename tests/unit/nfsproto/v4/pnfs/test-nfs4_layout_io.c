/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_layout_io: READs and WRITEs at data servers, also at such
 * that fail.
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

/* --- the data path ------------------------------------------------------------------------- */

static void data_goes_to_the_data_server_and_attributes_come_with_layoutcommit(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned writes;
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0);
	pnfs_until_direct(e, 0);
	/* the first layout may be one to read */
	while (!mean_ds_count(&e->ds[0], &e->ds[0].writes))
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	writes = fix_count(e->f, OP_WRITE);
	buf = mem_buf_get(e->f->pool, 200000);
	op = pnfs_write_op(e, buf, 50000, 200000);
	assert_int_equal(fix_run(e->f, &op), 0);
	assert_int_equal(op.u.write.committed, NFS_FILE_SYNC);
	assert_true(op.u.write.attr.have);
	assert_int_equal(op.u.write.attr.size, 250000);
	mem_buf_unref(buf);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes);
	assert_int_equal(e->f->srv.layouts.last, 249999);
	assert_int_equal(pnfs_read_at(e, 50000, 200000, false, &got, &eof), 0);
	assert_int_equal(got, 200000);
	assert_true(eof);
	assert_int_equal(e->ds[0].refused, 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(e->f->srv.layouts.returns_all, 1);
	assert_false(e->f->srv.layouts.held);
}

static void stripes_lie_at_their_data_servers(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.nstripes = 2;
	e->f->srv.layouts.unit = UNIT;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0);
	pnfs_until_direct(e, 1);
	while (!mean_ds_count(&e->ds[1], &e->ds[1].writes))
		assert_int_equal(pnfs_write_at(e, UNIT, 10), 0);
	assert_int_equal(pnfs_write_at(e, 100, 20000), 0);
	for (uint32_t i = 100; i < 20100; i++) {
		unsigned stripe = i / UNIT % 2;

		assert_int_equal(e->ds[stripe].data[i], pnfs_byte_at(i) ^ 0x55);
		assert_int_equal(e->ds[!stripe].data[i], pnfs_byte_at(i));
	}
	assert_int_equal(pnfs_read_at(e, 100, 20000, false, &got, &eof), 0);
	assert_int_equal(got, 20000);
	assert_false(eof);
	/* only the metadata server knows where a file in stripes ends */
	assert_int_equal(pnfs_read_at(e, FILE_SIZE - 100, 20000, true, &got, &eof), 0);
	assert_int_equal(got, 100);
	assert_true(eof);
}

static void a_write_reaches_all_mirrors(void **state)
{
	struct env *e = *state;
	unsigned reads;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.nmirrors = 2;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0);
	while (!mean_ds_count(&e->ds[1], &e->ds[1].writes))
		assert_int_equal(pnfs_write_at(e, 0, 10), 0);
	assert_int_equal(pnfs_write_at(e, 10, 5000), 0);
	for (unsigned m = 0; m < 2; m++)
		for (uint32_t i = 0; i < 5010; i++)
			assert_int_equal(e->ds[m].data[i], pnfs_byte_at(i) ^ 0x55);
	reads = mean_ds_count(&e->ds[1], &e->ds[1].reads);
	assert_int_equal(pnfs_read_at(e, 0, 5010, false, &got, &eof), 0);
	assert_int_equal(got, 5010);
	assert_int_equal(mean_ds_count(&e->ds[1], &e->ds[1].reads), reads);
}

static void large_io_waits_for_the_layout(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0); /* by a layout to read */
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 100000);
	op = pnfs_write_op(e, buf, 0, 100000);
	fix_start(e->f, &op, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	assert_int_equal(pnfs_write_at(e, 0, 100), 0); /* a small one does not */
	assert_int_equal(fix_count(e->f, OP_WRITE), 1);
	assert_false(fix_ends_within(&sem, 50));
	mean_release(&e->f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), 1);
	assert_int_equal(mean_ds_count(&e->ds[0], &e->ds[0].writes), 1);
	mem_buf_unref(buf);
}

static void a_cancelled_read_waits_for_no_layout(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 50000);
	pnfs_start_read(e, &op, buf, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, -EINTR);
	assert_int_equal(e->f->srv.nheld, 1);
	mean_release(&e->f->srv);
	mem_buf_unref(buf);
}

static void a_cancelled_read_waits_for_no_data_server(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned reads;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_direct(e, 0);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	reads = e->ds[0].silenced;
	pthread_mutex_unlock(&e->ds[0].lock);
	buf = mem_buf_get(e->f->pool, 50000);
	pnfs_start_read(e, &op, buf, &sem);
	assert_true(mean_ds_wait(&e->ds[0], &e->ds[0].silenced, reads + 1));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 9000)); /* before the call times out */
	assert_int_equal(op.error, -EINTR);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
	mem_buf_unref(buf);
}

static void a_small_file_has_no_layout(void **state)
{
	struct env *e = *state;

	pnfs_open_file(e, O_RDWR);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(pnfs_write_at(e, i * 1000, 1000), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTRETURN), 0);
}

static void large_io_goes_on_without_a_layout(void **state)
{
	struct env *e = *state;

	fix_fails(e->f, OP_LAYOUTGET, NFS4ERR_LAYOUTUNAVAILABLE, 1);
	pnfs_open_file(e, O_RDWR);
	assert_int_equal(pnfs_write_at(e, 0, 100000), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 1);
	assert_int_equal(pnfs_write_at(e, 0, 100000), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 1);
	assert_int_equal(fix_count(e->f, OP_WRITE), 2);
}

static void statistics_show_data_servers(void **state)
{
	struct rpc_client_stats stats, all;
	struct nfs_client_info info;
	struct rpc_client_info one;
	struct env *e = *state;

	pnfs_open_file(e, O_RDONLY);
	assert_true(nfs_client_path(e->f->nfs, 0, &one, &stats));
	assert_non_null(strstr(one.server, "127.0.0.1:"));
	assert_false(nfs_client_path(e->f->nfs, 1, &one, &stats));
	pnfs_until_direct(e, 0);
	assert_true(nfs_client_path(e->f->nfs, 1, &one, &stats));
	assert_true(one.connected);
	assert_non_null(strstr(one.server, "127.0.0.1:"));
	assert_true(stats.calls >= 1);
	assert_false(nfs_client_path(e->f->nfs, 2, &one, &stats));
	nfs_client_info(e->f->nfs, &info);
	assert_int_equal(info.connections, 1);
	nfs_client_path(e->f->nfs, 0, &one, &stats);
	nfs_client_stats(e->f->nfs, &all);
	assert_true(all.calls > stats.calls);
}

static void a_server_may_want_reads_by_a_layout_to_read(void **state)
{
	struct env *e = *state;
	unsigned gets;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.flags = FF_FLAGS_NO_READ_IO;
	pnfs_open_file(e, O_RDWR);
	while (!mean_ds_count(&e->ds[0], &e->ds[0].writes))
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	assert_int_equal(pnfs_read_at(e, 20000, 50000, true, &got, &eof), 0);
	assert_int_equal(got, 50000);
	assert_int_equal(mean_ds_count(&e->ds[0], &e->ds[0].reads), 1);
	gets = fix_count(e->f, OP_LAYOUTGET);
	assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	assert_int_equal(pnfs_read_at(e, 20000, 50000, true, &got, &eof), 0);
	assert_int_equal(mean_ds_count(&e->ds[0], &e->ds[0].reads), 2);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
}

static void a_server_may_want_no_layoutcommit(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned writes;

	e->f->srv.layouts.flags = FF_FLAGS_NO_LAYOUTCOMMIT;
	pnfs_open_file(e, O_RDWR);
	while (!mean_ds_count(&e->ds[0], &e->ds[0].writes))
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
	writes = fix_count(e->f, OP_WRITE);
	buf = mem_buf_get(e->f->pool, 5000);
	op = pnfs_write_op(e, buf, 0, 5000);
	assert_int_equal(fix_run(e->f, &op), 0);
	assert_true(op.u.write.attr.have);
	assert_int_equal(fix_count(e->f, OP_LAYOUTCOMMIT), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes);
	mem_buf_unref(buf);
}

/* Such a server is not asked again and again. */
static void a_layout_for_no_use_is_asked_for_once(void **state)
{
	struct env *e = *state;
	unsigned gets;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.flags = FF_FLAGS_NO_READ_IO;
	e->f->srv.layouts.writes_only = true;
	pnfs_open_file(e, O_RDWR);
	assert_int_equal(pnfs_read_at(e, 0, 50000, true, &got, &eof), 0);
	gets = fix_count(e->f, OP_LAYOUTGET);
	assert_int_equal(gets, 1);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(pnfs_read_at(e, 0, 50000, true, &got, &eof), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
	assert_int_equal(pnfs_all_calls(e, 0), 0);
}

static void a_layout_may_have_several_segments(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.second = 30000;
	pnfs_open_file(e, O_RDONLY);
	pnfs_until_direct(e, 0);
	assert_int_equal(pnfs_read_at(e, 20000, 20000, true, &got, &eof), 0);
	assert_int_equal(got, 20000);
	assert_true(mean_ds_count(&e->ds[0], &e->ds[0].reads) >= 3);
}

/* The data server of a segment has no bytes behind the segment, so its file may end in a hole of
 * the file. Only the metadata server knows which. */
static void the_end_at_a_data_server_is_not_the_end_of_the_file(void **state)
{
	struct env *e = *state;
	unsigned reads;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.second = 30000;
	e->ds[0].size = 20000;
	pnfs_open_file(e, O_RDONLY);
	pnfs_until_direct(e, 0);
	assert_int_equal(pnfs_read_at(e, 15000, 10000, true, &got, &eof), 0);
	assert_int_equal(got, 10000);
	assert_false(eof);
	assert_int_equal(pnfs_read_at(e, 22000, 5000, true, &got, &eof), 0);
	assert_int_equal(got, 5000);
	assert_false(eof);
	/* the last segment's end is the file's */
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].size = FILE_SIZE;
	pthread_mutex_unlock(&e->ds[0].lock);
	reads = fix_count(e->f, OP_READ);
	assert_int_equal(pnfs_read_at(e, FILE_SIZE - 100, 1000, true, &got, &eof), 0);
	assert_int_equal(got, 100);
	assert_true(eof);
	assert_int_equal(fix_count(e->f, OP_READ), reads);
}

static void a_read_that_owes_attributes_goes_to_the_metadata_server(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op = {.type = NFS_READ};
	unsigned reads;

	pnfs_open_file(e, O_RDONLY);
	pnfs_until_direct(e, 0);
	reads = pnfs_all_calls(e, 0);
	buf = mem_buf_get(e->f->pool, 100);
	op.u.read.open = e->open;
	op.u.read.fh = e->fh;
	op.u.read.to = seg_list_of_buf(buf, 0, 100);
	op.u.read.want_attr = true;
	assert_int_equal(fix_run(e->f, &op), 0);
	assert_true(op.u.read.attr.have);
	assert_int_equal(pnfs_all_calls(e, 0), reads);
	mem_buf_unref(buf);
}

/* --- trouble at a data server -------------------------------------------------------------- */

/* One write goes wrong at the data server: the metadata server has it, and knows why. */
static void falls_back(struct env *e, uint32_t status)
{
	unsigned writes = fix_count(e->f, OP_WRITE);
	unsigned errors = pnfs_count(e, &e->f->srv.layouts.errors);

	assert_int_equal(pnfs_write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.write_at, 5000);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), errors + 1);
	assert_int_equal(e->f->srv.layouts.error, status);
}

static void a_data_server_that_fails_is_reported_and_tried_again(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pnfs_order(&e->ds[0], NFS3ERR_NOSPC);
	falls_back(e, NFS4ERR_NOSPC);
	pnfs_order(&e->ds[0], 0);
	pnfs_until_written(e);
	pnfs_order(&e->ds[0], NFS3ERR_IO);
	assert_int_equal(pnfs_read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(got, 100);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 2);
}

/* The address belongs to a server that knows neither the layout's user nor its handle. */
static void a_data_server_of_another_owner_gets_nothing(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].uid = 4242;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_ACCESS);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].uid = 1000;
	pthread_mutex_unlock(&e->ds[0].lock);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].fh.data[1]++;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_STALE);
	assert_int_equal(pnfs_read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(got, 100);
}

/* "Later" is no error of the data server. */
static void a_data_server_without_time_is_not_reported(void **state)
{
	struct env *e = *state;
	unsigned writes;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	pnfs_order(&e->ds[0], NFS3ERR_JUKEBOX);
	assert_int_equal(pnfs_write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	pnfs_order(&e->ds[0], 0);
	assert_int_equal(pnfs_write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.returns), 0);
}

/* The other data server may execute its part late, so the layout must go back. */
static void an_error_beside_a_later_is_reported(void **state)
{
	struct env *e = *state;
	unsigned writes;

	e->f->srv.layouts.nmirrors = 2;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	pnfs_order(&e->ds[0], NFS3ERR_JUKEBOX);
	pnfs_order(&e->ds[1], NFS3ERR_IO);
	assert_int_equal(pnfs_write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(pnfs_count(e, &e->f->srv.layouts.errors), 1);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_IO);
}

static void answers_that_lie_are_errors(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].unstable = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_IO);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].unstable = false;
	pthread_mutex_unlock(&e->ds[0].lock);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].write_max = 100;
	e->ds[0].read_lies = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_IO);
	/* until the layout is back, then one READ more */
	while (pnfs_count(e, &e->f->srv.layouts.errors) < 3)
		assert_int_equal(pnfs_read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_IO);
}

static void a_silent_data_server_is_waited_for_a_bounded_time(void **state)
{
	struct env *e = *state;

	e->f->timeo_ms = 300;
	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_NXIO);
}

static void a_data_server_that_died_is_used_again_when_it_is_back(void **state)
{
	struct env *e = *state;
	unsigned writes;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	mean_ds_kill(&e->ds[0]);
	writes = fix_count(e->f, OP_WRITE);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(pnfs_write_at(e, i * 1000, 1000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 20);
	mean_ds_revive(&e->ds[0]);
	pnfs_until_written(e);
}

static void a_data_server_that_was_never_there_costs_nothing(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	mean_ds_kill(&e->ds[0]);
	pnfs_open_file(e, O_RDWR);
	pnfs_until_asked(e);
	assert_int_equal(pnfs_write_at(e, 0, 5000), 0);
	assert_int_equal(pnfs_read_at(e, 20000, 100, true, &got, &eof), 0);
	mean_ds_revive(&e->ds[0]);
	pnfs_until_direct(e, 0); /* after a pause */
}

static void a_write_under_way_at_a_dying_data_server_ends(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned writes;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	writes = e->ds[0].writes;
	pthread_mutex_unlock(&e->ds[0].lock);
	buf = mem_buf_get(e->f->pool, 5000);
	op = pnfs_write_op(e, buf, 7000, 5000);
	fix_start(e->f, &op, &sem);
	assert_false(fix_ends_within(&sem, 100));
	mean_ds_kill(&e->ds[0]);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(op.u.write.count, 5000);
	assert_int_equal(e->f->srv.write_at, 7000);
	assert_int_equal(e->ds[0].writes, writes);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_NXIO);
	mem_buf_unref(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DS(data_goes_to_the_data_server_and_attributes_come_with_layoutcommit),
		WITH_DS(stripes_lie_at_their_data_servers),
		WITH_DS(a_write_reaches_all_mirrors),
		WITH_DS(large_io_waits_for_the_layout),
		WITH_DS(a_small_file_has_no_layout),
		WITH_DS(a_cancelled_read_waits_for_no_layout),
		WITH_DS(a_cancelled_read_waits_for_no_data_server),
		WITH_DS(large_io_goes_on_without_a_layout),
		WITH_DS(statistics_show_data_servers),
		WITH_DS(a_server_may_want_reads_by_a_layout_to_read),
		WITH_DS(a_server_may_want_no_layoutcommit),
		WITH_DS(a_layout_for_no_use_is_asked_for_once),
		WITH_DS(a_layout_may_have_several_segments),
		WITH_DS(the_end_at_a_data_server_is_not_the_end_of_the_file),
		WITH_DS(a_read_that_owes_attributes_goes_to_the_metadata_server),
		WITH_DS(a_data_server_that_fails_is_reported_and_tried_again),
		WITH_DS(a_data_server_of_another_owner_gets_nothing),
		WITH_DS(a_data_server_without_time_is_not_reported),
		WITH_DS(an_error_beside_a_later_is_reported),
		WITH_DS(answers_that_lie_are_errors),
		WITH_DS(a_silent_data_server_is_waited_for_a_bounded_time),
		WITH_DS(a_data_server_that_died_is_used_again_when_it_is_back),
		WITH_DS(a_data_server_that_was_never_there_costs_nothing),
		WITH_DS(a_write_under_way_at_a_dying_data_server_ends),
	};

	return cmocka_run_group_tests_name("nfs4_layout_io", tests, NULL, NULL);
}
