/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/export/key.h"

struct fix {
	char dir[64];
	char path[96];
	uint8_t key[HANDLE_KEY];
	char place[PATH_MAX];
	struct err err;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/rnfs-key-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/key", f->dir);
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	struct fix *f = *state;

	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static void put_file(const struct fix *f, const char *bytes, size_t n, mode_t mode)
{
	int fd = open(f->path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static void a_key_is_made_once_and_for_nobody_else(void **state)
{
	struct fix *f = *state;
	uint8_t again[HANDLE_KEY], other[HANDLE_KEY];
	struct stat st;

	assert_int_equal(key_load(f->path, f->key, f->place, &f->err), 0);
	assert_string_equal(f->place, f->dir);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, HANDLE_KEY);
	assert_int_equal(st.st_nlink, 1); /* the temporary name is gone */
	assert_int_equal(key_load(f->path, again, f->place, &f->err), 0);
	assert_memory_equal(again, f->key, HANDLE_KEY);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(key_load(f->path, other, f->place, &f->err), 0);
	assert_memory_not_equal(other, f->key, HANDLE_KEY);
}

/* A container gives each run the same process ID, and a run may be killed before it has linked the
 * new key into place. */
static void a_file_of_a_killed_run_is_not_in_the_way(void **state)
{
	struct fix *f = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s.%d", f->path, (int)getpid());
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(key_load(f->path, f->key, f->place, &f->err), 0);
}

static void a_key_that_others_may_read_is_refused(void **state)
{
	struct fix *f = *state;

	for (mode_t bit = 1; bit <= 040; bit <<= 1) {
		put_file(f, "0123456789abcdef", HANDLE_KEY, 0600 | bit);
		assert_int_not_equal(key_load(f->path, f->key, f->place, &f->err), 0);
		assert_non_null(strstr(f->err.msg, "0600"));
		assert_string_equal(f->place, "");
	}
	put_file(f, "0123456789abcdef", HANDLE_KEY, 0600);
	assert_int_equal(key_load(f->path, f->key, f->place, &f->err), 0);
	assert_memory_equal(f->key, "0123456789abcdef", HANDLE_KEY);
}

static void a_file_that_is_no_key_is_refused_and_kept(void **state)
{
	struct fix *f = *state;
	struct stat st;

	put_file(f, "short", 5, 0600);
	assert_int_not_equal(key_load(f->path, f->key, f->place, &f->err), 0);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 5);
}

static void a_link_is_not_followed(void **state)
{
	struct fix *f = *state;
	char target[96];

	put_file(f, "0123456789abcdef", HANDLE_KEY, 0600);
	snprintf(target, sizeof(target), "%s/target", f->dir);
	assert_int_equal(rename(f->path, target), 0);
	assert_int_equal(symlink(target, f->path), 0);
	assert_int_not_equal(key_load(f->path, f->key, f->place, &f->err), 0);
}

static void a_place_that_is_not_there_is_told(void **state)
{
	struct fix *f = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s/no/key", f->dir);
	assert_int_not_equal(key_load(path, f->key, f->place, &f->err), 0);
	assert_non_null(strstr(f->err.msg, path));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_key_is_made_once_and_for_nobody_else),
		TEST(a_file_of_a_killed_run_is_not_in_the_way),
		TEST(a_key_that_others_may_read_is_refused),
		TEST(a_file_that_is_no_key_is_refused_and_kept),
		TEST(a_link_is_not_followed),
		TEST(a_place_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
