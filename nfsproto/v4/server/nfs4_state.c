/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state: the work that the state manager is to do. Model: nfs4_state.h.
 */
#include "nfsproto/v4/server/nfs4_state.h"

#include "transport/clock.h"
#include "transport/log.h"

#define FLAGS_AGAIN_NS (5 * NFS4_SEC) /* how often to act upon a status flag that stays set */

#define REVOKED_FLAGS                                                                              \
	((uint32_t)SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED |                                         \
		SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED | SEQ4_STATUS_ADMIN_STATE_REVOKED |         \
		SEQ4_STATUS_RECALLABLE_STATE_REVOKED)

const char *nfs4_state_name(enum nfs4_state s)
{
	static const char *const names[] = {
		[NFS4_S_NEW] = "new",
		[NFS4_S_RUNNING] = "running",
		[NFS4_S_DRAINING] = "draining",
		[NFS4_S_CLIENT_ID] = "client ID",
		[NFS4_S_SESSION] = "session",
		[NFS4_S_RECLAIM] = "reclaim",
		[NFS4_S_STOPPED] = "stopped",
	};

	return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

void nfs4_state_set(struct nfs4_server *srv, enum nfs4_state s)
{
	mutex_lock(&srv->slots.lock);
	if (srv->state != s)
		log_ctrl("%s: state %s -> %s", srv->name, nfs4_state_name(srv->state),
			nfs4_state_name(s));
	srv->state = s;
	mutex_unlock(&srv->slots.lock);
}

/* --- asking for work ----------------------------------------------------------------------- */

void nfs4_state_want_locked(struct nfs4_server *srv, uint32_t todo)
{
	if (srv->state != NFS4_S_RUNNING)
		todo &= ~(uint32_t)(NFS4_TODO_GATE | NFS4_TODO_DESTROY); /* under way */
	if ((srv->todo | todo) == srv->todo)
		return;
	srv->todo |= todo;
	if (todo & NFS4_TODO_REVOKED)
		atomic_store(&srv->revoking, true);
	if (todo & NFS4_TODO_GATE)
		nfs4_slots_close_locked(&srv->slots);
	pthread_cond_signal(&srv->wake);
}

void nfs4_state_want(struct nfs4_server *srv, uint32_t todo)
{
	mutex_lock(&srv->slots.lock);
	nfs4_state_want_locked(srv, todo);
	mutex_unlock(&srv->slots.lock);
}

void nfs4_state_poll(struct nfs4_server *srv)
{
	mutex_lock(&srv->slots.lock);
	srv->poll_wanted = true;
	pthread_cond_signal(&srv->wake);
	mutex_unlock(&srv->slots.lock);
}

void nfs4_state_unbound(struct nfs4_conn *conn)
{
	mutex_lock(&conn->srv->slots.lock);
	nfs4_server_unbound_locked(conn, true);
	nfs4_state_want_locked(conn->srv, NFS4_TODO_BIND);
	mutex_unlock(&conn->srv->slots.lock);
}

bool nfs4_state_doubt(struct nfs4_conn *conn, uint32_t status)
{
	switch (status) {
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
		nfs4_state_want(conn->srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
		return true;
	case NFS4ERR_STALE_CLIENTID:
		nfs4_state_want(conn->srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
		return true;
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
		nfs4_state_unbound(conn);
		return true;
	default:
		return false;
	}
}

void nfs4_state_flags(struct nfs4_server *srv, uint32_t flags, uint64_t sent_ns)
{
	uint32_t todo = 0, fresh;
	uint64_t now = clock_ns();

	mutex_lock(&srv->slots.lock);
	if (clock_age(now, srv->flags_ns) > FLAGS_AGAIN_NS) {
		srv->flags_seen = 0;
		srv->flags_ns = now;
	}
	if (srv->state != NFS4_S_RUNNING) /* the server repeats the others on the new session */
		flags &= REVOKED_FLAGS;
	if (sent_ns > srv->revoked_ns) /* a flag that the server has dropped may come again */
		srv->flags_seen &= flags | ~REVOKED_FLAGS;
	fresh = flags & ~srv->flags_seen;
	srv->flags_seen |= flags;
	if (fresh & (SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION)) {
		/* not held back: ops may use a connection without a backchannel */
		for (unsigned i = 0; i < srv->nconns; i++)
			atomic_store_explicit(&srv->conn[i].unbound, true, memory_order_relaxed);
		todo |= NFS4_TODO_BIND;
	}
	if (fresh & SEQ4_STATUS_BACKCHANNEL_FAULT)
		todo |= NFS4_TODO_SESSION | NFS4_TODO_DESTROY;
	if (fresh & SEQ4_STATUS_RESTART_RECLAIM_NEEDED)
		todo |= NFS4_TODO_SESSION | NFS4_TODO_CLIENT | NFS4_TODO_DESTROY;
	if (fresh & REVOKED_FLAGS) {
		todo |= NFS4_TODO_REVOKED;
		srv->revoked_ns = now;
	}
	if (todo)
		nfs4_state_want_locked(srv, todo);
	mutex_unlock(&srv->slots.lock);
	if (fresh & SEQ4_STATUS_LEASE_MOVED) {
		atomic_store(&srv->lease_moved, true);
		nfs4_state_poll(srv);
	}
	if (fresh)
		log_ctrl("%s: SEQUENCE status flags 0x%x", srv->name, flags);
}

void nfs4_state_wait_locked(pthread_cond_t *cond, struct mutex *lock, uint64_t ns)
{
	struct timespec t = clock_timespec(ns);

	cond_timedwait(cond, lock, &t);
}

bool nfs4_state_stopping(struct nfs4_server *srv)
{
	bool stop;

	mutex_lock(&srv->slots.lock);
	stop = srv->stop_thread;
	mutex_unlock(&srv->slots.lock);
	return stop;
}

/* --- users ----------------------------------------------------------------------------------- */

struct nfs4_user *nfs4_state_visit(struct nfs4_server *srv, struct nfs4_user *u)
{
	mutex_lock(&srv->slots.lock);
	u = u ? TAILQ_NEXT(u, link) : TAILQ_FIRST(&srv->users);
	while (u && u->stopping)
		u = TAILQ_NEXT(u, link);
	if (srv->visited)
		pthread_cond_broadcast(&srv->slots.idle);
	srv->visited = u;
	mutex_unlock(&srv->slots.lock);
	return u;
}

void nfs4_state_visit_end(struct nfs4_server *srv)
{
	mutex_lock(&srv->slots.lock);
	srv->visited = NULL;
	pthread_cond_broadcast(&srv->slots.idle);
	mutex_unlock(&srv->slots.lock);
}
