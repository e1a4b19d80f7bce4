/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_queue: lock requests in their queue.
 *
 *     QUEUED --due, none before it--> CURRENT --answered--> done
 *        ^-------- denied and waiting, grace period -----'
 *
 * Cancelling only sets flags: the thread ends the op, also while the thread waits for the answer to
 * another op. An unlock goes on without its caller.
 */
#include "nfsproto/v3/nfs3_nlm_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "transport/clock.h"

#define BEHIND_NS (5 * NSEC_PER_SEC) /* after so long, a waiter behind others asks all the same */

/* n->lock held. */
static void queue_locked(struct nfs3_nlm *n, struct nfs_op *op) REQUIRES(n->lock)
{
	struct nfs_op *o;

	TAILQ_FOREACH (o, &n->queue, link) {
		if (o->be.v3.cookie > op->be.v3.cookie)
			break;
	}
	if (o)
		TAILQ_INSERT_BEFORE(o, op, link);
	else
		TAILQ_INSERT_TAIL(&n->queue, op, link);
}

/* Does an earlier op wait for a lock that op would take away? */
static bool is_behind_locked(const struct nfs3_nlm *n, const struct nfs_op *op) REQUIRES(n->lock)
{
	const struct nfs_op *o;

	if (op->type != NFS_LOCK || op->u.lock.type == F_UNLCK)
		return false;
	TAILQ_FOREACH (o, &n->queue, link) {
		if (o == op)
			return false;
		if (o->type != NFS_LOCK || o->tries == 0 || o->u.lock.owner == op->u.lock.owner)
			continue;
		if (o->u.lock.type != F_WRLCK && op->u.lock.type != F_WRLCK)
			continue;
		if (o->u.lock.start <= op->u.lock.end && op->u.lock.start <= o->u.lock.end &&
			nfs_fh_equal(&o->u.lock.fh, &op->u.lock.fh))
			return true;
	}
	return false;
}

/* Does the owner of op hold any lock in the file? Earlier waiters may wait for that lock. */
static bool holds(struct nfs3_nlm *n, const struct nfs_op *op)
{
	const struct nfs3_lock_ctx *ctx = nfs3_nlm_ctx_find(n, op->u.lock.owner, &op->u.lock.fh);

	return ctx && ctx->ranges.n;
}

struct nfs_op *nfs3_nlm_next_locked(struct nfs3_nlm *n, uint64_t *until) REQUIRES(n->lock)
{
	struct nfs_op *op, *next = NULL;

	*until = UINT64_MAX;
	TAILQ_FOREACH (op, &n->queue, link) {
		uint64_t due = op->due_ns;

		/* an op that does not wait may ask before waiters: it only learns of the
		 * conflict */
		if (!op->be.v3.cancelled && op->type == NFS_LOCK && op->u.lock.wait &&
			is_behind_locked(n, op) && !holds(n, op))
			due += BEHIND_NS;
		if (due < *until) {
			*until = due;
			next = op;
		}
	}
	if (!next || *until > clock_ns())
		return NULL;
	TAILQ_REMOVE(&n->queue, next, link);
	return next;
}

void nfs3_nlm_end(struct nfs3_nlm *n, struct nfs_op *op, int error)
{
	mutex_lock(&n->lock);
	n->current = NULL;
	if (error == -EINTR && !op->be.v3.cancelled)
		error = -ENOTCONN; /* stopped by the end of the mount, not by the caller */
	mutex_unlock(&n->lock);
	op->error = error;
	op->done(op);
}

static void own_done(struct nfs_op *own)
{
	free(own);
}

/* Puts our own copy of op into the queue: op is an unlock without a waiting caller any more. */
static bool replace_locked(struct nfs_op *op)
{
	struct nfs_op *own = malloc(sizeof(*own));

	if (!own)
		return false;
	*own = *op;
	own->done = own_done;
	own->be.v3.cancelled = false;
	TAILQ_INSERT_BEFORE(op, own, link);
	return true;
}

void nfs3_nlm_look_locked(struct nfs3_nlm *n) REQUIRES(n->lock)
{
	struct nfs_op *op;

	do {
		TAILQ_FOREACH (op, &n->queue, link)
			if (op->be.v3.cancelled && (!nfs3_nlm_is_unlock(op) || replace_locked(op)))
				break;
		if (op) {
			TAILQ_REMOVE(&n->queue, op, link);
			mutex_unlock(&n->lock);
			op->error = -EINTR;
			op->done(op);
			mutex_lock(&n->lock);
		}
	} while (op);
}

void nfs3_nlm_look(struct nfs3_nlm *n)
{
	mutex_lock(&n->lock);
	nfs3_nlm_look_locked(n);
	mutex_unlock(&n->lock);
}

void nfs3_nlm_again(struct nfs3_nlm *n, struct nfs_op *op, unsigned ms)
{
	mutex_lock(&n->lock);
	n->current = NULL;
	op->due_ns = op->be.v3.cancelled ? 0 : clock_ns() + ms * NFS3_MSEC;
	queue_locked(n, op);
	mutex_unlock(&n->lock);
}

void nfs3_nlm_hurry(struct nfs3_nlm *n, const struct nfs_fh *fh)
{
	struct nfs_op *op;

	mutex_lock(&n->lock);
	TAILQ_FOREACH (op, &n->queue, link) {
		if (op->type == NFS_LOCK && op->tries && nfs_fh_equal(&op->u.lock.fh, fh)) {
			op->due_ns = op->be.v3.cancelled ? 0 : clock_ns();
			op->tries = 1;
		}
	}
	mutex_unlock(&n->lock);
}

bool nfs3_nlm_doubt_locked(struct nfs3_client *c, bool manager) REQUIRES(c->lock)
{
	struct nfs3_nlm *n = c->nlm;
	bool up;

	if (!n)
		return false;
	mutex_lock(&n->lock);
	up = n->up; /* otherwise no lock was ever taken */
	if (up) {
		n->claim = true;
		n->claim_ns = 0;
		n->manager |= manager;
		pthread_cond_signal(&n->wake);
		nfs3_task_doubt_locked(c);
	}
	mutex_unlock(&n->lock);
	return up;
}

void nfs3_nlm_doubt(struct nfs3_client *c)
{
	mutex_lock(&c->lock);
	nfs3_nlm_doubt_locked(c, true);
	mutex_unlock(&c->lock);
}
