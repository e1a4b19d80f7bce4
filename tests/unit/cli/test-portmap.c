/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/portmap, against vectors written by hand from RFC 5531 and RFC 1833.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/portmap.h"

static void a_call_has_the_words_of_the_rfc(void **state)
{
	static const uint32_t args[] = {100003, 3, 6, 0};
	static const uint32_t want[] = {7, 0, 2, 100000, 2, 3, 0, 0, 0, 0, 100003, 3, 6, 0};
	uint32_t word[PORTMAP_WORDS];
	size_t n = portmap_call(word, htonl(7), 2, PORTMAP_GETPORT, args, 4);

	assert_int_equal(n, sizeof(want));
	for (size_t i = 0; i < n / 4; i++)
		assert_int_equal(ntohl(word[i]), want[i]);
	assert_int_equal(portmap_call(word, htonl(7), 3, PORTMAP_GETTIME, NULL, 0), 40);
	assert_int_equal(ntohl(word[4]), 3);
	assert_int_equal(ntohl(word[5]), 6);
}

static void only_an_accepted_answer_counts(void **state)
{
	const uint32_t good[7] = {htonl(7), htonl(1), 0, 0, 0, 0, htonl(2049)};
	uint32_t word[7], value = 0;

	assert_true(portmap_answer(good, sizeof(good), htonl(7), &value));
	assert_int_equal(value, 2049);
	value = 0;
	assert_false(portmap_answer(good, sizeof(good), htonl(8), &value)); /* of another call */
	assert_false(portmap_answer(good, sizeof(good) - 1, htonl(7), &value));
	assert_false(portmap_answer(good, -1, htonl(7), &value));
	for (size_t i = 1; i < 6; i++) { /* a call, denied, with a verifier, without success */
		memcpy(word, good, sizeof(good));
		word[i] ^= htonl(1);
		assert_false(portmap_answer(word, sizeof(word), htonl(7), &value));
	}
	assert_int_equal(value, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_the_words_of_the_rfc),
		cmocka_unit_test(only_an_accepted_answer_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
