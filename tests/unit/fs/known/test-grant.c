/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/grant, and of how an inode drops its grants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fs/known/inode-table.h"
#include "transport/clock.h"

static struct grant_list list;

static int setup(void **state)
{
	grants_init(&list);
	return 0;
}

static int teardown(void **state)
{
	grants_drop(&list);
	return 0;
}

static struct rpc_cred user(uint32_t uid)
{
	return (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = uid, .gid = 100};
}

static void what_was_asked_is_known_and_no_more(void **state)
{
	struct rpc_cred u = user(1);
	uint32_t may = 99;

	assert_false(grant_get(&list, &u, NFS_ACCESS_READ, 0, &may));
	grant_put(&list, &u, NFS_ACCESS_READ | NFS_ACCESS_MODIFY, NFS_ACCESS_READ, 10);
	assert_true(grant_get(&list, &u, NFS_ACCESS_READ | NFS_ACCESS_MODIFY, 5, &may));
	assert_int_equal(may, NFS_ACCESS_READ);
	assert_true(grant_get(&list, &u, NFS_ACCESS_MODIFY, 5, &may));
	assert_int_equal(may, 0);
	assert_false(grant_get(&list, &u, NFS_ACCESS_LOOKUP, 5, &may));
	assert_false(grant_get(&list, &u, NFS_ACCESS_READ, 10, &may));
}

static void each_bit_has_its_own_age(void **state)
{
	struct rpc_cred u = user(1);
	uint32_t may;

	grant_put(&list, &u, GRANT_ALL, GRANT_ALL, 10);
	grant_put(&list, &u, NFS_ACCESS_LOOKUP, 0, 20);
	assert_true(grant_get(&list, &u, NFS_ACCESS_LOOKUP, 15, &may));
	assert_int_equal(may, 0);
	assert_false(grant_get(&list, &u, NFS_ACCESS_READ, 15, &may));
	grant_put(&list, &u, NFS_ACCESS_LOOKUP, NFS_ACCESS_LOOKUP, 12); /* old news */
	assert_true(grant_get(&list, &u, NFS_ACCESS_LOOKUP, 5, &may));
	assert_int_equal(may, 0);
}

static void another_group_is_another_user(void **state)
{
	struct rpc_cred a = user(1), b = user(1), c = user(1);
	uint32_t may;

	b.gid = 101;
	c.ngids = 1;
	c.gids[0] = 5;
	grant_put(&list, &a, GRANT_ALL, GRANT_ALL, 10);
	assert_false(grant_get(&list, &b, NFS_ACCESS_READ, 0, &may));
	assert_false(grant_get(&list, &c, NFS_ACCESS_READ, 0, &may));
	grant_put(&list, &c, GRANT_ALL, 0, 10);
	c.gids[0] = 6;
	assert_false(grant_get(&list, &c, NFS_ACCESS_READ, 0, &may));
	assert_true(grant_get(&list, &a, NFS_ACCESS_READ, 0, &may));
	assert_int_equal(may, NFS_ACCESS_READ);
}

static void those_not_seen_for_longest_go_first(void **state)
{
	struct rpc_cred u;
	uint32_t may;

	for (uint32_t i = 0; i < GRANTS_MAX; i++) {
		u = user(i);
		grant_put(&list, &u, GRANT_ALL, GRANT_ALL, 10);
	}
	u = user(0);
	assert_true(grant_get(&list, &u, NFS_ACCESS_READ, 0, &may));
	u = user(1000);
	grant_put(&list, &u, GRANT_ALL, GRANT_ALL, 10);
	u = user(1);
	assert_false(grant_get(&list, &u, NFS_ACCESS_READ, 0, &may));
	u = user(0);
	assert_true(grant_get(&list, &u, NFS_ACCESS_READ, 0, &may));
}

static struct inode_table *table_of(const struct nfs_attr *attr)
{
	struct nfs_fh fh = {.len = 4};

	return inode_table_new(&fh, attr);
}

static bool may_search(struct inode *ino)
{
	struct rpc_cred u = user(1);
	uint32_t may;

	return attrs_known_access(&ino->attrs, &u, NFS_ACCESS_LOOKUP, 0, &may) && may;
}

static void a_changed_inode_grants_nothing(void **state)
{
	struct nfs_attr attr = {.type = NFS_DIR, .mode = 0755};
	struct inode_table *t = table_of(&attr);
	struct inode *root = inode_table_root(t);
	struct rpc_cred u = user(1);

	attrs_note_access(&root->attrs, &u, GRANT_ALL, GRANT_ALL, 10);
	assert_false(note_attr(root, &attr, 11));
	assert_true(may_search(root));
	attr.ctime.tv_nsec++;
	attr.mtime.tv_nsec++; /* a name was made in the directory */
	assert_false(note_attr(root, &attr, 20));
	assert_false(may_search(root));
	attrs_note_access(
		&root->attrs, &u, GRANT_ALL, GRANT_ALL, 19); /* asked before that change */
	assert_false(may_search(root));
	attrs_note_access(&root->attrs, &u, GRANT_ALL, GRANT_ALL, 21);
	assert_true(may_search(root));
	attrs_doubt_rights(&root->attrs);
	assert_false(may_search(root));
	inode_table_free(t);
}

static void a_lost_right_to_search_is_noticed(void **state)
{
	struct nfs_attr attr = {.type = NFS_DIR, .mode = 0755, .uid = 1};
	struct inode_table *t = table_of(&attr);
	struct inode *root = inode_table_root(t);

	attr.mode = 0700;
	assert_true(note_attr(root, &attr, 10));
	attr.mode = 0777;
	assert_false(note_attr(root, &attr, 20));
	attr.mode = 0700;
	assert_false(note_attr(root, &attr, 15)); /* older than the known attributes */
	attr.mode = 0777;
	attr.uid = 2;
	assert_true(note_attr(root, &attr, 30));
	attr.ctime.tv_sec = 5; /* alone: an ACL */
	assert_true(note_attr(root, &attr, 40));
	attr.type = NFS_REG;
	attr.mode = 0600;
	assert_false(note_attr(root, &attr, 50));
	inode_table_free(t);
}

static void attributes_are_known_until_something_changes(void **state)
{
	struct nfs_attr attr = {.type = NFS_DIR, .size = 7}, out;
	struct inode_table *t = table_of(&attr);
	struct inode *root = inode_table_root(t);
	uint64_t seen, now = clock_ns();

	assert_false(inode_known_attr(root, 0, &out, &seen)); /* never asked for */
	note_attr(root, &attr, now);
	assert_true(inode_known_attr(root, now - 1, &out, &seen));
	assert_int_equal(out.size, 7);
	assert_int_equal(seen, now);
	assert_false(inode_known_attr(root, now, &out, &seen));
	inode_touch(root);
	assert_false(inode_known_attr(root, now - 1, &out, &seen));
	note_attr(root, &attr, clock_ns() + 1);
	assert_true(inode_known_attr(root, now, &out, &seen));
	inode_table_free(t);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_asked_is_known_and_no_more),
		TEST(each_bit_has_its_own_age),
		TEST(another_group_is_another_user),
		TEST(those_not_seen_for_longest_go_first),
		cmocka_unit_test(a_changed_inode_grants_nothing),
		cmocka_unit_test(a_lost_right_to_search_is_noticed),
		cmocka_unit_test(attributes_are_known_until_something_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
