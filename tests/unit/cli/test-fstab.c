/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/fstab.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/fstab.h"

static char file[] = "/tmp/test-fstab.XXXXXX";
static struct fstab t;
static struct err e;

static int setup(void **state)
{
	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_CONFIG_HOME");
	return 0;
}

static int teardown(void **state)
{
	fstab_finish(&t);
	return 0;
}

static unsigned read_text(const char *text)
{
	int fd = mkstemp(strcpy(file, "/tmp/test-fstab.XXXXXX"));

	fstab_finish(&t);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(fstab_read(&t, file, &e), 0);
	unlink(file);
	return t.n;
}

static void the_file_is_of_the_users_configuration(void **state)
{
	char path[40];

	assert_true(fstab_path(path, sizeof(path)));
	assert_string_equal(path, "/home/u/.config/rnfs/fstab");
	setenv("XDG_CONFIG_HOME", "/etc/u", 1);
	assert_true(fstab_path(path, sizeof(path)));
	assert_string_equal(path, "/etc/u/rnfs/fstab");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	assert_true(fstab_path(path, sizeof(path)));
	assert_string_equal(path, "/home/u/.config/rnfs/fstab");
	assert_false(fstab_path(path, 26));
	unsetenv("HOME");
	assert_false(fstab_path(path, sizeof(path)));
}

static void lines_are_those_of_fstab(void **state)
{
	assert_int_equal(read_text("# mine\n\n"
				   "server:/data\t~/data rnfs ro,soft 0 0\n"
				   "[fd00::7]:/a\\040b /mnt//a\\040b/ fuse.rnfs noauto,ro\n"
				   "s:/ /m rnfs\n"),
		3);
	assert_string_equal(t.lines[0].source, "server:/data");
	assert_string_equal(t.lines[0].dir, "/home/u/data");
	assert_string_equal(t.lines[0].options, "ro,soft");
	assert_true(t.lines[0].automatic);
	assert_string_equal(t.lines[1].source, "[fd00::7]:/a b");
	assert_string_equal(t.lines[1].dir, "/mnt/a b");
	assert_false(t.lines[1].automatic);
	assert_string_equal(t.lines[2].options, "defaults");
}

static void other_lines_are_left_out(void **state)
{
	assert_int_equal(read_text("server:/x /x nfs ro\n"
				   "server:/x data rnfs ro\n"
				   "server:/x ~other/data rnfs ro\n"
				   "server:/x\n"
				   "server:/y /y rnfs ro\n"),
		1);
	assert_string_equal(t.lines[0].source, "server:/y");
	assert_int_equal(read_text(""), 0);
}

static void mount_points_are_found(void **state)
{
	read_text("s:/a ~/a rnfs\ns:/root / rnfs\n");
	assert_string_equal(fstab_find(&t, "/home/u/a")->source, "s:/a");
	assert_string_equal(fstab_find(&t, "/home//u/a/")->source, "s:/a");
	assert_string_equal(fstab_find(&t, "~/a")->source, "s:/a");
	assert_string_equal(fstab_find(&t, "//")->source, "s:/root");
	assert_null(fstab_find(&t, "/home/u/b"));
	assert_null(fstab_find(&t, "a"));
	assert_null(fstab_find(&t, ""));
}

static void a_missing_file_is_named(void **state)
{
	assert_int_equal(fstab_read(&t, "/nowhere/fstab", &e), -1);
	assert_non_null(strstr(e.msg, "/nowhere/fstab"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_file_is_of_the_users_configuration, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_are_those_of_fstab, setup, teardown),
		cmocka_unit_test_setup_teardown(other_lines_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(mount_points_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_file_is_named, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
