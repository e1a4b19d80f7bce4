/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_meta, except looking names up (test-ops_name): attributes and rights as
 * the kernel asks for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/coherence/change.h"
#include "fs/lookup/entry.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"

static uint64_t node, fh;
static struct fuse_attr attr;

static int setup(void **state)
{
	setup_mount(state);
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	return 0;
}

static int set(uint32_t valid, uint64_t size, uint32_t mode)
{
	struct fuse_setattr_in in = {.valid = valid, .fh = fh, .size = size, .mode = mode};
	struct fuse_attr_out out;
	int error = kernel_ask(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0, &out, sizeof(out));

	if (!error)
		attr = out.attr;
	return error;
}

static int ask_access(uint32_t mask)
{
	struct fuse_access_in in = {.mask = mask};

	return kernel_ask(FUSE_ACCESS, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

/* --- attributes ------------------------------------------------------------------------------- */

static void attributes_are_the_servers(void **state)
{
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 4);
	assert_int_equal(attr.mode, S_IFREG | 0644);
	assert_int_equal(attr.nlink, 1);
	fake_knobs.fail[NFS_GETATTR] = -ESTALE;
	assert_int_equal(kernel_getattr(node, &attr), -ESTALE);
}

/* The server may read the attributes at once when it gets the request, however late it answers. */
static void attributes_are_believed_from_when_they_were_asked_for(void **state)
{
	const uint64_t max = 1000 * UINT64_C(1000000000), late = 10000000;
	struct fuse_getattr_in in = {.getattr_flags = 0};
	const struct fuse_attr_out *out;
	uint64_t number;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	/* the open has brought these attributes */
	assert_int_equal(kernel_getattr(node, &attr), 0);
	fake_knobs.hang[NFS_GETATTR] = true;
	number = kernel_send(FUSE_GETATTR, node, &in, sizeof(in), NULL, 0);
	/* the GETATTR was sent */
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	nanosleep(&(struct timespec){.tv_nsec = (long)late}, NULL);
	fake_knobs.hang[NFS_GETATTR] = false;
	fake_release(fs->client);
	out = (const struct fuse_attr_out *)kernel_wait(number).data;
	assert_int_equal(count(NFS_GETATTR), 1);
	assert_in_range(
		out->attr_valid * UINT64_C(1000000000) + out->attr_valid_nsec, 1, max - late);
}

/* The server, asked at `asked`, has told the attributes, and a request of the kernel gets them. */
static void answer(const struct nfs_attr *told_attr, uint64_t asked)
{
	struct inode *ino = inode_of(fs->inodes, node);
	struct told told = {.attr = told_attr, .asked = asked, .born = asked};
	double timeout = 0;
	struct stat st;

	entry_note_attr(fs, ino, told_attr, asked);
	change_told(ino, told_attr, asked);
	entry_stat(fs, ino, &told, &timeout, &st);
}

/* The server restarts, and loses changes. The answer from before the restart comes last, and so
 * counts as the newest known. */
static void attributes_from_before_a_loss_show_no_other_client(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node);
	struct nfs_attr before, after;
	uint64_t first, second, third, replaced;

	assert_true(attrs_known(&ino->attrs, 0, &before, &first));
	after = before;
	before.change += 10;
	answer(&before, clock_ns());
	replaced = filechange_replaced(&ino->data.change);
	first = clock_ns();
	second = clock_ns();
	answer(&after, second);
	third = clock_ns();
	answer(&before, first);
	answer(&after, third);
	assert_true(filechange_replaced(&ino->data.change) == replaced);
	before.change++;
	answer(&before, clock_ns());
	assert_true(filechange_replaced(&ino->data.change) > replaced);
}

static void what_is_set_is_told(void **state)
{
	assert_int_equal(set(FATTR_MODE, 0, S_IFREG | 0600), 0);
	assert_int_equal(attr.mode, S_IFREG | 0600);
	assert_int_equal(count(NFS_ACCESS), 0);
	/* attributes that NFS cannot set are no error */
	assert_int_equal(set(FATTR_CTIME, 0, 0), 0);
	assert_int_equal(count(NFS_SETATTR), 1);
	fake_knobs.fail[NFS_SETATTR] = -EPERM;
	assert_int_equal(set(FATTR_MODE, 0, 0), -EPERM);
}

static uint32_t rights; /* rights that the server allows */

static bool allow(struct nfs_op *op)
{
	if (op->type != NFS_ACCESS)
		return false;
	op->error = 0;
	op->u.access.allowed = op->u.access.want & rights;
	op->u.access.attr =
		(struct nfs_attr){.type = NFS_REG, .mode = 0644, .nlink = 1, .change = 1};
	return true;
}

static void truncate_needs_the_right_to_write(void **state)
{
	fake_knobs.script = allow;
	rights = NFS_ACCESS_READ;
	assert_int_equal(set(FATTR_SIZE, 5, 0), -EACCES);
	assert_int_equal(count(NFS_SETATTR), 0);
	/* an open file has the right */
	assert_int_equal(set(FATTR_SIZE | FATTR_FH, 5, 0), 0);
	assert_int_equal(attr.size, 5);
	rights = NFS_ACCESS_MODIFY;
	assert_int_equal(set(FATTR_SIZE, 7, 0), 0);
	assert_int_equal(attr.size, 7);
	assert_int_equal(count(NFS_ACCESS), 2);
	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_ACCESS] = -ESTALE;
	assert_int_equal(set(FATTR_SIZE, 5, 0), -ESTALE);
}

/* The kernel has put appended data into the wrong page: a new size makes the kernel drop the
 * page. */
static void pages_with_appended_data_are_dropped_by_a_new_size(void **state)
{
	unsigned before;

	assert_int_equal(kernel_write(node, fh, 0, "0123456789", 10, O_RDWR), 10);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_write(node, fh, 4, "data", 4, O_RDWR | O_APPEND), 4);
	before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 14);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before);
}

/* The size happens to be right. */
static void pages_with_appended_data_are_dropped_before_the_kernel_can_use_them(void **state)
{
	unsigned before;

	assert_int_equal(kernel_write(node, fh, 0, "0123456789", 10, O_RDWR), 10);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_write(node, fh, 4, "data", 4, O_RDWR | O_APPEND), 4);
	before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	assert_int_equal(set(FATTR_SIZE | FATTR_FH, 8, 0), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 8);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
}

/* --- rights ----------------------------------------------------------------------------------- */

static void the_server_says_who_may_do_what(void **state)
{
	fake_knobs.script = allow;
	rights = NFS_ACCESS_READ | NFS_ACCESS_EXECUTE;
	assert_int_equal(ask_access(R_OK), 0);
	assert_int_equal(ask_access(R_OK | X_OK), 0);
	assert_int_equal(ask_access(R_OK | W_OK), -EACCES);
	rights = NFS_ACCESS_MODIFY; /* and not EXTEND */
	assert_int_equal(ask_access(W_OK), -EACCES);
	assert_int_equal(count(NFS_ACCESS), 4);
}

static void rights_that_are_known_are_not_asked_again(void **state)
{
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	assert_int_equal(kernel_getattr(node, &attr), 0); /* the attributes of the open */
	fake_knobs.script = allow;
	rights = NFS_ACCESS_READ;
	assert_int_equal(ask_access(R_OK), 0);
	assert_int_equal(ask_access(W_OK), -EACCES);
	assert_int_equal(ask_access(R_OK | X_OK), -EACCES);
	assert_int_equal(count(NFS_ACCESS), 1);
	/* a stale handle puts all in doubt */
	fake_knobs.fail[NFS_GETATTR] = -ESTALE;
	assert_int_equal(kernel_getattr(node, &attr), -ESTALE);
	assert_int_equal(ask_access(R_OK), 0);
	assert_int_equal(count(NFS_ACCESS), 2);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void what_the_kernel_forgets_is_freed(void **state)
{
	struct fuse_forget_in in = {.nlookup = 1};
	unsigned before = inode_table_count(fs->inodes);
	struct fuse_entry_out e;

	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	kernel_send(FUSE_FORGET, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_int_equal(inode_table_count(fs->inodes), before);
	kernel_send(FUSE_FORGET, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_int_equal(inode_table_count(fs->inodes), before - 1);
	/* the open file still works */
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
}

static long link_ctime;

/* The server has made another link of the same handle. */
static bool is_another_link(struct nfs_op *op)
{
	struct nfs_attr *a = op->type == NFS_LOOKUP ? &op->u.lookup.attr : &op->u.getattr.attr;
	struct inode *ino;

	if (op->type != NFS_LOOKUP && op->type != NFS_GETATTR)
		return false;
	ino = inode_of(fs->inodes, node);
	op->error = 0;
	*a = ino->attrs.attr;
	a->ctime.tv_nsec = a->mtime.tv_nsec = link_ctime;
	a->change = (uint64_t)link_ctime;
	if (op->type == NFS_LOOKUP) {
		op->u.lookup.fh = ino->fh;
		op->u.lookup.dir_attr.have = false;
	}
	return true;
}

/* The kernel believes the text of a link for as long as the text is cached, unless notified. */
static void another_link_says_something_else(void **state)
{
	struct fuse_entry_out e;
	unsigned forgot;

	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
	fs_fixture_options.acregmin = 3;
	fs_fixture_options.acregmax = 60;
	assert_int_equal(
		kernel_ask(FUSE_SYMLINK, KERNEL_ROOT, NULL, 0, "link\0there", 11, &e, sizeof(e)),
		0);
	node = e.nodeid;
	fake_knobs.script = is_another_link;
	forgot = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	for (link_ctime = 1; link_ctime < 5; link_ctime++) {
		if (link_ctime & 1)
			assert_int_equal(kernel_lookup(KERNEL_ROOT, "link", &e), 0);
		else
			assert_int_equal(kernel_getattr(node, &attr), 0);
		assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), ++forgot);
	}
	/* the same as before */
	link_ctime--;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "link", &e), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), forgot);
	assert_in_range(e.entry_valid, 0, 60); /* no longer than the attributes */
}

static void a_link_says_where_it_leads(void **state)
{
	char target[20] = "";
	struct fuse_entry_out e;
	struct answer a;

	assert_int_equal(
		kernel_ask(FUSE_SYMLINK, KERNEL_ROOT, NULL, 0, "l\0over/there", 13, &e, sizeof(e)),
		0);
	a = kernel_wait(kernel_send(FUSE_READLINK, e.nodeid, NULL, 0, NULL, 0));
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, 10);
	memcpy(target, a.data, a.len);
	assert_string_equal(target, "over/there");
	fake_knobs.fail[NFS_READLINK] = -EINVAL;
	assert_int_equal(kernel_ask(FUSE_READLINK, e.nodeid, NULL, 0, NULL, 0, NULL, 0), -EINVAL);
}

/* The kernel writes pages that stores through a mapping have made dirty when it drops the pages. If
 * a mapping is possible, the kernel must do so before times are set. */
static void dirty_pages_are_written_before_times_are_set(void **state)
{
	struct fuse_setattr_in times = {.valid = FATTR_MTIME | FATTR_ATIME, .mtime = 1000};
	unsigned before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	struct fuse_attr_out out;
	uint64_t made, first, other;

	assert_int_equal(kernel_create(KERNEL_ROOT, "mapped", O_WRONLY, &made, &first), 0);
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, made, &times, sizeof(times), NULL, 0, &out, sizeof(out)),
		0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before);
	assert_int_equal(kernel_open(made, O_RDWR, &other), 0);
	before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, made, &times, sizeof(times), NULL, 0, &out, sizeof(out)),
		0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
	assert_int_equal(out.attr.mtime, 1000);
	/* not for a mode, nor when no such file is open any more */
	times.valid = FATTR_MODE;
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, made, &times, sizeof(times), NULL, 0, NULL, 0), 0);
	assert_int_equal(kernel_release(made, other), 0);
	before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	times.valid = FATTR_MTIME;
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, made, &times, sizeof(times), NULL, 0, NULL, 0), 0);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before);
	assert_int_equal(kernel_release(made, first), 0);
}

static void statfs_counts_in_pages(void **state)
{
	struct fuse_statfs_out out;

	assert_int_equal(
		kernel_ask(FUSE_STATFS, KERNEL_ROOT, NULL, 0, NULL, 0, &out, sizeof(out)), 0);
	assert_int_equal(out.st.frsize, 4096);
	assert_int_equal(out.st.blocks, (1ull << 40) / 4096);
	assert_int_equal(out.st.bavail, (1ull << 38) / 4096);
	assert_int_equal(out.st.namelen, 255);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(attributes_are_the_servers),
		TEST(attributes_are_believed_from_when_they_were_asked_for),
		TEST(attributes_from_before_a_loss_show_no_other_client),
		TEST(what_is_set_is_told),
		TEST(truncate_needs_the_right_to_write),
		TEST(pages_with_appended_data_are_dropped_by_a_new_size),
		TEST(pages_with_appended_data_are_dropped_before_the_kernel_can_use_them),
		TEST(the_server_says_who_may_do_what),
		TEST(rights_that_are_known_are_not_asked_again),
		TEST(what_the_kernel_forgets_is_freed),
		TEST(a_link_says_where_it_leads),
		TEST(another_link_says_something_else),
		TEST(dirty_pages_are_written_before_times_are_set),
		TEST(statfs_counts_in_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
