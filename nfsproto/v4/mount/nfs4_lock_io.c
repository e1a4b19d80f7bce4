/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_io: reads and changes of a file that rely on locks of the file (nfs4_lock.h).
 */
#include "nfsproto/v4/mount/nfs4_lock_io.h"

#include <errno.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/server/nfs4_task.h"

/* Does I/O through o rely on ctx, as far as can be known? */
static bool relies_on(const struct nfs_open *o, bool change, const struct nfs4_lockctx *ctx)
{
	if (ctx->open == o)
		return true;
	return change && nfs_fh_equal(&ctx->fh, &o->fh) &&
	       ctx->open->own.cred.uid == o->own.cred.uid;
}

static int check_locked(const struct nfs4_client *c, const struct nfs_open *o, bool change,
	bool unsure) REQUIRES(c->locks.lock)
{
	const struct nfs4_lockctx *ctx;
	int rc = 0;

	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++) {
		LIST_FOREACH (ctx, &c->locks.bucket[i], link) {
			if (!relies_on(o, change, ctx))
				continue;
			if (ctx->lost.n)
				return -EIO;
			if (ctx->ranges.n && (ctx->suspect || unsure))
				rc = -EAGAIN;
		}
	}
	return rc;
}

bool nfs4_locks_doubtful(struct nfs4_client *c, uint64_t now)
{
	return atomic_load(&c->locks.ntrouble) || nfs4_mount_unsure(c, now);
}

int nfs4_lock_io(struct nfs4_client *c, const struct nfs_op *op, uint64_t now)
{
	const struct nfs_open *o = nfs_op_open(op), *source = nfs_op_source(op);
	bool unsure = nfs4_mount_unsure(c, now);
	int rc = 0;

	if ((!o && !source) || op->type == NFS_LOCK ||
		(op->be.v4.flags & (NFS4_F_OWN | NFS4_F_PRIV)))
		return 0;
	if (!unsure && !atomic_load(&c->locks.ntrouble))
		return 0;
	mutex_lock(&c->locks.lock);
	if (o)
		rc = check_locked(c, o, !nfs_op_reads(op), unsure);
	if (source && rc != -EIO)
		rc = check_locked(c, source, false, unsure) ?: rc;
	mutex_unlock(&c->locks.lock);
	return rc;
}

/* The number of the lock, as nfs4_lock_guard() returns it. sure: SUSPECT locks do not count. */
static uint64_t guard(
	struct nfs4_client *c, const struct nfs_open *o, uint64_t first, uint64_t last, bool sure)
{
	const struct nfs4_lockctx *ctx;
	const struct lock_range *g;
	uint64_t number = 0;

	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++) {
		LIST_FOREACH (ctx, &c->locks.bucket[i], link) {
			if (!relies_on(o, true, ctx) || (sure && ctx->suspect))
				continue;
			g = lock_ranges_covering(&ctx->ranges, first, last, true);
			if (g)
				number = ctx->number << 32 | g->number;
		}
	}
	mutex_unlock(&c->locks.lock);
	return number;
}

uint64_t nfs4_lock_covers(struct nfs4_client *c, const struct nfs_open *o, uint64_t first,
	uint64_t last, uint64_t now)
{
	return o && !nfs4_mount_unsure(c, now) ? guard(c, o, first, last, true) : 0;
}

uint64_t nfs4_lock_guard(
	struct nfs4_client *c, const struct nfs_open *o, uint64_t first, uint64_t last)
{
	return atomic_load(&o->nlockctx) ? guard(c, o, first, last, false) : 0;
}

struct nfs4_stateid nfs4_io_stateid(struct nfs4_client *c, struct nfs_op *op, struct nfs_open *o)
{
	struct nfs4_stateid id = nfs4_open_stateid(op, o);
	const struct nfs4_lockctx *ctx, *holder = NULL;
	unsigned holders = 0;

	op->be.v4.flags &= (uint16_t)~NFS4_F_LOCK_ID;
	if (!o || !atomic_load(&o->nlockctx))
		return id;
	mutex_lock(&c->locks.lock);
	for (unsigned i = 0; i < NFS4_LOCK_BUCKETS; i++) {
		LIST_FOREACH (ctx, &c->locks.bucket[i], link) {
			if (ctx->open == o && ctx->have_stateid && ctx->ranges.n && !ctx->local) {
				holder = ctx;
				holders++;
			}
		}
	}
	if (holders == 1 && !holder->suspect) {
		id = holder->stateid;
		id.seqid = 0; /* the current one: RFC 8881 8.2.2 */
		op->be.v4.flags |= NFS4_F_LOCK_ID;
	}
	mutex_unlock(&c->locks.lock);
	return id;
}
