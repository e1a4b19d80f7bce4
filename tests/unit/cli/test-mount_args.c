/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/mount_args. tests/e2e/fstab tests the search for daemons.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/mount_args.h"

static struct mount_args a;
static char text[500];

static bool init(bool root, int argc, const char *const *argv)
{
	mount_args_finish(&a);
	return mount_args_init(&a, argc, (char **)argv, root);
}

#define INIT(root, ...)                                                                            \
	init(root, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                         \
		(const char *[]){__VA_ARGS__, NULL})

static const char *items(void)
{
	text[0] = 0;
	for (unsigned i = 0; i < a.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			a.items[i]);
	return text;
}

static int finish(void **state)
{
	mount_args_finish(&a);
	return 0;
}

static void both_programs_have_options(void **state)
{
	assert_true(INIT(false, "rnfs", "-f", "-o", "ro,soft", "s:/e", "/m", "-onoatime"));
	assert_string_equal(items(), "ro soft noatime");
	assert_string_equal(a.source, "s:/e");
	assert_string_equal(a.dir, "/m");
	assert_false(a.fake || a.sloppy);
	assert_true(INIT(true, "/sbin/mount.rnfs", "s:/e", "/m", "-s", "-f", "-v", "-o", ",a=1,,b,",
		"-r", "-t", "fuse.rnfs", "-N", "/ns"));
	assert_string_equal(items(), "allow_other suid dev a=1 b ro");
	assert_true(a.fake && a.sloppy);
	assert_true(INIT(false, "mount.rnfs", "s:/e", "/m"));
	assert_string_equal(items(), "");
	assert_true(INIT(true, "rnfs", "--foreground", "--", "s:/e", "/m"));
	assert_string_equal(items(), "");
}

static void other_command_lines_are_none(void **state)
{
	assert_false(INIT(false, "rnfs"));
	assert_false(INIT(false, "rnfs", "s:/e"));
	assert_false(INIT(false, "rnfs", "s:/e", "/m", "more"));
	assert_false(INIT(false, "rnfs", "s:/e", "/m", "-o"));
	assert_false(INIT(false, "rnfs", "s:/e", "/m", "-x"));
	assert_false(init(false, 0, (const char *[]){NULL}));
}

static void the_last_one_counts(void **state)
{
	assert_true(INIT(false, "rnfs", "-o", "a=1,ab=2,b,a=3,a1", "s:/e", "/m"));
	assert_string_equal(mount_args_last(&a, "a=9", 1), "a=3");
	assert_string_equal(mount_args_last(&a, "ab", 2), "ab=2");
	assert_string_equal(mount_args_last(&a, "b", 1), "b");
	assert_null(mount_args_last(&a, "c", 1));
}

static void no_daemon_serves_it(void **state)
{
	struct mountinfo m = {.source = "no:/such", .dir = "/nowhere"};

	assert_false(mount_args_of_daemon(&a, &m));
	assert_int_equal(a.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(both_programs_have_options, finish),
		cmocka_unit_test_teardown(other_command_lines_are_none, finish),
		cmocka_unit_test_teardown(the_last_one_counts, finish),
		cmocka_unit_test_teardown(no_daemon_serves_it, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
