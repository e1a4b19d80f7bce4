/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_negotiate: a requester and a responder that speak
 * versions 9, 7 and 1, against a peer that scripts every byte. 9 and 7 are version 1 under
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

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "transport/rpcrdma/v1/rpcrdma_v1.h"

static const struct pair_params plain;

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

/* Refuses the call c, which came in version vers. */
static void refuse(
	struct raw *r, const struct pair_call *c, uint32_t vers, uint32_t low, uint32_t high)
{
	RAW_SEND(r, ERR_VERS(c->rpc.xid, vers, low, high));
}

/* A NULL call in this version, which is refused, fails. */
static void refuse_null(struct raw *r, struct pair *p, uint32_t vers, uint32_t low, uint32_t high)
{
	struct pair_call c;

	pair_submit_null(p, &c);
	raw_expect(r, p, &c, vers, RDMA_MSG);
	refuse(r, &c, vers, low, high);
	pair_end(p, &c, -EIO);
}

/* A NULL call in version 9, which is refused, comes again in version 1. */
static void refuse_and_repeat(struct raw *r, struct pair *p, struct pair_call *c)
{
	pair_submit_null(p, c);
	raw_expect(r, p, c, 9, RDMA_MSG);
	refuse(r, c, 9, 1, 1);
	raw_expect(r, p, c, 1, RDMA_MSG);
}

static void the_best_is_tried_first(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r);
	raw_null(&r, &p, 9, 8);
	raw_null(&r, &p, 9, 8);
	assert_int_equal(p.client->rdma_version, 9);
	raw_stop(&r, &p);
}

/* A client that knows the server's version does not ask again. If the client is wrong, it goes to a
 * lower version, and to a higher one only if no lower one is left. */
static void what_is_remembered_is_tried_first(void **state)
{
	const struct pair_params remembered = {.rdma_version = 7}, unknown = {.rdma_version = 8};
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &remembered, &r);
	assert_int_equal(p.client->rdma_version, 7);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 7, RDMA_MSG);
	refuse(&r, &c, 7, 8, 9);
	raw_expect(&r, &p, &c, 9, RDMA_MSG);
	raw_answer(&r, &p, &c, 9, 8);
	raw_stop(&r, &p);
	pair_init_requester(&p, &remembered, &r);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 7, RDMA_MSG);
	refuse(&r, &c, 7, 1, 9);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	raw_answer(&r, &p, &c, 1, 8);
	raw_stop(&r, &p);
	pair_init_requester(&p, &unknown, &r);
	raw_null(&r, &p, 9, 8);
	raw_stop(&r, &p);
}

/* The next connection begins with the version that this one has gone over to, and not with an
 * unanswered version: there must be no loop. */
static void what_a_lost_connection_leaves(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	for (int refused = 0; refused < 3; refused++) {
		start(&p, &r);
		pair_submit_null(&p, &c);
		raw_expect(&r, &p, &c, 9, RDMA_MSG);
		if (refused) {
			refuse(&r, &c, 9, 1, refused == 1 ? 8 : 1);
			raw_expect(&r, &p, &c, refused == 1 ? 7 : 1, RDMA_MSG);
		}
		r.prov->disconnect(r.pc);
		pair_end(&p, &c, -ENOTCONN);
		assert_int_equal(p.client->rdma_version, refused < 2 ? 7 : 1);
		raw_stop(&r, &p);
	}
}

/* A refused call is sent again, alone, as long as an untried version is left. */
static void what_is_refused_is_repeated(void **state)
{
	struct pair_call a, b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_submit_null(&p, &a);
	pair_submit_null(&p, &b);
	raw_expect(&r, &p, &a, 9, RDMA_MSG);
	refuse(&r, &a, 9, 1, 8);
	raw_expect(&r, &p, &a, 7, RDMA_MSG);
	assert_int_equal(p.client->rdma_version, 7);
	refuse(&r, &a, 7, 0, 1);
	raw_expect(&r, &p, &a, 1, RDMA_MSG);
	assert_false(raw_recv_within(&r, &p, 20)); /* b waits for the first grant */
	raw_answer(&r, &p, &a, 1, 8);
	raw_expect(&r, &p, &b, 1, RDMA_MSG);
	raw_answer(&r, &p, &b, 1, 8);
	assert_int_equal(p.client->rdma_version, 1);
	raw_null(&r, &p, 1, 8);
	raw_stop(&r, &p);
}

/* Ranges without an untried version fail the call, and end nothing else. */
static void nothing_in_common(void **state)
{
	static const uint32_t range[][2] = {{2, 6}, {9, 9}, {10, UINT32_MAX}, {8, 2}, {0, 0}};
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
		refuse_null(&r, &p, 9, range[i][0], range[i][1]);
	}
	/* a refused version is not tried again, even if the peer names it */
	refuse_and_repeat(&r, &p, &c);
	refuse(&r, &c, 1, 7, 9);
	pair_end(&p, &c, -EIO);
	raw_null(&r, &p, 1, 8);
	raw_stop(&r, &p);
}

/* Once the peer has answered in a dialect, that dialect stays. */
static void what_is_settled_stays(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	raw_null(&r, &p, 9, 8);
	refuse_null(&r, &p, 9, 1, 1);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 9, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid)); /* another version */
	pair_end(&p, &c, -EIO);
	raw_null(&r, &p, 9, 8);
	raw_stop(&r, &p);
}

/* An error of the dialect settles nothing; a refusal of an unsent version changes nothing. */
static void other_errors(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 9, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 9, 1, RDMA_ERROR, RDMA_ERR_CHUNK);
	raw_expect(&r, &p, &c, 7, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 7, 1, RDMA_ERROR, 77); /* an error that cannot be read */
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 1, 1, RDMA_ERROR, RDMA_ERR_CHUNK);
	pair_end(&p, &c, -EIO);
	raw_null(&r, &p, 1, 8);
	raw_stop(&r, &p);

	start(&p, &r);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 9, RDMA_MSG);
	refuse(&r, &c, 7, 1, 1); /* not the version of the call */
	pair_end(&p, &c, -EIO);
	refuse_and_repeat(&r, &p, &c);
	raw_answer(&r, &p, &c, 1, 8);
	/* a settled version stays */
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 1, 1, RDMA_ERROR, RDMA_ERR_CHUNK);
	pair_end(&p, &c, -EIO);
	raw_null(&r, &p, 1, 8);
	raw_stop(&r, &p);
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
	raw_expect(&r, &p, &c, 9, RDMA_MSG);
	refuse(&r, &c, 9, 1, 1);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
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
	raw_stop(&r, &p);
}

/* The refusal comes when its call was cancelled already. */
static void a_cancelled_call_is_refused(void **state)
{
	struct pair_call a, b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_submit_null(&p, &a);
	pair_submit_null(&p, &b);
	raw_expect(&r, &p, &a, 9, RDMA_MSG);
	pair_forget(&p, &a);
	refuse(&r, &a, 9, 1, 1);
	raw_expect(&r, &p, &b, 1, RDMA_MSG);
	raw_answer(&r, &p, &b, 1, 8);
	pair_call_finish(&a);
	raw_stop(&r, &p);
}

/* A peer that refuses and closes: the call goes back to its owner, without an answer. */
static void refused_and_closed(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 9, RDMA_MSG);
	refuse(&r, &c, 9, 1, 1);
	r.prov->disconnect(r.pc);
	raw_wait_down(&r, &p);
	pair_end(&p, &c, -ENOTCONN);
	raw_stop(&r, &p);
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

/* The requester's first good message decides the version. */
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
			raw_stop(&r, &p);
			continue;
		}
		expect_error(&r, 2, vers, RDMA_ERR_CHUNK);
		RAW_SEND(&r, 3, vers == 7 ? 1 : 7, 16, 0, 0, 3, 0, RPC_CALL(3, PAIR_NULL));
		expect_error(&r, 3, vers == 7 ? 1 : 7, RDMA_ERR_CHUNK);
		RAW_SEND(&r, 4, vers, 16, 0, 0, 0, 0, RPC_CALL(4, PAIR_NULL));
		expect_reply(&r, 4, vers);
		/* from here on no other version */
		for (uint32_t other = 0; other < 11; other++) {
			if (other == vers)
				continue;
			RAW_SEND(&r, 5, other, 16, 0, 0, 0, 0, RPC_CALL(5, PAIR_NULL));
			expect_err_vers(&r, 5, other, vers, vers);
		}
		RAW_SEND(&r, 6, vers, 16, 0, 0, 0, 0, RPC_CALL(6, PAIR_NULL));
		expect_reply(&r, 6, vers);
		assert_int_equal(p.server->rdma_version, vers);
		raw_stop(&r, &p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_is_tried_first),
		cmocka_unit_test(what_is_remembered_is_tried_first),
		cmocka_unit_test(what_a_lost_connection_leaves),
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
	pair_versions = 0;
	return PAIR_RUN(tests);
}
