/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_lookup, as the kernel asks for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/lookup/entry.h"
#include "fs/known/names.h"
#include "fs/coherence/notify.h"
#include "transport/clock.h"
#include "tests/unit/fs/kernel-names.h"

/* --- looking up ------------------------------------------------------------------------------- */

static void a_name_leads_to_the_inode_of_its_handle(void **state)
{
	uint64_t node = make("a", NULL);

	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), 0);
	assert_int_equal(e.nodeid, node);
	assert_int_equal(e.attr.mode, S_IFREG | 0644);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "b", &e), -ENOENT);
	assert_int_equal(kernel_link(node, KERNEL_ROOT, "b", &e), 0);
	assert_int_equal(e.nodeid, node);
	assert_int_equal(e.attr.nlink, 2);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "b", &e), 0);
	assert_int_equal(e.nodeid, node);
}

static void names_that_are_too_long_are_refused_here(void **state)
{
	char name[NFS_NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[NFS_NAME_MAX + 1] = 0;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, name, &e), -ENAMETOOLONG);
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, name, &e), -ENAMETOOLONG);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, name), -ENAMETOOLONG);
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, name), -ENAMETOOLONG);
	assert_int_equal(count(NFS_LOOKUP) + count(NFS_CREATE) + count(NFS_REMOVE), 0);
}

static void an_error_of_the_server_is_passed_on(void **state)
{
	uint64_t node = make("a", NULL);

	fake_knobs.fail[NFS_LOOKUP] = -EACCES;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -EACCES);
	fake_knobs.fail[NFS_CREATE] = -ENOSPC;
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), -ENOSPC);
	fake_knobs.fail[NFS_LINK] = -EMLINK;
	assert_int_equal(kernel_link(node, KERNEL_ROOT, "b", &e), -EMLINK);
	fake_knobs.fail[NFS_REMOVE] = -EROFS;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -EROFS);
	fake_knobs.fail[NFS_RENAME] = -EXDEV;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EXDEV);
}

/* Not all users may search the root: the kernel asks at each walk, and is answered from the
 * cache. */
static void make_root_private(void)
{
	struct fuse_setattr_in in = {.valid = FATTR_MODE, .mode = S_IFDIR | 0700};

	fs->shared = true;
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, KERNEL_ROOT, &in, sizeof(in), NULL, 0, NULL, 0), 0);
}

static void what_is_known_is_not_asked_again(void **state)
{
	uint64_t looked_up;

	believe_names();
	make_root_private();
	make("a", NULL);
	assert_true(exists("a"));
	looked_up = count(NFS_LOOKUP);
	assert_true(exists("a"));
	assert_true(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up);
	/* a name that this mount changes is asked for again */
	make("b", NULL);
	assert_int_equal(kernel_rename(KERNEL_ROOT, "b", KERNEL_ROOT, "a"), 0);
	assert_true(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
}

static void what_is_stale_is_asked_again(void **state)
{
	uint64_t node, fh, looked_up;

	believe_names();
	make_root_private();
	node = make("a", NULL);
	assert_true(exists("a"));
	looked_up = count(NFS_LOOKUP);
	assert_true(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up);
	fake_knobs.fail[NFS_OPEN] = -ESTALE;
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), -ESTALE);
	assert_true(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
}

static void that_there_is_no_name_is_asked_once(void **state)
{
	uint64_t node, fh, looked_up, other;

	believe_names();
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), 0);
	assert_int_equal(e.nodeid, 0);
	assert_int_equal(e.entry_valid, 999);
	looked_up = count(NFS_LOOKUP);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up);
	/* if the name is there after all, the creator hears so at once */
	fake_knobs.fail[NFS_OPEN] = -EEXIST;
	assert_int_equal(kernel_create(KERNEL_ROOT, "a", O_RDWR | O_EXCL, &node, &fh), -EEXIST);
	fake_knobs.fail[NFS_OPEN] = 0;
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
	/* or looks the path up again, if the name stands for an object that cannot be opened like
	 * this */
	fake_knobs.fail[NFS_OPEN] = -ELOOP;
	assert_int_equal(kernel_create(KERNEL_ROOT, "a", O_RDWR, &node, &fh), -ESTALE);
	assert_int_equal(kernel_create(KERNEL_ROOT, "a", O_RDWR, &node, &fh), -ELOOP);
	fake_knobs.fail[NFS_OPEN] = 0;
	other = make("a", NULL);
	assert_true(exists("a"));
	assert_int_equal(e.nodeid, other);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	/* another client may have made the name since: this mount knows only that it has removed
	 * the name */
	looked_up = count(NFS_LOOKUP);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
}

static void only_who_may_search_hears_of_what_is_not_there(void **state)
{
	uint64_t looked_up;

	believe_names();
	make_root_private();
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -ENOENT); /* for this user */
	looked_up = count(NFS_LOOKUP);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -ENOENT);
	assert_int_equal(count(NFS_LOOKUP), looked_up);
	fs_fixture_options.cache_absent = false;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -ENOENT);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -ENOENT);
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
}

static uint64_t version; /* the root's */
static uint64_t node_of_a;

static bool changed_elsewhere(struct nfs_op *op)
{
	if (op->type != NFS_LOOKUP)
		return false;
	op->error = -ENOENT;
	op->u.lookup.dir_attr = (struct nfs_dir_attr){.have = true,
		.before = true,
		.attr = {.type = NFS_DIR, .mode = 0755, .fileid = 100, .change = version}};
	return true;
}

static void what_is_changed_elsewhere_is_doubted(void **state)
{
	unsigned before;
	uint64_t looked_up;

	believe_names();
	fake_knobs.script = changed_elsewhere;
	version = 1000;
	assert_false(exists("a"));
	looked_up = count(NFS_LOOKUP);
	assert_false(exists("b"));
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
	before = kernel_notified(FUSE_NOTIFY_INVAL_ENTRY);
	version++;
	assert_false(exists("c"));
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 3);
	while (kernel_notified(FUSE_NOTIFY_INVAL_ENTRY) < before + 2)
		usleep(1000);
}

/* A user may have lost the right to search the root. The mount learns of that while a LOOKUP is
 * under way: the kernel may handle the LOOKUP's answer after the notification. */
static bool shut_meanwhile(struct nfs_op *op)
{
	struct inode *root = inode_table_root(fs->inodes);
	struct nfs_attr attr = root->attrs.attr;

	if (op->type != NFS_LOOKUP)
		return false;
	attr.uid++;
	entry_note_attr(fs, root, &attr, clock_ns());
	op->error = 0;
	op->u.lookup.fh = inode(node_of_a)->fh;
	op->u.lookup.attr = inode(node_of_a)->attrs.attr;
	op->u.lookup.dir_attr.have = false;
	return true;
}

static void what_was_asked_before_names_were_taken_back_is_not_believed(void **state)
{
	believe_names();
	node_of_a = make("a", NULL);
	assert_true(exists("a"));
	assert_int_equal(e.entry_valid, 999);
	fake_knobs.script = shut_meanwhile;
	assert_true(exists("a"));
	assert_int_equal(e.entry_valid, 0);
	assert_int_equal(e.entry_valid_nsec, 0);
	fake_knobs.script = NULL;
	assert_true(exists("a"));
	assert_int_equal(e.entry_valid, 999);
}

static void what_was_told_just_before_is_taken_back_twice(void **state)
{
	struct inode *root = inode_table_root(fs->inodes);
	struct nfs_attr attr;
	unsigned before;
	uint64_t asked;

	believe_names();
	make("a", NULL);
	do {
		before = kernel_notified(FUSE_NOTIFY_INVAL_ENTRY);
		asked = clock_ns();
		assert_true(exists("a"));
		attr = root->attrs.attr;
		attr.uid++;
		entry_note_attr(fs, root, &attr, clock_ns());
	} while (clock_ns() - asked >= NAMES_FRESH_NS); /* the machine is busy */
	while (kernel_notified(FUSE_NOTIFY_INVAL_ENTRY) < before + 2)
		usleep(1000);
	assert_false(notify_pending(root));
}

/* --- complete directories --------------------------------------------------------------------- */

static void of_a_new_directory_nothing_is_asked(void **state)
{
	uint64_t dir, node;

	believe_names();
	dir = make_dir();
	assert_false(exists_in(dir, "a"));
	node = make_in(dir, "a");
	make_in(dir, "b");
	assert_false(exists_in(dir, "c"));
	assert_int_equal(kernel_unlink(dir, "b"), 0);
	assert_false(exists_in(dir, "b"));
	assert_int_equal(kernel_rename(dir, "a", dir, "b"), 0);
	assert_false(exists_in(dir, "a"));
	assert_int_equal(kernel_link(node, dir, "c", &e), 0);
	assert_int_equal(count(NFS_LOOKUP) + count(NFS_ACCESS) + count(NFS_READDIR), 0);
	/* names that may be there are asked for */
	assert_true(exists_in(dir, "b"));
	assert_true(exists_in(dir, "c"));
	assert_int_equal(count(NFS_LOOKUP), 2);
	/* and names that servers do not list */
	assert_false(exists_in(dir, ".snapshot"));
	assert_false(exists_in(dir, "\xc3\xa4"));
	assert_int_equal(count(NFS_LOOKUP), 4);
}

static void what_could_not_be_made_is_asked_for(void **state)
{
	uint64_t dir, node, fh;

	believe_names();
	dir = make_dir();
	fake_knobs.fail[NFS_OPEN] = -ENOSPC;
	assert_int_equal(kernel_create(dir, "a", O_RDWR, &node, &fh), -ENOSPC);
	assert_false(exists_in(dir, "a"));
	assert_int_equal(count(NFS_LOOKUP), 1);
	assert_false(exists_in(dir, "b"));
	assert_int_equal(count(NFS_LOOKUP), 1);
	/* the result of the create is unknown */
	fake_knobs.fail[NFS_OPEN] = -EINTR;
	assert_int_equal(kernel_create(dir, "c", O_RDWR, &node, &fh), -EINTR);
	assert_false(exists_in(dir, "d"));
	assert_int_equal(count(NFS_LOOKUP), 2);
}

static void what_is_there_after_all_is_asked_for(void **state)
{
	uint64_t dir, node, fh;

	believe_names();
	dir = make_dir();
	assert_false(exists_in(dir, "e"));
	assert_int_equal(count(NFS_LOOKUP), 0);
	fake_knobs.fail[NFS_OPEN] = -EISDIR;
	assert_int_equal(kernel_create(dir, "e", O_RDWR, &node, &fh), -ESTALE);
	assert_false(exists_in(dir, "e"));
	assert_false(exists_in(dir, "f"));
	assert_int_equal(count(NFS_LOOKUP), 1);
	fake_knobs.fail[NFS_CREATE] = -EEXIST;
	assert_int_equal(kernel_mkdir(dir, "f", &e), -EEXIST);
	assert_false(exists_in(dir, "f"));
	assert_false(exists_in(dir, "g"));
	assert_int_equal(count(NFS_LOOKUP), 3);
}

/* Another client may have made the next name, too. */
static void a_thread_that_makes_names_has_the_server_asked_for_the_next(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	uint64_t dir;

	believe_names();
	fs_fixture_options.cache_complete = false;
	kernel_tid = 1000000;
	dir = make_dir();
	for (unsigned i = 0; i < 5; i++) {
		assert_false(exists_in(dir, names[i]));
		assert_int_equal(count(NFS_LOOKUP), i + 1);
		make_in(dir, names[i]);
	}
	assert_int_equal(count(NFS_READDIR), 0);
	/* a name that the server has told is believed, as in the kernel's client */
	assert_false(exists_in(dir, "f"));
	assert_false(exists_in(dir, "f"));
	assert_int_equal(count(NFS_LOOKUP), 6);
	kernel_tid = 0;
}

static void what_shows_somebody_else_ends_it(void **state)
{
	uint64_t dir;

	believe_names();
	dir = make_dir();
	make_in(dir, "a");
	fake_knobs.fail[NFS_REMOVE] = -ENOENT;
	assert_int_equal(kernel_unlink(dir, "a"), -ENOENT);
	assert_false(exists_in(dir, "b"));
	assert_int_equal(count(NFS_LOOKUP), 1);
}

static void not_where_names_have_several_spellings(void **state)
{
	uint64_t dir, looked_up;

	believe_names();
	fs->info.features |= NFS_FOLDS_CASE;
	dir = make_dir();
	for (unsigned i = 0; i < 5; i++)
		assert_false(exists_in(dir, "a"));
	assert_int_equal(count(NFS_LOOKUP), 5);
	assert_int_equal(count(NFS_READDIR), 0);
	fs->info.features &= ~NFS_FOLDS_CASE;
	fs_fixture_options.cache_absent = false;
	assert_int_equal(kernel_rmdir(KERNEL_ROOT, "d"), 0);
	dir = make_dir();
	looked_up = count(NFS_LOOKUP);
	assert_false(exists_in(dir, "a"));
	assert_false(exists_in(dir, "a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 2);
}

static void who_may_not_search_a_new_directory_is_told_by_the_server(void **state)
{
	uint64_t dir;

	believe_names();
	fake_knobs.denied = NFS_ACCESS_LOOKUP;
	dir = make_dir();
	fake_knobs.fail[NFS_LOOKUP] = -EACCES;
	assert_int_equal(kernel_lookup(dir, "a", &e), -EACCES);
}

static void a_new_directory_is_believed_for_its_time(void **state)
{
	uint64_t dir;

	believe_names();
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1;
	dir = make_dir();
	assert_false(exists_in(dir, "a"));
	assert_int_equal(count(NFS_LOOKUP), 0);
	inode(dir)->complete->since -= NSEC_PER_SEC;
	assert_false(exists_in(dir, "b"));
	assert_int_equal(count(NFS_LOOKUP), 1);
}

static bool listed_elsewhere(struct nfs_op *op)
{
	struct nfs_dirent ent = {.name = "b", .namelen = 1, .cookie = 3};

	if (op->type != NFS_READDIR)
		return changed_elsewhere(op);
	op->error = 0;
	op->u.readdir.eof = op->u.readdir.entry(op, &ent);
	op->u.readdir.dir_attr = (struct nfs_dir_attr){.have = true,
		.attr = {.type = NFS_DIR, .mode = 0755, .fileid = 100, .change = version}};
	return true;
}

static void where_names_are_missed_the_directory_is_listed_beside(void **state)
{
	believe_names();
	fake_knobs.script = listed_elsewhere;
	version = 1000;
	assert_false(exists("x1"));
	assert_false(exists("x2"));
	assert_int_equal(count(NFS_READDIR), 0);
	assert_false(exists("x3"));
	assert_int_equal(count(NFS_READDIR), 1);
	assert_false(exists("x4"));
	assert_false(exists("x5"));
	assert_int_equal(count(NFS_LOOKUP), 3);
	assert_false(exists("b")); /* the root is listed, but the script finds no names */
	assert_int_equal(count(NFS_LOOKUP), 4);
	/* another client has changed the root */
	version++;
	assert_false(exists("b2"));
	assert_int_equal(count(NFS_LOOKUP), 4);
	names_drop(fs->names, inode(KERNEL_ROOT), "b");
	names_making(fs->names, inode(KERNEL_ROOT), "b");
	assert_false(exists("b"));
	assert_int_equal(count(NFS_LOOKUP), 5);
	assert_false(exists("x6"));
	assert_int_equal(count(NFS_LOOKUP), 6);
}

static bool lists_for_ever(struct nfs_op *op)
{
	static uint64_t cookie;
	struct nfs_dirent ent = {.name = "again", .namelen = 5, .cookie = ++cookie + 3};

	if (op->type != NFS_READDIR)
		return false;
	op->error = 0;
	op->u.readdir.eof = false;
	op->u.readdir.entry(op, &ent);
	return true;
}

static void a_listing_beside_has_an_end(void **state)
{
	uint64_t readdirs;

	believe_names();
	fake_knobs.script = lists_for_ever;
	for (unsigned i = 0; i < 3; i++) {
		char name[] = {(char)('a' + i), 0};

		assert_false(exists(name));
	}
	readdirs = count(NFS_READDIR);
	assert_in_range(readdirs, 100, 5000);
	for (unsigned i = 3; i < 10; i++) {
		char name[] = {(char)('a' + i), 0};

		assert_false(exists(name));
	}
	assert_int_equal(count(NFS_READDIR), readdirs); /* not tried again soon */
	assert_int_equal(count(NFS_LOOKUP), 10);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_mount, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_leads_to_the_inode_of_its_handle),
		TEST(names_that_are_too_long_are_refused_here),
		TEST(an_error_of_the_server_is_passed_on),
		TEST(what_is_known_is_not_asked_again),
		TEST(what_is_stale_is_asked_again),
		TEST(that_there_is_no_name_is_asked_once),
		TEST(only_who_may_search_hears_of_what_is_not_there),
		TEST(what_is_changed_elsewhere_is_doubted),
		TEST(what_was_asked_before_names_were_taken_back_is_not_believed),
		TEST(what_was_told_just_before_is_taken_back_twice),
		TEST(of_a_new_directory_nothing_is_asked),
		TEST(what_could_not_be_made_is_asked_for),
		TEST(what_is_there_after_all_is_asked_for),
		TEST(a_thread_that_makes_names_has_the_server_asked_for_the_next),
		TEST(what_shows_somebody_else_ends_it),
		TEST(not_where_names_have_several_spellings),
		TEST(who_may_not_search_a_new_directory_is_told_by_the_server),
		TEST(a_new_directory_is_believed_for_its_time),
		TEST(where_names_are_missed_the_directory_is_listed_beside),
		TEST(a_listing_beside_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
