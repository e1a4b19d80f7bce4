/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ds_v4: a data server with NFSv4.1 or 4.2. Model: nfs4_ds_v4.h.
 */
#include "nfsproto/v4/pnfs/nfs4_ds_v4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfsproto/v4/server/nfs4_join.h"
#include "nfsproto/v4/server/nfs4_session.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define PATIENCE_MS 500u /* for a data server that is busy, or in its grace period */
#define GOODBYE_NS  (1 * NFS4_SEC)

static struct nfs4_ds_v4 *ds_of(struct nfs4_user *u)
{
	return container_of(u, struct nfs4_ds_v4, user);
}

/* --- the coders ---------------------------------------------------------------------------- */

static void up_put(struct nfs4_user *u, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_ds_io *io = op->ctx;
	struct nfs4_read_args r = {
		.stateid = io->stateid, .offset = io->offset, .count = io->data.len};
	struct nfs4_write_args w = {
		.stateid = io->stateid,
		.offset = io->offset,
		.stable = NFS_FILE_SYNC,
		.data = io->data,
	};

	nfs4_comp_putfh(k, &io->fh);
	if (io->write) {
		nfs4_put_write_args(k->x, &w);
		nfs4_comp_count(k, OP_WRITE, 0);
	} else {
		nfs4_comp_read(k, &r, &op->call, &io->data);
		op->call.moves = io->moves;
	}
}

static enum nfs_outcome get_results(struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_ds_io *io = op->ctx;
	struct nfs4_write_res w;
	struct nfs4_read_res read;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, io->write ? OP_WRITE : OP_READ);
	if (rc)
		return nfs4_outcome(op, rc);
	if (io->write)
		rc = nfs4_get_write_res(r->x, NFS4_OK, &w)
			     ?: nfs4_ds_io_wrote(io, w.count, w.committed);
	else
		rc = nfs4_get_read_res(r->x, NFS4_OK, &read)
			     ?: nfs4_ds_io_read(io, &op->call, r->x, read.eof);
	return nfs_failed(op, rc);
}

static enum nfs_outcome up_get(struct nfs4_user *u, struct nfs_op *op, struct nfs4_reply *r)
{
	enum nfs_outcome out = get_results(op, r);

	return out == NFS_DONE ? nfs_failed(op, nfs4_reply_end(r)) : out;
}

/* --- the server's questions and news ------------------------------------------------------- */

static enum nfs_outcome up_may_send(struct nfs4_user *u, struct nfs_op *op, uint64_t now)
{
	return NFS_DONE;
}

static void up_later(struct nfs4_user *u, struct nfs_op *op)
{
	nfs4_task_delay(op, 0);
}

static enum nfs_outcome up_failed(
	struct nfs4_user *u, struct nfs_op *op, uint32_t status, unsigned *ms)
{
	((struct nfs4_ds_io *)op->ctx)->status = status;
	return nfs_failed(op, -EIO);
}

static void up_ended(struct nfs4_user *u, struct nfs_op *op)
{
}

static bool up_poll(struct nfs4_user *u, uint64_t now, uint64_t *next)
{
	return false;
}

/* A data server gives no state. */
static bool up_reclaim(struct nfs4_user *u)
{
	return false;
}

static bool up_nothing(struct nfs4_user *u)
{
	return false;
}

static bool up_recall(struct nfs4_user *u, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid, bool unseen)
{
	return false;
}

static void up_connection(struct nfs4_user *u, enum nfs_connection what)
{
	struct nfs4_ds_v4 *ds = ds_of(u);

	if (what == NFS_CONNECTION_BACK) {
		log_info("data server %s is back", ds->srv->name);
		atomic_store(&ds->lost, false);
	}
	if (what != NFS_CONNECTION_LOST)
		return;
	log_info("data server %s: the connection is lost: its data goes through the metadata "
		 "server until it is back",
		ds->srv->name);
	atomic_store(&ds->lost, true);
	atomic_store(&ds->lost_news, true);
	ds->news(ds->ctx);
}

static void up_notify_lock(
	struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
}

static void up_offload(struct nfs4_user *u, const struct nfs4_cb_offload_args *a)
{
}

static const struct nfs4_upcalls upcalls = {
	.may_send = up_may_send,
	.put = up_put,
	.get = up_get,
	.later = up_later,
	.failed = up_failed,
	.ended = up_ended,
	.poll = up_poll,
	.reclaim = up_reclaim,
	.revoked = up_nothing,
	.check = up_nothing,
	.recall = up_recall,
	.connection = up_connection,
	.notify_lock = up_notify_lock,
	.offload = up_offload,
};

/* --- beginning and end --------------------------------------------------------------------- */

static void begin(
	struct nfs4_ds_v4 *ds, struct nfs4_server *srv, void (*news)(void *ctx), void *ctx)
{
	ds->srv = srv;
	ds->news = news;
	ds->ctx = ctx;
	ds->user.up = &upcalls;
	ds->user.soft = true;
	ds->user.soft_ms = PATIENCE_MS;
	ds->user.hasty = true;
}

/* The user joins; a loss before that is seen here. */
static void join(struct nfs4_ds_v4 *ds)
{
	struct nfs4_server *srv = ds->srv;

	nfs4_user_join(srv, &ds->user);
	mutex_lock(&srv->cb.lock); /* no news meanwhile */
	atomic_store(&ds->lost, srv->links.down == srv->links.n);
	mutex_unlock(&srv->cb.lock);
}

struct nfs4_ds_v4 *nfs4_ds_v4_join(
	struct nfs4_server *metadata, void (*news)(void *ctx), void *ctx, struct err *e)
{
	struct nfs4_ds_v4 *ds = calloc(1, sizeof(*ds));

	if (!ds) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	begin(ds, metadata, news, ctx);
	join(ds);
	return ds;
}

/* Is srv, at another address, the metadata server itself? */
static bool is_same_server(const struct nfs4_server *srv, const struct nfs4_server *metadata)
{
	return srv->clientid == metadata->clientid && srv->owner_minor == metadata->owner_minor &&
	       !strcmp(srv->major_id, metadata->major_id);
}

/* Connects ds, which has a server with the identity of a new client, or that of `metadata`. */
static int start(struct nfs4_ds_v4 *ds, const struct nfs_mount_params *p,
	const struct nfs4_server *metadata, struct err *e)
{
	struct nfs4_server *srv = ds->srv;
	int rc;

	srv->roles = EXCHGID4_FLAG_USE_PNFS_DS;
	if (metadata) {
		memcpy(srv->owner, metadata->owner, sizeof(srv->owner));
		memcpy(srv->verf, metadata->verf, sizeof(srv->verf));
		srv->borrowed = true;
	}
	rc = nfs4_server_start(srv, p, e);
	if (rc || !metadata || srv->roles_given & EXCHGID4_FLAG_USE_PNFS_DS)
		return rc;
	err_set(e, ERR_INTERNAL, "is no data server (EXCHANGE_ID)");
	return -1;
}

struct nfs4_ds_v4 *nfs4_ds_v4_new(const struct nfs_mount_params *p, const struct nfs4_kind *kinds,
	struct nfs4_server *metadata, void (*news)(void *ctx), void *ctx, struct err *e)
{
	struct nfs4_ds_v4 *ds = calloc(1, sizeof(*ds));
	struct nfs4_server *srv = ds ? nfs4_server_new(p, kinds) : NULL;

	if (!srv) {
		err_set(e, ERR_INTERNAL, "out of memory");
		free(ds);
		return NULL;
	}
	begin(ds, srv, news, ctx);
	if (start(ds, p, metadata, e)) {
		nfs4_server_unref(srv);
		free(ds);
		return NULL;
	}
	if (metadata && is_same_server(srv, metadata)) {
		srv->have_clientid = false; /* the metadata server's, which stays */
		nfs4_server_unref(srv);
		free(ds);
		return nfs4_ds_v4_join(metadata, news, ctx, e);
	}
	join(ds);
	nfs4_server_unref(srv);
	return ds;
}

void nfs4_ds_v4_close(struct nfs4_ds_v4 *ds)
{
	nfs4_task_fail_queued(ds->srv, &ds->user);
	nfs4_task_abandon(ds->srv, &ds->user);
}

void nfs4_ds_v4_give_up(struct nfs4_ds_v4 *ds)
{
	if (atomic_exchange(&ds->lost_news, false))
		nfs4_ds_v4_close(ds);
}

struct nfs4_ds_v4 *nfs4_ds_v4_free(struct nfs4_ds_v4 *ds)
{
	struct timespec pause = {.tv_nsec = 1000 * 1000};
	bool lost;

	if (!ds)
		return NULL;
	lost = atomic_load(&ds->lost);
	nfs4_user_quit(ds->srv, &ds->user);
	nfs4_ds_v4_close(ds);
	/* acquire: done of the last one has returned */
	while (atomic_load_explicit(&ds->user.nops, memory_order_acquire)) {
		nfs4_task_pump(ds->srv);
		nanosleep(&pause, NULL);
	}
	nfs4_user_leave(
		ds->srv, &ds->user, lost ? 0 : clock_ns() + GOODBYE_NS, lost ? -ETIMEDOUT : 0);
	free(ds);
	return NULL;
}

/* --- calls --------------------------------------------------------------------------------- */

static void op_done(struct nfs_op *op)
{
	struct nfs4_ds_io *io = op->ctx;
	int error = op->error;

	mutex_lock(&nfs4_task_server(op)->slots.lock); /* from here on io is not cancelled */
	io->op = NULL;
	mutex_unlock(&nfs4_task_server(op)->slots.lock);
	free(op);
	if (!error)
		nfs4_ds_io_end(io, NFS4_OK);
	else /* with a status of the server's, or without */
		nfs4_ds_io_end(io, io->status ? io->status : nfs4_ds_io_status(error));
}

void nfs4_ds_v4_cancel(struct nfs4_ds_v4 *ds, struct nfs4_ds_io *io)
{
	mutex_lock(&ds->srv->slots.lock);
	if (io->op)
		nfs4_task_cancel_locked(io->op);
	mutex_unlock(&ds->srv->slots.lock);
}

void nfs4_ds_v4_start(struct nfs4_ds_v4 *ds, struct nfs4_ds_io *io)
{
	struct nfs_op *op = calloc(1, sizeof(*op));

	if (!op) {
		nfs4_ds_io_end(io, NFS4ERR_DELAY);
		return;
	}
	io->status = NFS4_OK;
	op->type = io->write ? NFS_WRITE : NFS_READ;
	op->cred = io->cred;
	op->done = op_done;
	op->ctx = io;
	nfs4_task_bind(op, &ds->srv->conn[0], &ds->user, op->type);
	mutex_lock(&ds->srv->slots.lock);
	io->op = op;
	mutex_unlock(&ds->srv->slots.lock);
	nfs4_task_start(op);
}
