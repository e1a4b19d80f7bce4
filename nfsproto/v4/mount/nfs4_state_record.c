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
#include "transport/clock.h"
#include "transport/rpc/fields.h"

#define OPEN_BYTES  16u /* the least that an open takes in a record, and so on */
#define RANGE_BYTES 20u

static const struct field open_fields[] = {
	FIELD(struct nfs_open, owner),
	FIELD(struct nfs_open, access),
	FIELD(struct nfs_open, wire_access),
	FIELD(struct nfs_open, lost),
	FIELD(struct nfs_open, close_deferred),
};

static const struct field ctx_fields[] = {
	FIELD(struct nfs4_lockctx, owner),
	FIELD(struct nfs4_lockctx, number),
	FIELD(struct nfs4_lockctx, have_stateid),
};

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

static const char *settle_ctx_locked(const struct nfs4_lockctx *ctx) REQUIRES(NFS4_LOCKS)
{
	if (ctx->suspect || ctx->lost.n)
		return "locks that the server may have lost";
	if (ctx->local || (ctx->ranges.n && !ctx->have_stateid))
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
			why = settle_ctx_locked(ctx);
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

	if (!give_back_all(c))
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

static void put_open(struct nfs_open *o, uint32_t number, struct xdr_out *x)
{
	mutex_lock(&o->lock);
	o->number = number;
	fields_put(x, o, FIELDS(open_fields));
	nfs4_put_stateid(x, &o->stateid);
	mutex_unlock(&o->lock);
	nfs_record_put_fh(x, &o->fh);
	nfs_record_put_cred(x, &o->own.cred);
}

static void put_opens(
	struct nfs4_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	struct nfs_open *o;
	size_t count;

	for (uint32_t i = 0; i < n; i++)
		put_open(open[i], i + 1, x);
	count = xdr_skip_u32(x);
	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		if (!o->number)
			put_open(o, ++n, x);
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

static void put_ctx_locked(const struct nfs4_lockctx *ctx, struct xdr_out *x) REQUIRES(NFS4_LOCKS)
{
	fields_put(x, ctx, FIELDS(ctx_fields));
	xdr_put_u32(x, ctx->open->number);
	nfs_record_put_fh(x, &ctx->fh);
	nfs4_put_stateid(x, &ctx->stateid);
	xdr_put_u32(x, ctx->ranges.n);
	for (uint32_t i = 0; i < ctx->ranges.n; i++) {
		xdr_put_u64(x, ctx->ranges.range[i].first);
		xdr_put_u64(x, ctx->ranges.range[i].last);
		xdr_put_bool(x, ctx->ranges.range[i].write);
	}
}

static void put_locks(struct nfs4_client *c, struct xdr_out *x)
{
	size_t count = xdr_skip_u32(x);
	const struct nfs4_lockctx *ctx;
	uint32_t n = 0;

	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++)
		LIST_FOREACH (ctx, &c->locks.bucket[i], link) {
			put_ctx_locked(ctx, x);
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

static struct nfs_open *get_open(struct nfs4_client *c, struct xdr_in *x, bool has_user)
{
	struct nfs4_stateid stateid;
	struct nfs_open read = {0}, *o;
	struct rpc_cred cred;

	fields_get(x, &read, FIELDS(open_fields));
	nfs4_get_stateid(x, &stateid);
	nfs_record_get_fh(x, &read.fh);
	nfs_record_get_cred(x, &cred);
	mutex_alone(&c->locks.lock); /* no other thread knows of the mount or of the open yet */
	if (read.access & ~(uint32_t)OPEN4_SHARE_ACCESS_BOTH || !read.access ||
		(!has_user && !read.close_deferred))
		xdr_in_fail(x);
	if (!xdr_in_ok(x))
		return NULL;
	o = nfs4_open_new(c, read.access, &cred);
	if (!o)
		return NULL;
	mutex_alone(&o->lock);
	mutex_alone(&c->lock);
	o->owner = read.owner;
	o->wire_access = read.wire_access;
	o->lost = read.lost;
	o->close_deferred = read.close_deferred;
	o->fh = read.fh;
	o->stateid = stateid;
	o->gen = 1;
	o->answered = true;
	TAILQ_INSERT_TAIL(&c->opens, o, link);
	o->linked = true;
	return o;
}

static int get_ranges(struct lock_ranges *l, struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, UINT32_MAX, RANGE_BYTES);

	for (uint32_t i = 0; i < n && xdr_in_ok(x); i++) {
		uint64_t first = xdr_get_u64(x), last = xdr_get_u64(x);
		bool write = xdr_get_bool(x);

		if (first > last)
			return xdr_in_fail(x);
		if (lock_ranges_set(l, first, last, write))
			return -ENOMEM;
	}
	return 0;
}

/* all: every open of the record, n of them. */
static int get_ctx(
	struct nfs4_client *c, struct nfs_open *const all[], uint32_t n, struct xdr_in *x)
{
	struct nfs4_lockctx read = {0}, *ctx;
	struct nfs4_stateid stateid;
	uint32_t open;

	fields_get(x, &read, FIELDS(ctx_fields));
	open = xdr_get_u32(x);
	nfs_record_get_fh(x, &read.fh);
	nfs4_get_stateid(x, &stateid);
	if (!open || open > n)
		xdr_in_fail(x);
	if (!xdr_in_ok(x))
		return -EBADMSG;
	mutex_alone(&c->locks.lock);
	ctx = nfs4_lockctx_new_locked(c, &read.fh, read.owner, all[open - 1]);
	if (!ctx)
		return -ENOMEM;
	ctx->number = read.number;
	ctx->have_stateid = read.have_stateid;
	ctx->stateid = stateid;
	atomic_fetch_add(&ctx->open->nlockctx, 1);
	if (get_ranges(&ctx->ranges, x))
		return -ENOMEM;
	if (ctx->ranges.n)
		c->locks.nidle--;
	return 0;
}

static int get_all(struct nfs4_client *c, struct nfs_open *open[], uint32_t n, struct xdr_in *x,
	struct nfs_open ***all)
{
	uint32_t total, nctx;

	for (uint32_t i = 0; i < n; i++)
		if (!(open[i] = get_open(c, x, true)))
			return -ENOMEM;
	total = xdr_get_u32(x);
	if (total < n || total - n > xdr_in_left(x) / OPEN_BYTES)
		return xdr_in_fail(x);
	*all = calloc((size_t)total + 1, sizeof(**all));
	if (!*all)
		return -ENOMEM;
	for (uint32_t i = 0; i < total; i++)
		if (!((*all)[i] = i < n ? open[i] : get_open(c, x, false)))
			return -ENOMEM;
	nctx = xdr_get_count(x, UINT32_MAX, OPEN_BYTES);
	for (uint32_t i = 0; i < nctx; i++)
		if (get_ctx(c, *all, total, x))
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
