/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/cached, and of cache/fetch below: the cache answers READs of the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/file/cached.h"
#include "fs/kernel/request_waits.h"
#include "fs/program/upcall.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-file.h"

#define BLOCK	CACHE_BLOCK
#define REQUEST BLOCK
#define FILE_MB 4u

static uint8_t *pattern;

/* A mount that reads ahead, and an open file of FILE_MB MiB. */
static int setup_ahead(void **state)
{
	fs_fixture_readahead_kb = 1024;
	setup(state);
	fs_fixture_readahead_kb = 0;
	pattern = malloc(FILE_MB << 20);
	for (unsigned i = 0; i < FILE_MB << 20; i++)
		pattern[i] = (uint8_t)(i * 7 + i / 4096);
	for (unsigned i = 0; i < FILE_MB; i++)
		assert_int_equal(
			kernel_write(node, fh, i << 20, pattern + (i << 20), 1 << 20, O_RDWR),
			1 << 20);
	return 0;
}

static int setup_gather(void **state)
{
	fs_fixture_gather = true;
	return setup_ahead(state);
}

static int teardown_ahead(void **state)
{
	free(pattern);
	fs_fixture_gather = false;
	return teardown(state);
}

static struct cache_stats *cached(void)
{
	return cache_stats(fs->cache);
}

static void reads_right(uint64_t off, uint32_t size)
{
	uint32_t there = off + size > FILE_MB << 20 ? (uint32_t)((FILE_MB << 20) - off) : size;

	assert_int_equal(kernel_read(node, fh, off, back, size), there);
	assert_memory_equal(back, pattern + off, there);
}

static void a_file_is_read_ahead_of_the_kernel(void **state)
{
	for (uint64_t off = 0; off < FILE_MB << 20; off += REQUEST)
		reads_right(off, REQUEST);
	assert_true(count(NFS_READ) < FILE_MB * 8 / 2);
	assert_true(stats_get(&cached()->hits) + stats_get(&cached()->joined) >= FILE_MB * 8);
	assert_int_equal(stats_get(&fs->stats.read_bytes), FILE_MB << 20);
	all_is_back();
}

/* Most of the data is in the cache already. */
static void hits_most(unsigned n, uint64_t hits)
{
	assert_true(stats_get(&cached()->hits) + stats_get(&cached()->joined) - hits >= n - 4);
	all_is_back();
}

static void a_file_is_read_ahead_of_who_goes_back(void **state)
{
	uint64_t before = count(NFS_READ);

	for (uint64_t off = FILE_MB << 20; off; off -= 16384)
		reads_right(off - 16384, 16384);
	hits_most(FILE_MB * 64, 0);
	assert_true(count(NFS_READ) - before < FILE_MB * 8);
}

static void pieces_are_read_ahead_of_who_goes_by_steps(void **state)
{
	uint64_t before = count(NFS_READ);

	for (unsigned i = 0; i < 16; i++)
		reads_right(8192 + i * (256 << 10), 4096);
	hits_most(16, 0);
	assert_int_equal(count(NFS_READ) - before, 16); /* no more READs than pieces */
	assert_true(cache_bytes(fs->cache) <= 16 * 4096);
	for (unsigned i = 16; i--;)
		reads_right(20480 + 130000 / 4096 * 4096 + i * (256 << 10), 12288);
	reads_right(0, 1 << 20); /* and all data between the pieces */
	reads_right(1 << 20, 1 << 20);
	all_is_back();
}

static void reads_all_over_the_file_go_to_the_server(void **state)
{
	for (unsigned i = 1; i < 20; i++)
		reads_right(((uint64_t)i * 1234567) % (3 << 20) / 4096 * 4096, 4096);
	assert_true(count(NFS_READ) >= 19 - 4);
	assert_true(cache_bytes(fs->cache) <= 4 * BLOCK);
}

static void what_is_being_read_is_waited_for(void **state)
{
	uint64_t one, two;
	struct answer a;

	fake_knobs.hang[NFS_READ] = true;
	one = kernel_send_read(node, fh, 0, REQUEST);
	two = kernel_send_read(node, fh, 4096, 4096);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(one));
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(one).len, REQUEST);
	a = kernel_wait(two);
	assert_int_equal(a.len, 4096);
	assert_memory_equal(a.data, pattern + 4096, 4096);
	assert_true(stats_get(&cached()->joined) >= 2);
	while (used()) /* the server's thread gives the memory back after the answer */
		;
}

static void who_waits_can_be_killed(void **state)
{
	uint64_t one, two;

	fake_knobs.hang[NFS_READ] = true;
	one = kernel_send_read(node, fh, 0, REQUEST);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	request_pool_end(fs->requests); /* marks the READ as GONE */
	cached_end_gone(fs);
	assert_int_equal(kernel_wait(one).error, -ECONNABORTED);
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	two = kernel_send_read(node, fh, 0, REQUEST);
	kernel_wait(two);
}

/* The kernel tells of the kill: the end of the READ comes without waiting for
 * request_check_killed(). */
static void who_waits_and_is_killed_is_found_at_once(void **state)
{
	uint64_t one, living;
	pid_t tid = kernel_tid;

	fake_knobs.hang[NFS_READ] = true;
	one = kernel_send_read(node, fh, 0, REQUEST);
	kernel_tid = getpid();
	living = kernel_send_read(node, fh, 4096, 4096);
	kernel_interrupt(living); /* a signal that ends no process */
	kernel_tid = tid;
	kernel_interrupt(one);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_true(atomic_load(&fs->some_gone));
	cached_end_gone(fs);
	assert_int_equal(kernel_wait(one).error, -EINTR);
	assert_false(kernel_answered(living));
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(living).len, 4096);
	while (used())
		;
}

/* The READ into the cache fails; the READ with the reader's credential works, or tells the
 * error. */
static bool first_read_fails(struct nfs_op *op)
{
	if (op->type != NFS_READ || calls++ > 1)
		return false;
	op->error = -EIO;
	return true;
}

static void a_read_into_the_cache_that_fails_harms_nobody(void **state)
{
	fake_knobs.script = first_read_fails;
	reads_right(0, REQUEST);
	all_is_back();
}

static void an_error_is_told_to_the_reader(void **state)
{
	fake_knobs.fail[NFS_READ] = -EACCES;
	assert_int_equal(kernel_read(node, fh, 0, back, REQUEST), -EACCES);
	fake_knobs.fail[NFS_READ] = 0;
	reads_right(0, REQUEST);
	all_is_back();
}

static void what_was_written_is_read(void **state)
{
	for (uint64_t off = 0; off < 2 << 20; off += REQUEST)
		reads_right(off, REQUEST);
	for (unsigned i = 0; i < 5000; i++)
		pattern[(1 << 20) + i] ^= 0xff;
	assert_int_equal(kernel_write(node, fh, 1 << 20, pattern + (1 << 20), 5000, O_RDWR), 5000);
	reads_right(1 << 20, REQUEST);
	assert_true(stats_get(&cached()->dropped) > 0);
}

/* A writer changes the bytes while a READ of the same bytes is under way: the READ brings older
 * data. */
static void a_write_overtakes_what_is_being_read(void **state)
{
	uint64_t one;

	fake_knobs.hang[NFS_READ] = true;
	one = kernel_send_read(node, fh, 0, REQUEST);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_int_equal(kernel_write(node, fh, 0, "new", 3, O_RDWR), 3);
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	kernel_wait(one);
	memcpy(pattern, "new", 3);
	reads_right(0, REQUEST);
}

/* READs find the file without the bytes that the server has lost, until five WRITEs have brought
 * the bytes again. */
static bool finds_nothing(struct nfs_op *op)
{
	struct seg_iter to = seg_iter_of(&op->u.read.to);

	calls += op->type == NFS_WRITE;
	if (op->type != NFS_READ || calls >= 5)
		return false;
	seg_iter_zero(&to, op->u.read.to.len);
	op->error = 0;
	op->u.read.count = op->u.read.to.len;
	op->u.read.eof = false;
	return true;
}

/* A READ into the cache is under way when a COMMIT tells that the server has lost data. The data is
 * being written again when the READ is answered with the bytes of before. */
static void what_is_written_again_overtakes_what_is_being_read(void **state)
{
	struct fuse_fsync_in in = {.fh = fh};
	uint64_t read, sync;
	struct answer a;

	memset(pattern, 7, 5000);
	assert_int_equal(kernel_write(node, fh, 0, pattern, 5000, O_RDWR), 5000);
	reads_right(0, REQUEST); /* the server has the data, UNSTABLE */
	cache_drop_all(&inode_of(fs->inodes, node)->cache);
	fake_knobs.hang[NFS_READ] = true;
	read = kernel_send_read(node, fh, 0, REQUEST);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	fake_knobs.hang[NFS_WRITE] = true;
	upcalls.connection(fs, NFS_CONNECTION_LOST);
	upcalls.connection(fs, NFS_CONNECTION_BACK);
	fake_knobs.verf = 7;
	sync = kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
	while (!stats_get(&writeback_stats(fs->writeback)->rewritten))
		usleep(1000);
	calls = 0;
	fake_knobs.short_write = 1000;
	fake_knobs.script = finds_nothing;
	fake_knobs.hang[NFS_READ] = fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	a = kernel_wait(read);
	assert_int_equal(a.len, REQUEST);
	assert_memory_equal(a.data, pattern, REQUEST);
	assert_int_equal(kernel_wait(sync).error, 0);
}

static bool is_another_version(struct nfs_op *op)
{
	return lookup_tells_change(op, inode_of(fs->inodes, node), FILE_MB << 20);
}

/* The kernel drops its pages when any answer brings another version. The next READ must not bring
 * data from before that version. */
static void what_the_kernel_knows_to_have_changed_is_read_again(void **state)
{
	struct cache_file *blocks = &inode_of(fs->inodes, node)->cache;
	struct cache_hit hit;

	reads_right(0, REQUEST);
	assert_int_equal(cache_find(blocks, 0, 4096, &hit, NULL), CACHE_HIT);
	cache_hit_end(&hit);
	fake_knobs.script = is_another_version;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", NULL), 0);
	fake_knobs.script = NULL;
	assert_int_equal(cache_find(blocks, 0, 4096, &hit, NULL), CACHE_MISS);
	reads_right(0, 4096);
}

static void direct_reads_pass_the_cache_by(void **state)
{
	struct fuse_read_in in = {.fh = fh, .size = 4096, .flags = O_RDWR | O_DIRECT};
	uint64_t before;

	reads_right(0, REQUEST);
	before = count(NFS_READ);
	assert_int_equal(
		kernel_ask(FUSE_READ, node, &in, sizeof(in), NULL, 0, back, sizeof(back)), 0);
	assert_memory_equal(back, pattern, 4096);
	assert_true(count(NFS_READ) > before);
}

/* CLOSE takes away the open state that the READs ahead are sent with. */
static atomic_bool closed_early;

static bool close_looks(struct nfs_op *op)
{
	if (op->type == NFS_READ)
		calls++;
	if (op->type == NFS_CLOSE && calls < 2)
		closed_early = true;
	return false;
}

static void a_file_is_closed_when_nothing_is_being_read(void **state)
{
	uint64_t one;

	closed_early = false;
	fake_knobs.script = close_looks;
	fake_knobs.hang[NFS_READ] = true;
	one = kernel_send_read(node, fh, 0, REQUEST);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_int_equal(count(NFS_CLOSE), 0);
	fake_knobs.hang[NFS_READ] = false;
	fake_release(fs->client);
	kernel_wait(one);
	assert_int_equal(kernel_release(node, fh), 0);
	assert_false(closed_early);
}

static void an_open_file_may_be_left_at_the_end(void **state)
{
	fake_knobs.hang[NFS_READ] = true;
	kernel_send_read(node, fh, 0, REQUEST);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
}

#define TEST(f)	       cmocka_unit_test_setup_teardown(f, setup_ahead, teardown_ahead)
#define GATHER_TEST(f) cmocka_unit_test_setup_teardown(f, setup_gather, teardown_ahead)

/* --- with the open ---------------------------------------------------------------------------- */

static uint64_t small;	 /* a file of 5000 bytes, closed, which the kernel has not read */
static unsigned brought; /* OPENs that asked for data */
static bool drops;	 /* the cache is told of a change while OPEN is under way */

static bool opens(struct nfs_op *op)
{
	if (op->type == NFS_OPEN && op->u.open.to.len) {
		brought++;
		if (drops)
			cache_drop_all(&inode_of(fs->inodes, small)->cache);
	}
	return false;
}

static void make_small(void)
{
	uint64_t handle;

	assert_int_equal(kernel_create(KERNEL_ROOT, "small", O_WRONLY, &small, &handle), 0);
	assert_int_equal(kernel_write(small, handle, 0, data, 5000, O_WRONLY), 5000);
	assert_int_equal(kernel_release(small, handle), 0);
	brought = 0;
	drops = false;
	fake_knobs.script = opens;
}

/* Opens the file, reads all, closes the file: this costs so many READs, and so many OPENs with
 * data. */
static void small_costs(unsigned reads, unsigned opened)
{
	uint64_t handle, before = count(NFS_READ);

	brought = 0;
	assert_int_equal(kernel_open(small, O_RDONLY, &handle), 0);
	assert_int_equal(kernel_read(small, handle, 0, back, 8192), 5000);
	assert_memory_equal(back, data, 5000);
	assert_int_equal(kernel_release(small, handle), 0);
	assert_int_equal(count(NFS_READ) - before, reads);
	assert_int_equal(brought, opened);
}

static void a_small_file_comes_with_its_open(void **state)
{
	uint64_t handle;

	make_small();
	small_costs(0, 1);
	small_costs(0, 0); /* the cache has the data */
	cache_drop_all(&inode_of(fs->inodes, small)->cache);
	small_costs(1, 0); /* the kernel had the data; as a rule the kernel keeps it */
	assert_int_equal(kernel_open(small, O_RDWR, &handle), 0);
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0); /* a large one */
	assert_int_equal(brought, 0);
	all_is_back();
}

static void what_was_changed_meanwhile_is_read_again(void **state)
{
	make_small();
	drops = true;
	small_costs(1, 1);
	all_is_back();
}

static void what_does_not_come_is_read(void **state)
{
	make_small();
	fake_knobs.bare_open = true;
	small_costs(1, 1);
	all_is_back();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_file_comes_with_its_open),
		TEST(what_was_changed_meanwhile_is_read_again),
		TEST(what_does_not_come_is_read),
		TEST(a_file_is_read_ahead_of_the_kernel),
		TEST(a_file_is_read_ahead_of_who_goes_back),
		TEST(pieces_are_read_ahead_of_who_goes_by_steps),
		TEST(reads_all_over_the_file_go_to_the_server),
		TEST(what_is_being_read_is_waited_for),
		TEST(who_waits_can_be_killed),
		TEST(who_waits_and_is_killed_is_found_at_once),
		TEST(a_read_into_the_cache_that_fails_harms_nobody),
		TEST(an_error_is_told_to_the_reader),
		TEST(what_was_written_is_read),
		TEST(a_write_overtakes_what_is_being_read),
		GATHER_TEST(what_is_written_again_overtakes_what_is_being_read),
		TEST(what_the_kernel_knows_to_have_changed_is_read_again),
		TEST(direct_reads_pass_the_cache_by),
		TEST(a_file_is_closed_when_nothing_is_being_read),
		TEST(an_open_file_may_be_left_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
