/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/stat: what is told of one and of several connections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat.h"

static struct report_ops requests, operations;
static struct report report = {.requests = &requests, .operations = &operations};
static char *text;

static void print(void (*stat)(const struct report *r, FILE *out))
{
	size_t len = 0;
	FILE *f;

	free(text);
	text = NULL;
	f = open_memstream(&text, &len);
	stat(&report, f);
	fclose(f);
}

static int setup(void **state)
{
	report_clear(&report);
	report.number[REPORT_CALLS] = 1234;
	report.number[REPORT_CONNECTIONS] = report.number[REPORT_CONNECTIONS_UP] = 1;
	return 0;
}

static int teardown(void **state)
{
	free(text);
	text = NULL;
	return 0;
}

static void has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in\n%s", part, text);
}

static void two_connections(void)
{
	uint64_t *one = report.path[0].number, *two = report.path[1].number;

	report.number[REPORT_CONNECTIONS] = report.npaths = 2;
	one[REPORT_PATH_UP] = 1;
	one[REPORT_PATH_CALLS] = 1230;
	one[REPORT_PATH_CREDITS] = 64;
	two[REPORT_PATH_CALLS] = 4;
	two[REPORT_PATH_PULLED_UP] = 2048;
	strcpy(report.path[0].server, "data.example 192.0.2.1:2049");
	strcpy(report.path[1].why, "no more memory");
}

static void one_connection_is_not_listed(void **state)
{
	print(stat_text);
	has("\nserver  1.2k calls, ");
	assert_null(strstr(text, "connection"));
	print(stat_json);
	has("\"connections\":1,\"connections_up\":1,");
	assert_null(strstr(text, "each_connection"));
}

static void several_connections_are_a_table(void **state)
{
	two_connections();
	print(stat_text);
	has("\nconnections        calls replies     way credits time-outs reconnects  placed  "
	    "copied"
	    " exposed pulled up  server\n"
	    "1  up               1.2k       0       0      64         0          0       0       0"
	    "       0         0  data.example 192.0.2.1:2049\n"
	    "2  lost                4       0       0       0         0          0       0       0"
	    "       0      2.0K\n"
	    "   no more memory\n");
	has("\nserver  1 of 2 connections up; 1.2k calls, ");
}

static void several_connections_are_an_array(void **state)
{
	two_connections();
	print(stat_json);
	has("\"connections\":2,\"connections_up\":1,");
	has("\"each_connection\":[{\"up\":1,\"calls\":1230,\"replies\":0,\"under_way\":0,"
	    "\"timeouts\":0,\"reconnects\":0,\"credits\":64,\"placed_bytes\":0,"
	    "\"copied_bytes\":0,\"exposed_bytes\":0,\"pulled_up_bytes\":0,"
	    "\"server\":\"data.example 192.0.2.1:2049\"},"
	    "{\"up\":0,\"calls\":4,");
	has("\"pulled_up_bytes\":2048,\"why\":\"no more memory\"}],\"requests\":{");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_connection_is_not_listed),
		TEST(several_connections_are_a_table),
		TEST(several_connections_are_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
