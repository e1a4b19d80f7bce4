/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/lookup/listed, and of fs/lookup/lister: names that are answered from listings,
 * and the listings made for such answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/lookup/entry.h"
#include "fs/lookup/listed.h"
#include "fs/lookup/lister.h"
#include "fs/lookup/listing.h"
#include "fs/known/names.h"
#include "transport/clock.h"
#include "tests/unit/fs/fake-kernel.h"
#include "tests/unit/fs/fs-fixture.h"

#define FIRST 3u /* cookie */

static struct fs *fs;
static struct fuse_entry_out e;

/* The root as another client has filled it: f0, f1 and so on, files or directories. */
static const char *form; /* of the names */
static unsigned files;
static enum nfs_type type;
static uint64_t version; /* of the root */
static uint64_t size;	 /* of each file */
static unsigned listed;	 /* entries */

static void describe(unsigned i, struct nfs_fh *fh, struct nfs_attr *attr)
{
	*fh = (struct nfs_fh){.len = 8, .data = "file"};
	memcpy(fh->data + 4, &i, 4);
	*attr = (struct nfs_attr){.type = type,
		.mode = 0755,
		.nlink = 1,
		.size = size,
		.fileid = 1000 + i,
		.change = size};
}

static struct nfs_dir_attr root_attr(bool before)
{
	return (struct nfs_dir_attr){.have = true,
		.before = before,
		.attr = {.type = NFS_DIR, .mode = 0755, .fileid = 100, .change = version}};
}

static void list_page(struct nfs_op *op)
{
	uint64_t i = op->u.readdir.cookie ? op->u.readdir.cookie - FIRST + 1 : 0;

	for (uint32_t bytes = 200; i < files && bytes <= op->u.readdir.max_bytes;
		i++, bytes += 200) {
		char name[20];
		struct nfs_dirent ent = {.name = name,
			.namelen = (uint32_t)snprintf(name, sizeof(name), form, (unsigned)i),
			.cookie = FIRST + i,
			.have_attr = true,
			.have_fh = true};

		describe((unsigned)i, &ent.fh, &ent.attr);
		ent.fileid = ent.attr.fileid;
		listed++;
		if (!op->u.readdir.entry(op, &ent))
			return;
	}
	op->u.readdir.eof = i == files;
	op->u.readdir.dir_attr = root_attr(false);
}

static bool elsewhere(struct nfs_op *op)
{
	unsigned i;

	if (op->type == NFS_READDIR && !fake_knobs.fail[NFS_READDIR]) {
		op->error = 0;
		list_page(op);
		return true;
	}
	if (op->type == NFS_REMOVE) {
		op->error = 0;
		version++;
		return true;
	}
	if (op->type == NFS_ACCESS) {
		op->error = 0;
		op->u.access.allowed = op->u.access.want;
		op->u.access.attr = root_attr(false).attr;
		return true;
	}
	if (op->type != NFS_LOOKUP)
		return false;
	op->u.lookup.dir_attr = root_attr(true);
	op->error = -ENOENT;
	if (sscanf(op->u.lookup.name.s, form, &i) == 1 && i < files) {
		op->error = 0;
		describe(i, &op->u.lookup.fh, &op->u.lookup.attr);
	}
	return true;
}

static int setup(void **state)
{
	fs = kernel_mount();
	fs_fixture_options.cache_names = fs_fixture_options.cache_absent = true;
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	fake_knobs.script = elsewhere;
	form = "f%u";
	files = 50;
	type = NFS_REG;
	version = 1000;
	size = 7;
	listed = 0;
	return 0;
}

static int teardown(void **state)
{
	kernel_unmount();
	kernel_tid = 0;
	return 0;
}

static uint64_t count(enum nfs_op_type t)
{
	return stats_get(&fs->stats.ops[t]);
}

static struct inode *root(void)
{
	return inode_table_root(fs->inodes);
}

/* The worker has done all requests, and the listing beside them, too. */
static void looked(void)
{
	char name[NFS_NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[NFS_NAME_MAX + 1] = 0;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, name, NULL), -ENAMETOOLONG);
}

static bool exists(uint64_t dir, const char *name)
{
	int error = kernel_lookup(dir, name, &e);

	assert_true(!error || error == -ENOENT);
	looked();
	return !error && e.nodeid;
}

/* Is fi there, and was the server asked? */
static bool asked_for(unsigned i)
{
	uint64_t before = count(NFS_LOOKUP);
	char name[20];

	snprintf(name, sizeof(name), form, i);
	assert_true(exists(KERNEL_ROOT, name));
	assert_int_equal(e.attr.ino, 1000 + i);
	assert_int_equal(e.attr.size, size);
	return count(NFS_LOOKUP) > before;
}

static void forget(uint64_t node)
{
	struct fuse_forget_in in = {.nlookup = 1};

	kernel_send(FUSE_FORGET, node, &in, sizeof(in), NULL, 0);
	looked();
}

static void of_several_files_one_is_asked_for(void **state)
{
	assert_true(asked_for(0));
	for (unsigned i = 1; i < files; i++)
		assert_false(asked_for(i));
	assert_int_equal(count(NFS_READDIR), 1);
	assert_int_equal(listed, files);
	/* an absent name is asked for all the same: another client may just have made the name */
	assert_false(exists(KERNEL_ROOT, "none"));
	assert_int_equal(count(NFS_LOOKUP), 2);
}

static void who_walks_to_a_directory_has_nothing_listed(void **state)
{
	uint64_t node;

	type = NFS_DIR;
	assert_true(asked_for(0));
	assert_int_equal(count(NFS_READDIR), 0);
	assert_true(asked_for(1)); /* the listing goes beside the lookup */
	assert_int_equal(count(NFS_READDIR), 1);
	assert_false(asked_for(2));
	/* absent names count nothing */
	node = e.nodeid;
	assert_false(exists(node, "none1"));
	assert_false(exists(node, "none2"));
	assert_false(exists(node, "none3"));
	assert_int_equal(count(NFS_READDIR), 1);
}

static void what_this_mount_changes_is_asked_for_and_nothing_else(void **state)
{
	asked_for(0);
	assert_false(asked_for(1));
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "f3"), 0);
	assert_false(asked_for(4));
	assert_true(asked_for(3)); /* the script still has the listing */
	names_making(fs->names, root(), "f5");
	assert_true(asked_for(5));
	names_move(fs->names, root(), "f6", root(), "f7");
	assert_true(asked_for(6));
	assert_true(asked_for(7));
	names_doubt(fs->names, root(), "f8");
	assert_true(asked_for(8));
	assert_false(asked_for(9));
	/* the effect on the server is unknown */
	entry_named(fs, root(), -EINTR);
	assert_true(asked_for(10));
}

static void what_somebody_else_changes_is_asked_for(void **state)
{
	asked_for(0);
	assert_false(asked_for(1));
	version++;
	size = 8;
	listings_earn(fs, -2 * LISTED_CREDIT_MAX);
	assert_false(exists(KERNEL_ROOT, "shows it"));
	assert_true(asked_for(2));
	listings_earn(fs, 2 * LISTED_CREDIT_MAX);
	assert_true(asked_for(3));
	assert_false(asked_for(4)); /* the directory was listed anew */
	assert_int_equal(count(NFS_READDIR), 2);
}

static void names_and_attributes_are_believed_for_their_times(void **state)
{
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1;
	asked_for(0);
	assert_false(asked_for(1));
	usleep(1100000);
	size = 8;
	assert_true(asked_for(2));
	assert_false(asked_for(3));
	assert_int_equal(count(NFS_READDIR), 2);
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 0;
	assert_true(asked_for(4));
	assert_true(asked_for(5));
	assert_int_equal(count(NFS_READDIR), 2);
}

static void what_is_known_better_counts_more(void **state)
{
	uint64_t known, changed;

	asked_for(0);
	assert_false(asked_for(1));
	known = e.nodeid;
	assert_false(asked_for(2));
	changed = e.nodeid;
	inode_touch(inode_of(fs->inodes, changed));
	size = 8; /* at the server */
	forget(changed);
	assert_true(asked_for(2));
	size = 7;
	forget(known);
	assert_false(asked_for(1)); /* nothing is known to have changed it */
	inode_touch(inode_of(fs->inodes, e.nodeid));
	assert_true(asked_for(1));
}

/* Another client has written to all files, and has then renamed them. */
static void all_are_renamed(void)
{
	listings_earn(fs, -2 * LISTED_CREDIT_MAX);
	for (unsigned i = 0; i < files; i++)
		assert_true(asked_for(i));
	assert_int_equal(count(NFS_READDIR), 0);
	form = "g%u";
	version++;
	size = 8;
	assert_false(exists(KERNEL_ROOT, "shows it"));
	listings_earn(fs, 2 * LISTED_CREDIT_MAX);
	assert_true(asked_for(0));
	assert_int_equal(count(NFS_READDIR), 1);
}

static void what_a_listing_has_told_later_counts_more(void **state)
{
	all_are_renamed();
	for (unsigned i = 1; i < files; i++)
		assert_false(asked_for(i));
}

/* The listing is too old for its attributes, but not for its names. */
static void all_were_renamed(void)
{
	fs_fixture_options.acregmax = 2000;
	all_are_renamed();
	fs_fixture_options.acregmin = 1;
	usleep(1100000);
}

static void what_a_listing_has_told_differently_is_asked_for(void **state)
{
	all_were_renamed();
	assert_true(asked_for(1));
}

static void a_listing_shows_no_file_as_it_was_before(void **state)
{
	struct fuse_open_in open = {0};
	struct fuse_open_out dir;
	struct fuse_read_in in = {.size = 1 << 16};
	const struct fuse_direntplus *d;
	unsigned n = 0;
	struct answer a;

	files = 10;
	all_were_renamed();
	fs_fixture_options.cache_complete = true; /* the listing is kept for readers */
	assert_int_equal(kernel_ask(FUSE_OPENDIR, KERNEL_ROOT, &open, sizeof(open), NULL, 0, &dir,
				 sizeof(dir)),
		0);
	in.fh = dir.fh;
	a = kernel_wait(kernel_send(FUSE_READDIRPLUS, KERNEL_ROOT, &in, sizeof(in), NULL, 0));
	assert_int_equal(a.error, 0);
	for (size_t at = 0; at < a.len; at += FUSE_DIRENTPLUS_SIZE(d)) {
		d = (void *)(a.data + at);
		n += d->dirent.name[0] == 'g';
		if (d->entry_out.nodeid)
			assert_int_equal(d->entry_out.attr.size, size);
	}
	assert_int_equal(n, files);
}

static void a_huge_directory_is_listed_as_far_as_it_is_asked_for(void **state)
{
	unsigned first;

	files = 100000;
	assert_true(asked_for(90000));
	first = listed;
	assert_in_range(first, 10, BESIDE_FIRST_BYTES / 200);
	assert_int_equal(count(NFS_READDIR), 1);
	assert_false(asked_for(first - 1));
	for (unsigned i = 1; i < 1000; i++)
		assert_true(asked_for(90000 + i));
	/* at most one page each, and no more than was earned, plus one page */
	assert_in_range(listed, first + 300, LISTED_CREDIT_MAX + 1000 + 400);
	assert_true(count(NFS_READDIR) <= 2 * (LISTED_CREDIT_MAX + 1000) / 300);
}

static void listings_cost_what_they_have_earned(void **state)
{
	listings_earn(fs, -2 * LISTED_CREDIT_MAX - 100);
	assert_true(asked_for(0));
	assert_true(asked_for(1));
	assert_true(asked_for(2));
	assert_int_equal(count(NFS_READDIR), 0);
	listings_earn(fs, LISTED_CREDIT_MAX);
	assert_true(asked_for(3));
	assert_int_equal(count(NFS_READDIR), 0);
	listings_earn(fs, LISTED_CREDIT_MAX);
	assert_true(asked_for(4));
	assert_false(asked_for(5));
	assert_int_equal(listings_earn(fs, 2 * LISTED_CREDIT_MAX), LISTED_CREDIT_MAX);
}

static void who_may_not_list_is_not_listed_for(void **state)
{
	fake_knobs.fail[NFS_READDIR] = -EACCES;
	for (unsigned i = 0; i < 20; i++)
		assert_true(asked_for(i));
	assert_int_equal(count(NFS_READDIR), 1);
}

static void a_name_that_is_being_made_beside_may_be_missing(void **state)
{
	uint64_t since;

	fs_fixture_options.cache_complete = true;
	type = NFS_DIR;
	asked_for(0);
	dirnames_naming_begin(&root()->dirnames);
	names_making(fs->names, root(), "new");
	asked_for(1);
	assert_int_equal(count(NFS_READDIR), 1);
	dirnames_naming_end(&root()->dirnames, &root()->attrs);
	assert_false(names_lacks(fs->names, root(), "other", getuid(), &since));
	/* when no listing is under way, all names are known */
	usleep(1000);
	attrs_doubt_rights(&root()->attrs);
	entry_named(fs, root(), -EINTR);
	asked_for(2);
	assert_int_equal(count(NFS_READDIR), 2);
	assert_true(names_lacks(fs->names, root(), "other", getuid(), &since));
	assert_false(names_lacks(fs->names, root(), "f7", getuid(), &since));
}

/* No listing answers for an absent name, unless the user says so. */
static void makes_five_names(unsigned lookups, unsigned listings)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	uint64_t node, fh;

	kernel_tid = getpid();
	for (unsigned i = 0; i < 5; i++) {
		assert_false(exists(KERNEL_ROOT, names[i]));
		assert_int_equal(kernel_create(KERNEL_ROOT, names[i], O_WRONLY, &node, &fh), 0);
		assert_int_equal(kernel_release(node, fh), 0);
	}
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_int_equal(count(NFS_READDIR), listings);
}

static void making_names_lists_no_directory(void **state)
{
	makes_five_names(5, 0);
}

static void making_names_lists_the_directory_if_that_is_believed(void **state)
{
	fs_fixture_options.cache_complete = true;
	makes_five_names(2, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_several_files_one_is_asked_for),
		TEST(who_walks_to_a_directory_has_nothing_listed),
		TEST(what_this_mount_changes_is_asked_for_and_nothing_else),
		TEST(what_somebody_else_changes_is_asked_for),
		TEST(names_and_attributes_are_believed_for_their_times),
		TEST(what_is_known_better_counts_more),
		TEST(what_a_listing_has_told_later_counts_more),
		TEST(what_a_listing_has_told_differently_is_asked_for),
		TEST(a_listing_shows_no_file_as_it_was_before),
		TEST(a_huge_directory_is_listed_as_far_as_it_is_asked_for),
		TEST(listings_cost_what_they_have_earned),
		TEST(who_may_not_list_is_not_listed_for),
		TEST(a_name_that_is_being_made_beside_may_be_missing),
		TEST(making_names_lists_no_directory),
		TEST(making_names_lists_the_directory_if_that_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
