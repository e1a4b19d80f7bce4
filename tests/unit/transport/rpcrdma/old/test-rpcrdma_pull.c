/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/rpcrdma_pull: a requester that gets Read chunks in its
 * replies.
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

#define MSG(xid, grant) xid, 1, grant, 0
#define SEG(d, n)	(d).stag, n, (uint32_t)((d).offset >> 32), (uint32_t)(d).offset

static uint32_t grant, reads; /* for greet() */

/* Answers the Connection Configuration Protocol. */
static void greet(struct raw *r)
{
	if (raw_recv(r, NULL))
		RAW_SEND(r, MSG(raw_word(r, 0), grant), 0, 0, 0, RPC_REPLY(raw_word(r, 0)), 4096, 0,
			reads);
}

static void start(struct pair *p, struct raw *r, uint32_t credits)
{
	grant = credits;
	reads = 16;
	pair_init_requester(p, &plain, r);
	assert_int_equal(p->client->inline_send, 4096);
	assert_int_equal(p->client->inline_recv, 4096);
}

static void take_words(struct pair_call *c, struct xdr_in *res)
{
	const uint8_t *d = xdr_get_opaque(res, 1u << 20, &c->len);

	c->word[0] = d ? d[0] : 0;
	c->word[1] = xdr_in_done(res);
}

static void submit_list(struct pair *p, struct pair_call *c, uint32_t n)
{
	pair_call_init(p, c, PAIR_LIST, 64);
	c->rpc.reply_max = n + 4;
	c->check = take_words;
	xdr_put_u32(&c->rpc.args, n);
	pair_submit(p, c);
}

/* Words at off of the zone. */
static void put(struct raw *r, uint32_t off, const uint32_t *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t be = htonl(w[i]);

		memcpy(r->zone->data + off + 4 * i, &be, 4);
	}
}
#define PUT(r, off, ...)                                                                           \
	put(r, off, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Expects a call without a Reply chunk, and puts the whole answer of n bytes of 7s at 0. */
static struct prov_door prepare(struct raw *r, struct pair *p, struct pair_call *c, uint32_t n)
{
	raw_expect(r, p, c, 1, RDMA_MSG);
	assert_int_equal(raw_word(r, 6), 0);
	memset(r->zone->data, 7, 28 + n);
	PUT(r, 0, RPC_REPLY(c->rpc.xid), n);
	return raw_expose(r, 0, 28 + n);
}

static void expect_done(struct raw *r, struct pair *p, uint32_t xid)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(r->len, 16);
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), 1);
	assert_int_equal(raw_word(r, 3), RDMA_DONE);
}

static void a_long_reply_is_read(void **state)
{
	struct prov_door d;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 8);
	submit_list(&p, &c, 8000);
	d = prepare(&r, &p, &c, 8000);
	/* in two segments */
	RAW_SEND(&r, c.rpc.xid, 1, 8, 1, 1, 0, d.stag, 100, (uint32_t)(d.offset >> 32),
		(uint32_t)d.offset, 1, 0, d.stag, 7928, (uint32_t)((d.offset + 100) >> 32),
		(uint32_t)(d.offset + 100), 0, 0, 0);
	expect_done(&r, &p, c.rpc.xid);
	pair_wait(&p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.len, 8000);
	assert_int_equal(c.word[0], 7);
	assert_int_equal(c.word[1], 1);
	pair_call_finish(&c);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

static void check_get(struct pair_call *c, struct xdr_in *res)
{
	uint32_t n;
	const uint8_t *d;

	c->word[0] = xdr_get_u32(res);
	d = xdr_get_payload(res, 1u << 20, &n, &c->placed);
	c->len = n;
	c->word[1] = d && n ? d[n - 1] : 0;
	c->word[2] = xdr_get_u32(res);
	c->word[3] = xdr_in_done(res);
}

/* A READ without a sink, answered with n bytes said and a Read chunk of len at position. */
static void get_with(uint32_t n, uint32_t len, uint32_t position, int error, bool whole)
{
	struct prov_door d;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 8);
	pair_call_init(&p, &c, PAIR_GET, 64);
	c.rpc.reply_max = 6000;
	c.check = check_get;
	xdr_put_u32(&c.rpc.args, n);
	pair_submit(&p, &c);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	memset(r.zone->data, 9, 8000);
	d = raw_expose(&r, 0, 8000);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 1, position, SEG(d, len), 0, 0, 0, RPC_REPLY(c.rpc.xid), 1,
		n, 77);
	expect_done(&r, &p, c.rpc.xid);
	pair_wait(&p, &c);
	assert_int_equal(c.error, error);
	if (!error) {
		assert_int_equal(c.word[3], whole);
		if (whole) {
			assert_int_equal(c.word[0], 1);
			assert_int_equal(c.len, n);
			assert_int_equal(c.word[1], 9);
			assert_int_equal(c.word[2], 77);
		}
	}
	pair_call_finish(&c);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

static void data_is_read_at_its_position(void **state)
{
	get_with(5000, 5000, 32, 0, true);
	get_with(4999, 5000, 32, 0, true); /* with the round-up */
}

static void who_lies_about_lengths_is_told_done(void **state)
{
	get_with(5000, 4000, 32, 0, false); /* does not match the count */
	get_with(5000, 5004, 32, 0, false);
	get_with(5000, 5000, 28, 0, false);	 /* stands elsewhere */
	get_with(5000, 5000, 4096, -EIO, false); /* behind the message */
	get_with(5000, 6100, 32, -EIO, false);	 /* more than the results can be */
	get_with(5000, 0, 0, -EIO, false);	 /* the message is in the Send */
}

/* More payloads in all than a reply can have. */
static void data_is_read_or_written(void **state)
{
	struct prov_door d;
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 8);
	pair_call_init(&p, &c, PAIR_GET, 64);
	c.rpc.reply_max = 6000;
	c.check = check_get;
	b = mem_buf_get(p.cpool, 1000);
	c.rpc.nsinks = 1;
	c.rpc.sink[0] = seg_list_of_buf(b, 0, 1000);
	mem_buf_unref(b);
	xdr_put_u32(&c.rpc.args, 1000);
	pair_submit(&p, &c);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	assert_int_equal(raw_word(&r, 5), 1); /* a Write chunk, of one segment */
	assert_int_equal(raw_word(&r, 6), 1);
	memset(r.zone->data, 0, 100);
	PUT(&r, 0, RPC_REPLY(c.rpc.xid), 1, 4);
	d = raw_expose(&r, 0, 100);
	RAW_SEND(&r, c.rpc.xid, 1, 8, RDMA_NOMSG, 1, 0, SEG(d, 48), 1, 32, SEG(d, 4), 1, 36,
		SEG(d, 4), 1, 40, SEG(d, 4), 1, 44, SEG(d, 4), 0, 1, 1, raw_word(&r, 7),
		raw_word(&r, 8), raw_word(&r, 9), raw_word(&r, 10), 0, 0);
	expect_done(&r, &p, c.rpc.xid);
	pair_end(&p, &c, -EIO);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

static void positions_go_up(void **state)
{
	struct prov_door d;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 8);
	submit_list(&p, &c, 8000);
	d = prepare(&r, &p, &c, 8000);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 0, 1, 32, SEG(d, 100), 1, 28, SEG(d, 100), 0, 0, 0,
		RPC_REPLY(c.rpc.xid), 1, 1, 1);
	expect_done(&r, &p, c.rpc.xid);
	pair_end(&p, &c, -EIO);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

/* The peer has said that it allows no Reads. */
static void nothing_is_read_of_who_forbids_it(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	grant = 8;
	reads = 0;
	pair_init_requester(&p, &plain, &r);
	submit_list(&p, &c, 8000);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	assert_int_equal(raw_word(&r, 6), 1); /* so there is a Reply chunk */
	RAW_SEND(&r, c.rpc.xid, 1, 8, 1, 1, 0, 1, 8028, 0, 0, 0, 0, 0);
	expect_done(&r, &p, c.rpc.xid);
	pair_end(&p, &c, -EIO);
	/* nor does a message leave that would have to be read */
	pair_call_init(&p, &c, PAIR_ECHO, 8000);
	memset(xdr_reserve(&c.rpc.args, 8000), 0, 8000);
	pair_submit(&p, &c);
	pair_end(&p, &c, -EIO);
	raw_stop(&r, &p);
}

/* RDMA_DONE takes the only credit, and gives it back as no other message is under way. */
static void done_takes_a_credit(void **state)
{
	struct pair_call a, b, c;
	struct prov_door d;
	struct pair p;
	struct raw r;

	start(&p, &r, 1);
	submit_list(&p, &a, 8000);
	pair_submit_null(&p, &b);
	d = prepare(&r, &p, &a, 8000);
	RAW_SEND(&r, a.rpc.xid, 1, 1, 1, 1, 0, SEG(d, 8028), 0, 0, 0);
	expect_done(&r, &p, a.rpc.xid);
	pair_end(&p, &a, 0);
	raw_expect(&r, &p, &b, 1, RDMA_MSG);
	RAW_SEND(&r, MSG(b.rpc.xid, 2), 0, 0, 0, RPC_REPLY(b.rpc.xid));
	pair_end(&p, &b, 0);
	raw_hide(&r, &d);

	/* of two credits: one call beside a, until the answer to a */
	submit_list(&p, &a, 8000);
	d = prepare(&r, &p, &a, 8000);
	pair_submit_null(&p, &b);
	raw_expect(&r, &p, &b, 1, RDMA_MSG);
	RAW_SEND(&r, a.rpc.xid, 1, 2, 1, 1, 0, SEG(d, 8028), 0, 0, 0);
	expect_done(&r, &p, a.rpc.xid);
	pair_end(&p, &a, 0);
	pair_submit_null(&p, &a);
	pair_submit_null(&p, &c);
	assert_false(raw_recv_within(&r, &p, 50));
	/* the grant of b was sent before: only b's own credit is back */
	RAW_SEND(&r, MSG(b.rpc.xid, 2), 0, 0, 0, RPC_REPLY(b.rpc.xid));
	pair_end(&p, &b, 0);
	raw_expect(&r, &p, &a, 1, RDMA_MSG);
	assert_false(raw_recv_within(&r, &p, 50));
	RAW_SEND(&r, MSG(a.rpc.xid, 2), 0, 0, 0, RPC_REPLY(a.rpc.xid));
	pair_end(&p, &a, 0);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	raw_answer(&r, &p, &c, 1, 2);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

static void a_call_that_was_taken_back_is_done(void **state)
{
	struct prov_door d;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 1);
	submit_list(&p, &c, 8000);
	d = prepare(&r, &p, &c, 8000);
	pair_forget(&p, &c);
	RAW_SEND(&r, c.rpc.xid, 1, 1, 1, 1, 0, SEG(d, 8028), 0, 0, 0);
	expect_done(&r, &p, c.rpc.xid);
	pair_call_finish(&c);
	/* but not for an XID that never was a call */
	RAW_SEND(&r, 0x99, 1, 1, 1, 1, 0, SEG(d, 8028), 0, 0, 0);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	raw_answer(&r, &p, &c, 1, 1);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

/* The call is taken back while its reply is being read. */
static void reading_goes_on_for_nobody(void **state)
{
	struct prov_door d;
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 1);
	submit_list(&p, &c, 8000);
	d = prepare(&r, &p, &c, 8000);
	RAW_SEND(&r, c.rpc.xid, 1, 1, 1, 1, 0, SEG(d, 8028), 0, 0, 0);
	/* the peer does not move: at most the RDMA Read is under way */
	while (!c.done && c.rpc.xprt_priv &&
		((struct rpcrdma_posted *)c.rpc.xprt_priv)->state != RPCRDMA_PULLED)
		p.client->ops->progress(p.client, 5);
	if (!c.done)
		pair_forget(&p, &c);
	expect_done(&r, &p, c.rpc.xid);
	pair_call_finish(&c);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

static void a_reply_that_cannot_be_read_ends_with_the_connection(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, 8);
	submit_list(&p, &c, 8000);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 1, 8, 1, 1, 0, 0xdead, 8028, 0, 0, 0, 0, 0);
	if (pair_prov == &prov_iwarp) {
		raw_wait_down(&r, &p);
		pair_end(&p, &c, -ENOTCONN);
	} else {
		r.prov->disconnect(r.pc);
		pair_end(&p, &c, -ENOTCONN);
	}
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_reply_is_read),
		cmocka_unit_test(data_is_read_at_its_position),
		cmocka_unit_test(who_lies_about_lengths_is_told_done),
		cmocka_unit_test(data_is_read_or_written),
		cmocka_unit_test(positions_go_up),
		cmocka_unit_test(nothing_is_read_of_who_forbids_it),
		cmocka_unit_test(done_takes_a_credit),
		cmocka_unit_test(a_call_that_was_taken_back_is_done),
		cmocka_unit_test(reading_goes_on_for_nobody),
		cmocka_unit_test(a_reply_that_cannot_be_read_ends_with_the_connection),
	};

	pair_versions = RPC_RDMA_V1_LEGACY;
	raw_greet = greet;
	return PAIR_RUN(tests);
}
