/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/coherence/deleg: the trust in attributes of a delegated file, opens without the
 * server, and the end of both.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fs/coherence/deleg.h"
#include "fs/coherence/inval.h"
#include "fs/known/file.h"
#include "fs/program/upcall.h"
#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"
#include "transport/clock.h"

static uint64_t node;
static struct inode *ino;

static int setup(void **state)
{
	uint64_t fh;

	setup_mount(state);
	fake_knobs.delegates = true;
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_write(node, fh, 0, "data", 4, O_RDWR), 4);
	assert_int_equal(kernel_release(node, fh), 0);
	ino = inode_of(fs->inodes, node);
	return 0;
}

/* Opens and closes the file; true if the server was asked for the open. */
static bool asks(int flags)
{
	uint64_t before = count(NFS_OPEN), fh;

	assert_int_equal(kernel_open(node, flags, &fh), 0);
	assert_int_equal(kernel_release(node, fh), 0);
	return count(NFS_OPEN) > before;
}

static void it_is_opened_again_without_asking(void **state)
{
	uint64_t attrs = count(NFS_GETATTR), reads = count(NFS_READ), fh;
	struct fuse_attr a;
	char buf[10];

	assert_int_equal(deleg_since(fs, ino), 0);
	assert_true(asks(O_RDONLY));
	assert_int_not_equal(deleg_since(fs, ino), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(kernel_getattr(node, &a), 0);
		assert_int_equal(a.size, 4);
		assert_false(asks(O_RDONLY));
		assert_false(asks(O_RDONLY | O_DIRECT));
	}
	assert_int_equal(count(NFS_GETATTR), attrs);
	assert_int_equal(stats_get(&fs->stats.local_opens), 6);
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
	assert_int_equal(kernel_read(node, fh, 0, buf, 10), 4);
	assert_int_equal(count(NFS_READ), reads + 1);
	assert_int_equal(kernel_release(node, fh), 0);
}

/* Without a delegation, the server decides on each open. */
static void nothing_is_believed_without(void **state)
{
	fake_knobs.delegates = false;
	assert_true(asks(O_RDONLY));
	assert_true(asks(O_RDONLY));
	assert_int_equal(deleg_since(fs, ino), 0);
}

static void who_may_not_read_does_not(void **state)
{
	struct rpc_cred stranger = {.flavor = RPC_AUTH_SYS, .uid = 4711};
	uint64_t since;
	uint32_t may;

	assert_true(asks(O_RDONLY));
	since = deleg_since(fs, ino);
	assert_false(attrs_known_access(&ino->attrs, &stranger, NFS_ACCESS_READ, since - 1, &may));
	/* an open for execution is by another user, too: that user's access must be known */
	assert_true(asks(O_RDONLY | NFS_O_EXEC));
	attrs_note_access(&ino->attrs, &stranger, NFS_ACCESS_READ, 0, clock_ns());
	assert_true(attrs_known_access(&ino->attrs, &stranger, NFS_ACCESS_READ, since - 1, &may));
	assert_int_equal(may, 0);
}

static void a_recall_ends_it(void **state)
{
	assert_true(asks(O_RDONLY));
	assert_false(asks(O_RDONLY));
	fake_recall(fs->client, &ino->fh);
	assert_int_equal(deleg_since(fs, ino), 0);
	upcalls.recalled(fs, &ino->fh);
	assert_true(asks(O_RDONLY));
	assert_false(asks(O_RDONLY)); /* another one */
}

/* A thread ignores an answer that the thread handles after a notification, and would read up to the
 * old end of a file that the thread has just opened. */
static void a_recall_waits_for_attributes_in_flight(void **state)
{
	uint64_t told_at;
	struct fuse_attr a;
	unsigned before;

	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	assert_true(asks(O_RDONLY));
	before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);
	told_at = clock_ns();
	assert_int_equal(kernel_getattr(node, &a), 0);
	upcalls.recalled(fs, &ino->fh);
	upcalls.recalled(fs, &ino->fh);
	if (kernel_notified(FUSE_NOTIFY_INVAL_INODE) != before)
		assert_true(clock_age(clock_ns(), told_at) >= BELIEVED_HANDLED_NS);
	while (kernel_notified(FUSE_NOTIFY_INVAL_INODE) == before)
		sched_yield();
	assert_true(clock_age(clock_ns(), told_at) >= BELIEVED_HANDLED_NS);
	assert_int_equal(inval_stop(fs->inval), true);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
}

/* Attributes that were asked for before the delegation came tell nothing. */
static void older_answers_do_not_count(void **state)
{
	struct nfs_attr old, got;
	uint64_t before, since, seen;

	inode_known_attr(ino, 0, &old, &seen);
	before = clock_ns();
	assert_true(asks(O_RDONLY));
	since = deleg_since(fs, ino);
	old.size = 4711;
	inode_note_attr(ino, &(struct told){.attr = &old, .asked = before});
	assert_true(inode_known_attr(ino, since - 1, &got, &seen));
	assert_int_equal(got.size, 4);
}

/* The server does not warn of changes that this mount makes or is about to make. */
static void own_changes_end_it(void **state)
{
	struct fuse_entry_out link;
	uint64_t writer, fh;

	assert_true(asks(O_RDONLY));
	assert_int_equal(kernel_link(node, KERNEL_ROOT, "g", &link), 0);
	assert_true(asks(O_RDONLY));
	assert_false(asks(O_RDONLY));
	assert_int_equal(kernel_open(node, O_WRONLY, &writer), 0);
	assert_int_equal(deleg_since(fs, ino), 0);
	assert_true(asks(O_RDONLY)); /* and again, while a writer may write */
	assert_true(asks(O_RDONLY));
	assert_int_equal(kernel_release(node, writer), 0);
	assert_true(asks(O_RDONLY));
	assert_false(asks(O_RDONLY));
	assert_int_equal(kernel_open(node, O_RDONLY, &fh), 0);
	inode_touch(ino);
	assert_int_equal(deleg_since(fs, ino), 0);
	assert_int_equal(kernel_release(node, fh), 0);
}

/* An answer may be from before a WRITE of this mount that is under way: no delegation makes such an
 * answer valid for ever. */
static void a_write_under_way_ends_it(void **state)
{
	struct nfs_op op = {.u.open = {.deleg = 1, .attr = {.type = NFS_REG}}};
	uint64_t asked = clock_ns();

	filechange_begin(&ino->data.change);
	assert_int_equal(deleg_note(fs, ino, &op, asked), asked);
	filechange_end(&ino->data.change, NULL, 0);
	assert_int_equal(deleg_note(fs, ino, &op, asked), asked);
	assert_int_equal(deleg_since(fs, ino), 0);
}

static void removing_gives_it_back(void **state)
{
	uint64_t id;

	assert_true(asks(O_RDONLY));
	id = atomic_load(&ino->deleg.id);
	assert_true(nfs_deleg_holds(fs->client, &ino->fh, id));
	inode_ref(ino);
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "f"), 0);
	assert_false(nfs_deleg_holds(fs->client, &ino->fh, id));
	inode_unref(ino);
}

/* The delegation is returned with the name, unless data must be committed first that another name
 * will tell of. */
static void it_goes_with_a_name(void **state)
{
	_Atomic uint64_t *uncommitted = &ino->written.dirty.bytes[DIRTY_UNSTABLE];
	struct fuse_entry_out link;
	uint64_t id;

	assert_true(asks(O_RDONLY));
	id = atomic_load(&ino->deleg.id);
	atomic_store(uncommitted, 1);
	assert_int_equal(deleg_leaves(fs, ino), id);
	assert_int_equal(deleg_leaves(fs, ino), 0);
	assert_true(nfs_deleg_holds(fs->client, &ino->fh, id));
	nfs_deleg_give_back(fs->client, &ino->fh, id);
	assert_int_equal(kernel_link(node, KERNEL_ROOT, "g", &link), 0);
	assert_true(asks(O_RDONLY));
	id = atomic_load(&ino->deleg.id);
	assert_int_equal(deleg_leaves(fs, ino), 0);
	assert_false(nfs_deleg_holds(fs->client, &ino->fh, id));
	assert_true(asks(O_RDONLY));
	id = atomic_load(&ino->deleg.id);
	atomic_store(uncommitted, 0);
	assert_int_equal(deleg_leaves(fs, ino), id);
	nfs_deleg_give_back(fs->client, &ino->fh, id);
}

/* Only a hostile server would delegate a directory. */
static void a_directory_is_not_delegated(void **state)
{
	struct inode *root = inode_table_root(fs->inodes);
	struct nfs_op op = {.u.open = {.deleg = 1, .attr = {.type = NFS_DIR}}};

	assert_int_equal(deleg_note(fs, root, &op, 1), 1);
	assert_int_equal(deleg_since(fs, root), 0);
}

/* The mount holds the delegation of a former daemon. Attributes from before do not count. */
static void a_former_one_counts_from_now_on(void **state)
{
	uint64_t id, before;

	assert_true(asks(O_RDONLY));
	id = atomic_exchange(&ino->deleg.id, 0);
	before = clock_ns();
	assert_int_equal(deleg_since(fs, ino), 0);
	deleg_former(fs, ino);
	assert_int_equal(atomic_load(&ino->deleg.id), id);
	assert_true(deleg_since(fs, ino) >= before);
	assert_int_equal(deleg_alone_since(fs, ino), 0);
	fake_recall(fs->client, &ino->fh);
	atomic_store(&ino->deleg.id, 0);
	deleg_former(fs, ino);
	assert_int_equal(atomic_load(&ino->deleg.id), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_opened_again_without_asking),
		TEST(nothing_is_believed_without),
		TEST(who_may_not_read_does_not),
		TEST(a_recall_ends_it),
		TEST(a_recall_waits_for_attributes_in_flight),
		TEST(older_answers_do_not_count),
		TEST(own_changes_end_it),
		TEST(a_write_under_way_ends_it),
		TEST(removing_gives_it_back),
		TEST(it_goes_with_a_name),
		TEST(a_directory_is_not_delegated),
		TEST(a_former_one_counts_from_now_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
