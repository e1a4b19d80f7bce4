/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/writeback and fs/file/flush: the fate of writes that were answered before the
 * server had the data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "fs/ops/ops.h"
#include "fs/kernel/request_waits.h"
#include "tests/unit/fs/kernel-gather.h"

static void close_file_again(void)
{
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &fh), 0);
}

static void a_small_file_is_one_round_trip(void **state)
{
	put(0, 100);
	put(100, 200);
	assert_int_equal(count(NFS_WRITE), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_WRITE) + count(NFS_COMMIT), 1);
	expect(0, 300);
}

static void a_stream_is_written_in_large_pieces(void **state)
{
	for (uint64_t off = 0; off < 3 * LARGE / 2; off += 4096)
		put(off, 4096);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 2);
	assert_int_equal(count(NFS_COMMIT), 1);
	expect(0, LARGE);
	/* the kernel's largest writes are sent unchanged, at once */
	put(LARGE, LARGE);
	assert_int_equal(count(NFS_WRITE), 3);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 2);
	expect(LARGE, LARGE);
}

static void old_data_is_sent_by_itself(void **state)
{
	put(0, 100);
	writeback_tick(fs->writeback);
	assert_int_equal(count(NFS_WRITE), 0);
	nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
	writeback_tick(fs->writeback);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
}

/* The server has restarted: uncommitted data is written again, and no program notices. */
static void a_restart_is_not_noticed(void **state)
{
	put(0, LARGE);
	assert_int_equal(count(NFS_WRITE), 1);
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 2);
	assert_int_equal(count(NFS_COMMIT), 2);
	/* seen by a WRITE */
	put(0, LARGE / 2);
	fake_knobs.verf++;
	put(LARGE / 2, LARGE / 2);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_true(count(NFS_WRITE) >= 5);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	/* noticed by a write that is not gathered */
	put(0, LARGE);
	fake_knobs.verf++;
	assert_int_equal(kernel_write(node, fh, 0, large, 10, O_RDWR | O_DIRECT), 10);
	assert_int_equal(kernel_fsync(node, fh), 0);
	expect(0, LARGE);
}

static unsigned nstable;

static bool counts_stable(struct nfs_op *op)
{
	nstable += op->type == NFS_WRITE && op->u.write.stable == NFS_FILE_SYNC;
	return false;
}

static bool another_for_commits(struct nfs_op *op)
{
	fake_knobs.verf += op->type == NFS_COMMIT;
	return counts_stable(op);
}

static bool another_for_writes(struct nfs_op *op)
{
	fake_knobs.verf += op->type == NFS_WRITE;
	return counts_stable(op);
}

static void fsync_writes_stably(bool (*script)(struct nfs_op *op))
{
	nstable = 0;
	fake_knobs.script = script;
	put(0, LARGE);
	put(2 * LARGE, LARGE);
	assert_int_equal(kernel_fsync(node, fh), 0);
	used(); /* the work after the answer is done */
	assert_true(nstable > 0);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	fake_knobs.script = NULL;
	expect(0, LARGE);
	expect(2 * LARGE, LARGE);
	assert_int_equal(kernel_fsync(node, fh), 0);
	/* later WRITEs are not stable */
	nstable = 0;
	fake_knobs.script = counts_stable;
	put(0, LARGE);
	put(2 * LARGE, LARGE);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(nstable, 0);
	fake_knobs.script = NULL;
}

/* No data is lost, so no program is told of a loss. */
static void a_server_that_never_stays_gets_stable_writes(void **state)
{
	fsync_writes_stably(another_for_commits);
	fsync_writes_stably(another_for_writes);
}

static void a_write_that_fails_is_told_once_to_each(void **state)
{
	uint64_t other;

	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	put(0, 100);
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	assert_int_equal(kernel_fsync(node, fh), -ENOSPC);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_flush(node, other), -ENOSPC);
	assert_int_equal(kernel_fsync(node, other), -ENOSPC);
	assert_int_equal(kernel_fsync(node, other), 0);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	/* a process that goes on writing is told at once */
	assert_int_equal(kernel_write(node, fh, 0, large, 100, O_RDWR), -ENOSPC);
	fake_knobs.fail[NFS_WRITE] = 0;
	put(0, 100);
	assert_int_equal(kernel_fsync(node, fh), 0);
	/* and the process need not wait any more */
	fake_knobs.hang[NFS_WRITE] = true;
	put(100, 100);
	fake_knobs.hang[NFS_WRITE] = false;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_release(node, other), 0);
}

static void a_commit_that_fails_is_told(void **state)
{
	put(0, LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EDQUOT;
	assert_int_equal(kernel_fsync(node, fh), -EDQUOT);
	fake_knobs.fail[NFS_COMMIT] = 0;
	assert_int_equal(kernel_fsync(node, fh), 0);
	put(0, LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EDQUOT;
	close_file_again(); /* data that cannot be made safe is given up */
	fake_knobs.fail[NFS_COMMIT] = 0;
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	assert_int_equal(kernel_fsync(node, fh), -EDQUOT);
}

#define READER	 4711u
#define STRANGER 4712u

static bool only_strangers_commit(struct nfs_op *op)
{
	if (op->type != NFS_COMMIT || op->cred.uid == STRANGER)
		return false;
	op->error = -EACCES;
	return true;
}

static uint64_t open_as(uint32_t uid)
{
	uint32_t me = kernel_uid;
	uint64_t opened;

	kernel_uid = uid;
	assert_int_equal(kernel_open(node, O_RDONLY, &opened), 0);
	kernel_uid = me;
	return opened;
}

static uint64_t send_fsync(uint64_t handle)
{
	struct fuse_fsync_in in = {.fh = handle};

	return kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
}

/* The writer may not COMMIT any more. No caller is told of an error as long as one of the callers
 * might have the right. */
static void who_may_commits_of_those_who_wait(void **state)
{
	uint64_t reader = open_as(READER), stranger = open_as(STRANGER), asked[3];

	put(0, LARGE);
	fake_knobs.script = only_strangers_commit;
	/* no caller waits */
	assert_true(writeback_sync(fs->writeback));
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_fsync(node, stranger), 0);
	assert_int_equal(count(NFS_COMMIT), 3);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	/* three do */
	put(0, LARGE);
	fake_knobs.hang[NFS_COMMIT] = true;
	asked[0] = send_fsync(fh);
	asked[1] = send_fsync(reader);
	asked[2] = send_fsync(stranger);
	used(); /* the worker has read all requests */
	fake_knobs.hang[NFS_COMMIT] = false;
	fake_release(fs->client);
	for (int i = 0; i < 3; i++)
		assert_int_equal(kernel_wait(asked[i]).error, 0);
	assert_int_equal(count(NFS_COMMIT), 6);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	/* none of the callers has the right */
	put(0, LARGE);
	fake_knobs.hang[NFS_COMMIT] = true;
	asked[0] = send_fsync(fh);
	asked[1] = send_fsync(reader);
	used();
	fake_knobs.hang[NFS_COMMIT] = false;
	fake_release(fs->client);
	for (int i = 0; i < 2; i++)
		assert_int_equal(kernel_wait(asked[i]).error, -EACCES);
	assert_int_equal(count(NFS_COMMIT), 8);
	fake_knobs.script = NULL;
	assert_int_equal(kernel_release(node, reader), 0);
	assert_int_equal(kernel_release(node, stranger), 0);
}

static void what_was_written_is_what_is_seen(void **state)
{
	struct fuse_entry_out e;
	struct fuse_attr a;

	put(0, 5000);
	/* a name is looked up before the server has any data */
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "f", &e), 0);
	assert_int_equal(e.attr.size, 5000);
	assert_int_equal(e.attr_valid + e.attr_valid_nsec, 0);
	assert_int_equal(count(NFS_WRITE), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 5000);
	assert_int_equal(count(NFS_WRITE), 1);
	/* bytes that are not on the server, and a hole up to the first of the bytes */
	put(4000, 2000);
	expect(4500, 1500);
	put(50000, 10);
	assert_int_equal(kernel_read(node, fh, 20000, back, 1000), 1000);
	/* bytes that are on the server: no WRITE is needed */
	put(60000, 10);
	assert_int_equal(kernel_read(node, fh, 0, back, 1000), 1000);
	assert_int_equal(count(NFS_WRITE), 3);
	assert_int_equal(kernel_flush(node, fh), 0);
}

/* O_DIRECT writes over UNSTABLE data: the old data is not written again over the new. */
static void a_write_by_another_way_comes_after(void **state)
{
	put(0, LARGE);
	memset(large + 5000, 0x55, 5000);
	assert_int_equal(kernel_write(node, fh, 5000, large + 5000, 5000, O_RDWR | O_SYNC), 5000);
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	expect(0, LARGE);
	/* and gathered data is written before the O_DIRECT write */
	put(0, 100);
	memset(large, 0x66, 50);
	assert_int_equal(kernel_write(node, fh, 0, large, 50, O_RDWR | O_DIRECT), 50);
	expect(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
}

/* There is room for 5 MiB or so: a writer waits, and goes on. */
static void a_writer_waits_for_room(void **state)
{
	uint64_t number = 0, off = 0;

	fake_knobs.sync = false;
	fake_knobs.hang[NFS_WRITE] = true;
	for (;; off += LARGE) {
		number = kernel_send_write(node, fh, off, large, LARGE, O_RDWR, 0);
		assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
		if (!kernel_answered(number))
			break;
		assert_int_equal(kernel_wait(number).error, 0);
		assert_true(off < 16 * LARGE);
	}
	assert_true(off >= 2 * LARGE);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
	assert_int_equal(kernel_fsync(node, fh), 0);
	for (; off; off -= LARGE)
		expect(off, LARGE);
}

static void who_is_killed_does_not_wait(void **state)
{
	uint64_t number;

	struct fuse_flush_in in = {.fh = fh};

	fake_knobs.sync = false;
	fake_knobs.hang[NFS_WRITE] = true;
	put(0, 100);
	number = kernel_send(FUSE_FLUSH, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(number));
	request_pool_end(fs->requests);
	ops_end_gone(fs);
	assert_true(kernel_wait(number).error < 0);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	while (writeback_sync(fs->writeback))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A program reads while all memory is kept for data that waits for a COMMIT. */
static void what_is_kept_makes_room_for_who_reads(void **state)
{
	size_t limit = fs->data_limit;
	struct fuse_attr a;

	put(0, LARGE / 4);
	assert_int_equal(kernel_getattr(node, &a), 0); /* the COMMIT is sent */
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(count(NFS_COMMIT), 0);
	used(); /* the worker has its block again */
	fs->data_limit = atomic_load(&fs->data_used);
	expect(LARGE / 8, 1000);
	assert_int_equal(count(NFS_COMMIT), 1);
	fs->data_limit = limit;
}

static unsigned opens_of(struct inode *ino)
{
	unsigned n;

	mutex_lock(&ino->lock);
	n = ino->opens.count;
	mutex_unlock(&ino->lock);
	return n;
}

static enum nfs_stable last_stable;

static bool note_stable(struct nfs_op *op)
{
	if (op->type == NFS_WRITE)
		last_stable = op->u.write.stable;
	return false;
}

/* The server restarts, and no copy is there to be written again. */
static void what_no_copy_is_kept_of_is_written_stably(void **state)
{
	size_t limit = fs->data_limit;

	fake_knobs.script = note_stable;
	fs->data_limit = 0;
	put(0, 4096);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(last_stable, NFS_FILE_SYNC);
	fs->data_limit = limit;
	put(LARGE, LARGE);
	assert_int_equal(last_stable, NFS_UNSTABLE);
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	expect(0, 4096);
	expect(LARGE, LARGE);
}

/* An open that waits for a WRITE is answered, and lets go of its references. */
static void who_opens_and_is_killed_leaves_nothing(void **state)
{
	struct fuse_create_in create = {.flags = O_RDWR | O_TRUNC, .mode = 0644};
	struct inode *ino = inode_of(fs->inodes, node);
	struct fuse_open_in open = {.flags = O_RDWR};
	uint64_t number[2];
	struct fuse_attr a;

	fake_knobs.sync = false;
	fake_knobs.hang[NFS_WRITE] = true;
	put(0, 1000);
	number[0] = kernel_send(FUSE_OPEN, node, &open, sizeof(open), NULL, 0);
	number[1] = kernel_send(FUSE_CREATE, KERNEL_ROOT, &create, sizeof(create), "f", 2);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	while (ino->opens.count < 3) /* the server has answered CREATE */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(kernel_answered(number[i]));
		kernel_interrupt(number[i]);
		while (!kernel_answered(number[i])) {
			ops_end_gone(fs);
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
		assert_int_equal(kernel_wait(number[i]).error, -EINTR);
	}
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	while (opens_of(ino) > 1)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 1000); /* nor has the CREATE truncated the file */
}

/* Pages that are written back after the last close(2). */
static void what_comes_after_flush_is_written_by_release(void **state)
{
	uint64_t number;

	put(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	number = kernel_send_write(node, fh, 4096, large + 4096, 4096, O_RDWR, FUSE_WRITE_CACHE);
	assert_int_equal(kernel_wait(number).error, 0);
	assert_int_equal(count(NFS_WRITE), 1);
	close_file_again();
	assert_int_equal(count(NFS_WRITE), 2);
	expect(4096, 4096);
}

static bool writes_short(struct nfs_op *op)
{
	if (op->type == NFS_WRITE && op->u.write.from.len > 5000)
		fake_knobs.short_write = 5000;
	return false;
}

static void what_is_written_short_goes_on(void **state)
{
	fs->info.wsize = 1 << 20;
	fake_knobs.script = writes_short;
	put(0, 100000);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 20);
	fake_knobs.script = NULL;
	fake_knobs.short_write = 0;
	expect(0, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		GATHER_TEST(a_small_file_is_one_round_trip),
		GATHER_TEST(a_stream_is_written_in_large_pieces),
		GATHER_TEST(old_data_is_sent_by_itself),
		GATHER_TEST(a_restart_is_not_noticed),
		GATHER_TEST(a_server_that_never_stays_gets_stable_writes),
		GATHER_TEST(a_write_that_fails_is_told_once_to_each),
		GATHER_TEST(a_commit_that_fails_is_told),
		GATHER_TEST(who_may_commits_of_those_who_wait),
		GATHER_TEST(what_was_written_is_what_is_seen),
		GATHER_TEST(a_write_by_another_way_comes_after),
		GATHER_TEST(a_writer_waits_for_room),
		GATHER_TEST(who_is_killed_does_not_wait),
		GATHER_TEST(what_is_kept_makes_room_for_who_reads),
		GATHER_TEST(what_no_copy_is_kept_of_is_written_stably),
		GATHER_TEST(who_opens_and_is_killed_leaves_nothing),
		GATHER_TEST(what_comes_after_flush_is_written_by_release),
		GATHER_TEST(what_is_written_short_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
