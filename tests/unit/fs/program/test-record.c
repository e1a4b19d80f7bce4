/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/record, and of the modules that put their part into a record.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/coherence/notify.h"
#include "fs/file/file_record.h"
#include "fs/file/locker.h"
#include "fs/file/silly.h"
#include "fs/kernel/request_waits.h"
#include "fs/known/names.h"
#include "fs/program/record.h"
#include "tests/unit/fs/fake-kernel.h"
#include "tests/unit/fs/fs-fixture.h"
#include "transport/clock.h"

static struct fs *fs, *heir; /* the former daemon's mount; the successor's */
static uint64_t node, fh, removed, removed_fh, dir, dir_fh;
/* that the kernel has forgotten, and not released; found: a new inode of gone_dir's directory */
static uint64_t gone, gone_fh, gone_dir, gone_dir_fh, found;
static uint8_t bytes[1 << 16]; /* a record */
static size_t len;

static struct record_head head_of(void)
{
	struct record_head h = {.run = 1,
		.device = 5,
		.auto_unmount = -1,
		.asker = 7,
		.paused_at = 8,
		.mounted_at = 9,
		.log_level = 1,
		.proto = RPC_TCP,
		.vers_major = 4,
		.vers_minor = 2};

	strcpy(h.mountpoint, "/somewhere");
	return h;
}

static void write_record(void)
{
	struct record_head head = head_of();
	struct err e = {0};
	struct stat st;
	int fd = record_write(fs, &head, &e);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	len = (size_t)st.st_size;
	assert_true(len <= sizeof(bytes));
	assert_int_equal(pread(fd, bytes, len, 0), (ssize_t)len);
	close(fd);
}

static uint64_t open_dir(uint64_t of)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out;

	assert_int_equal(
		kernel_ask(FUSE_OPENDIR, of, &in, sizeof(in), NULL, 0, &out, sizeof(out)), 0);
	return out.fh;
}

static void forget(uint64_t id)
{
	struct inode *ino = inode_of(fs->inodes, id);

	inode_forget(fs->inodes, ino, ino->nlookup);
}

/* FORGET overtakes RELEASE. */
static void forget_open_ones(void)
{
	struct fuse_entry_out e;

	assert_int_equal(kernel_create(KERNEL_ROOT, "gone", O_RDWR, &gone, &gone_fh), 0);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "gone"), 0);
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "gone-dir", &e), 0);
	gone_dir = e.nodeid;
	gone_dir_fh = open_dir(gone_dir);
	forget(gone);
	forget(gone_dir);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "gone-dir", &e), 0);
	found = e.nodeid;
}

static int setup(void **state)
{
	struct fuse_entry_out e;

	fs = kernel_mount();
	assert_int_equal(kernel_create(KERNEL_ROOT, "file", O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_write(node, fh, 0, "hello", 5, O_RDWR), 5);
	assert_int_equal(kernel_create(KERNEL_ROOT, "removed", O_RDWR, &removed, &removed_fh), 0);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "removed"), 0);
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "dir", &e), 0);
	dir = e.nodeid;
	dir_fh = open_dir(dir);
	forget_open_ones();
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "absent", NULL), -ENOENT);
	assert_true(locker_add((struct file *)fs_handle(fs, fh), 77, 4));
	while (!request_pool_is_idle(fs->requests))
		usleep(1000);
	if (!fs->init.in_len) { /* the test's kernel has no INIT of the device */
		fs->init.in_len = fs->init.out_len = 8;
	}
	write_record();
	return 0;
}

static struct fs *heir_new(void)
{
	heir = fs_fixture_new();
	heir->notifier = notifier_start(heir);
	assert_non_null(heir->notifier);
	return heir;
}

/* At the end of a mount silly_drop_all() has removed the silly names. */
static void drop_silly(struct fs *of)
{
	struct inode *ino;
	struct silly *s;

	while ((ino = inode_next_silly(of->inodes, &s))) {
		free(s);
		inode_unref(ino);
	}
}

static void drop_silly_of(struct inode *ino)
{
	free(ino->silly.name);
	ino->silly.name = NULL;
}

static struct fs *heir_free(void)
{
	struct handle *h;

	drop_silly(heir);
	mutex_alone(&heir->handles_lock);
	LIST_FOREACH (h, &heir->handles, link)
		drop_silly_of(h->inode);
	return fs_fixture_free(heir);
}

static int teardown(void **state)
{
	if (heir)
		heir = heir_free();
	drop_silly_of(inode_of(fs->inodes, gone));
	drop_silly(fs);
	kernel_unmount();
	fs = NULL;
	return 0;
}

static int file_with(const uint8_t *data, size_t n)
{
	int fd = memfd_create("record", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	return fd;
}

/* Reads and restores the record. NULL: it was refused. */
static struct record *read_into_heir(const uint8_t *data, size_t n)
{
	struct err e = {0};
	struct record *r = record_read(file_with(data, n), &e);

	if (!r) {
		assert_true(e.msg[0]);
		return NULL;
	}
	if (!record_restore(r, heir, &e))
		return r;
	assert_true(e.msg[0]);
	return record_free(r);
}

static void the_head_goes_through(void **state)
{
	struct record_head want = head_of();
	struct err e = {0};
	struct record *r = record_read(file_with(bytes, len), &e);

	assert_non_null(r);
	assert_int_equal(r->head.run, want.run);
	assert_int_equal(r->head.device, want.device);
	assert_int_equal(r->head.auto_unmount, -1);
	assert_int_equal(r->head.asker, want.asker);
	assert_int_equal(r->head.mounted_at, want.mounted_at);
	assert_int_equal(r->head.vers_minor, 2);
	assert_string_equal(r->head.mountpoint, want.mountpoint);
	assert_int_equal(r->nfs.nopens, 3);
	assert_int_equal(r->init.in_len, fs->init.in_len);
	record_free(r);
}

static void inodes_keep_their_numbers(void **state)
{
	struct inode *was = inode_of(fs->inodes, node), *is;
	struct record *r;

	heir_new();
	r = read_into_heir(bytes, len);
	assert_non_null(r);
	is = inode_of(heir->inodes, node);
	assert_non_null(is);
	assert_ptr_not_equal(is, was);
	assert_true(nfs_fh_same(&is->fh, &was->fh));
	assert_int_equal(is->nlookup, was->nlookup);
	assert_int_equal(is->generation, was->generation);
	assert_int_equal(inode_id(heir->inodes, is), node);
	assert_int_equal(is->view.count, was->view.count);
	assert_int_equal(is->attrs.attr.size, was->attrs.attr.size);
	assert_int_equal(is->data.change.version.size, was->data.change.version.size);
	assert_int_equal(inode_table_count(heir->inodes), inode_table_count(fs->inodes));
	inode_forget(heir->inodes, is, is->nlookup - 1);
	assert_ptr_equal(inode_of(heir->inodes, node), is);
	record_free(r);
}

static void new_inodes_have_other_numbers(void **state)
{
	struct nfs_fh other = {.len = 16, .data = "another"};
	struct nfs_attr attr = {.type = NFS_REG, .fileid = 99};
	struct inode *ino;
	struct record *r;

	heir_new();
	r = read_into_heir(bytes, len);
	ino = inode_lookup(heir->inodes, &other, &attr);
	assert_int_equal(inode_id(heir->inodes, ino) >> NUMBERS_RUN_BITS, 1);
	assert_ptr_equal(inode_of(heir->inodes, inode_id(heir->inodes, ino)), ino);
	assert_true(ino->generation >= inode_of(fs->inodes, node)->generation);
	record_free(r);
}

static void names_are_known(void **state)
{
	struct name_info was, is;
	struct record *r;

	heir_new();
	r = read_into_heir(bytes, len);
	assert_true(names_get(fs->names, inode_table_root(fs->inodes), "file", &was));
	assert_true(names_get(heir->names, inode_table_root(heir->inodes), "file", &is));
	assert_ptr_equal(is.ino, inode_of(heir->inodes, node));
	assert_true(is.seen == was.seen && is.until == was.until);
	inode_unref(was.ino);
	inode_unref(is.ino);
	if (names_find(fs->names, inode_table_root(fs->inodes), "absent", &was)) {
		assert_true(names_find(heir->names, inode_table_root(heir->inodes), "absent", &is));
		assert_null(is.ino);
	}
	record_free(r);
}

static void files_keep_their_numbers(void **state)
{
	struct file *was = (struct file *)fs_handle(fs, fh), *is;
	struct record *r;
	pid_t pid;

	heir_new();
	r = read_into_heir(bytes, len);
	is = (struct file *)fs_handle(heir, fh);
	assert_non_null(is);
	assert_ptr_equal(is->inode, inode_of(heir->inodes, node));
	assert_int_equal(is->flags, was->flags);
	assert_int_equal(is->flock_owner, was->flock_owner);
	assert_true(rpc_same_cred(&is->cred, &was->cred));
	assert_int_equal(is->inode->opens.count, 1);
	assert_int_equal(is->inode->opens.mappers, 1);
	assert_int_equal(atomic_load(&heir->open_files), 3);
	assert_true(locker_known(is->inode, 77, &pid));
	assert_int_equal(pid, 4);
	assert_non_null(fs_handle(heir, dir_fh));
	assert_false(file_is(fs_handle(heir, dir_fh)));
	record_free(r);
}

static void silly_names_are_kept(void **state)
{
	struct inode *was = inode_of(fs->inodes, removed), *is;
	struct record *r;
	uint32_t tag, heirs_tag;

	heir_new();
	r = read_into_heir(bytes, len);
	is = inode_of(heir->inodes, removed);
	assert_non_null(was->silly.name);
	assert_non_null(is->silly.name);
	assert_true(is->silly.is);
	assert_string_equal(is->silly.name->name, was->silly.name->name);
	assert_int_equal(silly_number(heir, 0, &heirs_tag), silly_number(fs, 0, &tag));
	assert_int_equal(heirs_tag, tag);
	record_free(r);
}

static void open_files_outlive_a_forget(void **state)
{
	struct inode *was = inode_of(fs->inodes, gone), *is;
	struct record *r;

	assert_false(inode_is_known(fs->inodes, was));
	heir_new();
	r = read_into_heir(bytes, len);
	assert_non_null(r);
	is = inode_of(heir->inodes, gone);
	assert_ptr_equal(fs_handle(heir, gone_fh)->inode, is);
	assert_false(inode_is_known(heir->inodes, is));
	assert_int_equal(is->refs, 1); /* the open file's */
	assert_int_equal(is->opens.count, 1);
	assert_string_equal(is->silly.name->name, was->silly.name->name);
	is = inode_of(heir->inodes, gone_dir);
	assert_ptr_equal(fs_handle(heir, gone_dir_fh)->inode, is);
	assert_int_equal(is->refs, 1);
	was = inode_of(heir->inodes, found);
	assert_ptr_not_equal(was, is);
	assert_true(nfs_fh_same(&was->fh, &is->fh));
	assert_true(inode_is_known(heir->inodes, was));
	record_free(r);
}

static void another_format_is_refused(void **state)
{
	struct err e = {0};

	bytes[7]++;
	assert_null(record_read(file_with(bytes, len), &e));
	assert_non_null(strstr(e.msg, "format"));
	bytes[0]++;
	e = (struct err){0};
	assert_null(record_read(file_with(bytes, len), &e));
	assert_non_null(strstr(e.msg, "damaged"));
}

static void a_short_record_is_refused(void **state)
{
	assert_null(record_read(file_with(bytes, 0), &(struct err){0}));
	for (size_t n = 4; n < len; n += 4) {
		heir_new();
		assert_null(read_into_heir(bytes, n));
		heir = heir_free();
	}
	heir_new();
	memset(bytes + len, 0, 4);
	assert_null(read_into_heir(bytes, len + 4));
}

/* Nothing is written or read outside: for the sanitizers. */
static void a_record_that_lies_does_no_harm(void **state)
{
	static const uint32_t lies[] = {0, 1, 0x7fffffff, 0xffffffff};
	uint32_t was, lie;
	struct record *r;

	for (size_t at = 8; at + 4 <= len; at += 4) {
		memcpy(&was, bytes + at, 4);
		for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			lie = htobe32(lies[i]);
			memcpy(bytes + at, &lie, 4);
			heir_new();
			r = read_into_heir(bytes, len);
			record_free(r);
			heir = heir_free();
		}
		memcpy(bytes + at, &was, 4);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_head_goes_through),
		TEST(inodes_keep_their_numbers),
		TEST(new_inodes_have_other_numbers),
		TEST(names_are_known),
		TEST(files_keep_their_numbers),
		TEST(silly_names_are_kept),
		TEST(open_files_outlive_a_forget),
		TEST(another_format_is_refused),
		TEST(a_short_record_is_refused),
		TEST(a_record_that_lies_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
