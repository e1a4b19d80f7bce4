/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_join: users join a server and leave it (struct nfs4_user: nfs4_user.h).
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_JOIN_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_JOIN_H

#include "nfsproto/v4/server/nfs4_server.h"

/* Adds a user at any time. The user takes a reference. */
void nfs4_user_join(struct nfs4_server *srv, struct nfs4_user *u);
/* The user is about to leave: only its ops with NFS4_F_LAST start any more, and the state manager
 * visits the user no more. Waits for the end of a visit; a visit's calls to the server have some
 * seconds. */
void nfs4_user_quit(struct nfs4_server *srv, struct nfs4_user *u);
/* The user's last op has ended: the user leaves, and its reference goes. For the last user: until:
 * the latest end of the goodbye (clock_ns()); error: 0 or an error from before. */
void nfs4_user_leave(struct nfs4_server *srv, struct nfs4_user *u, uint64_t until, int error);

#endif
