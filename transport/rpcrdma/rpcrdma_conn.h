/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_conn: one RPC-over-RDMA connection, for the connection's own files. All other code uses
 * transport/rpc/xprt.h. A file calls only files below it; from the bottom to the top:
 *
 *   rpcrdma_conn, rpcrdma_recv, rpcrdma_hold, rpcrdma_linger, rpcrdma_wc   shared steps
 *   rpcrdma_send, rpcrdma_negotiate, rpcrdma_flow, rpcrdma_error           messages out
 *   rpcrdma_continue                                                       messages in several
 * Sends rpcrdma_taken, rpcrdma_read                                            data that we read
 *   requester_posted, requester_call                                       our calls
 *   requester_close, requester_reply                                       replies to our calls
 *   responder_reply, responder_call                                        calls of the peer
 *   rpcrdma_progress                                                       the loop
 *   v1/, v2/, old/, place/                                                 parts for some versions
 *   setup/                                                                 the whole
 *
 * The core calls a part for some versions by a table (rpcrdma_dialect.h, rpcrdma_parts.h).
 *
 * Both ends are the same object. `requester` is the side that connected. Calls of the requester go
 * forward, calls of the other side go in reverse (RFC 8167). Reverse calls and their replies are
 * always inline. Each side makes calls in one direction and takes calls in the other:
 *
 *   a call that we make     struct rpcrdma_posted   requester_*.c
 *   a call that we take     struct rpcrdma_taken    responder_*.c
 *
 * States of a posted call. `lock` protects the states, the lists and the credits:
 *
 *   BACKLOG      waits for a credit, in `backlog`
 *   MARSHAL      a thread makes the doors and the message; in `posted`, but owned by the thread
 *   SENT         doors open, reply awaited, in `posted`
 *   FAILED       could not be sent, in `failed`; progress() tells the owner
 *   PULLED       the reply has come with Read chunks, which we read (rpcrdma_pull.c); on no list
 *   CLOSING      the reply has come, the doors are being closed, in `closing`; progress thread only
 *
 * A call goes from CLOSING back to BACKLOG if memory was short. So does a call that the peer
 * refused, if another dialect or another form is left to try.
 *
 * Invariants
 *   - call->xprt_priv is the posted call while the connection has the call, and NULL otherwise.
 *   - The thread that marshals touches neither the call nor the posted call once the state is SENT:
 *     the reply may come before the thread returns.
 *   - The owner sees a reply only when no door of the call is open.
 *   - The peer's calls that wait for memory, are pulled or are served never exceed the granted
 *     credits (credit_in).
 *   - Receives posted >= answers to the calls with credits (credit_out) + credits that we grant. So
 *     each Send of the peer finds a receive.
 *
 * The parts for some versions only have structures of their own: rpcrdma_v2_state.h (dialects that
 * talk), rpcrdma_place_state.h (data placed by Sends), rpcrdma_old_state.h (the dialect of 2005).
 *
 * Locks: `chain` and `lock`. Under `chain` a reply's RDMA Writes and Sends are posted as one. In a
 * dialect that continues messages, `chain` also covers all Sends of a message, even a single one.
 * No thread holds both locks, and no upcall or provider call is made with `lock` held.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONN_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONN_H

#include <stdarg.h>
#include <stdatomic.h>

#include "transport/lock.h"
#include "transport/provider.h"
#include "transport/rpcrdma/rpcrdma_credit.h"
#include "transport/rpcrdma/rpcrdma_dialect.h"
#include "transport/rpcrdma/rpcrdma_linger_state.h"
#include "transport/rpcrdma/rpcrdma_msg.h"
#include "transport/rpcrdma/rpcrdma_old_state.h"
#include "transport/rpcrdma/rpcrdma_place_state.h"
#include "transport/rpcrdma/rpcrdma_priv.h"
#include "transport/rpcrdma/rpcrdma_stream.h"
#include "transport/rpcrdma/rpcrdma_v2_state.h"
#include "transport/rpcrdma/rpcrdma_wc_state.h"
#include "transport/rpc/xprt.h"

#define RPCRDMA_INLINE_DEFAULT	4096
#define RPCRDMA_CREDITS_DEFAULT 64
#define RPCRDMA_CREDITS_MAX	1024
#define RPCRDMA_REVERSE_CREDITS 16    /* for calls in the reverse direction, ours or the peer's */
#define RPCRDMA_HELD_MAX	16    /* messages that wait for one system call */
#define RPCRDMA_HELD_WRITE	16384 /* bytes of RDMA Writes before a message that may wait */
#define RPCRDMA_UNSENT_MAX	(64u << 20) /* bytes of unsent answers; above, calls wait */
#define RPCRDMA_STARVED_MS	10	    /* how often a starved connection looks for memory */
#define RPCRDMA_LINGER_MS	2	    /* after about this time a patient call leaves alone */
#define RPCRDMA_READS_MAX	32	    /* RDMA Reads of one connection in flight */
/* Segments of chunks that a call may offer for the reply. A call with up to RPCRDMA_SEGS_FREE
 * (Linux clients have no more) is served whenever there is a credit. Calls with more are served
 * when there is room, for RPCRDMA_SEGS_MAX segments in all. Each segment costs an RDMA Write. */
#define RPCRDMA_SEGS_FREE 16
#define RPCRDMA_SEGS_MAX  (2 * RPCRDMA_MAX_SEGS)
#define RPCRDMA_DOORS_FEW 16 /* doors of a call that need no heap memory */
/* Messages in a dialect that talks (rpcrdma_continue.c, rpcrdma_flow.c). */
#define RPCRDMA_REPLY_SENDS 1024	 /* most Sends of a reply */
#define RPCRDMA_JOIN_MAX    MEM_MAX_SIZE /* most bytes of a message that a peer makes us keep */
#define RPCRDMA_ROOM_MAX    32		 /* most Sends between two grants */
#define RPCRDMA_STALL_MS    50		 /* a message stalled for so long counts all grants ... */
#define RPCRDMA_STALLED_MS  30000	 /* ... and for so long ends the connection */
#define RPCRDMA_REPLY_HDR                                                                          \
	24 /* an accepted RPC reply with an empty verifier, before the results                     \
	    */

enum rpcrdma_state {
	RPCRDMA_BACKLOG,
	RPCRDMA_MARSHAL,
	RPCRDMA_SENT,
	RPCRDMA_FAILED,
	RPCRDMA_PULLED,
	RPCRDMA_CLOSING,
};

/* The Sends so far of a message that continues. Progress thread. */
struct rpcrdma_join {
	unsigned sends; /* 0: no message continues */
	uint32_t xid, proc;
	enum rpcrdma_dir dir;
	bool refused; /* we answered with an error, and drop the rest of the message */
	struct mem_buf *buf;
	size_t size; /* of buf */
	uint32_t len;
};

/* The fault of a call, or of the room for its reply, for an RDMA_ERROR. */
struct rpcrdma_fault {
	enum rpcrdma_errcode err;
	uint32_t arg, index; /* as in struct rpcrdma_hdr */
};

/* A call of ours. */
struct rpcrdma_posted {
	TAILQ_ENTRY(rpcrdma_posted) link;
	struct rpc_call *call;
	enum rpcrdma_state state;
	uint32_t off;			       /* of the XID word in call->msg */
	unsigned sends;			       /* credits of the call */
	bool patient;			       /* as call->patient, from MARSHAL on */
	const struct rpcrdma_dialect *dialect; /* of the last attempt, or NULL ... */
	/* ... and the form that the peer's errors in that dialect demand */
	struct rpcrdma_limits limits;
	uint32_t reply_min; /* bytes of the Reply chunk, if not 0 */
	bool whole;	    /* goes in a position-zero Read chunk */
	bool plain;	    /* goes without placement by Sends */
	bool placed_call;   /* was sent as a Transmit Request ... */
	uint32_t place; /* ... with a place for the sink of this type (enum rpcrdma_rtr_type), 0:
			   none */
	uint32_t xid;	/* in `orphans` */
	uint32_t dones; /* `dones_sent` when the call was sent */
	int error;	/* FAILED, CLOSING: the error for the owner */
	bool hungry;	/* lacked memory: counted in the connection's `hungry` */
	uint64_t turn;	/* place in the backlog: lower is sent first */
	/* First the doors of the sinks, in order, then of the Reply chunk, then of data that the
	 * peer reads. */
	unsigned ndoors;
	struct prov_door *door;		    /* `few`, or a larger array on the heap */
	unsigned nsinks;		    /* sinks given as Write chunks ... */
	unsigned sink_doors[RPC_MAX_SINKS]; /* ... of so many segments */
	struct mem_buf *reply_buf;	    /* Reply chunk, or NULL ... */
	unsigned reply_doors;		    /* ... of so many segments */
	struct mem_buf
		*gathered; /* copy of data with too many pieces to be read in place, or NULL */
	struct prov_door few[RPCRDMA_DOORS_FEW];
	/* PULLED, CLOSING */
	struct rpcrdma_taken *pull; /* the Read chunks of the reply, read or being read; or NULL */
	struct rpcrdma_msg reply;   /* the message of the reply */
	bool closed;		    /* PROV_WC_WITHDRAWN has come */
	bool repeat;		    /* refused, and to be sent again in another form */
	struct seg placed[RPCRDMA_PIECES]; /* where Sends have put the result */
	struct xdr_in in;
};
TAILQ_HEAD(rpcrdma_posted_list, rpcrdma_posted);

/* A call of the peer, or a reply with a Read list, which is pulled in the same way
 * (rpcrdma_pull.c). The memory is just large enough for the chunks of the header. */
struct rpcrdma_taken {
	TAILQ_ENTRY(rpcrdma_taken)
	link;		     /* in `waiting` for memory, in `pulls` for RDMA Reads */
	uint32_t xid, vers;  /* of the header */
	unsigned sends;	     /* Sends of the message, each with a credit */
	struct mem_buf *msg; /* the RPC call, from msg_off on */
	uint32_t msg_off, msg_len;
	struct xdr_padding padding; /* in the message */
	bool is_reply;
	struct rpcrdma_posted *posted; /* the call of the reply; NULL: taken back */
	/* the chunks for the reply, as in struct rpcrdma_hdr */
	unsigned nwrites;
	struct rpcrdma_chunk write[RPCRDMA_MAX_WRITES];
	bool has_reply;
	struct rpcrdma_chunk reply;
	unsigned nsegs;
	struct rpcrdma_seg *seg; /* behind read[] */
	unsigned npayloads;
	struct xdr_payload payload[XDR_MAX_PAYLOADS];
	struct mem_buf *pbuf[XDR_MAX_PAYLOADS];
	unsigned here; /* bit i: payload i came in the Send */
	uint32_t held; /* bytes of the buffers from get_buffers() */
	unsigned segs; /* counted in the connection's */
	/* The call came as a Transmit Request. The reply is a Transmit Response, with an item for
	 * each of place[]. The runs of place[] are in seg[], like the runs of write[]. */
	bool placed;
	unsigned nplaces;
	struct rpcrdma_rtr_place place[XDR_MAX_PAYLOADS];
	unsigned reserved;     /* most Sends of the reply */
	struct seg *placed_at; /* behind seg[]: the data in the Sends ... */
	unsigned nkept;	       /* ... the buffers of that data, besides msg */
	struct mem_buf *kept[RPCRDMA_RTR_SENDS];
	unsigned next_read; /* next segment of the Read list to ask for */
	unsigned slot;	    /* the target of the last segment: 0 the message, 1.. the payloads */
	uint32_t filled[1 + XDR_MAX_PAYLOADS]; /* bytes asked for, by slot */
	unsigned reading;		       /* segments asked for and not complete */
	bool has_inv;			       /* the reply may invalidate this handle: */
	uint32_t inv_stag;
	unsigned nreads; /* segments of the Read list */
	struct rpcrdma_read read[];
};
TAILQ_HEAD(rpcrdma_taken_list, rpcrdma_taken);

struct rpcrdma_conn {
	struct rpc_xprt x; /* first */
	bool requester;
	/* rpcrdma_negotiate.c; after the start only the progress thread sets the members */
	const struct rpcrdma_dialect *const *dialects; /* our dialects; constant */
	const struct rpcrdma_dialect *_Atomic dialect; /* the dialect in use */
	_Atomic bool settled;			       /* the peer speaks `dialect`, too; final */
	bool refused;				   /* the peer has refused a dialect by ERR_VERS */
	const struct rpcrdma_place_ops *place_ops; /* rpcrdma_parts.h; constant */
	const struct rpcrdma_v2_ops *v2_ops;
	const struct rpcrdma_old_ops *old_ops; /* the same */
	const struct prov_ops *prov;
	struct prov_conn *pc;
	struct mem_pool *pool;
	struct mem_buf *zero;	  /* round-up bytes */
	uint32_t recv_size;	  /* of each receive buffer ... */
	uint32_t recv_off;	  /* ... and the buffer's offset in the memory */
	uint32_t inline_own;	  /* the size that we offered, both ways */
	struct rpcrdma_priv peer; /* the peer's offer, if peer_said */
	bool peer_said;
	bool remote_inv; /* replies may invalidate: both sides agreed */
	struct rpcrdma_place_state place;
	_Atomic unsigned reads_max; /* RDMA Reads of the peer's memory at a time */
	unsigned nrecvs;
	uint32_t reverse; /* calls that the requester takes: RPCRDMA_REVERSE_CREDITS or less */
	unsigned batch;	  /* completions handled before receives are replenished */

	/* progress thread */
	struct rpcrdma_recv *recvs;
	STAILQ_HEAD(, rpcrdma_recv) to_post;
	struct rpcrdma_wc_state wcs;
	/* waiting: for memory; pulls: for RDMA Reads; come: all of them has come (rpcrdma_read.c)
	 */
	struct rpcrdma_taken_list waiting, pulls, come;
	struct rpcrdma_hdr hdr; /* of the message being handled */
	struct rpcrdma_join join;
	uint64_t read_ns; /* when an RDMA Read last began or ended */
	bool no_memory;	  /* the backlog has waited for memory since no_memory_ns ... */
	uint64_t no_memory_ns;
	uint64_t alone_ns; /* ... since when no call under way has memory, 0: one has */
	bool said_no_memory;
	unsigned reads;	     /* under way */
	unsigned held;	     /* small messages posted under PROV_MORE since the last flush ... */
	uint64_t held_since; /* ... and when the first was posted */
	struct rpcrdma_posted_list closing;
	struct rpcrdma_posted_list ended; /* about to go to `spare` */
	uint64_t spin_ns;
	unsigned spin_misses, spin_skip; /* vain polls in a row; sleeps without a poll */

	/* handling: a thread handles completions. handler: the thread, or the last such thread. */
	_Atomic bool handling;
	_Atomic pthread_t handler;

	struct rpcrdma_old_state old;

	_Atomic size_t pulled; /* sum of `held` of all calls taken and not ended */
	/* Segments of calls with more than RPCRDMA_SEGS_FREE. segs: of calls being served.
	 * segs_out: of calls answered while the provider had bytes to send. */
	_Atomic unsigned segs, segs_out;

	struct rpcrdma_linger_state linger;

	_Atomic bool starved; /* calls or receives wait for memory: progress() looks again soon */

	struct mutex lock;
	pthread_cond_t marshalled; /* a posted call has left MARSHAL */
	bool down GUARDED_BY(lock);
	struct rpcrdma_credit credit_out GUARDED_BY(lock); /* our calls */
	/* The peer's calls, until the answer. In a dialect that talks the grant covers answers to
	 * our calls, too. */
	struct rpcrdma_credit credit_in GUARDED_BY(lock);
	struct rpcrdma_posted_list backlog GUARDED_BY(lock), posted GUARDED_BY(lock),
		failed GUARDED_BY(lock), spare GUARDED_BY(lock);
	uint64_t turns GUARDED_BY(lock); /* places given in the backlog so far */
	/* calls that lacked memory and are about to return to the backlog */
	unsigned hungry GUARDED_BY(lock);
	/* Calls of several Sends that the owners took back; only xid and sends are valid. */
	struct rpcrdma_posted_list orphans GUARDED_BY(lock);
	unsigned patient GUARDED_BY(lock); /* credits of patient calls that are SENT */
	char why[200] GUARDED_BY(lock);	   /* why we broke the connection, "" if not */

	/* We closed the connection after an error of the peer or for want of memory. A later
	 * message may lack a part, so the progress thread drops later messages. */
	_Atomic bool broken;

	struct rpcrdma_v2_state v2;
	struct mutex chain;
};

static inline struct rpcrdma_conn *rpcrdma_conn_of(struct rpc_xprt *x)
{
	return (struct rpcrdma_conn *)x;
}

/* The progress thread alone sets `down`, and so reads `down` without lock. */
static inline bool rpcrdma_is_down(const struct rpcrdma_conn *c) NO_LOCK_ANALYSIS
{
	return c->down;
}

/* Credits that the peer's calls have: constant, and so read without lock. */
static inline uint32_t rpcrdma_granted(const struct rpcrdma_conn *c) NO_LOCK_ANALYSIS
{
	return c->credit_in.granted;
}

/* Most credits that our calls can use: constant, and so read without lock. */
static inline uint32_t rpcrdma_wanted(const struct rpcrdma_conn *c) NO_LOCK_ANALYSIS
{
	return c->credit_out.max;
}

#define rpcrdma_stat_add(c, field, n) rpc_count(&(c)->x.stats->field, (n))

/* How long a progress thread polls before sleeping, in microseconds; 0: no polls. Read when a
 * connection is made. Without effect on a machine with one CPU. */
extern unsigned rpcrdma_spin_us;
/* rpcrdma_pulled_max: most bytes that one connection holds for calls by RDMA Read, read or being
 * read. rpcrdma_pull_ms: how long the RDMA Reads of a connection may make no progress, in ms. */
extern size_t rpcrdma_pulled_max;
extern unsigned rpcrdma_pull_ms;
/* How long a peer may keep a lent reply, in ms. */
extern unsigned rpcrdma_lent_ms;
/* Makes h the header of a message from us, without chunks, with our credits. Any thread. */
void rpcrdma_begin_hdr(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, uint32_t xid,
	enum rpcrdma_dir dir, uint32_t proc);
/* Closes the connection. The reason is one sentence; the first reason stays. The progress thread
 * drops all later messages. Any thread. */
__attribute__((format(printf, 2, 3))) void rpcrdma_break(
	struct rpcrdma_conn *c, const char *fmt, ...);

#endif
