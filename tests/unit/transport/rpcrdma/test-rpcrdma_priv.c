/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_priv. The vectors follow RFC 8797 section 4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "transport/rpcrdma/rpcrdma_priv.h"

static void golden(void **state)
{
	/* the bytes of a Linux server: 4096 both ways, no remote invalidation */
	static const uint8_t linux_bytes[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};
	struct rpcrdma_priv p = {.send_size = 4096, .recv_size = 4096};
	uint8_t out[RPCRDMA_PRIV_LEN];

	rpcrdma_priv_encode(&p, out);
	assert_memory_equal(out, linux_bytes, sizeof(out));
	memset(&p, 0xff, sizeof(p));
	assert_true(rpcrdma_priv_decode(&p, linux_bytes, sizeof(linux_bytes)));
	assert_false(p.remote_inval);
	assert_int_equal(p.send_size, 4096);
	assert_int_equal(p.recv_size, 4096);
}

static void flag_and_extreme_sizes(void **state)
{
	static const uint8_t bytes[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 0, 255};
	struct rpcrdma_priv p = {.remote_inval = true, .send_size = 1024, .recv_size = 262144};
	uint8_t out[RPCRDMA_PRIV_LEN];

	rpcrdma_priv_encode(&p, out);
	assert_memory_equal(out, bytes, sizeof(out));
	assert_true(rpcrdma_priv_decode(&p, bytes, sizeof(bytes)));
	assert_true(p.remote_inval);
	assert_int_equal(p.send_size, 1024);
	assert_int_equal(p.recv_size, 262144);

	p.send_size = 0;
	p.recv_size = UINT32_MAX;
	rpcrdma_priv_encode(&p, out);
	assert_int_equal(out[6], 0);
	assert_int_equal(out[7], 255);
	p.send_size = 2047; /* rounded down: the end never promises more than it has */
	rpcrdma_priv_encode(&p, out);
	assert_int_equal(out[6], 0);
}

static void found_at_any_offset(void **state)
{
	uint8_t data[64];
	struct rpcrdma_priv p;

	for (size_t at = 0; at <= sizeof(data) - RPCRDMA_PRIV_LEN; at++) {
		memset(data, 0xf6, sizeof(data));
		memcpy(data + at, "\xf6\xab\x0e\x18\x01\x01\x07\x0f", 8);
		assert_true(rpcrdma_priv_decode(&p, data, sizeof(data)));
		assert_int_equal(p.send_size, 8192);
		assert_int_equal(p.recv_size, 16384);
	}
}

static void anything_else_means_the_defaults(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{"", 0},
		{"\xf6\xab\x0e\x18\x01\x01\x03", 7},
		{"\xf6\xab\x0e\x18\x02\x01\x03\x03", 8}, /* another version */
		{"\xf6\xab\x0e\x19\x01\x01\x03\x03", 8},
		{"\0\0\xf6\xab\x0e\x18\x01\x01\x03", 9},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rpcrdma_priv p = {.remote_inval = true};

		assert_false(rpcrdma_priv_decode(&p, bad[i].bytes, bad[i].len));
		assert_false(p.remote_inval);
		assert_int_equal(p.send_size, 1024);
		assert_int_equal(p.recv_size, 1024);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(flag_and_extreme_sizes),
		cmocka_unit_test(found_at_any_offset),
		cmocka_unit_test(anything_else_means_the_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
