/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_claim: finds out whether locks are still held after a lost connection. For the thread of
 * nfs3_nlm.h.
 *
 *     LOCK with reclaim --granted--> held: the server has restarted, this is its grace period
 *          |       \--denied--> lost
 *          | denied, no grace period
 *          v
 *     TEST for another owner --no owner has it--> lost
 *          |       \--we have it, by the answer--> held: the server has not restarted
 *          |       \--another has it alone, by the answer--> lost
 *          | an owner has it
 *          v
 *     LOCK --granted--> held: no lock conflicts, so it was ours (or, of a shared
 *                  \--denied--> lost                              lock, that of another reader)
 *
 * A lock without an owner is not taken again: another client may have had it meanwhile, and changed
 * the protected data.
 *
 * The server may restart between the two calls. Then the answer to TEST comes from a grace period
 * in which no client has the lock yet. So a lock does not count as lost if the connection has been
 * made anew meanwhile, and is claimed again.
 */
#include "nfsproto/v3/nfs3_nlm_claim.h"

#include <string.h>

#include "nfsproto/v3/nfs3_nlm_call.h"
#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "transport/log.h"

enum claim { CLAIM_HELD, CLAIM_LOST, CLAIM_LATER };

/* Another owner would be denied the range because of h. Is h our lock? CLAIM_LATER: unknown. */
static enum claim whose(const struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, bool write,
	const struct nlm4_holder *h)
{
	char oh[NFS3_NLM_OH_SIZE];
	uint32_t len = nfs3_nlm_oh(c, ctx, oh);

	if (h->oh.len == 0) /* servers that hide the handle have their own number as svid, too */
		return CLAIM_LATER;
	if (h->svid == ctx->svid && h->oh.len == len && memcmp(h->oh.data, oh, len) == 0)
		return CLAIM_HELD;
	return write || h->exclusive ? CLAIM_LOST : CLAIM_LATER;
}

static enum claim claim_range(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	const struct lock_range *r, const char **why)
{
	struct nfs3_lock_ctx other = *ctx; /* an owner without locks */
	enum claim verdict = CLAIM_LOST;
	struct nfs3_nlm_answer a;
	struct nfs3_nlm_holder h;

	a = nfs3_nlm_lock(c, ctx, r->first, r->last, r->write, true);
	if (a.what == NFS3_NLM_DONE)
		return CLAIM_HELD;
	*why = nfs3_nlm_why(&a);
	if (!nfs3_nlm_undecided(&a))
		return CLAIM_LOST;
	if (a.what != NFS3_NLM_GRACE)
		return CLAIM_LATER;
	other.svid = nfs3_nlm_next_svid(c->nlm);
	a = nfs3_nlm_test(c, &other, r->first, r->last, true, &h);
	if (nfs3_nlm_undecided(&a))
		return CLAIM_LATER;
	if (a.what == NFS3_NLM_DENIED)
		verdict = whose(c, ctx, r->write, &h.h);
	if (verdict == CLAIM_LOST)
		*why = "the server has restarted, and its grace period is over";
	if (verdict != CLAIM_LATER)
		return verdict;
	a = nfs3_nlm_lock(c, ctx, r->first, r->last, r->write, false);
	*why = nfs3_nlm_why(&a);
	if (nfs3_nlm_undecided(&a))
		return CLAIM_LATER;
	return a.what == NFS3_NLM_DONE ? CLAIM_HELD : CLAIM_LOST;
}

/* Has the connection been made anew since the claims began? */
static bool is_doubted(struct nfs3_nlm *n)
{
	bool doubted;

	mutex_lock(&n->lock);
	doubted = n->claim;
	mutex_unlock(&n->lock);
	return doubted;
}

/* Was an UNLOCK of the whole range sent, and not answered? The server may have executed the UNLOCK,
 * and another client may have got the lock. The UNLOCK is sent again after the claims. */
static bool is_going(const struct nfs3_lock_ctx *ctx, const struct lock_range *r)
{
	return ctx->unlocking && ctx->unlocking_start <= r->first && r->last <= ctx->unlocking_end;
}

/* Claims ctx's locks. False: some could not be decided now. */
static bool claim_ctx(struct nfs3_client *c, struct nfs3_lock_ctx *ctx)
{
	uint32_t i = 0;

	while (i < ctx->ranges.n) {
		struct lock_range r = ctx->ranges.range[i];
		const char *why = "";
		enum claim verdict = is_going(ctx, &r) ? CLAIM_HELD : claim_range(c, ctx, &r, &why);

		if (verdict == CLAIM_LOST && is_doubted(c->nlm))
			verdict = CLAIM_LATER;
		if (verdict == CLAIM_LATER || nfs3_nlm_gave_up(c->nlm))
			return false;
		if (verdict == CLAIM_HELD) {
			i++;
			continue;
		}
		if (lock_ranges_clear(&ctx->ranges, r.first, r.last))
			return false;
		nfs3_nlm_range_lost(c, ctx, &r, why);
	}
	return true;
}

bool nfs3_nlm_claim_all(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_lock_ctx *ctx;

	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		LIST_FOREACH (ctx, &n->bucket[i], link) {
			if (ctx->ranges.n &&
				(nfs3_nlm_connect(c) != NFS3_NLM_DONE || !claim_ctx(c, ctx)))
				return false;
		}
	}
	return true;
}
