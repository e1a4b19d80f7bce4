/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/admission: READs and WRITEs that wait for more than one condition.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/fs/kernel-gather.h"

#define AT 40960u

static void a_read_waits_for_gathered_data_and_for_a_write_that_overtakes_the_read(void **state)
{
	uint64_t read, write;
	struct answer a;

	put(AT, 3000);
	fake_knobs.hang[NFS_WRITE] = true;
	read = kernel_send_read(node, fh, AT, 4096);
	looked_at();
	write = kernel_send_write(node, fh, AT + 5, "new", 3, O_RDWR | O_DSYNC, 0);
	looked_at();
	assert_false(kernel_answered(read) || kernel_answered(write));
	go_on();
	a = kernel_wait(read);
	assert_int_equal(a.len, 3000);
	assert_memory_equal(a.data, large + AT, 5);
	assert_memory_equal(a.data + 5, "new", 3);
	assert_memory_equal(a.data + 8, large + AT + 8, 2992);
	assert_int_equal(kernel_wait(write).error, 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	while (used())
		;
}

static void a_durable_write_waits_for_gathered_data(void **state)
{
	struct fuse_fsync_in in = {.fh = fh};
	uint64_t sync, write;

	put(AT, 3000);
	fake_knobs.hang[NFS_WRITE] = true;
	sync = kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
	write = kernel_send_write(node, fh, AT + 5, "new", 3, O_RDWR | O_DSYNC, 0);
	looked_at();
	go_on();
	assert_int_equal(kernel_wait(sync).error, 0);
	assert_int_equal(kernel_wait(write).error, 0);
	assert_int_equal(count(NFS_WRITE), 2);
	expect(AT, 5);
	assert_int_equal(kernel_read(node, fh, AT + 5, back, 3), 3);
	assert_memory_equal(back, "new", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		GATHER_TEST(a_read_waits_for_gathered_data_and_for_a_write_that_overtakes_the_read),
		GATHER_TEST(a_durable_write_waits_for_gathered_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
