/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/submount: one descriptor is kept for each file system.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/export/submount.h"

static const uint8_t secret[HANDLE_KEY] = "a test's secret";

struct env {
	char dir[64];
	struct obj_table *t;
	int fd; /* of the directory, as objects have one */
};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	struct err err = {0};

	strcpy(e->dir, "/tmp/rnfs-submount-XXXXXX");
	assert_non_null(mkdtemp(e->dir));
	e->t = obj_table_new(e->dir, secret, 0, &err);
	assert_non_null(e->t);
	e->t->by_handle = true;
	e->fd = open(e->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(e->fd >= 0);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	obj_table_free(e->t);
	close(e->fd);
	rmdir(e->dir);
	free(e);
	return 0;
}

static void what_is_kept_outlives_what_was_given(void **state)
{
	struct env *e = *state;
	struct stat want, got;
	int fd = dup(e->fd), kept;

	assert_int_equal(submount_fd(e->t, 7), -1);
	submount_note(e->t, 7, fd);
	kept = submount_fd(e->t, 7);
	assert_true(kept >= 0 && kept != fd);
	close(fd);
	assert_int_equal(fstat(e->fd, &want), 0);
	assert_int_equal(fstat(kept, &got), 0);
	assert_int_equal(want.st_ino, got.st_ino);
	/* open_by_handle_at() takes no O_PATH descriptor */
	assert_false(fcntl(kept, F_GETFL) & O_PATH);
	assert_true(fcntl(kept, F_GETFD) & FD_CLOEXEC);
}

static void a_file_system_is_kept_once(void **state)
{
	struct env *e = *state;
	unsigned before = e->t->nmounts;
	int kept;

	submount_note(e->t, 7, e->fd);
	kept = submount_fd(e->t, 7);
	submount_note(e->t, 8, e->fd);
	submount_note(e->t, 7, e->fd);
	assert_int_equal(submount_fd(e->t, 7), kept);
	assert_int_not_equal(submount_fd(e->t, 8), kept);
	assert_int_equal(e->t->nmounts, before + 2);
}

static void there_are_no_more_than_fit(void **state)
{
	struct env *e = *state;

	for (uint64_t dev = 1000; dev < 1000 + 2 * OBJ_MOUNTS; dev++)
		submount_note(e->t, dev, e->fd);
	assert_int_equal(e->t->nmounts, OBJ_MOUNTS);
	assert_true(submount_fd(e->t, 1000) >= 0);
	assert_int_equal(submount_fd(e->t, 1000 + 2 * OBJ_MOUNTS - 1), -1);
}

static void what_cannot_be_used_is_not_kept(void **state)
{
	struct env *e = *state;
	unsigned before = e->t->nmounts;
	int null = open("/dev/null", O_PATH | O_CLOEXEC);

	submount_note(e->t, 0, e->fd); /* the root's own descriptor, which is kept already */
	submount_note(e->t, 7, null);  /* is no directory */
	assert_int_equal(submount_fd(e->t, 7), -1);
	close(null);
	e->t->by_handle = false;
	submount_note(e->t, 7, e->fd);
	assert_int_equal(submount_fd(e->t, 7), -1);
	assert_int_equal(e->t->nmounts, before);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_kept_outlives_what_was_given),
		TEST(a_file_system_is_kept_once),
		TEST(there_are_no_more_than_fit),
		TEST(what_cannot_be_used_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
