/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma_conn and its family, both ends against each other on each
 * provider: how messages of all sizes travel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "rpcrdma-pair.h"

static const struct pair_params plain;

static void start(struct pair *p, const struct pair_params *params)
{
	pair_init(p, params);
	pair_null(p); /* and with it the credits */
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

/* Sinks and a reply that may be too long: everything comes in the Reply chunk. */
static void get_with_a_long_reply_is_copied(void **state)
{
	struct pair p;

	start(&p, &plain);
	assert_false(pair_get(&p, 20001, 20001, 5000));
	assert_int_equal(p.last_sink_max, 0);
	assert_false(pair_get(&p, 21, 20001, 5000));
	pair_finish(&p);
}

/* The largest reply that needs no Reply chunk: header 28, RPC header 24, length word. */
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
	};

	return PAIR_RUN(tests);
}
