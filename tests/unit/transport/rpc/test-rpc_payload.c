/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of payload on its way through transport/rpc: out of the sender's memory, into the
 * receiver's. Over TCP, or, with the argument "iwarp", over RPC-over-RDMA.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/rpc-pair.h"

static void payload_of_calls_stays_in_place(void **state)
{
	static const uint32_t sizes[] = {0, 1, 3, 4096, 4097, 131072, BIG};
	struct rpc_client_stats st;
	struct mem_buf *buf;
	struct mem_sge sge;
	struct pair p;
	struct one o;
	uint64_t all = 0;

	pair_start(&p, 10000, 0);
	buf = mem_buf_get(p.c.pool, BIG);
	fill(buf->data, BIG, 3);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		sge = mem_buf_sge(buf, 0, sizes[i]);
		one_init(&o, &p.c, P_WRITE);
		xdr_put_payload(&o.call.args, &sge);
		xdr_put_u32(&o.call.args, 5);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(o.len, 8);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), sum(buf->data, sizes[i]));
		assert_int_equal(be32toh(*(uint32_t *)(o.copy + 4)), 1234);
		one_finish(&o);
		all += sizes[i];
	}
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.bytes_exposed + st.bytes_pulled_up, all);
	assert_true(st.bytes_pulled_up <= (proto == RPC_TCP ? 0 : 4096));
	mem_buf_unref(buf);
	pair_stop(&p);
}

static struct seg_list pieces_of(struct mem_buf *buf, struct seg *piece, unsigned n, bool odd)
{
	static const uint32_t len[] = {1, 4095, 4096, 0, 70001, 3};
	uint32_t end = BIG;
	struct seg_list l;

	for (unsigned i = 0; i < n; i++) {
		uint32_t k = odd ? len[i % 6] : 4096;

		end -= k;
		piece[i] = (struct seg){mem_buf_sge(buf, end, k), buf};
	}
	assert_int_equal(seg_list_init(&l, piece, n), 0);
	return l;
}

static void payload_lies_in_pieces(void **state)
{
	static const struct {
		unsigned n;
		bool odd;
	} how[] = {{2, false}, {6, true}, {31, true}, {64, false}, {256, false}};
	struct rpc_client_stats before, st;
	struct seg piece[256];
	uint8_t *want = malloc(BIG);
	struct mem_buf *buf;
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	p.s.pieces = 5; /* other pieces at the other end */
	buf = mem_buf_get(p.c.pool, BIG);
	for (unsigned i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		struct seg_list l = pieces_of(buf, piece, how[i].n, how[i].odd), got;
		uint32_t n = l.len - (i & 1);

		fill(want, n, 9);
		one_init(&o, &p.c, P_READ);
		xdr_put_u32(&o.call.args, n);
		xdr_put_u32(&o.call.args, 9);
		o.call.reply_max = 256;
		o.call.nsinks = 1;
		o.call.sink[0] = l;
		o.call.peek = peek_read;
		rpc_client_stats(p.c.c, &before);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(o.n, n);
		rpc_client_stats(p.c.c, &st);
		/* a header of 4096 bytes has no room for 256 segments */
		if (proto != RPC_TCP && how[i].n < 200)
			assert_int_equal(st.bytes_placed - before.bytes_placed, n);
		one_finish(&o);

		got = seg_list_cut(&l, 0, n);
		one_init(&o, &p.c, P_WRITE);
		xdr_put_payload_list(&o.call.args, &got);
		xdr_put_u32(&o.call.args, 5);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), sum(want, n));
		one_finish(&o);
		rpc_client_stats(p.c.c, &before);
		if (proto == RPC_TCP || how[i].n < 100)
			assert_int_equal(before.bytes_exposed - st.bytes_exposed, n);
	}
	mem_buf_unref(buf);
	free(want);
	pair_stop(&p);
}

static void payload_of_replies_finds_its_sink(void **state)
{
	static const uint32_t sizes[] = {0, 1, 3, 4096, 4097, 65536, 131072, BIG};
	struct rpc_client_stats st;
	struct pair p;

	pair_start(&p, 10000, 0);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(read_n(&p.c, sizes[i], BIG, true), 0);
		assert_int_equal(read_n(&p.c, sizes[i], sizes[i] ? sizes[i] : 1, false), 0);
	}
	rpc_client_stats(p.c.c, &st);
	assert_true(st.bytes_placed > BIG);
	/* more than the sink holds: the server of version 2 sends the result in messages instead */
	assert_int_equal(read_n(&p.c, 5000, 4999, true), -EBADMSG);
	assert_int_equal(read_n(&p.c, 50000, 4999, false), -EBADMSG);
	assert_int_equal(simple(&p.c, P_NULL), 0);
	pair_stop(&p);
}

static void large_payload_is_not_copied(void **state)
{
	struct rpc_client_stats st;
	struct pair p;

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read_n(&p.c, BIG, BIG, true), 0);
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.bytes_placed + st.bytes_copied, 8 * BIG);
	assert_true(st.bytes_copied <= 8 * 512);
	pair_stop(&p);
}

/* The server's data in blocks, a few or many, into one piece of memory here or several. */
static void results_lie_in_pieces(void **state)
{
	static const int pieces[] = {1, 2, 7, 8, 9, 100, 119, 120, 256};
	struct pair p;

	pair_start(&p, 10000, 0);
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		p.s.pieces = pieces[i];
		assert_int_equal(read_n(&p.c, 1, BIG, true), 0);
		assert_int_equal(read_n(&p.c, 1003, BIG, true), 0);
		assert_int_equal(read_n(&p.c, 70001, 70001, true), 0);
		assert_int_equal(read_n(&p.c, 70001, BIG, false), 0);
		assert_int_equal(read_n(&p.c, BIG, BIG, true), 0);
	}
	pair_stop(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payload_of_calls_stays_in_place),
		cmocka_unit_test(payload_of_replies_finds_its_sink),
		cmocka_unit_test(payload_lies_in_pieces),
		cmocka_unit_test(large_payload_is_not_copied),
		cmocka_unit_test(results_lie_in_pieces),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
