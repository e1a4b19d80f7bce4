/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma-pair: the calls of the service, whole: each runs and checks the result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

void pair_null(struct pair *p)
{
	struct pair_call c;

	pair_call_init(p, &c, PAIR_NULL, 64);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	pair_call_finish(&c);
}

static void check_words(struct pair_call *c, struct xdr_in *res)
{
	for (int i = 0; i < 4 && xdr_in_left(res); i++)
		c->word[i] = xdr_get_u32(res);
	assert_true(xdr_in_ok(res));
	assert_int_equal(xdr_in_left(res), 0);
}

void pair_put(struct pair *p, uint32_t n)
{
	struct mem_buf *data = n ? mem_buf_get(p->cpool, n) : NULL;
	struct mem_sge sge = {0};
	struct pair_call c;

	pair_call_init(p, &c, PAIR_PUT, 128);
	c.rpc.reply_max = 16;
	c.check = check_words;
	if (n) {
		pair_pattern(data->data, n, n);
		sge = mem_buf_sge(data, 0, n);
	}
	xdr_put_u32(&c.rpc.args, 0x11);
	xdr_put_payload(&c.rpc.args, &sge);
	xdr_put_u32(&c.rpc.args, 0x22);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.word[0], n);
	assert_int_equal(c.word[1], n ? pair_sum(data->data, n) : 1);
	assert_int_equal(c.word[2], 0x11);
	assert_int_equal(c.word[3], 0x22);
	pair_call_finish(&c);
	mem_buf_unref(data);
}

static void check_get(struct pair_call *c, struct xdr_in *res)
{
	const uint8_t *d;

	assert_int_equal(xdr_get_u32(res), 1);
	d = xdr_get_payload(res, 2u << 20, &c->len, &c->placed);
	assert_non_null(d);
	/* by RDMA Write in the sink, by a Send in pages of a receive buffer */
	if (c->placed && pair_versions & RPC_RDMA_V2_RTR && d != c->rpc.sink[0].one.at.addr) {
		assert_int_equal((uintptr_t)d % 4096, 0);
		c->placed = false;
	}
	if (c->placed && c->rpc.nsinks)
		assert_ptr_equal(d, c->rpc.sink[0].one.at.addr);
	c->copy = malloc(c->len ? c->len : 1);
	memcpy(c->copy, d, c->len);
	assert_int_equal(xdr_get_u32(res), 77);
	assert_true(xdr_in_ok(res));
	assert_int_equal(xdr_in_left(res), 0);
}

bool pair_get(struct pair *p, uint32_t n, uint32_t sink, uint32_t reply_max)
{
	uint8_t *want = malloc(n ? n : 1);
	struct pair_call c;

	pair_call_init(p, &c, PAIR_GET, 64);
	c.rpc.reply_max = reply_max;
	c.check = check_get;
	if (sink) {
		struct mem_buf *b = mem_buf_get(p->cpool, sink + 8);

		memset(b->data, 0xee, sink + 8);
		c.rpc.nsinks = 1;
		c.rpc.sink[0] = seg_list_of_buf(b, 4, sink);
	}
	xdr_put_u32(&c.rpc.args, n);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.len, n);
	pair_pattern(want, n, 5);
	assert_memory_equal(c.copy, want, n);
	if (sink) { /* no byte beside the sink or behind the data is touched */
		const uint8_t *d = c.rpc.sink[0].one.hold->data;

		assert_int_equal(d[3], 0xee);
		assert_int_equal(d[4 + sink], 0xee);
		if (c.placed && n < sink)
			assert_int_equal(d[4 + n], 0xee);
	}
	free(want);
	pair_call_finish(&c);
	return c.placed;
}

static void check_list(struct pair_call *c, struct xdr_in *res)
{
	const uint8_t *d = xdr_get_opaque(res, 2u << 20, &c->len);

	assert_non_null(d);
	c->copy = malloc(c->len ? c->len : 1);
	memcpy(c->copy, d, c->len);
	assert_int_equal(xdr_in_left(res), 0);
}

void pair_list(struct pair *p, uint32_t n, uint32_t reply_max)
{
	uint8_t *want = malloc(n ? n : 1);
	struct pair_call c;

	pair_call_init(p, &c, PAIR_LIST, 64);
	c.rpc.reply_max = reply_max;
	c.check = check_list;
	xdr_put_u32(&c.rpc.args, n);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.len, n);
	pair_pattern(want, n, 9);
	assert_memory_equal(c.copy, want, n);
	free(want);
	pair_call_finish(&c);
}

void pair_echo(struct pair *p, uint32_t n)
{
	uint8_t *d = malloc(n ? n : 1);
	struct pair_call c;

	pair_call_init(p, &c, PAIR_ECHO, n + 64);
	c.rpc.reply_max = 8;
	c.check = check_words;
	pair_pattern(d, n, 3);
	xdr_put_opaque(&c.rpc.args, d, n);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.word[0], n);
	assert_int_equal(c.word[1], pair_sum(d, n));
	free(d);
	pair_call_finish(&c);
}
