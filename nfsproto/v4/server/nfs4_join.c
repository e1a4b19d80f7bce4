/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_join: users join a server and leave it.
 */
#include "nfsproto/v4/server/nfs4_join.h"

#include "nfsproto/v4/server/nfs4_session.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"

#define VISIT_NS (2 * NFS4_SEC) /* time that a visit may go on when its user wants to leave */

void nfs4_user_join(struct nfs4_server *srv, struct nfs4_user *u)
{
	nfs4_server_ref(srv);
	mutex_lock(&srv->cb.lock);
	mutex_lock(&srv->slots.lock);
	atomic_init(&u->nops, 0);
	TAILQ_INSERT_TAIL(&srv->users, u, link);
	mutex_unlock(&srv->slots.lock);
	mutex_unlock(&srv->cb.lock);
}

void nfs4_user_leave(struct nfs4_server *srv, struct nfs4_user *u, uint64_t until, int error)
{
	mutex_lock(&srv->cb.lock);
	mutex_lock(&srv->slots.lock);
	TAILQ_REMOVE(&srv->users, u, link);
	srv->goodbye_ns = until;
	srv->goodbye_error = error;
	mutex_unlock(&srv->slots.lock);
	mutex_unlock(&srv->cb.lock);
	nfs4_server_unref(srv);
}

void nfs4_user_quit(struct nfs4_server *srv, struct nfs4_user *u)
{
	uint64_t until = clock_ns() + VISIT_NS;

	mutex_lock(&srv->slots.lock);
	u->stopping = true;
	while (srv->visited == u && clock_ns() < until)
		nfs4_state_wait_locked(&srv->slots.idle, &srv->slots.lock, until);
	if (srv->visited == u) {
		srv->visit_cancelled = true;
		if (srv->sync)
			nfs4_task_cancel_locked(srv->sync);
	}
	while (srv->visited == u)
		cond_wait(&srv->slots.idle, &srv->slots.lock);
	srv->visit_cancelled = false;
	mutex_unlock(&srv->slots.lock);
}
