/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_conn: one RPC-over-RDMA connection, as its own files see it. Everybody else sees
 * transport/rpc/xprt.h. What larger parts of it do for the others is in headers of their own:
 * requester.h, responder.h, rpcrdma_continue.h, rpcrdma_flow.h, rpcrdma_lent.h, rpcrdma_place.h.
 *
 * Both ends are the same object. `requester` is the side that connected; its calls go forward, the
 * other side's go in reverse (RFC 8167). Calls that go in reverse, and their replies, are always
 * inline. Each side makes calls in one direction and takes them in the other:
 *
 *   a call that we make     struct rpcrdma_posted   requester_call.c, requester_reply.c
 *   a call that we take     struct rpcrdma_taken    responder_call.c, responder_reply.c
 *
 * States of a posted call; `lock` protects them, the lists and the credits:
 *
 *   BACKLOG      waits for a credit, in `backlog`
 *   MARSHAL      a thread makes its doors and its message, in `posted`; nobody else touches it
 *   SENT         doors open, reply awaited, in `posted`
 *   FAILED       could not be sent: in `failed`, told by progress()
 *   PULLED       the reply is here, its Read chunks are being read (rpcrdma_pull.c); on no list
 *   CLOSING      the reply is here, its doors are being closed, in `closing`; progress thread only
 *
 * From CLOSING a call goes back to BACKLOG if it had no memory, or was refused and can be sent in
 * another dialect or another form.
 *
 * Invariants
 *   - call->xprt_priv is the posted call while the connection has the call, and NULL otherwise.
 *   - The thread that marshals touches neither the call nor the posted call once it is SENT: the
 * reply may be faster than its return.
 *   - The owner sees a reply only when no door of its call is open.
 *   - Calls of the peer's that wait for memory, and those that are pulled or served, together never
 * exceed the credits granted (credit_in).
 *   - Receives posted >= those of the answers to the calls that we have credits for (credit_out) +
 * credits we grant: no Send finds us without.
 *
 * Locks: `chain` (a reply's RDMA Writes and its Sends are posted as one; so are all Sends of a
 * message, and so each of a single one, in a dialect that continues messages), `lock`. Never both,
 * and no upcall or provider call with `lock` held.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONN_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONN_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "transport/provider.h"
#include "transport/rpcrdma/ccp.h"
#include "transport/rpcrdma/rpcrdma_credit.h"
#include "transport/rpcrdma/rpcrdma_dialect.h"
#include "transport/rpcrdma/rpcrdma_priv.h"
#include "transport/rpcrdma/rpcrdma_props.h"
#include "transport/rpcrdma/rpcrdma_stream.h"
#include "transport/rpc/xprt.h"

#define RPCRDMA_INLINE_DEFAULT	4096
#define RPCRDMA_CREDITS_DEFAULT 64
#define RPCRDMA_CREDITS_MAX	1024
#define RPCRDMA_REVERSE_CREDITS 16    /* in the reverse direction: for calls of ours, or of its */
#define RPCRDMA_BATCH		16    /* completions taken at a time */
#define RPCRDMA_HELD_MAX	16    /* messages that wait for each other */
#define RPCRDMA_HELD_WRITE	16384 /* bytes of RDMA Writes before a message that may wait */
#define RPCRDMA_UNSENT_MAX	(64u << 20) /* of answers, then calls wait */
#define RPCRDMA_STARVED_MS	10	    /* how often a starved connection looks for memory */
#define RPCRDMA_LINGER_MS	2  /* after which a patient call leaves alone, more or less */
#define RPCRDMA_READS_MAX	32 /* RDMA Reads of one connection under way */
/* Segments of chunks that a call may offer for its reply: RPCRDMA_SEGS_FREE (Linux clients have no
 * more) whenever there is a credit; of calls with more, which are carried out when there is room,
 * RPCRDMA_SEGS_MAX in all. Each costs an RDMA Write. */
#define RPCRDMA_SEGS_FREE 16
#define RPCRDMA_SEGS_MAX  (2 * RPCRDMA_MAX_SEGS)
#define RPCRDMA_DOORS_FEW 16 /* of a call, without getting memory for them */
/* Messages in a dialect that talks (rpcrdma_continue.c, rpcrdma_flow.c). */
#define RPCRDMA_REPLY_SENDS 1024	 /* that a reply may take */
#define RPCRDMA_JOIN_MAX    MEM_MAX_SIZE /* bytes that a peer makes us keep of a message */
#define RPCRDMA_ROOM_MAX    32		 /* Sends of one that leave without a grant between */
#define RPCRDMA_STALL_MS    50	  /* when a stalled one looks at what was granted before ... */
#define RPCRDMA_STALLED_MS  30000 /* ... and when it has waited for too long */
#define RPCRDMA_RARELY_LONG 8192  /* bytes of a reply that, with RDMA_DONE, has no Reply chunk */
/* Of what a responder lends (rpcrdma_lent.c): with more, calls wait. */
#define RPCRDMA_LENT_MAX   64	       /* replies */
#define RPCRDMA_LENT_BYTES (64u << 20) /* and bytes of them */
/* Receive buffers where data may come in Sends: a message, then pages, the first of which takes
 * what of the message is too long. */
#define RPCRDMA_RTR_HEAD 1024
#define RPCRDMA_RTR_PAGE 4096
#define RPCRDMA_RTR_OWN	 17
/* The memory of one, which ends with a page. */
#define RPCRDMA_RTR_BLOCK ((1 + RPCRDMA_RTR_OWN) * RPCRDMA_RTR_PAGE)
#define RPCRDMA_PIECES	  (2 * RPCRDMA_RTR_OWN) /* of a result that came in Sends */
#define RPCRDMA_RTR_SENDS 16  /* that a message takes at most whose data is in them */
#define RPCRDMA_RTR_FIXED 64  /* bytes of the header of a Transmit Request with an item, at most */
#define RPCRDMA_RTR_HDR	  256 /* of a header with an item that is in all of a buffer */
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

/* One receive buffer of the connection; the cookie of its posted receive. Progress thread only. */
struct rpcrdma_recv {
	struct mem_buf *buf; /* NULL: given away with a request, to be replaced */
	STAILQ_ENTRY(rpcrdma_recv) link;
};

/* A message that has come, whole. */
struct rpcrdma_msg {
	struct rpcrdma_recv *recv; /* of its last Send ... */
	uint32_t recv_len;	   /* ... of so many bytes */
	struct mem_buf *joined; /* the RPC message, if it took several Sends; else it is in recv */
	uint32_t off, len;	/* where the RPC message is in there */
	unsigned sends;
	/* Of a group of transmissions (rpcrdma_group.c), where recv is the first, those behind it.
	 * `end` is where in a receive buffer header and message end, and data may begin. */
	uint32_t end;
	unsigned nmore;
	struct rpcrdma_part {
		struct rpcrdma_recv *recv;
		uint32_t recv_len, off, end; /* the part of the message is between them */
	} more[RPCRDMA_RTR_SENDS - 1];
};

/* A group of transmissions that has begun to come. Progress thread. */
struct rpcrdma_group {
	unsigned count;	       /* of them; 0: none has begun */
	bool refused;	       /* it was, and what is left of it is dropped ... */
	uint32_t xid;	       /* ... by this XID */
	struct rpcrdma_hdr *h; /* of the first; allocated with the first group */
	struct rpcrdma_msg m;
};

/* What has come of a message that goes on. Progress thread. */
struct rpcrdma_join {
	unsigned sends; /* 0: there is none */
	uint32_t xid, proc;
	enum rpcrdma_dir dir;
	bool refused; /* it was answered with an error: what comes of it is dropped */
	struct mem_buf *buf;
	size_t size; /* of buf */
	uint32_t len;
};

/* What is wrong with a call, or with what its reply needs: for an RDMA_ERROR. */
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
	unsigned sends;			       /* credits that it has */
	bool patient;			       /* as call->patient, from MARSHAL on */
	const struct rpcrdma_dialect *dialect; /* that it was sent in last, or NULL ... */
	/* ... and what the peer has made of it there, by its errors */
	struct rpcrdma_limits limits;
	uint32_t reply_min; /* bytes of its Reply chunk, if not 0 */
	bool whole;	    /* it travels in a position-zero Read chunk */
	bool plain;	    /* it does without placement by Sends */
	bool placed_call;   /* it was sent as a Transmit Request ... */
	uint32_t place;	    /* ... and this asked for its sink (enum rpcrdma_rtr_type), 0: none */
	uint32_t xid;	    /* in `orphans` */
	uint32_t dones;	    /* `dones_sent` when it was sent */
	int error;	    /* FAILED, CLOSING: what to tell the owner */
	bool hungry;	    /* for want of memory: it is counted in the connection's `hungry` */
	uint64_t turn;	    /* its place in the backlog: the lower is sent first */
	/* First those of the sinks, in order, then the Reply chunk's, then what the peer reads. */
	unsigned ndoors;
	struct prov_door *door;		    /* `few`, or more of them from the heap */
	unsigned nsinks;		    /* sinks given as Write chunks ... */
	unsigned sink_doors[RPC_MAX_SINKS]; /* ... of so many segments */
	struct mem_buf *reply_buf;	    /* Reply chunk, or NULL ... */
	unsigned reply_doors;		    /* ... of so many segments */
	struct mem_buf
		*gathered; /* what had too many pieces to be read from where it lies, or NULL */
	struct prov_door few[RPCRDMA_DOORS_FEW];
	/* PULLED, CLOSING */
	struct rpcrdma_taken *pull;	   /* what was read for its reply, or is being; or NULL */
	struct rpcrdma_msg reply;	   /* where it came in */
	bool closed;			   /* PROV_WC_WITHDRAWN has come */
	bool long_reply;		   /* in the Reply chunk */
	bool repeat;			   /* refused; it is to be sent again as another message */
	struct seg placed[RPCRDMA_PIECES]; /* where Sends have put its result */
	struct xdr_in in;
};
TAILQ_HEAD(rpcrdma_posted_list, rpcrdma_posted);

/* A call of the peer's, with the chunks of its header in no more memory than they take. Or a reply
 * with a Read list, which is pulled in the same way (rpcrdma_pull.c). */
struct rpcrdma_taken {
	TAILQ_ENTRY(rpcrdma_taken)
	link;		     /* in `waiting` for memory, in `pulls` for RDMA Reads */
	uint32_t xid, vers;  /* of its header */
	unsigned sends;	     /* that it took, and so credits */
	struct mem_buf *msg; /* the RPC call, from msg_off on */
	uint32_t msg_off, msg_len;
	struct xdr_padding padding; /* in it */
	bool is_reply;
	struct rpcrdma_posted *posted; /* the call of that reply; NULL: it was taken back */
	/* the chunks that the reply goes to, as in struct rpcrdma_hdr */
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
	uint32_t held; /* bytes of the buffers that were made for it */
	unsigned segs; /* counted in the connection's */
	/* It came as a Transmit Request: its reply is a Transmit Response, with an item for each of
	 * these, whose runs are of seg[], as those of write[]. */
	bool placed;
	unsigned nplaces;
	struct rpcrdma_rtr_place place[XDR_MAX_PAYLOADS];
	unsigned reserved;     /* Sends that the reply may take */
	struct seg *placed_at; /* behind seg[]: where its Sends have put data ... */
	unsigned nkept;	       /* ... which is in these, besides msg */
	struct mem_buf *kept[RPCRDMA_RTR_SENDS];
	unsigned next_read; /* next segment of the Read list to ask for */
	unsigned slot;	    /* where its predecessor went: 0 the message, 1.. the payloads */
	uint32_t filled[1 + XDR_MAX_PAYLOADS]; /* bytes asked for, by slot */
	unsigned reading;		       /* segments asked for and not here yet */
	bool has_inv;			       /* exactly one distinct handle in the header: */
	uint32_t inv_stag;
	unsigned nreads; /* what is to be read for it */
	struct rpcrdma_read read[];
};
TAILQ_HEAD(rpcrdma_taken_list, rpcrdma_taken);

/* A reply that the peer reads from our memory, until it says RDMA_DONE. */
struct rpcrdma_lent {
	TAILQ_ENTRY(rpcrdma_lent) link;
	uint32_t xid;
	uint64_t since_ns;
	struct mem_buf *buf;
	uint32_t len; /* of it */
	unsigned ndoors;
	struct prov_door door[XDR_MAX_PAYLOADS];
};
TAILQ_HEAD(rpcrdma_lent_list, rpcrdma_lent);

struct rpcrdma_counts {	    /* progress thread */
	uint64_t late;	    /* replies that belong to no call */
	uint64_t malformed; /* messages dropped for their form */
};

struct rpcrdma_conn {
	struct rpc_xprt x; /* first */
	bool requester;
	/* rpcrdma_negotiate.c; what is set after the start is set by the progress thread */
	const struct rpcrdma_dialect *const *dialects; /* that it may speak; constant */
	const struct rpcrdma_dialect *_Atomic dialect; /* that it speaks */
	_Atomic bool settled;			       /* the peer speaks it, too: it stays */
	bool refused;				       /* a dialect was, by ERR_VERS */
	const struct prov_ops *prov;
	struct prov_conn *pc;
	struct mem_pool *pool;
	struct mem_buf *zero;	  /* round-up bytes */
	uint32_t recv_size;	  /* of each receive buffer ... */
	uint32_t recv_off;	  /* ... which begins there in its memory */
	uint32_t inline_own;	  /* what we offered, both ways */
	struct rpcrdma_priv peer; /* what the peer offered, if it did */
	bool peer_said;
	/* rpcrdma_connprop.c */
	struct rpcrdma_props props; /* the peer's; progress thread */
	bool props_told;	    /* ours were; progress thread */
	/* rpcrdma_place.c: whether our receive buffers have targets; the peer's, and what it takes
	 * (RPCRDMA_RTR_XREQ, ...); the first is as it is once the second is not 0 */
	bool targets; /* constant */
	struct rpcrdma_rtr_layout layout;
	/* Sends that it takes for a call, and that it may take for a reply */
	unsigned rtr_req_sends, rtr_resp_sends;
	_Atomic uint32_t rtr_ops;
	bool layout_known;	/* progress thread */
	unsigned props_credits; /* that this took and that are not back; progress thread */
	_Atomic uint32_t seg_size, seg_count; /* most that the peer takes in a header of ours */
	_Atomic bool no_reverse;	      /* the peer takes no calls in reverse */
	bool remote_inv;		      /* replies may invalidate: both sides said so */
	/* rpcrdma_ccp.c, in the dialect of 2005; progress thread, or before there is one */
	bool shy;		    /* this may be an end of version 1: it is not lent anything */
	bool configured;	    /* the two ends have told each other their limits: */
	uint32_t ccp_send;	    /* most bytes of a Send of ours */
	uint32_t ccp_align;	    /* of the peer's receive buffers, 0: none */
	_Atomic bool may_lend;	    /* the peer takes Read chunks in replies */
	_Atomic unsigned reads_max; /* RDMA Reads of the peer's memory at a time */
	unsigned nrecvs;
	uint32_t reverse; /* calls that the requester takes: RPCRDMA_REVERSE_CREDITS or less */
	unsigned batch;	  /* completions handled before receives are replenished */

	/* progress thread */
	struct rpcrdma_recv *recvs;
	STAILQ_HEAD(, rpcrdma_recv) to_post;
	struct prov_wc wc[RPCRDMA_BATCH]; /* polled, wc[iwc..nwc) not yet handled */
	int iwc, nwc;
	struct prov_wc *later; /* polled while forget() waited; handled after wc */
	size_t nlater, later_cap, ilater;
	struct rpcrdma_taken_list pulls, waiting;
	struct rpcrdma_hdr hdr; /* of the message that is being handled */
	struct rpcrdma_join join;
	struct rpcrdma_group group;
	uint32_t last_grant;  /* in a dialect that talks; at least 1 */
	unsigned calls_heard; /* messages that came in it, up to 2 */
	uint64_t stalled_ns;  /* since when nothing of `stalled` could leave, 0: not now */
	uint64_t read_ns;     /* when an RDMA Read was last begun or ended */
	bool no_memory;	      /* the backlog waits for memory since no_memory_ns ... */
	uint64_t no_memory_ns;
	uint64_t alone_ns; /* ... and since then no call under way has any, 0: one has */
	bool said_no_memory;
	unsigned reads;	     /* under way */
	unsigned held;	     /* small messages posted under PROV_MORE since the last flush ... */
	uint64_t held_since; /* ... and when the first of them was */
	struct rpcrdma_posted_list closing;
	struct rpcrdma_posted_list ended; /* on their way to `spare` */
	struct rpcrdma_counts count;
	uint64_t spin_ns;
	unsigned spin_misses, spin_skip; /* in vain in a row; sleeps to leave it out */

	/* Whether a thread handles completions, and which (it was the last, if none does). */
	_Atomic bool handling;
	_Atomic pthread_t handler;

	/* rpcrdma_lent.c */
	struct rpcrdma_lent_list lent, returned; /* under lock; their doors are being closed */
	_Atomic unsigned nlent;			 /* of both */
	_Atomic size_t lent_bytes;

	_Atomic size_t pulled; /* sum of `held` of all calls taken and not ended */
	/* Segments of calls with more than RPCRDMA_SEGS_FREE, that are being served, and that were
	 * answered while the provider still had something to send. */
	_Atomic unsigned segs, segs_out;
	/* rpcrdma_linger.c */
	_Atomic uint64_t linger_ns;
	_Atomic bool lingered;	   /* a call was left since the last sleep */
	_Atomic bool sound_asleep; /* set by the progress thread */
	unsigned brief;		   /* how many sleeps are to be brief; progress thread */

	_Atomic bool starved; /* calls or receives wait for memory: progress() looks again soon */

	pthread_mutex_t lock;
	pthread_cond_t marshalled; /* a posted call has left MARSHAL */
	/* under lock */
	bool down;
	struct rpcrdma_credit credit_out; /* our calls */
	struct rpcrdma_credit credit_in;  /* the peer's, until they are answered; its grant and both
					   * `max` are constant, and read without lock. In a dialect
					   * that talks the grant is for answers to our calls, too */
	struct rpcrdma_posted_list backlog, posted, failed, spare;
	uint64_t turns;	 /* calls that have been given a place in the backlog */
	unsigned hungry; /* calls that are about to go back there, for want of memory */
	/* Calls of several Sends that were taken back; only xid and sends are of use. */
	struct rpcrdma_posted_list orphans;
	unsigned patient; /* credits of calls SENT that nobody waits for */
	/* RDMA_DONEs of ours (rpcrdma_pull.c), and those whose credits are back */
	uint32_t dones_sent, dones_back;
	char why[200]; /* why we closed the connection ourselves, "" if not */

	/* We did so for what the peer has sent, or for want of memory: of a message that comes now
	 * something may be missing, and nobody is told of it. */
	_Atomic bool broken;

	/* rpcrdma_flow.c, in a dialect that talks */
	_Atomic uint32_t room;	 /* Sends that the peer's last message lets us post */
	_Atomic uint32_t banked; /* and all of its messages together */
	_Atomic uint32_t run;	 /* Sends of messages in several that have left since it */
	/* Messages that have come since one of ours granted credits, and whether one of them was
	 * no call, which gets an answer */
	_Atomic uint32_t unsaid;
	_Atomic bool unowed;
	_Atomic bool stalls;	      /* `stalled` is not empty ... */
	_Atomic size_t stalled_bytes; /* ... and holds so many */
	pthread_mutex_t chain;
	STAILQ_HEAD(, rpcrdma_stalled) stalled; /* under chain ... */
	unsigned stalled_credits;		/* ... as are the credits of the calls in it */
};

static inline struct rpcrdma_conn *rpcrdma_conn_of(struct rpc_xprt *x)
{
	return (struct rpcrdma_conn *)x;
}

#define rpcrdma_stat_add(c, field, n) rpc_count(&(c)->x.stats->field, (n))

/* rpcrdma_conn.c */
/* How long a progress thread polls before it sleeps, in microseconds, 0: not at all. Read when a
 * connection is made. Without effect on a machine with one CPU. */
extern unsigned rpcrdma_spin_us;
/* Most bytes of one connection's calls that come by RDMA Read, pulled or being so; and how long its
 * RDMA Reads may stand still, in ms. */
extern size_t rpcrdma_pulled_max;
extern unsigned rpcrdma_pull_ms;
/* How long a peer may keep what it was lent, in ms. */
extern unsigned rpcrdma_lent_ms;
extern const struct rpc_xprt_ops rpcrdma_ops;
/* As rpcrdma_connect() and rpcrdma_listen() on a provider of the caller's choice (tests). */
struct rpc_xprt *rpcrdma_connect_on(const struct prov_ops *prov, const struct rpc_client_params *p,
	const struct rpc_xprt_up *up, struct err *e);
struct rpc_acceptor *rpcrdma_listen_on(
	const struct prov_ops *prov, const struct rpc_server_params *p, struct err *e);
/* Makes h the header of a message of ours, without chunks, with our credits. Any thread. */
void rpcrdma_begin_hdr(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, uint32_t xid,
	enum rpcrdma_dir dir, uint32_t proc);
/* Posts a message that is a header only. If it does nothing but grant credits, it waits for none.
 * 0, -ENOMEM, or prov->post()'s. Any thread. */
int rpcrdma_post_hdr(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Closes the connection for a reason of our own: one sentence, the first one stays. No message that
 * comes afterwards is looked at. Any thread. */
__attribute__((format(printf, 2, 3))) void rpcrdma_break(
	struct rpcrdma_conn *c, const char *fmt, ...);
/* Gives a receive back to be posted again. Progress thread. */
void rpcrdma_recv_done(struct rpcrdma_conn *c, struct rpcrdma_recv *r);
/* Posts what was given back. */
void rpcrdma_recv_replenish(struct rpcrdma_conn *c);

/* rpcrdma_progress.c: the progress thread's loop. */
int rpcrdma_progress(struct rpc_xprt *x, int timeout_ms);
/* For a message without large RDMA Writes before it: PROV_MORE while the progress thread handles
 * what one poll() has brought, so that its answers leave together, and on other threads by the cork
 * (cork.h) unless it is alone under way; 0 otherwise. */
unsigned rpcrdma_more(struct rpcrdma_conn *c, bool alone);
/* Is the calling thread the one that handles completions now? */
bool rpcrdma_is_handling(const struct rpcrdma_conn *c);
/* Polls until p is closed or the connection is down; keeps other completions for later. */
void rpcrdma_await_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p);

/* rpcrdma_linger.c: calls that nobody waits for. */
/* May a call that is posted now stay until the next message leaves? True: it is to be posted under
 * PROV_MORE, and rpcrdma_linger() called behind it. False: it takes the others along. Any thread,
 * but not while it handles completions. */
bool rpcrdma_may_linger(struct rpcrdma_conn *c, bool patient);
void rpcrdma_linger(struct rpcrdma_conn *c);
/* Sends what has stayed for long enough; progress thread. */
void rpcrdma_linger_look(struct rpcrdma_conn *c);
/* Sends what has stayed, however briefly. */
void rpcrdma_linger_end(struct rpcrdma_conn *c);
/* The provider's wait(), as long as what stays allows; progress thread. */
void rpcrdma_sleep(struct rpcrdma_conn *c, int kick_fd, int timeout_ms);

/* rpcrdma_negotiate.c: which dialect is spoken. */
/* The table of those that we speak. A connection keeps what it finds here when it is made (tests
 * set another before). */
extern const struct rpcrdma_dialect *const *rpcrdma_dialects;
/* The table of a set of RPC_RDMA_V1, ...; none: rpcrdma_dialects. */
const struct rpcrdma_dialect *const *rpcrdma_table(unsigned versions);
/* At the start: begins with that version, or, if it is none of ours, with the best. */
void rpcrdma_try(struct rpcrdma_conn *c, unsigned vers);
/* After the hand-shake: the peer has offered *peer, or, if NULL, nothing. */
void rpcrdma_set_peer(struct rpcrdma_conn *c, const struct rpcrdma_priv *peer);
/* Reads the header of a message. As rpcrdma_dialect_decode(). Progress thread. */
int rpcrdma_decode(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const void *msg, size_t len);
/* A requester's: the peer has sent the ERR_VERS h. Goes over to the best dialect that it names, if
 * none is settled. Progress thread. */
void rpcrdma_refused(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* A requester's: the peer has answered with another RDMA_ERROR, so what came was no header to it,
 * as a version 2 of another draft is none. Goes over to the next dialect, if none is settled.
 * Progress thread. */
void rpcrdma_misunderstood(struct rpcrdma_conn *c);
/* The connection is down. If a requester's first message was never answered, the next connection
 * begins with the next dialect (version 2, section 4.3.3). */
void rpcrdma_unanswered(struct rpcrdma_conn *c);
/* What the peer takes of a message of ours. Any thread. */
struct rpcrdma_limits rpcrdma_limits(const struct rpcrdma_conn *c);
/* The peer's properties are known now. Progress thread. */
void rpcrdma_set_props(struct rpcrdma_conn *c, const struct rpcrdma_props *p);
/* The peer's limits, in the dialect of 2005: bytes that it takes inline, alignment of its receive
 * buffers, RDMA Reads of its memory. Progress thread. */
void rpcrdma_set_ccp(struct rpcrdma_conn *c, uint32_t send, uint32_t align, uint32_t reads);
/* A responder's: what to say in ERR_VERS. Any thread. */
void rpcrdma_offer(struct rpcrdma_conn *c, uint32_t *low, uint32_t *high);

/* rpcrdma_connprop.c: the properties of both ends, in a dialect that talks. Progress thread. */
/* A mechanism by which hosts prove who they are (version 2, section 5.2.6). */
struct rpcrdma_host_auth {
	/* What to tell the peer, of *len bytes (1..RPCRDMA_AUTH_MAX), which stays as it is; NULL:
	 * nothing. */
	const uint8_t *(*tell)(uint32_t *len);
	/* Is this peer good? auth is NULL if it has told nothing. False: the connection ends. */
	bool (*takes)(const uint8_t *auth, uint32_t len);
};
/* The one in use; by default one that tells nothing and takes everybody. */
extern const struct rpcrdma_host_auth *rpcrdma_host_auth;
/* A message has come that is in it; tells ours if it is time. */
void rpcrdma_tell_props(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* The peer's have come in m, under header h. */
void rpcrdma_handle_props(
	struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, struct rpcrdma_msg *m);

/* rpcrdma_ccp.c: both ends tell each other their limits, in the dialect of 2005. */
/* A requester's, after the hand-shake: asks, and waits for the answer, at most timeout_ms, and
 * until abort_fd (0: none) is readable. A peer that does not know the program has the limits of
 * section 6.1. 0, or -errno with *e set. */
int rpcrdma_ccp_ask(struct rpcrdma_conn *c, int timeout_ms, int abort_fd, struct err *e);
/* A responder's: is req of that program? Then it is answered, and gone. */
bool rpcrdma_ccp_serve(struct rpcrdma_conn *c, struct rpc_req *req);

/* rpcrdma_padded.c: RDMA_MSGP. */
/* Makes the message s, which fits into a Send under header h, one with padding, if that aligns its
 * payload and it still fits. */
void rpcrdma_pad(struct rpcrdma_conn *c, const struct xdr_out *args, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s);
/* The padding of a message that came under header h, which may have none. */
static inline struct xdr_padding rpcrdma_padding_of(const struct rpcrdma_hdr *h)
{
	return (struct xdr_padding){h->align, h->thresh, (uint32_t)h->len};
}

#endif
