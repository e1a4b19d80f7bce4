/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_ctx: owners of locks, and the open files through which the owners hold locks. For the
 * thread of nfs3_nlm.h.
 */
#include "nfsproto/v3/nfs3_nlm_ctx.h"

#include <stdlib.h>
#include <string.h>

#include "transport/log.h"

static unsigned bucket_of(uint64_t owner)
{
	return (unsigned)((owner * 0x9e3779b97f4a7c15ull) >> 32) % NFS3_NLM_BUCKETS;
}

struct nfs3_lock_ctx *nfs3_nlm_ctx_find(struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh)
{
	struct nfs3_lock_ctx *ctx;

	LIST_FOREACH (ctx, &n->bucket[bucket_of(owner)], link) {
		if (ctx->owner == owner && nfs_fh_equal(&ctx->fh, fh))
			return ctx;
	}
	return NULL;
}

uint32_t nfs3_nlm_next_svid(struct nfs3_nlm *n)
{
	uint32_t svid;

	do {
		svid = NFS3_HELD_SVID + n->next_svid++ % NFS3_HELD_SVID;
	} while (nfs3_held_is_left(&n->held, svid));
	return svid;
}

void nfs3_nlm_ctx_count(struct nfs3_lock_ctx *ctx)
{
	bool holds = ctx->open && ctx->ranges.n;

	if (holds && !ctx->counted)
		atomic_fetch_add(&ctx->open->locks, 1);
	else if (!holds && ctx->counted)
		atomic_fetch_sub(&ctx->open->locks, 1);
	ctx->counted = holds;
}

void nfs3_nlm_ctx_found(struct nfs3_lock_ctx *ctx)
{
	if (ctx->lost && ctx->open)
		atomic_fetch_sub(&ctx->open->locks_lost, 1);
	ctx->lost = false;
}

void nfs3_nlm_range_lost(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	const struct lock_range *r, const char *why)
{
	log_always_error(
		"%s: a lock of bytes %llu to %llu of an open file is lost: %s; reads and writes "
		"through it fail until it is unlocked or closed",
		c->server, (unsigned long long)r->first, (unsigned long long)r->last, why);
	if (!ctx->lost && ctx->open) /* before another thread sees ctx without a held lock */
		atomic_fetch_add(&ctx->open->locks_lost, 1);
	ctx->lost = true;
	nfs3_nlm_ctx_count(ctx);
	nfs_tell_lost(&c->base, &ctx->fh, NFS_LOST_LOCK);
}

void nfs3_nlm_ctx_bind(struct nfs3_lock_ctx *ctx, struct nfs_open *o)
{
	struct nfs_open *old = ctx->open;
	bool lost = ctx->lost, counted = ctx->counted;

	if (o == old)
		return;
	if (o && lost)
		atomic_fetch_add(&o->locks_lost, 1);
	if (old && lost)
		atomic_fetch_sub(&old->locks_lost, 1);
	if (old && counted)
		atomic_fetch_sub(&old->locks, 1);
	ctx->counted = false;
	ctx->open = nfs3_open_ref(o);
	nfs3_nlm_ctx_count(ctx);
	nfs3_open_unref(old);
}

struct nfs3_lock_ctx *nfs3_nlm_ctx_get(
	struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh, const struct rpc_cred *cred)
{
	struct nfs3_lock_ctx *ctx = nfs3_nlm_ctx_find(n, owner, fh);

	if (!ctx) {
		ctx = calloc(1, sizeof(*ctx));
		if (!ctx)
			return NULL;
		ctx->owner = owner;
		ctx->fh = *fh;
		ctx->svid = nfs3_nlm_next_svid(n);
		LIST_INSERT_HEAD(&n->bucket[bucket_of(owner)], ctx, link);
	}
	ctx->cred = *cred;
	return ctx;
}

void nfs3_nlm_ctx_doubt(struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end)
{
	if (!ctx->unsure || start < ctx->unsure_start)
		ctx->unsure_start = start;
	if (!ctx->unsure || end > ctx->unsure_end)
		ctx->unsure_end = end;
	ctx->unsure = true;
}

void nfs3_nlm_ctx_put(struct nfs3_nlm *n, struct nfs3_lock_ctx *ctx)
{
	nfs3_nlm_ctx_count(ctx);
	if (ctx->ranges.n || ctx->lost)
		return;
	if (ctx->unsure)
		nfs3_held_leave(&n->held, ctx->held);
	else
		nfs3_held_strike(&n->held, ctx->held);
	nfs3_open_unref(ctx->open);
	LIST_REMOVE(ctx, link);
	lock_ranges_finish(&ctx->ranges);
	free(ctx);
}
