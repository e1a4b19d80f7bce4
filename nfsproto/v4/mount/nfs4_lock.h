/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock: byte-range locks of NFSv4.1 (RFC 8881 sections 9 and 18.10 to 18.12).
 *
 * A lock context is one of the kernel's lock owners on one file. The server sees a lock-owner with
 * a number of its own, bound to the open of its first lock request. Later locks of the same owner
 * on that file go the same way, through any open. A context without locks stays for the next time,
 * until its open is closed.
 *
 * A request is one NFS_LOCK. As with opens, the request runs as an own op. So a cancelled user is
 * answered at once, while the request goes on until any lock that the server has granted is given
 * back.
 *
 *     submitted --> READY --> BUSY --granted--> user there: ranges set, answered
 *        |           ^         |            \-> user gone: the granted lock is given back
 *        |           |         |--denied-----> no wait: -EAGAIN
 *        \--behind   |         v
 *           a waiter-|----> PARKED: until its time, an unlock here, or CB_NOTIFY_LOCK
 *                    \---------/
 *
 * One request of a context is BUSY at a time. READY requests wait for the BUSY one, first in, first
 * out. PARKED requests block no other. A waiting request stays in one list of all waiters, oldest
 * first. The list decides which waiter is woken first. A newcomer without locks in the file queues
 * up behind conflicting waiters. The list is an order, not a reservation. After a second a request
 * behind others asks as well, because the others may wait for locks of its own process elsewhere.
 *
 * A context is SUSPECT when the server has disowned its locks. Its requests stay READY until the
 * state manager has established the locks again. Only a restarted server that takes reclaims allows
 * this. When the lease has expired, other clients may have had the lock in between, even if the
 * range is free again: the lock is LOST. A lock is also LOST if the server revoked the lock or has
 * forgotten its open.
 *
 * I/O that relies on a SUSPECT lock waits. I/O that relies on any lock waits in two more cases: a
 * lease time has passed by our own clock since the server last renewed the lease; or the client
 * does not know yet which state the server has revoked. I/O that relies on a LOST lock fails with
 * -EIO until that range is unlocked or the file closed: other clients may have changed the data,
 * and may hold a lock now.
 *
 * The kernel does not tell which process reads or writes. So all I/O through the open file of a
 * lock-owner relies on the owner's locks. Changes of the file through any open file of the same
 * user do so, too: the process that has lost a lock may have opened the file twice.
 *
 * While the file has a write delegation, its locks are local (nfs4_lock_local.c).
 *
 * I/O through an open file has the lock's stateid while just one lock-owner holds locks by this
 * open file, so that the server refuses the I/O when the lock is gone. Otherwise the I/O has the
 * open's stateid.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "nfsproto/common/nfs_op.h"

#define NFS4_LOCK_BUCKETS 64

struct nfs4_client;
struct nfs4_lockreq;

TAILQ_HEAD(nfs4_lockreqs, nfs4_lockreq);

struct nfs4_lockctx {
	LIST_ENTRY(nfs4_lockctx) link;
	bool linked;
	unsigned refs;	 /* one while linked, one for each request, the state manager's */
	uint64_t owner;	 /* constant: the kernel's number */
	uint64_t number; /* constant: of the lock-owner at the server */
	struct nfs_fh fh;
	struct nfs_open *open; /* referenced; changes only while there is no stateid */
	bool have_stateid;
	struct nfs4_stateid stateid;
	struct lock_ranges ranges; /* held, as told to its users */
	struct nfs4_lockreq *busy;
	struct nfs4_lockreqs ready;
	unsigned nparked;
	bool suspect;
	struct lock_ranges lost; /* lost, and not unlocked by users yet */
	bool trouble;		 /* suspect or lost: counted in ntrouble */
	/* nfs4_lock_local.c */
	bool local; /* the server does not know the held locks; not suspect, except while the server
		       restarts; counted in nlocal */
	bool pushed; /* local: but the server may know some of the locks; the ranges do not change
			then */
	uint32_t npushed;   /* pushed: the number of ranges that the server knows */
	uint64_t pushed_by; /* the last delegation that sent all ranges to the server at its return
			     */
};

enum nfs4_lockreq_state { NFS4_LR_READY, NFS4_LR_BUSY, NFS4_LR_PARKED };

struct nfs4_lockreq {
	TAILQ_ENTRY(nfs4_lockreq) link;	     /* in ctx->ready */
	TAILQ_ENTRY(nfs4_lockreq) wait_link; /* in waiters, if waiting */
	struct nfs4_lockctx *ctx;	     /* referenced */
	struct nfs_open *open;		     /* referenced: the open of the request */
	struct nfs_op *user;		     /* to be answered; NULL: gone, or none */
	struct nfs_op own;		     /* u.lock: the present request to the server */
	enum nfs4_lockreq_state state;
	int type; /* F_RDLCK, F_WRLCK, F_UNLCK */
	uint64_t start, end;
	bool waiting;	  /* in waiters */
	bool again;	  /* woken in another state than PARKED */
	bool asks;	  /* BUSY: the server may be granting the lock */
	bool giving_back; /* own undoes a grant without a user, piece by piece from pos on */
	bool doubtful;	  /* the server may have granted the lock, or not */
	uint64_t pos;
	uint64_t due_ns;   /* PARKED: when the request asks again */
	unsigned polls;	   /* number of "denied" answers */
	unsigned disowned; /* times that the server did not know the state */
	uint32_t status;   /* own ended with this nfsstat4, for nfs4_lockreq.c to judge; or 0 */
};

struct nfs4_locks {
	pthread_mutex_t lock; /* of all locks here, contexts and requests; inside cb.lock, outside
				 the mount's and slots.lock */
	LIST_HEAD(, nfs4_lockctx) bucket[NFS4_LOCK_BUCKETS]; /* by owner */
	struct nfs4_lockreqs waiters;			     /* oldest first */
	unsigned nidle;					     /* contexts without locks */
	atomic_uint ntrouble;				     /* contexts that are suspect or lost */
	unsigned nlocal;				     /* contexts that are local */
	bool stalled;					     /* a request waits for a delegation, */
	uint64_t stalled_ns;				     /* and asks again at this time */
};

void nfs4_lock_init(struct nfs4_locks *l);
/* No request may be left. */
void nfs4_lock_finish(struct nfs4_locks *l);

/* Takes a user's NFS_LOCK, and cancels one that waits. An unlock goes on without its user. */
void nfs4_lock_submit(struct nfs4_client *c, struct nfs_op *op);
void nfs4_lock_cancel(struct nfs4_client *c, struct nfs_op *op);
/* The number of the lock-owner for owner on fh, for LOCKT: its own locks do not conflict. */
uint64_t nfs4_lock_number(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t owner);
/* op is a denied NFS_LOCKT: is the conflicting lock held through this mount, and by which owner? */
bool nfs4_lock_held_here(struct nfs4_client *c, const struct nfs_op *op, uint64_t *holder);
/* CB_NOTIFY_LOCK: a denied lock may be free now. Any thread. */
void nfs4_lock_notify(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_opaque *owner);
/* The state manager runs requests that are due. True if there was one; otherwise lowers *next to
 * the time when one will be. */
bool nfs4_lock_poll(struct nfs4_client *c, uint64_t now, uint64_t *next);

/* o is about to be closed. True: not now, because locks depend on o; o is closed when the locks are
 * gone. was_deferred: the locks may be gone now. */
bool nfs4_lock_defers_close(struct nfs4_client *c, struct nfs_open *o, bool was_deferred);

/* nfs4_lock_io.c. op is about to be sent at `now`: 0; -EAGAIN: not yet, a lock that op relies on is
 * in doubt; -EIO: such a lock is lost. */
int nfs4_lock_io(struct nfs4_client *c, const struct nfs_op *op, uint64_t now);
/* Is all of first..last certainly locked exclusively, at `now`, by an owner on which changes of the
 * file through o rely? Returns a number that stays the same while the owner's locks do; 0: no. */
uint64_t nfs4_lock_covers(struct nfs4_client *c, const struct nfs_open *o, uint64_t first,
	uint64_t last, uint64_t now);
/* nfs_lock_guard(). */
uint64_t nfs4_lock_guard(
	struct nfs4_client *c, const struct nfs_open *o, uint64_t first, uint64_t last);
/* nfs_locks_doubtful(): may any lock of the mount be lost, at `now`? */
bool nfs4_locks_doubtful(struct nfs4_client *c, uint64_t now);
/* As nfs4_open_stateid(), for reads and changes of data. */
struct nfs4_stateid nfs4_io_stateid(struct nfs4_client *c, struct nfs_op *op, struct nfs_open *o);

/* nfs4_lock_recover.c, for the state manager's thread. */
/* o is about to get a new stateid: locks under the old one are gone. */
void nfs4_lock_reopened(struct nfs4_client *c, struct nfs_open *o);
/* reclaim: establishes all locks again, within the server's grace period. Otherwise suspect locks
 * become lost. True: some could not be tried now. */
bool nfs4_lock_recover(struct nfs4_client *c, bool reclaim);
/* Finds out which lock states the server has revoked; each becomes suspect. True: some are not
 * known yet. */
bool nfs4_lock_test(struct nfs4_client *c);

/* While the client stops: ends waiting requests, then clears all held locks. True if there is
 * any. */
void nfs4_lock_abort(struct nfs4_client *c);
bool nfs4_lock_clear_all(struct nfs4_client *c);

/* Within nfs4_lock*.c; _locked: locks.lock is held */
bool nfs4_lockctx_idle(const struct nfs4_lockctx *ctx);
/* suspect, lost or linked has changed. */
void nfs4_lockctx_judge_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx);
/* The context of owner on fh: the one in use, or else an idle one that is bound to o (o NULL:
 * any). */
struct nfs4_lockctx *nfs4_lockctx_find_locked(
	struct nfs4_locks *l, const struct nfs_fh *fh, uint64_t owner, const struct nfs_open *o);
struct nfs4_lockctx *nfs4_lockctx_new_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t owner, struct nfs_open *o);
/* All, referenced. NULL: no memory. */
struct nfs4_lockctx **nfs4_lockctx_list(struct nfs4_client *c, size_t *n);
void nfs4_lockctx_unref(struct nfs4_client *c, struct nfs4_lockctx *ctx);
void nfs4_lockctx_run(struct nfs4_client *c, struct nfs4_lockctx *ctx);
void nfs4_lock_wake_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t start, uint64_t end);
bool nfs4_lock_behind_locked(struct nfs4_client *c, const struct nfs4_lockreq *req);
void nfs4_lock_park_locked(struct nfs4_client *c, struct nfs4_lockreq *req, unsigned ms);
void nfs4_lock_unwait_locked(struct nfs4_client *c, struct nfs4_lockreq *req);
/* Ends a request without a call under way. */
void nfs4_lockreq_end(struct nfs4_client *c, struct nfs4_lockreq *req, int error);

/* nfs4_lock_local.c */
enum nfs4_lock_way {
	NFS4_LW_ASK,   /* ask the server, if there is a need */
	NFS4_LW_LOCAL, /* nfs4_lock_take_locked() */
	NFS4_LW_WAIT,  /* nfs4_lock_stall_locked() */
};
enum nfs4_push {
	NFS4_PUSH_GRANTED,
	NFS4_PUSH_REFUSED,
	NFS4_PUSH_LEFT, /* not answered: later again */
};
enum nfs4_lock_way nfs4_lock_way_locked(struct nfs4_client *c, const struct nfs4_lockreq *req);
/* Grants req, for which its context has room; false: another owner's lock conflicts. */
bool nfs4_lock_take_locked(struct nfs4_client *c, struct nfs4_lockreq *req);
/* A request waits: contexts are run again soon. */
void nfs4_lock_stall_locked(struct nfs4_client *c);
bool nfs4_lock_poll_stalled(struct nfs4_client *c, uint64_t now, uint64_t *next);
/* Also with pushed cleared. */
void nfs4_lockctx_set_local_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx, bool local);
/* Are there any local locks of fh? */
bool nfs4_lock_any_local(struct nfs4_client *c, const struct nfs_fh *fh);
/* NFS_LOCKT; false: ask the server. */
bool nfs4_lock_test_local(struct nfs4_client *c, struct nfs_op *op);
/* A delegation of fh is going back: the next range to send to the server, and its context,
 * referenced; NULL: the server knows all. */
struct nfs4_lockctx *nfs4_lock_push_next(
	struct nfs4_client *c, const struct nfs_fh *fh, struct lock_range *g);
/* The result of sending such a range, by the delegation `by`; takes the reference. */
void nfs4_lock_pushed(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, uint64_t by, enum nfs4_push push);
/* fh is not delegated any more, and may not have been for a while: local locks become suspect, and
 * so do locks that went to the server from the delegation `by` (0: none). */
void nfs4_lock_undelegated(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t by);

#endif
