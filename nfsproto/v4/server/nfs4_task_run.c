/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task_run: the calls of an op. Model: nfs4_task.h.
 */
#include "nfsproto/v4/server/nfs4_task_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_reply.h"
#include "transport/clock.h"
#include "transport/log.h"

#define ARGS_ROOM    2600 /* the longest fixed arguments: three names, two handles, attributes */
#define LOCK_WAIT_MS 20	  /* the pause between two looks whether a lock is held */

static void task_replied(struct rpc_call *call, int error, struct xdr_in *res);
static void task_go_on(struct nfs_op *op, enum nfs_outcome out, uint32_t status);

/* Starts op, which makes no progress because of `why`, again after ms (0: at once), unless a soft
 * mount has waited long enough. */
static void task_wait(struct nfs_op *op, const char *why, unsigned ms)
{
	const struct nfs4_user *u = op->be.v4.user;
	uint64_t now = clock_ns();

	if (!op->be.v4.since_ns)
		op->be.v4.since_ns = now;
	if (u && u->soft &&
		clock_age(now, op->be.v4.since_ns) + ms * NFS4_MSEC > u->soft_ms * NFS4_MSEC) {
		log_warn("%s: %s has waited for too long: %s", nfs4_task_server(op)->name,
			nfs4_task_kind(op)->name, why);
		nfs4_task_end(op, -ETIMEDOUT);
		return;
	}
	if (ms == 0)
		nfs4_task_start(op);
	else
		nfs4_task_delay(op, ms);
}

static void task_again(struct nfs_op *op, uint32_t status, unsigned ms)
{
	if (op->be.v4.flags & NFS4_F_LAST) {
		nfs4_task_end(op, -ENOTCONN);
		return;
	}
	if (op->tries < UINT32_MAX)
		op->tries++;
	task_wait(op, nfs4_status_name(status), ms);
}

static size_t task_args_room(const struct nfs_op *op)
{
	if (op->be.v4.kind == NFS_CREATE && op->u.create.type == NFS_LNK)
		return ARGS_ROOM + op->u.create.target_len;
	if (op->be.v4.kind == NFS_SETXATTR)
		return ARGS_ROOM + op->u.setxattr.len;
	if (op->be.v4.kind == NFS_SETACL)
		return ARGS_ROOM + op->u.setacl.len;
	if (op->be.v4.kind == NFS4_K_WALK || op->be.v4.kind == NFS4_K_LOCATIONS)
		return ARGS_ROOM + 3 * NFS_PATH_MAX; /* each name costs 8 to 11 bytes more */
	return ARGS_ROOM;
}

static void task_put_sequence(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k, uint32_t highest)
{
	struct nfs4_slot *slot = op->slot;
	struct nfs4_sequence_args a = {
		.session = srv->session,
		.sequenceid = slot->seq,
		.slotid = slot->id,
		.highest_slotid = highest,
		.cachethis = (nfs4_task_kind(op)->flags & NFS4_KF_CACHE) &&
			     !(op->be.v4.flags & NFS4_F_UNCACHED),
	};

	nfs4_put_sequence_args(k->x, &a);
	nfs4_comp_count(k, OP_SEQUENCE, 0);
}

static void task_put(struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_kind *kind = nfs4_task_kind(op);

	if (kind->server_put)
		kind->server_put(nfs4_task_server(op), op, k);
	else
		op->be.v4.user->up->put(op->be.v4.user, op, k);
}

/* Sends op, which is SENDING and has its slot. NFS_DONE: sent. NFS_LATER, NFS_FAILED: not sent, and
 * op still has its slot. */
static enum nfs_outcome task_try_send(struct nfs_op *op, uint32_t highest)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_user *u = op->be.v4.user;
	uint64_t now = clock_ns();
	struct nfs4_comp k;
	enum nfs_outcome out = u ? u->up->may_send(u, op, now) : NFS_DONE;
	int rc;

	if (out != NFS_DONE)
		return out;
	if (!(op->be.v4.flags & NFS4_F_PRIV))
		op->be.v4.conn = nfs4_server_pick(srv, op);
	rc = rpc_call_init(&op->call, op->be.v4.conn->rpc, task_args_room(op));
	if (rc)
		return nfs_failed(op, rc);
	if (op->slot)
		((struct nfs4_slot *)op->slot)->sent_ns = now;
	if (!nfs4_task_step(op, NFS4_T_SENDING, NFS4_T_SENT)) {
		rpc_call_finish(&op->call);
		return nfs_failed(op, -EINTR);
	}
	op->call.proc = NFS4_PROC_COMPOUND;
	op->call.cred = op->cred;
	op->call.done = task_replied;
	op->call.stays = op->be.v4.kind == NFS4_K_BIND;
	nfs4_comp_begin(&k, &op->call.args, srv->minor);
	if (op->slot)
		task_put_sequence(srv, op, &k, highest);
	task_put(op, &k);
	nfs4_comp_end(&k);
	op->call.reply_max = (uint32_t)k.bound;
	nfs_op_called(op, now);
	if (srv->replay)
		nfs4_replay_calls(op);
	rc = rpc_call_submit(&op->call);
	if (rc == 0)
		return NFS_DONE; /* op may have ended by now */
	if (srv->replay)
		nfs4_replay_unsent(op);
	rpc_call_finish(&op->call);
	return nfs_failed(op, rc);
}

/* Does op's call change files or names? */
static bool task_changes(const struct nfs_op *op)
{
	return nfs4_task_kind(op)->flags & NFS4_KF_CHANGES &&
	       (op->be.v4.kind != NFS_OPEN || op->u.open.flags & (O_CREAT | O_TRUNC));
}

/* Takes a slot for op, if there is one. */
static bool task_take_slot_locked(struct nfs4_slots *s, struct nfs_op *op, bool passes)
	REQUIRES(s->lock)
{
	struct nfs4_slot *slot = nfs4_slots_take_locked(s, passes);

	op->slot = slot;
	if (slot) {
		slot->op = op;
		slot->changes = task_changes(op);
	}
	return slot;
}

/* Gives op's slot back, and op has none then. Takes a slot for the first waiting op, if there is
 * one. Returns that op, now SENDING, to be sent with *highest; or NULL. */
static struct nfs_op *task_release_locked(struct nfs4_server *srv, struct nfs_op *op,
	enum nfs4_slot_end end, uint32_t *highest) REQUIRES(srv->slots.lock)
{
	struct nfs4_slots *s = &srv->slots;
	struct nfs_op *next;

	if (op->slot)
		nfs4_slots_put_locked(s, op->slot, end);
	op->slot = NULL;
	op->be.v4.asks_on = false;
	next = TAILQ_FIRST(&s->waiting);
	if (!next)
		return NULL;
	if (!task_take_slot_locked(s, next, false))
		return NULL;
	TAILQ_REMOVE(&s->waiting, next, link);
	nfs4_task_state_locked(next, NFS4_T_SENDING);
	*highest = nfs4_slots_highest_locked(s);
	return next;
}

/* op waits for a lock in doubt. May op wait with the slot that it has kept? The calls that settle
 * the lock need another slot. */
static bool task_waits_with_slot_locked(const struct nfs4_server *srv, const struct nfs_op *op)
	REQUIRES(srv->slots.lock)
{
	const struct nfs4_slots *s = &srv->slots;

	return (op->be.v4.flags & NFS4_F_SLOT_KEPT) && s->gate_open && !srv->stopping &&
	       s->nbusy + s->ndoubtful < s->limit;
}

/* Sends op. An op that cannot be sent ends, and its slot goes to the next op, and so on. An op that
 * relies on a lock in doubt waits, and gives back its slot unless it has kept the slot. */
static void task_send(struct nfs4_server *srv, struct nfs_op *op, uint32_t highest)
{
	while (op) {
		enum nfs4_slot_end end = NFS4_SLOT_UNUSED;
		struct nfs_op *next;
		enum nfs_outcome out = task_try_send(op, highest);

		if (out == NFS_DONE)
			return;
		if (op->be.v4.flags & (NFS4_F_SLOT_SET | NFS4_F_SLOT_KEPT))
			end = NFS4_SLOT_DOUBTFUL;
		mutex_lock(&srv->slots.lock);
		nfs4_task_state_locked(op, NFS4_T_ENDING);
		if (out == NFS_FAILED && op->error == -EINTR && nfs4_task_stopping_locked(op))
			op->error = -ENOTCONN;
		if (out == NFS_LATER && task_waits_with_slot_locked(srv, op))
			next = NULL;
		else
			next = task_release_locked(srv, op, end, &highest);
		mutex_unlock(&srv->slots.lock);
		if (out == NFS_FAILED)
			nfs4_task_end(op, op->error);
		else
			task_wait(op, "a lock is in doubt", LOCK_WAIT_MS);
		op = next;
	}
}

/* The reply to op's call is a former daemon's note of len bytes. */
static void task_read_noted(struct nfs_op *op, const uint8_t *reply, size_t len)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_task_reply a;
	enum nfs_outcome out;
	struct xdr_in x;
	int rc;

	mutex_lock(&srv->slots.lock);
	nfs4_task_state_locked(op, NFS4_T_ENDING);
	mutex_unlock(&srv->slots.lock);
	op->call = (struct rpc_call){.rpc_stat = RPC_OK};
	xdr_in_init(&x, reply, len);
	rc = nfs4_task_reply_noted(op, &x, &a);
	out = nfs4_task_reply_read(op, rc, &a);
	task_go_on(op, out, a.r.status);
}

/* Has a former daemon noted the reply to op's call? Then op has gone on by that. */
static bool task_replay(struct nfs_op *op)
{
	uint8_t *reply = NULL;
	size_t len = 0;

	if (op->slot)
		return false;
	switch (nfs4_replay_find(op, &reply, &len)) {
	case NFS4_REPLAY_REPLY:
		task_read_noted(op, reply, len);
		free(reply);
		return true;
	case NFS4_REPLAY_SLOT:
		op->be.v4.flags |= NFS4_F_SLOT_KEPT;
		break;
	case NFS4_REPLAY_NONE:
		break;
	}
	return false;
}

/* The error of op because there is no session, and its user waits for none; or 0. */
static int task_hurries_locked(const struct nfs4_slots *s, const struct nfs_op *op)
	REQUIRES(s->lock)
{
	const struct nfs4_user *u = op->be.v4.user;

	if (s->gate_open || !u || !u->hasty)
		return 0;
	return op->be.v4.unsure ? -ENOTCONN : -EAGAIN;
}

void nfs4_task_start(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_slots *s = &srv->slots;
	bool priv = op->be.v4.flags & NFS4_F_PRIV;
	bool passes = op->be.v4.flags & NFS4_F_PASSES;
	bool noseq = nfs4_task_kind(op)->flags & NFS4_KF_NOSEQ;
	uint32_t highest = 0;
	int error = 0;

	if (srv->replay && task_replay(op))
		return;
	mutex_lock(&s->lock);
	if (op->be.v4.cancelled && !nfs4_task_asks_on_locked(op)) {
		error = -EINTR;
	} else if (!priv && nfs4_task_stopping_locked(op) && !(op->be.v4.flags & NFS4_F_LAST)) {
		error = -ENOTCONN;
	} else if (!noseq && !op->slot) {
		op->be.v4.flags &= (uint16_t)~NFS4_F_SLOT_KEPT;
		error = task_hurries_locked(s, op);
		if (!error && !passes &&
			(!TAILQ_EMPTY(&s->waiting) || !task_take_slot_locked(s, op, false))) {
			TAILQ_INSERT_TAIL(&s->waiting, op, link);
			nfs4_task_state_locked(op, NFS4_T_QUEUED);
			mutex_unlock(&s->lock);
			return;
		}
		if (passes && !task_take_slot_locked(s, op, true))
			error = -EAGAIN;
	}
	nfs4_task_state_locked(op, error ? NFS4_T_ENDING : NFS4_T_SENDING);
	highest = nfs4_slots_highest_locked(s);
	mutex_unlock(&s->lock);
	if (error)
		nfs4_task_end(op, error);
	else
		task_send(srv, op, highest);
}

void nfs4_task_kick(struct nfs4_server *srv)
{
	struct nfs4_slots *s = &srv->slots;

	for (;;) {
		struct nfs_op *op;
		uint32_t highest = 0;

		mutex_lock(&s->lock);
		op = TAILQ_FIRST(&s->waiting);
		if (!op || !task_take_slot_locked(s, op, false)) {
			mutex_unlock(&s->lock);
			return;
		}
		TAILQ_REMOVE(&s->waiting, op, link);
		nfs4_task_state_locked(op, NFS4_T_SENDING);
		highest = nfs4_slots_highest_locked(s);
		mutex_unlock(&s->lock);
		task_send(srv, op, highest);
	}
}

/* --- the reply ----------------------------------------------------------------------------- */

/* Goes on with an op after its reply has been read. status belongs to NFS_STATUS. The slot has been
 * given back, and the call is finished. */
static void task_go_on(struct nfs_op *op, enum nfs_outcome out, uint32_t status)
{
	unsigned ms;

	switch (nfs4_task_reply_judge(op, out, status, &ms)) {
	case NFS_AGAIN:
		nfs4_task_start(op);
		break;
	case NFS_LATER:
		op->be.v4.user->up->later(op->be.v4.user, op);
		break;
	case NFS_RECOVER:
		task_again(op, status, ms);
		break;
	case NFS_STATUS:
	case NFS_DONE:
	case NFS_FAILED:
		nfs4_task_end(op, op->error);
		break;
	}
}

/* The done of the call. */
static void task_replied(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs_op *op = container_of(call, struct nfs_op, call);
	struct nfs4_server *srv = nfs4_task_server(op);
	uint64_t sent_ns = op->slot ? ((struct nfs4_slot *)op->slot)->sent_ns : 0;
	bool has_slot = op->slot != NULL, more_slots = false, flagged;
	struct nfs_op *next = NULL;
	struct nfs4_task_reply a;
	enum nfs_outcome out;
	uint32_t highest = 0;
	const uint8_t *begin = error ? NULL : res->base + res->pos;
	size_t len = error ? 0 : res->len - res->pos;
	int rc = nfs4_task_reply_begin(op, error, res, &a);

	if (srv->replay)
		nfs4_replay_replied(op, rc, a.busy, a.end, begin, len);
	if (srv->nconns > 1)
		op->be.v4.conn = nfs4_server_carrier(srv, call);
	mutex_lock(&srv->slots.lock);
	nfs4_task_state_locked(op, NFS4_T_ENDING);
	if (rc == -ECANCELED && nfs4_task_stopping_locked(op))
		rc = -ENOTCONN; /* the op's owner did not ask for this */
	if (rc == 0 && has_slot)
		more_slots = nfs4_slots_target_locked(
			&srv->slots, a.seq.highest_slotid, a.seq.target_highest_slotid);
	flagged = a.seq.status_flags || srv->flags_seen;
	if (!nfs4_task_reply_keeps_slot_locked(op, &a)) {
		if (has_slot && a.end == NFS4_SLOT_DOUBTFUL && !srv->stopping &&
			!(op->be.v4.flags & NFS4_F_SLOT_SET))
			nfs4_state_want_locked(srv, NFS4_TODO_PROBE);
		next = task_release_locked(srv, op, a.end, &highest);
	}
	mutex_unlock(&srv->slots.lock);
	if (next)
		task_send(srv, next, highest);
	if (more_slots)
		nfs4_task_kick(srv);

	if (error == 0 && !has_slot)
		atomic_store_explicit(&srv->heard_ns, clock_ns(), memory_order_relaxed);
	if (rc == 0 && has_slot) {
		if (flagged)
			nfs4_state_flags(srv, a.seq.status_flags, sent_ns);
		/* release: a reader of renewed_ns also sees the effects of the flags */
		if (sent_ns > atomic_load_explicit(&srv->renewed_ns, memory_order_relaxed))
			atomic_store_explicit(&srv->renewed_ns, sent_ns, memory_order_release);
	}
	out = nfs4_task_reply_read(op, rc, &a);
	rpc_call_finish(call);
	task_go_on(op, out, a.r.status);
}
