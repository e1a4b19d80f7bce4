/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_session: how a server comes up and ends.
 *
 *     connect, EXCHANGE_ID, CREATE_SESSION, RECLAIM_COMPLETE,
 *     further connections, each with BIND_CONN_TO_SESSION
 *     or, for a successor: connect, BIND_CONN_TO_SESSION, DESTROY_SESSION, CREATE_SESSION, further
 *     connections
 *     ... the state manager runs, users come and go ...
 *     the last reference: DESTROY_SESSION, DESTROY_CLIENTID, disconnect
 *
 * If the server cannot be established, a sentence tells why. The call of each step:
 * nfs4_session_ops.h.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SESSION_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SESSION_H

#include "nfsproto/v4/server/nfs4_sync.h"

/* Makes the connections, client ID and session, and has the state manager keep all up. 0, or -1
 * with *e set. Blocks, p->connect_ms for each step at most. */
int nfs4_server_start(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* The same for a server whose first connection, client ID and former session are there
 * (nfs4_server_record.h), and whose users have their state: replaces the session, which is of no
 * use without its slots. If the server has lost the client ID, the users reclaim. Goes on until the
 * server has answered. */
int nfs4_server_go_on(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* The same for a server whose former daemon was killed (nfs4_server_get_note(),
 * nfs4_replay_read()): goes on with the session. Returns when all slots with calls that are not
 * noted are settled, or when the session has turned out to be lost: then the state manager makes
 * another one, and no op passes the gate until then. Until it returns 0, all calls to the server
 * are such that another successor may repeat them. */
int nfs4_server_resume(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* Dropping the last reference gives back session and client ID, and disconnects. That blocks, for
 * some seconds at most. Not on a progress thread. NULL. */
struct nfs4_server *nfs4_server_unref(struct nfs4_server *srv);
/* Reports why a step failed (0 < s->status, or s->op.error), for errors that all steps have in
 * common. */
void nfs4_server_step_error(
	struct nfs4_server *srv, const struct nfs4_sync *s, const char *step, struct err *e);
/* A pause between attempts at a step, *ms to begin with 0. */
void nfs4_server_step_pause(unsigned *ms);
/* Is status "not now"? */
bool nfs4_status_passes(uint32_t status);

#endif
