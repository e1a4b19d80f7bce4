/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state_note: one open, and the locks of one owner. Model: nfs4_state_note.h.
 */
#include "nfsproto/v4/mount/nfs4_state_note.h"

#include <errno.h>
#include <stdlib.h>

#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define RANGE_BYTES 20u /* that a range takes in a record */
#define OPEN_MAX    1024u
#define CTX_MAX	    512u /* without the ranges */

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

/* --- coders ----------------------------------------------------------------------------------- */

static void put_open_locked(const struct nfs_open *o, struct xdr_out *x) REQUIRES(o->lock)
{
	fields_put(x, o, FIELDS(open_fields));
	nfs4_put_stateid(x, &o->stateid);
	nfs_record_put_fh(x, &o->fh);
	nfs_record_put_cred(x, &o->own.cred);
}

void nfs4_note_put_open(struct nfs_open *o, uint32_t number, struct xdr_out *x)
{
	mutex_lock(&o->lock);
	o->number = number;
	put_open_locked(o, x);
	mutex_unlock(&o->lock);
}

struct nfs_open *nfs4_note_get_open(struct nfs4_client *c, struct xdr_in *x, bool has_user)
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
	nfs4_note_open(o);
	return o;
}

static void put_ranges(struct xdr_out *x, const struct lock_ranges *l)
{
	xdr_put_u32(x, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		xdr_put_u64(x, l->range[i].first);
		xdr_put_u64(x, l->range[i].last);
		xdr_put_bool(x, l->range[i].write);
	}
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

void nfs4_note_put_ctx_locked(const struct nfs4_lockctx *ctx, uint32_t open, struct xdr_out *x)
{
	fields_put(x, ctx, FIELDS(ctx_fields));
	xdr_put_u32(x, open);
	nfs_record_put_fh(x, &ctx->fh);
	nfs4_put_stateid(x, &ctx->stateid);
	put_ranges(x, &ctx->ranges);
}

int nfs4_note_get_ctx(struct nfs4_client *c, struct nfs_open *const all[], uint32_t n,
	struct xdr_in *x, struct nfs4_lockctx **out)
{
	struct nfs4_lockctx read = {0}, *ctx;
	struct nfs4_stateid stateid;
	uint32_t open;

	*out = NULL;
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
	*out = ctx;
	ctx->number = read.number;
	ctx->have_stateid = read.have_stateid;
	ctx->stateid = stateid;
	atomic_fetch_add(&ctx->open->nlockctx, 1);
	if (get_ranges(&ctx->ranges, x))
		return -ENOMEM;
	if (ctx->ranges.n)
		c->locks.nidle--;
	nfs4_note_locks_locked(c, ctx);
	return 0;
}

/* --- notes ------------------------------------------------------------------------------------ */

void nfs4_note_open_locked(struct nfs4_client *c, struct nfs_open *o)
{
	struct ledger *l = c->ledger;
	uint8_t buf[OPEN_MAX];
	struct xdr_out x;

	if (!l)
		return;
	xdr_out_init(&x, buf, sizeof(buf));
	mutex_lock(&o->lock);
	xdr_put_u64(&x, o->request);
	xdr_put_bool(&x, o->local || o->was_local);
	put_open_locked(o, &x);
	if (xdr_out_ok(&x))
		ledger_put(l, &o->note, NOTE_OPEN, buf, x.len);
	else
		ledger_give_up(l);
	mutex_unlock(&o->lock);
}

void nfs4_note_open(struct nfs_open *o)
{
	struct nfs4_client *c = nfs4_client(o->head.client);

	if (!c->ledger)
		return;
	mutex_lock(&c->lock);
	nfs4_note_open_locked(c, o);
	mutex_unlock(&c->lock);
}

void nfs4_note_closed(struct nfs_open *o)
{
	mutex_lock(&o->lock);
	ledger_drop(nfs4_client(o->head.client)->ledger, &o->note);
	mutex_unlock(&o->lock);
}

void nfs4_note_locks_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx)
{
	struct ledger *l = c->ledger;
	struct xdr_out x;
	uint8_t *buf;
	size_t room;

	if (!l || !ctx->linked)
		return;
	if (!ctx->ranges.n && !ctx->lost.n && !ctx->have_stateid) {
		ledger_drop(l, &ctx->note);
		return;
	}
	room = CTX_MAX + ((size_t)ctx->ranges.n + ctx->lost.n) * RANGE_BYTES;
	buf = malloc(room);
	if (!buf) {
		ledger_give_up(l);
		return;
	}
	xdr_out_init(&x, buf, room);
	xdr_put_u64(&x, ctx->open->owner);
	nfs4_note_put_ctx_locked(ctx, 1, &x);
	put_ranges(&x, &ctx->lost);
	xdr_put_bool(&x, ctx->local);
	xdr_put_bool(&x, ctx->pushed);
	xdr_put_bool(&x, ctx->suspect);
	if (xdr_out_ok(&x))
		ledger_put(l, &ctx->note, NOTE_LOCKS, buf, x.len);
	else
		ledger_give_up(l);
	free(buf);
}

int nfs4_note_read_open(struct nfs4_client *c, struct xdr_in *x)
{
	uint64_t request = xdr_get_u64(x);
	bool local = xdr_get_bool(x);
	struct nfs_open *o = nfs4_note_get_open(c, x, true);

	if (!o)
		return xdr_in_ok(x) ? -ENOMEM : -EBADMSG;
	mutex_alone(&c->lock); /* no other thread knows of the mount yet */
	o->request = request;
	o->former = true;
	o->was_local = local;
	if (!xdr_in_done(x) || !o->owner)
		return -EBADMSG;
	nfs4_note_open(o);
	return 0;
}

static struct nfs_open *open_of(struct nfs4_client *c, uint64_t owner)
{
	struct nfs_open *o;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		if (o->owner == owner)
			break;
	mutex_unlock(&c->lock);
	return o;
}

int nfs4_note_read_locks(struct nfs4_client *c, struct xdr_in *x)
{
	struct nfs_open *o = open_of(c, xdr_get_u64(x));
	struct nfs4_lockctx *ctx = NULL;
	bool local, pushed, suspect;
	int rc;

	if (!o) /* its CLOSE has ended: the server has no such locks */
		return xdr_in_ok(x) ? 0 : -EBADMSG;
	rc = nfs4_note_get_ctx(c, &o, 1, x, &ctx);
	if (rc || !xdr_in_ok(x))
		return rc ? rc : -EBADMSG;
	mutex_lock(&c->locks.lock);
	rc = get_ranges(&ctx->lost, x);
	if (!ctx->ranges.n && ctx->lost.n)
		c->locks.nidle--;
	local = xdr_get_bool(x);
	pushed = xdr_get_bool(x);
	suspect = xdr_get_bool(x);
	nfs4_lockctx_set_local_locked(c, ctx, local && ctx->ranges.n);
	ctx->pushed = ctx->local && pushed;
	ctx->suspect = suspect;
	nfs4_lockctx_judge_locked(c, ctx);
	nfs4_note_locks_locked(c, ctx);
	mutex_unlock(&c->locks.lock);
	return rc ? rc : xdr_in_done(x) ? 0 : -EBADMSG;
}
