/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client: the life of a mount with NFSv4.1 and later, and its ops.
 *
 *     a server that is up (nfs4_session.c), the walk to the export, its limits (nfs4_export.c);
 *     or a former daemon's record of all that (nfs4_mount_record.c),
 *     or the notes of a former daemon that was killed (nfs4_former.c)
 *     ... ops ...
 *     no new ops, ops under way end, CLOSE of all opens, DELEGRETURN, leave the server
 */
#include "nfsproto/v4/nfs4_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfsproto/common/idmap.h"
#include "nfsproto/v4/mount/nfs4_deleg_along.h"
#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_lock_local.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_locking.h"
#include "nfsproto/v4/mount/nfs4_names.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/nfs4_backend.h"
#include "nfsproto/v4/nfs4_export.h"
#include "nfsproto/v4/nfs4_former.h"
#include "nfsproto/v4/nfs4_client_upcalls.h"
#include "nfsproto/v4/nfs4_mount_record.h"
#include "nfsproto/v4/nfs4_replication.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_join.h"
#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_server_record.h"
#include "nfsproto/v4/server/nfs4_session.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
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
	c->base.rpc = srv->conn[0].rpc;
	c->base.rp = &srv->rp;
	c->base.rpcs = srv->rpcs;
	c->base.nrpcs = srv->nconns;
	c->srv = srv;
	c->user.up = &nfs4_client_upcalls;
	c->user.soft = p->soft;
	c->user.soft_ms = p->timeo_ms * (p->retrans < 1000 ? p->retrans + 1 : 1000);
	c->cred = p->cred;
	c->connect_ms = p->connect_ms;
	c->read_plus = p->read_plus;
	c->migrates = p->migration;
	c->ledger = p->ledger;
	mutex_init(&c->lock);
	clock_cond_init(&c->idle);
	TAILQ_INIT(&c->opens);
	nfs4_deleg_init(c, p->delegations);
	nfs4_lock_init(&c->locks);
	nfs4_user_join(srv, &c->user);
	return c;
}

/* Nothing of c is under way, or will be. until, error: as nfs4_user_leave(). */
static void client_free(struct nfs4_client *c, uint64_t until, int error)
{
	c->idmap = idmap_free(c->idmap);
	ledger_drop(c->ledger, &c->note);
	nfs4_user_leave(c->srv, &c->user, until, error);
	nfs4_pnfs_free(c);
	nfs4_replication_end(c);
	mutex_destroy(&c->lock);
	nfs4_lock_finish(&c->locks);
	nfs4_deleg_finish(c);
	while (!TAILQ_EMPTY(&c->opens)) {
		struct nfs_open *o = TAILQ_FIRST(&c->opens);

		TAILQ_REMOVE(&c->opens, o, link);
		nfs4_open_unref(o);
	}
	pthread_cond_destroy(&c->idle);
	free(c);
}

/* --- unmounting ---------------------------------------------------------------------------- */

/* Waits until `until` for the ops under way. False if the server did not answer in time. */
static bool drain_all(struct nfs4_client *c, uint64_t until)
{
	struct timespec pause = {.tv_nsec = 1000 * 1000};

	for (;;) {
		unsigned nown;

		nfs4_task_pump(c->srv); /* ops that were to be tried again */
		mutex_lock(&c->lock);
		if (c->nown)
			nfs4_state_wait_locked(&c->idle, &c->lock, clock_ns() + DRAIN_STEP_NS);
		nown = c->nown;
		mutex_unlock(&c->lock);
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
	bool left;

	mutex_lock(&c->lock);
	left = !TAILQ_EMPTY(&c->opens);
	mutex_unlock(&c->lock);
	return left;
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

	nfs4_user_quit(c->srv, &c->user);
	nfs4_pnfs_stop(c);
	nfs4_lock_abort(c);
	nfs4_task_fail_queued(c->srv, &c->user);
	if (drain_all(c, nfs_leave_until(base, DRAIN_MS))) {
		until = nfs_leave_until(base, GOODBYE_MS);
		nfs4_pnfs_end(c, until);
		if (give_back_all(c, until))
			error = 0;
	}
	if (error) { /* the server is silent: the ops under way end without an answer */
		nfs4_task_fail_queued(c->srv, &c->user);
		nfs4_task_abandon(c->srv, &c->user);
		nfs4_pnfs_end(c, 0);
		drain_all(c, UINT64_MAX);
	}
	client_free(c, until, error);
}

/* A mount that cannot use layouts works without. */
static void begin_pnfs(struct nfs4_client *c, const struct nfs_mount_params *p)
{
	const uint32_t flex = 1u << LAYOUT4_FLEX_FILES, files = 1u << LAYOUT4_NFSV4_1_FILES;
	int rc;

	if (!p->pnfs)
		return;
	if (!(c->layout_types & (flex | files))) {
		log_always_warn("%s: %s gives no layouts of files or flexible files: option pnfs "
				"has no effect",
			c->srv->name, p->export);
		return;
	}
	rc = nfs4_pnfs_begin(
		c, c->layout_types & flex ? LAYOUT4_FLEX_FILES : LAYOUT4_NFSV4_1_FILES);
	if (rc)
		log_always_warn("%s: no memory or no thread for pNFS (%s): option pnfs has no "
				"effect",
			c->srv->name, strerror(-rc));
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
		srv->rp.abort_fd = 0; /* the goodbye is wanted */
		nfs4_unmount(&c->base);
		return NULL;
	}
	nfs4_mount_note(c);
	begin_pnfs(c, p);
	return &c->base;
}

/* The mount that p->record tells of, with nothing but a connection to its server. NULL: the state
 * at the server stays as it is. */
static struct nfs4_client *take_over(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_client *c;
	struct xdr_in x;

	xdr_in_init(&x, p->record->data, p->record->len);
	nfs4_server_get_record(srv, &x);
	c = client_new(srv, p);
	if (!c || nfs4_names_init(c, p))
		err_set(e, ERR_INTERNAL, "out of memory");
	else if (!nfs4_mount_get_record(c, p->record, &x, e))
		return c;
	srv->have_session = srv->have_clientid = false;
	if (c)
		client_free(c, 0, 0);
	return NULL;
}

static struct nfs_client *nfs4_take_over(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_client *c;

	if (nfs4_conn_new(srv, p, e))
		return NULL;
	c = take_over(srv, p, e);
	if (!c)
		return NULL;
	if (!nfs4_server_go_on(srv, p, e)) {
		c->base.nrpcs = srv->nconns;
		begin_pnfs(c, p);
		return &c->base;
	}
	srv->have_session = srv->have_clientid = false;
	client_free(c, 0, 0);
	return NULL;
}

/* The mount of the former daemon p->former, with nothing but a connection to its server. NULL: the
 * state at the server stays as it is. */
static struct nfs4_client *take_notes(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_client *c;

	if (nfs4_server_get_note(srv, p->former, e))
		return NULL;
	c = client_new(srv, p);
	if (!c || nfs4_names_init(c, p))
		err_set(e, ERR_INTERNAL, "out of memory");
	else if (!nfs4_replay_read(srv, p->former, e) && !nfs4_former_read(c, p->former, e))
		return c;
	srv->have_session = srv->have_clientid = false;
	if (c)
		client_free(c, 0, 0);
	return NULL;
}

static struct nfs_client *nfs4_resume(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs_mount_params there = *p;
	struct nfs_record peer;
	struct nfs4_client *c;

	there.record = &peer;
	if (nfs4_server_note_peer(p->former, &peer, e) || nfs4_conn_new(srv, &there, e))
		return NULL;
	c = take_notes(srv, p, e);
	if (!c)
		return NULL;
	if (!nfs4_server_resume(srv, p, e)) {
		c->base.nrpcs = srv->nconns;
		return &c->base;
	}
	srv->have_session = srv->have_clientid = false;
	client_free(c, 0, 0);
	return NULL;
}

/* Without memory for them, no notes can be made. */
static bool begin_notes(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	if (!p->ledger && !p->former)
		return true;
	srv->replay = nfs4_replay_new(p->ledger);
	if (!srv->replay)
		err_set(e, ERR_INTERNAL, "out of memory");
	return srv->replay;
}

static struct nfs_client *nfs4_mount(const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_server *srv = nfs4_server_new(p, nfs4_kinds);
	struct nfs_client *base = NULL;

	if (!srv)
		err_set(e, ERR_INTERNAL, "no memory or no random numbers: %s", strerror(errno));
	else if (!begin_notes(srv, p, e))
		base = NULL;
	else if (p->former)
		base = nfs4_resume(srv, p, e);
	else if (p->record)
		base = nfs4_take_over(srv, p, e);
	else if (nfs4_server_start(srv, p, e) == 0)
		base = nfs4_mount_on(srv, p, e);
	if (srv)
		srv->rp.abort_fd = 0;
	if (base && p->trunk_discovery && p->max_connect > 1)
		nfs4_export_trunk(nfs4_client(base), p);
	if (base)
		nfs4_replication_begin(nfs4_client(base), p);
	nfs4_server_unref(srv);
	return base;
}

/* --- operations ---------------------------------------------------------------------------- */

static void answer(struct nfs_op *op, int error)
{
	op->error = error;
	op->done(op);
}

/* Does op end at once, because the locks of the mount have the answer? */
static bool answered_by_locks(struct nfs4_client *c, struct nfs_op *op)
{
	switch (op->type) {
	case NFS_LOCKT:
		return nfs4_lock_test_local(c, op);
	case NFS_CLOSE:
		op->u.close.attr.have = false;
		if (!nfs4_lock_defers_close(c, op->u.close.open, false))
			return false;
		nfs4_note_open(op->u.close.open);
		return true;
	default:
		return false;
	}
}

/* Any op but those with an own op: NFS_OPEN, NFS_CLOSE, NFS_LOCK. */
static void submit(struct nfs4_client *c, struct nfs_op *op)
{
	int kind = nfs4_kind_of(c, op);
	struct nfs_open *o;

	if (kind < 0) {
		answer(op, kind);
		return;
	}
	o = nfs_op_open(op);
	if (o)
		nfs4_open_ref(o);
	o = nfs_op_source(op);
	if (o)
		nfs4_open_ref(o);
	op->be.v4.kind = (uint8_t)kind;
	nfs4_deleg_take_along(c, op);
	if (nfs4_names_wanted(c, op))
		nfs4_names_later(c, op);
	else if (!nfs4_pnfs_io(c, op))
		nfs4_task_start(op);
}

static void close_submit(struct nfs4_client *c, struct nfs_op *op)
{
	nfs4_pnfs_closing(c, op->u.close.open);
	nfs4_close_submit(c, op);
}

static void nfs4_submit(struct nfs_client *base, struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(base);

	if (!nfs4_kinds[op->type].put) {
		answer(op, -EOPNOTSUPP);
		return;
	}
	nfs4_mount_bind(c, op, op->type);
	if (answered_by_locks(c, op))
		answer(op, 0);
	else if (op->type == NFS_OPEN)
		nfs4_open_submit(c, op);
	else if (op->type == NFS_CLOSE)
		close_submit(c, op);
	else if (op->type == NFS_LOCK)
		nfs4_lock_submit(c, op);
	else
		submit(c, op);
}

static void nfs4_cancel(struct nfs_client *base, struct nfs_op *op, bool at_once)
{
	struct nfs4_client *c = nfs4_client(base);

	if (op->type == NFS_LOCK) {
		nfs4_lock_cancel(c, op, at_once);
		return;
	}
	if (op->type != NFS_OPEN && op->type != NFS_CLOSE) {
		mutex_lock(&c->srv->slots.lock);
		nfs4_task_cancel_locked(op);
		mutex_unlock(&c->srv->slots.lock);
		nfs4_pnfs_cancel(c, op);
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

static void answered(struct nfs_client *base, uint64_t request)
{
	nfs4_replay_answered(nfs4_client(base)->srv, request);
}

static bool has_changes(struct nfs_client *base, uint64_t request)
{
	return nfs4_replay_has(nfs4_client(base)->srv, request);
}

static void replays_end(struct nfs_client *base)
{
	nfs4_replay_end(nfs4_client(base)->srv);
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
	.settle = nfs4_mount_settle,
	.record = nfs4_mount_record,
	.answered = answered,
	.has_changes = has_changes,
	.replays_end = replays_end,
	.note_number = nfs4_former_number,
	.former_open = nfs4_former_open,
	.former_end = nfs4_former_end,
	.former_deleg = nfs4_former_deleg,
	.discard = nfs4_former_discard,
};
