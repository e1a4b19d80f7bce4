/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/crc32c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "transport/crc32c.h"

static void both(const void *p, size_t n, uint32_t want)
{
	assert_int_equal(crc32c(0, p, n), want);
	assert_int_equal(crc32c_table(0, p, n), want);
}

/* RFC 3720 appendix B.4; the bytes are in wire order. */
static void rfc3720_vectors(void **state)
{
	static const uint8_t read10[48] = {0x01,
		0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
	uint8_t b[32];

	memset(b, 0, 32);
	both(b, 32, 0x8a9136aa);
	memset(b, 0xff, 32);
	both(b, 32, 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	both(b, 32, 0x46dd794e);
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)(31 - i);
	both(b, 32, 0x113fdb5c);
	both(read10, sizeof(read10), 0xd9963a56);
	both("123456789", 9, 0xe3069283);
	both("", 0, 0);
}

/* RFC 5044 section 4.4, figure 5: the first FPDU with its marker. */
static void rfc5044_vectors(void **state)
{
	uint8_t first[48] = {0, 0, 0, 0, 0x00, 0x2a, 0x41, 0x43, [19] = 1};
	uint8_t second[48] = {0x00, 0x2a, 0x41, 0x43, [15] = 2, [23] = 0x14};

	both(first, sizeof(first), 0x83992352);
	both(second, sizeof(second), 0x98589284);
}

static void every_length_and_offset_agrees_with_the_table(void **state)
{
	size_t n = 40000;
	uint8_t *p = malloc(n);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + (i >> 8));
	for (size_t len = 0; len < 1700; len++)
		assert_int_equal(
			crc32c(len, p + len % 9, len), crc32c_table(len, p + len % 9, len));
	for (size_t len = 12200; len < n - 8; len += 977)
		assert_int_equal(crc32c(1, p + len % 8, len), crc32c_table(1, p + len % 8, len));
	free(p);
}

static void pieces_join(void **state)
{
	uint8_t p[3000];
	uint32_t whole;

	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)(i ^ i >> 3);
	whole = crc32c(0, p, sizeof(p));
	for (size_t cut = 0; cut <= sizeof(p); cut += 61)
		assert_int_equal(crc32c(crc32c(0, p, cut), p + cut, sizeof(p) - cut), whole);
	assert_non_null(crc32c_impl());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc3720_vectors),
		cmocka_unit_test(rfc5044_vectors),
		cmocka_unit_test(every_length_and_offset_agrees_with_the_table),
		cmocka_unit_test(pieces_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
