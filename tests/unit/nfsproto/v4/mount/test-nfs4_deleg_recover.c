/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_deleg_recover: delegations that the server has revoked or
 * lost, or may have.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/deleg-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/log.h"

/* The delegation ends soon; it does not end before. */
static void is_held_no_more(struct fix *f, const struct nfs_fh *fh, uint64_t id)
{
	for (unsigned i = 0; i < PATIENCE_MS && nfs_deleg_holds(f->nfs, fh, id); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_false(nfs_deleg_holds(f->nfs, fh, id));
}

/* The state manager has found all revoked delegations. */
static void nothing_is_revoking(struct fix *f)
{
	for (unsigned i = 0; i < PATIENCE_MS && atomic_load(&nfs4_client(f->nfs)->srv->revoking);
		i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_false(atomic_load(&nfs4_client(f->nfs)->srv->revoking));
}

/* The server tells of the revocation: the local opens are opened anew. */
static void what_is_revoked_is_found_out(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
	uint32_t n;

	deleg_revoke_told(f);
	assert_int_equal(fix_getattr(f), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id)); /* from the first answer on */
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	fix_status_flags(f, 0);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(atomic_load(&deleg_user.recalled), 1);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* The server drops its flag and soon sets the flag again, for another delegation. */
static void what_is_revoked_next_is_found_out_at_once(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;

	for (unsigned i = 1; i <= 3; i++) {
		id = deleg_given(f, i, O_RDONLY, &fh);
		assert_true(nfs_deleg_holds(f->nfs, &fh, id));
		deleg_revoke_told(f);
		assert_int_equal(fix_getattr(f), 0);
		assert_false(nfs_deleg_holds(f->nfs, &fh, id));
		assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, i));
		fix_status_flags(f, 0);
		assert_int_equal(fix_getattr(f), 0);
		nothing_is_revoking(f);
	}
	fix_unmount_clean(f);
}

/* An answer that does not name the revoked delegations does not end the question. */
static void what_is_revoked_is_asked_again(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);

	fix_fails(f, OP_TEST_STATEID, NFS4ERR_DELAY, 1);
	deleg_revoke_told(f);
	assert_int_equal(fix_getattr(f), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	fix_status_flags(f, 0);
	nothing_is_revoking(f);
	assert_int_equal(f->srv.delegs.freed, 1);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	fix_unmount_clean(f);
}

/* The server tells of the loss only in answers to READ and to DELEGRETURN. */
static void what_is_disowned_goes_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
	uint32_t n;

	deleg_revoke(f);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	assert_int_equal(f->srv.delegs.refused, 1);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void one_is_reclaimed_when_the_server_restarts(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
	unsigned opens;
	uint32_t n;

	mean_reboot(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.delegs.reclaims, 1);
	assert_int_equal(f->srv.nopens, 0); /* the open of the delegation */
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(atomic_load(&deleg_user.gaps), 1);
	opens = fix_count(f, OP_OPEN);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	assert_int_equal(
		mean_recall(&f->srv, 1, &fh, &(struct nfs4_stateid){0}), NFS4ERR_BAD_STATEID);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* Not given again, or refused altogether: the openers of the file do not notice. */
static void what_is_not_reclaimed_is_opened_anew(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);
	struct nfs_open *o = deleg_open(f, &fh, id, O_RDONLY);
	uint32_t n;

	f->srv.delegs.gives_back = false;
	mean_reboot(&f->srv);
	assert_int_equal(fix_read(f, o, &fh, 1000, &n), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	/* the open, since an open without a delegation is possible */
	assert_int_equal(f->srv.reclaims, 2);
	assert_int_equal(f->srv.nopens, 1);
	id = deleg_given(f, 2, O_RDONLY, &fh);
	fix_fails(f, OP_OPEN, NFS4ERR_NO_GRACE, 1);
	mean_reboot(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void a_new_session_changes_nothing(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = deleg_given(f, 1, O_RDONLY, &fh);

	mean_lose_session(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(f->srv.delegs.reclaims, 0);
	fix_unmount_clean(f);
}

/* A client that is cut off for as long as the lease lasts relies on no delegation. */
static void nothing_is_believed_when_the_lease_may_have_run_out(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;

	f->srv.lease_s = 2;
	fix_mount_root(f);
	id = deleg_given(f, 1, O_RDONLY, &fh);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	pthread_mutex_lock(&f->srv.lock);
	f->srv.hold_op = OP_SEQUENCE;
	pthread_mutex_unlock(&f->srv.lock);
	is_held_no_more(f, &fh, id);
	assert_null(deleg_open(f, &fh, id, O_RDONLY));
	mean_release(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id)); /* the server has told nothing else */
	fix_unmount_clean(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, deleg_setup_read, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_revoked_is_found_out),
		TEST(what_is_revoked_is_asked_again),
		TEST(what_is_revoked_next_is_found_out_at_once),
		TEST(what_is_disowned_goes_back),
		TEST(one_is_reclaimed_when_the_server_restarts),
		TEST(what_is_not_reclaimed_is_opened_anew),
		TEST(a_new_session_changes_nothing),
		cmocka_unit_test_setup_teardown(nothing_is_believed_when_the_lease_may_have_run_out,
			deleg_setup_unmounted, fix_teardown),
	};

	log_init("test-nfs4_deleg_recover", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
