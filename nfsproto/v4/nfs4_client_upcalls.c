/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client_upcalls: the upcalls of a mount for its server (nfs4_user.h).
 */
#include "nfsproto/v4/nfs4_client_upcalls.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_along.h"
#include "nfsproto/v4/mount/nfs4_deleg_recover.h"
#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_disowned.h"
#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_lock_wait.h"
#include "nfsproto/v4/mount/nfs4_locking.h"
#include "nfsproto/v4/mount/nfs4_names.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_open_recover.h"
#include "nfsproto/v4/nfs4_move.h"
#include "nfsproto/v4/nfs4_replication.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/ops/nfs4_locations.h"
#include "nfsproto/v4/ops/nfs4_ops_copy.h"
#include "nfsproto/v4/pnfs/nfs4_layout_io.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

static enum nfs_outcome up_may_send(struct nfs4_user *u, struct nfs_op *op, uint64_t now)
{
	int rc = nfs4_lock_io(nfs4_client_of(u), op, now);

	if (rc == 0) /* op->error is left alone */
		return NFS_DONE;
	return rc == -EAGAIN ? NFS_LATER : nfs_failed(op, rc);
}

static void up_put(struct nfs4_user *u, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_client *c = nfs4_client_of(u);
	struct nfs4_owners owners = nfs4_names_owners(c);

	k->owners = &owners;
	nfs4_kinds[op->be.v4.kind].put(c, op, k);
	k->owners = NULL;
}

static enum nfs_outcome up_get(struct nfs4_user *u, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_client *c = nfs4_client_of(u);
	struct nfs4_owners owners = nfs4_names_owners(c);
	enum nfs_outcome out;

	r->owners = &owners;
	out = nfs4_kinds[op->be.v4.kind].get(c, op, r);
	r->owners = NULL;
	if (out == NFS_DONE)
		out = nfs_failed(op, nfs4_reply_end(r));
	if (out == NFS_DONE && owners.not_yet && !(op->be.v4.flags & NFS4_F_PRIV) &&
		nfs4_names_wait(op))
		return NFS_LATER;
	return out;
}

static void up_later(struct nfs4_user *u, struct nfs_op *op)
{
	if (op->be.v4.kind == NFS4_K_OFFLOAD_STATUS)
		nfs4_task_delay(op, nfs4_offload_ms(op));
	else
		nfs4_names_later(nfs4_client_of(u), op);
}

static enum nfs_outcome up_failed(
	struct nfs4_user *u, struct nfs_op *op, uint32_t status, unsigned *ms)
{
	struct nfs4_client *c = nfs4_client_of(u);

	if (op->be.v4.kind == NFS4_K_LAYOUTCOMMIT)
		return nfs4_layout_uncommitted(c, op, status);
	switch (status) {
	case NFS4ERR_BADOWNER:
		if (!nfs4_names_refused(c, op))
			return nfs_failed(op, -EINVAL);
		return nfs4_names_wanted(c, op) ? NFS_LATER : NFS_AGAIN;
	case NFS4ERR_MOVED:
		if ((op->type != NFS_LOOKUP || op->be.v4.kind == NFS4_K_LOCATIONS) &&
			nfs4_move_waits(c, op, ms))
			return NFS_RECOVER;
		return nfs4_moved_ask(c, op) ? NFS_AGAIN : nfs_failed(op, -EREMOTE);
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
	case NFS4ERR_DELEG_REVOKED:
		return nfs4_disowned(c, op, status, ms);
	default:
		/* executed: for nfs4_lockreq.c the same as an unreadable answer */
		if (status == NFS4ERR_RETRY_UNCACHED_REP && op->type == NFS_LOCK)
			return nfs_failed(op, -EREMOTEIO);
		if (op->be.v4.kind == NFS4_K_LOOK)
			return nfs_failed(op, op->be.v4.first_error);
		return NFS_STATUS;
	}
}

static void up_ended(struct nfs4_user *u, struct nfs_op *op)
{
	struct nfs_open *o = nfs_op_open(op), *source = nfs_op_source(op);

	if (op->error && op->be.v4.kind == NFS4_K_OFFLOAD_STATUS)
		nfs4_offload_abandon(nfs4_client_of(u), op);
	/* a lock's request has its own reference */
	if (o && op->type != NFS_LOCK && !(op->be.v4.flags & NFS4_F_OWN))
		nfs4_open_unref(o);
	if (source)
		nfs4_open_unref(source);
	nfs4_layout_io_over(op);
	nfs4_deleg_stays(nfs4_client_of(u), op);
}

static bool up_poll(struct nfs4_user *u, uint64_t now, uint64_t *next)
{
	struct nfs4_client *c = nfs4_client_of(u);

	return nfs4_move_poll(c, now, next) || nfs4_replication_poll(c, now, next) ||
	       nfs4_deleg_poll(c, now, next) || nfs4_lock_poll(c, now, next);
}

static bool up_leave(struct nfs4_user *u, uint64_t now)
{
	return nfs4_replication_leave(nfs4_client_of(u), now);
}

static bool up_reclaim(struct nfs4_user *u)
{
	struct nfs4_client *c = nfs4_client_of(u);

	nfs4_pnfs_forget(c);
	if (nfs4_replication_instead(c) || nfs4_move_instead(c))
		return true;
	c->reclaim_until_ns = clock_ns() + atomic_load(&c->srv->lease_s) * NFS4_SEC;
	mutex_lock(&c->lock);
	/* the restarted server may give the stateid of an old copy to a new one */
	memset(c->offload, 0, sizeof(c->offload));
	mutex_unlock(&c->lock);
	nfs4_deleg_reclaim(c); /* before the opens, which may bring others */
	nfs4_open_reclaim(c);
	return false;
}

static bool up_revoked(struct nfs4_user *u)
{
	bool unknown = nfs4_deleg_revoked(nfs4_client_of(u));

	nfs4_pnfs_revoked(nfs4_client_of(u));

	return nfs4_open_revoked(nfs4_client_of(u)) || unknown;
}

static bool up_check(struct nfs4_user *u)
{
	return nfs4_open_check(nfs4_client_of(u));
}

static bool up_recall(struct nfs4_user *u, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid, bool unseen)
{
	return nfs4_deleg_recall(nfs4_client_of(u), fh, stateid, unseen);
}

static bool up_opening(struct nfs4_user *u)
{
	struct nfs4_client *c = nfs4_client_of(u);
	bool opening;

	mutex_lock(&c->lock);
	opening = c->delegs.opening > 0;
	mutex_unlock(&c->lock);
	return opening;
}

static uint32_t up_layoutrecall(struct nfs4_user *u, const struct nfs4_cb_layoutrecall_args *a)
{
	return nfs4_pnfs_recall(nfs4_client_of(u), a);
}

static void up_notify_deviceid(struct nfs4_user *u, const struct nfs4_cb_notify_deviceid_args *a)
{
	nfs4_pnfs_device_news(nfs4_client_of(u), a);
}

static void up_recall_any(struct nfs4_user *u, uint32_t keep)
{
	nfs4_deleg_recall_any(nfs4_client_of(u), keep);
}

static uint32_t up_getattr(
	struct nfs4_user *u, const struct nfs_fh *fh, uint64_t *size, uint64_t *change)
{
	return nfs4_deleg_getattr(nfs4_client_of(u), fh, size, change);
}

static void up_recalled(struct nfs4_user *u, const struct nfs_fh *fh)
{
	nfs_tell_recalled(&nfs4_client_of(u)->base, fh);
}

static void up_connection(struct nfs4_user *u, enum nfs_connection what)
{
	const struct nfs4_client *c = nfs4_client_of(u);

	if (c->base.number && what == NFS_CONNECTION_SILENT)
		log_warn("%s does not answer", c->srv->name);
	else if (c->base.number && what == NFS_CONNECTION_ANSWERS)
		log_info("%s answers again", c->srv->name);
	nfs_tell_connection(&nfs4_client_of(u)->base, what);
}

static void up_notify_lock(
	struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
	nfs4_lock_notify(nfs4_client_of(u), fh, owner);
}

static void up_offload(struct nfs4_user *u, const struct nfs4_cb_offload_args *a)
{
	nfs4_offload_called(nfs4_client_of(u), a);
}

const struct nfs4_upcalls nfs4_client_upcalls = {
	.may_send = up_may_send,
	.put = up_put,
	.get = up_get,
	.later = up_later,
	.failed = up_failed,
	.ended = up_ended,
	.poll = up_poll,
	.leave = up_leave,
	.reclaim = up_reclaim,
	.revoked = up_revoked,
	.check = up_check,
	.recall = up_recall,
	.recalled = up_recalled,
	.opening = up_opening,
	.recall_any = up_recall_any,
	.layoutrecall = up_layoutrecall,
	.notify_deviceid = up_notify_deviceid,
	.getattr = up_getattr,
	.connection = up_connection,
	.notify_lock = up_notify_lock,
	.offload = up_offload,
};
