/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/fdcache.
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
#include <unistd.h>

#include "contrib/serve/export/fdcache.h"
#include "tests/unit/contrib/serve/serve-env.h"

#define MAX 4

struct fix {
	struct serve_env e;
	struct fdcache *fc;
	struct obj *o[8];
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct obj *root;

	env_init(&f->e);
	f->fc = fdcache_new(f->e.sv.objs, MAX);
	root = obj_root(f->e.sv.objs);
	for (unsigned i = 0; i < 8; i++) {
		char name[2] = {(char)('a' + i), 0}, path[128];

		env_path(&f->e, name, path, sizeof(path));
		assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0644)), 0);
		assert_int_equal(obj_lookup(f->e.sv.objs, root, name, 1, &f->o[i], NULL), 0);
	}
	obj_unref(f->e.sv.objs, root);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	fdcache_free(f->fc);
	for (unsigned i = 0; i < 8; i++)
		obj_unref(f->e.sv.objs, f->o[i]);
	env_finish(&f->e);
	free(f);
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Hands a descriptor of o[i] over for later use. Returns the descriptor. */
static int keep(struct fix *f, unsigned i, bool read, bool write)
{
	int fd = obj_open(f->o[i], write ? O_RDWR : O_RDONLY);
	struct fdcache_use *u = fdcache_add(f->fc, f->o[i], fd, read, write);

	assert_non_null(u);
	fdcache_put(f->fc, u);
	return fd;
}

static bool has(struct fix *f, unsigned i, bool write)
{
	int fd = -1;
	struct fdcache_use *u = fdcache_get(f->fc, f->o[i], write, &fd);

	assert_true(!u || is_open(fd));
	fdcache_put(f->fc, u);
	return u != NULL;
}

static void one_is_found_by_what_it_may_do(void **state)
{
	struct fix *f = *state;

	assert_false(has(f, 0, false));
	keep(f, 0, true, false);
	assert_true(has(f, 0, false));
	assert_false(has(f, 0, true));
	assert_false(has(f, 1, false));
	keep(f, 0, true, true);
	assert_true(has(f, 0, true));
}

static void the_longest_unused_go_first(void **state)
{
	struct fix *f = *state;
	int fd[MAX + 1];

	for (unsigned i = 0; i < MAX; i++)
		fd[i] = keep(f, i, true, false);
	assert_true(has(f, 0, false)); /* is now the last used */
	fd[MAX] = keep(f, MAX, true, false);
	assert_true(has(f, 0, false));
	assert_false(has(f, 1, false));
	assert_false(is_open(fd[1]));
	assert_true(is_open(fd[MAX]));
}

static void what_is_in_use_does_not_go(void **state)
{
	struct fix *f = *state;
	struct fdcache_use *u;
	int fd, got;

	fd = keep(f, 0, true, false);
	u = fdcache_get(f->fc, f->o[0], false, &got);
	assert_int_equal(got, fd);
	for (unsigned i = 1; i < 8; i++)
		keep(f, i, true, false);
	fdcache_age(f->fc, 0);
	assert_true(is_open(fd));
	fdcache_put(f->fc, u);
	assert_true(has(f, 0, false));
}

static void a_removed_file_gives_its_descriptor_up(void **state)
{
	struct fix *f = *state;
	struct fdcache_use *u;
	int idle = keep(f, 0, true, false), used, got;

	used = keep(f, 0, true, true);
	u = fdcache_get(f->fc, f->o[0], true, &got);
	assert_int_equal(got, used);
	fdcache_drop(f->fc, f->o[0]);
	assert_false(is_open(idle));
	assert_true(is_open(used));
	assert_false(has(f, 0, true)); /* no caller gets the descriptor any more */
	fdcache_put(f->fc, u);
	assert_false(is_open(used));
	fdcache_drop(NULL, f->o[0]);
}

static void what_is_idle_ages(void **state)
{
	struct fix *f = *state;
	int fd = keep(f, 0, true, false);

	fdcache_age(f->fc, 3600ull * 1000000000);
	assert_true(is_open(fd));
	for (int i = 0; i < 1000 && is_open(fd); i++) { /* until the coarse clock has moved on */
		usleep(10000);
		fdcache_age(f->fc, 0);
	}
	assert_false(is_open(fd));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(one_is_found_by_what_it_may_do),
		TEST(the_longest_unused_go_first),
		TEST(what_is_in_use_does_not_go),
		TEST(a_removed_file_gives_its_descriptor_up),
		TEST(what_is_idle_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
