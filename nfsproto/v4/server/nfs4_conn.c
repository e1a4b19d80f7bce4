/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_conn: the connections of a server.
 */
#include "nfsproto/v4/server/nfs4_conn.h"

#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v4/server/nfs4_cb_run.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"

static void tell_users(struct nfs4_conn *conn, enum nfs_connection what)
{
	struct nfs4_server *srv = conn->srv;
	struct nfs4_user *u;

	mutex_lock(&srv->cb.lock); /* no user leaves meanwhile */
	TAILQ_FOREACH (u, &srv->users, link)
		if (u->up->connection)
			u->up->connection(u, what);
	mutex_unlock(&srv->cb.lock);
}

static void reconnected(void *ctx)
{
	nfs4_state_unbound(ctx);
	tell_users(ctx, NFS_CONNECTION_BACK);
}

static void lost(void *ctx)
{
	tell_users(ctx, NFS_CONNECTION_LOST);
}

static void answers(void *ctx, bool yes)
{
	tell_users(ctx, yes ? NFS_CONNECTION_ANSWERS : NFS_CONNECTION_SILENT);
}

int nfs4_conn_new(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_conn *conn = &srv->conn[srv->nconns];
	struct rpc_client_params rp = {
		.prog = NFS4_PROGRAM,
		.vers = NFS4_VERSION,
		.cb_prog = NFS4_CB_PROGRAM,
		.cb_service = nfs4_cb_service,
		.cb_ctx = srv,
		.reconnected = reconnected,
		.lost = lost,
		.answers = p->upcalls && p->upcalls->connection ? answers : NULL,
		.ctx = conn,
	};

	conn->rpc = nfs_connect(p, &rp, e);
	if (!conn->rpc)
		return -1;
	srv->nconns++;
	return 0;
}

void nfs4_conn_free_all(struct nfs4_server *srv)
{
	while (srv->nconns > 0)
		rpc_client_free(srv->conn[--srv->nconns].rpc);
	nfs4_task_pump(srv);
}
