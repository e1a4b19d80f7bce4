/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/ops/making: operations that a killed server leaves half done.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "contrib/serve/ops/making.h"

struct fix {
	char dir[64], path[80], name[80];
	struct making_what w;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "%s/rnfs-making.XXXXXX", "/tmp");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/record", f->dir);
	snprintf(f->name, sizeof(f->name), "%s/d", f->dir);
	f->w = (struct making_what){
		.dev = 1, .ino = 2, .name = {"d", 1}, .type = NFS_DIR, .mark = {1000, 77}};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	rmdir(f->name);
	unlink(f->path);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

static struct statx look(const struct fix *f)
{
	struct statx st;

	assert_int_equal(statx(AT_FDCWD, f->name, 0, STATX_BASIC_STATS | STATX_BTIME, &st), 0);
	if (!(st.stx_mask & STATX_BTIME))
		skip(); /* on a file system without times of birth the server cannot tell */
	return st;
}

/* A run that is killed while it makes w. Further marks are noted beside w. other: the run completes
 * the same name for another client. */
static void killed_run(struct fix *f, const struct making_what *beside, bool other)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct making *m = making_new(f->path);

		if (!m || making_begin(m, &f->w) < 0 || (beside && making_begin(m, beside) < 0))
			_exit(1);
		if (mkdir(f->name, 0755) != 0 && errno != EEXIST)
			_exit(2);
		if (other)
			making_end(m, -1, &f->w, true);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_was_being_made_is_claimed_once(void **state)
{
	struct fix *f = *state;
	struct making_what wrong = f->w;
	struct making *m;
	struct statx st;

	killed_run(f, NULL, false);
	st = look(f);
	m = making_new(f->path);
	assert_true(making_was_killed(m));
	wrong.mark.tv_nsec++;
	assert_false(making_claim(m, &wrong, &st));
	wrong = f->w;
	wrong.ino++;
	assert_false(making_claim(m, &wrong, &st));
	wrong = f->w;
	wrong.type = NFS_LNK;
	assert_false(making_claim(m, &wrong, &st));
	assert_true(making_claim(m, &f->w, &st));
	assert_false(making_claim(m, &f->w, &st));
	making_free(m);
	m = making_new(f->path);
	assert_false(making_was_killed(m));
	assert_null(making_new(f->path)); /* one process at a time */
	making_free(m);
}

static void it_outlives_a_second_kill(void **state)
{
	struct fix *f = *state;
	struct making_what next = f->w;
	struct making *m;
	struct statx st;

	killed_run(f, NULL, false);
	st = look(f);
	next.ino = 3;
	f->w.ino = 4;
	killed_run(f, &next, false);
	f->w.ino = 2;
	m = making_new(f->path);
	assert_true(making_claim(m, &f->w, &st));
	making_free(m);
}

/* Of two operations for one name, at most one has made the object. */
static void only_one_has_made_it(void **state)
{
	struct fix *f = *state;
	struct making_what second = f->w;
	struct making *m;
	struct statx st;

	second.mark.tv_nsec++;
	killed_run(f, &second, false);
	st = look(f);
	m = making_new(f->path);
	assert_true(making_claim(m, &second, &st));
	assert_false(making_claim(m, &f->w, &st));
	making_free(m);
	killed_run(f, NULL, true); /* another client was told that it made the directory */
	m = making_new(f->path);
	assert_false(making_claim(m, &f->w, &st));
	making_free(m);
}

static void what_was_there_before_is_not_claimed(void **state)
{
	struct fix *f = *state;
	struct making *m;
	struct statx st;

	assert_int_equal(mkdir(f->name, 0755), 0);
	usleep(50000); /* the clock of the file system goes by steps */
	killed_run(f, NULL, false);
	st = look(f);
	m = making_new(f->path);
	assert_false(making_claim(m, &f->w, &st));
	making_free(m);
}

static void what_has_been_touched_is_not_claimed(void **state)
{
	const struct timespec times[2] = {{5, 5}, {UTIME_OMIT, UTIME_OMIT}};
	struct fix *f = *state;
	struct timespec mark[2] = {f->w.mark, {UTIME_OMIT, UTIME_OMIT}};
	struct making *m;
	struct statx st;

	killed_run(f, NULL, false);
	assert_int_equal(utimensat(AT_FDCWD, f->name, times, 0), 0);
	st = look(f);
	m = making_new(f->path);
	assert_false(making_claim(m, &f->w, &st));
	/* the last step of the operation */
	assert_int_equal(utimensat(AT_FDCWD, f->name, mark, 0), 0);
	st = look(f);
	assert_true(making_claim(m, &f->w, &st));
	making_free(m);
}

static void without_a_record_nothing_is_claimed(void **state)
{
	struct fix *f = *state;
	struct statx st = {.stx_mask = STATX_BTIME, .stx_btime = {.tv_sec = INT_MAX}};

	assert_int_equal(making_begin(NULL, &f->w), -1);
	making_end(NULL, -1, &f->w, true);
	assert_false(making_claim(NULL, &f->w, &st));
	assert_null(making_new("/proc/nowhere"));
}

#define ON_RECORD(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_RECORD(what_was_being_made_is_claimed_once),
		ON_RECORD(it_outlives_a_second_kill),
		ON_RECORD(only_one_has_made_it),
		ON_RECORD(what_was_there_before_is_not_claimed),
		ON_RECORD(what_has_been_touched_is_not_claimed),
		ON_RECORD(without_a_record_nothing_is_claimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
