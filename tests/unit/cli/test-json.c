/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/json.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "cli/json.h"

static void text_is(const char *text, const char *json)
{
	char *out = NULL;
	size_t len = 0;
	struct json j = {.out = open_memstream(&out, &len)};

	json_text(&j, NULL, text);
	fclose(j.out);
	assert_string_equal(out, json);
	free(out);
}

static void text(void **state)
{
	text_is("", "\"\"");
	text_is("a \"b\" \\c", "\"a \\\"b\\\" \\\\c\"");
	text_is("\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\"");
	text_is("\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80",
		"\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

#define BAD "\xef\xbf\xbd"

static void bytes_that_are_no_characters(void **state)
{
	text_is("\x80"
		"a",
		"\"" BAD "a\"");
	text_is("\xc3", "\"" BAD "\"");
	text_is("\xe2\x82", "\"" BAD BAD "\"");
	text_is("\xc0\xaf", "\"" BAD BAD "\"");
	text_is("\xed\xa0\x80", "\"" BAD BAD BAD "\"");
	text_is("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");
	text_is("\xf8z", "\"" BAD "z\"");
}

static void members_have_commas_between(void **state)
{
	char *out = NULL;
	size_t len = 0;
	struct json j = {.out = open_memstream(&out, &len)};

	json_begin(&j, NULL, '{');
	json_begin(&j, "none", '[');
	json_end(&j, ']');
	json_begin(&j, "some", '[');
	json_number(&j, NULL, UINT64_MAX);
	json_begin(&j, NULL, '{');
	json_end(&j, '}');
	json_end(&j, ']');
	json_seconds(&j, "s", 1000000001);
	json_text(&j, "t", "x");
	json_end(&j, '}');
	fclose(j.out);
	assert_string_equal(out, "{\"none\":[],\"some\":[18446744073709551615,{}],"
				 "\"s\":1.000000001,\"t\":\"x\"}");
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(bytes_that_are_no_characters),
		cmocka_unit_test(members_have_commas_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
