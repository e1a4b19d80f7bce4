/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/flush and cache/writeout: operations that go together with the WRITE that
 * they wait for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "fs/file/opening.h"
#include "fs/kernel/request_waits.h"
#include "fs/ops/ops.h"
#include "fs/program/upcall.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-file.h"

#define LARGE (1u << 20)
#define THEN  1000000000u /* the time that the test sets */

static uint8_t large[LARGE];
static struct fuse_attr attr;

static int setup_gather(void **state)
{
	fs_fixture_gather = true;
	return setup(state);
}

static int teardown_gather(void **state)
{
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	fs_fixture_gather = false;
	return teardown(state);
}

static void put(uint64_t off, uint32_t len)
{
	assert_int_equal(kernel_write(node, fh, off, large, len, O_RDWR), len);
}

static const struct fuse_setattr_in times = {.valid = FATTR_MTIME, .mtime = THEN};

static int set_times(void)
{
	struct fuse_attr_out out;
	int error =
		kernel_ask(FUSE_SETATTR, node, &times, sizeof(times), NULL, 0, &out, sizeof(out));

	attr = out.attr;
	return error;
}

/* The file has this size, and the time of the test, on the server. */
static void expect_on_server(uint64_t size)
{
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.mtime, THEN);
	assert_int_equal(attr.size, size);
}

static void expect_counts(unsigned writes, unsigned commits, unsigned setattrs)
{
	assert_int_equal(count(NFS_WRITE), writes);
	assert_int_equal(count(NFS_COMMIT), commits);
	assert_int_equal(count(NFS_SETATTR), setattrs);
}

/* --- times ------------------------------------------------------------------------------------ */

static void times_are_set_behind_the_write(void **state)
{
	put(0, 100);
	put(100, 100);
	assert_int_equal(set_times(), 0);
	assert_int_equal(attr.mtime, THEN);
	assert_int_equal(attr.size, 200);
	expect_counts(1, 0, 0);
	/* stable data is not written again: the times stay */
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(1, 0, 0);
	expect_on_server(200);
	/* no data is left to write */
	assert_int_equal(set_times(), 0);
	expect_counts(1, 0, 1);
}

/* The server keeps data that a restart may lose. All data must be there, perhaps by a second WRITE,
 * before the times are set. */
static void times_are_set_when_nothing_is_written_again(void **state)
{
	put(0, LARGE);
	put(LARGE, 100);
	fake_knobs.verf++;
	assert_int_equal(set_times(), 0);
	assert_true(count(NFS_WRITE) >= 3);
	assert_true(count(NFS_COMMIT) >= 1);
	assert_int_equal(count(NFS_SETATTR), 1);
	expect_on_server(LARGE + 100);
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	expect_on_server(LARGE + 100);
}

/* The server restarts while rights are asked for, and a COMMIT tells so: the data is new again when
 * the SETATTR is due. Then the data must not be written behind the SETATTR. */
static void what_is_written_again_does_not_outlive_a_cut(void **state)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE, .size = 10};
	struct fuse_fsync_in sync = {.fh = fh};
	struct written *w = &inode_of(fs->inodes, node)->written;
	uint32_t owner = kernel_uid;
	uint64_t cut, synced;

	put(0, LARGE);
	put(LARGE, 100);
	fake_knobs.hang[NFS_COMMIT] = fake_knobs.hang[NFS_ACCESS] = true;
	synced = kernel_send(FUSE_FSYNC, node, &sync, sizeof(sync), NULL, 0);
	while (count(NFS_WRITE) < 2 || written_dirty(w))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	kernel_uid = 4711; /* no rights of this user are known */
	cut = kernel_send(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0);
	kernel_uid = owner;
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	fake_knobs.verf++;
	fake_knobs.hang[NFS_COMMIT] = fake_knobs.hang[NFS_ACCESS] = false;
	fake_knobs.hang[NFS_WRITE] = true;
	fake_release(fs->client); /* the COMMIT, which makes the data new, and the ACCESS */
	while (!written_dirty(w))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(cut).error, 0);
	assert_int_equal(kernel_wait(synced).error, 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 10);
}

/* Each caller is told of its own error. */
static void what_fails_is_told_to_whom_it_concerns(void **state)
{
	put(0, 100);
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	assert_int_equal(set_times(), 0);
	fake_knobs.fail[NFS_WRITE] = 0;
	assert_int_equal(count(NFS_SETATTR), 1);
	expect_on_server(0);
	assert_int_equal(kernel_flush(node, fh), -ENOSPC);
	assert_int_equal(kernel_fsync(node, fh), -ENOSPC);
	assert_int_equal(kernel_write(node, fh, 0, large, 100, O_RDWR), 100);
	put(100, 100);
	fake_knobs.fail[NFS_SETATTR] = -EPERM;
	assert_int_equal(set_times(), -EPERM);
	fake_knobs.fail[NFS_SETATTR] = 0;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 200);
}

/* A server may take only a part of a WRITE. The rest follows the SETATTR, and then the SETATTR is
 * sent once more. */
static void a_short_write_has_them_set_again(void **state)
{
	put(0, 100);
	fake_knobs.short_write = 60;
	assert_int_equal(set_times(), 0);
	fake_knobs.short_write = 0;
	expect_counts(2, 0, 1);
	expect_on_server(100);
}

static void without_compounds_they_come_after_it(void **state)
{
	fake_knobs.no_compound = true;
	put(0, 100);
	assert_int_equal(set_times(), 0);
	fake_knobs.no_compound = false;
	expect_counts(1, 0, 1);
	expect_on_server(100);
}

/* One COMPOUND has one user. */
static void another_user_sets_them_himself(void **state)
{
	put(0, 100);
	kernel_uid++;
	assert_int_equal(set_times(), 0);
	kernel_uid--;
	expect_counts(1, 0, 1);
	expect_on_server(100);
}

/* A name for the owner may have to be looked up first. */
static void an_owner_is_set_by_itself(void **state)
{
	struct fuse_setattr_in in = {.valid = FATTR_GID, .gid = kernel_uid};

	put(0, 100);
	assert_int_equal(kernel_ask(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0, NULL, 0), 0);
	expect_counts(1, 0, 1);
}

/* The waiting process is killed while the WRITE is under way. The WRITE ends without a thread that
 * wants the answer. */
/* The kernel has dropped the file's pages, and a WRITE is under way. */
static void wait_written(void)
{
	while (!dirty_bytes(&inode_of(fs->inodes, node)->written.dirty, DIRTY_WRITING))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void who_is_killed_is_not_told(void **state)
{
	uint64_t number;

	fake_knobs.sync = false;
	fake_knobs.hang[NFS_WRITE] = true;
	put(0, 100);
	number = kernel_send(FUSE_SETATTR, node, &times, sizeof(times), NULL, 0);
	wait_written();
	assert_false(kernel_answered(number));
	request_pool_end(fs->requests);
	while (!kernel_answered(number)) { /* the process may not wait yet */
		ops_end_gone(fs);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	assert_true(kernel_wait(number).error < 0);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	while (writeback_sync(fs->writeback))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* --- times of an exclusive create
 * --------------------------------------------------------------- */

static void make(void)
{
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fake_knobs.uses_times = true;
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "x", O_RDWR | O_EXCL, &node, &fh), 0);
	assert_int_equal(count(NFS_SETATTR), 0);
}

static void expect_own_times(void)
{
	time_t begin = time(NULL) - 100, end;

	assert_int_equal(kernel_getattr(node, &attr), 0);
	end = time(NULL) + 1; /* the server's clock may be a little behind other clocks */
	assert_in_range(attr.mtime, begin, end);
	assert_in_range(attr.atime, begin, end);
}

static void they_are_set_by_what_comes_next(void **state)
{
	make();
	put(0, 100);
	assert_int_equal(set_times(), 0);
	expect_counts(1, 0, 0);
	assert_int_not_equal(attr.atime, 0);
	expect_on_server(100);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(1, 0, 0);
	/* by close */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "y", O_RDWR | O_EXCL, &node, &fh), 0);
	put(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(2, 0, 0);
	expect_own_times();
	/* by fsync */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "w", O_RDWR | O_EXCL, &node, &fh), 0);
	put(0, 100);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(3, 0, 0);
	expect_own_times();
	/* by the getattr */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "z", O_RDWR | O_EXCL, &node, &fh), 0);
	put(0, 100);
	expect_own_times();
	expect_counts(4, 0, 0);
}

static void else_they_are_set_by_themselves(void **state)
{
	make();
	openings_tick(fs, false);
	openings_tick(fs, true);
	assert_int_equal(count(NFS_SETATTR), 1);
	openings_tick(fs, true);
	assert_int_equal(count(NFS_SETATTR), 1);
	expect_own_times();
	/* no data is written */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "y", O_RDWR | O_EXCL, &node, &fh), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_SETATTR), 2);
	expect_own_times();
	/* the data takes more than one WRITE */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "w", O_RDWR | O_EXCL, &node, &fh), 0);
	put(0, LARGE);
	put(LARGE, LARGE / 2);
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(count(NFS_SETATTR), 3);
	expect_own_times();
	/* another user asks */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "z", O_RDWR | O_EXCL, &node, &fh), 0);
	kernel_uid++;
	expect_own_times();
	kernel_uid--;
	assert_int_equal(count(NFS_SETATTR), 4);
}

static bool refuses_modes(struct nfs_op *op)
{
	if (op->type != NFS_SETATTR || !(op->u.setattr.set.mask & NFS_SET_MODE))
		return false;
	op->error = -EPERM;
	return true;
}

/* The caller that was to set the times cannot, or has no time. */
static void nobody_else_suffers(void **state)
{
	struct fuse_setattr_in in = {.valid = FATTR_MODE, .mode = S_IFREG | 0600};
	uint64_t number;

	make();
	fake_knobs.script = refuses_modes;
	assert_int_equal(kernel_ask(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0, NULL, 0), -EPERM);
	fake_knobs.script = NULL;
	expect_own_times();
	/* a WRITE that fails */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "y", O_RDWR | O_EXCL, &node, &fh), 0);
	put(0, 100);
	fake_knobs.fail[NFS_WRITE] = -ENOSPC;
	assert_int_equal(kernel_flush(node, fh), -ENOSPC);
	fake_knobs.fail[NFS_WRITE] = 0;
	expect_own_times();
	/* a killed caller */
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_create(KERNEL_ROOT, "z", O_RDWR | O_EXCL, &node, &fh), 0);
	fake_knobs.sync = false;
	fake_knobs.hang[NFS_WRITE] = true;
	put(0, 100);
	number = kernel_send(FUSE_SETATTR, node, &times, sizeof(times), NULL, 0);
	wait_written();
	assert_false(kernel_answered(number));
	request_pool_end(fs->requests);
	while (!kernel_answered(number)) { /* the caller may not wait yet */
		ops_end_gone(fs);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	assert_true(kernel_wait(number).error < 0);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	while (writeback_sync(fs->writeback) || opening_settling(inode_of(fs->inodes, node)))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static _Atomic uint32_t others_set; /* NFS_SET_* that a WRITE or SETATTR has set and make() left */

static bool looks_what_is_set(struct nfs_op *op)
{
	uint32_t set = 0;

	if (op->type == NFS_SETATTR)
		set = op->u.setattr.set.mask;
	else if (op->type == NFS_WRITE && op->u.write.then)
		set = op->u.write.then->set.mask;
	others_set |= set & ~(NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW);
	return false;
}

static void expect_sane(const struct fuse_entry_out *e)
{
	time_t now = time(NULL);

	assert_in_range(e->attr.mtime, now - 100, now + 1);
	assert_in_range(e->attr.atime, now - 100, now + 1);
	assert_int_equal(e->attr_valid + e->attr_valid_nsec, 0);
}

/* The file is seen, linked, moved and removed before the times are set. */
static void who_sees_the_file_meanwhile_sees_sane_ones(void **state)
{
	struct fuse_entry_out e;

	others_set = 0;
	fake_knobs.script = looks_what_is_set;
	make();
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "x", &e), 0);
	expect_sane(&e);
	assert_int_equal(kernel_link(node, KERNEL_ROOT, "link", &e), 0);
	expect_sane(&e);
	assert_int_equal(kernel_rename(KERNEL_ROOT, "x", KERNEL_ROOT, "moved"), 0);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "link"), 0);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "moved"), 0);
	assert_int_equal(count(NFS_SETATTR), 0);
	put(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(1, 0, 0);
	expect_own_times();
	/* a mode that another client has set meanwhile would still be there */
	assert_int_equal(others_set, 0);
	fake_knobs.script = NULL;
	assert_int_equal(kernel_release(node, fh), 0); /* and the file's temporary name goes */
}

static void a_restart_does_not_undo_them(void **state)
{
	make();
	put(0, LARGE);
	fake_knobs.verf++;
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(2, 2, 1);
	expect_own_times();
	fake_knobs.verf++;
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(2, 2, 1);
}

static void fsync_waits_for_them(void **state)
{
	struct fuse_fsync_in in;
	uint64_t number;

	make();
	put(0, 100);
	put(LARGE, 100); /* not one WRITE */
	in = (struct fuse_fsync_in){.fh = fh};
	fake_knobs.sync = false;
	fake_knobs.hang[NFS_SETATTR] = true;
	number = kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
	while (count(NFS_WRITE) < 2 || written_dirty(&inode_of(fs->inodes, node)->written))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(number));
	fake_knobs.hang[NFS_SETATTR] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
	expect_own_times();
	assert_int_equal(count(NFS_SETATTR), 1);
}

static void that_they_cannot_be_set_is_nobodys_error(void **state)
{
	make();
	fake_knobs.fail[NFS_SETATTR] = -EPERM;
	put(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(1, 0, 1);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 100);
	fake_knobs.fail[NFS_SETATTR] = 0;
}

/* --- attributes ------------------------------------------------------------------------------- */

static void attributes_come_behind_the_write(void **state)
{
	put(0, 100);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 100);
	assert_int_equal(count(NFS_GETATTR), 0);
	/* the WRITE probably brought all data */
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(1, 0, 0);
	/* the WRITE did not bring all data: now the attributes are not known */
	put(100, 100);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 200);
	assert_int_equal(count(NFS_GETATTR), 0);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_counts(2, 1, 0);
}

static void expect_asked(uint64_t size, unsigned getattrs)
{
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, size);
	assert_int_equal(count(NFS_GETATTR), getattrs);
}

static void they_come_with_the_last_one_before_close(void **state)
{
	struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0600};

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	put(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_asked(100, 0);
	put(100, 100);
	assert_int_equal(kernel_fsync(node, fh), 0);
	expect_asked(200, 0);
	expect_asked(200, 1); /* a second question must be answered by the server */
	expect_counts(2, 0, 0);
	/* another change of the file */
	put(200, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	fake_knobs.fail[NFS_SETATTR] = -EPERM;
	assert_int_equal(
		kernel_ask(FUSE_SETATTR, node, &mode, sizeof(mode), NULL, 0, NULL, 0), -EPERM);
	fake_knobs.fail[NFS_SETATTR] = 0;
	expect_asked(300, 2);
	/* with attributes that do not count all writes */
	put(0, LARGE);
	put(LARGE, 100);
	fake_knobs.sync = false;
	assert_int_equal(kernel_flush(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, LARGE + 100);
	/* no attributes are believed */
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 0;
	put(0, 100);
	assert_int_equal(kernel_flush(node, fh), 0);
	expect_asked(LARGE + 100, count(NFS_GETATTR) + 1);
}

/* More data is written while the WRITE is under way: the attributes of the WRITE do not count that
 * data. */
static void what_is_written_meanwhile_counts(void **state)
{
	struct fuse_getattr_in in = {0};
	const struct fuse_attr_out *out;
	struct answer a;
	uint64_t number;

	fake_knobs.sync = false;
	fake_knobs.hang[NFS_WRITE] = true;
	put(0, 100);
	number = kernel_send(FUSE_GETATTR, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	put(100, 100);
	fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	a = kernel_wait(number);
	assert_int_equal(a.error, 0);
	out = (const struct fuse_attr_out *)a.data;
	assert_int_equal(out->attr.size, 200);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.size, 200);
}

/* The server may have lost data before a COMMIT: a COMMIT goes to the server before a read. */
static void a_read_after_a_lost_connection_commits_first(void **state)
{
	assert_int_equal(kernel_write(node, fh, 0, data, 5000, O_RDWR), 5000);
	assert_int_equal(kernel_read(node, fh, 0, back, 5000), 5000);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(count(NFS_COMMIT), 0);
	upcalls.connection(fs, NFS_CONNECTION_LOST);
	upcalls.connection(fs, NFS_CONNECTION_BACK);
	fake_knobs.verf = 7;
	assert_int_equal(kernel_read(node, fh, 6000, back, 100), 0); /* no such data */
	assert_int_equal(count(NFS_COMMIT), 0);
	assert_int_equal(kernel_read(node, fh, 0, back, 5000), 5000);
	assert_memory_equal(back, data, 5000);
	assert_int_equal(count(NFS_WRITE), 2);
	assert_true(count(NFS_COMMIT) > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_gather, teardown_gather)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_after_a_lost_connection_commits_first),
		TEST(times_are_set_behind_the_write),
		TEST(times_are_set_when_nothing_is_written_again),
		TEST(what_is_written_again_does_not_outlive_a_cut),
		TEST(what_fails_is_told_to_whom_it_concerns),
		TEST(a_short_write_has_them_set_again),
		TEST(without_compounds_they_come_after_it),
		TEST(another_user_sets_them_himself),
		TEST(an_owner_is_set_by_itself),
		TEST(who_is_killed_is_not_told),
		TEST(they_are_set_by_what_comes_next),
		TEST(else_they_are_set_by_themselves),
		TEST(nobody_else_suffers),
		TEST(who_sees_the_file_meanwhile_sees_sane_ones),
		TEST(a_restart_does_not_undo_them),
		TEST(fsync_waits_for_them),
		TEST(that_they_cannot_be_set_is_nobodys_error),
		TEST(attributes_come_behind_the_write),
		TEST(they_come_with_the_last_one_before_close),
		TEST(what_is_written_meanwhile_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
