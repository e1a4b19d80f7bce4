/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/human.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/human.h"

static char text[HUMAN_MAX];

static void bytes(void **state)
{
	assert_string_equal(human_bytes(text, 0), "0");
	assert_string_equal(human_bytes(text, 5), "5");
	assert_string_equal(human_bytes(text, 1023), "1023");
	assert_string_equal(human_bytes(text, 1023.7), "1.0K");
	assert_string_equal(human_bytes(text, 1536), "1.5K");
	assert_string_equal(human_bytes(text, 10240), "10K");
	assert_string_equal(human_bytes(text, 5.0 * (1 << 30)), "5.0G");
	assert_string_equal(human_bytes(text, 18446744073709551615.0), "16E");
}

static void counts(void **state)
{
	assert_string_equal(human_count(text, 999), "999");
	assert_string_equal(human_count(text, 1000), "1.0k");
	assert_string_equal(human_count(text, 999999), "1.0M");
	assert_string_equal(human_count(text, 12345), "12k");
	assert_string_equal(human_count(text, 18446744073709551615.0), "18E");
}

static void times(void **state)
{
	assert_string_equal(human_time(text, 0), "0");
	assert_string_equal(human_time(text, 999), "1.0us");
	assert_string_equal(human_time(text, 4096), "4.1us");
	assert_string_equal(human_time(text, 12345678), "12ms");
	assert_string_equal(human_time(text, 2500000000), "2.5s");
	assert_string_equal(human_time(text, 3600000000000), "3600s");
}

static void ages(void **state)
{
	assert_string_equal(human_age(text, 0), "0 s");
	assert_string_equal(human_age(text, 119999), "119 s");
	assert_string_equal(human_age(text, 120000), "2 min");
	assert_string_equal(human_age(text, 7200000), "2 h");
	assert_string_equal(human_age(text, 172800000), "2 days");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes),
		cmocka_unit_test(counts),
		cmocka_unit_test(times),
		cmocka_unit_test(ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
