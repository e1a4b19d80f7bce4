/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/place/rpcrdma_place: two ends that place data by Sends, and the
 * requester against a responder that says every byte.
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

/* Makes a pair, with calls until both ends know each other's properties. */
static void start(struct pair *p)
{
	pair_init(p, &plain);
	for (int i = 0; i < 3; i++)
		pair_null(p);
	for (int i = 0; i < 1000 && !rpcrdma_conn_of(p->client)->place.ops; i++)
		pair_progress(p, 10);
	assert_int_equal(rpcrdma_conn_of(p->client)->place.ops,
		RPCRDMA_RTR_XREQ | RPCRDMA_RTR_XRESP | RPCRDMA_RTR_XCONT);
}

static void data_of_every_length(void **state)
{
	struct pair p;

	start(&p);
	for (uint32_t n = 1; n < 1 << 20; n = n * 3 + 1) {
		pair_put(&p, n);
		pair_get(&p, n, n, 100);
		/* the part of a sink that RDMA Writes leave free may change */
		if (n <= 65536) {
			pair_get(&p, n, n + 5000, 100);
			pair_get(&p, n, 1 << 20, 100);
		}
		pair_list(&p, n, n + 100);
		pair_echo(&p, n);
	}
	for (uint32_t n = 65530; n < 65540; n++) {
		pair_put(&p, n);
		pair_get(&p, n, n, 100);
	}
	/* about as much as the pages of one Send, and of several, take */
	for (uint32_t n = 17 * 4096 - 2; n < 17 * 4096 + 3; n++) {
		pair_put(&p, n);
		pair_put(&p, 5 * n);
	}
	assert_string_equal(p.client->rdma_dialect, "2-rtr");
	pair_finish(&p);
}

/* Data that a Send can bring needs no exposed memory of the other end. */
static void nothing_is_exposed(void **state)
{
	struct pair p;

	start(&p);
	p.stats.bytes_exposed = 0;
	pair_put(&p, 4096);
	pair_put(&p, 65536);
	assert_int_equal(p.stats.bytes_exposed, 0);
	assert_false(pair_get(&p, 4096, 4096, 100));
	assert_false(pair_get(&p, 65536, 65536, 100));
	pair_put(&p, 80000);
	pair_put(&p, 1 << 20);
	assert_int_equal(p.stats.bytes_exposed, 0);
	assert_true(pair_get(&p, 65540, 65540, 100));
	pair_finish(&p);
}

/* With little memory a responder has plain receive buffers, and no data is placed. */
static void without_memory_nothing_is_placed(void **state)
{
	const struct pair_params params = {.server_memory = 64u << 20};
	struct pair p;

	pair_init(&p, &params);
	for (int i = 0; i < 5; i++)
		pair_null(&p);
	pair_progress(&p, 100);
	assert_int_equal(rpcrdma_conn_of(p.client)->place.ops, 0);
	assert_string_equal(p.client->rdma_dialect, "2-rtr");
	pair_put(&p, 65536);
	assert_int_equal(p.stats.bytes_exposed, 65536);
	assert_true(pair_get(&p, 4096, 4096, 100));
	pair_finish(&p);
}

#define PAGE 4096

/* --- a responder that says every byte
 * ---------------------------------------------------------- */

/* Answers two calls, and tells that these operations are taken, in receive buffers with a head of
 * 512 bytes and this many pages. */
static void tell_ops(struct raw *r, struct pair *p, uint32_t ops, uint32_t pages)
{
	struct pair_call c;

	for (int i = 0; i < 2; i++) {
		pair_submit_null(p, &c);
		do
			assert_true(raw_recv(r, p));
		while (raw_word(r, 3) == RDMA_CONNPROP);
		RAW_SEND(r, c.rpc.xid, 2, 16 << 16 | 16, 0, 1, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
		pair_end(p, &c, 0);
	}
	RAW_SEND(r, 0, 2, 16 << 16 | 16, RDMA_CONNPROP, 0, 2, RPCRDMA_PROP_RTR_OPS, 4, ops,
		RPCRDMA_PROP_RTR_LAYOUT, 40, 512 + pages * PAGE, 2, 1, 512, 4, 0, pages, PAGE, PAGE,
		1);
	for (int i = 0; i < 1000 && !rpcrdma_conn_of(p->client)->place.ops; i++)
		pair_progress(p, 10);
	assert_int_equal(rpcrdma_conn_of(p->client)->place.ops, ops);
	assert_int_equal(p->client->inline_send, 512 + pages * PAGE); /* by the structure alone */
}

/* With Transmit Requests and Responses. */
static void tell(struct raw *r, struct pair *p, uint32_t pages)
{
	tell_ops(r, p, RPCRDMA_RTR_XREQ | RPCRDMA_RTR_XRESP, pages);
}

/* Submits a GET of n bytes. */
static void submit_get(struct pair *p, struct pair_call *c, uint32_t n, struct mem_buf **b)
{
	*b = mem_buf_get(p->cpool, n);
	pair_call_init(p, c, PAIR_GET, 64);
	c->rpc.reply_max = 64;
	c->rpc.nsinks = 1;
	c->rpc.sink[0] = seg_list_of_buf(*b, 0, n);
	xdr_put_u32(&c->rpc.args, n);
	pair_submit(p, c);
}

static struct seg_list kept;

/* Leaves the payload of a GET where it has come. */
static void keep(struct pair_call *c, struct xdr_in *res)
{
	xdr_get_u32(res);
	assert_true(xdr_get_payload_list(res, UINT32_MAX, &kept, &c->placed));
	seg_list_ref(&kept);
}

/* More payloads than receive buffers; no kept buffer is received into again. */
static void a_result_may_stay_where_it_came(void **state)
{
	static uint8_t want[65536], got[65536];
	struct seg_list all[100];
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;

	start(&p);
	for (unsigned i = 0; i < 100; i++) {
		submit_get(&p, &c, 65536 - i, &b);
		c.check = keep;
		pair_end(&p, &c, 0);
		mem_buf_unref(b);
		assert_true(c.placed);
		assert_int_equal(kept.n, 1);
		all[i] = kept;
	}
	for (unsigned i = 0; i < 100; i++) {
		pair_pattern(want, 65536 - i, 5);
		assert_int_equal(all[i].len, 65536 - i);
		seg_list_gather(&all[i], got);
		assert_memory_equal(got, want, 65536 - i);
		seg_list_unref(&all[i]);
	}
	pair_finish(&p);
}

/* The Send of a PUT, for a peer with other receive buffers than ours. */
static void what_a_requester_sends(void **state)
{
	uint8_t want[5000];
	struct mem_buf *b;
	struct pair_call c;
	struct mem_sge at;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 1);
	b = mem_buf_get(p.cpool, sizeof(want));
	pair_pattern(b->data, sizeof(want), 4);
	pair_pattern(want, sizeof(want), 4);
	pair_call_init(&p, &c, PAIR_PUT, 128);
	c.rpc.reply_max = 16;
	xdr_put_u32(&c.rpc.args, 0x11);
	at = mem_buf_sge(b, 0, 3001);
	xdr_put_payload(&c.rpc.args, &at);
	xdr_put_u32(&c.rpc.args, 0x22);
	pair_submit(&p, &c);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_REQ);
	assert_int_equal(raw_word(&r, 4), 0);
	assert_int_equal(raw_word(&r, 5), 1);
	assert_int_equal(raw_word(&r, 6), 48); /* where the data belongs */
	assert_int_equal(raw_word(&r, 7), 3001);
	assert_int_equal(raw_word(&r, 8), RPCRDMA_RTR_TBSN);
	assert_int_equal(raw_word(&r, 9), 0);
	assert_int_equal(raw_word(&r, 10), 1);
	assert_int_equal(raw_word(&r, 11), 0);
	assert_int_equal(raw_word(&r, 12), 0); /* places */
	assert_int_equal(raw_word(&r, 13), 1);
	assert_int_equal(raw_word(&r, 14), 1);
	assert_int_equal(raw_word(&r, 15), 52);
	assert_int_equal(raw_word(&r, 16), c.rpc.xid);
	assert_int_equal(r.len, 512 + 3001);
	assert_memory_equal(r.msg + 512, want, 3001);
	for (unsigned i = 64 + 52; i < 512; i++)
		assert_int_equal(r.msg[i], 0);
	/* the peer says that it does not know such a message after all */
	RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, RDMA_ERROR, 1, RDMA_ERR_INVAL_HTYPE);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, 0, 1, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	pair_end(&p, &c, 0);
	mem_buf_unref(b);
	raw_stop(&r, &p);
}

/* A place says for which operation of the call it is, or that it is for all. */
static void a_place_is_for_an_operation(void **state)
{
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 16);
	b = mem_buf_get(p.cpool, 80000);
	for (unsigned i = 0; i < 4; i++) {
		bool whole = i & 1, writes = i & 2;

		pair_call_init(&p, &c, PAIR_GET2, 64);
		c.rpc.reply_max = 64;
		c.rpc.nsinks = 1;
		c.rpc.sink[0] = seg_list_of_buf(b, 0, writes ? 80000 : 1000);
		xdr_put_u32(&c.rpc.args, 0);
		if (!whole)
			c.rpc.sink_for[0].begin = (uint32_t)c.rpc.args.len;
		xdr_put_u32(&c.rpc.args, 1000);
		if (!whole)
			c.rpc.sink_for[0].end = (uint32_t)c.rpc.args.len;
		xdr_put_u32(&c.rpc.args, 0);
		pair_submit(&p, &c);
		raw_recv_of(&r, &p, c.rpc.xid);
		assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_REQ);
		assert_int_equal(raw_word(&r, 5), 0); /* items */
		assert_int_equal(raw_word(&r, 6), 1); /* sets */
		assert_int_equal(raw_word(&r, 7), whole ? 0 : 40 + 4);
		assert_int_equal(raw_word(&r, 8), whole ? 40 + 12 : 40 + 8);
		assert_int_equal(raw_word(&r, 9), 1); /* place */
		assert_int_equal(raw_word(&r, 11), writes ? RPCRDMA_RTR_BYSIZE : RPCRDMA_RTR_TBSN);
		RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, RPCRDMA_XMT_RESP, 1, 1, 0, 0,
			RPCRDMA_RTR_NOITEM, 1, 24, RPC_REPLY(c.rpc.xid));
		pair_wait(&p, &c);
		assert_int_equal(c.error, 0);
		c.rpc.nsinks = 0; /* b is for all operations */
		pair_call_finish(&c);
	}
	mem_buf_unref(b);
	raw_stop(&r, &p);
}

/* An operation that a responder does not take is not sent. */
static void transmit_requests_are_not_taken(void **state)
{
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	tell_ops(&r, &p, RPCRDMA_RTR_XRESP | RPCRDMA_RTR_XCONT, 16);
	submit_get(&p, &c, 1000, &b);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, 0, 1, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
	pair_end(&p, &c, 0);
	mem_buf_unref(b);
	raw_stop(&r, &p);
}

static void a_report_makes_it_plain(void **state)
{
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 16);
	submit_get(&p, &c, 1000, &b);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_REQ);
	RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, RPCRDMA_REPT_ERR, 1, c.rpc.xid, 0, 0, 0,
		RPCRDMA_RTR_BADPL, 52, 0, 12);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, RPCRDMA_REPT_ERR, 1, c.rpc.xid, 0, 0, 0,
		RPCRDMA_RTR_BADPL, 52, 0, 12);
	pair_end(&p, &c, -EIO);
	raw_stop(&r, &p);
}

/* Replies of a kind that table 2 of the draft does not have, and replies that lie. */
static void what_a_reply_does_wrong(void **state)
{
	static const struct {
		unsigned n;
		uint32_t w[8]; /* items, from the count on */
		bool ok;
	} t[] = {
		{1, {0}, false}, /* no item for the place */
		{4, {1, 0, 0, RPCRDMA_RTR_NOITEM}, true},
		{4, {1, 0, 0, RPCRDMA_RTR_TOOSHORT}, true},
		{5, {1, 28, 100, RPCRDMA_RTR_EXRW, 0}, false},
		{7, {1, 28, 100, RPCRDMA_RTR_TBSN, 0, 1, 0}, false}, /* there is no such target */
		{7, {1, 28, 100, RPCRDMA_RTR_TBSN, 0, 1, 99}, false},
		{7, {1, 28, 0x7fffffff, RPCRDMA_RTR_TBSN, 0, 1, 0}, false},
		{6, {1, 28, 100, RPCRDMA_RTR_TBSN, 0, 0}, false},
		{7, {2, 0, 0, RPCRDMA_RTR_NOITEM, 0, 0, RPCRDMA_RTR_NOITEM}, false},
	};
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 16);
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t w[32] = {0, 2, 16 << 16 | 16, RPCRDMA_XMT_RESP, 1};
		struct pair_call c;
		struct mem_buf *b;
		unsigned n = 5;

		submit_get(&p, &c, 1000, &b);
		raw_recv_of(&r, &p, c.rpc.xid);
		assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_REQ);
		w[0] = c.rpc.xid;
		memcpy(w + n, t[i].w, t[i].n * sizeof(w[0]));
		n += t[i].n;
		w[n++] = 1;
		w[n++] = 24;
		memcpy(w + n, (const uint32_t[]){RPC_REPLY(c.rpc.xid)}, 24);
		raw_send(&r, w, n + 6, NULL, 0);
		pair_end(&p, &c, t[i].ok ? 0 : -EIO);
	}
	raw_stop(&r, &p);
}

/* Memory for a result in too many pieces for the Send: none of the memory is offered, and the call
 * goes plain, with a Reply chunk. */
static void a_place_of_too_many_pieces(void **state)
{
	enum { PIECES = 60, LEN = 1200, USED = 2000 };
	static struct seg s[PIECES];
	uint32_t reply[6];
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 16);
	RAW_SEND(&r, 0, 2, 16 << 16 | 16, RDMA_CONNPROP, 0, 1, RPCRDMA_PROP_RECV_SIZE, 4, 1024);
	for (int i = 0; i < 1000 && p.client->inline_send != 1024; i++)
		pair_progress(&p, 10);
	rpcrdma_conn_of(p.client)->v2.seg_count = 288; /* as if the peer had told this at first */
	b = mem_buf_get(p.cpool, PIECES * (LEN + 4));
	for (unsigned i = 0; i < PIECES; i++)
		s[i] = (struct seg){mem_buf_sge(b, i * (LEN + 4), LEN), b};
	pair_call_init(&p, &c, PAIR_GET, 64);
	c.rpc.reply_max = 64;
	c.rpc.nsinks = 1;
	assert_int_equal(seg_list_init(&c.rpc.sink[0], s, PIECES), 0);
	xdr_put_u32(&c.rpc.args, PIECES * LEN);
	pair_submit(&p, &c);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, 7), 0); /* no Write chunks */
	assert_int_equal(raw_word(&r, 9), 1);
	assert_true(raw_word(&r, 11) > PIECES * LEN);
	memcpy(reply, (const uint32_t[]){RPC_REPLY(c.rpc.xid)}, sizeof(reply));
	for (unsigned i = 0; i < 6; i++)
		((uint32_t *)(void *)r.zone->data)[i] = htonl(reply[i]);
	raw_write(&r, raw_word(&r, 10), (uint64_t)raw_word(&r, 12) << 32 | raw_word(&r, 13), USED);
	RAW_SEND(&r, c.rpc.xid, 2, 16 << 16 | 16, RDMA_NOMSG, 1, 0, 0, 0, 1, 1, raw_word(&r, 10),
		USED, raw_word(&r, 12), raw_word(&r, 13));
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_of_every_length),
		cmocka_unit_test(nothing_is_exposed),
		cmocka_unit_test(without_memory_nothing_is_placed),
		cmocka_unit_test(a_result_may_stay_where_it_came),
		cmocka_unit_test(what_a_requester_sends),
		cmocka_unit_test(a_place_is_for_an_operation),
		cmocka_unit_test(transmit_requests_are_not_taken),
		cmocka_unit_test(a_report_makes_it_plain),
		cmocka_unit_test(what_a_reply_does_wrong),
		cmocka_unit_test(a_place_of_too_many_pieces),
	};

	pair_versions = RPC_RDMA_V2_RTR;
	return PAIR_RUN(tests);
}
