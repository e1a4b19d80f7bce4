/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3-fixture: a mount of the server in mean-nfs3, and functions that run an op to its end.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"

static struct nfs_mount_params params(struct fix3 *f)
{
	struct nfs_mount_params p = {
		.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->m.server),
		.export = "/",
		.pool = f->pool,
		.connect_ms = 5000,
		.state_dir = f->state_dir,
		.upcalls = f->upcalls,
		.upcalls_ctx = f->upcalls_ctx,
		.nconnect = f->nconnect,
		.record = f->record,
	};

	return p;
}

struct nfs_client *fix3_mount(struct fix3 *f, const char *export, bool nolock, struct err *e)
{
	struct nfs_mount_params p = params(f);

	p.export = export;
	p.vers_major = 3;
	p.nolock = nolock;
	return nfs_client_new(&p, e);
}

struct nfs_client *fix3_mount_any(struct fix3 *f, struct err *e)
{
	struct nfs_mount_params p = params(f);

	return nfs_client_new(&p, e);
}

int fix3_setup_unmounted(void **state)
{
	struct fix3 *f = calloc(1, sizeof(*f));

	mean3_start(&f->m);
	f->pool = mem_pool_new(0);
	*state = f;
	return 0;
}

void fix3_mount_root(struct fix3 *f)
{
	struct err e = {.kind = ERR_NONE};

	f->nfs = fix3_mount(f, "/", false, &e);
	if (!f->nfs)
		print_error("mount: %s\n", e.msg);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	f->file = (struct nfs_fh){.len = 1, .data = {2}};
}

int fix3_setup(void **state)
{
	fix3_setup_unmounted(state);
	fix3_mount_root(*state);
	return 0;
}

int fix3_teardown(void **state)
{
	struct fix3 *f = *state;

	nfs_client_free(f->nfs);
	mean3_stop(&f->m);
	mem_pool_free(f->pool);
	free(f);
	return 0;
}

static void op_done(struct nfs_op *op)
{
	sem_post(op->ctx);
}

void fix3_start(struct fix3 *f, struct nfs_op *op, sem_t *sem)
{
	sem_init(sem, 0, 0);
	op->done = op_done;
	op->ctx = sem;
	nfs_submit(f->nfs, op);
}

void fix3_wait(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
	sem_destroy(sem);
}

int fix3_run(struct fix3 *f, struct nfs_op *op)
{
	sem_t sem;

	fix3_start(f, op, &sem);
	fix3_wait(&sem);
	return op->error;
}

int fix3_getattr(struct fix3 *f)
{
	struct nfs_op op = {.type = NFS_GETATTR};

	op.u.getattr.fh = f->root;
	return fix3_run(f, &op);
}

int fix3_open(struct fix3 *f, const struct nfs_name *name, int flags)
{
	struct nfs_op op = {.type = NFS_OPEN}, close = {.type = NFS_CLOSE};

	op.u.open.dir = f->root;
	op.u.open.name = *name;
	op.u.open.flags = flags;
	op.u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0600};
	if (fix3_run(f, &op))
		return op.error;
	f->attr = op.u.open.attr;
	close.u.close.open = op.u.open.open;
	return fix3_run(f, &close);
}

struct nfs_op fix3_lock_op(
	struct fix3 *f, uint64_t owner, int type, uint64_t start, uint64_t end, bool wait)
{
	struct nfs_op op = {.type = NFS_LOCK};

	op.u.lock.fh = f->file;
	op.u.lock.owner = owner;
	op.u.lock.type = type;
	op.u.lock.start = start;
	op.u.lock.end = end;
	op.u.lock.wait = wait;
	return op;
}

struct nfs_open *fix3_open_file(struct fix3 *f)
{
	struct nfs_op op = {.type = NFS_OPEN};

	op.u.open.dir = f->file;
	op.u.open.flags = O_RDWR;
	assert_int_equal(fix3_run(f, &op), 0);
	return op.u.open.open;
}

void fix3_close_file(struct fix3 *f, struct nfs_open *o)
{
	struct nfs_op op = {.type = NFS_CLOSE};

	op.u.close.open = o;
	assert_int_equal(fix3_run(f, &op), 0);
}

int fix3_lock_through(struct fix3 *f, struct nfs_open *o, int type)
{
	struct nfs_op op = fix3_lock_op(f, 1, type, 10, 19, false);

	op.u.lock.open = o;
	return fix3_run(f, &op);
}

struct nfs_op fix3_write_op(struct fix3 *f, struct nfs_open *o)
{
	struct nfs_op op = {.type = NFS_WRITE};

	op.u.write.open = o;
	op.u.write.fh = f->file;
	op.u.write.from = seg_list_of_buf(f->m.data, 0, 100);
	return op;
}

int fix3_write_through(struct fix3 *f, struct nfs_open *o)
{
	struct nfs_op op = fix3_write_op(f, o);

	return fix3_run(f, &op);
}

struct fix3_seen fix3_seen(struct fix3 *f)
{
	struct fix3_seen s;

	pthread_mutex_lock(&f->m.lock);
	s = (struct fix3_seen){f->m.nlm_count[NLM4PROC_LOCK], f->m.reclaims,
		f->m.nlm_count[NLM4PROC_TEST], f->m.count[NFS3PROC_WRITE]};
	pthread_mutex_unlock(&f->m.lock);
	return s;
}
