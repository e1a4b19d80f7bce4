/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lockctx: lock contexts, found by owner and file (nfs4_lock.h). A context is idle if it holds
 * no lock, has no lost lock that was not unlocked since, and has no request. One owner may have
 * several idle contexts for one file, each bound to another open, but only one that is not idle.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCKCTX_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCKCTX_H

#include "nfsproto/v4/mount/nfs4_mount.h"

void nfs4_lock_init(struct nfs4_locks *l);
/* No request may be left. */
void nfs4_lock_finish(struct nfs4_locks *l);

bool nfs4_lockctx_idle(const struct nfs4_lockctx *ctx) REQUIRES(NFS4_LOCKS);
/* The context of owner on fh: the one in use, or else an idle one that is bound to o (o NULL:
 * any). */
struct nfs4_lockctx *nfs4_lockctx_find_locked(struct nfs4_locks *l, const struct nfs_fh *fh,
	uint64_t owner, const struct nfs_open *o) REQUIRES(l->lock);
struct nfs4_lockctx *nfs4_lockctx_new_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	uint64_t owner, struct nfs_open *o) REQUIRES(c->locks.lock);
void nfs4_lockctx_unref(struct nfs4_client *c, struct nfs4_lockctx *ctx);
/* Ends all contexts that are bound to o, with their locks, without a word to the server. No request
 * of o has been made yet. */
void nfs4_lockctx_forget(struct nfs4_client *c, const struct nfs_open *o);
/* suspect, lost or linked has changed. */
void nfs4_lockctx_judge_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx)
	REQUIRES(c->locks.lock);
/* Also with pushed cleared. */
void nfs4_lockctx_set_local_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx, bool local)
	REQUIRES(c->locks.lock);
/* All, referenced. NULL: no memory. */
struct nfs4_lockctx **nfs4_lockctx_list(struct nfs4_client *c, size_t *n);
/* The first context of fh from bucket *i, behind after; NULL at the end. */
struct nfs4_lockctx *nfs4_lockctx_next_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	unsigned *i, const struct nfs4_lockctx *after) REQUIRES(c->locks.lock);

#define NFS4_FOREACH_CTX(c, ctx, fh, i)                                                            \
	for (unsigned i = 0, once = 1; once; once = 0)                                             \
		for ((ctx) = nfs4_lockctx_next_locked(c, fh, &(i), NULL); (ctx);                   \
			(ctx) = nfs4_lockctx_next_locked(c, fh, &(i), ctx))

/* The number of the lock-owner for owner on fh, for LOCKT: its own locks do not conflict. */
uint64_t nfs4_lock_number(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t owner);
/* op is a denied NFS_LOCKT: is the conflicting lock held through this mount, and by which owner? */
bool nfs4_lock_held_here(struct nfs4_client *c, const struct nfs_op *op, uint64_t *holder);
/* o is about to be closed. True: not now, because locks depend on o; o is closed when the locks are
 * gone. was_deferred: the locks may be gone now. */
bool nfs4_lock_defers_close(struct nfs4_client *c, struct nfs_open *o, bool was_deferred);

#endif
