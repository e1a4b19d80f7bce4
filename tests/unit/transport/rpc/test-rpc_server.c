/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_server and transport/rpc/srv_conn: the requests that a service
 * gets, and the answers to a peer that says each word.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
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
#include "transport/rpc/xprt.h"

#define PROG	 100
#define VERS	 2
#define MAX_REQS 1024 /* of a connection over TCP, see tcp.c */
#define PUT_OFF	 9    /* procedure that leaves its calls to the test to answer */
#define KEPT	 2048

/* --- a server ----------------------------------------------------------------------------------
 */

static struct mem_pool *pool;
static struct rpc_server *server;
static struct sockaddr_in addr;
static _Atomic int calls, ups, downs;
static _Atomic bool strangers; /* admit() refuses */
static _Atomic int wrap_error;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rpc_req *kept[KEPT]; /* lock */
static unsigned nkept;		   /* lock */
static struct rpc_req last;	   /* lock: a copy of the last call */

static void answer(struct rpc_req *req)
{
	assert_int_equal(rpc_req_begin(req, 64), 0);
	xdr_put_u32(&req->res, req->proc);
	xdr_put_u32(&req->res, xdr_get_u32(&req->args));
	rpc_req_reply(req, xdr_in_done(&req->args) ? RPC_ACCEPT_SUCCESS : RPC_ACCEPT_GARBAGE_ARGS);
}

static void service(void *ctx, struct rpc_req *req)
{
	bool keep = req->prog == PROG && req->vers == VERS && req->proc == PUT_OFF;

	assert_ptr_equal(ctx, &pool);
	calls++;
	pthread_mutex_lock(&lock);
	last = *req;
	if (keep) {
		assert_true(nkept < KEPT);
		kept[nkept++] = req;
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (keep)
		return;
	req->mismatch_low = VERS;
	req->mismatch_high = VERS + 1;
	if (req->prog != PROG)
		rpc_req_reply(req, RPC_ACCEPT_PROG_UNAVAIL);
	else if (req->vers != VERS)
		rpc_req_reply(req, RPC_ACCEPT_PROG_MISMATCH);
	else if (req->proc > PUT_OFF)
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
	else
		answer(req);
}

static bool admit(void *ctx, const struct rpc_xprt *x)
{
	const struct sockaddr_in *sin = (const struct sockaddr_in *)rpc_xprt_addr(x);

	assert_int_equal(sin->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(rpc_xprt_user(x)->uid, geteuid());
	return !strangers;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return wrap_error;
}

static void on_up(void *ctx, struct rpc_xprt *x)
{
	ups++;
}

static void on_down(void *ctx, struct rpc_xprt *x)
{
	pthread_mutex_lock(&lock);
	downs++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int setup(void **state)
{
	struct rpc_server_params p = {.service = service,
		.admit = admit,
		.wrap = wrap,
		.conn_up = on_up,
		.conn_down = on_down,
		.ctx = &pool};

	calls = ups = downs = 0;
	nkept = 0;
	strangers = false;
	wrap_error = 0;
	server = bare_server(&p, &addr);
	pool = p.pool;
	return 0;
}

static int teardown(void **state)
{
	bare_server_end(server, pool);
	server = NULL;
	assert_int_equal(ups, downs);
	return 0;
}

static int dial(void)
{
	return bare_dial(&addr, "127.0.0.1");
}

static struct rpc_req *pop_locked(void)
{
	struct rpc_req *req = kept[0];

	assert_true(nkept > 0);
	memmove(kept, kept + 1, --nkept * sizeof(kept[0]));
	return req;
}

/* Waits until this many calls are kept. */
static void wait_kept(unsigned n)
{
	pthread_mutex_lock(&lock);
	while (nkept < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static unsigned kept_now(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = nkept;
	pthread_mutex_unlock(&lock);
	return n;
}

static void answer_first(void)
{
	struct rpc_req *req;

	pthread_mutex_lock(&lock);
	req = pop_locked();
	pthread_mutex_unlock(&lock);
	answer(req);
}

/* A call with one word of arguments. */
static void call(int fd, uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc, uint32_t arg)
{
	send_words(fd, WORDS(LAST | 44, xid, 0, 2, prog, vers, proc, 0, 0, 0, 0, arg));
}

/* An accepted answer comes with these words behind the verifier. */
static void expect(int fd, uint32_t xid, const uint32_t *want, size_t n)
{
	uint32_t w[32];

	assert_int_equal(read_words(fd, w, 32), 5 + n);
	assert_memory_equal(w, ((uint32_t[]){xid, 1, 0, 0, 0}), 20);
	assert_memory_equal(w + 5, want, n * 4);
}

/* The server still serves others. */
static void others_are_served(void)
{
	int fd = dial();

	call(fd, 1, PROG, VERS, 3, 4);
	expect(fd, 1, WORDS(RPC_ACCEPT_SUCCESS, 3, 4));
	close(fd);
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void a_call_is_dispatched(void **state)
{
	int fd = dial();

	call(fd, 7, PROG, VERS, 3, 42);
	expect(fd, 7, WORDS(RPC_ACCEPT_SUCCESS, 3, 42));
	assert_int_equal(last.xid, 7);
	assert_int_equal(last.prog, PROG);
	assert_int_equal(last.vers, VERS);
	assert_int_equal(last.cred.flavor, RPC_AUTH_NONE);
	/* AUTH_SYS: stamp, name "ab", uid, gid, two groups */
	send_words(fd, WORDS(LAST | 76, 8, 0, 2, PROG, VERS, 4, 1, 32, 99, 2, 0x61620000, 501, 20,
			       2, 7, 8, 0, 0, 43));
	expect(fd, 8, WORDS(RPC_ACCEPT_SUCCESS, 4, 43));
	assert_int_equal(last.cred.flavor, RPC_AUTH_SYS);
	assert_int_equal(last.cred.uid, 501);
	assert_int_equal(last.cred.gid, 20);
	assert_int_equal(last.cred.ngids, 2);
	assert_int_equal(last.cred.gids[0], 7);
	assert_int_equal(last.cred.gids[1], 8);
	close(fd);
}

static void a_service_refuses_programs(void **state)
{
	int fd = dial();

	call(fd, 1, PROG + 1, VERS, 3, 0);
	expect(fd, 1, WORDS(RPC_ACCEPT_PROG_UNAVAIL));
	call(fd, 2, PROG, VERS + 3, 3, 0);
	expect(fd, 2, WORDS(RPC_ACCEPT_PROG_MISMATCH, VERS, VERS + 1));
	call(fd, 3, PROG, VERS, PUT_OFF + 1, 0);
	expect(fd, 3, WORDS(RPC_ACCEPT_PROC_UNAVAIL));
	/* no argument, and one too many */
	send_words(fd, WORDS(LAST | 40, 4, 0, 2, PROG, VERS, 3, 0, 0, 0, 0));
	expect(fd, 4, WORDS(RPC_ACCEPT_GARBAGE_ARGS));
	send_words(fd, WORDS(LAST | 48, 5, 0, 2, PROG, VERS, 3, 0, 0, 0, 0, 1, 2));
	expect(fd, 5, WORDS(RPC_ACCEPT_GARBAGE_ARGS));
	assert_int_equal(calls, 5);
	close(fd);
}

/* MSG_DENIED (RFC 5531 section 9), and the service does not see the call. */
static void expect_denied(int fd, uint32_t xid, const uint32_t *why, size_t n)
{
	uint32_t w[32];

	assert_int_equal(read_words(fd, w, 32), 3 + n);
	assert_memory_equal(w, ((uint32_t[]){xid, 1, 1}), 12);
	assert_memory_equal(w + 3, why, n * 4);
}

static void rpc_itself_refuses(void **state)
{
	int fd = dial();

	send_words(fd, WORDS(LAST | 40, 1, 0, 3, PROG, VERS, 3, 0, 0, 0, 0));
	expect_denied(fd, 1, WORDS(0, 2, 2)); /* RPC_MISMATCH */
	send_words(fd, WORDS(LAST | 40, 2, 0, 2, PROG, VERS, 3, 6, 0, 0, 0));
	expect_denied(fd, 2, WORDS(1, 2)); /* RPCSEC_GSS: AUTH_REJECTEDCRED */
	/* AUTH_SYS: cut off; with 17 groups; with more groups than there are bytes */
	send_words(fd, WORDS(LAST | 44, 3, 0, 2, PROG, VERS, 3, 1, 4, 0, 0, 0));
	expect_denied(fd, 3, WORDS(1, 1)); /* AUTH_BADCRED */
	send_words(fd, WORDS(LAST | 128, 4, 0, 2, PROG, VERS, 3, 1, 88, 0, 0, 501, 20, 17, 1, 2, 3,
			       4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0, 0));
	expect_denied(fd, 4, WORDS(1, 1));
	send_words(fd,
		WORDS(LAST | 60, 5, 0, 2, PROG, VERS, 3, 1, 20, 0, 0, 501, 20, 0x40000000, 0, 0));
	expect_denied(fd, 5, WORDS(1, 1));
	assert_int_equal(calls, 0);
	call(fd, 6, PROG, VERS, 3, 42);
	expect(fd, 6, WORDS(RPC_ACCEPT_SUCCESS, 3, 42));
	close(fd);
}

/* Each length of a header, much too large: an answer or none, and the connection goes on. */
static void lengths_are_not_believed(void **state)
{
	static const uint32_t len[] = {
		0xffffffff, 0xfffffffc, 0x80000000, 0x7fffffff, 401, 400, 44, 41};
	int fd = dial();

	for (unsigned i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};
		uint32_t w[32];
		int n = 0;

		/* of the credential; of the verifier; of the name in AUTH_SYS */
		send_words(fd, WORDS(LAST | 40, 1, 0, 2, PROG, VERS, 3, 0, len[i], 0, 0));
		send_words(fd, WORDS(LAST | 40, 2, 0, 2, PROG, VERS, 3, 0, 0, 0, len[i]));
		send_words(fd,
			WORDS(LAST | 60, 3, 0, 2, PROG, VERS, 3, 1, 20, 0, len[i], 0, 0, 0, 0, 0));
		call(fd, 4, PROG, VERS, 3, i);
		do {
			assert_int_equal(poll(&pfd, 1, 60000), 1);
			n = read_words(fd, w, 32);
			assert_true(n > 0);
		} while (w[0] != 4);
		assert_int_equal(n, 8);
		assert_int_equal(w[7], i);
		assert_int_equal(calls, i + 1);
	}
	close(fd);
}

/* Record marks that are too long end the connection, at once or as soon as their sum is too
 * long. */
static void records_are_not_too_long(void **state)
{
	static const uint32_t mark[] = {
		LAST | 0x7fffffff, 0x7fffffff, LAST | 0x01000000, 0x00800000};
	uint32_t w[32];

	for (unsigned i = 0; i < sizeof(mark) / sizeof(mark[0]); i++) {
		int fd = dial();

		send_words(fd, WORDS(mark[i], 1, 0, 2, PROG, VERS, 3));
		assert_int_equal(read_words(fd, w, 32), -1);
		close(fd);
	}
	others_are_served();
	assert_int_equal(calls, 1);
}

static void answers_may_be_put_off(void **state)
{
	int fd = dial(), other = dial();
	struct rpc_req *second;

	call(fd, 1, PROG, VERS, PUT_OFF, 11);
	call(fd, 2, PROG, VERS, PUT_OFF, 22);
	call(fd, 3, PROG, VERS, 3, 33);
	call(other, 4, PROG, VERS, 3, 44);
	/* the calls behind are not held up */
	expect(fd, 3, WORDS(RPC_ACCEPT_SUCCESS, 3, 33));
	expect(other, 4, WORDS(RPC_ACCEPT_SUCCESS, 3, 44));
	assert_int_equal(kept_now(), 2);
	pthread_mutex_lock(&lock);
	second = kept[--nkept];
	pthread_mutex_unlock(&lock);
	answer(second);
	expect(fd, 2, WORDS(RPC_ACCEPT_SUCCESS, PUT_OFF, 22));
	answer_first();
	expect(fd, 1, WORDS(RPC_ACCEPT_SUCCESS, PUT_OFF, 11));
	/* or never given */
	call(fd, 5, PROG, VERS, PUT_OFF, 55);
	wait_kept(1);
	rpc_req_drop(pop_locked());
	call(fd, 6, PROG, VERS, 3, 66);
	expect(fd, 6, WORDS(RPC_ACCEPT_SUCCESS, 3, 66));
	close(fd);
	close(other);
}

/* The service has at most this many calls of one connection; more calls wait, and go on one by
 * one. */
static void calls_of_a_connection_are_bounded(void **state)
{
	const unsigned more = 50;
	int fd = dial();

	for (unsigned i = 0; i < MAX_REQS + more; i++)
		call(fd, i, PROG, VERS, PUT_OFF, i);
	wait_kept(MAX_REQS);
	others_are_served();
	/* the calls of one read are handed over up to the bound */
	assert_int_equal(kept_now(), MAX_REQS);
	for (unsigned i = 0; i < MAX_REQS + more; i++) {
		wait_kept(1);
		answer_first();
		expect(fd, i, WORDS(RPC_ACCEPT_SUCCESS, PUT_OFF, i));
		assert_true(kept_now() <= MAX_REQS);
	}
	assert_int_equal(kept_now(), 0);
	close(fd);
}

static void a_connection_may_close_during_a_call(void **state)
{
	int fd = dial();
	struct rpc_req *req;

	for (unsigned i = 0; i < 3; i++)
		call(fd, i, PROG, VERS, PUT_OFF, i);
	wait_kept(3);
	shutdown(fd, SHUT_RDWR);
	close(fd);
	pthread_mutex_lock(&lock);
	while (!downs)
		pthread_cond_wait(&changed, &lock);
	req = kept[0];
	pthread_mutex_unlock(&lock);
	/* the fields of a request stay valid until its end */
	assert_non_null(strstr(rpc_xprt_peer(req->xprt), "127.0.0.1:"));
	assert_int_equal(req->xid, 0);
	answer_first();
	answer_first();
	rpc_req_drop(pop_locked());
	others_are_served();
}

static void a_server_may_end_during_a_call(void **state)
{
	uint32_t w[32];
	int fd = dial();

	call(fd, 1, PROG, VERS, PUT_OFF, 1);
	call(fd, 2, PROG, VERS, PUT_OFF, 2);
	wait_kept(2);
	server = rpc_server_free(server);
	assert_int_equal(read_words(fd, w, 32), -1);
	assert_int_equal(downs, 1);
	answer_first();
	rpc_req_drop(pop_locked());
	close(fd);
}

static void who_is_not_admitted_is_closed(void **state)
{
	uint32_t w[32];
	int fd, known = dial();

	call(known, 1, PROG, VERS, 3, 1);
	expect(known, 1, WORDS(RPC_ACCEPT_SUCCESS, 3, 1));
	strangers = true;
	fd = dial();
	assert_int_equal(read_words(fd, w, 32), -1);
	close(fd);
	strangers = false;
	wrap_error = -ENOMEM; /* making the wrapping transport fails */
	fd = dial();
	assert_int_equal(read_words(fd, w, 32), -1);
	close(fd);
	assert_int_equal(ups, 1);
	call(known, 2, PROG, VERS, 3, 2);
	expect(known, 2, WORDS(RPC_ACCEPT_SUCCESS, 3, 2));
	close(known);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_call_is_dispatched),
		TEST(a_service_refuses_programs),
		TEST(rpc_itself_refuses),
		TEST(lengths_are_not_believed),
		TEST(records_are_not_too_long),
		TEST(answers_may_be_put_off),
		TEST(calls_of_a_connection_are_bounded),
		TEST(a_connection_may_close_during_a_call),
		TEST(a_server_may_end_during_a_call),
		TEST(who_is_not_admitted_is_closed),
	};

	log_init("test", LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
