/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/state_dir.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "transport/state_dir.h"

static uid_t user;

uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void)
{
	return user;
}

static const char *dir(void)
{
	static char path[PATH_MAX];

	return state_dir(path, sizeof(path)) ? path : NULL;
}

static void root_has_a_place_of_the_system(void **state)
{
	user = 0;
	setenv("XDG_STATE_HOME", "/elsewhere", 1);
	assert_string_equal(dir(), "/var/lib/rnfs");
}

static void users_have_a_place_of_their_own(void **state)
{
	char small[10];

	user = 1000;
	setenv("HOME", "/home/me", 1);
	setenv("XDG_STATE_HOME", "/elsewhere", 1);
	assert_string_equal(dir(), "/elsewhere/rnfs");
	assert_false(state_dir(small, sizeof(small)));
	setenv("XDG_STATE_HOME", "relative", 1);
	assert_string_equal(dir(), "/home/me/.local/state/rnfs");
	unsetenv("XDG_STATE_HOME");
	assert_string_equal(dir(), "/home/me/.local/state/rnfs");
	unsetenv("HOME");
	assert_null(dir());
}

static void all_directories_above_are_made(void **state)
{
	char top[] = "/tmp/state_dir.XXXXXX", path[PATH_MAX];
	struct stat st;

	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/a/b", top);
	state_dir_make(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	state_dir_make(path); /* again: no effect */
	assert_int_equal(state_sync_name(path), 0);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/a", top);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/gone/file", top);
	assert_int_equal(state_sync_name(path), -ENOENT);
	assert_int_equal(rmdir(top), 0);
}

static void a_path_is_in_a_directory(void **state)
{
	char in[PATH_MAX];

	state_dir_of("/a/b/c", in);
	assert_string_equal(in, "/a/b");
	state_dir_of("/a", in);
	assert_string_equal(in, "/");
	state_dir_of("a", in);
	assert_string_equal(in, ".");
	state_dir_of("a/b", in);
	assert_string_equal(in, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_has_a_place_of_the_system),
		cmocka_unit_test(users_have_a_place_of_their_own),
		cmocka_unit_test(all_directories_above_are_made),
		cmocka_unit_test(a_path_is_in_a_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
