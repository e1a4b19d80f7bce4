/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_queue: lock requests in their queue.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_QUEUE_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_QUEUE_H

#include "nfsproto/v3/nfs3_nlm_state.h"

/* Takes the op to run now out of the queue; or returns NULL and sets *until. Ops run in the order
 * in which they were due. So repeated requests leave a turn to an unlock, which they may wait for.
 * n->lock held. */
struct nfs_op *nfs3_nlm_next_locked(struct nfs3_nlm *n, uint64_t *until) REQUIRES(n->lock);
/* Ends cancelled ops in the queue, except unlocks, which go on without their callers. Called now
 * and then during a call. look_locked: drops n->lock meanwhile. */
void nfs3_nlm_look(struct nfs3_nlm *n);
void nfs3_nlm_look_locked(struct nfs3_nlm *n) REQUIRES(n->lock);
/* Ends n's current op. */
void nfs3_nlm_end(struct nfs3_nlm *n, struct nfs_op *op, int error);
/* Has op run again after ms. */
void nfs3_nlm_again(struct nfs3_nlm *n, struct nfs_op *op, unsigned ms);
/* Has all waiters for a lock of fh ask now: one was cleared through this mount. */
void nfs3_nlm_hurry(struct nfs3_nlm *n, const struct nfs_fh *fh);
/* The server may have restarted: a connection was lost and is back, and no call was sent over the
 * new connection yet. manager: the lock manager's connection. False: there are no locks. */
bool nfs3_nlm_doubt_locked(struct nfs3_client *c, bool manager) REQUIRES(c->lock);
/* The lock manager may have restarted. */
void nfs3_nlm_doubt(struct nfs3_client *c);

#endif
