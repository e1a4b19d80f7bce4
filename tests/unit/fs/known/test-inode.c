/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/inode.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/fs/known/inode-table.h"
#include "transport/clock.h"

#define NUMBER_OF_1_0 UINT64_C(0xdce423fc82c0d5b8) /* the mask of fsid 1.0 for numbers */

static void one_handle_is_one_inode(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1), *b = get(t, 2);

	assert_ptr_not_equal(a, b);
	assert_ptr_equal(get(t, 1), a);
	assert_ptr_equal(inode_of(t, inode_id(t, a)), a);
	assert_ptr_equal(get(t, 0), inode_table_root(t));
	assert_int_equal(inode_id(t, inode_table_root(t)), 1);
	assert_int_equal(inode_table_count(t), 3);
	inode_table_free(t);
}

static void numbers_of_other_file_systems_are_mixed_with_their_fsid(void **state)
{
	struct inode_table *t = table();
	struct nfs_attr attr = {.type = NFS_REG, .fileid = 1};
	uint64_t seen[64][8], n = 0;
	struct nfs_fh fh = fh_of(77);
	struct inode *ino;

	/* the numbers of the root's file system stay as they are */
	assert_true(inode_number(t, &attr) == 1);
	for (unsigned fs = 0; fs < 64; fs++) {
		attr.fsid_major = fs / 8;
		attr.fsid_minor = fs % 8;
		for (unsigned i = 0; i < 8; i++) {
			attr.fileid = i + 1;
			seen[fs][i] = inode_number(t, &attr);
			assert_true(seen[fs][i] == inode_number(t, &attr));
			for (unsigned k = 0; k < n; k++)
				assert_true(seen[k / 8][k % 8] != seen[fs][i]);
			n++;
		}
	}
	/* the same hash on every machine: backup programs keep inode numbers */
	attr = (struct nfs_attr){.type = NFS_REG, .fsid_major = 1, .fileid = 5};
	assert_true(inode_number(t, &attr) == (NUMBER_OF_1_0 ^ 5));
	attr.fileid = NUMBER_OF_1_0;
	assert_true(inode_number(t, &attr) == UINT64_MAX); /* never 0 */
	ino = inode_lookup(t, &fh, &attr);
	assert_true(ino->number == UINT64_MAX);
	assert_false(inode_same_fs(ino, inode_table_root(t)));
	assert_true(inode_same_fs(get(t, 1), inode_table_root(t)));
	inode_table_free(t);
}

static void handles_of_other_lengths_are_others(void **state)
{
	struct inode_table *t = table();
	struct nfs_attr attr = {.type = NFS_REG};
	struct nfs_fh a = {.len = 8}, b = {.len = 9};

	assert_ptr_not_equal(inode_lookup(t, &a, &attr), inode_lookup(t, &b, &attr));
	inode_table_free(t);
}

static void forgetting_the_last_lookup_removes_it(void **state)
{
	struct inode_table *t = table();
	struct nfs_fh fh = fh_of(1);
	struct inode *a = get(t, 1);
	uint64_t generation = a->generation;

	get(t, 1);
	get(t, 1);
	inode_forget(t, a, 2);
	assert_ptr_equal(inode_find(t, &fh), a);
	inode_unref(a);
	inode_ref(a); /* reference of an open file */
	inode_forget(t, a, 1);
	assert_null(inode_find(t, &fh));
	assert_int_equal(a->fileid, 1);
	inode_unref(a);
	assert_true(get(t, 1)->generation != generation);
	inode_table_free(t);
}

static void the_root_stays(void **state)
{
	struct inode_table *t = table();

	inode_forget(t, inode_table_root(t), 1000);
	assert_ptr_equal(get(t, 0), inode_table_root(t));
	inode_table_free(t);
}

static void many_are_found_again(void **state)
{
	enum { N = 20000 };
	static struct inode *all[N];
	struct inode_table *t = table();

	for (uint32_t i = 0; i < N; i++)
		all[i] = get(t, i + 1);
	for (uint32_t i = 0; i < N; i++)
		assert_ptr_equal(get(t, i + 1), all[i]);
	for (uint32_t i = 0; i < N; i += 2)
		inode_forget(t, all[i], 2);
	assert_int_equal(inode_table_count(t), N / 2 + 1);
	inode_table_free(t);
}

static void *churn(void *arg)
{
	struct inode_table *t = arg;

	for (unsigned i = 0; i < 20000; i++)
		inode_forget(t, get(t, 1 + i % 50), 1);
	return NULL;
}

static void threads_may_look_up_and_forget(void **state)
{
	struct inode_table *t = table();
	pthread_t th[3];

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&th[i], NULL, churn, t), 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(th[i], NULL);
	assert_int_equal(inode_table_count(t), 1);
	inode_table_free(t);
}

static void what_is_forgotten_is_not_taken_for_older_than_it_was(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1), *b = get(t, 2);
	struct nfs_attr at = {.type = NFS_REG};
	struct nfs_fh of_a = fh_of(1), of_b = fh_of(2);
	uint64_t since = clock_ns();

	assert_true(inode_is_older(a, since));
	note_attr(a, &at, since);
	assert_true(inode_is_older(a, since));
	assert_false(inode_is_older(a, since - 1));
	inode_forget(t, a, 1);
	assert_false(inode_left_since(t, &of_a, since));
	assert_true(inode_left_since(t, &of_a, since - 1));
	attrs_touch(&b->attrs);
	assert_false(inode_is_older(b, since));
	since = clock_ns();
	assert_true(inode_is_older(b, since));
	inode_forget(t, b, 1); /* data written to the file may still be on its way */
	assert_true(inode_left_since(t, &of_b, since));
	inode_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_handle_is_one_inode),
		cmocka_unit_test(numbers_of_other_file_systems_are_mixed_with_their_fsid),
		cmocka_unit_test(handles_of_other_lengths_are_others),
		cmocka_unit_test(forgetting_the_last_lookup_removes_it),
		cmocka_unit_test(the_root_stays),
		cmocka_unit_test(many_are_found_again),
		cmocka_unit_test(threads_may_look_up_and_forget),
		cmocka_unit_test(what_is_forgotten_is_not_taken_for_older_than_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
