/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task: the life of one op.
 *
 *     NEW --no slot, gate closed--> QUEUED --a slot comes free--> SENDING
 *     NEW --slot--> SENDING --> SENT --reply--> ENDING --> done
 *                                                 \--> DELAYED --due--> NEW ... (DELAY, GRACE)
 *                                                 \--> NEW ...         (next step, new session)
 *
 * An op is encoded when it has its slot, never before, so that a retry is a new encoding with a new
 * sequence id and nothing else. But when SEQUENCE itself was answered DELAY, the server may be
 * carrying out the same request, which it got over a connection that is lost by now, and will keep
 * that one's answer under the sequence id: the op then keeps its slot and asks again with the same
 * sequence id (RFC 8881 15.1.1.3). If it cannot (it ends, a new session is made), the slot is
 * DOUBTFUL. The thread that submits sends; the progress thread that sees the
 * reply gives the slot to the first that waits and sends that before it looks at the results.
 *
 * Invariant: in ENDING nobody but the thread that ends the op touches it, so cancelling only sets a
 * flag there; rpc_call_cancel() is called under slots.lock in state SENT only, and a reply leaves
 * SENT under that lock before anything else, so that no finished call is ever named. The step from
 * SENDING to SENT is the one that is made without the lock, by compare-and-swap, for speed: the
 * canceller makes SENDING to ABORTED by the same means, and one of the two wins.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "nfsproto/v4/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

#define ARGS_ROOM      2600 /* the longest fixed arguments: three names, two handles, attributes */
#define LOCK_WAIT_MS   20   /* before it is looked again whether a lock is held */
#define MISORDERED_MAX 8    /* retries of an op whose slot turned out to be out of step */

static void task_done(struct rpc_call *call, int error, struct xdr_in *res);
static void task_again(struct nfs_op *op, uint32_t status, unsigned ms);

static const struct nfs4_kind *task_kind(const struct nfs_op *op)
{
	return &nfs4_kinds[op->be.v4.kind];
}

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

	if (op->slot) { /* kept for another try, or set, and now nobody will ask with it */
		pthread_mutex_lock(&srv->slots.lock);
		nfs4_task_give_up_slot_locked(op);
		pthread_mutex_unlock(&srv->slots.lock);
	}
	op->error = error;
	if (u)
		u->up->ended(u, op);
	op->done(op);
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
		.cachethis = (task_kind(op)->flags & NFS4_KF_CACHE) &&
			     !(op->be.v4.flags & NFS4_F_UNCACHED),
	};

	nfs4_put_sequence_args(k->x, &a);
	nfs4_comp_count(k, OP_SEQUENCE, 0);
}

/* The lock-free step of the state: true if it was from. */
static bool task_step(struct nfs_op *op, uint8_t from, uint8_t to)
{
	/* release: the call is made ready before; acquire: it is read after */
	return __atomic_compare_exchange_n(
		&op->be.v4.state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void task_set_state(struct nfs_op *op, enum nfs4_task_state state)
{
	__atomic_store_n(&op->be.v4.state, (uint8_t)state, __ATOMIC_RELEASE);
}

static void task_put(struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_kind *kind = task_kind(op);

	if (kind->server_put)
		kind->server_put(nfs4_task_server(op), op, k);
	else
		op->be.v4.user->up->put(op->be.v4.user, op, k);
}

/* As struct nfs4_kind's get; when that is done, no more results have come than were asked for. */
static enum nfs_outcome task_get(struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_kind *kind = task_kind(op);
	enum nfs_outcome out;

	if (!kind->server_get)
		return op->be.v4.user->up->get(op->be.v4.user, op, r);
	out = kind->server_get(nfs4_task_server(op), op, r);
	return out == NFS_DONE ? nfs_failed(op, nfs4_reply_end(r)) : out;
}

/* The op is SENDING and has its slot. 0, or -errno: it was not sent and the slot is still its own.
 */
static int task_try_send(struct nfs_op *op, uint32_t highest)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_user *u = op->be.v4.user;
	uint64_t now = clock_ns();
	struct nfs4_comp k;
	int rc = u ? u->up->may_send(u, op, now) : 0;

	if (rc)
		return rc;
	rc = rpc_call_init(&op->call, op->be.v4.conn->rpc, task_args_room(op));
	if (rc)
		return rc;
	if (op->slot)
		((struct nfs4_slot *)op->slot)->sent_ns = now;
	if (!task_step(op, NFS4_T_SENDING, NFS4_T_SENT)) {
		rpc_call_finish(&op->call);
		return -EINTR;
	}
	op->call.proc = NFS4_PROC_COMPOUND;
	op->call.cred = op->cred;
	op->call.done = task_done;
	nfs4_comp_begin(&k, &op->call.args, srv->minor);
	if (op->slot)
		task_put_sequence(srv, op, &k, highest);
	task_put(op, &k);
	nfs4_comp_end(&k);
	op->call.reply_max = (uint32_t)k.bound;
	rc = rpc_call_submit(&op->call);
	if (rc)
		rpc_call_finish(&op->call);
	return rc;
}

/* Gives op's slot back and takes it away for the first that waits, which is then SENDING. */
static struct nfs_op *task_release_locked(
	struct nfs4_server *srv, struct nfs_op *op, enum nfs4_slot_end end, uint32_t *highest)
{
	struct nfs4_slots *s = &srv->slots;
	struct nfs_op *next;

	if (op->slot)
		nfs4_slots_put_locked(s, op->slot, end);
	op->slot = NULL;
	next = TAILQ_FIRST(&s->waiting);
	if (!next)
		return NULL;
	next->slot = nfs4_slots_take_locked(s, false);
	if (!next->slot)
		return NULL;
	TAILQ_REMOVE(&s->waiting, next, link);
	task_set_state(next, NFS4_T_SENDING);
	*highest = nfs4_slots_highest_locked(s);
	return next;
}

/* Sends op; if that fails it ends, and its slot goes to the next, which is sent, and so on. What
 * must not be sent before more is known about a lock waits without a slot. */
static void task_send(struct nfs4_server *srv, struct nfs_op *op, uint32_t highest)
{
	while (op) {
		enum nfs4_slot_end end = NFS4_SLOT_UNUSED;
		struct nfs_op *next;
		int rc = task_try_send(op, highest);

		if (rc == 0)
			return;
		if (op->be.v4.flags & (NFS4_F_SLOT_SET | NFS4_F_SLOT_KEPT))
			end = NFS4_SLOT_DOUBTFUL;
		pthread_mutex_lock(&srv->slots.lock);
		task_set_state(op, NFS4_T_ENDING);
		next = task_release_locked(srv, op, end, &highest);
		pthread_mutex_unlock(&srv->slots.lock);
		if (rc == -EAGAIN && op->be.v4.user && op->be.v4.user->soft)
			task_again(op, NFS4ERR_DELAY, LOCK_WAIT_MS); /* not for ever */
		else if (rc == -EAGAIN)
			nfs4_state_delay(op, LOCK_WAIT_MS);
		else
			nfs4_task_end(op, rc);
		op = next;
	}
}

void nfs4_task_start(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_slots *s = &srv->slots;
	bool priv = op->be.v4.flags & NFS4_F_PRIV;
	bool noseq = task_kind(op)->flags & NFS4_KF_NOSEQ;
	uint32_t highest = 0;
	int error = 0;

	pthread_mutex_lock(&s->lock);
	if (op->be.v4.cancelled) {
		error = -EINTR;
	} else if (!priv && nfs4_task_stopping_locked(op) && !(op->be.v4.flags & NFS4_F_LAST)) {
		error = -ENOTCONN;
	} else if (!noseq && !op->slot) {
		op->be.v4.flags &= (uint8_t)~NFS4_F_SLOT_KEPT;
		op->slot =
			priv || TAILQ_EMPTY(&s->waiting) ? nfs4_slots_take_locked(s, priv) : NULL;
		if (!op->slot && !priv) {
			TAILQ_INSERT_TAIL(&s->waiting, op, link);
			task_set_state(op, NFS4_T_QUEUED);
			pthread_mutex_unlock(&s->lock);
			return;
		}
		if (!op->slot)
			error = -EAGAIN;
	}
	task_set_state(op, error ? NFS4_T_ENDING : NFS4_T_SENDING);
	highest = nfs4_slots_highest_locked(s);
	pthread_mutex_unlock(&s->lock);
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

		pthread_mutex_lock(&s->lock);
		op = TAILQ_FIRST(&s->waiting);
		if (op)
			op->slot = nfs4_slots_take_locked(s, false);
		if (!op || !op->slot) {
			pthread_mutex_unlock(&s->lock);
			return;
		}
		TAILQ_REMOVE(&s->waiting, op, link);
		task_set_state(op, NFS4_T_SENDING);
		highest = nfs4_slots_highest_locked(s);
		pthread_mutex_unlock(&s->lock);
		task_send(srv, op, highest);
	}
}

void nfs4_task_cancel_locked(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	if (op->be.v4.cancelled)
		return;
	op->be.v4.cancelled = true;
	if (task_step(op, NFS4_T_SENDING, NFS4_T_ABORTED))
		return;
	switch ((enum nfs4_task_state)__atomic_load_n(&op->be.v4.state, __ATOMIC_ACQUIRE)) {
	case NFS4_T_QUEUED:
		TAILQ_REMOVE(&srv->slots.waiting, op, link);
		nfs4_state_end_later_locked(srv, op, -EINTR);
		break;
	case NFS4_T_DELAYED:
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_state_end_later_locked(srv, op, -EINTR);
		break;
	case NFS4_T_SENT:
		rpc_call_cancel(&op->call);
		break;
	case NFS4_T_NEW:
	case NFS4_T_SENDING:
	case NFS4_T_ABORTED:
	case NFS4_T_ENDING:
		break; /* the flag is seen if it starts again */
	}
}

/* --- the reply ----------------------------------------------------------------------------- */

/* What an ended call without a usable SEQUENCE result means for its slot. */
static enum nfs4_slot_end slot_after_error(const struct nfs_op *op, int error)
{
	switch (error) {
	case -EACCES: /* refused before any of it was executed */
		return NFS4_SLOT_UNUSED;
	case -EPROTO:
		return op->call.rpc_stat == RPC_BAD_REPLY || op->call.rpc_stat == RPC_OK
			       ? NFS4_SLOT_DOUBTFUL
			       : NFS4_SLOT_UNUSED;
	default:
		return NFS4_SLOT_DOUBTFUL;
	}
}

/* What SEQUENCE's own failure means (RFC 8881 18.46.3: an error leaves the slot as it was). */
static enum nfs4_slot_end slot_after_status(uint32_t status)
{
	switch (status) {
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_DELAY:			/* but see task_keep_slot_locked() */
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION: /* sent anew; the connection before it was bound */
		return NFS4_SLOT_DOUBTFUL;
	case NFS4ERR_SEQ_FALSE_RETRY:
	case NFS4ERR_RETRY_UNCACHED_REP:
		return NFS4_SLOT_USED;
	default:
		return NFS4_SLOT_UNUSED;
	}
}

/* Steps over SEQUENCE's result, which must be the answer to what op's slot sent. */
static int task_get_sequence(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r,
	struct nfs4_sequence_res *res)
{
	const struct nfs4_slot *slot = op->slot;
	int rc = nfs4_reply_op(r, OP_SEQUENCE);

	if (rc)
		return rc;
	if (nfs4_get_sequence_res(r->x, NFS4_OK, res))
		return -EBADMSG;
	if (memcmp(&res->session, &srv->session, sizeof(srv->session)) != 0 ||
		res->slotid != slot->id || res->sequenceid != slot->seq) {
		log_warn("%s: SEQUENCE of slot %u, sequence id %u was answered for slot %u, "
			 "sequence id %u: server bug",
			srv->name, slot->id, slot->seq, res->slotid, res->sequenceid);
		return -EBADMSG;
	}
	return 0;
}

static unsigned backoff_ms(unsigned tries)
{
	return tries >= 8 ? 3000 : 12u << tries;
}

/* Starts op again after ms, unless a soft mount has waited long enough. */
static void task_again(struct nfs_op *op, uint32_t status, unsigned ms)
{
	const struct nfs4_user *u = op->be.v4.user;

	if (op->be.v4.flags & NFS4_F_LAST) {
		nfs4_task_end(op, -ENOTCONN);
		return;
	}
	if (op->tries < UINT32_MAX)
		op->tries++;
	if (u && u->soft && (uint64_t)op->tries * ms > u->soft_ms) {
		log_warn("%s: %s was answered %s for too long", nfs4_task_server(op)->name,
			task_kind(op)->name, nfs4_status_name(status));
		nfs4_task_end(op, -ETIMEDOUT);
		return;
	}
	if (ms == 0)
		nfs4_task_start(op);
	else
		nfs4_state_delay(op, ms);
}

/* The session or the client ID is gone: the state manager makes a new one; op waits at the gate. */
static void task_session_lost(
	struct nfs4_server *srv, struct nfs_op *op, uint32_t status, uint32_t todo)
{
	log_ctrl(
		"%s: %s was answered %s", srv->name, task_kind(op)->name, nfs4_status_name(status));
	nfs4_state_want(srv, todo);
	task_again(op, status, 0);
}

/* status is nothing that every op may be answered: whose op it is knows what that means. */
static void task_failed_otherwise(struct nfs_op *op, uint32_t status)
{
	struct nfs4_user *u = op->be.v4.user;
	unsigned ms = 0;
	int rc = nfs4_status_errno(status);

	switch (u ? u->up->failed(u, op, status, &ms) : NFS_STATUS) {
	case NFS_AGAIN:
		nfs4_task_start(op);
		return;
	case NFS_LATER:
		u->up->later(u, op);
		return;
	case NFS_RECOVER:
		task_again(op, status, ms);
		return;
	case NFS_FAILED:
		nfs4_task_end(op, op->error);
		return;
	case NFS_DONE:
	case NFS_STATUS:
		break;
	}
	if (rc == -EREMOTEIO)
		log_warn("%s: %s was answered %s (%u)", nfs4_task_server(op)->name,
			task_kind(op)->name, nfs4_status_name(status), status);
	nfs4_task_end(op, rc ? rc : -EREMOTEIO);
}

static void task_failed(struct nfs4_server *srv, struct nfs_op *op, uint32_t status)
{
	switch (status) {
	case NFS4ERR_DELAY:
		task_again(op, status, backoff_ms(op->tries));
		return;
	case NFS4ERR_GRACE:
		task_again(op, status, 1000);
		return;
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
		task_session_lost(srv, op, status, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
		return;
	case NFS4ERR_STALE_CLIENTID:
		task_session_lost(srv, op, status, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
		return;
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
		nfs4_conn_unbound(op->be.v4.conn);
		task_again(op, status, backoff_ms(op->tries));
		return;
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
		if (op->tries >= MISORDERED_MAX)
			break;
		if (status != NFS4ERR_SEQ_FALSE_RETRY && status != NFS4ERR_SEQ_MISORDERED)
			nfs4_state_want(srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
		task_again(op, status, 0);
		return;
	case NFS4ERR_RETRY_UNCACHED_REP:
		/* Executed, the answer lost with a connection. Kinds that must not be executed
		 * twice are cached, so this one may be. */
		if (op->tries >= MISORDERED_MAX || (task_kind(op)->flags & NFS4_KF_CACHE))
			break;
		task_again(op, status, 0);
		return;
	case NFS4ERR_REP_TOO_BIG_TO_CACHE:
		/* The change was not made (RFC 8881 2.10.6.4); or it was OPEN, which may be sent
		 * again. Better without the cache than not at all. */
		if (op->be.v4.flags & NFS4_F_UNCACHED)
			break;
		op->be.v4.flags |= NFS4_F_UNCACHED;
		task_again(op, status, 0);
		return;
	default:
		break;
	}
	task_failed_otherwise(op, status);
}

/* How a call ended that has no results to look at. */
static int task_rpc_error(const struct nfs_op *op, int error)
{
	switch (error) {
	case -ECANCELED:
		return -EINTR;
	case -EBADMSG:
		return -EREMOTEIO;
	case -EPROTO:
		return op->call.rpc_stat == RPC_PROG_UNAVAIL ||
				       op->call.rpc_stat == RPC_PROG_MISMATCH
			       ? -EPROTONOSUPPORT
			       : -EREMOTEIO;
	default:
		return error;
	}
}

/* The whole reply has been looked at; status: of an NFS_STATUS. The slot has been given back, the
 * call is finished. */
static void task_conclude(
	struct nfs4_server *srv, struct nfs_op *op, enum nfs_outcome out, uint32_t status)
{
	int error = out == NFS_FAILED ? task_rpc_error(op, op->error) : 0;

	if (op->be.v4.flags & NFS4_F_PRIV) {
		if (out == NFS_STATUS) {
			container_of(op, struct nfs4_sync, op)->status = status;
			error = nfs4_status_errno(status) ?: -EREMOTEIO;
		}
		nfs4_task_end(op, error);
		return;
	}
	switch (out) {
	case NFS_AGAIN:
		nfs4_task_start(op);
		break;
	case NFS_LATER:
		op->be.v4.user->up->later(op->be.v4.user, op);
		break;
	case NFS_STATUS:
		task_failed(srv, op, status);
		break;
	case NFS_RECOVER:
	case NFS_DONE:
	case NFS_FAILED:
		nfs4_task_end(op, error);
		break;
	}
}

/* SEQUENCE was answered DELAY: may op keep its slot for asking again? If not, *end is set. */
static bool task_keep_slot_locked(
	struct nfs4_server *srv, struct nfs_op *op, enum nfs4_slot_end *end)
{
	bool priv = op->be.v4.flags & NFS4_F_PRIV;

	if (!priv && srv->slots.gate_open && !srv->stopping && !op->be.v4.cancelled) {
		op->be.v4.flags |= NFS4_F_SLOT_KEPT;
		return true;
	}
	/* A sync op is repeated by its caller, and while it mounts there is nobody else to take the
	 * slot. Slots are not to run out by that. */
	if (priv && (srv->state == NFS4_S_NEW || srv->slots.ndoubtful >= srv->slots.max / 2))
		*end = NFS4_SLOT_UNUSED;
	else
		*end = NFS4_SLOT_DOUBTFUL;
	return false;
}

static void task_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs_op *op = container_of(call, struct nfs_op, call);
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_sequence_res seq = {.status_flags = 0};
	uint64_t sent_ns = op->slot ? ((struct nfs4_slot *)op->slot)->sent_ns : 0;
	enum nfs4_slot_end end = NFS4_SLOT_USED;
	bool has_slot = op->slot != NULL, busy = false, more_slots = false;
	struct nfs_op *next = NULL;
	struct nfs4_reply r = {.status = NFS4_OK};
	enum nfs_outcome out;
	uint32_t highest = 0;
	int rc = error ? error : nfs4_reply_begin(&r, res);

	if (rc == 0 && has_slot) {
		rc = task_get_sequence(srv, op, &r, &seq);
		if (rc > 0)
			end = slot_after_status((uint32_t)rc);
		busy = rc == NFS4ERR_DELAY && !(op->be.v4.flags & NFS4_F_SLOT_SET);
	} else if (rc > 0) {
		end = NFS4_SLOT_UNUSED; /* failed as a whole: not even SEQUENCE was executed */
	}
	if (rc < 0)
		end = slot_after_error(op, rc);
	if (rc && call->repeated && op->be.v4.kind == NFS4_K_APPEND)
		op->be.v4.more[1] = true;      /* it may have been carried out */
	if (op->be.v4.flags & NFS4_F_SLOT_SET) /* doubtful until SEQUENCE says otherwise */
		end = end == NFS4_SLOT_USED ? end : NFS4_SLOT_DOUBTFUL;

	pthread_mutex_lock(&srv->slots.lock);
	task_set_state(op, NFS4_T_ENDING);
	if (rc == 0 && has_slot)
		more_slots = nfs4_slots_target_locked(
			&srv->slots, seq.highest_slotid, seq.target_highest_slotid);
	if (!busy || !task_keep_slot_locked(srv, op, &end)) {
		if (has_slot && end == NFS4_SLOT_DOUBTFUL && !srv->stopping &&
			!(op->be.v4.flags & NFS4_F_SLOT_SET))
			nfs4_state_want_locked(srv, NFS4_TODO_PROBE);
		next = task_release_locked(srv, op, end, &highest);
	}
	pthread_mutex_unlock(&srv->slots.lock);
	if (next)
		task_send(srv, next, highest);
	if (more_slots)
		nfs4_task_kick(srv);

	if (rc == 0 && has_slot) {
		if (seq.status_flags)
			nfs4_state_flags(srv, seq.status_flags);
		/* release: who sees this sees what the flags have brought about */
		if (sent_ns > atomic_load_explicit(&srv->renewed_ns, memory_order_relaxed))
			atomic_store_explicit(&srv->renewed_ns, sent_ns, memory_order_release);
	}
	out = rc ? nfs4_outcome(op, rc) : task_get(op, &r);
	if (out == NFS_FAILED && op->error == -EBADMSG && !error)
		log_warn("%s: the reply to %s does not make sense (%u results read, then %s): "
			 "server bug",
			srv->name, task_kind(op)->name, r.walked, nfs4_op_name(r.op));
	if (op->be.v4.flags & NFS4_F_PRIV)
		container_of(op, struct nfs4_sync, op)->walked = error ? 0 : r.walked;
	rpc_call_finish(call);
	task_conclude(srv, op, out, r.status);
}
