/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "transport/rpcrdma/rpcrdma_stream.h"

#define OFF (RPC_HEADROOM - 8)

static struct mem_pool *pool;
static struct mem_buf *msg, *data, *zero;

static int setup(void **state)
{
	pool = mem_pool_new(0);
	msg = mem_buf_get(pool, RPC_HEADROOM + 100);
	data = mem_buf_get(pool, 100);
	zero = mem_buf_get(pool, 4);
	memset(zero->data, 0, 4);
	memcpy(msg->data + OFF, "XID.TYPE", 8);
	memcpy(data->data, "abcdefghijklmnop", 16);
	return 0;
}

static int teardown(void **state)
{
	mem_buf_unref(msg);
	mem_buf_unref(data);
	mem_buf_unref(zero);
	mem_pool_free(pool);
	return 0;
}

/* "1111", 5 bytes, "2222", 4 bytes, nothing behind. */
static void encode(struct xdr_out *x)
{
	struct mem_sge five = mem_buf_sge(data, 0, 5), four = mem_buf_sge(data, 8, 4);

	xdr_out_init(x, msg->data + RPC_HEADROOM, 100);
	xdr_put_fixed(x, "1111", 4);
	xdr_put_payload(x, &five);
	xdr_put_fixed(x, "2222", 4);
	xdr_put_payload(x, &four);
}

static void expect(const struct xdr_out *x, unsigned reduced, const char *want, size_t n)
{
	struct rpcrdma_stream s;
	char got[200];

	rpcrdma_stream_init(&s, msg, OFF, x, reduced, zero);
	assert_int_equal(s.len, n);
	rpcrdma_stream_copy(&s, got);
	assert_memory_equal(got, want, n);
}
#define EXPECT(x, reduced, want) expect(x, reduced, want, sizeof(want) - 1)

static void every_reduction(void **state)
{
	struct xdr_out x;

	encode(&x);
	EXPECT(&x, 0,
		"XID.TYPE1111\0\0\0\5abcde\0\0\0"
		"2222\0\0\0\4ijkl");
	EXPECT(&x, 1,
		"XID.TYPE1111\0\0\0\5"
		"2222\0\0\0\4ijkl");
	EXPECT(&x, 2,
		"XID.TYPE1111\0\0\0\5abcde\0\0\0"
		"2222\0\0\0\4");
	EXPECT(&x, 3,
		"XID.TYPE1111\0\0\0\5"
		"2222\0\0\0\4");
}

static void reduced_is_one_piece(void **state)
{
	struct rpcrdma_stream s;
	struct xdr_out x;

	encode(&x);
	rpcrdma_stream_init(&s, msg, OFF, &x, 3, zero);
	assert_int_equal(s.n, 1);
	assert_ptr_equal(s.part[0].one.at.addr, msg->data + OFF);
	rpcrdma_stream_init(&s, msg, OFF, &x, 0, zero);
	assert_int_equal(s.n, 5); /* message, data, pad, message, data */
}

/* Every piece of the stream, also a piece with a cut inside. */
static void cuts(void **state)
{
	struct rpcrdma_stream s, part;
	char all[200], got[200];
	struct xdr_out x;

	encode(&x);
	rpcrdma_stream_init(&s, msg, OFF, &x, 0, zero);
	rpcrdma_stream_copy(&s, all);
	for (uint64_t off = 0; off <= s.len; off++) {
		for (uint64_t len = 0; off + len <= s.len; len++) {
			rpcrdma_stream_cut(&part, &s, off, len);
			assert_int_equal(part.len, len);
			rpcrdma_stream_copy(&part, got);
			assert_memory_equal(got, all + off, len);
		}
	}
}

/* Positions count everything before, from the XID word on (RFC 8166 section 3.4.5). */
static void positions(void **state)
{
	struct xdr_out x;

	encode(&x);
	assert_int_equal(rpcrdma_stream_pos(OFF, &x, 0), 16);
	assert_int_equal(rpcrdma_stream_pos(OFF, &x, 1), 32);
}

static void most_pieces(void **state)
{
	struct mem_sge odd = mem_buf_sge(data, 0, 1);
	struct rpcrdma_stream s;
	struct xdr_out x;

	xdr_out_init(&x, msg->data + RPC_HEADROOM, 100);
	for (int i = 0; i < XDR_MAX_PAYLOADS; i++)
		xdr_put_payload(&x, &odd);
	xdr_put_u32(&x, 7);
	rpcrdma_stream_init(&s, msg, OFF, &x, 0, zero);
	assert_int_equal(s.n, RPCRDMA_STREAM_PARTS);
	assert_int_equal(s.len, 8 + XDR_MAX_PAYLOADS * 8 + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reduction),
		cmocka_unit_test(reduced_is_one_piece),
		cmocka_unit_test(cuts),
		cmocka_unit_test(positions),
		cmocka_unit_test(most_pieces),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
