/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp: the provider against itself over loopback TCP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/transport/iwarp/iwarp-pair.h"

static void private_data_and_depths_are_exchanged(void **state)
{
	struct prov_params a, b;
	struct pair p = {.pool = mem_pool_new(0)};

	a = b = pair_params(p.pool);
	a.ird = 9;
	a.ord = 7;
	b.ird = 3;
	b.ord = 200;
	b.priv = "other";
	b.priv_len = 5;
	pair_init(&p, &a, &b);
	assert_int_equal(p.active.rc, 0);
	assert_int_equal(p.passive.rc, 0);
	assert_int_equal(p.active.c->ord, 3);
	assert_int_equal(p.passive.c->ird, 3);
	assert_int_equal(p.passive.c->ord, 9);
	assert_int_equal(p.active.c->ird, 9);
	assert_true(((struct iwarp_conn *)p.active.c)->long_fpdus);
	assert_true(((struct iwarp_conn *)p.passive.c)->long_fpdus);
	assert_int_equal(p.active.c->peer_priv_len, 5);
	assert_memory_equal(p.active.c->peer_priv, "other", 5);
	assert_int_equal(p.passive.c->peer_priv_len, 8);
	assert_memory_equal(p.passive.c->peer_priv, "private!", 8);
	pair_finish(&p);
}

static void sends_arrive_in_order_both_ways(void **state)
{
	static uint8_t bufs[2][40][3000], out[2][40][3000];
	struct pair p;

	pair_start(&p, false);
	for (unsigned i = 0; i < 40; i++) {
		post_recv(&p.active, i, bufs[0][i], 3000);
		post_recv(&p.passive, i, bufs[1][i], 3000);
		pair_fill(out[0][i], 3000, i);
		pair_fill(out[1][i], 3000, i + 100);
	}
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(send_bytes(&p.passive, out[0][i], i * 70, 0), 0);
		assert_int_equal(send_bytes(&p.active, out[1][i], 3000 - i * 70, 0), 0);
	}
	assert_true(pump(&p.active, 40, &p.passive, 40));
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(p.active.log[i].op, PROV_WC_RECV);
		assert_int_equal(p.active.log[i].cookie, i);
		assert_int_equal(p.active.log[i].len, i * 70);
		assert_memory_equal(bufs[0][i], out[0][i], i * 70);
		assert_int_equal(p.passive.log[i].len, 3000 - i * 70);
		assert_memory_equal(bufs[1][i], out[1][i], 3000 - i * 70);
	}
	pair_finish(&p);
}

static void passive_side_waits_for_the_first_fpdu(void **state)
{
	uint8_t b[16];
	struct pair p;

	pair_start(&p, false);
	post_recv(&p.active, 1, b, sizeof(b));
	assert_int_equal(send_bytes(&p.passive, "early", 5, 0), 0);
	for (int i = 0; i < 1000; i++) {
		end_poll(&p.active);
		end_poll(&p.passive);
	}
	assert_int_equal(p.active.n, 0);
	greet(&p);
	assert_true(pump(&p.active, 1, &p.passive, 1));
	assert_memory_equal(b, "early", 5);
	pair_finish(&p);
}

/* A Write in pieces, then a Send that tells of the Write, in one go. */
static void write_then_send(struct pair *p, struct end *from, struct end *to, uint32_t size)
{
	uint8_t *src = malloc(size + 1), *dst = calloc(1, size + 32), b[64];
	struct mem_sge s = sge_of(dst + 16, size);
	struct prov_wr wr = {.op = PROV_WRITE, .flags = PROV_MORE, .nsge = 3};
	struct prov_door door;
	unsigned n = to->n;

	pair_fill(src, size, size);
	post_recv(to, 7, b, sizeof(b));
	assert_int_equal(prov_iwarp.expose(to->c, &s, PROV_REMOTE_WRITE, &door), 0);
	wr.remote_stag = door.stag;
	wr.remote_offset = door.offset;
	wr.sge[0] = sge_of(src, size / 3);
	wr.sge[1] = sge_of(src + size / 3, size / 5);
	wr.sge[2] = sge_of(src + size / 3 + size / 5, size - size / 3 - size / 5);
	assert_int_equal(prov_iwarp.post(from->c, &wr), 0);
	assert_int_equal(send_bytes(from, "done", 4, 0), 0);
	assert_true(pump(to, n + 1, from, 0));
	assert_int_equal(to->log[n].op, PROV_WC_RECV);
	assert_int_equal(to->log[n].cookie, 7);
	assert_memory_equal(dst + 16, src, size);
	for (int i = 0; i < 16; i++)
		assert_int_equal(dst[i] | dst[16 + size + (unsigned)i], 0);
	assert_int_equal(prov_iwarp.withdraw(to->c, &door, 1, 0), 0);
	free(src);
	free(dst);
}

static void writes_of_all_sizes(struct pair *p)
{
	static const uint32_t sizes[] = {0, 1, 2, 3, 5, 100, 4096, 8191, 32768, 65460, 65461, 65600,
		131072, 1 << 20, 5000000};

	greet(p);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		write_then_send(p, &p->active, &p->passive, sizes[i]);
		write_then_send(p, &p->passive, &p->active, sizes[i]);
	}
}

static void writes_land_before_the_send(void **state)
{
	struct pair p;

	pair_start(&p, false);
	writes_of_all_sizes(&p);
	pair_finish(&p);
}

static void writes_land_with_crc(void **state)
{
	struct pair p;

	pair_start(&p, true);
	assert_true(((struct iwarp_conn *)p.active.c)->crc);
	assert_true(((struct iwarp_conn *)p.passive.c)->crc);
	writes_of_all_sizes(&p);
	pair_finish(&p);
}

/* A stream without TCP's segment size: FPDUs as on an Ethernet, or as long as two peers that allow
 * long FPDUs make them. */
static void small_segments_carry_large_messages(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		bool crc = kind & 1, longer = kind & 2;
		struct pair p = {.pool = mem_pool_new(0)};
		struct prov_params params = pair_params(p.pool);
		struct iwarp_conn *c[2];
		int sv[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
		for (int k = 0; k < 2; k++) {
			c[k] = iwarp_conn_new(sv[k], k == 0, &params);
			assert_non_null(c[k]);
			c[k]->long_fpdus = longer;
			assert_int_equal(iwarp_conn_start(c[k], 4, 4, crc), 0);
		}
		assert_true(longer ? c[0]->mulpdu > 64000 : c[0]->mulpdu < 1500);
		p.active.c = &c[0]->prov;
		p.passive.c = &c[1]->prov;
		writes_of_all_sizes(&p);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_data_and_depths_are_exchanged),
		cmocka_unit_test(sends_arrive_in_order_both_ways),
		cmocka_unit_test(passive_side_waits_for_the_first_fpdu),
		cmocka_unit_test(writes_land_before_the_send),
		cmocka_unit_test(writes_land_with_crc),
		cmocka_unit_test(small_segments_carry_large_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
