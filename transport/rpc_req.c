/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_req: a request from the wire to the service and its answer back, the same in both roles (a
 * server's requests, a client's callbacks) and on every kind of connection.
 *
 * Life: rpc_req_new() by the connection, rpc_req_parse(), rpc_req_deliver() -> up.request(); then,
 * from any thread, rpc_req_begin(), results, rpc_req_reply() -> send_reply(), or rpc_req_drop().
 * The request holds a reference on its connection, so answering after the connection has gone is
 * safe. One thread at a time owns a request.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/rpc_msg.h"
#include "transport/xprt.h"

static void note_activity(struct rpc_xprt *x)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	__atomic_store_n(
		&x->active_ns, (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec, __ATOMIC_RELAXED);
}

struct rpc_req *rpc_req_new(struct rpc_xprt *x)
{
	struct rpc_req *req = calloc(1, sizeof(*req));

	if (!req)
		return NULL;
	req->xprt = rpc_xprt_ref(x);
	__atomic_fetch_add(&x->reqs, 1, __ATOMIC_RELAXED);
	note_activity(x);
	return req;
}

void rpc_req_free(struct rpc_req *req)
{
	struct rpc_xprt *x = req->xprt;

	assert(!req->xprt_priv);
	for (unsigned i = 0; i < req->nhold; i++)
		mem_buf_unref(req->hold[i]);
	mem_buf_unref(req->msg);
	mem_buf_unref(req->call_msg);
	free(req);
	note_activity(x);
	__atomic_fetch_sub(
		&x->reqs, 1, __ATOMIC_RELEASE); /* after the time: see find_idle_locked() */
	rpc_xprt_unref(x);
}

int rpc_req_parse(struct rpc_req *req, struct mem_buf *buf, const struct xdr_in *msg)
{
	struct rpc_call_hdr h;
	enum rpc_deny deny;

	req->args = *msg;
	if (rpc_msg_get_call(&req->args, &h, &deny) < 0)
		return -EBADMSG;
	req->call_msg = mem_buf_ref(buf);
	req->xid = h.xid;
	req->prog = h.prog;
	req->vers = h.vers;
	req->proc = h.proc;
	req->cred = h.cred;
	req->denied = deny;
	return 0;
}

void rpc_req_deliver(struct rpc_req *req)
{
	struct rpc_xprt *x = req->xprt;

	if (req->denied)
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
	return 0;
}

void rpc_req_drop(struct rpc_req *req)
{
	req->xprt->ops->drop(req->xprt, req);
}

/* Writes the reply's header before its results. */
static void req_put_header(struct rpc_req *req, enum rpc_accept stat, uint32_t xid)
{
	if (stat != RPC_ACCEPT_SUCCESS) {
		for (unsigned i = 0; i < req->nhold; i++)
			mem_buf_unref(req->hold[i]);
		req->nhold = 0;
		xdr_out_init(
			&req->res, req->msg->data + RPC_HEADROOM, req->msg->size - RPC_HEADROOM);
	}
	if (req->denied > RPC_DENY_NOT && req->denied != RPC_DENY_GARBAGE) {
		req->off = rpc_msg_put_denied(req->msg->data, RPC_HEADROOM, xid, req->denied);
		return;
	}
	if (stat == RPC_ACCEPT_PROG_MISMATCH) {
		xdr_put_u32(&req->res, req->mismatch_low);
		xdr_put_u32(&req->res, req->mismatch_high);
	}
	req->off = rpc_msg_put_accepted(req->msg->data, RPC_HEADROOM, xid, stat);
}

/* Flips the last byte and two more after the message type, at places that depend on the XID. */
static void req_corrupt(struct rpc_req *req)
{
	uint8_t *p = req->msg->data + req->off + 8;
	uint32_t n = RPC_HEADROOM + req->res.len - req->off - 8;
	uint32_t seed = req->xid;

	p[n - 1] ^= 0xff;
	for (int i = 0; i < 2; i++) {
		seed = seed * 1664525 + 1013904223;
		p[(seed >> 8) % (n - 1)] ^= 0xff;
	}
}

/* Half of the results, or, without any, the header less its last word. */
static void req_truncate(struct rpc_req *req)
{
	uint8_t *msg = req->msg->data;

	req->res.npayloads = 0;
	if (req->res.len >= 8) {
		req->res.len = req->res.len / 2 & ~(size_t)3;
		return;
	}
	memmove(msg + req->off + 4, msg + req->off, RPC_HEADROOM - req->off - 4);
	req->off += 4;
	req->res.len = 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void rpc_req_reply(struct rpc_req *req, enum rpc_accept stat)
{
	struct rpc_xprt *x = req->xprt;
	unsigned delay_ms = 0;

	if (!req->msg && rpc_req_begin(req, 64) < 0) {
		rpc_req_drop(req);
		return;
	}
	if (stat == RPC_ACCEPT_SUCCESS && !xdr_out_ok(&req->res))
		stat = RPC_ACCEPT_SYSTEM_ERR;
	if (x->fault)
		req->fault = x->fault(x->fault_ctx, req, true, &delay_ms);
	if (req->fault == RPC_FAULT_DROP || req->fault == RPC_FAULT_CLOSE) {
		if (req->fault == RPC_FAULT_CLOSE)
			x->ops->shutdown(x);
		rpc_req_drop(req);
		return;
	}
	req_put_header(req, stat, req->fault == RPC_FAULT_WRONG_XID ? ~req->xid : req->xid);
	if (req->fault == RPC_FAULT_CORRUPT)
		req_corrupt(req);
	else if (req->fault == RPC_FAULT_TRUNCATE)
		req_truncate(req);
	if (delay_ms && x->hold_back) {
		req->due_ns = now_ns() + delay_ms * UINT64_C(1000000);
		x->hold_back(x, req);
		return;
	}
	x->ops->send_reply(x, req, req->off);
}
