/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_client: calls, and their fate when the server is slow, gone or
 * short
 * of memory. Over TCP, or, with the argument "iwarp", over RPC-over-RDMA.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/rpc-pair.h"

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

static void a_time_out_resends_with_the_same_xid(void **state)
{
	struct rpc_client_stats st;
	struct pair p;

	pair_start(&p, 200, 0);
	assert_int_equal(simple(&p.c, P_NEVER), 0);
	assert_true(p.s.never >= 2);
	assert_int_equal(p.s.never_xid[0], p.s.never_xid[1]);
	rpc_client_stats(p.c.c, &st);
	assert_true(st.timeouts >= 1);
	assert_true(st.reconnects >= 1);
	assert_true(p.c.reconnected >= 1);
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
		/* a waiting call can be cancelled */
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

/* The former server does not answer the call that is under way. */
static void a_client_goes_where_it_is_redirected(void **state)
{
	struct dial_addr to = {.len = sizeof(struct sockaddr_in)};
	struct sockaddr_in *in = (struct sockaddr_in *)&to.ss;
	struct srv other = {.never = 1}; /* answers P_NEVER */
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	other.pool = p.s.pool;
	srv_start(&other, 0);
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons(rpc_server_port(other.server));
	one_init(&o, &p.c, P_NEVER);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	while (!p.s.never)
		usleep(1000);
	rpc_client_redirect(p.c.c, &to);
	assert_int_equal(one_wait(&o), 0);
	assert_int_equal(other.never_xid[1], p.s.never_xid[0]);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	assert_int_equal(other.requests, 2);
	one_finish(&o);
	/* also while the former server is away */
	srv_stop(&other);
	one_init(&o, &p.c, P_NULL);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	in->sin_port = htons(p.port);
	rpc_client_redirect(p.c.c, &to);
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
	/* perhaps with half of the payload sent */
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

static bool is_connected(struct cli *c)
{
	struct rpc_client_info i;

	rpc_client_info(c->c, &i);
	return i.connected;
}

/* A call that the peer may have got goes on. */
static void calls_that_were_not_sent_can_be_withdrawn(void **state)
{
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	one_init(&o, &p.c, P_NULL);
	rpc_call_withdraw(&o.call); /* not even submitted */
	assert_int_equal(rpc_call_submit(&o.call), 0);
	assert_int_equal(one_wait(&o), -ECANCELED);
	one_finish(&o);
	assert_int_equal(simple(&p.c, P_NULL), 0); /* more than one credit */
	one_init(&o, &p.c, P_ASYNC);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	sem_wait(&arrived);
	rpc_call_withdraw(&o.call);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	sem_post(&allowed);
	assert_int_equal(one_wait(&o), 0);
	sem_wait(&answered);
	one_finish(&o);
	srv_stop(&p.s);
	one_init(&o, &p.c, P_NULL);
	while (is_connected(&p.c))
		usleep(1000);
	assert_int_equal(rpc_call_submit(&o.call), 0);
	rpc_call_withdraw(&o.call);
	assert_int_equal(one_wait(&o), -ECANCELED);
	one_finish(&o);
	pair_stop(&p);
}

/* The client's socket, or -1. */
static int socket_to(uint16_t port)
{
	struct sockaddr_in sin;

	for (int fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof(sin);

		if (getpeername(fd, (struct sockaddr *)&sin, &len) == 0 &&
			sin.sin_family == AF_INET && ntohs(sin.sin_port) == port)
			return fd;
	}
	return -1;
}

static int keep_idle(uint16_t port)
{
	socklen_t len = sizeof(int);
	int s = -1;

	if (getsockopt(socket_to(port), IPPROTO_TCP, TCP_KEEPIDLE, &s, &len))
		return -1;
	return s;
}

static void probes_follow_the_lease(void **state)
{
	struct pair p;
	int usual;

	pair_start(&p, 10000, 0);
	usual = keep_idle(p.port);
	assert_true(usual > 4);
	rpc_client_lease(p.c.c, 12);
	assert_int_equal(keep_idle(p.port), 4);
	srv_stop(&p.s);
	while (is_connected(&p.c))
		usleep(1000);
	srv_start(&p.s, p.port);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	assert_int_equal(keep_idle(p.port), 4); /* of the next connection, too */
	rpc_client_lease(p.c.c, 3600);
	assert_int_equal(keep_idle(p.port), usual);
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
		cmocka_unit_test(a_time_out_resends_with_the_same_xid),
		cmocka_unit_test(soft_gives_up),
		cmocka_unit_test(a_server_may_restart),
		cmocka_unit_test(a_shortage_is_waited_out),
		cmocka_unit_test(a_client_goes_where_it_is_redirected),
		cmocka_unit_test(calls_can_be_cancelled),
		cmocka_unit_test(calls_that_were_not_sent_can_be_withdrawn),
		cmocka_unit_test(probes_follow_the_lease),
		cmocka_unit_test(the_end_fails_what_is_under_way),
		cmocka_unit_test(connecting_fails_with_a_reason),
		cmocka_unit_test(connecting_can_be_given_up),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
