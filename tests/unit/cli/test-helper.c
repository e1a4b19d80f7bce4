/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/helper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/helper.h"

static struct helper h;
static struct err e;
static char text[500];

static int init(bool root, int argc, const char *const *argv)
{
	helper_finish(&h);
	e = (struct err){0};
	return helper_init(&h, argc, (char **)argv, root, &e);
}

#define INIT(root, ...)                                                                            \
	init(root, sizeof((const char *[]){"/sbin/mount.rnfs", __VA_ARGS__}) / sizeof(char *),     \
		(const char *[]){"/sbin/mount.rnfs", __VA_ARGS__, NULL})

/* The command line that was made, with spaces between the words. */
static const char *made(void)
{
	text[0] = 0;
	for (int i = 0; i < h.argc; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			h.argv[i]);
	assert_null(h.argv[h.argc]);
	return text;
}

static int finish(void **state)
{
	helper_finish(&h);
	return 0;
}

static void the_name_tells(void **state)
{
	assert_true(helper_named("mount.rnfs"));
	assert_true(helper_named("/usr/sbin/mount.rnfs"));
	assert_false(helper_named("rnfs"));
	assert_false(helper_named("/opt/mount.rnfs/rnfs"));
	assert_false(helper_named("umount.rnfs"));
}

static void the_command_line_becomes_one_of_rnfs(void **state)
{
	assert_int_equal(INIT(false, "s:/e", "/m", "-o", "rw,soft"), 0);
	assert_string_equal(made(), "rnfs -o rw,soft s:/e /m");
	assert_false(h.fake || h.verbose);
	assert_int_equal(INIT(false, "s:/e", "/m", "-s", "-f", "-n", "-v", "-o", "a", "-t",
				 "fuse.rnfs", "-o", "b"),
		0);
	assert_string_equal(made(), "rnfs -s -o a -o b s:/e /m");
	assert_true(h.fake && h.verbose);
	assert_int_equal(INIT(false, "-r", "s:/e", "/m", "-w"), 0);
	assert_string_equal(made(), "rnfs -r -w s:/e /m");
}

/* In front, so that the user's options count. */
static void root_mounts_for_all(void **state)
{
	assert_int_equal(INIT(true, "s:/e", "/m", "-o", "nosuid"), 0);
	assert_string_equal(made(), "rnfs -o allow_other,suid,dev -o nosuid s:/e /m");
	assert_int_equal(INIT(true, "s:/allow_root", "/m"), 0);
	assert_string_equal(made(), "rnfs -o allow_other,suid,dev s:/allow_root /m");
	assert_int_equal(INIT(true, "s:/e", "/m", "-o", "ro,allow_root,soft"), 0);
	assert_string_equal(made(), "rnfs -o suid,dev -o ro,allow_root,soft s:/e /m");
	assert_int_equal(INIT(true, "s:/e", "/m", "-o", "allow_rootless,x-allow_root"), 0);
	assert_string_equal(
		made(), "rnfs -o allow_other,suid,dev -o allow_rootless,x-allow_root s:/e /m");
}

static void wrong_command_lines_are_refused(void **state)
{
	assert_int_equal(INIT(false, "s:/e"), -1);
	assert_non_null(strstr(e.msg, "mount.rnfs SERVER:/EXPORT MOUNTPOINT"));
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(INIT(false, "s:/e", "/m", "more"), -1);
	assert_int_equal(INIT(false, "s:/e", "/m", "-o"), -1);
	assert_non_null(strstr(e.msg, "-o needs a value"));
	assert_int_equal(INIT(false, "s:/e", "/m", "-d"), -1);
	assert_non_null(strstr(e.msg, "unknown option -d"));
}

static void a_namespace_must_be_one(void **state)
{
	assert_int_equal(INIT(false, "s:/e", "/m", "-N", "/proc/self/status"), -1);
	assert_int_equal(e.kind, ERR_INTERNAL);
	assert_non_null(strstr(e.msg, "/proc/self/status"));
	assert_int_equal(INIT(false, "s:/e", "/m", "-N", "/nowhere"), -1);
	assert_non_null(strstr(e.msg, "/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_name_tells, finish),
		cmocka_unit_test_teardown(the_command_line_becomes_one_of_rnfs, finish),
		cmocka_unit_test_teardown(root_mounts_for_all, finish),
		cmocka_unit_test_teardown(wrong_command_lines_are_refused, finish),
		cmocka_unit_test_teardown(a_namespace_must_be_one, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
