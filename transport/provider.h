/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * provider: moves bytes. One small interface over reliable-connected RDMA with two implementations:
 * `verbs` (librdmacm, libibverbs) and `iwarp` (software iWARP over a TCP socket).
 *
 * Life of a connection:
 *
 *     open() or accept()   a prov_conn; nothing is on the wire that the peer must answer
 *     post_recv() ...      receives are posted before the peer may send
 *     establish()          hand-shake with private data; blocks, bounded by a time-out
 *     post(), poll() ...   traffic
 *     disconnect()         any thread; poll() then delivers PROV_WC_DOWN, once and last
 *     free()               after the last use by any thread
 *
 * Threads. Any thread may call post(), expose() and disconnect(). poll(), wait() and withdraw()
 * belong to one thread, the connection's progress thread (until there is one, the thread that made
 * the connection). Incoming data is placed inside the progress thread's poll(). So a door that
 * withdraw() has closed can receive no late write.
 *
 * Ownership. Memory named by a work request must stay until the request has ended. For Send and
 * RDMA Write the provider takes a reference on each buffer in `hold`, and drops the reference when
 * the device or socket needs the memory no more; there is no completion to handle. RDMA Read and
 * posted receives end with a completion that carries the caller's cookie.
 *
 * Order. Requests are carried out in the order posted (RDMA Write, then Send: the peer sees the
 * data before the message). One exception: an RDMA Read that must wait for ORD may be overtaken by
 * later Sends and Writes.
 *
 * Errors. Any failure of a posted request or of the connection ends the connection: PROV_WC_DOWN.
 * Posted receives and reads do not complete afterwards; their memory is the caller's again once
 * DOWN was delivered.
 */
#ifndef RNFS_TRANSPORT_PROVIDER_H
#define RNFS_TRANSPORT_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "transport/err.h"
#include "transport/mem.h"
#include "transport/sock_user.h"

#define PROV_MAX_SGE  8
#define PROV_MAX_HOLD 8
#define PROV_MAX_PRIV 56 /* private data that every provider can carry (rdmacm over InfiniBand) */

struct dial_addr;
struct prov_ops;

struct prov_params {
	uint32_t recv_depth;   /* most receives posted at once */
	uint32_t send_depth;   /* most sends, writes and reads under way at once */
	uint8_t ird, ord;      /* inbound / outbound RDMA Reads offered, 1..255; negotiated down */
	bool crc;	       /* iwarp: ask for MPA CRC32C (used if either side asks) */
	const void *priv;      /* our private data, sent at establish(); copied */
	uint8_t priv_len;      /* 0..PROV_MAX_PRIV */
	struct mem_pool *pool; /* the pool that all memory comes from */
	unsigned conns;	       /* connections that share registered memory (mem_pool_set_aside()) */
	int abort_fd;	       /* readable: open() and establish() give up, -ECANCELED; 0: none */
	/* iwarp: several addresses for open() in place of its peer (dial.h); outcomes are set. Not
	 * referred to afterwards. nchoice 0: peer. */
	struct dial_addr *choice;
	unsigned nchoice;
};

/* The part of a connection for its user to read. */
struct prov_conn {
	const struct prov_ops *ops;
	/* valid after establish() */
	uint8_t ird, ord;
	uint8_t peer_priv[256];
	uint16_t peer_priv_len; /* 0 if the peer sent none */
	char down_reason[200];	/* valid once PROV_WC_DOWN was delivered: a sentence */
	/* valid after open() or accept() */
	struct sockaddr_storage peer;
	/* Registered memory is scarce: payload is reached through doors alone. Receives have no
	 * targets for payload: the registered memory of receives is set aside. */
	bool bulk_by_doors;
	/* valid after accept() */
	struct sock_user user;
};

struct prov_listener {
	const struct prov_ops *ops;
	int fd;	       /* readable when there is work for accept() */
	uint16_t port; /* the bound port (for port 0 at listen) */
};

enum prov_op {
	PROV_SEND,
	PROV_SEND_INV, /* Send with Invalidate of inv_stag at the peer */
	PROV_WRITE,    /* RDMA Write of sge[] to remote */
	PROV_READ,     /* RDMA Read of remote into sge[0] (exactly one) */
};

/* Another post follows at once, or flush(): the provider may delay the doorbell or system call. */
#define PROV_MORE 1u

struct prov_wr {
	enum prov_op op;
	unsigned flags;
	uint64_t cookie; /* READ: returned in its completion */
	unsigned nsge;
	struct mem_sge sge[PROV_MAX_SGE];
	uint32_t remote_stag; /* WRITE, READ */
	uint64_t remote_offset;
	uint32_t inv_stag; /* SEND_INV */
	unsigned nhold;
	struct mem_buf *hold[PROV_MAX_HOLD]; /* SEND, SEND_INV, WRITE: referenced until done */
};

enum prov_wc_op {
	PROV_WC_RECV,	   /* a receive is filled: cookie, len, invalidated/inv_stag */
	PROV_WC_READ,	   /* an RDMA Read has landed: cookie */
	PROV_WC_WITHDRAWN, /* all doors of a withdraw() are closed: cookie */
	PROV_WC_DOWN,	   /* the end, see down_reason */
};

struct prov_wc {
	enum prov_wc_op op;
	uint64_t cookie;
	uint32_t len;	  /* RECV: bytes */
	bool invalidated; /* RECV: the peer's Send invalidated inv_stag */
	uint32_t inv_stag;
};

#define PROV_REMOTE_READ  1u
#define PROV_REMOTE_WRITE 2u

/* A door in our memory, open to the peer for one RPC. stag/offset/len go onto the wire. */
struct prov_door {
	uint32_t stag;
	uint32_t len;
	uint64_t offset;
	bool invalidated; /* set by the user before withdraw() when a RECV named this stag */
	bool abandoned;	  /* set by the user before withdraw(): the peer does not know, see there */
	void *impl;	  /* the provider's */
};

struct prov_ops {
	const char *name;  /* "iwarp", "verbs" */
	bool remote_inval; /* doors may be closed by the peer's PROV_SEND_INV */

	/* Active side: resolves the route and makes local resources. Blocks at most timeout_ms.
	 * 0, or -errno with *e set (ERR_UNREACHABLE, ERR_NO_DEVICE, ...). iwarp: the TCP connect.
	 */
	int (*open)(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
		int timeout_ms, struct prov_conn **out, struct err *e);

	/* Passive side. addr's port may be 0. */
	int (*listen)(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
		struct prov_listener **out, struct err *e);
	/* Call when fd is readable. 0 and a connection, -EAGAIN if there is none after all. */
	int (*accept)(struct prov_listener *l, struct prov_conn **out, struct err *e);
	void (*unlisten)(struct prov_listener *l);

	/* Ends the hand-shake on either side. 0, or -errno with *e set: ERR_REFUSED (rejected),
	 * ERR_NOT_RDMA (the peer speaks something else or closed), ERR_UNREACHABLE (silence). After
	 * an error only free() may be called. */
	int (*establish)(struct prov_conn *c, int timeout_ms, struct err *e);

	/* Any thread. 0, -ENOTCONN (going down), -ENOBUFS (deeper than recv_depth), -EINVAL. */
	int (*post_recv)(struct prov_conn *c, uint64_t cookie, const struct mem_sge *sge);
	/* Any thread; serialised inside. A chain under PROV_MORE must come from one thread under
	 * the caller's lock. 0, -ENOTCONN, -ENOBUFS, -EINVAL. iwarp honours ORD by queueing. */
	int (*post)(struct prov_conn *c, const struct prov_wr *wr);

	/* Starts the posts left waiting under PROV_MORE; any thread. With this function a user may
	 * hold back requests of its own accord, in no chain. It then calls flush() before it polls
	 * or sleeps, or soon after if no caller waits for the requests. May be NULL: then PROV_MORE
	 * is for chains only. */
	void (*flush)(struct prov_conn *c);

	/* Bytes of Sends and RDMA Writes that the device or socket has not taken yet. *sent: bytes
	 * of the requests it has taken, since the beginning. Any thread. NULL for a provider that
	 * fails a connection when its peer takes no bytes. */
	size_t (*unsent)(struct prov_conn *c, uint64_t *sent);

	/* Opens a door to sge for access (PROV_REMOTE_*). Any thread. The post() of the message
	 * that tells the peer must follow. Reads by the peer need PROV_REMOTE_READ, writes by the
	 * peer PROV_REMOTE_WRITE. While a door may be written, bytes not written by the peer may
	 * change all the same. 0; -ENOMEM: not now; -EMSGSIZE: more than may ever be registered;
	 * -ENOTCONN. */
	int (*expose)(struct prov_conn *c, const struct mem_sge *sge, unsigned access,
		struct prov_door *door);
	/* Closes n doors, n >= 1, each once (progress thread). 0: closed now; nothing reads or
	 * writes the memory any more, not even queued answers to the peer's RDMA Reads.
	 * -EINPROGRESS: PROV_WC_WITHDRAWN with cookie follows, or PROV_WC_DOWN, which closes every
	 * door. Doors still open when the connection goes down are withdrawn all the same, to give
	 * back `impl`: then always 0.
	 *
	 * An abandoned door belongs to a call cancelled while the peer works on the call, which is
	 * no fault of the peer's. withdraw() closes such a door all the same. But a provider with a
	 * memory for abandoned doors tells them, while remembered, from numbers that never were.
	 * RDMA Writes to such doors lead nowhere, and a Send that invalidates one is delivered with
	 * `invalidated` false. Otherwise the kill of one process would cost all others the
	 * connection. A provider without this memory ends the connection. */
	int (*withdraw)(struct prov_conn *c, struct prov_door *doors, unsigned n, uint64_t cookie);

	/* Moves data; fills up to n completions and returns how many. Never blocks. Progress
	 * thread. */
	int (*poll)(struct prov_conn *c, struct prov_wc *wc, int n);
	/* Sleeps until poll() may have something, kick_fd (an eventfd, -1 for none) is readable, or
	 * timeout_ms (-1: for ever) has passed. Progress thread. Does not read kick_fd. */
	void (*wait)(struct prov_conn *c, int kick_fd, int timeout_ms);

	/* As rpc_xprt_ops.lease (rpc/xprt.h). After establish(). NULL: verbs, whose connections
	 * notice a peer's end at the next request only. */
	void (*lease)(struct prov_conn *c, unsigned s);

	/* The TCP socket that carries c (silence.h). NULL: verbs. An RDMA device notices a silent
	 * peer by retries of its own. */
	int (*tcp_fd)(struct prov_conn *c);

	/* Any thread, any number of times. Wakes wait(). */
	void (*disconnect)(struct prov_conn *c);
	void (*free)(struct prov_conn *c); /* accepts NULL */
};

extern const struct prov_ops prov_iwarp;
extern const struct prov_ops prov_verbs;

#endif
