/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_recover: the state manager's recovery of locks after a loss. State manager's thread
 * only.
 *
 * After a restart of the server the thread reclaims a context's ranges one by one. No other lock
 * can be in the way of a reclaim. If the server takes no reclaims, or did not restart, the ranges
 * are lost: even if a range is free now, another client may have had a lock there in between.
 */
#include "nfsproto/v4/mount/nfs4_lock_recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_lockreq.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "transport/log.h"

#define STEP_MS	   60000u /* most time for one step before the next attempt */
#define TEST_BATCH 32u

/* The server does not know ctx's stateid any more. */
static void disowned_locked(struct nfs4_lockctx *ctx) REQUIRES(NFS4_LOCKS)
{
	if (ctx->local && !ctx->pushed)
		ctx->have_stateid = false;
	else
		ctx->suspect = true;
}

void nfs4_lock_reopened(struct nfs4_client *c, struct nfs_open *o)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);

	for (size_t i = 0; i < n; i++) {
		mutex_lock(&c->locks.lock);
		if (list[i]->open == o && list[i]->have_stateid)
			disowned_locked(list[i]);
		nfs4_lockctx_judge_locked(c, list[i]);
		mutex_unlock(&c->locks.lock);
		nfs4_lockctx_unref(c, list[i]);
	}
	free(list);
}

/* All ranges that ctx holds are lost. False: out of memory. */
static bool ctx_lost(struct nfs4_client *c, struct nfs4_lockctx *ctx)
{
	bool done = true, first;

	mutex_lock(&c->locks.lock);
	ctx->have_stateid = false;
	nfs4_lockctx_set_local_locked(c, ctx, false);
	first = ctx->ranges.n && !ctx->lost.n;
	if (first)
		log_always_error(
			"%s: a lock of an open file is lost: the lease had expired, or the "
			"server has "
			"revoked or forgotten it; reads and writes fail until it is unlocked or "
			"closed",
			c->srv->name);
	while (ctx->ranges.n && done) {
		struct lock_range g = ctx->ranges.range[ctx->ranges.n - 1]; /* the last: no split */

		done = !lock_ranges_set(&ctx->lost, g.first, g.last, true) &&
		       !lock_ranges_clear(&ctx->ranges, g.first, g.last);
	}
	nfs4_lockctx_judge_locked(c, ctx);
	nfs4_note_locks_locked(c, ctx);
	mutex_unlock(&c->locks.lock);
	if (first)
		nfs_tell_lost(&c->base, &ctx->fh, NFS_LOST_LOCK);
	return done;
}

/* Reclaims one range. NFS_DONE; NFS_LATER; NFS_STATUS: the server does not grant the lock. */
static enum nfs_outcome relock(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, const struct lock_range *g)
{
	struct nfs4_sync s;
	int rc;

	s.u.relock.ctx = ctx;
	s.u.relock.range = *g;
	do
		rc = nfs4_open_run(c, ctx->open, &s, NFS4_K_RELOCK, STEP_MS);
	while (rc && nfs4_reclaim_put_off(c, s.status));
	if (rc == 0)
		return NFS_DONE;
	return nfs4_recover_undecided(s.status) ? NFS_LATER : NFS_STATUS;
}

/* A copy of ctx's ranges, from malloc; *n is 0 if there are none. False: out of memory. */
static bool copy_ranges(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, struct lock_range **copy, uint32_t *n)
{
	mutex_lock(&c->locks.lock);
	*n = ctx->ranges.n;
	*copy = *n ? malloc(*n * sizeof(**copy)) : NULL;
	if (*copy)
		memcpy(*copy, ctx->ranges.range, *n * sizeof(**copy));
	mutex_unlock(&c->locks.lock);
	return *copy || !*n;
}

/* The outcome of an open that is still suspect is not known. */
static bool open_usable(struct nfs_open *o)
{
	bool usable;

	mutex_lock(&o->lock);
	usable = !o->suspect;
	mutex_unlock(&o->lock);
	return usable;
}

/* One suspect context. As relock(). */
static enum nfs_outcome recover(struct nfs4_client *c, struct nfs4_lockctx *ctx, bool reclaim)
{
	enum nfs_outcome out = NFS_DONE;
	struct lock_range *g;
	uint32_t n;

	if (!open_usable(ctx->open))
		return NFS_LATER;
	if (!reclaim)
		return ctx_lost(c, ctx) ? NFS_DONE : NFS_LATER;
	if (!copy_ranges(c, ctx, &g, &n))
		return NFS_LATER;
	mutex_lock(&c->locks.lock);
	ctx->have_stateid = false;
	mutex_unlock(&c->locks.lock);
	for (uint32_t i = 0; i < n && out == NFS_DONE; i++)
		out = nfs4_server_quitting(c->srv, &c->user) ? NFS_LATER : relock(c, ctx, &g[i]);
	mutex_lock(&c->locks.lock);
	nfs4_note_locks_locked(c, ctx);
	mutex_unlock(&c->locks.lock);
	free(g);
	return out;
}

bool nfs4_lock_recover(struct nfs4_client *c, bool reclaim)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);
	bool later = !list;

	for (size_t i = 0; i < n; i++) {
		struct nfs4_lockctx *ctx = list[i];
		bool due, done;

		mutex_lock(&c->locks.lock);
		if (reclaim && (ctx->have_stateid || ctx->ranges.n))
			disowned_locked(ctx);
		nfs4_lockctx_judge_locked(c, ctx);
		/* While reclaiming the gate is closed: BUSY requests wait there. */
		due = ctx->suspect && (reclaim || !ctx->busy);
		later |= ctx->suspect && !due;
		mutex_unlock(&c->locks.lock);
		done = due && recover(c, ctx, reclaim) == NFS_DONE;
		later |= due && !done;
		if (done) {
			mutex_lock(&c->locks.lock);
			ctx->suspect = false;
			nfs4_lockctx_judge_locked(c, ctx);
			mutex_unlock(&c->locks.lock);
			nfs4_lockreq_run(c, ctx);
		}
		nfs4_lockctx_unref(c, ctx);
	}
	free(list);
	return later;
}

/* Asks which of up to TEST_BATCH the server has revoked. False: no answer yet. If the server
 * refuses to say, the answer to each call with such a stateid does. */
static bool test_batch(struct nfs4_client *c, struct nfs4_lockctx **list, uint32_t n)
{
	struct nfs4_lockctx *ctx[TEST_BATCH];
	struct nfs4_sync s, f;

	s.u.test.n = 0;
	mutex_lock(&c->locks.lock);
	for (uint32_t i = 0; i < n; i++) {
		if (!list[i]->have_stateid || list[i]->suspect)
			continue;
		ctx[s.u.test.n] = list[i];
		s.u.test.ids[s.u.test.n++] = list[i]->stateid;
	}
	mutex_unlock(&c->locks.lock);
	if (!s.u.test.n)
		return true;
	if (nfs4_sync_run(c->srv, &s, NFS4_K_TEST_STATEID, STEP_MS))
		return !nfs4_recover_undecided(s.status);
	for (uint32_t i = 0; i < s.u.test.n; i++) {
		/* an old seqid only tells that a request has come in between */
		if (s.u.test.code[i] == NFS4_OK || s.u.test.code[i] == NFS4ERR_OLD_STATEID)
			continue;
		log_ctrl(
			"%s: a lock state is %s", c->srv->name, nfs4_status_name(s.u.test.code[i]));
		f.u.free_id = s.u.test.ids[i];
		nfs4_sync_run(c->srv, &f, NFS4_K_FREE_STATEID, STEP_MS);
		mutex_lock(&c->locks.lock);
		disowned_locked(ctx[i]);
		nfs4_lockctx_judge_locked(c, ctx[i]);
		mutex_unlock(&c->locks.lock);
	}
	return true;
}

bool nfs4_lock_test(struct nfs4_client *c)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);
	bool unknown = !list;

	for (size_t i = 0; i < n && !nfs4_server_quitting(c->srv, &c->user); i += TEST_BATCH)
		unknown |= !test_batch(
			c, list + i, n - i < TEST_BATCH ? (uint32_t)(n - i) : TEST_BATCH);
	for (size_t i = 0; i < n; i++)
		nfs4_lockctx_unref(c, list[i]);
	free(list);
	return unknown;
}
