/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/rpcrdma_v2_2016: every header type and union arm of
 * draft-cel-nfsv4-rpcrdma-version-two-01 as bytes written down from the draft's XDR, and both ends
 * against a peer that sends such headers.
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
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"

#define MAX 64

struct vector {
	const char *name;
	unsigned n;
	bool rpc; /* an RPC message of two words follows */
	uint32_t w[40];
};

/* xid 0xcafe, version 2, 32 credits */
#define FIXED(type) 0xcafe, 2, 32, type

static const struct vector good[] = {
	{"a call inline", 8, true, {FIXED(0), 0, 0, 0, 0}},
	{"a reply inline", 8, true, {FIXED(0), 1, 0, 0, 0}},
	{"a Read chunk of two segments", 20, true,
		{FIXED(0), 0, 1, 44, 0x11, 4096, 1, 0x80000000, 1, 44, 0x12, 100, 0, 7, 0, 0, 0}},
	{"two Write chunks, one of them empty", 16, true,
		{FIXED(0), 0, 0, 1, 1, 0x21, 8192, 0, 0, 1, 0, 0, 0}},
	{"a Reply chunk", 13, true, {FIXED(0), 0, 0, 0, 1, 1, 0x31, 1024, 0, 64}},
	{"a long call", 14, false, {FIXED(1), 0, 1, 0, 0x41, 9000, 0, 0, 0, 0, 0}},
	{"a long reply", 13, false, {FIXED(1), 1, 0, 0, 1, 1, 0x51, 9000, 0, 0}},
	{"BAD_HEADER", 5, false, {FIXED(4), 2}},
	{"INVAL_OPTION", 5, false, {FIXED(4), 3}},
};
#define NGOOD (sizeof(good) / sizeof(good[0]))

static size_t wire(const struct vector *v, uint32_t *buf)
{
	for (unsigned i = 0; i < v->n; i++)
		buf[i] = htonl(v->w[i]);
	if (v->rpc) {
		buf[v->n] = htonl(0xcafe);
		buf[v->n + 1] = htonl(v->w[4]);
	}
	return 4 * (v->n + (v->rpc ? 2 : 0));
}

static void headers_are_those_of_the_draft(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		uint32_t in[MAX], out[MAX];
		size_t len = wire(&good[i], in);
		struct rpcrdma_hdr h;

		if (rpcrdma_v2_2016.decode(&h, in, len))
			fail_msg("%s is refused", good[i].name);
		assert_int_equal(h.len, 4 * good[i].n);
		assert_int_equal(h.xid, 0xcafe);
		assert_int_equal(h.vers, 2);
		assert_int_equal(h.grant, 32);
		assert_int_equal(h.want, 32);
		assert_int_equal(h.proc, good[i].w[3]);
		assert_int_equal(h.dir, h.proc == RDMA_ERROR || good[i].w[4] ? RPCRDMA_DIR_REPLY
									     : RPCRDMA_DIR_CALL);
		assert_int_equal(rpcrdma_v2_2016.size(&h), h.len);
		assert_int_equal(rpcrdma_v2_2016.encode(&h, out, sizeof(out)), h.len);
		if (memcmp(in, out, h.len))
			fail_msg("%s is written otherwise", good[i].name);
		assert_int_equal(rpcrdma_v2_2016.encode(&h, out, h.len - 1), -EMSGSIZE);
	}
}

static void what_is_cut_off_is_refused(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		size_t need = 4 * good[i].n + (good[i].w[3] == 0 ? 4 : 0);
		uint32_t in[MAX];
		struct rpcrdma_hdr h;

		wire(&good[i], in);
		for (size_t len = RPCRDMA_FIXED_LEN; len < need; len++) {
			if (rpcrdma_v2_2016.decode(&h, in, len) != -EBADMSG)
				fail_msg("%s of %zu bytes is taken", good[i].name, len);
			assert_int_equal(h.err, RDMA_ERR_CHUNK);
		}
	}
}

static void what_a_responder_says_of_the_rest(void **state)
{
	static const struct {
		struct vector v;
		enum rpcrdma_errcode err;
	} bad[] = {
		{{"RDMA_MSGP", 8, true, {FIXED(2), 0, 0, 0, 0}}, RDMA_ERR_CHUNK},
		{{"RDMA_DONE", 7, false, {FIXED(3)}}, RDMA_ERR_CHUNK},
		{{"a type of the future", 8, false, {FIXED(6)}}, RDMA_ERR_CHUNK},
		{{"a direction that is none", 8, true, {FIXED(0), 2, 0, 0, 0}}, RDMA_ERR_CHUNK},
		{{"a call without a message", 8, false, {FIXED(0), 0, 0, 0, 0}}, RDMA_ERR_CHUNK},
		{{"a long call without chunks", 8, false, {FIXED(1), 0, 0, 0, 0}}, RDMA_ERR_CHUNK},
		{{"a call under the header of a reply", 10, false,
			 {FIXED(0), 1, 0, 0, 0, 0xcafe, 0}},
			RDMA_ERR_CHUNK},
		{{"an operation", 7, false, {FIXED(5), 0, 77, 0}}, RDMA_ERR_INVAL_OPTION},
		{{"an operation with information and a message", 9, true,
			 {FIXED(5), 0, 5, 6, 0x01020304, 0x05060000}},
			RDMA_ERR_INVAL_OPTION},
		{{"an operation of a reply", 7, false, {FIXED(5), 1, 0, 0}}, RDMA_ERR_INVAL_OPTION},
		{{"an operation that is cut off", 8, false, {FIXED(5), 0, 5, 6, 0x01020304}},
			RDMA_ERR_CHUNK},
		{{"an operation of no direction", 7, false, {FIXED(5), 2, 5, 0}}, RDMA_ERR_CHUNK},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rpcrdma_hdr h;
		uint32_t in[MAX];

		if (rpcrdma_v2_2016.decode(&h, in, wire(&bad[i].v, in)) != -EBADMSG ||
			h.err != bad[i].err)
			fail_msg("%s: %u, not %u", bad[i].v.name, h.err, bad[i].err);
		assert_int_equal(h.xid, 0xcafe);
	}
}

/* In a call the wanted credits, in a reply the granted ones, as in version 1. */
static void the_credit_word(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t buf[MAX];

	for (enum rpcrdma_dir dir = RPCRDMA_DIR_CALL; dir <= RPCRDMA_DIR_REPLY; dir++) {
		rpcrdma_hdr_init(&h, 1, dir, RDMA_MSG);
		h.grant = 5;
		h.want = 7;
		assert_int_equal(rpcrdma_v2_2016.encode(&h, buf, sizeof(buf)), 32);
		assert_int_equal(ntohl(buf[2]), dir == RPCRDMA_DIR_CALL ? 7 : 5);
	}
	rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_UNSAID, RDMA_MSG);
	assert_int_equal(rpcrdma_v2_2016.encode(&h, buf, sizeof(buf)), -EINVAL);
}

static void errors_fail_the_call(void **state)
{
	for (uint32_t err = RDMA_ERR_CHUNK; err <= RDMA_ERR_INVAL_OPTION; err++) {
		const char *meaning = NULL;
		struct rpcrdma_hdr h;

		rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_REPLY, RDMA_ERROR);
		h.err = err;
		assert_int_equal(rpcrdma_v2_2016.on_error(&h, &meaning), RPCRDMA_FAIL);
		assert_non_null(meaning);
	}
}

/* --- both ends -------------------------------------------------------------------------------- */

static const struct pair_params plain;

static void all_kinds_of_calls(void **state)
{
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	for (uint32_t n = 1; n < 300000; n = n * 7 + 3) {
		pair_put(&p, n);
		assert_true(n < 2000 || pair_get(&p, n, n, 100));
		pair_list(&p, n, n + 100);
		pair_echo(&p, n);
	}
	assert_string_equal(p.client->rdma_dialect, "2-2016");
	assert_string_equal(p.server->rdma_dialect, "2-2016");
	pair_finish(&p);
}

/* Peers know the dialect only by the version number. A peer of 2019 answers with an error that the
 * requester can tell apart. */
static void the_first_message_is_short(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	assert_int_equal(p.client->inline_send, 1024);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 2, RDMA_MSG);
	assert_int_equal(raw_word(&r, 4), 0);
	assert_int_equal(raw_word(&r, 8), c.rpc.xid);
	RAW_SEND(&r, c.rpc.xid, 2, 8, 0, 1, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	pair_end(&p, &c, 0);
	assert_int_equal(p.client->inline_send, 4096); /* and the connection still works */
	assert_int_equal(p.client->credits, 8);
	raw_stop(&r, &p);
}

static void expect_error(struct raw *r, uint32_t xid, uint32_t err)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(r->len, 20);
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), 2);
	assert_int_equal(raw_word(r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(r, 4), err);
}

static void a_responder_knows_no_operation(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, 7, 2, 4, 5, 0, 99, 4, 0xabcd0000, RPC_CALL(7, PAIR_NULL));
	expect_error(&r, 7, 3);
	RAW_SEND(&r, 8, 2, 4, 5, 1, 99, 0);
	expect_error(&r, 8, 3);
	RAW_SEND(&r, 9, 2, 4, 5, 0, 99, 4000);
	expect_error(&r, 9, 2);
	RAW_SEND(&r, 10, 2, 4, 0, 0, 0, 0, 0, RPC_CALL(10, PAIR_NULL));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 0), 10);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, 4), 1);
	raw_stop(&r, &p);
}

/* An operation with the XID of a call is not the reply, nor the end of the call. */
static void nor_does_a_requester(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 2, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 2, 4, 5, 1, 99, 0);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 0), c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 4), 3);
	assert_false(c.done);
	RAW_SEND(&r, c.rpc.xid, 2, 8, 0, 1, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

static void errors_end_the_call_only(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	for (uint32_t err = 2; err < 5; err++) {
		pair_submit_null(&p, &c);
		raw_expect(&r, &p, &c, 2, RDMA_MSG);
		RAW_SEND(&r, c.rpc.xid, 2, 8, 4, err);
		pair_end(&p, &c, -EIO);
		assert_int_equal(p.client->credits, 1); /* an error grants nothing */
	}
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 2, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 2, 8, 4, 1, 1, 1); /* ERR_VERS: no other version is allowed */
	pair_end(&p, &c, -EIO);
	raw_stop(&r, &p);
}

static void calls_in_reverse(void **state)
{
	struct pair_call c;
	struct pair p;

	pair_init(&p, &plain);
	pair_call_init(&p, &c, PAIR_CALL_BACK, 0);
	pair_do(&p, &c);
	assert_int_equal(c.error, 0);
	while (!p.cb_done)
		pair_progress(&p, 1);
	assert_int_equal(p.cb_error, 0);
	assert_int_equal(p.cb_served, 1);
	pair_call_finish(&c);
	pair_finish(&p);
}

/* --- with send-based placement -----------------------------------------------------------------
 */

static void its_operations(void **state)
{
	static const struct vector ops[] = {
		{"Transmit Request", 12, false, {FIXED(5), 0, 5, 20, 0, 0, 1, 1, 0}},
		{"with an item and a place", 30, true,
			{FIXED(5), 0, 5, 92, 1, 44, 100, 1, 1, 0x11, 100, 0, 64, 1, 0, 88, 1, 16, 1,
				1, 0x12, 8192, 0, 0, 1, 1, 8}},
		{"Transmit Response", 10, true, {FIXED(5), 1, 6, 12, 0, 1, 8}},
		{"Transmit Continue", 10, true, {FIXED(5), 1, 7, 12, 1, 6, 8}},
		{"Report Error", 12, false, {FIXED(5), 1, 8, 20, 7, 0, 1, 0, 3}},
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		const struct vector *v = &ops[i];
		uint32_t in[MAX], out[MAX];
		struct rpcrdma_hdr h;
		size_t len = wire(v, in);

		if (rpcrdma_v2_2016_rtr.decode(&h, in, len))
			fail_msg("%s is refused", v->name);
		assert_int_equal(h.len, 4 * v->n);
		assert_int_equal(h.proc, RPCRDMA_RTR_PRIVATE + v->w[5]);
		assert_int_equal(h.dir, v->w[4] ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL);
		assert_int_equal(rpcrdma_v2_2016_rtr.size(&h), h.len);
		assert_int_equal(rpcrdma_v2_2016_rtr.encode(&h, out, sizeof(out)), h.len);
		if (memcmp(in, out, h.len))
			fail_msg("%s is written otherwise", v->name);
		for (size_t n = RPCRDMA_FIXED_LEN; n < h.len; n++)
			assert_int_equal(rpcrdma_v2_2016_rtr.decode(&h, in, n), -EBADMSG);
		in[6] = htonl(v->w[6] - 4); /* the information is cut off */
		assert_int_equal(rpcrdma_v2_2016_rtr.decode(&h, in, len), -EBADMSG);
		assert_int_equal(h.err, RDMA_ERR_CHUNK);
		assert_int_equal(rpcrdma_v2_2016.decode(&h, in, len), -EBADMSG);
		assert_int_equal(h.err, RDMA_ERR_INVAL_OPTION);
	}
}

static void all_kinds_of_calls_with_it(void **state)
{
	struct pair p;

	pair_versions = RPC_RDMA_V2_2016_RTR;
	pair_init(&p, &plain);
	pair_null(&p);
	for (uint32_t n = 1; n < 300000; n = n * 7 + 3) {
		pair_put(&p, n);
		assert_true(pair_get(&p, n, n, 100)); /* by RDMA, however short */
		pair_list(&p, n, n + 100);
		pair_echo(&p, n);
	}
	assert_string_equal(p.client->rdma_dialect, "2-2016-rtr");
	pair_finish(&p);
	pair_versions = RPC_RDMA_V2_2016;
}

/* The requester tries the operation; a peer that does not know the operation says so, once. */
static void a_peer_without_it(void **state)
{
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_versions = RPC_RDMA_V2_2016_RTR;
	pair_init_requester(&p, &plain, &r);
	for (unsigned i = 0; i < 3; i++) {
		b = mem_buf_get(p.cpool, 100);
		pair_call_init(&p, &c, PAIR_GET, 64);
		c.rpc.reply_max = 64;
		c.rpc.nsinks = 1;
		c.rpc.sink[0] = seg_list_of_buf(b, 0, 100);
		xdr_put_u32(&c.rpc.args, 100);
		pair_submit(&p, &c);
		if (i == 1) { /* the first call uses the version alone */
			raw_expect(&r, &p, &c, 2, 5);
			assert_int_equal(raw_word(&r, 4), 0);
			assert_int_equal(raw_word(&r, 5), 5);
			RAW_SEND(&r, c.rpc.xid, 2, 8, 4, 3);
		}
		raw_expect(&r, &p, &c, 2, RDMA_MSG);
		RAW_SEND(&r, c.rpc.xid, 2, 8, 0, 1, 0, 0, 0, RPC_REPLY(c.rpc.xid));
		pair_end(&p, &c, 0);
	}
	raw_stop(&r, &p);
	pair_versions = RPC_RDMA_V2_2016;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_those_of_the_draft),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(what_a_responder_says_of_the_rest),
		cmocka_unit_test(the_credit_word),
		cmocka_unit_test(errors_fail_the_call),
		cmocka_unit_test(all_kinds_of_calls),
		cmocka_unit_test(the_first_message_is_short),
		cmocka_unit_test(a_responder_knows_no_operation),
		cmocka_unit_test(nor_does_a_requester),
		cmocka_unit_test(errors_end_the_call_only),
		cmocka_unit_test(calls_in_reverse),
		cmocka_unit_test(its_operations),
		cmocka_unit_test(all_kinds_of_calls_with_it),
		cmocka_unit_test(a_peer_without_it),
	};

	pair_versions = RPC_RDMA_V2_2016;
	return PAIR_RUN(tests);
}
