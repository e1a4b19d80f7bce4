/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/names, with the inode table that the names belong to.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/known/names_impl.h"
#include "tests/unit/fs/known/names-fixture.h"
#include "transport/clock.h"

#define SECOND 1000000000ull

static struct inode *root;

static int setup(void **state)
{
	names_begin();
	root = inode_table_root(t);
	return 0;
}

static struct inode *stands_for(struct inode *dir, const char *name)
{
	struct name_info info;

	if (!names_get(n, dir, name, &info))
		return NULL;
	inode_unref(info.ino);
	return info.ino;
}

static void a_name_is_found_in_its_directory_only(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG);

	assert_true(names_put(n, dir, "file", file, 1, 0));
	assert_ptr_equal(stands_for(dir, "file"), file);
	assert_null(stands_for(root, "file"));
	assert_null(stands_for(dir, "fil"));
	assert_null(stands_for(dir, "file2"));
}

static void a_name_may_be_known_not_to_be_there(void **state)
{
	struct inode *file = get(1, NFS_REG);
	struct name_info info;

	assert_true(names_put_absent(n, root, "x", 100, 5 * SECOND));
	assert_false(names_get(n, root, "x", &info));
	assert_true(names_find(n, root, "x", &info));
	assert_null(info.ino);
	assert_int_equal(info.seen, 100);
	assert_int_equal(n->nabsent, 1);
	/* then the name is there, */
	assert_true(names_put(n, root, "x", file, 50, 0));
	assert_ptr_equal(stands_for(root, "x"), file);
	assert_int_equal(n->nabsent, 0);
	/* and then absent again */
	assert_true(names_put_absent(n, root, "x", 200, 0));
	assert_null(stands_for(root, "x"));
	assert_int_equal(n->count, 1);
	/* a move to the name, or to an unknown name */
	names_put(n, root, "y", file, 1, 0);
	names_move(n, root, "y", root, "x");
	assert_ptr_equal(stands_for(root, "x"), file);
	assert_int_equal(n->nabsent, 0);
	names_put_absent(n, root, "z", 1, 0);
	names_move(n, root, "z", root, "x");
	assert_int_equal(n->count, 0);
}

static void there_is_a_limit_for_names_that_are_not_there(void **state)
{
	struct name_info info;
	char name[20];

	for (unsigned i = 0; i < NAMES_ABSENT_MAX; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_true(names_put_absent(n, root, name, 1, i ? 100 * SECOND : 0));
	}
	/* the oldest name goes, which the kernel does not believe; the kernel believes the next
	 * one */
	assert_true(names_put_absent(n, root, "more", 1, 0));
	assert_false(names_find(n, root, "0", &info));
	assert_false(names_put_absent(n, root, "too much", 1, 0));
	assert_true(names_put_absent(n, root, "1", 2, 0));
	assert_int_equal(n->nabsent, NAMES_ABSENT_MAX);
}

static void a_name_that_stands_for_another_file_is_new(void **state)
{
	struct inode *a = get(1, NFS_REG), *b = get(2, NFS_REG);
	struct name_info info;

	assert_true(names_put(n, root, "x", a, 100, 0));
	assert_true(names_put(n, root, "x", b, 50, 0));
	assert_true(names_get(n, root, "x", &info));
	assert_ptr_equal(info.ino, b);
	assert_int_equal(info.seen, 50);
	inode_unref(info.ino);
	inode_forget(t, a, 1); /* must not take the name along */
	assert_ptr_equal(stands_for(root, "x"), b);
}

static void older_news_do_not_make_a_name_older(void **state)
{
	struct inode *a = get(1, NFS_REG);
	struct name_info info;

	names_put(n, root, "x", a, 100, 5 * SECOND);
	names_put(n, root, "x", a, 50, 0);
	assert_true(names_get(n, root, "x", &info));
	assert_int_equal(info.seen, 100);
	assert_true(info.until > clock_ns());
	inode_unref(info.ino);
	names_doubt(n, root, "x");
	assert_true(names_get(n, root, "x", &info));
	assert_int_equal(info.seen, 0);
	inode_unref(info.ino);
}

static void the_name_put_last_is_that_of_the_inode(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG), *at = NULL;
	char name[8];

	assert_false(names_of(n, file, &at, name, sizeof(name)));
	names_put(n, dir, "a", file, 1, 0);
	names_put(n, root, "b", file, 1, 0);
	assert_true(names_of(n, file, &at, name, sizeof(name)));
	assert_string_equal(name, "b");
	assert_ptr_equal(at, root);
	inode_unref(at);
	names_put(n, dir, "a", file, 1, 0);
	assert_true(names_of(n, file, &at, name, sizeof(name)));
	assert_string_equal(name, "a");
	assert_ptr_equal(at, dir);
	inode_unref(at);
	assert_false(names_of(n, file, &at, name, 1));
	names_drop(n, dir, "a");
	assert_true(names_of(n, file, &at, name, 2));
	assert_string_equal(name, "b");
	inode_unref(at);
	names_put(n, dir, "a", file, 1, 0);
	names_unsure(n, file);
	assert_false(names_of(n, file, &at, name, sizeof(name)));
	names_put(n, root, "b", file, 1, 0);
	assert_true(names_of(n, file, &at, name, sizeof(name)));
	assert_string_equal(name, "b");
	inode_unref(at);
}

static void names_go_with_their_inodes(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG);

	names_put(n, root, "dir", dir, 1, 0);
	names_put(n, dir, "a", file, 1, 0);
	names_put(n, dir, "b", file, 1, 0);
	names_put(n, root, "c", file, 1, 0);
	assert_int_equal(n->count, 4);
	inode_ref(dir);
	inode_forget(t, dir, 1);
	assert_int_equal(n->count, 1);
	assert_false(names_put(n, dir, "late", file, 1, 0));
	assert_false(names_put(n, root, "late", dir, 1, 0));
	inode_unref(dir);
	inode_forget(t, file, 1);
	assert_int_equal(n->count, 0);
}

static void a_moved_name_takes_its_time_along(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *a = get(2, NFS_REG), *b = get(3, NFS_REG);
	struct name_info info;

	names_put(n, root, "a", a, 100, 5 * SECOND);
	names_put(n, dir, "b", b, 100, 0);
	names_move(n, root, "a", dir, "b");
	assert_null(stands_for(root, "a"));
	assert_true(names_get(n, dir, "b", &info));
	assert_ptr_equal(info.ino, a);
	assert_int_equal(info.seen, 0);
	assert_true(info.until > clock_ns());
	inode_unref(info.ino);
	assert_int_equal(n->count, 1);
}

static void moving_to_another_name_of_the_file_moves_nothing(void **state)
{
	struct inode *a = get(1, NFS_REG);

	names_put(n, root, "a", a, 1, 0);
	names_put(n, root, "b", a, 1, 0);
	names_move(n, root, "a", root, "b");
	names_move(n, root, "a", root, "a");
	assert_ptr_equal(stands_for(root, "a"), a);
	assert_ptr_equal(stands_for(root, "b"), a);
	names_move(n, root, "unknown", root, "b");
	assert_null(stands_for(root, "b")); /* replaced by an unknown file */
}

static void only_believed_names_are_taken_back_and_once(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG);
	char *list;
	size_t len, fresh;

	names_put(n, dir, "believed", file, 1, 5 * SECOND);
	names_put(n, dir, "asked", file, 1, 0);
	names_put(n, dir, "past", file, 1, 1);
	names_put(n, root, "elsewhere", file, 1, 5 * SECOND);
	assert_true(names_take_back(n, dir, &list, &len, &fresh));
	assert_int_equal(len, sizeof("believed"));
	assert_string_equal(list, "believed");
	free(list);
	assert_true(names_take_back(n, dir, &list, &len, &fresh));
	assert_int_equal(len, 0);
	assert_null(list);
}

static void what_was_told_just_now_is_in_front_when_it_is_taken_back(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG);
	size_t len, fresh;
	uint64_t now;
	char *list;

	names_put(n, dir, "before", file, 1, UINT64_C(1) << 40);
	names_put(n, dir, "moved", file, 1, UINT64_C(1) << 40);
	usleep(NAMES_FRESH_NS / 1000);
	now = clock_ns();
	names_put(n, dir, "before", file, 1, 0);
	names_put(n, dir, "now", file, 1, UINT64_C(1) << 40);
	names_put(n, dir, "again", file, 1, UINT64_C(1) << 40);
	names_take_back_name(n, dir, "again");
	names_move(n, dir, "moved", dir, "last");
	assert_true(names_take_back(n, dir, &list, &len, &fresh));
	assert_int_equal(len, sizeof("now") + sizeof("last") + sizeof("before"));
	if (clock_ns() - now >= NAMES_FRESH_NS) { /* the machine is busy */
		free(list);
		skip();
	}
	assert_int_equal(fresh, sizeof("now"));
	assert_string_equal(list, "now");
	free(list);
}

static void a_file_may_be_believed_to_have_too_many_names(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG);

	assert_false(names_too_many(n, file, 1, true));
	names_put(n, dir, "a", file, 1, UINT64_C(1) << 40);
	assert_false(names_too_many(n, file, 1, true));
	names_put(n, dir, "b", file, 1, 0); /* not believed */
	assert_false(names_too_many(n, file, 1, true));
	names_put(n, root, "c", file, 1, UINT64_C(1) << 40);
	assert_true(names_too_many(n, file, 1, true));
	assert_false(names_too_many(n, file, 2, true));
	/* the kernel may still believe a name that is being taken back */
	names_take_back_name(n, dir, "a");
	assert_false(names_too_many(n, file, 1, true));
	atomic_fetch_add(&dir->dirnames.recalls, 1);
	assert_true(names_too_many(n, file, 1, true));
	names_unsure(n, file);
	assert_true(names_too_many(n, file, 1, true));
	assert_false(names_too_many(n, file, 1, false));
	names_put(n, root, "c", file, 1, UINT64_C(1) << 40);
	assert_false(names_too_many(n, file, 1, false));
	atomic_fetch_sub(&dir->dirnames.recalls, 1);
	assert_false(names_too_many(n, file, 1, true));
}

static void the_names_that_are_believed_of_a_file(void **state)
{
	struct inode *dir = get(1, NFS_DIR), *file = get(2, NFS_REG), *at;
	char name[8];

	assert_false(names_believed(n, file, &at, name, sizeof(name)));
	names_put(n, dir, "a", file, 1, UINT64_C(1) << 40);
	names_put(n, dir, "b", file, 1, 0);
	names_unsure(n, file);
	assert_true(names_believed(n, file, &at, name, sizeof(name)));
	assert_string_equal(name, "a");
	assert_ptr_equal(at, dir);
	inode_unref(at);
	names_take_back_name(n, dir, "a");
	assert_false(names_believed(n, file, &at, name, sizeof(name)));
}

static void many_names_of_a_stale_file_are_all_doubted(void **state)
{
	struct inode *file = get(1, NFS_REG);
	struct name_info info;
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		names_put(n, root, name, file, 7, 0);
	}
	names_doubt_all(n, file);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_true(names_get(n, root, name, &info));
		assert_int_equal(info.seen, 0);
		inode_unref(info.ino);
	}
	names_drop(n, root, "17");
	assert_null(stands_for(root, "17"));
	assert_int_equal(n->count, 4999);
}

static void *churn(void *arg)
{
	char name[16];
	size_t len, fresh;
	char *list;

	for (unsigned i = 0; i < 20000; i++) {
		struct inode *file = get(10 + i % 20, NFS_REG);

		snprintf(name, sizeof(name), "%u", i % 30);
		names_put(n, root, name, file, i, SECOND);
		names_move(n, root, name, root, "moved");
		stands_for(root, "moved");
		if (i % 100 == 0 && names_take_back(n, root, &list, &len, &fresh))
			free(list);
		inode_forget(t, file, 1);
	}
	return NULL;
}

static void threads_may_name_and_forget(void **state)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, churn, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(n->count, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_is_found_in_its_directory_only),
		TEST(a_name_may_be_known_not_to_be_there),
		TEST(there_is_a_limit_for_names_that_are_not_there),
		TEST(a_name_that_stands_for_another_file_is_new),
		TEST(older_news_do_not_make_a_name_older),
		TEST(the_name_put_last_is_that_of_the_inode),
		TEST(names_go_with_their_inodes),
		TEST(a_moved_name_takes_its_time_along),
		TEST(moving_to_another_name_of_the_file_moves_nothing),
		TEST(only_believed_names_are_taken_back_and_once),
		TEST(what_was_told_just_now_is_in_front_when_it_is_taken_back),
		TEST(a_file_may_be_believed_to_have_too_many_names),
		TEST(the_names_that_are_believed_of_a_file),
		TEST(many_names_of_a_stale_file_are_all_doubted),
		TEST(threads_may_name_and_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
