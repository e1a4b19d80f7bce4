/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_call: finding a server's lock manager, and calls to it. For the thread of nfs3_nlm.h;
 * all block, until c->nlm->stop is set at the longest.
 *
 * Calls return 0 and *status (enum nlm4_status), or -errno: -EINTR when they were stopped.
 */
#ifndef RNFS_NFSPROTO_NFS3_NLM_CALL_H
#define RNFS_NFSPROTO_NFS3_NLM_CALL_H

#include "nfsproto/nfs3_nlm.h"
#include "nfsproto/nlm4_xdr.h"

/* Connects unless there is a connection. The lock manager is looked for on the NFS port if MOUNT
 * was found there, else at the portmapper. 0, or -ENOLCK: none can be reached, which is logged;
 * -EINTR: stopped. */
int nfs3_nlm_connect(struct nfs3_client *c);

int nfs3_nlm_lock(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, bool write, bool reclaim, uint32_t *status);
int nfs3_nlm_unlock(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, uint32_t *status);
/* *holder is set with NLM4_DENIED; its oh is not. */
int nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, bool write, uint32_t *status, struct nlm4_holder *holder);

/* nfs3_nlm.c's: ends those in the queue that were cancelled, but for unlocks. Called now and then
 * while a call is waited for. */
void nfs3_nlm_look(struct nfs3_nlm *n);

#endif
