/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_along: delegations that go back in the COMPOUND that removes or replaces a name of the
 * delegated file (nfs4_deleg.h). DELEGRETURN comes before the REMOVE or RENAME. So the server need
 * not recall a delegation that is in the way of the change, and the return costs no call of its
 * own.
 *
 * A mount that keeps notes (nfs_former.h) returns such a delegation by a call of its own: a
 * successor that sends the REMOVE or RENAME again must send the same COMPOUND.
 *
 * The delegation is LEAVING while the op is under way, and belongs to the op. If the server puts
 * DELEGRETURN off, the op is repeated with the delegation. After any other answer the op goes on
 * without the delegation. If the op ends without an answer, the delegation is DUE.
 */
#include "nfsproto/v4/mount/nfs4_deleg_along.h"

#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lock_local.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/log.h"

static const struct nfs_fh *file_of(const struct nfs_op *op, uint64_t *id)
{
	*id = op->type == NFS_REMOVE   ? op->u.remove.deleg
	      : op->type == NFS_RENAME ? op->u.rename.deleg
				       : 0;
	return op->type == NFS_REMOVE ? op->u.remove.deleg_fh : op->u.rename.deleg_fh;
}

/* op no longer has the delegation. flushed: no data under the delegation is to be made safe. */
static void due(struct nfs4_client *c, struct nfs_op *op, bool flushed)
{
	struct nfs4_deleg *d = op->be.v4.deleg;

	op->be.v4.deleg = NULL;
	mutex_lock(&c->lock);
	d->flushed = flushed;
	nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	mutex_unlock(&c->lock);
	nfs4_state_poll(c->srv);
}

void nfs4_deleg_take_along(struct nfs4_client *c, struct nfs_op *op)
{
	uint64_t id;
	const struct nfs_fh *fh = file_of(op, &id);
	struct nfs4_deleg *d;

	if (!id)
		return;
	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, NULL);
	if (d && d->id == id && !c->delegs.visited && TAILQ_EMPTY(&d->opens) && !c->ledger) {
		nfs4_deleg_move_locked(c, d, NFS4_D_LEAVING);
		op->be.v4.deleg = d;
	}
	mutex_unlock(&c->lock);
	if (!op->be.v4.deleg)
		nfs4_deleg_give_back(c, fh, id);
	else if (d->type == OPEN_DELEGATE_WRITE && nfs4_lock_any_local(c, fh))
		due(c, op, false); /* the server is to know the locks first */
}

void nfs4_deleg_put_along(struct nfs4_client *c, const struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_deleg *d = op->be.v4.deleg;

	if (d)
		nfs4_put_delegreturn(c, d, k);
}

bool nfs4_deleg_get_along(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out)
{
	struct nfs4_deleg *d = op->be.v4.deleg;
	bool revoked;
	int rc;

	if (!d)
		return true;
	rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_DELEGRETURN);
	if (rc < 0 || rc == NFS4ERR_DELAY || rc == NFS4ERR_GRACE) {
		*out = nfs4_outcome(op, rc);
		return false;
	}
	*out = NFS_AGAIN; /* without */
	if (rc && !nfs4_delegreturn_gone((uint32_t)rc, &revoked)) {
		log_warn(
			"%s: DELEGRETURN failed: %s", c->srv->name, nfs4_status_name((uint32_t)rc));
		due(c, op, true);
		return false;
	}
	op->be.v4.deleg = NULL;
	mutex_lock(&c->lock);
	if (rc && revoked)
		nfs4_deleg_move_locked(c, d, NFS4_D_REVOKED);
	else
		nfs4_deleg_free_locked(c, d);
	mutex_unlock(&c->lock);
	if (rc && revoked)
		nfs4_state_want(c->srv, NFS4_TODO_REVOKED);
	return !rc;
}

void nfs4_deleg_stays(struct nfs4_client *c, struct nfs_op *op)
{
	if (op->be.v4.deleg)
		due(c, op, true);
}
