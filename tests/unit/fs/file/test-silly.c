/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/silly, with requests of the daemon and a server that answers at once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "fs/file/opening.h"
#include "fs/file/silly.h"
#include "fs/file/silly_give.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"

static struct fs *fs;
static struct inode *root;
static int steps, error;
static bool renamed;
static struct nfs_op result; /* of the last ask() */

static int setup(void **state)
{
	fake_knobs = (struct fake_knobs){.sync = true};
	fs = fs_fixture_new();
	root = inode_table_root(fs->inodes);
	steps = error = 0;
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	return 0;
}

static struct request *own_request(void)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 1};

	return request_new_cred(fs, NULL, &cred);
}

static struct nfs_name name_of(const char *s)
{
	return (struct nfs_name){s, (uint32_t)strlen(s)};
}

static void asked(struct request *r)
{
	result = r->batch.first.op;
	request_end(r, 0);
}

static bool exists(const char *name)
{
	struct request *r = own_request();
	struct nfs_op *op = request_op(r, NFS_LOOKUP, lookup);

	op->u.lookup.dir = root->fh;
	op->u.lookup.name = name_of(name);
	request_submit(r, asked);
	return !result.error;
}

/* A file of this name, with a lookup by the kernel. */
static struct inode *make(const char *name)
{
	struct request *r = own_request();
	struct nfs_op *op = request_op(r, NFS_CREATE, create);

	op->u.create.dir = root->fh;
	op->u.create.name = name_of(name);
	op->u.create.type = NFS_REG;
	request_submit(r, asked);
	assert_int_equal(result.error, 0);
	return inode_lookup(fs->inodes, &result.u.create.fh, &result.u.create.attr);
}

static void checked(struct request *r)
{
	steps++;
	error = unlink_of(r)->error;
	renamed = unlink_of(r)->renamed;
	if (!r->to_dir) /* else the request goes on */
		request_end(r, 0);
}

static void unlink_check(const char *name)
{
	struct request *r = own_request();
	struct nfs_name n = name_of(name);

	r->dir = inode_ref(root);
	silly_check(r, &root->fh, &n, checked);
}

static void the_last_name_of_an_open_file_becomes_a_silly_one(void **state)
{
	struct inode *ino = make("a");
	char name[64];

	opening_begin(fs, ino);
	unlink_check("a");
	assert_int_equal(steps, 1);
	assert_int_equal(error, 0);
	assert_true(renamed);
	assert_false(exists("a"));
	assert_non_null(ino->silly.name);
	strcpy(name, ino->silly.name->name);
	assert_true(exists(name));
	assert_true(atomic_load(&ino->silly.is));
	/* the file stays while it is open, and no other request may remove it */
	silly_drop(fs, ino);
	assert_true(exists(name));
	unlink_check(name);
	assert_int_equal(error, -EBUSY);
	assert_true(exists(name));
	opening_end(fs, ino);
	silly_drop(fs, ino);
	assert_false(exists(name));
	assert_null(ino->silly.name);
	assert_int_equal(silly_count_ended(fs), 1);
}

static void what_is_not_open_is_left_alone(void **state)
{
	struct inode *ino = make("a");

	unlink_check("a");
	assert_false(renamed);
	assert_int_equal(error, 0);
	opening_begin(fs, ino);
	unlink_check("none");
	assert_int_equal(error, 0);
	assert_int_equal(steps, 2);
	opening_end(fs, ino);
}

static void link_to(struct inode *ino, const char *name)
{
	struct request *r = own_request();
	struct nfs_op *op = request_op(r, NFS_LINK, link);

	op->u.link.fh = ino->fh;
	op->u.link.dir = root->fh;
	op->u.link.name = name_of(name);
	request_submit(r, asked);
	assert_int_equal(result.error, 0);
}

static void remove_elsewhere(const char *name)
{
	struct request *r = own_request();
	struct nfs_op *op = request_op(r, NFS_REMOVE, remove);

	op->u.remove.dir = root->fh;
	op->u.remove.name = name_of(name);
	request_submit(r, asked);
	assert_int_equal(result.error, 0);
}

/* Another client may remove the other name. */
static void a_name_of_an_open_file_with_others_becomes_a_silly_one(void **state)
{
	struct inode *ino = make("a");
	char name[64];

	link_to(ino, "b");
	link_to(ino, "c");
	opening_begin(fs, ino);
	unlink_check("a");
	assert_true(renamed);
	assert_false(exists("a"));
	strcpy(name, ino->silly.name->name);
	/* the silly name suffices */
	unlink_check("b");
	assert_false(renamed);
	assert_int_equal(error, 0);
	assert_true(exists("b"));
	remove_elsewhere("b");
	/* unless another client removes that name */
	remove_elsewhere(name);
	unlink_check("c");
	assert_true(renamed);
	assert_true(exists(ino->silly.name->name));
	strcpy(name, ino->silly.name->name);
	opening_end(fs, ino);
	silly_drop(fs, ino);
	assert_false(exists(name));
}

static void an_error_leaves_the_name(void **state)
{
	struct inode *ino = make("a");

	opening_begin(fs, ino);
	fake_knobs.fail[NFS_RENAME] = -EACCES;
	unlink_check("a");
	assert_int_equal(error, -EACCES);
	assert_false(renamed);
	assert_null(ino->silly.name);
	assert_true(exists("a"));
	opening_end(fs, ino);
}

static void ended(struct request *r)
{
	steps++;
	request_end(r, 0);
}

/* A rename keeps the replaced file open meanwhile, even if its openers close. */
static void a_failed_rename_gives_the_name_back(void **state)
{
	struct request *r = own_request();
	struct nfs_name n = name_of("a");
	struct inode *ino = make("a");

	opening_begin(fs, ino);
	r->dir = inode_ref(root);
	r->to_dir = inode_ref(root);
	strcpy(r->to_name, "a");
	silly_check(r, &root->fh, &n, checked);
	assert_true(renamed);
	assert_false(exists("a"));
	opening_end(fs, ino);
	silly_drop(fs, ino); /* as the file's last close does */
	assert_non_null(ino->silly.name);
	unlink_of(r)->error = -EACCES;
	silly_undo(r, ended);
	assert_int_equal(steps, 2);
	assert_true(exists("a"));
	assert_null(ino->silly.name);
	assert_false(atomic_load(&ino->silly.is));
	assert_int_equal(ino->opens.count, 0);
	assert_int_equal(atomic_load(&fs->open_files), 0);
}

static bool remove_before_rename(struct nfs_op *op)
{
	if (op->type != NFS_RENAME)
		return false;
	fake_knobs.script = NULL;
	remove_elsewhere("a");
	return false;
}

/* Another client removes the name between LOOKUP and RENAME. */
static void a_rename_that_has_nothing_to_replace_any_more_goes_on(void **state)
{
	struct request *r = own_request();
	struct nfs_name n = name_of("a");
	struct inode *ino = make("a");

	opening_begin(fs, ino);
	r->dir = inode_ref(root);
	r->to_dir = inode_ref(root);
	strcpy(r->to_name, "a");
	fake_knobs.script = remove_before_rename;
	silly_check(r, &root->fh, &n, checked);
	assert_int_equal(steps, 1);
	assert_int_equal(error, 0);
	assert_false(renamed);
	assert_null(r->inode);
	assert_null(ino->silly.name);
	assert_int_equal(ino->opens.count, 1);
	request_end(r, 0);
	opening_end(fs, ino);
}

static void a_rename_that_has_replaced_a_closed_file_removes_it(void **state)
{
	struct request *r = own_request();
	struct nfs_name n = name_of("a");
	struct inode *ino = make("a");
	char name[64];

	opening_begin(fs, ino);
	r->dir = inode_ref(root);
	r->to_dir = inode_ref(root);
	strcpy(r->to_name, "a");
	silly_check(r, &root->fh, &n, checked);
	assert_true(renamed);
	strcpy(name, ino->silly.name->name);
	opening_end(fs, ino);
	silly_drop(fs, ino);
	assert_true(exists(name));
	silly_replaced(r);
	assert_false(exists(name));
	request_end(r, 0);
}

static void whoever_finds_a_directory_not_empty_waits(void **state)
{
	struct inode *ino = make("a");
	uint64_t before = silly_count_ended(fs);
	struct request *r = own_request();

	/* no file is going: no wait */
	assert_false(silly_wait(r, before, ended));
	opening_begin(fs, ino);
	unlink_check("a");
	assert_true(silly_close_begin(fs, ino));
	assert_true(silly_wait(r, before, ended));
	assert_int_equal(steps, 1);
	opening_end(fs, ino);
	/* the REMOVE of the silly name has ended as well: perhaps the last name */
	silly_drop(fs, ino);
	assert_int_equal(steps, 2);
	silly_close_end(fs);
	/* a request from before the end of the removals tries again at once */
	assert_true(silly_wait(own_request(), before, ended));
	assert_int_equal(steps, 3);
	assert_false(silly_close_begin(fs, ino));
}

/* A server that is away at the last close. */
static void a_removal_that_fails_is_tried_again(void **state)
{
	struct timespec moment = {.tv_nsec = 20000000};
	struct inode *ino = make("a");
	char name[64];

	opening_begin(fs, ino);
	unlink_check("a");
	strcpy(name, ino->silly.name->name);
	opening_end(fs, ino);
	fake_knobs.fail[NFS_REMOVE] = -ETIMEDOUT;
	silly_drop(fs, ino);
	assert_null(ino->silly.name);
	fake_knobs.fail[NFS_REMOVE] = 0;
	while (exists(name)) {
		nanosleep(&moment, NULL);
		silly_tick(fs);
	}
}

/* At the end of the mount at once; a removal that the server refuses is not tried again. */
static void at_the_end_what_is_left_is_removed(void **state)
{
	const int errors[] = {-ETIMEDOUT, -EACCES};
	struct inode *ino = make("a");
	char names[2][64];

	for (int i = 0; i < 2; i++) {
		if (i)
			ino = make("a");
		opening_begin(fs, ino);
		unlink_check("a");
		strcpy(names[i], ino->silly.name->name);
		opening_end(fs, ino);
		fake_knobs.fail[NFS_REMOVE] = errors[i];
		silly_drop(fs, ino);
	}
	fake_knobs.fail[NFS_REMOVE] = 0;
	silly_drop_all(fs);
	assert_false(exists(names[0]));
	assert_true(exists(names[1]));
}

static void at_the_end_all_are_removed(void **state)
{
	struct inode *ino = make("a");
	char name[64];

	opening_begin(fs, ino);
	unlink_check("a");
	strcpy(name, ino->silly.name->name);
	silly_drop_all(fs);
	assert_false(exists(name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_last_name_of_an_open_file_becomes_a_silly_one, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_open_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_name_of_an_open_file_with_others_becomes_a_silly_one, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_leaves_the_name, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_failed_rename_gives_the_name_back, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_rename_that_has_nothing_to_replace_any_more_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_rename_that_has_replaced_a_closed_file_removes_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			whoever_finds_a_directory_not_empty_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_removal_that_fails_is_tried_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			at_the_end_what_is_left_is_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(at_the_end_all_are_removed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
