/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_negotiate: a requester and a responder that speak
 * versions 9, 7 and 1, against a peer whose every byte is scripted. 9 and 7 are version 1 under
 * another number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rpcrdma-pair.h"
#include "transport/rpcrdma/rpcrdma_v1.h"

static const struct pair_params plain;

#define RPC_REPLY(xid)		     xid, 1, 0, 0, 0, 0
#define RPC_CALL(xid, proc)	     xid, 0, 2, PAIR_PROG, 1, proc, 0, 0, 0, 0
#define ERR_VERS(x, vers, low, high) x, vers, 64, RDMA_ERROR, RDMA_ERR_VERS, low, high

static int encode_as(uint32_t vers, const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	int n = rpcrdma_v1.encode(h, buf, cap);
	uint32_t be = htonl(vers);

	if (n > 0)
		memcpy((uint8_t *)buf + 4, &be, 4);
	return n;
}

static int encode_9(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	return encode_as(9, h, buf, cap);
}

static int encode_7(const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	return encode_as(7, h, buf, cap);
}

static struct rpcrdma_dialect nine, seven;
static const struct rpcrdma_dialect *const table[] = {&nine, &seven, &rpcrdma_v1, NULL};

static void start(struct pair *p, struct raw *r)
{
	pair_init_requester(p, &plain, r);
}

static void stop(struct pair *p, struct raw *r)
{
	raw_finish(r);
	pair_finish(p);
}

static void submit_null(struct pair *p, struct pair_call *c)
{
	pair_call_init(p, c, PAIR_NULL, 64);
	pair_submit(p, c);
}

/* The next message is this call in this version. */
static void expect(struct raw *r, struct pair *p, const struct pair_call *c, uint32_t vers)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 1), vers);
	assert_int_equal(raw_word(r, 3), RDMA_MSG);
}

static void finish(struct pair *p, struct pair_call *c, int error)
{
	pair_wait(p, c);
	assert_int_equal(c->error, error);
	pair_call_finish(c);
}

/* A NULL call in this version, and its answer. */
static void null(struct pair *p, struct raw *r, uint32_t vers)
{
	struct pair_call c;

	submit_null(p, &c);
	expect(r, p, &c, vers);
	RAW_SEND(r, c.rpc.xid, vers, 8, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	finish(p, &c, 0);
}

static void the_best_is_tried_first(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r);
	null(&p, &r, 9);
	null(&p, &r, 9);
	assert_int_equal(p.client->rdma_version, 9);
	stop(&p, &r);
}

/* A client that knows what the server speaks does not ask again, and has nothing above to go to. */
static void what_is_remembered_is_tried_first(void **state)
{
	const struct pair_params remembered = {.rdma_version = 7}, unknown = {.rdma_version = 8};
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &remembered, &r);
	assert_int_equal(p.client->rdma_version, 7);
	submit_null(&p, &c);
	expect(&r, &p, &c, 7);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 7, 8, 9));
	finish(&p, &c, -EIO);
	submit_null(&p, &c);
	expect(&r, &p, &c, 7);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 7, 1, 9));
	expect(&r, &p, &c, 1);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	finish(&p, &c, 0);
	stop(&p, &r);
	pair_init_requester(&p, &unknown, &r);
	null(&p, &r, 9);
	stop(&p, &r);
}

/* A refused call is sent again, alone, and so on as long as something is left to try. */
static void what_is_refused_is_repeated(void **state)
{
	struct pair_call a, b;
	struct pair p;
	struct raw r;
	uint32_t x;

	start(&p, &r);
	submit_null(&p, &a);
	submit_null(&p, &b);
	x = a.rpc.xid;
	expect(&r, &p, &a, 9);
	RAW_SEND(&r, ERR_VERS(x, 9, 1, 8));
	expect(&r, &p, &a, 7);
	assert_int_equal(p.client->rdma_version, 7);
	RAW_SEND(&r, ERR_VERS(x, 7, 0, 1));
	expect(&r, &p, &a, 1);
	assert_false(raw_recv_within(&r, &p, 20)); /* b waits for the first grant */
	RAW_SEND(&r, x, 1, 8, 0, 0, 0, 0, RPC_REPLY(x));
	finish(&p, &a, 0);
	expect(&r, &p, &b, 1);
	RAW_SEND(&r, b.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(b.rpc.xid));
	finish(&p, &b, 0);
	assert_int_equal(p.client->rdma_version, 1);
	null(&p, &r, 1);
	stop(&p, &r);
}

/* Ranges without anything that is left to try fail the call, and end nothing else. */
static void nothing_in_common(void **state)
{
	static const uint32_t range[][2] = {{2, 6}, {9, 9}, {10, UINT32_MAX}, {8, 2}, {0, 0}};
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
		submit_null(&p, &c);
		expect(&r, &p, &c, 9);
		RAW_SEND(&r, ERR_VERS(c.rpc.xid, 9, range[i][0], range[i][1]));
		finish(&p, &c, -EIO);
	}
	/* what has been refused is not tried again, whatever the peer says */
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 9, 1, 1));
	expect(&r, &p, &c, 1);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 1, 7, 9));
	finish(&p, &c, -EIO);
	null(&p, &r, 1);
	stop(&p, &r);
}

/* Once the peer has answered in it, a dialect stays. */
static void what_is_settled_stays(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	null(&p, &r, 9);
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 9, 1, 1));
	finish(&p, &c, -EIO);
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid)); /* another version */
	finish(&p, &c, -EIO);
	null(&p, &r, 9);
	stop(&p, &r);
}

/* An error of the dialect settles nothing; a refusal of what was not sent changes nothing. */
static void other_errors(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, c.rpc.xid, 9, 1, RDMA_ERROR, RDMA_ERR_CHUNK);
	finish(&p, &c, -EIO);
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 7, 1, 1));
	finish(&p, &c, -EIO);
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 9, 1, 1));
	expect(&r, &p, &c, 1);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	finish(&p, &c, 0);
	stop(&p, &r);
}

/* A call that exposes memory exposes it anew. */
static void doors_are_opened_again(void **state)
{
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;
	uint32_t x, stag;
	uint64_t off;

	start(&p, &r);
	b = mem_buf_get(p.cpool, 1000);
	pair_call_init(&p, &c, PAIR_GET, 64);
	c.rpc.reply_max = 64;
	c.rpc.nsinks = 1;
	c.rpc.sink[0] = seg_list_of_buf(b, 0, 1000);
	memset(b->data, 0x55, 1000);
	xdr_put_u32(&c.rpc.args, 1000);
	pair_submit(&p, &c);
	x = c.rpc.xid;
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, ERR_VERS(x, 9, 1, 1));
	expect(&r, &p, &c, 1);
	stag = raw_word(&r, 7);
	off = (uint64_t)raw_word(&r, 9) << 32 | raw_word(&r, 10);
	memcpy(r.zone->data, "abc", 3);
	raw_write(&r, stag, off, 3);
	RAW_SEND(&r, x, 1, 8, 0, 0, 1, 1, stag, 3, (uint32_t)(off >> 32), (uint32_t)off, 0, 0,
		RPC_REPLY(x), 1, 3, 77);
	pair_wait(&p, &c);
	assert_int_equal(c.error, 0);
	assert_memory_equal(b->data, "abc\x55", 4);
	pair_call_finish(&c);
	stop(&p, &r);
}

/* The refusal comes when its call is nobody's any more. */
static void a_cancelled_call_is_refused(void **state)
{
	struct pair_call a, b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	submit_null(&p, &a);
	submit_null(&p, &b);
	expect(&r, &p, &a, 9);
	pair_forget(&p, &a);
	RAW_SEND(&r, ERR_VERS(a.rpc.xid, 9, 1, 1));
	expect(&r, &p, &b, 1);
	RAW_SEND(&r, b.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(b.rpc.xid));
	finish(&p, &b, 0);
	pair_call_finish(&a);
	stop(&p, &r);
}

/* A peer that refuses and goes: the call is its owner's again, without an answer. */
static void refused_and_closed(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	submit_null(&p, &c);
	expect(&r, &p, &c, 9);
	RAW_SEND(&r, ERR_VERS(c.rpc.xid, 9, 1, 1));
	r.prov->disconnect(r.pc);
	raw_wait_down(&r, &p);
	finish(&p, &c, -ENOTCONN);
	stop(&p, &r);
}

static void expect_reply(struct raw *r, uint32_t xid, uint32_t vers)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), vers);
	assert_int_equal(raw_word(r, 3), RDMA_MSG);
}

static void expect_error(struct raw *r, uint32_t xid, uint32_t vers, uint32_t err)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), vers);
	assert_int_equal(raw_word(r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(r, 4), err);
}

static void expect_err_vers(struct raw *r, uint32_t xid, uint32_t vers, uint32_t low, uint32_t high)
{
	expect_error(r, xid, vers, RDMA_ERR_VERS);
	assert_int_equal(raw_word(r, 5), low);
	assert_int_equal(raw_word(r, 6), high);
}

/* The first good message of the requester's says what is spoken. */
static void the_responder_follows(void **state)
{
	for (uint32_t vers = 1; vers <= 9; vers += 2) {
		struct pair p;
		struct raw r;

		pair_init_responder(&p, &plain, &r);
		RAW_SEND(&r, 1, 2, 16, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
		expect_err_vers(&r, 1, 2, 1, 9);
		RAW_SEND(&r, 2, vers, 16, 0, 0, 3, 0, RPC_CALL(2, PAIR_NULL)); /* malformed */
		if (vers == 3 || vers == 5) {
			expect_err_vers(&r, 2, vers, 1, 9);
			stop(&p, &r);
			continue;
		}
		expect_error(&r, 2, vers, RDMA_ERR_CHUNK);
		RAW_SEND(&r, 3, vers == 7 ? 1 : 7, 16, 0, 0, 3, 0, RPC_CALL(3, PAIR_NULL));
		expect_error(&r, 3, vers == 7 ? 1 : 7, RDMA_ERR_CHUNK);
		RAW_SEND(&r, 4, vers, 16, 0, 0, 0, 0, RPC_CALL(4, PAIR_NULL));
		expect_reply(&r, 4, vers);
		/* from here on nothing else */
		for (uint32_t other = 0; other < 11; other++) {
			if (other == vers)
				continue;
			RAW_SEND(&r, 5, other, 16, 0, 0, 0, 0, RPC_CALL(5, PAIR_NULL));
			expect_err_vers(&r, 5, other, vers, vers);
		}
		RAW_SEND(&r, 6, vers, 16, 0, 0, 0, 0, RPC_CALL(6, PAIR_NULL));
		expect_reply(&r, 6, vers);
		assert_int_equal(p.server->rdma_version, vers);
		stop(&p, &r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_is_tried_first),
		cmocka_unit_test(what_is_remembered_is_tried_first),
		cmocka_unit_test(what_is_refused_is_repeated),
		cmocka_unit_test(nothing_in_common),
		cmocka_unit_test(what_is_settled_stays),
		cmocka_unit_test(other_errors),
		cmocka_unit_test(doors_are_opened_again),
		cmocka_unit_test(a_cancelled_call_is_refused),
		cmocka_unit_test(refused_and_closed),
		cmocka_unit_test(the_responder_follows),
	};

	nine = seven = rpcrdma_v1;
	nine.vers = 9;
	nine.encode = encode_9;
	seven.vers = 7;
	seven.encode = encode_7;
	rpcrdma_dialects = table;
	return PAIR_RUN(tests);
}
