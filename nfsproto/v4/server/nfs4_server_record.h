/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server_record: client ID and session for a successor (nfs_record.h).
 *
 * The server keeps opens and locks for the client ID. A successor with the same client ID makes a
 * session of its own in place of the former one, and need not reclaim anything. The client ID is
 * the same because owner and verifier are.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SERVER_RECORD_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SERVER_RECORD_H

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v4/server/nfs4_replay.h"

/* Has srv a session, and no work under way but, perhaps, the renewal of the lease? */
bool nfs4_server_is_settled(struct nfs4_server *srv) EXCLUDES(srv->slots.lock);
/* srv is settled. */
void nfs4_server_put_record(struct nfs4_server *srv, struct xdr_out *x);
/* srv has just been made, and has its first connection. On failure (x is bad) srv has no client ID
 * and no session. */
void nfs4_server_get_record(struct nfs4_server *srv, struct xdr_in *x);

/* The same for the successor of a killed daemon (nfs_former.h), which goes on with the session
 * itself. */

/* Notes srv, which has a session; of the thread that makes the session. Without notes (srv->replay
 * NULL) does nothing. */
void nfs4_server_note(struct nfs4_server *srv);
/* The peer of the former daemon's server, in *rec. 0, or -1 with *e set. */
int nfs4_server_note_peer(const struct former *f, struct nfs_record *rec, struct err *e);
/* As nfs4_server_get_record(). Afterwards, srv->reclaiming tells whether the former daemon was
 * killed before it had reclaimed all state. 0, or -1 with *e set. */
int nfs4_server_get_note(struct nfs4_server *srv, const struct former *f, struct err *e);

#endif
