/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of delegations to write (nfsproto/v4/mount/nfs4_deleg.h): the opens that want one,
 * local opens to write, the flush before a return, and the answers about the file meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/deleg-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/log.h"

/* --- asking and having ----------------------------------------------------------------------- */

static void who_writes_asks_for_one(void **state)
{
	static const int flags[] = {O_WRONLY, O_RDWR, O_RDWR | O_TRUNC, O_RDONLY | O_TRUNC};
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		id = deleg_given(f, i, flags[i], &fh);
		assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
			OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG);
		assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	}
	id = deleg_given(f, 10, O_RDONLY, &fh);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
		OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void it_is_opened_to_write_without_asking(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, read_fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh), read = deleg_given(f, 2, O_RDONLY, &read_fh);
	unsigned opens = fix_count(f, OP_OPEN), closes = fix_count(f, OP_CLOSE);
	struct nfs_open *w = deleg_open(f, &fh, id, O_WRONLY);
	struct nfs_open *r = deleg_open(f, &fh, id, O_RDONLY);
	uint32_t n;

	assert_non_null(w);
	assert_non_null(r);
	assert_null(deleg_open(f, &read_fh, read, O_WRONLY)); /* a read delegation */
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_read(f, r, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(fix_close(f, r), 0);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	assert_int_equal(fix_count(f, OP_CLOSE), closes);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* --- going back ------------------------------------------------------------------------------ */

/* The writers get opens to write at the server, but not before all data is safe. */
static void what_was_written_is_made_safe_first(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_open *w = deleg_open(f, &fh, id, O_WRONLY);

	atomic_store(&deleg_user.holds, true);
	deleg_recall(f, 1, &fh);
	deleg_wait(&deleg_user.flushes, 1);
	assert_int_equal(atomic_load(&deleg_user.recalled), 1);
	assert_null(deleg_open(f, &fh, id, O_RDONLY));
	deleg_recall(f, 2, &fh); /* the server is impatient */
	assert_int_equal(fix_write(f, w, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(f->srv.delegs.claims, 0);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 0);
	nfs_deleg_flushed(f->nfs, &fh, id + 1); /* the number of another delegation */
	nfs_deleg_flushed(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(atomic_load(&deleg_user.flushes), 1);
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_ACCESS_WRITE);
	assert_int_equal(f->srv.delegs.held, 0);
	nfs_deleg_flushed(f->nfs, &fh, id); /* late */
	assert_int_equal(fix_write(f, w, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

static void without_memory_it_is_asked_again(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	deleg_given(f, 1, O_RDWR, &fh);
	atomic_store(&deleg_user.no_memory, 1);
	deleg_recall(f, 1, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(atomic_load(&deleg_user.flushes), 1);
	fix_unmount_clean(f);
}

/* A slow flush of one file does not delay the recalls of others, to read or to write. */
static void others_do_not_wait_for_it(void **state)
{
	struct fix *f = *state;
	struct nfs_fh slow, fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &slow), read = deleg_given(f, 2, O_RDONLY, &fh);

	atomic_store(&deleg_user.holds, true);
	nfs_deleg_give_back(f->nfs, &slow, id);
	deleg_wait(&deleg_user.flushes, 1);
	nfs_deleg_give_back(f->nfs, &fh, read);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	id = deleg_given(f, 3, O_RDWR, &fh);
	atomic_store(&deleg_user.holds, false);
	nfs_deleg_give_back(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	fix_unmount_clean(f); /* the unmount does not wait for the first file either: its user was
				 told before */
	assert_int_equal(f->srv.delegs.held, 0);
}

/* A flush waits for WRITEs with the stateid that the server refuses: the flush does not wait for
 * ever. */
static void what_is_disowned_while_it_is_flushed_goes_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_open *w = deleg_open(f, &fh, id, O_WRONLY);

	atomic_store(&deleg_user.holds, true);
	deleg_recall(f, 1, &fh);
	deleg_wait(&deleg_user.flushes, 1);
	deleg_revoke(f);
	assert_int_equal(fix_write(f, w, &fh, NFS_FILE_SYNC), 0);
	nfs_deleg_flushed(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

/* --- attributes of the file
 * -------------------------------------------------------------------- */

static void it_is_told_what_the_file_looks_like(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = deleg_open_op(1, O_RDWR);
	uint64_t change, size, truncated;
	const struct nfs4_stateid sid = mean_deleg_id(1);
	struct nfs_fh fh, read;

	assert_int_equal(fix_run(f, &op), 0);
	fh = op.u.open.fh;
	atomic_store(&deleg_user.size, 4711);
	atomic_store(&deleg_user.change, op.u.open.attr.change + 10);
	assert_int_equal(mean_cb_getattr(&f->srv, 1, &fh, &change, &size), NFS4_OK);
	assert_int_equal(size, 4711);
	assert_int_equal(change, op.u.open.attr.change); /* of the OPEN */
	atomic_store(&deleg_user.modified, true);
	assert_int_equal(mean_cb_getattr(&f->srv, 2, &fh, &change, &size), NFS4_OK);
	assert_int_equal(change, op.u.open.attr.change + 1);
	assert_int_equal(mean_cb_getattr(&f->srv, 2, &fh, &change, &size), NFS4_OK); /* again */
	assert_int_equal(change, op.u.open.attr.change + 1);
	atomic_store(&deleg_user.unsure, true);
	assert_int_equal(mean_cb_getattr(&f->srv, 3, &fh, &change, &size), NFS4ERR_DELAY);
	atomic_store(&deleg_user.unsure, false);
	deleg_given(f, 2, O_RDONLY, &read);
	assert_int_equal(mean_cb_getattr(&f->srv, 4, &read, &change, &size), NFS4ERR_BADHANDLE);
	assert_int_equal(mean_cb_getattr(&f->srv, 5, &f->root, &change, &size), NFS4ERR_BADHANDLE);
	/* the server has cut the file after OPEN: the attributes of OPEN are not those of the
	 * delegation */
	deleg_given(f, 3, O_RDWR | O_TRUNC, &fh);
	truncated = atomic_load(&deleg_user.change);
	assert_int_equal(mean_cb_getattr(&f->srv, 6, &fh, &change, &size), NFS4_OK);
	assert_int_equal(change, truncated + 1);
	assert_int_equal(mean_recall(&f->srv, 7, &op.u.open.fh, &sid), NFS4_OK);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(
		mean_cb_getattr(&f->srv, 8, &op.u.open.fh, &change, &size), NFS4ERR_BADHANDLE);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* --- a server that restarts, or revokes
 * -------------------------------------------------------- */

static void one_is_reclaimed_when_the_server_restarts(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, due;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh), other = deleg_given(f, 2, O_RDWR, &due);
	struct nfs_open *w = deleg_open(f, &fh, id, O_RDWR);
	unsigned opens;

	/* this delegation is on the way back: its data is still being flushed */
	atomic_store(&deleg_user.holds, true);
	nfs_deleg_give_back(f->nfs, &due, other);
	deleg_wait(&deleg_user.flushes, 1);
	mean_reboot(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.delegs.reclaims, 2);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_ACCESS_BOTH);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	opens = fix_count(f, OP_OPEN);
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	nfs_deleg_flushed(f->nfs, &due, other);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.delegs.held, 1);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* The change attribute may be another one after a restart of the server. An answer with the old one
 * would look like a change by this mount. */
static void the_change_attribute_comes_again_with_it(void **state)
{
	struct fix *f = *state;
	uint64_t change, size, before;
	struct nfs_fh fh;

	deleg_given(f, 1, O_RDWR, &fh);
	assert_int_equal(mean_cb_getattr(&f->srv, 1, &fh, &before, &size), NFS4_OK);
	f->srv.change = before + 10;
	mean_reboot(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.delegs.reclaims, 1);
	assert_int_equal(
		mean_cb_getattr(&f->srv, 1, &fh, &change, &size), NFS4_OK); /* of a new session */
	assert_int_equal(change, before + 10);
	fix_unmount_clean(f);
}

static void what_is_not_reclaimed_is_opened_anew(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh);
	struct nfs_open *w = deleg_open(f, &fh, id, O_RDWR);

	f->srv.delegs.gives_back = false;
	mean_reboot(&f->srv);
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(atomic_load(&deleg_user.flushes), 0);
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

static void what_is_revoked_is_found_out(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, due;
	uint64_t id = deleg_given(f, 1, O_RDWR, &fh), other = deleg_given(f, 2, O_RDWR, &due);
	struct nfs_open *w = deleg_open(f, &fh, id, O_RDWR);
	struct nfs_open *v = deleg_open(f, &due, other, O_RDWR);

	atomic_store(&deleg_user.holds, true);
	nfs_deleg_give_back(f->nfs, &due, other);
	deleg_wait(&deleg_user.flushes, 1);
	deleg_revoke_told(f);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 2));
	fix_status_flags(f, 0);
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_write(f, v, &due, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(fix_close(f, v), 0);
	nfs_deleg_flushed(f->nfs, &due, other);
	fix_unmount_clean(f);
}

/* The server carries out an append, and restarts before the answer. */
static void no_other_client_can_have_appended_meanwhile(void **state)
{
	struct fix *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 100);
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 0, O_RDWR, &fh);
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDWR);

	for (unsigned i = 0; i < 2; i++) {
		struct nfs_op op = {.type = NFS_WRITE};

		op.u.write.open = o;
		op.u.write.fh = fh;
		op.u.write.from = seg_list_of_buf(buf, 0, 100);
		op.u.write.append = true;
		op.u.write.offset = f->srv.size;
		f->srv.delegs.gives_back = i == 0;
		fix_quirk(f, Q_CUT_REBOOT);
		assert_int_equal(fix_run(f, &op), -EALREADY);
		assert_int_equal(op.u.write.ours, i == 0);
	}
	assert_int_equal(fix_close(f, o), 0);
	mem_buf_unref(buf);
	fix_unmount_clean(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, deleg_setup_write, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_writes_asks_for_one),
		TEST(it_is_opened_to_write_without_asking),
		TEST(what_was_written_is_made_safe_first),
		TEST(without_memory_it_is_asked_again),
		TEST(others_do_not_wait_for_it),
		TEST(what_is_disowned_while_it_is_flushed_goes_back),
		TEST(it_is_told_what_the_file_looks_like),
		TEST(one_is_reclaimed_when_the_server_restarts),
		TEST(the_change_attribute_comes_again_with_it),
		TEST(what_is_not_reclaimed_is_opened_anew),
		TEST(no_other_client_can_have_appended_meanwhile),
		TEST(what_is_revoked_is_found_out),
	};

	log_init("test-nfs4_deleg_write", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
