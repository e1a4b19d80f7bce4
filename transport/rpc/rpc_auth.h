/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_auth: who calls, and how the peer knows (RFC 5531 section 8.2): one table of functions for
 * each flavor, for both ends.
 *
 * The requester's end. A call travels with call->auth; if that is NULL, with AUTH_NONE or AUTH_SYS,
 * as call->cred says. For each transmission, the first and every one after a lost connection, the
 * header is written anew before the arguments, and arguments that are wrapped are wrapped anew from
 * what the caller has encoded, into a buffer of their own:
 *
 *   marshal() -> wrap() -> the connection -> check() -> unwrap() -> done
 *      '-- -EAGAIN -. .-------------------- AUTH_ERROR --'
 *                refresh(): the call waits and is marshalled again
 *
 * release() is called once, when the call ends. A wrapped call is one piece: its payloads are
 * copied into it and its sinks are not offered; who does not wrap keeps both.
 *
 * The responder's end. accept() judges a request's credential and names the caller in req->cred;
 * answer() carries out what is the flavor's own business; unwrap_args(), the service, wrap_res()
 * and verf() follow; end() is called once, when the request ends.
 *
 * Threads. For one call, or one request, one thread at a time; different ones may be at different
 * calls at once, so that what a flavor keeps for all needs its own lock, the innermost of all.
 * refresh() is called on the progress thread and must not block; no lock is held. A function that a
 * flavor has no use for is NULL: then nothing happens there, at no cost.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_AUTH_H
#define RNFS_TRANSPORT_RPC_RPC_AUTH_H

#include "transport/rpc/rpc_msg.h"

/* What accept() says of a request. */
enum rpc_verdict {
	RPC_VERDICT_ACCEPT,
	RPC_VERDICT_REJECT, /* AUTH_ERROR with req->auth_stat */
	RPC_VERDICT_DROP,   /* no answer at all */
	RPC_VERDICT_ANSWER, /* the flavor's own: answer() ends it */
};

struct rpc_auth_ops {
	uint32_t flavor;
	uint32_t verf_max; /* bytes of a reply's verifier, its body, at most */
	uint32_t
		wrap_more; /* bytes that arguments or results are longer by when wrapped, at most */

	/* --- requester --- */

	/* Bytes of credential and verifier, with their flavors and lengths, at most. */
	uint32_t (*room)(const struct rpc_auth *a, const struct rpc_call *call);
	/* Puts credential and verifier into x, which holds the message from the XID word to the
	 * procedure. May keep something in call->auth_priv. 0; -EAGAIN if there is no credential
	 * now, refresh() is to get one; any other ends the call. */
	int (*marshal)(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x);
	/* Puts the arguments as they travel into out, those of the caller's being in plain. 0 or
	 * what ends the call. */
	int (*wrap)(struct rpc_auth *a, struct rpc_call *call, const struct xdr_out *plain,
		struct xdr_out *out);
	/* The verifier of an accepted reply. 0 or -EACCES. */
	int (*check)(struct rpc_auth *a, struct rpc_call *call, const struct rpc_opaque_auth *verf);
	/* Lets res, which stands at the results as they came, stand at the plain ones and end with
	 * them. If they are elsewhere, *plain is a buffer that they are in; it goes when the call
	 * has ended. 0 or -EBADMSG. */
	int (*unwrap)(struct rpc_auth *a, struct rpc_call *call, struct xdr_in *res,
		struct mem_buf **plain);
	/* The server has rejected the credential (call->auth_stat), or there was none (0). 0: there
	 * is another; -EAGAIN: it is being got, ask again after a pause; -EACCES: there is none. */
	int (*refresh)(struct rpc_auth *a, struct rpc_call *call);
	/* Frees call->auth_priv, if it is not NULL. */
	void (*release)(struct rpc_auth *a, struct rpc_call *call);

	/* --- responder --- */

	/* Judges h->cred and h->verf of the message msg; what a verifier signs are the bytes from
	 * msg to the end of h->cred. Sets req->cred, or req->auth_stat. */
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
	/* The verifier of the reply to req, its body put into buf; NULL: AUTH_NONE's. */
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

/* What call travels with. */
struct rpc_auth *rpc_auth_of(const struct rpc_call *call);

/* --- requester ----------------------------------------------------------------------------------
 */

/* Writes the header of a call (xid, proc, cred and auth of it) so that it ends at end, in at most
 * room bytes. Returns its length, or -EMSGSIZE, or what marshal() said. */
int rpc_auth_put_call(
	struct rpc_call *call, uint32_t prog, uint32_t vers, uint8_t *end, uint32_t room);
/* Readies call for one transmission: header, and what it wraps. Sets call->off, and, if it wraps,
 * call->msg and call->args until rpc_auth_end(). 0, -ENOMEM, or as above. */
int rpc_auth_marshal(struct rpc_call *call, uint32_t prog, uint32_t vers);
/* rpc_msg_get_reply(), and the verifier is checked: -EACCES with AUTH_INVALIDRESP if it is wrong.
 */
int rpc_auth_get_reply(struct rpc_call *call, struct xdr_in *x, struct rpc_reply_hdr *h);
/* The call is over: what was kept for it is freed, and it is as its caller made it. */
void rpc_auth_end(struct rpc_call *call);
/* After that: unwrap(). 0 or -EPROTO. */
int rpc_auth_unwrap(struct rpc_call *call, struct xdr_in *res, struct mem_buf **plain);

/* --- responder ----------------------------------------------------------------------------------
 */

/* Finds the flavor of h->cred, further ones in more (NULL at its end; may be NULL), and has it
 * judge req, whose message is msg. A flavor that nobody has is rejected. */
enum rpc_verdict rpc_auth_accept(struct rpc_auth *const *more, struct rpc_req *req,
	const struct rpc_call_hdr *h, const uint8_t *msg);
/* Unwraps the arguments, and lets res_max, sink_max and nsinks be what is left. 0 or -EBADMSG. */
int rpc_auth_unwrap_args(struct rpc_req *req);
/* Wraps the results into another req->msg. 0, -ENOMEM or -EMSGSIZE. */
int rpc_auth_wrap_res(struct rpc_req *req);
/* Writes the header of an accepted reply with its verifier, to end at RPC_HEADROOM of req->msg.
 * Returns the offset of its XID word. */
uint32_t rpc_auth_put_accepted(struct rpc_req *req, uint32_t xid, enum rpc_accept stat);

/* --- AUTH_SYS (RFC 5531 appendix A) -------------------------------------------------------------
 */

/* The body of a credential: a list of groups longer than RPC_MAX_GIDS is cut. machine: NULL for
 * this host's name. */
uint32_t rpc_auth_sys_size(const struct rpc_cred *cred, const char *machine);
void rpc_auth_sys_put(struct xdr_out *x, const struct rpc_cred *cred, const char *machine);
/* False if it is malformed, or something follows it. */
bool rpc_auth_sys_get(const struct rpc_opaque_auth *body, struct rpc_cred *cred);
/* The same in the middle of a message (authsys_parms): the caller's machine has a name of len
 * bytes, at most RPC_MSG_MAX_NAME; what is malformed leaves x bad, and cred unspecified. */
void rpc_auth_sys_put_parms(
	struct xdr_out *x, const struct rpc_cred *cred, const char *machine, uint32_t len);
void rpc_auth_sys_get_parms(
	struct xdr_in *x, struct rpc_cred *cred, const char **machine, uint32_t *len);

#endif
