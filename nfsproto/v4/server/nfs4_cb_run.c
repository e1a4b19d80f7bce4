/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_cb_run: the callback service. Model: nfs4_cb_run.h.
 */
#include "nfsproto/v4/server/nfs4_cb_run.h"

#include <errno.h>
#include <string.h>

#include "transport/log.h"

#define RES_CAP 2048

/* One CB_COMPOUND under execution. */
struct cb_run {
	struct nfs4_server *srv;
	struct nfs4_cb *cb;
	struct xdr_in *args;
	struct xdr_out *res;
	uint32_t nres;
	bool may_be_ours; /* a referring call is unanswered */
	struct nfs4_cb_slot *slot;
	uint32_t seq;
	bool replay;
};

/* Is a call that the server refers to still without an answer here? */
static bool referring_pending(struct nfs4_server *srv, const struct nfs4_cb_sequence_args *a)
{
	struct nfs4_slots *s = &srv->slots;
	bool pending = false;

	mutex_lock(&s->lock);
	for (uint32_t i = 0; i < a->nrefs && !pending; i++) {
		uint32_t id = a->ref[i].slotid;

		if (id >= NFS4_MAX_SLOTS || s->slot[id].seq != a->ref[i].sequenceid ||
			memcmp(&a->ref[i].session, &a->session, sizeof(a->session)) != 0)
			continue;
		pending = s->busy[id / 64] >> (id % 64) & 1;
	}
	mutex_unlock(&s->lock);
	return pending;
}

static uint32_t cb_sequence(struct cb_run *run, const struct nfs4_cb_sequence_args *a)
	REQUIRES(run->cb->lock)
{
	struct nfs4_cb_sequence_res res = {
		.session = a->session,
		.sequenceid = a->sequenceid,
		.slotid = a->slotid,
		.highest_slotid = NFS4_CB_SLOTS - 1,
		.target_highest_slotid = NFS4_CB_SLOTS - 1,
	};
	struct nfs4_cb_slot *slot;
	uint32_t status = NFS4_OK;

	if (!run->cb->have_session ||
		memcmp(&a->session, &run->cb->session, sizeof(a->session)) != 0)
		status = NFS4ERR_BADSESSION;
	else if (a->slotid >= NFS4_CB_SLOTS)
		status = NFS4ERR_BADSLOT;
	else if (a->highest_slotid >= NFS4_CB_SLOTS)
		status = NFS4ERR_BAD_HIGH_SLOT;
	if (status) {
		nfs4_put_op_res(run->res, OP_CB_SEQUENCE, status);
		return status;
	}
	slot = &run->cb->slot[a->slotid];
	if (slot->used && a->sequenceid == slot->seq) {
		run->slot = slot;
		run->replay = true;
		return NFS4_OK;
	}
	if (!slot->unknown && a->sequenceid != slot->seq + 1) {
		nfs4_put_op_res(run->res, OP_CB_SEQUENCE, NFS4ERR_SEQ_MISORDERED);
		return NFS4ERR_SEQ_MISORDERED;
	}
	run->slot = slot;
	run->seq = a->sequenceid;
	run->may_be_ours = referring_pending(run->srv, a);
	nfs4_put_cb_sequence_res(run->res, NFS4_OK, &res);
	return NFS4_OK;
}

/* While state is reclaimed, any answer may bring a delegation. */
static bool is_recovering(struct nfs4_server *srv)
{
	bool recovering;

	mutex_lock(&srv->slots.lock);
	recovering = srv->state > NFS4_S_RUNNING && srv->state < NFS4_S_STOPPED;
	mutex_unlock(&srv->slots.lock);
	return recovering;
}

/* Does a user take the recall? unseen: as for recall() of nfs4_user.h. */
static bool takes_recall(struct cb_run *run, const struct nfs4_cb_recall_args *a, bool unseen)
	REQUIRES(run->cb->lock)
{
	struct nfs4_user *u;

	TAILQ_FOREACH (u, &run->srv->users, link) {
		if (u->up->recall(u, &a->fh, &a->stateid, unseen)) {
			if (u->up->recalled)
				u->up->recalled(u, &a->fh);
			return true;
		}
		run->may_be_ours |= u->up->opening && u->up->opening(u);
	}
	return false;
}

static uint32_t cb_recall(struct cb_run *run, const struct nfs4_cb_recall_args *a)
	REQUIRES(run->cb->lock)
{
	if (takes_recall(run, a, false))
		return NFS4_OK;
	if (run->may_be_ours || is_recovering(run->srv))
		return NFS4ERR_DELAY;
	return takes_recall(run, a, true) ? NFS4_OK : NFS4ERR_BAD_STATEID;
}

/* Puts the result too. */
static uint32_t cb_getattr(struct cb_run *run, const struct nfs4_cb_getattr_args *a)
	REQUIRES(run->cb->lock)
{
	struct nfs4_bitmap can = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, -1);
	struct nfs4_attrs attrs = {.mask = nfs4_bits_and(&a->want, &can)};
	uint32_t status = NFS4ERR_BADHANDLE;
	struct nfs4_user *u;

	TAILQ_FOREACH (u, &run->srv->users, link) {
		if (status == NFS4ERR_BADHANDLE && u->up->getattr)
			status = u->up->getattr(u, &a->fh, &attrs.attr.size, &attrs.attr.change);
		run->may_be_ours |= u->up->opening && u->up->opening(u);
	}
	if (status == NFS4ERR_BADHANDLE && run->may_be_ours)
		status = NFS4ERR_DELAY;
	nfs4_put_op_res(run->res, OP_CB_GETATTR, status);
	if (status == NFS4_OK)
		nfs4_put_attrs(run->res, &attrs.mask, &attrs);
	return status;
}

static uint32_t cb_recall_any(struct cb_run *run, const struct nfs4_cb_recall_any_args *a)
	REQUIRES(run->cb->lock)
{
	struct nfs4_user *u;

	if (nfs4_bit(&a->types, RCA4_TYPE_MASK_RDATA_DLG) ||
		nfs4_bit(&a->types, RCA4_TYPE_MASK_WDATA_DLG))
		TAILQ_FOREACH (u, &run->srv->users, link)
			if (u->up->recall_any)
				u->up->recall_any(u, a->keep);
	return NFS4_OK;
}

static uint32_t cb_layoutrecall(struct cb_run *run, const struct nfs4_cb_layoutrecall_args *a)
	REQUIRES(run->cb->lock)
{
	uint32_t status = NFS4ERR_NOMATCHING_LAYOUT, one;
	struct nfs4_user *u;

	TAILQ_FOREACH (u, &run->srv->users, link) {
		one = u->up->layoutrecall ? u->up->layoutrecall(u, a) : NFS4ERR_NOMATCHING_LAYOUT;
		if (status != NFS4ERR_DELAY && one != NFS4ERR_NOMATCHING_LAYOUT)
			status = one;
	}
	return status;
}

static uint32_t cb_notify_deviceid(struct cb_run *run, const struct nfs4_cb_notify_deviceid_args *a)
	REQUIRES(run->cb->lock)
{
	struct nfs4_user *u;

	TAILQ_FOREACH (u, &run->srv->users, link)
		if (u->up->notify_deviceid)
			u->up->notify_deviceid(u, a);
	return NFS4_OK;
}

/* Executes one operation and puts the result; returns the status. */
static uint32_t cb_op(struct cb_run *run, const struct nfs4_cb_args *a, unsigned index)
	REQUIRES(run->cb->lock)
{
	struct nfs4_user *u;
	uint32_t status;

	if (index == 0 && a->op != OP_CB_SEQUENCE)
		status = NFS4ERR_OP_NOT_IN_SESSION;
	else if (index > 0 && a->op == OP_CB_SEQUENCE)
		status = NFS4ERR_SEQUENCE_POS;
	else if (index >= NFS4_CB_OPS)
		status = NFS4ERR_TOO_MANY_OPS;
	else if (a->op == OP_CB_SEQUENCE)
		return cb_sequence(run, &a->u.sequence);
	else if (a->op == OP_CB_GETATTR)
		return cb_getattr(run, &a->u.getattr);
	else if (a->op == OP_CB_RECALL)
		status = cb_recall(run, &a->u.recall);
	else if (a->op == OP_CB_RECALL_ANY)
		status = cb_recall_any(run, &a->u.recall_any);
	else if (a->op == OP_CB_LAYOUTRECALL && (run->srv->roles & EXCHGID4_FLAG_USE_PNFS_MDS))
		status = cb_layoutrecall(run, &a->u.layoutrecall);
	else if (a->op == OP_CB_NOTIFY_DEVICEID && (run->srv->roles & EXCHGID4_FLAG_USE_PNFS_MDS))
		status = cb_notify_deviceid(run, &a->u.notify_deviceid);
	else if (a->op == OP_CB_NOTIFY_LOCK) {
		TAILQ_FOREACH (u, &run->srv->users, link)
			u->up->notify_lock(u, &a->u.notify_lock.fh, &a->u.notify_lock.owner.owner);
		status = NFS4_OK; /* also if the lock-owner waits no more: RFC 8881 20.11.4 */
	} else if (a->op == OP_CB_OFFLOAD) {
		TAILQ_FOREACH (u, &run->srv->users, link)
			u->up->offload(u, &a->u.offload);
		status = NFS4_OK;
	} else if (a->op == OP_CB_RECALL_SLOT) {
		mutex_lock(&run->srv->slots.lock);
		/* CB_RECALL_SLOT only takes slots away; more slots come with SEQUENCE */
		nfs4_slots_target_locked(&run->srv->slots, run->srv->slots.limit - 1,
			a->u.recall_slot.target_highest_slotid);
		mutex_unlock(&run->srv->slots.lock);
		status = NFS4_OK;
	} else
		status = NFS4ERR_NOTSUPP;
	nfs4_put_op_res(run->res, a->op, status);
	return status;
}

/* The operations one after the other until one fails. The status of the whole. */
static uint32_t cb_ops(struct cb_run *run, uint32_t nops) REQUIRES(run->cb->lock)
{
	uint32_t status = NFS4_OK;

	for (uint32_t i = 0; i < nops && status == NFS4_OK && !run->replay; i++) {
		struct nfs4_cb_args a;
		int rc = nfs4_get_cb_args(run->args, &a);

		if (rc == 0) {
			status = cb_op(run, &a, i);
			log_ctrl("%s: callback %s: %s", run->srv->name, nfs4_cb_op_name(a.op),
				nfs4_status_name(status));
		} else {
			bool known = a.op >= OP_CB_GETATTR && a.op <= OP_CB_OFFLOAD;

			status = !xdr_in_ok(run->args) ? NFS4ERR_BADXDR
				 : known	       ? NFS4ERR_NOTSUPP
						       : NFS4ERR_OP_ILLEGAL;
			if (i == 0 && status == NFS4ERR_NOTSUPP)
				status = NFS4ERR_OP_NOT_IN_SESSION;
			nfs4_put_op_res(run->res, known ? a.op : OP_CB_ILLEGAL, status);
		}
		run->nres++;
	}
	return status;
}

int nfs4_cb_execute(struct nfs4_server *srv, struct xdr_in *args, struct xdr_out *res)
{
	struct cb_run run = {.srv = srv, .cb = &srv->cb, .args = args, .res = res};
	struct nfs4_compound_args head;
	size_t start = res->len, at;
	uint32_t status;

	if (nfs4_get_cb_compound_args(args, &head))
		return -EBADMSG;
	mutex_lock(&srv->cb.lock);
	at = nfs4_begin_compound_res(res, &head.tag);
	status = head.minor != srv->minor ? NFS4ERR_MINOR_VERS_MISMATCH : cb_ops(&run, head.nops);
	nfs4_end_compound_res(res, at, status, run.nres);
	if (run.replay && run.slot->len > 0) {
		res->len = start;
		xdr_put_fixed(res, run.slot->res, run.slot->len);
	} else if (run.replay) {
		res->len = start;
		at = nfs4_begin_compound_res(res, &head.tag);
		nfs4_put_op_res(res, OP_CB_SEQUENCE, NFS4ERR_RETRY_UNCACHED_REP);
		nfs4_end_compound_res(res, at, NFS4ERR_RETRY_UNCACHED_REP, 1);
	} else if (run.slot) {
		size_t len = res->len - start;

		run.slot->used = true;
		run.slot->unknown = false;
		run.slot->seq = run.seq;
		run.slot->len = len <= NFS4_CB_CACHED && xdr_out_ok(res) ? (uint32_t)len : 0;
		memcpy(run.slot->res, res->base + start, run.slot->len);
	}
	mutex_unlock(&srv->cb.lock);
	return 0;
}

static void cb_compound(struct nfs4_server *srv, struct rpc_req *req)
{
	if (rpc_req_begin(req, RES_CAP))
		rpc_req_drop(req);
	else if (nfs4_cb_execute(srv, &req->args, &req->res))
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
	else
		rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

void nfs4_cb_service(void *ctx, struct rpc_req *req)
{
	struct nfs4_server *srv = ctx;

	if (req->prog != NFS4_CB_PROGRAM) {
		rpc_req_reply(req, RPC_ACCEPT_PROG_UNAVAIL);
	} else if (req->vers != NFS4_CB_VERSION && req->vers != NFS4_VERSION) {
		/* RFC 8881 20.1 says version 1; servers in the field also use the program's 4 */
		req->mismatch_low = req->mismatch_high = NFS4_CB_VERSION;
		rpc_req_reply(req, RPC_ACCEPT_PROG_MISMATCH);
	} else if (req->proc == NFS4_CB_NULL) {
		if (rpc_req_begin(req, 4))
			rpc_req_drop(req);
		else
			rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	} else if (req->proc == NFS4_CB_COMPOUND) {
		cb_compound(srv, req);
	} else {
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
	}
}
