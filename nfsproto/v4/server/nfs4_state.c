/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state: the state manager, one thread per server.
 *
 *     RUNNING --BADSESSION, ...--> DRAINING --all requests home--> SESSION ------------> RUNNING
 *                                     |                             |    ^                  ^
 *                                     \-- client ID lost too --> CLIENT_ID                  |
 *                                                                        \--> RECLAIM ------/
 *
 * Work arrives as bits in srv->todo. Work that makes the session unusable closes the gate in the
 * same moment (nfs4_state_want_locked), so that no request is sent in vain. Requests that were
 * under way come home with errors and wait at the gate. Draining waits for all of these, so that a
 * new session never meets a reply of the old one.
 *
 * The thread also owns time. The thread starts delayed ops when they are due. If no other request
 * has renewed the lease for a third of the lease time, the thread renews the lease with a SEQUENCE
 * of its own. The thread also ends cancelled ops, so that nfs_cancel() never calls back.
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

#define PROBE_NS       (100 * NFS4_MSEC)
#define CHECK_NS       (1 * NFS4_SEC) /* before the next attempt at state that could not be checked */
#define VISIT_NS       (2 * NFS4_SEC) /* time that a visit may go on when its user wants to leave */
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
	pthread_mutex_lock(&srv->slots.lock);
	if (srv->state != s)
		log_ctrl("%s: state %s -> %s", srv->name, nfs4_state_name(srv->state),
			nfs4_state_name(s));
	srv->state = s;
	pthread_mutex_unlock(&srv->slots.lock);
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
	pthread_mutex_lock(&srv->slots.lock);
	nfs4_state_want_locked(srv, todo);
	pthread_mutex_unlock(&srv->slots.lock);
}

void nfs4_state_poll(struct nfs4_server *srv)
{
	pthread_mutex_lock(&srv->slots.lock);
	srv->poll_wanted = true;
	pthread_cond_signal(&srv->wake);
	pthread_mutex_unlock(&srv->slots.lock);
}

void nfs4_conn_unbound(struct nfs4_conn *conn)
{
	pthread_mutex_lock(&conn->srv->slots.lock);
	atomic_store_explicit(&conn->unbound, true, memory_order_relaxed);
	nfs4_state_want_locked(conn->srv, NFS4_TODO_BIND);
	pthread_mutex_unlock(&conn->srv->slots.lock);
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
		nfs4_conn_unbound(conn);
		return true;
	default:
		return false;
	}
}

void nfs4_state_flags(struct nfs4_server *srv, uint32_t flags, uint64_t sent_ns)
{
	uint32_t todo = 0, fresh;
	uint64_t now = clock_ns();

	pthread_mutex_lock(&srv->slots.lock);
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
		for (unsigned i = 0; i < srv->nconns; i++)
			if (srv->conn[i].back)
				atomic_store_explicit(
					&srv->conn[i].unbound, true, memory_order_relaxed);
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
	pthread_mutex_unlock(&srv->slots.lock);
	if (fresh)
		log_ctrl("%s: SEQUENCE status flags 0x%x", srv->name, flags);
}

void nfs4_state_delay(struct nfs_op *op, unsigned ms)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs_op *at;
	bool ends;

	op->due_ns = clock_ns() + ms * NFS4_MSEC;
	pthread_mutex_lock(&srv->slots.lock);
	if (nfs4_task_stopping_locked(op)) { /* perhaps no thread is left to start op */
		nfs4_state_end_later_locked(srv, op, -ENOTCONN);
		pthread_mutex_unlock(&srv->slots.lock);
		return;
	}
	nfs4_task_state_locked(op, NFS4_T_DELAYED);
	TAILQ_FOREACH_REVERSE(at, &srv->delayed, nfs4_delayed, link)
	if (at->due_ns <= op->due_ns)
		break;
	if (at)
		TAILQ_INSERT_AFTER(&srv->delayed, at, op, link);
	else
		TAILQ_INSERT_HEAD(&srv->delayed, op, link);
	ends = op->be.v4.cancelled && !nfs4_task_asks_on_locked(op);
	if (!at || ends)
		pthread_cond_signal(&srv->wake);
	if (ends) {
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_state_end_later_locked(srv, op, -EINTR);
	}
	pthread_mutex_unlock(&srv->slots.lock);
}

struct nfs_op *nfs4_state_due_locked(struct nfs4_server *srv, uint64_t now)
{
	struct nfs_op *op = TAILQ_FIRST(&srv->delayed);

	if (!op || op->due_ns > now)
		return NULL;
	TAILQ_REMOVE(&srv->delayed, op, link);
	nfs4_task_state_locked(op, NFS4_T_DUE);
	return op;
}

void nfs4_state_end_later_locked(struct nfs4_server *srv, struct nfs_op *op, int error)
{
	nfs4_task_state_locked(op, NFS4_T_ENDING);
	op->error = error;
	TAILQ_INSERT_TAIL(&srv->ended, op, link);
	pthread_cond_signal(&srv->wake);
}

void nfs4_state_pump(struct nfs4_server *srv)
{
	struct nfs_op *op;

	do {
		pthread_mutex_lock(&srv->slots.lock);
		op = TAILQ_FIRST(&srv->ended);
		if (op)
			TAILQ_REMOVE(&srv->ended, op, link);
		pthread_mutex_unlock(&srv->slots.lock);
		if (op)
			nfs4_task_end(op, op->error);
	} while (op);
}

/* --- waiting in the thread ----------------------------------------------------------------- */

void nfs4_state_wait_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t ns)
{
	struct timespec t = clock_timespec(ns);

	pthread_cond_timedwait(cond, lock, &t);
}

/* A pause between attempts; false if the thread is to stop. */
bool nfs4_state_pause(struct nfs4_server *srv, uint64_t ns)
{
	uint64_t until = clock_ns() + ns;
	bool stop;

	pthread_mutex_lock(&srv->slots.lock);
	while (!srv->stop_thread && clock_ns() < until) {
		nfs4_state_wait_locked(&srv->wake, &srv->slots.lock, until);
		pthread_mutex_unlock(&srv->slots.lock);
		nfs4_state_pump(srv);
		pthread_mutex_lock(&srv->slots.lock);
	}
	stop = srv->stop_thread;
	pthread_mutex_unlock(&srv->slots.lock);
	return !stop;
}

bool nfs4_state_stopping(struct nfs4_server *srv)
{
	bool stop;

	pthread_mutex_lock(&srv->slots.lock);
	stop = srv->stop_thread;
	pthread_mutex_unlock(&srv->slots.lock);
	return stop;
}

/* --- the thread ---------------------------------------------------------------------------- */

static void renew_done(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	pthread_mutex_lock(&srv->slots.lock);
	srv->renewing = false;
	pthread_mutex_unlock(&srv->slots.lock);
}

static void renew_start(struct nfs4_server *srv)
{
	memset(&srv->renew, 0, sizeof(srv->renew));
	srv->renew.type = NFS_OP_TYPES;
	srv->renew.cred = srv->cred;
	srv->renew.done = renew_done;
	nfs4_task_bind(&srv->renew, nfs4_server_conn(srv), NULL, NFS4_K_SEQUENCE);
	nfs4_task_start(&srv->renew);
}

/* --- users ----------------------------------------------------------------------------------- */

struct nfs4_user *nfs4_state_visit(struct nfs4_server *srv, struct nfs4_user *u)
{
	pthread_mutex_lock(&srv->slots.lock);
	u = u ? TAILQ_NEXT(u, link) : TAILQ_FIRST(&srv->users);
	while (u && u->stopping)
		u = TAILQ_NEXT(u, link);
	if (srv->visited)
		pthread_cond_broadcast(&srv->slots.idle);
	srv->visited = u;
	pthread_mutex_unlock(&srv->slots.lock);
	return u;
}

void nfs4_state_visit_end(struct nfs4_server *srv)
{
	pthread_mutex_lock(&srv->slots.lock);
	srv->visited = NULL;
	pthread_cond_broadcast(&srv->slots.idle);
	pthread_mutex_unlock(&srv->slots.lock);
}

void nfs4_server_quit(struct nfs4_server *srv, struct nfs4_user *u)
{
	uint64_t until = clock_ns() + VISIT_NS;

	pthread_mutex_lock(&srv->slots.lock);
	u->stopping = true;
	while (srv->visited == u && clock_ns() < until)
		nfs4_state_wait_locked(&srv->slots.idle, &srv->slots.lock, until);
	if (srv->visited == u) {
		srv->visit_cancelled = true;
		if (srv->sync)
			nfs4_task_cancel_locked(&srv->sync->op);
	}
	while (srv->visited == u)
		pthread_cond_wait(&srv->slots.idle, &srv->slots.lock);
	srv->visit_cancelled = false;
	pthread_mutex_unlock(&srv->slots.lock);
}

/* Has each user check the state that the server may have revoked. */
static void see_to_users(struct nfs4_server *srv)
{
	bool revoked = atomic_load(&srv->revoking), unknown = false, later = false;
	struct nfs4_user *u = NULL;

	while ((u = nfs4_state_visit(srv, u))) {
		if (revoked)
			unknown |= u->up->revoked(u);
		later |= u->up->check(u);
	}
	pthread_mutex_lock(&srv->slots.lock);
	srv->check_ns = later || unknown ? clock_ns() + CHECK_NS : 0;
	if (revoked)
		atomic_store(&srv->revoking, unknown || (srv->todo & NFS4_TODO_REVOKED));
	pthread_mutex_unlock(&srv->slots.lock);
}

/* Does one thing that is due; false if nothing is, then *next is when to look again. */
static bool work_once(struct nfs4_server *srv, uint64_t *next)
{
	uint64_t lease_ns = atomic_load_explicit(&srv->lease_s, memory_order_relaxed) * NFS4_SEC;
	uint64_t renew_ns =
		atomic_load_explicit(&srv->renewed_ns, memory_order_relaxed) + lease_ns / 3;
	uint64_t now = clock_ns(), user_due = now + 10 * NFS4_SEC;
	struct nfs4_user *u = NULL;
	struct nfs_op *op;
	uint32_t todo;

	nfs4_state_pump(srv);
	pthread_mutex_lock(&srv->slots.lock);
	srv->poll_wanted = false;
	pthread_mutex_unlock(&srv->slots.lock);
	while ((u = nfs4_state_visit(srv, u))) {
		if (u->up->poll(u, now, &user_due)) {
			nfs4_state_visit_end(srv);
			return true;
		}
	}
	pthread_mutex_lock(&srv->slots.lock);
	op = nfs4_state_due_locked(srv, now);
	if (op) {
		pthread_mutex_unlock(&srv->slots.lock);
		nfs4_task_start(op);
		return true;
	}
	op = TAILQ_FIRST(&srv->delayed);
	todo = srv->todo;
	srv->todo = 0;
	if (srv->check_ns && srv->check_ns <= now) {
		srv->check_ns = 0;
		todo |= NFS4_TODO_CHECK;
	}
	if (srv->slots.ndoubtful && srv->probe_ns <= now && srv->slots.gate_open)
		todo |= NFS4_TODO_PROBE;
	*next = op && op->due_ns < user_due ? op->due_ns : user_due;
	if (srv->check_ns && srv->check_ns < *next)
		*next = srv->check_ns;
	if (srv->slots.ndoubtful && srv->slots.gate_open && srv->probe_ns < *next)
		*next = srv->probe_ns;
	if (!todo && !srv->renewing && srv->slots.gate_open) {
		if (renew_ns <= now) {
			srv->renewing = true;
			pthread_mutex_unlock(&srv->slots.lock);
			renew_start(srv);
			return true;
		}
		if (renew_ns < *next)
			*next = renew_ns;
	}
	if (srv->renewing && now + lease_ns / 3 < *next)
		*next = now +
			lease_ns / 3; /* the answer to the renewal does not wake this thread */
	if (todo & NFS4_TODO_PROBE)
		srv->probe_ns = now + PROBE_NS;
	pthread_mutex_unlock(&srv->slots.lock);

	if (todo & NFS4_TODO_GATE)
		nfs4_recover_session(srv, todo);
	if (todo & NFS4_TODO_BIND)
		nfs4_recover_bind(srv);
	if (todo & NFS4_TODO_PROBE)
		nfs4_recover_probe(srv);
	if (todo & (NFS4_TODO_REVOKED | NFS4_TODO_CHECK))
		see_to_users(srv);
	return todo != 0;
}

static void *state_main(void *arg)
{
	struct nfs4_server *srv = arg;

	pthread_mutex_lock(&srv->slots.lock);
	while (!srv->stop_thread) {
		uint64_t next;
		bool more;

		pthread_mutex_unlock(&srv->slots.lock);
		more = work_once(srv, &next);
		pthread_mutex_lock(&srv->slots.lock);
		if (!more && !srv->stop_thread && !srv->todo && !srv->poll_wanted &&
			TAILQ_EMPTY(&srv->ended) &&
			(TAILQ_EMPTY(&srv->delayed) || TAILQ_FIRST(&srv->delayed)->due_ns >= next))
			nfs4_state_wait_locked(&srv->wake, &srv->slots.lock, next);
	}
	pthread_mutex_unlock(&srv->slots.lock);
	return NULL;
}

int nfs4_state_start(struct nfs4_server *srv)
{
	int rc;

	pthread_mutex_lock(&srv->slots.lock);
	srv->state = NFS4_S_RUNNING;
	nfs4_slots_open_locked(&srv->slots);
	rc = pthread_create(&srv->thread, NULL, state_main, srv);
	srv->thread_up = rc == 0;
	pthread_mutex_unlock(&srv->slots.lock);
	return -rc;
}

void nfs4_state_stop(struct nfs4_server *srv)
{
	if (!srv->thread_up)
		return;
	pthread_mutex_lock(&srv->slots.lock);
	srv->stop_thread = true;
	if (srv->sync)
		nfs4_task_cancel_locked(&srv->sync->op);
	pthread_cond_broadcast(&srv->wake);
	pthread_cond_broadcast(&srv->slots.idle);
	pthread_mutex_unlock(&srv->slots.lock);
	pthread_join(srv->thread, NULL);
	nfs4_state_set(srv, NFS4_S_STOPPED);
	srv->thread_up = false; /* no other thread is left */
}
