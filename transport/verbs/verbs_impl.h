/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_impl: the model of the verbs provider, and the structures that its files share.
 *
 *   verbs_mem.c    the protection domain and slabs
 *   verbs_queue.c  the send queue
 *   verbs_door.c   doors
 *   verbs_end.c    events of librdmacm, and the end
 *   verbs_io.c     posting and completions
 *   verbs_cm.c     connecting, on librdmacm
 *
 * Each file calls only the files above.
 *
 * Send queue. Every posted work request has an entry in the ring sq[]. Signalled completions retire
 * the entries in order, so that most requests are unsignalled (completion moderation). A request
 * without room waits in `pending` and is posted from poll().
 *
 * Scarce registration. The domain is lean where RLIMIT_MEMLOCK is too small to register the whole
 * pool, and where a requester's device has no memory windows. Then only the memory of receives and
 * of bounce buffers is registered for good. A Send of other memory is copied into a bounce buffer;
 * an RDMA Write or Read of other memory registers the memory until the request has ended (bare). A
 * request that gets no bounce buffer or no registration waits in `pending` too: in order, and
 * poll() tries again. So a post never fails for want of registered memory. expose() may, with
 * -ENOMEM.
 *
 * The end. A connection goes down once, in verbs_down() on the progress thread, which destroys the
 * queue pair before PROV_WC_DOWN is delivered: afterwards the device touches no memory of ours.
 * From `down` on, set under the lock before, no other thread touches the queue pair or the ring.
 *
 * Locks. conn->lock guards the send side. The receive side, CM events and withdraw() belong to the
 * progress thread. The domain list has a separate lock, never taken
 * with conn->lock held.
 */
#ifndef RNFS_TRANSPORT_VERBS_VERBS_IMPL_H
#define RNFS_TRANSPORT_VERBS_VERBS_IMPL_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <rdma/rdma_cma.h>
#include <sys/queue.h>

#include "transport/lock.h"
#include "transport/provider.h"

#define VERBS_PAGE	  ((size_t)4096) /* of the memory that RLIMIT_MEMLOCK counts */
#define VERBS_BOUNCE	  4096		 /* bytes of a bounce buffer */
#define VERBS_BOUNCES	  16		 /* of a connection, at most, */
#define VERBS_BOUNCES_MIN 2		 /* and at least */
#define VERBS_STARVED_MS  10		 /* how often poll() retries a failed registration */
#define VERBS_CHAIN	  32		 /* work requests handed to the device in one post */
#define VERBS_STASH	  16		 /* completions taken at once */
#define VERBS_SIGNAL_WRS  16		 /* at the latest every so many requests, */
#define VERBS_SIGNAL_HELD (256u << 10)	 /* or held bytes, a completion is asked for */

/* A device's protection domain, and the pool with the slabs that are registered in the domain. A
 * pool serves one role: requester or responder. */
struct verbs_domain {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct mem_pool *pool;
	struct ibv_device_attr attr;
	bool iwarp;   /* RDMA Read sinks need remote write access */
	bool windows; /* type 2 memory windows: doors without registration */
	bool lean;    /* registration is scarce: see the top */
	/* rpc_bytes: registered for single requests and doors. rpc_most: the limit of rpc_bytes (0:
	 * none). */
	size_t rpc_most;
	_Atomic size_t rpc_bytes;
	unsigned refs;
	LIST_ENTRY(verbs_domain) link;
};

enum verbs_kind { VERBS_HOLD, VERBS_READ, VERBS_BIND, VERBS_INVALIDATE, VERBS_INVALIDATE_LAST };

struct verbs_sqe {
	enum verbs_kind kind;
	uint64_t cookie;
	/* registered for the request alone: bare memory, and an RDMA Read's sink on iWARP */
	struct ibv_mr *mr[PROV_MAX_SGE];
	struct mem_buf *bounce; /* the bounce buffer of a Send */
	unsigned nhold;
	struct mem_buf *hold[PROV_MAX_HOLD];
};

/* A request about to enter the queue. */
struct verbs_wr {
	struct ibv_send_wr wr;
	struct ibv_sge sge[PROV_MAX_SGE];
	unsigned bare; /* bit i: sge[i] is still to be registered, or copied to a bounce buffer */
	struct verbs_sqe e;
	STAILQ_ENTRY(verbs_wr) link;
};

/* The object behind a door: a memory window, kept for reuse, or a registration for the door alone.
 */
struct verbs_window {
	struct ibv_mw *mw; /* mw->rkey: as last posted; the next bind starts from this rkey */
	uint32_t rkey;	   /* as last handed out */
	struct ibv_mr *mr;
	SLIST_ENTRY(verbs_window) free_link;
	LIST_ENTRY(verbs_window) link;
};

struct verbs_conn {
	struct prov_conn c;
	struct verbs_domain *dom;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	bool active;
	int wake_fd;		/* eventfd: disconnect() was called */
	int abort_fd;		/* while connecting, -1: none */
	atomic_bool disconnect; /* asked for */
	atomic_bool starved;	/* the first of `pending` waits for registered memory */
	uint8_t priv[PROV_MAX_PRIV];
	uint8_t priv_len;
	uint8_t want_ird, want_ord;
	char name[80]; /* the peer's address, for messages */

	/* progress thread */
	struct ibv_wc stash[VERBS_STASH];
	int nstash, stash_next;
	bool down_told;
	bool cm_ready; /* wait() saw an event on the channel */
	unsigned events_unacked;

	struct mutex lock;
	bool down GUARDED_BY(lock);	   /* no more posting */
	uint32_t sq_size GUARDED_BY(lock); /* entries in sq[] */
	/* free-running: next to post, next to retire */
	uint32_t sq_head GUARDED_BY(lock), sq_tail GUARDED_BY(lock);
	struct verbs_sqe *sq GUARDED_BY(lock);
	uint32_t since_signal GUARDED_BY(lock);
	size_t held_since_signal GUARDED_BY(lock);
	unsigned nchain GUARDED_BY(lock);
	struct verbs_wr chain[VERBS_CHAIN] GUARDED_BY(lock);
	GUARDED_BY(lock) STAILQ_HEAD(, verbs_wr) pending;
	/* free bounce buffers, all bounce buffers */
	unsigned nbounce GUARDED_BY(lock), bounces GUARDED_BY(lock);
	struct mem_buf *bounce[VERBS_BOUNCES] GUARDED_BY(lock);
	GUARDED_BY(lock) LIST_HEAD(, verbs_window) windows; /* all there are */
	/* unbound windows, ready for use */
	GUARDED_BY(lock) SLIST_HEAD(, verbs_window) free_windows;
};

/* The progress thread alone sets `down`, and so reads `down` without the lock. */
static inline bool verbs_is_down(const struct verbs_conn *v) NO_LOCK_ANALYSIS
{
	return v->down;
}

#endif
