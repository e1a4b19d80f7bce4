/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_conn: the connections of a server are made and ended.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_CONN_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_CONN_H

#include "nfsproto/v4/server/nfs4_server.h"

/* Makes the first connection. 0, or -1 with *e set, as nfs_connect(). */
int nfs4_conn_new(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* Makes one more connection, to a. It is not bound to the session. 0, or -1 with *e set. Blocks for
 * ms at most. */
int nfs4_conn_more(struct nfs4_server *srv, const struct dial_addr *a, unsigned ms, struct err *e);
/* The same, but the connection is made later, by its own thread, and the state manager binds it. No
 * op uses the connection before. other: a is another address than that of the first connection.
 * told: the server has told a; the connection is given up if a proves to be another server's. Does
 * not block. The state manager may be at work. */
int nfs4_conn_later(
	struct nfs4_server *srv, const struct dial_addr *a, bool other, bool told, struct err *e);
/* Ends conn, which is apart, but keeps its place. The state manager's thread. */
void nfs4_conn_give_up(struct nfs4_conn *conn);
/* Ends the last connection. */
void nfs4_conn_drop(struct nfs4_server *srv);
/* Ends all calls under way. */
void nfs4_conn_free_all(struct nfs4_server *srv);

/* The server's file systems have moved to host, at port (0: the usual one). Finds an address there
 * that answers the null procedure, at most ms for each, and has all connections go there. The
 * caller sees to the session. Keeps ending cancelled ops: the state manager's thread. -1 with *e
 * set: there is no such address, and nothing has changed. */
int nfs4_conn_redirect(
	struct nfs4_server *srv, const char *host, uint16_t port, unsigned ms, struct err *e);
/* The same for another address than those that the connections go to. */
int nfs4_conn_leave(
	struct nfs4_server *srv, const char *host, uint16_t port, unsigned ms, struct err *e);
/* Has all connections go to `to`, whether or not there is a server. */
void nfs4_conn_go(struct nfs4_server *srv, const struct dial_addr *to);
/* Does no program listen at any address that the connections, but those apart, go to? At most ms
 * for each. */
bool nfs4_conn_refused(struct nfs4_server *srv, unsigned ms);

#endif
