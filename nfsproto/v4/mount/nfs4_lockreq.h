/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lockreq: the life of a request for a lock. Model: nfs4_lockreq.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCKREQ_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCKREQ_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* Makes req, all zero, a request of ctx through o. */
void nfs4_lockreq_init(struct nfs4_client *c, struct nfs4_lockreq *req, struct nfs4_lockctx *ctx,
	struct nfs_open *o, int type, uint64_t start, uint64_t end) REQUIRES(c->locks.lock);
/* The user of req, to be answered by the caller, or NULL. */
struct nfs_op *nfs4_lockreq_take_user_locked(struct nfs4_lockreq *req) REQUIRES(NFS4_LOCKS);
/* Begins the first READY request of ctx, unless ctx is busy or suspect. run_all: of each context.
 */
void nfs4_lockreq_run(struct nfs4_client *c, struct nfs4_lockctx *ctx);
void nfs4_lockreq_run_all(struct nfs4_client *c);
/* Ends a request without a call under way. */
void nfs4_lockreq_end(struct nfs4_client *c, struct nfs4_lockreq *req, int error);

#endif
