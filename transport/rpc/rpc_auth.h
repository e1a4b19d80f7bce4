/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_auth: the caller's identity, and its proof to the peer (RFC 5531 section 8.2): one table of
 * functions for each flavor, for both ends.
 *
 * The requester's end. A call travels with call->auth. If auth is NULL, the call travels with
 * AUTH_NONE or AUTH_SYS, by call->cred. Each transmission, the first and every one after a lost
 * connection, writes the header anew before the arguments. A flavor with wrap() also wraps the
 * caller's arguments anew, into a buffer of their own:
 *
 *   marshal() -> wrap() -> the connection -> check() -> unwrap() -> done
 *      '-- -EAGAIN -. .-------------------- AUTH_ERROR --'
 *                refresh(): the call waits and is marshalled again
 *
 * release() is called once, when the call ends. A wrapped call is one piece: its payloads are
 * copied into the piece and its sinks are not offered. A flavor without wrap() keeps both.
 *
 * The responder's end. accept() judges a request's credential and names the caller in req->cred.
 * answer() carries out the flavor's own business. unwrap_args(), the service, wrap_res() and verf()
 * follow. end() is called once, when the request ends.
 *
 * Threads. For one call, or one request, one thread at a time. Different threads may be at
 * different calls at once, so a flavor's shared data needs its own lock, the innermost of all.
 * refresh() is called on the progress thread and must not block; no lock is held. A function
 * without a use in a flavor is NULL: then nothing happens there, at no cost.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_AUTH_H
#define RNFS_TRANSPORT_RPC_RPC_AUTH_H

#include "transport/rpc/rpc_msg.h"

/* The outcome of accept(). */
enum rpc_verdict {
	RPC_VERDICT_ACCEPT,
	RPC_VERDICT_REJECT, /* AUTH_ERROR with req->auth_stat */
	RPC_VERDICT_DROP,   /* no answer at all */
	RPC_VERDICT_ANSWER, /* the flavor's own: answer() ends it */
};

struct rpc_auth_ops {
	uint32_t flavor;
	uint32_t verf_max;  /* most bytes in the body of a reply's verifier */
	uint32_t wrap_more; /* most bytes by which wrapping makes arguments or results longer */

	/* --- requester --- */

	/* Most bytes of credential and verifier, with their flavors and lengths. */
	uint32_t (*room)(const struct rpc_auth *a, const struct rpc_call *call);
	/* Puts credential and verifier into x, which holds the message from the XID word to the
	 * procedure. May keep data in call->auth_priv. 0. -EAGAIN: there is no credential now,
	 * refresh() is to get one. Any other error ends the call. */
	int (*marshal)(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x);
	/* Puts the wrapped arguments into out; plain holds the caller's. 0; an error ends the
	 * call. */
	int (*wrap)(struct rpc_auth *a, struct rpc_call *call, const struct xdr_out *plain,
		struct xdr_out *out);
	/* Checks the verifier of an accepted reply. 0 or -EACCES. */
	int (*check)(struct rpc_auth *a, struct rpc_call *call, const struct rpc_opaque_auth *verf);
	/* Moves res from the results as received to the plain ones, and to their end. If the plain
	 * results lie in another buffer, *plain is the buffer; it goes when the call has ended. 0
	 * or -EBADMSG. */
	int (*unwrap)(struct rpc_auth *a, struct rpc_call *call, struct xdr_in *res,
		struct mem_buf **plain);
	/* The server has rejected the credential (call->auth_stat), or there was none (0). 0: there
	 * is another. -EAGAIN: another is on its way, ask again after a pause. -EACCES: there is
	 * none. */
	int (*refresh)(struct rpc_auth *a, struct rpc_call *call);
	/* Frees call->auth_priv, if it is not NULL. */
	void (*release)(struct rpc_auth *a, struct rpc_call *call);

	/* --- responder --- */

	/* Judges h->cred and h->verf of the message msg. A verifier signs the bytes from msg to the
	 * end of h->cred. Sets req->cred, or req->auth_stat. */
	enum rpc_verdict (*accept)(struct rpc_auth *a, struct rpc_req *req,
		const struct rpc_call_hdr *h, const uint8_t *msg);
	/* Ends req as a service would (rpc.h); its results are not wrapped. */
	void (*answer)(struct rpc_auth *a, struct rpc_req *req);
	/* As unwrap(), for arguments. */
	int (*unwrap_args)(struct rpc_auth *a, struct rpc_req *req, struct xdr_in *args,
		struct mem_buf **plain);
	/* As wrap(), for results. */
	int (*wrap_res)(struct rpc_auth *a, struct rpc_req *req, const struct xdr_out *plain,
		struct xdr_out *out);
	/* Writes the verifier of the reply to req into v, and its body into buf; NULL:
	 * AUTH_NONE's. */
	void (*verf)(struct rpc_auth *a, struct rpc_req *req, struct rpc_opaque_auth *v,
		uint8_t buf[RPC_MSG_MAX_AUTH]);
	/* Frees req->auth_priv, if it is not NULL. */
	void (*end)(struct rpc_auth *a, struct rpc_req *req);
};

struct rpc_auth {
	const struct rpc_auth_ops *ops;
};

extern struct rpc_auth rpc_auth_none; /* rpc_auth_none.c */
extern struct rpc_auth rpc_auth_sys;  /* rpc_auth_sys.c */

/* The flavor of call. */
struct rpc_auth *rpc_auth_of(const struct rpc_call *call);

/* --- requester ----------------------------------------------------------------------------------
 */

/* Writes the header of a call (xid, proc, cred and auth of call) up to end, in at most room bytes.
 * Returns the header's length, or -EMSGSIZE, or the error of marshal(). */
int rpc_auth_put_call(
	struct rpc_call *call, uint32_t prog, uint32_t vers, uint8_t *end, uint32_t room);
/* Readies call for one transmission: the header, and wrapped arguments. Sets call->off, and, for a
 * flavor with wrap(), call->msg and call->args until rpc_auth_end(). 0, -ENOMEM, or as above. */
int rpc_auth_marshal(struct rpc_call *call, uint32_t prog, uint32_t vers);
/* rpc_msg_get_reply(), and checks the verifier: -EACCES with AUTH_INVALIDRESP if it is wrong. */
int rpc_auth_get_reply(struct rpc_call *call, struct xdr_in *x, struct rpc_reply_hdr *h);
/* The call is over: frees the flavor's data, and restores the call as its caller made it. */
void rpc_auth_end(struct rpc_call *call);
/* unwrap() for rpc_call_end_reply(), before rpc_auth_end(). 0 or -EPROTO. */
int rpc_auth_unwrap(struct rpc_call *call, struct xdr_in *res, struct mem_buf **plain);

/* --- responder ----------------------------------------------------------------------------------
 */

/* Finds the flavor of h->cred, further ones in more (NULL at its end; may be NULL). The flavor
 * judges req, received as msg. An unknown flavor is rejected. */
enum rpc_verdict rpc_auth_accept(struct rpc_auth *const *more, struct rpc_req *req,
	const struct rpc_call_hdr *h, const uint8_t *msg);
/* Unwraps the arguments, and reduces res_max and nsinks by the flavor's needs. 0 or
 * -EBADMSG. */
int rpc_auth_unwrap_args(struct rpc_req *req);
/* Wraps the results into another req->msg. 0, -ENOMEM or -EMSGSIZE. */
int rpc_auth_wrap_res(struct rpc_req *req);
/* Writes the header of an accepted reply with its verifier, to end at RPC_HEADROOM of req->msg.
 * Returns the offset of the XID word. */
uint32_t rpc_auth_put_accepted(struct rpc_req *req, uint32_t xid, enum rpc_accept stat);

/* --- AUTH_SYS (RFC 5531 appendix A) -------------------------------------------------------------
 */

/* The body of a credential: a list of groups longer than RPC_MAX_GIDS is cut. machine: NULL for
 * this host's name. */
uint32_t rpc_auth_sys_size(const struct rpc_cred *cred, const char *machine);
void rpc_auth_sys_put(struct xdr_out *x, const struct rpc_cred *cred, const char *machine);
/* False if body is malformed, or bytes follow the credential. */
bool rpc_auth_sys_get(const struct rpc_opaque_auth *body, struct rpc_cred *cred);
/* The same in the middle of a message (authsys_parms). The caller's machine has a name of len
 * bytes, at most RPC_MSG_MAX_NAME. A malformed item leaves x bad, and cred unspecified. */
void rpc_auth_sys_put_parms(
	struct xdr_out *x, const struct rpc_cred *cred, const char *machine, uint32_t len);
void rpc_auth_sys_get_parms(
	struct xdr_in *x, struct rpc_cred *cred, const char **machine, uint32_t *len);

#endif
