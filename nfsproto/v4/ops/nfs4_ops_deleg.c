/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_deleg: the calls to the server about delegations (nfs4_deleg.h).
 */
#include "nfsproto/v4/ops/nfs4_coder.h"

#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/ops/nfs4_ops_open.h"

/* --- DELEGRETURN ----------------------------------------------------------------------------- */

void nfs4_put_op_delegreturn(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	op->be.v4.gen = 0; /* becomes 1 if the delegation is revoked */
	nfs4_put_delegreturn(c, op->ctx, k);
}

enum nfs_outcome nfs4_get_op_delegreturn(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);
	bool revoked;

	if (!rc)
		rc = nfs4_reply_op(r, OP_DELEGRETURN);
	if (rc <= 0 || !nfs4_delegreturn_gone((uint32_t)rc, &revoked))
		return nfs4_outcome(op, rc);
	/* the delegation is gone, as wanted */
	op->be.v4.gen = revoked;
	r->left = 0;
	r->status = NFS4_OK;
	return NFS_DONE;
}

/* --- a local open becomes a real one --------------------------------------------------------- */

void nfs4_put_op_deleg_open(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_deleg *d = op->ctx;
	struct nfs4_stateid id;

	mutex_lock(&c->lock);
	id = d->stateid;
	mutex_unlock(&c->lock);
	nfs4_put_open_again(c, op->be.v4.open, k, 0, CLAIM_DELEG_CUR_FH, &id);
}

enum nfs_outcome nfs4_get_op_deleg_open(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_deleg *d = op->ctx;
	struct nfs_open *o = op->be.v4.open;
	struct nfs4_stateid id;
	int rc = nfs4_get_open_again(c, op, o, r, &id);
	bool revoked, forgotten;

	mutex_lock(&c->lock);
	forgotten = d->forgotten;
	mutex_unlock(&c->lock);
	if (rc > 0 && forgotten && nfs4_delegreturn_gone((uint32_t)rc, &revoked)) {
		r->left = 0;
		r->status = NFS4_OK;
		return NFS_DONE; /* o was reclaimed instead */
	}
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_reply_end(r))
		return nfs_failed(op, -EBADMSG);
	nfs4_open_got(o, &id, 0);
	return NFS_DONE;
}

/* --- one is asked for again, after a restart of the server ----------------------------------- */

/* Asks with an OPEN; the new open is closed at once. For a write delegation the OPEN has write
 * access, because the server may keep the delegation by the open's descriptor. */
void nfs4_put_op_redeleg(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	uint64_t owner = atomic_fetch_add_explicit(&c->srv->next_owner, 1, memory_order_relaxed);
	struct nfs4_close_args ca = {.stateid = nfs4_stateid_current};
	const struct nfs4_deleg *d = s->u.redeleg.deleg;
	struct nfs4_open_args a = {
		.share_access = d->type == OPEN_DELEGATE_WRITE ? OPEN4_SHARE_ACCESS_BOTH
							       : OPEN4_SHARE_ACCESS_READ,
		.share_deny = OPEN4_SHARE_DENY_NONE,
		.claim = CLAIM_PREVIOUS,
		.deleg_type = d->type,
		.owner = {.clientid = c->srv->clientid,
			.owner = {.data = (const uint8_t *)&owner, .len = sizeof(owner)}},
	};

	nfs4_comp_putfh(k, &d->fh);
	nfs4_put_open_args(k->x, &a);
	nfs4_comp_count(k, OP_OPEN, 0);
	nfs4_put_close_args(k->x, &ca);
	nfs4_comp_count(k, OP_CLOSE, 0);
	nfs4_comp_getattr(k, &c->data_want);
}

enum nfs_outcome nfs4_get_op_redeleg(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_stateid_res closed;
	struct nfs4_open_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_OPEN);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_open_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	s->u.redeleg.type = res.deleg.type;
	s->u.redeleg.stateid = res.deleg.stateid;
	s->u.redeleg.recall = res.deleg.recall;
	rc = nfs4_reply_op(r, OP_CLOSE);
	if (!rc)
		rc = nfs4_get_stateid_res(r->x, NFS4_OK, &closed);
	if (!rc)
		rc = nfs4_reply_data_attr_behind(r, &s->u.redeleg.attr);
	return nfs4_outcome(op, rc);
}
