/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_state: declarations shared by the files for byte-range locks of an NFSv3 mount. The
 * Network Lock Manager: RFC 1813 appendix II.
 *
 * One thread, started by the first lock, makes one call after the other. A lock that another client
 * holds is requested again and again: the server cannot call back, because this client has no port
 * that the server could reach. Waiters of this mount get a lock in the order in which they came.
 *
 * The mount remembers the held locks by owner and file. A restarted server has forgotten the locks,
 * but a server cannot restart without losing its connections. While any lock is held, the thread
 * tries a connection now and then. Whenever a connection was lost and is back, the thread claims
 * all locks again (nfs3_nlm_claim.c), unless another connection is unbroken (nfs3_conn.h). Until
 * the claims are decided, I/O that relies on a lock waits: all I/O through the open file that the
 * owner last used to lock. If the lock is lost, such I/O fails with -EIO until the owner unlocks.
 *
 * From below, each file uses the files before it:
 *
 *     nfs3_nsm, nfs3_held   state that outlives the mount: its name, owners that may hold locks
 *     nfs3_nlm_ctx          owners, and the open files that rely on their locks
 *     nfs3_nlm_queue        lock requests that wait for their turn
 *     nfs3_nlm_call         finds the lock manager, and calls it
 *     nfs3_nlm_claim        after a lost connection: which locks are still held
 *     nfs3_nlm_left         locks that a dead daemon has left at the server
 *     nfs3_nlm_run          executes one lock request
 *     nfs3_nlm_record       the locks for a successor of the daemon
 *     nfs3_nlm              the thread, its beginning and its end
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_STATE_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_STATE_H

#include <fcntl.h>
#include <sys/queue.h>

#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/v3/nfs3_client.h"
#include "nfsproto/v3/nfs3_held.h"
#include "nfsproto/v3/nfs3_nsm.h"
#include "transport/lock.h"

#define NFS3_NLM_BUCKETS 64

struct nfs3_lock_ctx { /* one owner's locks in one file */
	LIST_ENTRY(nfs3_lock_ctx) link;
	uint64_t owner;
	struct nfs_fh fh;
	uint32_t svid; /* the owner's number at the server */
	struct rpc_cred cred;
	struct lock_ranges ranges;
	uint32_t held; /* the owner's number in nfs3_held; 0: none */
	bool unsure;   /* the server may hold more than ranges say, within: */
	uint64_t unsure_start, unsure_end;
	bool unlocking; /* an UNLOCK without an answer so far, of: */
	uint64_t unlocking_start, unlocking_end;
	struct nfs_open *open; /* referenced: the open file of the last lock request; or NULL */
	bool counted;	       /* counted in open->locks: locks are held */
	bool lost;	       /* counted in open->locks_lost */
};

struct nfs3_nlm {
	struct mutex lock;
	pthread_cond_t wake;
	/* in order of arrival: be.v3.cookie is the number */
	GUARDED_BY(lock) TAILQ_HEAD(, nfs_op) queue;
	struct nfs_op *current GUARDED_BY(lock); /* the op with a call under way */
	uint64_t next_seq GUARDED_BY(lock);
	bool busy GUARDED_BY(lock); /* the thread makes calls, not for an op */
	bool up GUARDED_BY(lock), quit GUARDED_BY(lock),
		claim GUARDED_BY(lock),	  /* claim: claim the held locks again, */
		manager GUARDED_BY(lock); /* whether the server's connections are unbroken or not */
	uint64_t claim_ns GUARDED_BY(lock); /* but not before */
	pthread_t thread;
	atomic_bool stop; /* the current call is to end */
	int abort_fd;	  /* of an eventfd, constant; readable: connecting ends too */

	/* the thread's */
	struct rpc_client *rpc;
	uint64_t retry_ns;   /* no connection: no attempt before this time */
	uint64_t heard_ns;   /* when the lock manager last answered */
	bool known;	     /* there has been a lock manager */
	bool warned;	     /* the log has a message that the lock manager cannot be reached */
	uint64_t goodbye_ns; /* unmounting: no call waits longer */
	uint32_t next_svid, cookie;
	struct nfs3_nsm nsm;
	struct nfs3_held held;
	uint64_t left_ns; /* no attempt to free left locks before this time */
	unsigned left_tries;
	LIST_HEAD(, nfs3_lock_ctx) bucket[NFS3_NLM_BUCKETS];
};

static inline bool nfs3_nlm_is_unlock(const struct nfs_op *op)
{
	return op->type == NFS_LOCK && op->u.lock.type == F_UNLCK;
}

/* Was the current call stopped, by its caller or by the end of the mount? */
static inline bool nfs3_nlm_gave_up(struct nfs3_nlm *n)
{
	return atomic_load_explicit(&n->stop, memory_order_relaxed);
}

#endif
