/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_conn and its family, both ends against each other on each
 * provider: messages of all sizes, few credits, faults, both directions, calls taken back, many
 * threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

static const struct pair_params plain;

static void start(struct pair *p, const struct pair_params *params)
{
	pair_init(p, params);
	pair_null(p); /* and also the credits */
}

static void null(void **state)
{
	struct pair p;

	start(&p, &plain);
	assert_int_equal(p.client->inline_send, 4096);
	assert_int_equal(p.client->inline_recv, 4096);
	assert_int_equal(p.client->credits, 64);
	assert_int_equal(p.served, 1);
	pair_finish(&p);
}

/* Around the size at which payload leaves the Send: header 28, RPC header 40, two words, length. */
static void put_around_the_inline_size(void **state)
{
	const uint32_t edge = 4096 - 28 - 40 - 12;
	struct pair p;

	start(&p, &plain);
	for (uint32_t n = edge - 8; n <= edge + 8; n++) {
		uint64_t exposed = p.stats.bytes_exposed;

		pair_put(&p, n);
		assert_int_equal(p.stats.bytes_exposed - exposed, n <= edge ? 0 : n);
	}
	pair_finish(&p);
}

static void put_small_odd_and_large(void **state)
{
	struct pair p;

	start(&p, &plain);
	for (uint32_t n = 0; n <= 9; n++)
		pair_put(&p, n);
	pair_put(&p, 65537);
	pair_put(&p, (1u << 20) - 1);
	pair_put(&p, 1u << 20);
	pair_finish(&p);
}

static void get_is_placed(void **state)
{
	static const uint32_t size[] = {1, 2, 3, 4, 5, 4093, 65537, (1u << 20) - 3, 1u << 20};
	struct pair p;

	start(&p, &plain);
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		assert_true(pair_get(&p, size[i], size[i], 64));
		assert_int_equal(p.last_sink_max, size[i]);
	}
	assert_true(pair_get(&p, 100, 1000, 64));    /* a short read */
	assert_false(pair_get(&p, 0, 1000, 64));     /* at the end of the file */
	assert_false(pair_get(&p, 501, 0, 600));     /* no sink: inline */
	assert_false(pair_get(&p, 50001, 0, 50100)); /* no sink: in the Reply chunk */
	pair_finish(&p);
}

/* Sinks and a reply that may be too long: the whole reply comes in the Reply chunk. */
static void get_with_a_long_reply_is_copied(void **state)
{
	struct pair p;

	start(&p, &plain);
	assert_false(pair_get(&p, 20001, 20001, 5000));
	assert_int_equal(p.last_sink_max, 0);
	assert_false(pair_get(&p, 21, 20001, 5000));
	pair_finish(&p);
}

/* The largest reply without a Reply chunk: header 28, RPC header 24, length word. */
static void list_around_the_inline_size(void **state)
{
	const uint32_t edge = 4096 - 28 - 24 - 4;
	struct pair p;

	start(&p, &plain);
	for (uint32_t n = edge - 8; n <= edge + 8; n++)
		pair_list(&p, n, 4 + ((n + 3) & ~3u));
	/* with a Reply chunk, inline ends where the returned chunk makes the header longer */
	for (uint32_t n = edge - 28; n <= edge + 8; n += 4)
		pair_list(&p, n, 100000);
	pair_list(&p, 0, 100000);
	pair_list(&p, 99996, 100000);
	pair_list(&p, 1u << 20, 4 + (1u << 20));
	pair_finish(&p);
}

static void long_calls(void **state)
{
	const uint32_t edge = 4096 - 28 - 40 - 4;
	struct pair p;

	start(&p, &plain);
	for (uint32_t n = edge - 8; n <= edge + 8; n++)
		pair_echo(&p, n);
	pair_echo(&p, 100001);
	pair_echo(&p, 1u << 20);
	pair_finish(&p);
}

/* Both sizes, and one side smaller than the other. */
static void other_inline_sizes(void **state)
{
	static const struct {
		uint32_t client, server, each;
	} size[] = {{1024, 4096, 1024}, {4096, 1024, 1024}, {65536, 65536, 65536}, {5000, 0, 4096}};

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		const struct pair_params params = {
			.inline_client = size[i].client,
			.inline_server = size[i].server,
		};
		uint32_t edge = size[i].each - 28 - 40 - 12;
		struct pair p;

		start(&p, &params);
		assert_int_equal(p.client->inline_send, size[i].each);
		assert_int_equal(p.client->inline_recv, size[i].each);
		pair_put(&p, edge);
		assert_int_equal(p.stats.bytes_exposed, 0);
		pair_put(&p, edge + 1);
		assert_int_equal(p.stats.bytes_exposed, edge + 1);
		pair_list(&p, size[i].each - 56, size[i].each - 52);
		pair_list(&p, size[i].each - 55, size[i].each - 48);
		pair_echo(&p, size[i].each);
		pair_finish(&p);
	}
}

/* Every call is answered, for any number of credits. */
static void few_credits(void **state)
{
	for (int i = 0; i < 3; i++) {
		const struct pair_params params = {
			.credits_server = i == 0 ? 1 : 0,
			.credits_client = i == 1 ? 1 : 0,
		};
		struct pair_call c[100];
		struct pair p;

		start(&p, &params);
		if (i == 2)
			p.fault = FAULT_NO_CREDIT; /* grants 0 */
		pair_null(&p);
		assert_int_equal(p.client->credits, 1);
		for (int k = 0; k < 100; k++) {
			pair_call_init(&p, &c[k], PAIR_NULL, 64);
			pair_submit(&p, &c[k]);
		}
		for (int k = 0; k < 100; k++) {
			pair_wait(&p, &c[k]);
			assert_int_equal(c[k].error, 0);
			pair_call_finish(&c[k]);
		}
		pair_finish(&p);
	}
}

static void get_init(struct pair *p, struct pair_call *c, uint32_t proc, uint32_t n)
{
	pair_call_init(p, c, proc, 64);
	c->rpc.reply_max = 64;
	c->rpc.nsinks = 1;
	c->rpc.sink[0] = seg_list_of_buf(mem_buf_get(p->cpool, n), 0, n);
	xdr_put_u32(&c->rpc.args, n);
}

static void faults_fail_one_call(void **state)
{
	static const enum fault_kind fault[] = {FAULT_ERR_CHUNK, FAULT_ERR_VERS, FAULT_LONG_CHUNK};
	struct pair p;

	start(&p, &plain);
	for (size_t i = 0; i < sizeof(fault) / sizeof(fault[0]); i++) {
		struct pair_call c;

		get_init(&p, &c, PAIR_GET, 5000);
		p.fault = fault[i];
		pair_do(&p, &c);
		assert_int_equal(c.error, -EIO);
		pair_call_finish(&c);
		p.fault = FAULT_NONE;
		assert_true(pair_get(&p, 5000, 5000, 64));
	}
	pair_finish(&p);
}

/* A call that cannot be sent fails, and the credit goes to the next call. Here, a reverse call that
 * is too long to be inline uses the responder's only credit; and a sink of no bytes has no door. */
static void a_call_that_cannot_be_sent(void **state)
{
	struct pair_call c;
	struct pair p;

	start(&p, &plain);
	pair_call_init(&p, &c, PAIR_CALL_BACK, 64);
	p.cb_long = true;
	pair_do(&p, &c);
	assert_int_equal(c.error, 0);
	pair_call_finish(&c);
	for (int i = 0; i < 6000 && !p.cb_done; i++)
		pair_progress(&p, 10);
	assert_int_equal(p.cb_error, -EIO);
	assert_int_equal(p.cb_served, 0);
	pair_null(&p);

	get_init(&p, &c, PAIR_NONE, 1);
	c.rpc.sink[0].len = 0;
	pair_do(&p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(p.last_sink_max, 0);
	pair_call_finish(&c);
	pair_finish(&p);
}

static void closed_in_the_middle(void **state)
{
	struct pair_call c, d;
	struct pair p;

	start(&p, &plain);
	get_init(&p, &c, PAIR_LATER, 5000);
	pair_submit(&p, &c);
	p.fault = FAULT_CLOSE_MID;
	get_init(&p, &d, PAIR_GET, 5000);
	pair_submit(&p, &d);
	pair_wait(&p, &c);
	pair_wait(&p, &d);
	assert_int_equal(c.error, -ENOTCONN);
	assert_int_equal(d.error, -ENOTCONN);
	pair_call_finish(&c);
	pair_call_finish(&d);
	pair_finish(&p);
}

/* The responder calls while it serves a call. */
static void calls_back(void **state)
{
	struct pair_call c;
	struct pair p;

	start(&p, &plain);
	pair_call_init(&p, &c, PAIR_CALL_BACK, 64);
	pair_do(&p, &c);
	assert_int_equal(c.error, 0);
	pair_call_finish(&c);
	for (int i = 0; i < 6000 && !p.cb_done; i++)
		pair_progress(&p, 10);
	assert_true(p.cb_done);
	assert_int_equal(p.cb_error, 0);
	assert_int_equal(p.cb_served, 1);
	assert_int_equal(p.client->credits, 64);
	pair_null(&p);
	pair_finish(&p);
}

/* Calls taken back: queued ones, and ones with a late reply. The memory of such a call is free at
 * once. (Without doors; a late reply that would write or invalidate ends the connection, see
 * test-requester_reply.) */
static void taken_back(void **state)
{
	const struct pair_params params = {.credits_server = 8};
	struct pair_call c[16];
	struct pair p;

	start(&p, &params);
	for (int i = 0; i < 16; i++) {
		pair_call_init(&p, &c[i], PAIR_LATER, 64);
		pair_submit(&p, &c[i]);
	}
	while (p.served < 9)
		pair_progress(&p, 1);
	for (int i = 0; i < 16; i++) {
		pair_forget(&p, &c[i]);
		pair_call_finish(&c[i]);
	}
	assert_int_equal(pair_release(&p), 8);
	for (int i = 0; i < 20; i++)
		pair_null(&p);
	assert_true(pair_get(&p, 5000, 5000, 64));
	pair_finish(&p);
}

#define THREADS 4
#define EACH	40

struct storm {
	struct pair *p;
	struct pair_call call[EACH];
	uint32_t off[EACH];
	pthread_t thread;
};

static void *storm_main(void *ctx)
{
	struct storm *s = ctx;

	for (int i = 0; i < EACH; i++)
		if (s->p->client->ops->send_call(s->p->client, &s->call[i].rpc, s->off[i]))
			abort();
	return NULL;
}

/* Several threads send, with fewer credits than calls; payload both ways. */
static void many_threads(void **state)
{
	const struct pair_params params = {.credits_server = 7};
	struct storm *s = calloc(THREADS, sizeof(*s));
	struct pair p;

	start(&p, &params);
	for (int t = 0; t < THREADS; t++) {
		s[t].p = &p;
		for (int i = 0; i < EACH; i++) {
			get_init(&p, &s[t].call[i], PAIR_GET, 3000 + i);
			s[t].off[i] = pair_enter(&p, &s[t].call[i]);
		}
	}
	for (int t = 0; t < THREADS; t++)
		pthread_create(&s[t].thread, NULL, storm_main, &s[t]);
	for (int t = 0; t < THREADS; t++) {
		for (int i = 0; i < EACH; i++) {
			struct pair_call *c = &s[t].call[i];
			uint8_t want[3000 + EACH];

			pair_wait(&p, c);
			assert_int_equal(c->error, 0);
			pair_pattern(want, 3000 + i, 5);
			assert_memory_equal(c->rpc.sink[0].one.at.addr, want, 3000 + i);
		}
	}
	for (int t = 0; t < THREADS; t++) {
		pthread_join(s[t].thread, NULL);
		for (int i = 0; i < EACH; i++)
			pair_call_finish(&s[t].call[i]);
	}
	free(s);
	pair_finish(&p);
}

struct sender {
	struct pair *p;
	struct pair_call *call;
	uint32_t off;
	pthread_t thread;
};

static void *sender_main(void *ctx)
{
	struct sender *s = ctx;

	if (s->p->client->ops->send_call(s->p->client, &s->call->rpc, s->off))
		abort();
	return NULL;
}

/* While one thread sends a call, the progress thread already answers RDMA Reads of other calls: one
 * thread must take care of a full socket. */
static void large_calls_from_other_threads(void **state)
{
	struct mem_buf *data;
	struct mem_sge sge;
	struct pair p;

	start(&p, &plain);
	data = mem_buf_get(p.cpool, 1u << 20);
	pair_pattern(data->data, 1u << 20, 3);
	sge = mem_buf_sge(data, 0, 1u << 20);
	for (int round = 0; round < 10; round++) {
		struct pair_call c[4];
		struct sender s[4];

		for (int i = 0; i < 4; i++) {
			pair_call_init(&p, &c[i], PAIR_PUT, 128);
			c[i].rpc.reply_max = 16;
			xdr_put_u32(&c[i].rpc.args, 1);
			xdr_put_payload(&c[i].rpc.args, &sge);
			xdr_put_u32(&c[i].rpc.args, 2);
			s[i] = (struct sender){
				.p = &p, .call = &c[i], .off = pair_enter(&p, &c[i])};
		}
		for (int i = 0; i < 4; i++)
			pthread_create(&s[i].thread, NULL, sender_main, &s[i]);
		for (int i = 0; i < 4; i++) {
			pair_wait(&p, &c[i]);
			assert_int_equal(c[i].error, 0);
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(s[i].thread, NULL);
			pair_call_finish(&c[i]);
		}
	}
	mem_buf_unref(data);
	pair_finish(&p);
}

static void check_pieces(struct pair_call *c, struct xdr_in *res)
{
	struct seg_list got;

	assert_int_equal(xdr_get_u32(res), 1);
	assert_true(xdr_get_payload_list(res, 2u << 20, &got, &c->placed));
	c->len = got.len;
	c->copy = malloc(got.len);
	seg_list_gather(&got, c->copy);
	assert_int_equal(xdr_get_u32(res), 77);
	assert_true(xdr_in_ok(res) && !xdr_in_left(res));
}

static void check_put(struct pair_call *c, struct xdr_in *res)
{
	for (int i = 0; i < 4; i++)
		c->word[i] = xdr_get_u32(res);
	assert_true(xdr_in_ok(res));
}

/* n pages, out and in; in this order, no page continues the one before. */
static void go_in_pieces(struct pair *p, unsigned n, bool direct)
{
	const uint32_t len = n * 4096 - 5;
	struct mem_buf *b = mem_buf_get(p->cpool, n * 4096);
	struct seg *piece = calloc(n, sizeof(*piece));
	uint8_t *want = malloc(n * 4096);
	uint64_t before;
	struct seg_list l;
	struct pair_call c;

	for (unsigned i = 0; i < n; i++)
		piece[i] = (struct seg){mem_buf_sge(b, (n - 1 - i) * 4096, 4096), b};
	assert_int_equal(seg_list_init(&l, piece, n), 0);
	pair_call_init(p, &c, PAIR_GET, 64);
	c.rpc.reply_max = 64;
	c.check = check_pieces;
	c.rpc.nsinks = 1;
	c.rpc.sink[0] = l;
	xdr_put_u32(&c.rpc.args, len);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.len, len);
	assert_int_equal(c.placed, direct);
	pair_pattern(want, len, 5);
	assert_memory_equal(c.copy, want, len);
	c.rpc.nsinks = 0;
	pair_call_finish(&c);

	l = seg_list_cut(&l, 0, len);
	seg_list_gather(&l, want);
	before = p->stats.bytes_exposed;
	pair_call_init(p, &c, PAIR_PUT, 128);
	c.rpc.reply_max = 16;
	c.check = check_put;
	xdr_put_u32(&c.rpc.args, 0x11);
	xdr_put_payload_list(&c.rpc.args, &l);
	xdr_put_u32(&c.rpc.args, 0x22);
	pair_do(p, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.word[0], len);
	assert_int_equal(c.word[1], pair_sum(want, len));
	assert_int_equal(p->stats.bytes_exposed - before, direct ? len : 0);
	pair_call_finish(&c);
	mem_buf_unref(b);
	free(piece);
	free(want);
}

/* As many segments as pieces, if a header has room for that many; otherwise through one buffer. */
static void payload_in_pieces(void **state)
{
	static const struct pair_params large = {.inline_client = 16384, .inline_server = 16384};
	struct pair p;

	start(&p, &large);
	go_in_pieces(&p, 5, true);
	go_in_pieces(&p, 17, true);
	go_in_pieces(&p, 256, true);
	pair_finish(&p);
	start(&p, &plain);
	go_in_pieces(&p, 17, true);
	go_in_pieces(&p, 256, false);
	pair_null(&p);
	pair_finish(&p);
}

/* The connection goes while calls are in all states: no call is lost, no door stays. */
static void shutdown_under_load(void **state)
{
	const struct pair_params params = {.credits_server = 4};

	for (int round = 0; round < 5; round++) {
		struct pair_call c[40];
		struct pair p;

		start(&p, &params);
		for (int i = 0; i < 40; i++) {
			get_init(&p, &c[i], i % 5 ? PAIR_GET : PAIR_LATER, 20000);
			pair_submit(&p, &c[i]);
		}
		pair_progress(&p, round);
		p.client->ops->shutdown(p.client);
		for (int i = 0; i < 40; i++) {
			pair_wait(&p, &c[i]);
			assert_true(c[i].error == 0 || c[i].error == -ENOTCONN);
			pair_call_finish(&c[i]);
		}
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null),
		cmocka_unit_test(put_around_the_inline_size),
		cmocka_unit_test(put_small_odd_and_large),
		cmocka_unit_test(get_is_placed),
		cmocka_unit_test(get_with_a_long_reply_is_copied),
		cmocka_unit_test(list_around_the_inline_size),
		cmocka_unit_test(long_calls),
		cmocka_unit_test(other_inline_sizes),
		cmocka_unit_test(few_credits),
		cmocka_unit_test(faults_fail_one_call),
		cmocka_unit_test(a_call_that_cannot_be_sent),
		cmocka_unit_test(closed_in_the_middle),
		cmocka_unit_test(calls_back),
		cmocka_unit_test(taken_back),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(payload_in_pieces),
		cmocka_unit_test(large_calls_from_other_threads),
		cmocka_unit_test(shutdown_under_load),
	};

	return PAIR_RUN(tests);
}
