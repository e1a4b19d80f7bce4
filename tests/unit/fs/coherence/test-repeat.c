/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/coherence/repeat: the server says that a file ends, and the kernel believes in
 * more bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/coherence/change.h"
#include "fs/coherence/repeat.h"
#include "tests/unit/fs/kernel-file.h"
#include "transport/clock.h"

#define FULL	 10000u /* size that the kernel believes */
#define NOW	 100u	/* size on the server */
#define TAKEN_US 150000 /* after which the kernel has handled all answers */

/* Another client has cut the file. */
static bool is_cut(struct nfs_op *op)
{
	if (op->type != NFS_READ)
		return false;
	op->error = 0;
	op->u.read.count = op->u.read.offset < NOW ? NOW - (uint32_t)op->u.read.offset : 0;
	op->u.read.eof = true;
	return true;
}

static int begin(void **state)
{
	int rc = setup(state);

	fill(FULL);
	assert_int_equal(kernel_fsync(node, fh), 0);
	usleep(TAKEN_US);
	fs->info.rsize = 4096;
	fake_knobs.script = is_cut;
	return rc;
}

static struct inode *the_inode(void)
{
	return inode_of(fs->inodes, node);
}

static struct answer read_once(void)
{
	return kernel_wait(kernel_send_read(node, fh, 0, 4096));
}

static void the_kernel_takes_an_end_if_it_learns_nothing_else(void **state)
{
	struct answer a = read_once();

	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, NOW);
}

/* Notifies the kernel, which then sends a READ. *late: that took so long that the kernel has the
 * notification by then. */
static struct answer read_after_notification(bool *late)
{
	uint64_t since = clock_ns();
	struct answer a;

	change_notify(fs, the_inode(), -1);
	a = read_once();
	*late = clock_age(clock_ns(), since) >= BELIEVED_TAKEN_NS;
	return a;
}

static void after_a_notification_the_kernel_reads_again(void **state)
{
	bool late;
	struct answer a = read_after_notification(&late);

	for (int i = 0; i < 50 && !a.error && late; i++) {
		teardown(state);
		begin(state);
		a = read_after_notification(&late);
	}
	assert_int_equal(a.error, -EINTR);
	a = read_once();
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, NOW);
	all_is_back();
}

static void where_the_kernel_believes_no_more_nothing_is_repeated(void **state)
{
	struct answer a;

	view_cut(&the_inode()->view, NOW, 0);
	usleep(TAKEN_US);
	change_notify(fs, the_inode(), -1);
	a = read_once();
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, NOW);
}

static void a_full_answer_is_given_at_once(void **state)
{
	struct answer a;

	change_notify(fs, the_inode(), -1);
	a = kernel_wait(kernel_send_read(node, fh, 0, NOW));
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, NOW);
}

/* The kernel does not know the end before the SETATTR is answered. */
static void a_read_waits_for_a_new_size(void **state)
{
	struct answer a;
	uint64_t read;

	view_cut_begin(&the_inode()->view);
	read = kernel_send_read(node, fh, 0, 4096);
	looked_at();
	assert_true(repeats_tick(fs, false));
	view_cut_end(&the_inode()->view, 0);
	view_cut(&the_inode()->view, NOW, 0);
	a = kernel_wait(read);
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, NOW);
	assert_false(repeats_tick(fs, false));
}

static void a_read_that_waits_can_be_killed(void **state)
{
	uint64_t read;

	view_cut_begin(&the_inode()->view);
	read = kernel_send_read(node, fh, 0, 4096);
	looked_at();
	killed(read);
	assert_int_equal(kernel_wait(read).error, -EINTR);
	view_cut_end(&the_inode()->view, 0);
	all_is_back();
}

static void no_read_waits_once_the_mount_ends(void **state)
{
	uint64_t read;

	view_cut_begin(&the_inode()->view);
	read = kernel_send_read(node, fh, 0, 4096);
	looked_at();
	repeats_tick(fs, true);
	assert_int_equal(kernel_wait(read).error, -EINTR);
	assert_int_equal(read_once().error, -EINTR);
	view_cut_end(&the_inode()->view, 0);
}

/* While the READ waits, a program of this mount makes the file longer again. */
static void a_read_that_a_write_has_outgrown_is_asked_again(void **state)
{
	struct answer a;
	uint64_t read;

	view_cut_begin(&the_inode()->view);
	read = kernel_send_read(node, fh, 0, 4096);
	looked_at();
	fake_knobs.script = NULL; /* the file is whole */
	assert_int_equal(kernel_write(node, fh, FULL, "more", 4, O_RDWR), 4);
	repeats_tick(fs, true);
	a = kernel_wait(read);
	assert_int_equal(a.error, 0);
	assert_int_equal(a.len, 4096);
	view_cut_end(&the_inode()->view, 0);
	all_is_back();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_kernel_takes_an_end_if_it_learns_nothing_else),
		TEST(after_a_notification_the_kernel_reads_again),
		TEST(where_the_kernel_believes_no_more_nothing_is_repeated),
		TEST(a_full_answer_is_given_at_once),
		TEST(a_read_waits_for_a_new_size),
		TEST(a_read_that_waits_can_be_killed),
		TEST(a_read_that_a_write_has_outgrown_is_asked_again),
		TEST(no_read_waits_once_the_mount_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
