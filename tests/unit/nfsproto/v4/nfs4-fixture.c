/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-fixture: a mount of the server in mean-nfs4, and functions that run an op to its end.
 */
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"

uint64_t fix_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct nfs_mount_params fix_params(const struct fix *f, const char *export)
{
	return (struct nfs_mount_params){
		.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.export = export,
		.vers_major = 4,
		.vers_minor = f->minor ? f->minor : 1,
		.pool = f->pool,
		.connect_ms = f->connect_ms,
		.upcalls = f->upcalls,
		.upcalls_ctx = f->upcalls_ctx,
		.delegations = f->delegations,
		.pnfs = f->pnfs,
		.timeo_ms = f->timeo_ms,
		.nconnect = f->nconnect,
		.migration = f->migration,
		.replication = f->replication,
	};
}

struct nfs_client *fix_mount_version(
	struct fix *f, const char *export, unsigned minor, struct err *e)
{
	struct nfs_mount_params p = fix_params(f, export);

	p.vers_minor = minor;
	return nfs_client_new(&p, e);
}

struct nfs_client *fix_mount(struct fix *f, const char *export, struct err *e)
{
	return fix_mount_version(f, export, 1, e);
}

static void mount_root(struct fix *f, const struct nfs_mount_params *p)
{
	struct err e = {.kind = ERR_NONE};

	f->nfs = nfs_client_new(p, &e);
	if (!f->nfs)
		print_error("mount: %s\n", e.msg);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
}

void fix_mount_root(struct fix *f)
{
	const struct nfs_mount_params p = fix_params(f, "/");

	mount_root(f, &p);
}

void fix_mount_soft(struct fix *f, unsigned connect_ms, unsigned timeo_ms)
{
	struct nfs_mount_params p = fix_params(f, "/");

	p.connect_ms = connect_ms;
	p.timeo_ms = timeo_ms;
	p.soft = true;
	mount_root(f, &p);
}

int fix_setup_unmounted(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	mean_start(&f->srv);
	f->pool = mem_pool_new(0);
	f->connect_ms = 10000;
	*state = f;
	return 0;
}

int fix_setup(void **state)
{
	fix_setup_unmounted(state);
	fix_mount_root(*state);
	return 0;
}

/* Unmounts; the server must be left without any state of ours. */
void fix_unmount_clean(struct fix *f)
{
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(f->srv.nopens, 0);
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
}

int fix_teardown(void **state)
{
	struct fix *f = *state;

	nfs_client_free(f->nfs);
	mean_stop(&f->srv);
	mem_pool_free(f->pool);
	free(f);
	return 0;
}

static void op_done(struct nfs_op *op)
{
	sem_post(op->ctx);
}

int fix_run(struct fix *f, struct nfs_op *op)
{
	sem_t sem;

	sem_init(&sem, 0, 0);
	op->done = op_done;
	op->ctx = &sem;
	nfs_submit(f->nfs, op);
	while (sem_wait(&sem) != 0)
		;
	sem_destroy(&sem);
	return op->error;
}

int fix_getattr(struct fix *f)
{
	struct nfs_op op = {.type = NFS_GETATTR};

	op.u.getattr.fh = f->root;
	return fix_run(f, &op);
}

int fix_lookup(struct fix *f, const char *name)
{
	struct nfs_op op = {.type = NFS_LOOKUP};

	op.u.lookup.dir = f->root;
	op.u.lookup.name = (struct nfs_name){name, (uint32_t)strlen(name)};
	return fix_run(f, &op);
}

struct nfs_open *fix_open(struct fix *f, int flags, struct nfs_fh *fh)
{
	struct nfs_op op = {.type = NFS_OPEN};

	op.u.open.dir = f->root;
	op.u.open.name = (struct nfs_name){"file", 4};
	op.u.open.flags = flags;
	op.u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0640};
	assert_int_equal(fix_run(f, &op), 0);
	assert_non_null(op.u.open.open);
	*fh = op.u.open.fh;
	return op.u.open.open;
}

int fix_close(struct fix *f, struct nfs_open *open)
{
	struct nfs_op op = {.type = NFS_CLOSE};

	op.u.close.open = open;
	return fix_run(f, &op);
}

int fix_read(
	struct fix *f, struct nfs_open *open, const struct nfs_fh *fh, uint32_t want, uint32_t *got)
{
	struct mem_buf *buf = mem_buf_get(f->pool, want + 64);
	struct nfs_op op = {.type = NFS_READ};
	struct seg piece[2];

	memset(buf->data, 0xee, want + 64);
	op.u.read.open = open;
	op.u.read.fh = *fh;
	/* in two pieces, for any length of the READ */
	piece[0] = (struct seg){mem_buf_sge(buf, 0, want / 3), buf};
	piece[1] = (struct seg){mem_buf_sge(buf, want / 3, want - want / 3), buf};
	assert_int_equal(seg_list_init(&op.u.read.to, piece, 2), 0);
	fix_run(f, &op);
	*got = op.u.read.count;
	for (uint32_t i = 0; i < 64; i++) /* nothing behind the sink is ever touched */
		assert_int_equal(buf->data[want + i], 0xee);
	if (op.error == 0)
		for (uint32_t i = 0; i < *got; i++)
			assert_int_equal(buf->data[i], (uint8_t)(i * 2654435761u >> 24));
	mem_buf_unref(buf);
	return op.error;
}

int fix_write(struct fix *f, struct nfs_open *open, const struct nfs_fh *fh, enum nfs_stable stable)
{
	struct mem_buf *buf = mem_buf_get(f->pool, 5000);
	struct nfs_op op = {.type = NFS_WRITE};
	struct seg piece[2];

	memset(buf->data, 1, 5000);
	op.u.write.open = open;
	op.u.write.fh = *fh;
	op.u.write.stable = stable;
	piece[0] = (struct seg){mem_buf_sge(buf, 1, 4097), buf};
	piece[1] = (struct seg){mem_buf_sge(buf, 0, 903), buf};
	assert_int_equal(seg_list_init(&op.u.write.from, piece, 2), 0);
	fix_run(f, &op);
	if (op.error == 0)
		assert_int_equal(op.u.write.count, 5000);
	mem_buf_unref(buf);
	return op.error;
}

void fix_fails(struct fix *f, uint32_t op, uint32_t status, unsigned times)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.fail_op = op;
	f->srv.fail_status = status;
	f->srv.fail_times = times;
	pthread_mutex_unlock(&f->srv.lock);
}

void fix_forget_opens(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	pthread_mutex_unlock(&f->srv.lock);
}

void fix_status_flags(struct fix *f, uint32_t flags)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.status_flags = flags;
	pthread_mutex_unlock(&f->srv.lock);
}

unsigned fix_count(struct fix *f, uint32_t op)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = f->srv.count[op];
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

void fix_quirk(struct fix *f, enum quirk q)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.quirk = q;
	f->srv.quirk_times = 1;
	pthread_mutex_unlock(&f->srv.lock);
}

void fix_start(struct fix *f, struct nfs_op *op, sem_t *sem)
{
	sem_init(sem, 0, 0);
	op->done = op_done;
	op->ctx = sem;
	nfs_submit(f->nfs, op);
}

bool fix_ends_within(sem_t *sem, unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return sem_timedwait(sem, &t) == 0;
}

int fix_readdir(struct fix *f, bool (*entry)(struct nfs_op *, const struct nfs_dirent *))
{
	struct nfs_op op = {.type = NFS_READDIR};

	op.u.readdir.dir = f->root;
	op.u.readdir.max_bytes = 32768;
	op.u.readdir.plus = true;
	op.u.readdir.entry = entry;
	fix_run(f, &op);
	if (op.error == 0)
		assert_true(op.u.readdir.eof);
	return op.error;
}

/* --- locks ------------------------------------------------------------------------------------ */

struct nfs_op fix_lock_op(struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner, int type,
	uint64_t start, uint64_t end)
{
	return (struct nfs_op){.type = NFS_LOCK,
		.u.lock = {.open = o,
			.fh = *fh,
			.owner = owner,
			.type = type,
			.start = start,
			.end = end}};
}

int fix_lock(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner, int type,
	uint64_t start, uint64_t end)
{
	struct nfs_op op = fix_lock_op(o, fh, owner, type, start, end);

	return fix_run(f, &op);
}

void fix_lock_wait(struct fix *f, struct fix_op *w, struct nfs_open *o, const struct nfs_fh *fh,
	uint64_t owner, int type, uint64_t start, uint64_t end)
{
	w->op = fix_lock_op(o, fh, owner, type, start, end);
	w->op.u.lock.wait = true;
	fix_start(f, &w->op, &w->sem);
}

void fix_others_hold(struct fix *f, uint64_t first, uint64_t last, bool write)
{
	pthread_mutex_lock(&f->srv.lock);
	assert_int_equal(lock_ranges_set(&f->srv.locks.others, first, last, write), 0);
	pthread_mutex_unlock(&f->srv.lock);
}

void fix_others_go(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	lock_ranges_drop(&f->srv.locks.others);
	pthread_mutex_unlock(&f->srv.lock);
}

unsigned fix_locks_held(struct fix *f)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = mean_lock_held(&f->srv.locks);
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

bool fix_has_lock(struct fix *f, uint64_t first, uint64_t last, bool write)
{
	bool yes;

	pthread_mutex_lock(&f->srv.lock);
	yes = mean_lock_has(&f->srv.locks, first, last, write);
	pthread_mutex_unlock(&f->srv.lock);
	return yes;
}

void fix_forget_locks(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	mean_lock_drop(&f->srv.locks, 0);
	pthread_mutex_unlock(&f->srv.lock);
}
