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

static char text[4 * ANSWER_MAX];
static struct report_ops requests[2], operations[2];
static struct report a = {.requests = &requests[0], .operations = &operations[0]};
static struct report b = {.requests = &requests[1], .operations = &operations[1]};

/* Writes a, and reads the text as b. */
static void travels(void)
{
	struct words w = {.buf = text, .size = sizeof(text)};
	char *rest = text, *line;

	report_write(&a, &w);
	assert_false(w.full);
	report_clear(&b);
	while ((line = strsep(&rest, "\n")) && *line) {
		assert_true(strlen(line) < ANSWER_LINE_MAX);
		assert_true(report_read(&b, line));
	}
	assert_memory_equal(a.text, b.text, sizeof(a.text));
	assert_memory_equal(a.number, b.number, sizeof(a.number));
	assert_memory_equal(a.path, b.path, sizeof(a.path));
	assert_int_equal(a.npaths, b.npaths);
	assert_memory_equal(a.requests, b.requests, sizeof(*a.requests));
	assert_memory_equal(a.operations, b.operations, sizeof(*a.operations));
}

static void fill_ops(struct report_ops *ops, const char *name)
{
	for (unsigned i = 0; i < REPORT_OPS; i++) {
		struct report_op *op = report_add(ops, name);

		op->errors = op->bytes = op->rpcs = op->waits = UINT64_MAX - i;
		op->time.sum_ns = op->queue.max_ns = UINT64_MAX;
		for (unsigned n = i % 3; n < HISTOGRAM_BUCKETS; n += 1 + i % 5)
			op->time.n[n] = op->queue.n[HISTOGRAM_BUCKETS - 1 - n] = UINT64_MAX - n;
	}
	assert_null(report_add(ops, "one too many"));
}

static void fill_server(struct report_path *p)
{
	memset(p->server, '%', sizeof(p->server) - 1); /* three bytes each */
	p->server[sizeof(p->server) - 1] = 0;
	memset(p->why, '%', sizeof(p->why) - 1);
	p->why[sizeof(p->why) - 1] = 0;
}

static void fill(struct report *r)
{
	report_clear(r);
	for (unsigned i = 0; i < REPORT_TEXTS; i++) {
		memset(r->text[i], '%', REPORT_TEXT_MAX - 1); /* three bytes each */
		r->text[i][0] = (char)('a' + i);
	}
	for (unsigned i = 0; i < REPORT_NUMBERS; i++)
		r->number[i] = UINT64_MAX - i;
	for (r->npaths = 0; r->npaths < REPORT_PATHS; r->npaths++) {
		fill_server(&r->path[r->npaths]);
		for (unsigned i = 0; i < REPORT_PATH_NUMBERS; i++)
			r->path[r->npaths].number[i] = UINT64_MAX - i - r->npaths;
	}
	fill_ops(r->requests, "A NAME");
	fill_ops(r->operations, "");
}

static void a_report_travels(void **state)
{
	report_clear(&a);
	travels();
	fill(&a);
	travels();
}

/* The most entries possible, with the most buckets. */
static void the_longest_answer_fits(void **state)
{
	struct words w = {.buf = text, .size = ANSWER_MAX};

	report_clear(&a);
	for (unsigned i = 0; i < 27 + 37; i++) {
		struct report_op *op =
			report_add(i < 27 ? a.operations : a.requests, "COPY_FILE_RANGE");

		op->errors = op->bytes = op->rpcs = op->waits = UINT64_MAX;
		op->time.sum_ns = op->time.max_ns = UINT64_MAX;
		for (unsigned n = 0; n < HISTOGRAM_BUCKETS; n++)
			op->time.n[n] = UINT64_MAX;
		op->queue = i < 27 ? op->time : op->queue;
	}
	a.npaths = REPORT_PATHS;
	memset(a.path, 0xff, sizeof(a.path));
	for (unsigned i = 0; i < REPORT_PATHS; i++)
		fill_server(&a.path[i]);
	report_write(&a, &w);
	assert_false(w.full);
}

static void a_reader_without_room_passes_over_counters(void **state)
{
	struct report r = {.requests = NULL};
	char line[] = "request READ 1 2 3 4 5:6:7=8 0:0";

	assert_true(report_read(&r, line));
	report_clear(&r);
}

static void an_operation(void **state)
{
	char line[] = "operation READ 1 2 3 4 500:60:7=8:31=9 0:0";
	const struct report_op *op;

	report_clear(&b);
	assert_true(report_read(&b, line));
	assert_int_equal(b.requests->n, 0);
	assert_null(report_find(b.operations, "WRITE"));
	op = report_find(b.operations, "READ");
	assert_non_null(op);
	assert_true(op->errors == 1 && op->bytes == 2 && op->rpcs == 3 && op->waits == 4);
	assert_true(op->time.sum_ns == 500 && op->time.max_ns == 60);
	assert_true(op->time.n[7] == 8 && op->time.n[31] == 9);
	assert_int_equal(histogram_count(&op->time), 17);
	assert_int_equal(histogram_count(&op->queue), 0);
}

static void a_connection(void **state)
{
	char line[] = "connection 1 2 3 4 5 6 7 8 9 10 11 a%20b too%20small of-a-later-version";

	report_clear(&b);
	assert_true(report_read(&b, line));
	assert_int_equal(b.npaths, 1);
	for (unsigned i = 0; i < REPORT_PATH_NUMBERS; i++)
		assert_int_equal(b.path[0].number[i], i + 1);
	assert_string_equal(b.path[0].server, "a b");
	assert_string_equal(b.path[0].why, "too small");
	for (unsigned i = 1; i <= REPORT_PATHS; i++) {
		char more[] = "connection 0 0 0 0 0 0 0 0 0 0 0";

		assert_true(report_read(&b, more) == (i < REPORT_PATHS));
	}
	assert_int_equal(b.npaths, REPORT_PATHS);
	assert_string_equal(b.path[1].server, ""); /* of an older version */
	report_clear(&b);
	assert_int_equal(b.npaths, 0);
}

static bool read_line(const char *line)
{
	char copy[4 * REPORT_TEXT_MAX];

	report_clear(&b);
	strcpy(copy, line);
	return report_read(&b, copy);
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
	assert_false(read_line("request"));
	assert_false(read_line("request READ"));
	assert_false(read_line("request READ 1 2 3 4"));
	assert_false(read_line("request READ 1 2 3 4 5:6"));
	assert_false(read_line("request READ 1 2 3 4 5 0:0"));
	assert_false(read_line("request READ 1 2 3 4 5:6:32=1 0:0"));
	assert_false(read_line("request READ 1 2 3 4 5:6:1=1: 0:0"));
	assert_false(read_line("request READ 1 2 3 4 5:6:1 0:0"));
	assert_false(read_line("request READ 1 2 3 4 5:6:1=x 0:0"));
	assert_false(read_line("request READ 1 2 3 4 5:6 0:0x"));
	assert_false(read_line("request AAAAAAAAAAAAAAAAAAAAAAAA 1 2 3 4 5:6 0:0"));
	assert_true(read_line("request AAAAAAAAAAAAAAAAAAAAAAA 1 2 3 4 5:6 0:0"));
	assert_false(read_line("connection"));
	assert_false(read_line("connection 1 2 3 4 5 6 7 8 9 10"));
	assert_false(read_line("connection up 2 3 4 5 6 7 8 9 10 11"));
	assert_int_equal(b.npaths, 0);
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
		cmocka_unit_test(the_longest_answer_fits),
		cmocka_unit_test(a_reader_without_room_passes_over_counters),
		cmocka_unit_test(an_operation),
		cmocka_unit_test(a_connection),
		cmocka_unit_test(news_are_passed_over),
		cmocka_unit_test(broken_lines_are_refused),
		cmocka_unit_test(states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
