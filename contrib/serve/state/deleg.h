/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: delegations of files to clients (RFC 8881 section 10.4), and how they end.
 *
 *     given --recalled--> asked for, again and again --DELEGRETURN--> ended
 *       |                    \--not within the lease time--> revoked --FREE_STATEID--> ended
 *       \--DELEGRETURN, or the client ends--> ended
 *
 * A delegation is a state of its client (ST_DELEG). Its file lists it like an open, until it has
 * ended or is revoked. A revoked one stays only in the client's table, so that the client can be
 * told.
 *
 * The server does not wait for a conflicting delegation. The other client is told to come later
 * (NFS4ERR_DELAY), and a CB_RECALL is prepared, to be sent behind the answer (cb.h). The CB_RECALL
 * is sent again, now and then, until the delegation has come back.
 *
 * A lease of fcntl(2) on the file shows the opens of local programs. A program that opens the file
 * to write waits in the kernel, as does any opener if there is a write delegation. A signal tells
 * the server, and the delegation is recalled. A file without a lease is not delegated. Changes that
 * break no lease are watched (deleg_watch.h): the program does not wait for the recall. The holder
 * of a write delegation may change the file too: the watch pauses during such a change. Without
 * deleg_use_leases() the server takes no leases.
 *
 * The lease for a write delegation forbids any other open of the file, also the server's own. So
 * all opens of the holder are duplicates of one descriptor (deleg_dup_locked()).
 *
 * After a recall a file is not delegated for a while. A client that let a delegation be revoked
 * gets no more.
 */
#ifndef RNFS_SERVE_STATE_DELEG_H
#define RNFS_SERVE_STATE_DELEG_H

#include "contrib/serve/state/session.h"
#include "contrib/serve/state/stateid.h"
#include "transport/lock.h"

/* --delegations */
enum deleg_mode { DELEG_NONE, DELEG_READ, DELEG_WRITE };

#define DELEG_RECALLS_MAX 1024 /* not sent yet */

struct delegs {
	enum deleg_mode mode; /* set at the start */
	int watches;	      /* deleg_watch.h; -1: none; likewise */
	int signal;	      /* signal that tells of a lease; 0: leases are not used; likewise */
	bool doubtful;	      /* the main thread's: SIGIO may have told of a lease */
	uint32_t max;	      /* of all clients; likewise */
	uint32_t max_client;  /* of one; likewise */
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(, st) list; /* not ended and not revoked */
	_Atomic uint32_t n;			/* delegations; */
	_Atomic uint32_t nwrite;		/* to write; likewise */
	_Atomic uint32_t nrecalled;
	struct notices recalls GUARDED_BY(lock); /* and inquiries, to be sent */
	_Atomic uint32_t nrecalls;
	struct inquiries ready GUARDED_BY(lock);
	atomic_bool ready_any;
};

/* Without leases and without delegations. NULL without memory. */
struct delegs *delegs_new(uint32_t max_opens);
struct delegs *delegs_free(struct delegs *d); /* accepts NULL, returns NULL */

/* Adds st, which the tables of its client and file list, to the delegations. */
void deleg_add_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock);
/* Ends the delegation st, which the file lists: takes st off the list and off the file, and drops
 * the lease. The caller has taken st out of the client's table. */
void deleg_end_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock);
/* Another client or program wants a conflicting use. Recalls st. */
void deleg_recall_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock);
/* Is st a write delegation? */
bool deleg_writes(const struct st *st);
/* Returns a duplicate of the descriptor of by's write delegation of o, if there is one and the
 * caller may do mode (R_OK, W_OK) to o; otherwise -1. */
int deleg_dup_locked(struct obj *o, const struct client *by, int mode) REQUIRES(o->lock);
/* The same, with obj->lock not held. */
int deleg_dup(struct state *s, struct obj *o, const struct client *by, int mode);
/* A reference to the delegation sid, or NULL. */
struct st *deleg_get(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid);
/* Prepares a call about st to the holder. False: there are too many. */
bool deleg_prepare_locked(struct state *s, const struct st *st, enum notice_kind kind)
	REQUIRES(st->obj->lock);
/* Recalls all delegations of o, and does not wait. */
void deleg_recall_all(struct state *s, struct obj *o);
/* DELEGRETURN. A status. */
uint32_t deleg_return(
	struct state *s, struct client *c, const struct obj *o, const struct nfs4_stateid *sid);
/* FREE_STATEID of a revoked delegation. False: sid is none. */
bool deleg_free_revoked(struct state *s, struct client *c, const struct nfs4_stateid *sid);
/* The client has answered the CB_RECALL of sid with an error. Another one is sent soon. */
void deleg_refused(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid);
/* Revokes delegations that were recalled a lease time ago, and recalls the other ones again. Call
 * once a second or so. */
void deleg_tick(struct state *s);

/* From now on files are watched. `signal` tells of leases. SIGIO tells of other changes, of the
 * ends of watches, and of too many leases at once, which the next deleg_tick() looks at. The caller
 * has blocked both signals in all threads. When a signal arrives, the caller calls the function for
 * that signal, on the thread that calls deleg_tick(). */
void deleg_use_leases(struct delegs *d, int signal);
void deleg_leases_broken(struct state *s);
/* False: there was no news; the signal may come again. */
bool deleg_disturbed(struct state *s);
/* Gives st a lease of the type (F_RDLCK, F_WRLCK) on its descriptor, and has the file watched for
 * changes that break no lease (deleg_watch.h). 0 or -errno. */
int deleg_lease(const struct state *s, struct st *st, int type);
void deleg_unlease(const struct state *s, const struct st *st);
/* The holder of a write delegation of o is about to change its attributes or names (begins), or has
 * done so. */
void deleg_own_change_locked(struct state *s, struct obj *o, bool begins) REQUIRES(o->lock);
/* Ends the watch of st on the file. */
void deleg_unwatch_locked(const struct state *s, const struct st *st) REQUIRES(st->obj->lock);

/* Takes all calls to be sent; the caller frees each. */
void deleg_take_recalls(struct state *s, struct notices *out);

#endif
