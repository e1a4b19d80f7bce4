/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-nfs: the nfs_client interface over a tree in memory.
 *
 * One lock guards the files and the queues. Ops run on the client's thread; hanging ones wait on a
 * list until nfs_cancel() or nfs_client_free().
 */
#include "tests/unit/fs/fake-nfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_exports.h"
#include "tests/unit/fs/fake-files.h"

struct fake_knobs fake_knobs;
atomic_uint fake_interrupts;

TAILQ_HEAD(op_list, nfs_op);

struct nfs_client {
	pthread_mutex_t lock; /* everything here */
	pthread_cond_t cond;
	pthread_t thread;
	bool stop;
	struct op_list queue, hanging;
	struct fake_files files;
	uint64_t flushed;
	struct rpc_client_stats stats;
};

/* Ends op. The client's lock is not held. */
static void finish(struct nfs_client *c, struct nfs_op *op)
{
	bool (*script)(struct nfs_op * op) = fake_knobs.script;
	int (*lose)(const struct nfs_op *op) = fake_knobs.lose;
	bool scripted = script && script(op);

	pthread_mutex_lock(&c->lock);
	if (!scripted)
		op->error = fake_knobs.fail[op->type];
	if (!scripted && !op->error)
		op->error = fake_files_run(&c->files, op);
	if (!scripted && !op->error && lose)
		op->error = lose(op);
	c->stats.calls++;
	pthread_mutex_unlock(&c->lock);
	op->done(op);
}

static void *progress(void *arg)
{
	struct nfs_client *c = arg;
	struct nfs_op *op;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!(op = TAILQ_FIRST(&c->queue)) && !c->stop)
			pthread_cond_wait(&c->cond, &c->lock);
		if (!op)
			break;
		TAILQ_REMOVE(&c->queue, op, link);
		pthread_mutex_unlock(&c->lock);
		if (op->error) /* cancelled, or the end */
			op->done(op);
		else
			finish(c, op);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

void nfs_submit(struct nfs_client *c, struct nfs_op *op)
{
	op->client = c;
	op->error = 0;
	if (fake_knobs.sync && !fake_knobs.hang[op->type]) {
		finish(c, op);
		return;
	}
	pthread_mutex_lock(&c->lock);
	if (fake_knobs.hang[op->type] && !c->stop)
		TAILQ_INSERT_TAIL(&c->hanging, op, link);
	else
		TAILQ_INSERT_TAIL(&c->queue, op, link);
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

void nfs_cancel(struct nfs_op *op)
{
	struct nfs_client *c = op->client;
	struct nfs_op *o;

	pthread_mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->hanging, link) {
		if (o != op || nfs_op_changes_data(op)) /* the server has the op */
			continue;
		TAILQ_REMOVE(&c->hanging, op, link);
		op->error = -EINTR;
		TAILQ_INSERT_TAIL(&c->queue, op, link);
		pthread_cond_signal(&c->cond);
		break;
	}
	pthread_mutex_unlock(&c->lock);
}

void nfs_interrupt(struct nfs_op *op)
{
	fake_interrupts++;
	if (op->type != NFS_LOCK) /* the server has the lock */
		nfs_cancel(op);
}

static struct fake_file *file_of(const struct nfs_client *c, const struct nfs_fh *fh)
{
	return c->files.nodes[fake_file_id(fh)];
}

bool nfs_deleg_holds(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	bool held;

	pthread_mutex_lock(&c->lock);
	held = id && file_of(c, fh)->deleg == id;
	pthread_mutex_unlock(&c->lock);
	return held;
}

struct nfs_open *nfs_deleg_open(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred)
{
	struct nfs_open *o;

	if (!nfs_deleg_holds(c, fh, id) ||
		((flags & O_ACCMODE) != O_RDONLY && !file_of(c, fh)->deleg_writes))
		return NULL;
	pthread_mutex_lock(&c->lock);
	o = fake_file_open(&c->files, fake_file_id(fh));
	pthread_mutex_unlock(&c->lock);
	return o;
}

void nfs_deleg_give_back(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	pthread_mutex_lock(&c->lock);
	if (file_of(c, fh)->deleg == id)
		file_of(c, fh)->deleg = 0;
	pthread_mutex_unlock(&c->lock);
}

bool nfs_locks_doubtful(struct nfs_client *c, const struct nfs_open *o)
{
	return fake_knobs.doubtful;
}

uint64_t nfs_lock_guard(
	struct nfs_client *c, const struct nfs_open *o, uint64_t first, uint64_t last)
{
	return 0;
}

void nfs_deleg_flushed(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	pthread_mutex_lock(&c->lock);
	c->flushed = id;
	pthread_mutex_unlock(&c->lock);
}

uint64_t fake_flushed(struct nfs_client *c)
{
	uint64_t id;

	pthread_mutex_lock(&c->lock);
	id = c->flushed;
	pthread_mutex_unlock(&c->lock);
	return id;
}

void fake_recall(struct nfs_client *c, const struct nfs_fh *fh)
{
	pthread_mutex_lock(&c->lock);
	file_of(c, fh)->deleg = 0;
	pthread_mutex_unlock(&c->lock);
}

void fake_release(struct nfs_client *c)
{
	pthread_mutex_lock(&c->lock);
	TAILQ_CONCAT(&c->queue, &c->hanging, link);
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

struct nfs_client *fake_client_new(void)
{
	struct nfs_client *c = calloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->cond, NULL);
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->hanging);
	fake_files_init(&c->files);
	pthread_create(&c->thread, NULL, progress, c);
	return c;
}

pid_t fake_fork(struct nfs_client *c)
{
	pid_t pid;

	pthread_mutex_lock(&c->lock);
	pid = fork();
	pthread_mutex_unlock(&c->lock);
	return pid;
}

static void knob_cookie(const char *how)
{
	fake_knobs.cookie_stuck = !strcmp(how, "stuck");
	fake_knobs.cookie_low = !strcmp(how, "low");
	fake_knobs.cookie_loop = !strcmp(how, "loop");
}

static void knob(const char *name, const char *value)
{
	uint32_t n = strtoul(value, NULL, 0);
	bool op = !strcmp(name, "hang") || !strcmp(name, "fail");

	if (!strcmp(name, "rsize"))
		fake_knobs.rsize = n;
	else if (!strcmp(name, "wsize"))
		fake_knobs.wsize = n;
	else if (!strcmp(name, "short_read"))
		fake_knobs.short_read = n;
	else if (!strcmp(name, "short_write"))
		fake_knobs.short_write = n;
	else if (!strcmp(name, "sync"))
		fake_knobs.sync = n;
	else if (!strcmp(name, "cookie"))
		knob_cookie(value);
	for (unsigned t = 0; op && t < NFS_OP_TYPES; t++) {
		if (strcmp(nfs_op_name(t), value))
			continue;
		if (name[0] == 'h')
			fake_knobs.hang[t] = true;
		else
			fake_knobs.fail[t] = -EIO;
	}
}

/* FAKE_NFS="hang=READ rsize=4096 ..." for a daemon that is mounted by hand. */
static void knobs_from_environment(void)
{
	const char *env = getenv("FAKE_NFS");
	char *copy = strdup(env ? env : ""), *rest = copy, *item;

	while ((item = strsep(&rest, " "))) {
		char *value = strchr(item, '=');

		if (value) {
			*value = 0;
			knob(item, value + 1);
		}
	}
	free(copy);
}

struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e)
{
	if (p->proto != RPC_TCP) {
		err_set(e, ERR_NO_DEVICE, "the fake speaks only tcp");
		return NULL;
	}
	if (!strcmp(p->export, "/none")) {
		err_set(e, ERR_NO_EXPORT, "server %s has no export /none", p->host);
		return NULL;
	}
	knobs_from_environment();
	return fake_client_new();
}

int nfs3_exports(const struct sockaddr *server, socklen_t len, struct mem_pool *pool, unsigned ms,
	nfs3_export_fn *each, void *ctx, struct err *e)
{
	return err_set(e, ERR_VERSION, "the fake exports nothing");
}

void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr)
{
	fake_file_fh(0, fh);
	*attr = c->files.nodes[0]->attr;
}

void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out)
{
	*out = (struct nfs_client_info){
		.rpc = {.proto = RPC_TCP, .provider = "fake", .connected = true},
		.vers_major = 4,
		.vers_minor = 1,
		.rsize = fake_knobs.rsize ? fake_knobs.rsize : 1 << 20,
		.wsize = fake_knobs.wsize ? fake_knobs.wsize : 1 << 20,
		.dtsize = fake_knobs.dtsize ? fake_knobs.dtsize : 64 << 10,
		.maxfilesize = 1ull << 31,
		.features = fake_knobs.features,
	};
}

void nfs_client_count(struct nfs_client *c, enum nfs_op_type t, struct nfs_count *out)
{
	memset(out, 0, sizeof(*out));
}

void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}

bool nfs_client_path(struct nfs_client *c, unsigned i, struct rpc_client_info *info,
	struct rpc_client_stats *stats)
{
	(void)c;
	(void)i;
	(void)info;
	(void)stats;
	return false;
}

const char *nfs_client_settle(struct nfs_client *c)
{
	return NULL;
}

const struct sockaddr_storage *nfs_client_peer(struct nfs_client *c, socklen_t *len)
{
	static const struct sockaddr_storage none = {.ss_family = AF_UNSPEC};

	*len = sizeof(sa_family_t);
	return &none;
}

void nfs_client_record(
	struct nfs_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	xdr_put_u32(x, n);
}

void nfs_client_answered(struct nfs_client *c, uint64_t request)
{
	(void)c;
	if (fake_knobs.changes == request)
		fake_knobs.changes = 0;
}

bool nfs_client_has_changes(struct nfs_client *c, uint64_t request)
{
	(void)c;
	return request && fake_knobs.changes == request;
}

void nfs_client_replays_end(struct nfs_client *c)
{
	(void)c;
	fake_knobs.changes = 0;
}

uint64_t nfs_open_note_number(const struct nfs_open *o)
{
	return o->id + 1ull;
}

uint64_t nfs_client_former_deleg(struct nfs_client *c, const struct nfs_fh *fh, bool *writes)
{
	uint64_t id = 0;

	*writes = false;
	if (!fake_knobs.delegates) /* else a fuzzer's handles may be those of no file */
		return 0;
	pthread_mutex_lock(&c->lock);
	id = file_of(c, fh)->deleg;
	*writes = id && file_of(c, fh)->deleg_writes;
	pthread_mutex_unlock(&c->lock);
	return id;
}

struct nfs_open *nfs_client_former_open(struct nfs_client *c, uint64_t number)
{
	struct nfs_open *o = NULL;

	pthread_mutex_lock(&c->lock);
	if (number)
		o = fake_file_open(&c->files, (uint32_t)number - 1);
	pthread_mutex_unlock(&c->lock);
	return o;
}

void nfs_client_former_end(struct nfs_client *c)
{
	(void)c;
}

void nfs_open_discard(struct nfs_open *o)
{
	LIST_REMOVE(o, link);
	free(o);
	fake_knobs.discards++;
}

void nfs_client_leave_by(struct nfs_client *c, uint64_t ns)
{
	(void)c;
	(void)ns;
}

struct nfs_client *nfs_client_free(struct nfs_client *c)
{
	struct nfs_op *op;

	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	while ((op = TAILQ_FIRST(&c->hanging))) {
		TAILQ_REMOVE(&c->hanging, op, link);
		op->error = -ENOTCONN;
		TAILQ_INSERT_TAIL(&c->queue, op, link);
	}
	c->stop = true;
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	fake_files_finish(&c->files);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->cond);
	free(c);
	return NULL;
}

const char *rpc_proto_name(enum rpc_proto p) __attribute__((weak));
const char *rpc_proto_name(enum rpc_proto p)
{
	return "tcp";
}
