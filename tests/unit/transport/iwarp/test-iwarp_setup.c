/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp_setup: the errors of connecting to servers that break the
 * rules, and the answers to clients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <pthread.h>

#include "tests/unit/transport/iwarp/iwarp-pair.h"

/* A TCP server that takes one connection, reads as many bytes as a Request has, and sends this
 * answer. */
struct server {
	int fd;
	uint16_t port;
	const void *answer;
	size_t len;
	bool close_at_once, stay;
	pthread_t thread;
	int conn;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	uint8_t b[MPA_MAX_FRAME];

	s->conn = accept(s->fd, NULL, NULL);
	if (!s->close_at_once &&
		recv(s->conn, b, MPA_HDR_LEN + MPA_WORDS_LEN + 8, MSG_WAITALL) > 0 && s->len)
		send(s->conn, s->answer, s->len, MSG_NOSIGNAL);
	if (!s->stay)
		close(s->conn);
	return NULL;
}

static void server_start(struct server *s)
{
	struct sockaddr_in sin = loopback(0);
	socklen_t n = sizeof(sin);

	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(s->fd, 1), 0);
	getsockname(s->fd, (struct sockaddr *)&sin, &n);
	s->port = ntohs(sin.sin_port);
	pthread_create(&s->thread, NULL, serve, s);
}

/* Connects to port and returns establish()'s verdict. */
static int connect_to(uint16_t port, int timeout_ms, struct err *e)
{
	struct prov_params p = pair_params(NULL);
	struct sockaddr_in sin = loopback(port);
	struct prov_conn *c;
	int rc = prov_iwarp.open((struct sockaddr *)&sin, sizeof(sin), &p, timeout_ms, &c, e);

	if (rc)
		return rc;
	rc = prov_iwarp.establish(c, timeout_ms, e);
	prov_iwarp.free(c);
	return rc;
}

static void expect(struct server *s, int timeout_ms, enum err_kind kind, const char *sentence)
{
	char where[40];
	struct err e = {0};
	int rc;

	server_start(s);
	snprintf(where, sizeof(where), "127.0.0.1 port %u", s->port);
	rc = connect_to(s->port, timeout_ms, &e);
	pthread_join(s->thread, NULL);
	close(s->fd);
	if (s->stay)
		close(s->conn);
	assert_true(rc < 0);
	if (e.kind != kind || !strstr(e.msg, sentence) || !strstr(e.msg, where))
		fail_msg("%s: %s", err_kind_name(e.kind), e.msg);
}

static void nobody_listens(void **state)
{
	struct sockaddr_in sin = loopback(0);
	socklen_t n = sizeof(sin);
	struct err e = {0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* a port of this test, without a listener */
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	getsockname(fd, (struct sockaddr *)&sin, &n);
	assert_int_equal(connect_to(ntohs(sin.sin_port), 1000, &e), -ECONNREFUSED);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_non_null(strstr(e.msg, "127.0.0.1 port "));
	close(fd);
}

static void servers_that_do_not_speak_iwarp(void **state)
{
	struct server closes = {.close_at_once = true};
	struct server hears_and_closes = {.len = 0};
	struct server web = {.answer = "HTTP/1.1 400 Bad Request\r\n\r\n", .len = 28};
	struct server terse = {.answer = "500 no\r\n", .len = 8, .stay = true};
	struct server silent = {.stay = true};

	expect(&closes, 10000, ERR_NOT_RDMA, "closed the connection");
	expect(&hears_and_closes, 10000, ERR_NOT_RDMA, "closed the connection");
	expect(&web, 10000, ERR_NOT_RDMA, "not with an MPA Reply");
	expect(&terse, 1000, ERR_NOT_RDMA, "sent 8 bytes that are no whole MPA Reply");
	expect(&silent, 100, ERR_UNREACHABLE, "no MPA Reply in time");
}

static void replies_that_end_it(void **state)
{
	static const uint8_t zeros[40];
	uint8_t b[MPA_MAX_FRAME];
	struct mpa_frame f = {.reply = true, .rev = 1, .reject = true};
	struct server s = {.answer = b};

	s.len = mpa_encode(&f, b);
	expect(&s, 10000, ERR_REFUSED, "rejects");
	f = (struct mpa_frame){.reply = true, .rev = 2, .markers = true, .enhanced = true};
	s.len = mpa_encode(&f, b);
	expect(&s, 10000, ERR_NOT_RDMA, "markers");
	f.markers = false;
	s.len = mpa_encode(&f, b);
	b[17] = 7;
	expect(&s, 10000, ERR_NOT_RDMA, "revision 7");
	s.len = mpa_encode(&f, b);
	b[18] = 0x7f;
	expect(&s, 10000, ERR_NOT_RDMA, "private data");
	b[18] = 0;
	b[19] = 3;
	s.len = 23;
	expect(&s, 10000, ERR_NOT_RDMA, "private data");
	f.reply = false;
	s.len = mpa_encode(&f, b);
	expect(&s, 10000, ERR_NOT_RDMA, "not with an MPA Reply");
	/* ends inside the private data */
	f = (struct mpa_frame){
		.reply = true, .rev = 2, .enhanced = true, .priv = zeros, .priv_len = 40};
	mpa_encode(&f, b);
	s.len = 30;
	expect(&s, 10000, ERR_NOT_RDMA, "closed the connection");
}

/* Our passive side hears f, for ms at most, and answers *reply. Returns the verdict of that
 * side. */
static int ask_within(int ms, const uint8_t *bytes, size_t n, struct mpa_frame *reply,
	struct prov_conn **out, struct err *e)
{
	struct prov_params p = pair_params(NULL);
	struct sockaddr_in sin = loopback(0);
	static uint8_t b[MPA_MAX_FRAME];
	struct prov_listener *l;
	struct prov_conn *c;
	int fd = socket(AF_INET, SOCK_STREAM, 0), rc;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	assert_int_equal(prov_iwarp.listen((struct sockaddr *)&sin, sizeof(sin), &p, &l, e), 0);
	sin = loopback(l->port);
	assert_int_equal(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(send(fd, bytes, n, 0), n);
	while (prov_iwarp.accept(l, &c, e) == -EAGAIN)
		;
	rc = prov_iwarp.establish(c, ms, e);
	memset(reply, 0, sizeof(*reply));
	poll(&pfd, 1, ms);
	if (recv(fd, b, MPA_HDR_LEN, MSG_DONTWAIT) == MPA_HDR_LEN) {
		assert_int_equal(mpa_decode(b, true, reply), 0);
		if (reply->pd_len)
			assert_int_equal(recv(fd, b + MPA_HDR_LEN, reply->pd_len, MSG_WAITALL),
				reply->pd_len);
		assert_int_equal(mpa_decode_pd(reply, b + MPA_HDR_LEN), 0);
	}
	*out = c;
	prov_iwarp.unlisten(l);
	close(fd);
	return rc;
}

static int ask(const uint8_t *bytes, size_t n, struct mpa_frame *reply, struct prov_conn **out,
	struct err *e)
{
	return ask_within(10000, bytes, n, reply, out, e);
}

static void requests_are_answered(void **state)
{
	struct mpa_frame r, f = {.rev = 1, .priv = (const uint8_t *)"abc", .priv_len = 3};
	struct err e = {0};
	struct prov_conn *c;
	uint8_t b[MPA_MAX_FRAME];

	/* revision 1 has no words, and is accepted */
	assert_int_equal(ask(b, mpa_encode(&f, b), &r, &c, &e), 0);
	assert_true(r.reply && !r.reject && !r.enhanced && r.rev == 1);
	assert_int_equal(r.priv_len, 8);
	assert_int_equal(c->ord, 1);
	assert_int_equal(c->peer_priv_len, 3);
	assert_memory_equal(c->peer_priv, "abc", 3);
	prov_iwarp.free(c);

	/* depths that the peer leaves open */
	f = (struct mpa_frame){.rev = 2,
		.enhanced = true,
		.crc = true,
		.ird = MPA_DEPTH_ANY,
		.ord = MPA_DEPTH_ANY};
	assert_int_equal(ask(b, mpa_encode(&f, b), &r, &c, &e), 0);
	assert_true(r.enhanced && r.ird == MPA_DEPTH_ANY && r.ord == MPA_DEPTH_ANY);
	assert_false(r.long_fpdus || ((struct iwarp_conn *)c)->long_fpdus);
	assert_int_equal(c->ird, 4);
	assert_int_equal(c->ord, 4);
	assert_true(((struct iwarp_conn *)c)->crc);
	prov_iwarp.free(c);

	/* FPDUs longer than a segment */
	f = (struct mpa_frame){.rev = 2, .enhanced = true, .long_fpdus = true};
	assert_int_equal(ask(b, mpa_encode(&f, b), &r, &c, &e), 0);
	assert_true(r.long_fpdus && ((struct iwarp_conn *)c)->long_fpdus);
	prov_iwarp.free(c);

	/* a peer that allows no reads, and asks for peer-to-peer */
	f = (struct mpa_frame){.rev = 2, .enhanced = true, .peer_to_peer = true, .rtr_send = true};
	assert_int_equal(ask(b, mpa_encode(&f, b), &r, &c, &e), 0);
	assert_false(r.peer_to_peer || r.rtr_send || r.rtr_write || r.rtr_read);
	assert_int_equal(c->ord, 0);
	assert_int_equal(
		prov_iwarp.post(c, &(struct prov_wr){.op = PROV_READ, .nsge = 1}), -EINVAL);
	prov_iwarp.free(c);
}

static void requests_that_are_refused(void **state)
{
	struct mpa_frame r, f = {.rev = 2, .enhanced = true, .markers = true, .ird = 1, .ord = 1};
	struct err e = {0};
	struct prov_conn *c;
	uint8_t b[MPA_MAX_FRAME];
	size_t n = mpa_encode(&f, b);

	assert_true(ask(b, n, &r, &c, &e) < 0);
	assert_true(r.reply && r.reject);
	assert_non_null(strstr(e.msg, "markers"));
	prov_iwarp.free(c);
	for (size_t cut = 1; cut < n; cut++) {
		e = (struct err){0};
		assert_true(ask_within(200, b, cut, &r, &c, &e) < 0 || cut == n);
		assert_false(r.reply);
		assert_int_equal(e.kind, ERR_NOT_RDMA);
		prov_iwarp.free(c);
		cut += 5;
	}
	e = (struct err){0};
	assert_true(ask_within(200, (const uint8_t *)"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 28, &r,
			    &c, &e) < 0);
	assert_int_equal(e.kind, ERR_NOT_RDMA);
	assert_false(r.reply);
	prov_iwarp.free(c);
}

static void *give_up_soon(void *arg)
{
	struct timespec t = {.tv_nsec = 50000000};

	nanosleep(&t, NULL);
	eventfd_write(*(int *)arg, 1);
	return NULL;
}

/* The server's kernel accepts the connection, but no program speaks MPA. */
static void connecting_can_be_given_up(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int abort_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct sockaddr_in sin = loopback(0);
	socklen_t len = sizeof(sin);
	struct prov_params p = pair_params(mem_pool_new(0));
	struct timespec t[2];
	struct prov_conn *c;
	struct err e = {0};
	pthread_t thread;

	assert_int_equal(bind(fd, (struct sockaddr *)&sin, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	p.abort_fd = abort_fd;
	assert_int_equal(prov_iwarp.open((struct sockaddr *)&sin, len, &p, 20000, &c, &e), 0);
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	pthread_create(&thread, NULL, give_up_soon, &abort_fd);
	assert_int_equal(prov_iwarp.establish(c, 20000, &e), -ECANCELED);
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	assert_true(t[1].tv_sec - t[0].tv_sec < 10);
	assert_non_null(strstr(e.msg, "given up"));
	pthread_join(thread, NULL);
	prov_iwarp.free(c);
	close(fd);
	close(abort_fd);
	mem_pool_free(p.pool);
}

static void wrong_parameters(void **state)
{
	struct sockaddr_in sin = loopback(1);
	struct prov_params p = pair_params(NULL);
	struct prov_listener *l;
	struct prov_conn *c;
	struct err e = {0};

	p.ird = 0;
	assert_int_equal(
		prov_iwarp.open((struct sockaddr *)&sin, sizeof(sin), &p, 10, &c, &e), -EINVAL);
	assert_int_equal(
		prov_iwarp.listen((struct sockaddr *)&sin, sizeof(sin), &p, &l, &e), -EINVAL);
	prov_iwarp.free(NULL);
	prov_iwarp.unlisten(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(servers_that_do_not_speak_iwarp),
		cmocka_unit_test(replies_that_end_it),
		cmocka_unit_test(requests_are_answered),
		cmocka_unit_test(requests_that_are_refused),
		cmocka_unit_test(connecting_can_be_given_up),
		cmocka_unit_test(wrong_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
