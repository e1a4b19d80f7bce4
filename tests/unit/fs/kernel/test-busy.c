/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/busy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "fs/kernel/busy.h"

static struct busy busy;
static char text[ANSWER_MAX];

static int setup(void **state)
{
	busy_clear(&busy);
	return 0;
}

static void happens(pid_t pid, const char *comm, const char *path, uint32_t opcode, uint32_t bytes)
{
	struct trace_event e = {
		.pid = pid, .opcode = opcode, .bytes = bytes, .rpcs = 1, .took_ns = 1000};

	snprintf(e.comm, sizeof(e.comm), "%s", comm);
	snprintf(e.path, sizeof(e.path), "%s", path);
	busy_add(&busy, &e);
}

static const char *report(unsigned rows)
{
	struct words w = {.buf = text, .size = sizeof(text)};

	busy_write(&busy, rows, &w);
	assert_false(w.full);
	return text;
}

static void requests_are_added_up(void **state)
{
	happens(7, "a prog", "/x y", FUSE_READ, 100);
	happens(7, "a prog", "/x y", FUSE_WRITE, 20);
	happens(8, "cat", "/x y", FUSE_COPY_FILE_RANGE, 5);
	assert_string_equal(report(10), "total 3 100 20 3 3000\n"
					"process 7 a%20prog 2 100 20 2 2000\n"
					"process 8 cat 1 0 0 1 1000\n"
					"file /x%20y 3 100 20 3 3000\n");
}

static void names_alone_do_not_make_a_process(void **state)
{
	happens(7, "cat", "/x", FUSE_READ, 1);
	happens(8, "cat", "/x", FUSE_READ, 1);
	happens(7, "sh", "/x", FUSE_READ, 1);
	report(10);
	assert_true(strstr(text, "process 7 cat 1 "));
	assert_true(strstr(text, "process 8 cat 1 "));
	assert_true(strstr(text, "process 7 sh 1 "));
}

static void the_busiest_come_first(void **state)
{
	for (unsigned i = 1; i <= 20; i++)
		for (unsigned n = 0; n < i; n++) {
			char path[8];

			snprintf(path, sizeof(path), "/%u", i);
			happens(1, "p", path, FUSE_GETATTR, 0);
		}
	report(2);
	assert_true(strstr(text, "file /20 20 "));
	assert_true(strstr(text, "file /19 19 "));
	assert_null(strstr(text, "file /18 "));
	assert_true(strstr(text, "file /20 ") < strstr(text, "file /19 "));
}

static void the_busy_stay_among_many(void **state)
{
	for (unsigned i = 0; i < 10 * BUSY_ROWS; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/%u", i);
		happens(2, "find", path, FUSE_GETATTR, 0);
		happens(1, "p", "/busy", FUSE_READ, 1);
	}
	report(1);
	assert_true(strstr(text, "file /busy 2560 2560 "));
	assert_true(strstr(text, "total 5120 2560 "));
}

static void a_full_report_fits(void **state)
{
	char path[TRACE_PATH], comm[TRACE_COMM];

	memset(path, '%', sizeof(path));
	memset(comm, '%', sizeof(comm));
	for (unsigned i = 0; i < BUSY_ROWS; i++) {
		snprintf(path, sizeof(path), "%u", i);
		path[strlen(path)] = '%';
		path[sizeof(path) - 1] = comm[sizeof(comm) - 1] = 0;
		happens((pid_t)i, comm, path, FUSE_READ, UINT32_MAX);
	}
	report(ASK_ROWS_MAX);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_are_added_up),
		TEST(names_alone_do_not_make_a_process),
		TEST(the_busiest_come_first),
		TEST(the_busy_stay_among_many),
		TEST(a_full_report_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
