/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server: the life of a server: made, connected, established by whoever mounts from it first
 * (nfs4_mount.c), kept up by the state manager, given back.
 *
 * Every mount has a server of its own and is a client of its own to it (co_ownerid with a random
 * part), so that two mounts share nothing that one could take from the other. In exchange it leaves
 * nothing behind: at the end the server knows no client ID of ours, unless it fell silent.
 */
#include "nfsproto/v4/nfs4_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "nfsproto/v4/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

#define BUSY_NS	      (500 * NFS4_MSEC) /* for which a client ID that is in use is asked again */
#define SLOTS_DEFAULT 64u
#define MINOR_NEWEST  2u

/* --- making and freeing --------------------------------------------------------------------- */

static int make_identity(struct nfs4_server *srv)
{
	char host[64] = "";
	uint8_t unique[16];
	size_t n;

	if (getrandom(srv->verf, sizeof(srv->verf), 0) != (ssize_t)sizeof(srv->verf) ||
		getrandom(unique, sizeof(unique), 0) != (ssize_t)sizeof(unique))
		return -1;
	gethostname(host, sizeof(host) - 1);
	n = (size_t)snprintf(srv->owner, sizeof(srv->owner), "rnfs/%s/%ld/", host, (long)getpid());
	for (size_t i = 0; i < sizeof(unique); i++)
		n += (size_t)snprintf(srv->owner + n, sizeof(srv->owner) - n, "%02x", unique[i]);
	return 0;
}

void nfs4_server_init(struct nfs4_server *srv)
{
	nfs4_slots_init(&srv->slots);
	TAILQ_INIT(&srv->users);
	TAILQ_INIT(&srv->delayed);
	TAILQ_INIT(&srv->ended);
	clock_cond_init(&srv->wake);
	atomic_init(&srv->renewed_ns, clock_ns());
	atomic_init(&srv->next_owner, 1);
	nfs4_cb_init(&srv->cb);
	for (unsigned i = 0; i < NFS4_CONNS; i++)
		srv->conn[i].srv = srv;
}

void nfs4_server_finish(struct nfs4_server *srv)
{
	nfs4_cb_finish(&srv->cb);
	pthread_cond_destroy(&srv->wake);
	nfs4_slots_finish(&srv->slots);
}

struct nfs4_server *nfs4_server_new(const struct nfs_mount_params *p)
{
	struct nfs4_server *srv = calloc(1, sizeof(*srv));

	if (!srv || make_identity(srv)) {
		free(srv);
		return NULL;
	}
	srv->minor = p->vers_minor ? p->vers_minor : MINOR_NEWEST;
	srv->any_minor = p->vers_minor == 0;
	srv->cred = p->cred;
	snprintf(srv->name, sizeof(srv->name), "%s", p->host);
	srv->slots_wanted = p->credits ? p->credits : SLOTS_DEFAULT;
	if (srv->slots_wanted > NFS4_MAX_SLOTS)
		srv->slots_wanted = NFS4_MAX_SLOTS;
	nfs4_server_init(srv);
	return srv;
}

static void reconnected(void *ctx)
{
	nfs4_conn_unbound(ctx);
}

int nfs4_server_connect(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_conn *conn = &srv->conn[srv->nconns];
	struct rpc_client_params rp = {
		.prog = NFS4_PROGRAM,
		.vers = NFS4_VERSION,
		.cb_prog = NFS4_CB_PROGRAM,
		.cb_service = nfs4_cb_service,
		.cb_ctx = srv,
		.reconnected = reconnected,
		.ctx = conn,
	};

	conn->rpc = nfs_connect(p, &rp, e);
	if (!conn->rpc)
		return -1;
	srv->nconns++;
	return 0;
}

void nfs4_server_disconnect(struct nfs4_server *srv)
{
	while (srv->nconns > 0)
		rpc_client_free(srv->conn[--srv->nconns].rpc);
	nfs4_state_pump(srv);
}

struct nfs4_server *nfs4_server_free(struct nfs4_server *srv)
{
	if (!srv)
		return NULL;
	nfs4_server_finish(srv);
	free(srv);
	return NULL;
}

void nfs4_server_join(struct nfs4_server *srv, struct nfs4_user *u)
{
	TAILQ_INSERT_TAIL(&srv->users, u, link);
}

void nfs4_server_leave(struct nfs4_server *srv, struct nfs4_user *u)
{
	TAILQ_REMOVE(&srv->users, u, link);
}

/* --- the end -------------------------------------------------------------------------------- */

void nfs4_server_gate(struct nfs4_server *srv, bool open)
{
	pthread_mutex_lock(&srv->slots.lock);
	if (open)
		nfs4_slots_open_locked(&srv->slots);
	else
		nfs4_slots_close_locked(&srv->slots);
	pthread_mutex_unlock(&srv->slots.lock);
}

void nfs4_server_fail_queued(struct nfs4_server *srv)
{
	struct nfs_op *op;

	pthread_mutex_lock(&srv->slots.lock);
	while ((op = TAILQ_FIRST(&srv->slots.waiting))) {
		TAILQ_REMOVE(&srv->slots.waiting, op, link);
		nfs4_state_end_later_locked(srv, op, -ENOTCONN);
	}
	while ((op = TAILQ_FIRST(&srv->delayed))) {
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_state_end_later_locked(srv, op, -ENOTCONN);
	}
	pthread_mutex_unlock(&srv->slots.lock);
	nfs4_state_pump(srv);
}

/* What remains until then; at least 1 while there is any, 0 when it is over. */
static unsigned time_left(uint64_t until)
{
	uint64_t now = clock_ns();

	return now >= until ? 0 : (unsigned)((until - now) / NFS4_MSEC) + 1;
}

void nfs4_server_goodbye(struct nfs4_server *srv, uint64_t until, int error)
{
	uint64_t busy_until = clock_ns() + BUSY_NS;
	struct nfs4_sync s = {.status = 0};
	unsigned ms = time_left(until);
	int rc = error;

	if (srv->have_session && ms && rc != -ETIMEDOUT) {
		rc = nfs4_sync_run(srv, &s, NFS4_K_DESTROY_SESSION, ms);
		if (rc)
			log_ctrl("%s: DESTROY_SESSION: %s", srv->name,
				s.status ? nfs4_status_name(s.status) : strerror(-rc));
	}
	ms = time_left(until);
	while (srv->have_clientid && ms && rc != -ETIMEDOUT) {
		struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

		rc = nfs4_sync_run(srv, &s, NFS4_K_DESTROY_CLIENTID, ms);
		if (rc == 0 || (s.status != NFS4ERR_DELAY && s.status != NFS4ERR_CLIENTID_BUSY))
			break;
		if (s.status == NFS4ERR_CLIENTID_BUSY && clock_ns() > busy_until)
			break;
		nanosleep(&pause, NULL);
		ms = time_left(until);
	}
	if (rc)
		log_info("%s: the server may keep this client's state until the lease ends: %s",
			srv->name, s.status ? nfs4_status_name(s.status) : strerror(-rc));
}
