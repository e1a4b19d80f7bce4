/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/log_entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "transport/log_entry.h"

static struct log_entry entry(const char *message)
{
	return (struct log_entry){
		.time = {1763650000, 7999999},
		.level = LOG_L_WARN,
		.program = "rnfs",
		.pid = 42,
		.message = message,
	};
}

static const char *string(size_t n, char *text, size_t size)
{
	assert_true(n < size);
	text[n] = 0;
	return text;
}

static const char *json(const struct log_entry *e)
{
	static char text[LOG_ENTRY_MAX + 1];

	return string(log_entry_json(e, text, LOG_ENTRY_MAX), text, sizeof(text));
}

static const char *message_in_json(const char *message)
{
	struct log_entry e = entry(message);
	const char *text = json(&e), *at = strstr(text, "\"message\":\"");

	assert_non_null(at);
	return at + 11;
}

static void each_form_has_its_parts(void **state)
{
	struct log_entry e = entry("the server is silent");
	char text[LOG_ENTRY_MAX + 1];

	e.source = "server:/data";
	e.mount = "/mnt";
	assert_string_equal(string(log_entry_plain(&e, text, LOG_ENTRY_MAX), text, sizeof(text)),
		"rnfs: the server is silent\n");
	assert_string_equal(string(log_entry_text(&e, text, LOG_ENTRY_MAX), text, sizeof(text)),
		"2025-11-20T14:46:40.007Z rnfs[42] warning: the server is silent\n");
	assert_string_equal(string(log_entry_journal(&e, text, LOG_ENTRY_MAX), text, sizeof(text)),
		"PRIORITY=4\nSYSLOG_IDENTIFIER=rnfs\nSYSLOG_PID=42\nRNFS_SOURCE=server:/data\n"
		"RNFS_MOUNT=/mnt\nMESSAGE=the server is silent\n");
	assert_string_equal(json(&e),
		"{\"time\":\"2025-11-20T14:46:40.007Z\",\"level\":\"warning\",\"program\":\"rnfs\","
		"\"pid\":42,\"source\":\"server:/data\",\"mount\":\"/mnt\","
		"\"message\":\"the server is silent\"}\n");
}

static void a_server_has_no_mount(void **state)
{
	struct log_entry e = entry("x");
	char text[LOG_ENTRY_MAX + 1];

	assert_null(strstr(json(&e), "mount"));
	assert_null(strstr(json(&e), "source"));
	assert_null(strstr(
		string(log_entry_journal(&e, text, LOG_ENTRY_MAX), text, sizeof(text)), "RNFS_"));
}

/* A name ends neither the JSON string nor the line. */
static void json_strings_are_closed_by_nobody_else(void **state)
{
	assert_string_equal(message_in_json("a\"}\n{\"level\":\"error"),
		"a\\\"}%0A{\\\"level\\\":\\\"error\"}\n");
	assert_string_equal(message_in_json("back\\slash\\"), "back\\\\slash\\\\\"}\n");
	assert_string_equal(message_in_json("\x01\x1b[2J\x7f\t"), "%01%1B[2J%7F%09\"}\n");
	assert_string_equal(message_in_json("\\u0000"), "\\\\u0000\"}\n");
}

static void json_is_valid_utf8(void **state)
{
	/* two, three and four bytes */
	assert_string_equal(message_in_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
		"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"}\n");
	/* a continuation alone, a beginning alone, a character that is cut */
	assert_string_equal(message_in_json("\x82 \xe2 \xe2\x82"), "%82 %E2 %E2%82\"}\n");
	/* too long, a surrogate, beyond the last character, no byte of UTF-8 */
	assert_string_equal(message_in_json("\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf"),
		"%C0%AF %E0%80%AF %F0%80%80%AF\"}\n");
	assert_string_equal(message_in_json("\xed\xa0\x80 \xf4\x90\x80\x80 \xff"),
		"%ED%A0%80 %F4%90%80%80 %FF\"}\n");
	/* U+009B, the control sequence introducer */
	assert_string_equal(message_in_json("\xc2\x9b"), "%C2%9B\"}\n");
}

static void no_field_is_forged(void **state)
{
	struct log_entry e = entry("a\nMESSAGE=forged\nPRIORITY=0");
	char text[LOG_ENTRY_MAX + 1];
	unsigned fields = 0;

	e.mount = "/m\nPRIORITY=0";
	string(log_entry_journal(&e, text, LOG_ENTRY_MAX), text, sizeof(text));
	for (const char *p = text; *p; p++)
		fields += *p == '\n';
	assert_int_equal(fields, 5);
	assert_non_null(strstr(text, "\nRNFS_MOUNT=/m%0APRIORITY=0\n"));
	assert_non_null(strstr(text, "\nMESSAGE=a%0AMESSAGE=forged%0APRIORITY=0\n"));
}

/* Strings that are too long lose their end, and nothing else. */
static void long_strings_are_cut(void **state)
{
	static const char *const unit[] = {"x", "\"", "\\", "\n", "\xff", "\xf0\x9f\x98\x80"};
	static char longest[20000];
	char text[1025], *last;

	for (size_t u = 0; u < sizeof(unit) / sizeof(unit[0]); u++) {
		struct log_entry e = entry(longest);

		longest[0] = 0;
		for (size_t n = 0; n + 4 < sizeof(longest); n += strlen(unit[u]))
			strcpy(longest + n, unit[u]);
		e.source = e.mount = e.program = longest;
		string(log_entry_json(&e, text, 1024), text, sizeof(text));
		assert_string_equal(text + strlen(text) - 3, "\"}\n");
		last = text + strlen(text) - 3; /* no escape is cut in two */
		while (last[-1] == '\\')
			last--;
		assert_int_equal((text + strlen(text) - 3 - last) % 2, 0);
		assert_non_null(strstr(text, "\",\"pid\":42,\"source\":\""));
		assert_non_null(strstr(text, "\",\"mount\":\""));
		assert_non_null(strstr(text, "\",\"message\":\""));
		e.program = "rnfs";
		string(log_entry_journal(&e, text, 1024), text, sizeof(text));
		assert_int_equal(text[strlen(text) - 1], '\n');
		assert_non_null(strstr(text, "\nRNFS_SOURCE="));
		assert_non_null(strstr(text, "\nRNFS_MOUNT="));
		assert_non_null(strstr(text, "\nMESSAGE="));
		string(log_entry_text(&e, text, 1024), text, sizeof(text));
		assert_int_equal(text[strlen(text) - 1], '\n');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_has_its_parts),
		cmocka_unit_test(a_server_has_no_mount),
		cmocka_unit_test(json_strings_are_closed_by_nobody_else),
		cmocka_unit_test(json_is_valid_utf8),
		cmocka_unit_test(no_field_is_forged),
		cmocka_unit_test(long_strings_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
