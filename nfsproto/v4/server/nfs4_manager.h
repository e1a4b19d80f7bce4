/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_manager: the state manager's thread: lease, time, work, visits of users. The work is listed
 * by nfs4_state.h and done by nfs4_recover.h.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_MANAGER_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_MANAGER_H

#include "nfsproto/v4/server/nfs4_server.h"

int nfs4_manager_start(struct nfs4_server *srv); /* 0 or -errno */
void nfs4_manager_stop(struct nfs4_server *srv);

#endif
