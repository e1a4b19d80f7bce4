/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pnfs-fixture: a mount with pNFS and its data servers, for tests.
 */
#include "tests/unit/nfsproto/v4/pnfs/pnfs-fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mean-run.h"

uint8_t pnfs_byte_at(uint64_t i)
{
	return (uint8_t)(i * 2654435761u >> 24);
}

int pnfs_setup(void **state)
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
			d->data[at] = pnfs_byte_at(at);
		l->port[i] = d->port;
	}
	*state = e;
	return 0;
}

int pnfs_teardown(void **state)
{
	struct env *e = *state;

	fix_teardown((void **)&e->f);
	for (unsigned i = 0; i < DS; i++)
		mean_ds_stop(&e->ds[i]);
	free(e);
	return 0;
}

struct nfs_op pnfs_write_op(struct env *e, struct mem_buf *buf, uint64_t at, uint32_t len)
{
	struct nfs_op op = {.type = NFS_WRITE};

	for (uint32_t i = 0; i < len; i++)
		buf->data[i] = pnfs_byte_at(at + i) ^ 0x55;
	op.u.write.open = e->open;
	op.u.write.fh = e->fh;
	op.u.write.offset = at;
	op.u.write.from = seg_list_of_buf(buf, 0, len);
	return op;
}

/* Writes bytes that tell their place. */
int pnfs_write_at(struct env *e, uint64_t at, uint32_t len)
{
	struct mem_buf *buf = mem_buf_get(e->f->pool, len);
	struct nfs_op op = pnfs_write_op(e, buf, at, len);

	if (fix_run(e->f, &op) == 0)
		assert_int_equal(op.u.write.count, len);
	mem_buf_unref(buf);
	return op.error;
}

/* Reads; *got bytes came, each the one that pnfs_write_at() has written, or (old) the first
 * content. */
int pnfs_read_at(struct env *e, uint64_t at, uint32_t len, bool old, uint32_t *got, bool *eof)
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
			assert_int_equal(
				bytes[i], old ? pnfs_byte_at(at + i) : pnfs_byte_at(at + i) ^ 0x55);
		free(bytes);
	}
	nfs_read_let_go(&op);
	mem_buf_unref(buf);
	return op.error;
}

/* Mounts and opens the file. */
void pnfs_open_file(struct env *e, int flags)
{
	fix_mount_root(e->f);
	e->open = fix_open(e->f, flags, &e->fh);
}

unsigned pnfs_all_calls(struct env *e, unsigned i)
{
	return mean_ds_count(&e->ds[i], &e->ds[i].reads) +
	       mean_ds_count(&e->ds[i], &e->ds[i].writes);
}

/* Reads until a READ has come to data server i. */
void pnfs_until_direct(struct env *e, unsigned i)
{
	unsigned before = mean_ds_count(&e->ds[i], &e->ds[i].reads);
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	uint32_t got;
	bool eof;

	while (mean_ds_count(&e->ds[i], &e->ds[i].reads) == before) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_read_at(e, i * UNIT, 100, true, &got, &eof), 0);
		usleep(5000);
	}
}

/* Waits until LAYOUTGET has been answered, and for some I/O longer. */
void pnfs_until_asked(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	uint32_t got;
	bool eof;

	while (!fix_count(e->f, OP_LAYOUTGET)) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_read_at(e, 0, 100, true, &got, &eof), 0);
		usleep(5000);
	}
	for (unsigned i = 0; i < 10; i++, usleep(5000))
		assert_int_equal(pnfs_read_at(e, 0, 100, true, &got, &eof), 0);
}

unsigned pnfs_count(struct env *e, const unsigned *counter)
{
	unsigned n;

	pthread_mutex_lock(&e->f->srv.lock);
	n = *counter;
	pthread_mutex_unlock(&e->f->srv.lock);
	return n;
}

/* Writes until the data server gets it. */
void pnfs_until_written(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	unsigned before = mean_ds_count(&e->ds[0], &e->ds[0].writes);

	while (mean_ds_count(&e->ds[0], &e->ds[0].writes) == before) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_write_at(e, 0, 1000), 0);
		usleep(5000);
	}
}

void pnfs_order(struct mean_ds *d, uint32_t status)
{
	pthread_mutex_lock(&d->lock);
	d->status = status;
	pthread_mutex_unlock(&d->lock);
}

void pnfs_start_read(struct env *e, struct nfs_op *op, struct mem_buf *buf, sem_t *sem)
{
	*op = (struct nfs_op){.type = NFS_READ};
	op->u.read.open = e->open;
	op->u.read.fh = e->fh;
	op->u.read.to = seg_list_of_buf(buf, 0, 50000);
	fix_start(e->f, op, sem);
}
