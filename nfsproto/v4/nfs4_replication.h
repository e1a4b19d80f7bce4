/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_replication: replication (RFC 8881 section 11.5.4): the server of a mount falls silent, and
 * the mount goes on at another server with the same file system. With the option replication only.
 *
 *     answers --a lease time without an answer--> silent --a replica answers--> arrived --> answers
 *        ^                                          |                              |
 *        \-------------- an answer ----------------/ \<----- another root --------/
 *
 * While the server answers, the mount asks for the replicas (fs_locations_info) now and then. A
 * replica suits if all its classes are those of the server (nfs4_replica_suits()).
 *
 * A silent server may execute a request late, and so undo a change that was made at a replica. So a
 * mount with unanswered changes stays, unless nothing listens at the server's address: the program
 * that might execute them is gone.
 *
 * The move is that of nfs4_move.h: all connections are redirected, and the recovery is that of a
 * restart. Before any state is reclaimed, the mount looks for its root. A server that does not know
 * the root is no replica, and the connections go back.
 *
 * All functions but begin and end: the state manager's thread, without a lock.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_REPLICATION_H
#define RNFS_NFSPROTO_V4_NFS4_REPLICATION_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* The mount c, with the option, is ready: the state manager asks for the replicas soon. Without the
 * attribute at the server: a line in the log, and no replication. */
void nfs4_replication_begin(struct nfs4_client *c, const struct nfs_mount_params *p);
/* After c has left its server. */
void nfs4_replication_end(struct nfs4_client *c);

/* Does what is due at now: true. Otherwise lowers *next. */
bool nfs4_replication_poll(struct nfs4_client *c, uint64_t now, uint64_t *next);
/* In the middle of a recovery. True: the server is silent, and the connections now go to another,
 * which needs a client ID and a session. */
bool nfs4_replication_leave(struct nfs4_client *c, uint64_t now);
/* Before the mount reclaims state. True: there is nothing to be reclaimed here; the connections go
 * elsewhere, or the session is gone. Waits until the server has told of the root. */
bool nfs4_replication_instead(struct nfs4_client *c);

#endif
