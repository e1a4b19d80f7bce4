/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/record: which changes outlive a process, and which do not.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "contrib/serve/state/record.h"

#define SIZE 10000

static char dir[64], path[80];

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/rnfs-record.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/record", dir);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(dir);
}

static uint8_t *byte_of(const struct record *r)
{
	return (uint8_t *)r->map + SIZE - 1;
}

/* A process that stores value and does not close the record. */
static void killed_with(uint8_t value)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct record r;

		if (record_open(&r, path, "magic 1", SIZE) != 0)
			_exit(1);
		*byte_of(&r) = value;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_is_stored_outlives_the_process(void **state)
{
	struct record r, second;
	struct stat st;

	killed_with(7);
	assert_int_equal(record_open(&r, path, "magic 1", SIZE), 0);
	assert_true(r.was_killed && !r.fresh);
	assert_int_equal(*byte_of(&r), 7);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(record_open(&second, path, "magic 1", SIZE), -EAGAIN);
	record_close(&r);
	assert_int_equal(record_open(&r, path, "magic 1", SIZE), 0);
	assert_true(!r.was_killed && !r.fresh);
	record_close(&r);
}

static void another_layout_is_made_anew(void **state)
{
	struct record r;

	killed_with(7);
	assert_int_equal(record_open(&r, path, "magic 2", SIZE), 0);
	assert_true(r.fresh && !r.was_killed);
	assert_int_equal(*byte_of(&r), 0);
	record_close(&r);
}

static void an_earlier_boot_is_thrown_away(void **state)
{
	struct record r;

	killed_with(7);
	assert_int_equal(record_open(&r, path, "magic 1", SIZE), 0);
	((struct record_head *)r.map)->boot[0] ^= 1;
	record_close(&r);
	assert_int_equal(record_open(&r, path, "magic 1", SIZE), 0);
	assert_true(r.fresh);
	assert_int_equal(*byte_of(&r), 0);
	record_close(&r);
}

static void what_is_no_file_of_ours_is_left_alone(void **state)
{
	struct record r;

	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(record_open(&r, path, "magic 1", SIZE), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(record_open(&r, path, "magic 1", SIZE), -EPERM);
	assert_int_equal(record_open(&r, "/proc/nowhere", "magic 1", SIZE), -ENOENT);
}

#define ON_PATH(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_PATH(what_is_stored_outlives_the_process),
		ON_PATH(another_layout_is_made_anew),
		ON_PATH(an_earlier_boot_is_thrown_away),
		ON_PATH(what_is_no_file_of_ours_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
