/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_deleg_note, and of delegations, local opens and local locks
 * of a daemon that is killed (nfsproto/v4/nfs4_former.h).
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

#include "nfsproto/v4/mount/nfs4_deleg_note.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "tests/unit/nfsproto/v4/former-fixture.h"
#include "tests/unit/nfsproto/v4/mount/deleg-fixture.h"
#include "transport/log.h"

#define REQUEST 77u /* of the kernel */

static int setup(void **state)
{
	void *fix;
	struct fix *f;

	deleg_setup_unmounted(&fix);
	f = fix;
	f->delegations = NFS_DELEGATIONS_WRITE;
	*state = survival_new(f);
	return 0;
}

/* The user of the successor has made its files anew. */
static uint64_t delegated(struct survival *s, const struct nfs_fh *fh, bool writes)
{
	bool to_write;
	uint64_t id = nfs_client_former_deleg(s->f->nfs, fh, &to_write);

	assert_int_equal(to_write, id && writes);
	return id;
}

static struct nfs_open *open_locally(struct survival *s, struct nfs_fh *fh)
{
	uint64_t id = deleg_given(s->f, 1, O_RDWR, fh);
	struct nfs_open *o = deleg_open(s->f, fh, id, O_RDWR);

	assert_non_null(o);
	return o;
}

static void wait_returned(struct survival *s, unsigned n)
{
	assert_true(mean_wait(&s->f->srv, &s->f->srv.count[OP_DELEGRETURN], n));
}

/* --- the note ----------------------------------------------------------------------------------
 */

static const struct nfs4_deleg_noted sample = {
	.fh = {.len = 3, .data = {1, 2, 3}},
	.type = OPEN_DELEGATE_WRITE,
	.stateid = {.seqid = 4, .other = {5, 6}},
	.cred = {.flavor = RPC_AUTH_SYS, .uid = 7, .gid = 8},
	.held = true,
	.change_known = true,
	.change = UINT64_C(0x123456789abcdef0),
};

/* Notes `in`, and reads the first len bytes of the note (0: all). */
static bool passes(const struct nfs4_deleg_noted *in, uint32_t len, struct nfs4_deleg_noted *out)
{
	struct err e = {.kind = ERR_NONE};
	struct ledger *l = ledger_new(&e);
	struct note note = {0};
	struct former *f;
	const void *data;
	struct xdr_in x;
	uint32_t all;
	bool good;

	nfs4_deleg_note_put(l, &note, in);
	assert_non_null(f = former_read(ledger_fd(l), &e));
	assert_int_equal(former_count(f, NOTE_DELEG), 1);
	data = former_note(f, NOTE_DELEG, 0, &all);
	assert_true(len <= all);
	xdr_in_init(&x, data, len ? len : all);
	good = nfs4_deleg_note_get(&x, out);
	former_free(f);
	ledger_free(l);
	return good;
}

static void a_note_tells_all(void **state)
{
	struct nfs4_deleg_noted out;

	assert_true(passes(&sample, 0, &out));
	assert_true(nfs_fh_equal(&out.fh, &sample.fh));
	assert_int_equal(out.type, sample.type);
	assert_memory_equal(&out.stateid, &sample.stateid, sizeof(out.stateid));
	assert_int_equal(out.cred.uid, 7);
	assert_true(out.held && out.change_known);
	assert_true(out.change == sample.change);
}

static void damaged_notes_are_refused(void **state)
{
	struct nfs4_deleg_noted bad = sample, out;

	bad.type = OPEN_DELEGATE_NONE;
	assert_false(passes(&bad, 0, &out));
	bad = sample;
	bad.fh.len = 0;
	assert_false(passes(&bad, 0, &out));
	for (uint32_t len = 4; len < 60; len += 4)
		assert_false(passes(&sample, len, &out));
}

/* --- held again ------------------------------------------------------------------------------- */

static void delegations_are_held_again(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh read, write;
	uint64_t id;
	unsigned opens;
	struct nfs_open *o;

	deleg_given(f, 1, O_RDONLY, &read);
	deleg_given(f, 2, O_RDWR, &write);
	opens = fix_count(f, OP_OPEN);
	survival_die(s);
	id = delegated(s, &read, false);
	assert_true(nfs_deleg_holds(f->nfs, &read, id));
	assert_null(deleg_open(f, &read, id, O_RDWR));
	id = delegated(s, &write, true);
	assert_true(nfs_deleg_holds(f->nfs, &write, id));
	nfs_client_former_end(f->nfs);
	o = deleg_open(f, &write, id, O_RDWR);
	assert_non_null(o);
	assert_int_equal(fix_write(f, o, &write, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 0);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void local_opens_and_locks_are_found_again(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh);
	uint64_t number = nfs_open_note_number(o);
	unsigned opens = fix_count(f, OP_OPEN);

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 5, 9), 0);
	assert_int_equal(fix_count(f, OP_LOCK), 0);
	survival_die(s);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	assert_null(nfs_client_former_open(f->nfs, number));
	nfs_client_former_end(f->nfs);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 4, 4), -EAGAIN);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 5, 5), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_count(f, OP_LOCK), 0);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	/* the server gets all of it when the delegation goes back */
	deleg_recall(f, 1, &fh);
	wait_returned(s, 1);
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_true(fix_has_lock(f, 0, 4, true));
	assert_true(fix_has_lock(f, 5, 5, true));
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* An open that the user does not take is closed without a call, and one that it discards too. */
static void local_opens_that_are_not_taken_end(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh), *second;
	uint64_t number = nfs_open_note_number(o);
	unsigned closes = fix_count(f, OP_CLOSE);

	second = deleg_open(f, &fh, 1, O_RDONLY);
	assert_non_null(second);
	survival_die(s);
	nfs_open_discard(nfs_client_former_open(f->nfs, number));
	nfs_client_former_end(f->nfs);
	assert_null(nfs_client_former_open(f->nfs, number));
	deleg_recall(f, 1, &fh);
	wait_returned(s, 1);
	assert_int_equal(f->srv.delegs.claims, 0);
	assert_int_equal(fix_count(f, OP_CLOSE), closes);
	fix_unmount_clean(f);
}

/* Another program takes over (nfs_client_settle()): it finds the same as after a kill. */
static void a_mount_that_settles_keeps_them(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh);
	uint64_t number = nfs_open_note_number(o);
	unsigned ms = 0;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	while (nfs_client_settle(f->nfs)) {
		assert_true(ms++ < 10000);
		usleep(1000);
	}
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 0);
	survival_die(s);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	assert_true(nfs_deleg_holds(f->nfs, &fh, delegated(s, &fh, true)));
	nfs_client_former_end(f->nfs);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 4, 4), -EAGAIN);
	assert_int_equal(fix_count(f, OP_LOCK), 0);
	assert_int_equal(fix_count(f, OP_DELEGRETURN), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void a_second_successor_has_them_too(void **state)
{
	struct survival *s = *state;
	struct err e = {.kind = ERR_NONE};
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh);
	uint64_t number = nfs_open_note_number(o);
	struct nfs_client *former;
	struct ledger *ledger;

	assert_int_equal(fix_lock(s->f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	survival_die(s);
	former = s->former; /* still alive, and its ledger with it */
	ledger = s->ledger[0];
	s->ledger[0] = s->ledger[1];
	s->ledger[1] = ledger_new(&e);
	survival_die(s);
	o = nfs_client_former_open(s->f->nfs, number);
	assert_non_null(o);
	assert_true(nfs_deleg_holds(s->f->nfs, &fh, delegated(s, &fh, true)));
	nfs_client_former_end(s->f->nfs);
	assert_int_equal(fix_lock(s->f, o, &fh, 8, F_WRLCK, 4, 4), -EAGAIN);
	assert_int_equal(fix_lock(s->f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(s->f, o), 0);
	fix_unmount_clean(s->f);
	nfs_client_leave_by(former, 1);
	nfs_client_free(former);
	ledger_free(ledger);
}

/* --- recalls ---------------------------------------------------------------------------------- */

/* The former daemon has answered the recall, which does not come again. */
static void a_recalled_one_goes_back(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh);
	uint64_t number = nfs_open_note_number(o);

	atomic_store(&deleg_user.holds, true);
	deleg_recall(f, 1, &fh);
	deleg_wait(&deleg_user.flushes, 1);
	survival_die(s);
	atomic_store(&deleg_user.holds, false);
	assert_int_equal(delegated(s, &fh, true), 0);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	assert_int_equal(fix_getattr(f), 0);
	/* the user does not know yet which data is written */
	assert_int_equal(atomic_load(&deleg_user.flushes), 1);
	nfs_client_former_end(f->nfs);
	wait_returned(s, 1);
	assert_int_equal(atomic_load(&deleg_user.flushes), 2);
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(fix_write(f, o, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* The answer to the recall was lost: the server sends the recall again, in the same slot. */
static void a_recall_comes_again(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct former *dead;
	struct nfs_fh fh;

	deleg_given(f, 1, O_RDWR, &fh);
	dead = survival_copy(s, NOTE_NONE);
	atomic_store(&deleg_user.holds, true);
	deleg_recall(f, 1, &fh);
	deleg_wait(&deleg_user.flushes, 1);
	survival_succeed(s, dead);
	atomic_store(&deleg_user.holds, false);
	assert_true(delegated(s, &fh, true));
	deleg_recall(f, 1, &fh);
	assert_int_equal(delegated(s, &fh, true), 0);
	nfs_client_former_end(f->nfs);
	wait_returned(s, 1);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* --- OPENs under way -------------------------------------------------------------------------- */

/* The answer is noted, and so is the delegation. */
static void an_open_that_comes_again_has_it(void **state)
{
	struct survival *s = *state;
	struct nfs_op op = deleg_open_op(1, O_RDWR);

	op.noted = REQUEST;
	assert_int_equal(fix_run(s->f, &op), 0);
	survival_die(s);
	nfs_open_discard(nfs_client_former_open(s->f->nfs, nfs_open_note_number(op.u.open.open)));
	nfs_client_former_end(s->f->nfs);
	op = deleg_open_op(1, O_RDWR);
	op.noted = REQUEST;
	assert_int_equal(fix_run(s->f, &op), 0);
	assert_int_equal(fix_count(s->f, OP_OPEN), 1);
	assert_int_equal(op.u.open.deleg, 0); /* the attributes in the answer are old */
	assert_true(delegated(s, &op.u.open.fh, true));
	assert_int_equal(fix_close(s->f, op.u.open.open), 0);
	assert_int_equal(fix_count(s->f, OP_DELEGRETURN), 0);
	fix_unmount_clean(s->f);
}

/* The answer is noted, and the delegation is not: the delegation may have ended since. */
static void one_without_a_note_goes_back(void **state)
{
	struct survival *s = *state;
	struct nfs_op op = deleg_open_op(1, O_RDWR);

	op.noted = REQUEST;
	assert_int_equal(fix_run(s->f, &op), 0);
	survival_succeed(s, survival_copy(s, NOTE_DELEG));
	nfs_open_discard(nfs_client_former_open(s->f->nfs, nfs_open_note_number(op.u.open.open)));
	nfs_client_former_end(s->f->nfs);
	op = deleg_open_op(1, O_RDWR);
	op.noted = REQUEST;
	assert_int_equal(fix_run(s->f, &op), 0);
	assert_int_equal(op.u.open.deleg, 0);
	wait_returned(s, 1);
	assert_int_equal(s->f->srv.delegs.held, 0);
	assert_int_equal(fix_close(s->f, op.u.open.open), 0);
	fix_unmount_clean(s->f);
}

/* The OPEN is sent again in its slot, and asks for the same. */
static void an_open_without_an_answer_asks_for_the_same(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = deleg_open_op(1, O_RDWR)};
	struct nfs_op op;

	w.op.noted = REQUEST;
	survival_start_held(s, &w, OP_OPEN);
	survival_die(s);
	survival_release(s, OP_OPEN);
	nfs_client_former_end(s->f->nfs);
	op = deleg_open_op(1, O_RDWR);
	op.noted = REQUEST;
	assert_int_equal(fix_run(s->f, &op), 0);
	assert_int_equal(fix_count(s->f, OP_OPEN), 1);
	assert_int_equal(s->f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
		OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG);
	assert_int_equal(s->f->srv.mixups, 0);
	wait_returned(s, 1);
	assert_int_equal(fix_close(s->f, op.u.open.open), 0);
	survival_bury(s);
}

/* --- delegations that are lost ---------------------------------------------------------------- */

/* The former daemon had lost the delegation, and was killed in the middle of the work. */
static void without_their_delegation_they_are_suspect(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh);
	uint64_t number = nfs_open_note_number(o);
	unsigned opens = fix_count(f, OP_OPEN);

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	survival_succeed(s, survival_copy(s, NOTE_DELEG));
	assert_int_equal(delegated(s, &fh, true), 0);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	nfs_client_former_end(f->nfs);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), -EIO); /* relies on the lock */
	assert_int_equal(fix_count(f, OP_OPEN), opens + 1);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

static void a_restarted_server_gives_them_again(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = open_locally(s, &fh);
	uint64_t number = nfs_open_note_number(o);
	struct former *dead = survival_copy(s, NOTE_NONE);

	s->former = f->nfs;
	survival_bury(s); /* its state manager would recover as well */
	mean_reboot(&f->srv);
	survival_succeed(s, dead);
	s->former = NULL;
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	nfs_client_former_end(f->nfs);
	assert_int_equal(fix_write(f, o, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(f->srv.delegs.reclaims, 1);
	assert_true(nfs_deleg_holds(f->nfs, &fh, delegated(s, &fh, true)));
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

/* Two notes of one delegation. */
static void notes_that_contradict_are_refused(void **state)
{
	struct survival *s = *state;
	struct err e = {.kind = ERR_NONE};
	struct former *f;
	struct note note = {0};
	struct nfs_fh fh;
	const void *data;
	uint32_t len;

	deleg_given(s->f, 1, O_RDONLY, &fh);
	f = survival_copy(s, NOTE_NONE);
	data = former_note(f, NOTE_DELEG, 0, &len);
	ledger_put(s->ledger[0], &note, NOTE_DELEG, data, len);
	former_free(f);
	f = survival_copy(s, NOTE_NONE);
	assert_null(survival_mount(s, s->ledger[1], f, &e));
	assert_non_null(strstr(e.msg, "damaged"));
	former_free(f);
	fix_unmount_clean(s->f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, survival_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_tells_all),
		cmocka_unit_test(damaged_notes_are_refused),
		TEST(delegations_are_held_again),
		TEST(local_opens_and_locks_are_found_again),
		TEST(local_opens_that_are_not_taken_end),
		TEST(a_mount_that_settles_keeps_them),
		TEST(a_second_successor_has_them_too),
		TEST(a_recalled_one_goes_back),
		TEST(a_recall_comes_again),
		TEST(an_open_that_comes_again_has_it),
		TEST(one_without_a_note_goes_back),
		TEST(an_open_without_an_answer_asks_for_the_same),
		TEST(without_their_delegation_they_are_suspect),
		TEST(a_restarted_server_gives_them_again),
		TEST(notes_that_contradict_are_refused),
	};

	log_init("test-nfs4_deleg_note", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
