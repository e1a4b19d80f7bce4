/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs: a mount of mean-nfs4 that gives layouts, with data servers.
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
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "tests/unit/nfsproto/v4/pnfs/mean-ds.h"

#define DS   2
#define UNIT 4096u

struct env {
	struct fix *f;
	struct mean_ds ds[DS];
	struct nfs_open *open;
	struct nfs_fh fh;
};

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 2654435761u >> 24);
}

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	struct mean_layouts *l;

	fix_setup_unmounted((void **)&e->f);
	e->f->pnfs = true;
	l = &e->f->srv.layouts;
	l->gives = true;
	l->nmirrors = l->nstripes = 1;
	for (unsigned i = 0; i < DS; i++) {
		struct mean_ds *d = &e->ds[i];

		mean_ds_start(d);
		d->uid = 1000;
		d->gid = 1001;
		d->fh = (struct nfs_fh){.len = 2, .data = "DS"};
		d->size = FILE_SIZE;
		for (uint32_t at = 0; at < FILE_SIZE; at++)
			d->data[at] = byte_at(at);
		l->port[i] = d->port;
	}
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	fix_teardown((void **)&e->f);
	for (unsigned i = 0; i < DS; i++)
		mean_ds_stop(&e->ds[i]);
	free(e);
	return 0;
}

#define WITH_DS(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static struct nfs_op write_op(struct env *e, struct mem_buf *buf, uint64_t at, uint32_t len)
{
	struct nfs_op op = {.type = NFS_WRITE};

	for (uint32_t i = 0; i < len; i++)
		buf->data[i] = byte_at(at + i) ^ 0x55;
	op.u.write.open = e->open;
	op.u.write.fh = e->fh;
	op.u.write.offset = at;
	op.u.write.from = seg_list_of_buf(buf, 0, len);
	return op;
}

/* Writes bytes that tell their place. */
static int write_at(struct env *e, uint64_t at, uint32_t len)
{
	struct mem_buf *buf = mem_buf_get(e->f->pool, len);
	struct nfs_op op = write_op(e, buf, at, len);

	if (fix_run(e->f, &op) == 0)
		assert_int_equal(op.u.write.count, len);
	mem_buf_unref(buf);
	return op.error;
}

/* Reads; *got bytes came, each the one that write_at() has written, or (old) the first content. */
static int read_at(struct env *e, uint64_t at, uint32_t len, bool old, uint32_t *got, bool *eof)
{
	struct mem_buf *buf = mem_buf_get(e->f->pool, len);
	struct nfs_op op = {.type = NFS_READ};

	op.u.read.open = e->open;
	op.u.read.fh = e->fh;
	op.u.read.offset = at;
	op.u.read.to = seg_list_of_buf(buf, 0, len);
	op.u.read.moves = true;
	fix_run(e->f, &op);
	*got = op.error ? 0 : op.u.read.count;
	*eof = op.u.read.eof;
	if (!op.error) {
		const struct seg_list *in = op.u.read.moved.len ? &op.u.read.moved : &op.u.read.to;
		uint8_t *bytes = malloc(in->len);

		seg_list_gather(in, bytes);
		for (uint32_t i = 0; i < *got; i++)
			assert_int_equal(bytes[i], old ? byte_at(at + i) : byte_at(at + i) ^ 0x55);
		free(bytes);
	}
	nfs_read_let_go(&op);
	mem_buf_unref(buf);
	return op.error;
}

/* Mounts and opens the file. */
static void open_file(struct env *e, int flags)
{
	fix_mount_root(e->f);
	e->open = fix_open(e->f, flags, &e->fh);
}

static unsigned all_calls(struct env *e, unsigned i)
{
	return mean_ds_count(&e->ds[i], &e->ds[i].reads) +
	       mean_ds_count(&e->ds[i], &e->ds[i].writes);
}

/* Reads until a READ has come to data server i. */
static void until_direct(struct env *e, unsigned i)
{
	unsigned before = mean_ds_count(&e->ds[i], &e->ds[i].reads);
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	uint32_t got;
	bool eof;

	while (mean_ds_count(&e->ds[i], &e->ds[i].reads) == before) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(read_at(e, i * UNIT, 100, true, &got, &eof), 0);
		usleep(5000);
	}
}

/* Waits until LAYOUTGET has been answered, and for some I/O longer. */
static void until_asked(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	uint32_t got;
	bool eof;

	while (!fix_count(e->f, OP_LAYOUTGET)) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(read_at(e, 0, 100, true, &got, &eof), 0);
		usleep(5000);
	}
	for (unsigned i = 0; i < 10; i++, usleep(5000))
		assert_int_equal(read_at(e, 0, 100, true, &got, &eof), 0);
}

static unsigned count_layouts(struct env *e, const unsigned *counter)
{
	unsigned n;

	pthread_mutex_lock(&e->f->srv.lock);
	n = *counter;
	pthread_mutex_unlock(&e->f->srv.lock);
	return n;
}

/* --- the data path ------------------------------------------------------------------------- */

static void data_goes_to_the_data_server_and_attributes_come_with_layoutcommit(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned writes;
	uint32_t got;
	bool eof;

	open_file(e, O_RDWR);
	until_direct(e, 0);
	until_direct(e, 0);
	/* the first layout may be one to read */
	while (!mean_ds_count(&e->ds[0], &e->ds[0].writes))
		assert_int_equal(write_at(e, 0, 1000), 0);
	writes = fix_count(e->f, OP_WRITE);
	buf = mem_buf_get(e->f->pool, 200000);
	op = write_op(e, buf, 50000, 200000);
	assert_int_equal(fix_run(e->f, &op), 0);
	assert_int_equal(op.u.write.committed, NFS_FILE_SYNC);
	assert_true(op.u.write.attr.have);
	assert_int_equal(op.u.write.attr.size, 250000);
	mem_buf_unref(buf);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes);
	assert_int_equal(e->f->srv.layouts.last, 249999);
	assert_int_equal(read_at(e, 50000, 200000, false, &got, &eof), 0);
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
	open_file(e, O_RDWR);
	until_direct(e, 0);
	until_direct(e, 1);
	while (!mean_ds_count(&e->ds[1], &e->ds[1].writes))
		assert_int_equal(write_at(e, UNIT, 10), 0);
	assert_int_equal(write_at(e, 100, 20000), 0);
	for (uint32_t i = 100; i < 20100; i++) {
		unsigned stripe = i / UNIT % 2;

		assert_int_equal(e->ds[stripe].data[i], byte_at(i) ^ 0x55);
		assert_int_equal(e->ds[!stripe].data[i], byte_at(i));
	}
	assert_int_equal(read_at(e, 100, 20000, false, &got, &eof), 0);
	assert_int_equal(got, 20000);
	assert_false(eof);
	/* only the metadata server knows where a file in stripes ends */
	assert_int_equal(read_at(e, FILE_SIZE - 100, 20000, true, &got, &eof), 0);
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
	open_file(e, O_RDWR);
	until_direct(e, 0);
	while (!mean_ds_count(&e->ds[1], &e->ds[1].writes))
		assert_int_equal(write_at(e, 0, 10), 0);
	assert_int_equal(write_at(e, 10, 5000), 0);
	for (unsigned m = 0; m < 2; m++)
		for (uint32_t i = 0; i < 5010; i++)
			assert_int_equal(e->ds[m].data[i], byte_at(i) ^ 0x55);
	reads = mean_ds_count(&e->ds[1], &e->ds[1].reads);
	assert_int_equal(read_at(e, 0, 5010, false, &got, &eof), 0);
	assert_int_equal(got, 5010);
	assert_int_equal(mean_ds_count(&e->ds[1], &e->ds[1].reads), reads);
}

static void large_io_waits_for_the_layout(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	sem_t sem;

	open_file(e, O_RDWR);
	until_direct(e, 0); /* by a layout to read */
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 100000);
	op = write_op(e, buf, 0, 100000);
	fix_start(e->f, &op, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	assert_int_equal(write_at(e, 0, 100), 0); /* a small one does not */
	assert_int_equal(fix_count(e->f, OP_WRITE), 1);
	assert_false(fix_ends_within(&sem, 50));
	mean_release(&e->f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), 1);
	assert_int_equal(mean_ds_count(&e->ds[0], &e->ds[0].writes), 1);
	mem_buf_unref(buf);
}

/* Starts a READ of 50000 bytes. */
static void start_read(struct env *e, struct nfs_op *op, struct mem_buf *buf, sem_t *sem)
{
	*op = (struct nfs_op){.type = NFS_READ};
	op->u.read.open = e->open;
	op->u.read.fh = e->fh;
	op->u.read.to = seg_list_of_buf(buf, 0, 50000);
	fix_start(e->f, op, sem);
}

static void a_cancelled_read_waits_for_no_layout(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	sem_t sem;

	open_file(e, O_RDWR);
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 50000);
	start_read(e, &op, buf, &sem);
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

	open_file(e, O_RDWR);
	until_direct(e, 0);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	reads = e->ds[0].silenced;
	pthread_mutex_unlock(&e->ds[0].lock);
	buf = mem_buf_get(e->f->pool, 50000);
	start_read(e, &op, buf, &sem);
	assert_true(mean_ds_wait(&e->ds[0], &e->ds[0].silenced, reads + 1));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 9000)); /* before the call times out */
	assert_int_equal(op.error, -EINTR);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 0);
	mem_buf_unref(buf);
}

static void a_small_file_has_no_layout(void **state)
{
	struct env *e = *state;

	open_file(e, O_RDWR);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(write_at(e, i * 1000, 1000), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTRETURN), 0);
}

static void large_io_goes_on_without_a_layout(void **state)
{
	struct env *e = *state;

	fix_fails(e->f, OP_LAYOUTGET, NFS4ERR_LAYOUTUNAVAILABLE, 1);
	open_file(e, O_RDWR);
	assert_int_equal(write_at(e, 0, 100000), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 1);
	assert_int_equal(write_at(e, 0, 100000), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 1);
	assert_int_equal(fix_count(e->f, OP_WRITE), 2);
}

static void statistics_show_data_servers(void **state)
{
	struct rpc_client_stats stats, all;
	struct nfs_client_info info;
	struct rpc_client_info one;
	struct env *e = *state;

	open_file(e, O_RDONLY);
	assert_true(nfs_client_path(e->f->nfs, 0, &one, &stats));
	assert_non_null(strstr(one.server, "127.0.0.1:"));
	assert_false(nfs_client_path(e->f->nfs, 1, &one, &stats));
	until_direct(e, 0);
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
	open_file(e, O_RDWR);
	while (!mean_ds_count(&e->ds[0], &e->ds[0].writes))
		assert_int_equal(write_at(e, 0, 1000), 0);
	assert_int_equal(read_at(e, 20000, 50000, true, &got, &eof), 0);
	assert_int_equal(got, 50000);
	assert_int_equal(mean_ds_count(&e->ds[0], &e->ds[0].reads), 1);
	gets = fix_count(e->f, OP_LAYOUTGET);
	assert_int_equal(write_at(e, 0, 1000), 0);
	assert_int_equal(read_at(e, 20000, 50000, true, &got, &eof), 0);
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
	open_file(e, O_RDWR);
	while (!mean_ds_count(&e->ds[0], &e->ds[0].writes))
		assert_int_equal(write_at(e, 0, 1000), 0);
	writes = fix_count(e->f, OP_WRITE);
	buf = mem_buf_get(e->f->pool, 5000);
	op = write_op(e, buf, 0, 5000);
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
	open_file(e, O_RDWR);
	assert_int_equal(read_at(e, 0, 50000, true, &got, &eof), 0);
	gets = fix_count(e->f, OP_LAYOUTGET);
	assert_int_equal(gets, 1);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(read_at(e, 0, 50000, true, &got, &eof), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
	assert_int_equal(all_calls(e, 0), 0);
}

static void a_layout_may_have_several_segments(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	e->f->srv.layouts.second = 30000;
	open_file(e, O_RDONLY);
	until_direct(e, 0);
	assert_int_equal(read_at(e, 20000, 20000, true, &got, &eof), 0);
	assert_int_equal(got, 20000);
	assert_true(mean_ds_count(&e->ds[0], &e->ds[0].reads) >= 3);
}

static void a_read_that_owes_attributes_goes_to_the_metadata_server(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op = {.type = NFS_READ};
	unsigned reads;

	open_file(e, O_RDONLY);
	until_direct(e, 0);
	reads = all_calls(e, 0);
	buf = mem_buf_get(e->f->pool, 100);
	op.u.read.open = e->open;
	op.u.read.fh = e->fh;
	op.u.read.to = seg_list_of_buf(buf, 0, 100);
	op.u.read.want_attr = true;
	assert_int_equal(fix_run(e->f, &op), 0);
	assert_true(op.u.read.attr.have);
	assert_int_equal(all_calls(e, 0), reads);
	mem_buf_unref(buf);
}

/* --- trouble at a data server -------------------------------------------------------------- */

/* Writes until the data server gets it. */
static void until_written(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	unsigned before = mean_ds_count(&e->ds[0], &e->ds[0].writes);

	while (mean_ds_count(&e->ds[0], &e->ds[0].writes) == before) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(write_at(e, 0, 1000), 0);
		usleep(5000);
	}
}

/* One write goes wrong at the data server: the metadata server has it, and knows why. */
static void falls_back(struct env *e, uint32_t status)
{
	unsigned writes = fix_count(e->f, OP_WRITE);
	unsigned errors = count_layouts(e, &e->f->srv.layouts.errors);

	assert_int_equal(write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.write_at, 5000);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.errors), errors + 1);
	assert_int_equal(e->f->srv.layouts.error, status);
}

static void order(struct mean_ds *d, uint32_t status)
{
	pthread_mutex_lock(&d->lock);
	d->status = status;
	pthread_mutex_unlock(&d->lock);
}

static void a_data_server_that_fails_is_reported_and_tried_again(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	open_file(e, O_RDWR);
	until_written(e);
	order(&e->ds[0], NFS3ERR_NOSPC);
	falls_back(e, NFS4ERR_NOSPC);
	order(&e->ds[0], 0);
	until_written(e);
	order(&e->ds[0], NFS3ERR_IO);
	assert_int_equal(read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(got, 100);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.errors), 2);
}

/* "Later" is no error of the data server. */
static void a_data_server_without_time_is_not_reported(void **state)
{
	struct env *e = *state;
	unsigned writes;

	open_file(e, O_RDWR);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	order(&e->ds[0], NFS3ERR_JUKEBOX);
	assert_int_equal(write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	order(&e->ds[0], 0);
	assert_int_equal(write_at(e, 5000, 5000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 0);
}

static void answers_that_lie_are_errors(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	open_file(e, O_RDWR);
	until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].unstable = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_IO);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].unstable = false;
	pthread_mutex_unlock(&e->ds[0].lock);
	until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].write_max = 100;
	e->ds[0].read_lies = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_IO);
	/* until the layout is back, then one READ more */
	while (count_layouts(e, &e->f->srv.layouts.errors) < 3)
		assert_int_equal(read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(e->f->srv.layouts.error, NFS4ERR_IO);
}

static void a_silent_data_server_is_waited_for_a_bounded_time(void **state)
{
	struct env *e = *state;

	e->f->timeo_ms = 300;
	open_file(e, O_RDWR);
	until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	pthread_mutex_unlock(&e->ds[0].lock);
	falls_back(e, NFS4ERR_NXIO);
}

static void a_data_server_that_died_is_used_again_when_it_is_back(void **state)
{
	struct env *e = *state;
	unsigned writes;

	open_file(e, O_RDWR);
	until_written(e);
	mean_ds_kill(&e->ds[0]);
	writes = fix_count(e->f, OP_WRITE);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(write_at(e, i * 1000, 1000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 20);
	mean_ds_revive(&e->ds[0]);
	until_written(e);
}

static void a_data_server_that_was_never_there_costs_nothing(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	mean_ds_kill(&e->ds[0]);
	open_file(e, O_RDWR);
	until_asked(e);
	assert_int_equal(write_at(e, 0, 5000), 0);
	assert_int_equal(read_at(e, 20000, 100, true, &got, &eof), 0);
	mean_ds_revive(&e->ds[0]);
	until_direct(e, 0); /* after a pause */
}

static void a_write_under_way_at_a_dying_data_server_ends(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	unsigned writes;
	sem_t sem;

	open_file(e, O_RDWR);
	until_written(e);
	pthread_mutex_lock(&e->ds[0].lock);
	e->ds[0].silent = true;
	writes = e->ds[0].writes;
	pthread_mutex_unlock(&e->ds[0].lock);
	buf = mem_buf_get(e->f->pool, 5000);
	op = write_op(e, buf, 7000, 5000);
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

	open_file(e, O_RDWR);
	until_written(e);
	a = recall_of(e);
	take_seqid(e, &a);
	assert_int_equal(mean_layoutrecall(&e->f->srv, 1, &a), NFS4_OK);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	a.fh.data[1]++;
	assert_int_equal(mean_layoutrecall(&e->f->srv, 2, &a), NFS4ERR_NOMATCHING_LAYOUT);
	a.type = LAYOUT4_BLOCK_VOLUME;
	assert_int_equal(mean_layoutrecall(&e->f->srv, 3, &a), NFS4ERR_NOMATCHING_LAYOUT);
	until_written(e);
	a = recall_of(e);
	a.recall = LAYOUTRECALL4_ALL;
	assert_int_equal(mean_layoutrecall(&e->f->srv, 4, &a), NFS4_OK);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 2));
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

	open_file(e, O_RDWR);
	until_written(e);
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTCOMMIT;
	commits = e->f->srv.layouts.commits;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 5000);
	op = write_op(e, buf, 7000, 5000);
	fix_start(e->f, &op, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	a = recall_of(e);
	assert_int_equal(mean_layoutrecall(&e->f->srv, 1, &a), NFS4_OK);
	usleep(50000);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 0);
	mean_release(&e->f->srv);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.commits), commits + 1);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	mem_buf_unref(buf);
}

static void data_that_cannot_be_committed_is_written_again(void **state)
{
	struct env *e = *state;
	unsigned writes;

	open_file(e, O_RDWR);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	fix_fails(e->f, OP_LAYOUTCOMMIT, NFS4ERR_BAD_STATEID, 1);
	assert_int_equal(write_at(e, 3000, 1000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.write_at, 3000);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	until_written(e);
}

static void a_restarted_server_has_no_layouts(void **state)
{
	struct env *e = *state;
	unsigned gets;

	open_file(e, O_RDWR);
	until_written(e);
	gets = fix_count(e->f, OP_LAYOUTGET);
	mean_reboot(&e->f->srv);
	assert_int_equal(write_at(e, 3000, 1000), 0);
	until_written(e);
	assert_true(fix_count(e->f, OP_LAYOUTGET) > gets);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 0);
	assert_int_equal(e->f->srv.early, 0);
}

static void a_layout_goes_back_at_close_if_the_server_wants_that(void **state)
{
	struct env *e = *state;

	struct nfs_open *other;
	struct nfs_fh fh;
	unsigned calls;

	e->f->srv.layouts.return_on_close = true;
	open_file(e, O_RDWR);
	until_written(e);
	other = fix_open(e->f, O_RDONLY, &fh);
	assert_int_equal(fix_close(e->f, other), 0);
	usleep(50000);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 0);
	calls = fix_count(e->f, OP_SEQUENCE);
	assert_int_equal(fix_close(e->f, e->open), 0);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 1);
	assert_int_equal(fix_count(e->f, OP_SEQUENCE), calls + 1);
	/* the file has a layout again at once */
	e->open = fix_open(e->f, O_RDWR, &e->fh);
	calls = fix_count(e->f, OP_WRITE);
	assert_int_equal(write_at(e, 0, 100000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), calls);
}

/* The client closes the file even if the server refuses LAYOUTRETURN. */
static void closes_though(struct env *e, uint32_t status, unsigned calls)
{
	unsigned closes, before;

	e->f->srv.layouts.return_on_close = true;
	open_file(e, O_RDWR);
	until_written(e);
	fix_fails(e->f, OP_LAYOUTRETURN, status, 1);
	closes = fix_count(e->f, OP_CLOSE);
	before = fix_count(e->f, OP_SEQUENCE);
	assert_int_equal(fix_close(e->f, e->open), 0);
	assert_int_equal(fix_count(e->f, OP_CLOSE), closes + 1);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	assert_int_equal(fix_count(e->f, OP_SEQUENCE), before + calls);
	fix_unmount_clean(e->f);
	assert_int_equal(count_layouts(e, &e->f->srv.layouts.returns), 1);
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

	open_file(e, O_RDONLY);
	until_direct(e, 0);
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

	open_file(e, O_RDWR);
	pthread_mutex_lock(&e->f->srv.lock);
	e->f->srv.hold_op = OP_LAYOUTGET;
	pthread_mutex_unlock(&e->f->srv.lock);
	buf = mem_buf_get(e->f->pool, 50000);
	start_read(e, &op, buf, &sem);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.nheld, 1));
	before = fix_now_ms();
	e->f->nfs = nfs_client_free(e->f->nfs);
	assert_true(fix_now_ms() - before < 9000); /* the call alone may last 10 s */
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, -ENOTCONN);
	mem_buf_unref(buf);
}

/* --- hostile layouts ----------------------------------------------------------------------- */

/* Data goes through the metadata server, and nothing breaks. */
static void stays_away(struct env *e)
{
	uint32_t got;
	bool eof;

	open_file(e, O_RDWR);
	until_asked(e);
	assert_int_equal(write_at(e, 0, 5000), 0);
	assert_int_equal(read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(got, 100);
	assert_int_equal(all_calls(e, 0) + all_calls(e, 1), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_false(e->f->srv.layouts.held);
}

static void a_malformed_layout_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.malformed = true;
	stays_away(e);
}

static void segments_that_overlap_are_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.second = 30000;
	e->f->srv.layouts.overlaps = true;
	stays_away(e);
}

static void stripes_without_a_unit_are_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.nstripes = 2;
	stays_away(e);
}

static void a_layout_to_read_is_not_one_to_write(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.reads_only = true;
	open_file(e, O_RDWR);
	assert_int_equal(write_at(e, 0, 50000), 0);
	assert_int_equal(write_at(e, 0, 50000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), 2);
	assert_int_equal(all_calls(e, 0), 0);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
}

static void a_malformed_device_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.bad_device = true;
	stays_away(e);
}

static void an_address_that_names_no_host_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.host = "0.0.0.0";
	stays_away(e);
}

static void an_unknown_version_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.version = 7;
	stays_away(e);
}

static void a_user_by_name_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.user = "user@domain";
	stays_away(e);
}

/* --- without ------------------------------------------------------------------------------- */

static void without_the_option_no_layout_is_asked_for(void **state)
{
	struct env *e = *state;
	uint32_t got;
	bool eof;

	e->f->pnfs = false;
	open_file(e, O_RDWR);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(read_at(e, 0, 100, true, &got, &eof), 0);
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

	open_file(e, O_RDWR);
	until_direct(e, 0);
	settle(e);
	rest_until(e, UINT64_MAX); /* not only for a second */
	assert_int_equal(count_layouts(e, &e->f->srv.count[OP_LAYOUTRETURN]), 1);
	pthread_mutex_lock(&e->f->srv.lock);
	assert_false(e->f->srv.layouts.held);
	pthread_mutex_unlock(&e->f->srv.lock);
	gets = fix_count(e->f, OP_LAYOUTGET);
	calls = all_calls(e, 0);
	for (unsigned i = 0; i < 2 * NFS4_LAYOUT_SMALL; i++)
		assert_int_equal(read_at(e, 0, 100, true, &got, &eof), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
	assert_int_equal(all_calls(e, 0), calls);
	rest_until(e, 0);
	until_direct(e, 0);
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

	open_file(e, O_RDWR);
	until_direct(e, 0);
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
	until_direct(e, 0);
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
	open_file(e, O_RDWR);
	assert_int_equal(read_at(e, 0, 100, true, &got, &eof), 0);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), 0);
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
		WITH_DS(a_read_that_owes_attributes_goes_to_the_metadata_server),
		WITH_DS(a_data_server_that_fails_is_reported_and_tried_again),
		WITH_DS(a_data_server_without_time_is_not_reported),
		WITH_DS(answers_that_lie_are_errors),
		WITH_DS(a_silent_data_server_is_waited_for_a_bounded_time),
		WITH_DS(a_data_server_that_died_is_used_again_when_it_is_back),
		WITH_DS(a_data_server_that_was_never_there_costs_nothing),
		WITH_DS(a_write_under_way_at_a_dying_data_server_ends),
		WITH_DS(a_recalled_layout_goes_back_and_comes_again),
		WITH_DS(a_recall_waits_for_io_under_way),
		WITH_DS(data_that_cannot_be_committed_is_written_again),
		WITH_DS(a_restarted_server_has_no_layouts),
		WITH_DS(a_layout_goes_back_at_close_if_the_server_wants_that),
		WITH_DS(a_recall_beside_a_close_costs_a_second_attempt),
		WITH_DS(a_layout_that_does_not_go_back_with_close_goes_alone),
		WITH_DS(layouts_of_many_files_are_asked_for_at_once),
		WITH_DS(unmounting_waits_for_no_lost_server),
		WITH_DS(unmounting_waits_for_no_silent_server),
		WITH_DS(a_malformed_layout_is_not_used),
		WITH_DS(segments_that_overlap_are_not_used),
		WITH_DS(stripes_without_a_unit_are_not_used),
		WITH_DS(a_layout_to_read_is_not_one_to_write),
		WITH_DS(a_malformed_device_is_not_used),
		WITH_DS(an_address_that_names_no_host_is_not_used),
		WITH_DS(an_unknown_version_is_not_used),
		WITH_DS(a_user_by_name_is_not_used),
		WITH_DS(without_the_option_no_layout_is_asked_for),
		WITH_DS(a_mount_that_settles_has_no_layouts),
		WITH_DS(a_mount_that_is_taken_over_has_layouts_again),
		WITH_DS(a_server_without_layouts_is_mounted_all_the_same),
	};

	return cmocka_run_group_tests_name("nfs4_pnfs", tests, NULL, NULL);
}
