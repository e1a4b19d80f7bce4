/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/written: written data beside truncations, restarts, and late answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include <stdatomic.h>

#include "fs/coherence/change.h"
#include "fs/ops/ops.h"
#include "tests/unit/fs/kernel-gather.h"
#include "transport/clock.h"

static struct nfs_fh file_fh;
static struct nfs_attr attr_before;

static bool answers_of_before(struct nfs_op *op)
{
	if (op->type != NFS_LOOKUP)
		return false;
	op->error = 0;
	op->u.lookup.fh = file_fh;
	op->u.lookup.attr = attr_before;
	op->u.lookup.dir_attr.have = false;
	return true;
}

/* A name is looked up. The server answers with the size from before a WRITE, and the answer comes
 * after that of the WRITE. Without a check, the kernel would cut its file short. */
static void an_answer_that_comes_late_cuts_nothing_off(void **state)
{
	struct inode *ino = inode_of(fs->inodes, node);
	const struct fuse_entry_out *e;
	struct answer a;
	uint64_t number;

	file_fh = ino->fh;
	attr_before = ino->attrs.attr;
	assert_int_equal(attr_before.size, 0);
	put(0, 5000);
	fake_knobs.hang[NFS_LOOKUP] = true;
	number = kernel_send(FUSE_LOOKUP, KERNEL_ROOT, NULL, 0, "f", 2);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 1);
	fake_knobs.hang[NFS_LOOKUP] = false;
	fake_knobs.script = answers_of_before;
	fake_release(fs->client);
	a = kernel_wait(number);
	assert_int_equal(a.error, 0);
	e = (const struct fuse_entry_out *)a.data;
	assert_int_equal(e->attr.size, 5000);
	fake_knobs.script = NULL;
}

static int truncate_to(uint64_t size)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE | FATTR_FH, .fh = fh, .size = size};

	return kernel_ask(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

static void what_was_cut_off_does_not_come_back(void **state)
{
	struct fuse_attr a;

	put(0, LARGE);
	assert_int_equal(truncate_to(1000), 0);
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 1000);
	expect(0, 1000);
	/* nor by an open that truncates */
	put(0, LARGE);
	assert_int_equal(kernel_release(node, fh), 0);
	assert_int_equal(kernel_open(node, O_RDWR | O_TRUNC, &fh), 0);
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 0);
}

/* CREATE finds that the file exists, and truncates the file. */
static void create_again(uint64_t *other)
{
	uint64_t found;

	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR | O_TRUNC, &found, other), 0);
	assert_int_equal(found, node);
}

static void what_a_new_name_truncates_does_not_come_back(void **state)
{
	struct fuse_attr a;
	uint64_t other;

	put(0, 1000);
	create_again(&other);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 0);
	assert_int_equal(kernel_release(node, other), 0);
	/* nor if the truncation fails */
	put(0, 1000);
	fake_knobs.fail[NFS_SETATTR] = -EIO;
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR | O_TRUNC, &node, &other), -EIO);
	fake_knobs.fail[NFS_SETATTR] = 0;
	/* data that is written after the truncation stays */
	create_again(&other);
	put(0, 500);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 500);
	assert_int_equal(count(NFS_SETATTR), 3);
	assert_int_equal(kernel_release(node, other), 0);
}

/* The WRITE is answered while the file is being made. */
static void what_is_sent_beside_a_new_name_does_not_come_back(void **state)
{
	struct fuse_create_in in = {.flags = O_RDWR | O_TRUNC, .mode = 0644};
	const struct fuse_open_out *o;
	struct fuse_attr a;
	struct answer got;
	uint64_t number;

	put(0, 1000);
	fake_knobs.hang[NFS_OPEN] = true;
	number = kernel_send(FUSE_CREATE, KERNEL_ROOT, &in, sizeof(in), "f", 2);
	assert_int_equal(kernel_fsync(node, fh), 0);
	fake_knobs.hang[NFS_OPEN] = false;
	fake_release(fs->client);
	got = kernel_wait(number);
	assert_int_equal(got.error, 0);
	o = (const struct fuse_open_out *)(got.data + sizeof(struct fuse_entry_out));
	assert_int_equal(kernel_release(node, o->fh), 0);
	assert_int_equal(kernel_getattr(node, &a), 0);
	assert_int_equal(a.size, 0);
}

/* --- a truncation is under way ---------------------------------------------------------------- */

#define PIECE 4096u

static uint64_t wrote_at[16]; /* where WRITEs were sent to */
static atomic_uint nwrote;

static bool notes_writes(struct nfs_op *op)
{
	unsigned n = atomic_load(&nwrote);

	if (op->type == NFS_WRITE && n < 16) {
		wrote_at[n] = op->u.write.offset;
		atomic_store(&nwrote, n + 1);
	}
	return false;
}

static bool has_written(uint64_t off)
{
	for (unsigned i = 0; i < nwrote; i++)
		if (wrote_at[i] == off)
			return true;
	return false;
}

static void put_and_send(uint64_t off)
{
	put(off, PIECE);
	assert_int_equal(kernel_read(node, fh, off, back, 1), 1);
}

/* The server has a piece of data, and has got a truncation of that piece; the answer has not come
 * yet. */
static uint64_t truncation(void)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE | FATTR_FH, .fh = fh, .size = 0};
	uint64_t number;

	fake_knobs.sync = false;
	nwrote = 0;
	fake_knobs.script = notes_writes;
	put_and_send(0);
	fake_knobs.hang[NFS_SETATTR] = true;
	number = kernel_send(FUSE_SETATTR, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(number));
	return number;
}

static void truncation_ends(uint64_t number, int error)
{
	fake_knobs.hang[NFS_SETATTR] = false;
	fake_knobs.fail[NFS_SETATTR] = error;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, error);
	fake_knobs.fail[NFS_SETATTR] = 0;
}

/* Another process's write meanwhile may have come to the server after the truncation: that data is
 * kept. */
static void what_is_written_beside_a_truncation_stays(void **state)
{
	uint64_t number = truncation();

	put_and_send(LARGE);
	truncation_ends(number, 0);
	nwrote = 0;
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_true(has_written(LARGE));
	assert_false(has_written(0));
	fake_knobs.script = NULL;
}

/* A restart is seen before the answer: the fate of the piece is unknown. */
static void a_restart_beside_a_truncation(void **state)
{
	struct fuse_fsync_in in = {.fh = fh};
	uint64_t number = truncation(), fsync;

	fake_knobs.verf++;
	put_and_send(LARGE);
	nwrote = 0;
	fsync = kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	assert_false(kernel_answered(fsync));
	assert_false(has_written(0));
	truncation_ends(number, 0);
	assert_int_equal(kernel_wait(fsync).error, 0);
	assert_false(has_written(0));
	/* the truncation was not carried out */
	assert_int_equal(kernel_fsync(node, fh), 0);
	number = truncation();
	fake_knobs.verf++;
	put_and_send(LARGE);
	nwrote = 0;
	truncation_ends(number, -EIO);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_true(has_written(0));
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	fake_knobs.script = NULL;
}

static bool takes_two(struct nfs_op *op)
{
	if (op->type != NFS_WRITE)
		return false;
	fake_knobs.hang[NFS_WRITE] = ++nwrote == 2;
	if (nwrote <= 2)
		return false;
	op->error = -ENOSPC;
	return true;
}

/* A COMMIT is under way. A WRITE tells of a restart before the COMMIT is answered. When that answer
 * comes, the data is being written again. */
static void a_commit_says_nothing_of_what_is_written_again(void **state)
{
	struct dirty_file *d = &inode_of(fs->inodes, node)->written.dirty;
	struct fuse_fsync_in in = {.fh = fh};
	struct fuse_getattr_in get = {0};
	uint64_t fsync, getattr;

	fake_knobs.sync = false;
	nwrote = 0;
	fake_knobs.script = takes_two;
	put_and_send(0);
	assert_int_equal(nwrote, 1);
	fake_knobs.hang[NFS_COMMIT] = true;
	fsync = kernel_send(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0);
	/* the COMMIT is sent */
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	fake_knobs.verf++;
	put(LARGE, PIECE);
	getattr = kernel_send(FUSE_GETATTR, node, &get, sizeof(get), NULL, 0);
	while (dirty_bytes(d, DIRTY_WRITING) < 2 * PIECE)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	used(); /* both hang */
	fake_knobs.hang[NFS_COMMIT] = fake_knobs.hang[NFS_WRITE] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(fsync).error, -ENOSPC);
	assert_int_equal(kernel_wait(getattr).error, 0);
	fake_knobs.script = NULL;
	assert_int_equal(kernel_write(node, fh, 0, large, 10, O_RDWR), 10);
	assert_int_equal(kernel_fsync(node, fh), 0);
}

static bool answers_in_part(struct nfs_op *op)
{
	if (op->type != NFS_WRITE)
		return false;
	notes_writes(op);
	fake_knobs.hang[NFS_WRITE] = op->u.write.offset == LARGE;
	return false;
}

/* The server has taken half of a WRITE when it restarts. A COMMIT tells of the restart before the
 * other half is answered; then that answer brings no news. */
static void a_restart_between_the_parts_of_a_write(void **state)
{
	struct written *w = &inode_of(fs->inodes, node)->written;

	put(0, LARGE);
	fake_knobs.sync = false;
	fake_knobs.short_write = LARGE / 2;
	nwrote = 0;
	fake_knobs.script = answers_in_part;
	put(LARGE, LARGE);
	while (!has_written(LARGE))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	used();
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT); /* the rest is sent */
	fake_knobs.hang[NFS_WRITE] = false;
	fake_knobs.short_write = 0;
	fake_knobs.verf++;
	nwrote = 0;
	fake_knobs.script = notes_writes;
	writeback_commit(w);
	while (!has_written(0))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	fake_release(fs->client);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_true(has_written(LARGE));
	assert_int_equal(dirty_bytes(&w->dirty, DIRTY_WRITING), 0);
	fake_knobs.script = NULL;
}

/* --- changes by other clients ----------------------------------------------------------------- */

/* The server shows a version that is newer by this much. */
static void look_at_version(uint64_t newer)
{
	struct inode *ino = inode_of(fs->inodes, node);
	struct nfs_data_attr a = {.have = true, .change = 1000 + newer, .size = 77};

	change_look(fs, ino, &a, clock_ns());
}

static void what_another_client_changes_has_ours_committed(void **state)
{
	put(0, LARGE);
	look_at_version(0);
	assert_int_equal(count(NFS_COMMIT), 0);
	look_at_version(1);
	assert_int_equal(count(NFS_COMMIT), 1);
	used();
	fake_knobs.verf++;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_WRITE), 1);
	assert_int_equal(count(NFS_COMMIT), 1);
}

static void what_another_client_may_have_replaced_is_not_written_again(void **state)
{
	nwrote = 0;
	put(0, LARGE);
	look_at_version(0);
	fake_knobs.hang[NFS_COMMIT] = true;
	look_at_version(1);
	put(LARGE, LARGE); /* after that change: the WRITE is known to be newer */
	assert_int_equal(count(NFS_WRITE), 2);
	fake_knobs.verf++;
	fake_knobs.script = notes_writes;
	fake_knobs.hang[NFS_COMMIT] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_true(has_written(LARGE));
	assert_false(has_written(0));
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	fake_knobs.script = NULL;
}

/* A COMMIT fails, and close tells. The server then takes COMMITs again, with another verifier. The
 * program takes the data as lost, so another client may have written the file since. */
static void what_was_told_as_lost_is_dropped_at_the_last_close(void **state)
{
	uint64_t other;

	nwrote = 0;
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_write(node, other, 0, large, LARGE, O_RDWR), LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EIO;
	assert_int_equal(kernel_flush(node, other), -EIO);
	put(LARGE, PIECE); /* no program has been told of the loss of these bytes */
	fake_knobs.fail[NFS_COMMIT] = 0;
	fake_knobs.verf++;
	fake_knobs.script = notes_writes;
	assert_int_equal(kernel_release(node, other), 0);
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_true(has_written(LARGE));
	assert_false(has_written(0));
	fake_knobs.script = NULL;
}

/* A COMMIT fails, close tells, and the next COMMIT would fail in another way. */
static void what_was_told_as_lost_is_told_once(void **state)
{
	uint64_t other;

	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_write(node, other, 0, large, LARGE, O_RDWR), LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EIO;
	assert_int_equal(kernel_flush(node, other), -EIO);
	fake_knobs.fail[NFS_COMMIT] = -ENOSPC;
	assert_int_equal(kernel_release(node, other), 0);
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_flush(node, other), 0);
	fake_knobs.fail[NFS_COMMIT] = 0;
	assert_int_equal(kernel_release(node, other), 0);
}

/* While the file is open, another fsync may save the data yet. */
static void what_was_told_as_lost_is_kept_while_the_file_is_open(void **state)
{
	nwrote = 0;
	put(0, LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EIO;
	assert_int_equal(kernel_fsync(node, fh), -EIO);
	fake_knobs.fail[NFS_COMMIT] = 0;
	fake_knobs.verf++;
	fake_knobs.script = notes_writes;
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_true(has_written(0));
	fake_knobs.script = NULL;
}

/* The last COMMIT fails after close, and no program has been told: a later opener is. */
static void what_no_program_was_told_of_is_told_to_the_next_opener(void **state)
{
	uint64_t other;

	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_write(node, other, 0, large, LARGE, O_RDWR), LARGE);
	fake_knobs.fail[NFS_COMMIT] = -EIO;
	assert_int_equal(kernel_release(node, other), 0);
	fake_knobs.fail[NFS_COMMIT] = 0;
	assert_int_equal(kernel_open(node, O_RDWR, &other), 0);
	assert_int_equal(kernel_flush(node, other), -EIO);
	assert_int_equal(kernel_release(node, other), 0);
}

static void what_is_unstable_is_committed_by_itself(void **state)
{
	struct written *w = &inode_of(fs->inodes, node)->written;

	put(0, LARGE);
	writeback_tick(fs->writeback);
	assert_int_equal(count(NFS_COMMIT), 0);
	w->kept_last -= 6 * NSEC_PER_SEC; /* no WRITE since */
	writeback_tick(fs->writeback);
	assert_int_equal(count(NFS_COMMIT), 1);
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	/* while more and more data is written */
	put(0, LARGE);
	w->kept_since -= 11 * NSEC_PER_SEC;
	writeback_tick(fs->writeback);
	assert_int_equal(count(NFS_COMMIT), 2);
	writeback_tick(fs->writeback);
	assert_int_equal(kernel_fsync(node, fh), 0);
	assert_int_equal(count(NFS_COMMIT), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		GATHER_TEST(an_answer_that_comes_late_cuts_nothing_off),
		GATHER_TEST(what_was_cut_off_does_not_come_back),
		GATHER_TEST(what_a_new_name_truncates_does_not_come_back),
		GATHER_TEST(what_is_sent_beside_a_new_name_does_not_come_back),
		GATHER_TEST(what_is_written_beside_a_truncation_stays),
		GATHER_TEST(a_restart_beside_a_truncation),
		GATHER_TEST(a_commit_says_nothing_of_what_is_written_again),
		GATHER_TEST(a_restart_between_the_parts_of_a_write),
		GATHER_TEST(what_another_client_changes_has_ours_committed),
		GATHER_TEST(what_another_client_may_have_replaced_is_not_written_again),
		GATHER_TEST(what_was_told_as_lost_is_dropped_at_the_last_close),
		GATHER_TEST(what_was_told_as_lost_is_told_once),
		GATHER_TEST(what_was_told_as_lost_is_kept_while_the_file_is_open),
		GATHER_TEST(what_no_program_was_told_of_is_told_to_the_next_opener),
		GATHER_TEST(what_is_unstable_is_committed_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
