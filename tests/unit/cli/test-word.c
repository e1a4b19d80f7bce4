/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/word.h"

/* Encodes text as a word, and decodes the word. */
static void goes_through(const char *text, const char *as)
{
	char line[200];
	struct words w = {.buf = line, .size = sizeof(line)};
	char *rest = line, *word;

	words_print(&w, "first");
	words_add(&w, text);
	words_print(&w, " last");
	assert_false(w.full);
	assert_int_equal(w.len, strlen(line));
	assert_true(strstr(line, as));
	assert_string_equal(word_next(&rest), "first");
	word = word_next(&rest);
	assert_non_null(word);
	assert_string_equal(word, text);
	assert_string_equal(word_next(&rest), "last");
	assert_null(word_next(&rest));
}

static void any_text_is_a_word(void **state)
{
	goes_through("plain", "first plain last");
	goes_through("", "first % last");
	goes_through("a b\nc%d\x7f", "a%20b%0Ac%25d%7F");
	goes_through("%", "%25");
	goes_through("%41", "%2541");
	goes_through("\xc3\xbc \x80", "\xc3\xbc%20\x80");
}

static void what_is_no_escape_stays(void **state)
{
	char line[] = "%4 %zz %00 a%", *rest = line;

	assert_string_equal(word_next(&rest), "%4");
	assert_string_equal(word_next(&rest), "%zz");
	assert_string_equal(word_next(&rest), "%00");
	assert_string_equal(word_next(&rest), "a%");
	assert_null(word_next(&rest));
}

static void two_spaces_have_an_empty_word_between(void **state)
{
	char line[] = "a  b", *rest = line, *none = NULL;

	assert_string_equal(word_next(&rest), "a");
	assert_string_equal(word_next(&rest), "");
	assert_string_equal(word_next(&rest), "b");
	assert_null(word_next(&none));
}

static void numbers(void **state)
{
	char line[] = "0 18446744073709551615 18446744073709551616 -1 1x  5", *rest = line;
	uint64_t n = 7;

	assert_true(word_number(&rest, &n) && n == 0);
	assert_true(word_number(&rest, &n) && n == UINT64_MAX);
	assert_false(word_number(&rest, &n));
	assert_false(word_number(&rest, &n));
	assert_false(word_number(&rest, &n));
	assert_false(word_number(&rest, &n));
	assert_true(word_number(&rest, &n) && n == 5);
	assert_false(word_number(&rest, &n));
}

static void a_full_buffer_stays_within_its_bounds(void **state)
{
	for (size_t size = 1; size < 12; size++) {
		char buf[16];
		struct words w = {.buf = buf, .size = size};

		memset(buf, '#', sizeof(buf));
		words_print(&w, "n");
		words_add(&w, "a b");
		words_add(&w, "cd");
		assert_true(w.full == (size < 11));
		assert_int_equal(buf[size], '#');
		assert_true(w.len < size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_text_is_a_word),
		cmocka_unit_test(what_is_no_escape_stays),
		cmocka_unit_test(two_spaces_have_an_empty_word_between),
		cmocka_unit_test(numbers),
		cmocka_unit_test(a_full_buffer_stays_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
