/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm: byte-range locks of an NFSv3 mount, by the Network Lock Manager (RFC 1813 appendix II).
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
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_H

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

/* dir, who: nfs3_nsm_open()'s. 0 or -errno. */
int nfs3_nlm_init(struct nfs3_nlm *n, const char *dir, const char *who);
/* It is mounted: begins to have freed what a former daemon left, if there was one. */
void nfs3_nlm_start(struct nfs3_client *c);
/* Ends what waits with -ENOTCONN, clears what is held (waiting ms at most), disconnects. */
void nfs3_nlm_finish(struct nfs3_client *c, unsigned ms);
/* An NFS_LOCK or NFS_LOCKT. */
void nfs3_nlm_submit(struct nfs3_client *c, struct nfs_op *op);
void nfs3_nlm_cancel(struct nfs3_client *c, struct nfs_op *op);
/* A connection to the server was lost and is back, but nothing was sent over it yet. pull: it is
 * that of NFS itself. */
void nfs3_nlm_doubt(struct nfs3_client *c, bool pull);

#endif
