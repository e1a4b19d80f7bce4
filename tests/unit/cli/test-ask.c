/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/ask.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/ask.h"
#include "transport/log.h"

static bool parse(const char *line, struct ask *a)
{
	const char *why = NULL;
	bool good = ask_parse(line, strlen(line), a, &why);

	assert_non_null(why);
	return good;
}

static void what_is_written_is_read(void **state)
{
	for (unsigned i = 0; i < ASK_WHATS; i++) {
		struct ask a, b;
		char line[ASK_MAX + 1];
		const char *why;
		size_t len;

		ask_init(&a, i);
		len = ask_format(&a, line);
		assert_int_equal(line[len - 1], '\n');
		assert_int_equal(len, strlen(line));
		assert_true(ask_parse(line, len - 1, &b, &why));
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

static void parameters(void **state)
{
	struct ask a;

	assert_true(parse("top", &a));
	assert_true(a.what == ASK_TOP && a.interval_ms == 1000 && a.rows == 20);
	assert_true(parse("top rows=5 interval_ms=100 rows=7", &a));
	assert_true(a.interval_ms == 100 && a.rows == 7);
	assert_false(parse("top interval_ms=99", &a));
	assert_false(parse("top interval_ms=3600001", &a));
	assert_false(parse("top rows=0", &a));
	assert_false(parse("top rows=101", &a));
	assert_false(parse("top rows=18446744073709551617", &a));
	assert_false(parse("top rows=-1", &a));
	assert_false(parse("top rows=", &a));
	assert_false(parse("top rows", &a));
	assert_false(parse("top =1", &a));
	assert_false(parse("top lines=1", &a));
	assert_false(parse("stat rows=1", &a));
	assert_true(parse("trace", &a));
	assert_true(!a.errors && !a.slow_us && !a.rows);
	assert_true(parse("trace slow_us=2000 errors=1", &a));
	assert_true(a.errors == 1 && a.slow_us == 2000);
	assert_false(parse("trace errors=2", &a));
	assert_false(parse("trace rows=2", &a));
	assert_true(parse("log-level", &a) && a.level == 0);
	assert_true(parse("log-level level=5", &a) && a.level == LOG_L_DATA + 1);
	assert_false(parse("log-level level=6", &a));
}

static void other_lines_are_refused(void **state)
{
	char many[2 * ASK_MAX];
	struct ask a;
	const char *why;

	assert_false(parse("", &a));
	assert_false(parse(" hello", &a));
	assert_false(parse("hello there", &a));
	assert_false(parse("hell", &a));
	assert_false(parse("HELLO", &a));
	assert_false(parse("hello\r", &a));
	assert_false(ask_parse("hello\0", 6, &a, &why));
	memset(many, 'a', sizeof(many));
	for (size_t len = ASK_MAX - 2; len < sizeof(many); len++)
		assert_false(ask_parse(many, len, &a, &why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(parameters),
		cmocka_unit_test(other_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
