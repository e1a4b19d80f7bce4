/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc: ONC RPC (RFC 5531) for its users: calls, requests, and the two ends.
 *
 * One message, one buffer. The caller encodes a call's arguments at RPC_HEADROOM of a pool buffer.
 * The RPC header, and before the RPC header the transport's own header, are later written backwards
 * into the headroom. So a message leaves as one contiguous piece of registered memory. Replies are
 * built the same way.
 *
 * Bulk data stays out of the message buffer in both directions. Arguments name bulk data with
 * xdr_put_payload(); results that are to land in the caller's memory are announced as sinks.
 *
 * Threads. Any thread may call rpc_call_submit(), also from inside a done callback. Callbacks
 * (done, service) run on a progress thread with no lock held; a callback must not block on another
 * RPC.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_H
#define RNFS_TRANSPORT_RPC_RPC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "transport/dial.h"
#include "transport/err.h"
#include "transport/mem.h"
#include "transport/sock_user.h"
#include "transport/rpc/xdr.h"

#define RPC_HEADROOM  1024 /* bytes before the arguments or results in a message buffer */
#define RPC_MAX_SINKS 2
#define RPC_MAX_GIDS  16 /* AUTH_SYS, RFC 5531 appendix A */

enum rpc_flavor {
	RPC_AUTH_NONE = 0,
	RPC_AUTH_SYS = 1,
};

struct rpc_cred {
	enum rpc_flavor flavor;
	uint32_t uid, gid;
	uint32_t ngids; /* 0..RPC_MAX_GIDS */
	uint32_t gids[RPC_MAX_GIDS];
};

/* Fills in this process's own user, group and first groups, as AUTH_SYS. */
void rpc_cred_own(struct rpc_cred *cred);

/* Do both name the same user? */
bool rpc_same_cred(const struct rpc_cred *a, const struct rpc_cred *b);

enum rpc_proto {
	RPC_TCP,   /* record marking over a socket */
	RPC_IWARP, /* RPC-over-RDMA over software iWARP */
	RPC_RDMA,  /* RPC-over-RDMA over verbs */
};

/* "tcp", "iwarp", "rdma"; constant. */
const char *rpc_proto_name(enum rpc_proto p);

/* --- requester -------------------------------------------------------------------------------- */

struct rpc_client;
struct rpc_paths;
struct rpc_auth;
struct rpc_wrapped;
struct rpc_xprt;
struct rpc_call;
struct rpc_req;

/* How a call ended. error is 0, or
 *   -ETIMEDOUT   no answer in time (a soft client's calls, a server's), or the server does not want
 *                us (may_be_unwanted). The caller may retry, or report the error.
 *   -ECANCELED   rpc_call_cancel(): the server may or may not have carried out the call.
 *   -ENOTCONN    the client is shutting down.
 *   -EPROTO      refused by RPC, or garbage; call->rpc_stat tells which. After SYSTEM_ERR a
 *                client that is not soft first asks again for some minutes: the server may be
 *                short of memory.
 *   -EACCES      the server rejected the credential (AUTH_ERROR); call->auth_stat tells why.
 *   -EIO         the transport could not carry the call: RDMA_ERROR, a reply that is too large.
 * res stands at the results, and is bad if there are none. The progress thread calls done, with no
 * lock held. done may free call, or ready and submit call anew.
 */
typedef void rpc_done_fn(struct rpc_call *call, int error, struct xdr_in *res);

enum rpc_stat { /* why -EPROTO */
	RPC_OK,
	RPC_PROG_UNAVAIL,
	RPC_PROG_MISMATCH, /* mismatch_low/high are set */
	RPC_PROC_UNAVAIL,
	RPC_GARBAGE_ARGS,
	RPC_SYSTEM_ERR,
	RPC_VERS_MISMATCH,
	RPC_BAD_REPLY, /* the reply itself does not parse */
};

/* Finds the first sink's data in a reply that arrives on a byte stream. res: the first n bytes of
 * the results. Returns the byte offset of the data, if the bytes up to the data's length word are
 * complete and well-formed. 0: more bytes are needed, or the reply has no such data here. Pure; may
 * be called with any bytes. */
typedef size_t rpc_peek_fn(const void *res, size_t n);

struct rpc_call {
	/* set by the caller between rpc_call_init() and rpc_call_submit() */
	uint32_t proc;
	struct rpc_cred cred;
	struct rpc_auth *auth; /* the client's after rpc_call_init(); see auth there */
	struct xdr_out args;   /* ready for encoding after rpc_call_init() */
	unsigned nsinks;
	/* Result memory: payload i of the reply lands in sink[i], in order. A call under way holds
	 * a reference on the blocks of its sinks. An array of segments must stay until done. */
	struct seg_list sink[RPC_MAX_SINKS];
	/* The range of args with the operation whose result goes into sink[i]. All 0: the sink is
	 * for the first result of the call that may be placed. */
	struct {
		uint32_t begin, end;
	} sink_for[RPC_MAX_SINKS];
	bool moves;	     /* payload 0 may stay where it arrived, if in one piece: see moved */
	uint32_t reply_max;  /* bound of the results' XDR in bytes, without payload in the sinks */
	rpc_peek_fn *peek;   /* NULL: payload of stream transports is copied from the reply */
	unsigned timeout_ms; /* 0: the client's default */
	bool stays;	     /* the call is about its connection: no other may carry it */
	bool once;	     /* a peer that has got the call must not execute the call again, and
			      * knows the XID: no other connection may carry the call then */
	bool patient;	     /* no caller waits: the call may leave with the next, a bit later */
	rpc_done_fn *done;
	void *ctx;

	/* may be read in done */
	enum rpc_stat rpc_stat;
	uint32_t mismatch_low, mismatch_high;
	uint32_t auth_stat;
	/* Payload 0, with a reference on its block; empty: the payload is in sink[0]. */
	struct seg_list moved;
	bool repeated; /* a connection was lost with the call under way: the peer may have got the
			* call before */

	/* the transport's; no other code touches these */
	/* the client with the table that has the call, or is to have the call; changes under the
	 * lock of the table */
	struct rpc_client *_Atomic client;
	struct mem_buf *msg;	     /* RPC_HEADROOM, then the arguments */
	void *auth_priv;	     /* auth's data of the call */
	struct rpc_wrapped *wrapped; /* the call before auth wrapped it, or NULL */
	unsigned rejected;	     /* times that the server rejected the call's credential */
	int unsent; /* why marshalling failed, or 0; the sender's while the call has one */
	uint32_t xid;
	int state;
	bool cancelled;
	unsigned resends;
	uint64_t again_ns;     /* when to send the call again, after a pause; 0: no pause */
	uint64_t again_end_ns; /* and until when to try */
	unsigned again_ms;     /* the last pause */
	uint64_t deadline_ns;
	uint64_t sent_ns;
	uint32_t off;		   /* where the RPC header begins in msg->data */
	uint32_t copied;	   /* bytes of placed payload that went through a buffer */
	struct rpc_xprt *cb_xprt;  /* a server's call: the connection, else NULL */
	uint32_t cb_prog, cb_vers; /* likewise */
	_Atomic bool posted; /* the connection sets posted in send_call() when it has taken the
			      * call; a "reply" before is none */
	/* the connection's, while it has the call */
	void *_Atomic xprt_priv;    /* doors etc.; NULL when handed over and when handed back */
	TAILQ_ENTRY(rpc_call) link; /* its queue */
};

/* Called for each call that the peer makes: a server's service, or a client's callback program.
 * Must end, now or later and from any thread, with rpc_req_reply() or rpc_req_drop(). */
typedef void rpc_service_fn(void *ctx, struct rpc_req *req);

/* Versions of RPC-over-RDMA, as a set. All versions 2 have the same number, so a set has at most
 * one version 2. */
#define RPC_RDMA_V1	 1u
#define RPC_RDMA_V2	 2u
#define RPC_RDMA_V2_2016 4u
/* Version 1 as of 2005. A server of both versions 1 serves clients of either; a client of both
 * speaks only this one. */
#define RPC_RDMA_V1_LEGACY   8u
#define RPC_RDMA_V2_RTR	     16u /* version 2 with send-based placement, if the peer has it */
#define RPC_RDMA_V2_2016_RTR 32u /* the same of that version 2 */
#define RPC_RDMA_ALL	     63u
/* Reads a list of version names, "1", "2", "2-2016", "2-rtr", "2-2016-rtr", "1-legacy", with commas
 * between, into *out. False: s is no such list, or has several versions 2. */
bool rpc_rdma_versions_parse(const char *s, unsigned *out);

struct rpc_client_params {
	enum rpc_proto proto;
	struct sockaddr_storage peer; /* port included */
	socklen_t peer_len;
	/* Addresses of the same server, in order of preference, for the first connection alone. All
	 * are tried side by side (dial.h), and the first that answers takes the place of peer. tcp
	 * and iwarp. Outcomes are set. n 0: peer is tried. */
	struct dial_addr *choice;
	unsigned nchoice;
	bool hello; /* the null procedure is called on each new connection (rpc_client_hello.h) */
	struct rpc_paths *paths; /* the client joins these (rpc_paths.h); NULL: it is alone */
	/* The client begins without a connection, and makes the first as one in place of a lost
	 * connection. Its user has it join the paths, by rpc_paths_join(). */
	bool later;
	const char *peer_name; /* for messages: "server:/export"'s server; copied */
	uint32_t prog, vers;
	struct rpc_auth *auth; /* proves the caller of each call (rpc_auth.h); NULL: AUTH_NONE or
				* AUTH_SYS, by the flavor of the call's cred */
	struct mem_pool *pool;
	unsigned connect_ms; /* whole hand-shake, also of a reconnect */
	unsigned first_ms;   /* of the first connection, 0: connect_ms */
	int abort_fd;	     /* readable: rpc_client_new() gives up; 0: none */
	unsigned timeo_ms;   /* a call unanswered for so long: reconnect and resend (RDMA); RFC 8166
			      * never resends on a live connection */
	unsigned retrans;    /* soft: give up (-ETIMEDOUT) after so many time-outs */
	bool soft;
	/* Calls fail (-ETIMEDOUT) when the server has ended several connections and never answered
	 * on one: the server does not want us. Without effect after the first answer. */
	bool may_be_unwanted;
	/* tcp: replace a lost connection from the same port, if possible. A server's duplicate
	 * request cache may use the port as key. */
	bool same_port;
	/* RPC-over-RDMA */
	unsigned rdma_versions; /* RPC_RDMA_V1, ... that may be spoken; 0: all */
	uint32_t inline_size; /* bytes we receive inline, 1024..65536, offered by RFC 8797; 0: 4096
			       */
	uint32_t credits;     /* most calls under way, 0: 64 */
	unsigned conns;	      /* connections to the server, which share registered memory; 0: one */
	bool crc;	      /* iwarp */
	/* reverse direction (RFC 8167): the callback program, or service NULL */
	uint32_t cb_prog;
	rpc_service_fn *cb_service;
	void *cb_ctx;
	/* The progress thread calls reconnected() when a lost connection is back, or the first one
	 * is made `later`, before anything is sent on the new connection. Sessions are still valid;
	 * the backchannel must be bound anew. A call that reconnected() cancels is not sent again.
	 * May be NULL. */
	void (*reconnected)(void *ctx);
	/* The progress thread calls lost() when the connection is lost. May be NULL. */
	void (*lost)(void *ctx);
	/* The progress thread calls answers(), once each, when the server stops answering and when
	 * it answers again. NULL: both go to the log. */
	void (*answers)(void *ctx, bool yes);
	void *ctx;
};

/* Connects and starts the progress thread. Blocks, at most connect_ms or until abort_fd is
 * readable; with `later` not at all. NULL with *e set. */
struct rpc_client *rpc_client_new(const struct rpc_client_params *p, struct err *e);
/* Fails the calls under way with -ENOTCONN, closes the connection, joins the progress thread. Not
 * from a callback. c remains for threads that still ask for a path, or call: -ENOTCONN. An owner of
 * several paths stops all before it frees one, since their threads may name each other. */
void rpc_client_stop(struct rpc_client *c);
/* Stops c if need be. No other thread names c any more. Accepts NULL, returns NULL. */
struct rpc_client *rpc_client_free(struct rpc_client *c);

#define RPC_SERVER_MAX 340
#define RPC_WHY_MAX    ERR_MSG_MAX

struct rpc_client_info {
	enum rpc_proto proto;
	const char *provider;		   /* "tcp", "iwarp", "verbs" */
	const char *rdma_dialect;	   /* version of RPC-over-RDMA: "1"; NULL for tcp */
	uint32_t inline_send, inline_recv; /* bytes, 0 for tcp */
	uint32_t credits;		   /* granted now */
	uint32_t under_way;		   /* calls without an answer so far */
	bool connected;
	char server[RPC_SERVER_MAX]; /* "NAME ADDRESS:PORT", or without the name */
	char why[RPC_WHY_MAX];	     /* not connected: why not, if known */
};
/* The server keeps the client's state for s seconds after a restart. On this connection and later
 * ones the client notices such a restart in time, as far as the transport has the means. Any
 * thread, any number of times. */
void rpc_client_lease(struct rpc_client *c, unsigned s);
/* The server has moved to the address `to`: the connection ends, and further ones are made to that
 * address. Calls under way are sent again there. Any thread. */
void rpc_client_redirect(struct rpc_client *c, const struct dial_addr *to);
/* How c is connected at the moment. Any thread. */
void rpc_client_info(struct rpc_client *c, struct rpc_client_info *out);

struct rpc_client_stats { /* since the start */
	uint64_t calls, replies, timeouts, reconnects, callbacks;
	uint64_t bytes_placed;	  /* payload received straight into its sink */
	uint64_t bytes_copied;	  /* payload copied into its sink */
	uint64_t bytes_exposed;	  /* payload sent in place (Read chunks, writev) */
	uint64_t bytes_pulled_up; /* payload copied into an inline message */
	/* RPC-over-RDMA as of 2005: calls in RDMA_MSGP, replies ended by RDMA_DONE */
	uint64_t calls_padded, replies_read;
};
/* The counters of now; together they need not be of one moment. Any thread, without a lock. */
void rpc_client_stats(struct rpc_client *c, struct rpc_client_stats *out);
/* Adds b's counters to a's. */
void rpc_client_stats_add(struct rpc_client_stats *a, const struct rpc_client_stats *b);
/* Has the server ended connections again and again, and never answered a call? Any thread. */
bool rpc_client_shut_out(struct rpc_client *c);

/* Readies a call, whatever its earlier contents: a message buffer with room for args_max bytes of
 * arguments. The caller sets further fields afterwards. 0, -ENOMEM, or -EMSGSIZE: no buffer is that
 * large. rpc_call_finish() is needed only after 0, and harmless after a failure. */
int rpc_call_init(struct rpc_call *call, struct rpc_client *c, size_t args_max);
/* Releases the buffer. Only for a call that is not under way (never submitted, or done was
 * called). */
void rpc_call_finish(struct rpc_call *call);
/* Starts the call. 0: done will be called exactly once, perhaps before this function returns. Until
 * done, the call is the client's; only rpc_call_cancel() and rpc_call_withdraw() may touch it.
 * Negative errno: not started (-EMSGSIZE: args overflowed, -ENOTCONN: shutting down, -ENOMEM). Any
 * thread, also from inside done. */
int rpc_call_submit(struct rpc_call *call);
/* Asks for done soon, with -ECANCELED, after the call's doors are closed, unless the reply comes
 * first. Any thread, from rpc_call_init() on. A call after its done must not be named. */
void rpc_call_cancel(struct rpc_call *call);
/* As rpc_call_cancel(), but only if the peer cannot have got the call: no connection has had it so
 * far. Otherwise without effect. */
void rpc_call_withdraw(struct rpc_call *call);

/* Called in done by the coder of a result, where the payload's length word stands. Moves the
 * payload of a reply into sink i, from the sink's first segment on. A payload that was placed
 * there, or may stay elsewhere (call->moves), is not moved. Checks the length. 0 and *n, or
 * -EBADMSG (longer than the sink; the cursor is then bad). */
int rpc_call_take_sink(struct rpc_call *call, struct xdr_in *res, unsigned i, uint32_t *n);

/* --- responder -------------------------------------------------------------------------------- */

enum rpc_accept { /* RFC 5531 accept_stat */
	RPC_ACCEPT_SUCCESS = 0,
	RPC_ACCEPT_PROG_UNAVAIL = 1,
	RPC_ACCEPT_PROG_MISMATCH = 2,
	RPC_ACCEPT_PROC_UNAVAIL = 3,
	RPC_ACCEPT_GARBAGE_ARGS = 4,
	RPC_ACCEPT_SYSTEM_ERR = 5,
};

struct rpc_req {
	/* read by the service */
	uint32_t xid, prog, vers, proc;
	struct rpc_cred cred;
	struct xdr_in args;    /* payloads (WRITE data) already pulled from the requester */
	struct rpc_xprt *xprt; /* the request's connection; identity for sessions and the
				* backchannel */
	uint32_t res_max;      /* most bytes of results that the requester can take, without
				* payloads */
	unsigned nsinks;       /* of the Write chunks, listed in sink[]; there may be more */
	uint32_t sink[XDR_MAX_PAYLOADS]; /* bytes of each, see rpc_req_room() */
	/* The sinks are places of a Transmit Request (rpcrdma_rtr.h). Each sink is for a result of
	 * the operations that begin in a range of the call. An item without data uses a sink up. */
	bool places;
	struct {
		uint32_t begin, end;
	} sink_for[XDR_MAX_PAYLOADS];

	/* written by the service */
	struct xdr_out res; /* ready for encoding after rpc_req_begin(). In a call of several
			     * operations res.from is to be set before the result of each */
	unsigned nhold;	    /* lists that rpc_req_hold() has taken */
	struct seg_list hold[XDR_MAX_PAYLOADS];
	uint32_t mismatch_low, mismatch_high; /* for PROG_MISMATCH */

	/* the transport's */
	struct mem_buf *msg;	  /* the reply */
	struct mem_buf *call_msg; /* the call, args point into it */
	unsigned denied;	  /* why dispatching must refuse it (enum rpc_deny) */
	unsigned verdict;	  /* the flavor's verdict (enum rpc_verdict) */
	struct rpc_auth *auth;	  /* its flavor, or NULL */
	void *auth_priv;	  /* the flavor's data of the request */
	uint32_t auth_stat;	  /* why the credential was rejected */
	uint32_t args_at;	  /* where the arguments begin in the call */
	uint32_t off;		  /* where the RPC header of the reply begins in msg->data */
	void *xprt_priv;
};

/* Makes room for res_cap bytes of results, without payloads, in req->res. 0 or -ENOMEM. At most
 * once per request. */
int rpc_req_begin(struct rpc_req *req, size_t res_cap);
/* Bytes of the sink for the next payload of the results; 0: the payload goes inline. */
uint32_t rpc_req_room(const struct rpc_req *req);
/* Gives the request memory for a payload of the results, until the results are sent: the n segments
 * of an array, in the order of their bytes. The array is copied. *l: the list, for
 * xdr_put_payload_list(). Takes over a reference on the block of each segment (one for several in a
 * row in the same block), also on failure. 0; -ENOSPC: there are XDR_MAX_PAYLOADS already; -E2BIG:
 * more than SEG_LIST_MAX segments or MEM_MAX_SIZE bytes; -ENOMEM. */
int rpc_req_hold(struct rpc_req *req, const struct seg *seg, unsigned n, struct seg_list *l);
/* Sends the answer (RFC 5531 section 9) and ends the request: req is gone. Any thread. With a stat
 * other than SUCCESS the results are ignored and rpc_req_begin() is not needed. If the results
 * overflowed, the answer is SYSTEM_ERR. A connection lost in the meantime is no error. Without
 * memory for an answer the connection is closed, and the peer asks again over another. */
void rpc_req_reply(struct rpc_req *req, enum rpc_accept stat);
/* Ends the request without an answer: req is gone. The peer may ask again. Any thread. */
void rpc_req_drop(struct rpc_req *req);

struct rpc_server;

struct rpc_server_params {
	enum rpc_proto proto;
	struct sockaddr_storage addr; /* port included; 0: any free one */
	socklen_t addr_len;
	struct mem_pool *pool;
	unsigned rdma_versions; /* as for the client */
	uint32_t inline_size;	/* as for the client */
	uint32_t credits;	/* granted to each requester, 0: 64 */
	bool crc;
	unsigned max_conns; /* 0: 256 */
	/* A connection without a call for so long after accept is closed, 0: 10 s. */
	unsigned first_ms;
	/* With max_conns connections, a newcomer takes the place of the connection longest without
	 * a request, if longer than idle_ms. 0: 60 s. */
	unsigned idle_ms;
	rpc_service_fn *service;
	/* Flavors of authentication besides AUTH_NONE and AUTH_SYS, NULL after the last. The
	 * flavors must outlive the server. May be NULL. */
	struct rpc_auth *const *auth;
	/* The accepting thread asks whether x may connect. False: x is closed at once, and nothing
	 * was read from x. Must not block. NULL: every peer may connect. */
	bool (*admit)(void *ctx, const struct rpc_xprt *x);
	/* The connection's thread tells: a connection is up / is gone (after its last request ended
	 * on the transport's side). Requests still with the service stay valid until replied. May
	 * be NULL. */
	void (*conn_up)(void *ctx, struct rpc_xprt *x);
	void (*conn_down)(void *ctx, struct rpc_xprt *x);
	/* The accepting thread calls wrap() for each admitted x. wrap() may put a transport of its
	 * own around x before anything is read from x (xprt.h). 0, or -errno: x is closed. NULL:
	 * none. */
	int (*wrap)(void *ctx, struct rpc_xprt *x);
	void *ctx;
};

/* Binds, listens and starts the accepting thread. One thread per connection follows, and calls
 * service. p is copied; the objects it points to must outlive the server. NULL with *e set. */
struct rpc_server *rpc_server_new(const struct rpc_server_params *p, struct err *e);
/* The port on which the server listens, in host order. Any thread. */
uint16_t rpc_server_port(const struct rpc_server *s);
/* Accepts no more, closes all connections and waits until their threads have ended. Requests still
 * with the service stay valid and are to be ended as ever, from any thread; their answers lead
 * nowhere. Not from a callback. Accepts NULL, returns NULL. */
struct rpc_server *rpc_server_free(struct rpc_server *s);

/* A server's calls to its client, on the connection x (RFC 8167 for RDMA; on TCP the other
 * direction of the stream). rpc_cb_init() gives call a message buffer as rpc_call_init() does;
 * client is NULL. The transport gives each xprt its own XID space for these calls. x's thread calls
 * done: with -ENOTCONN when x goes down, with -ETIMEDOUT after timeout_ms (0: 10 s). Always inline:
 * no payloads or sinks. Returns and thread rules are those of rpc_call_init() and
 * rpc_call_submit(). The caller has a reference on x, or is inside a request from x.
 * rpc_call_cancel() is not for these calls. */
int rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max);
int rpc_cb_submit(struct rpc_call *call);

/* The peer's address and port as text, for messages: "10.0.0.1:2049", "[::1]:2049". The text is
 * x's. */
const char *rpc_xprt_peer(const struct rpc_xprt *x);
/* Does a client that reconnects use the same port? With TCP, for the sake of duplicate request
 * caches. A client of RPC-over-RDMA cannot choose its port. */
bool rpc_xprt_keeps_port(const struct rpc_xprt *x);
/* Of a connection that a server has accepted: the peer's address, and the owner of a peer on this
 * machine. Both stay the same. */
const struct sockaddr *rpc_xprt_addr(const struct rpc_xprt *x);
const struct sock_user *rpc_xprt_user(const struct rpc_xprt *x);
/* Keeps x as an object, for comparing and for rpc_cb_init(); the connection may go all the same.
 * Any thread. ref returns x; unref accepts NULL, returns NULL. */
struct rpc_xprt *rpc_xprt_ref(struct rpc_xprt *x);
struct rpc_xprt *rpc_xprt_unref(struct rpc_xprt *x);

#endif
