/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task_reply: the reply to an op's call. Model: nfs4_task_reply.h.
 */
#include "nfsproto/v4/server/nfs4_task_reply.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/common/nfs_unsure.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"

#define MISORDERED_MAX 8 /* retries of an op after its slot turned out to be out of step */

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
	case NFS4ERR_DELAY:			/* but see nfs4_task_reply_keeps_slot_locked() */
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

/* May the server have counted an earlier copy of op's request? Also if the last copy was answered
 * NFS4ERR_BADSESSION: another server may have said so, at an address that has changed hands. */
static bool has_earlier_copy(const struct nfs_op *op)
{
	return op->call.repeated || op->be.v4.replays || op->be.v4.flags & NFS4_F_SLOT_KEPT;
}

/* Steps over SEQUENCE's result, which must name the slot and the sequence id of op's request. */
static int get_sequence(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r,
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

int nfs4_task_reply_begin(
	struct nfs_op *op, int error, struct xdr_in *res, struct nfs4_task_reply *a)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	int rc;

	*a = (struct nfs4_task_reply){.error = error, .end = NFS4_SLOT_USED};
	rc = error ? error : nfs4_reply_begin(&a->r, res);
	if (rc == 0 && op->slot) {
		rc = get_sequence(srv, op, &a->r, &a->seq);
		if (rc > 0)
			a->end = slot_after_status((uint32_t)rc);
		a->busy = rc == NFS4ERR_DELAY && !(op->be.v4.flags & NFS4_F_SLOT_SET);
		/* RFC 8881 2.10.6.1.3: a server may say so in the operation behind SEQUENCE */
		if (rc == 0 && a->r.status == NFS4ERR_RETRY_UNCACHED_REP && a->r.left == 1)
			rc = NFS4ERR_RETRY_UNCACHED_REP;
	} else if (rc > 0) {
		a->end = NFS4_SLOT_UNUSED; /* failed as a whole: not even SEQUENCE was executed */
	}
	if (rc < 0)
		a->end = slot_after_error(op, rc);
	if (a->end == NFS4_SLOT_UNUSED && has_earlier_copy(op))
		a->end = NFS4_SLOT_DOUBTFUL;
	if (rc && (op->call.repeated ||
			  op->be.v4.replays)) /* the server may have executed the call */
		op->be.v4.unsure = true;
	if (!rc)
		op->be.v4.replays = false;
	if (op->be.v4.flags & NFS4_F_SLOT_SET) /* doubtful until SEQUENCE says otherwise */
		a->end = a->end == NFS4_SLOT_USED ? a->end : NFS4_SLOT_DOUBTFUL;
	return rc;
}

int nfs4_task_reply_noted(struct nfs_op *op, struct xdr_in *res, struct nfs4_task_reply *a)
{
	int rc;

	*a = (struct nfs4_task_reply){.end = NFS4_SLOT_USED};
	rc = nfs4_reply_begin(&a->r, res);
	if (!rc)
		rc = nfs4_reply_op(&a->r, OP_SEQUENCE);
	if (!rc && nfs4_get_sequence_res(a->r.x, NFS4_OK, &a->seq))
		rc = -EBADMSG;
	return rc;
}

bool nfs4_task_reply_keeps_slot_locked(struct nfs_op *op, struct nfs4_task_reply *a)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	bool priv = op->be.v4.flags & NFS4_F_PRIV;

	if (!a->busy)
		return false;
	op->be.v4.asks_on =
		!priv && (srv->slots.gate_open || nfs4_task_asks_old(op)) && !srv->stopping;
	if (op->be.v4.asks_on && (!op->be.v4.cancelled || nfs4_task_asks_on_locked(op))) {
		op->be.v4.flags |= NFS4_F_SLOT_KEPT;
		return true;
	}
	/* The caller of a sync op repeats the op. While that caller mounts, no state manager runs
	 * that could settle a doubtful slot. The slots must not run out. */
	if (priv && (srv->state == NFS4_S_NEW || srv->slots.ndoubtful >= srv->slots.max / 2))
		a->end = NFS4_SLOT_UNUSED;
	else
		a->end = NFS4_SLOT_DOUBTFUL;
	return false;
}

/* --- results ------------------------------------------------------------------------------- */

/* As struct nfs4_kind's get. After NFS_DONE, the reply must have no more results than were asked
 * for. */
static enum nfs_outcome get_results(struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_kind *kind = nfs4_task_kind(op);
	enum nfs_outcome out;

	if (!kind->server_get)
		return op->be.v4.user->up->get(op->be.v4.user, op, r);
	out = kind->server_get(nfs4_task_server(op), op, r);
	return out == NFS_DONE ? nfs_failed(op, nfs4_reply_end(r)) : out;
}

/* op, which is unsure, failed at the server: out, with status. Returns op's outcome. */
static enum nfs_outcome unsure_failed(struct nfs_op *op, enum nfs_outcome out, uint32_t status)
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

enum nfs_outcome nfs4_task_reply_read(struct nfs_op *op, int rc, struct nfs4_task_reply *a)
{
	enum nfs_outcome out = rc ? nfs4_outcome(op, rc) : get_results(op, &a->r);

	if (out == NFS_FAILED && op->error == -EBADMSG && !a->error)
		log_warn("%s: the reply to %s does not make sense (%u results read, then %s): "
			 "server bug",
			nfs4_task_server(op)->name, nfs4_task_kind(op)->name, a->r.walked,
			nfs4_op_name(a->r.op));
	op->be.v4.walked = a->r.walked;
	if (rc == 0 && op->be.v4.unsure && (out == NFS_STATUS || out == NFS_FAILED))
		out = unsure_failed(op, out, a->r.status);
	return out;
}

static unsigned backoff_ms(unsigned tries)
{
	return tries >= 8 ? 3000 : 12u << tries;
}

/* Not every op may get status: the op's user decides. */
static enum nfs_outcome failed_otherwise(struct nfs_op *op, uint32_t status, unsigned *ms)
{
	struct nfs4_user *u = op->be.v4.user;
	int rc = nfs4_status_errno(status);
	enum nfs_outcome out = u ? u->up->failed(u, op, status, ms) : NFS_STATUS;

	if (out != NFS_DONE && out != NFS_STATUS)
		return out;
	if (rc == -EREMOTEIO)
		log_warn("%s: %s was answered %s (%u)", nfs4_task_server(op)->name,
			nfs4_task_kind(op)->name, nfs4_status_name(status), status);
	return nfs_failed(op, rc ? rc : -EREMOTEIO);
}

/* op was answered with status. Returns as nfs4_task_reply_judge(). */
static enum nfs_outcome failed(struct nfs_op *op, uint32_t status, unsigned *ms)
{
	*ms = 0;
	switch (status) {
	case NFS4ERR_DELAY:
		*ms = backoff_ms(op->tries);
		return NFS_RECOVER;
	case NFS4ERR_GRACE:
		*ms = 1000;
		return NFS_RECOVER;
	case NFS4ERR_BADSESSION: /* another session is made; op waits at the gate */
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_STALE_CLIENTID:
		log_ctrl("%s: %s was answered %s", nfs4_task_server(op)->name,
			nfs4_task_kind(op)->name, nfs4_status_name(status));
		nfs4_state_doubt(op->be.v4.conn, status);
		return NFS_RECOVER;
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
		nfs4_state_doubt(op->be.v4.conn, status);
		*ms = backoff_ms(op->tries);
		return NFS_RECOVER;
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
		if (!nfs4_task_may_stray(op, MISORDERED_MAX))
			break;
		nfs4_state_doubt(op->be.v4.conn, status);
		return NFS_RECOVER;
	case NFS4ERR_RETRY_UNCACHED_REP:
		/* The server executed the op, and the answer was lost with a connection. Kinds that
		 * must not be executed twice are cached, so this op may be sent again. A former
		 * daemon's op is unsure then. */
		if (((nfs4_task_kind(op)->flags & NFS4_KF_CACHE) && !op->be.v4.replays) ||
			!nfs4_task_may_stray(op, MISORDERED_MAX))
			break;
		return NFS_RECOVER;
	case NFS4ERR_REP_TOO_BIG_TO_CACHE:
		/* The server did not make the change (RFC 8881 2.10.6.4), or the op is an OPEN,
		 * which may be sent again. So the op goes on without the cache. */
		if (op->be.v4.flags & NFS4_F_UNCACHED)
			break;
		op->be.v4.flags |= NFS4_F_UNCACHED;
		return NFS_RECOVER;
	default:
		break;
	}
	return failed_otherwise(op, status, ms);
}

/* The error of an op after a call without results. */
static int rpc_error(const struct nfs_op *op, int error)
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

enum nfs_outcome nfs4_task_reply_judge(
	struct nfs_op *op, enum nfs_outcome out, uint32_t status, unsigned *ms)
{
	int error = out == NFS_FAILED ? rpc_error(op, op->error) : 0;

	if (op->be.v4.flags & NFS4_F_PRIV) {
		if (out == NFS_STATUS) {
			op->be.v4.status = status;
			error = nfs4_status_errno(status) ?: -EREMOTEIO;
		}
		return nfs_failed(op, error);
	}
	if (out == NFS_AGAIN || out == NFS_LATER) { /* a step is done */
		op->be.v4.since_ns = 0;
		return out;
	}
	return out == NFS_STATUS ? failed(op, status, ms) : nfs_failed(op, error);
}
