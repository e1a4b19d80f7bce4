/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc: ONC RPC (RFC 5531) as its users see it: calls, requests, and the two ends.
 *
 * One message, one buffer. A call's arguments are encoded at RPC_HEADROOM into a pool buffer; the
 * RPC header, and before it the transport's own header, are later written backwards into the
 * headroom, so that a message leaves as one contiguous piece of registered memory. Replies the
 * same.
 *
 * Bulk data stays out of that buffer in both directions: arguments name it with xdr_put_payload(),
 * results that are to land in the caller's memory are announced as sinks.
 *
 * Threads. rpc_call_submit() may be called from any thread, also from inside a done callback.
 * Callbacks (done, service) run on a progress thread with no lock held; they must not block on
 * another RPC.
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

/* Are they the same user? */
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
struct rpc_auth;
struct rpc_wrapped;
struct rpc_xprt;
struct rpc_call;
struct rpc_req;

/* How a call ended. error is 0, or
 *   -ETIMEDOUT   no answer in time (a soft client's calls, a server's), or the server does not want
 *                us (may_be_unwanted). The caller may retry, or report it.
 *   -ECANCELED   rpc_call_cancel(): nothing may be assumed about what the server has done.
 *   -ENOTCONN    the client is shutting down.
 *   -EPROTO      refused by RPC, or garbage; call->rpc_stat tells which. A client that is not soft
 *                asks again for some minutes before SYSTEM_ERR is one: the server may be short of
 *                memory.
 *   -EACCES      the server rejected the credential (AUTH_ERROR); call->auth_stat tells why.
 *   -EIO         the transport could not carry it: RDMA_ERROR, a reply that is too large.
 * res stands at the results, and is bad if there are none. On the progress thread, no lock held;
 * call may be freed, or readied and submitted anew, from inside. */
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

/* Given the first n bytes of a reply's results as they come off a byte stream: the byte offset of
 * the first sink's data if they are complete and well-formed up to its length word, 0 if it needs
 * more or the reply has none here. Pure; may be called with any bytes. */
typedef size_t rpc_peek_fn(const void *res, size_t n);

struct rpc_call {
	/* set by the caller between rpc_call_init() and rpc_call_submit() */
	uint32_t proc;
	struct rpc_cred cred;
	struct rpc_auth *auth; /* the client's after rpc_call_init(); see auth there */
	struct xdr_out args;   /* ready for encoding after rpc_call_init() */
	unsigned nsinks;
	/* Result memory: payload i of the reply lands in sink[i], in order. The call holds a
	 * reference on its blocks while it runs; an array of segments must stay until done. */
	struct seg_list sink[RPC_MAX_SINKS];
	/* Where in args the operation lies whose result sink[i] is for; all 0: it is for the first
	 * result of the call that may be placed. */
	struct {
		uint32_t begin, end;
	} sink_for[RPC_MAX_SINKS];
	bool moves;	    /* payload 0 may stay where it has come, if it is in one piece: moved */
	uint32_t reply_max; /* bound of the results' XDR in bytes, without what the sinks take */
	rpc_peek_fn *peek;  /* NULL: payload of stream transports is copied from the reply */
	unsigned timeout_ms; /* 0: the client's default */
	bool patient;	     /* nobody waits for it: it may leave with the next, a little later */
	rpc_done_fn *done;
	void *ctx;

	/* may be read in done */
	enum rpc_stat rpc_stat;
	uint32_t mismatch_low, mismatch_high;
	uint32_t auth_stat;
	/* Payload 0, with a reference on its block; empty: it is in sink[0]. */
	struct seg_list moved;
	bool repeated; /* a connection was lost while it was under way: the peer may have got it
			  before, too */

	/* the transport's; nobody else touches these */
	struct rpc_client *client;
	struct mem_buf *msg;	     /* RPC_HEADROOM, then the arguments */
	void *auth_priv;	     /* what auth keeps for it */
	struct rpc_wrapped *wrapped; /* what it was before auth wrapped it, or NULL */
	unsigned rejected;	     /* so often the server rejected its credential */
	int unsent; /* why it could not be marshalled, or 0; its sender's while it is one */
	uint32_t xid;
	int state;
	bool cancelled;
	unsigned resends;
	uint64_t again_ns;     /* answered SYSTEM_ERR: when it is sent again; 0: not so */
	uint64_t again_end_ns; /* and until when that is tried */
	unsigned again_ms;     /* the last pause */
	uint64_t deadline_ns;
	uint64_t sent_ns;
	uint32_t off;	 /* where the RPC header begins in msg->data */
	uint32_t copied; /* bytes of placed payload that went through a buffer on their way */
	struct rpc_xprt *cb_xprt;  /* a server's call: the connection, else NULL */
	uint32_t cb_prog, cb_vers; /* likewise */
	_Atomic bool posted; /* set by the connection in send_call() when the call is in its hands:
			a "reply" that comes before cannot be one */
	/* the connection's, while it has the call */
	void *_Atomic xprt_priv;    /* doors etc.; NULL when handed over and when handed back */
	TAILQ_ENTRY(rpc_call) link; /* its queue */
};

/* Called for calls that the peer makes: a server's service, or a client's callback program. Must
 * end, now or later and from any thread, with rpc_req_reply() or rpc_req_drop(). */
typedef void rpc_service_fn(void *ctx, struct rpc_req *req);

/* Versions of RPC-over-RDMA, as a set. All versions 2 have the same number, so a set has one of
 * them at most. */
#define RPC_RDMA_V1	 1u
#define RPC_RDMA_V2	 2u
#define RPC_RDMA_V2_2016 4u
/* Version 1 as of 2005. A server of both versions 1 serves clients of either; a client of both is
 * one of this. */
#define RPC_RDMA_V1_LEGACY   8u
#define RPC_RDMA_V2_RTR	     16u /* version 2 with send-based placement, where the peer has that */
#define RPC_RDMA_V2_2016_RTR 32u /* the same of that version 2 */
#define RPC_RDMA_ALL	     63u
/* Reads a list of their names, "1", "2", "2-2016", "2-rtr", "1-legacy", with commas between, into
 * *out. False: it is none, or has several versions 2. */
bool rpc_rdma_versions_parse(const char *s, unsigned *out);

struct rpc_client_params {
	enum rpc_proto proto;
	struct sockaddr_storage peer; /* port included */
	socklen_t peer_len;
	/* Addresses of the same server, in order of preference, for the first connection alone:
	 * they are tried side by side, as dial.h has it, and the one that answers first takes the
	 * place of peer. tcp and iwarp. Outcomes are set. n 0: peer is tried. */
	struct dial_addr *choice;
	unsigned nchoice;
	const char *peer_name; /* for messages: "server:/export"'s server; copied */
	uint32_t prog, vers;
	struct rpc_auth *auth; /* how calls prove who makes them (rpc_auth.h); NULL: AUTH_NONE or
				  AUTH_SYS, by the flavor of each call's cred */
	struct mem_pool *pool;
	unsigned connect_ms; /* whole hand-shake, also of a reconnect */
	unsigned first_ms;   /* of the first connection, 0: connect_ms */
	int abort_fd;	     /* readable: rpc_client_new() gives up; 0: none */
	unsigned timeo_ms;   /* a call unanswered for so long: reconnect and resend (RDMA), RFC 8166
				never resends on a live connection */
	unsigned retrans;    /* soft: give up (-ETIMEDOUT) after so many time-outs */
	bool soft;
	/* Calls fail (-ETIMEDOUT) when the server has ended several connections and has never
	 * answered one: it does not want us. Without effect after the first answer. */
	bool may_be_unwanted;
	/* tcp: a lost connection is replaced from the port that it had, if that can be done: a
	 * server's duplicate request cache may go by it. */
	bool same_port;
	/* RPC-over-RDMA */
	unsigned rdma_versions; /* RPC_RDMA_V1, ... that may be spoken; 0: all */
	uint32_t inline_size; /* bytes we receive inline, 1024..65536, offered by RFC 8797; 0: 4096
			       */
	uint32_t credits;     /* most calls under way, 0: 64 */
	bool crc;	      /* iwarp */
	/* reverse direction (RFC 8167): the callback program, or service NULL */
	uint32_t cb_prog;
	rpc_service_fn *cb_service;
	void *cb_ctx;
	/* Told on the progress thread when a lost connection is back (sessions are still valid, the
	 * backchannel must be bound anew), before anything is sent over it: a call that it cancels
	 * is not sent again. May be NULL. */
	void (*reconnected)(void *ctx);
	/* Told on the same thread that the connection is lost; may be NULL. */
	void (*lost)(void *ctx);
	/* And, once each, that the server does not answer, and that it does again. NULL: the log
	 * is told. */
	void (*answers)(void *ctx, bool yes);
	void *ctx;
};

/* Connects (blocking, bounded by connect_ms and abort_fd) and starts the progress thread. NULL with
 * *e set. */
struct rpc_client *rpc_client_new(const struct rpc_client_params *p, struct err *e);
/* Fails what is under way with -ENOTCONN, closes the connection, joins the progress thread. Not
 * from a callback. Accepts NULL, returns NULL. */
struct rpc_client *rpc_client_free(struct rpc_client *c);

struct rpc_client_info {
	enum rpc_proto proto;
	const char *provider;		   /* "tcp", "iwarp", "verbs" */
	const char *rdma_dialect;	   /* version of RPC-over-RDMA: "1"; NULL for tcp */
	uint32_t inline_send, inline_recv; /* bytes, 0 for tcp */
	uint32_t credits;		   /* granted now */
	uint32_t under_way;		   /* calls without an answer so far */
	bool connected;
};
/* What c is connected by at the moment. Any thread. */
void rpc_client_info(struct rpc_client *c, struct rpc_client_info *out);

struct rpc_client_stats { /* since the start */
	uint64_t calls, replies, timeouts, reconnects, callbacks;
	uint64_t bytes_placed;	  /* payload received straight into its sink */
	uint64_t bytes_copied;	  /* payload that had to be copied into its sink */
	uint64_t bytes_exposed;	  /* payload sent from where it was (Read chunks, writev) */
	uint64_t bytes_pulled_up; /* payload copied into an inline message */
	/* RPC-over-RDMA as of 2005: calls in RDMA_MSGP, replies ended by RDMA_DONE */
	uint64_t calls_padded, replies_read;
};
/* The counters as they are; together they need not be of one moment. Any thread, without a lock. */
void rpc_client_stats(struct rpc_client *c, struct rpc_client_stats *out);
/* Has the server ended connections again and again, and never answered a call? Any thread. */
bool rpc_client_shut_out(struct rpc_client *c);

/* Readies a call, whatever it held before: a message buffer with room for args_max bytes of
 * arguments. What the caller sets besides is set after this. 0, -ENOMEM, or -EMSGSIZE: no buffer is
 * that large. rpc_call_finish() is needed after 0 only, and harmless after a failure. */
int rpc_call_init(struct rpc_call *call, struct rpc_client *c, size_t args_max);
/* Releases the buffer. Only when the call is not under way (never submitted, or done was called).
 */
void rpc_call_finish(struct rpc_call *call);
/* Starts it. 0: done will be called exactly once, perhaps before this returns; until then the call
 * is the client's, but for rpc_call_cancel(). Negative errno: not started (-EMSGSIZE: args
 * overflowed, -ENOTCONN: shutting down, -ENOMEM). Any thread, also from inside done. */
int rpc_call_submit(struct rpc_call *call);
/* Asks that done be called soon with -ECANCELED, after the call's doors are closed, unless the
 * reply comes first. Any thread, from rpc_call_init() on. A call that is already done must not be
 * named. */
void rpc_call_cancel(struct rpc_call *call);
/* As rpc_call_cancel(), but only where the peer cannot have got the call: no connection has had it
 * so far. Otherwise without effect. */
void rpc_call_withdraw(struct rpc_call *call);

/* In done: moves the payload of a reply into sink i, from its first segment on, if it was not
 * placed there and need not be (call->moves); checks its length. The coder of a result calls this
 * where the payload's length word stands. 0 and *n, or -EBADMSG (longer than the sink; the cursor
 * is then bad). */
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
	struct rpc_xprt *xprt; /* where it came from; identity for sessions and the backchannel */
	uint32_t res_max;      /* most results bytes the requester can take, without payloads */
	uint32_t sink_max;     /* bytes of the requester's Write chunks (0: payload goes inline) */
	unsigned nsinks;       /* of them are told apart in sink[]; there may be more */
	uint32_t sink[XDR_MAX_PAYLOADS]; /* bytes of each, see rpc_req_room() */
	/* The sinks are places of a Transmit Request (rpcrdma_rtr.h). Each is for a result of the
	 * operations of the call that begin in a range, and an item without data uses one up. */
	bool places;
	struct {
		uint32_t begin, end;
	} sink_for[XDR_MAX_PAYLOADS];

	/* written by the service */
	struct xdr_out res; /* ready for encoding after rpc_req_begin(). In a call of several
			     * operations res.from is to be set before the result of each */
	unsigned nhold;	    /* what rpc_req_hold() has taken */
	struct seg_list hold[XDR_MAX_PAYLOADS];
	uint32_t mismatch_low, mismatch_high; /* for PROG_MISMATCH */

	/* the transport's */
	struct mem_buf *msg;	  /* the reply */
	struct mem_buf *call_msg; /* the call, args point into it */
	unsigned denied;	  /* why dispatching must refuse it (enum rpc_deny) */
	unsigned verdict;	  /* what its flavor says of it (enum rpc_verdict) */
	struct rpc_auth *auth;	  /* its flavor, or NULL */
	void *auth_priv;	  /* what that keeps for it */
	uint32_t auth_stat;	  /* why it was rejected */
	uint32_t args_at;	  /* where the arguments begin in the call */
	uint32_t off;		  /* where the RPC header of the reply begins in msg->data */
	void *xprt_priv;
};

/* Room for res_cap bytes of results, without payloads, in req->res. 0 or -ENOMEM. May be called
 * once per request. */
int rpc_req_begin(struct rpc_req *req, size_t res_cap);
/* Bytes of the sink that the next payload of the results goes into; 0: it goes inline. */
uint32_t rpc_req_room(const struct rpc_req *req);
/* Memory for a payload of the results, which stays until they are sent: the n segments of an array,
 * in the order of their bytes. *l: the list, for xdr_put_payload_list(); the array is copied. Takes
 * over a reference on the block of each segment, one for several in a row in the same block,
 * whatever becomes of it. 0; -ENOSPC: there are XDR_MAX_PAYLOADS already; -E2BIG: more than
 * SEG_LIST_MAX segments or MEM_MAX_SIZE bytes; -ENOMEM. */
int rpc_req_hold(struct rpc_req *req, const struct seg *seg, unsigned n, struct seg_list *l);
/* Sends the answer (RFC 5531 section 9) and ends the request: req is gone. Any thread. With another
 * stat than SUCCESS the results
 * are ignored and rpc_req_begin() is not needed. A result that overflowed is answered SYSTEM_ERR.
 * A connection that has gone in the meantime is no error. Without memory for an answer the
 * connection is closed: its peer asks again over another. */
void rpc_req_reply(struct rpc_req *req, enum rpc_accept stat);
/* Ends the request without an answer: req is gone. Its peer may ask again. Any thread. */
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
	/* A connection without a call for so long after it was made is closed, 0: 10 s. */
	unsigned first_ms;
	/* When there are max_conns, a newcomer takes the place of the connection that has been
	 * without a request for longest, and for longer than this, 0: 60 s. */
	unsigned idle_ms;
	rpc_service_fn *service;
	/* Flavors of authentication besides AUTH_NONE and AUTH_SYS, NULL after the last; they must
	 * outlive the server. May be NULL. */
	struct rpc_auth *const *auth;
	/* Asked on the accepting thread whether x may connect; false: it is closed at once, and
	 * nothing was read from it. Must not block. NULL: everybody may. */
	bool (*admit)(void *ctx, const struct rpc_xprt *x);
	/* On the connection's thread: a connection is up / is gone (after its last request ended on
	 * the transport's side; requests still with the service stay valid until replied). May be
	 * NULL. */
	void (*conn_up)(void *ctx, struct rpc_xprt *x);
	void (*conn_down)(void *ctx, struct rpc_xprt *x);
	/* On the accepting thread, for each x that is admitted: may put a transport of its own
	 * around x before anything is read from it (xprt.h). 0, or -errno: x is closed. NULL: none.
	 */
	int (*wrap)(void *ctx, struct rpc_xprt *x);
	void *ctx;
};

/* Binds, listens and starts the accepting thread; one thread per connection follows, and service is
 * called on it. p is copied; what it points to must outlive the server. NULL with *e set. */
struct rpc_server *rpc_server_new(const struct rpc_server_params *p, struct err *e);
/* The port it listens on, in host order. Any thread. */
uint16_t rpc_server_port(const struct rpc_server *s);
/* Accepts no more, closes all connections and waits until their threads have ended. Requests that
 * are still with the service stay valid and are to be ended as ever, from any thread; their answers
 * lead nowhere. Not from a callback. Accepts NULL, returns NULL. */
struct rpc_server *rpc_server_free(struct rpc_server *s);

/* A server's calls to its client, on the connection x (RFC 8167 for RDMA; on TCP simply the other
 * direction of the stream). Init with a message buffer as rpc_call_init(); client is NULL. The
 * transport gives each xprt its own XID space for these. done is called on x's thread; -ENOTCONN
 * when x goes down; -ETIMEDOUT after timeout_ms (0: 10 s). Always inline: no payloads or sinks.
 * Returns and thread rules are those of rpc_call_init() and rpc_call_submit(); whoever calls has a
 * reference on x, or is inside a request that came by it. rpc_call_cancel() is not for these. */
int rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max);
int rpc_cb_submit(struct rpc_call *call);

/* Peer's address and port as text, for messages: "10.0.0.1:2049", "[::1]:2049". x's. */
const char *rpc_xprt_peer(const struct rpc_xprt *x);
/* Does a client that makes its connection again do so from the same port? With TCP, for the sake of
 * duplicate request caches; a client of RPC-over-RDMA cannot choose it. */
bool rpc_xprt_keeps_port(const struct rpc_xprt *x);
/* Of a connection that a server has accepted: the peer's address, and, if the peer is on this
 * machine, whose it is. They do not change. */
const struct sockaddr *rpc_xprt_addr(const struct rpc_xprt *x);
const struct sock_user *rpc_xprt_user(const struct rpc_xprt *x);
/* Keep x as an object, for comparing and for rpc_cb_init(); its connection may go all the same. Any
 * thread. ref returns x; unref accepts NULL, returns NULL. */
struct rpc_xprt *rpc_xprt_ref(struct rpc_xprt *x);
struct rpc_xprt *rpc_xprt_unref(struct rpc_xprt *x);

#endif
