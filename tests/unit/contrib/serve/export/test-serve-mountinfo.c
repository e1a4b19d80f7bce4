/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/mountinfo: where the kernel's list of mounts leads. The list
 * is a file of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "contrib/serve/export/mountinfo.h"

static const uint8_t secret[HANDLE_KEY] = "a test's secret";

struct env {
	char top[64];
	char in[80]; /* the export; top/inside lies beside the export */
	struct obj_table *t;
	uint64_t dev; /* of all files of the test */
};

static char list[4096]; /* text of /proc/self/mountinfo */

FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode)
{
	if (strcmp(path, "/proc/self/mountinfo") != 0)
		return __real_fopen64(path, mode);
	return *list ? fmemopen(list, strlen(list), "r") : NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	return __wrap_fopen64(path, mode);
}

static const char *const dirs[] = {"in", "inside", "in/a b", "inside/x", "in/\\", "in/side"};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	struct err err = {0};
	struct stat st;
	char path[160];

	strcpy(e->top, "/tmp/rnfs-mountinfo-XXXXXX");
	assert_non_null(mkdtemp(e->top));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", e->top, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/in/file", e->top);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	snprintf(e->in, sizeof(e->in), "%s/in", e->top);
	e->t = obj_table_new(e->in, secret, 0, &err);
	assert_non_null(e->t);
	/* as if no caller had come by any place of that file system yet */
	for (unsigned i = 0; i < e->t->nmounts; i++)
		close(e->t->mount[i].fd);
	e->t->nmounts = 0;
	e->t->by_handle = true;
	/* and as if the root were on another file system */
	assert_int_equal(stat(e->in, &st), 0);
	e->dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	e->t->root_dev = e->dev + 1;
	list[0] = '\0';
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;
	char path[160];

	obj_table_free(e->t);
	snprintf(path, sizeof(path), "%s/in/file", e->top);
	unlink(path);
	for (size_t i = sizeof(dirs) / sizeof(dirs[0]); i > 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", e->top, dirs[i - 1]);
		rmdir(path);
	}
	rmdir(e->top);
	free(e);
	return 0;
}

/* A line of the list: dev is mounted at top/place. */
static void mounted(struct env *e, uint64_t dev, const char *place)
{
	size_t len = strlen(list);

	snprintf(list + len, sizeof(list) - len,
		"36 35 %u:%u / %s/%s rw,noatime master:1 - ext4 /dev/x rw\n", (unsigned)(dev >> 32),
		(unsigned)dev, e->top, place);
}

/* Does the table's descriptor for the file system lead to top/place? */
static bool leads_to(struct env *e, const char *place)
{
	struct stat want, got;
	char path[160];
	int fd = mountinfo_fd(e->t, e->dev);

	snprintf(path, sizeof(path), "%s/%s", e->top, place);
	assert_int_equal(stat(path, &want), 0);
	return fd >= 0 && !fstat(fd, &got) && got.st_ino == want.st_ino;
}

static void the_place_is_found_by_name(void **state)
{
	struct env *e = *state;

	mounted(e, e->dev + 2, "in");
	mounted(e, e->dev, "in/a\\040b");
	assert_true(leads_to(e, "in/a b"));
	list[0] = '\0'; /* and the table need not search again */
	assert_true(leads_to(e, "in/a b"));
}

static void a_backslash_is_one_of_the_list_or_of_the_name(void **state)
{
	struct env *e = *state;

	mounted(e, e->dev, "in/\\134");
	assert_true(leads_to(e, "in/\\"));
}

static void what_is_not_below_the_root_is_passed_over(void **state)
{
	struct env *e = *state;

	mounted(e, e->dev, "inside/x");
	mounted(e, e->dev, "inside");
	mounted(e, e->dev, "in/../inside");
	assert_int_equal(mountinfo_fd(e->t, e->dev), -1);
	mounted(e, e->dev, "in/a\\040b");
	assert_true(leads_to(e, "in/a b"));
}

static void what_has_gone_or_is_no_directory_is_passed_over(void **state)
{
	struct env *e = *state;

	mounted(e, e->dev, "in/gone/c");
	mounted(e, e->dev, "in/file");
	mounted(e, e->dev, "in/file/x");
	assert_int_equal(mountinfo_fd(e->t, e->dev), -1);
	/* another file system is mounted over the place by now */
	mounted(e, e->dev + 2, "in/a\\040b");
	assert_int_equal(mountinfo_fd(e->t, e->dev + 2), -1);
}

static void a_list_that_is_none_leads_nowhere(void **state)
{
	struct env *e = *state;

	assert_int_equal(mountinfo_fd(e->t, e->dev), -1);
	strcpy(list, "\n36 35\n36 35 8:1 /\nx y z\n36 35 8:1 / \\");
	assert_int_equal(mountinfo_fd(e->t, e->dev), -1);
	assert_int_equal(mountinfo_fd(e->t, 8ull << 32 | 1), -1);
}

static void without_the_right_to_open_handles_nothing_is_looked_for(void **state)
{
	struct env *e = *state;

	mounted(e, e->dev, "in/a\\040b");
	e->t->by_handle = false;
	assert_int_equal(mountinfo_fd(e->t, e->dev), -1);
	e->t->by_handle = true;
	assert_true(leads_to(e, "in/a b"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_place_is_found_by_name),
		TEST(a_backslash_is_one_of_the_list_or_of_the_name),
		TEST(what_is_not_below_the_root_is_passed_over),
		TEST(what_has_gone_or_is_no_directory_is_passed_over),
		TEST(a_list_that_is_none_leads_nowhere),
		TEST(without_the_right_to_open_handles_nothing_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
