/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/lookup/listing: the requests to the server when fs/ops/ops_dir reads a
 * directory.
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
#include <cmocka.h>

#include "fs/lookup/listing.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"

#define FILES 100u
#define PAGES 5u /* of 4000 bytes, about 24 entries each */
#define MANY  20000u

static uint64_t fh;

static uint64_t open_root(void)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out = {0};

	assert_int_equal(
		kernel_ask(FUSE_OPENDIR, KERNEL_ROOT, &in, sizeof(in), NULL, 0, &out, sizeof(out)),
		0);
	return out.fh;
}

static void close_root(uint64_t handle)
{
	struct fuse_release_in in = {.fh = handle};

	assert_int_equal(
		kernel_ask(FUSE_RELEASEDIR, KERNEL_ROOT, &in, sizeof(in), NULL, 0, NULL, 0), 0);
}

static void make(const char *name)
{
	uint64_t node, file;

	assert_int_equal(kernel_create(KERNEL_ROOT, name, O_RDWR, &node, &file), 0);
	assert_int_equal(kernel_release(node, file), 0);
}

static int setup(void **state)
{
	setup_mount(state);
	fs_fixture_options.cache_names = fs_fixture_options.cache_absent = true;
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	fs->info.dtsize = 4000;
	for (unsigned i = 0; i < FILES; i++) {
		char name[20];

		snprintf(name, sizeof(name), "%u", i);
		make(name);
	}
	fs_fixture_options.cache_names = false; /* no listing begins at the open */
	fh = open_root();
	fs_fixture_options.cache_names = true;
	return 0;
}

static uint64_t ask(uint64_t off, uint32_t size)
{
	struct fuse_read_in in = {.fh = fh, .offset = off, .size = size};

	return kernel_send(FUSE_READDIR, KERNEL_ROOT, &in, sizeof(in), NULL, 0);
}

/* The last offset of an answer. Returns the number of entries, without "." and "..". */
static unsigned last_of(const struct answer *a, uint64_t *off)
{
	unsigned n = 0;

	assert_int_equal(a->error, 0);
	for (size_t at = 0; at < a->len;) {
		const struct fuse_dirent *d = (void *)(a->data + at);

		n += d->name[0] != '.';
		*off = d->off;
		at += FUSE_DIRENT_SIZE(d);
	}
	return n;
}

/* Reads the directory from off to the end. Returns the number of entries. */
static unsigned read_all(uint64_t off)
{
	struct answer a;
	unsigned n = 0;

	do {
		a = kernel_wait(ask(off, 1000));
		n += last_of(&a, &off);
	} while (a.len);
	return n;
}

static void the_next_page_comes_while_one_is_read(void **state)
{
	uint64_t off = 0;
	struct answer a = kernel_wait(ask(0, 400));

	assert_true(last_of(&a, &off) > 5);
	assert_int_equal(count(NFS_READDIR), 2);
	a = kernel_wait(ask(off, 200));
	last_of(&a, &off);
	assert_int_equal(count(NFS_READDIR), 2); /* the page is not read yet */
	assert_int_equal(read_all(0), FILES);
}

static void what_is_going_to_be_read_comes_with_the_open(void **state)
{
	char name[NFS_NAME_MAX + 2] = "";
	uint64_t off = 0;
	struct answer a;

	attrs_doubt_rights(
		&inode_table_root(fs->inodes)->attrs); /* the right to read is asked for again */
	fh = open_root();
	memset(name, 'x', sizeof(name) - 1);
	/* the READDIR is sent */
	assert_int_equal(kernel_lookup(KERNEL_ROOT, name, NULL), -ENAMETOOLONG);
	assert_int_equal(count(NFS_ACCESS), 2);
	assert_int_equal(count(NFS_READDIR), 1);
	a = kernel_wait(ask(0, 400));
	assert_true(last_of(&a, &off) > 5);
	assert_int_equal(count(NFS_READDIR), 2); /* the next page */
	/* but the same page is not fetched again, nor a directory that was changed meanwhile */
	assert_int_equal(read_all(0), FILES);
	attrs_doubt_rights(&inode_table_root(fs->inodes)->attrs);
	fh = open_root();
	make("new");
	assert_int_equal(read_all(0), FILES + 1);
}

static void who_comes_to_the_end_waits_for_the_next_page(void **state)
{
	uint64_t first, next, off = 0;
	struct answer a;

	fake_knobs.hang[NFS_READDIR] = true;
	first = ask(0, 4096);
	close_root(open_root()); /* the worker has looked at the request */
	fake_release(fs->client);
	a = kernel_wait(first);
	assert_true(last_of(&a, &off) > 20);
	next = ask(off, 4096);
	close_root(open_root()); /* the worker has looked at the request */
	assert_false(kernel_answered(next));
	assert_int_equal(count(NFS_READDIR), 1);
	fake_knobs.hang[NFS_READDIR] = false;
	fake_release(fs->client);
	a = kernel_wait(next);
	assert_true(last_of(&a, &off) > 20);
}

static void nobody_need_be_there_when_it_comes(void **state)
{
	uint64_t first;

	fake_knobs.hang[NFS_READDIR] = true;
	first = ask(0, 4096);
	close_root(open_root()); /* the worker has looked at the request */
	fake_release(fs->client);
	assert_int_equal(kernel_wait(first).error, 0);
	close_root(fh); /* the page comes, or the mount ends first */
}

static void a_large_directory_is_asked_about_but_not_listed_again(void **state)
{
	uint64_t listed, asked;

	assert_int_equal(read_all(0), FILES);
	listed = count(NFS_READDIR);
	assert_in_range(listed, PAGES - 1, PAGES + 1);
	asked = count(NFS_GETATTR);
	assert_int_equal(read_all(0), FILES);
	fh = open_root();
	assert_int_equal(read_all(0), FILES);
	assert_int_equal(count(NFS_READDIR), listed);
	assert_int_equal(count(NFS_GETATTR), asked + 2);
	/* the listing shows changes by this mount */
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "7"), 0);
	assert_int_equal(read_all(0), FILES - 1);
	assert_true(count(NFS_READDIR) > listed);
}

static uint64_t version = 1u << 20;

static bool changed_elsewhere(struct nfs_op *op)
{
	if (op->type != NFS_GETATTR)
		return false;
	op->error = 0;
	op->u.getattr.attr = (struct nfs_attr){
		.type = NFS_DIR, .mode = 0755, .fileid = 100, .nlink = 2, .change = ++version};
	return true;
}

static void what_somebody_else_has_changed_is_listed_again(void **state)
{
	uint64_t listed;

	read_all(0);
	read_all(0);
	listed = count(NFS_READDIR);
	read_all(0);
	assert_int_equal(count(NFS_READDIR), listed);
	fake_knobs.script = changed_elsewhere;
	assert_int_equal(read_all(0), FILES);
	assert_true(count(NFS_READDIR) > listed);
}

static void with_complete_nothing_is_asked(void **state)
{
	uint64_t listed;

	fs_fixture_options.cache_complete = true;
	fs->info.dtsize = 0; /* one page */
	read_all(0);
	listed = count(NFS_READDIR);
	assert_int_equal(listed, 1);
	assert_int_equal(read_all(0), FILES);
	assert_int_equal(count(NFS_READDIR), listed);
	assert_int_equal(count(NFS_GETATTR), 0);
	/* without cache_complete, one page is asked for as quickly as whether the directory is the
	 * same */
	fs_fixture_options.cache_complete = false;
	assert_int_equal(read_all(0), FILES);
	assert_int_equal(count(NFS_READDIR), listed + 1);
	assert_int_equal(count(NFS_GETATTR), 0);
}

static bool lists_many(struct nfs_op *op)
{
	uint32_t bytes = 0;

	if (op->type != NFS_READDIR)
		return false;
	op->error = 0;
	for (uint64_t c = op->u.readdir.cookie ? op->u.readdir.cookie + 1 : 3; c < MANY + 3; c++) {
		char name[20];
		struct nfs_dirent ent = {.name = name, .fileid = c, .cookie = c};

		ent.namelen = (uint32_t)snprintf(name, sizeof(name), "n%u", (unsigned)c);
		bytes += 100;
		if (bytes > op->u.readdir.max_bytes)
			return true;
		op->u.readdir.entry(op, &ent);
	}
	op->u.readdir.eof = true;
	return true;
}

static void of_a_huge_directory_some_pages_stay(void **state)
{
	uint64_t listed;

	fs->info.dtsize = 0;
	fake_knobs.script = lists_many;
	assert_int_equal(read_all(0), MANY);
	listed = count(NFS_READDIR);
	assert_null(inode_table_root(fs->inodes)->listings.whole);
	/* dropped pages are asked for again, from any place */
	assert_int_equal(read_all(1000), MANY - 998);
	assert_true(count(NFS_READDIR) > listed);
	assert_int_equal(read_all(MANY - 10), 12);
	assert_int_equal(read_all(2), MANY);
	assert_int_equal(read_all(MANY / 2), MANY / 2 + 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_next_page_comes_while_one_is_read),
		TEST(what_is_going_to_be_read_comes_with_the_open),
		TEST(who_comes_to_the_end_waits_for_the_next_page),
		TEST(nobody_need_be_there_when_it_comes),
		TEST(a_large_directory_is_asked_about_but_not_listed_again),
		TEST(what_somebody_else_has_changed_is_listed_again),
		TEST(with_complete_nothing_is_asked),
		TEST(of_a_huge_directory_some_pages_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
