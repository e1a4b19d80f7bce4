/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client: the life of a mount with NFSv4.1 and later, its ops, and its upcalls for the server
 * (nfs4_server.h).
 *
 *     a server that is up (nfs4_session.c), the walk to the export, its limits (nfs4_export.c)
 *     ... ops ...
 *     no new ops, ops under way end, CLOSE of all opens, DELEGRETURN, leave the server
 */
#include "nfsproto/v4/nfs4_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfsproto/v4/mount/nfs4_deleg_along.h"
#include "nfsproto/v4/mount/nfs4_deleg_recover.h"
#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_disowned.h"
#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_lock_local.h"
#include "nfsproto/v4/mount/nfs4_lock_wait.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_locking.h"
#include "nfsproto/v4/mount/nfs4_names.h"
#include "nfsproto/v4/mount/nfs4_open_recover.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/nfs4_backend.h"
#include "nfsproto/v4/nfs4_export.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/ops/nfs4_locations.h"
#include "nfsproto/v4/ops/nfs4_ops_space.h"
#include "nfsproto/v4/ops/nfs4_ops_xattr.h"
#include "transport/clock.h"
#include "transport/log.h"

#define GOODBYE_MS    3000u
#define DRAIN_MS      2000u
#define DRAIN_STEP_NS (20 * NFS4_MSEC)

/* --- making and freeing --------------------------------------------------------------------- */

static struct nfs4_client *client_new(struct nfs4_server *srv, const struct nfs_mount_params *p)
{
	struct nfs4_client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	nfs_client_init(&c->base, &nfs4_backend, p);
	c->base.rpc = nfs4_server_conn(srv)->rpc;
	c->srv = srv;
	c->user.up = &nfs4_client_upcalls;
	c->user.soft = p->soft;
	c->user.soft_ms = p->timeo_ms * (p->retrans < 1000 ? p->retrans + 1 : 1000);
	c->cred = p->cred;
	c->connect_ms = p->connect_ms;
	c->read_plus = p->read_plus;
	pthread_mutex_init(&c->lock, NULL);
	clock_cond_init(&c->idle);
	TAILQ_INIT(&c->opens);
	nfs4_deleg_init(&c->delegs, p->delegations);
	nfs4_lock_init(&c->locks);
	nfs4_server_join(srv, &c->user);
	return c;
}

/* Nothing of c is under way, or will be. until, error: as nfs4_server_leave(). */
static void client_free(struct nfs4_client *c, uint64_t until, int error)
{
	c->idmap = idmap_free(c->idmap);
	nfs4_server_leave(c->srv, &c->user, until, error);
	nfs4_lock_finish(&c->locks);
	nfs4_deleg_finish(c);
	while (!TAILQ_EMPTY(&c->opens)) {
		struct nfs_open *o = TAILQ_FIRST(&c->opens);

		TAILQ_REMOVE(&c->opens, o, link);
		nfs4_open_unref(o);
	}
	pthread_cond_destroy(&c->idle);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* --- unmounting ---------------------------------------------------------------------------- */

/* Waits until `until` for the ops under way. False if the server did not answer in time. */
static bool drain_all(struct nfs4_client *c, uint64_t until)
{
	struct timespec pause = {.tv_nsec = 1000 * 1000};

	for (;;) {
		unsigned nown;

		nfs4_state_pump(c->srv); /* ops that were to be tried again */
		pthread_mutex_lock(&c->lock);
		if (c->nown)
			nfs4_state_wait_locked(&c->idle, &c->lock, clock_ns() + DRAIN_STEP_NS);
		nown = c->nown;
		pthread_mutex_unlock(&c->lock);
		/* acquire: done of the last one has returned */
		if (!nown && !atomic_load_explicit(&c->user.nops, memory_order_acquire))
			return true;
		if (clock_ns() >= until)
			return false;
		if (!nown)
			nanosleep(&pause, NULL);
	}
}

static bool opens_left(struct nfs4_client *c)
{
	return !TAILQ_EMPTY(&c->opens);
}

/* Begins to give state back, in rounds: the server answers "later" for some state. The last round
 * begins while half of the time is left, for DESTROY_SESSION and DESTROY_CLIENTID. False if the
 * server did not answer in time. */
static bool give_back(struct nfs4_client *c, unsigned (*begin)(struct nfs4_client *c),
	bool (*left)(struct nfs4_client *c), uint64_t until)
{
	struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
	uint64_t now = clock_ns(), last = now + (until > now ? (until - now) / 2 : 0);

	while (begin(c)) {
		if (!drain_all(c, until))
			return false;
		if (!left(c) || clock_ns() >= last)
			break;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* Unlocks, closes all opens, returns all delegations. As give_back(). */
static bool give_back_all(struct nfs4_client *c, uint64_t until)
{
	if (nfs4_lock_clear_all(c) && !drain_all(c, until))
		return false;
	return give_back(c, nfs4_close_all, opens_left, until) &&
	       give_back(c, nfs4_deleg_return_all, nfs4_deleg_left, until);
}

static void nfs4_unmount(struct nfs_client *base)
{
	struct nfs4_client *c = nfs4_client(base);
	uint64_t until = 0;
	int error = -ETIMEDOUT;

	nfs4_server_quit(c->srv, &c->user);
	nfs4_lock_abort(c);
	nfs4_server_fail_queued(c->srv, &c->user);
	if (drain_all(c, nfs_leave_until(base, DRAIN_MS))) {
		until = nfs_leave_until(base, GOODBYE_MS);
		if (give_back_all(c, until))
			error = 0;
	}
	if (error) { /* the server is silent: the ops under way end without an answer */
		nfs4_server_fail_queued(c->srv, &c->user);
		nfs4_task_abandon(c->srv, &c->user);
		drain_all(c, UINT64_MAX);
	}
	client_free(c, until, error);
}

struct nfs_client *nfs4_mount_on(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_client *c = client_new(srv, p);

	if (!c) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	if (nfs4_names_init(c, p)) {
		err_set(e, ERR_INTERNAL, "out of memory");
		client_free(c, 0, 0);
		return NULL;
	}
	if (nfs4_export_walk(c, p, e)) {
		nfs4_unmount(&c->base);
		return NULL;
	}
	return &c->base;
}

static struct nfs_client *nfs4_mount(const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_server *srv = nfs4_server_new(p, nfs4_kinds);
	struct nfs_client *base = NULL;

	if (!srv)
		err_set(e, ERR_INTERNAL, "no memory or no random numbers: %s", strerror(errno));
	else if (nfs4_server_start(srv, p, e) == 0)
		base = nfs4_mount_on(srv, p, e);
	nfs4_server_unref(srv);
	return base;
}

/* --- upcalls -------------------------------------------------------------------------------- */

static enum nfs_outcome up_may_send(struct nfs4_user *u, struct nfs_op *op, uint64_t now)
{
	int rc = nfs4_lock_io(nfs4_client_of(u), op, now);

	if (rc == 0) /* op->error is left alone */
		return NFS_DONE;
	return rc == -EAGAIN ? NFS_LATER : nfs_failed(op, rc);
}

static void up_put(struct nfs4_user *u, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_client *c = nfs4_client_of(u);
	struct nfs4_owners owners = nfs4_names_owners(c);

	k->owners = &owners;
	nfs4_kinds[op->be.v4.kind].put(c, op, k);
	k->owners = NULL;
}

static enum nfs_outcome up_get(struct nfs4_user *u, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_client *c = nfs4_client_of(u);
	struct nfs4_owners owners = nfs4_names_owners(c);
	enum nfs_outcome out;

	r->owners = &owners;
	out = nfs4_kinds[op->be.v4.kind].get(c, op, r);
	r->owners = NULL;
	if (out == NFS_DONE)
		out = nfs_failed(op, nfs4_reply_end(r));
	if (out == NFS_DONE && owners.not_yet && !(op->be.v4.flags & NFS4_F_PRIV) &&
		nfs4_names_wait(op))
		return NFS_LATER;
	return out;
}

static void up_later(struct nfs4_user *u, struct nfs_op *op)
{
	if (op->be.v4.kind == NFS4_K_OFFLOAD_STATUS)
		nfs4_state_delay(op, nfs4_offload_ms(op));
	else
		nfs4_names_later(nfs4_client_of(u), op);
}

static enum nfs_outcome up_failed(
	struct nfs4_user *u, struct nfs_op *op, uint32_t status, unsigned *ms)
{
	struct nfs4_client *c = nfs4_client_of(u);

	switch (status) {
	case NFS4ERR_BADOWNER:
		if (!nfs4_names_refused(c, op))
			return nfs_failed(op, -EINVAL);
		return nfs4_names_wanted(c, op) ? NFS_LATER : NFS_AGAIN;
	case NFS4ERR_MOVED:
		return nfs4_moved_ask(c, op) ? NFS_AGAIN : nfs_failed(op, -EREMOTE);
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
	case NFS4ERR_DELEG_REVOKED:
		return nfs4_disowned(c, op, status, ms);
	default:
		/* executed: for nfs4_lockreq.c the same as an unreadable answer */
		if (status == NFS4ERR_RETRY_UNCACHED_REP && op->type == NFS_LOCK)
			return nfs_failed(op, -EREMOTEIO);
		if (op->be.v4.kind == NFS4_K_LOOK)
			return nfs_failed(op, op->be.v4.first_error);
		return NFS_STATUS;
	}
}

static void up_ended(struct nfs4_user *u, struct nfs_op *op)
{
	struct nfs_open *o = nfs4_op_open(op), *source = nfs4_op_source(op);

	if (op->error && op->be.v4.kind == NFS4_K_OFFLOAD_STATUS)
		nfs4_offload_abandon(nfs4_client_of(u), op);
	/* a lock's request has its own reference */
	if (o && op->type != NFS_LOCK && !(op->be.v4.flags & NFS4_F_OWN))
		nfs4_open_unref(o);
	if (source)
		nfs4_open_unref(source);
	nfs4_deleg_stays(nfs4_client_of(u), op);
}

static bool up_poll(struct nfs4_user *u, uint64_t now, uint64_t *next)
{
	struct nfs4_client *c = nfs4_client_of(u);

	return nfs4_deleg_poll(c, now, next) || nfs4_lock_poll(c, now, next);
}

static void up_reclaim(struct nfs4_user *u)
{
	struct nfs4_client *c = nfs4_client_of(u);

	c->reclaim_until_ns = clock_ns() + atomic_load(&c->srv->lease_s) * NFS4_SEC;
	pthread_mutex_lock(&c->lock);
	/* the restarted server may give the stateid of an old copy to a new one */
	memset(c->offload, 0, sizeof(c->offload));
	pthread_mutex_unlock(&c->lock);
	nfs4_deleg_reclaim(c); /* before the opens, which may bring others */
	nfs4_open_reclaim(c);
}

static bool up_revoked(struct nfs4_user *u)
{
	bool unknown = nfs4_deleg_revoked(nfs4_client_of(u));

	return nfs4_open_revoked(nfs4_client_of(u)) || unknown;
}

static bool up_check(struct nfs4_user *u)
{
	return nfs4_open_check(nfs4_client_of(u));
}

static bool up_recall(
	struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_stateid *stateid)
{
	return nfs4_deleg_recall(nfs4_client_of(u), fh, stateid);
}

static bool up_opening(struct nfs4_user *u)
{
	struct nfs4_client *c = nfs4_client_of(u);
	bool opening;

	pthread_mutex_lock(&c->lock);
	opening = c->delegs.opening > 0;
	pthread_mutex_unlock(&c->lock);
	return opening;
}

static void up_recall_any(struct nfs4_user *u, uint32_t keep)
{
	nfs4_deleg_recall_any(nfs4_client_of(u), keep);
}

static uint32_t up_getattr(
	struct nfs4_user *u, const struct nfs_fh *fh, uint64_t *size, uint64_t *change)
{
	return nfs4_deleg_getattr(nfs4_client_of(u), fh, size, change);
}

static void up_recalled(struct nfs4_user *u, const struct nfs_fh *fh)
{
	nfs_tell_recalled(&nfs4_client_of(u)->base, fh);
}

static void up_connection(struct nfs4_user *u, enum nfs_connection what)
{
	nfs_tell_connection(&nfs4_client_of(u)->base, what);
}

static void up_notify_lock(
	struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
	nfs4_lock_notify(nfs4_client_of(u), fh, owner);
}

static void up_offload(struct nfs4_user *u, const struct nfs4_cb_offload_args *a)
{
	nfs4_offload_called(nfs4_client_of(u), a);
}

const struct nfs4_upcalls nfs4_client_upcalls = {
	.may_send = up_may_send,
	.put = up_put,
	.get = up_get,
	.later = up_later,
	.failed = up_failed,
	.ended = up_ended,
	.poll = up_poll,
	.reclaim = up_reclaim,
	.revoked = up_revoked,
	.check = up_check,
	.recall = up_recall,
	.recalled = up_recalled,
	.opening = up_opening,
	.recall_any = up_recall_any,
	.getattr = up_getattr,
	.connection = up_connection,
	.notify_lock = up_notify_lock,
	.offload = up_offload,
};

/* --- operations ---------------------------------------------------------------------------- */

static void nfs4_submit(struct nfs_client *base, struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(base);
	struct nfs_open *o;
	int kind;

	if (!nfs4_kinds[op->type].put && op->type != NFS_OPEN && op->type != NFS_CLOSE) {
		op->error = -EOPNOTSUPP;
		op->done(op);
		return;
	}
	nfs4_mount_bind(c, op, op->type);
	if (op->type == NFS_OPEN) {
		nfs4_open_submit(c, op);
		return;
	}
	if (op->type == NFS_CLOSE) {
		op->u.close.attr.have = false;
		if (nfs4_lock_defers_close(c, op->u.close.open, false)) {
			op->error = 0;
			op->done(op);
			return;
		}
		nfs4_close_submit(c, op);
		return;
	}
	if (op->type == NFS_LOCK) {
		nfs4_lock_submit(c, op);
		return;
	}
	if (op->type == NFS_LOCKT && nfs4_lock_test_local(c, op)) {
		op->error = 0;
		op->done(op);
		return;
	}
	kind = nfs4_xattr_check(c, op);
	if (!kind)
		kind = nfs4_space_kind(c, op);
	if (kind < 0) {
		op->error = kind;
		op->done(op);
		return;
	}
	o = nfs4_op_open(op);
	if (o)
		nfs4_open_ref(o);
	o = nfs4_op_source(op);
	if (o)
		nfs4_open_ref(o);
	op->be.v4.kind = (uint8_t)kind;
	nfs4_deleg_take_along(c, op);
	if (nfs4_names_wanted(c, op))
		nfs4_names_later(c, op);
	else
		nfs4_task_start(op);
}

static void nfs4_cancel(struct nfs_client *base, struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(base);

	if (op->type == NFS_LOCK) {
		nfs4_lock_cancel(c, op);
		return;
	}
	if (op->type != NFS_OPEN && op->type != NFS_CLOSE) {
		pthread_mutex_lock(&c->srv->slots.lock);
		nfs4_task_cancel_locked(op);
		pthread_mutex_unlock(&c->srv->slots.lock);
		return;
	}
	nfs4_open_cancel(c, op);
}

static bool deleg_holds(struct nfs_client *base, const struct nfs_fh *fh, uint64_t id)
{
	return nfs4_deleg_holds(nfs4_client(base), fh, id);
}

static struct nfs_open *deleg_open(struct nfs_client *base, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred)
{
	return nfs4_deleg_open(nfs4_client(base), fh, id, flags, cred);
}

static void deleg_give_back(struct nfs_client *base, const struct nfs_fh *fh, uint64_t id)
{
	nfs4_deleg_give_back(nfs4_client(base), fh, id);
}

static bool locks_doubtful(struct nfs_client *base, const struct nfs_open *o)
{
	return nfs4_locks_doubtful(nfs4_client(base), clock_ns());
}

static uint64_t lock_guard(
	struct nfs_client *base, const struct nfs_open *o, uint64_t first, uint64_t last)
{
	return nfs4_lock_guard(nfs4_client(base), o, first, last);
}

static void deleg_flushed(struct nfs_client *base, const struct nfs_fh *fh, uint64_t id)
{
	nfs4_deleg_flushed(nfs4_client(base), fh, id);
}

const struct nfs_backend nfs4_backend = {
	.mount = nfs4_mount,
	.unmount = nfs4_unmount,
	.submit = nfs4_submit,
	.cancel = nfs4_cancel,
	.deleg_holds = deleg_holds,
	.deleg_open = deleg_open,
	.deleg_give_back = deleg_give_back,
	.locks_doubtful = locks_doubtful,
	.lock_guard = lock_guard,
	.deleg_flushed = deleg_flushed,
};
