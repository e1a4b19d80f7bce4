/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_trunk: further connections to a server, bound to the session of the first (session trunking,
 * RFC 8881 section 2.10.5).
 *
 * Connections go to the addresses of the server's name by turns. An address other than the first
 * must prove to be the same server: an EXCHANGE_ID there is answered with the same client ID, which
 * is confirmed, and with the same server owner and scope. BIND_CONN_TO_SESSION, which names the
 * session, must succeed on each connection.
 *
 * An address that cannot be reached at mount, or where the server does not bind the connection now,
 * keeps one place among the connections; good addresses get the rest. The connection for that place
 * is made later, by the thread of its own client, with a growing pause between the attempts. The
 * state manager compares the server there with the first (prove()) and binds the connection. Until
 * then the connection is apart: it is no path, and no op uses it. So is a connection whose address
 * has become another server's.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_TRUNK_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_TRUNK_H

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/v4/server/nfs4_server.h"

/* Makes the connections beside the first, as many as p asks for and can be had. A failure is no
 * error, but a line in the log. While the server comes up; blocks for NFS_MORE_MS at most for each
 * address. Costs the connection and one call each, and one call more for another address. If the
 * session is lost, all connections are made later. */
void nfs4_trunk_connect(struct nfs4_server *srv, const struct nfs_mount_params *p);
/* The server tells `places` of the file system of a mount (fs_locations): servers with the file
 * system at the same path may be further addresses of this one (trunkdiscovery). Connections to
 * them are made later, up to max_connect addresses in all, and must prove themselves. Looks names
 * up for NFS_MORE_MS and one look-up at most, and waits for no connection. While the mount is made,
 * by the thread that has made srv. */
void nfs4_trunk_told(
	struct nfs4_server *srv, const struct nfs_mount_params *p, const struct nfs_places *places);

#endif
