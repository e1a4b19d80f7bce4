/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/rpcrdma_lent: a responder that lends its replies, and two
 * ends that speak the dialect of 2005 with each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "transport/rpcrdma/old/ccp.h"

static const struct pair_params plain;

#define MSG(xid)  xid, 1, 8, 0, 0, 0, 0
#define DONE(xid) xid, 1, 8, 3
/* Where the first word of the Read list is. */
enum { LIST = 4, ENTRY = 6 };

static void everything_between_two_ends(void **state)
{
	static const uint32_t len[] = {8, 900, 1500, 3000, 4050, 8000, 40000, 300000};
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	assert_string_equal(p.client->rdma_dialect, "1-legacy");
	assert_int_equal(p.client->inline_send, 4096);
	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		pair_echo(&p, len[i]);
		pair_put(&p, len[i]);
		pair_list(&p, len[i], len[i] + 4);
		assert_true(pair_get(&p, len[i], len[i], 64));
	}
	/* without a sink the data is in Read chunks, or with the message in one */
	assert_false(pair_get(&p, 3000, 0, 3020));
	assert_int_equal(
		p.stats.replies_read, 2); /* lists of 4050, 8000; 40000 has a Reply chunk */
	assert_true(pair_get(&p, 5000, 0, 5020));
	assert_true(pair_get(&p, 7000, 0, 7020));
	assert_int_equal(p.stats.replies_read, 4);
	assert_int_equal(p.stats.calls_padded, 2); /* 1500, 3000 */
	while (((struct rpcrdma_conn *)p.server)->old.nlent)
		pair_progress(&p, 5);
	pair_finish(&p);
}

/* Asks for n bytes of PAIR_LIST, or of proc, without any chunk. */
static void ask(struct raw *r, uint32_t xid, uint32_t proc, uint32_t n)
{
	RAW_SEND(r, MSG(xid), RPC_CALL(xid, proc), n);
}

static void start(struct pair *p, struct raw *r, unsigned versions)
{
	pair_versions = versions;
	pair_init_responder(p, &plain, r);
	pair_versions = RPC_RDMA_V1_LEGACY;
}

static void a_long_reply_is_lent(void **state)
{
	uint8_t want[10000];
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	ask(&r, 1, PAIR_LIST, sizeof(want));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(r.len, 52);
	assert_int_equal(raw_word(&r, 0), 1);
	assert_int_equal(raw_word(&r, 1), 1);
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	assert_int_equal(raw_word(&r, LIST), 1);
	assert_int_equal(raw_word(&r, LIST + 1), 0);
	assert_int_equal(raw_word(&r, ENTRY + 1), 24 + 4 + sizeof(want));
	assert_true(raw_read(&r, raw_word(&r, ENTRY),
		(uint64_t)raw_word(&r, ENTRY + 2) << 32 | raw_word(&r, ENTRY + 3),
		28 + sizeof(want)));
	pair_pattern(want, sizeof(want), 9);
	assert_memory_equal(r.zone->data + 28, want, sizeof(want));
	RAW_SEND(&r, DONE(1));
	/* a requester that reads on loses the connection */
	ask(&r, 2, PAIR_NULL, 0);
	assert_true(raw_recv(&r, NULL));
	raw_stop(&r, &p);
}

static void nothing_is_read_after_done(void **state)
{
	uint64_t offset;
	uint32_t stag;
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	ask(&r, 1, PAIR_LIST, 10000);
	assert_true(raw_recv(&r, NULL));
	stag = raw_word(&r, ENTRY);
	offset = (uint64_t)raw_word(&r, ENTRY + 2) << 32 | raw_word(&r, ENTRY + 3);
	RAW_SEND(&r, DONE(1));
	ask(&r, 2, PAIR_NULL, 0);
	assert_true(raw_recv(&r, NULL));
	while (((struct rpcrdma_conn *)p.server)->old.nlent)
		r.prov->wait(r.pc, -1, 5);
	if (pair_prov == &prov_iwarp) /* with other providers no peer finds out */
		assert_false(raw_read(&r, stag, offset, 100));
	raw_stop(&r, &p);
}

static void a_payload_is_lent_at_its_position(void **state)
{
	uint8_t want[6001];
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	ask(&r, 1, PAIR_GET, sizeof(want));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, LIST + 1), 32); /* behind the length word */
	assert_int_equal(raw_word(&r, ENTRY + 1), sizeof(want));
	/* three ends of lists; then the header, 1, the length, and the words behind the data */
	assert_int_equal(raw_word(&r, 13), 1);
	assert_int_equal(r.len, 13 * 4 + 24 + 12);
	assert_int_equal(raw_word(&r, 20), sizeof(want));
	assert_int_equal(raw_word(&r, 21), 77);
	assert_true(raw_read(&r, raw_word(&r, ENTRY),
		(uint64_t)raw_word(&r, ENTRY + 2) << 32 | raw_word(&r, ENTRY + 3), sizeof(want)));
	pair_pattern(want, sizeof(want), 5);
	assert_memory_equal(r.zone->data, want, sizeof(want));
	RAW_SEND(&r, DONE(1));
	raw_stop(&r, &p);
}

static void a_reply_chunk_that_is_too_small_is_left(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	RAW_SEND(&r, 1, 1, 8, 0, 0, 0, 1, 1, 0x1234, 100, 0, 0, RPC_CALL(1, PAIR_LIST), 10000);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	assert_int_equal(raw_word(&r, LIST), 1);
	assert_int_equal(raw_word(&r, 12), 1); /* the chunk comes back unused */
	assert_int_equal(raw_word(&r, 15), 0);
	RAW_SEND(&r, DONE(1));
	raw_stop(&r, &p);
}

static void who_does_not_say_done_loses_the_connection(void **state)
{
	struct pair p;
	struct raw r;

	rpcrdma_lent_ms = 50;
	start(&p, &r, RPC_RDMA_V1_LEGACY);
	ask(&r, 1, PAIR_LIST, 10000);
	assert_true(raw_recv(&r, NULL));
	RAW_SEND(&r, DONE(2)); /* of another */
	raw_wait_down(&r, NULL);
	raw_stop(&r, &p);
	rpcrdma_lent_ms = 30000;
}

static void done_for_nothing_is_dropped(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	RAW_SEND(&r, DONE(77));
	ask(&r, 1, PAIR_LIST, 10000);
	assert_true(raw_recv(&r, NULL));
	RAW_SEND(&r, DONE(1));
	RAW_SEND(&r, DONE(1));
	ask(&r, 2, PAIR_NULL, 0);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 0), 2);
	raw_stop(&r, &p);
}

static void who_keeps_too_much_waits(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	for (uint32_t i = 0; i < RPCRDMA_LENT_MAX; i++) {
		ask(&r, i, PAIR_LIST, 5000);
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	}
	ask(&r, 1000, PAIR_NULL, 0);
	assert_false(raw_recv_within(&r, NULL, 100));
	assert_int_equal(p.served, RPCRDMA_LENT_MAX);
	RAW_SEND(&r, DONE(3));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 0), 1000);
	raw_stop(&r, &p);
}

static void a_server_of_both_lends_to_whom_it_knows(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1 | RPC_RDMA_V1_LEGACY);
	ask(&r, 1, PAIR_LIST, 10000);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 4), RDMA_ERR_CHUNK);
	RAW_SEND(&r, MSG(2), 2, 0, 2, CCP_PROG, 1, 1, 0, 0, 0, 0, 4096, 4096, 1);
	assert_true(raw_recv(&r, NULL));
	ask(&r, 3, PAIR_LIST, 10000);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	RAW_SEND(&r, DONE(3));
	raw_stop(&r, &p);
}

/* Memory that is lent when the connection goes down comes back without DONE: pair_finish()
 * looks. */
static void a_lost_connection_gives_back(void **state)
{
	struct pair p;
	struct raw r;

	start(&p, &r, RPC_RDMA_V1_LEGACY);
	ask(&r, 1, PAIR_LIST, 10000);
	ask(&r, 2, PAIR_GET, 10000);
	assert_true(raw_recv(&r, NULL));
	assert_true(raw_recv(&r, NULL));
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_between_two_ends),
		cmocka_unit_test(a_long_reply_is_lent),
		cmocka_unit_test(nothing_is_read_after_done),
		cmocka_unit_test(a_payload_is_lent_at_its_position),
		cmocka_unit_test(a_reply_chunk_that_is_too_small_is_left),
		cmocka_unit_test(who_does_not_say_done_loses_the_connection),
		cmocka_unit_test(done_for_nothing_is_dropped),
		cmocka_unit_test(who_keeps_too_much_waits),
		cmocka_unit_test(a_server_of_both_lends_to_whom_it_knows),
		cmocka_unit_test(a_lost_connection_gives_back),
	};

	pair_versions = RPC_RDMA_V1_LEGACY;
	return PAIR_RUN(tests);
}
