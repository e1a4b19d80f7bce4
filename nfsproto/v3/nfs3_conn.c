/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_conn: the connections of an NFSv3 mount. Model: nfs3_conn.h.
 */
#include "nfsproto/v3/nfs3_conn.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v3/nfs3_nlm_queue.h"
#include "transport/log.h"

#define WITNESS_MS 2000u

static uint32_t bit(const struct nfs3_conn *conn)
{
	return UINT32_C(1) << conn->i;
}

/* --- lost and back, progress thread ---------------------------------------------------------- */

/* I/O that relies on locks goes on once the locks are known to be held. */
static void reconnected(void *ctx)
{
	struct nfs3_conn *conn = ctx;
	struct nfs3_client *c = conn->c;

	mutex_lock(&c->lock);
	c->up |= bit(conn);
	if (nfs3_nlm_doubt_locked(c, false))
		nfs3_task_pull_locked(c);
	else
		c->witnesses |= bit(conn);
	mutex_unlock(&c->lock);
	mutex_lock(&c->news_lock);
	if (nfs_links_back(&c->links))
		nfs_tell_connection(&c->base, NFS_CONNECTION_BACK);
	mutex_unlock(&c->news_lock);
}

static void lost(void *ctx)
{
	struct nfs3_conn *conn = ctx;
	struct nfs3_client *c = conn->c;

	mutex_lock(&c->lock);
	c->up &= ~bit(conn);
	c->witnesses &= ~bit(conn);
	if (c->doubt) /* a connection that may lead to a restarted server could get the I/O */
		nfs3_task_pull_locked(c);
	mutex_unlock(&c->lock);
	mutex_lock(&c->news_lock);
	nfs_tell_connection(&c->base, nfs_links_lost(&c->links));
	mutex_unlock(&c->news_lock);
}

static void answers(void *ctx, bool yes)
{
	struct nfs3_conn *conn = ctx;

	nfs_tell_connection(&conn->c->base, yes ? NFS_CONNECTION_ANSWERS : NFS_CONNECTION_SILENT);
}

/* --- making and ending ----------------------------------------------------------------------- */

/* The next connection counts from before its start: the connection may be lost at any moment
 * after. */
static struct nfs3_conn *begin(struct nfs3_client *c, bool later)
{
	struct nfs3_conn *conn = &c->conn[c->base.nrpcs];

	*conn = (struct nfs3_conn){c, c->base.nrpcs};
	if (!later) {
		mutex_lock(&c->lock);
		c->up |= bit(conn);
		c->witnesses |= bit(conn);
		mutex_unlock(&c->lock);
	}
	mutex_lock(&c->news_lock);
	nfs_links_add(&c->links, later);
	mutex_unlock(&c->news_lock);
	return conn;
}

/* conn has become rpc; NULL: nothing. */
static void made(struct nfs3_conn *conn, struct rpc_client *rpc, bool later)
{
	struct nfs3_client *c = conn->c;

	if (rpc) {
		c->rpcs[c->base.nrpcs++] = rpc;
		return;
	}
	mutex_lock(&c->lock);
	c->up &= ~bit(conn);
	c->witnesses &= ~bit(conn);
	mutex_unlock(&c->lock);
	mutex_lock(&c->news_lock);
	nfs_links_drop(&c->links, later);
	mutex_unlock(&c->news_lock);
}

int nfs3_conn_first(struct nfs3_client *c, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs3_conn *conn = begin(c, false);

	c->own = (struct rpc_client_params){
		.prog = NFS3_PROGRAM,
		.vers = NFS3_VERSION,
		.same_port = true,
		.reconnected = reconnected,
		.lost = lost,
		.answers = c->base.up && c->base.up->connection ? answers : NULL,
		.ctx = conn,
		.paths = p->nconnect > 1 ? &c->paths : NULL,
		.conns = p->nconnect,
	};
	c->base.rpc = nfs_connect(p, &c->own, e);
	made(conn, c->base.rpc, false);
	if (!c->base.rpc)
		return -1;
	c->own.peer_name = c->server;
	c->rp = c->own;
	c->rp.reconnected = c->rp.lost = NULL;
	c->rp.answers = NULL;
	c->rp.paths = NULL;
	c->rp.ctx = NULL;
	return 0;
}

void nfs3_conn_more(struct nfs3_client *c, unsigned wanted)
{
	struct rpc_client_params rp = c->own;

	rp.hello = true;
	rp.may_be_unwanted = false; /* the server answers the first, and others may long be idle */
	rp.first_ms = rp.connect_ms < NFS_MORE_MS ? rp.connect_ms : NFS_MORE_MS;
	while (c->base.nrpcs < wanted) {
		struct nfs3_conn *conn = begin(c, rp.later);
		struct err e = {.kind = ERR_NONE};
		struct rpc_client *rpc;

		rp.ctx = conn;
		rpc = rpc_client_new(&rp, &e);
		made(conn, rpc, rp.later);
		if (rpc) {
			if (rp.later)
				rpc_paths_join(&c->paths, rpc);
			continue;
		}
		nfs_connect_fewer(c->server, c->base.nrpcs, wanted, &e);
		if (rp.later)
			return;
		rp.later = true;
	}
}

void nfs3_conn_free_all(struct nfs3_client *c)
{
	for (unsigned i = c->base.nrpcs; i-- > 0;) /* their threads name each other */
		rpc_client_stop(c->rpcs[i]);
	while (c->base.nrpcs > 0)
		rpc_client_free(c->rpcs[--c->base.nrpcs]);
	c->base.rpc = NULL;
}

/* --- witnesses, thread of nfs3_nlm.h ---------------------------------------------------------- */

struct question {
	struct nfs3_sync s;
	struct nfs3_conn *conn;
	atomic_bool stop;
};

static bool is_witness(struct nfs3_conn *conn)
{
	struct nfs3_client *c = conn->c;
	bool is;

	mutex_lock(&c->lock);
	is = c->witnesses & bit(conn);
	mutex_unlock(&c->lock);
	return is;
}

static void put_nothing(struct nfs3_sync *s, struct xdr_out *x)
{
	s->call.stays = true; /* no other connection is asked */
}

static int get_nothing(struct nfs3_sync *s, struct xdr_in *x)
{
	return 0;
}

static void look(struct nfs3_sync *s)
{
	struct question *q = container_of(s, struct question, s);

	if (!is_witness(q->conn) || nfs3_nlm_gave_up(q->conn->c->nlm))
		atomic_store_explicit(&q->stop, true, memory_order_relaxed);
}

/* 0: conn, which was a witness, is still one, and has answered. -ETIMEDOUT: silence. */
static int ask(struct nfs3_conn *conn)
{
	struct question q = {.conn = conn};
	struct nfs3_client *c = conn->c;
	int rc;

	q.s.get = get_nothing;
	q.s.stop = &q.stop;
	q.s.look = look;
	rc = nfs3_sync_call(
		&q.s, c->rpcs[conn->i], &c->cred, NFS3PROC_NULL, put_nothing, 0, WITNESS_MS);
	return rc || is_witness(conn) ? rc : -ENOTCONN;
}

bool nfs3_conn_testify(struct nfs3_client *c)
{
	for (unsigned i = 0; i < c->base.nrpcs; i++) {
		int rc = is_witness(&c->conn[i]) ? ask(&c->conn[i]) : -ENOTCONN;

		if (rc == 0)
			log_ctrl("%s: connection %u is unbroken: no restart", c->server, i + 1);
		if (rc == 0 || rc == -ETIMEDOUT)
			return rc == 0;
	}
	return false;
}

void nfs3_conn_trust_locked(struct nfs3_client *c) REQUIRES(c->lock)
{
	c->witnesses = c->up;
}
