/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_conn: the connections of a server.
 */
#include "nfsproto/v4/server/nfs4_conn.h"

#include <netinet/in.h>
#include <string.h>

#include "nfsproto/common/nfs_address.h"
#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v4/server/nfs4_cb_run.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"

static void tell_users_locked(struct nfs4_server *srv, enum nfs_connection what)
	REQUIRES(srv->cb.lock)
{
	struct nfs4_user *u;

	TAILQ_FOREACH (u, &srv->users, link)
		if (u->up->connection)
			u->up->connection(u, what);
}

static void reconnected(void *ctx)
{
	struct nfs4_conn *conn = ctx;
	struct nfs4_server *srv = conn->srv;

	/* before the state manager looks. Its call waits until the connection can send. */
	atomic_store(&conn->down, false);
	nfs4_state_unbound(conn);
	mutex_lock(&srv->cb.lock); /* no user leaves meanwhile */
	if (nfs_links_back(&srv->links))
		tell_users_locked(srv, NFS_CONNECTION_BACK);
	mutex_unlock(&srv->cb.lock);
}

static void lost(void *ctx)
{
	struct nfs4_conn *conn = ctx;
	struct nfs4_server *srv = conn->srv;

	atomic_store(&conn->down, true);
	mutex_lock(&srv->cb.lock);
	tell_users_locked(srv, nfs_links_lost(&srv->links));
	mutex_unlock(&srv->cb.lock);
}

static void answers(void *ctx, bool yes)
{
	struct nfs4_server *srv = ((struct nfs4_conn *)ctx)->srv;

	mutex_lock(&srv->cb.lock);
	tell_users_locked(srv, yes ? NFS_CONNECTION_ANSWERS : NFS_CONNECTION_SILENT);
	mutex_unlock(&srv->cb.lock);
}

/* conn is about to be made; later: without a connection for now. */
static void count(struct nfs4_conn *conn, bool later)
{
	struct nfs4_server *srv = conn->srv;

	mutex_lock(&srv->cb.lock);
	atomic_store(&conn->ended, false);
	atomic_store(&conn->down, later);
	nfs_links_add(&srv->links, later);
	mutex_unlock(&srv->cb.lock);
}

/* conn, which has ended or never began, counts no more. */
static void uncount(struct nfs4_conn *conn)
{
	struct nfs4_server *srv = conn->srv;

	mutex_lock(&srv->cb.lock);
	if (!atomic_exchange(&conn->ended, true))
		nfs_links_drop(&srv->links, atomic_exchange(&conn->down, false));
	mutex_unlock(&srv->cb.lock);
}

/* The state manager may be at work, and sees conn from now on. */
static void add(struct nfs4_conn *conn, struct rpc_client *rpc)
{
	struct nfs4_server *srv = conn->srv;

	conn->rpc = rpc;
	srv->rpcs[srv->nconns] = rpc;
	srv->nconns++;
	if (atomic_load(&conn->unbound)) /* up already */
		nfs4_state_want(srv, NFS4_TODO_BIND);
}

int nfs4_conn_new(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct rpc_client *rpc;

	srv->rp = (struct rpc_client_params){
		.prog = NFS4_PROGRAM,
		.vers = NFS4_VERSION,
		.cb_prog = NFS4_CB_PROGRAM,
		.cb_service = nfs4_cb_service,
		.cb_ctx = srv,
		.reconnected = reconnected,
		.lost = lost,
		.answers = p->upcalls && p->upcalls->connection ? answers : NULL,
		.ctx = &srv->conn[0],
		.paths = srv->conns_wanted > 1 ? &srv->paths : NULL,
		.conns = srv->conns_wanted,
	};
	count(&srv->conn[0], false);
	rpc = nfs_connect(p, &srv->rp, e);
	srv->rp.peer_name = srv->name; /* p goes after the mount */
	if (!rpc) {
		uncount(&srv->conn[0]);
		return -1;
	}
	srv->conn[0].to = srv->rp.peer;
	add(&srv->conn[0], rpc);
	return 0;
}

/* One more connection, to a; ms 0: later. */
static int more(struct nfs4_server *srv, const struct dial_addr *a, unsigned ms, struct err *e)
{
	struct nfs4_conn *conn = &srv->conn[srv->nconns];
	struct rpc_client_params rp = srv->rp;
	struct rpc_client *rpc;

	rp.ctx = conn;
	rp.peer = a->ss;
	rp.peer_len = a->len;
	rp.first_ms = ms;
	rp.later = !ms;
	conn->to = a->ss;
	count(conn, rp.later);
	rpc = rpc_client_new(&rp, e);
	if (!rpc) {
		uncount(conn);
		return -1;
	}
	rpc_client_hold_back(rpc, true);
	add(conn, rpc);
	rpc_client_lease(rpc, atomic_load_explicit(&srv->lease_s, memory_order_relaxed));
	return 0;
}

int nfs4_conn_more(struct nfs4_server *srv, const struct dial_addr *a, unsigned ms, struct err *e)
{
	return more(srv, a, ms, e);
}

int nfs4_conn_later(
	struct nfs4_server *srv, const struct dial_addr *a, bool other, bool told, struct err *e)
{
	struct nfs4_conn *conn = &srv->conn[srv->nconns];

	conn->other = other;
	conn->told = told;
	atomic_store(&conn->apart, true);
	return more(srv, a, 0, e);
}

void nfs4_conn_drop(struct nfs4_server *srv)
{
	struct nfs4_conn *conn = &srv->conn[--srv->nconns];

	rpc_client_free(conn->rpc);
	conn->rpc = NULL;
	atomic_store(&conn->unbound, false);
	uncount(conn);
}

void nfs4_conn_give_up(struct nfs4_conn *conn)
{
	rpc_client_stop(conn->rpc);
	uncount(conn);
	atomic_store(&conn->down, true);
}

void nfs4_conn_free_all(struct nfs4_server *srv)
{
	for (unsigned i = srv->nconns; i-- > 0;) /* their threads name each other */
		rpc_client_stop(srv->conn[i].rpc);
	nfs4_task_pump(srv);
	while (srv->nconns > 0)
		nfs4_conn_drop(srv);
}

/* --- other servers ---------------------------------------------------------------------------- */

/* A connection to a, for a question; NULL with *e set. */
static struct rpc_client *probe(const struct nfs4_server *srv, const struct dial_addr *a,
	unsigned ms, const char *host, struct err *e)
{
	struct rpc_client_params rp = {
		.proto = srv->rp.proto,
		.peer = a->ss,
		.peer_len = a->len,
		.peer_name = host,
		.prog = NFS4_PROGRAM,
		.vers = NFS4_VERSION,
		.pool = srv->rp.pool,
		.connect_ms = ms,
		.rdma_versions = srv->rp.rdma_versions,
		.inline_size = srv->rp.inline_size,
		.conns = srv->rp.conns,
		.crc = srv->rp.crc,
	};

	return rpc_client_new(&rp, e);
}

/* A call of the null procedure. */
struct null_call {
	struct rpc_call call;
	struct mutex lock;
	pthread_cond_t ended;
	bool done GUARDED_BY(lock);
	int error GUARDED_BY(lock);
};

static void null_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct null_call *n = call->ctx;

	mutex_lock(&n->lock);
	n->done = true;
	n->error = error;
	pthread_cond_signal(&n->ended);
	mutex_unlock(&n->lock);
}

/* Runs the call, which has been made ready, and waits at most ms for the answer. */
static bool null_answered(struct null_call *n, unsigned ms)
{
	struct timespec t = clock_timespec(clock_ns() + ms * NFS4_MSEC);
	bool answered;

	if (rpc_call_submit(&n->call))
		return false;
	mutex_lock(&n->lock);
	while (!n->done && cond_timedwait(&n->ended, &n->lock, &t) == 0)
		;
	if (!n->done) {
		mutex_unlock(&n->lock);
		rpc_call_cancel(&n->call);
		mutex_lock(&n->lock);
		while (!n->done)
			cond_wait(&n->ended, &n->lock);
	}
	answered = n->error == 0;
	mutex_unlock(&n->lock);
	return answered;
}

/* Does the server at the other end of rpc answer within ms? */
static bool is_answering(struct rpc_client *rpc, unsigned ms)
{
	struct null_call n = {.done = false};
	bool answered;

	if (rpc_call_init(&n.call, rpc, 0))
		return false;
	mutex_init(&n.lock);
	clock_cond_init(&n.ended);
	n.call.proc = NFS4_PROC_NULL;
	n.call.done = null_done;
	n.call.ctx = &n;
	answered = null_answered(&n, ms);
	rpc_call_finish(&n.call);
	pthread_cond_destroy(&n.ended);
	mutex_destroy(&n.lock);
	return answered;
}

/* Can a be connected to? asks: does its server answer, too? */
static bool is_reachable(const struct nfs4_server *srv, const struct dial_addr *a, unsigned ms,
	const char *host, bool asks, struct err *e)
{
	struct rpc_client *rpc = probe(srv, a, ms, host, e);
	bool good = rpc && (!asks || is_answering(rpc, ms));

	if (rpc && !good)
		err_set(e, ERR_UNREACHABLE, "%s does not answer", host);
	rpc_client_free(rpc);
	return good;
}

/* Does a connection go to a, port included? */
static bool is_at(const struct nfs4_server *srv, const struct dial_addr *a)
{
	for (unsigned i = 0; i < srv->nconns; i++)
		if (!memcmp(&srv->conn[i].to, &a->ss, a->len))
			return true;
	return false;
}

void nfs4_conn_go(struct nfs4_server *srv, const struct dial_addr *to)
{
	for (unsigned i = 0; i < srv->nconns; i++) {
		mutex_lock(&srv->slots.lock);
		srv->conn[i].to = to->ss;
		mutex_unlock(&srv->slots.lock);
		srv->conn[i].other = false;
		rpc_client_redirect(srv->conn[i].rpc, to);
	}
	srv->rp.peer = to->ss; /* a successor connects there (nfs_client_peer()) */
	srv->rp.peer_len = to->len;
}

/* leaves: not to an address of now. */
static int redirect(struct nfs4_server *srv, const char *host, uint16_t port, unsigned ms,
	bool leaves, struct err *e)
{
	struct dial_addr a[DIAL_ADDRS_MAX];
	unsigned n = nfs_address_find(
		host, AF_UNSPEC, port ? port : nfs_usual_port(srv->rp.proto), a, e);

	for (unsigned i = 0; i < n; i++) {
		nfs4_task_pump(srv); /* cancelled ops end while addresses do not answer */
		if (leaves && is_at(srv, &a[i]))
			err_set(e, ERR_UNREACHABLE, "%s is the server of now", host);
		else if (is_reachable(srv, &a[i], ms, host, true, e)) {
			nfs4_conn_go(srv, &a[i]);
			return 0;
		}
	}
	return -1;
}

int nfs4_conn_redirect(
	struct nfs4_server *srv, const char *host, uint16_t port, unsigned ms, struct err *e)
{
	return redirect(srv, host, port, ms, false, e);
}

int nfs4_conn_leave(
	struct nfs4_server *srv, const char *host, uint16_t port, unsigned ms, struct err *e)
{
	return redirect(srv, host, port, ms, true, e);
}

bool nfs4_conn_refused(struct nfs4_server *srv, unsigned ms)
{
	for (unsigned i = 0; i < srv->nconns; i++) {
		bool six = srv->conn[i].to.ss_family == AF_INET6;
		struct dial_addr a = {.ss = srv->conn[i].to,
			.len = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)};
		struct err e = {.kind = ERR_NONE};

		if (atomic_load(&srv->conn[i].apart)) /* not known to be the server's address */
			continue;
		if (is_reachable(srv, &a, ms, srv->name, false, &e) || e.kind != ERR_REFUSED)
			return false;
	}
	return true;
}
