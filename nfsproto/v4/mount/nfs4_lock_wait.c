/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_wait: requests that wait for a lock: in which order they ask again, and which events
 * wake them.
 *
 * A waiting request asks the server again after 100 ms, then after twice as long each time, up to 2
 * s. An unlock through this mount and CB_NOTIFY_LOCK cut the pause short. Only the state manager's
 * thread moves a request from PARKED to READY, so a callback or a completion only sets a flag.
 */
#include "nfsproto/v4/mount/nfs4_lock_wait.h"

#include <fcntl.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"

bool nfs4_lock_behind_locked(struct nfs4_client *c, const struct nfs4_lockreq *req)
{
	const struct nfs4_lockreq *w;

	TAILQ_FOREACH (w, &c->locks.waiters, wait_link) {
		if (w == req)
			return false;
		if (nfs4_lock_wanted(w) && w->ctx != req->ctx && w->start <= req->end &&
			w->end >= req->start && (w->type == F_WRLCK || req->type == F_WRLCK) &&
			nfs_fh_equal(&w->ctx->fh, &req->ctx->fh))
			return true;
	}
	return false;
}

void nfs4_lock_park_locked(struct nfs4_client *c, struct nfs4_lockreq *req, unsigned ms)
{
	if (!req->waiting)
		TAILQ_INSERT_TAIL(&c->locks.waiters, req, wait_link);
	req->waiting = true;
	req->state = NFS4_LR_PARKED;
	req->due_ns = req->again ? 0 : clock_ns() + ms * NFS4_MSEC;
	req->again = false;
	req->ctx->nparked++;
	nfs4_state_poll(c->srv);
}

void nfs4_lock_unwait_locked(struct nfs4_client *c, struct nfs4_lockreq *req)
{
	if (!req->waiting)
		return;
	TAILQ_REMOVE(&c->locks.waiters, req, wait_link);
	req->waiting = false;
	if (req->state == NFS4_LR_PARKED)
		req->ctx->nparked--;
	req->state = NFS4_LR_READY;
}

static void wake(struct nfs4_lockreq *req) REQUIRES(NFS4_LOCKS)
{
	if (req->state == NFS4_LR_PARKED)
		req->due_ns = 0;
	else
		req->again = true;
}

void nfs4_lock_wake_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t start, uint64_t end)
{
	struct nfs4_lockreq *w;
	bool any = false;

	TAILQ_FOREACH (w, &c->locks.waiters, wait_link) {
		if (w->start > end || w->end < start || !nfs_fh_equal(&w->ctx->fh, fh) ||
			nfs4_lock_behind_locked(c, w))
			continue;
		wake(w);
		any = true;
	}
	if (any)
		nfs4_state_poll(c->srv);
}

void nfs4_lock_notify(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
	struct nfs4_lockreq *w;
	uint64_t number;

	if (owner->len != sizeof(number))
		return;
	memcpy(&number, owner->data, sizeof(number));
	mutex_lock(&c->locks.lock);
	TAILQ_FOREACH (w, &c->locks.waiters, wait_link)
		if (w->ctx->number == number && nfs_fh_equal(&w->ctx->fh, fh))
			wake(w);
	nfs4_state_poll(c->srv);
	mutex_unlock(&c->locks.lock);
}
