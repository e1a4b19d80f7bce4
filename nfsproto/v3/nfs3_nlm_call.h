/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_call: finding a server's lock manager, and calls to it. For the thread of nfs3_nlm.h;
 * all block, until c->nlm->stop is set at the longest.
 *
 * Calls return 0 and *status (enum nlm4_status), or -errno: -EINTR when they were stopped,
 * -ENOTCONN when there is no connection and none can be made.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CALL_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CALL_H

#include <fcntl.h>

#include "nfsproto/v3/nfs3_nlm.h"
#include "nfsproto/wire/nlm4_xdr.h"

#define NFS3_NLM_OH_SIZE 24

struct nfs3_nlm_holder {
	struct nlm4_holder h;
	uint8_t oh[NFS3_NLM_OH_SIZE]; /* h.oh, if it fits; else of length 0 */
};

/* Connects unless there is a connection. The lock manager is looked for on the NFS port if MOUNT
 * was found there, else at the portmapper. 0, or -ENOLCK: none can be reached, which is logged;
 * -EINTR: stopped, or somebody who waits was cancelled meanwhile. */
int nfs3_nlm_connect(struct nfs3_client *c);

/* Both note in ctx, and the first in nfs3_held, what the server may hold. */
int nfs3_nlm_lock(struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end,
	bool write, bool reclaim, uint32_t *status);
int nfs3_nlm_unlock(struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end,
	uint32_t *status);
/* *holder is set with NLM4_DENIED. */
int nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, bool write, uint32_t *status, struct nfs3_nlm_holder *holder);
/* Is it there and answers? */
int nfs3_nlm_ping(struct nfs3_client *c);

/* Tells the server that the former daemon of this mount has ended (SM_NOTIFY). Only one that has a
 * status monitor on the NFS port: others know hosts by their address alone, and would free the
 * locks of all that live at it. 0; -EPROTONOSUPPORT: it cannot be told; or another -errno. */
int nfs3_nlm_notify(struct nfs3_client *c);

/* The opaque handle of ctx's owner, without a NUL; its length. */
uint32_t nfs3_nlm_oh(
	const struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, char buf[NFS3_NLM_OH_SIZE]);

/* Claims everything that is held again. False: not all could be decided now. */
bool nfs3_nlm_claim_all(struct nfs3_client *c);

/* nfs3_nlm_left.c: is there anything at the server that nobody here knows any more? */
bool nfs3_nlm_has_left(const struct nfs3_nlm *n);
/* Has the server free it. What is not decided is tried again from n->left_ns on. */
void nfs3_nlm_free_left(struct nfs3_client *c);

/* nfs3_nlm.c's: ends those in the queue that were cancelled, but for unlocks. Called now and then
 * while a call is waited for. */
void nfs3_nlm_look(struct nfs3_nlm *n);
/* And: ends n's current op; has it run again after ms; has all that wait for a lock of fh ask now,
 * since one was cleared through this mount. */
void nfs3_nlm_end(struct nfs3_nlm *n, struct nfs_op *op, int error);
void nfs3_nlm_again(struct nfs3_nlm *n, struct nfs_op *op, unsigned ms);
void nfs3_nlm_hurry(struct nfs3_nlm *n, const struct nfs_fh *fh);

/* nfs3_nlm_run.c: carries out n's current op, up to its end or until it is to run again. */
void nfs3_nlm_run(struct nfs3_client *c, struct nfs_op *op);
/* Was the caller's patience ended, or the mount? */
bool nfs3_nlm_gave_up(struct nfs3_nlm *n);

static inline bool nfs3_nlm_is_unlock(const struct nfs_op *op)
{
	return op->type == NFS_LOCK && op->u.lock.type == F_UNLCK;
}

/* A number for a new owner. */
uint32_t nfs3_nlm_next_svid(struct nfs3_nlm *n);
/* ctx has lost r, which is out of its list. */
void nfs3_nlm_range_lost(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	const struct lock_range *r, const char *why);

/* nfs3_nlm_ctx.c: an owner's locks in a file */
bool nfs3_nlm_same_fh(const struct nfs_fh *a, const struct nfs_fh *b);
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

#endif
