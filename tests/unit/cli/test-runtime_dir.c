/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/runtime_dir. The user is the one that runs the tests, if that is not root;
 * else the user's number is made up, as far as no directory of that user is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/runtime_dir.h"

#define ANYBODY 4711u

static char above[64];

static int setup(void **state)
{
	strcpy(above, "/tmp/rnfs-test.XXXXXX");
	if (!mkdtemp(above))
		return -1;
	if (geteuid() == 0 && (chown(above, ANYBODY, (gid_t)-1) || seteuid(ANYBODY)))
		return -1;
	return setenv("XDG_RUNTIME_DIR", above, 1);
}

static int teardown(void **state)
{
	char command[100];

	if (getuid() == 0 && seteuid(0))
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", above);
	return system(command);
}

static void root_has_one_place(void **state)
{
	char path[RUNTIME_DIR_MAX];

	if (getuid() != 0) {
		skip();
		return;
	}
	assert_int_equal(seteuid(0), 0);
	assert_true(runtime_dir_place(0, path));
	assert_string_equal(path, "/run/rnfs");
	assert_false(runtime_dir_place(1, path));
	assert_false(runtime_dir_place(2, path));
}

static void users_have_three(void **state)
{
	char path[RUNTIME_DIR_MAX], expected[RUNTIME_DIR_MAX];

	snprintf(expected, sizeof(expected), "%.60s/rnfs", above);
	assert_true(runtime_dir_place(0, path));
	assert_string_equal(path, expected);
	snprintf(expected, sizeof(expected), "/run/user/%u/rnfs", geteuid());
	assert_true(runtime_dir_place(1, path));
	assert_string_equal(path, expected);
	snprintf(expected, sizeof(expected), "/tmp/rnfs-%u", geteuid());
	assert_true(runtime_dir_place(2, path));
	assert_string_equal(path, expected);
	assert_false(runtime_dir_place(3, path));
}

static void odd_environments_count_for_nothing(void **state)
{
	char path[RUNTIME_DIR_MAX], many[200];

	setenv("XDG_RUNTIME_DIR", "relative", 1);
	assert_false(runtime_dir_place(0, path));
	unsetenv("XDG_RUNTIME_DIR");
	assert_false(runtime_dir_place(0, path));
	memset(many, '/', sizeof(many) - 1);
	many[sizeof(many) - 1] = 0;
	setenv("XDG_RUNTIME_DIR", many, 1);
	assert_false(runtime_dir_place(0, path));
}

static void it_is_made_and_closed_to_others(void **state)
{
	char path[RUNTIME_DIR_MAX];
	struct err e = {0};
	struct stat st;

	umask(0);
	assert_int_equal(runtime_dir_make(path, &e), 0);
	assert_int_equal(strncmp(path, above, strlen(above)), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(chmod(path, 0777), 0);
	assert_false(runtime_dir_is_ours(path));
	assert_int_equal(runtime_dir_make(path, &e), 0);
	assert_true(runtime_dir_is_ours(path));
}

/* The place in /tmp is not tested: there the name must be the user's real one. */
static void a_link_is_none(void **state)
{
	char path[RUNTIME_DIR_MAX], wrong[RUNTIME_DIR_MAX];
	struct err e = {0};

	snprintf(wrong, sizeof(wrong), "%.60s/rnfs", above);
	assert_int_equal(symlink("/", wrong), 0);
	assert_false(runtime_dir_is_ours(wrong));
	if (!runtime_dir_make(path, &e)) {
		assert_string_not_equal(path, wrong);
		rmdir(path);
	} else {
		assert_true(e.msg[0]);
	}
}

static void a_directory_of_another_user_is_none(void **state)
{
	char path[RUNTIME_DIR_MAX];

	assert_false(runtime_dir_is_ours(geteuid() == 0 ? "/tmp/../proc/self/none" : "/"));
	setenv("XDG_RUNTIME_DIR", "/usr", 1);
	assert_true(runtime_dir_place(0, path));
	assert_false(runtime_dir_is_ours(path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(root_has_one_place, setup, teardown),
		cmocka_unit_test_setup_teardown(users_have_three, setup, teardown),
		cmocka_unit_test_setup_teardown(
			odd_environments_count_for_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_made_and_closed_to_others, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_directory_of_another_user_is_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
