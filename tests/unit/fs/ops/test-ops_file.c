/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_file and ops_create: opening, creating and closing as the kernel asks
 * for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/coherence/change.h"
#include "fs/known/file.h"
#include "fs/file/flush.h"
#include "fs/known/names.h"
#include "fs/coherence/notify.h"
#include "transport/clock.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"

static uint64_t node, fh, other; /* a file, and two descriptors of the file */
static atomic_int calls;	 /* of a script */

static int setup(void **state)
{
	setup_mount(state);
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	calls = 0;
	return 0;
}

static void write_some(uint64_t to)
{
	assert_int_equal(kernel_write(node, to, 0, "data", 4, O_RDWR), 4);
}

static void open_files_are_counted(void **state)
{
	uint64_t third;

	assert_int_equal(fs->open_files, 2);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	assert_int_equal(fs->open_files, 3);
	assert_int_equal(kernel_release(node, third), 0);
	assert_int_equal(kernel_release(node, other), 0);
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(fs->open_files, 0);
	assert_int_equal(count(NFS_CLOSE), 3);
}

static void what_cannot_be_opened_is_not_open(void **state)
{
	uint64_t third;

	fake_knobs.fail[NFS_OPEN] = -EIO;
	assert_int_equal(kernel_open(node, O_RDONLY, &third), -EIO);
	assert_int_equal(kernel_create(KERNEL_ROOT, "g", O_RDWR, &node, &third), -EIO);
	assert_int_equal(fs->open_files, 2);
}

/* The server allows READ to users that may only execute: the mode is not readable for all. */
static bool may_not_read(struct nfs_op *op)
{
	if (op->type != NFS_ACCESS)
		return false;
	op->error = 0;
	op->u.access.allowed = NFS_ACCESS_EXECUTE;
	op->u.access.attr = (struct nfs_attr){.type = NFS_REG, .mode = 0711};
	return true;
}

static bool opens_executable(struct nfs_op *op)
{
	if (op->type == NFS_OPEN)
		op->u.open.set.mode = 0711;
	return may_not_read(op);
}

static void who_may_only_execute_may_not_read(void **state)
{
	uint64_t program, third;

	fake_knobs.script = opens_executable;
	assert_int_equal(kernel_create(KERNEL_ROOT, "p", O_WRONLY, &program, &third), 0);
	fake_knobs.script = may_not_read;
	fake_knobs.bare_open = true;
	assert_int_equal(kernel_open(program, O_RDONLY, &third), -EACCES);
	assert_int_equal(count(NFS_CLOSE), 1);
	assert_int_equal(kernel_open(program, O_WRONLY, &third), 0);
}

/* OPEN brings the answer where there is a doubt. */
static void the_right_to_read_comes_with_the_open(void **state)
{
	uint64_t program, third;

	fake_knobs.script = opens_executable;
	assert_int_equal(kernel_create(KERNEL_ROOT, "p", O_WRONLY, &program, &third), 0);
	fake_knobs.script = NULL;
	assert_int_equal(kernel_open(program, O_RDONLY, &third), 0);
	fake_knobs.denied = NFS_ACCESS_READ;
	attrs_doubt_rights(&inode_of(fs->inodes, program)->attrs);
	assert_int_equal(kernel_open(program, O_RDONLY, &third), -EACCES);
	assert_int_equal(kernel_open(program, O_RDONLY | NFS_O_EXEC, &third), 0);
	assert_int_equal(count(NFS_ACCESS), 0);
}

/* The kernel asks for attributes because an open has brought newer ones. The answer has the
 * attributes of the open, once, and unless there was another event since. */
static void attributes_come_with_the_open(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node);
	uint64_t third, asked;
	struct fuse_attr attr;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	write_some(fh);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	asked = count(NFS_GETATTR);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, ino->attrs.attr.size);
	assert_int_equal(count(NFS_GETATTR), asked);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(count(NFS_GETATTR), asked + 1);

	write_some(fh);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	write_some(fh);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(count(NFS_GETATTR), asked + 2);

	write_some(fh);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	change_doubt(fs, ino); /* another client has changed the file */
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(count(NFS_GETATTR), asked + 3);
}

static bool tells_another(struct nfs_op *op)
{
	return lookup_tells_change(op, inode_of(fs->inodes, node), 77);
}

static unsigned forgot(void)
{
	return kernel_notified(FUSE_NOTIFY_INVAL_INODE);
}

static void open_again(unsigned forgets)
{
	unsigned before = forgot();
	uint64_t third;

	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	assert_int_equal(forgot(), before + forgets);
}

/* Two answers with different versions have been sent; the kernel may take the older one first, and
 * throws the newer one away then. */
static void what_the_kernel_may_not_believe_comes_with_the_open(void **state)
{
	struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0600};
	struct fuse_attr attr;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	write_some(fh);
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	open_again(0);
	assert_int_equal(kernel_ask(FUSE_SETATTR, node, &mode, sizeof(mode), NULL, 0, NULL, 0), 0);
	open_again(1);
	/* no forgetting: that would only disturb the thread that has just asked */
	open_again(0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	open_again(0);
}

/* A thread that was told a size that is not to be believed may handle the answer at any time, but
 * not after the opener has asked. Otherwise the opener's answer would be thrown away. */
static void a_size_told_in_passing_is_forgotten_at_open(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node);
	struct fuse_entry_out e;

	write_some(fh);
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
	change_forget(fs, ino, view_times(&ino->view));
	fake_knobs.script = tells_another;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	fake_knobs.script = NULL;
	assert_int_equal(e.attr_valid + e.attr_valid_nsec, 0);
	open_again(1);
	open_again(0);
}

/* Another client that has changed a file may change the file again: the kernel asks when it needs
 * attributes. The question before each read is answered without the server. */
static void attributes_that_others_change_are_not_believed_for_a_while(void **state)
{
	struct fuse_getattr_in read = {.getattr_flags = FUSE_GETATTR_FH, .fh = fh};
	struct fuse_attr_out told;
	struct fuse_entry_out e;
	struct fuse_attr attr;
	uint64_t asked;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	write_some(fh);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	assert_in_range(e.attr_valid, 900, 1000);
	fake_knobs.script = tells_another;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	assert_int_equal(e.attr_valid + e.attr_valid_nsec, 0);
	assert_int_equal(e.attr.size, 77);
	asked = count(NFS_GETATTR);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(kernel_ask(FUSE_GETATTR, node, &read, sizeof(read), NULL, 0, &told,
					 sizeof(told)),
			0);
		assert_int_equal(told.attr.size, 77);
	}
	assert_int_equal(count(NFS_GETATTR), asked);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(count(NFS_GETATTR), asked + 1);
}

/* Another client's change is told to the kernel while a WRITE of this mount is under way. Only the
 * end of the WRITE shows that the change was foreign. A request that uses the new version just then
 * must not be thrown away. */
static void who_was_told_of_a_change_need_not_forget_it(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node);
	struct nfs_op op = {.type = NFS_WRITE};
	struct nfs_data_attr *a = &op.u.write.attr, his;
	struct fuse_entry_out e;
	struct fuse_attr attr;
	unsigned before;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	change_forget(fs, ino, view_times(&ino->view));
	*a = (struct nfs_data_attr){.have = true,
		.have_before = true,
		.before_change = ino->attrs.attr.change,
		.before_size = ino->attrs.attr.size,
		.change = ino->attrs.attr.change + 1,
		.size = ino->attrs.attr.size};
	his = (struct nfs_data_attr){
		.have = true, .change = ino->attrs.attr.change + 5, .size = 77};
	change_begin(ino);
	fake_knobs.script = tells_another;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	fake_knobs.script = NULL;
	assert_in_range(e.attr_valid, 900, 1000);
	before = forgot();
	change_end(fs, ino, &op);
	change_look(fs, ino, &his, clock_ns());
	assert_int_equal(stats_get(&fs->stats.foreign), 1);
	assert_int_equal(forgot(), before);
	/* the kernel does not know of the next change */
	his.change++;
	change_look(fs, ino, &his, clock_ns());
	assert_int_equal(stats_get(&fs->stats.foreign), 2);
	assert_int_equal(forgot(), before + 1);
}

/* The kernel walks the path again, once: then the file of the second walk is opened. */
static void a_stale_file_is_looked_up_again(void **state)
{
	struct fuse_entry_out e;
	uint64_t third, looked_up;

	kernel_tid = getpid();
	fake_knobs.fail[NFS_OPEN] = -ESTALE;
	assert_int_equal(kernel_open(node, O_RDONLY, &third), -ESTALE);
	assert_int_equal(fs->open_files, 3); /* so that no rename removes the file now */
	fake_knobs.fail[NFS_OPEN] = 0;
	looked_up = count(NFS_LOOKUP);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	assert_int_equal(count(NFS_LOOKUP), looked_up + 1);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	assert_int_equal(fs->open_files, 3);
}

/* Another client has given the name to another file meanwhile. */
static struct nfs_fh other_fh;

static bool name_is_another(struct nfs_op *op)
{
	if (op->type == NFS_OPEN && op->u.open.name.len && !(op->u.open.flags & O_CREAT))
		op->u.open.name = (struct nfs_name){"g", 1};
	return false;
}

static void a_name_that_stands_for_another_file_is_looked_up_again(void **state)
{
	uint64_t another, third;
	uint64_t closed = count(NFS_CLOSE);

	assert_int_equal(kernel_create(KERNEL_ROOT, "g", O_RDWR, &another, &third), 0);
	other_fh = inode_of(fs->inodes, another)->fh;
	fake_knobs.script = name_is_another;
	assert_int_equal(kernel_open(node, O_RDONLY, &third), -ESTALE);
	assert_int_equal(count(NFS_CLOSE), closed + 1); /* of the file that was opened by mistake */
	assert_int_equal(fs->open_files, 3);
}

static void another_file_is_not_truncated_by_its_name(void **state)
{
	uint64_t another, third;
	struct fuse_attr attr;

	assert_int_equal(kernel_create(KERNEL_ROOT, "g", O_RDWR, &another, &third), 0);
	assert_int_equal(kernel_write(another, third, 0, "mine", 4, O_RDWR), 4);
	fake_knobs.script = name_is_another;
	assert_int_equal(kernel_open(node, O_RDWR | O_TRUNC, &third), -ESTALE);
	assert_int_equal(kernel_getattr(another, &attr), 0);
	assert_int_equal(attr.size, 4);
}

/* A listing has told the name that another client has given the file. */
static void a_file_with_a_name_too_many_is_looked_up_again(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node), *root = inode_of(fs->inodes, KERNEL_ROOT);
	struct fuse_entry_out e;
	uint64_t third, opened;

	kernel_tid = getpid();
	assert_true(names_put(fs->names, root, "f", ino, 1, UINT64_C(1) << 40));
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	assert_true(names_put(fs->names, root, "g", ino, 1, UINT64_C(1) << 40));
	opened = count(NFS_OPEN);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), -ESTALE);
	assert_int_equal(count(NFS_OPEN), opened);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	/* the open works once the kernel no longer believes the other name */
	while (notify_pending(root))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
}

/* The file is opened by a name that, for all this mount knows, is being taken back. */
static void a_file_of_two_names_is_looked_up_again_while_they_are_taken_back(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node), *root = inode_of(fs->inodes, KERNEL_ROOT);
	uint64_t third;

	kernel_tid = getpid();
	assert_true(names_put(fs->names, root, "g", ino, 1, 0));
	assert_true(names_put(fs->names, root, "f", ino, 1, 0));
	assert_int_equal(kernel_open(node, O_RDONLY, &third), 0);
	atomic_fetch_add(&root->dirnames.recalls, 1);
	assert_int_equal(kernel_open(node, O_RDONLY, &third), -ESTALE);
	atomic_fetch_sub(&root->dirnames.recalls, 1);
}

/* The daemon cannot see that the open is a second try, and there is no third try. */
static void a_thread_that_is_not_known_opens_a_file_of_two_names(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node), *root = inode_of(fs->inodes, KERNEL_ROOT);
	struct fuse_entry_out e;
	uint64_t third;

	kernel_tid = 0;
	atomic_fetch_add(&root->dirnames.recalls, 1);
	for (unsigned i = 0; i < 2; i++) {
		int flags = O_RDWR | (i ? O_TRUNC : 0);

		assert_true(names_put(fs->names, root, "f", ino, 1, UINT64_C(1) << 40));
		assert_true(names_put(fs->names, root, "g", ino, 1, UINT64_C(1) << 40));
		assert_int_equal(kernel_open(node, flags, &third), -ESTALE);
		assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
		assert_int_equal(kernel_open(node, flags, &third), 0);
	}
	atomic_fetch_sub(&root->dirnames.recalls, 1);
}

/* Both names may be right; but if the name of the open is wrong, the truncation would destroy the
 * other name's file. */
static void a_file_of_two_names_is_looked_up_again_before_it_is_truncated(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node), *root = inode_of(fs->inodes, KERNEL_ROOT);
	struct fuse_entry_out e;
	uint64_t third, opened;

	kernel_tid = getpid();
	assert_int_equal(kernel_link(node, KERNEL_ROOT, "g", &e), 0);
	assert_true(names_put(fs->names, root, "g", ino, 1, UINT64_C(1) << 40));
	assert_true(names_put(fs->names, root, "f", ino, 1, UINT64_C(1) << 40));
	assert_int_equal(kernel_open(node, O_RDWR, &third), 0);
	opened = count(NFS_OPEN);
	assert_int_equal(kernel_open(node, O_RDWR | O_TRUNC, &third), -ESTALE);
	assert_int_equal(count(NFS_OPEN), opened);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "g", &e), 0);
	assert_int_equal(kernel_open(node, O_RDWR | O_TRUNC, &third), 0);
}

static void an_open_whose_process_is_killed_ends(void **state)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	uint64_t number;

	fake_knobs.hang[NFS_OPEN] = true;
	number = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	kernel_interrupt(number);
	assert_int_equal(kernel_wait(number).error, -EINTR);
	assert_int_equal(fs->open_files, 2);
}

/* The times of an exclusively made file are set while the creator goes on. A thread that looks at
 * the times, sets the times, or closes the file, waits. */
static void times_that_are_still_to_be_set_are_waited_for(void **state)
{
	struct fuse_setattr_in times = {.valid = FATTR_ATIME | FATTR_MTIME, .atime = 1, .mtime = 1};
	struct fuse_getattr_in look = {0};
	struct fuse_flush_in flush = {0};
	uint64_t made, handle, asked[3];
	struct fuse_entry_out e;
	struct fuse_attr attr;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fake_knobs.uses_times = true;
	fake_knobs.hang[NFS_SETATTR] = true;
	assert_int_equal(kernel_create(KERNEL_ROOT, "x", O_WRONLY | O_EXCL, &made, &handle), 0);
	assert_int_equal(kernel_write(made, handle, 0, "data", 4, O_WRONLY), 4);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "x", &e), 0);
	/* the times must not be believed yet */
	assert_int_equal(e.attr_valid + e.attr_valid_nsec, 0);
	flush.fh = handle;
	asked[0] = kernel_send(FUSE_SETATTR, made, &times, sizeof(times), NULL, 0);
	asked[1] = kernel_send(FUSE_GETATTR, made, &look, sizeof(look), NULL, 0);
	asked[2] = kernel_send(FUSE_FLUSH, made, &flush, sizeof(flush), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	for (int i = 0; i < 3; i++)
		assert_false(kernel_answered(asked[i]));
	assert_int_equal(count(NFS_GETATTR), 0);
	assert_int_equal(count(NFS_COMMIT), 1); /* a write need not wait */
	fake_knobs.hang[NFS_SETATTR] = false;
	fake_release(fs->client);
	for (int i = 0; i < 3; i++)
		assert_int_equal(kernel_wait(asked[i]).error, 0);
	assert_int_equal(count(NFS_SETATTR), 1);
	assert_int_equal(kernel_getattr(made, &attr), 0);
	assert_int_equal(attr.mtime, 1); /* the times that the program has set came last */
	assert_int_equal(kernel_flush(made, handle), 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "x", &e), 0);
	assert_in_range(e.attr_valid, 900, 1000);
}

static void times_are_set_before_the_answer_where_nobody_believes_them(void **state)
{
	uint64_t made, handle;

	fake_knobs.uses_times = true;
	assert_int_equal(kernel_create(KERNEL_ROOT, "x", O_WRONLY | O_EXCL, &made, &handle), 0);
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	assert_int_equal(kernel_create(KERNEL_ROOT, "y", O_RDONLY | O_EXCL, &made, &handle), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "z", O_WRONLY, &made, &handle), 0);
	assert_int_equal(count(NFS_SETATTR), 0); /* by the back end */
}

/* The server has answered a CREATE of an existing file; the answer comes after the answers to later
 * requests. */
static int answers_late(const struct nfs_op *op)
{
	struct nfs_attr *attr = &((struct nfs_op *)op)->u.open.attr;

	if (op->type == NFS_OPEN) {
		attr->size = 0;
		attr->change = 1;
	}
	return 0;
}

static void a_create_that_is_answered_late_does_not_tell_the_past(void **state)
{
	struct fuse_setattr_in cut = {.valid = FATTR_SIZE, .size = 5000};
	struct fuse_create_in in = {.flags = O_RDWR | O_CREAT, .mode = 0644};
	struct fuse_entry_out e;
	struct answer answer;
	uint64_t number;

	fake_knobs.hang[NFS_OPEN] = true;
	number = kernel_send(FUSE_CREATE, KERNEL_ROOT, &in, sizeof(in), "f", 2);
	assert_int_equal(kernel_ask(FUSE_SETATTR, node, &cut, sizeof(cut), NULL, 0, NULL, 0), 0);
	fake_knobs.lose = answers_late;
	fake_knobs.hang[NFS_OPEN] = false;
	fake_release(fs->client);
	answer = kernel_wait(number);
	assert_int_equal(answer.error, 0);
	memcpy(&e, answer.data, sizeof(e));
	assert_int_equal(e.nodeid, node);
	assert_int_equal(e.attr.size, 5000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(open_files_are_counted),
		TEST(what_cannot_be_opened_is_not_open),
		TEST(who_may_only_execute_may_not_read),
		TEST(the_right_to_read_comes_with_the_open),
		TEST(attributes_come_with_the_open),
		TEST(what_the_kernel_may_not_believe_comes_with_the_open),
		TEST(attributes_that_others_change_are_not_believed_for_a_while),
		TEST(a_size_told_in_passing_is_forgotten_at_open),
		TEST(who_was_told_of_a_change_need_not_forget_it),
		TEST(a_stale_file_is_looked_up_again),
		TEST(a_name_that_stands_for_another_file_is_looked_up_again),
		TEST(another_file_is_not_truncated_by_its_name),
		TEST(a_file_with_a_name_too_many_is_looked_up_again),
		TEST(a_file_of_two_names_is_looked_up_again_while_they_are_taken_back),
		TEST(a_thread_that_is_not_known_opens_a_file_of_two_names),
		TEST(a_file_of_two_names_is_looked_up_again_before_it_is_truncated),
		TEST(an_open_whose_process_is_killed_ends),
		TEST(a_create_that_is_answered_late_does_not_tell_the_past),
		TEST(times_that_are_still_to_be_set_are_waited_for),
		TEST(times_are_set_before_the_answer_where_nobody_believes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
