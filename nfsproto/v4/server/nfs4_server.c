/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server: a server is made and freed. Model: nfs4_server.h.
 *
 * Today every mount makes a server of its own, with a client ID of its own (co_ownerid with a
 * random part), so two mounts share no state that one could take from the other. In exchange a
 * mount leaves nothing behind: at the end the server knows no client ID of ours, unless the server
 * fell silent.
 */
#include "nfsproto/v4/server/nfs4_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "transport/clock.h"

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

void nfs4_server_init(struct nfs4_server *srv, const struct nfs4_kind *kinds)
{
	srv->kinds = kinds;
	srv->roles = EXCHGID4_FLAG_USE_NON_PNFS;
	nfs4_slots_init(&srv->slots);
	TAILQ_INIT(&srv->users);
	TAILQ_INIT(&srv->delayed);
	TAILQ_INIT(&srv->ended);
	clock_cond_init(&srv->wake);
	atomic_init(&srv->renewed_ns, clock_ns());
	atomic_init(&srv->next_owner, 1);
	atomic_init(&srv->refs, 1);
	atomic_init(&srv->lease_s, NFS4_LEASE_S);
	srv->conns_wanted = 1;
	rpc_paths_init(&srv->paths);
	nfs4_cb_init(&srv->cb);
	for (unsigned i = 0; i < NFS4_CONNS; i++) {
		srv->conn[i].srv = srv;
		atomic_init(&srv->conn[i].unbound, false);
		atomic_init(&srv->conn[i].down, false);
	}
}

void nfs4_server_finish(struct nfs4_server *srv)
{
	rpc_paths_finish(&srv->paths);
	nfs4_cb_finish(&srv->cb);
	pthread_cond_destroy(&srv->wake);
	nfs4_slots_finish(&srv->slots);
}

/* The connections that p asks for, at most. */
static unsigned connections(const struct nfs_mount_params *p)
{
	unsigned n = p->nconnect > p->max_connect ? p->nconnect : p->max_connect;

	return n < 1 ? 1 : n > NFS4_CONNS ? NFS4_CONNS : n;
}

struct nfs4_server *nfs4_server_new(const struct nfs_mount_params *p, const struct nfs4_kind *kinds)
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
	srv->slots_wanted *= connections(p);
	if (srv->slots_wanted > NFS4_MAX_SLOTS)
		srv->slots_wanted = NFS4_MAX_SLOTS;
	nfs4_server_init(srv, kinds);
	if (p->pnfs)
		srv->roles |= EXCHGID4_FLAG_USE_PNFS_MDS;
	srv->conns_wanted = connections(p);
	srv->may_leave = p->replication;
	return srv;
}

struct nfs4_conn *nfs4_server_conn(struct nfs4_server *srv)
{
	struct nfs4_conn *up = NULL;

	for (unsigned i = 0; i < srv->nconns; i++) {
		struct nfs4_conn *conn = &srv->conn[i];

		if (atomic_load(&conn->apart))
			continue;
		if (rpc_client_is_ready(conn->rpc))
			return conn;
		if (!up && rpc_client_is_up(conn->rpc))
			up = conn;
	}
	return up ? up : &srv->conn[0];
}

static struct nfs4_conn *conn_of(struct nfs4_server *srv, const struct rpc_client *rpc)
{
	for (unsigned i = 0; i < srv->nconns; i++)
		if (srv->conn[i].rpc == rpc)
			return &srv->conn[i];
	return &srv->conn[0];
}

struct nfs4_conn *nfs4_server_pick(struct nfs4_server *srv, const struct nfs_op *op)
{
	if (srv->nconns <= 1)
		return &srv->conn[0];
	return conn_of(srv, rpc_paths_pick(&srv->paths, nfs_links_large(op)));
}

struct nfs4_conn *nfs4_server_carrier(struct nfs4_server *srv, const struct rpc_call *call)
{
	return conn_of(srv, call->client);
}

void nfs4_server_unbound_locked(struct nfs4_conn *conn, bool unbound)
{
	atomic_store_explicit(&conn->unbound, unbound, memory_order_relaxed);
	if (conn->rpc)
		rpc_client_hold_back(conn->rpc, unbound);
}

/* --- references and users ------------------------------------------------------------------- */

struct nfs4_server *nfs4_server_ref(struct nfs4_server *srv)
{
	atomic_fetch_add_explicit(&srv->refs, 1, memory_order_relaxed);
	return srv;
}

bool nfs4_server_quitting(struct nfs4_server *srv, const struct nfs4_user *u)
{
	bool quitting;

	mutex_lock(&srv->slots.lock);
	quitting = srv->stop_thread || u->stopping;
	mutex_unlock(&srv->slots.lock);
	return quitting;
}

void nfs4_server_lease(struct nfs4_server *srv, uint32_t s)
{
	atomic_store_explicit(&srv->lease_s, s, memory_order_relaxed);
	for (unsigned i = 0; i < srv->nconns; i++)
		rpc_client_lease(srv->conn[i].rpc, s);
}

/* --- the gate and the queues ---------------------------------------------------------------- */

void nfs4_server_gate(struct nfs4_server *srv, bool open)
{
	mutex_lock(&srv->slots.lock);
	if (open)
		nfs4_slots_open_locked(&srv->slots);
	else
		nfs4_slots_close_locked(&srv->slots);
	mutex_unlock(&srv->slots.lock);
}
