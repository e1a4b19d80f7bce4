/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of files with a write delegation (fs/coherence/deleg.h, fs/coherence/recall.h): opens
 * without the server, the wait of close(2), the answers about the file, and the fate of written
 * data.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "fs/coherence/deleg.h"
#include "fs/coherence/recall.h"
#include "fs/program/upcall.h"
#include "tests/unit/fs/fake-kernel.h"
#include "tests/unit/fs/fs-fixture.h"
#include "transport/clock.h"

#define FAR	    (2u << 20) /* not in one WRITE with the data at 0 */
#define PATIENCE_MS 60000u

static struct fs *fs;
static uint64_t node, fh;
static struct inode *ino;

/* The file has just been made, and is open. */
static int setup(void **state)
{
	fs_fixture_gather = true;
	fs = kernel_mount();
	fs_fixture_options.delegations = NFS_DELEGATIONS_WRITE;
	fake_knobs.delegates_write = true;
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	ino = inode_of(fs->inodes, node);
	assert_int_not_equal(deleg_alone_since(fs, ino), 0);
	return 0;
}

static int teardown(void **state)
{
	kernel_unmount();
	fs_fixture_gather = false;
	return 0;
}

static uint64_t count(enum nfs_op_type t)
{
	return stats_get(&fs->stats.ops[t]);
}

static void wait_for(enum nfs_op_type t, uint64_t n)
{
	for (unsigned i = 0; i < PATIENCE_MS && count(t) < n; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(count(t), n);
}

static void put(uint64_t off)
{
	assert_int_equal(kernel_write(node, fh, off, "data", 4, O_RDWR), 4);
}

/* A hanging op goes on, if the op is there already. */
static void release_soon(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	fake_release(fs->client);
}

/* Opens and closes the file; true if the server was asked for the open. */
static bool asks(int flags)
{
	uint64_t before = count(NFS_OPEN), other;

	assert_int_equal(kernel_open(node, flags, &other), 0);
	assert_int_equal(kernel_release(node, other), 0);
	return count(NFS_OPEN) > before;
}

/* From the first open on, also to write, and also with data written meanwhile. */
static void it_is_opened_without_asking(void **state)
{
	assert_false(asks(O_RDWR));
	put(0);
	assert_false(asks(O_WRONLY));
	assert_false(asks(O_RDWR));
	assert_true(asks(O_RDONLY)); /* the OPEN brings the rights that later opens need */
	assert_false(asks(O_RDONLY));
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_false(asks(O_WRONLY | O_APPEND));
	assert_true(asks(O_WRONLY | O_TRUNC));
	assert_int_equal(kernel_release(node, fh), 0);
	assert_false(asks(O_RDWR));
	fake_recall(fs->client, &ino->fh);
	fake_knobs.delegates_write = false;
	assert_true(asks(O_RDWR));
	assert_true(asks(O_RDWR));
}

static void who_may_not_write_does_not(void **state)
{
	uint64_t since = deleg_since(fs, ino), other;
	const struct rpc_cred *me = &(const struct rpc_cred){.flavor = RPC_AUTH_SYS};
	uint32_t may;

	assert_false(attrs_known_access(&ino->attrs, me, NFS_ACCESS_MODIFY, since - 1, &may) &&
		     !(may & NFS_ACCESS_MODIFY));
	fake_recall(fs->client, &ino->fh);
	fake_knobs.denied = NFS_ACCESS_EXTEND;
	assert_true(asks(O_WRONLY)); /* the OPEN brings another delegation, and the user's rights */
	assert_true(asks(O_WRONLY));
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_release(node, other), 0);
	assert_false(asks(O_RDONLY));
}

/* A close leaves the COMMIT to the release, for data that is kept here and could be written
 * again. */
static void what_is_not_kept_is_committed_by_close(void **state)
{
	static const uint8_t large[1 << 20];

	assert_int_equal(kernel_write(node, fh, 0, large, sizeof(large), O_RDWR), sizeof(large));
	wait_for(NFS_WRITE, 1);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR | O_DIRECT), 4);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR | O_DIRECT), 4);
	fake_knobs.verf++; /* the server restarts */
	assert_int_equal(kernel_flush(node, fh), -EIO);
}

/* Attributes that this mount has changed come with the WRITE. */
static void its_attributes_are_believed(void **state)
{
	uint64_t attrs;
	struct fuse_attr a;

	for (unsigned i = 1; i < 4; i++) {
		put(i * 4);
		attrs = count(NFS_GETATTR);
		for (unsigned k = 0; k < 3; k++) {
			assert_int_equal(kernel_getattr(node, &a), 0);
			assert_int_equal(a.size, i * 4 + 4);
		}
		assert_int_equal(count(NFS_GETATTR), attrs);
	}
	fake_recall(fs->client, &ino->fh);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(count(NFS_GETATTR), attrs + 2);
}

/* close(2) waits until the server has got all data, and hears of failures; the rest goes on. */
static void close_waits_for_no_commit(void **state)
{
	struct fuse_release_in in = {.fh = fh};
	uint64_t released;

	put(0);
	put(FAR);
	fake_knobs.hang[NFS_COMMIT] = true;
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 2);
	assert_int_equal(count(NFS_COMMIT), 0);
	released = kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	while (!kernel_answered(released))
		release_soon();
	assert_int_equal(kernel_wait(released).error, 0);
	fake_knobs.hang[NFS_COMMIT] = false;
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(kernel_open(node, O_RDWR, &fh), 0);
	put(0);
	assert_int_equal(kernel_flush(node, fh), 0); /* one stable WRITE makes that data safe */
	assert_int_equal(kernel_release(node, fh), 0);
	wait_for(NFS_CLOSE, 2);
	assert_int_equal(count(NFS_COMMIT), 1);
}

static bool grants_locally(struct nfs_op *op)
{
	if (op->type != NFS_LOCK)
		return false;
	op->u.lock.local = true;
	return true;
}

static bool grants(struct nfs_op *op)
{
	return op->type == NFS_LOCK;
}

static int lock(uint64_t owner)
{
	struct fuse_lk_in in = {
		.fh = fh, .owner = owner, .lk = {.end = 9, .type = F_WRLCK, .pid = 77}};

	return kernel_ask(FUSE_SETLK, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

/* Nor where there are locks that the server need not know. */
static void close_waits_for_no_commit_under_local_locks(void **state)
{
	fake_knobs.script = grants_locally;
	assert_int_equal(lock(5), 0);
	put(0);
	put(FAR);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 2);
	assert_int_equal(count(NFS_COMMIT), 0);
	fake_knobs.script = grants;
	assert_int_equal(lock(6), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
}

static void close_tells_what_there_is_no_room_for(void **state)
{
	put(0);
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	assert_int_equal(kernel_flush(node, fh), -ENOSPC);
}

static void without_it_close_waits(void **state)
{
	fake_recall(fs->client, &ino->fh);
	put(0);
	put(FAR);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 1);
}

/* The server asks about the file while it does not have all data. */
static void it_is_known_what_it_looks_like(void **state)
{
	uint64_t size, change, other;
	bool modified;

	assert_true(upcalls.inquired(fs, &ino->fh, &size, &change, &modified));
	assert_false(modified);
	assert_int_equal(size, 0);
	put(10);
	assert_true(upcalls.inquired(fs, &ino->fh, &size, &change, &modified));
	assert_true(modified);
	assert_int_equal(size, 14);
	fake_knobs.hang[NFS_WRITE] = true;
	put(FAR); /* out of order */
	put(0);
	assert_true(upcalls.inquired(fs, &ino->fh, &size, &change, &modified));
	assert_true(modified);
	assert_int_equal(size, FAR + 4);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_true(upcalls.inquired(fs, &ino->fh, &size, &change, &modified));
	assert_false(modified);
	assert_int_equal(size, FAR + 4);
	assert_int_equal(kernel_open(node, O_RDWR | O_TRUNC, &other), 0);
	assert_int_equal(kernel_release(node, other), 0);
	assert_true(upcalls.inquired(fs, &ino->fh, &size, &change, &modified));
	assert_int_equal(size, 0);
	inode_touch(ino); /* the file is changed otherwise, and its attributes are unknown since */
	assert_false(upcalls.inquired(fs, &ino->fh, &size, &change, &modified));
	assert_false(upcalls.inquired(fs, &(struct nfs_fh){.len = 4}, &size, &change, &modified));
}

/* Data is made safe before the delegation goes back. Further writes do not keep the delegation. */
static void what_was_written_is_made_safe(void **state)
{
	uint64_t id = atomic_load(&ino->deleg.id);

	assert_true(upcalls.flush(fs, &ino->fh, 4711)); /* no data was written */
	assert_int_equal(fake_flushed(fs->client), 4711);
	put(0);
	put(FAR);
	fake_recall(fs->client, &ino->fh);
	fake_knobs.hang[NFS_COMMIT] = true;
	assert_true(upcalls.flush(fs, &ino->fh, id));
	wait_for(NFS_WRITE, 2);
	assert_int_equal(fake_flushed(fs->client), 4711);
	put(2 * FAR);
	assert_ptr_equal(writeback_find(fs->writeback, &ino->fh), &ino->written);
	inode_unref(ino);
	assert_null(writeback_find(fs->writeback, &(struct nfs_fh){.len = 4}));
	while (fake_flushed(fs->client) != id)
		release_soon();
	fake_knobs.hang[NFS_COMMIT] = false;
	assert_int_equal(count(NFS_WRITE), 2);
	assert_true(written_dirty(&ino->written));
	assert_true(upcalls.flush(fs, &(struct nfs_fh){.len = 4}, 7)); /* an unknown file */
	assert_int_equal(fake_flushed(fs->client), 7);
}

/* Data that cannot be written is lost, and the loss is told; lost data does not keep the
 * delegation. */
static void what_is_lost_does_not_keep_it(void **state)
{
	put(0);
	fake_knobs.fail[NFS_WRITE] = -EDQUOT;
	assert_true(upcalls.flush(fs, &ino->fh, 1));
	for (unsigned i = 0; i < PATIENCE_MS && fake_flushed(fs->client) != 1; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(fake_flushed(fs->client), 1);
	assert_int_equal(kernel_flush(node, fh), -EDQUOT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_opened_without_asking),
		TEST(who_may_not_write_does_not),
		TEST(what_is_not_kept_is_committed_by_close),
		TEST(its_attributes_are_believed),
		TEST(close_waits_for_no_commit),
		TEST(close_waits_for_no_commit_under_local_locks),
		TEST(close_tells_what_there_is_no_room_for),
		TEST(without_it_close_waits),
		TEST(it_is_known_what_it_looks_like),
		TEST(what_was_written_is_made_safe),
		TEST(what_is_lost_does_not_keep_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
