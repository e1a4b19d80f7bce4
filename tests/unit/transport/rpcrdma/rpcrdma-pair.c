/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma-pair: two RPC-over-RDMA connections of one test that talk to each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/transport/rpcrdma/fake-provider.h"
#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

#define WAIT_MS 60000 /* a call that takes longer hangs */

void pair_pattern(uint8_t *d, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		d[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

uint32_t pair_sum(const uint8_t *d, size_t n)
{
	uint32_t s = 1;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + d[i];
	return s;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- the requester ---------------------------------------------------------------------------- */

static struct rpc_call *client_find(void *ctx, uint32_t xid, bool reverse)
{
	struct pair *p = ctx;
	struct pair_call *c = reverse ? NULL : p->table[xid % PAIR_MAX_CALL];

	return c && c->rpc.xid == xid ? &c->rpc : NULL;
}

static void client_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct pair_call *c = (struct pair_call *)call;
	struct rpc_reply_hdr h = {0};
	struct pair *p = ctx;

	assert_false(c->done);
	assert_ptr_equal(p->table[call->xid % PAIR_MAX_CALL], c);
	p->table[call->xid % PAIR_MAX_CALL] = NULL;
	assert_null(call->xprt_priv);
	c->error = error;
	if (!error) {
		c->error = rpc_msg_get_reply(msg, &h);
		c->stat = h.stat;
	}
	if (!c->error && c->check)
		c->check(c, msg);
	c->done = true;
}

static void client_request(void *ctx, struct rpc_req *req)
{
	struct pair *p = ctx;

	assert_int_equal(req->prog, PAIR_CB_PROG);
	p->cb_served++;
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

unsigned pair_versions = RPC_RDMA_V1;

static void base_init(struct pair *p, const struct pair_params *params)
{
	memset(p, 0, sizeof(*p));
	p->next_xid = 0x1000;
	pthread_mutex_init(&p->lock, NULL);
	p->cpool = mem_pool_new(0);
	p->spool = mem_pool_new(params->server_memory);
}

static struct sockaddr_storage loopback(uint16_t port)
{
	struct sockaddr_storage ss = {0};
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(&ss, &sin, sizeof(sin));
	return ss;
}

static void start_responder(struct pair *p, const struct pair_params *params)
{
	struct rpc_server_params sp = {
		.addr = loopback(0),
		.addr_len = sizeof(struct sockaddr_in),
		.pool = p->spool,
		.rdma_versions = pair_versions,
		.inline_size = params->inline_server,
		.credits = params->credits_server,
	};
	struct err e = {0};

	p->acceptor = rpcrdma_listen_on(pair_prov, &sp, &e);
	if (!p->acceptor)
		fail_msg("%s", e.msg);
	assert_int_equal(pthread_create(&p->thread, NULL, pair_server_main, p), 0);
}

static void start_requester(struct pair *p, const struct pair_params *params, uint16_t port)
{
	struct rpc_client_params cp = {
		.peer = loopback(port),
		.peer_len = sizeof(struct sockaddr_in),
		.connect_ms = PAIR_CONNECT_MS,
		.pool = p->cpool,
		.rdma_versions = pair_versions,
		.inline_size = params->inline_client,
		.credits = params->credits_client,
	};
	struct rpc_xprt_up up = {.find = client_find,
		.reply = client_reply,
		.request = client_request,
		.ctx = p,
		.rdma_version = params->rdma_version};
	struct err e = {0};

	p->client = rpcrdma_connect_on(pair_prov, &cp, &up, &e);
	if (!p->client)
		fail_msg("%s", e.msg);
	p->client->stats = &p->stats;
}

void pair_init(struct pair *p, const struct pair_params *params)
{
	base_init(p, params);
	start_responder(p, params);
	start_requester(p, params, p->acceptor->port);
}

static void progress(struct pair *p, int ms)
{
	if (p->client_down || !p->client->ops->progress(p->client, ms))
		return;
	p->client_down = true;
	for (int i = 0; i < PAIR_MAX_CALL; i++) {
		struct pair_call *c = p->table[i];

		if (!c)
			continue;
		pair_forget(p, c);
		c->error = -ENOTCONN;
		c->done = true;
	}
}

void pair_finish(struct pair *p)
{
	struct mem_stats st;

	if (p->client) {
		p->client->ops->shutdown(p->client);
		while (!p->client_down)
			progress(p, 100);
	}
	if (p->acceptor)
		pthread_join(p->thread, NULL);
	pair_release(p);
	mem_buf_unref(p->cb.msg);
	if (p->client)
		rpc_xprt_unref(p->client);
	if (p->server)
		rpc_xprt_unref(p->server);
	if (p->acceptor)
		p->acceptor->ops->free(p->acceptor);
	mem_pool_stats(p->cpool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_stats(p->spool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(p->cpool);
	mem_pool_free(p->spool);
	assert_int_equal(fake_violations(), 0);
	pthread_mutex_destroy(&p->lock);
}

void pair_call_init(struct pair *p, struct pair_call *c, uint32_t proc, size_t args_max)
{
	memset(c, 0, sizeof(*c));
	c->rpc.proc = proc;
	c->rpc.xid = p->next_xid++;
	c->rpc.msg = mem_buf_get(p->cpool, RPC_HEADROOM + args_max);
	assert_non_null(c->rpc.msg);
	xdr_out_init(&c->rpc.args, c->rpc.msg->data + RPC_HEADROOM, args_max);
}

uint32_t pair_enter(struct pair *p, struct pair_call *c)
{
	int len;

	assert_true(xdr_out_ok(&c->rpc.args));
	assert_null(p->table[c->rpc.xid % PAIR_MAX_CALL]);
	p->table[c->rpc.xid % PAIR_MAX_CALL] = c;
	len = rpc_auth_put_call(
		&c->rpc, PAIR_PROG, 1, c->rpc.msg->data + RPC_HEADROOM, RPC_MSG_MAX_CALL);
	assert_true(len > 0);
	return RPC_HEADROOM - (uint32_t)len;
}

void pair_submit(struct pair *p, struct pair_call *c)
{
	uint32_t off = pair_enter(p, c);

	if (p->client->ops->send_call(p->client, &c->rpc, off)) {
		p->table[c->rpc.xid % PAIR_MAX_CALL] = NULL;
		c->error = -ENOTCONN;
		c->done = true;
	}
}

void pair_wait(struct pair *p, struct pair_call *c)
{
	int64_t end = now_ms() + WAIT_MS;

	while (!c->done && now_ms() < end)
		progress(p, 100);
	if (!c->done)
		fail_msg("call %08x of procedure %u hangs", c->rpc.xid, c->rpc.proc);
}

void pair_progress(struct pair *p, int ms)
{
	int64_t end = now_ms() + ms;

	while (!p->client_down && now_ms() < end)
		progress(p, 5);
}

bool pair_forget(struct pair *p, struct pair_call *c)
{
	bool left = p->client->ops->forget(p->client, &c->rpc);

	assert_null(c->rpc.xprt_priv);
	p->table[c->rpc.xid % PAIR_MAX_CALL] = NULL;
	return left;
}

void pair_call_finish(struct pair_call *c)
{
	mem_buf_unref(c->rpc.msg);
	for (unsigned i = 0; i < c->rpc.nsinks; i++)
		seg_list_unref(&c->rpc.sink[i]);
	free(c->copy);
}

void pair_do(struct pair *p, struct pair_call *c)
{
	pair_submit(p, c);
	pair_wait(p, c);
}

/* --- raw ends --------------------------------------------------------------------------------- */

uint8_t raw_priv[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};

static struct prov_params raw_params(struct raw *r)
{
	return (struct prov_params){
		.recv_depth = RAW_RECVS,
		.send_depth = 300,
		.ird = 16,
		.ord = 16,
		.priv = raw_priv,
		.priv_len = sizeof(raw_priv),
		.pool = r->pool,
	};
}

static void raw_post(struct raw *r, unsigned i)
{
	struct mem_sge sge = mem_buf_sge(r->buf[i], 0, sizeof(r->msg));

	r->prov->post_recv(r->pc, i, &sge);
}

static void raw_init(struct raw *r)
{
	memset(r, 0, sizeof(*r));
	r->prov = pair_prov;
	r->pool = mem_pool_new(0);
	r->zone = mem_buf_get(r->pool, 65536);
	for (int i = 0; i < RAW_RECVS; i++)
		r->buf[i] = mem_buf_get(r->pool, sizeof(r->msg));
}

static int raw_establish(struct raw *r)
{
	for (unsigned i = 0; i < RAW_RECVS; i++)
		raw_post(r, i);
	return r->prov->establish(r->pc, PAIR_CONNECT_MS, &r->err);
}

void (*raw_greet)(struct raw *r);

static void *raw_accept(void *ctx)
{
	struct raw *r = ctx;
	struct pollfd pfd = {.fd = r->listener->fd, .events = POLLIN};
	int rc;

	do {
		poll(&pfd, 1, PAIR_CONNECT_MS);
		rc = r->prov->accept(r->listener, &r->pc, &r->err);
	} while (rc == -EAGAIN);
	if (!rc && !raw_establish(r) && raw_greet) {
		raw_greet(r);
		if (r->prov != &prov_iwarp)
			fake_hand_over(r->pc);
	}
	return NULL;
}

void pair_init_requester(struct pair *p, const struct pair_params *params, struct raw *r)
{
	struct sockaddr_storage ss = loopback(0);
	struct prov_params pp;
	pthread_t t;

	base_init(p, params);
	raw_init(r);
	pp = raw_params(r);
	assert_int_equal(r->prov->listen((struct sockaddr *)&ss, sizeof(struct sockaddr_in), &pp,
				 &r->listener, &r->err),
		0);
	pthread_create(&t, NULL, raw_accept, r);
	start_requester(p, params, r->listener->port);
	pthread_join(t, NULL);
	assert_string_equal(r->err.msg, "");
}

void pair_init_responder(struct pair *p, const struct pair_params *params, struct raw *r)
{
	struct sockaddr_storage ss;
	struct prov_params pp;

	base_init(p, params);
	raw_init(r);
	pp = raw_params(r);
	start_responder(p, params);
	ss = loopback(p->acceptor->port);
	assert_int_equal(r->prov->open((struct sockaddr *)&ss, sizeof(struct sockaddr_in), &pp,
				 PAIR_CONNECT_MS, &r->pc, &r->err),
		0);
	assert_int_equal(raw_establish(r), 0);
}

void raw_finish(struct raw *r)
{
	r->prov->disconnect(r->pc);
	r->prov->free(r->pc);
	if (r->listener)
		r->prov->unlisten(r->listener);
	for (int i = 0; i < RAW_RECVS; i++)
		mem_buf_unref(r->buf[i]);
	mem_buf_unref(r->zone);
	mem_pool_free(r->pool);
}

void raw_send(struct raw *r, const uint32_t *w, size_t nwords, const void *more, size_t n)
{
	struct mem_buf *b = mem_buf_get(r->pool, nwords * 4 + n + 1);
	struct prov_wr wr = {.op = PROV_SEND, .nsge = 1, .nhold = 1};

	for (size_t i = 0; i < nwords; i++) {
		uint32_t be = htonl(w[i]);

		memcpy(b->data + i * 4, &be, 4);
	}
	if (n)
		memcpy(b->data + nwords * 4, more, n);
	wr.sge[0] = mem_buf_sge(b, 0, (uint32_t)(nwords * 4 + n));
	wr.hold[0] = b;
	r->prov->post(r->pc, &wr);
	mem_buf_unref(b);
}

static void raw_poll(struct raw *r, bool *got)
{
	struct prov_wc wc;

	while (!*got && !r->down && r->prov->poll(r->pc, &wc, 1) == 1) {
		if (wc.op == PROV_WC_DOWN)
			r->down = true;
		if (wc.op != PROV_WC_RECV)
			continue;
		memcpy(r->msg, r->buf[wc.cookie]->data, wc.len);
		r->len = wc.len;
		*got = true;
		raw_post(r, (unsigned)wc.cookie);
	}
}

bool raw_recv_within(struct raw *r, struct pair *p, int ms)
{
	int64_t end = now_ms() + ms;
	bool got = false;

	while (!got && !r->down && now_ms() < end) {
		raw_poll(r, &got);
		if (got)
			break;
		if (p && p->client)
			progress(p, 1);
		else
			r->prov->wait(r->pc, -1, 10);
	}
	return got;
}

bool raw_recv(struct raw *r, struct pair *p)
{
	return raw_recv_within(r, p, WAIT_MS);
}

void raw_recv_next(struct raw *r)
{
	do
		assert_true(raw_recv(r, NULL));
	while (raw_word(r, 3) == RDMA_CONNPROP);
}

void raw_recv_of(struct raw *r, struct pair *p, uint32_t xid)
{
	do
		assert_true(raw_recv(r, p));
	while (raw_word(r, 0) != xid);
}

void raw_wait_down(struct raw *r, struct pair *p)
{
	while (!r->down)
		if (!raw_recv(r, p) && !r->down)
			fail_msg("the connection is still up");
}

uint32_t raw_word(const struct raw *r, unsigned i)
{
	uint32_t w;

	assert_true(i * 4 + 4 <= r->len);
	memcpy(&w, r->msg + i * 4, 4);
	return ntohl(w);
}

void raw_write(struct raw *r, uint32_t stag, uint64_t offset, uint32_t n)
{
	struct prov_wr wr = {
		.op = PROV_WRITE,
		.nsge = 1,
		.nhold = 1,
		.remote_stag = stag,
		.remote_offset = offset,
	};

	wr.sge[0] = mem_buf_sge(r->zone, 0, n);
	wr.hold[0] = r->zone;
	r->prov->post(r->pc, &wr);
}

bool raw_read(struct raw *r, uint32_t stag, uint64_t offset, uint32_t n)
{
	struct prov_wr wr = {
		.op = PROV_READ,
		.nsge = 1,
		.remote_stag = stag,
		.remote_offset = offset,
	};
	bool read = false;

	wr.sge[0] = mem_buf_sge(r->zone, 0, n);
	r->prov->post(r->pc, &wr);
	while (!read && !r->down) {
		struct prov_wc wc;

		if (r->prov->poll(r->pc, &wc, 1) != 1) {
			r->prov->wait(r->pc, -1, 10);
			continue;
		}
		read = wc.op == PROV_WC_READ;
		r->down = wc.op == PROV_WC_DOWN;
	}
	return read;
}

struct prov_door raw_expose(struct raw *r, uint32_t off, uint32_t n)
{
	struct mem_sge sge = mem_buf_sge(r->zone, off, n);
	struct prov_door door = {0};

	assert_int_equal(r->prov->expose(r->pc, &sge, PROV_REMOTE_READ, &door), 0);
	return door;
}

void raw_hide(struct raw *r, struct prov_door *d)
{
	struct prov_wc wc;

	if (r->prov->withdraw(r->pc, d, 1, 1) != -EINPROGRESS)
		return;
	do {
		while (r->prov->poll(r->pc, &wc, 1) != 1)
			r->prov->wait(r->pc, -1, 10);
	} while (wc.op != PROV_WC_WITHDRAWN);
}

/* --- steps of a scripted peer ---------------------------------------------------------------- */

void raw_stop(struct raw *r, struct pair *p)
{
	raw_finish(r);
	pair_finish(p);
}

void pair_submit_null(struct pair *p, struct pair_call *c)
{
	pair_call_init(p, c, PAIR_NULL, 64);
	pair_submit(p, c);
}

void raw_expect(struct raw *r, struct pair *p, const struct pair_call *c, uint32_t vers,
	enum rpcrdma_proc proc)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 1), vers);
	assert_int_equal(raw_word(r, 3), proc);
}

void pair_end(struct pair *p, struct pair_call *c, int error)
{
	pair_wait(p, c);
	assert_int_equal(c->error, error);
	pair_call_finish(c);
}

void raw_answer(struct raw *r, struct pair *p, struct pair_call *c, uint32_t vers, uint32_t grant)
{
	RAW_SEND(r, c->rpc.xid, vers, grant, 0, 0, 0, 0, RPC_REPLY(c->rpc.xid));
	pair_end(p, c, 0);
}

void raw_null(struct raw *r, struct pair *p, uint32_t vers, uint32_t grant)
{
	struct pair_call c;

	pair_submit_null(p, &c);
	raw_expect(r, p, &c, vers, RDMA_MSG);
	raw_answer(r, p, &c, vers, grant);
}

/* --- providers -------------------------------------------------------------------------------- */

const struct prov_ops *pair_prov = &prov_iwarp;

static int on_iwarp(void **state)
{
	pair_prov = &prov_iwarp;
	return 0;
}

static int on_fake(void **state)
{
	pair_prov = &prov_fake;
	return 0;
}

static int on_fake_async(void **state)
{
	pair_prov = &prov_fake_async;
	return 0;
}

int pair_run(const struct CMUnitTest *tests, size_t n)
{
	static const struct {
		const char *name;
		CMFixtureFunction setup;
	} on[] = {
		{"iwarp", on_iwarp},
		{"fake", on_fake},
		{"fake, doors close later", on_fake_async},
	};
	struct CMUnitTest *all = calloc(3 * n, sizeof(*all));
	int rc;

	for (size_t i = 0; i < 3 * n; i++) {
		char *name;

		all[i] = tests[i % n];
		all[i].setup_func = on[i / n].setup;
		if (asprintf(&name, "%s (%s)", tests[i % n].name, on[i / n].name) < 0)
			abort();
		all[i].name = name;
	}
	rc = _cmocka_run_group_tests("rpcrdma", all, 3 * n, NULL, NULL);
	for (size_t i = 0; i < 3 * n; i++)
		free((char *)all[i].name);
	free(all);
	return rc;
}
