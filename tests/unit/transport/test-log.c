/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/log: the limits on many lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "transport/log.h"

static FILE *captured;
static int real_stderr;

static int begin(void **state)
{
	fflush(stderr);
	real_stderr = dup(STDERR_FILENO);
	captured = tmpfile();
	assert_non_null(captured);
	dup2(fileno(captured), STDERR_FILENO);
	log_init("test", LOG_L_INFO);
	return 0;
}

static int end(void **state)
{
	fflush(stderr);
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	fclose(captured);
	return 0;
}

/* How many captured lines begin like this. */
static unsigned count(const char *like)
{
	char line[2048];
	unsigned n = 0;

	fflush(stderr);
	rewind(captured);
	while (fgets(line, sizeof(line), captured))
		n += strncmp(line, like, strlen(like)) == 0;
	return n;
}

/* One place may log a bounded number of lines; the rest is counted, and the count is told. */
static void one_place_is_limited(void **state)
{
	for (int i = 0; i < 1000; i++)
		log_warn("malformed %d", i);
	log_warn("another place");
	assert_int_equal(count("test: malformed"), LOG_LIMIT_SITE);
	assert_int_equal(count("test: another place"), 1);
	log_tell(false); /* the span is not over, unless the machine stood still that long */
	log_tell(true);
	assert_int_equal(count("test: 990 more like this were left out: malformed 10"), 1);
	log_tell(true);
	assert_int_equal(count("test: "), LOG_LIMIT_SITE + 2);
}

/* Lines of log_always_ are logged for any number of repetitions, and also among other lines. */
static void what_must_be_seen_is(void **state)
{
	for (int i = 0; i < 1000; i++) {
		log_error("flood");
		log_always_error("data of file %d is lost", i);
	}
	assert_int_equal(count("test: data of file"), 1000);
	assert_true(count("test: flood") <= LOG_LIMIT_SITE);
	log_tell(true);
}

#define TEN(what) what what what what what what what what what what

/* Many places together cannot log more either. */
static void all_places_are_limited(void **state)
{
	for (int i = 0; i < LOG_LIMIT_SITE; i++) {
		TEN(log_warn("flood %d", i);)
		TEN(log_info("flood %d", i);)
	}
	assert_true(count("test: flood") <= LOG_LIMIT_ALL);
	log_always_info("seen");
	assert_int_equal(count("test: seen"), 1);
	log_tell(true);
}

/* A peer's name begins no new line and sends no escape sequence to the terminal. */
static void lines_are_not_forged(void **state)
{
	log_always_warn("host %s has restarted", "a\ntest: forged \x1b[2J");
	assert_int_equal(count("test: forged"), 0);
	assert_int_equal(count("test: host a%0Atest: forged %1B[2J has restarted"), 1);
}

/* Suppressed lines count nothing, and the last one is remembered. */
static void what_is_kept_back_is_not_counted(void **state)
{
	char last[64];

	log_hold();
	for (int i = 0; i < 20; i++)
		log_warn("try %d", i);
	log_release(last, sizeof(last));
	assert_string_equal(last, "try 19");
	log_tell(true);
	assert_int_equal(count("test: "), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_place_is_limited, begin, end),
		cmocka_unit_test_setup_teardown(what_must_be_seen_is, begin, end),
		cmocka_unit_test_setup_teardown(all_places_are_limited, begin, end),
		cmocka_unit_test_setup_teardown(lines_are_not_forged, begin, end),
		cmocka_unit_test_setup_teardown(what_is_kept_back_is_not_counted, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
