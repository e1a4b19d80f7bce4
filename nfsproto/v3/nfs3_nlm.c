/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm: the beginning and the end of the thread that executes lock requests.
 */
#include "nfsproto/v3/nfs3_nlm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_conn.h"
#include "nfsproto/v3/nfs3_nlm_call.h"
#include "nfsproto/v3/nfs3_nlm_claim.h"
#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "nfsproto/v3/nfs3_nlm_left.h"
#include "nfsproto/v3/nfs3_nlm_queue.h"
#include "nfsproto/v3/nfs3_nlm_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define SEC	 UINT64_C(1000000000)
#define CLAIM_NS SEC	   /* wait before undecided claims are tried again */
#define PROBE_NS (5 * SEC) /* silence before a probe while locks are held */

static void wait_until_locked(struct nfs3_nlm *n, uint64_t ns) REQUIRES(n->lock)
{
	struct timespec t = clock_timespec(ns);

	cond_timedwait(&n->wake, &n->lock, &t);
}

/* --- the thread ------------------------------------------------------------------------------ */

static void *nlm_main(void *arg);

static bool holds_any(const struct nfs3_nlm *n)
{
	const struct nfs3_lock_ctx *ctx;

	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		LIST_FOREACH (ctx, &n->bucket[i], link)
			if (ctx->ranges.n)
				return true;
	}
	return false;
}

/* Finds out which locks are still held, and lets I/O go on if the result is certain. manager: the
 * lock manager may have restarted alone. */
static void claim(struct nfs3_client *c, bool manager)
{
	struct nfs3_nlm *n = c->nlm;
	bool decided = (!manager && nfs3_conn_testify(c)) || nfs3_nlm_claim_all(c);

	mutex_lock(&c->lock);
	mutex_lock(&n->lock);
	if (!decided) {
		n->claim = true;
		n->claim_ns = clock_ns() + CLAIM_NS;
	} else if (!n->claim) {
		n->manager = false;
		nfs3_conn_trust_locked(c);
		nfs3_task_trust_locked(c);
	}
	mutex_unlock(&n->lock);
	mutex_unlock(&c->lock);
}

static int start_locked(struct nfs3_client *c) REQUIRES(c->nlm->lock)
{
	struct nfs3_nlm *n = c->nlm;
	int rc = pthread_create(&n->thread, NULL, nlm_main, c);

	n->up = !rc;
	return -rc;
}

int nfs3_nlm_start(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	int rc = 0;

	if (!n)
		return 0;
	mutex_lock(&n->lock);
	if (nfs3_nlm_has_left(n) || n->claim)
		rc = start_locked(c);
	if (!n->claim)
		rc = 0; /* the thread is tried again for the first lock */
	mutex_unlock(&n->lock);
	return rc;
}

/* An answer over the same connection shows that the server has not restarted. If the connection is
 * lost, this call makes a new one. */
static void probe(struct nfs3_client *c)
{
	if (nfs3_nlm_connect(c) != NFS3_NLM_DONE || nfs3_nlm_ping(c) != NFS3_NLM_DONE)
		nfs3_nlm_doubt(c);
}

static void begin_locked(struct nfs3_nlm *n) RELEASE(n->lock)
{
	n->busy = true;
	mutex_unlock(&n->lock);
}

static void end_lock(struct nfs3_nlm *n) ACQUIRE(n->lock)
{
	mutex_lock(&n->lock);
	n->busy = false;
}

static void *nlm_main(void *arg)
{
	struct nfs3_client *c = arg;
	struct nfs3_nlm *n = c->nlm;
	struct nfs_op *op;
	eventfd_t aborts;
	uint64_t until;

	mutex_lock(&n->lock);
	while (!n->quit) {
		atomic_store_explicit(&n->stop, false, memory_order_relaxed);
		eventfd_read(n->abort_fd, &aborts);
		if (n->claim && clock_ns() >= n->claim_ns) {
			bool manager = n->manager;

			n->claim = false;
			begin_locked(n);
			claim(c, manager);
			end_lock(n);
			continue;
		}
		if (nfs3_nlm_has_left(n) && clock_ns() >= n->left_ns) {
			begin_locked(n);
			nfs3_nlm_free_left(c);
			end_lock(n);
			continue;
		}
		nfs3_nlm_look_locked(n); /* a cancelled op must not begin a call: no cancellation
					    would stop the call */
		if (n->quit)		 /* was set while that function had dropped the lock */
			break;
		op = nfs3_nlm_next_locked(n, &until);
		if (nfs3_nlm_has_left(n) && n->left_ns < until)
			until = n->left_ns;
		if (n->claim && n->claim_ns < until)
			until = n->claim_ns;
		if (!op && !n->claim && holds_any(n)) {
			uint64_t due = n->heard_ns + PROBE_NS;

			if (clock_ns() >= due) {
				begin_locked(n);
				probe(c);
				end_lock(n);
				continue;
			}
			until = due < until ? due : until;
		}
		if (op) {
			n->current = op;
			mutex_unlock(&n->lock);
			nfs3_nlm_run(c, op);
			mutex_lock(&n->lock);
		} else if (until != UINT64_MAX) {
			wait_until_locked(n, until);
		} else {
			cond_wait(&n->wake, &n->lock);
		}
	}
	while ((op = TAILQ_FIRST(&n->queue))) {
		TAILQ_REMOVE(&n->queue, op, link);
		mutex_unlock(&n->lock);
		op->error = -ENOTCONN;
		op->done(op);
		mutex_lock(&n->lock);
	}
	mutex_unlock(&n->lock);
	return NULL;
}

void nfs3_nlm_submit(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_nlm *n = c->nlm;
	int rc = n ? 0 : -EOPNOTSUPP;

	if (n) {
		mutex_lock(&n->lock);
		if (n->quit)
			rc = -ENOTCONN;
		else if (!n->up)
			rc = start_locked(c);
		if (rc && rc != -ENOTCONN) {
			log_warn("no locks: cannot start a thread: %s", strerror(-rc));
			rc = -ENOLCK; /* -EAGAIN would say that another process has the lock */
		}
		if (!rc) {
			op->be.v3.cookie = ++n->next_seq;
			op->due_ns = clock_ns();
			TAILQ_INSERT_TAIL(&n->queue, op, link);
			pthread_cond_signal(&n->wake);
		}
		mutex_unlock(&n->lock);
	}
	if (rc) {
		op->error = rc;
		op->done(op);
	}
}

void nfs3_nlm_cancel(struct nfs3_client *c, struct nfs_op *op, bool at_once)
{
	struct nfs3_nlm *n = c->nlm;

	if (!n)
		return;
	mutex_lock(&n->lock);
	op->be.v3.cancelled = true;
	if (n->current == op && at_once)
		atomic_store_explicit(&n->stop, true, memory_order_relaxed);
	if (n->current != op || at_once)
		eventfd_write(n->abort_fd, 1);
	op->due_ns = 0;
	pthread_cond_signal(&n->wake);
	mutex_unlock(&n->lock);
}

/* --- life ------------------------------------------------------------------------------------ */

int nfs3_nlm_init(
	struct nfs3_nlm *n, const char *dir, const char *who, const struct nfs3_nsm *former)
{
	if (getrandom(&n->next_svid, sizeof(n->next_svid), 0) != sizeof(n->next_svid))
		return -EIO;
	n->abort_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (n->abort_fd < 0)
		return -errno;
	/* Two mounts of one host share no state, and a server may know hosts by name alone. */
	if (former) {
		n->nsm = *former;
	} else if (nfs3_nsm_open(&n->nsm, dir, who)) {
		close(n->abort_fd);
		return -EIO;
	}
	nfs3_held_open(&n->held, n->nsm.fd, n->nsm.digits, n->nsm.former || former);
	mutex_init(&n->lock);
	TAILQ_INIT(&n->queue);
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++)
		LIST_INIT(&n->bucket[i]);
	atomic_init(&n->stop, false);
	clock_cond_init(&n->wake);
	return 0;
}

/* Clears ctx's locks at the server if there is time, and forgets ctx. False: the server still has
 * the locks. */
static bool leave(struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t until)
{
	struct nfs3_nlm *n = c->nlm;
	bool clean = ctx->ranges.n == 0;

	if (n->rpc && ctx->ranges.n && clock_ns() < until)
		clean = nfs3_nlm_unlock(c, ctx, 0, UINT64_MAX).what == NFS3_NLM_DONE;
	if (!clean)
		nfs3_nlm_ctx_doubt(ctx, 0, UINT64_MAX);
	lock_ranges_drop(&ctx->ranges);
	nfs3_nlm_ctx_found(ctx);
	nfs3_nlm_ctx_put(n, ctx);
	return clean;
}

void nfs3_nlm_stop(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	bool up;

	if (!n)
		return;
	mutex_lock(&n->lock);
	n->quit = true;
	atomic_store_explicit(&n->stop, true, memory_order_relaxed);
	eventfd_write(n->abort_fd, 1);
	up = n->up;
	pthread_cond_signal(&n->wake);
	mutex_unlock(&n->lock);
	if (up)
		pthread_join(n->thread, NULL);
}

void nfs3_nlm_finish(struct nfs3_client *c, uint64_t until)
{
	struct nfs3_nlm *n = c->nlm;
	bool clean = true;

	if (!n)
		return;
	atomic_store_explicit(&n->stop, false, memory_order_relaxed);
	n->goodbye_ns = until;
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		while (!LIST_EMPTY(&n->bucket[i]))
			clean &= leave(c, LIST_FIRST(&n->bucket[i]), until);
	}
	clean &= !nfs3_nlm_has_left(n);
	nfs3_held_close(&n->held);
	nfs3_nsm_close(&n->nsm, clean);
	n->rpc = rpc_client_free(n->rpc);
	pthread_cond_destroy(&n->wake);
	mutex_destroy(&n->lock);
	close(n->abort_fd);
	c->nlm = NULL;
	free(n);
}
