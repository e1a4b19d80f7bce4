/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/mounts: which mount a path is in. The mounts are made up; the directories and
 * symbolic links in front of the mounts are real.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mounts.h"

static char top[] = "/tmp/rnfs-test.XXXXXX";
static struct mount two[2];
static const struct mounts all = {.of = two, .n = 2}, one = {.of = two, .n = 1}, none;

static void put(struct mount *m, const char *dir, const char *socket)
{
	m->is_here = true;
	snprintf(m->info.dir, sizeof(m->info.dir), "%s%s", top, dir);
	snprintf(m->socket, sizeof(m->socket), "%s", socket);
}

static int setup(void **state)
{
	if (!mkdtemp(top) || chdir(top) || mkdir("a", 0700) || mkdir("a/b", 0700) ||
		symlink("a/b", "short") || symlink("../a/./b/", "a/up") || symlink("loop", "loop"))
		return -1;
	put(&two[0], "/a/b", "1.sock");
	put(&two[1], "/a/b/in/side", "2.sock");
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

/* The number of the mount that has path (below top if path begins with a slash); -1: none. */
static int in(const char *path)
{
	char absolute[PATH_MAX];
	const struct mount *m;
	struct err e = {0};

	snprintf(absolute, sizeof(absolute), "%s%s", path[0] == '/' ? top : "", path);
	m = mounts_pick(&all, absolute, &e);
	assert_int_equal(!m, e.kind != ERR_NONE);
	return m ? (int)(m - two) : -1;
}

static void paths(void **state)
{
	assert_int_equal(in("/a/b"), 0);
	assert_int_equal(in("/a/b/"), 0);
	assert_int_equal(in("//a//b/not/there"), 0);
	assert_int_equal(in("/a/./../a/b/x"), 0);
	assert_int_equal(in("/a/bc"), -1);
	assert_int_equal(in("/a"), -1);
	assert_int_equal(in("/"), -1);
	assert_int_equal(in("/../../../../../.."), -1);
	assert_int_equal(in(""), -1);
}

static void paths_from_here(void **state)
{
	assert_int_equal(in("a/b/x"), 0);
	assert_int_equal(in("./a/b"), 0);
	assert_int_equal(in("a"), -1);
}

static void symbolic_links(void **state)
{
	assert_int_equal(in("/short"), 0);
	assert_int_equal(in("short/x"), 0);
	assert_int_equal(in("/a/up/x"), 0);
	assert_int_equal(in("/loop/x"), -1);
}

static void a_mount_point_below_another(void **state)
{
	assert_int_equal(in("/a/b/in/side"), 1);
	assert_int_equal(in("/a/b/in/side/x"), 1);
	assert_int_equal(in("/a/b/in/sides"), 0);
	assert_int_equal(in("/a/b/in/other"), 0);
	assert_int_equal(in("/a/b/in/side/../.."), 0);
	assert_int_equal(in("/a/b/../c"), -1);
}

static void the_only_mount_needs_no_name(void **state)
{
	struct err e = {0};

	assert_ptr_equal(mounts_pick(&one, NULL, &e), two);
	assert_null(mounts_pick(&all, NULL, &e));
	assert_true(strstr(e.msg, "several"));
	e = (struct err){0};
	assert_null(mounts_pick(&none, NULL, &e));
	assert_true(strstr(e.msg, "no mount"));
	strcpy(two[1].socket, "1.sock"); /* the same mount elsewhere */
	e = (struct err){0};
	assert_ptr_equal(mounts_pick(&all, NULL, &e), two);
	strcpy(two[1].socket, "2.sock");
}

static void a_daemon_that_does_not_answer(void **state)
{
	static struct contact c;
	struct ask a = {.what = ASK_HELLO};
	struct err e = {0};

	two[0].daemon = MOUNT_DEAD;
	assert_int_equal(mounts_ask(&one, NULL, &a, &c, &e), -1);
	assert_true(strstr(e.msg, "has died: umount"));
	e = (struct err){0};
	two[0].daemon = MOUNT_MUTE;
	assert_int_equal(mounts_ask(&one, NULL, &a, &c, &e), -1);
	assert_true(strstr(e.msg, "no daemon answers"));
	e = (struct err){0};
	two[0].daemon = MOUNT_ANSWERS;
	assert_int_equal(mounts_ask(&one, NULL, &a, &c, &e), -1);
	assert_true(strstr(e.msg, "does not answer: No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(paths_from_here),
		cmocka_unit_test(symbolic_links),
		cmocka_unit_test(a_mount_point_below_another),
		cmocka_unit_test(the_only_mount_needs_no_name),
		cmocka_unit_test(a_daemon_that_does_not_answer),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
