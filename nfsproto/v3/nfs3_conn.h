/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_conn: the connections of an NFSv3 mount, and whether a lost one means a restart of the
 * server.
 *
 * A restarted server has forgotten the locks. With one connection each return of the connection may
 * be the end of a restart. Several connections are witnesses for each other: no connection outlives
 * a restart of the server. A connection is a witness from the moment at which the locks are known
 * to be held until the connection is lost. That a connection seems to be up proves nothing, since
 * the end of an idle connection may be unnoticed. An answer over a witness, to a call that was made
 * after the return of the lost connection, proves that the server has not restarted in between. If
 * no witness answers, all locks are claimed (nfs3_nlm_claim.h). A doubt about the lock manager
 * alone, which may be a program of its own, is no question for a witness. All connections go to one
 * address, and are taken to lead to one server, as the lock manager's is.
 *
 * Until the answer I/O that relies on locks waits. What a witness carries goes on: if the server
 * has restarted, the witness is about to be lost, and its I/O is taken back then.
 *
 * Threads: the progress threads, the thread of nfs3_nlm.h, and the thread that mounts and unmounts.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_CONN_H
#define RNFS_NFSPROTO_V3_NFS3_CONN_H

#include "nfsproto/v3/nfs3_client.h"

/* Makes the first connection; p as for nfs_connect(). c->rp then names the server for connections
 * that are not the mount's own. 0, or -1 with *e set. */
int nfs3_conn_first(struct nfs3_client *c, const struct nfs_mount_params *p, struct err *e);
/* Makes connections beside the first, until there are `wanted`. From the first failure on the rest
 * are made later, and the mount does not wait for them. Blocks for NFS_MORE_MS in vain at most. */
void nfs3_conn_more(struct nfs3_client *c, unsigned wanted);
/* Ends all connections. The thread of nfs3_nlm.h has ended. */
void nfs3_conn_free_all(struct nfs3_client *c);

/* Does a witness answer? Blocks: for the answer, for two seconds of silence at most. The thread of
 * nfs3_nlm.h. Costs one call. */
bool nfs3_conn_testify(struct nfs3_client *c);
/* The server has all locks, and no connection has come back meanwhile. */
void nfs3_conn_trust_locked(struct nfs3_client *c) REQUIRES(c->lock);

#endif
