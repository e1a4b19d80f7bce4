/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_client and transport/rpc/rpc_server against each other, over TCP
 * or, with the argument "iwarp", over RPC-over-RDMA on software iWARP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "transport/log.h"
#include "transport/rpc/rpc.h"

#define PROG	0x20001234
#define CB_PROG 0x40000001
#define BIG	(1u << 20)

enum { P_NULL, P_ECHO, P_WRITE, P_READ, P_NEVER, P_CALLBACK, P_LATER, P_ASYNC, P_SHORT };

static enum rpc_proto proto = RPC_TCP;
static sem_t arrived, allowed, answered; /* P_ASYNC, each time */

/* --- a server ------------------------------------------------------------------------------------
 */

struct srv {
	struct mem_pool *pool;
	struct rpc_server *server;
	atomic_int requests, never, ups, downs;
	atomic_int shortages; /* so many times P_SHORT is answered SYSTEM_ERR */
	uint32_t never_xid[8];
	_Atomic enum fault_kind fault; /* what to do to the next reply (or request), once */
	_Atomic bool fault_request;
	_Atomic unsigned delay_ms;
	atomic_int faults_left;
};

static void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (i * 2654435761u + seed) >> 24;
}

static uint32_t sum(const uint8_t *p, uint32_t n)
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

static void call_back(struct rpc_req *req)
{
	uint32_t prog = xdr_get_u32(&req->args);
	struct rpc_call *call = malloc(sizeof(*call));

	assert_int_equal(rpc_cb_init(call, req->xprt, prog, 1, 64), 0);
	call->proc = 7;
	call->done = cb_done;
	call->ctx = req;
	call->timeout_ms = 10000;
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

static void service(void *ctx, struct rpc_req *req)
{
	struct srv *s = ctx;
	const uint8_t *p;
	struct mem_sge sge;
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
		req->hold[req->nhold++] = mem_buf_get(s->pool, n ? n : 1);
		fill(req->hold[0]->data, n, i);
		sge = mem_buf_sge(req->hold[0], 0, n);
		xdr_put_u32(&req->res, 0x11111111);
		xdr_put_payload(&req->res, &sge);
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
		call_back(req);
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

	if (reply == s->fault_request || atomic_fetch_sub(&s->faults_left, 1) <= 0)
		return FAULT_NONE;
	*delay_ms = s->delay_ms;
	return s->fault;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return fault_xprt_wrap(x, fault, ctx);
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
}

static void srv_start(struct srv *s, uint16_t port)
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

static void srv_stop(struct srv *s)
{
	s->server = rpc_server_free(s->server);
}

/* --- a client ------------------------------------------------------------------------------------
 */

struct cli {
	struct mem_pool *pool;
	struct rpc_client *c;
	atomic_int reconnected;
};

static void on_reconnected(void *ctx)
{
	atomic_fetch_add(&((struct cli *)ctx)->reconnected, 1);
}

static void cb_service(void *ctx, struct rpc_req *req)
{
	assert_int_equal(req->proc, 7);
	assert_int_equal(rpc_req_begin(req, 64), 0);
	xdr_put_u32(&req->res, xdr_get_u32(&req->args) + 1);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void cli_start(struct cli *c, uint16_t port, unsigned timeo_ms, unsigned soft_retrans)
{
	struct sockaddr_in sin = loopback(port);
	struct rpc_client_params p = {.proto = proto,
		.peer_len = sizeof(sin),
		.peer_name = "test",
		.prog = PROG,
		.vers = 3,
		.pool = c->pool,
		.connect_ms = 2000,
		.timeo_ms = timeo_ms,
		.retrans = soft_retrans,
		.soft = soft_retrans != 0,
		.cb_prog = CB_PROG,
		.cb_service = cb_service,
		.reconnected = on_reconnected,
		.ctx = c};
	struct err e = {0};

	memcpy(&p.peer, &sin, sizeof(sin));
	c->c = rpc_client_new(&p, &e);
	if (!c->c)
		fail_msg("%s", e.msg);
}

/* One call and how it ended. */
struct one {
	struct rpc_call call;
	sem_t sem;
	int error;
	uint32_t n, word[2];
	uint8_t *copy;
	size_t len;
};

static size_t peek_read(const void *res, size_t n)
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

static void one_init(struct one *o, struct cli *c, uint32_t proc)
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

static int one_wait(struct one *o)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 20;
	if (sem_timedwait(&o->sem, &t) < 0)
		fail_msg("no answer for 20 s");
	return o->error;
}

static int one_run(struct one *o)
{
	assert_int_equal(rpc_call_submit(&o->call), 0);
	return one_wait(o);
}

static void one_finish(struct one *o)
{
	rpc_call_finish(&o->call);
	free(o->copy);
	sem_destroy(&o->sem);
}

static int simple(struct cli *c, uint32_t proc)
{
	struct one o;
	int rc;

	one_init(&o, c, proc);
	rc = one_run(&o);
	one_finish(&o);
	return rc;
}

static int echo(struct cli *c, uint32_t n)
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

static int read_n(struct cli *c, uint32_t n, uint32_t room, bool peek)
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

struct pair {
	struct srv s;
	struct cli c;
	uint16_t port;
};

static void pair_start(struct pair *p, unsigned timeo_ms, unsigned soft_retrans)
{
	memset(p, 0, sizeof(*p));
	p->s.pool = mem_pool_new(0);
	p->c.pool = mem_pool_new(0);
	srv_start(&p->s, 0);
	p->port = rpc_server_port(p->s.server);
	cli_start(&p->c, p->port, timeo_ms, soft_retrans);
}

static void pool_end(struct mem_pool *pool)
{
	struct mem_stats st;

	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
}

static void pair_stop(struct pair *p)
{
	rpc_client_free(p->c.c);
	srv_stop(&p->s);
	assert_int_equal(p->s.ups, p->s.downs);
	pool_end(p->c.pool);
	pool_end(p->s.pool);
}

static void inject(struct pair *p, enum fault_kind f, bool request, unsigned delay_ms)
{
	p->s.fault = f;
	p->s.fault_request = request;
	p->s.delay_ms = delay_ms;
	atomic_store(&p->s.faults_left, 1);
}

/* --- tests ---------------------------------------------------------------------------------------
 */

static void calls_are_answered(void **state)
{
	struct rpc_client_info info;
	struct pair p;

	pair_start(&p, 10000, 0);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	for (uint32_t n = 0; n < 9; n++)
		assert_int_equal(echo(&p.c, n), 0);
	assert_int_equal(echo(&p.c, 50000), 0);
	rpc_client_info(p.c.c, &info);
	assert_true(info.connected);
	assert_string_equal(info.provider, rpc_proto_name(proto));
	pair_stop(&p);
	assert_int_equal(p.s.requests, 11);
}

static void errors_are_told_apart(void **state)
{
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	one_init(&o, &p.c, 99);
	assert_int_equal(one_run(&o), -EPROTO);
	assert_int_equal(o.call.rpc_stat, RPC_PROC_UNAVAIL);
	one_finish(&o);
	one_init(&o, &p.c, P_ECHO); /* no arguments */
	assert_int_equal(one_run(&o), -EPROTO);
	assert_int_equal(o.call.rpc_stat, RPC_GARBAGE_ARGS);
	one_finish(&o);
	one_init(&o, &p.c, P_ECHO);
	xdr_reserve(&o.call.args, 1 << 20);
	assert_int_equal(rpc_call_submit(&o.call), -EMSGSIZE);
	one_finish(&o);
	pair_stop(&p);
}

static void payload_of_calls_stays_in_place(void **state)
{
	static const uint32_t sizes[] = {0, 1, 3, 4096, 4097, 131072, BIG};
	struct rpc_client_stats st;
	struct mem_buf *buf;
	struct mem_sge sge;
	struct pair p;
	struct one o;
	uint64_t all = 0;

	pair_start(&p, 10000, 0);
	buf = mem_buf_get(p.c.pool, BIG);
	fill(buf->data, BIG, 3);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		sge = mem_buf_sge(buf, 0, sizes[i]);
		one_init(&o, &p.c, P_WRITE);
		xdr_put_payload(&o.call.args, &sge);
		xdr_put_u32(&o.call.args, 5);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(o.len, 8);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), sum(buf->data, sizes[i]));
		assert_int_equal(be32toh(*(uint32_t *)(o.copy + 4)), 1234);
		one_finish(&o);
		all += sizes[i];
	}
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.bytes_exposed + st.bytes_pulled_up, all);
	assert_true(st.bytes_pulled_up <= (proto == RPC_TCP ? 0 : 4096));
	mem_buf_unref(buf);
	pair_stop(&p);
}

/* n pieces of buf, none of which continues the one before; of odd lengths, or pages. */
static struct seg_list pieces_of(struct mem_buf *buf, struct seg *piece, unsigned n, bool odd)
{
	static const uint32_t len[] = {1, 4095, 4096, 0, 70001, 3};
	uint32_t end = BIG;
	struct seg_list l;

	for (unsigned i = 0; i < n; i++) {
		uint32_t k = odd ? len[i % 6] : 4096;

		end -= k;
		piece[i] = (struct seg){mem_buf_sge(buf, end, k), buf};
	}
	assert_int_equal(seg_list_init(&l, piece, n), 0);
	return l;
}

/* Into what one READ brings, out of what one WRITE takes: the same bytes whatever they lie in. */
static void payload_lies_in_pieces(void **state)
{
	static const struct {
		unsigned n;
		bool odd;
	} how[] = {{2, false}, {6, true}, {31, true}, {64, false}, {256, false}};
	struct rpc_client_stats before, st;
	struct seg piece[256];
	uint8_t *want = malloc(BIG);
	struct mem_buf *buf;
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	buf = mem_buf_get(p.c.pool, BIG);
	for (unsigned i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		struct seg_list l = pieces_of(buf, piece, how[i].n, how[i].odd), got;
		uint32_t n = l.len - (i & 1);

		fill(want, n, 9);
		one_init(&o, &p.c, P_READ);
		xdr_put_u32(&o.call.args, n);
		xdr_put_u32(&o.call.args, 9);
		o.call.reply_max = 256;
		o.call.nsinks = 1;
		o.call.sink[0] = l;
		o.call.peek = peek_read;
		rpc_client_stats(p.c.c, &before);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(o.n, n);
		rpc_client_stats(p.c.c, &st);
		/* a header of 4096 bytes has no room for 256 segments */
		if (proto != RPC_TCP && how[i].n < 200)
			assert_int_equal(st.bytes_placed - before.bytes_placed, n);
		one_finish(&o);

		got = seg_list_cut(&l, 0, n);
		one_init(&o, &p.c, P_WRITE);
		xdr_put_payload_list(&o.call.args, &got);
		xdr_put_u32(&o.call.args, 5);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), sum(want, n));
		one_finish(&o);
		rpc_client_stats(p.c.c, &before);
		if (proto == RPC_TCP || how[i].n < 100)
			assert_int_equal(before.bytes_exposed - st.bytes_exposed, n);
	}
	mem_buf_unref(buf);
	free(want);
	pair_stop(&p);
}

static void payload_of_replies_finds_its_sink(void **state)
{
	static const uint32_t sizes[] = {0, 1, 3, 4096, 4097, 65536, 131072, BIG};
	struct rpc_client_stats st;
	struct pair p;

	pair_start(&p, 10000, 0);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(read_n(&p.c, sizes[i], BIG, true), 0);
		assert_int_equal(read_n(&p.c, sizes[i], sizes[i] ? sizes[i] : 1, false), 0);
	}
	rpc_client_stats(p.c.c, &st);
	assert_true(st.bytes_placed > BIG);
	/* more than the sink holds */
	assert_int_equal(read_n(&p.c, 5000, 4999, true), proto == RPC_TCP ? -EBADMSG : -EIO);
	assert_int_equal(read_n(&p.c, 50000, 4999, false), proto == RPC_TCP ? -EBADMSG : -EIO);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	pair_stop(&p);
}

static void large_payload_is_not_copied(void **state)
{
	struct rpc_client_stats st;
	struct pair p;

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read_n(&p.c, BIG, BIG, true), 0);
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.bytes_placed + st.bytes_copied, 8 * BIG);
	assert_true(st.bytes_copied <= 8 * 512);
	pair_stop(&p);
}

static void a_time_out_resends_with_the_same_xid(void **state)
{
	struct rpc_client_stats st;
	struct pair p;

	pair_start(&p, 200, 0);
	assert_int_equal(simple(&p.c, P_NEVER), 0);
	assert_true(atomic_load(&p.s.never) >= 2);
	assert_int_equal(p.s.never_xid[0], p.s.never_xid[1]);
	rpc_client_stats(p.c.c, &st);
	assert_true(st.timeouts >= 1);
	assert_true(st.reconnects >= 1);
	assert_true(atomic_load(&p.c.reconnected) >= 1);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	pair_stop(&p);
	assert_true(p.s.ups >= 2); /* never resent on a live connection */
}

static void soft_gives_up(void **state)
{
	struct pair p;

	pair_start(&p, 50, 2);
	assert_int_equal(simple(&p.c, P_LATER), -ETIMEDOUT);
	srv_stop(&p.s); /* and without any server */
	assert_int_equal(simple(&p.c, P_NULL), -ETIMEDOUT);
	pair_stop(&p);
}

/* SYSTEM_ERR is what a server answers that is short of memory. */
static void a_shortage_is_waited_out(void **state)
{
	struct pair pair;
	struct one o, p;

	for (int soft = 0; soft < 2; soft++) {
		pair_start(&pair, 5000, soft);
		pair.s.shortages = 3;
		one_init(&o, &pair.c, P_SHORT);
		one_init(&p, &pair.c, P_NULL);
		assert_int_equal(rpc_call_submit(&o.call), 0);
		assert_int_equal(rpc_call_submit(&p.call), 0);
		assert_int_equal(one_wait(&p), 0);
		assert_int_equal(one_wait(&o), soft ? -EPROTO : 0);
		if (soft)
			assert_int_equal(o.call.rpc_stat, RPC_SYSTEM_ERR);
		one_finish(&o);
		one_finish(&p);
		/* one that waits can be cancelled */
		pair.s.shortages = 1000;
		one_init(&o, &pair.c, P_SHORT);
		assert_int_equal(rpc_call_submit(&o.call), 0);
		if (!soft)
			rpc_call_cancel(&o.call);
		assert_int_equal(one_wait(&o), soft ? -EPROTO : -ECANCELED);
		one_finish(&o);
		pair_stop(&pair);
	}
}

static void a_server_may_restart(void **state)
{
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	srv_stop(&p.s);
	one_init(&o, &p.c, P_NULL);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	usleep(50000);
	srv_start(&p.s, p.port);
	assert_int_equal(one_wait(&o), 0);
	one_finish(&o);
	pair_stop(&p);
}

static void calls_can_be_cancelled(void **state)
{
	struct mem_buf *buf;
	struct mem_sge sge;
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	one_init(&o, &p.c, P_LATER);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	rpc_call_cancel(&o.call);
	assert_int_equal(one_wait(&o), -ECANCELED);
	one_finish(&o);
	/* with its payload half sent, perhaps */
	buf = mem_buf_get(p.c.pool, BIG);
	memset(buf->data, 1, BIG);
	for (int i = 0; i < 20; i++) {
		sge = mem_buf_sge(buf, 0, BIG);
		one_init(&o, &p.c, P_WRITE);
		xdr_put_payload(&o.call.args, &sge);
		xdr_put_u32(&o.call.args, 5);
		assert_int_equal(rpc_call_submit(&o.call), 0);
		rpc_call_cancel(&o.call);
		one_wait(&o);
		assert_true(o.error == -ECANCELED || o.error == 0);
		one_finish(&o);
	}
	mem_buf_unref(buf);
	assert_int_equal(simple(&p.c, P_NULL), 0); /* the stream is still in step */
	/* while there is no connection */
	srv_stop(&p.s);
	one_init(&o, &p.c, P_NULL);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	usleep(20000);
	rpc_call_cancel(&o.call);
	assert_int_equal(one_wait(&o), -ECANCELED);
	one_finish(&o);
	pair_stop(&p);
}

static void the_end_fails_what_is_under_way(void **state)
{
	struct pair p;
	struct one o[3];

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 3; i++) {
		one_init(&o[i], &p.c, P_LATER);
		assert_int_equal(rpc_call_submit(&o[i].call), 0);
	}
	p.c.c = rpc_client_free(p.c.c);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(one_wait(&o[i]), -ENOTCONN);
		one_finish(&o[i]);
	}
	pair_stop(&p);
}

static void the_server_calls_back(void **state)
{
	struct rpc_client_stats st;
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 3; i++) {
		one_init(&o, &p.c, P_CALLBACK);
		xdr_put_u32(&o.call.args, CB_PROG);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), 0);
		assert_int_equal(be32toh(*(uint32_t *)(o.copy + 4)), 42);
		one_finish(&o);
	}
	one_init(&o, &p.c, P_CALLBACK);
	xdr_put_u32(&o.call.args, CB_PROG + 1); /* nobody serves that */
	assert_int_equal(one_run(&o), 0);
	assert_int_equal((int)be32toh(*(uint32_t *)o.copy), -EPROTO);
	one_finish(&o);
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.callbacks, 3);
	pair_stop(&p);
}

static void answers_may_come_from_another_thread(void **state)
{
	struct pair p;
	struct one o[4];

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 4; i++) {
		one_init(&o[i], &p.c, P_ASYNC);
		assert_int_equal(rpc_call_submit(&o[i].call), 0);
	}
	for (int i = 0; i < 4; i++) {
		sem_wait(&arrived);
		sem_post(&allowed);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(one_wait(&o[i]), 0);
		one_finish(&o[i]);
		sem_wait(&answered);
	}
	/* one that is answered after its connection and server have gone */
	one_init(&o[0], &p.c, P_ASYNC);
	assert_int_equal(rpc_call_submit(&o[0].call), 0);
	sem_wait(&arrived);
	p.c.c = rpc_client_free(p.c.c);
	one_finish(&o[0]);
	srv_stop(&p.s);
	sem_post(&allowed);
	sem_wait(&answered);
	pair_stop(&p);
}

static void faults_are_borne(void **state)
{
	static const enum fault_kind silent[] = {
		FAULT_DROP, FAULT_WRONG_XID, FAULT_CLOSE, FAULT_CLOSE_MID};
	struct pair p;
	int rc;

	pair_start(&p, 500, 0);
	for (unsigned i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		inject(&p, silent[i], false, 0);
		assert_int_equal(echo(&p.c, 3000), 0);
	}
	inject(&p, FAULT_DROP, true, 0);
	assert_int_equal(echo(&p.c, 10), 0);
	pair_stop(&p);
	/* no call is to time out from here on, however slow the machine is */
	pair_start(&p, 10000, 0);
	inject(&p, FAULT_CLOSE_MID, false, 0);
	assert_int_equal(read_n(&p.c, BIG, BIG, true), 0);
	inject(&p, FAULT_CLOSE, true, 0);
	assert_int_equal(echo(&p.c, 10), 0);
	/* damage is seen, by RPC or by who decodes the results */
	for (int i = 0; i < 10; i++) {
		inject(&p, FAULT_CORRUPT, false, 0);
		rc = echo(&p.c, 20);
		assert_true(rc == -EPROTO || rc == -EBADMSG || rc == -EACCES);
		inject(&p, FAULT_TRUNCATE, false, 0);
		rc = echo(&p.c, 20);
		assert_true(rc == -EPROTO || rc == -EBADMSG);
	}
	inject(&p, FAULT_TRUNCATE, false, 0);
	assert_int_equal(read_n(&p.c, 20000, BIG, true), -EBADMSG);
	inject(&p, FAULT_TRUNCATE, false, 0);
	assert_int_equal(simple(&p.c, P_NULL), -EPROTO);
	assert_int_equal(echo(&p.c, 10), 0);
	pair_stop(&p);
}

static void messages_can_be_held_back(void **state)
{
	struct timespec a, b;
	struct pair p;

	pair_start(&p, 10000, 0);
	for (int request = 0; request < 2; request++) {
		inject(&p, FAULT_NONE, request, 60);
		clock_gettime(CLOCK_MONOTONIC, &a);
		assert_int_equal(echo(&p.c, 10), 0);
		clock_gettime(CLOCK_MONOTONIC, &b);
		assert_true((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 >= 59);
	}
	/* held back when the connection ends */
	inject(&p, FAULT_NONE, false, 5000);
	{
		struct one o;

		one_init(&o, &p.c, P_NULL);
		assert_int_equal(rpc_call_submit(&o.call), 0);
		usleep(20000);
		p.c.c = rpc_client_free(p.c.c);
		assert_int_equal(one_wait(&o), -ENOTCONN);
		one_finish(&o);
	}
	pair_stop(&p);
}

#define STORM_THREADS 4
#define STORM_DEPTH   250
#define STORM_CALLS   2000

struct storm {
	struct cli *c;
	pthread_mutex_t lock;
	int started, ended, bad; /* lock */
	sem_t all;
};

struct drop {
	struct rpc_call call;
	struct storm *storm;
	struct mem_buf *sink;
	uint32_t n;
};

static void drop_done(struct rpc_call *call, int error, struct xdr_in *res);

static void drop_submit(struct drop *d, uint32_t i)
{
	assert_int_equal(rpc_call_init(&d->call, d->storm->c->c, 8192), 0);
	d->n = i * 37 % 5000;
	d->call.done = drop_done;
	d->call.ctx = d;
	d->call.reply_max = 8192;
	if (i % 3 == 0) {
		d->call.proc = P_READ;
		d->call.nsinks = 1;
		d->call.sink[0] = seg_list_of_buf(d->sink, 0, d->sink->size);
		d->call.peek = i % 2 ? peek_read : NULL;
		if (i % 5 == 0)
			d->n = 40000;
		xdr_put_u32(&d->call.args, d->n);
		xdr_put_u32(&d->call.args, d->n);
	} else {
		uint8_t *p;

		d->call.proc = P_ECHO;
		xdr_put_u32(&d->call.args, d->n);
		p = xdr_reserve(&d->call.args, d->n);
		fill(p, d->n, d->n);
	}
	assert_int_equal(rpc_call_submit(&d->call), 0);
}

static void drop_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct drop *d = call->ctx;
	struct storm *s = d->storm;
	uint8_t want[40000];
	const uint8_t *p;
	uint32_t n = 0;
	int next = 0;
	bool good = error == 0;

	fill(want, d->n, d->n);
	if (call->proc == P_READ) {
		xdr_get_u32(res);
		if (rpc_call_take_sink(call, res, 0, &n) < 0)
			good = false;
		xdr_get_u32(res);
		p = d->sink->data;
	} else {
		p = xdr_get_opaque(res, 8192, &n);
	}
	good = good && xdr_in_done(res) && n == d->n && memcmp(p, want, n) == 0;
	rpc_call_finish(call);
	pthread_mutex_lock(&s->lock);
	s->bad += !good;
	if (s->started < STORM_CALLS)
		next = ++s->started;
	if (++s->ended == STORM_CALLS)
		sem_post(&s->all);
	pthread_mutex_unlock(&s->lock);
	if (next)
		drop_submit(d, next);
}

static void *storm_thread(void *arg)
{
	struct drop *d = arg;

	for (int i = 0; i < STORM_DEPTH; i++)
		drop_submit(&d[i], i);
	return NULL;
}

static void a_thousand_calls_at_once(void **state)
{
	struct storm s = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct drop *d = calloc(STORM_THREADS * STORM_DEPTH, sizeof(*d));
	pthread_t t[STORM_THREADS];
	struct pair p;

	pair_start(&p, 20000, 0);
	s.c = &p.c;
	s.started = STORM_THREADS * STORM_DEPTH;
	sem_init(&s.all, 0, 0);
	for (int i = 0; i < STORM_THREADS * STORM_DEPTH; i++) {
		d[i].storm = &s;
		d[i].sink = mem_buf_get(p.c.pool, 65536);
	}
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_create(&t[i], NULL, storm_thread, d + i * STORM_DEPTH);
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(t[i], NULL);
	sem_wait(&s.all);
	assert_int_equal(s.bad, 0);
	for (int i = 0; i < STORM_THREADS * STORM_DEPTH; i++)
		mem_buf_unref(d[i].sink);
	pair_stop(&p);
	free(d);
}

static void connecting_fails_with_a_reason(void **state)
{
	struct sockaddr_in sin = loopback(1);
	struct rpc_client_params p = {.proto = proto,
		.peer_len = sizeof(sin),
		.peer_name = "nowhere",
		.connect_ms = 500,
		.pool = mem_pool_new(0)};
	struct err e = {0};

	memcpy(&p.peer, &sin, sizeof(sin));
	assert_null(rpc_client_new(&p, &e));
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_non_null(strstr(e.msg, "nowhere"));
	assert_non_null(strstr(e.msg, "127.0.0.1:1"));
	mem_pool_free(p.pool);
	assert_null(rpc_client_free(NULL));
}

/* A server whose queue of new connections is full, so that nothing comes of this one. */
static void connecting_can_be_given_up(void **state)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), filling[3];
	struct rpc_client_params p = {.proto = proto,
		.peer_len = sizeof(struct sockaddr_in),
		.connect_ms = 600000,
		.abort_fd = eventfd(1, 0),
		.pool = mem_pool_new(0)};
	struct sockaddr_in sin = loopback(0);
	struct err e = {0};

	assert_int_equal(bind(listener, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(listener, 0), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&p.peer, &p.peer_len), 0);
	for (unsigned i = 0; i < 3; i++) {
		filling[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(filling[i], (struct sockaddr *)&p.peer, p.peer_len);
	}
	assert_null(rpc_client_new(&p, &e));
	for (unsigned i = 0; i < 3; i++)
		close(filling[i]);
	close(p.abort_fd);
	close(listener);
	mem_pool_free(p.pool);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_answered),
		cmocka_unit_test(errors_are_told_apart),
		cmocka_unit_test(payload_of_calls_stays_in_place),
		cmocka_unit_test(payload_of_replies_finds_its_sink),
		cmocka_unit_test(payload_lies_in_pieces),
		cmocka_unit_test(large_payload_is_not_copied),
		cmocka_unit_test(a_time_out_resends_with_the_same_xid),
		cmocka_unit_test(soft_gives_up),
		cmocka_unit_test(a_server_may_restart),
		cmocka_unit_test(a_shortage_is_waited_out),
		cmocka_unit_test(calls_can_be_cancelled),
		cmocka_unit_test(the_end_fails_what_is_under_way),
		cmocka_unit_test(the_server_calls_back),
		cmocka_unit_test(answers_may_come_from_another_thread),
		cmocka_unit_test(faults_are_borne),
		cmocka_unit_test(messages_can_be_held_back),
		cmocka_unit_test(a_thousand_calls_at_once),
		cmocka_unit_test(connecting_fails_with_a_reason),
		cmocka_unit_test(connecting_can_be_given_up),
	};

	if (argc > 1 && strcmp(argv[1], "iwarp") == 0)
		proto = RPC_IWARP;
	sem_init(&arrived, 0, 0);
	sem_init(&allowed, 0, 0);
	sem_init(&answered, 0, 0);
	log_init("test", LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
