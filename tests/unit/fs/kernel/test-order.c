/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/order: READs beside WRITEs of the same pages.
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

#include "fs/kernel/order.h"
#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-file.h"

#define AT 40960u /* a READ at this offset follows no other: it does not go into the cache */

/* len bytes of `data` are on the server, and no write is gathered. */
static void filled(uint32_t len)
{
	fill(len);
	assert_int_equal(kernel_fsync(node, fh), 0);
}

static void a_read_waits_for_an_append_to_its_page(void **state)
{
	uint64_t write, same, other;
	struct answer a;

	filled(AT + 165);
	fake_knobs.hang[NFS_WRITE] = true;
	write = kernel_send_write(node, fh, AT + 165, data + AT + 165, 15, O_RDWR | O_APPEND, 0);
	same = kernel_send_read(node, fh, AT, 4096);
	other = kernel_send_read(node, fh, AT - 4096, 4096);
	a = kernel_wait(other);
	assert_int_equal(a.len, 4096);
	looked_at();
	assert_false(kernel_answered(same) || kernel_answered(write));
	go_on();
	a = kernel_wait(same);
	assert_int_equal(a.len, 180);
	assert_memory_equal(a.data, data + AT, 180);
	assert_int_equal(kernel_wait(write).error, 0);
	while (used())
		;
}

/* Also if the data is in the cache. */
static void a_read_waits_for_a_write_that_is_not_gathered(void **state)
{
	uint64_t write, read;
	struct answer a;

	filled(SIZE);
	for (unsigned off = 0; off < 5 * 4096; off += 4096)
		assert_int_equal(kernel_read(node, fh, off, back, 4096), 4096);
	fake_knobs.hang[NFS_WRITE] = true;
	write = kernel_send_write(node, fh, 5000, "new", 3, O_RDWR | O_DSYNC, 0);
	read = kernel_send_read(node, fh, 4096, 4096);
	looked_at();
	assert_false(kernel_answered(read));
	go_on();
	a = kernel_wait(read);
	assert_int_equal(a.len, 4096);
	assert_memory_equal(a.data + 5000 - 4096, "new", 3);
	assert_int_equal(kernel_wait(write).error, 0);
}

static int setup_cache(void **state)
{
	int rc;

	fs_fixture_readahead_kb = 1024;
	rc = setup(state);
	fs_fixture_readahead_kb = 0;
	return rc;
}

/* The first five pages are in the cache. */
static void in_cache(uint64_t by)
{
	uint64_t before;

	for (unsigned off = 0; off < 5 * 4096; off += 4096)
		assert_int_equal(kernel_read(node, by, off, back, 4096), 4096);
	before = count(NFS_READ);
	assert_int_equal(kernel_read(node, by, 4096, back, 4096), 4096);
	assert_int_equal(count(NFS_READ), before);
}

/* The cache has the data from before the WRITE. */
static void a_read_does_not_pass_a_write_that_another_worker_has(void **state)
{
	uint64_t write, read;
	struct answer a;

	filled(SIZE);
	in_cache(fh);
	fake_knobs.hang[NFS_READ] = true;
	kernel_keep_next();
	write = kernel_send_write(node, fh, 5000, "new", 3, O_RDWR, 0);
	read = kernel_send_read(node, fh, 4096, 4096);
	looked_at();
	assert_false(kernel_answered(read));
	kernel_kept_comes();
	looked_at();
	go_on();
	assert_int_equal(kernel_wait(write).error, 0);
	a = kernel_wait(read);
	assert_int_equal(a.len, 4096);
	assert_memory_equal(a.data + 5000 - 4096, "new", 3);
	while (used())
		;
}

/* No process writes to the file: no WRITE can be on its way. */
static void a_read_without_writers_passes_requests_of_other_workers(void **state)
{
	uint64_t other, by;

	filled(SIZE);
	assert_int_equal(kernel_open(node, O_RDONLY, &by), 0);
	assert_int_equal(kernel_release(node, fh), 0);
	in_cache(by);
	fake_knobs.hang[NFS_READ] = true;
	kernel_keep_next();
	other = kernel_send_read(node, by, 0, 4096);
	assert_int_equal(kernel_read(node, by, 4096, back, 4096), 4096);
	assert_memory_equal(back, data + 4096, 4096);
	kernel_kept_comes();
	assert_int_equal(kernel_wait(other).len, 4096);
	go_on();
}

/* The server has got the READ, and answers with the data from before. */
static void a_read_that_is_overtaken_is_sent_again(void **state)
{
	uint64_t write, read, other;
	struct answer a;

	filled(SIZE);
	fake_knobs.hang[NFS_READ] = fake_knobs.hang[NFS_WRITE] = true;
	read = kernel_send_read(node, fh, AT, 4096);
	other = kernel_send_read(node, fh, 2 * AT, 4096);
	looked_at();
	write = kernel_send_write(node, fh, AT + 5, "new", 3, O_RDWR | O_DSYNC, 0);
	looked_at();
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(other).len, 4096);
	assert_int_equal(kernel_wait(write).error, 0);
	a = kernel_wait(read);
	assert_memory_equal(a.data + 5, "new", 3);
	go_on();
	assert_int_equal(count(NFS_READ), 3);
	while (used())
		;
}

static int setup_gather(void **state)
{
	int rc;

	fs_fixture_gather = true;
	rc = setup(state);
	fs_fixture_gather = false;
	return rc;
}

/* The gathered WRITE is answered at once, and the READ that was sent before the WRITE has the new
 * data. */
static void a_read_is_overtaken_by_a_write_that_is_gathered(void **state)
{
	uint64_t read, other;
	struct answer a;

	filled(SIZE);
	fake_knobs.hang[NFS_READ] = true;
	read = kernel_send_read(node, fh, AT, 4096);
	other = kernel_send_read(node, fh, 2 * AT, 4096);
	looked_at();
	assert_int_equal(
		kernel_wait(kernel_send_write(node, fh, AT + 5, "new", 3, O_RDWR, 0)).error, 0);
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(other).len, 4096);
	a = kernel_wait(read);
	assert_int_equal(a.len, 4096);
	assert_memory_equal(a.data + 5, "new", 3);
	assert_int_equal(kernel_fsync(node, fh), 0);
	while (used())
		;
}

static void reads_that_pass_the_pages_by_do_not_wait(void **state)
{
	struct fuse_read_in in = {.fh = fh, .offset = AT, .size = 4096, .flags = O_RDWR | O_DIRECT};
	uint64_t write;

	filled(SIZE);
	fake_knobs.hang[NFS_WRITE] = true;
	write = kernel_send_write(node, fh, AT, "new", 3, O_RDWR | O_DSYNC, 0);
	assert_int_equal(
		kernel_ask(FUSE_READ, node, &in, sizeof(in), NULL, 0, back, sizeof(back)), 0);
	assert_memory_equal(back, data + AT, 4096);
	assert_false(kernel_answered(write));
	go_on();
	assert_int_equal(kernel_wait(write).error, 0);
}

static void a_write_that_fails_lets_reads_go_on(void **state)
{
	uint64_t write, read;

	filled(SIZE);
	fake_knobs.hang[NFS_WRITE] = true;
	write = kernel_send_write(node, fh, AT, "new", 3, O_RDWR | O_DSYNC, 0);
	read = kernel_send_read(node, fh, AT, 4096);
	looked_at();
	assert_false(kernel_answered(read));
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	go_on();
	assert_int_equal(kernel_wait(write).error, -ENOSPC);
	assert_int_equal(kernel_wait(read).len, 4096);
}

/* The server may still write the data. */
static void a_read_waits_for_a_write_of_a_killed_process(void **state)
{
	uint64_t write, read;
	struct answer a;

	filled(SIZE);
	fake_knobs.hang[NFS_WRITE] = true;
	write = kernel_send_write(node, fh, AT, "new", 3, O_RDWR | O_DSYNC, 0);
	looked_at();
	killed(write);
	assert_int_equal(kernel_wait(write).error, -EINTR);
	read = kernel_send_read(node, fh, AT, 4096);
	looked_at();
	assert_false(kernel_answered(read));
	go_on();
	a = kernel_wait(read);
	assert_int_equal(a.len, 4096);
	assert_memory_equal(a.data, "new", 3);
}

static void who_waits_can_be_killed(void **state)
{
	uint64_t write, one, two;

	filled(SIZE);
	fake_knobs.hang[NFS_WRITE] = true;
	write = kernel_send_write(node, fh, AT, "new", 3, O_RDWR | O_DSYNC, 0);
	one = kernel_send_read(node, fh, AT, 4096);
	two = kernel_send_read(node, fh, AT, 4096);
	looked_at();
	kernel_interrupt(one);
	looked_at();
	assert_true(atomic_load(&fs->some_gone));
	order_end_gone(fs);
	assert_int_equal(kernel_wait(one).error, -EINTR);
	assert_false(kernel_answered(two));
	request_pool_end(fs->requests);
	order_end_gone(fs);
	assert_int_equal(kernel_wait(two).error, -ECONNABORTED);
	ops_end_gone(fs);
	assert_int_equal(kernel_wait(write).error, -ECONNABORTED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_waits_for_an_append_to_its_page),
		TEST(a_read_waits_for_a_write_that_is_not_gathered),
		cmocka_unit_test_setup_teardown(
			a_read_does_not_pass_a_write_that_another_worker_has, setup_cache,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_read_without_writers_passes_requests_of_other_workers, setup_cache,
			teardown),
		TEST(a_read_that_is_overtaken_is_sent_again),
		cmocka_unit_test_setup_teardown(
			a_read_is_overtaken_by_a_write_that_is_gathered, setup_gather, teardown),
		TEST(reads_that_pass_the_pages_by_do_not_wait),
		TEST(a_write_that_fails_lets_reads_go_on),
		TEST(a_read_waits_for_a_write_of_a_killed_process),
		TEST(who_waits_can_be_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
