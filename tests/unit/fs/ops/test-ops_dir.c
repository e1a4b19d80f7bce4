/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_dir: listings as the kernel asks for them.
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
#include <time.h>
#include <cmocka.h>

#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"

#define FILES 300u

static uint64_t fh;
static bool seen[FILES];
static unsigned with_attr; /* entries that came with an inode */

static int opendir_root(void)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out = {0};
	int error =
		kernel_ask(FUSE_OPENDIR, KERNEL_ROOT, &in, sizeof(in), NULL, 0, &out, sizeof(out));

	fh = out.fh;
	return error;
}

static int setup(void **state)
{
	setup_mount(state);
	memset(seen, 0, sizeof(seen));
	with_attr = 0;
	assert_int_equal(opendir_root(), 0);
	return 0;
}

static void make_files(unsigned n)
{
	uint64_t node, file;

	for (unsigned i = 0; i < n; i++) {
		char name[20];

		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(kernel_create(KERNEL_ROOT, name, O_RDWR, &node, &file), 0);
		assert_int_equal(kernel_release(node, file), 0);
	}
}

static struct answer list(uint32_t opcode, uint64_t off, uint32_t size)
{
	struct fuse_read_in in = {.fh = fh, .offset = off, .size = size};

	return kernel_wait(kernel_send(opcode, KERNEL_ROOT, &in, sizeof(in), NULL, 0));
}

static void note(const struct fuse_dirent *d)
{
	char name[20] = "";
	unsigned i;

	assert_in_range(d->namelen, 1, sizeof(name) - 1);
	memcpy(name, d->name, d->namelen);
	if (name[0] == '.')
		return;
	i = (unsigned)atoi(name);
	assert_in_range(i, 0, FILES - 1);
	assert_false(seen[i]);
	seen[i] = true;
}

/* Lists the directory from off to the end. Returns the number of answers, or a negative errno. */
static int list_all(uint32_t opcode, uint64_t off, uint32_t size)
{
	for (int n = 1;; n++) {
		struct answer a = list(opcode, off, size);

		if (a.error)
			return a.error;
		if (!a.len)
			return n;
		for (size_t at = 0; at < a.len;) {
			const struct fuse_direntplus *plus = (void *)(a.data + at);
			const struct fuse_dirent *d = (void *)(a.data + at);

			if (opcode == FUSE_READDIRPLUS) {
				d = &plus->dirent;
				with_attr += plus->entry_out.nodeid != 0;
			}
			note(d);
			off = d->off;
			at += opcode == FUSE_READDIRPLUS ? FUSE_DIRENTPLUS_SIZE(plus)
							 : FUSE_DIRENT_SIZE(d);
		}
	}
}

static unsigned count_seen(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FILES; i++)
		n += seen[i];
	return n;
}

static void each_name_comes_once(void **state)
{
	make_files(FILES);
	assert_true(list_all(FUSE_READDIR, 0, 1000) > 5);
	assert_int_equal(count_seen(), FILES);
	/* entries that the server has sent already are not asked for again */
	assert_true(count(NFS_READDIR) <= 3);
}

static void an_empty_directory_has_two_entries(void **state)
{
	struct answer a = list(FUSE_READDIR, 0, 4096);
	const struct fuse_dirent *d = (void *)a.data;

	assert_int_equal(a.error, 0);
	assert_int_equal(d->namelen, 1);
	assert_int_equal(a.len, 2 * FUSE_DIRENT_SIZE(d));
	assert_int_equal(list(FUSE_READDIR, 2, 4096).len, 0);
}

static void attributes_come_with_the_names_while_they_are_new(void **state)
{
	unsigned inodes;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	make_files(20);
	inodes = inode_table_count(fs->inodes);
	assert_true(list_all(FUSE_READDIRPLUS, 0, 1 << 16) > 0);
	assert_int_equal(count_seen(), 20);
	assert_int_equal(with_attr, 20);
	assert_int_equal(inode_table_count(fs->inodes), inodes);
}

/* Listed attributes are valid from the moment when the listing was asked for, however late they are
 * read. */
static void attributes_that_were_listed_before_are_believed_less_long(void **state)
{
	const uint64_t max = 1000 * UINT64_C(1000000000), wait = 10000000;
	const struct fuse_direntplus *plus;
	struct answer a;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	make_files(20);
	a = list(FUSE_READDIRPLUS, 0, 1000);
	plus = (void *)a.data;
	nanosleep(&(struct timespec){.tv_nsec = (long)wait}, NULL);
	a = list(FUSE_READDIRPLUS, plus->dirent.off, 1 << 16);
	plus = (void *)a.data;
	while ((uint8_t *)plus < a.data + a.len && !plus->entry_out.nodeid)
		plus = (void *)((uint8_t *)plus + FUSE_DIRENTPLUS_SIZE(plus));
	assert_true((uint8_t *)plus < a.data + a.len);
	assert_in_range(
		plus->entry_out.attr_valid * UINT64_C(1000000000) + plus->entry_out.attr_valid_nsec,
		1, max - wait);
}

static void attributes_that_were_changed_since_do_not(void **state)
{
	struct answer a;
	const struct fuse_direntplus *plus;
	uint64_t off;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	make_files(20);
	a = list(FUSE_READDIRPLUS, 0, 1000);
	plus = (void *)a.data;
	off = plus->dirent.off;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "19"), 0);
	with_attr = 0;
	assert_true(list_all(FUSE_READDIRPLUS, off, 1 << 16) > 0);
	assert_int_equal(with_attr, 0);
}

static struct nfs_fh file_fh;
static struct nfs_attr file_attr;

static bool answers_lookup(struct nfs_op *op)
{
	if (op->type != NFS_LOOKUP)
		return false;
	op->error = 0;
	op->u.lookup.fh = file_fh;
	op->u.lookup.attr = file_attr;
	op->u.lookup.dir_attr.have = false;
	return true;
}

/* Another client has written to the file, and the kernel knows: attributes from an earlier listing
 * must not hide the change. */
static void attributes_that_were_told_since_are_not_taken_back(void **state)
{
	struct fuse_entry_out e;
	struct inode *ino;
	struct answer a;
	uint64_t off;
	bool found = false;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	make_files(20);
	a = list(FUSE_READDIRPLUS, 0, 1000);
	off = ((struct fuse_direntplus *)a.data)->dirent.off;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "19", &e), 0);
	ino = inode_of(fs->inodes, e.nodeid);
	file_fh = ino->fh;
	file_attr = ino->attrs.attr;
	file_attr.change++;
	file_attr.size = 5000;
	fake_knobs.script = answers_lookup;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "19", &e), 0);
	assert_int_equal(e.attr.size, 5000);
	fake_knobs.script = NULL;
	a = list(FUSE_READDIRPLUS, off, 1 << 16);
	for (size_t at = 0; at < a.len;) {
		const struct fuse_direntplus *plus = (void *)(a.data + at);

		if (plus->dirent.namelen == 2 && !memcmp(plus->dirent.name, "19", 2)) {
			found = true;
			assert_true(!plus->entry_out.nodeid || plus->entry_out.attr.size == 5000);
		}
		at += FUSE_DIRENTPLUS_SIZE(plus);
	}
	assert_true(found);
}

static void a_listing_from_the_start_asks_the_server_again(void **state)
{
	make_files(1);
	list_all(FUSE_READDIR, 0, 4096);
	make_files(0);
	assert_int_equal(kernel_rename(KERNEL_ROOT, "0", KERNEL_ROOT, "1"), 0);
	memset(seen, 0, sizeof(seen));
	list_all(FUSE_READDIR, 0, 4096);
	assert_false(seen[0]);
	assert_true(seen[1]);
	assert_int_equal(count(NFS_READDIR), 2);
}

static void an_error_ends_one_answer_only(void **state)
{
	make_files(3);
	fake_knobs.fail[NFS_READDIR] = -EIO;
	assert_int_equal(list_all(FUSE_READDIR, 0, 4096), -EIO);
	fake_knobs.fail[NFS_READDIR] = 0;
	assert_true(list_all(FUSE_READDIR, 0, 4096) > 0);
	assert_int_equal(count_seen(), 3);
}

static void cookies_that_lead_nowhere_are_errors(void **state)
{
	make_files(5);
	fake_knobs.cookie_low = true;
	assert_int_equal(list_all(FUSE_READDIR, 0, 4096), -EREMOTEIO);
	fake_knobs.cookie_low = false;
	fake_knobs.cookie_stuck = true;
	for (uint64_t off = 0;;) { /* each answer has an entry, and then there is no next one */
		struct answer a = list(FUSE_READDIR, off, 4096);

		if (a.error) {
			assert_int_equal(a.error, -EREMOTEIO);
			break;
		}
		assert_true(a.len > 0 && off < 100);
		off += 3;
	}
}

static void a_listing_that_goes_in_a_circle_ends(void **state)
{
	uint64_t off = 0;

	make_files(5);
	fake_knobs.cookie_loop = true;
	for (unsigned n = 0; n < 100; n++) {
		struct answer a = list(FUSE_READDIR, off, 4096);
		const struct fuse_dirent *d = (void *)a.data;

		if (a.error) {
			assert_int_equal(a.error, -ELOOP);
			return;
		}
		for (size_t at = 0; at < a.len; at += FUSE_DIRENT_SIZE(d)) {
			d = (void *)(a.data + at);
			off = d->off;
		}
	}
	fail_msg("it has no end");
}

static bool may_do_nothing(struct nfs_op *op)
{
	if (op->type != NFS_ACCESS)
		return false;
	op->error = 0;
	op->u.access.allowed = 0;
	op->u.access.attr = (struct nfs_attr){.type = NFS_DIR, .mode = 0700, .nlink = 2};
	return true;
}

static void who_may_not_read_a_directory_cannot_open_it(void **state)
{
	fake_knobs.script = may_do_nothing;
	assert_int_equal(opendir_root(), -EACCES);
	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_ACCESS] = -EIO;
	assert_int_equal(opendir_root(), -EIO);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_name_comes_once),
		TEST(an_empty_directory_has_two_entries),
		TEST(attributes_come_with_the_names_while_they_are_new),
		TEST(attributes_that_were_listed_before_are_believed_less_long),
		TEST(attributes_that_were_changed_since_do_not),
		TEST(attributes_that_were_told_since_are_not_taken_back),
		TEST(a_listing_from_the_start_asks_the_server_again),
		TEST(an_error_ends_one_answer_only),
		TEST(cookies_that_lead_nowhere_are_errors),
		TEST(a_listing_that_goes_in_a_circle_ends),
		TEST(who_may_not_read_a_directory_cannot_open_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
