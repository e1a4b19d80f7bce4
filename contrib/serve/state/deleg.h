/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: delegations of files to clients (RFC 8881 section 10.4), and how they come to an end.
 *
 *     given --recalled--> asked for, again and again --DELEGRETURN--> ended
 *       |                    \--not within the lease time--> revoked --FREE_STATEID--> ended
 *       \--DELEGRETURN, or the client ends--> ended
 *
 * A delegation is a state of its client (ST_DELEG) and hangs on its file like an open, until it has
 * ended or is revoked; a revoked one only stays in the client's table, to be told of. What is in
 * its way is not waited for: who wants to use the file otherwise is told to come later
 * (NFS4ERR_DELAY), and CB_RECALL is prepared, to be sent behind the answer (cb.h). It is sent
 * again, now and then, until the delegation has come back.
 *
 * What programs of this machine do is found out by a lease of fcntl(2) on the file: who opens it to
 * write (or, if it is delegated to write, at all) waits in the kernel, the server is told by a
 * signal, and the delegation is recalled. A file that no lease can be had of is not delegated. What
 * breaks no lease is watched (deleg_watch.h): the program does not wait for that recall. Who holds
 * a delegation to write changes the file himself, which is not watched while it lasts. A server
 * that is not told of leases (deleg_use_leases()) does without.
 *
 * The lease to write forbids any other open of the file, the server's own too: all that its holder
 * has open meanwhile are duplicates of one descriptor (deleg_dup_locked()).
 *
 * After a recall a file is not delegated for a while, and a client that let one be revoked gets no
 * more.
 */
#ifndef RNFS_SERVE_STATE_DELEG_H
#define RNFS_SERVE_STATE_DELEG_H

#include "contrib/serve/state/session.h"
#include "contrib/serve/state/stateid.h"

/* --delegations */
enum deleg_mode { DELEG_NONE, DELEG_READ, DELEG_WRITE };

#define DELEG_RECALLS_MAX 1024 /* not sent yet */

struct delegs {
	enum deleg_mode mode; /* set at the start */
	int watches;	      /* deleg_watch.h; -1: none; likewise */
	int signal;	      /* that tells of a lease; 0: leases are not used; likewise */
	bool doubtful;	      /* the main thread's: it may have been told of a lease by SIGIO */
	uint32_t max;	      /* of all clients; likewise */
	uint32_t max_client;  /* of one; likewise */
	pthread_mutex_t lock;
	TAILQ_HEAD(, st) list;	 /* not ended and not revoked; lock */
	_Atomic uint32_t n;	 /* of them; changed under lock */
	_Atomic uint32_t nwrite; /* to write; likewise */
	_Atomic uint32_t nrecalled;
	struct notices recalls; /* and inquiries, to be sent; lock */
	_Atomic uint32_t nrecalls;
	struct inquiries ready; /* lock */
	atomic_bool ready_any;
};

/* Without leases, and for nobody. NULL without memory. */
struct delegs *delegs_new(uint32_t max_opens);
struct delegs *delegs_free(struct delegs *d); /* accepts NULL, returns NULL */

/* st, which is in its client's table and on its file, is one of them. obj->lock is held. */
void deleg_add_locked(struct state *s, struct st *st);
/* st, which hangs on its file, is none any more: out of the list, off the file, no lease. It was
 * taken out of its client's table by the caller. obj->lock is held. */
void deleg_end_locked(struct state *s, struct st *st);
/* Somebody wants what st is in the way of. obj->lock is held. */
void deleg_recall_locked(struct state *s, struct st *st);
/* Does it let its holder write? */
bool deleg_writes(const struct st *st);
/* The caller's duplicate of the descriptor of by's delegation of o to write, if there is one and
 * who asks may do mode (R_OK, W_OK) to o; else -1. obj->lock is held. */
int deleg_dup_locked(struct obj *o, const struct client *by, int mode);
/* The same, without. */
int deleg_dup(struct state *s, struct obj *o, const struct client *by, int mode);
/* A reference to the delegation sid, or NULL. */
struct st *deleg_get(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid);
/* A call about st is to be sent to its holder. obj->lock is held. False: there are too many. */
bool deleg_prepare_locked(struct state *s, const struct st *st, enum notice_kind kind);
/* Recalls all of o; nobody waits for it. */
void deleg_recall_all(struct state *s, struct obj *o);
/* DELEGRETURN. A status. */
uint32_t deleg_return(
	struct state *s, struct client *c, const struct obj *o, const struct nfs4_stateid *sid);
/* FREE_STATEID of a revoked one. False: sid is none. */
bool deleg_free_revoked(struct state *s, struct client *c, const struct nfs4_stateid *sid);
/* The client has answered CB_RECALL of sid with an error: it is asked again soon. */
void deleg_refused(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid);
/* Revokes what has been recalled for a lease time, and prepares further recalls of what has not.
 * Once a second or so. */
void deleg_tick(struct state *s);

/* From now on files are watched: signal tells of leases, SIGIO of the rest, of the ends of watches,
 * and of too many leases at once, which are then looked at by the next deleg_tick(). The caller has
 * both blocked in all threads, and calls one of these when one comes, as it does deleg_tick(). */
void deleg_use_leases(struct delegs *d, int signal);
void deleg_leases_broken(struct state *s);
/* False: nothing was to be told; more of that may come at any rate. */
bool deleg_disturbed(struct state *s);
/* Gives st a lease on its descriptor, as type says (F_RDLCK, F_WRLCK), and has the file watched for
 * what breaks none (deleg_watch.h). 0 or -errno. */
int deleg_lease(const struct state *s, struct st *st, int type);
void deleg_unlease(const struct state *s, const struct st *st);
/* The holder of a delegation of o to write is about to change its attributes or names, or has done
 * so. obj->lock is held. */
void deleg_own_change_locked(struct state *s, struct obj *o, bool begins);
/* Nothing is to be told of st's file on its account. obj->lock is held. */
void deleg_unwatch_locked(const struct state *s, const struct st *st);

/* Takes all calls that are to be sent; each is the caller's to free. */
void deleg_take_recalls(struct state *s, struct notices *out);

#endif
