/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_recover: what the state manager does about locks when something was lost. Its thread
 * only.
 *
 * A suspect context's ranges are locked again one by one. After a restart of the server that is
 * done as a reclaim, which nobody else's lock can be in the way of; otherwise, and when the server
 * takes no reclaims, a range is had again only if it is still free. What cannot be had is lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/nfs4_client.h"
#include "transport/log.h"

#define STEP_MS	   60000u /* most time for one step before it is tried anew */
#define TEST_BATCH 32u

void nfs4_lock_reopened(struct nfs4_client *c, struct nfs_open *o)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);

	for (size_t i = 0; i < n; i++) {
		pthread_mutex_lock(&c->locks.lock);
		if (list[i]->open == o && list[i]->have_stateid)
			list[i]->suspect = true;
		pthread_mutex_unlock(&c->locks.lock);
		nfs4_lockctx_unref(c, list[i]);
	}
	free(list);
}

static void range_lost(struct nfs4_client *c, struct nfs4_lockctx *ctx, const struct lock_range *g,
	const char *why)
{
	log_error("%s: a lock of bytes %llu to %llu of an open file is lost: %s; reads and writes "
		  "through it fail until it is unlocked or closed",
		c->server, (unsigned long long)g->first, (unsigned long long)g->last, why);
	pthread_mutex_lock(&c->locks.lock);
	lock_ranges_clear(&ctx->ranges, g->first, g->last);
	if (!ctx->lost)
		atomic_fetch_add(&ctx->open->locks_lost, 1);
	ctx->lost = true;
	pthread_mutex_unlock(&c->locks.lock);
}

enum outcome { DONE, LATER, WITHOUT_RECLAIM };

/* Locks one range again; it may be found lost. */
static enum outcome relock(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, const struct lock_range *g, bool reclaim)
{
	struct nfs4_sync s;
	int rc;

	s.u.relock.ctx = ctx;
	s.u.relock.range = *g;
	s.u.relock.reclaim = reclaim;
	do
		rc = nfs4_sync_run(c, &s, NFS4_K_RELOCK, STEP_MS);
	while (rc && reclaim && nfs4_recover_put_off(c, s.status));
	if (rc == 0)
		return DONE;
	if (nfs4_recover_undecided(s.status))
		return LATER;
	if (reclaim)
		return WITHOUT_RECLAIM;
	range_lost(c, ctx, g, nfs4_status_name(s.status));
	return DONE;
}

/* A copy of ctx's ranges, from malloc; *n is 0 if there are none. False: out of memory. */
static bool copy_ranges(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, struct lock_range **copy, uint32_t *n)
{
	pthread_mutex_lock(&c->locks.lock);
	*n = ctx->ranges.n;
	*copy = *n ? malloc(*n * sizeof(**copy)) : NULL;
	if (*copy)
		memcpy(*copy, ctx->ranges.range, *n * sizeof(**copy));
	pthread_mutex_unlock(&c->locks.lock);
	return *copy || !*n;
}

static bool open_usable(struct nfs_open *o, bool *lost)
{
	bool usable;

	pthread_mutex_lock(&o->lock);
	usable = !o->suspect;
	*lost = o->lost;
	pthread_mutex_unlock(&o->lock);
	return usable;
}

/* One suspect context. */
static enum outcome recover(struct nfs4_client *c, struct nfs4_lockctx *ctx, bool reclaim)
{
	enum outcome out = DONE;
	struct lock_range *g;
	bool open_lost;
	uint32_t n;

	if (!open_usable(ctx->open, &open_lost))
		return LATER;
	if (!copy_ranges(c, ctx, &g, &n))
		return LATER;
	pthread_mutex_lock(&c->locks.lock);
	ctx->have_stateid = false;
	pthread_mutex_unlock(&c->locks.lock);
	for (uint32_t i = 0; i < n && out == DONE; i++) {
		if (open_lost)
			range_lost(c, ctx, &g[i], "so is the open");
		else if (nfs4_state_stopping(c))
			out = LATER;
		else
			out = relock(c, ctx, &g[i], reclaim);
	}
	free(g);
	return out;
}

bool nfs4_lock_recover(struct nfs4_client *c, bool reclaim)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);
	bool later = false;

	for (size_t i = 0; i < n; i++) {
		struct nfs4_lockctx *ctx = list[i];
		bool due, done;

		pthread_mutex_lock(&c->locks.lock);
		if (reclaim && (ctx->have_stateid || ctx->ranges.n))
			ctx->suspect = true;
		/* While reclaiming the gate is closed: what is BUSY waits there. */
		due = ctx->suspect && (reclaim || !ctx->busy);
		later |= ctx->suspect && !due;
		pthread_mutex_unlock(&c->locks.lock);
		done = due && recover(c, ctx, reclaim) == DONE;
		later |= due && !done;
		if (done) {
			pthread_mutex_lock(&c->locks.lock);
			ctx->suspect = false;
			pthread_mutex_unlock(&c->locks.lock);
			nfs4_lockctx_run(c, ctx);
		}
		nfs4_lockctx_unref(c, ctx);
	}
	free(list);
	return later;
}

static void test_batch(struct nfs4_client *c, struct nfs4_lockctx **list, uint32_t n)
{
	struct nfs4_lockctx *ctx[TEST_BATCH];
	struct nfs4_sync s, f;

	s.u.test.n = 0;
	pthread_mutex_lock(&c->locks.lock);
	for (uint32_t i = 0; i < n; i++) {
		if (!list[i]->have_stateid || list[i]->suspect)
			continue;
		ctx[s.u.test.n] = list[i];
		s.u.test.ids[s.u.test.n++] = list[i]->stateid;
	}
	pthread_mutex_unlock(&c->locks.lock);
	if (!s.u.test.n || nfs4_sync_run(c, &s, NFS4_K_TEST_STATEID, STEP_MS))
		return;
	for (uint32_t i = 0; i < s.u.test.n; i++) {
		/* an old seqid only says that a request has come in between */
		if (s.u.test.code[i] == NFS4_OK || s.u.test.code[i] == NFS4ERR_OLD_STATEID)
			continue;
		log_ctrl("%s: a lock state is %s", c->server, nfs4_status_name(s.u.test.code[i]));
		f.u.free_id = s.u.test.ids[i];
		nfs4_sync_run(c, &f, NFS4_K_FREE_STATEID, STEP_MS);
		pthread_mutex_lock(&c->locks.lock);
		ctx[i]->suspect = true;
		pthread_mutex_unlock(&c->locks.lock);
	}
}

void nfs4_lock_test(struct nfs4_client *c)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);

	for (size_t i = 0; i < n && !nfs4_state_stopping(c); i += TEST_BATCH)
		test_batch(c, list + i, n - i < TEST_BATCH ? (uint32_t)(n - i) : TEST_BATCH);
	for (size_t i = 0; i < n; i++)
		nfs4_lockctx_unref(c, list[i]);
	free(list);
}
