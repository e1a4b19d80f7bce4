/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_ctx: owners of locks, and the open files through which the owners hold locks. For the
 * thread of nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CTX_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CTX_H

#include "nfsproto/v3/nfs3_nlm_state.h"

struct nfs3_lock_ctx *nfs3_nlm_ctx_find(
	struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh);
/* Finds or makes the owner's context. NULL: out of memory. */
struct nfs3_lock_ctx *nfs3_nlm_ctx_get(
	struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh, const struct rpc_cred *cred);
/* Forgets a context that holds no lock and has lost none. If the server may still hold a lock for
 * the context, the context's slot becomes LEFT. */
void nfs3_nlm_ctx_put(struct nfs3_nlm *n, struct nfs3_lock_ctx *ctx);
/* The server may hold locks in start..end beyond ctx's ranges. */
void nfs3_nlm_ctx_doubt(struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end);
/* Counts ctx in its open file as holding locks, or as holding none. */
void nfs3_nlm_ctx_count(struct nfs3_lock_ctx *ctx);
/* The owner of ctx has unlocked: a lost lock blocks I/O no more. */
void nfs3_nlm_ctx_found(struct nfs3_lock_ctx *ctx);
/* From now on I/O through o relies on ctx's locks. */
void nfs3_nlm_ctx_bind(struct nfs3_lock_ctx *ctx, struct nfs_open *o);
/* A number for a new owner. */
uint32_t nfs3_nlm_next_svid(struct nfs3_nlm *n);
/* ctx has lost r, which was removed from its list. */
void nfs3_nlm_range_lost(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	const struct lock_range *r, const char *why);

#endif
