/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_record: the locks of an NFSv3 mount for a successor.
 */
#include "nfsproto/v3/nfs3_nlm_record.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "transport/rpc/fields.h"

#define CTX_BYTES   40u /* the least that an owner takes in a record */
#define RANGE_BYTES 20u

static const struct field nsm_fields[] = {
	FIELD(struct nfs3_nsm, fd),
	FIELD(struct nfs3_nsm, digits),
	FIELD(struct nfs3_nsm, state),
};

static const struct field ctx_fields[] = {
	FIELD(struct nfs3_lock_ctx, owner),
	FIELD(struct nfs3_lock_ctx, svid),
	FIELD(struct nfs3_lock_ctx, held),
	FIELD(struct nfs3_lock_ctx, unsure),
	FIELD(struct nfs3_lock_ctx, unsure_start),
	FIELD(struct nfs3_lock_ctx, unsure_end),
	FIELD(struct nfs3_lock_ctx, lost),
};

/* --- settling and putting --------------------------------------------------------------------- */

/* The thread changes contexts only while it is busy. */
static const char *settle_locked(const struct nfs3_nlm *n) REQUIRES(n->lock)
{
	const struct nfs3_lock_ctx *ctx;

	if (n->current || !TAILQ_EMPTY(&n->queue))
		return "locks that are asked for";
	if (n->busy || n->claim)
		return "locks that the server may have lost";
	if (n->nsm.former || (n->nsm.fd < 0 && n->held.left))
		return "locks of an earlier daemon to be freed";
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++)
		LIST_FOREACH (ctx, &n->bucket[i], link)
			if (ctx->unlocking)
				return "locks that are asked for";
	return NULL;
}

const char *nfs3_nlm_settle(struct nfs3_nlm *n)
{
	const char *why;

	mutex_lock(&n->lock);
	why = settle_locked(n);
	mutex_unlock(&n->lock);
	if (n->nsm.fd >= 0)
		fcntl(n->nsm.fd, F_SETFD, FD_CLOEXEC);
	return why;
}

static void put_ctx(const struct nfs3_lock_ctx *ctx, struct xdr_out *x)
{
	fields_put(x, ctx, FIELDS(ctx_fields));
	nfs_record_put_fh(x, &ctx->fh);
	nfs_record_put_cred(x, &ctx->cred);
	xdr_put_u32(x, ctx->open ? ctx->open->number : 0);
	xdr_put_u32(x, ctx->ranges.n);
	for (uint32_t i = 0; i < ctx->ranges.n; i++) {
		xdr_put_u64(x, ctx->ranges.range[i].first);
		xdr_put_u64(x, ctx->ranges.range[i].last);
		xdr_put_bool(x, ctx->ranges.range[i].write);
	}
}

void nfs3_nlm_put_record(struct nfs3_nlm *n, struct xdr_out *x)
{
	const struct nfs3_lock_ctx *ctx;
	uint32_t count = 0;
	size_t at;

	mutex_lock(&n->lock); /* the thread begins no work */
	fields_put(x, &n->nsm, FIELDS(nsm_fields));
	nfs_record_put_text(x, n->nsm.path);
	nfs_record_put_text(x, n->nsm.name);
	xdr_put_u32(x, n->next_svid);
	at = xdr_skip_u32(x);
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++)
		LIST_FOREACH (ctx, &n->bucket[i], link) {
			put_ctx(ctx, x);
			count++;
		}
	xdr_patch_u32(x, at, count);
	if (n->nsm.fd >= 0)
		fcntl(n->nsm.fd, F_SETFD, 0);
	mutex_unlock(&n->lock);
}

/* --- getting ---------------------------------------------------------------------------------- */

void nfs3_nlm_get_name(struct nfs3_nsm *s, struct xdr_in *x)
{
	struct nfs3_nsm read = {.fd = -1};
	struct stat st;

	*s = (struct nfs3_nsm){.fd = -1};
	fields_get(x, &read, FIELDS(nsm_fields));
	nfs_record_get_text(x, read.path, sizeof(read.path));
	nfs_record_get_text(x, read.name, sizeof(read.name));
	if (!(read.state & 1) || !read.name[0] || (read.fd < 0) != !read.path[0])
		xdr_in_fail(x);
	if (xdr_in_ok(x) && read.fd >= 0 &&
		(read.fd <= 2 || fcntl(read.fd, F_SETFD, FD_CLOEXEC) || fstat(read.fd, &st) ||
			!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
			!nfs3_nsm_is_of(read.fd, read.digits, read.state)))
		xdr_in_fail(x);
	if (xdr_in_ok(x) && read.fd >= 0)
		read.fd = fcntl(read.fd, F_DUPFD_CLOEXEC, 3);
	if (xdr_in_ok(x))
		*s = read;
}

void nfs3_nlm_let_go(struct nfs3_nlm *n)
{
	if (n->nsm.fd >= 0)
		close(n->nsm.fd);
	n->nsm.fd = n->held.fd = -1;
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

/* The owner's slot, or a new one if the file has no such slot. */
static uint32_t slot_of(struct nfs3_nlm *n, const struct nfs3_lock_ctx *ctx, uint32_t number)
{
	struct nfs3_held_owner o = {.fh = ctx->fh, .svid = ctx->svid, .cred = ctx->cred};

	return nfs3_held_adopt(&n->held, number, &o) ? number : nfs3_held_note(&n->held, &o);
}

/* open: NULL, or the open file that the owner last used. */
static int get_ctx(struct nfs3_nlm *n, struct nfs_open *const all[], uint32_t nopens,
	struct xdr_in *x, bool *holds)
{
	struct nfs3_lock_ctx read = {0}, *ctx;
	struct rpc_cred cred;
	uint32_t open;

	fields_get(x, &read, FIELDS(ctx_fields));
	nfs_record_get_fh(x, &read.fh);
	nfs_record_get_cred(x, &cred);
	open = xdr_get_u32(x);
	if (read.svid < NFS3_HELD_SVID || read.svid >= 2 * NFS3_HELD_SVID || open > nopens)
		xdr_in_fail(x);
	if (!xdr_in_ok(x) || nfs3_nlm_ctx_find(n, read.owner, &read.fh))
		return xdr_in_fail(x);
	ctx = nfs3_nlm_ctx_get(n, read.owner, &read.fh, &cred);
	if (!ctx)
		return -ENOMEM;
	ctx->svid = read.svid;
	ctx->unsure = read.unsure;
	ctx->unsure_start = read.unsure_start;
	ctx->unsure_end = read.unsure_end;
	if (read.held)
		ctx->held = slot_of(n, ctx, read.held);
	if (get_ranges(&ctx->ranges, x))
		return -ENOMEM;
	ctx->lost = read.lost;
	if (open)
		nfs3_nlm_ctx_bind(ctx, all[open - 1]);
	*holds |= ctx->ranges.n;
	return 0;
}

int nfs3_nlm_get_record(
	struct nfs3_client *c, struct nfs_open *const open[], uint32_t nopens, struct xdr_in *x)
{
	struct nfs3_nlm *n = c->nlm;
	bool holds = false;
	uint32_t count;

	n->next_svid = xdr_get_u32(x);
	count = xdr_get_count(x, UINT32_MAX, CTX_BYTES);
	for (uint32_t i = 0; i < count && xdr_in_ok(x); i++)
		if (get_ctx(n, open, nopens, x, &holds))
			return -ENOMEM;
	if (!holds)
		return 0;
	mutex_lock(&c->lock);
	mutex_lock(&n->lock);
	n->claim = n->manager = true;
	nfs3_task_doubt_locked(c);
	mutex_unlock(&n->lock);
	mutex_unlock(&c->lock);
	return 0;
}
