/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_impl: the model of the software iWARP provider, and the structures that iwarp*.c and their
 * tests share. Users include provider.h.
 *
 * Model. A connection is one non-blocking TCP socket.
 *
 * Receiving belongs to the progress thread and needs no lock. Headers, trailers and small payload
 * come from the socket into the look-ahead buffer. Once a segment's header has been checked,
 * recvmsg() reads its payload straight to its place, with the look-ahead buffer as the second
 * piece. iwarp_rx.c cuts FPDUs out of the bytes, iwarp_msg.c judges segments and ends messages.
 * Inside a large message iwarp_guess.c foresees the following segments, so that one recvmsg()
 * brings many segments to their places.
 *
 * The thread that posts a request also sends it. Requests wait in `queue` (under q_lock, held for a
 * moment only). The thread that gets tx_lock turns the requests into a batch of FPDUs and writes
 * the batch. Another thread leaves its request to the holder of tx_lock, which looks at the queue
 * again after unlocking. When the socket is full, `blocked` is set, and the progress thread goes on
 * when the socket is writable again. No thread ever waits for the peer, so two peers that both only
 * write cannot stop each other.
 *
 * RDMA Reads of ours: at most `ord` are on the wire; the others wait in `reads_waiting`, where
 * later Sends and Writes overtake them. Reads of the peer become read responses in the same queue
 * as all other requests. When the door of a read response closes first, the unsent rest is copied
 * out of the door.
 *
 * Lock order: tx_lock, q_lock. stags.lock and rq_lock are innermost and never held together.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_IMPL_H
#define RNFS_TRANSPORT_IWARP_IWARP_IMPL_H

#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "transport/iwarp/ddp.h"
#include "transport/iwarp/mpa.h"
#include "transport/lock.h"
#include "transport/provider.h"

/* --- doors (iwarp_stag.c) --------------------------------------------------------------------- */

struct iwarp_door {
	uint32_t stag; /* 0: the slot is free */
	unsigned access;
	uint8_t *addr;
	uint32_t len;
	uint32_t top; /* the peer has written nothing from here on */
	uint64_t seq; /* tells two doors with the same number, one after the other, apart */
};

/* The former door of a cancelled call. The peer may still answer the call. An RDMA Write to a ghost
 * is taken off the wire and thrown away, and a Send may invalidate a ghost. RFC 5040 and 5041 would
 * ask for a Terminate, as for any invalid STag. Bounded: the last IWARP_GHOSTS of a connection, and
 * as many bytes to each as the door had. A Read Request of a ghost is still an error: there are no
 * bytes for an answer. */
struct iwarp_ghost {
	uint32_t stag; /* 0: none */
	unsigned access;
	uint32_t len, left;
};
#define IWARP_GHOSTS 256

/* Open addressing: the numbers are random, so a number is its own hash. Tagged offsets start at
 * 0. */
struct iwarp_stags {
	struct mutex lock;
	struct iwarp_ghost ghost[IWARP_GHOSTS] GUARDED_BY(lock); /* a ring */
	unsigned next_ghost GUARDED_BY(lock);
	struct iwarp_door *slot GUARDED_BY(lock);
	uint32_t cap GUARDED_BY(lock), count GUARDED_BY(lock);
	uint64_t seq GUARDED_BY(lock);
	uint32_t rnd[64] GUARDED_BY(lock);
	unsigned rnd_left GUARDED_BY(lock);
};

#define IWARP_MAX_DOORS 65536

/* --- sending (iwarp_tx.c) --------------------------------------------------------------------- */

struct iwarp_req {
	TAILQ_ENTRY(iwarp_req) link;
	enum ddp_op op;
	bool user;	 /* counts in under_way */
	uint32_t stag;	 /* the peer's: sink, or to be invalidated */
	uint64_t to;	 /* tagged: the peer's offset of byte 0 */
	uint32_t len;	 /* payload in all */
	size_t cost;	 /* in unsent */
	uint32_t built;	 /* payload in FPDUs already */
	unsigned sge_at; /* where byte `built` is */
	uint32_t sge_off;
	uint32_t src_stag;	     /* READ_RESP: our door */
	void *copy;		     /* READ_RESP: bytes copied out of the door */
	struct iwarp_door sink;	     /* READ_REQ while it waits */
	uint64_t cookie;	     /* READ_REQ while it waits */
	uint8_t small[DDP_TERM_MAX]; /* READ_REQ, TERMINATE: the payload */
	unsigned end_iov;	     /* in batch.done: the place of its last byte */
	const uint8_t *end_ptr;
	unsigned nsge, nhold;
	struct mem_sge sge[PROV_MAX_SGE];
	struct mem_buf *hold[PROV_MAX_HOLD];
};
TAILQ_HEAD(iwarp_reqs, iwarp_req);

#define IWARP_BATCH_IOV 256
#define IWARP_BATCH_HDR 8192
/* No message is begun in a batch of more bytes, so that memory is freed while still in the
 * processor's cache. */
#define IWARP_BATCH_BYTES (128u << 10)
#define IWARP_BATCH_MAX	  (1u << 20)

/* FPDUs on their way into the socket. */
struct iwarp_batch {
	struct iovec iov[IWARP_BATCH_IOV];
	unsigned at, n;		      /* pieces not written yet: iov[at..n) */
	uint8_t hdr[IWARP_BATCH_HDR]; /* headers, trailers, small payload */
	unsigned hdr_n;
	struct iwarp_reqs done; /* requests with their last byte in this batch */
};

struct iwarp_read { /* a read of ours on the wire */
	uint32_t stag;
	uint8_t *addr;
	uint32_t len, got;
	uint64_t cookie;
};

/* --- receiving (iwarp_rx.c, iwarp_guess.c, iwarp_msg.c) --------------------------------------- */

#define IWARP_LOOKAHEAD	  (32u << 10)
#define IWARP_SEG_MAX	  (64u << 10) /* the length of an FPDU has 16 bits */
#define IWARP_FPDU_HDR	  (2 + DDP_TAGGED_LEN)
#define IWARP_GAP	  (3 + 4 + IWARP_FPDU_HDR)
#define IWARP_GUESS_SEGS  96
#define IWARP_GUESS_BYTES (256u << 10)
#define IWARP_GUESS_IOV	  (1 + 2 * IWARP_GUESS_SEGS + 1)
/* Behind the room for all bytes that a wrong guess may have misplaced. */
#define IWARP_RX_BEHIND (IWARP_GUESS_BYTES + (IWARP_GUESS_SEGS + 1) * IWARP_GAP)
#define IWARP_RX_BUF	(IWARP_RX_BEHIND + IWARP_LOOKAHEAD)

/* Segments expected behind the last header, see iwarp_guess.c. */
struct iwarp_guess {
	unsigned n;	/* how many; 0: no guess was made for this recvmsg() */
	unsigned had;	/* bytes of gap[0] from earlier recvmsg() calls */
	unsigned tail;	/* bytes of gap[0] that belong to a trailer */
	uint32_t size;	/* payload of each but the last ... */
	uint32_t total; /* ... and of all */
	uint8_t *place; /* of the first */
	bool ends;	/* the last one ends the door or the read */
	unsigned reach; /* how many to foresee next time */
	unsigned misses, skip;
	uint64_t hits;				  /* foreseen segments that came, for tests */
	uint8_t gap[IWARP_GUESS_SEGS][IWARP_GAP]; /* a trailer and the next header */
};

enum iwarp_rx_state {
	IWARP_RX_HEADER,  /* the next byte of the stream begins an FPDU or is inside its header */
	IWARP_RX_PAYLOAD, /* header checked; `left` bytes go to dst */
	IWARP_RX_TRAILER, /* pad and CRC */
};

struct iwarp_rx {
	enum iwarp_rx_state state;
	uint8_t *buf;	 /* look-ahead, IWARP_RX_BUF bytes */
	unsigned rd, wr; /* unread: buf[rd..wr) */
	bool dry;	 /* Sends since the last tagged message */
	bool large;	 /* the last message was large: do not look far ahead */
	unsigned sends;	 /* Sends since the last tagged message */
	uint32_t msg;	 /* bytes of the current tagged message so far */
	unsigned ulpdu;	 /* length of the segment */
	struct ddp_hdr h;
	uint8_t raw[DDP_UNTAGGED_LEN + DDP_READ_REQ_LEN]; /* header and read request as received */
	uint8_t *dst;
	uint8_t *waste;	    /* for unwanted payload: IWARP_SEG_MAX bytes, or NULL */
	uint32_t left, pay; /* payload of this segment: missing, in all */
	uint32_t crc;
	uint32_t msn[3];	     /* expected next, per queue */
	uint32_t mo;		     /* received bytes of the current Send */
	uint8_t send_op;	     /* of the current Send */
	uint8_t small[DDP_TERM_MAX]; /* read requests and Terminates */
	struct iwarp_guess guess;
};

struct iwarp_recv {
	uint64_t cookie;
	uint8_t *addr;
	uint32_t len;
};

#define IWARP_LOOPBACK_MSS  16384 /* segments as large as this exist on loopback only */
#define IWARP_LOOPBACK_EMSS 65460 /* MTU 65536 without the headers of IPv6 and TCP */

/* --- the connection (iwarp.c) ----------------------------------------------------------------- */

struct iwarp_conn {
	struct prov_conn prov;
	struct prov_params params; /* priv points to priv_data */
	uint8_t priv_data[PROV_MAX_PRIV];
	char peer[80]; /* "192.0.2.1 port 20049" */
	int fd, wake_fd;
	bool active;
	bool crc;			     /* in use; set before traffic */
	unsigned emss GUARDED_BY(tx_lock);   /* bytes of a TCP segment */
	unsigned mulpdu GUARDED_BY(tx_lock); /* its largest ULPDU */
	bool aligned;	 /* each sendmsg() begins a segment, and FPDUs do not cross segments */
	bool long_fpdus; /* the peer takes FPDUs longer than segments; set before traffic */
	bool growing GUARDED_BY(tx_lock); /* loopback; its segments grow with the peer's window */

	atomic_bool up;	      /* establish() has succeeded */
	atomic_bool over;     /* and the connection has failed since */
	atomic_bool closing;  /* disconnect() was called */
	atomic_bool sleeping; /* the progress thread is in wait() */

	struct iwarp_stags stags;

	/* posted receives: a ring; producers under rq_lock, consumed by the progress thread */
	struct mutex rq_lock;
	struct iwarp_recv *rq;
	unsigned rq_cap; /* a power of two, >= recv_depth */
	atomic_uint rq_head, rq_tail;

	struct mutex q_lock ACQUIRED_AFTER(tx_lock);
	struct iwarp_reqs queue GUARDED_BY(q_lock);
	struct iwarp_reqs spare GUARDED_BY(q_lock);
	struct iwarp_reqs reads_waiting GUARDED_BY(q_lock);
	struct iwarp_read *reads GUARDED_BY(q_lock); /* ring of ord, oldest at reads_at */
	unsigned reads_at GUARDED_BY(q_lock), reads_n GUARDED_BY(q_lock);
	unsigned under_way GUARDED_BY(q_lock); /* the user's requests, <= send_depth */
	/* passive side, nothing may be sent before the first FPDU came */
	bool held GUARDED_BY(q_lock);
	bool closed GUARDED_BY(q_lock); /* no request is taken any more */
	struct iwarp_req *req_mem;
	_Atomic uint64_t sent; /* sent bytes of the user's requests, since the beginning */
	atomic_size_t unsent;  /* memory of the user's Sends and Writes not spare yet */
	atomic_uint nresp;     /* read responses not spare yet */

	struct mutex tx_lock;
	struct iwarp_reqs ready GUARDED_BY(tx_lock); /* taken from queue, in order */
	struct iwarp_batch batch GUARDED_BY(tx_lock);
	uint32_t tx_msn[3] GUARDED_BY(tx_lock); /* next to send, per queue */
	int tx_error GUARDED_BY(tx_lock);
	atomic_bool blocked;  /* the socket is full; the progress thread goes on */
	atomic_bool tx_yield; /* the progress thread wants tx_lock */
	atomic_bool tx_dead;  /* tx_error is set */

	struct iwarp_rx rx; /* progress thread */
	bool heard;	    /* progress thread: the peer has sent bytes */
	unsigned nudges;    /* progress thread: see nudge() */
	uint64_t nudge_ns;  /* progress thread: when the next nudge is due; 0: not decided */
	bool rx_more;	    /* progress thread: poll() stopped before the input ended */
	bool rx_none;	    /* progress thread: wait() has seen that there is no input */
	unsigned rx_dry;    /* progress thread: polls to come after one that took all input */
	bool rx_tried;	    /* progress thread: this recvmsg() is a try by rx_dry */
	unsigned rx_misses; /* progress thread: fruitless tries in a row */
	bool flush_due;	    /* progress thread: has queued a request */
	bool failed;	    /* progress thread: down_reason is set */
	bool down;	    /* progress thread: DOWN was delivered */
};

/* The progress thread alone changes `held`, and so reads `held` without q_lock. */
static inline bool iwarp_is_held(const struct iwarp_conn *c) NO_LOCK_ANALYSIS
{
	return c->held;
}

/* What a step of the receiving side has done. */
enum iwarp_step {
	IWARP_STEP_ON,	 /* something was done, call again */
	IWARP_STEP_WC,	 /* *wc is filled, call again */
	IWARP_STEP_NEED, /* more bytes are needed */
	IWARP_STEP_FAIL, /* iwarp_fail() was called */
};

#endif
