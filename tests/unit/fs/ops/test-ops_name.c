/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_name, as the kernel asks for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/known/names.h"
#include "transport/clock.h"
#include "tests/unit/fs/kernel-names.h"

/* Including the work after the answer: the worker then reads the next request. */
static void release(uint64_t node, uint64_t fh)
{
	assert_int_equal(kernel_release(node, fh), 0);
	assert_false(exists("no such name"));
}

/* --- making ----------------------------------------------------------------------------------- */

static void a_regular_file_of_mknod_is_not_left_open(void **state)
{
	struct fuse_mknod_in in = {.mode = S_IFREG | 0600};

	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "a", 2, &e, sizeof(e)), 0);
	assert_int_equal(count(NFS_OPEN), 1);
	assert_int_equal(count(NFS_CLOSE), 1);
	assert_int_equal(e.attr.mode, S_IFREG | 0600);
	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "a", 2, &e, sizeof(e)),
		-EEXIST);
	assert_int_equal(count(NFS_CLOSE), 1);
	in.mode = S_IFIFO | 0600;
	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "b", 2, &e, sizeof(e)), 0);
	assert_int_equal(e.attr.mode, S_IFIFO | 0600);
	in.mode = S_IFMT;
	assert_int_equal(
		kernel_ask(FUSE_MKNOD, KERNEL_ROOT, &in, sizeof(in), "c", 2, &e, sizeof(e)),
		-EINVAL);
}

/* --- removing and moving ---------------------------------------------------------------------- */

static void a_closed_file_is_removed_at_once(void **state)
{
	make("a", NULL);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_RENAME), 0);
	assert_false(exists("a"));
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -ENOENT);
}

static void an_open_file_outlives_its_last_name(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, node = make("a", &fh);

	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_REMOVE), 0);
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.nlink, 0);
	assert_int_equal(kernel_write(node, fh, 4, "more", 4, O_RDWR), 4);
	release(node, fh);
	assert_int_equal(count(NFS_REMOVE), 1);
}

static void an_unlink_that_fails_leaves_all_as_it_was(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, node = make("a", &fh);

	fake_knobs.fail[NFS_RENAME] = -EACCES;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -EACCES);
	fake_knobs.fail[NFS_RENAME] = 0;
	assert_true(exists("a"));
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.nlink, 1);
	assert_int_equal(kernel_release(node, fh), 0);
	fake_knobs.fail[NFS_REMOVE] = -EACCES;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -EACCES);
	fake_knobs.fail[NFS_REMOVE] = 0;
	/* opens do not wait for the removal any more */
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
}

/* While a file is open, REMOVE itself makes sure to remove no other file than the expected one. */
static void a_closed_file_is_removed_at_once_beside_an_open_one(void **state)
{
	uint64_t open, lookups;

	make("a", NULL);
	make("b", &open);
	lookups = count(NFS_LOOKUP);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_int_equal(count(NFS_REMOVE), 1);
	assert_int_equal(count(NFS_RENAME), 0);
	assert_false(exists("a"));
}

static bool is_another(struct nfs_op *op)
{
	if (op->type != NFS_REMOVE || !op->u.remove.only)
		return false;
	op->error = -ESTALE;
	return true;
}

static void what_another_client_has_put_in_its_place_is_looked_at(void **state)
{
	uint64_t open, lookups;

	make("a", NULL);
	make("b", &open);
	lookups = count(NFS_LOOKUP);
	fake_knobs.script = is_another;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups + 1);
	assert_int_equal(count(NFS_REMOVE), 2);
	assert_false(exists("a"));
}

static void a_rename_asks_for_no_name_that_is_known(void **state)
{
	uint64_t open, lookups, dir;

	believe_names();
	dir = make_dir();
	make_in(dir, "a");
	make_in(dir, "b");
	make("open", &open);
	lookups = count(NFS_LOOKUP);
	/* to a closed file, and to a name that is not there */
	assert_int_equal(kernel_rename(dir, "a", dir, "b"), 0);
	assert_int_equal(kernel_rename(dir, "b", dir, "c"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_int_equal(count(NFS_RENAME), 2);
	assert_false(exists_in(dir, "a") || exists_in(dir, "b"));
	assert_int_equal(count(NFS_LOOKUP), lookups);
	assert_true(exists_in(dir, "c"));
}

static bool is_another_to_replace(struct nfs_op *op)
{
	if (op->type != NFS_RENAME || !op->u.rename.only)
		return false;
	op->error = -ESTALE;
	return true;
}

static void what_a_rename_replaces_instead_is_looked_at(void **state)
{
	uint64_t open, lookups;

	make("a", NULL);
	make("b", NULL);
	make("open", &open);
	lookups = count(NFS_LOOKUP);
	fake_knobs.script = is_another_to_replace;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
	assert_int_equal(count(NFS_LOOKUP), lookups + 1);
	assert_int_equal(count(NFS_RENAME), 2);
	assert_true(exists("b"));
	assert_false(exists("a"));
}

/* An open that comes while the name is being removed waits, and then asks the server. */
static void an_open_waits_for_the_end_of_an_unlink(void **state)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	uint64_t node = make("a", NULL), removes, opens, before = count(NFS_OPEN);

	fake_knobs.hang[NFS_REMOVE] = true;
	removes = kernel_send(FUSE_UNLINK, KERNEL_ROOT, NULL, 0, "a", 2);
	opens = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	assert_false(exists("none"));
	assert_int_equal(count(NFS_OPEN), before);
	assert_false(kernel_answered(removes) || kernel_answered(opens));
	kernel_interrupt(removes);
	assert_int_equal(kernel_wait(removes).error, -EINTR);
	assert_int_equal(kernel_wait(opens).error, 0);
	assert_int_equal(count(NFS_OPEN), before + 1);
}

/* An open that has begun before the REMOVE keeps the file. */
static void an_open_that_is_first_saves_the_file(void **state)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	uint64_t node = make("a", NULL), opens;

	fake_knobs.hang[NFS_OPEN] = true;
	opens = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
	assert_int_equal(count(NFS_REMOVE), 0);
	assert_int_equal(count(NFS_RENAME), 1);
	/* and when the open fails, the kept file is not needed */
	kernel_interrupt(opens);
	assert_int_equal(kernel_wait(opens).error, -EINTR);
	assert_false(exists("a"));
	assert_int_equal(count(NFS_REMOVE), 1);
}

static void a_rename_keeps_what_it_replaces_while_it_is_open(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, from = make("a", NULL), to = make("b", &fh);

	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
	assert_false(exists("a"));
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, from);
	assert_int_equal(kernel_getattr(to, &attr), 0);
	assert_int_equal(attr.nlink, 0);
	assert_int_equal(count(NFS_REMOVE), 0);
	release(to, fh);
	assert_int_equal(count(NFS_REMOVE), 1);
}

static bool to_b_fails(struct nfs_op *op)
{
	if (op->type != NFS_RENAME || op->u.rename.from.len != 1 || op->u.rename.from.s[0] != 'a')
		return false;
	op->error = -EACCES;
	return true;
}

static void a_rename_that_fails_gives_the_name_back(void **state)
{
	struct fuse_attr attr;
	uint64_t fh, to;

	make("a", NULL);
	to = make("b", &fh);
	fake_knobs.script = to_b_fails;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EACCES);
	assert_true(exists("a"));
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, to);
	assert_int_equal(kernel_getattr(to, &attr), 0);
	assert_int_equal(attr.nlink, 1);
	assert_int_equal(count(NFS_REMOVE), 1); /* of the silly name */
	release(to, fh);
	assert_int_equal(count(NFS_REMOVE), 1);
	assert_true(exists("b"));
}

/* --- lost answers ----------------------------------------------------------------------------- */

static int lost_error;

static bool is_silly(const struct nfs_name *n)
{
	return n->len > 4 && !memcmp(n->s, ".nfs", 4);
}

static int lose_silly(const struct nfs_op *op)
{
	return op->type == NFS_RENAME && is_silly(&op->u.rename.to) ? lost_error : 0;
}

static int lose_moved(const struct nfs_op *op)
{
	return op->type == NFS_RENAME && !is_silly(&op->u.rename.to) ? lost_error : 0;
}

static bool never_comes(struct nfs_op *op)
{
	op->error = lost_error;
	return op->type == NFS_RENAME && !is_silly(&op->u.rename.to);
}

static bool links_are_refused(struct nfs_op *op)
{
	op->error = op->type == NFS_LINK ? -EOPNOTSUPP : -EACCES;
	return op->type == NFS_LINK || (op->type == NFS_RENAME && op->u.rename.from.s[0] == 'a');
}

static bool silly_names_left;

static bool notes_silly(struct nfs_op *op, const struct nfs_dirent *ent)
{
	silly_names_left |= !strncmp(ent->name, ".nfs", 4);
	return true;
}

static void has_ended(struct nfs_op *op)
{
}

/* Another client sends op, and is answered before this function returns. */
static void ask_elsewhere(struct nfs_op *op)
{
	op->done = has_ended;
	fake_knobs.sync = true;
	nfs_submit(fs->client, op);
	fake_knobs.sync = false;
	assert_int_equal(op->error, 0);
}

static bool has_silly_names(void)
{
	struct nfs_op op = {.type = NFS_READDIR};

	op.u.readdir.dir = inode(KERNEL_ROOT)->fh;
	op.u.readdir.max_bytes = 8192;
	op.u.readdir.entry = notes_silly;
	silly_names_left = false;
	ask_elsewhere(&op);
	return silly_names_left;
}

/* The kernel waits for no RELEASE, so the last close returns before the name is removed. */
static bool silly_names_go(void)
{
	for (int i = 0; i < 1000 && has_silly_names(); i++)
		usleep(10000);
	return !has_silly_names();
}

static const int uncertain[] = {-ENOENT, -EIO, -ETIMEDOUT, -ENOTCONN, -EREMOTEIO};
#define UNCERTAIN (sizeof(uncertain) / sizeof(uncertain[0]))

/* The server has carried the rename out: "b" is the new file, which nothing replaces. */
static void a_rename_whose_answer_is_lost_stays_done(void **state)
{
	for (unsigned i = 0; i < UNCERTAIN; i++) {
		uint64_t fh, from = make("a", NULL), to = make("b", &fh);

		lost_error = uncertain[i];
		fake_knobs.lose = lose_moved;
		assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
		fake_knobs.lose = NULL;
		assert_false(exists("a"));
		assert_true(exists("b"));
		assert_int_equal(e.nodeid, from);
		assert_true(has_silly_names());
		release(to, fh);
		assert_true(silly_names_go());
		assert_int_equal(kernel_unlink(KERNEL_ROOT, "b"), 0);
	}
}

/* The process is told that it was killed, but the new file stays. */
static void a_killed_rename_replaces_nothing_with_what_was_there(void **state)
{
	uint64_t fh, from = make("a", NULL), to = make("b", &fh);

	lost_error = -EINTR;
	fake_knobs.lose = lose_moved;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EINTR);
	fake_knobs.lose = NULL;
	assert_false(exists("a"));
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, from);
	release(to, fh);
	assert_true(exists("b"));
	assert_true(silly_names_go());
}

/* The server has not executed the RENAME: "b" is there again, and a late RENAME finds a file that
 * stays. */
static void a_rename_that_was_not_carried_out_gives_the_name_back(void **state)
{
	for (unsigned i = 0; i < UNCERTAIN; i++) {
		uint64_t fh, to;

		make("a", NULL);
		to = make("b", &fh);
		lost_error = uncertain[i];
		fake_knobs.script = never_comes;
		assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), uncertain[i]);
		fake_knobs.script = NULL;
		assert_true(exists("a"));
		assert_true(exists("b"));
		assert_int_equal(e.nodeid, to);
		assert_int_equal(e.attr.nlink, 1);
		release(to, fh);
		assert_true(exists("b"));
		assert_true(silly_names_go());
		assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
		assert_int_equal(kernel_unlink(KERNEL_ROOT, "b"), 0);
	}
}

/* Another client makes "b" as soon as the old one is out of the way. */
static bool another_client_is_first(struct nfs_op *op)
{
	struct nfs_op put = {.type = NFS_CREATE};

	if (op->type != NFS_RENAME || is_silly(&op->u.rename.to))
		return false;
	fake_knobs.script = NULL;
	put.u.create.dir = inode(KERNEL_ROOT)->fh;
	put.u.create.name = (struct nfs_name){"b", 1};
	put.u.create.type = NFS_FIFO;
	ask_elsewhere(&put);
	op->error = -EACCES;
	return true;
}

static void what_another_client_puts_there_is_not_replaced(void **state)
{
	uint64_t fh, to;

	make("a", NULL);
	to = make("b", &fh);
	fake_knobs.script = another_client_is_first;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EACCES);
	assert_true(exists("b"));
	assert_int_not_equal(e.nodeid, to);
	assert_int_equal(e.attr.mode & S_IFMT, S_IFIFO);
	release(to, fh);
	assert_true(has_silly_names()); /* the only name of the replaced file */
}

static void a_server_without_links_gives_the_name_back(void **state)
{
	uint64_t fh, to;

	make("a", NULL);
	to = make("b", &fh);
	fake_knobs.script = links_are_refused;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EACCES);
	fake_knobs.script = NULL;
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, to);
	assert_int_equal(e.attr.nlink, 1);
	release(to, fh);
	assert_true(exists("b"));
	assert_true(silly_names_go());
}

static void a_silly_name_whose_answer_is_lost_is_found(void **state)
{
	struct fuse_attr attr;

	for (unsigned i = 0; i < UNCERTAIN; i++) {
		uint64_t fh, node = make("a", &fh);

		lost_error = uncertain[i];
		fake_knobs.lose = lose_silly;
		assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), 0);
		fake_knobs.lose = NULL;
		assert_false(exists("a"));
		assert_int_equal(kernel_getattr(node, &attr), 0);
		assert_int_equal(attr.nlink, 0);
		assert_true(has_silly_names());
		release(node, fh);
		assert_true(silly_names_go());
	}
}

static void a_silly_name_of_a_killed_unlink_goes_at_the_close(void **state)
{
	uint64_t fh, node = make("a", &fh);

	lost_error = -EINTR;
	fake_knobs.lose = lose_silly;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "a"), -EINTR);
	fake_knobs.lose = NULL;
	assert_true(has_silly_names());
	release(node, fh);
	assert_true(silly_names_go());
}

static void a_killed_rename_gives_the_silly_name_back(void **state)
{
	uint64_t fh, to;

	make("a", NULL);
	to = make("b", &fh);
	lost_error = -EINTR;
	fake_knobs.lose = lose_silly;
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), -EINTR);
	fake_knobs.lose = NULL;
	assert_true(exists("a"));
	assert_true(exists("b"));
	assert_int_equal(e.nodeid, to);
	release(to, fh);
	assert_true(exists("b"));
	assert_true(silly_names_go());
}

static void what_is_known_of_names_follows_a_rename(void **state)
{
	uint64_t node = make("a", NULL);
	struct name_info info;

	make("b", NULL);
	assert_int_equal(kernel_rename(KERNEL_ROOT, "a", KERNEL_ROOT, "b"), 0);
	assert_false(names_get(fs->names, inode(KERNEL_ROOT), "a", &info));
	assert_true(names_get(fs->names, inode(KERNEL_ROOT), "b", &info));
	assert_ptr_equal(info.ino, inode(node));
	inode_unref(info.ino);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "b"), 0);
	assert_false(names_get(fs->names, inode(KERNEL_ROOT), "b", &info));
}

static void a_removed_directory_is_shown_without_links(void **state)
{
	struct fuse_attr attr;
	uint64_t node;

	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), 0);
	node = e.nodeid;
	assert_int_equal(kernel_rmdir(KERNEL_ROOT, "d"), 0);
	fake_knobs.fail[NFS_GETATTR] = -ESTALE;
	assert_int_equal(kernel_getattr(node, &attr), 0);
	assert_int_equal(attr.nlink, 0);
	assert_int_equal(kernel_getattr(KERNEL_ROOT, &attr), -ESTALE);
}

/* A file with a silly name is closed while the directory is being removed. */
static void rmdir_waits_for_silly_names_to_go(void **state)
{
	struct fuse_release_in in = {0};
	uint64_t dir, node, released, removed;

	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), 0);
	dir = e.nodeid;
	assert_int_equal(kernel_create(dir, "a", O_RDWR, &node, &in.fh), 0);
	assert_int_equal(kernel_unlink(dir, "a"), 0);
	/* the open file is not being closed */
	assert_int_equal(kernel_rmdir(KERNEL_ROOT, "d"), -ENOTEMPTY);
	fake_knobs.hang[NFS_CLOSE] = true;
	released = kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	removed = kernel_send(FUSE_RMDIR, KERNEL_ROOT, NULL, 0, "d", 2);
	assert_true(exists("d"));
	assert_false(kernel_answered(released) || kernel_answered(removed));
	fake_knobs.hang[NFS_CLOSE] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(released).error, 0);
	assert_int_equal(kernel_wait(removed).error, 0);
	assert_false(exists("d"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_mount, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_regular_file_of_mknod_is_not_left_open),
		TEST(a_closed_file_is_removed_at_once),
		TEST(a_closed_file_is_removed_at_once_beside_an_open_one),
		TEST(what_another_client_has_put_in_its_place_is_looked_at),
		TEST(a_rename_asks_for_no_name_that_is_known),
		TEST(what_a_rename_replaces_instead_is_looked_at),
		TEST(an_open_file_outlives_its_last_name),
		TEST(an_unlink_that_fails_leaves_all_as_it_was),
		TEST(an_open_waits_for_the_end_of_an_unlink),
		TEST(an_open_that_is_first_saves_the_file),
		TEST(a_rename_keeps_what_it_replaces_while_it_is_open),
		TEST(a_rename_that_fails_gives_the_name_back),
		TEST(a_rename_whose_answer_is_lost_stays_done),
		TEST(a_killed_rename_replaces_nothing_with_what_was_there),
		TEST(a_rename_that_was_not_carried_out_gives_the_name_back),
		TEST(what_another_client_puts_there_is_not_replaced),
		TEST(a_server_without_links_gives_the_name_back),
		TEST(a_silly_name_whose_answer_is_lost_is_found),
		TEST(a_silly_name_of_a_killed_unlink_goes_at_the_close),
		TEST(a_killed_rename_gives_the_silly_name_back),
		TEST(what_is_known_of_names_follows_a_rename),
		TEST(a_removed_directory_is_shown_without_links),
		TEST(rmdir_waits_for_silly_names_to_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
