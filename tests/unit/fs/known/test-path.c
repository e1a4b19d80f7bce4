/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/known/path.h"
#include "tests/unit/fs/known/names-fixture.h"

static struct fs fs;
static struct inode *root, *a, *b, *file;
static char text[64];

static int setup(void **state)
{
	names_begin();
	fs.inodes = t;
	fs.names = n;
	root = inode_table_root(t);
	a = get(3, NFS_DIR);
	b = get(4, NFS_DIR);
	file = get(5, NFS_REG);
	names_put(n, root, "a", a, 1, 0);
	names_put(n, a, "b b", b, 1, 0);
	names_put(n, b, "file", file, 1, 0);
	return 0;
}

static const char *path(struct inode *ino, size_t size)
{
	memset(text, '#', sizeof(text));
	path_of(&fs, ino, text, size);
	if (size < sizeof(text))
		assert_int_equal(text[size], '#');
	return text;
}

static void names_lead_to_the_root(void **state)
{
	assert_string_equal(path(root, 64), "/");
	assert_string_equal(path(a, 64), "/a");
	assert_string_equal(path(file, 64), "/a/b b/file");
	path_of_name(&fs, b, "new", text, sizeof(text));
	assert_string_equal(text, "/a/b b/new");
	path_of_name(&fs, root, "new", text, sizeof(text));
	assert_string_equal(text, "/new");
}

static void what_has_no_name_has_a_number(void **state)
{
	assert_string_equal(path(get(6, NFS_REG), 64), "#6");
	names_forget(n, root, "a");
	assert_string_equal(path(file, 64), "#3/b b/file");
}

static void long_paths_are_cut_in_front(void **state)
{
	char name[100];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	names_put(n, b, name, get(7, NFS_REG), 1, 0);
	path(get(7, NFS_REG), 32);
	assert_int_equal(strlen(text), 31);
	assert_string_equal(text, "...xxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	path_of_name(&fs, b, "0123456789012345678901234", text, 32);
	assert_string_equal(text, "... b/0123456789012345678901234");
}

/* A moment of a rename can look like a circle. */
static void a_circle_has_an_end(void **state)
{
	names_put(n, b, "up", a, 2, 0);
	path(b, 64);
	assert_memory_equal(text, "...", 3);
	names_forget(n, b, "up");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_lead_to_the_root),
		TEST(what_has_no_name_has_a_number),
		TEST(long_paths_are_cut_in_front),
		TEST(a_circle_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
