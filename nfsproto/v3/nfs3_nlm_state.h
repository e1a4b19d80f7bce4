/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_state: what the files of an NFSv3 mount's byte-range locks share. The Network Lock
 * Manager: RFC 1813 appendix II.
 *
 * One thread, started by the first lock, makes one call after the other. A lock that somebody else
 * holds is asked for again and again (no call comes back from the server: there is no port that it
 * could reach); among the waiters of this mount it goes by the order in which they came.
 *
 * What is held is kept, by owner and file. A server that restarted has forgotten it. It cannot
 * restart without losing its connections: one is tried now and then while anything is held, and
 * whenever one was lost and is back, everything is claimed again (nfs3_nlm_claim.c). Until that is
 * decided I/O that relies on a lock waits: that through the open file through which its owner asked
 * for it last. If the lock is lost, such I/O fails with -EIO until the owner unlocks.
 *
 * From below, each on those before it:
 *
 *     nfs3_nsm, nfs3_held   what outlives the mount: its name, who may hold something
 *     nfs3_nlm_ctx          owners, and the open files that rely on their locks
 *     nfs3_nlm_queue        lock requests whose turn has not come
 *     nfs3_nlm_call         finding the lock manager, and calls to it
 *     nfs3_nlm_claim        after a lost connection: what is still held
 *     nfs3_nlm_left         after the death of a daemon: what it has left there
 *     nfs3_nlm_run          carrying out one lock request
 *     nfs3_nlm              the thread, its beginning and its end
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_STATE_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_STATE_H

#include <fcntl.h>
#include <sys/queue.h>

#include "nfsproto/wire/lock_ranges.h"
#include "nfsproto/v3/nfs3_client.h"
#include "nfsproto/v3/nfs3_held.h"
#include "nfsproto/v3/nfs3_nsm.h"

#define NFS3_NLM_BUCKETS 64

struct nfs3_lock_ctx { /* one owner's locks in one file */
	LIST_ENTRY(nfs3_lock_ctx) link;
	uint64_t owner;
	struct nfs_fh fh;
	uint32_t svid; /* the owner's number to the server */
	struct rpc_cred cred;
	struct lock_ranges ranges;
	uint32_t held; /* its number in nfs3_held; 0: none */
	bool unsure;   /* the server may hold more than ranges say, within: */
	uint64_t unsure_start, unsure_end;
	struct nfs_open *open; /* referenced: through which it was asked for last; or NULL */
	bool counted;	       /* in open->locks: something is held */
	bool lost;	       /* counted in open->locks_lost */
};

struct nfs3_nlm {
	pthread_mutex_t lock;
	/* lock: */
	pthread_cond_t wake;
	TAILQ_HEAD(, nfs_op) queue; /* as they came: be.v3.cookie is the number */
	struct nfs_op *current;	    /* the op whose call is under way */
	uint64_t next_seq;
	bool up, quit, claim; /* claim: what is held is to be claimed again */
	uint64_t claim_ns;    /* but not before */
	pthread_t thread;
	atomic_bool stop; /* the current call is to end */
	int abort_fd;	  /* of an eventfd, constant; readable: so is what connects */

	/* the thread's */
	struct rpc_client *rpc;
	uint64_t retry_ns;   /* no connection: not before */
	uint64_t heard_ns;   /* when the lock manager last answered */
	bool known;	     /* there has been a lock manager */
	bool warned;	     /* that it cannot be reached */
	uint64_t goodbye_ns; /* unmounting: no call waits longer */
	uint32_t next_svid, cookie;
	struct nfs3_nsm nsm;
	struct nfs3_held held;
	uint64_t left_ns; /* what is left at the server is to be freed: not before */
	unsigned left_tries;
	LIST_HEAD(, nfs3_lock_ctx) bucket[NFS3_NLM_BUCKETS];
};

static inline bool nfs3_nlm_is_unlock(const struct nfs_op *op)
{
	return op->type == NFS_LOCK && op->u.lock.type == F_UNLCK;
}

/* Was the caller's patience ended, or the mount? */
static inline bool nfs3_nlm_gave_up(struct nfs3_nlm *n)
{
	return atomic_load_explicit(&n->stop, memory_order_relaxed);
}

#endif
