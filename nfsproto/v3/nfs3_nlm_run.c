/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_run: executes one lock request from the queue (nfs3_nlm.c). It calls the lock manager
 * and applies the answer to the owner's locks. The thread of nfs3_nlm.h only.
 *
 * A lock without a known answer is given back: the locks from before are restored.
 */
#include "nfsproto/v3/nfs3_nlm_run.h"

#include <errno.h>

#include "nfsproto/v3/nfs3_nlm_call.h"
#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "nfsproto/v3/nfs3_nlm_queue.h"
#include "transport/clock.h"

#define POLL_MIN_MS 50u
#define POLL_MAX_MS 1000u
#define GRACE_MS    1000u
#define GIVE_BACK   5u /* attempts */

static void clear_stop(struct nfs3_nlm *n)
{
	mutex_lock(&n->lock);
	atomic_store_explicit(&n->stop, n->quit, memory_order_relaxed);
	mutex_unlock(&n->lock);
}

/* Gives back locks that the server may hold in start..end. False: the lock manager cannot be
 * reached. */
static bool give_back(
	struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end_)
{
	struct nfs3_nlm_answer a = {.what = NFS3_NLM_GRACE};

	for (unsigned i = 0; i < GIVE_BACK && a.what == NFS3_NLM_GRACE; i++)
		a = nfs3_nlm_unlock(c, ctx, start, end_);
	return a.what != NFS3_NLM_UNREACHABLE;
}

/* Makes the server hold in start..end the same locks as ctx. Held ranges are locked over the
 * server's state, not unlocked before: no other client can get them in between. */
static void restore(struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end_)
{
	struct nfs3_nlm_answer a;

	for (uint32_t i = 0; i < ctx->ranges.n; i++) {
		const struct lock_range r = ctx->ranges.range[i];

		if (r.last < start)
			continue;
		if (r.first > end_)
			break;
		if (r.first > start && !give_back(c, ctx, start, r.first - 1))
			return;
		a = nfs3_nlm_lock(c, ctx, r.first, r.last, r.write, false);
		if ((a.what == NFS3_NLM_DENIED || a.what == NFS3_NLM_REFUSED) &&
			lock_ranges_clear(&ctx->ranges, r.first, r.last) == 0) {
			i--;
			nfs3_nlm_range_lost(
				c, ctx, &r, "somebody else took it while another was given up");
		}
		if (r.last >= end_)
			return;
		start = r.last + 1;
	}
	give_back(c, ctx, start, end_);
}

/* The outcome of a call for op. NFS_RECOVER: find the lock manager again, and repeat; NFS_LATER:
 * the lock manager accepts only reclaims now; NFS_STATUS: the lock manager refuses. */
static enum nfs_outcome came_to(
	const struct nfs3_client *c, struct nfs_op *op, const struct nfs3_nlm_answer *a)
{
	switch (a->what) {
	case NFS3_NLM_DONE:
		return NFS_DONE;
	case NFS3_NLM_GRACE:
		return NFS_LATER;
	case NFS3_NLM_DENIED:
	case NFS3_NLM_REFUSED:
		return NFS_STATUS;
	case NFS3_NLM_UNREACHABLE:
	case NFS3_NLM_SILENT:
		if (!c->soft && !c->nlm->rpc)
			return NFS_RECOVER;
		break;
	case NFS3_NLM_ABSENT:
	case NFS3_NLM_STOPPED:
	case NFS3_NLM_BROKEN:
		break;
	}
	return nfs_failed(op, a->error);
}

/* Has op, which waits for a denied lock, ask again after a while. */
static void ask_later(struct nfs3_nlm *n, struct nfs_op *op, bool grace)
{
	unsigned ms = POLL_MIN_MS << (op->tries < 5 ? op->tries : 5);

	if (op->tries < UINT32_MAX)
		op->tries++;
	nfs3_nlm_again(n, op, grace ? GRACE_MS : ms < POLL_MAX_MS ? ms : POLL_MAX_MS);
}

static void run_lock(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	uint64_t start = op->u.lock.start, last = op->u.lock.end;
	bool write = op->u.lock.type == F_WRLCK;
	struct nfs3_lock_ctx *ctx;
	struct nfs3_nlm_answer a;
	enum nfs_outcome out;

	ctx = nfs3_nlm_ctx_get(n, op->u.lock.owner, &op->u.lock.fh, &op->cred);
	if (!ctx || lock_ranges_reserve(&ctx->ranges)) {
		if (ctx)
			nfs3_nlm_ctx_put(n, ctx);
		nfs3_nlm_end(n, op, -ENOMEM);
		return;
	}
	nfs_op_called(op, clock_ns());
	a = nfs3_nlm_lock(c, ctx, start, last, write, false);
	out = came_to(c, op, &a);
	if (out == NFS_STATUS && a.error == -EAGAIN && op->u.lock.wait)
		out = NFS_LATER;
	switch (out) {
	case NFS_RECOVER:
	case NFS_AGAIN:
		nfs3_nlm_ctx_put(n, ctx);
		nfs3_nlm_again(n, op, 0);
		return;
	case NFS_LATER:
		nfs3_nlm_ctx_put(n, ctx);
		ask_later(n, op, a.what == NFS3_NLM_GRACE);
		return;
	case NFS_DONE:
		lock_ranges_set(&ctx->ranges, start, last, write);
		nfs3_nlm_ctx_bind(ctx, op->u.lock.open);
		nfs3_nlm_ctx_count(ctx);
		nfs3_nlm_end(n, op, 0);
		return;
	case NFS_STATUS:
	case NFS_FAILED:
		nfs3_nlm_end(n, op, a.error);
		break;
	}
	if (nfs3_nlm_unknown(&a)) { /* the lock may have been granted */
		clear_stop(n);
		if (nfs3_nlm_gave_up(
			    n)) /* the mount ends: this lock is cleared with all the others */
			lock_ranges_set(&ctx->ranges, start, last, write);
		else
			restore(c, ctx, start, last);
	}
	nfs3_nlm_ctx_put(n, ctx);
}

static void run_unlock(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	uint64_t start = op->u.lock.start, last = op->u.lock.end;
	struct nfs3_lock_ctx *ctx = nfs3_nlm_ctx_find(n, op->u.lock.owner, &op->u.lock.fh);
	struct nfs_fh fh = op->u.lock.fh;
	struct nfs3_nlm_answer a;
	enum nfs_outcome out;

	if (ctx && !ctx->ranges.n) {
		nfs3_nlm_ctx_found(ctx);
		nfs3_nlm_ctx_put(n, ctx);
		ctx = NULL;
	}
	if (!ctx || !lock_ranges_any(&ctx->ranges, start, last)) {
		nfs3_nlm_end(n, op, 0);
		return;
	}
	if (lock_ranges_reserve(&ctx->ranges)) {
		nfs3_nlm_end(n, op, -ENOMEM);
		return;
	}
	nfs_op_called(op, clock_ns());
	a = nfs3_nlm_unlock(c, ctx, start, last);
	out = came_to(c, op, &a);
	if (out == NFS_LATER || out == NFS_RECOVER) {
		nfs3_nlm_again(n, op, GRACE_MS);
		return;
	}
	nfs3_nlm_end(n, op, a.error);
	clear_stop(n);		    /* the caller may have cancelled after the answer had come */
	if (!nfs3_nlm_gave_up(n)) { /* otherwise cleared at the end of the mount */
		lock_ranges_clear(&ctx->ranges, start, last);
		if (nfs3_nlm_unknown(&a))
			restore(c, ctx, start, last);
		if (!ctx->ranges.n)
			nfs3_nlm_ctx_found(ctx);
	}
	nfs3_nlm_ctx_put(n, ctx);
	nfs3_nlm_hurry(n, &fh);
}

/* Is the conflicting lock held through this mount, and by which owner? */
static bool is_held_here(const struct nfs3_nlm *n, const struct nfs_op *op, uint64_t *holder)
{
	bool write = op->u.lockt.type == F_WRLCK;
	const struct nfs3_lock_ctx *ctx;

	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		LIST_FOREACH (ctx, &n->bucket[i], link) {
			if (ctx->owner != op->u.lockt.owner &&
				nfs_fh_equal(&ctx->fh, &op->u.lockt.fh) &&
				lock_ranges_covers(
					&ctx->ranges, op->u.lockt.start, op->u.lockt.end, write)) {
				*holder = ctx->owner;
				return true;
			}
		}
	}
	return false;
}

/* op asked for a range that h has locked. */
static void denied_by(struct nfs3_nlm *n, struct nfs_op *op, const struct nlm4_holder *h)
{
	op->u.lockt.type = h->exclusive ? F_WRLCK : F_RDLCK;
	op->u.lockt.start = h->offset;
	op->u.lockt.end = h->len && h->len - 1 <= UINT64_MAX - h->offset ? h->offset + (h->len - 1)
									 : UINT64_MAX;
	op->u.lockt.here = is_held_here(n, op, &op->u.lockt.holder);
}

static void run_test(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_lock_ctx *ctx =
		nfs3_nlm_ctx_get(n, op->u.lockt.owner, &op->u.lockt.fh, &op->cred);
	struct nfs3_nlm_answer a = {.what = NFS3_NLM_BROKEN, .error = -ENOMEM};
	struct nfs3_nlm_holder holder;
	int error = 0;

	if (ctx) {
		nfs_op_called(op, clock_ns());
		a = nfs3_nlm_test(c, ctx, op->u.lockt.start, op->u.lockt.end,
			op->u.lockt.type == F_WRLCK, &holder);
		nfs3_nlm_ctx_put(n, ctx);
	}
	switch (came_to(c, op, &a)) {
	case NFS_LATER:
	case NFS_RECOVER:
	case NFS_AGAIN:
		nfs3_nlm_again(n, op, GRACE_MS);
		return;
	case NFS_DONE:
		op->u.lockt.type = F_UNLCK;
		break;
	case NFS_STATUS:
		if (a.what == NFS3_NLM_DENIED)
			denied_by(n, op, &holder.h);
		else
			error = a.error;
		break;
	case NFS_FAILED:
		error = a.error;
		break;
	}
	nfs3_nlm_end(n, op, error);
}

void nfs3_nlm_run(struct nfs3_client *c, struct nfs_op *op)
{
	enum nfs3_nlm_what found = nfs3_nlm_connect(c);

	if (found == NFS3_NLM_STOPPED && !nfs3_nlm_gave_up(c->nlm))
		nfs3_nlm_again(c->nlm, op, 0); /* another op was cancelled */
	else if (!c->soft &&
		 (found == NFS3_NLM_UNREACHABLE || (found == NFS3_NLM_ABSENT && c->nlm->known)))
		nfs3_nlm_again(
			c->nlm, op, GRACE_MS); /* the lock manager comes back with the server */
	else if (found != NFS3_NLM_DONE)
		nfs3_nlm_end(c->nlm, op, found == NFS3_NLM_STOPPED ? -EINTR : -ENOLCK);
	else if (nfs3_nlm_is_unlock(op))
		run_unlock(c, op);
	else if (op->type == NFS_LOCK)
		run_lock(c, op);
	else
		run_test(c, op);
}
