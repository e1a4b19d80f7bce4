/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/v2/rpcrdma_connprop, and of other behaviour of version 2 only:
 * grants, continued messages that wait for grants, errors, invalidation by name.
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

static const struct pair_params plain;
static const uint8_t zeros[90000];

/* Headers without chunks, with a grant. */
#define MSG(xid, grant, flags) xid, 2, grant, 0, flags, 0, 0, 0, 0
#define GRANT(grant)	       0, 2, grant, 1, 0, 0, 0, 0, 0
#define ERROR(xid, ...)	       xid, 2, 0, 4, 1, __VA_ARGS__
#define CONNPROP(grant, flags) 0, 2, grant, 5, flags
#define REPLY		       1u
#define MORE		       2u

enum { HDR_LEN = 36, SIZE = 4096, ROOM = SIZE - HDR_LEN };

/* --- both ends -------------------------------------------------------------------------------- */

static void everything_between_two_ends(void **state)
{
	static const uint32_t len[] = {8, 900, 3000, ROOM - 44, ROOM - 40, 2 * ROOM, 40000, 300000};
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	assert_int_equal(p.client->rdma_version, 2);
	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		pair_echo(&p, len[i]);
		pair_put(&p, len[i]);
		pair_list(&p, len[i], len[i] + 4); /* with a Reply chunk, or in several Sends */
		assert_true(pair_get(&p, len[i], len[i], 64) == (len[i] != 0));
	}
	pair_finish(&p);
}

static void properties_raise_the_sizes(void **state)
{
	struct pair_params params = {.inline_client = 8192, .inline_server = 16384};
	struct pair p;

	pair_init(&p, &params);
	assert_int_equal(p.client->inline_send, 1024);
	pair_null(&p);
	pair_null(&p);
	while (p.client->inline_send != 8192)
		pair_progress(&p, 5);
	assert_int_equal(p.client->inline_recv, 8192);
	pair_echo(&p, 8000);
	pair_list(&p, 8000, 8004);
	pair_finish(&p);
}

/* --- a requester ------------------------------------------------------------------------------ */

static void answer(struct pair *p, struct raw *r, struct pair_call *c, uint32_t grant)
{
	RAW_SEND(r, MSG(c->rpc.xid, grant, REPLY), RPC_REPLY(c->rpc.xid));
	pair_end(p, c, 0);
}

static void expect_call(struct pair *p, struct raw *r, const struct pair_call *c)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 1), 2);
	assert_int_equal(raw_word(r, 4), 0);
}

static void the_first_message_is_short_and_alone(void **state)
{
	struct pair_call a, b;
	uint8_t data[3000];
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	pair_call_init(&p, &a, PAIR_ECHO, sizeof(data) + 64);
	memset(data, 7, sizeof(data));
	xdr_put_opaque(&a.rpc.args, data, sizeof(data));
	pair_submit(&p, &a);
	pair_submit_null(&p, &b);
	expect_call(&p, &r, &a);
	assert_true(r.len <= 1024);
	/* for the answers to all calls that may be under way, and for calls in reverse */
	assert_int_equal(
		raw_word(&r, 2) & 0xffff, RPCRDMA_CREDITS_DEFAULT + RPCRDMA_REVERSE_CREDITS);
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	assert_false(raw_recv_within(&r, &p, 50));
	/* a grant of one: no room for properties */
	answer(&p, &r, &a, 1);
	expect_call(&p, &r, &b);
	/* a grant of more: the properties come */
	answer(&p, &r, &b, 8);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 0), 0);
	assert_int_equal(raw_word(&r, 3), RDMA_CONNPROP);
	assert_int_equal(raw_word(&r, 5), 5);
	assert_int_equal(raw_word(&r, 9), 2); /* the size of receives */
	assert_int_equal(raw_word(&r, 11), SIZE);
	raw_stop(&r, &p);
}

/* Takes the properties off the wire. */
static void start(struct pair *p, struct raw *r)
{
	struct pair_call c;

	pair_init_requester(p, &plain, r);
	pair_submit_null(p, &c);
	expect_call(p, r, &c);
	answer(p, r, &c, 8);
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 3), RDMA_CONNPROP);
}

static void a_requester_keeps_to_the_peers_properties(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	/* receives of 1024 bytes, segments of 4096, three segments */
	RAW_SEND(&r, CONNPROP(8, 0), 4, 2, 4, 1024, 3, 4, 4096, 4, 4, 3, 77, 0);
	while (p.client->inline_send != 1024)
		pair_progress(&p, 5);
	pair_call_init(&p, &c, PAIR_ECHO, 12000 + 64);
	xdr_put_opaque(&c.rpc.args, zeros, 10000);
	pair_submit(&p, &c);
	expect_call(&p, &r, &c);
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(raw_word(&r, 6 + 6 * i), 1);
		assert_true(raw_word(&r, 6 + 6 * i + 3) <= 4096);
	}
	assert_int_equal(raw_word(&r, 6 + 18), 0);
	answer(&p, &r, &c, 8);
	raw_stop(&r, &p);
}

/* No call waits for the credit of our properties, even if the peer does not answer the
 * properties. */
static void properties_hold_up_nobody(void **state)
{
	struct pair_params one = {.credits_client = 1};
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_call_init(&p, &c, PAIR_ECHO, 8 * SIZE);
	xdr_put_opaque(&c.rpc.args, zeros, 8 * ROOM - 44); /* for all eight Sends */
	pair_submit(&p, &c);
	expect_call(&p, &r, &c);
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	answer(&p, &r, &c, 8);
	raw_stop(&r, &p);

	pair_init_requester(&p, &one, &r);
	for (int i = 0; i < 3; i++) {
		pair_submit_null(&p, &c);
		do
			assert_true(raw_recv(&r, &p));
		while (raw_word(&r, 3) == RDMA_CONNPROP);
		answer(&p, &r, &c, 8);
	}
	raw_stop(&r, &p);
}

/* An error's credits count for nothing, and an error holds no credit for properties. */
static void an_error_grants_nothing(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	for (int i = 0; i < 3; i++) {
		pair_submit_null(&p, &c);
		expect_call(&p, &r, &c);
		RAW_SEND(&r, c.rpc.xid, 2, 8, 4, 1, RDMA_ERR_SYSTEM);
		pair_end(&p, &c, -EIO);
	}
	raw_stop(&r, &p);
}

static void malformed_properties_are_refused(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	RAW_SEND(&r, CONNPROP(8, 0), 1, 2, 3, 2048);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 5), RDMA_ERR_CHUNK);
	/* and the connection goes on, with the defaults */
	assert_int_equal(p.client->inline_send, 4096);
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c);
	answer(&p, &r, &c, 8);
	raw_stop(&r, &p);
}

static void grants_come_alone(void **state)
{
	struct pair_call c[3];
	struct pair p;
	struct raw r;

	start(&p, &r);
	RAW_SEND(&r, GRANT(1));
	while (p.client->credits != 1)
		pair_progress(&p, 5);
	for (int i = 0; i < 3; i++)
		pair_submit_null(&p, &c[i]);
	expect_call(&p, &r, &c[0]);
	assert_false(raw_recv_within(&r, &p, 50));
	RAW_SEND(&r, GRANT(3));
	expect_call(&p, &r, &c[1]);
	expect_call(&p, &r, &c[2]);
	for (int i = 0; i < 3; i++)
		answer(&p, &r, &c[i], 3);
	raw_stop(&r, &p);
}

/* A call names one of its handles for invalidation. */
static void a_call_names_a_handle(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_call_init(&p, &c, PAIR_ECHO, 100000);
	xdr_put_opaque(&c.rpc.args, zeros, sizeof(zeros));
	pair_submit(&p, &c);
	expect_call(&p, &r, &c);
	assert_int_equal(raw_word(&r, 5), pair_prov->remote_inval ? raw_word(&r, 8) : 0);
	answer(&p, &r, &c, 8);
	raw_stop(&r, &p);
}

static void a_reply_in_many_sends(void **state)
{
	static uint8_t body[64000];
	uint32_t head[9 + 7], left = sizeof(body) - 4, grants = 0;
	const uint8_t *at = body;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c);
	memcpy(head, (const uint32_t[]){MSG(c.rpc.xid, 8, REPLY | MORE), RPC_REPLY(c.rpc.xid)}, 60);
	raw_send(&r, head, 15, NULL, 0);
	while (left > ROOM) {
		raw_send(&r, head, 9, at, ROOM);
		at += ROOM;
		left -= ROOM;
		/* never more than the grant allows, before another grant */
		while (raw_recv_within(&r, &p, 5)) {
			assert_int_equal(raw_word(&r, 0), 0);
			assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
			grants++;
		}
	}
	assert_true(grants > 0);
	head[4] = REPLY;
	raw_send(&r, head, 9, at, left & ~3u);
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
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

static void expect_error(struct raw *r, uint32_t xid, uint32_t err)
{
	expect(r, xid, RDMA_ERROR, REPLY);
	assert_int_equal(raw_word(r, 5), err);
}

/* The header of the last Send is the longest: bytes that fit without that header go on all the
 * same, and each Send has some bytes of the message. */
static void the_last_send_says_something(void **state)
{
	enum { CHUNK = 24 }; /* a Write chunk, returned */

	for (uint32_t n = ROOM - CHUNK - 8; n <= ROOM + 8; n += 4) {
		uint32_t len = 0, left;
		struct pair p;
		struct raw r;

		pair_init_responder(&p, &plain, &r);
		RAW_SEND(&r, 7, 2, 8, 0, 0, 0, 0, 1, 1, 0x999, 100, 0, 0, 0, 0,
			RPC_CALL(7, PAIR_LIST), n - 28);
		do {
			assert_true(raw_recv(&r, NULL));
			assert_int_equal(raw_word(&r, 0), 7);
			left = raw_word(&r, 4) & MORE ? 0 : CHUNK;
			assert_true(r.len >= HDR_LEN + left + 4);
			len += r.len - HDR_LEN - left;
		} while (!left);
		assert_int_equal(len, n);
		raw_stop(&r, &p);
	}
}

static void a_responder_answers_properties(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONNPROP(1, 0), 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	call(&r, 7, 1, PAIR_NULL, 0);
	expect(&r, 7, RDMA_MSG, REPLY);
	assert_true(raw_word(&r, 2) & 0xffff);
	raw_stop(&r, &p);
	/* a responder tells its properties behind the first reply to a peer that tells none, if
	 * there is room */
	pair_init_responder(&p, &plain, &r);
	for (uint32_t x = 1; x < 3; x++) {
		call(&r, x, 1, PAIR_NULL, 0);
		expect(&r, x, RDMA_MSG, REPLY);
	}
	call(&r, 3, 2, PAIR_NULL, 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	expect(&r, 3, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

/* Properties may go on in the next Send, like messages. */
static void properties_in_two_sends(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONNPROP(2, MORE), 1, 2);
	RAW_SEND(&r, CONNPROP(2, 0), 4, 2048);
	expect(&r, 0, RDMA_CONNPROP, 0);
	/* the reply is too long for one Send now */
	call(&r, 1, 8, PAIR_LIST, 3000);
	expect(&r, 1, RDMA_MSG, REPLY | MORE);
	assert_true(r.len <= 2048);
	expect(&r, 1, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

/* Without a Reply chunk a reply takes as many Sends as needed, no more at a time than there are
 * credits, and no other message's Sends between. */
static void a_reply_waits_for_credits(void **state)
{
	uint32_t len = 0, parts = 0;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONNPROP(1, 0), 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	call(&r, 1, 2, PAIR_LIST, 100000);
	for (; len < 100000 + 28; parts++) {
		if (parts && parts % 2 == 0) {
			assert_false(raw_recv_within(&r, NULL, RPCRDMA_STALL_MS * 3));
			if (parts == 2) { /* another call has to wait */
				call(&r, 2, 2, PAIR_NULL, 0);
			} else {
				RAW_SEND(&r, GRANT(2));
			}
		}
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 0), 1);
		len += r.len - HDR_LEN;
		assert_int_equal(raw_word(&r, 4), REPLY | (len < 100000 + 28 ? MORE : 0));
	}
	assert_int_equal(len, 100000 + 28);
	expect(&r, 2, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

/* A peer that adds grants up has granted enough before; after a while this end uses the earlier
 * grants. */
static void grants_that_add_up(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONNPROP(20 << 16 | 20, 0), 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	call(&r, 1, 20 << 16 | 1, PAIR_LIST, 30000);
	for (int i = 0; i < 7; i++)
		expect(&r, 1, RDMA_MSG, REPLY | MORE);
	expect(&r, 1, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

static void a_long_call_in_many_sends(void **state)
{
	static uint8_t part[ROOM];
	const uint32_t n = 90 * ROOM, rpc[] = {RPC_CALL(5, PAIR_ECHO), n};
	uint32_t head[9 + 11] = {MSG(5, 8, MORE)}, since = 0;
	struct pair_params params = {.credits_server = 8};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &params, &r);
	RAW_SEND(&r, CONNPROP(8, 0), 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	memcpy(head + 9, rpc, sizeof(rpc));
	raw_send(&r, head, 20, NULL, 0);
	for (int i = 0; i < 90; i++) {
		if (++since == 8) { /* all credits are used: a grant is on its way */
			assert_true(raw_recv(&r, NULL));
			assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
			since = 4;
		}
		head[4] = i < 89 ? MORE : 0;
		raw_send(&r, head, 9, part, ROOM);
	}
	do
		assert_true(raw_recv(&r, NULL));
	while (raw_word(&r, 3) == RDMA_NOMSG);
	assert_int_equal(raw_word(&r, 0), 5);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	raw_stop(&r, &p);
}

static void what_is_refused(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONNPROP(1, 0), 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	RAW_SEND(&r, 1, 2, 8, 99, 0);
	expect_error(&r, 1, RDMA_ERR_INVAL_HTYPE);
	RAW_SEND(&r, MSG(2, 8, 0x80), RPC_CALL(2, PAIR_NULL));
	expect_error(&r, 2, RDMA_ERR_INVAL_HTYPE);
	RAW_SEND(&r, 3, 2, 8, 1, MORE, 0, 0, 0, 0);
	expect_error(&r, 3, RDMA_ERR_INVAL_FLAG);
	RAW_SEND(&r, 4, 2, 8, 0);
	expect_error(&r, 4, RDMA_ERR_CHUNK);
	RAW_SEND(&r, CONNPROP(8, 0), 1, 1, 5);
	expect_error(&r, 0, RDMA_ERR_CHUNK);
	/* another type, or another XID, in the middle of a message */
	RAW_SEND(&r, MSG(5, 8, MORE), 5, 0);
	RAW_SEND(&r, CONNPROP(8, MORE), 0);
	expect_error(&r, 0, RDMA_ERR_INVAL_FLAG);
	RAW_SEND(&r, CONNPROP(8, 0), 0); /* the rest of the properties is passed over */
	RAW_SEND(&r, MSG(6, 8, MORE), 6, 0);
	RAW_SEND(&r, MSG(7, 8, 0), RPC_CALL(7, PAIR_NULL));
	expect_error(&r, 7, RDMA_ERR_INVAL_FLAG);
	/* errors and grants are not answered */
	RAW_SEND(&r, ERROR(1, RDMA_ERR_SYSTEM));
	RAW_SEND(&r, GRANT(4));
	call(&r, 8, 8, PAIR_NULL, 0);
	expect(&r, 8, RDMA_MSG, REPLY);
	/* five Read chunks */
	RAW_SEND(&r, 9, 2, 8, 0, 0, 0, 1, 44, 1, 4, 0, 0, 1, 48, 1, 4, 0, 0, 1, 52, 1, 4, 0, 0, 1,
		56, 1, 4, 0, 0, 1, 60, 1, 4, 0, 0, 0, 0, 0, RPC_CALL(9, PAIR_NULL));
	expect_error(&r, 9, RDMA_ERR_READ_CHUNKS);
	assert_int_equal(raw_word(&r, 6), XDR_MAX_PAYLOADS);
	/* a Write chunk of 16 bytes for 100 */
	RAW_SEND(&r, 10, 2, 8, 0, 0, 0, 0, 1, 1, 1, 16, 0, 0, 0, 0, RPC_CALL(10, PAIR_GET), 100);
	expect_error(&r, 10, RDMA_ERR_WRITE_RESOURCE);
	assert_int_equal(raw_word(&r, 6), 1);
	assert_int_equal(raw_word(&r, 7), 100);
	raw_stop(&r, &p);
}

static void too_much_is_not_kept(void **state)
{
	static uint8_t part[ROOM];
	uint32_t head[9] = {MSG(5, 8, MORE)}, since = 0;
	bool told = false;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONNPROP(8, 0), 0);
	expect(&r, 0, RDMA_CONNPROP, 0);
	for (unsigned i = 0; i * ROOM < RPCRDMA_JOIN_MAX + 100 * ROOM; i++) {
		raw_send(&r, head, 9, part, ROOM);
		if (++since < 64)
			continue;
		assert_true(raw_recv(&r, NULL)); /* a grant, or the error */
		told |= raw_word(&r, 3) == RDMA_ERROR && raw_word(&r, 5) == RDMA_ERR_SYSTEM;
		since = 64 - RPCRDMA_ROOM_MAX / 2;
	}
	head[4] = 0;
	raw_send(&r, head, 9, part, 8);
	call(&r, 6, 8, PAIR_NULL, 0);
	do {
		assert_true(raw_recv(&r, NULL));
		told |= raw_word(&r, 3) == RDMA_ERROR && raw_word(&r, 5) == RDMA_ERR_SYSTEM;
	} while (raw_word(&r, 0) != 6);
	assert_true(told);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_between_two_ends),
		cmocka_unit_test(properties_raise_the_sizes),
		cmocka_unit_test(the_first_message_is_short_and_alone),
		cmocka_unit_test(a_requester_keeps_to_the_peers_properties),
		cmocka_unit_test(properties_hold_up_nobody),
		cmocka_unit_test(an_error_grants_nothing),
		cmocka_unit_test(malformed_properties_are_refused),
		cmocka_unit_test(grants_come_alone),
		cmocka_unit_test(a_call_names_a_handle),
		cmocka_unit_test(a_reply_in_many_sends),
		cmocka_unit_test(the_last_send_says_something),
		cmocka_unit_test(a_responder_answers_properties),
		cmocka_unit_test(properties_in_two_sends),
		cmocka_unit_test(a_reply_waits_for_credits),
		cmocka_unit_test(grants_that_add_up),
		cmocka_unit_test(a_long_call_in_many_sends),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(too_much_is_not_kept),
	};

	pair_versions = RPC_RDMA_V2;
	return PAIR_RUN(tests);
}
