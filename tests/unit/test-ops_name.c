/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops_name, and of looking names up, as the kernel asks for it.
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

#include "fs/names.h"
#include "transport/clock.h"
#include "tests/unit/fake-kernel.h"
#include "tests/unit/fs-fixture.h"

static struct fs *fs;
static struct fuse_entry_out e;

static int setup(void **state)
{
	fs = kernel_mount();
	return 0;
}

static int teardown(void **state)
{
	kernel_unmount();
	return 0;
}

static uint64_t count(enum nfs_op_type t)
{
	return stats_get(&fs->stats.ops[t]);
}

/* A new file of that name in the root; fh: it is open, else closed again. */
static uint64_t make(const char *name, uint64_t *fh)
{
	uint64_t node, mine;

	assert_int_equal(kernel_create(KERNEL_ROOT, name, O_RDWR, &node, fh ? fh : &mine), 0);
	if (!fh)
		assert_int_equal(kernel_release(node, mine), 0);
	return node;
}

static bool exists(const char *name)
{
	int error = kernel_lookup(KERNEL_ROOT, name, &e);

	assert_true(!error || error == -ENOENT);
	return !error && e.nodeid;
}

/* With all that comes after the answer: the worker then reads the next request. */
static void release(uint64_t node, uint64_t fh)
{
	assert_int_equal(kernel_release(node, fh), 0);
	assert_false(exists("no such name"));
}

static struct inode *inode(uint64_t node)
{
	return inode_of(fs->inodes, node);
}

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

/* With names that may be answered from what is known. */
static void believe_names(void)
{
	fs_fixture_options.cache_names = fs_fixture_options.cache_absent = true;
	fs_fixture_options.cache_complete = true;
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
}

/* Not all may search the root: the kernel asks at each walk, and is answered from what is known. */
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
	/* what this mount changes is asked again */
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
	/* who makes it is told at once if it is there after all */
	fake_knobs.fail[NFS_OPEN] = -EEXIST;
	assert_int_equal(kernel_create(KERNEL_ROOT, "a", O_RDWR | O_EXCL, &node, &fh), -EEXIST);
	fake_knobs.fail[NFS_OPEN] = 0;
	assert_false(exists("a"));
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
	/* or looks the path up again, if it is what cannot be opened like this */
	fake_knobs.fail[NFS_OPEN] = -ELOOP;
	assert_int_equal(kernel_create(KERNEL_ROOT, "a", O_RDWR, &node, &fh), -ESTALE);
	assert_int_equal(kernel_create(KERNEL_ROOT, "a", O_RDWR, &node, &fh), -ELOOP);
	fake_knobs.fail[NFS_OPEN] = 0;
	other = make("a", NULL);
	assert_true(exists("a"));
	assert_int_equal(e.nodeid, other);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	/* another client may have made it since: this mount has removed it, no more */
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
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -ENOENT); /* for this one */
	looked_up = count(NFS_LOOKUP);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -ENOENT);
	assert_int_equal(count(NFS_LOOKUP), looked_up);
	fs_fixture_options.cache_absent = false;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -ENOENT);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "a", &e), -ENOENT);
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
}

static uint64_t version; /* the root's */

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

/* --- complete directories --------------------------------------------------------------------- */

static uint64_t make_in(uint64_t dir, const char *name)
{
	uint64_t node, fh;

	assert_int_equal(kernel_create(dir, name, O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_release(node, fh), 0);
	return node;
}

static bool exists_in(uint64_t dir, const char *name)
{
	int error = kernel_lookup(dir, name, &e);

	assert_true(!error || error == -ENOENT);
	return !error && e.nodeid;
}

static uint64_t make_dir(void)
{
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), 0);
	return e.nodeid;
}

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
	/* what may be there is asked for */
	assert_true(exists_in(dir, "b"));
	assert_true(exists_in(dir, "c"));
	assert_int_equal(count(NFS_LOOKUP), 2);
	/* and what servers do not list */
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
	/* nobody knows what has come of it */
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

static void who_makes_names_is_expected_to_make_the_next(void **state)
{
	uint64_t dir;

	believe_names();
	fs_fixture_options.cache_complete = false;
	kernel_tid = 1000000;
	dir = make_dir();
	assert_false(exists_in(dir, "a"));
	make_in(dir, "a");
	assert_false(exists_in(dir, "b"));
	make_in(dir, "b");
	assert_int_equal(count(NFS_LOOKUP), 2);
	assert_false(exists_in(dir, "c"));
	make_in(dir, "c");
	assert_false(exists_in(dir, "d"));
	assert_false(exists_in(dir, "d"));
	assert_int_equal(count(NFS_LOOKUP), 2);
	/* if it does not, it has its answer from the server, and from then on */
	assert_false(exists_in(dir, "d"));
	assert_int_equal(count(NFS_LOOKUP), 3);
	assert_false(exists_in(dir, "e"));
	assert_int_equal(count(NFS_LOOKUP), 4);
	make_in(dir, "e");
	kernel_tid++; /* another thread has made nothing yet */
	assert_false(exists_in(dir, "f"));
	assert_int_equal(count(NFS_LOOKUP), 5);
	for (unsigned i = 0; i < 10; i++)
		assert_false(exists_in(dir, "f"));
	assert_int_equal(count(NFS_READDIR), 0);
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
	assert_false(exists("b")); /* it is listed, but the script finds nothing */
	assert_int_equal(count(NFS_LOOKUP), 4);
	/* somebody else has changed it */
	version++;
	assert_false(exists("b2"));
	assert_int_equal(count(NFS_LOOKUP), 4);
	names_drop(fs->names, inode(KERNEL_ROOT), "b");
	names_making(fs->names, inode(KERNEL_ROOT), "b", 0);
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

/* --- making ----------------------------------------------------------------------------------- */

static void a_regular_file_of_mknod_is_not_left_open(void **state)
{
	struct fuse_mknod_in in = {.mode = S_IFREG | 0600};

	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "a", 2, &e, sizeof(e)), 0);
	assert_int_equal(count(NFS_OPEN), 1);
	assert_int_equal(count(NFS_CLOSE), 1);
	assert_int_equal(e.attr.mode, S_IFREG | 0600);
	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "a", 2, &e, sizeof(e)),
		-EEXIST);
	assert_int_equal(count(NFS_CLOSE), 1);
	in.mode = S_IFIFO | 0600;
	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "b", 2, &e, sizeof(e)), 0);
	assert_int_equal(e.attr.mode, S_IFIFO | 0600);
	in.mode = S_IFMT;
	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "c", 2, &e, sizeof(e)),
		-EINVAL);
}

/* --- removing and moving ---------------------------------------------------------------------- */

static void a_closed_file_is_removed_at_once(void **state)
{
	make("a", NULL);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_RENAME), 0);
	assert_false(exists("a"));
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -ENOENT);
}

static void an_open_file_outlives_its_last_name(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, node = make("a", &fh);

	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_REMOVE), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.nlink, 0);
	assert_int_equal(kernel_write(node, fh, 4, "more", 4, O_RDWR), 4);
	release(node, fh);
	assert_int_equal(count(NFS_REMOVE), 1);
}

static void an_unlink_that_fails_leaves_all_as_it_was(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, node = make("a", &fh);

	fake_knobs.fail[NFS_RENAME] = -EACCES;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -EACCES);
	fake_knobs.fail[NFS_RENAME] = 0;
	assert_true(exists("a"));
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.nlink, 1);
	assert_int_equal(kernel_release(node, fh), 0);
	fake_knobs.fail[NFS_REMOVE] = -EACCES;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -EACCES);
	fake_knobs.fail[NFS_REMOVE] = 0;
	/* opens do not wait for it any more */
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
}

/* An open that comes while the name is being removed waits, and then asks the server. */
/* While a file is open REMOVE itself sees to it that it removes no other than was believed. */
static void a_closed_file_is_removed_at_once_beside_an_open_one(void **state)
{
	uint64_t open, lookups;

	make("a", NULL);
	make("b", &open);
	lookups = count(NFS_LOOKUP);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_int_equal(count(NFS_REMOVE), 1);
	assert_int_equal(count(NFS_RENAME), 0);
	assert_false(exists("a"));
}

static bool is_another(struct nfs_op *op)
{
	if (op->type != NFS_REMOVE || !op->u.remove.only)
		return false;
	op->error = -ESTALE;
	return true;
}

static void what_another_client_has_put_in_its_place_is_looked_at(void **state)
{
	uint64_t open, lookups;

	make("a", NULL);
	make("b", &open);
	lookups = count(NFS_LOOKUP);
	fake_knobs.script = is_another;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups + 1);
	assert_int_equal(count(NFS_REMOVE), 2);
	assert_false(exists("a"));
}

static void a_rename_asks_for_no_name_that_is_known(void **state)
{
	uint64_t open, lookups, dir;

	believe_names();
	dir = make_dir();
	make_in(dir, "a");
	make_in(dir, "b");
	make("open", &open);
	lookups = count(NFS_LOOKUP);
	/* to what is closed, and to what is not there */
	assert_int_equal(kernel_rename(dir, "a", dir, "b"), 0);
	assert_int_equal(kernel_rename(dir, "b", dir, "c"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_int_equal(count(NFS_RENAME), 2);
	assert_false(exists_in(dir, "a") || exists_in(dir, "b"));
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_true(exists_in(dir, "c"));
}

static bool is_another_to_replace(struct nfs_op *op)
{
	if (op->type != NFS_RENAME || !op->u.rename.only)
		return false;
	op->error = -ESTALE;
	return true;
}

static void what_a_rename_replaces_instead_is_looked_at(void **state)
{
	uint64_t open, lookups;

	make("a", NULL);
	make("b", NULL);
	make("open", &open);
	lookups = count(NFS_LOOKUP);
	fake_knobs.script = is_another_to_replace;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups + 1);
	assert_int_equal(count(NFS_RENAME), 2);
	assert_true(exists("b"));
	assert_false(exists("a"));
}

static void an_open_waits_for_the_end_of_an_unlink(void **state)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	uint64_t node = make("a", NULL), removes, opens, before = count(NFS_OPEN);

	fake_knobs.hang[NFS_REMOVE] = true;
	removes = kernel_send(FUSE_UNLINK, KERNEL_ROOT, NULL, 0, "a", 2);
	opens = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	assert_false(exists("none"));
	assert_int_equal(count(NFS_OPEN), before);
	assert_false(kernel_answered(removes) || kernel_answered(opens));
	kernel_interrupt(removes);
	assert_int_equal(kernel_wait(removes).error, -EINTR);
	assert_int_equal(kernel_wait(opens).error, 0);
	assert_int_equal(count(NFS_OPEN), before + 1);
}

/* Whoever opens a file while its name is looked up keeps it. */
static void an_open_that_is_first_saves_the_file(void **state)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	uint64_t node = make("a", NULL), opens;

	fake_knobs.hang[NFS_OPEN] = true;
	opens = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_REMOVE), 0);
	assert_int_equal(count(NFS_RENAME), 1);
	/* and when the open fails nobody needs it */
	kernel_interrupt(opens);
	assert_int_equal(kernel_wait(opens).error, -EINTR);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_REMOVE), 1);
}

static void a_rename_keeps_what_it_replaces_while_it_is_open(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, from = make("a", NULL), to = make("b", &fh);

	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
	assert_false(exists("a"));
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, from);
	assert_int_equal(kernel_getattr(to, &attr), 0);
	assert_int_equal(attr.nlink, 0);
	assert_int_equal(count(NFS_REMOVE), 0);
	release(to, fh);
	assert_int_equal(count(NFS_REMOVE), 1);
}

static bool to_b_fails(struct nfs_op *op)
{
	if (op->type != NFS_RENAME || op->u.rename.from.len != 1 || op->u.rename.from.s[0] != 'a')
		return false;
	op->error = -EACCES;
	return true;
}

static void a_rename_that_fails_gives_the_name_back(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, to;

	make("a", NULL);
	to = make("b", &fh);
	fake_knobs.script = to_b_fails;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EACCES);
	assert_true(exists("a"));
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, to);
	assert_int_equal(kernel_getattr(to, &attr), 0);
	assert_int_equal(attr.nlink, 1);
	release(to, fh);
	assert_int_equal(count(NFS_REMOVE), 0);
}

static void what_is_known_of_names_follows_a_rename(void **state)
{
	uint64_t node = make("a", NULL);
	struct name_info info;

	make("b", NULL);
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
	assert_false(names_get(fs->names, inode(KERNEL_ROOT), "a", &info));
	assert_true(names_get(fs->names, inode(KERNEL_ROOT), "b", &info));
	assert_ptr_equal(info.ino, inode(node));
	inode_unref(info.ino);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "b"), 0);
	assert_false(names_get(fs->names, inode(KERNEL_ROOT), "b", &info));
}

static void a_removed_directory_is_shown_without_links(void **state)
{
	struct fuse_attr attr;
	uint64_t node;

	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), 0);
	node = e.nodeid;
	assert_int_equal(kernel_rmdir(KERNEL_ROOT, "d"), 0);
	fake_knobs.fail[NFS_GETATTR] = -ESTALE;
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.nlink, 0);
	assert_int_equal(kernel_getattr(KERNEL_ROOT, &attr), -ESTALE);
}

/* A file with a silly name is closed while the directory is being removed. */
static void rmdir_waits_for_silly_names_to_go(void **state)
{
	struct fuse_release_in in = {0};
	uint64_t dir, node, released, removed;

	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), 0);
	dir = e.nodeid;
	assert_int_equal(kernel_create(dir, "a", O_RDWR, &node, &in.fh), 0);
	assert_int_equal(kernel_unlink(dir, "a"), 0);
	assert_int_equal(kernel_rmdir(KERNEL_ROOT, "d"), -ENOTEMPTY); /* nobody is closing it */
	fake_knobs.hang[NFS_CLOSE] = true;
	released = kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	removed = kernel_send(FUSE_RMDIR, KERNEL_ROOT, NULL, 0, "d", 2);
	assert_true(exists("d"));
	assert_false(kernel_answered(released) || kernel_answered(removed));
	fake_knobs.hang[NFS_CLOSE] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(released).error, 0);
	assert_int_equal(kernel_wait(removed).error, 0);
	assert_false(exists("d"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
		TEST(of_a_new_directory_nothing_is_asked),
		TEST(what_could_not_be_made_is_asked_for),
		TEST(what_is_there_after_all_is_asked_for),
		TEST(who_makes_names_is_expected_to_make_the_next),
		TEST(what_shows_somebody_else_ends_it),
		TEST(not_where_names_have_several_spellings),
		TEST(who_may_not_search_a_new_directory_is_told_by_the_server),
		TEST(a_new_directory_is_believed_for_its_time),
		TEST(where_names_are_missed_the_directory_is_listed_beside),
		TEST(a_listing_beside_has_an_end),
		TEST(a_regular_file_of_mknod_is_not_left_open),
		TEST(a_closed_file_is_removed_at_once),
		TEST(a_closed_file_is_removed_at_once_beside_an_open_one),
		TEST(what_another_client_has_put_in_its_place_is_looked_at),
		TEST(a_rename_asks_for_no_name_that_is_known),
		TEST(what_a_rename_replaces_instead_is_looked_at),
		TEST(an_open_file_outlives_its_last_name),
		TEST(an_unlink_that_fails_leaves_all_as_it_was),
		TEST(an_open_waits_for_the_end_of_an_unlink),
		TEST(an_open_that_is_first_saves_the_file),
		TEST(a_rename_keeps_what_it_replaces_while_it_is_open),
		TEST(a_rename_that_fails_gives_the_name_back),
		TEST(what_is_known_of_names_follows_a_rename),
		TEST(a_removed_directory_is_shown_without_links),
		TEST(rmdir_waits_for_silly_names_to_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
