/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_ctx: owners of locks, and the open files through which they hold them. For the thread of
 * nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CTX_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CTX_H

#include "nfsproto/v3/nfs3_nlm_state.h"

struct nfs3_lock_ctx *nfs3_nlm_ctx_find(
	struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh);
/* Made if there is none; NULL: out of memory. */
struct nfs3_lock_ctx *nfs3_nlm_ctx_get(
	struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh, const struct rpc_cred *cred);
/* Forgets a context that holds nothing and has lost nothing. If the server may hold something for
 * it nevertheless, that is left. */
void nfs3_nlm_ctx_put(struct nfs3_nlm *n, struct nfs3_lock_ctx *ctx);
/* The server may hold something in start..end, whatever ctx's ranges say. */
void nfs3_nlm_ctx_doubt(struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end);
/* Counts ctx in its open file as one that holds something, or no longer. */
void nfs3_nlm_ctx_count(struct nfs3_lock_ctx *ctx);
/* Its owner has unlocked: what it has lost is no longer in the way of I/O. */
void nfs3_nlm_ctx_found(struct nfs3_lock_ctx *ctx);
/* From now on I/O through o relies on what ctx holds. */
void nfs3_nlm_ctx_bind(struct nfs3_lock_ctx *ctx, struct nfs_open *o);
/* A number for a new owner. */
uint32_t nfs3_nlm_next_svid(struct nfs3_nlm *n);
/* ctx has lost r, which is out of its list. */
void nfs3_nlm_range_lost(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	const struct lock_range *r, const char *why);

#endif
