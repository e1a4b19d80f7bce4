/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_recover: the state manager's recovery after a loss. Model: nfs4_recover.h.
 */
#include "nfsproto/v4/server/nfs4_recover.h"

#include <errno.h>

#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_server_record.h"
#include "nfsproto/v4/server/nfs4_session_ops.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define BIND_MS	    2000u  /* likewise, to bind one of several connections */
#define PROVE_MAX_S 60u	   /* between two looks at the server behind an address */
#define STEP_MS	    60000u /* most time for one step before the next attempt */
#define LEAVE_MS    10000u /* the same, for a server that may be left */
#define RETRY_NS    (1 * NFS4_SEC)
#define PUMP_NS	    (50 * NFS4_MSEC) /* cancelled and delayed ops wait no longer than so */

/* Most time for one step. A server that a user may leave is not waited for for long. */
static unsigned step_ms(const struct nfs4_server *srv)
{
	return srv->may_leave ? LEAVE_MS : STEP_MS;
}

/* Does a user have the connections go to another server, because this one is silent? */
static bool leaves(struct nfs4_server *srv)
{
	struct nfs4_user *u = NULL;
	bool left = false;

	while (srv->may_leave && !left && (u = nfs4_state_visit(srv, u)))
		left = u->up->leave && u->up->leave(u, clock_ns());
	if (left)
		nfs4_state_visit_end(srv);
	return left;
}

bool nfs4_recover_undecided(uint32_t status)
{
	switch (status) {
	case NFS4_OK: /* there was no answer */
	case NFS4ERR_DELAY:
	case NFS4ERR_GRACE:
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_BADSESSION: /* here and below: said of SEQUENCE */
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
		return true;
	default:
		return false;
	}
}

bool nfs4_recover_pause(struct nfs4_server *srv, uint64_t ns)
{
	uint64_t until = clock_ns() + ns;
	bool stop;

	mutex_lock(&srv->slots.lock);
	while (!srv->stop_thread && clock_ns() < until) {
		nfs4_state_wait_locked(&srv->wake, &srv->slots.lock, until);
		mutex_unlock(&srv->slots.lock);
		nfs4_task_pump(srv);
		mutex_lock(&srv->slots.lock);
	}
	stop = srv->stop_thread;
	mutex_unlock(&srv->slots.lock);
	return !stop;
}

/* --- session and client ID ----------------------------------------------------------------- */

/* Ends the ops that wait, of users that wait for no session. */
static void end_hasty(struct nfs4_server *srv)
{
	struct nfs4_user *u = NULL;

	while ((u = nfs4_state_visit(srv, u)))
		if (u->hasty)
			nfs4_task_fail_queued(srv, u);
}

/* Waits behind the closed gate until no request is under way. False: the thread is to stop. *left:
 * a user has left the server meanwhile. */
static bool drain(struct nfs4_server *srv, bool *left)
{
	bool stop;

	mutex_lock(&srv->slots.lock);
	while (srv->slots.nbusy > 0 && !srv->stop_thread) {
		uint64_t now = clock_ns();
		struct nfs_op *op, *due;

		TAILQ_FOREACH (op, &srv->delayed, link) /* an op with a kept slot */
			if (!nfs4_task_asks_old(op))
				nfs4_task_give_up_slot_locked(op);
		due = nfs4_task_due_locked(srv, now);
		if (!due)
			nfs4_state_wait_locked(&srv->slots.idle, &srv->slots.lock, now + PUMP_NS);
		mutex_unlock(&srv->slots.lock);
		if (due)
			nfs4_task_start(due);
		nfs4_task_pump(srv);
		*left |= leaves(srv);
		mutex_lock(&srv->slots.lock);
	}
	stop = srv->stop_thread;
	mutex_unlock(&srv->slots.lock);
	return !stop;
}

static bool is_elsewhere(struct nfs4_conn *conn);

/* Calls about a session go over nfs4_server_conn(). Has that connection just come back, from an
 * address that has become another server's? Then it is apart from now on. */
static bool is_misled(struct nfs4_server *srv)
{
	struct nfs4_conn *conn = nfs4_server_conn(srv);

	return rpc_client_is_up(conn->rpc) && !rpc_client_is_ready(conn->rpc) && is_elsewhere(conn);
}

/* One attempt at the work that *todo still asks for; a bit is cleared as its work is done. */
static int renew_session(struct nfs4_server *srv, uint32_t *todo, bool *reclaim)
{
	struct nfs4_sync s;
	uint64_t before = srv->clientid;
	int rc;

	while (is_misled(srv)) /* and perhaps it was that server that knew no session to destroy */
		*todo |= NFS4_TODO_DESTROY;
	if (*todo & NFS4_TODO_DESTROY) {
		/* Also a session that the server has called bad: if the session exists after all,
		 * the server would later refuse to destroy the client ID. */
		nfs4_sync_run(srv, &s, NFS4_K_DESTROY_SESSION, step_ms(srv));
		*todo &= ~NFS4_TODO_DESTROY;
	}
	if (*todo & NFS4_TODO_CLIENT) {
		nfs4_state_set(srv, NFS4_S_CLIENT_ID);
		rc = nfs4_sync_exchange_id(srv, &s, step_ms(srv));
		if (rc)
			return rc;
		if (!srv->confirmed || before != srv->clientid)
			*reclaim = true;
		*todo &= ~NFS4_TODO_CLIENT;
	}
	nfs4_state_set(srv, NFS4_S_SESSION);
	srv->reclaiming = *reclaim;
	rc = nfs4_sync_create_session(srv, &s, step_ms(srv));
	if (rc && (s.status == NFS4ERR_STALE_CLIENTID || s.status == NFS4ERR_SEQ_MISORDERED))
		*todo |= NFS4_TODO_CLIENT;
	return rc;
}

/* All users get their state again. False: nothing is left to be reclaimed here, since a user has
 * moved on. */
static bool reclaim_users(struct nfs4_server *srv)
{
	struct nfs4_user *u = NULL;

	while ((u = nfs4_state_visit(srv, u)))
		if (u->up->reclaim(u)) {
			nfs4_state_visit_end(srv);
			return false;
		}
	return true;
}

/* All steps that follow a new client ID. False: a user has moved on, the server's verdict on
 * RECLAIM_COMPLETE is not known, or the session is gone again: all steps once more, with another
 * session: *todo. Without a RECLAIM_COMPLETE the server opens nothing for us any more (RFC 8881
 * 18.51.3). */
static bool reclaim_all(struct nfs4_server *srv, uint32_t *todo)
{
	struct nfs4_sync s;
	int rc;

	*todo = NFS4_TODO_DESTROY;
	nfs4_state_set(srv, NFS4_S_RECLAIM);
	if (!reclaim_users(srv)) {
		*todo |= NFS4_TODO_CLIENT;
		return false;
	}
	while ((rc = nfs4_sync_run(srv, &s, NFS4_K_RECLAIM_COMPLETE, step_ms(srv))) != 0 &&
		s.status == NFS4ERR_DELAY)
		if (!nfs4_recover_pause(srv, RETRY_NS))
			return false;
	if (s.status == NFS4_OK)
		return rc == 0 || rc == -EREMOTEIO;
	if (s.status != NFS4ERR_GRACE && nfs4_recover_undecided(s.status))
		return false;
	log_warn("%s: RECLAIM_COMPLETE was answered %s", srv->name, nfs4_status_name(s.status));
	return true;
}

bool nfs4_recover_session(struct nfs4_server *srv, uint32_t todo)
{
	bool reclaim, left = false;
	uint64_t wait = 50 * NFS4_MSEC;

	nfs4_state_set(srv, NFS4_S_DRAINING);
	end_hasty(srv);
	if (!drain(srv, &left))
		return false;
	if (left)
		todo = (todo & ~NFS4_TODO_DESTROY) | NFS4_TODO_CLIENT;
	reclaim = todo & NFS4_TODO_CLIENT;
	while (renew_session(srv, &todo, &reclaim) || (reclaim && !reclaim_all(srv, &todo))) {
		end_hasty(srv);
		if (!nfs4_recover_pause(srv, wait))
			return false;
		if (leaves(srv)) {
			todo = (todo & ~NFS4_TODO_DESTROY) | NFS4_TODO_CLIENT;
			reclaim = true;
			wait = 50 * NFS4_MSEC;
			continue;
		}
		wait = wait * 2 < 5 * NFS4_SEC ? wait * 2 : 5 * NFS4_SEC;
	}
	if (srv->reclaiming) {
		srv->reclaiming = false;
		nfs4_server_note(srv);
	}
	mutex_lock(&srv->slots.lock);
	srv->state = NFS4_S_RUNNING;
	if (!(srv->todo & NFS4_TODO_GATE))
		nfs4_slots_open_locked(&srv->slots);
	mutex_unlock(&srv->slots.lock);
	nfs4_task_kick(srv);
	return true;
}

/* A connection among several may be lost again at any moment, and its BIND_CONN_TO_SESSION cannot
 * take another. The state manager has other work. */
static unsigned bind_ms(const struct nfs4_server *srv)
{
	return srv->nconns > 1 ? BIND_MS : step_ms(srv);
}

/* conn is to be bound later, and held back until then. */
static void bind_later(struct nfs4_conn *conn)
{
	mutex_lock(&conn->srv->slots.lock);
	nfs4_server_unbound_locked(conn, true);
	mutex_unlock(&conn->srv->slots.lock);
}

/* conn leads to another server for now, or its server does not answer: conn is asked again after a
 * pause that grows, since the address may become the server's. */
static void prove_later(struct nfs4_conn *conn, bool elsewhere)
{
	struct nfs4_server *srv = conn->srv;

	if (elsewhere && !conn->wait_s)
		log_info("%s: connection %td leads to another server", srv->name,
			conn - srv->conn + 1);
	conn->wait_s = conn->wait_s ? 2 * conn->wait_s : 1;
	if (conn->wait_s > PROVE_MAX_S)
		conn->wait_s = PROVE_MAX_S;
	conn->due_ns = clock_ns() + conn->wait_s * NFS4_SEC;
}

/* Does conn, which is apart, lead to the server? */
static bool prove(struct nfs4_conn *conn)
{
	struct nfs4_sync s;
	int rc;

	if (!conn->other)
		return true;
	rc = clock_ns() < conn->due_ns ? -EAGAIN : nfs4_sync_same_server(conn, &s, BIND_MS);
	if (rc == 0)
		return true;
	if (rc == -EXDEV && conn->told && !s.u.exchange_id.same) {
		log_info("%s: connection %td leads to another server, and is given up",
			conn->srv->name, conn - conn->srv->conn + 1);
		nfs4_conn_give_up(conn);
		return false;
	}
	if (rc != -EAGAIN)
		prove_later(conn, rc == -EXDEV);
	if (!atomic_load(&conn->down))
		bind_later(conn);
	return false;
}

/* The server behind conn does not know the session. If the address has become another server's,
 * conn is apart from now on: no op goes there, not even if all other connections are lost. */
static bool is_elsewhere(struct nfs4_conn *conn)
{
	struct nfs4_sync s;

	if (!conn->other || nfs4_sync_same_server(conn, &s, BIND_MS) != -EXDEV ||
		s.u.exchange_id.same)
		return false;
	rpc_paths_leave(&conn->srv->paths, conn->rpc);
	atomic_store(&conn->apart, true);
	prove_later(conn, true);
	bind_later(conn);
	return true;
}

static void bind_conn(struct nfs4_conn *conn)
{
	bool apart = atomic_load(&conn->apart);
	struct nfs4_server *srv = conn->srv;
	struct nfs4_sync s;

	if (srv->nconns > 1 && atomic_load(&conn->down))
		return; /* reconnected() asks again */
	if (apart && !prove(conn))
		return;
	if (nfs4_sync_bind(conn, &s, bind_ms(srv)) == 0) {
		conn->refused = conn->wait_s = 0;
		if (apart)
			rpc_paths_join(&srv->paths, conn->rpc);
		atomic_store(&conn->apart, false);
		return;
	}
	if ((s.status == NFS4ERR_BADSESSION || s.status == NFS4ERR_DEADSESSION) && !apart &&
		is_elsewhere(conn))
		return;
	/* A server that refuses a fresh session, too, is another one by now. conn stays held
	 * back. */
	if ((s.status == NFS4ERR_BADSESSION || s.status == NFS4ERR_DEADSESSION) &&
		srv->nconns > 1 && conn->refused++)
		log_warn("%s: connection %td leads to a server without the session", srv->name,
			conn - srv->conn + 1);
	else if (s.status == NFS4ERR_BADSESSION || s.status == NFS4ERR_DEADSESSION)
		nfs4_state_want(srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	else if (s.status)
		log_ctrl("%s: BIND_CONN_TO_SESSION was answered %s", srv->name,
			nfs4_status_name(s.status));
	if (srv->nconns > 1 &&
		(!s.status || s.status == NFS4ERR_DELAY || s.status == NFS4ERR_GRACE))
		bind_later(conn);
}

bool nfs4_recover_bind(struct nfs4_server *srv)
{
	bool later = false;

	for (unsigned i = 0; i < srv->nconns; i++) {
		bool unbound;

		mutex_lock(&srv->slots.lock);
		unbound = atomic_exchange_explicit(
			&srv->conn[i].unbound, false, memory_order_relaxed);
		mutex_unlock(&srv->slots.lock);
		if (unbound)
			bind_conn(&srv->conn[i]);
		later |= atomic_load_explicit(&srv->conn[i].unbound, memory_order_relaxed);
	}
	return !later;
}

/* --- doubtful slots ------------------------------------------------------------------------ */

/* Sends SEQUENCE alone with sequence id seq on slot, which is BUSY. Returns the nfsstat4, or
 * NFS4ERR_DELAY when there was no answer. */
static uint32_t probe_once(struct nfs4_server *srv, struct nfs4_slot *slot, uint32_t seq)
{
	struct nfs4_sync s;
	int rc;

	mutex_lock(&srv->slots.lock);
	slot->seq = seq;
	mutex_unlock(&srv->slots.lock);
	s.op.slot = slot;
	rc = nfs4_sync_run(srv, &s, NFS4_K_SEQUENCE, step_ms(srv));
	return rc == 0 ? NFS4_OK : s.status ? s.status : NFS4ERR_DELAY;
}

/* Did the server count the request that was never answered? The request's sequence id is slot->seq.
 * If the server accepts the next sequence id, the request was counted. If the next one is
 * misordered but the server accepts slot->seq itself, the request was not counted. */
static void probe_slot(struct nfs4_server *srv, struct nfs4_slot *slot)
{
	struct nfs4_slots *s = &srv->slots;
	uint32_t seq = slot->seq;
	uint32_t status = probe_once(srv, slot, seq + 1);

	if (status == NFS4ERR_SEQ_MISORDERED) {
		bool mine;

		mutex_lock(&s->lock);
		mine = nfs4_slots_take_doubtful_locked(s, slot);
		mutex_unlock(&s->lock);
		status = mine ? probe_once(srv, slot, seq) : status;
	}
	log_ctrl("%s: slot %u: asking after sequence id %u: %s", srv->name, slot->id, seq,
		nfs4_status_name(status));
	mutex_lock(&s->lock);
	if (slot->doubtful)
		slot->seq = seq;
	if (status == NFS4ERR_SEQ_MISORDERED || status == NFS4ERR_BADSLOT)
		nfs4_state_want_locked(srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	else if (status == NFS4ERR_BADSESSION || status == NFS4ERR_DEADSESSION)
		nfs4_state_want_locked(srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	mutex_unlock(&s->lock);
}

void nfs4_recover_probe(struct nfs4_server *srv)
{
	struct nfs4_slots *s = &srv->slots;

	for (uint32_t i = 0; i < NFS4_MAX_SLOTS && !nfs4_state_stopping(srv); i++) {
		bool mine;

		mutex_lock(&s->lock);
		/* before the state manager runs, no op passes the gate */
		mine = (s->gate_open || !srv->thread_up) &&
		       nfs4_slots_take_doubtful_locked(s, &s->slot[i]);
		mutex_unlock(&s->lock);
		if (mine)
			probe_slot(srv, &s->slot[i]);
	}
}
