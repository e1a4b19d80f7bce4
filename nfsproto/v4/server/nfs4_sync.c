/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_sync: blocking calls. Model: nfs4_sync.h.
 */
#include "nfsproto/v4/server/nfs4_sync.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"

#define PUMP_MS 50u

static void sync_done(struct nfs_op *op)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);

	mutex_lock(&s->lock);
	s->status = op->be.v4.status;
	s->walked = op->be.v4.walked;
	s->ended = true;
	pthread_cond_signal(&s->cond);
	mutex_unlock(&s->lock);
}

/* Is srv wanted no more, on the thread that makes srv? */
static bool is_aborted(const struct nfs4_server *srv)
{
	struct pollfd p = {.fd = srv->rp.abort_fd, .events = POLLIN};

	return srv->rp.abort_fd > 0 && poll(&p, 1, 0) > 0;
}

/* Waits for the end. True if the end came within ms. Keeps ending the cancelled ops that wait for
 * the state manager's thread. */
static bool sync_wait(struct nfs4_server *srv, struct nfs4_sync *s, unsigned ms, bool manager)
{
	uint64_t until = clock_ns() + ms * NFS4_MSEC;
	bool ended = false;

	while (!ended && clock_ns() < until && (manager || !is_aborted(srv))) {
		struct timespec t = clock_timespec(clock_ns() + PUMP_MS * NFS4_MSEC);

		mutex_lock(&s->lock);
		while (!s->ended && cond_timedwait(&s->cond, &s->lock, &t) == 0)
			;
		ended = s->ended;
		mutex_unlock(&s->lock);
		nfs4_task_pump(srv);
	}
	return ended;
}

static void sync_join(struct nfs4_sync *s)
{
	mutex_lock(&s->lock);
	while (!s->ended)
		cond_wait(&s->cond, &s->lock);
	mutex_unlock(&s->lock);
}

int nfs4_sync_run_as(struct nfs4_conn *conn, struct nfs4_user *u, const struct rpc_cred *cred,
	struct nfs_open *o, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms)
{
	struct nfs4_slot *slot = kind == NFS4_K_SEQUENCE ? s->op.slot : NULL;
	struct nfs4_server *srv = conn->srv;
	bool in_time, manager;

	memset(&s->op, 0, sizeof(s->op));
	s->op.type = NFS_OP_TYPES;
	s->op.cred = *cred;
	s->op.done = sync_done;
	nfs4_task_bind(&s->op, conn, u, kind);
	s->op.be.v4.flags = NFS4_F_PRIV | (slot ? NFS4_F_SLOT_SET : 0);
	s->op.be.v4.open = o;
	s->op.slot = slot;
	mutex_init(&s->lock);
	s->ended = false;
	clock_cond_init(&s->cond);

	mutex_lock(&srv->slots.lock);
	manager = srv->thread_up && pthread_equal(pthread_self(), srv->thread);
	if (manager || !srv->thread_up)
		s->op.be.v4.flags |= NFS4_F_PASSES;
	if (manager) {
		srv->sync = &s->op;
		s->op.be.v4.cancelled = srv->stop_thread || srv->visit_cancelled;
	}
	mutex_unlock(&srv->slots.lock);
	nfs4_task_start(&s->op);
	in_time = sync_wait(srv, s, timeout_ms, manager);
	mutex_lock(&srv->slots.lock);
	if (!in_time)
		nfs4_task_cancel_locked(&s->op);
	mutex_unlock(&srv->slots.lock);
	sync_join(s);
	if (manager) {
		mutex_lock(&srv->slots.lock);
		srv->sync = NULL;
		mutex_unlock(&srv->slots.lock);
	}
	pthread_cond_destroy(&s->cond);
	mutex_destroy(&s->lock);
	if (!in_time && s->op.error == -EINTR)
		s->op.error = -ETIMEDOUT;
	return s->op.error;
}

int nfs4_sync_run(struct nfs4_server *srv, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms)
{
	return nfs4_sync_run_as(nfs4_server_conn(srv), NULL, &srv->cred, NULL, s, kind, timeout_ms);
}
