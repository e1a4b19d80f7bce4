/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_manager: the state manager's thread. Model: nfs4_state.h.
 */
#include "nfsproto/v4/server/nfs4_manager.h"

#include <string.h>

#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define PROBE_NS (100 * NFS4_MSEC)
#define BIND_NS	 (1 * NFS4_SEC) /* before the next attempt to bind a connection */
#define CHECK_NS (1 * NFS4_SEC) /* before the next attempt at state that could not be checked */

static void renew_done(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	mutex_lock(&srv->slots.lock);
	srv->renewing = false;
	mutex_unlock(&srv->slots.lock);
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
	mutex_lock(&srv->slots.lock);
	srv->check_ns = later || unknown ? clock_ns() + CHECK_NS : 0;
	if (revoked)
		atomic_store(&srv->revoking, unknown || (srv->todo & NFS4_TODO_REVOKED));
	mutex_unlock(&srv->slots.lock);
}

/* The next work that has a time, if it is due at now; *next is when to look again. */
static uint32_t timed_work_locked(struct nfs4_server *srv, uint64_t now, uint64_t *next)
	REQUIRES(srv->slots.lock)
{
	uint32_t todo = 0;

	if (srv->check_ns && srv->check_ns <= now) {
		srv->check_ns = 0;
		todo |= NFS4_TODO_CHECK;
	}
	if (srv->bind_ns && srv->bind_ns <= now) {
		srv->bind_ns = 0;
		todo |= NFS4_TODO_BIND;
	}
	if (srv->check_ns && srv->check_ns < *next)
		*next = srv->check_ns;
	if (srv->bind_ns && srv->bind_ns < *next)
		*next = srv->bind_ns;
	return todo;
}

static void bind_all(struct nfs4_server *srv)
{
	bool bound = nfs4_recover_bind(srv);

	mutex_lock(&srv->slots.lock);
	srv->bind_ns = bound ? 0 : clock_ns() + BIND_NS;
	mutex_unlock(&srv->slots.lock);
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

	nfs4_task_pump(srv);
	mutex_lock(&srv->slots.lock);
	srv->poll_wanted = false;
	mutex_unlock(&srv->slots.lock);
	while ((u = nfs4_state_visit(srv, u))) {
		if (u->up->poll(u, now, &user_due)) {
			nfs4_state_visit_end(srv);
			return true;
		}
	}
	mutex_lock(&srv->slots.lock);
	op = nfs4_task_due_locked(srv, now);
	if (op) {
		mutex_unlock(&srv->slots.lock);
		nfs4_task_start(op);
		return true;
	}
	op = TAILQ_FIRST(&srv->delayed);
	todo = srv->todo;
	srv->todo = 0;
	*next = op && op->due_ns < user_due ? op->due_ns : user_due;
	todo |= timed_work_locked(srv, now, next);
	if (srv->slots.ndoubtful && srv->probe_ns <= now && srv->slots.gate_open)
		todo |= NFS4_TODO_PROBE;
	if (srv->slots.ndoubtful && srv->slots.gate_open && srv->probe_ns < *next)
		*next = srv->probe_ns;
	if (!todo && !srv->renewing && srv->slots.gate_open) {
		if (renew_ns <= now) {
			srv->renewing = true;
			mutex_unlock(&srv->slots.lock);
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
	mutex_unlock(&srv->slots.lock);

	if (todo & NFS4_TODO_GATE && nfs4_recover_session(srv, todo))
		log_info("%s: the session is established again", srv->name);
	if (todo & NFS4_TODO_BIND)
		bind_all(srv);
	if (todo & NFS4_TODO_PROBE)
		nfs4_recover_probe(srv);
	if (todo & (NFS4_TODO_REVOKED | NFS4_TODO_CHECK))
		see_to_users(srv);
	return todo != 0;
}

static void *state_main(void *arg)
{
	struct nfs4_server *srv = arg;

	mutex_lock(&srv->slots.lock);
	while (!srv->stop_thread) {
		uint64_t next;
		bool more;

		mutex_unlock(&srv->slots.lock);
		more = work_once(srv, &next);
		mutex_lock(&srv->slots.lock);
		if (!more && !srv->stop_thread && !srv->todo && !srv->poll_wanted &&
			TAILQ_EMPTY(&srv->ended) &&
			(TAILQ_EMPTY(&srv->delayed) || TAILQ_FIRST(&srv->delayed)->due_ns >= next))
			nfs4_state_wait_locked(&srv->wake, &srv->slots.lock, next);
	}
	mutex_unlock(&srv->slots.lock);
	return NULL;
}

int nfs4_manager_start(struct nfs4_server *srv)
{
	int rc;

	mutex_lock(&srv->slots.lock);
	srv->state = NFS4_S_RUNNING;
	if (!(srv->todo & NFS4_TODO_GATE))
		nfs4_slots_open_locked(&srv->slots);
	rc = pthread_create(&srv->thread, NULL, state_main, srv);
	srv->thread_up = rc == 0;
	mutex_unlock(&srv->slots.lock);
	return -rc;
}

void nfs4_manager_stop(struct nfs4_server *srv)
{
	mutex_lock(&srv->slots.lock);
	if (!srv->thread_up) {
		mutex_unlock(&srv->slots.lock);
		return;
	}
	srv->stop_thread = true;
	if (srv->sync)
		nfs4_task_cancel_locked(srv->sync);
	pthread_cond_broadcast(&srv->wake);
	pthread_cond_broadcast(&srv->slots.idle);
	mutex_unlock(&srv->slots.lock);
	pthread_join(srv->thread, NULL);
	nfs4_state_set(srv, NFS4_S_STOPPED);
	mutex_lock(&srv->slots.lock);
	srv->thread_up = false;
	mutex_unlock(&srv->slots.lock);
}
