/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/requester_reply: errors after which a call can be sent again as
 * another message, in a dialect that has such errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "tests/unit/transport/rpcrdma/toy-dialect.h"

static const struct pair_params plain;

static void start(struct pair *p, struct raw *r)
{
	pair_init_requester(p, &plain, r);
}

static void refuse(struct raw *r, const struct pair_call *c, uint32_t err, uint32_t arg)
{
	RAW_SEND(r, c->rpc.xid, TOY_VERS, 8, RDMA_ERROR, err, arg);
}

static void reply(struct raw *r, const struct pair_call *c)
{
	RAW_SEND(r, c->rpc.xid, TOY_VERS, 8, TOY_REPLY, 0, 0, 0, c->rpc.xid, 1, 0, 0, 0, 0);
}

/* A call with a sink in n pieces. */
static void submit_get(struct pair *p, struct pair_call *c, unsigned n)
{
	struct mem_buf *b = mem_buf_get(p->cpool, 4096);
	static struct seg s[8]; /* until the call is done */

	for (unsigned i = 0; i < n; i++)
		s[i] = (struct seg){mem_buf_sge(b, 512 * i, 100), b};
	pair_call_init(p, c, PAIR_GET, 64);
	c->rpc.reply_max = 64;
	c->rpc.nsinks = 1;
	assert_int_equal(seg_list_init(&c->rpc.sink[0], s, n), 0);
	xdr_put_u32(&c->rpc.args, 100 * n);
	pair_submit(p, c);
}

static void a_larger_reply_chunk(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_call_init(&p, &c, PAIR_LIST, 64);
	c.rpc.reply_max = 100; /* too small */
	xdr_put_u32(&c.rpc.args, 5000);
	pair_submit(&p, &c);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 6), 0);
	refuse(&r, &c, TOY_ERR_REPLY, 5028);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 6), 1);
	assert_int_equal(raw_word(&r, 9), 5028);
	refuse(&r, &c, TOY_ERR_REPLY, 9000);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 9), 9000);
	reply(&r, &c);
	pair_end(&p, &c, 0);
	/* a size that is no larger, and a size above the limit */
	for (int i = 0; i < 3; i++) {
		pair_call_init(&p, &c, PAIR_LIST, 64);
		c.rpc.reply_max = 20000;
		xdr_put_u32(&c.rpc.args, 5000);
		pair_submit(&p, &c);
		raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
		assert_int_equal(raw_word(&r, 9), 20024);
		refuse(&r, &c, TOY_ERR_REPLY, i ? i == 1 ? 0 : UINT32_MAX : 20024);
		pair_end(&p, &c, -EIO);
	}
	raw_stop(&r, &p);
}

static void the_whole_call_in_a_chunk(void **state)
{
	struct pair_call c;
	struct mem_sge sge;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	b = mem_buf_get(p.cpool, 20000);
	pair_call_init(&p, &c, PAIR_PUT, 64);
	c.rpc.reply_max = 16;
	sge = mem_buf_sge(b, 0, 20000);
	memset(b->data, 1, 20000);
	xdr_put_u32(&c.rpc.args, 0x11);
	xdr_put_payload(&c.rpc.args, &sge);
	pair_submit(&p, &c);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 4), 1);
	assert_int_equal(raw_word(&r, 5), 48);
	refuse(&r, &c, TOY_ERR_WHOLE, 0);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_NOMSG);
	assert_int_equal(raw_word(&r, 5), 0);
	assert_int_equal(raw_word(&r, 7), 48);
	refuse(&r, &c, TOY_ERR_WHOLE, 0); /* nor that */
	pair_end(&p, &c, -EIO);
	mem_buf_unref(b);
	raw_stop(&r, &p);
}

static void fewer_chunks_and_segments(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	/* no Write chunks at all: a Reply chunk */
	submit_get(&p, &c, 1);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 5), 1);
	refuse(&r, &c, TOY_ERR_CHUNKS, 0);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 5), 0);
	assert_int_equal(raw_word(&r, 6), 1);
	refuse(&r, &c, TOY_ERR_CHUNKS, 0);
	pair_end(&p, &c, -EIO);
	/* five segments are too many, and so are four; one segment in a Reply chunk is enough */
	submit_get(&p, &c, 5);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 6), 5);
	refuse(&r, &c, TOY_ERR_SEGMENTS, 4);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 5), 0);
	assert_int_equal(raw_word(&r, 7), 1);
	refuse(&r, &c, TOY_ERR_SEGMENTS, 4); /* one segment already */
	pair_end(&p, &c, -EIO);
	/* no segment at all */
	submit_get(&p, &c, 5);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	refuse(&r, &c, TOY_ERR_SEGMENTS, 0);
	pair_end(&p, &c, -EIO);
	/* the next call begins anew, within the dialect's own bounds */
	submit_get(&p, &c, 5);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	assert_int_equal(raw_word(&r, 6), 5);
	reply(&r, &c);
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

/* A peer that tells no sizes: the dialect's sizes count, and change with the dialect. */
static void sizes_are_the_dialects(void **state)
{
	uint8_t saved = raw_priv[0];
	struct pair_call c;
	struct pair p;
	struct raw r;
	uint8_t *d;

	raw_priv[0] = 0;
	start(&p, &r);
	raw_priv[0] = saved;
	assert_int_equal(p.client->inline_send, TOY_INLINE);
	pair_call_init(&p, &c, PAIR_ECHO, 2000);
	d = xdr_reserve(&c.rpc.args, 1900);
	memset(d, 0, 1900);
	pair_submit(&p, &c);
	raw_expect(&r, &p, &c, TOY_VERS, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, TOY_VERS, 8, RDMA_ERROR, RDMA_ERR_VERS, 1, 1);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 1), 1);
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	assert_int_equal(p.client->inline_send, 1024);
	assert_int_equal(p.client->inline_recv, 1024);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 0, 0, 0, c.rpc.xid, 1, 0, 0, 0, 0);
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_larger_reply_chunk),
		cmocka_unit_test(the_whole_call_in_a_chunk),
		cmocka_unit_test(fewer_chunks_and_segments),
		cmocka_unit_test(sizes_are_the_dialects),
	};

	rpcrdma_dialects = toy_table;
	pair_versions = 0;
	return PAIR_RUN(tests);
}
