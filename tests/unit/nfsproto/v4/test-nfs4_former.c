/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs_former, nfsproto/v4/nfs4_former and nfsproto/v4/mount/nfs4_state_note:
 * a daemon is killed, and its successor goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/mount/nfs4_mount.h"
#include "tests/unit/nfsproto/v4/former-fixture.h"

#define REQUEST 77u /* of the kernel */

static struct nfs_op mkdir_op(struct survival *s)
{
	struct nfs_op op = {.type = NFS_CREATE, .noted = REQUEST};

	op.u.create.dir = s->f->root;
	op.u.create.name = (struct nfs_name){"dir", 3};
	op.u.create.type = NFS_DIR;
	op.u.create.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0700};
	return op;
}

static struct nfs_op remove_op(struct survival *s)
{
	struct nfs_op op = {.type = NFS_REMOVE, .noted = REQUEST};

	op.u.remove.dir = s->f->root;
	op.u.remove.name = (struct nfs_name){"file", 4};
	return op;
}

static struct nfs_op open_op(struct survival *s, int flags)
{
	struct nfs_op op = {.type = NFS_OPEN, .noted = REQUEST};

	op.u.open.dir = s->f->root;
	op.u.open.name = (struct nfs_name){"file", 4};
	op.u.open.flags = flags;
	op.u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0640};
	return op;
}

static int run(struct survival *s, struct nfs_op op)
{
	return fix_run(s->f, &op);
}

static void the_session_opens_and_locks_go_on(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint64_t number = nfs_open_note_number(o);
	unsigned clients = fix_count(f, OP_EXCHANGE_ID), opens = fix_count(f, OP_OPEN);
	uint32_t got;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 5, 9), 0);
	survival_die(s);
	assert_int_equal(fix_count(f, OP_EXCHANGE_ID), clients);
	assert_int_equal(fix_count(f, OP_CREATE_SESSION), 1);
	assert_int_equal(fix_count(f, OP_BIND_CONN_TO_SESSION), 1);
	assert_int_equal(f->srv.bind_dir, CDFC4_FORE_OR_BOTH);
	assert_null(nfs_client_former_open(f->nfs, number + 1));
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	assert_null(nfs_client_former_open(f->nfs, number));
	assert_int_equal(nfs_open_note_number(o), number);
	nfs_client_former_end(f->nfs);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	assert_int_equal(fix_read(f, o, &fh, 100, &got), 0);
	/* the owner's, and not another's */
	assert_int_equal(fix_lock(f, o, &fh, 8, F_WRLCK, 4, 4), -EAGAIN);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_RDLCK, 5, 5), 0);
	assert_int_equal(fix_lock(f, o, &fh, 8, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(f->srv.misordered, 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

static void a_noted_reply_needs_no_call(void **state)
{
	struct survival *s = *state;
	struct nfs_op op = mkdir_op(s);
	struct nfs_fh fh;

	assert_int_equal(fix_run(s->f, &op), 0);
	fh = op.u.create.fh;
	assert_false(nfs_client_has_changes(s->f->nfs, REQUEST));
	survival_die(s);
	assert_true(nfs_client_has_changes(s->f->nfs, REQUEST));
	assert_false(nfs_client_has_changes(s->f->nfs, REQUEST + 64));
	op = mkdir_op(s);
	assert_int_equal(fix_run(s->f, &op), 0);
	assert_true(nfs_fh_equal(&op.u.create.fh, &fh));
	assert_int_equal(fix_count(s->f, OP_CREATE), 1);
	/* once: the next one is a new call */
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 2);
	nfs_client_answered(s->f->nfs, REQUEST);
	assert_int_equal(s->f->srv.misordered, 0);
}

/* Another name, another kind, or another request is another op. */
static void a_note_is_for_the_same_op_alone(void **state)
{
	struct survival *s = *state;
	struct nfs_op op;

	assert_int_equal(run(s, mkdir_op(s)), 0);
	survival_die(s);
	op = mkdir_op(s);
	op.noted++;
	assert_int_equal(fix_run(s->f, &op), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 2);
	op = mkdir_op(s);
	op.u.create.name.len = 2;
	assert_int_equal(fix_run(s->f, &op), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 3);
	assert_int_equal(run(s, remove_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_REMOVE), 1);
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 3);
}

static void an_answered_request_leaves_no_notes(void **state)
{
	struct survival *s = *state;

	assert_int_equal(run(s, mkdir_op(s)), 0);
	nfs_client_answered(s->f->nfs, REQUEST);
	survival_die(s);
	assert_false(nfs_client_has_changes(s->f->nfs, REQUEST));
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 2);
}

/* The notes of a successor are notes for the next one. */
static void a_second_successor_finds_the_same(void **state)
{
	struct survival *s = *state;
	struct err e = {.kind = ERR_NONE};
	struct nfs_client *first;

	assert_int_equal(run(s, mkdir_op(s)), 0);
	survival_die(s);
	assert_int_equal(run(s, mkdir_op(s)), 0); /* found, and not answered */
	survival_bury(s);
	first = s->f->nfs;
	ledger_free(s->ledger[0]);
	s->ledger[0] = s->ledger[1];
	s->ledger[1] = ledger_new(&e);
	survival_die(s);
	assert_ptr_equal(s->former, first);
	assert_true(nfs_client_has_changes(s->f->nfs, REQUEST));
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 1);
}

/* The server had not got the call before the kill. */
static void a_call_goes_again_in_its_slot(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = mkdir_op(s)};

	survival_start_held(s, &w, OP_CREATE);
	survival_die(s);
	assert_true(nfs_client_has_changes(s->f->nfs, REQUEST));
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 1);
	assert_int_equal(s->f->srv.misordered, 0);
	survival_bury(s);	/* it would begin the op anew */
	survival_release(s, 0); /* the call arrives late */
	assert_int_equal(fix_count(s->f, OP_CREATE), 1);
}

/* The server had executed the call, and has kept the answer. */
static void the_reply_cache_answers(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = mkdir_op(s)};

	survival_start_held(s, &w, OP_CREATE);
	survival_die(s);
	survival_release(s, OP_CREATE);
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 1);
	assert_int_equal(s->f->srv.misordered, 0);
	assert_int_equal(s->f->srv.mixups, 0);
	survival_bury(s);
}

/* The server had executed the call, and has no answer: the op is unsure. */
static void an_op_without_an_answer_is_unsure(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = remove_op(s)};

	survival_start_held(s, &w, OP_REMOVE);
	survival_die(s);
	survival_release(s, 0);
	assert_int_equal(fix_count(s->f, OP_REMOVE), 1);
	fix_fails(s->f, OP_REMOVE, NFS4ERR_NOENT, 1);
	assert_int_equal(run(s, remove_op(s)), 0); /* gone, as the caller wanted */
	assert_true(s->f->srv.replays >= 1);
	survival_bury(s);
}

/* A server may say behind SEQUENCE, too, that it has kept no answer: the op goes on. */
static void an_answer_that_was_not_kept_is_no_failure(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = remove_op(s)};

	survival_start_held(s, &w, OP_REMOVE);
	survival_die(s);
	fix_fails(s->f, OP_PUTFH, NFS4ERR_RETRY_UNCACHED_REP, 1);
	assert_int_equal(run(s, remove_op(s)), 0);
	assert_int_equal(fix_count(s->f, OP_REMOVE), 1);
	survival_bury(s);
	survival_release(s, 0);
}

/* A call that is not noted is never executed late. */
static void a_slot_without_a_note_is_settled(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = {.type = NFS_GETATTR}};
	unsigned before;

	w.op.u.getattr.fh = s->f->root;
	survival_start_held(s, &w, OP_GETATTR);
	before = fix_count(s->f, OP_GETATTR);
	survival_die(s);
	survival_bury(s); /* it would begin the op anew */
	survival_release(s, 0);
	assert_int_equal(fix_count(s->f, OP_GETATTR), before);
	assert_int_equal(fix_getattr(s->f), 0);
	assert_int_equal(fix_count(s->f, OP_GETATTR), before + 1);
}

static void a_change_that_no_op_finds_is_settled(void **state)
{
	struct survival *s = *state;
	struct fix_op w = {.op = mkdir_op(s)};
	unsigned sequences;

	survival_start_held(s, &w, OP_CREATE);
	survival_die(s);
	sequences = fix_count(s->f, OP_SEQUENCE);
	nfs_client_replays_end(s->f->nfs);
	/* one in vain, with the next sequence id, which is not counted; and one */
	assert_true(mean_wait(&s->f->srv, &s->f->srv.count[OP_SEQUENCE], sequences + 2));
	survival_bury(s); /* it would begin the op anew */
	survival_release(s, 0);
	assert_int_equal(fix_count(s->f, OP_CREATE), 0);
}

static void a_lost_session_is_made_anew(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint64_t number = nfs_open_note_number(o);
	struct fix_op w = {.op = remove_op(s)};
	struct former *dead;
	uint32_t got;

	survival_start_held(s, &w, OP_REMOVE);
	dead = survival_copy(s, NOTE_NONE);
	mean_lose_session(&f->srv);
	survival_succeed(s, dead);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	fix_fails(f, OP_REMOVE, NFS4ERR_NOENT, 1);
	assert_int_equal(run(s, remove_op(s)), 0); /* unsure */
	assert_int_equal(fix_count(f, OP_CREATE_SESSION), 2);
	assert_int_equal(fix_read(f, o, &fh, 100, &got), 0);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(f->srv.nopens, 0);
	survival_release(s, 0);
	survival_bury(s);
}

/* The server binds no connection to the former session, and each one to the next. */
static void all_connections_wait_for_the_next_session(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct former *dead = survival_copy(s, NOTE_NONE);

	s->former = f->nfs;
	survival_bury(s); /* its state manager would recover as well */
	mean_lose_session(&f->srv);
	f->nconnect = 3;
	survival_succeed(s, dead);
	s->former = NULL;
	assert_int_equal(f->nfs->nrpcs, 3);
	assert_true(mean_wait(&f->srv, &f->srv.nbound, 3));
	assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
}

static void a_restarted_server_gets_reclaims(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint64_t number = nfs_open_note_number(o);
	struct former *dead;
	uint32_t got;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	dead = survival_copy(s, NOTE_NONE);
	s->former = f->nfs;
	survival_bury(s); /* its state manager would recover as well */
	mean_reboot(&f->srv);
	survival_succeed(s, dead);
	s->former = NULL;
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	assert_int_equal(fix_read(f, o, &fh, 100, &got), 0);
	assert_true(f->srv.reclaims >= 1);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

static void an_open_that_comes_again_is_the_same(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_op op = open_op(s, O_RDWR | O_CREAT);
	struct nfs_open *o;
	uint64_t number;
	uint32_t got;

	assert_int_equal(fix_run(f, &op), 0);
	number = nfs_open_note_number(op.u.open.open);
	survival_die(s);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	nfs_open_discard(o);
	nfs_client_former_end(f->nfs);
	op = open_op(s, O_RDWR | O_CREAT);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_count(f, OP_OPEN), 1);
	assert_int_equal(fix_count(f, OP_CLOSE), 0);
	assert_int_equal(nfs_open_note_number(op.u.open.open), number);
	nfs_client_answered(f->nfs, REQUEST);
	assert_int_equal(fix_read(f, op.u.open.open, &op.u.open.fh, 100, &got), 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* The verifier of an exclusive create is the same in the successor, also without the session. */
static void an_exclusive_create_makes_one_file(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_op op = open_op(s, O_RDWR | O_CREAT | O_EXCL);
	struct fix_op w = {.op = op};
	struct former *dead;

	f->srv.exclusive = true;
	survival_start_held(s, &w, OP_OPEN);
	dead = survival_copy(s, NOTE_NONE);
	survival_release(s, 0);
	assert_true(fix_ends_within(&w.sem, PATIENCE_MS));
	assert_int_equal(w.op.error, 0);
	assert_true(f->srv.made);
	mean_lose_session(&f->srv);
	survival_succeed(s, dead);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_count(f, OP_OPEN), 2);
	assert_int_equal(
		nfs_open_note_number(op.u.open.open), nfs_open_note_number(w.op.u.open.open));
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	survival_bury(s);
}

/* Opens that the user does not take: one whose request comes again, and one of an answered one. */
static void opens_that_are_not_taken_end(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_op op = open_op(s, O_RDWR);

	assert_int_equal(fix_run(f, &op), 0);
	op = open_op(s, O_RDONLY);
	op.noted = REQUEST + 1;
	assert_int_equal(fix_run(f, &op), 0);
	nfs_client_answered(f->nfs, REQUEST + 1);
	assert_int_equal(f->srv.nopens, 2);
	survival_die(s);
	nfs_client_former_end(f->nfs);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	op = open_op(s, O_RDWR);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_count(f, OP_OPEN), 2);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* The answer to LOCK is noted, and the lock is not. */
static void a_lock_is_found(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint64_t number = nfs_open_note_number(o);
	struct fix_op w = {.op = fix_lock_op(o, &fh, 7, F_WRLCK, 0, 9)};
	struct nfs_op op;

	w.op.noted = REQUEST;
	survival_start_held(s, &w, OP_LOCK);
	survival_die(s);
	survival_release(s, OP_LOCK);
	o = nfs_client_former_open(f->nfs, number);
	assert_non_null(o);
	op = fix_lock_op(o, &fh, 7, F_WRLCK, 0, 9);
	op.noted = REQUEST;
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_count(f, OP_LOCK), 1);
	assert_true(fix_has_lock(f, 0, 9, true));
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	survival_bury(s);
}

/* LOCKU was sent, and the server has not executed it: the successor still knows the lock. */
static void an_unlock_that_is_lost_comes_again(void **state)
{
	struct survival *s = *state;
	struct fix *f = s->f;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	uint64_t number = nfs_open_note_number(o);
	struct fix_op w = {.op = fix_lock_op(o, &fh, 7, F_UNLCK, 0, 9)};
	struct nfs_op op;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	w.op.noted = REQUEST;
	survival_start_held(s, &w, OP_LOCKU);
	survival_die(s);
	o = nfs_client_former_open(f->nfs, number);
	op = fix_lock_op(o, &fh, 7, F_UNLCK, 0, 9);
	op.noted = REQUEST;
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, o), 0);
	survival_release(s, 0);
	survival_bury(s);
}

static void a_ledger_without_a_mount_is_refused(void **state)
{
	struct survival *s = *state;
	struct ledger *mine = s->ledger[0];
	struct err e = {.kind = ERR_NONE};
	struct former *f;

	s->ledger[0] = s->ledger[1];
	f = survival_copy(s, NOTE_NONE);
	s->ledger[0] = mine;
	assert_null(survival_mount(s, s->ledger[1], f, &e));
	assert_non_null(strstr(e.msg, "damaged"));
	former_free(f);
	assert_int_equal(fix_getattr(s->f), 0); /* the former client goes on */
	fix_unmount_clean(s->f);
}

/* Over a mount without a ledger the functions do nothing. */
static void without_a_ledger_nothing_is_noted(void **state)
{
	struct survival *s = *state;

	nfs_client_free(s->f->nfs);
	fix_mount_root(s->f);
	assert_int_equal(run(s, mkdir_op(s)), 0);
	assert_false(nfs_client_has_changes(s->f->nfs, REQUEST));
	nfs_client_answered(s->f->nfs, REQUEST);
	nfs_client_replays_end(s->f->nfs);
	nfs_client_former_end(s->f->nfs);
	assert_null(nfs_client_former_open(s->f->nfs, 1));
}

#define SURVIVES(fn) cmocka_unit_test_setup_teardown(fn, survival_setup, survival_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SURVIVES(the_session_opens_and_locks_go_on),
		SURVIVES(a_noted_reply_needs_no_call),
		SURVIVES(a_note_is_for_the_same_op_alone),
		SURVIVES(an_answered_request_leaves_no_notes),
		SURVIVES(a_second_successor_finds_the_same),
		SURVIVES(a_call_goes_again_in_its_slot),
		SURVIVES(the_reply_cache_answers),
		SURVIVES(an_op_without_an_answer_is_unsure),
		SURVIVES(an_answer_that_was_not_kept_is_no_failure),
		SURVIVES(a_slot_without_a_note_is_settled),
		SURVIVES(a_change_that_no_op_finds_is_settled),
		SURVIVES(a_lost_session_is_made_anew),
		SURVIVES(all_connections_wait_for_the_next_session),
		SURVIVES(a_restarted_server_gets_reclaims),
		SURVIVES(an_open_that_comes_again_is_the_same),
		SURVIVES(an_exclusive_create_makes_one_file),
		SURVIVES(opens_that_are_not_taken_end),
		SURVIVES(a_lock_is_found),
		SURVIVES(an_unlock_that_is_lost_comes_again),
		SURVIVES(a_ledger_without_a_mount_is_refused),
		SURVIVES(without_a_ledger_nothing_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
