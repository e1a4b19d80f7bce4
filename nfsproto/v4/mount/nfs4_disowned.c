/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_disowned: the server refuses the stateid of an op. The op is sent again, or fails.
 */
#include "nfsproto/v4/mount/nfs4_disowned.h"

#include <errno.h>

#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"

#define DISOWNED_MAX 60 /* attempts; with the delays below some three minutes */

/* The stateid of generation gen is in doubt. False: o is lost. *changed: o has another stateid by
 * now. */
static bool open_suspect(struct nfs_open *o, uint32_t gen, bool *changed)
{
	bool lost;

	mutex_lock(&o->lock);
	lost = o->lost;
	if (o->gen != gen)
		*changed = true;
	else if (!lost)
		o->suspect = true;
	mutex_unlock(&o->lock);
	return !lost;
}

static unsigned disowned_ms(const struct nfs_op *op)
{
	return op->be.v4.strays <= 5 ? 10u << op->be.v4.strays : 3000;
}

enum nfs_outcome nfs4_disowned(
	struct nfs4_client *c, struct nfs_op *op, uint32_t status, unsigned *ms)
{
	struct nfs_open *o = nfs_op_open(op), *source = nfs_op_source(op);
	bool changed = false;

	if (!nfs4_task_may_stray(op, DISOWNED_MAX))
		return nfs_failed(op, -EIO);
	if (op->type == NFS_OPEN) { /* of a moment ago, which is not in c->opens: from the start */
		op->be.v4.kind = NFS_OPEN;
		*ms = disowned_ms(op);
		return NFS_RECOVER;
	}
	if (!o && !source)
		return nfs_failed(op, -EIO);
	if (op->be.v4.flags & NFS4_F_LOCK_ID) { /* perhaps merely given back meanwhile */
		*ms = disowned_ms(op);
		log_ctrl("%s: the server disowns a lock: %s", c->srv->name,
			nfs4_status_name(status));
		nfs4_state_want(c->srv, NFS4_TODO_REVOKED);
		return NFS_RECOVER;
	}
	if ((o && nfs4_deleg_disowned(c, o, op->be.v4.gen)) ||
		(source && nfs4_deleg_disowned(c, source, op->be.v4.from_gen))) {
		*ms = disowned_ms(op);
		return NFS_RECOVER;
	}
	if (o && !open_suspect(o, op->be.v4.gen, &changed))
		return nfs_failed(op, -EIO);
	if (source && !open_suspect(source, op->be.v4.from_gen, &changed))
		return nfs_failed(op, -EIO);
	*ms = changed ? 0 : disowned_ms(op);
	if (!changed) {
		log_ctrl("%s: the server disowns an open file: %s", c->srv->name,
			nfs4_status_name(status));
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	}
	return NFS_RECOVER;
}
