/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lockctx: lock contexts, found by owner and file.
 */
#include "nfsproto/v4/mount/nfs4_lockctx.h"

#include <fcntl.h>
#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_open.h"

void nfs4_lock_init(struct nfs4_locks *l)
{
	mutex_init(&l->lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++)
		LIST_INIT(&l->bucket[i]);
	TAILQ_INIT(&l->waiters);
	l->nidle = 0;
	atomic_init(&l->ntrouble, 0);
}

static void ctx_free(struct nfs4_lockctx *ctx)
{
	if (ctx->note.at)
		ledger_drop(nfs4_client(ctx->open->head.client)->ledger, &ctx->note);
	nfs4_open_unref(ctx->open);
	lock_ranges_finish(&ctx->ranges);
	lock_ranges_finish(&ctx->lost);
	free(ctx);
}

void nfs4_lock_finish(struct nfs4_locks *l)
{
	struct nfs4_lockctx *ctx;

	mutex_destroy(&l->lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++) {
		while ((ctx = LIST_FIRST(&l->bucket[i]))) {
			LIST_REMOVE(ctx, link);
			ctx_free(ctx);
		}
	}
}

static unsigned bucket_of(uint64_t owner)
{
	return (unsigned)((owner * 0x9e3779b97f4a7c15ull) >> 32) % NFS4_LOCK_BUCKETS;
}

bool nfs4_lockctx_idle(const struct nfs4_lockctx *ctx)
{
	return !ctx->busy && TAILQ_EMPTY(&ctx->ready) && !ctx->nparked && !ctx->ranges.n &&
	       !ctx->lost.n;
}

struct nfs4_lockctx *nfs4_lockctx_find_locked(
	struct nfs4_locks *l, const struct nfs_fh *fh, uint64_t owner, const struct nfs_open *o)
{
	struct nfs4_lockctx *ctx, *idle = NULL;

	LIST_FOREACH (ctx, &l->bucket[bucket_of(owner)], link) {
		if (ctx->owner != owner || !nfs_fh_equal(&ctx->fh, fh))
			continue;
		if (!nfs4_lockctx_idle(ctx))
			return ctx;
		if (!o || ctx->open == o)
			idle = ctx;
	}
	return idle;
}

struct nfs4_lockctx *nfs4_lockctx_new_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t owner, struct nfs_open *o)
{
	struct nfs4_lockctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->owner = owner;
	ctx->number = atomic_fetch_add_explicit(&c->srv->next_owner, 1, memory_order_relaxed);
	ctx->fh = *fh;
	ctx->open = nfs4_open_ref(o);
	ctx->refs = 1;
	ctx->linked = true;
	TAILQ_INIT(&ctx->ready);
	LIST_INSERT_HEAD(&c->locks.bucket[bucket_of(owner)], ctx, link);
	c->locks.nidle++;
	return ctx;
}

void nfs4_lockctx_unref(struct nfs4_client *c, struct nfs4_lockctx *ctx)
{
	bool last;

	mutex_lock(&c->locks.lock);
	last = --ctx->refs == 0;
	mutex_unlock(&c->locks.lock);
	if (last)
		ctx_free(ctx);
}

struct nfs4_lockctx *nfs4_lockctx_next_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	unsigned *i, const struct nfs4_lockctx *after)
{
	struct nfs4_lockctx *ctx;

	for (; *i < NFS4_LOCK_BUCKETS; ++*i, after = NULL)
		for (ctx = after ? LIST_NEXT(after, link) : LIST_FIRST(&c->locks.bucket[*i]); ctx;
			ctx = LIST_NEXT(ctx, link))
			if (nfs_fh_equal(&ctx->fh, fh))
				return ctx;
	return NULL;
}

void nfs4_lockctx_judge_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx)
{
	bool trouble = ctx->linked && (ctx->suspect || ctx->lost.n);

	if (trouble != ctx->trouble)
		atomic_fetch_add(&c->locks.ntrouble, trouble ? 1u : -1u);
	ctx->trouble = trouble;
}

void nfs4_lockctx_set_local_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx, bool local)
{
	if (local != ctx->local)
		c->locks.nlocal += local ? 1u : -1u;
	ctx->local = local;
	ctx->pushed = false;
}

struct nfs4_lockctx **nfs4_lockctx_list(struct nfs4_client *c, size_t *n)
{
	struct nfs4_lockctx **list, *ctx;
	size_t count = 0;

	*n = 0;
	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++)
		LIST_FOREACH (ctx, &c->locks.bucket[i], link)
			count++;
	list = calloc(count + 1, sizeof(*list));
	for (unsigned i = 0; list && i < NFS4_LOCK_BUCKETS; i++) {
		LIST_FOREACH (ctx, &c->locks.bucket[i], link) {
			ctx->refs++;
			list[(*n)++] = ctx;
		}
	}
	mutex_unlock(&c->locks.lock);
	return list;
}

uint64_t nfs4_lock_number(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t owner)
{
	struct nfs4_lockctx *ctx;
	uint64_t number;

	mutex_lock(&c->locks.lock);
	ctx = nfs4_lockctx_find_locked(&c->locks, fh, owner, NULL);
	number = ctx ? ctx->number
		     : atomic_fetch_add_explicit(&c->srv->next_owner, 1, memory_order_relaxed);
	mutex_unlock(&c->locks.lock);
	return number;
}

bool nfs4_lock_held_here(struct nfs4_client *c, const struct nfs_op *op, uint64_t *holder)
{
	bool write = op->u.lockt.type == F_WRLCK, here = false;
	const struct nfs4_lockctx *ctx;

	mutex_lock(&c->locks.lock);
	NFS4_FOREACH_CTX (c, ctx, &op->u.lockt.fh, i) {
		here = ctx->owner != op->u.lockt.owner &&
		       lock_ranges_covers(&ctx->ranges, op->u.lockt.start, op->u.lockt.end, write);
		if (here) {
			*holder = ctx->owner;
			break;
		}
	}
	mutex_unlock(&c->locks.lock);
	return here;
}

void nfs4_lockctx_forget(struct nfs4_client *c, const struct nfs_open *o)
{
	struct nfs4_lockctx *ctx, *next;

	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; o->nlockctx && i < NFS4_LOCK_BUCKETS; i++) {
		for (ctx = LIST_FIRST(&c->locks.bucket[i]); ctx; ctx = next) {
			next = LIST_NEXT(ctx, link);
			if (ctx->open != o)
				continue;
			c->locks.nidle -= nfs4_lockctx_idle(ctx);
			ctx->open->nlockctx--;
			LIST_REMOVE(ctx, link);
			ctx->linked = false;
			nfs4_lockctx_judge_locked(c, ctx);
			ctx_free(ctx); /* without requests, no other thread has a reference */
		}
	}
	mutex_unlock(&c->locks.lock);
}

bool nfs4_lock_defers_close(struct nfs4_client *c, struct nfs_open *o, bool was_deferred)
{
	struct nfs4_lockctx *ctx, *next;
	LIST_HEAD(, nfs4_lockctx) gone = LIST_HEAD_INITIALIZER(gone);
	bool defer = false;

	mutex_lock(&c->locks.lock);
	if (was_deferred && !o->close_deferred) { /* another thread closes o */
		mutex_unlock(&c->locks.lock);
		return true;
	}
	for (unsigned i = 0; o->nlockctx && i < NFS4_LOCK_BUCKETS; i++) {
		for (ctx = LIST_FIRST(&c->locks.bucket[i]); ctx; ctx = next) {
			next = LIST_NEXT(ctx, link);
			if (ctx->open != o)
				continue;
			if (!nfs4_lockctx_idle(ctx)) {
				defer = true;
				continue;
			}
			/* the server ends the context's stateid with the open's */
			c->locks.nidle--;
			ctx->open->nlockctx--;
			LIST_REMOVE(ctx, link);
			ctx->linked = false;
			nfs4_lockctx_judge_locked(c, ctx);
			if (--ctx->refs == 0)
				LIST_INSERT_HEAD(&gone, ctx, link);
		}
	}
	o->close_deferred = defer;
	mutex_unlock(&c->locks.lock);
	mutex_alone(&c->locks.lock); /* no other thread reaches the contexts in `gone` */
	while ((ctx = LIST_FIRST(&gone))) {
		LIST_REMOVE(ctx, link);
		ctx_free(ctx);
	}
	return defer;
}
