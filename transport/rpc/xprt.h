/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xprt: one live connection that carries RPC messages in both directions, inside the transport
 * layer. Two implementations: rpcrdma_setup.c (RPC-over-RDMA on a provider) and tcp.c (record
 * marking). rpc_client and rpc_server sit on top. The two own XIDs, tables of calls, time-outs and
 * reconnection; an xprt knows bytes, chunks and credits.
 *
 * Threads. Any thread may call send_call() and send_reply(). progress() and forget() belong to the
 * progress thread. Upcalls come from inside progress(), no lock held.
 *
 * A transport may wrap another; the object stays the same. The wrapping transport starts from an
 * accepted xprt before establish(). It puts a table of its own into x->ops, with functions that
 * extend the replaced ones and call them. It hands upcalls of its own to the establish() below and
 * passes all other upcalls on. It frees its table in destroy().
 *
 * A call given to send_call() is the xprt's until the xprt hands the call back with the reply
 * upcall, or the owner takes the call back with forget(). Afterwards no byte of the call's memory
 * is touched.
 */
#ifndef RNFS_TRANSPORT_RPC_XPRT_H
#define RNFS_TRANSPORT_RPC_XPRT_H

#include "transport/rpc/rpc.h"
#include "transport/sock_user.h"

#define RPC_ADDRESS_MAX 80 /* bytes of an address as text, with the NUL */

/* An xprt's questions and messages to its owner. */
struct rpc_xprt_up {
	/* The call under way with the given XID and direction, or NULL (a late or forged reply,
	 * counted and dropped; the connection stays). reverse: a call by this side as a responder
	 * (rpc_cb_submit). */
	struct rpc_call *(*find)(void *ctx, uint32_t xid, bool reverse);
	/* call's reply is here and all its doors are closed. msg is the RPC message from the XID
	 * on, with its placed payloads. error: 0, or -EIO when the transport reports failure
	 * (RDMA_ERROR etc.: msg is NULL, sentence in the log). The cursor is valid during the
	 * upcall only. */
	void (*reply)(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg);
	/* A call from the peer: header parsed, args ready. The owner now owns req. */
	void (*request)(void *ctx, struct rpc_req *req);
	void *ctx;
	/* While connecting: readable means give up with ECANCELED; 0 or -1: none. */
	int abort_fd;
	/* While connecting by TCP: the port to call from, if it can be had; 0: any. */
	uint16_t from_port;
	/* A requester's: the version of RPC-over-RDMA to begin with, 0: the best. */
	unsigned rdma_version;
};

struct rpc_xprt_ops {
	/* Ends the hand-shake of an accepted xprt and stores up; blocks for a bounded time. Once,
	 * on the thread that will make progress. 0 or -errno with *e set. NULL for an xprt that
	 * connects. */
	int (*establish)(struct rpc_xprt *x, const struct rpc_xprt_up *up, struct err *e);
	/* call->msg holds the RPC message. `off` is the position of the XID word in msg->data (the
	 * RPC header was written backwards from RPC_HEADROOM); positions of payloads in args count
	 * from RPC_HEADROOM. Queues when out of credits. 0 or -ENOTCONN (not taken; progress() will
	 * say the same). The same call may come again on another connection: nothing from off on
	 * may be changed. */
	int (*send_call)(struct rpc_xprt *x, struct rpc_call *call, uint32_t off);
	/* Sends the messages that send_call() has kept back because of the cork (cork.h). Any
	 * thread, any number of times. NULL: send_call() never keeps one back. */
	void (*flush)(struct rpc_xprt *x);
	/* As send_call for the reply in req->msg. Ends req (rpc_req_free) when the connection is
	 * through with req. */
	void (*send_reply)(struct rpc_xprt *x, struct rpc_req *req, uint32_t off);
	/* Ends req without an answer (rpc_req_drop). Any thread. */
	void (*drop)(struct rpc_xprt *x, struct rpc_req *req);
	/* Handles arrived bytes. If there are none, sleeps at most timeout_ms (-1: for ever), or
	 * until rpc_xprt_kick(). Returns after a bounded amount of work. 0, or -ENOTCONN once the
	 * connection is gone for good (x->down_reason). */
	int (*progress)(struct rpc_xprt *x, int timeout_ms);
	/* Takes call back: removed from queues, doors closed before the return. Harmless for a call
	 * that the xprt does not have. No upcall from inside. Also called after progress() said
	 * -ENOTCONN. False: nothing of the call has left, or the xprt has never had it. */
	bool (*forget)(struct rpc_xprt *x, struct rpc_call *call);
	/* Any thread: makes progress() return -ENOTCONN soon. */
	void (*shutdown)(struct rpc_xprt *x);
	/* Does this xprt keep memory until the peer reads answers or sends the rest of a message?
	 * *moved is another number whenever bytes have moved. Progress thread. May be NULL. */
	bool (*keeps)(struct rpc_xprt *x, uint64_t *moved);
	/* The peer keeps this side's state for s seconds after a restart: the connection's end is
	 * to be noticed in time. Any thread. NULL: there is no such means. */
	void (*lease)(struct rpc_xprt *x, unsigned s);
	/* The TCP socket that carries x, for silence.h. NULL, or -1: there is none. */
	int (*tcp_fd)(struct rpc_xprt *x);
	void (*destroy)(struct rpc_xprt *x); /* at the last unref */
	bool keeps_port;		     /* rpc_xprt_keeps_port() */
};

/* The counters behind struct rpc_client_stats. */
struct rpc_counts {
	_Atomic uint64_t calls, replies, timeouts, reconnects, callbacks;
	_Atomic uint64_t bytes_placed, bytes_copied, bytes_exposed, bytes_pulled_up;
	_Atomic uint64_t calls_padded, replies_read;
};

static inline void rpc_count(_Atomic uint64_t *counter, uint64_t n)
{
	/* relaxed: the counter orders no other data */
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

struct rpc_xprt {
	const struct rpc_xprt_ops *ops;
	struct rpc_xprt_up up;
	_Atomic int refs;
	int kick_fd;			 /* eventfd that ends a sleep in progress() */
	void *owner;			 /* rpc_server's per-connection object */
	void (*owner_free)(void *owner); /* called after ops->destroy(); may be NULL */
	struct rpc_auth *const *auth;	 /* a server's further flavors, or NULL */
	_Atomic unsigned reqs;		 /* requests not yet ended */
	struct rpc_req *_Atomic spare;	 /* an ended request, for the next one; or NULL */
	_Atomic uint64_t active_ns;	 /* when a request last began or ended, 0: there was none */
	uint16_t local_port;		 /* a TCP client's own port; else 0 */
	bool give_port;			 /* at the end, free local_port at once, for the next
					  * connection */
	struct sockaddr_storage addr;	 /* the peer's, of an accepted connection */
	struct sock_user user;		 /* and its owner */
	char peer[RPC_ADDRESS_MAX];
	char down_reason[200];
	struct rpc_counts *stats; /* never NULL */
	/* for rpc_client_info() */
	const char *provider;
	_Atomic unsigned rdma_version;
	const char *_Atomic rdma_dialect; /* its name, NULL: none */
	_Atomic uint32_t inline_send, inline_recv;
	_Atomic uint32_t credits;
};

void rpc_xprt_kick(struct rpc_xprt *x); /* any thread */
/* Reads the kicks off kick_fd; progress() calls it when kick_fd was readable. */
void rpc_xprt_unkick(struct rpc_xprt *x);

/* For implementations. init: one reference, an eventfd, and counters that no caller reads. 0 or
 * -errno. fini closes the eventfd: the last thing that destroy() does before it frees x. */
int rpc_xprt_init(struct rpc_xprt *x, const struct rpc_xprt_ops *ops, const struct rpc_xprt_up *up);
void rpc_xprt_fini(struct rpc_xprt *x);
/* Writes "10.0.0.1:2049" or "[::1]:2049" into x->peer. Before another thread has x. */
/* Writes sa as ADDRESS:PORT to buf, an IPv6 address in brackets and with its scope. */
void rpc_xprt_address(const struct sockaddr *sa, char buf[RPC_ADDRESS_MAX]);
void rpc_xprt_set_peer(struct rpc_xprt *x, const struct sockaddr *sa);

/* --- requests, from the wire to the service and back (rpc_req.c) ------------------------------ */

/* An xprt makes a request with rpc_req_new() before its request upcall: zeroed, req->xprt set and
 * referenced. NULL when out of memory. The xprt's send_reply() or drop() ends the request with
 * rpc_req_free(): it releases msg, call_msg, the held payloads and the reference on the xprt (which
 * may destroy the xprt). xprt_priv must be gone by then. */
struct rpc_req *rpc_req_new(struct rpc_xprt *x);
void rpc_req_free(struct rpc_req *req);
/* The sink for payload i of the results, or -1: none. Without places sink i. i may be
 * res.npayloads: a payload that is put next. */
int rpc_req_sink(const struct rpc_req *req, unsigned i);
/* Lets go of the memory of the request's payloads. No payload may be named afterwards. */
void rpc_req_unhold(struct rpc_req *req);
/* Reads the RPC header of a received message. msg: a cursor at the XID word, with its placed
 * payloads, not yet moved. buf: the block of msg's bytes, to be referenced. 0, or -EBADMSG if the
 * message is no RPC call (too short, another message type): rpc_req_free(). A call with a bad
 * header, version or credential is a request all the same. Then set res_max, xprt_priv, and
 * deliver. */
int rpc_req_parse(struct rpc_req *req, struct mem_buf *buf, const struct xdr_in *msg);
/* Hands req to up.request(), or answers alone a request that must be denied (RFC 5531 section
 * 9). */
void rpc_req_deliver(struct rpc_req *req);

/* Connect; block at most p->connect_ms. One reference, the caller's. NULL with *e set. */
struct rpc_xprt *tcp_connect(
	const struct rpc_client_params *p, const struct rpc_xprt_up *up, struct err *e);
struct rpc_xprt *rpcrdma_connect(
	const struct rpc_client_params *p, const struct rpc_xprt_up *up, struct err *e);

/* Passive side. A listener hands out connections before establish(); the connection's own thread
 * calls establish(), so a silent peer delays no other. fd is readable when accept() has work. One
 * thread calls accept(); free() comes after the last accept(). */
struct rpc_acceptor;
struct rpc_acceptor_ops {
	int (*accept)(
		struct rpc_acceptor *a, struct rpc_xprt **out, struct err *e); /* or -EAGAIN */
	void (*free)(struct rpc_acceptor *a);
};
struct rpc_acceptor {
	const struct rpc_acceptor_ops *ops;
	int fd;
	uint16_t port;
};
/* Bind and listen at p->addr. NULL with *e set. */
struct rpc_acceptor *tcp_listen(const struct rpc_server_params *p, struct err *e);
struct rpc_acceptor *rpcrdma_listen(const struct rpc_server_params *p, struct err *e);

#endif
