/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state_record: the opens and locks of a mount for a successor.
 *
 * Opens have the numbers 1, 2, ... in the order of the record. A lock context names its open by the
 * number.
 */
#include "nfsproto/v4/mount/nfs4_state_record.h"

#include <errno.h>
#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_deleg_return.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "transport/clock.h"

#define OPEN_BYTES 16u /* the least that an open takes in a record, and so on */

/* --- settling ------------------------------------------------------------------------------- */

static unsigned delegations(struct nfs4_client *c, struct nfs_fh *held, uint64_t *id)
{
	const struct nfs4_deleg *d;
	unsigned n = 0;

	*id = 0;
	mutex_lock(&c->lock);
	for (unsigned i = 0; i < NFS4_D_STATES; i++)
		n += c->delegs.n[i];
	d = TAILQ_FIRST(&c->delegs.list[NFS4_D_HELD]);
	if (d) {
		*held = d->fh;
		*id = d->id;
	}
	mutex_unlock(&c->lock);
	return n;
}

static bool give_back_all(struct nfs4_client *c)
{
	struct nfs_fh fh;
	uint64_t id = 1;
	unsigned n = 1;

	mutex_lock(&c->lock);
	c->delegs.rest_ns = clock_ns() + NFS4_SEC;
	mutex_unlock(&c->lock);
	for (unsigned i = 0; i <= NFS4_DELEGS_MAX && n && id; i++) {
		n = delegations(c, &fh, &id);
		if (id)
			nfs4_deleg_give_back(c, &fh, id);
	}
	return !n;
}

static bool opens_are_settled(struct nfs4_client *c)
{
	bool settled = true;
	struct nfs_open *o;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link) {
		mutex_lock(&o->lock);
		settled &= !o->close_wanted && !o->user && !o->suspect;
		mutex_unlock(&o->lock);
	}
	mutex_unlock(&c->lock);
	return settled;
}

/* noted: notes tell of local locks. */
static const char *settle_ctx_locked(const struct nfs4_lockctx *ctx, bool noted)
	REQUIRES(NFS4_LOCKS)
{
	if (ctx->suspect || ctx->lost.n)
		return "locks that the server may have lost";
	if (!(ctx->local && noted) && (ctx->local || (ctx->ranges.n && !ctx->have_stateid)))
		return "locks that the server does not know yet";
	if (ctx->busy || !TAILQ_EMPTY(&ctx->ready) || ctx->nparked)
		return "locks that are asked for";
	return NULL;
}

static const char *settle_locks(struct nfs4_client *c)
{
	const char *why = NULL;
	struct nfs4_lockctx *ctx;

	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS && !why; i++)
		for (ctx = LIST_FIRST(&c->locks.bucket[i]); ctx && !why; ctx = LIST_NEXT(ctx, link))
			why = settle_ctx_locked(ctx, c->ledger);
	if (!why && !TAILQ_EMPTY(&c->locks.waiters))
		why = "locks that are asked for";
	mutex_unlock(&c->locks.lock);
	return why;
}

static bool is_idle(struct nfs4_client *c)
{
	bool idle;

	mutex_lock(&c->lock);
	idle = !c->nown;
	mutex_unlock(&c->lock);
	return idle && !atomic_load(&c->user.nops);
}

const char *nfs4_state_settle(struct nfs4_client *c)
{
	const char *why;

	if (!c->ledger && !give_back_all(c))
		return "delegations that go back to the server";
	why = settle_locks(c);
	if (why)
		return why;
	if (!opens_are_settled(c))
		return "files that are being opened or closed";
	if (!is_idle(c))
		return "the server's answers";
	return NULL;
}

/* --- putting -------------------------------------------------------------------------------- */

static void put_opens(
	struct nfs4_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	struct nfs_open *o;
	size_t count;

	for (uint32_t i = 0; i < n; i++)
		nfs4_note_put_open(open[i], i + 1, x);
	count = xdr_skip_u32(x);
	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		if (!o->number)
			nfs4_note_put_open(o, ++n, x);
	mutex_unlock(&c->lock);
	xdr_patch_u32(x, count, n);
}

static void forget_numbers(struct nfs4_client *c)
{
	struct nfs_open *o;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		o->number = 0;
	mutex_unlock(&c->lock);
}

static void put_locks(struct nfs4_client *c, struct xdr_out *x)
{
	size_t count = xdr_skip_u32(x);
	const struct nfs4_lockctx *ctx;
	uint32_t n = 0;

	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++)
		LIST_FOREACH (ctx, &c->locks.bucket[i], link) {
			nfs4_note_put_ctx_locked(ctx, ctx->open->number, x);
			n++;
		}
	mutex_unlock(&c->locks.lock);
	xdr_patch_u32(x, count, n);
}

void nfs4_state_put_record(
	struct nfs4_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	forget_numbers(c);
	put_opens(c, open, n, x);
	put_locks(c, x);
}

/* --- getting -------------------------------------------------------------------------------- */

static int get_all(struct nfs4_client *c, struct nfs_open *open[], uint32_t n, struct xdr_in *x,
	struct nfs_open ***all)
{
	struct nfs4_lockctx *ctx;
	uint32_t total, nctx;

	for (uint32_t i = 0; i < n; i++)
		if (!(open[i] = nfs4_note_get_open(c, x, true)))
			return -ENOMEM;
	total = xdr_get_u32(x);
	if (total < n || total - n > xdr_in_left(x) / OPEN_BYTES)
		return xdr_in_fail(x);
	*all = calloc((size_t)total + 1, sizeof(**all));
	if (!*all)
		return -ENOMEM;
	for (uint32_t i = 0; i < total; i++)
		if (!((*all)[i] = i < n ? open[i] : nfs4_note_get_open(c, x, false)))
			return -ENOMEM;
	nctx = xdr_get_count(x, UINT32_MAX, OPEN_BYTES);
	for (uint32_t i = 0; i < nctx; i++)
		if (nfs4_note_get_ctx(c, *all, total, x, &ctx))
			return -ENOMEM;
	return 0;
}

int nfs4_state_get_record(
	struct nfs4_client *c, struct nfs_open *open[], uint32_t n, struct xdr_in *x)
{
	uint64_t next_owner = atomic_load(&c->srv->next_owner);
	struct nfs_open **all = NULL;
	int rc = get_all(c, open, n, x, &all);

	free(all);
	atomic_store(&c->srv->next_owner, next_owner); /* the owners of the record are known */
	return rc;
}
