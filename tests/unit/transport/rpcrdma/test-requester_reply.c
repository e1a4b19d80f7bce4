/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/requester_call and requester_reply: a requester against a
 * responder that scripts every byte, well-behaved or not.
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

#include "tests/unit/transport/rpcrdma/fake-provider.h"
#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

static const struct pair_params plain;

static void reply(struct raw *r, uint32_t xid, uint32_t credit)
{
	RAW_SEND(r, xid, 1, credit, 0, 0, 0, 0, RPC_REPLY(xid));
}

static void start(struct pair *p, struct raw *r, const struct pair_params *params)
{
	pair_init_requester(p, params, r);
}

/* A call with one sink; the header is in r->msg afterwards. */
static void submit_get(struct pair *p, struct raw *r, struct pair_call *c, uint32_t sink)
{
	struct mem_buf *b = mem_buf_get(p->cpool, sink);

	pair_call_init(p, c, PAIR_GET, 64);
	c->rpc.reply_max = 64;
	c->rpc.nsinks = 1;
	c->rpc.sink[0] = seg_list_of_buf(b, 0, sink);
	memset(b->data, 0x55, sink);
	xdr_put_u32(&c->rpc.args, sink);
	pair_submit(p, c);
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 3), RDMA_MSG);
	assert_int_equal(raw_word(r, 4), 0); /* no Read list */
	assert_int_equal(raw_word(r, 5), 1);
	assert_int_equal(raw_word(r, 6), 1); /* one segment */
	assert_int_equal(raw_word(r, 8), sink);
	assert_int_equal(raw_word(r, 11), 0);
	assert_int_equal(raw_word(r, 12), 0); /* no Reply chunk */
}

static uint32_t sink_stag(const struct raw *r)
{
	return raw_word(r, 7);
}

static uint64_t sink_offset(const struct raw *r)
{
	return (uint64_t)raw_word(r, 9) << 32 | raw_word(r, 10);
}

static void a_call_as_the_rfc_has_it(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	pair_submit_null(&p, &c);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(r.len, 28 + 40);
	assert_int_equal(raw_word(&r, 0), c.rpc.xid);
	assert_int_equal(raw_word(&r, 1), 1);
	assert_int_equal(raw_word(&r, 2), 64);
	for (unsigned i = 3; i < 7; i++)
		assert_int_equal(raw_word(&r, i), 0);
	assert_int_equal(raw_word(&r, 7), c.rpc.xid);
	assert_int_equal(raw_word(&r, 8), 0); /* CALL */
	raw_answer(&r, &p, &c, 1, 64);
	raw_stop(&r, &p);
}

/* One call until the first grant; 0 counts as 1; the requester uses no more than it asked for; in
 * order. */
static void credits(void **state)
{
	static const struct {
		uint32_t grant, expect;
	} step[] = {{0, 1}, {2, 2}, {1, 1}, {5, 5}, {1000, 8}, {UINT32_MAX, 8}, {0, 1}};
	struct pair_params params = {.credits_client = 8};
	struct pair_call c[12];
	uint32_t now = 1;
	struct pair p;
	struct raw r;

	start(&p, &r, &params);
	for (size_t s = 0; s < sizeof(step) / sizeof(step[0]); s++) {
		unsigned seen = 0, answered = 0;

		raw_null(&r, &p, 1, step[s].grant);
		now = step[s].expect;
		assert_int_equal(p.client->credits, now);
		for (int i = 0; i < 12; i++)
			pair_submit_null(&p, &c[i]);
		while (answered < 12) {
			while (seen < 12 && seen - answered < now) {
				assert_true(raw_recv(&r, &p));
				assert_int_equal(raw_word(&r, 0), c[seen++].rpc.xid);
			}
			pair_progress(&p, 5); /* and no more come */
			reply(&r, c[answered].rpc.xid, step[s].grant);
			pair_wait(&p, &c[answered++]);
		}
		for (int i = 0; i < 12; i++)
			pair_call_finish(&c[i]);
	}
	raw_stop(&r, &p);
}

/* Replies that fail their call, and nothing else. */
static void a_bad_reply_fails_its_call(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	for (int i = 0; i < 8; i++) {
		uint32_t x;

		pair_submit_null(&p, &c);
		assert_true(raw_recv(&r, &p));
		x = c.rpc.xid;
		switch (i) {
		case 0: /* ERR_CHUNK */
			RAW_SEND(&r, x, 1, 8, 4, 2);
			break;
		case 1: /* ERR_VERS, in the version of the call or another */
			RAW_SEND(&r, x, 1, 8, 4, 1, 1, 1);
			break;
		case 2:
			RAW_SEND(&r, x, 2, 8, 4, 1, 2, 3);
			break;
		case 3: /* malformed */
			RAW_SEND(&r, x, 1, 8, 0, 7, 0, 0, RPC_REPLY(x));
			break;
		case 4: /* another version */
			RAW_SEND(&r, x, 9, 8, 0, 0, 0, 0, RPC_REPLY(x));
			break;
		case 5: /* a Read list */
			RAW_SEND(&r, x, 1, 8, 0, 1, 4, 7, 8, 0, 0, 0, 0, 0, RPC_REPLY(x));
			break;
		case 6: /* the RPC message has another XID */
			RAW_SEND(&r, x, 1, 8, 0, 0, 0, 0, RPC_REPLY(x + 1));
			break;
		case 7: /* nothing behind the header */
			RAW_SEND(&r, x, 1, 8, 0, 0, 0, 0);
			break;
		}
		pair_end(&p, &c, -EIO);
		raw_null(&r, &p, 1, 8);
	}
	raw_stop(&r, &p);
}

static void replies_to_nobody_are_dropped(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	reply(&r, 0xdead, 8);
	RAW_SEND(&r, 0xdead, 1, 8, 4, 2);
	RAW_SEND(&r, 0xdead, 1, 8, 3);
	RAW_SEND(&r, 0xdead);
	RAW_SEND(&r, 0xdead, 1, 8, 0, 5);
	raw_send(&r, NULL, 0, NULL, 0);
	raw_null(&r, &p, 1, 8);
	raw_stop(&r, &p);
}

static void returned_lengths(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	for (int i = 0; i < 7; i++) {
		uint32_t x, s;
		uint64_t off;

		submit_get(&p, &r, &c, 1000);
		x = c.rpc.xid;
		s = sink_stag(&r);
		off = sink_offset(&r);
		switch (i) {
		case 0: /* one byte too long */
			RAW_SEND(&r, x, 1, 8, 0, 0, 1, 1, s, 1001, 0, 0, 0, 0, RPC_REPLY(x));
			break;
		case 1:
			RAW_SEND(&r, x, 1, 8, 0, 0, 1, 1, s, UINT32_MAX, 0, 0, 0, 0, RPC_REPLY(x));
			break;
		case 2: /* two segments where one was offered */
			RAW_SEND(&r, x, 1, 8, 0, 0, 1, 2, s, 8, 0, 0, s, 8, 0, 8, 0, 0,
				RPC_REPLY(x));
			break;
		case 3: /* two chunks */
			RAW_SEND(&r, x, 1, 8, 0, 0, 1, 1, s, 8, 0, 0, 1, 1, s, 8, 0, 0, 0, 0,
				RPC_REPLY(x));
			break;
		case 4: /* a Reply chunk that was not offered */
			RAW_SEND(&r, x, 1, 8, 1, 0, 0, 1, 1, s, 24, 0, 0);
			break;
		case 5: /* fine: unused, empty */
			RAW_SEND(&r, x, 1, 8, 0, 0, 1, 1, s, 0, 0, 0, 0, 0, RPC_REPLY(x), 1, 0, 77);
			break;
		case 6: /* fine: three bytes */
			c.check = NULL;
			memcpy(r.zone->data, "abc", 3);
			raw_write(&r, s, off, 3);
			RAW_SEND(&r, x, 1, 8, 0, 0, 1, 1, s, 3, (uint32_t)(off >> 32),
				(uint32_t)off, 0, 0, RPC_REPLY(x), 1, 3, 77);
			break;
		}
		pair_wait(&p, &c);
		assert_int_equal(c.error, i < 5 ? -EIO : 0);
		if (i == 6)
			assert_memory_equal(c.rpc.sink[0].one.at.addr, "abc\x55", 4);
		pair_call_finish(&c);
		raw_null(&r, &p, 1, 8);
	}
	raw_stop(&r, &p);
}

/* Three segments offered, of 400, 300 and 300 bytes: only segments filled in order count. */
static void segments_are_filled_in_order(void **state)
{
	static const struct {
		uint32_t n, len[4];
		int error;
	} step[] = {
		{3, {400, 300, 299}, 0},
		{3, {400, 1, 0}, 0},
		{3, {0, 0, 0}, 0},
		{1, {400}, 0}, /* unused segments may be left out */
		{3, {399, 1, 0}, -EIO},
		{3, {0, 1, 0}, -EIO},
		{3, {400, 0, 1}, -EIO},
		{3, {400, 300, 301}, -EIO},
		{3, {401, 0, 0}, -EIO},
		{3, {UINT32_MAX, 300, 300}, -EIO},
		{4, {400, 300, 300, 0}, -EIO},
	};
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		struct mem_buf *b = mem_buf_get(p.cpool, 2000);
		struct seg s[] = {{mem_buf_sge(b, 1000, 400), b}, {mem_buf_sge(b, 0, 0), b},
			{mem_buf_sge(b, 0, 300), b}, {mem_buf_sge(b, 500, 300), b}};
		uint32_t w[6 + 1 + 16 + 2 + 6 + 3], k = 0, x, sum = 0;

		pair_call_init(&p, &c, PAIR_GET, 64);
		c.rpc.reply_max = 64;
		c.rpc.nsinks = 1;
		assert_int_equal(seg_list_init(&c.rpc.sink[0], s, 4), 0);
		xdr_put_u32(&c.rpc.args, 1000);
		pair_submit(&p, &c);
		assert_true(raw_recv(&r, &p));
		assert_int_equal(raw_word(&r, 5), 1);
		assert_int_equal(raw_word(&r, 6), 3);
		assert_int_equal(raw_word(&r, 8), 400);
		assert_int_equal(raw_word(&r, 12), 300);
		assert_int_equal(raw_word(&r, 16), 300);
		assert_int_equal(raw_word(&r, 19), 0);
		x = c.rpc.xid;
		for (uint32_t v = 0; v < 7; v++)
			w[k++] = (const uint32_t[]){x, 1, 8, 0, 0, 1, step[i].n}[v];
		for (uint32_t v = 0; v < step[i].n; v++) {
			w[k++] = raw_word(&r, 7 + 4 * (v % 3));
			w[k++] = step[i].len[v];
			w[k++] = raw_word(&r, 9 + 4 * (v % 3));
			w[k++] = raw_word(&r, 10 + 4 * (v % 3));
			sum += step[i].len[v];
		}
		w[k++] = 0;
		w[k++] = 0;
		for (uint32_t v = 0; v < 9; v++)
			w[k++] = (const uint32_t[]){RPC_REPLY(x), 1, sum, 77}[v];
		raw_send(&r, w, k, NULL, 0);
		pair_wait(&p, &c);
		assert_int_equal(c.error, step[i].error);
		c.rpc.nsinks = 0;
		pair_call_finish(&c);
		mem_buf_unref(b);
		raw_null(&r, &p, 1, 8);
	}
	raw_stop(&r, &p);
}

/* A call that may get a long reply; gives the Reply chunk's words in w: stag, len, offset. */
static void submit_list(struct pair *p, struct raw *r, struct pair_call *c, uint32_t w[4])
{
	pair_call_init(p, c, PAIR_LIST, 64);
	c->rpc.reply_max = 5001;
	xdr_put_u32(&c->rpc.args, 5000);
	pair_submit(p, c);
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 5), 0); /* no Write list */
	assert_int_equal(raw_word(r, 6), 1);
	assert_int_equal(raw_word(r, 7), 1);
	for (int i = 0; i < 4; i++)
		w[i] = raw_word(r, 8 + i);
	assert_int_equal(w[1], 5028); /* 24 + 5001, rounded up */
}

static void reply_chunks(void **state)
{
	static const uint32_t body[] = {0, 1, 0, 0, 0, 0};
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	for (int i = 0; i < 5; i++) {
		uint32_t x, w[4], n = sizeof(body);

		submit_list(&p, &r, &c, w);
		x = c.rpc.xid;
		for (int k = 0; k < 6; k++) {
			uint32_t be = htonl(k ? body[k] : i == 3 ? x + 1 : x);

			memcpy(r.zone->data + 4 * k, &be, 4);
		}
		raw_write(&r, w[0], (uint64_t)w[2] << 32 | w[3], n);
		if (i == 0) /* longer than offered */
			n = w[1] + 1;
		if (i == 1) /* no message */
			n = 0;
		if (i == 2) /* RDMA_MSG with a used Reply chunk */
			RAW_SEND(&r, x, 1, 8, 0, 0, 0, 1, 1, w[0], n, w[2], w[3], RPC_REPLY(x));
		else /* 3: another XID in the chunk; 4: fine */
			RAW_SEND(&r, x, 1, 8, 1, 0, 0, 1, 1, w[0], n, w[2], w[3]);
		pair_end(&p, &c, i == 4 ? 0 : -EIO);
		raw_null(&r, &p, 1, 8);
	}
	raw_stop(&r, &p);
}

/* A cancelled call has no door: a late write of the responder touches no memory. Where the provider
 * can tell, the write does no other harm either. */
static void a_late_write_finds_no_door(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	submit_get(&p, &r, &c, 1000);
	pair_forget(&p, &c);
	memset(r.zone->data, 0xaa, 1000);
	raw_write(&r, sink_stag(&r), sink_offset(&r), 1000);
	reply(&r, c.rpc.xid, 8);
	if (r.prov == &prov_fake_async)
		raw_wait_down(&r, &p);
	else
		raw_null(&r, &p, 1, 8);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(c.rpc.sink[0].one.hold->data[i], 0x55);
	pair_call_finish(&c);
	raw_stop(&r, &p);
}

/* Beyond the door, or into a door that is only for reading. */
static void a_write_beyond_its_door_ends_the_connection(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct pair_call c;
		struct pair p;
		struct raw r;

		start(&p, &r, &plain);
		submit_get(&p, &r, &c, 1000);
		raw_write(&r, sink_stag(&r), sink_offset(&r) + (i ? 1 : 0), i ? 1000 : 1001);
		raw_wait_down(&r, &p);
		pair_end(&p, &c, -ENOTCONN);
		raw_stop(&r, &p);
	}
}

/* The reply to a forgotten call gives its credit back; so does forgetting an unsent call. */
static void forgotten_calls_keep_the_credits_right(void **state)
{
	struct pair_call a, b, c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	raw_null(&r, &p, 1, 1);
	pair_submit_null(&p, &a);
	pair_submit_null(&p, &b);
	pair_submit_null(&p, &c);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 0), a.rpc.xid);
	assert_true(pair_forget(&p, &a));
	assert_false(pair_forget(&p, &b)); /* b was never sent */
	pair_progress(&p, 5);
	reply(&r, a.rpc.xid, 1); /* only now is there room for c */
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, 0), c.rpc.xid);
	reply(&r, c.rpc.xid, 1);
	pair_wait(&p, &c);
	assert_int_equal(c.error, 0);
	pair_call_finish(&a);
	pair_call_finish(&b);
	pair_call_finish(&c);
	raw_null(&r, &p, 1, 1);
	raw_stop(&r, &p);
}

static void send_invalidate(struct raw *r, uint32_t stag, uint32_t xid)
{
	const uint32_t w[] = {xid, 1, 8, 0, 0, 1, 1, stag, 0, 0, 0, 0, 0, RPC_REPLY(xid), 1, 0, 77};
	struct mem_buf *b = mem_buf_get(r->pool, sizeof(w));
	struct prov_wr wr = {.op = PROV_SEND_INV, .nsge = 1, .nhold = 1, .inv_stag = stag};

	for (size_t i = 0; i < sizeof(w) / 4; i++) {
		uint32_t be = htonl(w[i]);

		memcpy(b->data + 4 * i, &be, 4);
	}
	wr.sge[0] = mem_buf_sge(b, 0, sizeof(w));
	wr.hold[0] = b;
	assert_int_equal(r->prov->post(r->pc, &wr), 0);
	mem_buf_unref(b);
}

static void remote_invalidation(void **state)
{
	struct pair_call c, d;
	struct pair p;
	struct raw r;
	uint32_t stag;

	start(&p, &r, &plain);
	raw_null(&r, &p, 1, 8);
	submit_get(&p, &r, &c, 1000);
	send_invalidate(&r, sink_stag(&r), c.rpc.xid);
	pair_end(&p, &c, 0);

	/* another call's door: the replies of neither call can be believed any more */
	submit_get(&p, &r, &c, 1000);
	stag = sink_stag(&r);
	submit_get(&p, &r, &d, 1000);
	send_invalidate(&r, stag, d.rpc.xid);
	raw_wait_down(&r, &p);
	pair_wait(&p, &c);
	pair_wait(&p, &d);
	assert_int_equal(c.error, -ENOTCONN);
	pair_call_finish(&c);
	pair_call_finish(&d);
	raw_stop(&r, &p);
}

/* The reply to a cancelled call names the call's door, which is closed already. */
static void late_invalidation(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	if (r.prov != &prov_fake_async) {
		raw_null(&r, &p, 1, 8);
		submit_get(&p, &r, &c, 1000);
		pair_forget(&p, &c);
		send_invalidate(&r, sink_stag(&r), c.rpc.xid);
		raw_null(&r, &p, 1, 8);
		pair_call_finish(&c);
	}
	raw_stop(&r, &p);
}

/* ... or has closed the door just before the call is cancelled, and waits to be handled. */
static void invalidation_and_cancel_cross(void **state)
{
	struct pair_call b, c;
	struct pair p;
	struct raw r;

	start(&p, &r, &plain);
	raw_null(&r, &p, 1, 8);
	submit_get(&p, &r, &b, 1000);
	submit_get(&p, &r, &c, 1000);
	send_invalidate(&r, sink_stag(&r), c.rpc.xid);
	pair_forget(&p, &b); /* polls, if the provider closes doors later */
	pair_forget(&p, &c);
	reply(&r, b.rpc.xid, 8);
	raw_null(&r, &p, 1, 8);
	pair_call_finish(&b);
	pair_call_finish(&c);
	raw_stop(&r, &p);
}

static struct {
	struct pair *p;
	struct pair_call *victim;
} taker;

static void take_victim_back(struct pair_call *c, struct xdr_in *res)
{
	pair_forget(taker.p, taker.victim);
}

/* While one call ends, its owner takes back another call. The end of the other call has been polled
 * and not been handled. */
static void a_call_is_taken_back_at_its_end(void **state)
{
	for (int down = 0; down < 2; down++) {
		struct pair_call a, b;
		struct pair p;
		struct raw r;

		start(&p, &r, &plain);
		raw_null(&r, &p, 1, 8);
		submit_get(&p, &r, &a, 1000);
		submit_get(&p, &r, &b, 1000);
		taker.p = &p;
		taker.victim = &b;
		a.check = take_victim_back;
		reply(&r, a.rpc.xid, 8);
		reply(&r, b.rpc.xid, 8);
		if (down) { /* the end of the connection closes the doors of both */
			p.client->ops->progress(p.client, 100);
			r.prov->disconnect(r.pc);
		}
		pair_wait(&p, &a);
		pair_progress(&p, 5);
		assert_false(b.done);
		pair_call_finish(&a);
		pair_call_finish(&b);
		if (!down)
			raw_null(&r, &p, 1, 8);
		raw_stop(&r, &p);
	}
}

/* RFC 8167: a call from the responder, with an XID that a forward call has, too. */
static void reverse_calls(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;
	uint32_t x;

	start(&p, &r, &plain);
	raw_null(&r, &p, 1, 8);
	pair_submit_null(&p, &c);
	assert_true(raw_recv(&r, &p));
	x = c.rpc.xid;
	RAW_SEND(&r, x, 1, 2, 0, 0, 0, 0, x, 0, 2, PAIR_CB_PROG, 1, 0, 0, 0, 0, 0);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(p.cb_served, 1);
	assert_int_equal(raw_word(&r, 0), x);
	assert_int_equal(raw_word(&r, 2), RPCRDMA_REVERSE_CREDITS);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, 7), x);
	assert_int_equal(raw_word(&r, 8), 1); /* REPLY */
	assert_false(c.done);
	assert_int_equal(p.client->credits, 8); /* the 2 was a request, not a grant */
	reply(&r, x, 8);
	pair_end(&p, &c, 0);
	raw_stop(&r, &p);
}

/* Random replies, most of them almost right. */
static void random_replies(void **state)
{
	unsigned failed = 0, fine = 0, down = 0;

	srand(7);
	for (int round = 0; round < 20; round++) {
		struct pair p;
		struct raw r;

		start(&p, &r, &plain);
		raw_null(&r, &p, 1, 8);
		for (int i = 0; i < 50 && !p.client_down; i++) {
			uint32_t w[32] = {0, 1, 8, 0, 0, 1, 1, 0, 8, 0, 0, 0, 0};
			struct pair_call c;
			unsigned n = 13;

			submit_get(&p, &r, &c, 1000);
			w[0] = c.rpc.xid;
			w[7] = sink_stag(&r);
			memcpy(&w[n], (uint32_t[]){RPC_REPLY(c.rpc.xid)}, 24);
			n += 6;
			w[n++] = 1;
			w[n++] = rand() % 9;
			for (int k = rand() % 3; k; k--)
				w[3 + rand() % (n - 3)] = rand() % 4 ? rand() % 10 : rand();
			if (rand() % 4 == 0)
				n = rand() % n;
			raw_send(&r, w, n, NULL, 0);
			reply(&r, c.rpc.xid, 8);
			pair_wait(&p, &c);
			failed += c.error == -EIO;
			fine += c.error == 0;
			down += c.error == -ENOTCONN;
			pair_call_finish(&c);
		}
		raw_stop(&r, &p);
	}
	assert_true(failed > 100);
	assert_true(fine > 100);
	assert_int_equal(down, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_as_the_rfc_has_it),
		cmocka_unit_test(credits),
		cmocka_unit_test(a_bad_reply_fails_its_call),
		cmocka_unit_test(replies_to_nobody_are_dropped),
		cmocka_unit_test(returned_lengths),
		cmocka_unit_test(segments_are_filled_in_order),
		cmocka_unit_test(reply_chunks),
		cmocka_unit_test(a_late_write_finds_no_door),
		cmocka_unit_test(a_write_beyond_its_door_ends_the_connection),
		cmocka_unit_test(forgotten_calls_keep_the_credits_right),
		cmocka_unit_test(remote_invalidation),
		cmocka_unit_test(late_invalidation),
		cmocka_unit_test(a_call_is_taken_back_at_its_end),
		cmocka_unit_test(invalidation_and_cancel_cross),
		cmocka_unit_test(reverse_calls),
		cmocka_unit_test(random_replies),
	};

	return PAIR_RUN(tests);
}
