/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm: byte-range locks of an NFSv3 mount, by the Network Lock Manager (RFC 1813 appendix II).
 *
 * One thread, started by the first lock, makes one call after the other. A lock that somebody else
 * holds is asked for again and again (no call comes back from the server: there is no port that it
 * could reach); among the waiters of this mount it goes by the order in which they came.
 *
 * What is held is kept, by owner and file. A server that restarted has forgotten it: whenever a
 * connection was lost and is back, everything is claimed again.
 */
#ifndef RNFS_NFSPROTO_NFS3_NLM_H
#define RNFS_NFSPROTO_NFS3_NLM_H

#include <sys/queue.h>

#include "nfsproto/lock_ranges.h"
#include "nfsproto/nfs3_client.h"

#define NFS3_NLM_BUCKETS 64

struct nfs3_lock_ctx { /* one owner's locks in one file */
	LIST_ENTRY(nfs3_lock_ctx) link;
	uint64_t owner;
	struct nfs_fh fh;
	uint32_t svid; /* the owner's number to the server */
	struct rpc_cred cred;
	struct lock_ranges ranges;
};

struct nfs3_nlm {
	pthread_mutex_t lock;
	/* lock: */
	pthread_cond_t wake;
	TAILQ_HEAD(, nfs_op) queue; /* as they came: be.v3.cookie is the number */
	struct nfs_op *current;	    /* the op whose call is under way */
	uint64_t next_seq;
	bool up, quit, claim; /* claim: what is held is to be claimed again */
	pthread_t thread;
	atomic_bool stop; /* the current call is to end */

	/* the thread's */
	struct rpc_client *rpc;
	uint64_t retry_ns;   /* no connection: not before */
	uint64_t goodbye_ns; /* unmounting: no call waits longer */
	uint32_t next_svid, cookie;
	char caller[128];
	LIST_HEAD(, nfs3_lock_ctx) bucket[NFS3_NLM_BUCKETS];
};

/* 0 or -errno. */
int nfs3_nlm_init(struct nfs3_nlm *n);
/* Ends what waits with -ENOTCONN, clears what is held (waiting ms at most), disconnects. */
void nfs3_nlm_finish(struct nfs3_client *c, unsigned ms);
/* An NFS_LOCK or NFS_LOCKT. */
void nfs3_nlm_submit(struct nfs3_client *c, struct nfs_op *op);
void nfs3_nlm_cancel(struct nfs3_client *c, struct nfs_op *op);
/* A connection to the server was lost and is back: an rpc_client_params.reconnected; ctx is the
 * client. */
void nfs3_nlm_reconnected(void *ctx);

#endif
