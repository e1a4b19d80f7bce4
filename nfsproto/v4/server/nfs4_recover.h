/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_recover: the state manager's recovery after a loss. State manager's thread only.
 *
 *     session        drained, then CREATE_SESSION, with EXCHANGE_ID first if the client ID is gone
 *     client ID      after that, the users reclaim their state, then RECLAIM_COMPLETE
 *     a connection   bound to the session
 *     a slot's count SEQUENCE alone finds out
 *
 * Each step is a blocking call (nfs4_sync.h), and each failure is tried again with back-off, until
 * the thread is told to stop.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_RECOVER_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_RECOVER_H

#include "nfsproto/v4/server/nfs4_server.h"

/* Also on the thread that makes srv, before the state manager has begun. False: the thread is to
 * stop. */
bool nfs4_recover_session(struct nfs4_server *srv, uint32_t todo);
/* Binds the unbound connections. False: one could not be bound for now. */
bool nfs4_recover_bind(struct nfs4_server *srv);
void nfs4_recover_probe(struct nfs4_server *srv);
/* Does status, of an attempt to get state again, leave the state undecided? */
bool nfs4_recover_undecided(uint32_t status);
/* A pause between attempts; false if the thread is to stop. */
bool nfs4_recover_pause(struct nfs4_server *srv, uint64_t ns);

#endif
