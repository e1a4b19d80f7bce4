/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/tcp/tcp: peers that misbehave on a bare socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

#include "tests/unit/transport/rpc/bare-tcp.h"
#include "transport/log.h"
#include "transport/rpc/rpc.h"

#define BIG_REPLY 65536

static struct mem_pool *pool;
static struct rpc_server *server;
static struct sockaddr_in server_addr;

static void service(void *ctx, struct rpc_req *req)
{
	if (req->proc == 2) {
		assert_int_equal(rpc_req_begin(req, BIG_REPLY), 0);
		for (int i = 0; i < BIG_REPLY / 4; i++)
			xdr_put_u32(&req->res, i);
	}
	if (req->proc == 0 || req->proc == 2)
		rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
}

static int setup(void **state)
{
	struct rpc_server_params p = {.service = service};

	server = bare_server(&p, &server_addr);
	pool = p.pool;
	return 0;
}

static int teardown(void **state)
{
	bare_server_end(server, pool);
	return 0;
}

static int dial(void)
{
	return bare_dial(&server_addr, "127.0.0.1");
}

static void the_server_answers_bare_calls(void **state)
{
	uint32_t w[32];
	int fd = dial();

	send_words(fd, WORDS(LAST | 40, 77, 0, 2, 1, 1, 0, 0, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 32), 6);
	assert_int_equal(w[0], 77);
	assert_int_equal(w[5], RPC_ACCEPT_SUCCESS);
	/* RPC version 3: MSG_DENIED, RPC_MISMATCH, 2, 2 */
	send_words(fd, WORDS(LAST | 40, 78, 0, 3, 1, 1, 0, 0, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 32), 6);
	assert_memory_equal(w, ((uint32_t[]){78, 1, 1, 0, 2, 2}), 24);
	/* RPCSEC_GSS: MSG_DENIED, AUTH_ERROR, AUTH_REJECTEDCRED */
	send_words(fd, WORDS(LAST | 40, 79, 0, 2, 1, 1, 0, 6, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 32), 5);
	assert_memory_equal(w, ((uint32_t[]){79, 1, 1, 1, 2}), 20);
	/* a short AUTH_SYS credential: AUTH_BADCRED */
	send_words(fd, WORDS(LAST | 44, 80, 0, 2, 1, 1, 0, 1, 4, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 32), 5);
	assert_memory_equal(w, ((uint32_t[]){80, 1, 1, 1, 1}), 20);
	/* a header that ends early: GARBAGE_ARGS */
	send_words(fd, WORDS(LAST | 20, 81, 0, 2, 1, 1));
	assert_int_equal(read_words(fd, w, 32), 6);
	assert_int_equal(w[5], RPC_ACCEPT_GARBAGE_ARGS);
	/* unexpected replies, an empty record, an unknown type: no answer, no end */
	send_words(fd, WORDS(LAST | 24, 5, 1, 0, 0, 0, 0, LAST, LAST | 8, 5, 9));
	/* in fragments */
	send_words(fd, WORDS(8, 82, 0, 0, 16, 2, 1, 1, 9, LAST | 16, 0, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 32), 6);
	assert_int_equal(w[0], 82);
	assert_int_equal(w[5], RPC_ACCEPT_PROC_UNAVAIL);
	close(fd);
}

static void the_server_closes_what_is_too_long(void **state)
{
	uint32_t w[4];
	int fd = dial();

	send_words(fd, WORDS(LAST | 0x7ffffffc, 1, 0));
	assert_int_equal(read_words(fd, w, 4), -1);
	close(fd);
	fd = dial();
	send_words(fd, WORDS(0x12340000, 1, 0));
	assert_int_equal(read_words(fd, w, 4), -1);
	close(fd);
}

static void garbage_harms_nobody(void **state)
{
	uint32_t seed = 1, w[64];
	int fd;

	for (int i = 0; i < 50; i++) {
		fd = dial();
		for (int k = 0; k < 64; k++)
			w[k] = (seed = seed * 1664525 + 1013904223) & 0x8fff00ff;
		send_words(fd, w, 64);
		shutdown(fd, SHUT_WR);
		while (recv(fd, w, sizeof(w), 0) > 0)
			;
		close(fd);
	}
	fd = dial(); /* half a record, and silence while the server ends */
	send_words(fd, WORDS(LAST | 4000, 1, 0, 2));
	the_server_answers_bare_calls(state);
	usleep(10000);
	close(fd);
}

/* The peer asks for 64 MiB of replies at once: the server keeps a part of the replies in memory,
 * and goes on when the peer reads. */
static void a_peer_that_reads_nothing_waits(void **state)
{
	static uint32_t w[BIG_REPLY / 4 + 6];
	struct timespec ms = {.tv_nsec = 1000000};
	struct mem_stats st;
	uint64_t used = 1, before = 0, most = 0;
	int fd = dial(), steady = 0;

	for (uint32_t i = 0; i < 1024; i++)
		send_words(fd, WORDS(LAST | 40, i, 0, 2, 1, 1, 2, 0, 0, 0, 0));
	/* below 8 MiB the server has not come to its bound: the server is only slow */
	for (int i = 0; i < 60000 && steady < 100; i++) {
		nanosleep(&ms, NULL);
		mem_pool_stats(pool, &st);
		used = st.used_bytes;
		most = used > most ? used : most;
		steady = used >= 8u << 20 && used == before ? steady + 1 : 0;
		before = used;
	}
	assert_int_equal(steady, 100);
	assert_in_range(most, 8u << 20, 32u << 20);
	for (uint32_t i = 0; i < 1024; i++) {
		assert_int_equal(read_words(fd, w, BIG_REPLY / 4 + 6), BIG_REPLY / 4 + 6);
		assert_int_equal(w[0], i);
		assert_int_equal(w[BIG_REPLY / 4 + 5], BIG_REPLY / 4 - 1);
	}
	close(fd);
}

/* --- a client against a bare socket --------------------------------------------------------------
 */

struct one {
	struct rpc_call call;
	sem_t sem;
	int error;
};

static void one_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct one *o = call->ctx;

	o->error = error;
	sem_post(&o->sem);
}

static void one_submit(struct one *o, struct rpc_client *c)
{
	assert_int_equal(rpc_call_init(&o->call, c, 64), 0);
	sem_init(&o->sem, 0, 0);
	o->call.done = one_done;
	o->call.ctx = o;
	assert_int_equal(rpc_call_submit(&o->call), 0);
}

static int one_wait(struct one *o)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 10;
	if (sem_timedwait(&o->sem, &t) < 0)
		fail_msg("no end of a call for 10 s");
	rpc_call_finish(&o->call);
	return o->error;
}

static struct sockaddr_in listen_addr;

static int listen_bare(int backlog)
{
	socklen_t len = sizeof(listen_addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	listen_addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)&listen_addr, sizeof(listen_addr)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&listen_addr, &len), 0);
	return fd;
}

static struct rpc_client *client_new_port(unsigned timeo_ms, bool same_port)
{
	struct rpc_client_params p = {.proto = RPC_TCP,
		.peer_len = sizeof(listen_addr),
		.peer_name = "bare",
		.prog = 1,
		.vers = 1,
		.pool = pool,
		.connect_ms = 10000,
		.timeo_ms = timeo_ms,
		.same_port = same_port};
	struct err e = {0};
	struct rpc_client *c;

	memcpy(&p.peer, &listen_addr, sizeof(listen_addr));
	c = rpc_client_new(&p, &e);
	if (!c)
		fail_msg("%s", e.msg);
	return c;
}

static struct rpc_client *client_new(unsigned timeo_ms)
{
	return client_new_port(timeo_ms, false);
}

static void only_the_right_reply_counts(void **state)
{
	int l = listen_bare(8), fd;
	struct rpc_client *c = client_new(5000);
	struct one o;
	uint32_t w[64], xid;

	fd = accept(l, NULL, NULL);
	one_submit(&o, c);
	assert_true(read_words(fd, w, 64) >= 10);
	xid = w[0];
	/* other XIDs, among them XIDs of later calls; a record without an XID; the other
	 * direction */
	send_words(fd, WORDS(LAST | 24, xid + 1, 1, 0, 0, 0, 0));
	send_words(fd, WORDS(LAST | 24, xid - 1, 1, 0, 0, 0, 0));
	send_words(fd, WORDS(LAST | 4, xid));
	send_words(fd, WORDS(LAST | 40, xid, 0, 2, 0x40000000, 1, 0, 0, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 64), 6); /* no callback program here */
	assert_int_equal(w[5], RPC_ACCEPT_PROG_UNAVAIL);
	send_words(fd, WORDS(LAST | 24, xid, 1, 0, 0, 0, 0, LAST | 24, xid, 1, 0, 0, 0, 0));
	assert_int_equal(one_wait(&o), 0);
	one_submit(&o, c);
	assert_true(read_words(fd, w, 64) >= 10);
	send_words(fd, WORDS(LAST | 12, w[0], 1, 0)); /* cut off */
	assert_int_equal(one_wait(&o), -EPROTO);
	assert_int_equal(o.call.rpc_stat, RPC_BAD_REPLY);
	one_submit(&o, c);
	assert_true(read_words(fd, w, 64) >= 10);
	send_words(fd, WORDS(LAST | 20, w[0], 1, 1, 1, 5)); /* AUTH_TOOWEAK */
	assert_int_equal(one_wait(&o), -EACCES);
	assert_int_equal(o.call.auth_stat, 5);
	rpc_client_free(c);
	close(fd);
	close(l);
}

static void a_broken_stream_is_replaced(void **state)
{
	int l = listen_bare(8), fd;
	struct rpc_client *c = client_new(5000);
	uint32_t w[64], xid;
	struct one o;

	fd = accept(l, NULL, NULL);
	one_submit(&o, c);
	assert_true(read_words(fd, w, 64) >= 10);
	xid = w[0];
	send_words(fd, WORDS(0x7fffffff, xid, 1));
	assert_int_equal(read_words(fd, w, 64), -1);
	close(fd);
	fd = accept(l, NULL, NULL);
	assert_true(read_words(fd, w, 64) >= 10);
	assert_int_equal(w[0], xid);
	send_words(fd, WORDS(LAST | 24, xid, 1, 0, 0, 0, 0));
	assert_int_equal(one_wait(&o), 0);
	rpc_client_free(c);
	close(fd);
	close(l);
}

/* The port that the next connection comes from. */
static int accept_from(int l, int *fd)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);

	*fd = accept(l, (struct sockaddr *)&sin, &len);
	assert_true(*fd >= 0);
	return ntohs(sin.sin_port);
}

/* False: another process took the port when the port was free for a moment. */
static bool port_is_kept(void)
{
	int l = listen_bare(8), fd, again;
	struct rpc_client *c = client_new_port(300, true);
	int port = accept_from(l, &fd);
	uint32_t w[64], xid;
	struct one o;
	bool kept;

	one_submit(&o, c);
	assert_true(read_words(fd, w, 64) >= 10);
	xid = w[0];
	close(fd); /* by the server; */
	kept = accept_from(l, &fd) == port;
	assert_true(read_words(fd, w, 64) >= 10);
	assert_int_equal(w[0], xid);
	port = kept ? port : 0;
	kept = accept_from(l, &again) == port; /* by the client, after a time-out */
	close(fd);
	assert_true(read_words(again, w, 64) >= 10);
	assert_int_equal(w[0], xid);
	send_words(again, WORDS(LAST | 24, xid, 1, 0, 0, 0, 0));
	assert_int_equal(one_wait(&o), 0);
	rpc_client_free(c);
	close(again);
	close(l);
	return kept;
}

/* For a server that knows calls by the caller's port, too: after a reconnect the server must
 * recognise the calls. */
static void the_port_is_kept_for_who_wants_it(void **state)
{
	bool kept = false;

	for (int i = 0; i < 10 && !kept; i++)
		kept = port_is_kept();
	assert_true(kept);
}

static void a_silent_server_holds_up_nobody(void **state)
{
	int l = listen_bare(0), fd, filler[4];
	struct rpc_client *c = client_new(60000);
	struct one a, b;
	double t;

	/* the queue of the listening socket fills up: connects get no answer */
	fd = accept(l, NULL, NULL);
	for (int i = 0; i < 4; i++) {
		filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		connect(filler[i], (struct sockaddr *)&listen_addr, sizeof(listen_addr));
	}
	one_submit(&a, c);
	close(fd);
	usleep(200000); /* the client is trying to connect now */
	one_submit(&b, c);
	t = now();
	rpc_call_cancel(&a.call);
	assert_int_equal(one_wait(&a), -ECANCELED);
	rpc_client_free(c);
	assert_int_equal(one_wait(&b), -ENOTCONN);
	assert_true(now() - t < 8);
	for (int i = 0; i < 4; i++)
		close(filler[i]);
	close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_server_answers_bare_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_server_closes_what_is_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_reads_nothing_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage_harms_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(only_the_right_reply_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_broken_stream_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(the_port_is_kept_for_who_wants_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_server_holds_up_nobody, setup, teardown),
	};

	log_init("test", LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
