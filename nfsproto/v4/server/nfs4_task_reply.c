/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task_reply: the end of an op's call. This file settles the slot, has the results read, and
 * handles each status that any op may get. The op's user (nfs4_server.h) handles all other
 * statuses.
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/common/nfs_unsure.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

#define MISORDERED_MAX 8 /* retries of an op after its slot turned out to be out of step */
#define OLD_TRIES      6 /* tries on a session that is lost, within a second */

/* As struct nfs4_kind's get. After NFS_DONE, the reply must have no more results than were asked
 * for. */
static enum nfs_outcome task_get(struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_kind *kind = nfs4_task_kind(op);
	enum nfs_outcome out;

	if (!kind->server_get)
		return op->be.v4.user->up->get(op->be.v4.user, op, r);
	out = kind->server_get(nfs4_task_server(op), op, r);
	return out == NFS_DONE ? nfs_failed(op, nfs4_reply_end(r)) : out;
}

/* The state of the slot after a call that ended without a usable SEQUENCE result. */
static enum nfs4_slot_end slot_after_error(const struct nfs_op *op, int error)
{
	switch (error) {
	case -EACCES: /* the server refused the call before it executed any operation */
		return NFS4_SLOT_UNUSED;
	case -EPROTO:
		return op->call.rpc_stat == RPC_BAD_REPLY || op->call.rpc_stat == RPC_OK
			       ? NFS4_SLOT_DOUBTFUL
			       : NFS4_SLOT_UNUSED;
	default:
		return NFS4_SLOT_DOUBTFUL;
	}
}

/* The state of the slot after SEQUENCE itself failed. An error leaves the slot as it was (RFC 8881
 * 18.46.3). */
static enum nfs4_slot_end slot_after_status(uint32_t status)
{
	switch (status) {
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_DELAY:			/* but see task_keep_slot_locked() */
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION: /* sent anew; the connection before this one was
						   bound */
		return NFS4_SLOT_DOUBTFUL;
	case NFS4ERR_SEQ_FALSE_RETRY:
	case NFS4ERR_RETRY_UNCACHED_REP:
		return NFS4_SLOT_USED;
	default:
		return NFS4_SLOT_UNUSED;
	}
}

/* Steps over SEQUENCE's result, which must name the slot and the sequence id of op's request. */
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

void nfs4_task_wait(struct nfs_op *op, const char *why, unsigned ms)
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
		nfs4_state_delay(op, ms);
}

void nfs4_task_again(struct nfs_op *op, uint32_t status, unsigned ms)
{
	if (op->be.v4.flags & NFS4_F_LAST) {
		nfs4_task_end(op, -ENOTCONN);
		return;
	}
	if (op->tries < UINT32_MAX)
		op->tries++;
	nfs4_task_wait(op, nfs4_status_name(status), ms);
}

bool nfs4_task_may_stray(struct nfs_op *op, unsigned most)
{
	if (op->be.v4.strays >= most)
		return false;
	op->be.v4.strays++;
	return true;
}

/* Not every op may get status: the op's user decides. */
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
		nfs4_task_again(op, status, ms);
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
			nfs4_task_kind(op)->name, nfs4_status_name(status), status);
	nfs4_task_end(op, rc ? rc : -EREMOTEIO);
}

static void task_failed(struct nfs4_server *srv, struct nfs_op *op, uint32_t status)
{
	switch (status) {
	case NFS4ERR_DELAY:
		nfs4_task_again(op, status, backoff_ms(op->tries));
		return;
	case NFS4ERR_GRACE:
		nfs4_task_again(op, status, 1000);
		return;
	case NFS4ERR_BADSESSION: /* another session is made; op waits at the gate */
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_STALE_CLIENTID:
		log_ctrl("%s: %s was answered %s", srv->name, nfs4_task_kind(op)->name,
			nfs4_status_name(status));
		nfs4_state_doubt(op->be.v4.conn, status);
		nfs4_task_again(op, status, 0);
		return;
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
		nfs4_state_doubt(op->be.v4.conn, status);
		nfs4_task_again(op, status, backoff_ms(op->tries));
		return;
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
		if (!nfs4_task_may_stray(op, MISORDERED_MAX))
			break;
		nfs4_state_doubt(op->be.v4.conn, status);
		nfs4_task_again(op, status, 0);
		return;
	case NFS4ERR_RETRY_UNCACHED_REP:
		/* The server executed the op, and the answer was lost with a connection. Kinds that
		 * must not be executed twice are cached, so this op may be sent again. */
		if ((nfs4_task_kind(op)->flags & NFS4_KF_CACHE) ||
			!nfs4_task_may_stray(op, MISORDERED_MAX))
			break;
		nfs4_task_again(op, status, 0);
		return;
	case NFS4ERR_REP_TOO_BIG_TO_CACHE:
		/* The server did not make the change (RFC 8881 2.10.6.4), or the op is an OPEN,
		 * which may be sent again. So the op goes on without the cache. */
		if (op->be.v4.flags & NFS4_F_UNCACHED)
			break;
		op->be.v4.flags |= NFS4_F_UNCACHED;
		nfs4_task_again(op, status, 0);
		return;
	default:
		break;
	}
	task_failed_otherwise(op, status);
}

/* The error of an op after a call without results. */
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

/* Goes on with an op after its reply has been read. status belongs to NFS_STATUS. The slot has been
 * given back, and the call is finished. */
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
	if (out == NFS_AGAIN || out == NFS_LATER) /* a step is done */
		op->be.v4.since_ns = 0;
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

/* op, which is unsure, failed at the server: out, with status. Returns op's outcome. */
static enum nfs_outcome task_judge(struct nfs_op *op, enum nfs_outcome out, uint32_t status)
{
	int error = out == NFS_STATUS ? nfs4_status_errno(status) : op->error;

	if (op->be.v4.kind == NFS4_K_LOOK) /* op has looked; up_failed() handles the rest */
		return out;
	switch (nfs_unsure_failed(op, error)) {
	case NFS_V_DONE:
		return NFS_DONE;
	case NFS_V_LOOK:
		op->be.v4.first_error = error;
		op->be.v4.kind = NFS4_K_LOOK;
		return NFS_AGAIN;
	case NFS_V_FAILED:
		break;
	}
	return out;
}

bool nfs4_task_asks_old(const struct nfs_op *op)
{
	return op->be.v4.unsure && op->tries < OLD_TRIES;
}

/* SEQUENCE was answered DELAY. May op keep its slot and ask again? If not, *end is set. */
static bool task_keep_slot_locked(
	struct nfs4_server *srv, struct nfs_op *op, enum nfs4_slot_end *end)
{
	bool priv = op->be.v4.flags & NFS4_F_PRIV;

	op->be.v4.asks_on =
		!priv && (srv->slots.gate_open || nfs4_task_asks_old(op)) && !srv->stopping;
	if (op->be.v4.asks_on && (!op->be.v4.cancelled || nfs4_task_asks_on_locked(op))) {
		op->be.v4.flags |= NFS4_F_SLOT_KEPT;
		return true;
	}
	/* The caller of a sync op repeats the op. While that caller mounts, no state manager runs
	 * that could settle a doubtful slot. The slots must not run out. */
	if (priv && (srv->state == NFS4_S_NEW || srv->slots.ndoubtful >= srv->slots.max / 2))
		*end = NFS4_SLOT_UNUSED;
	else
		*end = NFS4_SLOT_DOUBTFUL;
	return false;
}

void nfs4_task_replied(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs_op *op = container_of(call, struct nfs_op, call);
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_sequence_res seq = {.status_flags = 0};
	uint64_t sent_ns = op->slot ? ((struct nfs4_slot *)op->slot)->sent_ns : 0;
	enum nfs4_slot_end end = NFS4_SLOT_USED;
	bool has_slot = op->slot != NULL, busy = false, more_slots = false, flagged;
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
	if (rc && call->repeated) /* the server may have executed the call */
		op->be.v4.unsure = true;
	if (op->be.v4.flags & NFS4_F_SLOT_SET) /* doubtful until SEQUENCE says otherwise */
		end = end == NFS4_SLOT_USED ? end : NFS4_SLOT_DOUBTFUL;

	pthread_mutex_lock(&srv->slots.lock);
	nfs4_task_state_locked(op, NFS4_T_ENDING);
	if (rc == -ECANCELED && nfs4_task_stopping_locked(op))
		rc = -ENOTCONN; /* the op's owner did not ask for this */
	if (rc == 0 && has_slot)
		more_slots = nfs4_slots_target_locked(
			&srv->slots, seq.highest_slotid, seq.target_highest_slotid);
	flagged = seq.status_flags || srv->flags_seen;
	if (!busy || !task_keep_slot_locked(srv, op, &end)) {
		if (has_slot && end == NFS4_SLOT_DOUBTFUL && !srv->stopping &&
			!(op->be.v4.flags & NFS4_F_SLOT_SET))
			nfs4_state_want_locked(srv, NFS4_TODO_PROBE);
		next = nfs4_task_release_locked(srv, op, end, &highest);
	}
	pthread_mutex_unlock(&srv->slots.lock);
	if (next)
		nfs4_task_send(srv, next, highest);
	if (more_slots)
		nfs4_task_kick(srv);

	if (rc == 0 && has_slot) {
		if (flagged)
			nfs4_state_flags(srv, seq.status_flags, sent_ns);
		/* release: a reader of renewed_ns also sees the effects of the flags */
		if (sent_ns > atomic_load_explicit(&srv->renewed_ns, memory_order_relaxed))
			atomic_store_explicit(&srv->renewed_ns, sent_ns, memory_order_release);
	}
	out = rc ? nfs4_outcome(op, rc) : task_get(op, &r);
	if (out == NFS_FAILED && op->error == -EBADMSG && !error)
		log_warn("%s: the reply to %s does not make sense (%u results read, then %s): "
			 "server bug",
			srv->name, nfs4_task_kind(op)->name, r.walked, nfs4_op_name(r.op));
	if (op->be.v4.flags & NFS4_F_PRIV)
		container_of(op, struct nfs4_sync, op)->walked = error ? 0 : r.walked;
	rpc_call_finish(call);
	if (rc == 0 && op->be.v4.unsure && (out == NFS_STATUS || out == NFS_FAILED))
		out = task_judge(op, out, r.status);
	task_conclude(srv, op, out, r.status);
}
