/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_req: a request from the wire to the service and its answer back. Both roles (a server's
 * requests, a client's callbacks) and every kind of connection use the same code.
 *
 * Life: rpc_req_new() by the connection, rpc_req_parse(), rpc_req_deliver() -> up.request(); then,
 * from any thread, rpc_req_begin(), results, rpc_req_reply() -> send_reply(), or rpc_req_drop().
 * The request holds a reference on its connection, so an answer is safe even after the connection
 * is gone. One thread at a time owns a request.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpc/xprt.h"

static void note_activity(struct rpc_xprt *x)
{
	atomic_store_explicit(&x->active_ns, clock_coarse_ns(), memory_order_relaxed);
}

struct rpc_req *rpc_req_new(struct rpc_xprt *x)
{
	/* acquire, release: between the thread that freed req and this thread */
	struct rpc_req *req = atomic_exchange_explicit(&x->spare, NULL, memory_order_acquire);

	if (!req)
		req = malloc(sizeof(*req));
	if (!req)
		return NULL;
	*req = (struct rpc_req){.xprt = rpc_xprt_ref(x)};
	atomic_fetch_add_explicit(&x->reqs, 1, memory_order_relaxed);
	note_activity(x);
	return req;
}

void rpc_req_free(struct rpc_req *req)
{
	struct rpc_xprt *x = req->xprt;

	assert(!req->xprt_priv);
	if (req->auth_priv)
		req->auth->ops->end(req->auth, req);
	rpc_req_unhold(req);
	mem_buf_unref(req->msg);
	mem_buf_unref(req->call_msg);
	free(atomic_exchange_explicit(&x->spare, req, memory_order_acq_rel));
	note_activity(x);
	atomic_fetch_sub_explicit(
		&x->reqs, 1, memory_order_release); /* after active_ns: see find_idle_locked() */
	rpc_xprt_unref(x);
}

int rpc_req_parse(struct rpc_req *req, struct mem_buf *buf, const struct xdr_in *msg)
{
	struct rpc_xprt *x = req->xprt;
	struct rpc_call_hdr h;
	enum rpc_deny deny;

	req->args = *msg;
	if (rpc_msg_get_call(&req->args, &h, &deny) < 0)
		return -EBADMSG;
	req->call_msg = mem_buf_ref(buf);
	req->args_at = (uint32_t)xdr_in_disp(&req->args);
	req->xid = h.xid;
	req->prog = h.prog;
	req->vers = h.vers;
	req->proc = h.proc;
	req->denied = deny;
	if (deny == RPC_DENY_NOT)
		req->verdict = rpc_auth_accept(x->auth, req, &h, msg->base + msg->pos);
	else if (deny == RPC_DENY_BADCRED)
		req->auth_stat = RPC_AUTH_BADCRED;
	else if (deny == RPC_DENY_BADVERF)
		req->auth_stat = RPC_AUTH_BADVERF;
	return 0;
}

void rpc_req_deliver(struct rpc_req *req)
{
	struct rpc_xprt *x = req->xprt;

	if (req->denied || req->verdict == RPC_VERDICT_REJECT)
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
	else if (req->verdict == RPC_VERDICT_DROP)
		rpc_req_drop(req);
	else if (req->verdict == RPC_VERDICT_ANSWER)
		req->auth->ops->answer(req->auth, req);
	else if (rpc_auth_unwrap_args(req) < 0)
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
	else
		x->up.request(x->up.ctx, req);
}

int rpc_req_begin(struct rpc_req *req, size_t res_cap)
{
	assert(!req->msg);
	req->msg = mem_buf_get(req->call_msg->pool, RPC_HEADROOM + res_cap);
	if (!req->msg)
		return -ENOMEM;
	xdr_out_init(&req->res, req->msg->data + RPC_HEADROOM, req->msg->size - RPC_HEADROOM);
	req->res.from = req->args_at;
	req->res.notes_items = req->places;
	return 0;
}

/* The first sink outside `used` for an operation that begins at from, or -1. */
static int find_sink(const struct rpc_req *req, unsigned used, uint32_t from)
{
	for (unsigned i = 0; i < req->nsinks; i++)
		if (!(used & 1u << i) && from >= req->sink_for[i].begin &&
			from < req->sink_for[i].end)
			return (int)i;
	return -1;
}

int rpc_req_sink(const struct rpc_req *req, unsigned i)
{
	const struct xdr_out *res = &req->res;
	unsigned used = 0;
	int at = -1;

	if (!req->places)
		return i < req->nsinks ? (int)i : -1;
	for (unsigned k = 0; k <= i; k++) {
		at = find_sink(req, used, k < res->npayloads ? res->payload[k].from : res->from);
		if (at >= 0)
			used |= 1u << at;
	}
	return at;
}

uint32_t rpc_req_room(const struct rpc_req *req)
{
	int at = rpc_req_sink(req, req->res.npayloads);

	return at < 0 ? 0 : req->sink[at];
}

static int hold(struct rpc_req *req, const struct seg *seg, unsigned n, struct seg_list *l)
{
	struct seg *copy = NULL;
	int rc = seg_list_init(l, seg, n);

	if (rc < 0)
		return rc;
	if (req->nhold == XDR_MAX_PAYLOADS)
		return -ENOSPC;
	if (l->n > 1) {
		copy = malloc(n * sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, seg, n * sizeof(*copy));
		l->seg = copy;
	}
	if (l->n)
		req->hold[req->nhold++] = *l;
	return 0;
}

int rpc_req_hold(struct rpc_req *req, const struct seg *seg, unsigned n, struct seg_list *l)
{
	int rc = hold(req, seg, n, l);

	if (rc < 0)
		*l = (struct seg_list){0};
	for (unsigned i = 0; i < n && !l->n; i++) /* nothing was taken */
		if (!i || seg[i].hold != seg[i - 1].hold)
			mem_buf_unref(seg[i].hold);
	return rc;
}

void rpc_req_unhold(struct rpc_req *req)
{
	for (unsigned i = 0; i < req->nhold; i++) {
		seg_list_unref(&req->hold[i]);
		if (req->hold[i].n > 1)
			free((void *)req->hold[i].seg);
	}
	req->nhold = 0;
}

void rpc_req_drop(struct rpc_req *req)
{
	req->xprt->ops->drop(req->xprt, req);
}

/* Writes the reply's header before its results. */
static void req_put_header(struct rpc_req *req, enum rpc_accept stat)
{
	if (stat != RPC_ACCEPT_SUCCESS) {
		rpc_req_unhold(req);
		xdr_out_init(
			&req->res, req->msg->data + RPC_HEADROOM, req->msg->size - RPC_HEADROOM);
	}
	if (req->denied == RPC_DENY_VERSION) {
		req->off = rpc_msg_put_mismatch(req->msg->data, RPC_HEADROOM, req->xid);
		return;
	}
	if (req->auth_stat) {
		req->off = rpc_msg_put_auth_error(
			req->msg->data, RPC_HEADROOM, req->xid, req->auth_stat);
		return;
	}
	if (stat == RPC_ACCEPT_PROG_MISMATCH) {
		xdr_put_u32(&req->res, req->mismatch_low);
		xdr_put_u32(&req->res, req->mismatch_high);
	}
	req->off = rpc_auth_put_accepted(req, req->xid, stat);
}

void rpc_req_reply(struct rpc_req *req, enum rpc_accept stat)
{
	struct rpc_xprt *x = req->xprt;
	int rc;

	if (!req->msg && rpc_req_begin(req, 64) < 0)
		goto no_memory;
	if (stat == RPC_ACCEPT_SUCCESS && !xdr_out_ok(&req->res))
		stat = RPC_ACCEPT_SYSTEM_ERR;
	if (stat == RPC_ACCEPT_SUCCESS && req->verdict == RPC_VERDICT_ACCEPT) {
		rc = rpc_auth_wrap_res(req);
		if (rc == -ENOMEM)
			goto no_memory;
		if (rc < 0)
			stat = RPC_ACCEPT_SYSTEM_ERR;
	}
	req_put_header(req, stat);
	x->ops->send_reply(x, req, req->off);
	return;
no_memory:
	x->ops->shutdown(x); /* else the peer would wait for an answer until it times out */
	rpc_req_drop(req);
}
