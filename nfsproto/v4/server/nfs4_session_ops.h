/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_session_ops: the kinds of op about client ID, session and stateids as such (RFC 8881
 * sections 18.34 to 18.38, 18.46, 18.48, 18.50, 18.51), without any file.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SESSION_OPS_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SESSION_OPS_H

#include "nfsproto/v4/server/nfs4_sync.h"

/* The coders. */
#define CODERS(id, label, flags, x)                                                                \
	void nfs4_put_op_##x(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k);     \
	enum nfs_outcome nfs4_get_op_##x(                                                          \
		struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r);
NFS4_OWN_KINDS(NFS4_SKIP, CODERS)
#undef CODERS

/* The calls. All return as nfs4_sync_run(), s->status set; the first two set srv's members.
 * EXCHANGE_ID sets none, and fails with -EXDEV, if another server answers at another address than
 * the first. */
int nfs4_sync_exchange_id(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
int nfs4_sync_create_session(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
/* Asks by EXCHANGE_ID whether conn leads to the server that has the session (RFC 8881 section
 * 2.10.5.1). 0: it does; -EXDEV: it leads to another; other errors: not known. */
int nfs4_sync_same_server(struct nfs4_conn *conn, struct nfs4_sync *s, unsigned timeout_ms);
/* BIND_CONN_TO_SESSION. On success ops may use conn. */
int nfs4_sync_bind(struct nfs4_conn *conn, struct nfs4_sync *s, unsigned timeout_ms);

#endif
