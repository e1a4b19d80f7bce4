/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/fault/fault_xprt: each fault as a client sees it. Over TCP, or,
 * with the argument "iwarp", over RPC-over-RDMA.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/bare-tcp.h"
#include "tests/unit/transport/rpc/rpc-pair.h"

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
	/* no call may time out from here on, however slow the machine is */
	pair_start(&p, 10000, 0);
	inject(&p, FAULT_CLOSE_MID, false, 0);
	assert_int_equal(read_n(&p.c, BIG, BIG, true), 0);
	inject(&p, FAULT_CLOSE, true, 0);
	assert_int_equal(echo(&p.c, 10), 0);
	/* RPC sees the damage, or the decoder of the results does */
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

/* --- on the wire, TCP ---------------------------------------------------------------------------
 */

#define REPLY_WORDS 9 /* to call_bare(): the header, and an opaque of eight bytes */

static int dial(const struct pair *p)
{
	struct sockaddr_in sin = loopback(p->port);

	return bare_dial(&sin, "127.0.0.1");
}

static void call_bare(int fd, uint32_t xid)
{
	send_words(fd, WORDS(LAST | 52, xid, 0, 2, PROG, 3, P_ECHO, 0, 0, 0, 0, 8, 0x11111111,
			       0x22222222));
}

static void expect_bare(int fd, uint32_t xid)
{
	const uint32_t want[] = {xid, 1, 0, 0, 0, 0, 8, 0x11111111, 0x22222222};
	uint32_t w[32];

	assert_int_equal(read_words(fd, w, 32), REPLY_WORDS);
	assert_memory_equal(w, want, sizeof(want));
}

static void damage_is_what_was_asked_for(void **state)
{
	uint32_t w[32];
	struct pair p;
	int fd;

	if (proto != RPC_TCP)
		return;
	pair_start(&p, 10000, 0);
	fd = dial(&p);
	call_bare(fd, 1);
	expect_bare(fd, 1);
	inject(&p, FAULT_WRONG_XID, false, 0);
	call_bare(fd, 2);
	expect_bare(fd, ~2u);
	inject(&p, FAULT_TRUNCATE, false, 0);
	call_bare(fd, 3);
	assert_int_equal(read_words(fd, w, 32), REPLY_WORDS - 2);
	assert_int_equal(w[0], 3);
	inject(&p, FAULT_CORRUPT, false, 0);
	call_bare(fd, 4);
	assert_int_equal(read_words(fd, w, 32), REPLY_WORDS);
	assert_memory_equal(w, ((uint32_t[]){4, 1}), 8);
	assert_int_not_equal(w[REPLY_WORDS - 1], 0x22222222);
	/* a dropped call gets no answer, and a drop at the stage of the request is not even carried
	 * out */
	p.s.requests = 0;
	inject(&p, FAULT_DROP, false, 0);
	call_bare(fd, 5);
	call_bare(fd, 6);
	expect_bare(fd, 6);
	assert_int_equal(p.s.requests, 2);
	inject(&p, FAULT_DROP, true, 0);
	call_bare(fd, 7);
	call_bare(fd, 8);
	expect_bare(fd, 8);
	assert_int_equal(p.s.requests, 3);
	/* faults of RPC-over-RDMA have no effect here */
	inject(&p, FAULT_LONG_CHUNK, false, 0);
	call_bare(fd, 9);
	expect_bare(fd, 9);
	/* a call that RPC itself refuses: no note was made */
	assert_int_equal(p.s.unnoted, 0);
	send_words(fd, WORDS(LAST | 40, 10, 0, 3, PROG, 3, P_NULL, 0, 0, 0, 0));
	assert_int_equal(read_words(fd, w, 32), 6);
	assert_int_equal(p.s.unnoted, 1);
	close(fd);
	pair_stop(&p);
}

/* Earlier answers arrive, and of the reply itself nothing or half. */
static void connections_close_where_they_should(void **state)
{
	static const struct {
		enum fault_kind kind;
		bool request;
		ssize_t left;
	} how[] = {{FAULT_CLOSE, true, 0}, {FAULT_CLOSE, false, 0},
		{FAULT_CLOSE_MID, false, (4 + 4 * REPLY_WORDS) / 2}};
	struct pair p;

	if (proto != RPC_TCP)
		return;
	pair_start(&p, 10000, 0);
	for (unsigned i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		int fd = dial(&p);
		uint32_t w[64];

		p.s.faults_skip = 2;
		inject(&p, how[i].kind, how[i].request, 0);
		for (uint32_t k = 0; k < 3; k++) {
			call_bare(fd, k);
			/* answers that wait to leave together are lost with the connection */
			if (how[i].kind == FAULT_CLOSE && k < 2)
				expect_bare(fd, k);
		}
		for (uint32_t k = 0; k < 2 && how[i].kind == FAULT_CLOSE_MID; k++)
			expect_bare(fd, k);
		assert_int_equal(recv(fd, w, sizeof(w), MSG_WAITALL), how[i].left);
		close(fd);
	}
	pair_stop(&p);
}

/* Replies that are held back do not hold up later ones. */
static void others_overtake_what_is_held_back(void **state)
{
	struct pair p;
	int fd;

	if (proto != RPC_TCP)
		return;
	pair_start(&p, 10000, 0);
	for (int request = 0; request < 2; request++) {
		fd = dial(&p);
		inject(&p, FAULT_WRONG_XID, request, 2000);
		if (request) /* at this stage the call could only be dropped */
			p.s.fault = FAULT_NONE;
		call_bare(fd, 1);
		call_bare(fd, 2);
		expect_bare(fd, 2);
		expect_bare(fd, request ? 1 : ~1u);
		close(fd);
	}
	pair_stop(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_borne),
		cmocka_unit_test(messages_can_be_held_back),
		cmocka_unit_test(damage_is_what_was_asked_for),
		cmocka_unit_test(connections_close_where_they_should),
		cmocka_unit_test(others_overtake_what_is_held_back),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
