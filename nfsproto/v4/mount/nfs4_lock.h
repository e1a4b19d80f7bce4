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
	bool waiting; /* in waiters */
	bool again;   /* woken in another state than PARKED */
	bool asks;    /* BUSY: the server may be granting the lock, or may not have unlocked yet */
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

#endif
