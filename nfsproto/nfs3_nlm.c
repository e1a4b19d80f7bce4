/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm: the queue of lock requests and the thread that works it off. The calls themselves:
 * nfs3_nlm_call.c.
 *
 *     QUEUED --due, nobody before it--> CURRENT --answered--> done
 *        ^-------- denied and waiting, grace period -----'
 *
 * Cancelling only sets flags: the thread ends the op, also while it waits for the answer to
 * another. An unlock goes on without its caller; a lock whose answer is not known is given back, by
 * restoring what was held before.
 */
#include "nfsproto/nfs3_nlm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "nfsproto/nfs3_nlm_call.h"
#include "transport/log.h"

#define SEC	    UINT64_C(1000000000)
#define POLL_MIN_MS 50u
#define POLL_MAX_MS 1000u
#define BEHIND_NS   (5 * SEC) /* before who is behind others asks all the same */
#define GRACE_MS    1000u
#define GIVE_BACK   5u /* attempts */

static void wait_until_locked(struct nfs3_nlm *n, uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / SEC), .tv_nsec = (long)(ns % SEC)};

	pthread_cond_timedwait(&n->wake, &n->lock, &t);
}

/* --- owners ---------------------------------------------------------------------------------- */

static unsigned bucket_of(uint64_t owner)
{
	return (unsigned)((owner * 0x9e3779b97f4a7c15ull) >> 32) % NFS3_NLM_BUCKETS;
}

static bool same_fh(const struct nfs_fh *a, const struct nfs_fh *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static struct nfs3_lock_ctx *ctx_find(struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh)
{
	struct nfs3_lock_ctx *ctx;

	LIST_FOREACH (ctx, &n->bucket[bucket_of(owner)], link) {
		if (ctx->owner == owner && same_fh(&ctx->fh, fh))
			return ctx;
	}
	return NULL;
}

/* The owner's context, made if there is none; NULL: out of memory. */
static struct nfs3_lock_ctx *ctx_get(
	struct nfs3_nlm *n, uint64_t owner, const struct nfs_fh *fh, const struct rpc_cred *cred)
{
	struct nfs3_lock_ctx *ctx = ctx_find(n, owner, fh);

	if (!ctx) {
		ctx = calloc(1, sizeof(*ctx));
		if (!ctx)
			return NULL;
		ctx->owner = owner;
		ctx->fh = *fh;
		/* above all process numbers, so that nobody takes it for one */
		ctx->svid = 0x40000000u | (n->next_svid++ & 0x3fffffffu);
		LIST_INSERT_HEAD(&n->bucket[bucket_of(owner)], ctx, link);
	}
	ctx->cred = *cred;
	return ctx;
}

/* Forgets a context that holds nothing. */
static void ctx_put(struct nfs3_lock_ctx *ctx)
{
	if (ctx->ranges.n)
		return;
	LIST_REMOVE(ctx, link);
	lock_ranges_finish(&ctx->ranges);
	free(ctx);
}

/* --- the queue ------------------------------------------------------------------------------- */

/* n->lock held. */
static void queue_locked(struct nfs3_nlm *n, struct nfs_op *op)
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

/* Does an op that came earlier wait for a lock that op would take away from it? */
static bool is_behind_locked(const struct nfs3_nlm *n, const struct nfs_op *op)
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
			same_fh(&o->u.lock.fh, &op->u.lock.fh))
			return true;
	}
	return false;
}

/* Does the owner of op hold anything in the file? Those who are before it may wait for that. */
static bool holds(struct nfs3_nlm *n, const struct nfs_op *op)
{
	const struct nfs3_lock_ctx *ctx = ctx_find(n, op->u.lock.owner, &op->u.lock.fh);

	return ctx && ctx->ranges.n;
}

/* The op to run now, out of the queue; or NULL and *until. It goes by when each was due, so that
 * those who ask again and again leave a turn to an unlock, which they may wait for. */
static struct nfs_op *next_locked(struct nfs3_nlm *n, uint64_t *until)
{
	struct nfs_op *op, *next = NULL;

	*until = UINT64_MAX;
	TAILQ_FOREACH (op, &n->queue, link) {
		uint64_t due = op->due_ns;

		/* those who do not wait are told that it is taken, whoever is before them */
		if (!op->be.v3.cancelled && op->type == NFS_LOCK && op->u.lock.wait &&
			is_behind_locked(n, op) && !holds(n, op))
			due += BEHIND_NS;
		if (due < *until) {
			*until = due;
			next = op;
		}
	}
	if (!next || *until > nfs3_now_ns())
		return NULL;
	TAILQ_REMOVE(&n->queue, next, link);
	return next;
}

static void end(struct nfs3_nlm *n, struct nfs_op *op, int error)
{
	pthread_mutex_lock(&n->lock);
	n->current = NULL;
	if (error == -EINTR && !op->be.v3.cancelled)
		error = -ENOTCONN; /* stopped by the end of the mount, not by its caller */
	pthread_mutex_unlock(&n->lock);
	op->error = error;
	op->done(op);
}

static bool is_unlock(const struct nfs_op *op)
{
	return op->type == NFS_LOCK && op->u.lock.type == F_UNLCK;
}

void nfs3_nlm_look(struct nfs3_nlm *n)
{
	struct nfs_op *op;

	pthread_mutex_lock(&n->lock);
	do {
		TAILQ_FOREACH (op, &n->queue, link)
			if (op->be.v3.cancelled && !is_unlock(op))
				break;
		if (op) {
			TAILQ_REMOVE(&n->queue, op, link);
			pthread_mutex_unlock(&n->lock);
			op->error = -EINTR;
			op->done(op);
			pthread_mutex_lock(&n->lock);
		}
	} while (op);
	pthread_mutex_unlock(&n->lock);
}

static void again(struct nfs3_nlm *n, struct nfs_op *op, unsigned ms)
{
	pthread_mutex_lock(&n->lock);
	n->current = NULL;
	op->due_ns = op->be.v3.cancelled ? 0 : nfs3_now_ns() + ms * NFS3_MSEC;
	queue_locked(n, op);
	pthread_mutex_unlock(&n->lock);
}

/* A lock of fh was cleared through this mount: those who wait for one there ask now. */
static void hurry(struct nfs3_nlm *n, const struct nfs_fh *fh)
{
	struct nfs_op *op;

	pthread_mutex_lock(&n->lock);
	TAILQ_FOREACH (op, &n->queue, link) {
		if (op->type == NFS_LOCK && op->tries && same_fh(&op->u.lock.fh, fh)) {
			op->due_ns = op->be.v3.cancelled ? 0 : nfs3_now_ns();
			op->tries = 1;
		}
	}
	pthread_mutex_unlock(&n->lock);
}

/* --- one request ----------------------------------------------------------------------------- */

static int status_errno(uint32_t status)
{
	switch (status) {
	case NLM4_GRANTED:
		return 0;
	case NLM4_DENIED:
	case NLM4_BLOCKED:
	case NLM4_DENIED_GRACE_PERIOD:
		return -EAGAIN;
	case NLM4_DEADLCK:
		return -EDEADLK;
	case NLM4_ROFS:
		return -EROFS;
	case NLM4_STALE_FH:
		return -ESTALE;
	case NLM4_FBIG:
		return -EOVERFLOW;
	default:
		return -ENOLCK;
	}
}

/* Was the caller's patience ended, or the mount? */
static bool gave_up(struct nfs3_nlm *n)
{
	return atomic_load_explicit(&n->stop, memory_order_relaxed);
}

static void clear_stop(struct nfs3_nlm *n)
{
	pthread_mutex_lock(&n->lock);
	atomic_store_explicit(&n->stop, n->quit, memory_order_relaxed);
	pthread_mutex_unlock(&n->lock);
}

/* Makes the server hold in start..end what ctx holds there. */
static void restore(struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end_)
{
	uint32_t status = NLM4_DENIED_GRACE_PERIOD;

	for (unsigned i = 0; i < GIVE_BACK && status == NLM4_DENIED_GRACE_PERIOD; i++) {
		if (nfs3_nlm_unlock(c, ctx, start, end_, &status) == -ENOTCONN)
			return;
	}
	for (uint32_t i = 0; i < ctx->ranges.n; i++) {
		const struct lock_range *r = &ctx->ranges.range[i];

		if (r->first <= end_ && start <= r->last &&
			nfs3_nlm_lock(c, ctx, r->first, r->last, r->write, false, &status) == 0 &&
			status != NLM4_GRANTED)
			log_warn("%s: a lock is lost that somebody else took while another was "
				 "given up",
				c->server);
	}
}

static void run_lock(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	uint64_t start = op->u.lock.start, last = op->u.lock.end;
	bool write = op->u.lock.type == F_WRLCK;
	struct nfs3_lock_ctx *ctx;
	uint32_t status;
	int rc;

	ctx = ctx_get(n, op->u.lock.owner, &op->u.lock.fh, &op->cred);
	if (!ctx || lock_ranges_reserve(&ctx->ranges)) {
		end(n, op, -ENOMEM);
		return;
	}
	rc = nfs3_nlm_lock(c, ctx, start, last, write, false, &status);
	if (rc == 0 && status == NLM4_GRANTED) {
		lock_ranges_set(&ctx->ranges, start, last, write);
		end(n, op, 0);
		return;
	}
	if (rc == 0 && ((status_errno(status) == -EAGAIN && op->u.lock.wait) ||
			       status == NLM4_DENIED_GRACE_PERIOD)) {
		unsigned ms = POLL_MIN_MS << (op->tries < 5 ? op->tries : 5);

		if (op->tries < UINT32_MAX)
			op->tries++;
		ctx_put(ctx);
		again(n, op,
			status == NLM4_DENIED_GRACE_PERIOD ? GRACE_MS
			: ms < POLL_MAX_MS		   ? ms
							   : POLL_MAX_MS);
		return;
	}
	end(n, op, rc ? rc : status_errno(status));
	if (rc == -EINTR || rc == -ETIMEDOUT) { /* it may have been granted */
		clear_stop(n);
		if (gave_up(n)) /* the mount ends: cleared with all the others */
			lock_ranges_set(&ctx->ranges, start, last, write);
		else
			restore(c, ctx, start, last);
	}
	ctx_put(ctx);
}

static void run_unlock(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	uint64_t start = op->u.lock.start, last = op->u.lock.end;
	struct nfs3_lock_ctx *ctx = ctx_find(n, op->u.lock.owner, &op->u.lock.fh);
	struct nfs_fh fh = op->u.lock.fh;
	uint32_t status;
	int rc;

	if (!ctx || !lock_ranges_any(&ctx->ranges, start, last)) {
		end(n, op, 0);
		return;
	}
	if (lock_ranges_reserve(&ctx->ranges)) {
		end(n, op, -ENOMEM);
		return;
	}
	rc = nfs3_nlm_unlock(c, ctx, start, last, &status);
	if (rc == 0 && status == NLM4_DENIED_GRACE_PERIOD) {
		again(n, op, GRACE_MS);
		return;
	}
	end(n, op, rc ? rc : status_errno(status));
	if (rc == -EINTR || rc == -ETIMEDOUT)
		clear_stop(n);
	if (!gave_up(n)) { /* else cleared at the end of the mount */
		lock_ranges_clear(&ctx->ranges, start, last);
		if (rc == -EINTR || rc == -ETIMEDOUT)
			restore(c, ctx, start, last);
	}
	ctx_put(ctx);
	hurry(n, &fh);
}

/* Is the lock that op was denied for held through this mount, and by whom? */
static bool is_held_here(const struct nfs3_nlm *n, const struct nfs_op *op, uint64_t *holder)
{
	bool write = op->u.lockt.type == F_WRLCK;
	const struct nfs3_lock_ctx *ctx;

	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		LIST_FOREACH (ctx, &n->bucket[i], link) {
			if (ctx->owner != op->u.lockt.owner && same_fh(&ctx->fh, &op->u.lockt.fh) &&
				lock_ranges_covers(
					&ctx->ranges, op->u.lockt.start, op->u.lockt.end, write)) {
				*holder = ctx->owner;
				return true;
			}
		}
	}
	return false;
}

static void run_test(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_lock_ctx *ctx = ctx_get(n, op->u.lockt.owner, &op->u.lockt.fh, &op->cred);
	struct nlm4_holder h;
	uint32_t status;
	int rc = -ENOMEM;

	if (ctx) {
		rc = nfs3_nlm_test(c, ctx, op->u.lockt.start, op->u.lockt.end,
			op->u.lockt.type == F_WRLCK, &status, &h);
		ctx_put(ctx);
	}
	if (rc == 0 && status == NLM4_DENIED_GRACE_PERIOD) {
		again(n, op, GRACE_MS);
		return;
	}
	if (rc == 0 && status == NLM4_DENIED) {
		op->u.lockt.type = h.exclusive ? F_WRLCK : F_RDLCK;
		op->u.lockt.start = h.offset;
		op->u.lockt.end = h.len && h.len - 1 <= UINT64_MAX - h.offset
					  ? h.offset + (h.len - 1)
					  : UINT64_MAX;
		op->u.lockt.here = is_held_here(n, op, &op->u.lockt.holder);
	} else if (rc == 0 && status == NLM4_GRANTED) {
		op->u.lockt.type = F_UNLCK;
	} else if (rc == 0) {
		rc = status_errno(status);
	}
	end(n, op, rc);
}

static void run(struct nfs3_client *c, struct nfs_op *op)
{
	int rc = nfs3_nlm_connect(c);

	if (rc)
		end(c->nlm, op, rc);
	else if (is_unlock(op))
		run_unlock(c, op);
	else if (op->type == NFS_LOCK)
		run_lock(c, op);
	else
		run_test(c, op);
}

/* --- after a restart of the server ----------------------------------------------------------- */

static void claim_range(
	struct nfs3_client *c, struct nfs3_lock_ctx *ctx, const struct lock_range *r)
{
	uint32_t status = NLM4_DENIED;
	int rc = nfs3_nlm_lock(c, ctx, r->first, r->last, r->write, true, &status);

	/* outside a grace period a server refuses to be reminded: it may not have restarted */
	while (rc == 0 && status == NLM4_DENIED_GRACE_PERIOD && !gave_up(c->nlm)) {
		rc = nfs3_nlm_lock(c, ctx, r->first, r->last, r->write, false, &status);
		if (rc == 0 && status == NLM4_DENIED_GRACE_PERIOD) {
			struct timespec t = {.tv_sec = 1};

			nanosleep(&t, NULL);
			nfs3_nlm_look(c->nlm);
		}
	}
	if (rc || status != NLM4_GRANTED)
		log_warn("%s: a lock was lost when the server restarted (%s)", c->server,
			rc ? strerror(-rc) : nlm4_status_name(status));
}

static void claim_all(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_lock_ctx *ctx;

	if (!n->rpc)
		return;
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		LIST_FOREACH (ctx, &n->bucket[i], link) {
			for (uint32_t k = 0; k < ctx->ranges.n && !gave_up(n); k++)
				claim_range(c, ctx, &ctx->ranges.range[k]);
		}
	}
}

/* --- the thread ------------------------------------------------------------------------------ */

static void *nlm_main(void *arg)
{
	struct nfs3_client *c = arg;
	struct nfs3_nlm *n = c->nlm;
	struct nfs_op *op;
	uint64_t until;

	pthread_mutex_lock(&n->lock);
	while (!n->quit) {
		atomic_store_explicit(&n->stop, false, memory_order_relaxed);
		if (n->claim) {
			n->claim = false;
			pthread_mutex_unlock(&n->lock);
			claim_all(c);
			pthread_mutex_lock(&n->lock);
			continue;
		}
		op = next_locked(n, &until);
		if (op) {
			bool cancelled = op->be.v3.cancelled && !is_unlock(op);

			n->current = op;
			pthread_mutex_unlock(&n->lock);
			if (cancelled)
				end(n, op, -EINTR);
			else
				run(c, op);
			pthread_mutex_lock(&n->lock);
		} else if (until != UINT64_MAX) {
			wait_until_locked(n, until);
		} else {
			pthread_cond_wait(&n->wake, &n->lock);
		}
	}
	while ((op = TAILQ_FIRST(&n->queue))) {
		TAILQ_REMOVE(&n->queue, op, link);
		pthread_mutex_unlock(&n->lock);
		op->error = -ENOTCONN;
		op->done(op);
		pthread_mutex_lock(&n->lock);
	}
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

void nfs3_nlm_submit(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	int rc = n ? 0 : -EOPNOTSUPP;

	if (n) {
		pthread_mutex_lock(&n->lock);
		if (n->quit)
			rc = -ENOTCONN;
		else if (!n->up)
			rc = -pthread_create(&n->thread, NULL, nlm_main, c);
		if (!rc) {
			n->up = true;
			op->be.v3.cookie = ++n->next_seq;
			op->due_ns = nfs3_now_ns();
			TAILQ_INSERT_TAIL(&n->queue, op, link);
			pthread_cond_signal(&n->wake);
		}
		pthread_mutex_unlock(&n->lock);
	}
	if (rc) {
		op->error = rc;
		op->done(op);
	}
}

void nfs3_nlm_cancel(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;

	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	op->be.v3.cancelled = true;
	if (n->current == op)
		atomic_store_explicit(&n->stop, true, memory_order_relaxed);
	op->due_ns = 0;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
}

void nfs3_nlm_reconnected(void *ctx)
{
	struct nfs3_client *c = ctx;
	struct nfs3_nlm *n = c->nlm;

	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	n->claim = true;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
}

/* --- life ------------------------------------------------------------------------------------ */

int nfs3_nlm_init(struct nfs3_nlm *n)
{
	char host[64] = "";
	pthread_condattr_t attr;
	uint32_t unique[2];

	if (getrandom(unique, sizeof(unique), 0) != sizeof(unique))
		return -EIO;
	gethostname(host, sizeof(host) - 1);
	/* Two mounts of one host share nothing, and a server may know hosts by this name alone. */
	snprintf(n->caller, sizeof(n->caller), "%s.rnfs-%08x", host, unique[0]);
	n->next_svid = unique[1];
	TAILQ_INIT(&n->queue);
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++)
		LIST_INIT(&n->bucket[i]);
	atomic_init(&n->stop, false);
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->wake, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

/* Clears ctx's locks at the server if there is time, and forgets it. */
static void leave(struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t until)
{
	uint32_t status;

	if (c->nlm->rpc && ctx->ranges.n && nfs3_now_ns() < until)
		nfs3_nlm_unlock(c, ctx, 0, UINT64_MAX, &status);
	lock_ranges_drop(&ctx->ranges);
	ctx_put(ctx);
}

void nfs3_nlm_finish(struct nfs3_client *c, unsigned ms)
{
	uint64_t until = nfs3_now_ns() + ms * NFS3_MSEC;
	struct nfs3_nlm *n = c->nlm;
	bool up;

	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	n->quit = true;
	atomic_store_explicit(&n->stop, true, memory_order_relaxed);
	up = n->up;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
	if (up)
		pthread_join(n->thread, NULL);
	atomic_store_explicit(&n->stop, false, memory_order_relaxed);
	n->goodbye_ns = until;
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		while (!LIST_EMPTY(&n->bucket[i]))
			leave(c, LIST_FIRST(&n->bucket[i]), until);
	}
	n->rpc = rpc_client_free(n->rpc);
	pthread_cond_destroy(&n->wake);
	pthread_mutex_destroy(&n->lock);
	c->nlm = NULL;
	free(n);
}
