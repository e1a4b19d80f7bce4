/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_copy: COPY and CLONE, and asynchronous copies.
 *
 *     CLONE --done--> all is copied at once
 *       \--refused--> COPY, synchronous --> some or all is copied
 *                      \--OFFLOAD_NO_REQS--> COPY, asynchronous --> OFFLOAD_STATUS --+
 *                                                                     ^---- later ---/
 *
 * Only CB_OFFLOAD tells the end of an asynchronous copy, and how much is on stable storage. The op
 * asks OFFLOAD_STATUS now and then, to notice a callback that never comes. CB_OFFLOAD may come
 * before the reply to COPY: results without a waiting op are kept, the latest NFS4_OFFLOADS of
 * them. A copy with an unknown end is -EOPNOTSUPP: the caller then copies by READ and WRITE,
 * over any data that the server has copied.
 */
#include "nfsproto/v4/ops/nfs4_ops_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/ops/nfs4_ops_space.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/log.h"

#define COPY_MAX	 (64u << 20) /* bytes in one COPY: must end before the call times out */
#define OFFLOAD_MS_FIRST 20u
#define OFFLOAD_MS_MAX	 1000u
#define OFFLOAD_SLOW	 6u  /* times asked until OFFLOAD_MS_MAX is reached */
#define OFFLOAD_SILENT	 16u /* and asked until a CB_OFFLOAD counts as lost */

/* --- CLONE, COPY ----------------------------------------------------------------------------- */

/* The source as saved, the target as current handle. */
static void put_two_files(struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.copy.from_fh);
	nfs4_comp_op(k, OP_SAVEFH);
	nfs4_comp_putfh(k, &op->u.copy.to_fh);
}

static int get_two_files(struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_SAVEFH);
	return rc ? rc : nfs4_reply_op(r, OP_PUTFH);
}

static struct nfs4_stateid copy_source_stateid(struct nfs_op *op)
{
	struct nfs4_stateid id = nfs4_open_stateid(op, op->u.copy.from_open);

	op->be.v4.from_gen = op->be.v4.gen;
	return id;
}

void nfs4_put_op_clone(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_clone_args a = {
		.src = copy_source_stateid(op),
		.dst = nfs4_open_stateid(op, op->u.copy.to_open),
		.src_offset = op->u.copy.from,
		.dst_offset = op->u.copy.to,
		.count = op->u.copy.count,
	};

	put_two_files(op, k);
	nfs4_put_clone_args(k->x, &a);
	nfs4_comp_count(k, OP_CLONE, 0);
	nfs4_put_commit_behind(k, a.dst_offset, a.count);
}

enum nfs_outcome nfs4_get_op_clone(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = get_two_files(r);

	if (!rc)
		rc = nfs4_reply_optional(c, r, OP_CLONE);
	switch (rc) {
	case 0:
		op->u.copy.copied = op->u.copy.count;
		op->u.copy.committed = NFS_FILE_SYNC;
		return nfs4_outcome(op, nfs4_get_commit_behind(r, &op->u.copy.unsafe));
	case -EOPNOTSUPP:
	case NFS4ERR_INVAL: /* not aligned; behind the end; the file system cannot share blocks */
	case NFS4ERR_XDEV:
	case NFS4ERR_WRONG_TYPE:
		if (nfs4_lacks(c, OP_COPY))
			return nfs_failed(op, -EOPNOTSUPP);
		op->be.v4.kind = NFS_COPY;
		return NFS_AGAIN;
	default:
		return nfs4_outcome(op, rc);
	}
}

void nfs4_put_op_copy(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_copy_args a = {
		.src = copy_source_stateid(op),
		.dst = nfs4_open_stateid(op, op->u.copy.to_open),
		.src_offset = op->u.copy.from,
		.dst_offset = op->u.copy.to,
		.count = op->u.copy.count < COPY_MAX ? op->u.copy.count : COPY_MAX,
		.consecutive = true,
		.synchronous = !atomic_load_explicit(&c->srv->copies_async, memory_order_relaxed),
	};

	put_two_files(op, k);
	nfs4_put_copy_args(k->x, &a);
	nfs4_comp_count(k, OP_COPY, 0);
}

/* Gives op the result of a copy that has ended, now or with CB_OFFLOAD. */
static int copy_ended(
	const struct nfs4_client *c, struct nfs_op *op, const struct nfs4_write_response *w)
{
	if (w->count > op->u.copy.count) {
		log_warn("%s: COPY of %llu bytes was answered with %llu copied: server bug",
			c->srv->name, (unsigned long long)op->u.copy.count,
			(unsigned long long)w->count);
		return -EREMOTEIO;
	}
	op->u.copy.copied = w->count;
	op->u.copy.committed = (enum nfs_stable)w->committed;
	op->u.copy.unsafe = 0;
	memcpy(op->u.copy.verf, w->verf, NFS_VERF_SIZE);
	return 0;
}

/* The server cannot copy in the requested way. Tries another way, if there is one. */
static enum nfs_outcome copy_otherwise(
	struct nfs4_client *c, struct nfs_op *op, const struct nfs4_copy_res *res)
{
	if (!res->consecutive || res->synchronous ||
		atomic_exchange_explicit(&c->srv->copies_async, true, memory_order_relaxed))
		return nfs_failed(op, -EOPNOTSUPP);
	log_info("%s: the server copies asynchronously only", c->srv->name);
	return NFS_AGAIN;
}

static enum nfs_outcome offload_wait(struct nfs4_client *c, struct nfs_op *op);

enum nfs_outcome nfs4_get_op_copy(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_copy_res res;
	int rc = get_two_files(r);

	if (!rc)
		rc = nfs4_reply_optional(c, r, OP_COPY);
	if (rc == NFS4ERR_OFFLOAD_NO_REQS) {
		if (nfs4_get_copy_res(r->x, NFS4ERR_OFFLOAD_NO_REQS, &res))
			return nfs_failed(op, -EBADMSG);
		return copy_otherwise(c, op, &res);
	}
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_copy_res(r->x, NFS4_OK, &res) || nfs4_reply_end(r))
		return nfs_failed(op, -EBADMSG);
	if (res.response.async) {
		memcpy(op->be.v4.more, &res.response.callback, sizeof(res.response.callback));
		op->be.v4.kind = NFS4_K_OFFLOAD_STATUS;
		op->tries = 0;
		return offload_wait(c, op);
	}
	/* the copied bytes may be anywhere in the range, unless all were copied */
	if (!res.consecutive && res.response.count < op->u.copy.count)
		return nfs_failed(op, -EOPNOTSUPP);
	return nfs4_outcome(op, copy_ended(c, op, &res.response));
}

/* --- asynchronous copies --------------------------------------------------------------------- */

static struct nfs4_stateid offload_stateid(const struct nfs_op *op)
{
	struct nfs4_stateid id;

	_Static_assert(sizeof(id) == sizeof(op->be.v4.more), "a stateid fits");
	memcpy(&id, op->be.v4.more, sizeof(id));
	return id;
}

/* The end of a copy by CB_OFFLOAD. */
static int offload_ended(
	const struct nfs4_client *c, struct nfs_op *op, const struct nfs4_offload *o)
{
	int error = nfs4_status_errno(o->status);

	return error ? error : copy_ended(c, op, &o->response);
}

/* Has CB_OFFLOAD come? Then op ends with its result. Otherwise NFS_LATER. */
static enum nfs_outcome offload_wait(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs4_stateid id = offload_stateid(op);
	enum nfs_outcome out = NFS_LATER;

	mutex_lock(&c->lock);
	for (unsigned i = 0; i < NFS4_OFFLOADS && out == NFS_LATER; i++) {
		struct nfs4_offload *o = &c->offload[i];

		if (!o->set || memcmp(o->other, id.other, sizeof(id.other)) != 0)
			continue;
		out = nfs_failed(op, offload_ended(c, op, o));
		o->set = false;
	}
	mutex_unlock(&c->lock);
	if (out != NFS_LATER)
		op->be.v4.kind = NFS_COPY; /* no copy is left to be cancelled */
	return out;
}

unsigned nfs4_offload_ms(struct nfs_op *op)
{
	unsigned ms = op->tries < OFFLOAD_SLOW ? OFFLOAD_MS_FIRST << op->tries : OFFLOAD_MS_MAX;

	op->tries++;
	return ms < OFFLOAD_MS_MAX ? ms : OFFLOAD_MS_MAX;
}

void nfs4_offload_called(struct nfs4_client *c, const struct nfs4_cb_offload_args *a)
{
	struct nfs4_offload o = {.set = true, .status = a->status, .response = a->response};
	struct nfs_op *op;

	memcpy(o.other, a->stateid.other, sizeof(o.other));
	mutex_lock(&c->srv->slots.lock);
	TAILQ_FOREACH (op, &c->srv->delayed, link) {
		struct nfs4_stateid id = offload_stateid(op);

		if (op->be.v4.user == &c->user && op->be.v4.kind == NFS4_K_OFFLOAD_STATUS &&
			memcmp(id.other, o.other, sizeof(o.other)) == 0)
			break;
	}
	if (op) {
		TAILQ_REMOVE(&c->srv->delayed, op, link);
		op->be.v4.kind = NFS_COPY;
		nfs4_task_end_later_locked(c->srv, op, offload_ended(c, op, &o));
	}
	mutex_unlock(&c->srv->slots.lock);
	if (op)
		return;
	mutex_lock(&c->lock); /* an op that is not delayed yet finds the result here when it
					 next asks */
	c->offload[c->next_offload++ % NFS4_OFFLOADS] = o;
	mutex_unlock(&c->lock);
}

void nfs4_put_op_offload_status(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_stateid_args a = {.stateid = offload_stateid(op)};

	nfs4_comp_putfh(k, &op->u.copy.to_fh);
	nfs4_put_stateid_args(k->x, OP_OFFLOAD_STATUS, &a);
	nfs4_comp_count(k, OP_OFFLOAD_STATUS, 0);
}

enum nfs_outcome nfs4_get_op_offload_status(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_offload_status_res res = {.complete = false};
	enum nfs_outcome out = offload_wait(c, op);
	int rc;

	if (out != NFS_LATER) {
		r->left = 0;
		r->status = NFS4_OK;
		r->x->pos = r->x->len;
		return out;
	}
	rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_OFFLOAD_STATUS);
	switch (rc) {
	case 0:
		if (nfs4_get_offload_status_res(r->x, NFS4_OK, &res) || nfs4_reply_end(r))
			return nfs_failed(op, -EBADMSG);
		break;
	case NFS4ERR_NOTSUPP: /* then CB_OFFLOAD must do */
		return NFS_LATER;
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
		res.complete = true; /* or lost with the server's memory */
		break;
	default:
		return nfs4_outcome(op, rc);
	}
	if (!res.complete && op->tries > OFFLOAD_SLOW)
		op->tries = OFFLOAD_SLOW;
	if (!res.complete || op->tries < OFFLOAD_SILENT)
		return NFS_LATER;
	log_warn("%s: a copy has ended, but CB_OFFLOAD did not say so", c->srv->name);
	return nfs_failed(op, -EOPNOTSUPP);
}

/* One OFFLOAD_CANCEL, on its own. */
struct offload_cancel {
	struct nfs_fh fh;
	struct nfs4_stateid stateid;
	struct nfs_op op;
};

static void offload_cancel_done(struct nfs_op *op)
{
	free(container_of(op, struct offload_cancel, op));
}

void nfs4_offload_abandon(struct nfs4_client *c, const struct nfs_op *op)
{
	struct offload_cancel *o = calloc(1, sizeof(*o));

	if (!o)
		return; /* the server copies in vain */
	o->fh = op->u.copy.to_fh;
	o->stateid = offload_stateid(op);
	o->op.type = NFS_OP_TYPES;
	o->op.cred = op->cred;
	o->op.client = &c->base;
	o->op.done = offload_cancel_done;
	nfs4_mount_bind(c, &o->op, NFS4_K_OFFLOAD_CANCEL);
	nfs4_task_start(&o->op);
}

void nfs4_put_op_offload_cancel(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct offload_cancel *o = container_of(op, struct offload_cancel, op);
	struct nfs4_stateid_args a = {.stateid = o->stateid};

	nfs4_comp_putfh(k, &o->fh);
	nfs4_put_stateid_args(k->x, OP_OFFLOAD_CANCEL, &a);
	nfs4_comp_count(k, OP_OFFLOAD_CANCEL, 0);
}

enum nfs_outcome nfs4_get_op_offload_cancel(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	return nfs4_outcome(op, rc ? rc : nfs4_reply_op(r, OP_OFFLOAD_CANCEL));
}
