/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_lock: LOCK, LOCKU, LOCKT and the operations beside them. All but LOCKT run as the own op
 * of a struct nfs4_lockreq (be.v4.lock).
 *
 * Statuses that nfs4_lockreq.c must judge (the lock is denied, the lock state is not known) are
 * kept in the request and end the op without an error; all others go the way of every op.
 */
#include "nfsproto/v4/ops/nfs4_coder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/ops/nfs4_ops_open.h"

static uint64_t wire_length(uint64_t start, uint64_t end)
{
	return end == UINT64_MAX ? NFS4_LENGTH_EOF : end - start + 1;
}

static uint32_t wire_type(int type, bool wait)
{
	if (type == F_WRLCK)
		return wait ? WRITEW_LT : WRITE_LT;
	return wait ? READW_LT : READ_LT;
}

static struct nfs4_owner wire_owner(const struct nfs4_client *c, const uint64_t *number)
{
	return (struct nfs4_owner){.clientid = c->srv->clientid,
		.owner = {.data = (const uint8_t *)number, .len = sizeof(*number)}};
}

/* The operation has failed with status. Only nfs4_lockreq.c need see the status. */
static int keep_status(struct nfs4_lockreq *req, struct nfs4_reply *r, uint32_t status)
{
	req->status = status;
	r->status = NFS4_OK;
	return 0;
}

static bool about_stateid(uint32_t status)
{
	switch (status) {
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
		return true;
	default:
		return false;
	}
}

/* --- LOCK ----------------------------------------------------------------------------------- */

/* Puts LOCK for ctx. The generation of the open's stateid that was sent goes to op's be.v4.gen. */
static void put_lock(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k,
	struct nfs4_lockctx *ctx, struct nfs4_lock_args *a)
{
	nfs4_comp_putfh(k, &ctx->fh);
	a->open_stateid = nfs4_open_stateid(op, ctx->open);
	mutex_lock(&c->locks.lock);
	a->new_owner = !ctx->have_stateid;
	a->lock_stateid = ctx->stateid;
	mutex_unlock(&c->locks.lock);
	a->lock_stateid.seqid = 0; /* the current one: RFC 8881 8.2.2 */
	a->owner = wire_owner(c, &ctx->number);
	nfs4_put_lock_args(k->x, a);
	nfs4_comp_count(k, OP_LOCK, 0);
}

/* Steps to LOCK's result: status and contents. False: *out is the outcome of op. */
static bool get_lock(struct nfs_op *op, struct nfs4_reply *r, uint32_t *status,
	struct nfs4_lock_res *res, enum nfs_outcome *out)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (rc) {
		*out = nfs4_outcome(op, rc);
		return false;
	}
	rc = nfs4_reply_op(r, OP_LOCK);
	*status = (uint32_t)rc;
	*out = NFS_DONE;
	if (rc < 0 || nfs4_get_lock_res(r->x, *status, res))
		*out = nfs_failed(op, -EBADMSG);
	return *out == NFS_DONE;
}

static void granted(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, const struct nfs4_lock_res *res)
{
	mutex_lock(&c->locks.lock);
	ctx->stateid = res->stateid;
	ctx->have_stateid = true;
	mutex_unlock(&c->locks.lock);
}

/* The arguments for a held range. */
static struct nfs4_lock_args args_of(const struct lock_range *g)
{
	return (struct nfs4_lock_args){
		.type = wire_type(g->write ? F_WRLCK : F_RDLCK, false),
		.offset = g->first,
		.length = wire_length(g->first, g->last),
	};
}

void nfs4_put_op_lock(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_lockreq *req = op->be.v4.lock;
	struct nfs4_lock_args a = {
		.type = wire_type(op->u.lock.type, op->u.lock.wait),
		.offset = op->u.lock.start,
		.length = wire_length(op->u.lock.start, op->u.lock.end),
	};

	req->status = NFS4_OK;
	put_lock(c, op, k, req->ctx, &a);
}

enum nfs_outcome nfs4_get_op_lock(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_lockreq *req = op->be.v4.lock;
	struct nfs4_lockctx *ctx = req->ctx;
	struct nfs4_lock_res res;
	enum nfs_outcome out;
	bool had_stateid;
	uint32_t status;

	if (!get_lock(op, r, &status, &res, &out))
		return out;
	mutex_lock(&c->locks.lock);
	had_stateid = ctx->have_stateid;
	mutex_unlock(&c->locks.lock);
	if (status == NFS4_OK)
		granted(c, ctx, &res);
	if (status == NFS4ERR_DENIED || status == NFS4ERR_OPENMODE)
		return nfs4_outcome(op, keep_status(req, r, status));
	/* without a lock stateid the status is about the open's stateid */
	if (had_stateid && about_stateid(status))
		return nfs4_outcome(op, keep_status(req, r, status));
	return nfs4_outcome(op, (int)status);
}

void nfs4_put_op_relock(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_lock_args a = args_of(&s->u.relock.range);

	a.reclaim = true;
	put_lock(c, op, k, s->u.relock.ctx, &a);
}

enum nfs_outcome nfs4_get_op_relock(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_lock_res res;
	enum nfs_outcome out;
	uint32_t status;

	if (!get_lock(op, r, &status, &res, &out))
		return out;
	if (status != NFS4_OK)
		return nfs4_outcome(op, (int)status);
	granted(c, s->u.relock.ctx, &res);
	return NFS_DONE;
}

/* The LOCK of a local lock, as the delegation goes back. Any answer but a grant is a refusal, and
 * is op's error. */
void nfs4_put_op_deleg_lock(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_deleg *d = op->ctx;
	struct nfs4_lock_args a = args_of(&d->range);

	put_lock(c, op, k, d->pushing, &a);
}

enum nfs_outcome nfs4_get_op_deleg_lock(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_deleg *d = op->ctx;
	struct nfs4_lock_res res;
	enum nfs_outcome out;
	uint32_t status;

	if (!get_lock(op, r, &status, &res, &out))
		return out;
	if (status == NFS4ERR_DENIED || about_stateid(status)) {
		r->status = NFS4_OK;
		return nfs_failed(op, -EIO);
	}
	if (status != NFS4_OK)
		return nfs4_outcome(op, (int)status);
	granted(c, d->pushing, &res);
	return NFS_DONE;
}

/* --- LOCKU and FREE_STATEID ----------------------------------------------------------------- */

void nfs4_put_op_locku(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_lockreq *req = op->be.v4.lock;
	struct nfs4_locku_args a = {
		.type = WRITE_LT,
		.offset = op->u.lock.start,
		.length = wire_length(op->u.lock.start, op->u.lock.end),
	};

	req->status = NFS4_OK;
	mutex_lock(&c->locks.lock);
	a.stateid = req->ctx->stateid;
	mutex_unlock(&c->locks.lock);
	a.stateid.seqid = 0;
	nfs4_comp_putfh(k, &req->ctx->fh);
	nfs4_put_locku_args(k->x, &a);
	nfs4_comp_count(k, OP_LOCKU, 0);
}

enum nfs_outcome nfs4_get_op_locku(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_lockreq *req = op->be.v4.lock;
	struct nfs4_stateid_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LOCKU);
	if (rc > 0 && about_stateid((uint32_t)rc))
		return nfs4_outcome(op, keep_status(req, r, (uint32_t)rc));
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_stateid_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	mutex_lock(&c->locks.lock);
	req->ctx->stateid = res.stateid;
	mutex_unlock(&c->locks.lock);
	return NFS_DONE;
}

void nfs4_put_op_lock_free(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_lockreq *req = op->be.v4.lock;
	struct nfs4_stateid_args a;

	req->status = NFS4_OK;
	mutex_lock(&c->locks.lock);
	a.stateid = req->ctx->stateid;
	mutex_unlock(&c->locks.lock);
	a.stateid.seqid = 0;
	nfs4_put_stateid_args(k->x, OP_FREE_STATEID, &a);
	nfs4_comp_count(k, OP_FREE_STATEID, 0);
}

enum nfs_outcome nfs4_get_op_lock_free(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_lockreq *req = op->be.v4.lock;
	int rc = nfs4_reply_op(r, OP_FREE_STATEID);

	if (rc > 0 && (about_stateid((uint32_t)rc) || rc == NFS4ERR_LOCKS_HELD))
		return nfs4_outcome(op, keep_status(req, r, (uint32_t)rc));
	return nfs4_outcome(op, rc);
}

/* --- OPEN again for more access --------------------------------------------------------------- */

void nfs4_put_op_open_more(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_lockreq *req = op->be.v4.lock;

	req->status = NFS4_OK;
	nfs4_put_open_again(c, req->ctx->open, k,
		op->u.lock.type == F_WRLCK ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ,
		CLAIM_FH, NULL);
}

enum nfs_outcome nfs4_get_op_open_more(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs_open *o = ((struct nfs4_lockreq *)op->be.v4.lock)->ctx->open;
	struct nfs4_stateid id;
	int rc = nfs4_get_open_again(c, op, o, r, &id);

	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_reply_end(r))
		return nfs_failed(op, -EBADMSG);
	nfs4_open_got(o, &id,
		op->u.lock.type == F_WRLCK ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ);
	nfs4_note_open(o);
	nfs4_deleg_leave(c, o); /* if o was a local open */
	op->be.v4.kind = NFS_LOCK;
	return NFS_AGAIN;
}

/* --- LOCKT ------------------------------------------------------------------------------------ */

void nfs4_put_op_lockt(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	uint64_t number = nfs4_lock_number(c, &op->u.lockt.fh, op->u.lockt.owner);
	struct nfs4_lockt_args a = {
		.type = wire_type(op->u.lockt.type, false),
		.offset = op->u.lockt.start,
		.length = wire_length(op->u.lockt.start, op->u.lockt.end),
		.owner = wire_owner(c, &number),
	};

	nfs4_comp_putfh(k, &op->u.lockt.fh);
	nfs4_put_lockt_args(k->x, &a);
	nfs4_comp_count(k, OP_LOCKT, 0);
}

enum nfs_outcome nfs4_get_op_lockt(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_lockt_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LOCKT);
	else
		return nfs4_outcome(op, rc);
	if (rc < 0 || nfs4_get_lockt_res(r->x, (uint32_t)rc, &res))
		return nfs_failed(op, -EBADMSG);
	op->u.lockt.here = false;
	if (rc == 0) {
		op->u.lockt.type = F_UNLCK;
		return NFS_DONE;
	}
	if (rc != NFS4ERR_DENIED)
		return nfs4_outcome(op, rc);
	op->u.lockt.type =
		res.denied.type == WRITE_LT || res.denied.type == WRITEW_LT ? F_WRLCK : F_RDLCK;
	op->u.lockt.start = res.denied.offset;
	/* length 0, or a range that ends beyond the largest offset, stands for the rest of the
	 * file */
	op->u.lockt.end =
		res.denied.length && res.denied.length - 1 <= UINT64_MAX - res.denied.offset
			? res.denied.offset + (res.denied.length - 1)
			: UINT64_MAX;
	op->u.lockt.here = nfs4_lock_held_here(c, op, &op->u.lockt.holder);
	r->status = NFS4_OK;
	return NFS_DONE;
}
