/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/ask.h"
#include "cli/report.h"

static char text[ANSWER_MAX];

/* a as it is written, read again. */
static void travel(const struct report *a, struct report *b)
{
	struct words w = {.buf = text, .size = sizeof(text)};
	char *rest = text, *line;

	report_write(a, &w);
	assert_false(w.full);
	memset(b, 0, sizeof(*b));
	while ((line = strsep(&rest, "\n")) && *line) {
		assert_true(strlen(line) < ANSWER_LINE_MAX);
		assert_true(report_read(b, line));
	}
}

static void fill(struct report *r)
{
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < REPORT_TEXTS; i++) {
		memset(r->text[i], '%', REPORT_TEXT_MAX - 1); /* three bytes each */
		r->text[i][0] = (char)('a' + i);
	}
	for (unsigned i = 0; i < REPORT_NUMBERS; i++)
		r->number[i] = UINT64_MAX - i;
}

static void a_report_travels(void **state)
{
	static struct report a, b;

	travel(&a, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	fill(&a);
	travel(&a, &b);
	assert_memory_equal(&a, &b, sizeof(a));
}

static bool read_line(const char *line)
{
	static struct report r;
	char copy[4 * REPORT_TEXT_MAX];

	strcpy(copy, line);
	return report_read(&r, copy);
}

static void news_are_passed_over(void **state)
{
	assert_true(read_line("is something new"));
	assert_true(read_line("n something 1"));
	assert_true(read_line("what is this"));
	assert_true(read_line("n pid 1 and more"));
}

static void broken_lines_are_refused(void **state)
{
	char line[2 * REPORT_TEXT_MAX] = "is source ";

	assert_false(read_line(""));
	assert_false(read_line("is"));
	assert_false(read_line("is source"));
	assert_false(read_line("n pid"));
	assert_false(read_line("n pid x"));
	assert_false(read_line("n pid 18446744073709551616"));
	memset(line + strlen(line), 'x', REPORT_TEXT_MAX);
	assert_false(read_line(line));
}

static void states(void **state)
{
	static struct report r;

	assert_int_equal(report_state(&r), REPORT_OK);
	assert_int_equal(report_state_ms(&r), 0);
	r.number[REPORT_OLDEST_MS] = REPORT_SLOW_MS - 1;
	assert_int_equal(report_state(&r), REPORT_OK);
	r.number[REPORT_OLDEST_MS] = REPORT_SLOW_MS;
	assert_int_equal(report_state(&r), REPORT_SLOW);
	assert_int_equal(report_state_ms(&r), REPORT_SLOW_MS);
	r.number[REPORT_LOST_MS] = 2;
	assert_int_equal(report_state(&r), REPORT_DISCONNECTED);
	assert_int_equal(report_state_ms(&r), 2);
	r.number[REPORT_SILENT_MS] = 1;
	assert_int_equal(report_state(&r), REPORT_SILENT);
	assert_int_equal(report_state_ms(&r), 1);
	assert_string_equal(report_state_name(report_state(&r)), "silent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_travels),
		cmocka_unit_test(news_are_passed_over),
		cmocka_unit_test(broken_lines_are_refused),
		cmocka_unit_test(states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
