/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_push: local locks (nfs4_lock_local.h) become the server's before a delegation goes.
 */
#include "nfsproto/v4/mount/nfs4_lock_push.h"

#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_lockreq.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/log.h"

struct nfs4_lockctx *nfs4_lock_push_next(
	struct nfs4_client *c, const struct nfs_fh *fh, struct lock_range *g)
{
	struct nfs4_lockctx *ctx;

	mutex_lock(&c->locks.lock);
	NFS4_FOREACH_CTX (c, ctx, fh, i)
		if (ctx->local)
			break;
	if (ctx) {
		/* during an unmount, ranges that are being pushed may be unlocked, too */
		if (!ctx->pushed || ctx->npushed >= ctx->ranges.n)
			ctx->npushed = 0;
		if (!ctx->pushed) {
			ctx->pushed = true; /* before the server can know a range */
			nfs4_note_locks_locked(c, ctx);
		}
		*g = ctx->ranges.range[ctx->npushed];
		ctx->refs++;
	}
	mutex_unlock(&c->locks.lock);
	return ctx;
}

static void suspect_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx) REQUIRES(c->locks.lock)
{
	nfs4_lockctx_set_local_locked(c, ctx, false);
	ctx->suspect = true;
	nfs4_lockctx_judge_locked(c, ctx);
	nfs4_note_locks_locked(c, ctx);
}

void nfs4_lock_pushed(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, uint64_t by, enum nfs4_push push)
{
	bool ended = false;

	mutex_lock(&c->locks.lock);
	if (ctx->local && push == NFS4_PUSH_REFUSED) {
		suspect_locked(c, ctx);
		ended = true;
	} else if (ctx->local && push == NFS4_PUSH_LEFT) {
		ctx->npushed = 0; /* a second time does no harm */
	} else if (ctx->local && ++ctx->npushed >= ctx->ranges.n) {
		nfs4_lockctx_set_local_locked(c, ctx, false);
		ctx->pushed_by = by;
		nfs4_note_locks_locked(c, ctx);
		ended = true;
	}
	mutex_unlock(&c->locks.lock);
	if (push == NFS4_PUSH_REFUSED) {
		log_warn("%s: a lock of a file that was delegated was refused", c->srv->name);
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	}
	if (ended)
		nfs4_lockreq_run_all(c);
	nfs4_lockctx_unref(c, ctx);
}

void nfs4_lock_undelegated(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t by)
{
	struct nfs4_lockctx *ctx;
	bool any = false;

	mutex_lock(&c->locks.lock);
	NFS4_FOREACH_CTX (c, ctx, fh, i) {
		if (!ctx->local && (!by || ctx->pushed_by != by || !ctx->ranges.n))
			continue;
		suspect_locked(c, ctx);
		any = true;
	}
	mutex_unlock(&c->locks.lock);
	if (any)
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
}
