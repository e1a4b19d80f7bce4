/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/quote.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "transport/err.h"
#include "transport/quote.h"

static void expect(const char *bytes, size_t len, const char *text)
{
	assert_string_equal(QUOTE(bytes, len), text);
}

static void names(void **state)
{
	expect("", 0, "");
	expect("a b~", 4, "a b~");
	expect("a\nb", 3, "a%0Ab");
	expect("\x1b[31m", 5, "%1B[31m");
	expect("a\0b", 3, "a%00b");
	expect("100%", 4, "100%25");
	expect("\"", 1, "%22");
	expect("\xc3\xbc\x7f", 3, "%C3%BC%7F");
}

/* As much as fits, in whole bytes. */
static void long_names_are_cut(void **state)
{
	char bytes[1000];
	struct quote q;

	memset(bytes, 'x', sizeof(bytes));
	for (size_t n = 0; n < QUOTE_MAX; n++)
		assert_int_equal(strlen(quote(&q, bytes, n)), n);
	quote(&q, bytes, QUOTE_MAX);
	assert_int_equal(strlen(q.text), QUOTE_MAX - 1);
	assert_string_equal(q.text + QUOTE_MAX - 4, "...");
	assert_string_equal(q.text + QUOTE_MAX - 5, "x...");
	for (size_t x = 0; x < 4; x++) {
		memset(bytes, '\n', sizeof(bytes));
		memset(bytes, 'x', x);
		quote(&q, bytes, sizeof(bytes));
		assert_true(strlen(q.text) < QUOTE_MAX && strlen(q.text) >= QUOTE_MAX - 4);
		assert_string_equal(q.text + strlen(q.text) - 6, "%0A...");
	}
}

static void lines(void **state)
{
	char line[32];

	quote_line(line, sizeof(line), "a\nb\tc\x7f");
	assert_string_equal(line, "a%0Ab%09c%7F");
	quote_line(
		line, sizeof(line), "\xc3\xbc \xc2\x9b!"); /* a letter, and a control character */
	assert_memory_equal(line, "\xc3\xbc %C2", 6);
	quote_line(line, 8, "abcdefghijkl");
	assert_int_equal(strlen(line), 5);
	quote_line(line, 1, "a");
	assert_string_equal(line, "");
}

static void sentences(void **state)
{
	struct err e = {0};

	err_set(&e, ERR_PROTOCOL, "the server says %s", "a\nrnfs: forged");
	assert_string_equal(e.msg, "the server says a%0Arnfs: forged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(lines),
		cmocka_unit_test(sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
