/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/nearest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/nearest.h"

static const char *nearest_of(const char *word)
{
	static const char *const known[] = {"soft", "hard", "rsize", "wsize", "actimeo", "ro",
		"lookupcache", "a-word-of-more-than-thirty-two-bytes"};
	struct nearest n;

	nearest_init(&n, word);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		nearest_offer(&n, known[i]);
	return n.best ? n.best : "none";
}

static void one_slip_is_forgiven_in_a_short_word(void **state)
{
	assert_string_equal(nearest_of("rsiz"), "rsize"); /* left out */
	assert_string_equal(nearest_of("ssoft"), "soft"); /* added */
	assert_string_equal(nearest_of("hart"), "hard");  /* changed */
	assert_string_equal(nearest_of("sfot"), "soft");  /* swapped */
	assert_string_equal(nearest_of("rsize"), "rsize");
	assert_string_equal(nearest_of("hasr"), "none"); /* two */
}

static void two_are_in_a_longer_one(void **state)
{
	assert_string_equal(nearest_of("actmieos"), "actimeo");
	assert_string_equal(nearest_of("lokupcahce"), "lookupcache");
	assert_string_equal(nearest_of("lokupcahcee"), "none");
}

static void words_too_short_or_too_long_are_near_to_none(void **state)
{
	assert_string_equal(nearest_of(""), "none");
	assert_string_equal(nearest_of("rw"), "none");
	assert_string_equal(nearest_of("a-word-of-more-than-thirty-two-byte"), "none");
	assert_string_equal(nearest_of("a-word-of-thirty-two-bytes-which"), "none");
}

static void the_first_of_equals_stays(void **state)
{
	assert_string_equal(nearest_of("size"), "rsize");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_slip_is_forgiven_in_a_short_word),
		cmocka_unit_test(two_are_in_a_longer_one),
		cmocka_unit_test(words_too_short_or_too_long_are_near_to_none),
		cmocka_unit_test(the_first_of_equals_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
