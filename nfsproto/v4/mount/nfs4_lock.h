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
 * back. An interrupted user whose LOCK is under way waits for the answer, and gets a lock that is
 * granted. So after -EINTR the server does not grant that LOCK, and does not deny another client's
 * LOCK because of it.
 *
 *     submitted --> READY --> BUSY --granted--> user there: ranges set, answered
 *        |           ^         |            \-> user gone: the granted lock is given back
 *        |           |         |--denied-----> no wait: -EAGAIN; interrupted: -EINTR
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

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "nfsproto/common/nfs_op.h"
#include "nfsproto/v4/server/nfs4_cb.h"
#include "transport/ledger.h"
#include "transport/lock.h"

#define NFS4_LOCK_BUCKETS 64

struct nfs4_lockreq;

TAILQ_HEAD(nfs4_lockreqs, nfs4_lockreq);

struct nfs4_locks {
	struct mutex lock ACQUIRED_AFTER(LOCK_OF(struct nfs4_cb, lock));
	GUARDED_BY(lock) LIST_HEAD(, nfs4_lockctx) bucket[NFS4_LOCK_BUCKETS]; /* by owner */
	struct nfs4_lockreqs waiters GUARDED_BY(lock);			      /* oldest first */
	unsigned nidle GUARDED_BY(lock);      /* contexts without locks */
	atomic_uint ntrouble;		      /* contexts that are suspect or lost */
	unsigned nlocal GUARDED_BY(lock);     /* contexts that are local */
	bool stalled GUARDED_BY(lock);	      /* a request waits for a delegation, */
	uint64_t stalled_ns GUARDED_BY(lock); /* and asks again at this time */
};

/* For annotations: the lock of struct nfs4_locks. */
#define NFS4_LOCKS LOCK_OF(struct nfs4_locks, lock)

struct nfs4_lockctx {
	LIST_ENTRY(nfs4_lockctx) link GUARDED_BY(NFS4_LOCKS);
	bool linked GUARDED_BY(NFS4_LOCKS);
	/* one while linked, one for each request, the state manager's */
	unsigned refs GUARDED_BY(NFS4_LOCKS);
	uint64_t owner;	  /* constant: the kernel's number */
	uint64_t number;  /* constant: of the lock-owner at the server */
	struct nfs_fh fh; /* constant */
	/* referenced; changes under locks.lock, by a BUSY request while there is no stateid */
	struct nfs_open *open;
	bool have_stateid GUARDED_BY(NFS4_LOCKS);
	struct nfs4_stateid stateid GUARDED_BY(NFS4_LOCKS);
	struct lock_ranges ranges GUARDED_BY(NFS4_LOCKS); /* held, as told to its users */
	struct nfs4_lockreq *busy GUARDED_BY(NFS4_LOCKS);
	struct nfs4_lockreqs ready GUARDED_BY(NFS4_LOCKS);
	unsigned nparked GUARDED_BY(NFS4_LOCKS);
	bool suspect GUARDED_BY(NFS4_LOCKS);
	struct lock_ranges lost GUARDED_BY(NFS4_LOCKS); /* lost, and not unlocked by users yet */
	bool trouble GUARDED_BY(NFS4_LOCKS);		/* suspect or lost: counted in ntrouble */
	struct note note; /* nfs4_state_note.h; under locks.lock while linked */
	/* nfs4_lock_local.c */
	/* the server does not know the held locks; not suspect, except while the server restarts;
	 * counted in nlocal */
	bool local GUARDED_BY(NFS4_LOCKS);
	/* local: but the server may know some of the locks; the ranges do not change then */
	bool pushed GUARDED_BY(NFS4_LOCKS);
	/* pushed: the number of ranges that the server knows */
	uint32_t npushed GUARDED_BY(NFS4_LOCKS);
	/* the last delegation that sent all ranges to the server at its return */
	uint64_t pushed_by GUARDED_BY(NFS4_LOCKS);
};

enum nfs4_lockreq_state { NFS4_LR_READY, NFS4_LR_BUSY, NFS4_LR_PARKED };

struct nfs4_lockreq {
	TAILQ_ENTRY(nfs4_lockreq) link GUARDED_BY(NFS4_LOCKS);	    /* in ctx->ready */
	TAILQ_ENTRY(nfs4_lockreq) wait_link GUARDED_BY(NFS4_LOCKS); /* in waiters, if waiting */
	struct nfs4_lockctx *ctx;				    /* referenced */
	struct nfs_open *open;			    /* referenced: the open of the request */
	struct nfs_op *user GUARDED_BY(NFS4_LOCKS); /* to be answered; NULL: gone, or none */
	struct nfs_op own;			    /* u.lock: the present request to the server */
	enum nfs4_lockreq_state state GUARDED_BY(NFS4_LOCKS);
	int type; /* F_RDLCK, F_WRLCK, F_UNLCK */
	uint64_t start, end;
	bool waiting GUARDED_BY(NFS4_LOCKS); /* in waiters */
	bool again GUARDED_BY(NFS4_LOCKS);   /* woken in another state than PARKED */
	/* BUSY: the server may be granting the lock, or may not have unlocked yet */
	bool asks GUARDED_BY(NFS4_LOCKS);
	bool doubtful GUARDED_BY(NFS4_LOCKS);	 /* the server may have granted the lock, or not */
	uint64_t due_ns GUARDED_BY(NFS4_LOCKS);	 /* PARKED: when the request asks again */
	bool interrupted GUARDED_BY(NFS4_LOCKS); /* the user wants no lock from a later LOCK */
	/* BUSY: the thread that handles own alone uses the rest */
	bool giving_back; /* own undoes a grant without a user, piece by piece from pos on */
	uint64_t pos;
	unsigned polls;	   /* number of "denied" answers */
	unsigned disowned; /* times that the server did not know the state */
	uint32_t status;   /* own ended with this nfsstat4, for nfs4_lockreq.c to judge; or 0 */
};

#endif
