/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_local: locks of a file with a write delegation to this mount (RFC 8881 section 10.4.2).
 * No other client can have the file open, so all its locks are known here, and the server is not
 * asked.
 *
 *     granted while the delegation is HELD --> local --> unlocked: the end
 *                                                |---> returned: pushed, range by range
 *                                                |        |---> the server has all: as any other
 *                                                |        \---> not granted: suspect
 *                                                \---> delegation lost: suspect
 *
 * A suspect lock is lost, unless the server has restarted and takes reclaims. Until the restart no
 * other client can have had the lock, so the lock is reclaimed like any other.
 *
 * The locks of a file are either all local or all the server's, except for locks that are being
 * pushed. A request that would break this rule waits in its context until the delegation has gone,
 * or is certain again. An unlock of ranges that are not pushed yet need not wait.
 */
#include "nfsproto/v4/mount/nfs4_lock_local.h"

#include <fcntl.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"

#define STALLED_MS 100u /* between two looks at waiting requests */

/* May any owner have locks of fh at the server, or get locks there? */
static bool any_remote_locked(struct nfs4_client *c, const struct nfs_fh *fh, bool *local)
	REQUIRES(c->locks.lock)
{
	const struct nfs4_lockctx *ctx;
	bool remote = false;

	*local = false;
	NFS4_FOREACH_CTX (c, ctx, fh, i) {
		*local |= ctx->local;
		remote |= ctx->local
				  ? ctx->pushed
				  : ctx->ranges.n || ctx->suspect || (ctx->busy && ctx->busy->asks);
	}
	return remote;
}

enum nfs4_lock_way nfs4_lock_way_locked(struct nfs4_client *c, const struct nfs4_lockreq *req)
{
	const struct nfs4_lockctx *ctx = req->ctx;
	bool local, remote, alone;

	if (req->own.type != NFS_LOCK || req->doubtful)
		return NFS4_LW_ASK;
	if (req->type == F_UNLCK)
		return ctx->local && ctx->pushed && !nfs4_server_quitting(c->srv, &c->user)
			       ? NFS4_LW_WAIT
			       : NFS4_LW_ASK;
	if (nfs4_replay_has(c->srv, req->own.noted))
		return NFS4_LW_ASK; /* a former daemon has asked */
	alone = nfs4_deleg_is_alone(c, &ctx->fh);
	if (!alone && !c->locks.nlocal)
		return NFS4_LW_ASK;
	remote = any_remote_locked(c, &ctx->fh, &local);
	if (alone && !remote)
		return NFS4_LW_LOCAL;
	return local ? NFS4_LW_WAIT : NFS4_LW_ASK;
}

void nfs4_lock_stall_locked(struct nfs4_client *c)
{
	c->locks.stalled = true;
	c->locks.stalled_ns = clock_ns() + STALLED_MS * NFS4_MSEC;
	nfs4_state_poll(c->srv);
}

bool nfs4_lock_take_locked(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	struct nfs4_lockctx *ctx = req->ctx, *other;
	bool write = req->type == F_WRLCK;

	NFS4_FOREACH_CTX (c, other, &ctx->fh, i)
		if (other != ctx &&
			lock_ranges_conflict(&other->ranges, req->start, req->end, write))
			return false;
	lock_ranges_set(&ctx->ranges, req->start, req->end, write); /* there is room */
	nfs4_lockctx_set_local_locked(c, ctx, true);
	return true;
}

bool nfs4_lock_test_local(struct nfs4_client *c, struct nfs_op *op)
{
	bool write = op->u.lockt.type == F_WRLCK, alone, local, answered;
	const struct lock_range *g = NULL;
	const struct nfs4_lockctx *ctx;

	mutex_lock(&c->locks.lock);
	alone = nfs4_deleg_is_alone(c, &op->u.lockt.fh);
	answered = alone || c->locks.nlocal;
	if (answered)
		answered = !any_remote_locked(c, &op->u.lockt.fh, &local);
	if (answered) {
		NFS4_FOREACH_CTX (c, ctx, &op->u.lockt.fh, i) {
			if (ctx->owner == op->u.lockt.owner)
				continue;
			g = lock_ranges_conflict(
				&ctx->ranges, op->u.lockt.start, op->u.lockt.end, write);
			if (!g)
				continue;
			op->u.lockt.here = true;
			op->u.lockt.holder = ctx->owner;
			op->u.lockt.type = g->write ? F_WRLCK : F_RDLCK;
			op->u.lockt.start = g->first;
			op->u.lockt.end = g->last;
			break;
		}
		answered = alone || g;
	}
	mutex_unlock(&c->locks.lock);
	if (answered && !g)
		op->u.lockt.type = F_UNLCK;
	return answered;
}

bool nfs4_lock_any_local(struct nfs4_client *c, const struct nfs_fh *fh)
{
	bool local = false;

	mutex_lock(&c->locks.lock);
	if (c->locks.nlocal)
		any_remote_locked(c, fh, &local);
	mutex_unlock(&c->locks.lock);
	return local;
}
