/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_auth: the common part of all flavors.
 */
#include "transport/rpc/rpc_auth.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX (RPC_HEADROOM - 512) /* the rest of the headroom is the transport's */

_Static_assert(RPC_MSG_MAX_CALL <= HEADER_MAX, "headroom is left for the transport");
_Static_assert(RPC_MSG_MIN_REPLY + RPC_MSG_MAX_AUTH <= HEADER_MAX, "and before a reply");

/* A wrapped call, as its caller made it. */
struct rpc_wrapped {
	struct mem_buf *msg;
	struct xdr_out args;
	unsigned nsinks;
	uint32_t reply_max;
	rpc_peek_fn *peek;
};

struct rpc_auth *rpc_auth_of(const struct rpc_call *call)
{
	if (call->auth)
		return call->auth;
	return call->cred.flavor == RPC_AUTH_SYS ? &rpc_auth_sys : &rpc_auth_none;
}

/* --- requester -------------------------------------------------------------------------------- */

int rpc_auth_put_call(
	struct rpc_call *call, uint32_t prog, uint32_t vers, uint8_t *end, uint32_t room)
{
	struct rpc_auth *a = rpc_auth_of(call);
	uint32_t len = RPC_MSG_CALL_HEAD + a->ops->room(a, call);
	struct xdr_out x;
	int rc;

	if (len > room)
		return -EMSGSIZE;
	xdr_out_init(&x, end - len, len);
	rpc_msg_put_call(&x, call->xid, prog, vers, call->proc);
	rc = a->ops->marshal(a, call, &x);
	if (rc < 0)
		return rc;
	if (!xdr_out_ok(&x))
		return -EMSGSIZE;
	if (x.len < len)
		memmove(end - x.len, end - len, x.len);
	return (int)x.len;
}

/* A message buffer for plain and more bytes. */
static struct mem_buf *wrapped_buf(
	struct mem_pool *pool, const struct xdr_out *plain, uint32_t more, struct xdr_out *out)
{
	size_t size = xdr_out_total(plain) + more;
	struct mem_buf *buf =
		size <= MEM_MAX_SIZE - RPC_HEADROOM ? mem_buf_get(pool, RPC_HEADROOM + size) : NULL;

	if (buf)
		xdr_out_init(out, buf->data + RPC_HEADROOM, buf->size - RPC_HEADROOM);
	return buf;
}

/* Keeps the caller's version, and shows the transport a call in one piece, without sinks. */
static int wrap_begin(struct rpc_call *call, uint32_t more)
{
	struct rpc_wrapped *w = call->wrapped;
	uint64_t reply = call->reply_max;
	struct mem_buf *buf;
	struct xdr_out out;

	if (!w) {
		w = malloc(sizeof(*w));
		if (!w)
			return -ENOMEM;
		*w = (struct rpc_wrapped){
			call->msg, call->args, call->nsinks, call->reply_max, call->peek};
	}
	buf = wrapped_buf(w->msg->pool, &w->args, more, &out);
	if (!buf) {
		if (!call->wrapped)
			free(w);
		return -ENOMEM;
	}
	if (call->wrapped) {
		mem_buf_unref(call->msg); /* of the last transmission */
	} else {
		for (unsigned i = 0; i < call->nsinks; i++)
			reply += 4 + (uint64_t)call->sink[i].len;
		reply += more;
		call->reply_max = reply < MEM_MAX_SIZE ? (uint32_t)reply : MEM_MAX_SIZE;
		call->wrapped = w;
		call->nsinks = 0;
		call->peek = NULL;
	}
	call->msg = buf;
	call->args = out;
	return 0;
}

int rpc_auth_marshal(struct rpc_call *call, uint32_t prog, uint32_t vers)
{
	struct rpc_auth *a = rpc_auth_of(call);
	int rc;

	if (a->ops->wrap) {
		rc = wrap_begin(call, a->ops->wrap_more);
		if (rc < 0)
			return rc;
	}
	rc = rpc_auth_put_call(call, prog, vers, call->msg->data + RPC_HEADROOM, HEADER_MAX);
	if (rc < 0)
		return rc;
	call->off = RPC_HEADROOM - (uint32_t)rc;
	if (!a->ops->wrap)
		return 0;
	rc = a->ops->wrap(a, call, &call->wrapped->args, &call->args);
	return rc < 0 ? rc : xdr_out_ok(&call->args) ? 0 : -EMSGSIZE;
}

int rpc_auth_get_reply(struct rpc_call *call, struct xdr_in *x, struct rpc_reply_hdr *h)
{
	struct rpc_auth *a = rpc_auth_of(call);
	int rc = rpc_msg_get_reply(x, h);

	if (!h->accepted || !a->ops->check || a->ops->check(a, call, &h->verf) == 0)
		return rc;
	h->stat = RPC_OK;
	h->auth_stat = RPC_AUTH_INVALIDRESP;
	return -EACCES;
}

int rpc_auth_unwrap(struct rpc_call *call, struct xdr_in *res, struct mem_buf **plain)
{
	struct rpc_auth *a = rpc_auth_of(call);

	*plain = NULL;
	if (!a->ops->unwrap)
		return 0;
	/* no memory for payloads was offered */
	if (res->npayloads == 0 && a->ops->unwrap(a, call, res, plain) == 0)
		return 0;
	*plain = mem_buf_unref(*plain);
	return -EPROTO;
}

void rpc_auth_end(struct rpc_call *call)
{
	struct rpc_auth *a = rpc_auth_of(call);
	struct rpc_wrapped *w = call->wrapped;

	if (call->auth_priv)
		a->ops->release(a, call);
	call->auth_priv = NULL;
	if (!w)
		return;
	mem_buf_unref(call->msg);
	call->msg = w->msg;
	call->args = w->args;
	call->nsinks = w->nsinks;
	call->reply_max = w->reply_max;
	call->peek = w->peek;
	call->wrapped = NULL;
	free(w);
}

/* --- responder -------------------------------------------------------------------------------- */

static struct rpc_auth *find_flavor(struct rpc_auth *const *more, uint32_t flavor)
{
	if (flavor == RPC_AUTH_SYS)
		return &rpc_auth_sys;
	if (flavor == RPC_AUTH_NONE)
		return &rpc_auth_none;
	for (; more && *more; more++)
		if ((*more)->ops->flavor == flavor)
			return *more;
	return NULL;
}

enum rpc_verdict rpc_auth_accept(struct rpc_auth *const *more, struct rpc_req *req,
	const struct rpc_call_hdr *h, const uint8_t *msg)
{
	struct rpc_auth *a = find_flavor(more, h->cred.flavor);

	if (!a) {
		req->auth_stat = RPC_AUTH_REJECTEDCRED;
		return RPC_VERDICT_REJECT;
	}
	req->auth = a;
	return a->ops->accept(a, req, h, msg);
}

static uint32_t less(uint32_t n, uint32_t by)
{
	return n < by ? 0 : n - by;
}

int rpc_auth_unwrap_args(struct rpc_req *req)
{
	struct rpc_auth *a = req->auth;
	struct mem_buf *plain = NULL;

	req->res_max = less(req->res_max, a->ops->verf_max);
	if (!a->ops->unwrap_args)
		return 0;
	req->res_max = less(req->res_max, a->ops->wrap_more);
	req->nsinks = 0;
	if (req->args.npayloads || a->ops->unwrap_args(a, req, &req->args, &plain) < 0) {
		mem_buf_unref(plain);
		return -EBADMSG;
	}
	if (plain) {
		mem_buf_unref(req->call_msg);
		req->call_msg = plain;
	}
	return 0;
}

int rpc_auth_wrap_res(struct rpc_req *req)
{
	struct rpc_auth *a = req->auth;
	struct mem_buf *buf;
	struct xdr_out out;
	int rc;

	if (!a || !a->ops->wrap_res)
		return 0;
	buf = wrapped_buf(req->msg->pool, &req->res, a->ops->wrap_more, &out);
	if (!buf)
		return -ENOMEM;
	rc = a->ops->wrap_res(a, req, &req->res, &out);
	if (rc < 0 || !xdr_out_ok(&out)) {
		mem_buf_unref(buf);
		return rc < 0 ? rc : -EMSGSIZE;
	}
	mem_buf_unref(req->msg);
	req->msg = buf;
	req->res = out;
	return 0;
}

uint32_t rpc_auth_put_accepted(struct rpc_req *req, uint32_t xid, enum rpc_accept stat)
{
	struct rpc_opaque_auth v = {.flavor = RPC_AUTH_NONE};
	struct rpc_auth *a = req->auth;
	uint8_t buf[RPC_MSG_MAX_AUTH];

	if (a && a->ops->verf)
		a->ops->verf(a, req, &v, buf);
	assert(v.len <= RPC_MSG_MAX_AUTH && (!v.len || v.len <= a->ops->verf_max));
	return rpc_msg_put_accepted(req->msg->data, RPC_HEADROOM, xid, &v, stat);
}
