/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/patience.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/file/patience.h"
#include "tests/unit/cache/fake-groups.h"

#define DEFAULT "proc/sys/fs/fuse/default_request_timeout"
#define MOST	"proc/sys/fs/fuse/max_request_timeout"

static int setup(void **state)
{
	fake_groups_begin();
	return 0;
}

static int teardown(void **state)
{
	fake_groups_end();
	return 0;
}

static unsigned bound(void)
{
	unsigned s = 1234;

	assert_true(patience_s(fake_root, &s));
	return s;
}

static void zeros_are_no_bound(void **state)
{
	fake_file(DEFAULT, "0\n");
	fake_file(MOST, "0\n");
	assert_int_equal(bound(), 0);
	fake_file(MOST, "nonsense\n");
	assert_int_equal(bound(), 0);
}

static void what_cannot_be_read_is_said(void **state)
{
	char text[500];
	unsigned s;

	assert_false(patience_s(fake_root, &s));
	patience_say_unknown(text, sizeof(text));
	assert_non_null(strstr(text, "max_request_timeout"));
	assert_non_null(strstr(text, "No such file"));
	fake_file(DEFAULT, "60\n");
	assert_false(patience_s(fake_root, &s));
}

static void the_lower_of_both_counts(void **state)
{
	fake_file(MOST, "0\n");
	fake_file(DEFAULT, "60\n");
	assert_int_equal(bound(), 60);
	fake_file(MOST, "40\n");
	assert_int_equal(bound(), 40);
	fake_file(MOST, "80\n");
	assert_int_equal(bound(), 60);
	fake_file(DEFAULT, "0\n");
	assert_int_equal(bound(), 80);
}

static void the_kernel_raises_what_is_too_low(void **state)
{
	fake_file(DEFAULT, "0\n");
	fake_file(MOST, "1\n");
	assert_int_equal(bound(), PATIENCE_LEAST_S);
	fake_file(MOST, "65535\n"); /* the most that may be set */
	assert_int_equal(bound(), 65535);
}

static void an_answer_comes_before_the_bound(void **state)
{
	char text[500];

	for (unsigned s = PATIENCE_LEAST_S; s <= 65535; s++)
		assert_in_range(patience_answer_s(s), s / 2, s - 3);
	patience_say(60, text, sizeof(text));
	assert_non_null(strstr(text, "more than 60 s"));
	assert_non_null(strstr(text, "for 45 s"));
	assert_non_null(strstr(text, "mount again"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(zeros_are_no_bound),
		TEST(what_cannot_be_read_is_said),
		TEST(the_lower_of_both_counts),
		TEST(the_kernel_raises_what_is_too_low),
		TEST(an_answer_comes_before_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
