/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locking: the locks of a mount, for its users, the state manager and the end of the mount
 * (nfs4_lock.h).
 */
#include "nfsproto/v4/mount/nfs4_locking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_lock_wait.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_lockreq.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/server/nfs4_task.h"

/* --- NFS_LOCK --------------------------------------------------------------------------------- */

/* A lock may be asked for as the file is open. Only fcntl() is checked so by the kernel. */
static int check_mode(const struct nfs_open *o, int type)
{
	uint32_t need = type == F_WRLCK	  ? OPEN4_SHARE_ACCESS_WRITE
			: type == F_RDLCK ? OPEN4_SHARE_ACCESS_READ
					  : 0;

	return !need || (o->access & need) ? 0 : -EBADF;
}

/* A waiting newcomer queues up behind others, unless the others may be waiting for the newcomer. */
static void enqueue_locked(struct nfs4_client *c, struct nfs4_lockreq *req) REQUIRES(c->locks.lock)
{
	struct nfs4_lockctx *ctx = req->ctx;
	bool wait = req->own.u.lock.wait;

	if (wait && !ctx->ranges.n) {
		TAILQ_INSERT_TAIL(&c->locks.waiters, req, wait_link);
		req->waiting = true;
		if (nfs4_lock_behind_locked(c, req)) {
			nfs4_lock_park_locked(c, req, NFS4_LOCK_BEHIND_MS);
			return;
		}
	}
	TAILQ_INSERT_TAIL(&ctx->ready, req, link);
}

/* Puts a request for op into the right context. Returns the context, referenced; or NULL with
 * *error set: op ends. */
static struct nfs4_lockctx *submit_locked(struct nfs4_client *c, struct nfs_op *op,
	struct nfs4_lockreq *req, int *error) REQUIRES(c->locks.lock)
{
	struct nfs_open *o = op->u.lock.open;
	struct nfs4_lockctx *ctx = nfs4_lockctx_find_locked(
		&c->locks, &op->u.lock.fh, op->u.lock.owner, op->u.lock.type == F_UNLCK ? NULL : o);

	*error = 0;
	if (op->u.lock.type == F_UNLCK && (!ctx || (nfs4_lockctx_idle(ctx) && !ctx->suspect)))
		return NULL; /* nothing is held */
	if (!ctx) {
		ctx = nfs4_lockctx_new_locked(c, &op->u.lock.fh, op->u.lock.owner, o);
		*error = -ENOMEM;
		if (!ctx)
			return NULL;
		o->nlockctx++;
	}
	if (nfs4_lockctx_idle(ctx))
		c->locks.nidle--;
	nfs4_lockreq_init(c, req, ctx, o, op->u.lock.type, op->u.lock.start, op->u.lock.end);
	req->own.noted = op->noted;
	req->own.u.lock.wait = op->u.lock.wait && op->u.lock.type != F_UNLCK;
	req->user = op;
	op->be.v4.lock = req;
	enqueue_locked(c, req);
	ctx->refs++;
	return ctx;
}

void nfs4_lock_submit(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs4_lockreq *req = NULL;
	struct nfs4_lockctx *ctx = NULL;
	int error = op->u.lock.open ? check_mode(op->u.lock.open, op->u.lock.type) : -EBADF;

	op->u.lock.local = false;
	if (!error) {
		req = calloc(1, sizeof(*req));
		error = req ? 0 : -ENOMEM;
	}
	if (!error) {
		mutex_lock(&c->locks.lock);
		ctx = submit_locked(c, op, req, &error);
		mutex_unlock(&c->locks.lock);
	}
	if (!ctx) {
		free(req);
		op->u.lock.local = !error;
		op->error = error;
		op->done(op);
		return;
	}
	nfs4_lockreq_run(c, ctx);
	nfs4_lockctx_unref(c, ctx);
}

void nfs4_lock_cancel(struct nfs4_client *c, struct nfs_op *op, bool at_once)
{
	struct nfs4_lockreq *req;

	mutex_lock(&c->locks.lock);
	req = op->be.v4.lock;
	if (req) {
		at_once |= req->state != NFS4_LR_BUSY || !req->asks;
		req->interrupted = true;
		/* no request waits behind req any more */
		nfs4_lock_wake_locked(c, &req->ctx->fh, req->start, req->end);
	}
	if (req && at_once) {
		nfs4_lockreq_take_user_locked(req);
		mutex_lock(&c->srv->slots.lock);
		c->srv->poll_wanted = true;
		nfs4_task_end_later_locked(c->srv, op, -EINTR);
		mutex_unlock(&c->srv->slots.lock);
	}
	mutex_unlock(&c->locks.lock);
}

/* --- waiting requests --------------------------------------------------------------------------
 */

/* Requests that wait for a delegation. As nfs4_lock_poll(). */
static bool poll_stalled(struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	bool due;

	mutex_lock(&c->locks.lock);
	due = c->locks.stalled && c->locks.stalled_ns <= now;
	if (due)
		c->locks.stalled = false;
	else if (c->locks.stalled && c->locks.stalled_ns < *next)
		*next = c->locks.stalled_ns;
	mutex_unlock(&c->locks.lock);
	if (due)
		nfs4_lockreq_run_all(c);
	return due;
}

/* The first request that is due, or has lost its user. *next: as for nfs4_lock_poll(). */
static struct nfs4_lockreq *find_due_locked(struct nfs4_client *c, uint64_t now, uint64_t *next)
	REQUIRES(c->locks.lock)
{
	struct nfs4_lockreq *w;

	TAILQ_FOREACH (w, &c->locks.waiters, wait_link) {
		if (w->state != NFS4_LR_PARKED)
			continue;
		if (!w->user || w->due_ns <= now)
			return w;
		if (w->due_ns < *next)
			*next = w->due_ns;
	}
	return NULL;
}

bool nfs4_lock_poll(struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	struct nfs4_lockreq *req;
	struct nfs4_lockctx *ctx;
	bool gone;

	if (poll_stalled(c, now, next))
		return true;
	mutex_lock(&c->locks.lock);
	req = find_due_locked(c, now, next);
	if (!req) {
		mutex_unlock(&c->locks.lock);
		return false;
	}
	ctx = req->ctx;
	gone = !req->user;
	if (!gone) {
		req->state = NFS4_LR_READY;
		ctx->nparked--;
		TAILQ_INSERT_TAIL(&ctx->ready, req, link);
		ctx->refs++;
	}
	mutex_unlock(&c->locks.lock);
	if (gone) {
		nfs4_lockreq_end(c, req, -EINTR);
		return true;
	}
	nfs4_lockreq_run(c, ctx);
	nfs4_lockctx_unref(c, ctx);
	return true;
}

/* --- while the client stops ------------------------------------------------------------------ */

static struct nfs4_lockreq *first_parked(struct nfs4_client *c)
{
	struct nfs4_lockreq *req;

	mutex_lock(&c->locks.lock);
	TAILQ_FOREACH (req, &c->locks.waiters, wait_link)
		if (req->state == NFS4_LR_PARKED)
			break;
	mutex_unlock(&c->locks.lock);
	return req;
}

void nfs4_lock_abort(struct nfs4_client *c)
{
	struct nfs4_lockctx **list;
	struct nfs4_lockreq *req;
	size_t n;

	while ((req = first_parked(c)))
		nfs4_lockreq_end(c, req, -ENOTCONN);
	list = nfs4_lockctx_list(c, &n);
	for (size_t i = 0; i < n; i++) {
		mutex_lock(&c->locks.lock);
		list[i]->suspect = false;
		nfs4_lockctx_judge_locked(c, list[i]);
		mutex_unlock(&c->locks.lock);
		nfs4_lockreq_run(c, list[i]);
		nfs4_lockctx_unref(c, list[i]);
	}
	free(list);
}

bool nfs4_lock_clear_all(struct nfs4_client *c)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct nfs4_lockctx *ctx = list[i];
		struct nfs4_lockreq *req = calloc(1, sizeof(*req));

		mutex_lock(&c->locks.lock);
		if (req && ctx->ranges.n) {
			nfs4_lockreq_init(c, req, ctx, ctx->open, F_UNLCK, 0, UINT64_MAX);
			req->own.be.v4.flags = NFS4_F_LAST;
			TAILQ_INSERT_TAIL(&ctx->ready, req, link);
			req = NULL;
			any = true;
		}
		mutex_unlock(&c->locks.lock);
		free(req);
		nfs4_lockreq_run(c, ctx);
		nfs4_lockctx_unref(c, ctx);
	}
	free(list);
	return any;
}
