/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_auth: AUTH_SYS byte for byte, and a flavor with all parts of
 * RPCSEC_GSS (toy-auth) between a client and a server, over TCP or, with the argument
 * "iwarp", over RPC-over-RDMA on software iWARP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "tests/unit/transport/rpc/toy-auth.h"

#define PROG  0x20001234
#define BULK  100001 /* odd, and more than any message holds inline */
#define CALLS 32

enum { P_WRITE = 1, P_READ, P_CALLBACK };

static enum rpc_proto proto = RPC_TCP;

/* --- AUTH_SYS and AUTH_NONE ------------------------------------------------------------------- */

/* COMPOUND as uid 1000, gid 100 with groups 4 and 24 from "box". */
static const uint8_t sys_call[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86, 0xa3, 0, 0, 0, 4,
	0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 3, 'b', 'o', 'x', 0, 0, 0, 0x03,
	0xe8, 0, 0, 0, 100, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0};

static const struct rpc_cred sys_cred = {
	.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .ngids = 2, .gids = {4, 24}};

static void auth_sys_is_as_it_should_be(void **state)
{
	struct rpc_opaque_auth body = {RPC_AUTH_SYS, 32, sys_call + 32};
	struct rpc_cred cred;
	struct xdr_out x;
	uint8_t buf[64];

	assert_int_equal(rpc_auth_sys_size(&sys_cred, "box"), 32);
	xdr_out_init(&x, buf, sizeof(buf));
	rpc_auth_sys_put(&x, &sys_cred, "box");
	assert_int_equal(x.len, 32);
	assert_memory_equal(buf, sys_call + 32, 32);
	assert_true(rpc_auth_sys_get(&body, &cred));
	assert_int_equal(cred.uid, 1000);
	assert_int_equal(cred.gid, 100);
	assert_int_equal(cred.ngids, 2);
	assert_int_equal(cred.gids[1], 24);
}

/* The verdict of a responder without further flavors on sys_call with one word changed. */
static uint32_t verdict(size_t at, uint32_t word)
{
	uint8_t buf[sizeof(sys_call)] __attribute__((aligned(4)));
	struct rpc_req req = {0};
	struct rpc_call_hdr h;
	enum rpc_deny deny;
	struct xdr_in x;

	memcpy(buf, sys_call, sizeof(buf));
	word = htonl(word);
	memcpy(buf + at, &word, 4);
	xdr_in_init(&x, buf, sizeof(buf));
	assert_int_equal(rpc_msg_get_call(&x, &h, &deny), 0);
	assert_int_equal(deny, RPC_DENY_NOT);
	if (rpc_auth_accept(NULL, &req, &h, buf) == RPC_VERDICT_ACCEPT) {
		assert_int_equal(req.auth_stat, 0);
		return RPC_AUTH_OK;
	}
	return req.auth_stat;
}

int __wrap_gethostname(char *name, size_t size);

/* A name of the greatest length on Linux: 64 bytes. */
int __wrap_gethostname(char *name, size_t size)
{
	if (size <= 64) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memset(name, 'm', 64);
	name[64] = 0;
	return 0;
}

static void a_long_name_of_the_machine_is_cut(void **state)
{
	static const struct rpc_cred none;

	assert_int_equal(rpc_auth_sys_size(&none, NULL), 4 + 4 + 64 + 4 + 4 + 4);
}

int __wrap_getgroups(int size, gid_t *list);

/* The groups of a process in 300 groups. */
int __wrap_getgroups(int size, gid_t *list)
{
	if (size && size < 300) {
		errno = EINVAL;
		return -1;
	}
	for (int i = 0; size && i < 300; i++)
		list[i] = 5000 + (gid_t)i;
	return 300;
}

static void the_first_of_many_groups_are_sent(void **state)
{
	struct rpc_cred cred;

	rpc_cred_own(&cred);
	assert_int_equal(cred.flavor, RPC_AUTH_SYS);
	assert_int_equal(cred.ngids, RPC_MAX_GIDS);
	for (unsigned i = 0; i < RPC_MAX_GIDS; i++)
		assert_int_equal(cred.gids[i], 5000 + i);
}

static void bad_credentials_are_rejected(void **state)
{
	assert_int_equal(verdict(24, 1), RPC_AUTH_OK);
	assert_int_equal(verdict(24, 0), RPC_AUTH_OK);
	assert_int_equal(verdict(24, 6), RPC_AUTH_REJECTEDCRED); /* RPCSEC_GSS */
	assert_int_equal(verdict(28, 28), RPC_AUTH_BADCRED);	 /* cuts the group list */
	assert_int_equal(verdict(36, 256), RPC_AUTH_BADCRED);	 /* name too long */
	assert_int_equal(verdict(52, 17), RPC_AUTH_BADCRED);	 /* too many groups */
	assert_int_equal(verdict(52, 1), RPC_AUTH_BADCRED);	 /* a group left over */
}

static void the_largest_header_fits(void **state)
{
	struct rpc_call call = {.xid = 1, .proc = 1, .cred = sys_cred};
	uint8_t buf[RPC_MSG_MAX_CALL] __attribute__((aligned(4)));
	struct rpc_call_hdr h;
	struct rpc_cred cred;
	enum rpc_deny deny;
	struct xdr_in x;
	char name[300];
	int len;

	call.cred.ngids = 1000; /* more than there are: cut */
	len = rpc_auth_put_call(&call, PROG, 4, buf + sizeof(buf), sizeof(buf));
	assert_true(len > 0);
	xdr_in_init(&x, buf + sizeof(buf) - len, len);
	assert_int_equal(rpc_msg_get_call(&x, &h, &deny), 0);
	assert_int_equal(deny, RPC_DENY_NOT);
	assert_true(xdr_in_done(&x));
	assert_true(rpc_auth_sys_get(&h.cred, &cred));
	assert_int_equal(cred.ngids, RPC_MAX_GIDS);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_int_equal(rpc_auth_sys_size(&call.cred, name), 4 + 4 + 64 + 12 + 4 * RPC_MAX_GIDS);
	assert_int_equal(rpc_auth_put_call(&call, PROG, 4, buf + 40, 40), -EMSGSIZE);
	call.cred.flavor = RPC_AUTH_NONE;
	assert_int_equal(rpc_auth_put_call(&call, PROG, 4, buf + 40, 40), 40);
}

/* --- a server and a client -------------------------------------------------------------------- */

struct env {
	struct toy_auth t;
	struct mem_pool *spool, *cpool;
	struct rpc_server *server;
	struct rpc_client *client;
	atomic_uint closes; /* this many requests end their connection instead of being answered */
	atomic_uint served;
	uint32_t xid[CALLS]; /* of each request, also of unanswered ones */
	atomic_uint nxid;
};

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 2654435761u >> 24);
}

static bool is_pattern(const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i] != pattern(i))
			return false;
	return true;
}

static int no_marshal(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x)
{
	return -EAGAIN;
}

static uint32_t no_room(const struct rpc_auth *a, const struct rpc_call *call)
{
	return 16;
}

static const struct rpc_auth_ops no_ops = {.room = no_room, .marshal = no_marshal};
static struct rpc_auth no_credential = {.ops = &no_ops};

static void cb_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct rpc_req *req = call->ctx;

	assert_int_equal(rpc_req_begin(req, 16), 0);
	xdr_put_u32(&req->res, (uint32_t)-error);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	rpc_call_finish(call);
	free(call);
}

/* A callback without a credential. */
static void call_back(struct rpc_req *req)
{
	struct rpc_call *call = malloc(sizeof(*call));

	assert_int_equal(rpc_cb_init(call, req->xprt, 1, 1, 16), 0);
	call->auth = &no_credential;
	call->done = cb_done;
	call->ctx = req;
	assert_int_equal(rpc_cb_submit(call), 0);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct env *v = ctx;
	const uint8_t *p;
	struct seg_list data;
	struct seg seg;
	uint32_t n;

	v->served++;
	assert_int_equal(req->cred.uid, TOY_UID);
	if (req->proc == P_CALLBACK) {
		call_back(req);
		return;
	}
	assert_int_equal(rpc_req_begin(req, 64), 0);
	if (req->proc == P_WRITE) {
		p = xdr_get_payload(&req->args, BULK, &n, NULL);
		n = xdr_get_u32(&req->args) == 5 && xdr_in_done(&req->args) && is_pattern(p, n);
		xdr_put_u32(&req->res, n);
	} else {
		seg.hold = mem_buf_get(v->spool, BULK);
		for (uint32_t i = 0; i < BULK; i++)
			seg.hold->data[i] = pattern(i);
		seg.at = mem_buf_sge(seg.hold, 0, BULK);
		assert_int_equal(rpc_req_hold(req, &seg, 1, &data), 0);
		xdr_put_payload_list(&req->res, &data);
		xdr_put_u32(&req->res, 7);
	}
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

/* No fault of the flavor: the connection is lost before the request is served. */
static enum fault_kind close_some(void *ctx, const struct rpc_req *req, struct fault_note *note,
	bool reply, unsigned *delay_ms)
{
	struct env *v = ctx;

	if (reply)
		return FAULT_NONE;
	v->xid[v->nxid++ % CALLS] = req->xid;
	if (!v->closes)
		return FAULT_NONE;
	v->closes--;
	return FAULT_CLOSE;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return fault_xprt_wrap(x, close_some, ctx);
}

static void env_start(struct env *v, bool wrapping, unsigned soft_ms)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rpc_server_params sp = {.proto = proto, .addr_len = sizeof(sin), .service = service};
	struct rpc_client_params cp = {.proto = proto,
		.peer_len = sizeof(sin),
		.peer_name = "test",
		.prog = PROG,
		.vers = 3,
		.connect_ms = 20000,
		.timeo_ms = soft_ms ? soft_ms : 20000,
		.retrans = 1,
		.soft = soft_ms != 0};
	struct err e = {0};

	memset(v, 0, sizeof(*v));
	toy_auth_init(&v->t);
	v->spool = sp.pool = mem_pool_new(0);
	v->cpool = cp.pool = mem_pool_new(0);
	sp.auth = v->t.responder;
	sp.wrap = wrap;
	sp.ctx = v;
	memcpy(&sp.addr, &sin, sizeof(sin));
	v->server = rpc_server_new(&sp, &e);
	assert_non_null(v->server);
	sin.sin_port = htons(rpc_server_port(v->server));
	memcpy(&cp.peer, &sin, sizeof(sin));
	cp.auth = wrapping ? &v->t.wrapping : &v->t.plain;
	v->client = rpc_client_new(&cp, &e);
	assert_non_null(v->client);
	v->t.client = v->client;
}

static void pool_end(struct mem_pool *pool)
{
	struct mem_stats st;

	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
}

static void env_stop(struct env *v)
{
	rpc_client_free(v->client);
	rpc_server_free(v->server);
	assert_int_equal(v->t.accepts, v->t.ends);
	pool_end(v->cpool);
	pool_end(v->spool);
}

struct one {
	struct rpc_call call;
	sem_t sem;
	int error;
	uint32_t word;
};

static size_t peek(const void *res, size_t n)
{
	return n >= 4 ? 4 : 0;
}

static void one_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct one *o = call->ctx;
	uint32_t n;

	o->error = error;
	if (!error && call->proc == P_READ) {
		o->error = rpc_call_take_sink(call, res, 0, &n);
		if (!o->error && n != BULK)
			o->error = -EILSEQ;
	}
	if (!o->error) {
		o->word = xdr_get_u32(res);
		if (!xdr_in_done(res))
			o->error = -EBADMSG;
	}
	sem_post(&o->sem);
}

static void one_run(struct env *v, struct one *o, uint32_t proc, struct mem_buf *bulk)
{
	struct mem_sge sge;
	struct timespec t;

	memset(o, 0, sizeof(*o));
	sem_init(&o->sem, 0, 0);
	assert_int_equal(rpc_call_init(&o->call, v->client, 64), 0);
	o->call.proc = proc;
	o->call.done = one_done;
	o->call.ctx = o;
	o->call.reply_max = 64;
	if (bulk)
		sge = mem_buf_sge(bulk, 0, BULK);
	if (proc == P_WRITE) {
		xdr_put_payload(&o->call.args, &sge);
		xdr_put_u32(&o->call.args, 5);
	} else if (proc == P_READ) {
		o->call.nsinks = 1;
		o->call.sink[0] = seg_list_of_buf(bulk, 0, BULK);
		o->call.peek = peek;
	}
	assert_int_equal(rpc_call_submit(&o->call), 0);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	if (sem_timedwait(&o->sem, &t) < 0)
		fail_msg("no answer");
	assert_null(o->call.wrapped);
	assert_null(o->call.auth_priv);
	rpc_call_finish(&o->call);
	sem_destroy(&o->sem);
}

static int do_write(struct env *v)
{
	struct mem_buf *b = mem_buf_get(v->cpool, BULK);
	struct one o;

	for (uint32_t i = 0; i < BULK; i++)
		b->data[i] = pattern(i);
	one_run(v, &o, P_WRITE, b);
	if (!o.error && (o.word != 1 || !is_pattern(b->data, BULK)))
		o.error = -EILSEQ;
	mem_buf_unref(b);
	return o.error;
}

static int do_read(struct env *v)
{
	struct mem_buf *b = mem_buf_get(v->cpool, BULK);
	struct one o;

	memset(b->data, 0, BULK);
	one_run(v, &o, P_READ, b);
	if (!o.error && (o.word != 7 || !is_pattern(b->data, BULK)))
		o.error = -EILSEQ;
	mem_buf_unref(b);
	return o.error;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void payload_stays_in_place_without_wrapping(void **state)
{
	struct rpc_client_stats st;
	struct env v;

	env_start(&v, false, 0);
	assert_int_equal(do_write(&v), 0);
	assert_int_equal(do_read(&v), 0);
	rpc_client_stats(v.client, &st);
	assert_int_equal(st.bytes_exposed, BULK);
	assert_int_equal(st.bytes_placed + st.bytes_copied, BULK);
	assert_int_equal(v.t.answers, 1); /* one context, for both */
	assert_int_equal(v.t.marshals, 2);
	assert_int_equal(v.t.checks, 2);
	assert_int_equal(v.t.releases, 2);
	assert_int_equal(v.t.wraps + v.t.unwraps + v.t.args + v.t.results, 0);
	env_stop(&v);
}

static void what_is_wrapped_arrives(void **state)
{
	struct env v;

	env_start(&v, true, 0);
	assert_int_equal(do_write(&v), 0);
	assert_int_equal(do_read(&v), 0);
	assert_int_equal(v.t.wraps, 2);
	assert_int_equal(v.t.unwraps, 2);
	assert_int_equal(v.t.args, 2);
	assert_int_equal(v.t.results, 2);
	env_stop(&v);
}

/* A responder that saw a number twice would drop the request, and send no answer. */
static void each_transmission_has_its_own_number(void **state)
{
	for (int wrapping = 0; wrapping < 2; wrapping++) {
		struct env v;

		env_start(&v, wrapping, 0);
		v.closes = 2;
		assert_int_equal(do_write(&v), 0);
		v.closes = 1;
		assert_int_equal(do_read(&v), 0);
		assert_int_equal(v.t.marshals, 5);
		assert_int_equal(v.t.wraps, wrapping ? 5 : 0);
		assert_int_equal(v.t.releases, 2);
		assert_int_equal(v.t.accepts, 5);
		assert_int_equal(v.t.drops, 0);
		assert_int_equal(v.served, 2);
		assert_int_equal(v.nxid, 5); /* and the same XID */
		assert_int_equal(v.xid[0], v.xid[1]);
		assert_int_equal(v.xid[0], v.xid[2]);
		assert_int_equal(v.xid[3], v.xid[4]);
		env_stop(&v);
	}
}

static void a_lost_context_is_made_again(void **state)
{
	struct env v;

	env_start(&v, true, 0);
	assert_int_equal(do_read(&v), 0);
	v.t.context = 2;
	assert_int_equal(do_write(&v), 0);
	assert_int_equal(v.t.handle, 2);
	assert_int_equal(v.t.refreshes, 2);
	assert_int_equal(v.t.answers, 2);
	env_stop(&v);
}

static void a_caller_that_is_not_wanted_is_told(void **state)
{
	struct env v;

	env_start(&v, false, 0);
	v.t.reject = true;
	assert_int_equal(do_write(&v), -EACCES);
	assert_int_equal(v.served, 0);
	v.t.reject = false;
	assert_int_equal(do_write(&v), 0); /* the next call may be */
	env_stop(&v);
}

static void a_reply_that_proves_nothing_is_not_believed(void **state)
{
	struct env v;
	struct one o;

	env_start(&v, false, 0);
	assert_int_equal(do_write(&v), 0);
	v.t.lie = true;
	one_run(&v, &o, P_CALLBACK, NULL);
	assert_int_equal(o.error, -EACCES);
	assert_int_equal(o.call.auth_stat, RPC_AUTH_INVALIDRESP);
	assert_int_equal(do_write(&v), 0);
	env_stop(&v);
}

static void a_replay_is_not_answered(void **state)
{
	struct env v;

	env_start(&v, false, 1000);
	assert_int_equal(do_write(&v), 0);
	v.t.repeat_seq = true;
	assert_int_equal(do_write(&v), -ETIMEDOUT);
	assert_int_equal(v.t.drops, 1);
	assert_int_equal(v.served, 1);
	env_stop(&v);
}

static void a_callback_without_credential_fails(void **state)
{
	struct env v;
	struct one o;

	env_start(&v, true, 0);
	one_run(&v, &o, P_CALLBACK, NULL);
	assert_int_equal(o.error, 0);
	assert_int_equal(o.word, EIO);
	env_stop(&v);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auth_sys_is_as_it_should_be),
		cmocka_unit_test(a_long_name_of_the_machine_is_cut),
		cmocka_unit_test(the_first_of_many_groups_are_sent),
		cmocka_unit_test(bad_credentials_are_rejected),
		cmocka_unit_test(the_largest_header_fits),
		cmocka_unit_test(payload_stays_in_place_without_wrapping),
		cmocka_unit_test(what_is_wrapped_arrives),
		cmocka_unit_test(each_transmission_has_its_own_number),
		cmocka_unit_test(a_lost_context_is_made_again),
		cmocka_unit_test(a_caller_that_is_not_wanted_is_told),
		cmocka_unit_test(a_reply_that_proves_nothing_is_not_believed),
		cmocka_unit_test(a_replay_is_not_answered),
		cmocka_unit_test(a_callback_without_credential_fails),
	};

	if (argc > 1 && !strcmp(argv[1], "iwarp"))
		proto = RPC_IWARP;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
