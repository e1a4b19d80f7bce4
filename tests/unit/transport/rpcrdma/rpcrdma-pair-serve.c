/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma-pair: the service at the responder, and the thread of the service.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

/* In three pieces. */
static void put_data(struct rpc_req *req, uint32_t n, uint32_t seed)
{
	struct seg_list data;
	struct seg piece[3];
	struct mem_buf *b;

	if (!n) {
		xdr_put_payload(&req->res, &(struct mem_sge){0});
		return;
	}
	b = mem_buf_get(req->call_msg->pool, n);
	assert_non_null(b);
	pair_pattern(b->data, n, seed);
	piece[0].at = mem_buf_sge(b, 0, 1);
	piece[1].at = mem_buf_sge(b, 1, n / 2);
	piece[2].at = mem_buf_sge(b, 1 + n / 2, n - 1 - n / 2);
	piece[0].hold = piece[1].hold = piece[2].hold = b;
	assert_int_equal(rpc_req_hold(req, piece, 3, &data), 0);
	xdr_put_payload_list(&req->res, &data);
}

static void serve_put(struct rpc_req *req, unsigned payloads)
{
	uint32_t first = payloads == 1 ? xdr_get_u32(&req->args) : 0, n;

	for (unsigned i = 0; i < payloads; i++) {
		struct seg_list data;
		bool placed, ok = xdr_get_payload_list(&req->args, 2u << 20, &data, &placed);
		uint8_t *d = malloc(data.len + 1);

		n = data.len;
		seg_list_gather(&data, d);
		xdr_put_u32(&req->res, n);
		xdr_put_u32(&req->res, ok ? pair_sum(d, n) : 0);
		free(d);
	}
	if (payloads == 1) {
		xdr_put_u32(&req->res, first);
		xdr_put_u32(&req->res, xdr_get_u32(&req->args));
	}
}

static void serve_get(struct rpc_req *req)
{
	xdr_put_u32(&req->res, 1);
	put_data(req, xdr_get_u32(&req->args), 5);
	xdr_put_u32(&req->res, 77);
}

static void serve_list(struct rpc_req *req)
{
	uint32_t n = xdr_get_u32(&req->args);
	uint8_t *d = malloc(n ? n : 1);

	pair_pattern(d, n, 9);
	xdr_put_opaque(&req->res, d, n);
	free(d);
}

static void serve_echo(struct rpc_req *req)
{
	uint32_t n;
	const uint8_t *d = xdr_get_opaque(&req->args, 2u << 20, &n);

	xdr_put_u32(&req->res, n);
	xdr_put_u32(&req->res, d ? pair_sum(d, n) : 0);
}

static void call_back(struct pair *p)
{
	int len;

	p->cb = (struct rpc_call){.xid = 0x0badcafe, .reply_max = 0};
	p->cb.msg = mem_buf_get(p->spool, RPC_HEADROOM + 8192);
	xdr_out_init(&p->cb.args, p->cb.msg->data + RPC_HEADROOM, 8192);
	if (p->cb_long)
		memset(xdr_reserve(&p->cb.args, 8000), 0, 8000);
	len = rpc_auth_put_call(
		&p->cb, PAIR_CB_PROG, 1, p->cb.msg->data + RPC_HEADROOM, RPC_MSG_MAX_CALL);
	assert_true(len > 0);
	assert_int_equal(
		p->server->ops->send_call(p->server, &p->cb, RPC_HEADROOM - (uint32_t)len), 0);
}

static size_t res_cap(const struct rpc_req *req)
{
	return req->proc == PAIR_LIST ? 1100000 : 4096;
}

static void serve(void *ctx, struct rpc_req *req)
{
	struct pair *p = ctx;

	p->last_res_max = req->res_max;
	p->last_sink_max = 0;
	p->last_nsinks = req->nsinks;
	for (unsigned i = 0; i < XDR_MAX_PAYLOADS; i++) {
		p->last_sink[i] = req->sink[i];
		p->last_sink_max += req->sink[i];
	}
	if (req->proc == PAIR_LATER) {
		pthread_mutex_lock(&p->lock);
		p->later[p->nlater++] = req;
		pthread_mutex_unlock(&p->lock);
		p->served++; /* req can be released now */
		return;
	}
	p->served++;
	assert_int_equal(rpc_req_begin(req, res_cap(req)), 0);
	switch (req->proc) {
	case PAIR_PUT:
		serve_put(req, 1);
		break;
	case PAIR_TWO:
		serve_put(req, 2);
		break;
	case PAIR_GET:
		serve_get(req);
		break;
	case PAIR_GET2:
		for (uint32_t i = 1; i <= 2; i++) {
			req->res.from = (uint32_t)xdr_in_disp(&req->args);
			put_data(req, xdr_get_u32(&req->args), i);
		}
		break;
	case PAIR_LIST:
		serve_list(req);
		break;
	case PAIR_ECHO:
		serve_echo(req);
		break;
	case PAIR_NONE:
		xdr_put_u32(&req->res, 0);
		break;
	case PAIR_CALL_BACK:
		call_back(p);
		break;
	}
	rpc_req_reply(req, xdr_in_ok(&req->args) ? RPC_ACCEPT_SUCCESS : RPC_ACCEPT_GARBAGE_ARGS);
}

unsigned pair_release(struct pair *p)
{
	unsigned n;

	for (n = 0;; n++) {
		struct rpc_req *req = NULL;

		pthread_mutex_lock(&p->lock);
		if (p->nlater)
			req = p->later[--p->nlater];
		pthread_mutex_unlock(&p->lock);
		if (!req)
			return n;
		rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	}
}

static struct rpc_call *server_find(void *ctx, uint32_t xid, bool reverse)
{
	struct pair *p = ctx;

	return reverse && p->cb.msg && xid == p->cb.xid && !p->cb_done ? &p->cb : NULL;
}

static void server_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct rpc_reply_hdr h;
	struct pair *p = ctx;

	p->cb_error = error ? error : rpc_msg_get_reply(msg, &h);
	p->cb_done = true;
}

static enum fault_kind fault(void *ctx, const struct rpc_req *req, struct fault_note *note,
	bool reply, unsigned *delay_ms)
{
	struct pair *p = ctx;

	return reply ? p->fault : FAULT_NONE;
}

void *pair_server_main(void *ctx)
{
	struct pair *p = ctx;
	struct rpc_xprt_up up = {
		.find = server_find, .reply = server_reply, .request = serve, .ctx = p};
	struct err e = {0};
	struct pollfd pfd = {.fd = p->acceptor->fd, .events = POLLIN};
	int rc;

	do {
		poll(&pfd, 1, PAIR_CONNECT_MS);
		rc = p->acceptor->ops->accept(p->acceptor, &p->server, &e);
	} while (rc == -EAGAIN);
	if (rc || fault_xprt_wrap(p->server, fault, p) ||
		p->server->ops->establish(p->server, &up, &e)) {
		fprintf(stderr, "responder: %s\n", e.msg);
		p->server_down = true;
		return NULL;
	}
	while (!p->server->ops->progress(p->server, 100))
		;
	p->server_down = true;
	if (p->cb.msg && !p->cb_done)
		p->server->ops->forget(p->server, &p->cb);
	return NULL;
}
