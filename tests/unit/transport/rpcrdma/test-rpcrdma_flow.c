/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_flow: how many messages either end sends to a peer that
 * grants little, or less than before, and how both go on all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

static const struct pair_params plain;

/* Headers without chunks, with a grant. */
#define MSG(xid, grant, flags) xid, 2, grant, RDMA_MSG, flags, 0, 0, 0, 0
#define GRANT(grant)	       0, 2, grant, RDMA_NOMSG, 0, 0, 0, 0, 0
#define REPLY		       1u
#define MORE		       2u

enum { HDR_LEN = 36, SIZE = 4096, ROOM = SIZE - HDR_LEN };

/* No message comes, for longer than the end waits before it looks at earlier grants. */
static void expect_silence(struct raw *r, struct pair *p)
{
	assert_false(raw_recv_within(r, p, 3 * RPCRDMA_STALL_MS));
	assert_false(r->down);
}

/* --- a responder ------------------------------------------------------------------------------ */

static void call(struct raw *r, uint32_t xid, uint32_t grant, uint32_t proc, uint32_t arg)
{
	RAW_SEND(r, MSG(xid, grant, 0), RPC_CALL(xid, proc), arg);
}

static void expect(struct raw *r, uint32_t xid, uint32_t type, uint32_t flags)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), 2);
	assert_int_equal(raw_word(r, 3), type);
	assert_int_equal(raw_word(r, 4), flags);
}

/* A responder that has told its properties, and has a grant of 1. */
static void start(struct pair *p, struct raw *r, const struct pair_params *params)
{
	pair_init_responder(p, params, r);
	RAW_SEND(r, 0, 2, 1, RDMA_CONNPROP, 0, 0);
	expect(r, 0, RDMA_CONNPROP, 0);
}

static void wait_served(struct pair *p, unsigned n)
{
	while (p->served < n)
		usleep(1000);
}

/* Calls that are answered at once as soon as the peer has lowered its grant to `low`. As many
 * answers leave as each word of the peer allows, and no more. */
static void lower_grant(uint32_t low, uint32_t word)
{
	enum { CALLS = 17 };
	bool seen[CALLS] = {false};
	unsigned got = 0;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	for (uint32_t i = 0; i < CALLS; i++)
		call(&r, 100 + i, i < CALLS - 1 ? 32 << 16 | 32 : word, PAIR_LATER, 0);
	wait_served(&p, CALLS);
	assert_int_equal(pair_release(&p), CALLS);
	while (got < CALLS) {
		for (uint32_t i = 0; i < low && got < CALLS; i++, got++) {
			assert_true(raw_recv(&r, NULL));
			assert_int_equal(raw_word(&r, 3), RDMA_MSG);
			assert_true(raw_word(&r, 0) - 100 < CALLS);
			assert_false(seen[raw_word(&r, 0) - 100]);
			seen[raw_word(&r, 0) - 100] = true;
		}
		expect_silence(&r, NULL);
		RAW_SEND(&r, GRANT(word));
	}
	raw_stop(&r, &p);
}

static void a_lowered_grant_is_kept_to(void **state)
{
	lower_grant(3, 3);
	lower_grant(3, 3 << 16 | 3);
}

/* The least grant, and the grant of 0, which the draft forbids and which counts as the least. */
static void the_least_grant(void **state)
{
	for (uint32_t grant = 0; grant < 2; grant++) {
		struct pair p;
		struct raw r;

		start(&p, &r, &plain);
		for (uint32_t i = 0; i < 3; i++)
			call(&r, i, grant, PAIR_LATER, 0);
		wait_served(&p, 3);
		pair_release(&p);
		for (uint32_t i = 0; i < 3; i++) {
			assert_true(raw_recv(&r, NULL));
			expect_silence(&r, NULL);
			RAW_SEND(&r, GRANT(grant));
		}
		/* and one call after the other needs only the grant of the call */
		for (uint32_t i = 10; i < 20; i++) {
			call(&r, i, grant, PAIR_LIST, 100);
			expect(&r, i, RDMA_MSG, REPLY);
		}
		raw_stop(&r, &p);
	}
}

/* If no message of the peer comes for a while, Sends leave that the peer has granted before, but no
 * more than its last word allows to be outstanding. */
static void earlier_grants_count_as_far_as_the_last_lets(void **state)
{
	enum { CALLS = 8 };
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	for (uint32_t i = 0; i < CALLS; i++)
		call(&r, i, i < CALLS - 1 ? 6 << 16 | 6 : 6 << 16 | 2, PAIR_LATER, 0);
	wait_served(&p, CALLS);
	pair_release(&p);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(raw_recv(&r, NULL));
	expect_silence(&r, NULL);
	RAW_SEND(&r, GRANT(2));
	assert_true(raw_recv(&r, NULL));
	assert_true(raw_recv(&r, NULL));
	raw_stop(&r, &p);
}

/* Errors wait like replies, in their turn. */
static void errors_wait(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	call(&r, 1, 1, PAIR_LIST, 2 * ROOM);
	expect(&r, 1, RDMA_MSG, REPLY | MORE);
	/* the error is a message of the peer, so one Send more may leave */
	RAW_SEND(&r, 2, 2, 1, 99, 0);
	expect(&r, 1, RDMA_MSG, REPLY | MORE);
	expect_silence(&r, NULL);
	RAW_SEND(&r, GRANT(1));
	expect(&r, 1, RDMA_MSG, REPLY);
	expect_silence(&r, NULL);
	RAW_SEND(&r, GRANT(1));
	expect(&r, 2, RDMA_ERROR, REPLY);
	raw_stop(&r, &p);
}

/* Calls in reverse and replies are messages alike. */
static void both_directions_count(void **state)
{
	struct pair p;
	struct raw r;
	uint32_t xid;

	start(&p, &r, &plain);
	call(&r, 1, 1, PAIR_CALL_BACK, 0);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 4), 0); /* the call in reverse came first */
	xid = raw_word(&r, 0);
	expect_silence(&r, NULL);
	RAW_SEND(&r, MSG(xid, 1, REPLY), RPC_REPLY(xid));
	expect(&r, 1, RDMA_MSG, REPLY);
	/* a call in reverse that has to wait is not lost, nor given up early */
	call(&r, 2, 1, PAIR_LATER, 0);
	call(&r, 3, 1, PAIR_NULL, 0);
	expect(&r, 3, RDMA_MSG, REPLY);
	pair_release(&p);
	expect_silence(&r, NULL);
	while (!p.cb_done)
		usleep(1000);
	p.cb_done = false;
	mem_buf_unref(p.cb.msg);
	/* two calls wait behind the one that leaves by its grant */
	call(&r, 4, 1, PAIR_CALL_BACK, 0);
	expect(&r, 2, RDMA_MSG, REPLY);
	expect_silence(&r, NULL);
	RAW_SEND(&r, GRANT(1));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 4), 0);
	xid = raw_word(&r, 0);
	expect_silence(&r, NULL);
	RAW_SEND(&r, MSG(xid, 1, REPLY), RPC_REPLY(xid));
	expect(&r, 4, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

/* A client that has answered a call in reverse has used up its one credit. The server gives the
 * client another. */
static void a_responder_grants_what_is_used_up(void **state)
{
	struct pair_params params = {.credits_server = 1};
	struct pair p;
	struct raw r;
	uint32_t xid;

	start(&p, &r, &params);
	call(&r, 1, 8, PAIR_CALL_BACK, 0);
	assert_true(raw_recv(&r, NULL));
	xid = raw_word(&r, 0);
	expect(&r, 1, RDMA_MSG, REPLY);
	RAW_SEND(&r, MSG(xid, 8, REPLY), RPC_REPLY(xid));
	expect(&r, 0, RDMA_NOMSG, 0);
	assert_int_equal(raw_word(&r, 2) & 0xffff, 1);
	/* a grant is not answered by one, nor is a call */
	RAW_SEND(&r, GRANT(8));
	expect_silence(&r, NULL);
	call(&r, 2, 8, PAIR_LATER, 0);
	expect_silence(&r, NULL);
	pair_release(&p);
	expect(&r, 2, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

/* A client that takes no answers does not fill the server's memory: no call is begun while too many
 * bytes of answers wait. */
static void answers_that_wait_are_bounded(void **state)
{
	enum { CALLS = 24 };
	struct pair_params params = {.server_memory = 64 << 20};
	unsigned served, replies = 0;
	struct pair p;
	struct raw r;

	start(&p, &r, &params);
	for (uint32_t i = 0; i < CALLS; i++)
		call(&r, i, 1, PAIR_LIST, 1000000);
	wait_served(&p, 2);
	do {
		served = p.served;
		while (raw_recv_within(&r, NULL, 200))
			;
	} while (p.served != served);
	assert_true(served < CALLS / 2);
	while (replies < CALLS) {
		RAW_SEND(&r, GRANT(32));
		for (unsigned i = 0; i < 32 && replies < CALLS; i++) {
			assert_true(raw_recv(&r, NULL));
			replies += !(raw_word(&r, 4) & MORE);
		}
	}
	assert_int_equal(p.served, CALLS);
	raw_stop(&r, &p);
}

/* --- a requester ------------------------------------------------------------------------------ */

static void answer(struct pair *p, struct raw *r, struct pair_call *c, uint32_t grant)
{
	RAW_SEND(r, MSG(c->rpc.xid, grant, REPLY), RPC_REPLY(c->rpc.xid));
	pair_end(p, c, 0);
}

static void expect_call(struct pair *p, struct raw *r, const struct pair_call *c, bool more)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 3), RDMA_MSG);
	assert_int_equal(raw_word(r, 4), more ? MORE : 0);
}

/* A requester with this grant, its properties off the wire. */
static void start_requester(struct pair *p, struct raw *r, uint32_t grant)
{
	struct pair_call c;

	pair_init_requester(p, &plain, r);
	pair_submit_null(p, &c);
	expect_call(p, r, &c, false);
	answer(p, r, &c, grant);
	if (grant > 1) {
		assert_true(raw_recv(r, p));
		assert_int_equal(raw_word(r, 3), RDMA_CONNPROP);
	}
}

static void a_requester_keeps_to_a_lowered_grant(void **state)
{
	enum { CALLS = 10 };
	struct pair_call c[CALLS + 1];
	struct pair p;
	struct raw r;

	start_requester(&p, &r, 32);
	for (int i = 0; i < CALLS; i++) {
		pair_submit_null(&p, &c[i]);
		expect_call(&p, &r, &c[i], false);
	}
	pair_submit_null(&p, &c[CALLS]);
	expect_call(&p, &r, &c[CALLS], false);
	answer(&p, &r, &c[CALLS], 3);
	pair_submit_null(&p, &c[CALLS]);
	for (int i = 0; i < CALLS - 2; i++) {
		expect_silence(&r, &p);
		answer(&p, &r, &c[i], 3);
	}
	expect_call(&p, &r, &c[CALLS], false); /* the third under way */
	for (int i = CALLS - 2; i <= CALLS; i++)
		answer(&p, &r, &c[i], 3);
	raw_stop(&r, &p);
}

/* A call in three Sends, two of which may leave, because an earlier short call is not answered yet.
 * The third Send waits, and also the next message. */
static void a_continued_call_waits(void **state)
{
	static const uint8_t zeros[3 * SIZE];
	struct pair_call a, b, c;
	struct pair p;
	struct raw r;

	start_requester(&p, &r, 8);
	RAW_SEND(&r, GRANT(4));
	while (p.client->credits != 4)
		pair_progress(&p, 5);
	/* two replies to calls in reverse leave a room of 2, although no call is under way */
	for (uint32_t xid = 1; xid < 3; xid++)
		RAW_SEND(&r, MSG(xid, 4, 0), xid, 0, 2, PAIR_CB_PROG, 1, 0, 0, 0, 0, 0);
	for (uint32_t xid = 1; xid < 3; xid++) {
		assert_true(raw_recv(&r, &p));
		assert_int_equal(raw_word(&r, 0), xid);
	}
	pair_submit_null(&p, &a);
	expect_call(&p, &r, &a, false);
	pair_call_init(&p, &b, PAIR_ECHO, sizeof(zeros));
	xdr_put_opaque(&b.rpc.args, zeros, 3 * ROOM - 400);
	pair_submit(&p, &b);
	expect_call(&p, &r, &b, true);
	expect_call(&p, &r, &b, true);
	expect_silence(&r, &p);
	/* the reply to a call in reverse is not sent before the rest */
	RAW_SEND(&r, MSG(3, 1, 0), 3, 0, 2, PAIR_CB_PROG, 1, 0, 0, 0, 0, 0);
	expect_call(&p, &r, &b, false);
	expect_silence(&r, &p);
	RAW_SEND(&r, GRANT(4));
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 0), 3);
	assert_int_equal(raw_word(&r, 4), REPLY);
	answer(&p, &r, &a, 4);
	answer(&p, &r, &b, 4);
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c, false);
	answer(&p, &r, &c, 4);
	raw_stop(&r, &p);
}

/* An error grants nothing, but the last grant holds again. */
static void an_error_gives_back_what_it_answers(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start_requester(&p, &r, 1);
	for (int i = 0; i < 4; i++) {
		pair_submit_null(&p, &c);
		expect_call(&p, &r, &c, false);
		if (i % 2)
			RAW_SEND(&r, c.rpc.xid, 2, 9, RDMA_ERROR, REPLY, RDMA_ERR_SYSTEM);
		else
			RAW_SEND(&r, c.rpc.xid, 2, 9, 99, REPLY); /* an error that cannot be read */
		pair_end(&p, &c, -EIO);
		assert_int_equal(p.client->credits, 1);
	}
	raw_stop(&r, &p);
}

/* --- both ends -------------------------------------------------------------------------------- */

/* With almost no credits all messages still arrive, including calls in reverse. */
static void two_ends_with_the_least(void **state)
{
	static const uint32_t len[] = {8, 3000, 2 * ROOM, 40000, 300000};

	for (uint32_t credits = 1; credits < 4; credits++) {
		struct pair_params params = {.credits_client = credits, .credits_server = credits};
		struct pair_call c;
		struct pair p;

		pair_init(&p, &params);
		for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
			mem_buf_unref(p.cb.msg);
			p.cb_done = false;
			pair_call_init(&p, &c, PAIR_CALL_BACK, 64);
			pair_do(&p, &c);
			assert_int_equal(c.error, 0);
			pair_call_finish(&c);
			pair_echo(&p, len[i]);
			pair_put(&p, len[i]);
			pair_list(&p, len[i], len[i] + 4);
			pair_get(&p, len[i], len[i], 64);
			while (!p.cb_done)
				pair_progress(&p, 5);
			assert_int_equal(p.cb_error, 0);
		}
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lowered_grant_is_kept_to),
		cmocka_unit_test(the_least_grant),
		cmocka_unit_test(earlier_grants_count_as_far_as_the_last_lets),
		cmocka_unit_test(errors_wait),
		cmocka_unit_test(both_directions_count),
		cmocka_unit_test(a_responder_grants_what_is_used_up),
		cmocka_unit_test(answers_that_wait_are_bounded),
		cmocka_unit_test(a_requester_keeps_to_a_lowered_grant),
		cmocka_unit_test(a_continued_call_waits),
		cmocka_unit_test(an_error_gives_back_what_it_answers),
		cmocka_unit_test(two_ends_with_the_least),
	};

	pair_versions = RPC_RDMA_V2;
	return PAIR_RUN(tests);
}
