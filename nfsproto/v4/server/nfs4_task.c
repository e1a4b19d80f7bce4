/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task: the life of one op, up to its reply (nfs4_task_reply.c).
 *
 *     start --no slot, gate closed--> QUEUED --a slot comes free--> SENDING
 *     start --slot--> SENDING --> SENT --reply--> ENDING --> NEW, done
 *                                                   \--> DELAYED --> DUE --> start (DELAY, GRACE)
 *                                                   \--> start        (next step, new session)
 *
 * The user of an op counts the op from its start until done has returned. A user that wants to
 * leave waits until none is left.
 *
 * An op is encoded when it has its slot, never before. So a retry is a new encoding with a new
 * sequence id.
 *
 * The exception is a SEQUENCE that was answered DELAY. The server may still be executing the same
 * request, received over a connection that is lost by now. It will keep that request's answer under
 * the sequence id. So the op keeps its slot and asks again with the same sequence id (RFC 8881
 * 15.1.1.3). If the op cannot do so (it ends, a new session is made, or the op must wait for a lock
 * and no other slot is free), the slot is DOUBTFUL. A new session waits for some more tries of an
 * unsure op, since a restarted server may keep answers under the old session (rnfs-serve does).
 *
 * An op that changes the data of a file is not forgotten when it is cancelled after it was sent.
 * The server may execute calls of different slots in any order, and so execute this call over later
 * WRITEs. The op ends with its answer; if SEQUENCE was answered DELAY, the op asks on.
 *
 * The thread that submits an op sends it. The progress thread that gets a reply gives the slot to
 * the first op that waits. The thread sends that op before it looks at the results.
 *
 * Invariants. In ENDING only the thread that ends the op touches the op; a canceller sets a flag
 * and does no more. rpc_call_cancel() is called in state SENT only, with slots.lock held. A reply
 * first leaves SENT under slots.lock, so no finished call is ever cancelled. Only the step from
 * SENDING to SENT is made without the lock, by compare-and-swap, for speed. A canceller changes
 * SENDING to ABORTED in the same way, and one of the two wins.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

#define ARGS_ROOM    2600 /* the longest fixed arguments: three names, two handles, attributes */
#define LOCK_WAIT_MS 20	  /* the pause between two looks whether a lock is held */

void nfs4_task_bind(struct nfs_op *op, struct nfs4_conn *conn, struct nfs4_user *u, unsigned kind)
{
	memset(&op->be, 0, sizeof(op->be));
	op->be.v4.conn = conn;
	op->be.v4.user = u;
	op->be.v4.kind = (uint8_t)kind;
}

bool nfs4_task_stopping_locked(const struct nfs_op *op)
{
	return op->be.v4.user ? op->be.v4.user->stopping : nfs4_task_server(op)->stopping;
}

void nfs4_task_give_up_slot_locked(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	if (!op->slot)
		return;
	nfs4_slots_put_locked(&srv->slots, op->slot, NFS4_SLOT_DOUBTFUL);
	op->slot = NULL;
	if (!srv->stopping)
		nfs4_state_want_locked(srv, NFS4_TODO_PROBE);
}

void nfs4_task_end(struct nfs_op *op, int error)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_user *u = op->be.v4.user;

	if (op->slot) { /* kept for another try, or set: no other op will settle the slot */
		pthread_mutex_lock(&srv->slots.lock);
		nfs4_task_give_up_slot_locked(op);
		pthread_mutex_unlock(&srv->slots.lock);
	}
	op->error = error;
	op->be.v4.since_ns = 0; /* its owner may start it again */
	if (u)
		u->up->ended(u, op);
	assert(atomic_load_explicit(&op->be.v4.state, memory_order_relaxed) != NFS4_T_NEW);
	atomic_store_explicit(&op->be.v4.state, NFS4_T_NEW, memory_order_release);
	op->done(op);
	if (u) /* release: a thread that reads 0 may free u and all memory that done has used */
		atomic_fetch_sub_explicit(&u->nops, 1, memory_order_release);
}

void nfs4_task_state_locked(struct nfs_op *op, enum nfs4_task_state state)
{
	struct nfs4_user *u = op->be.v4.user;

	if (u && atomic_load_explicit(&op->be.v4.state, memory_order_relaxed) == NFS4_T_NEW)
		atomic_fetch_add_explicit(&u->nops, 1, memory_order_relaxed);
	atomic_store_explicit(&op->be.v4.state, (uint8_t)state, memory_order_release);
}

/* --- sending ------------------------------------------------------------------------------- */

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

/* Does a call of op change the data of a file? Then the server may execute it late. */
static bool task_may_come_late(const struct nfs_op *op)
{
	unsigned kind = op->be.v4.kind;

	return op->be.v4.user && nfs_op_changes_data(op) && kind < NFS4_K_SEQUENCE &&
	       kind != NFS4_K_GETATTR_AFTER && kind != NFS4_K_OFFLOAD_STATUS;
}

/* The lock-free step of the state: true if the state was `from`. */
static bool task_step(struct nfs_op *op, uint8_t from, uint8_t to)
{
	/* release: the call is made ready before; acquire: the call is read after */
	return atomic_compare_exchange_strong_explicit(
		&op->be.v4.state, &from, to, memory_order_acq_rel, memory_order_acquire);
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
	rc = rpc_call_init(&op->call, op->be.v4.conn->rpc, task_args_room(op));
	if (rc)
		return nfs_failed(op, rc);
	if (op->slot)
		((struct nfs4_slot *)op->slot)->sent_ns = now;
	if (!task_step(op, NFS4_T_SENDING, NFS4_T_SENT)) {
		rpc_call_finish(&op->call);
		return nfs_failed(op, -EINTR);
	}
	op->call.proc = NFS4_PROC_COMPOUND;
	op->call.cred = op->cred;
	op->call.done = nfs4_task_replied;
	nfs4_comp_begin(&k, &op->call.args, srv->minor);
	if (op->slot)
		task_put_sequence(srv, op, &k, highest);
	task_put(op, &k);
	nfs4_comp_end(&k);
	op->call.reply_max = (uint32_t)k.bound;
	nfs_op_called(op, now);
	rc = rpc_call_submit(&op->call);
	if (rc == 0)
		return NFS_DONE; /* op may have ended by now */
	rpc_call_finish(&op->call);
	return nfs_failed(op, rc);
}

/* Takes a slot for op, if there is one. */
static bool task_take_slot_locked(struct nfs4_slots *s, struct nfs_op *op, bool passes)
{
	struct nfs4_slot *slot = nfs4_slots_take_locked(s, passes);

	op->slot = slot;
	if (slot)
		slot->op = op;
	return slot;
}

struct nfs_op *nfs4_task_release_locked(
	struct nfs4_server *srv, struct nfs_op *op, enum nfs4_slot_end end, uint32_t *highest)
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
{
	const struct nfs4_slots *s = &srv->slots;

	return (op->be.v4.flags & NFS4_F_SLOT_KEPT) && s->gate_open && !srv->stopping &&
	       s->nbusy + s->ndoubtful < s->limit;
}

/* Sends op. An op that cannot be sent ends, and its slot goes to the next op, and so on. An op that
 * relies on a lock in doubt waits, and gives back its slot unless it has kept the slot. */
void nfs4_task_send(struct nfs4_server *srv, struct nfs_op *op, uint32_t highest)
{
	while (op) {
		enum nfs4_slot_end end = NFS4_SLOT_UNUSED;
		struct nfs_op *next;
		enum nfs_outcome out = task_try_send(op, highest);

		if (out == NFS_DONE)
			return;
		if (op->be.v4.flags & (NFS4_F_SLOT_SET | NFS4_F_SLOT_KEPT))
			end = NFS4_SLOT_DOUBTFUL;
		pthread_mutex_lock(&srv->slots.lock);
		nfs4_task_state_locked(op, NFS4_T_ENDING);
		if (out == NFS_FAILED && op->error == -EINTR && nfs4_task_stopping_locked(op))
			op->error = -ENOTCONN;
		if (out == NFS_LATER && task_waits_with_slot_locked(srv, op))
			next = NULL;
		else
			next = nfs4_task_release_locked(srv, op, end, &highest);
		pthread_mutex_unlock(&srv->slots.lock);
		if (out == NFS_FAILED)
			nfs4_task_end(op, op->error);
		else
			nfs4_task_wait(op, "a lock is in doubt", LOCK_WAIT_MS);
		op = next;
	}
}

void nfs4_task_start(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_slots *s = &srv->slots;
	bool priv = op->be.v4.flags & NFS4_F_PRIV;
	bool passes = priv && container_of(op, struct nfs4_sync, op)->passes;
	bool noseq = nfs4_task_kind(op)->flags & NFS4_KF_NOSEQ;
	uint32_t highest = 0;
	int error = 0;

	pthread_mutex_lock(&s->lock);
	if (op->be.v4.cancelled && !nfs4_task_asks_on_locked(op)) {
		error = -EINTR;
	} else if (!priv && nfs4_task_stopping_locked(op) && !(op->be.v4.flags & NFS4_F_LAST)) {
		error = -ENOTCONN;
	} else if (!noseq && !op->slot) {
		op->be.v4.flags &= (uint8_t)~NFS4_F_SLOT_KEPT;
		if (!passes &&
			(!TAILQ_EMPTY(&s->waiting) || !task_take_slot_locked(s, op, false))) {
			TAILQ_INSERT_TAIL(&s->waiting, op, link);
			nfs4_task_state_locked(op, NFS4_T_QUEUED);
			pthread_mutex_unlock(&s->lock);
			return;
		}
		if (passes && !task_take_slot_locked(s, op, true))
			error = -EAGAIN;
	}
	nfs4_task_state_locked(op, error ? NFS4_T_ENDING : NFS4_T_SENDING);
	highest = nfs4_slots_highest_locked(s);
	pthread_mutex_unlock(&s->lock);
	if (error)
		nfs4_task_end(op, error);
	else
		nfs4_task_send(srv, op, highest);
}

void nfs4_task_kick(struct nfs4_server *srv)
{
	struct nfs4_slots *s = &srv->slots;

	for (;;) {
		struct nfs_op *op;
		uint32_t highest = 0;

		pthread_mutex_lock(&s->lock);
		op = TAILQ_FIRST(&s->waiting);
		if (!op || !task_take_slot_locked(s, op, false)) {
			pthread_mutex_unlock(&s->lock);
			return;
		}
		TAILQ_REMOVE(&s->waiting, op, link);
		nfs4_task_state_locked(op, NFS4_T_SENDING);
		highest = nfs4_slots_highest_locked(s);
		pthread_mutex_unlock(&s->lock);
		nfs4_task_send(srv, op, highest);
	}
}

bool nfs4_task_asks_on_locked(const struct nfs_op *op)
{
	return op->be.v4.asks_on && task_may_come_late(op);
}

void nfs4_task_cancel_locked(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	if (op->be.v4.cancelled)
		return;
	op->be.v4.cancelled = true;
	if (nfs4_task_asks_on_locked(op))
		return;
	if (task_step(op, NFS4_T_SENDING, NFS4_T_ABORTED))
		return;
	switch ((enum nfs4_task_state)atomic_load_explicit(
		&op->be.v4.state, memory_order_acquire)) {
	case NFS4_T_QUEUED:
		TAILQ_REMOVE(&srv->slots.waiting, op, link);
		nfs4_state_end_later_locked(srv, op, -EINTR);
		break;
	case NFS4_T_DELAYED:
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_state_end_later_locked(srv, op, -EINTR);
		break;
	case NFS4_T_SENT:
		if (task_may_come_late(op))
			rpc_call_withdraw(&op->call);
		else
			rpc_call_cancel(&op->call);
		break;
	case NFS4_T_NEW:
	case NFS4_T_DUE:
	case NFS4_T_SENDING:
	case NFS4_T_ABORTED:
	case NFS4_T_ENDING:
		break; /* a later start sees the flag */
	}
}

void nfs4_task_abandon(struct nfs4_server *srv, const struct nfs4_user *u)
{
	pthread_mutex_lock(&srv->slots.lock);
	for (uint32_t i = 0; i < NFS4_MAX_SLOTS; i++) {
		struct nfs_op *op = srv->slots.slot[i].op;

		if (!op || op->be.v4.user != u)
			continue;
		nfs4_task_cancel_locked(op);
		if (atomic_load_explicit(&op->be.v4.state, memory_order_acquire) == NFS4_T_SENT)
			rpc_call_cancel(&op->call);
	}
	pthread_mutex_unlock(&srv->slots.lock);
}
