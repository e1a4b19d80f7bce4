/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/former, and of the modules whose notes it reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/file/locker.h"
#include "fs/file/open_note.h"
#include "fs/file/silly.h"
#include "fs/file/silly_give.h"
#include "fs/known/file.h"
#include "fs/kernel/request.h"
#include "fs/kernel/request_waits.h"
#include "fs/kernel/underway.h"
#include "fs/file/file_former.h"
#include "fs/program/former.h"
#include "tests/unit/fs/fake-kernel.h"
#include "tests/unit/fs/fs-fixture.h"

static struct fs *fs, *heir; /* the former daemon's mount; the successor's */
static struct ledger *ledger, *next;
static struct former *notes;
static uint64_t node, fh, removed, removed_fh, dir, dir_fh, made_by;
static struct err err;

static void is_idle(void)
{
	while (!request_pool_is_idle(fs->requests))
		usleep(1000);
}

static int setup(void **state)
{
	struct fuse_open_in open_in = {0};
	struct fuse_open_out out;
	struct fuse_entry_out e;

	err = (struct err){0};
	ledger = ledger_new(&err);
	assert_non_null(ledger);
	fs_fixture_ledger = ledger;
	fs = kernel_mount();
	assert_int_equal(kernel_create(KERNEL_ROOT, "file", O_RDWR, &node, &fh), 0);
	assert_int_equal(
		kernel_create(KERNEL_ROOT, "removed", O_RDWR | O_CREAT, &removed, &removed_fh), 0);
	made_by = ((struct file *)fs_handle(fs, removed_fh))->request;
	assert_int_equal(kernel_unlink(KERNEL_ROOT, "removed"), 0);
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "dir", &e), 0);
	dir = e.nodeid;
	assert_int_equal(kernel_ask(FUSE_OPENDIR, dir, &open_in, sizeof(open_in), NULL, 0, &out,
				 sizeof(out)),
		0);
	dir_fh = out.fh;
	is_idle();
	return 0;
}

/* A mount has its ledger to the end. */
static void heir_new(void)
{
	fs_fixture_ledger = next = ledger_new(&err);
	assert_non_null(next);
	heir = fs_fixture_new();
}

/* The daemon is killed. */
static void read_notes(void)
{
	notes = former_read(ledger_fd(ledger), &err);
	assert_non_null(notes);
	heir_new();
}

static void killed(void)
{
	read_notes();
	if (fs_former_restore(heir, notes, &err))
		fail_msg("%s", err.msg);
}

/* At the end of a mount silly_drop_all() has removed the silly names. */
static void drop_silly(struct fs *of)
{
	struct inode *ino;
	struct silly *s;

	while ((ino = inode_next_silly(of->inodes, &s))) {
		silly_free(of, s);
		inode_unref(ino);
	}
}

static int teardown(void **state)
{
	if (heir) {
		drop_silly(heir);
		heir = fs_fixture_free(heir);
	}
	notes = former_free(notes);
	drop_silly(fs);
	kernel_unmount();
	fs = NULL;
	fs_fixture_ledger = NULL;
	return 0;
}

static void inodes_keep_their_numbers(void **state)
{
	struct inode *was = inode_of(fs->inodes, node), *is;

	assert_int_equal(kernel_lookup(KERNEL_ROOT, "file", NULL), 0);
	killed();
	is = inode_of(heir->inodes, node);
	assert_non_null(is);
	assert_ptr_not_equal(is, was);
	assert_true(nfs_fh_same(&is->fh, &was->fh));
	assert_int_equal(is->type, was->type);
	assert_int_equal(is->number, was->number);
	assert_int_equal(is->nlookup, 2);
	assert_int_equal(is->generation, was->generation);
	assert_int_equal(is->id, node);
	assert_int_equal(inode_table_count(heir->inodes), inode_table_count(fs->inodes));
	assert_true(inode_table_generation(heir->inodes) >= inode_table_generation(fs->inodes));
}

/* But for one that is open: the kernel may forget an inode before it releases the file. */
static void forgotten_inodes_are_gone(void **state)
{
	struct fuse_forget_in in = {.nlookup = 1};
	struct fuse_entry_out gone = {0};

	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "gone", &gone), 0);
	read_notes();
	assert_int_equal(former_count(notes, NOTE_INODE), 4);
	heir = fs_fixture_free(heir);
	notes = former_free(notes);
	kernel_send(FUSE_FORGET, gone.nodeid, &in, sizeof(in), NULL, 0);
	kernel_send(FUSE_FORGET, dir, &in, sizeof(in), NULL, 0);
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	is_idle();
	killed();
	assert_int_equal(former_count(notes, NOTE_INODE), 3);
	assert_int_equal(inode_table_count(heir->inodes), 3); /* the root, and two files */
	assert_non_null(inode_of(heir->inodes, dir));
	assert_int_equal(inode_of(heir->inodes, dir)->nlookup, 0);
	assert_non_null(fs_handle(heir, dir_fh));
}

static void files_keep_their_numbers(void **state)
{
	struct file *was = (struct file *)fs_handle(fs, fh), *is;

	killed();
	is = (struct file *)fs_handle(heir, fh);
	assert_non_null(is);
	assert_ptr_not_equal(is, was);
	assert_true(file_is(&is->handle));
	assert_ptr_equal(is->inode, inode_of(heir->inodes, node));
	assert_int_equal(is->flags, was->flags);
	assert_int_equal(is->flock_owner, was->flock_owner);
	assert_int_equal(is->request, was->request);
	assert_true(rpc_same_cred(&is->cred, &was->cred));
	assert_non_null(is->open);
	assert_int_equal(is->inode->opens.count, 1);
	assert_int_equal(is->inode->opens.mappers, 1);
	assert_int_equal(atomic_load(&heir->open_files), 2);
	assert_int_equal(atomic_load(&heir->flock_owners), atomic_load(&fs->flock_owners));
	assert_non_null(fs_handle(heir, dir_fh));
	assert_false(file_is(fs_handle(heir, dir_fh)));
}

static void released_files_are_unknown(void **state)
{
	assert_int_equal(kernel_release(node, fh), 0);
	is_idle();
	killed();
	assert_null(fs_handle(heir, fh));
	assert_non_null(fs_handle(heir, removed_fh));
	assert_int_equal(atomic_load(&heir->open_files), 1);
}

/* A kernel that sends nothing again has released the file, and the daemon was killed before the
 * CLOSE was answered. */
static void released_files_are_closed(void **state)
{
	struct fuse_release_in in = {.fh = fh};
	struct file *f = (struct file *)fs_handle(fs, fh);
	uint64_t number;

	fs->may_resend = false;
	fake_knobs.hang[NFS_CLOSE] = true;
	number = kernel_send(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0);
	while (request_pool_is_idle(fs->requests))
		usleep(1000);
	assert_true(f->released);
	killed();
	fake_knobs.hang[NFS_CLOSE] = false;
	assert_non_null(fs_handle(heir, fh));
	files_former_close(heir);
	while (!request_pool_is_idle(heir->requests))
		usleep(1000);
	assert_int_equal(atomic_load(&heir->open_files), 1);
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
}

/* Numbers of the former daemon and of its successor never meet. */
static void each_daemon_has_its_run(void **state)
{
	struct nfs_fh other = {.len = 16, .data = "another"};
	struct nfs_attr attr = {.type = NFS_REG, .fileid = 99};
	struct inode *ino;

	killed();
	ino = inode_lookup(heir->inodes, &other, &attr);
	assert_int_equal(inode_id(heir->inodes, ino) >> NUMBERS_RUN_BITS, 1);
	assert_ptr_equal(inode_of(heir->inodes, inode_id(heir->inodes, ino)), ino);
	assert_true(ino->generation > inode_of(heir->inodes, dir)->generation);
}

/* The successor is killed, too: its notes say the same. */
static void a_second_successor_knows_all(void **state)
{
	uint32_t n[NOTE_KINDS];
	struct fs *first;

	assert_true(locker_add((struct file *)fs_handle(fs, fh), 77, 4));
	killed();
	for (unsigned k = 0; k < NOTE_KINDS; k++)
		n[k] = former_count(notes, k);
	notes = former_free(notes);
	notes = former_read(ledger_fd(next), &err);
	assert_non_null(notes);
	for (unsigned k = 1; k < NOTE_KINDS; k++)
		assert_int_equal(former_count(notes, k), n[k]);
	first = heir;
	heir_new();
	if (fs_former_restore(heir, notes, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(heir->handle_numbers.run, 2);
	assert_int_equal(inode_of(heir->inodes, node)->id, node);
	assert_non_null(fs_handle(heir, fh));
	drop_silly(heir);
	fs_fixture_free(heir);
	heir = first;
}

static void owners_of_locks_are_known(void **state)
{
	struct file *f;
	pid_t pid;

	assert_true(locker_add((struct file *)fs_handle(fs, fh), 77, 4));
	killed();
	f = (struct file *)fs_handle(heir, fh);
	assert_true(locker_known(f->inode, 77, &pid));
	assert_int_equal(pid, 4);
	assert_true(locker_may_weaken(f->inode, 77, 5, 6));
	assert_false(locker_known(f->inode, 78, NULL));
}

/* An owner's note stays until the server has cleared the locks. */
static void owners_are_forgotten_after_the_unlock(void **state)
{
	struct fuse_flush_in in = {.fh = fh, .lock_owner = 77};
	uint64_t number;

	assert_true(locker_add((struct file *)fs_handle(fs, fh), 77, 4));
	fake_knobs.hang[NFS_LOCK] = true;
	number = kernel_send(FUSE_FLUSH, node, &in, sizeof(in), NULL, 0);
	while (locker_known(inode_of(fs->inodes, node), 77, NULL))
		usleep(1000);
	read_notes();
	assert_int_equal(former_count(notes, NOTE_LOCKER), 1);
	heir = fs_fixture_free(heir);
	notes = former_free(notes);
	fake_knobs.hang[NFS_LOCK] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
	is_idle();
	read_notes();
	assert_int_equal(former_count(notes, NOTE_LOCKER), 0);
}

static void silly_names_are_kept(void **state)
{
	struct inode *was = inode_of(fs->inodes, removed), *is;

	killed();
	is = inode_of(heir->inodes, removed);
	assert_non_null(was->silly.name);
	assert_non_null(is->silly.name);
	assert_true(is->silly.is);
	assert_string_equal(is->silly.name->name, was->silly.name->name);
	assert_true(nfs_fh_same(&is->silly.name->dir, &was->silly.name->dir));
	assert_int_equal(silly_tag(heir), silly_tag(fs));
}

static unsigned gone_on;

static void went_on(struct request *r)
{
	gone_on++;
}

/* The kernel may send RMDIR again before the RELEASE of a close that came first. */
static void an_rmdir_waits_for_releases_that_come_again(void **state)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_NONE};
	struct request *r;

	gone_on = 0;
	killed();
	r = request_new_cred(heir, NULL, &cred);
	assert_true(silly_wait(r, silly_count_ended(heir), went_on));
	assert_true(silly_close_begin(heir, inode_of(heir->inodes, removed)));
	assert_int_equal(gone_on, 0);
	silly_close_end(heir);
	assert_int_equal(gone_on, 1);
	/* a file that stays open */
	assert_true(silly_wait(r, silly_count_ended(heir), went_on));
	silly_settle(heir);
	assert_int_equal(gone_on, 2);
	assert_false(silly_wait(r, silly_count_ended(heir), went_on));
	request_end(r, 0);
}

/* The last close was answered, and the daemon was killed before it removed the name. */
static void names_of_closed_files_are_removed(void **state)
{
	struct inode *is;

	fake_knobs.fail[NFS_REMOVE] = -EIO;
	assert_int_equal(kernel_release(removed, removed_fh), 0);
	is_idle();
	fake_knobs.fail[NFS_REMOVE] = 0;
	killed();
	is = inode_of(heir->inodes, removed);
	assert_non_null(is);
	assert_null(is->silly.name);
	silly_tick(heir);
	while (!request_pool_is_idle(heir->requests))
		usleep(1000);
	notes = former_free(notes);
	notes = former_read(ledger_fd(next), &err);
	assert_int_equal(former_count(notes, NOTE_SILLY), 0);
}

/* The kernel does not know a file whose CREATE was not answered. */
static void files_of_requests_that_come_again_are_left_out(void **state)
{
	read_notes();
	fake_knobs.changes = made_by;
	assert_int_equal(fs_former_restore(heir, notes, &err), 0);
	assert_null(fs_handle(heir, removed_fh));
	assert_non_null(fs_handle(heir, fh));
	assert_int_equal(fake_knobs.discards, 1);
	fake_knobs.changes = 0;
}

/* An OPEN that comes again goes out in the same form. */
static void an_open_takes_the_same_way(void **state)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_NONE};
	struct fuse_open_in in = {.flags = O_RDONLY};
	struct request *r;
	struct nfs_fh at;
	uint64_t number;

	fake_knobs.hang[NFS_OPEN] = true;
	number = kernel_send(FUSE_OPEN, node, &in, sizeof(in), NULL, 0);
	while (!notes || !former_count(notes, NOTE_OPENING)) {
		notes = former_free(notes);
		notes = former_read(ledger_fd(ledger), &err);
	}
	notes = former_free(notes);
	killed();
	assert_true(open_note_is(heir, number));
	assert_false(open_note_is(heir, number + 2));
	r = request_new_cred(heir, NULL, &cred);
	r->account.unique = number | REQUEST_AGAIN;
	assert_true(open_note_take(r, &at));
	assert_string_equal(r->name, "file");
	assert_true(nfs_fh_same(&at, &inode_table_root(fs->inodes)->fh));
	assert_false(open_note_take(r, &at));
	request_free(r);
	notes = former_free(notes);
	notes = former_read(ledger_fd(next), &err);
	assert_int_equal(former_count(notes, NOTE_OPENING), 0);
	fake_knobs.hang[NFS_OPEN] = false;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
	is_idle();
	notes = former_free(notes);
	notes = former_read(ledger_fd(ledger), &err);
	assert_int_equal(former_count(notes, NOTE_OPENING), 0);
}

static unsigned lookups, steps;
static char renamed_to[64];

static bool note_rename(struct nfs_op *op)
{
	lookups += op->type == NFS_LOOKUP;
	if (op->type == NFS_RENAME)
		memcpy(renamed_to, op->u.rename.to.s, op->u.rename.to.len + 1);
	op->error = 0;
	return op->type == NFS_RENAME;
}

static void step(struct request *r)
{
	steps++;
	request_free(r);
}

/* heir handles the UNLINK of name with that number, which the kernel sends again. */
static void unlink_again(const char *name, uint64_t number)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_NONE};
	struct request *r = request_new_cred(heir, NULL, &cred);
	struct nfs_name n;

	r->dir = inode_ref(inode_table_root(heir->inodes));
	r->account.unique = number | REQUEST_AGAIN;
	r->batch.noted = number;
	assert_true(request_set_name(r->name, &n, name));
	silly_check(r, &r->dir->fh, &n, step);
}

/* The daemon is killed when the server may have given an unlinked file its silly name. */
static void a_silly_name_is_given_once(void **state)
{
	uint64_t number;
	struct silly *s;

	fake_knobs.hang[NFS_RENAME] = true;
	number = kernel_send(FUSE_UNLINK, KERNEL_ROOT, NULL, 0, "file", 5);
	while (!notes || former_count(notes, NOTE_SILLY) < 2) {
		notes = former_free(notes);
		notes = former_read(ledger_fd(ledger), &err);
	}
	notes = former_free(notes);
	fake_knobs.changes = number;
	killed();
	s = inode_of(heir->inodes, node)->silly.name;
	assert_non_null(s);
	assert_false(s->sure);
	fake_knobs.hang[NFS_RENAME] = false;
	fake_knobs.script = note_rename;
	lookups = steps = 0;
	unlink_again("file", number);
	assert_int_equal(steps, 1);
	assert_int_equal(lookups, 0);
	s = inode_of(heir->inodes, node)->silly.name;
	assert_string_equal(renamed_to, s->name);
	assert_true(s->sure);
	fake_knobs.script = NULL;
	fake_knobs.changes = 0;
	fake_release(fs->client);
	assert_int_equal(kernel_wait(number).error, 0);
}

/* The calls of the former daemon decide, and not what the name stands for by now. */
static void a_removal_that_was_begun_looks_for_nothing(void **state)
{
	killed();
	fake_knobs.changes = 1000;
	fake_knobs.script = note_rename;
	lookups = steps = 0;
	unlink_again("file", 1000);
	assert_int_equal(steps, 1);
	assert_int_equal(lookups, 0);
	fake_knobs.changes = 0;
	unlink_again("file", 1000);
	assert_int_equal(steps, 2);
	assert_int_equal(lookups, 1);
	fake_knobs.script = NULL;
}

/* A note of each kind, cut short or with a byte changed, is refused or harmless. */
static void damaged_notes_do_no_harm(void **state)
{
	static const enum note_kind kinds[] = {NOTE_FS, NOTE_STALE, NOTE_INODE, NOTE_FILE,
		NOTE_OPENING, NOTE_LOCKER, NOTE_DIR, NOTE_SILLY, NOTE_ANSWER};

	assert_true(locker_add((struct file *)fs_handle(fs, fh), 77, 4));
	read_notes();
	heir = fs_fixture_free(heir);
	for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		uint32_t len = 0;
		const uint8_t *data = former_count(notes, kinds[k])
					      ? former_note(notes, kinds[k], 0, &len)
					      : NULL;

		for (uint32_t cut = 0; cut <= len; cut++) {
			struct ledger *bad = ledger_new(&err);
			struct note note = {0}, own = {0}, threads = {0};
			struct former *f;
			uint8_t copy[4096];

			assert_true(len < sizeof(copy));
			if (data)
				memcpy(copy, data, len);
			if (cut < len)
				copy[cut] ^= 0xff;
			if (kinds[k] != NOTE_FS) {
				const void *mount = former_note(notes, NOTE_FS, 0, &(uint32_t){0});

				ledger_put(bad, &own, NOTE_FS, mount, 8);
			}
			if (kinds[k] != NOTE_STALE) {
				const void *words =
					former_note(notes, NOTE_STALE, 0, &(uint32_t){0});

				ledger_put(bad, &threads, NOTE_STALE, words, STALE_THREADS * 8);
			}
			ledger_put(bad, &note, kinds[k], copy, cut % 2 ? len : cut);
			f = former_read(ledger_fd(bad), &err);
			assert_non_null(f);
			heir_new();
			err = (struct err){0};
			if (fs_former_restore(heir, f, &err))
				assert_true(err.msg[0]);
			drop_silly(heir);
			heir = fs_fixture_free(heir);
			former_free(f);
			ledger_free(bad);
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(inodes_keep_their_numbers),
		TEST(forgotten_inodes_are_gone),
		TEST(files_keep_their_numbers),
		TEST(released_files_are_unknown),
		TEST(released_files_are_closed),
		TEST(each_daemon_has_its_run),
		TEST(a_second_successor_knows_all),
		TEST(owners_of_locks_are_known),
		TEST(owners_are_forgotten_after_the_unlock),
		TEST(silly_names_are_kept),
		TEST(an_rmdir_waits_for_releases_that_come_again),
		TEST(names_of_closed_files_are_removed),
		TEST(files_of_requests_that_come_again_are_left_out),
		TEST(an_open_takes_the_same_way),
		TEST(a_silly_name_is_given_once),
		TEST(a_removal_that_was_begun_looks_for_nothing),
		TEST(damaged_notes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
