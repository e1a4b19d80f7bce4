/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/fuse_fd. The tests with a mount are in tests/e2e/mounts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/fuse_fd.h"

static void is_refused(const char *path, const char *because)
{
	struct err e = {0};

	assert_int_equal(fuse_fd_check(path, &e), -1);
	if (!strstr(e.msg, because))
		fail_msg("%s: %s", path, e.msg);
}

static void fd_is_refused(int fd, const char *because)
{
	char path[40];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	is_refused(path, because);
}

static void only_the_prefix_means_a_descriptor(void **state)
{
	assert_true(fuse_fd_meant("/dev/fd/3"));
	assert_true(fuse_fd_meant("/dev/fd/x"));
	assert_false(fuse_fd_meant("/dev/fd"));
	assert_false(fuse_fd_meant("/mnt/dev/fd/3"));
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const wrong[] = {"/dev/fd/", "/dev/fd/x", "/dev/fd/3x", "/dev/fd/-3",
		"/dev/fd/ 3", "/dev/fd/+3", "/dev/fd/3/", "/dev/fd/99999999999",
		"/dev/fd/99999999999999999999999"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_refused(wrong[i], "has no number behind /dev/fd/");
}

static void what_is_not_open_is_refused(void **state)
{
	is_refused("/dev/fd/1000000", "is not open");
}

static void what_is_no_fuse_device_is_refused(void **state)
{
	int fd = open("/dev/null", O_RDWR), file = open("/proc/self/exe", O_RDONLY), p[2];

	assert_int_equal(pipe(p), 0);
	fd_is_refused(fd, "is not a FUSE device");
	fd_is_refused(file, "is not a FUSE device");
	fd_is_refused(p[0], "is not a FUSE device");
	fd_is_refused(STDIN_FILENO, "is a standard file");
	close(fd);
	close(file);
	close(p[0]);
	close(p[1]);
}

static void a_device_that_is_not_mounted_is_refused(void **state)
{
	int fd = open("/dev/fuse", O_RDWR), reads = open("/dev/fuse", O_RDONLY);

	if (fd < 0 || reads < 0)
		skip();
	fd_is_refused(fd, "not mounted");
	fd_is_refused(reads, "not open for both");
	close(fd);
	close(reads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_prefix_means_a_descriptor),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(what_is_not_open_is_refused),
		cmocka_unit_test(what_is_no_fuse_device_is_refused),
		cmocka_unit_test(a_device_that_is_not_mounted_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
