/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/rpcrdma_ccp: how the two ends tell each other their limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "transport/rpcrdma/old/ccp.h"

static const struct pair_params plain;

#define MSG(xid) xid, 1, 8, 0, 0, 0, 0
#define CONF(xid, prog, vers, proc, ...)                                                           \
	MSG(xid), xid, 0, 2, prog, vers, proc, 0, 0, 0, 0, __VA_ARGS__
#define STAT 12 /* the word of accept_stat */

/* --- a client ----------------------------------------------------------------------------------
 */

static uint32_t asked[32];
static uint32_t nasked;
static uint32_t answer[32];
static unsigned nanswer;

/* Notes the question, and answers `answer` with the question's XID in the places of the two
 * ones. */
static void greet(struct raw *r)
{
	if (!raw_recv(r, NULL))
		return;
	nasked = r->len / 4;
	for (unsigned i = 0; i < nasked && i < 32; i++)
		asked[i] = raw_word(r, i);
	answer[0] = asked[0];
	if (answer[3] != RDMA_ERROR)
		answer[7] = asked[0];
	raw_send(r, answer, nanswer, NULL, 0);
}

static void start(struct pair *p, struct raw *r, const uint32_t *w, size_t n)
{
	memcpy(answer, w, n * 4);
	nanswer = (unsigned)n;
	raw_greet = greet;
	pair_init_requester(p, &plain, r);
	raw_greet = NULL;
}
#define START(p, r, ...)                                                                           \
	start(p, r, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* The version word, credits, RDMA_MSG, no chunks, then an RPC reply up to accept_stat. */
#define ACCEPTED(grant, stat) 0, 1, grant, 0, 0, 0, 0, 0, 1, 0, 0, 0, stat

static void a_client_asks_first(void **state)
{
	static const uint32_t want[] = {1, RPCRDMA_CREDITS_DEFAULT, 0, 0, 0, 0};
	struct pair_call c;
	struct pair p;
	struct raw r;

	START(&p, &r, ACCEPTED(5, 0), 2048, 64, 3);
	assert_int_equal(nasked, 7 + 10 + 3);
	assert_memory_equal(&asked[1], want, sizeof(want));
	assert_int_equal(asked[7], asked[0]);
	assert_int_equal(asked[8], 0);
	assert_int_equal(asked[9], 2);
	assert_int_equal(asked[10], CCP_PROG);
	assert_int_equal(asked[11], 1);
	assert_int_equal(asked[12], 1);
	assert_int_equal(asked[17], 4096);
	assert_int_equal(asked[18], 4096);
	assert_int_equal(asked[19], 16);
	assert_int_equal(p.client->inline_send, 2048);
	assert_int_equal(p.client->inline_recv, 4096);
	assert_int_equal(p.client->credits, 5);
	assert_int_equal(((struct rpcrdma_conn *)p.client)->reads_max, 3);
	pair_submit_null(&p, &c);
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	raw_answer(&r, &p, &c, 1, 5);
	raw_stop(&r, &p);
}

static void limits_are_kept_within_ours(void **state)
{
	struct pair p;
	struct raw r;

	START(&p, &r, ACCEPTED(0xffffffff, 0), 0xffffffff, 0xffffffff, 0xffffffff);
	assert_int_equal(p.client->inline_send, 4096);
	assert_int_equal(p.client->credits, RPCRDMA_CREDITS_DEFAULT);
	assert_int_equal(((struct rpcrdma_conn *)p.client)->reads_max, RPCRDMA_READS_MAX);
	raw_stop(&r, &p);
	START(&p, &r, ACCEPTED(0, 0), 7, 0, 0);
	assert_int_equal(p.client->inline_send, 1024);
	assert_int_equal(p.client->credits, 1);
	raw_stop(&r, &p);
}

static void a_server_without_it_has_the_least(void **state)
{
	struct pair p;
	struct raw r;

	START(&p, &r, ACCEPTED(8, RPC_ACCEPT_PROG_UNAVAIL));
	assert_int_equal(p.client->inline_send, 1024);
	assert_int_equal(p.client->inline_recv, 1024);
	assert_int_equal(p.client->credits, 8);
	raw_stop(&r, &p);
	START(&p, &r, ACCEPTED(8, 0), 4096); /* cut off */
	assert_int_equal(p.client->inline_send, 1024);
	raw_stop(&r, &p);
	START(&p, &r, ACCEPTED(8, 0), 4096, 4, 4, 4); /* too long */
	assert_int_equal(p.client->inline_send, 1024);
	raw_stop(&r, &p);
	START(&p, &r, 0, 1, 8, RDMA_ERROR, RDMA_ERR_CHUNK);
	assert_int_equal(p.client->inline_send, 1024);
	raw_stop(&r, &p);
}

/* --- a server ----------------------------------------------------------------------------------
 */

static void a_server_tells_its_limits(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONF(1, CCP_PROG, 1, 1, 8192, 2048, 3));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, STAT), 0);
	assert_int_equal(raw_word(&r, 13), 4096);
	assert_int_equal(raw_word(&r, 14), 512);
	assert_int_equal(raw_word(&r, 15), 16);
	assert_int_equal(r.len, 64);
	assert_int_equal(p.server->inline_send, 2048);
	assert_int_equal(((struct rpcrdma_conn *)p.server)->reads_max, 3);
	assert_int_equal(p.served, 0); /* the call reached no service */
	raw_stop(&r, &p);
}

static void a_server_takes_no_nonsense(void **state)
{
	static const struct {
		uint32_t vers, proc, nargs, stat;
	} bad[] = {
		{1, 1, 0, RPC_ACCEPT_GARBAGE_ARGS},
		{1, 1, 2, RPC_ACCEPT_GARBAGE_ARGS},
		{1, 1, 4, RPC_ACCEPT_GARBAGE_ARGS},
		{1, 2, 3, RPC_ACCEPT_PROC_UNAVAIL},
		{2, 1, 3, RPC_ACCEPT_PROG_MISMATCH},
		{1, 0, 0, RPC_ACCEPT_SUCCESS},
	};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const uint32_t w[] = {
			CONF(i, CCP_PROG, bad[i].vers, bad[i].proc, 0xffffffff, 0, 0xffffffff, 1)};

		raw_send(&r, w, 17 + bad[i].nargs, NULL, 0);
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 0), i);
		assert_int_equal(raw_word(&r, STAT), bad[i].stat);
	}
	assert_int_equal(p.server->inline_send, 1024);
	/* sizes below the minimum of every connection */
	RAW_SEND(&r, CONF(9, CCP_PROG, 1, 1, 0, 0, 0));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, STAT), 0);
	assert_int_equal(p.server->inline_send, 1024);
	raw_stop(&r, &p);
}

static void a_client_of_no_reads_has_no_chunks(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONF(1, CCP_PROG, 1, 1, 4096, 4096, 0));
	assert_true(raw_recv(&r, NULL));
	RAW_SEND(&r, 2, 1, 8, 1, 1, 0, 0x41, 200, 0, 0, 0, 0, 0);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 0), 2);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 4), RDMA_ERR_CHUNK);
	/* nor is a reply lent to the client */
	RAW_SEND(&r, MSG(3), RPC_CALL(3, PAIR_LIST), 10000);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 4), RDMA_ERR_CHUNK);
	raw_stop(&r, &p);
}

/* A message that was sent while Reads were allowed is read to its end. */
static void a_client_takes_no_reads_any_more(void **state)
{
	enum { N = 10 };
	const uint32_t rpc[N] = {RPC_CALL(2, PAIR_NULL)};
	uint32_t w[4 + 6 * N + 3] = {2, 1, 8, 1}, seen = 0, n = 4;
	struct prov_door d;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, CONF(1, CCP_PROG, 1, 1, 4096, 4096, 1));
	assert_true(raw_recv(&r, NULL));
	for (int i = 0; i < N; i++)
		((uint32_t *)(void *)r.zone->data)[i] = htobe32(rpc[i]);
	d = raw_expose(&r, 0, sizeof(rpc));
	for (unsigned i = 0; i < N; i++) {
		const uint32_t seg[] = {
			1, 0, d.stag, 4, (uint32_t)(d.offset >> 32), (uint32_t)d.offset + 4 * i};

		memcpy(w + n, seg, sizeof(seg));
		n += 6;
	}
	raw_send(&r, w, n + 3, NULL, 0);
	RAW_SEND(&r, CONF(3, CCP_PROG, 1, 1, 4096, 4096, 0));
	for (int i = 0; i < 2; i++) {
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 3), RDMA_MSG);
		seen |= 1u << raw_word(&r, 0);
	}
	assert_int_equal(seen, 1u << 2 | 1u << 3);
	raw_hide(&r, &d);
	raw_stop(&r, &p);
}

static void a_server_of_version_1_does_not_know_it(void **state)
{
	struct pair p;
	struct raw r;

	pair_versions = RPC_RDMA_V1;
	pair_init_responder(&p, &plain, &r);
	pair_versions = RPC_RDMA_V1_LEGACY;
	RAW_SEND(&r, CONF(1, CCP_PROG, 1, 1, 4096, 4096, 1));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(p.served, 1); /* the service sees the program, and may refuse the call */
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_asks_first),
		cmocka_unit_test(limits_are_kept_within_ours),
		cmocka_unit_test(a_server_without_it_has_the_least),
		cmocka_unit_test(a_server_tells_its_limits),
		cmocka_unit_test(a_server_takes_no_nonsense),
		cmocka_unit_test(a_client_of_no_reads_has_no_chunks),
		cmocka_unit_test(a_client_takes_no_reads_any_more),
		cmocka_unit_test(a_server_of_version_1_does_not_know_it),
	};

	pair_versions = RPC_RDMA_V1_LEGACY;
	return PAIR_RUN(tests);
}
