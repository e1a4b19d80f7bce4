/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc-pair: an RPC client and a server with a small service.
 */
#include "tests/unit/transport/rpc/rpc-pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "transport/log.h"

enum rpc_proto proto = RPC_TCP;
sem_t arrived, allowed, answered;

/* --- a server ------------------------------------------------------------------------------------
 */

void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (i * 2654435761u + seed) >> 24;
}

uint32_t sum(const uint8_t *p, uint32_t n)
{
	uint32_t s = n;

	for (uint32_t i = 0; i < n; i++)
		s = s * 31 + p[i];
	return s;
}

static void cb_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct rpc_req *req = call->ctx;

	assert_int_equal(rpc_req_begin(req, 64), 0);
	xdr_put_u32(&req->res, error);
	xdr_put_u32(&req->res, xdr_get_u32(res));
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	rpc_call_finish(call);
	free(call);
}

static void call_back(struct srv *s, struct rpc_req *req)
{
	uint32_t prog = xdr_get_u32(&req->args);
	struct rpc_call *call = malloc(sizeof(*call));

	assert_int_equal(rpc_cb_init(call, req->xprt, prog, 1, 64), 0);
	call->proc = 7;
	call->done = cb_done;
	call->ctx = req;
	call->timeout_ms = s->cb_timeout_ms ? (unsigned)s->cb_timeout_ms : 10000;
	xdr_put_u32(&call->args, 41);
	assert_int_equal(rpc_cb_submit(call), 0);
}

static void *answer_later(void *arg)
{
	struct rpc_req *req = arg;

	sem_wait(&allowed);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	sem_post(&answered);
	return NULL;
}

/* Puts n bytes as payload, in about srv.pieces blocks. */
static void put_data(struct srv *s, struct rpc_req *req, uint32_t n, uint32_t seed)
{
	struct seg *seg = calloc(SEG_LIST_MAX, sizeof(*seg));
	uint32_t pieces = s->pieces ? (uint32_t)s->pieces : 1, each = n / pieces + 1, at = 0;
	uint8_t *bytes = malloc(n + 1);
	struct seg_list data;
	unsigned nseg = 0;

	fill(bytes, n, seed);
	do {
		uint32_t len = n - at < each ? n - at : each;
		struct mem_buf *b = mem_buf_get(s->pool, len + 3);

		assert_non_null(b);
		memcpy(b->data + 3, bytes + at, len);
		seg[nseg++] = (struct seg){mem_buf_sge(b, 3, len), b};
		at += len;
	} while (at < n);
	assert_int_equal(rpc_req_hold(req, seg, nseg, &data), 0);
	free(seg);
	xdr_put_payload_list(&req->res, &data);
	free(bytes);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct srv *s = ctx;
	const uint8_t *p;
	pthread_t t;
	uint32_t n, i;

	atomic_fetch_add(&s->requests, 1);
	if (req->vers != 3) {
		req->mismatch_low = req->mismatch_high = 3;
		rpc_req_reply(req, RPC_ACCEPT_PROG_MISMATCH);
		return;
	}
	switch (req->proc) {
	case P_NULL:
		rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
		return;
	case P_ECHO:
		p = xdr_get_opaque(&req->args, 60000, &n);
		if (!xdr_in_done(&req->args)) {
			rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
			return;
		}
		assert_int_equal(rpc_req_begin(req, n + 64), 0);
		xdr_put_opaque(&req->res, p, n);
		break;
	case P_WRITE:
		p = xdr_get_payload(&req->args, BIG, &n, NULL);
		xdr_get_u32(&req->args);
		if (!xdr_in_done(&req->args)) {
			rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
			return;
		}
		assert_int_equal(rpc_req_begin(req, 64), 0);
		xdr_put_u32(&req->res, sum(p, n));
		xdr_put_u32(&req->res, req->cred.uid);
		break;
	case P_READ:
		n = xdr_get_u32(&req->args);
		i = xdr_get_u32(&req->args);
		assert_int_equal(rpc_req_begin(req, 64), 0);
		xdr_put_u32(&req->res, 0x11111111);
		put_data(s, req, n, i);
		xdr_put_u32(&req->res, 0x22222222);
		break;
	case P_NEVER:
		i = atomic_fetch_add(&s->never, 1);
		s->never_xid[i % 8] = req->xid;
		if (i == 0) {
			rpc_req_drop(req);
			return;
		}
		break;
	case P_CALLBACK:
		call_back(s, req);
		return;
	case P_LATER:
		rpc_req_drop(req);
		return;
	case P_SHORT:
		rpc_req_reply(req, atomic_fetch_sub(&s->shortages, 1) > 0 ? RPC_ACCEPT_SYSTEM_ERR
									  : RPC_ACCEPT_SUCCESS);
		return;
	case P_ASYNC:
		pthread_create(&t, NULL, answer_later, req);
		pthread_detach(t);
		sem_post(&arrived);
		return;
	default:
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
		return;
	}
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void on_up(void *ctx, struct rpc_xprt *x)
{
	assert_non_null(strstr(rpc_xprt_peer(x), "127.0.0.1:"));
	atomic_fetch_add(&((struct srv *)ctx)->ups, 1);
}

static void on_down(void *ctx, struct rpc_xprt *x)
{
	atomic_fetch_add(&((struct srv *)ctx)->downs, 1);
}

static enum fault_kind fault(void *ctx, const struct rpc_req *req, struct fault_note *note,
	bool reply, unsigned *delay_ms)
{
	struct srv *s = ctx;

	/* the note of a request must be there for the reply */
	if (!reply)
		note->word[0] = note->word[1] = req->xid + 1;
	else if (note)
		assert_true(note->word[0] == req->xid + 1 && note->word[1] == note->word[0]);
	else
		s->unnoted++;
	if (reply == s->fault_request || (s->faults_left && s->faults_skip-- > 0) ||
		atomic_fetch_sub(&s->faults_left, 1) <= 0)
		return FAULT_NONE;
	*delay_ms = s->delay_ms;
	return s->fault;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return fault_xprt_wrap(x, fault, ctx);
}

struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
}

void srv_start(struct srv *s, uint16_t port)
{
	struct sockaddr_in sin = loopback(port);
	struct rpc_server_params p = {.proto = proto,
		.addr_len = sizeof(sin),
		.pool = s->pool,
		.service = service,
		.conn_up = on_up,
		.conn_down = on_down,
		.wrap = wrap,
		.ctx = s};
	struct err e = {0};

	memcpy(&p.addr, &sin, sizeof(sin));
	s->server = rpc_server_new(&p, &e);
	if (!s->server)
		fail_msg("%s", e.msg);
}

void srv_stop(struct srv *s)
{
	s->server = rpc_server_free(s->server);
}

/* --- a client ------------------------------------------------------------------------------------
 */

static void on_reconnected(void *ctx)
{
	atomic_fetch_add(&((struct cli *)ctx)->reconnected, 1);
}

static void cb_service(void *ctx, struct rpc_req *req)
{
	assert_int_equal(req->proc, 7);
	if (((struct cli *)ctx)->mute) {
		rpc_req_drop(req);
		return;
	}
	assert_int_equal(rpc_req_begin(req, 64), 0);
	xdr_put_u32(&req->res, xdr_get_u32(&req->args) + 1);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

void cli_start(struct cli *c, uint16_t port, unsigned timeo_ms, unsigned soft_retrans)
{
	struct sockaddr_in sin = loopback(port);
	struct rpc_client_params p = {.proto = proto,
		.peer_len = sizeof(sin),
		.peer_name = "test",
		.hello = c->hello,
		.later = c->later,
		.paths = c->paths,
		.prog = PROG,
		.vers = 3,
		.pool = c->pool,
		.connect_ms = 2000,
		.timeo_ms = timeo_ms,
		.retrans = soft_retrans,
		.soft = soft_retrans != 0,
		.cb_prog = CB_PROG,
		.cb_service = cb_service,
		.cb_ctx = c,
		.reconnected = on_reconnected,
		.ctx = c};
	struct err e = {0};

	memcpy(&p.peer, &sin, sizeof(sin));
	c->c = rpc_client_new(&p, &e);
	if (!c->c)
		fail_msg("%s", e.msg);
}

size_t peek_read(const void *res, size_t n)
{
	return n >= 8 ? 8 : 0;
}

static void one_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct one *o = call->ctx;

	o->error = error;
	if (error == 0 && call->proc == P_READ) {
		o->word[0] = xdr_get_u32(res);
		o->error = rpc_call_take_sink(call, res, 0, &o->n);
		o->word[1] = xdr_get_u32(res);
		if (!o->error && !xdr_in_done(res))
			o->error = -EBADMSG;
	} else if (error == 0) {
		o->len = xdr_in_left(res);
		o->copy = malloc(o->len + 1);
		memcpy(o->copy, res->base + res->pos, o->len);
	}
	sem_post(&o->sem);
}

void one_init(struct one *o, struct cli *c, uint32_t proc)
{
	memset(o, 0, sizeof(*o));
	assert_int_equal(rpc_call_init(&o->call, c->c, 65536), 0);
	sem_init(&o->sem, 0, 0);
	o->call.proc = proc;
	o->call.cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 1234, .gid = 5};
	o->call.reply_max = 65536;
	o->call.done = one_done;
	o->call.ctx = o;
	o->error = 12345;
}

int one_wait(struct one *o)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 20;
	if (sem_timedwait(&o->sem, &t) < 0)
		fail_msg("no answer for 20 s");
	return o->error;
}

int one_run(struct one *o)
{
	assert_int_equal(rpc_call_submit(&o->call), 0);
	return one_wait(o);
}

void one_finish(struct one *o)
{
	rpc_call_finish(&o->call);
	free(o->copy);
	sem_destroy(&o->sem);
}

int simple(struct cli *c, uint32_t proc)
{
	struct one o;
	int rc;

	one_init(&o, c, proc);
	rc = one_run(&o);
	one_finish(&o);
	return rc;
}

int echo(struct cli *c, uint32_t n)
{
	uint8_t *data = malloc(n + 1);
	struct one o;
	int rc;

	fill(data, n, n);
	one_init(&o, c, P_ECHO);
	xdr_put_opaque(&o.call.args, data, n);
	rc = one_run(&o);
	if (rc == 0 && (o.len != 4 + n + xdr_pad(n) || memcmp(o.copy + 4, data, n)))
		rc = -EBADMSG;
	one_finish(&o);
	free(data);
	return rc;
}

int read_n(struct cli *c, uint32_t n, uint32_t room, bool peek)
{
	struct mem_buf *buf = mem_buf_get(c->pool, room);
	uint8_t *want = malloc(n + 1);
	struct one o;
	int rc;

	fill(want, n, n + 7);
	one_init(&o, c, P_READ);
	xdr_put_u32(&o.call.args, n);
	xdr_put_u32(&o.call.args, n + 7);
	o.call.reply_max = 256;
	o.call.nsinks = 1;
	o.call.sink[0] = seg_list_of_buf(buf, 0, room);
	o.call.peek = peek ? peek_read : NULL;
	rc = one_run(&o);
	if (rc == 0 && (o.n != n || o.word[0] != 0x11111111 || o.word[1] != 0x22222222 ||
			       memcmp(buf->data, want, n)))
		rc = -EILSEQ;
	one_finish(&o);
	mem_buf_unref(buf);
	free(want);
	return rc;
}

/* --- the pair ------------------------------------------------------------------------------------
 */

void pair_start(struct pair *p, unsigned timeo_ms, unsigned soft_retrans)
{
	memset(p, 0, sizeof(*p));
	p->s.pool = mem_pool_new(0);
	p->c.pool = mem_pool_new(0);
	srv_start(&p->s, 0);
	p->port = rpc_server_port(p->s.server);
	cli_start(&p->c, p->port, timeo_ms, soft_retrans);
}

void pool_end(struct mem_pool *pool)
{
	struct mem_stats st;

	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
}

void pair_stop(struct pair *p)
{
	rpc_client_free(p->c.c);
	srv_stop(&p->s);
	assert_int_equal(p->s.ups, p->s.downs);
	pool_end(p->c.pool);
	pool_end(p->s.pool);
}

void inject(struct pair *p, enum fault_kind f, bool request, unsigned delay_ms)
{
	p->s.fault = f;
	p->s.fault_request = request;
	p->s.delay_ms = delay_ms;
	atomic_store(&p->s.faults_left, 1);
}

int rpc_pair_run(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
	if (argc > 1 && strcmp(argv[1], "iwarp") == 0)
		proto = RPC_IWARP;
	sem_init(&arrived, 0, 0);
	sem_init(&allowed, 0, 0);
	sem_init(&answered, 0, 0);
	log_init("test", LOG_L_ERROR);
	return _cmocka_run_group_tests("rpc", tests, n, NULL, NULL);
}
