/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/rpcrdma_padded: RDMA_MSGP at both ends.
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

static const struct pair_params plain;

static uint32_t align; /* for greet() */

static void greet(struct raw *r)
{
	if (raw_recv(r, NULL))
		RAW_SEND(r, raw_word(r, 0), 1, 8, 0, 0, 0, 0, RPC_REPLY(raw_word(r, 0)), 4096,
			align, 16);
}

/* Sends a PUT of n bytes; the word at 3 of r->msg is the message type. */
static void put(struct pair *p, struct raw *r, uint32_t n)
{
	struct mem_buf *data = mem_buf_get(p->cpool, n);
	struct mem_sge sge = mem_buf_sge(data, 0, n);
	struct pair_call c;

	pair_call_init(p, &c, PAIR_PUT, 128);
	c.rpc.reply_max = 16;
	pair_pattern(data->data, n, n);
	xdr_put_u32(&c.rpc.args, 0x11);
	xdr_put_payload(&c.rpc.args, &sge);
	xdr_put_u32(&c.rpc.args, 0x22);
	pair_submit(p, &c);
	assert_true(raw_recv(r, p));
	RAW_SEND(r, c.rpc.xid, 1, 8, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	pair_end(p, &c, 0);
	mem_buf_unref(data);
}

static void start(struct pair *p, struct raw *r, uint32_t a)
{
	align = a;
	raw_greet = greet;
	pair_init_requester(p, &plain, r);
	raw_greet = NULL;
}

static void data_is_aligned_in_the_receive_buffer(void **state)
{
	uint8_t want[2001];
	struct pair p;
	struct raw r;

	start(&p, &r, 512);
	pair_pattern(want, sizeof(want), sizeof(want));
	put(&p, &r, sizeof(want));
	assert_int_equal(raw_word(&r, 3), RDMA_MSGP);
	assert_int_equal(raw_word(&r, 4), 512);
	assert_int_equal(raw_word(&r, 5), sizeof(want));
	/* header of 36 bytes, RPC header of 40, the word before, the length */
	assert_int_equal(raw_word(&r, 20), sizeof(want));
	for (unsigned i = 84; i < 512; i++)
		assert_int_equal(r.msg[i], 0);
	assert_memory_equal(r.msg + 512, want, sizeof(want));
	assert_int_equal(raw_word(&r, (512 + 2004) / 4), 0x22);
	assert_int_equal(r.len, 512 + 2004 + 4);
	raw_stop(&r, &p);
}

static void what_does_not_pay_is_not_padded(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, 512);
	put(&p, &r, 1000); /* too short */
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	put(&p, &r, 3900); /* would not fit */
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, 4), 0);
	raw_stop(&r, &p);
}

static void alignments_that_make_no_sense_are_ignored(void **state)
{
	static const uint32_t none[] = {0, 3, 6, 0x80000000};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct pair p;
		struct raw r;

		start(&p, &r, none[i]);
		put(&p, &r, 2000);
		assert_int_equal(raw_word(&r, 3), RDMA_MSG);
		raw_stop(&r, &p);
	}
}

/* A padded PUT of n bytes of 5s: alignment, threshold, and `pad` bytes before the data. */
static void send_padded(
	struct raw *r, uint32_t xid, uint32_t a, uint32_t thresh, uint32_t pad, uint32_t n)
{
	static uint8_t rest[8000];
	uint32_t behind = htonl(0x22);

	memset(rest, 0xee, pad);
	memset(rest + pad, 5, n);
	memcpy(rest + pad + n, &behind, 4);
	{
		const uint32_t w[] = {
			xid, 1, 8, 2, a, thresh, 0, 0, 0, RPC_CALL(xid, PAIR_PUT), 0x11, n};

		raw_send(r, w, sizeof(w) / 4, rest, pad + n + 4);
	}
}

static void expect_put(struct raw *r, uint32_t n)
{
	uint8_t want[4096];

	memset(want, 5, n);
	assert_true(raw_recv(r, NULL));
	assert_int_equal(raw_word(r, 3), RDMA_MSG);
	assert_int_equal(raw_word(r, 12), 0); /* SUCCESS */
	assert_int_equal(raw_word(r, 13), n);
	assert_int_equal(raw_word(r, 14), pair_sum(want, n));
	assert_int_equal(raw_word(r, 15), 0x11);
	assert_int_equal(raw_word(r, 16), 0x22);
}

/* Before the data there are 84 bytes. */
static void a_responder_unpads(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	send_padded(&r, 1, 256, 1024, 172, 1024);
	expect_put(&r, 1024);
	send_padded(&r, 2, 256, 1028, 0, 1024); /* below the threshold */
	expect_put(&r, 1024);
	send_padded(&r, 3, 84, 100, 0, 400); /* aligned by itself */
	expect_put(&r, 400);
	send_padded(&r, 4, 1, 0, 0, 400); /* all opaques, aligned to 1 */
	expect_put(&r, 400);
	/* every opaque, the empty ones of the RPC header too: at 64 and 72 */
	send_padded(&r, 5, 4, 0, 0, 400);
	expect_put(&r, 400);
	raw_stop(&r, &p);
}

static void a_responder_refuses_nonsense(void **state)
{
	static const uint32_t bad[] = {0, 3, 10, 65540, 0xffffffff};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		send_padded(&r, i, bad[i], 1024, 0, 1024);
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 0), i);
		assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
		assert_int_equal(raw_word(&r, 4), RDMA_ERR_CHUNK);
		assert_int_equal(r.len, 52);
	}
	/* more padding than there is message */
	send_padded(&r, 9, 65536, 1024, 0, 1024);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, 12), RPC_ACCEPT_GARBAGE_ARGS);
	raw_stop(&r, &p);
}

static void check_list(struct pair_call *c, struct xdr_in *res)
{
	const uint8_t *d = xdr_get_opaque(res, 4096, &c->len);

	c->word[0] = d && c->len == 8 ? d[7] : 0;
	c->word[1] = xdr_in_done(res);
}

static void a_requester_unpads(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 0);
	pair_call_init(&p, &c, PAIR_LIST, 64);
	c.rpc.reply_max = 64;
	c.check = check_list;
	pair_submit(&p, &c);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	/* 36 + 24 + 4 bytes, so 16 to the next 80 */
	RAW_SEND(&r, c.rpc.xid, 1, 8, 2, 80, 8, 0, 0, 0, RPC_REPLY(c.rpc.xid), 8, 1, 2, 3, 4,
		0x41424344, 0x45464748);
	pair_wait(&p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.len, 8);
	assert_int_equal(c.word[0], 0x48);
	assert_int_equal(c.word[1], 1);
	pair_call_finish(&c);
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_aligned_in_the_receive_buffer),
		cmocka_unit_test(what_does_not_pay_is_not_padded),
		cmocka_unit_test(alignments_that_make_no_sense_are_ignored),
		cmocka_unit_test(a_responder_unpads),
		cmocka_unit_test(a_responder_refuses_nonsense),
		cmocka_unit_test(a_requester_unpads),
	};

	pair_versions = RPC_RDMA_V1_LEGACY;
	return PAIR_RUN(tests);
}
