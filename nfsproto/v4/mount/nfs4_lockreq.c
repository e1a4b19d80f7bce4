/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lockreq: the life of a request for a lock (nfs4_lock.h); contexts are in nfs4_lockctx.c.
 *
 * Invariant: `user` is taken (read and set to NULL) under locks.lock by exactly one of: the end of
 * the request, nfs4_lock_cancel(). A request without a user, or with an interrupted one, sends no
 * LOCK that asks for a new lock. If the last LOCK of a request without a user was granted, or the
 * answer is unknown, the request goes on as GIVING BACK. The request ends when the server's locks
 * agree again with the context's ranges, or after DOUBT_MAX attempts.
 */
#include "nfsproto/v4/mount/nfs4_lockreq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_lock_local.h"
#include "nfsproto/v4/mount/nfs4_lock_wait.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/log.h"

#define POLL_MIN_MS   100u
#define POLL_MAX_MS   2000u
#define IDLE_MAX      256u /* most contexts without locks to keep */
#define DISOWNED_MAX  8u
#define DOUBT_MAX     10u
#define DOUBT_STEP_MS 3000u

/* --- a request -------------------------------------------------------------------------------- */

static void lock_done(struct nfs_op *own);

void nfs4_lockreq_init(struct nfs4_client *c, struct nfs4_lockreq *req, struct nfs4_lockctx *ctx,
	struct nfs_open *o, int type, uint64_t start, uint64_t end)
{
	req->ctx = ctx;
	ctx->refs++;
	req->open = nfs4_open_ref(o);
	req->type = type;
	req->start = start;
	req->end = end;
	req->own.type = NFS_LOCK;
	req->own.client = &c->base;
	req->own.done = lock_done;
	req->own.u.lock.fh = ctx->fh;
	req->own.u.lock.owner = ctx->owner;
	req->own.u.lock.type = type;
	req->own.u.lock.start = start;
	req->own.u.lock.end = end;
	nfs4_own_begins(c);
}

/* Starts FREE_STATEID for a context without locks. False: suspect, or no memory. */
static bool free_begin_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx)
	REQUIRES(c->locks.lock)
{
	struct nfs4_lockreq *req = ctx->suspect ? NULL : calloc(1, sizeof(*req));

	if (!req)
		return false;
	nfs4_lockreq_init(c, req, ctx, ctx->open, F_UNLCK, 0, UINT64_MAX);
	req->own.type = NFS_OP_TYPES;
	TAILQ_INSERT_TAIL(&ctx->ready, req, link);
	return true;
}

/* --- the end of a request ------------------------------------------------------------------- */

struct nfs_op *nfs4_lockreq_take_user_locked(struct nfs4_lockreq *req)
{
	struct nfs_op *user = req->user;

	req->user = NULL;
	if (user)
		user->be.v4.lock = NULL;
	return user;
}

static void answer(struct nfs_op *user, int error)
{
	if (!user)
		return;
	user->error = error;
	user->done(user);
}

/* ctx has no locks any more. Returns ctx's open if a deferred CLOSE waited for that, or NULL. */
static struct nfs_open *ctx_settled_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx)
	REQUIRES(c->locks.lock)
{
	struct nfs_open *o = ctx->open;

	if (!ctx->linked || !nfs4_lockctx_idle(ctx))
		return NULL;
	if (o->close_deferred) {
		c->locks.nidle++;
		return o;
	}
	if (!ctx->have_stateid) {
		o->nlockctx--;
		LIST_REMOVE(ctx, link);
		ctx->linked = false;
		nfs4_lockctx_judge_locked(c, ctx);
		ctx->refs--; /* not the last: the request has one */
	} else if (c->locks.nidle < IDLE_MAX || !free_begin_locked(c, ctx)) {
		c->locks.nidle++;
	}
	return NULL;
}

/* No lock defers o's CLOSE any more. */
static void close_deferred(struct nfs4_client *c, struct nfs_open *o)
{
	if (!nfs4_lock_defers_close(c, o, true))
		nfs4_close_late(c, o);
}

/* taken: the user, if the caller has taken the user already. The user is answered when all is
 * settled, so that a later CLOSE finds no lock under way. */
static void end_for(
	struct nfs4_client *c, struct nfs4_lockreq *req, struct nfs_op *taken, int error)
{
	struct nfs4_lockctx *ctx = req->ctx;
	struct nfs_open *due;
	struct nfs_op *user;
	bool waited;

	mutex_lock(&c->locks.lock);
	if (ctx->busy == req)
		ctx->busy = NULL;
	user = taken ? taken : nfs4_lockreq_take_user_locked(req);
	waited = req->waiting;
	nfs4_lock_unwait_locked(c, req);
	if (req->type == F_UNLCK && ctx->lost.n) { /* without memory the range stays lost */
		lock_ranges_clear(&ctx->lost, req->start, req->end);
		nfs4_lockctx_judge_locked(c, ctx);
	}
	/* wakes requests for a range that is free now, and requests that waited behind this one */
	if (req->type == F_UNLCK || req->giving_back || (waited && error) || req->type == F_RDLCK)
		nfs4_lock_wake_locked(c, &ctx->fh, req->start, req->end);
	due = ctx_settled_locked(c, ctx);
	if (!ctx->busy) /* another request's unlock may be under way: its range is noted until then
			 */
		nfs4_note_locks_locked(c, ctx);
	mutex_unlock(&c->locks.lock);
	if (user)
		nfs_op_take_calls(user, &req->own);
	answer(user, error);
	nfs4_lockreq_run(c, ctx);
	if (due)
		close_deferred(c, due);
	nfs4_lockctx_unref(c, ctx);
	nfs4_open_unref(req->open);
	free(req);
	nfs4_own_ended(c);
}

void nfs4_lockreq_end(struct nfs4_client *c, struct nfs4_lockreq *req, int error)
{
	end_for(c, req, NULL, error);
}

/* --- the server's answers ------------------------------------------------------------------- */

/* Sends own (again) as kind. */
static void send_as(struct nfs4_client *c, struct nfs4_lockreq *req, unsigned kind)
{
	uint16_t last = req->own.be.v4.flags & NFS4_F_LAST;

	req->own.tries = 0;
	nfs4_mount_bind(c, &req->own, kind);
	req->own.be.v4.flags = NFS4_F_OWN | last;
	req->own.be.v4.lock = req;
	mutex_lock(&c->locks.lock);
	if (kind == NFS_LOCK && !req->ctx->have_stateid)
		req->own.be.v4.owner = &req->ctx->number;
	mutex_unlock(&c->locks.lock);
	nfs4_task_start(&req->own);
}

/* Finds the next piece of a grant without a user that must be undone, and sets own.u.lock. False:
 * there is none. */
static bool give_back_piece_locked(struct nfs4_lockreq *req) REQUIRES(NFS4_LOCKS)
{
	const struct lock_ranges *held = &req->ctx->ranges;
	bool granted_write = req->type == F_WRLCK;

	while (req->pos <= req->end) {
		const struct lock_range *g = lock_ranges_conflict(held, req->pos, req->end, true);
		uint64_t start = req->pos, last = g ? g->first - 1 : req->end;
		int type = F_UNLCK;
		bool skip = false;

		if (g && g->first <= req->pos) {
			last = g->last < req->end ? g->last : req->end;
			type = g->write ? F_WRLCK : F_RDLCK; /* the program still relies on g */
			skip = g->write == granted_write;
		}
		req->pos = last + 1;
		if (!skip) {
			req->own.u.lock.start = start;
			req->own.u.lock.end = last;
			req->own.u.lock.type = type;
			req->own.u.lock.wait = false;
			return true;
		}
		if (last == UINT64_MAX)
			break;
	}
	return false;
}

/* Does own ask once more for a lock that the context has? */
static bool restores(const struct nfs4_lockreq *req)
{
	return req->giving_back && req->own.u.lock.type != F_UNLCK;
}

/* The server does not give back a lock that an undone grant has replaced: the lock is lost. An
 * unlock still goes to the server, which may have the weaker lock. */
static void piece_lost(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	struct nfs4_lockctx *ctx = req->ctx;
	uint64_t start = req->own.u.lock.start, end = req->own.u.lock.end;
	bool all;

	mutex_lock(&c->locks.lock);
	all = lock_ranges_set(&ctx->lost, start, end, true) ||
	      lock_ranges_set(&ctx->ranges, start, end, false);
	if (all) /* no memory: the state manager sees to the whole context */
		ctx->suspect = true;
	nfs4_lockctx_judge_locked(c, ctx);
	mutex_unlock(&c->locks.lock);
	log_always_error(
		"%s: a lock of an open file is lost: the server did not give it back after an "
		"interrupted request; reads and writes fail until it is unlocked or closed",
		c->srv->name);
	nfs_tell_lost(&c->base, &ctx->fh, NFS_LOST_LOCK);
	if (all)
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
}

static void give_back_next(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	bool done_all = req->giving_back && req->own.u.lock.end >= req->end;
	bool more;

	req->own.noted = 0; /* the request's answer is not the server's */
	mutex_lock(&c->locks.lock);
	req->giving_back = true;
	/* without a stateid there is nothing at the server */
	more = !done_all && req->ctx->have_stateid && give_back_piece_locked(req);
	mutex_unlock(&c->locks.lock);
	if (more)
		send_as(c, req, req->own.u.lock.type == F_UNLCK ? NFS4_K_LOCKU : NFS_LOCK);
	else
		nfs4_lockreq_end(c, req, -EINTR);
}

static void unlocked_locked(struct nfs4_client *c, struct nfs4_lockreq *req) REQUIRES(c->locks.lock)
{
	lock_ranges_clear(&req->ctx->ranges, req->start, req->end);
	if (!req->ctx->ranges.n)
		nfs4_lockctx_set_local_locked(c, req->ctx, false);
	if (c->locks.stalled)
		nfs4_lock_stall_locked(c);
}

/* The server has executed LOCK or LOCKU. */
static void succeeded(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	struct nfs4_lockctx *ctx = req->ctx;
	struct nfs_op *user;

	if (req->giving_back) {
		give_back_next(c, req);
		return;
	}
	mutex_lock(&c->locks.lock);
	user = nfs4_lockreq_take_user_locked(req);
	if (req->type == F_UNLCK) /* there is room: reserved when the request was sent */
		unlocked_locked(c, req);
	else if (user)
		lock_ranges_set(&ctx->ranges, req->start, req->end, req->type == F_WRLCK);
	else
		req->pos = req->start;
	mutex_unlock(&c->locks.lock);
	if (req->type != F_UNLCK && !user) {
		give_back_next(c, req);
		return;
	}
	end_for(c, req, user, 0);
}

static unsigned poll_ms(unsigned polls)
{
	return polls >= 5 ? POLL_MAX_MS : POLL_MIN_MS << polls;
}

static void denied(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	struct nfs4_lockctx *ctx = req->ctx;
	bool parked = false, stopping;
	int error = -EAGAIN;

	mutex_lock(&c->locks.lock);
	stopping = nfs4_server_quitting(
		c->srv, &c->user); /* if not, nfs4_lock_abort() is still to come */
	if (req->own.u.lock.wait && nfs4_lock_wanted(req) && !stopping) {
		unsigned ms = poll_ms(req->polls++);

		ctx->busy = NULL;
		req->asks = false;
		ctx->refs++;
		if (nfs4_lock_behind_locked(c, req))
			ms = NFS4_LOCK_BEHIND_MS;
		nfs4_lock_park_locked(c, req, ms);
		parked = true;
	} else if (req->own.u.lock.wait) {
		error = req->interrupted ? -EINTR : -ENOTCONN;
	}
	mutex_unlock(&c->locks.lock);
	if (!parked) {
		nfs4_lockreq_end(c, req, error);
		return;
	}
	nfs4_lockreq_run(c, ctx);
	nfs4_lockctx_unref(c, ctx);
}

/* The server does not know the lock stateid. */
static void disowned(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	struct nfs4_lockctx *ctx = req->ctx;
	bool unlock = req->type == F_UNLCK;
	bool again = !unlock && !req->giving_back && ++req->disowned <= DISOWNED_MAX;

	log_ctrl("%s: the server disowns a lock: %s", c->srv->name, nfs4_status_name(req->status));
	mutex_lock(&c->locks.lock);
	if (nfs4_server_quitting(c->srv, &c->user)) /* no state manager establishes the locks again
						     */
		again = false;
	else
		ctx->suspect = true;
	nfs4_lockctx_judge_locked(c, ctx);
	if (again) {
		ctx->busy = NULL;
		req->asks = false;
		req->state = NFS4_LR_READY;
		TAILQ_INSERT_HEAD(&ctx->ready, req, link);
	}
	mutex_unlock(&c->locks.lock);
	nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	if (unlock) /* the range is not locked, as the user wanted */
		succeeded(c, req);
	else if (!again)
		nfs4_lockreq_end(c, req, -EIO);
}

/* LOCK or LOCKU ended without the server's verdict: no answer, an unreadable answer, or an answer
 * that the server has not kept. The user is told. The request then asks the server to give back all
 * locks that the server may have granted, until the server has done so or DOUBT_MAX attempts have
 * failed. */
static void in_doubt(struct nfs4_client *c, struct nfs4_lockreq *req, int error)
{
	struct nfs_op *user;
	bool again;

	mutex_lock(&c->locks.lock);
	user = nfs4_lockreq_take_user_locked(req);
	req->polls = req->doubtful ? req->polls + 1 : 0;
	req->doubtful = true;
	again = req->polls < DOUBT_MAX;
	nfs4_lock_unwait_locked(c, req);
	req->state = NFS4_LR_BUSY;
	if (req->type == F_UNLCK)
		unlocked_locked(c, req);
	mutex_unlock(&c->locks.lock);
	answer(user, error);
	if (!again) {
		log_warn(
			"%s: a lock may be left at the server: %s", c->srv->name, strerror(-error));
		if (restores(req))
			piece_lost(c, req);
		nfs4_lockreq_end(c, req, error);
		return;
	}
	req->own.tries = 0;
	req->own.noted = 0;
	req->own.u.lock.wait = false;
	nfs4_task_delay(&req->own, DOUBT_STEP_MS);
}

static void lock_done(struct nfs_op *own)
{
	struct nfs4_client *c = nfs4_client(own->client);
	struct nfs4_lockreq *req = own->be.v4.lock;
	uint32_t status = own->error ? NFS4_OK : req->status;
	bool upgrade = own->be.v4.kind == NFS4_K_OPEN_MORE;

	if (own->be.v4.kind == NFS4_K_LOCK_FREE) {
		mutex_lock(&c->locks.lock);
		req->ctx->have_stateid = false; /* after any answer of the server */
		mutex_unlock(&c->locks.lock);
		nfs4_lockreq_end(c, req, 0);
	} else if (!upgrade && (own->error == -ETIMEDOUT || own->error == -EREMOTEIO)) {
		in_doubt(c, req, own->error);
	} else if (restores(req) && (status == NFS4ERR_DENIED || status == NFS4ERR_OPENMODE ||
					    (own->error && own->error != -ENOTCONN))) {
		piece_lost(c, req);
		give_back_next(c, req);
	} else if (own->error) {
		nfs4_lockreq_end(c, req, own->error);
	} else if (status == NFS4_OK) {
		succeeded(c, req);
	} else if (status == NFS4ERR_DENIED) {
		denied(c, req);
	} else if (status == NFS4ERR_OPENMODE) {
		nfs4_lockreq_end(c, req, -EBADF);
	} else {
		disowned(c, req);
	}
}

/* --- starting a request ---------------------------------------------------------------------- */

/* Binds ctx, which the server does not know, to o. Returns the open that ctx leaves if the CLOSE of
 * that open waits for ctx, referenced; or NULL. */
static struct nfs_open *rebind_locked(struct nfs4_lockctx *ctx, struct nfs_open *o)
	REQUIRES(NFS4_LOCKS)
{
	struct nfs_open *old = ctx->open;

	old->nlockctx--;
	ctx->open = nfs4_open_ref(o);
	o->nlockctx++;
	if (old->close_deferred)
		return old;
	nfs4_open_unref(old);
	return NULL;
}

/* Must a call be sent for req, which has become BUSY and goes that way? If so, *kind is the call's
 * kind. Otherwise *error is the end of req; -EAGAIN: another owner's lock conflicts. *due: as
 * rebind_locked() returns. */
static bool prepare_locked(struct nfs4_client *c, struct nfs4_lockreq *req, enum nfs4_lock_way way,
	enum nfs4_kind_id *kind, int *error, struct nfs_open **due) REQUIRES(c->locks.lock)
{
	struct nfs4_lockctx *ctx = req->ctx;
	uint32_t need = req->type == F_WRLCK ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ;
	uint32_t have;

	req->own.cred = ctx->open->own.cred;
	if (req->own.type != NFS_LOCK) {
		*kind = NFS4_K_LOCK_FREE;
		return true;
	}
	*error = -EINTR;
	if (req->type != F_UNLCK && !nfs4_lock_wanted(req) && !req->doubtful)
		return false;
	if (!ctx->have_stateid && !ctx->ranges.n && !ctx->lost.n && ctx->open != req->open)
		*due = rebind_locked(ctx, req->open);
	req->own.cred = ctx->open->own.cred;
	req->own.u.lock.open = ctx->open;
	*error = 0;
	if (req->type == F_UNLCK) {
		if (!ctx->have_stateid || (ctx->local && !ctx->pushed) ||
			!lock_ranges_any(&ctx->ranges, req->start, req->end))
			return false;
	}
	*error = lock_ranges_reserve(&ctx->ranges);
	if (*error)
		return false;
	if (req->type == F_UNLCK) {
		/* If the answer is lost in a restart of the server, the server may have executed
		 * the LOCKU, and another client may have got the lock: no reclaim of the range. */
		if (!ctx->local)
			unlocked_locked(c, req);
		req->asks = true;
		*kind = NFS4_K_LOCKU;
		return true;
	}
	if (way != NFS4_LW_ASK) { /* a wait: the mount is being left */
		*error = way == NFS4_LW_WAIT		 ? -ENOTCONN
			 : nfs4_lock_take_locked(c, req) ? 0
							 : -EAGAIN;
		return false;
	}
	req->asks = true;
	mutex_lock(&ctx->open->lock);
	have = ctx->open->wire_access;
	mutex_unlock(&ctx->open->lock);
	*kind = have & need ? (enum nfs4_kind_id)NFS_LOCK : NFS4_K_OPEN_MORE;
	return true;
}

void nfs4_lockreq_run(struct nfs4_client *c, struct nfs4_lockctx *ctx)
{
	struct nfs_open *due = NULL;
	struct nfs_op *user = NULL;
	struct nfs4_lockreq *req;
	enum nfs4_lock_way way;
	enum nfs4_kind_id kind;
	bool send;
	int error = 0;

	mutex_lock(&c->locks.lock);
	req = TAILQ_FIRST(&ctx->ready);
	if (!req || ctx->busy || ctx->suspect) {
		mutex_unlock(&c->locks.lock);
		return;
	}
	way = nfs4_lock_way_locked(c, req);
	if (way == NFS4_LW_WAIT && !nfs4_server_quitting(c->srv, &c->user)) {
		if (nfs4_lock_wanted(req) || req->type == F_UNLCK) {
			nfs4_lock_stall_locked(c);
			mutex_unlock(&c->locks.lock);
			return;
		}
		way = NFS4_LW_ASK; /* the request ends */
	}
	TAILQ_REMOVE(&ctx->ready, req, link);
	ctx->busy = req;
	req->state = NFS4_LR_BUSY;
	send = prepare_locked(c, req, way, &kind, &error, &due);
	if (!send && req->type == F_UNLCK && !error)
		unlocked_locked(c, req);
	if (!send && !error) {
		/* the user is there, unless the request unlocks */
		user = nfs4_lockreq_take_user_locked(req);
		if (user)
			user->u.lock.local = true;
	}
	mutex_unlock(&c->locks.lock);
	if (send)
		send_as(c, req, kind);
	else if (error == -EAGAIN)
		denied(c, req);
	else
		end_for(c, req, user, error); /* which runs the next */
	if (due) {
		close_deferred(c, due);
		nfs4_open_unref(due);
	}
}

void nfs4_lockreq_run_all(struct nfs4_client *c)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);

	for (size_t i = 0; i < n; i++) {
		nfs4_lockreq_run(c, list[i]);
		nfs4_lockctx_unref(c, list[i]);
	}
	free(list);
}
