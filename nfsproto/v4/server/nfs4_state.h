/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state: the state manager, one thread per server.
 *
 *     RUNNING --BADSESSION, ...--> DRAINING --all requests home--> SESSION ------------> RUNNING
 *                                     |                             |    ^                  ^
 *                                     \-- client ID lost too --> CLIENT_ID                  |
 *                                                                        \--> RECLAIM ------/
 *
 * Work arrives as bits in srv->todo. Work that makes the session unusable closes the gate in the
 * same moment (nfs4_state_want_locked), so that no request is sent in vain. Requests that were
 * under way come home with errors and wait at the gate. Draining waits for all of these, so that a
 * new session never meets a reply of the old one.
 *
 * The thread also owns time. The thread starts delayed ops when they are due. If no other request
 * has renewed the lease for a third of the lease time, the thread renews the lease with a SEQUENCE
 * of its own. The thread also ends cancelled ops, so that nfs_cancel() never calls back.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_STATE_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_STATE_H

#include "nfsproto/v4/server/nfs4_server.h"

const char *nfs4_state_name(enum nfs4_state s);
/* Adds work; closes the gate if the work needs a closed gate. */
void nfs4_state_want_locked(struct nfs4_server *srv, uint32_t todo) REQUIRES(srv->slots.lock);
void nfs4_state_want(struct nfs4_server *srv, uint32_t todo) EXCLUDES(srv->slots.lock);
/* Has the server's users polled soon. */
void nfs4_state_poll(struct nfs4_server *srv) EXCLUDES(srv->slots.lock);
/* conn is not bound to the session (any more): the state manager binds it. No lock held. */
void nfs4_state_unbound(struct nfs4_conn *conn);
/* Judges the session by the status of an op on conn, and asks for the remedy. False: the session is
 * not in doubt, or a new one would not help. */
bool nfs4_state_doubt(struct nfs4_conn *conn, uint32_t status);
/* Handles the sr_status_flags of a SEQUENCE that was sent at sent_ns. Need not be called with 0
 * while no flags have been seen. No lock held. */
void nfs4_state_flags(struct nfs4_server *srv, uint32_t flags, uint64_t sent_ns);
/* For the state manager's thread itself. */
void nfs4_state_set(struct nfs4_server *srv, enum nfs4_state s) EXCLUDES(srv->slots.lock);
bool nfs4_state_stopping(struct nfs4_server *srv) EXCLUDES(srv->slots.lock);
/* Ends the visit of u, and begins a visit of the user behind u (NULL: of the first) that does not
 * quit, if any. visit_end: ends the visit and begins none. */
struct nfs4_user *nfs4_state_visit(struct nfs4_server *srv, struct nfs4_user *u)
	EXCLUDES(srv->slots.lock);
void nfs4_state_visit_end(struct nfs4_server *srv) EXCLUDES(srv->slots.lock);
void nfs4_state_wait_locked(pthread_cond_t *cond, struct mutex *lock, uint64_t until_ns)
	REQUIRES(*lock);

#endif
