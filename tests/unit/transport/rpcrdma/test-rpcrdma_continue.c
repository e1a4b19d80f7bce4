/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_continue: messages in several Sends, in a dialect that
 * has continued messages, in both roles and both directions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "tests/unit/transport/rpcrdma/toy-dialect.h"

static const struct pair_params plain;

#define HDR(xid, proc) xid, TOY_VERS, 8, proc, 0, 0, 0

enum { HDR_LEN = 28, SIZE = 4096, ROOM = SIZE - HDR_LEN };

/* Lengths that just fit into one, two and three Sends, or just do not, from end to end. */
static void calls_and_replies_of_all_lengths(void **state)
{
	static const uint32_t len[] = {8, ROOM - 44, ROOM - 40, 2 * ROOM - 44, 2 * ROOM - 40,
		3 * ROOM - 44, 3 * ROOM - 40, 100000};
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p); /* the first grant */
	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		pair_echo(&p, len[i]);
		pair_list(&p, len[i], len[i] + 4);
		pair_put(&p, len[i]);
	}
	assert_int_equal(p.client->rdma_version, TOY_VERS);
	assert_true(pair_get(&p, 5000, 5000, 64));
	pair_finish(&p);
}

/* The second call in reverse. When the first call goes there is one credit, not enough for two
 * Sends. */
static void a_continued_call_in_reverse(void **state)
{
	struct pair_call c;
	struct pair p;

	pair_init(&p, &plain);
	for (unsigned i = 0; i < 2; i++) {
		mem_buf_unref(p.cb.msg);
		p.cb_done = false;
		p.cb_long = i > 0; /* of 8000 bytes */
		pair_call_init(&p, &c, PAIR_CALL_BACK, 64);
		pair_do(&p, &c);
		assert_int_equal(c.error, 0);
		pair_call_finish(&c);
		while (!p.cb_done)
			pair_progress(&p, 5);
		assert_int_equal(p.cb_error, 0);
		assert_int_equal(p.cb_served, i + 1);
	}
	pair_finish(&p);
}

/* --- a requester ------------------------------------------------------------------------------ */

static void reply(struct raw *r, uint32_t xid, uint32_t credit)
{
	RAW_SEND(r, xid, TOY_VERS, credit, TOY_REPLY, 0, 0, 0, RPC_REPLY(xid));
}

static void submit(struct pair *p, struct pair_call *c, uint32_t n)
{
	static uint8_t data[3 * SIZE];

	pair_call_init(p, c, PAIR_ECHO, n + 64);
	pair_pattern(data, n, 3);
	xdr_put_opaque(&c->rpc.args, data, n);
	pair_submit(p, c);
}

/* The next Send is of this call. Returns the number of message bytes in the Send. */
static uint32_t expect(struct pair *p, struct raw *r, const struct pair_call *c, bool more)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 1), TOY_VERS);
	assert_int_equal(raw_word(r, 3), more ? TOY_MORE : 0);
	for (unsigned i = 4; i < 7; i++)
		assert_int_equal(raw_word(r, i), 0);
	return r->len - HDR_LEN;
}

/* A requester that has got this grant. */
static void start(struct pair *p, struct raw *r, uint32_t credit)
{
	struct pair_call c;

	pair_init_requester(p, &plain, r);
	submit(p, &c, 8);
	expect(p, r, &c, false);
	reply(r, c.rpc.xid, credit);
	pair_end(p, &c, 0);
}

static void a_call_goes_on(void **state)
{
	uint8_t msg[3 * SIZE], want[2 * SIZE];
	uint32_t n = 0, more;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 8);
	submit(&p, &c, 2 * SIZE);
	for (int i = 0; i < 3; i++) {
		more = expect(&p, &r, &c, i < 2);
		assert_true(i == 2 || more == ROOM);
		memcpy(msg + n, r.msg + HDR_LEN, more);
		n += more;
	}
	assert_int_equal(n, 44 + 2 * SIZE);
	pair_pattern(want, 2 * SIZE, 3);
	assert_memory_equal(msg + 44, want, 2 * SIZE);
	reply(&r, c.rpc.xid, 8);
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

/* Each Send takes a credit, and the reply brings all of them back. Without enough credits the call
 * travels in another form. */
static void each_send_takes_a_credit(void **state)
{
	struct pair_call a, b, c;
	struct pair p;
	struct raw r;

	start(&p, &r, 3);
	submit(&p, &a, SIZE); /* two */
	submit(&p, &b, SIZE); /* two */
	submit(&p, &c, 8);
	expect(&p, &r, &a, true);
	expect(&p, &r, &a, false);
	assert_false(raw_recv_within(&r, &p, 20)); /* one credit is left, not enough for b */
	reply(&r, a.rpc.xid, 3);
	pair_end(&p, &a, 0);
	expect(&p, &r, &b, true);
	expect(&p, &r, &b, false);
	expect(&p, &r, &c, false);
	reply(&r, b.rpc.xid, 1);
	reply(&r, c.rpc.xid, 1);
	pair_end(&p, &b, 0);
	pair_end(&p, &c, 0);
	submit(&p, &a, SIZE);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	reply(&r, a.rpc.xid, 1);
	pair_end(&p, &a, 0);
	raw_stop(&r, &p);
}

static void a_call_taken_back_keeps_its_credits(void **state)
{
	struct pair_call a, b;
	struct pair p;
	struct raw r;

	start(&p, &r, 3);
	for (int i = 0; i < 3; i++) {
		submit(&p, &a, 2 * SIZE);
		for (int k = 0; k < 3; k++)
			expect(&p, &r, &a, k < 2);
		pair_forget(&p, &a);
		submit(&p, &b, 2 * SIZE);
		assert_false(raw_recv_within(&r, &p, 20));
		reply(&r, a.rpc.xid, 3);
		for (int k = 0; k < 3; k++)
			expect(&p, &r, &b, k < 2);
		reply(&r, b.rpc.xid, 3);
		pair_end(&p, &b, 0);
		pair_call_finish(&a);
	}
	raw_stop(&r, &p);
}

static void check_data(struct pair_call *c, struct xdr_in *res)
{
	const uint8_t *d = xdr_get_opaque(res, 2 * SIZE, &c->len);
	uint8_t want[2 * SIZE];

	pair_pattern(want, sizeof(want), 7);
	assert_int_equal(c->len, sizeof(want));
	assert_memory_equal(d, want, sizeof(want));
	assert_int_equal(xdr_in_left(res), 0);
}

/* No Reply chunk is offered for a reply that comes in three Sends. */
static void a_reply_goes_on(void **state)
{
	uint8_t data[2 * SIZE];
	struct pair_call c;
	struct pair p;
	struct raw r;
	uint32_t x;

	start(&p, &r, 8);
	pair_pattern(data, sizeof(data), 7);
	pair_call_init(&p, &c, PAIR_LIST, 64);
	c.check = check_data;
	c.rpc.reply_max = 2 * SIZE + 4;
	xdr_put_u32(&c.rpc.args, 2 * SIZE);
	pair_submit(&p, &c);
	expect(&p, &r, &c, false);
	x = c.rpc.xid;
	raw_send(&r, (uint32_t[]){HDR(x, TOY_REPLY | TOY_MORE), RPC_REPLY(x), 2 * SIZE}, 14, data,
		3000);
	raw_send(&r, (uint32_t[]){HDR(x, TOY_REPLY | TOY_MORE)}, 7, data + 3000, 3001);
	raw_send(&r, (uint32_t[]){HDR(x, TOY_REPLY)}, 7, data + 6001, 2 * SIZE - 6001);
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

/* As many calls as there are credits, each answered in three Sends, all at once. */
static void there_is_a_receive_for_each_send(void **state)
{
	enum { N = 64 };
	static struct pair_call c[N];
	struct pair p;
	struct raw r;

	start(&p, &r, N);
	for (int i = 0; i < N; i++) {
		submit(&p, &c[i], 8);
		expect(&p, &r, &c[i], false);
	}
	for (int i = 0; i < N; i++) {
		uint32_t x = c[i].rpc.xid;

		RAW_SEND(&r, HDR(x, TOY_REPLY | TOY_MORE), x, 1);
		RAW_SEND(&r, HDR(x, TOY_REPLY | TOY_MORE), 0, 0);
		RAW_SEND(&r, HDR(x, TOY_REPLY), 0, 0);
	}
	for (int i = 0; i < N; i++)
		pair_end(&p, &c[i], 0);
	raw_stop(&r, &p);
}

static void a_message_that_breaks_off_ends_the_connection(void **state)
{
	for (int i = 0; i < 5; i++) {
		struct pair_call c;
		struct pair p;
		struct raw r;
		uint32_t x;

		start(&p, &r, 8);
		submit(&p, &c, 8);
		expect(&p, &r, &c, false);
		x = c.rpc.xid;
		if (i == 3) /* chunks before the end of the message */
			RAW_SEND(&r, x, TOY_VERS, 8, TOY_REPLY | TOY_MORE, 0, 1, 0, 0, 0,
				RPC_REPLY(x));
		else
			RAW_SEND(&r, HDR(x, TOY_REPLY | TOY_MORE), RPC_REPLY(x));
		if (i == 0) /* another message */
			RAW_SEND(&r, HDR(x + 1, TOY_REPLY), 0);
		if (i == 1) /* another direction */
			RAW_SEND(&r, HDR(x, 0), 0);
		if (i == 2) /* malformed */
			RAW_SEND(&r, x, TOY_VERS, 8, TOY_REPLY, 7);
		/* the rest of the reply, which would be complete with it */
		if (i < 4)
			RAW_SEND(&r, HDR(x, TOY_REPLY), 0);
		for (int k = 0; i == 4 && k < TOY_SENDS; k++) /* without end */
			RAW_SEND(&r, HDR(x, TOY_REPLY | TOY_MORE), 0);
		raw_wait_down(&r, &p);
		pair_end(&p, &c, -ENOTCONN);
		assert_non_null(strstr(p.client->down_reason, "the peer's message"));
		raw_stop(&r, &p);
	}
}

#define CALLS 16 /* of each thread */

struct sender {
	struct pair *p;
	struct pair_call c[CALLS];
	uint32_t off[CALLS];
};

static void *send_all(void *arg)
{
	struct sender *s = arg;

	for (int i = 0; i < CALLS; i++)
		s->p->client->ops->send_call(s->p->client, &s->c[i].rpc, s->off[i]);
	return NULL;
}

/* Calls of one, two and three Sends from two threads: no Send comes between the Sends of another
 * call. */
static void threads_do_not_come_between(void **state)
{
	static uint8_t data[3 * SIZE];
	static struct sender s[2];
	pthread_t t[2];
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	for (int round = 0; round < 20; round++) {
		for (int k = 0; k < 2 * CALLS; k++) {
			struct pair_call *c = &s[k / CALLS].c[k % CALLS];
			uint32_t n = 8 + (uint32_t)(k % 3) * ROOM;

			pair_call_init(&p, c, PAIR_ECHO, n + 64);
			xdr_put_opaque(&c->rpc.args, data, n);
			s[k / CALLS].off[k % CALLS] = pair_enter(&p, c);
		}
		for (int i = 0; i < 2; i++) {
			s[i].p = &p;
			assert_int_equal(pthread_create(&t[i], NULL, send_all, &s[i]), 0);
		}
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		for (int k = 0; k < 2 * CALLS; k++)
			pair_end(&p, &s[k / CALLS].c[k % CALLS], 0);
	}
	pair_finish(&p);
}

/* --- a responder ------------------------------------------------------------------------------ */

/* A call of proc in n Sends, the last with one word of arguments. */
static void send_call(struct raw *r, uint32_t x, uint32_t proc, unsigned n, uint32_t arg)
{
	const uint32_t rpc[] = {RPC_CALL(x, proc), arg};

	for (unsigned i = 0; i < n; i++) {
		uint32_t w[7 + 11] = {HDR(x, i + 1 < n ? TOY_MORE : 0)};
		unsigned from = 11 * i / n, to = 11 * (i + 1) / n;

		memcpy(w + 7, rpc + from, 4 * (to - from));
		raw_send(r, w, 7 + to - from, NULL, 0);
	}
}

static void a_responder_joins_and_goes_on(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	for (unsigned n = 1; n <= TOY_SENDS; n++) {
		uint32_t len = 0, want = (n - 1) * SIZE + 8, be;

		send_call(&r, n, PAIR_LIST, n, want);
		for (unsigned i = 0; i < n; i++) {
			assert_true(raw_recv(&r, NULL));
			assert_int_equal(raw_word(&r, 0), n);
			assert_int_equal(raw_word(&r, 2), 64);
			assert_int_equal(raw_word(&r, 3), TOY_REPLY | (i + 1 < n ? TOY_MORE : 0));
			len += r.len - HDR_LEN;
		}
		assert_int_equal(len, 24 + 4 + want);
		assert_true(p.last_res_max == 3 * ROOM - 24);
		be = htonl(want);
		if (n == 1)
			assert_memory_equal(r.msg + HDR_LEN + 24, &be, 4);
	}
	/* more than three */
	send_call(&r, 9, PAIR_LIST, 1, 3 * SIZE);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 4), RDMA_ERR_CHUNK);
	raw_stop(&r, &p);
}

/* A continued call counts once for each Send, until the answer. */
static void a_responder_counts_sends(void **state)
{
	struct pair_params params = {.credits_server = 4};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &params, &r);
	for (int round = 0; round < 3; round++) {
		send_call(&r, 1, PAIR_LATER, 3, 0);
		send_call(&r, 2, PAIR_LATER, 1, 0);
		while (p.served < 2 * (round + 1u))
			;
		assert_int_equal(pair_release(&p), 2);
		assert_true(raw_recv(&r, NULL));
		assert_true(raw_recv(&r, NULL));
	}
	send_call(&r, 1, PAIR_LATER, 3, 0);
	send_call(&r, 2, PAIR_LATER, 2, 0);
	raw_wait_down(&r, NULL);
	assert_int_equal(p.served, 7);
	raw_stop(&r, &p);
}

static void random_sends(void **state)
{
	srand(5);
	for (int round = 0; round < 20; round++) {
		struct pair p;
		struct raw r;

		pair_init_responder(&p, &plain, &r);
		for (uint32_t x = 0; x < 30 && !r.down; x++) {
			unsigned n = 1 + (unsigned)rand() % TOY_SENDS;

			if (rand() % 16 == 0)
				RAW_SEND(&r, HDR(x, TOY_MORE | (rand() % 2 ? TOY_REPLY : 0)), 0);
			else
				send_call(&r, x, (uint32_t)rand() % 7, n, (uint32_t)rand() % 9000);
			if (rand() % 4 == 0)
				raw_recv_within(&r, NULL, 1000);
		}
		raw_stop(&r, &p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_replies_of_all_lengths),
		cmocka_unit_test(a_continued_call_in_reverse),
		cmocka_unit_test(a_call_goes_on),
		cmocka_unit_test(each_send_takes_a_credit),
		cmocka_unit_test(a_call_taken_back_keeps_its_credits),
		cmocka_unit_test(a_reply_goes_on),
		cmocka_unit_test(there_is_a_receive_for_each_send),
		cmocka_unit_test(a_message_that_breaks_off_ends_the_connection),
		cmocka_unit_test(threads_do_not_come_between),
		cmocka_unit_test(a_responder_joins_and_goes_on),
		cmocka_unit_test(a_responder_counts_sends),
		cmocka_unit_test(random_sends),
	};

	rpcrdma_dialects = toy_table;
	pair_versions = 0;
	return PAIR_RUN(tests);
}
