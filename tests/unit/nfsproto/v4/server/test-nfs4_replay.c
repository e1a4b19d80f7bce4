/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_replay: the notes themselves, damaged ones too.
 * test-nfs4_former.c has the ops that find them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_join.h"
#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_task.h"

#define REQUEST 5u

/* A server that is not connected, with a user that has one op, in a slot. */
struct one {
	struct nfs4_server srv;
	struct nfs4_user user;
	struct ledger *ledger;
	struct nfs_op op;
};

static const struct nfs4_upcalls upcalls;

static int setup(void **state)
{
	struct one *o = calloc(1, sizeof(*o));
	struct err e = {.kind = ERR_NONE};

	nfs4_server_init(&o->srv, nfs4_kinds);
	o->ledger = ledger_new(&e);
	assert_non_null(o->ledger);
	o->srv.replay = nfs4_replay_new(o->ledger);
	nfs4_slots_reset_locked(&o->srv.slots, 4);
	nfs4_slots_open_locked(&o->srv.slots);
	nfs4_replay_slots_locked(&o->srv);
	o->user.up = &upcalls;
	nfs4_user_join(&o->srv, &o->user);
	o->op.type = NFS_REMOVE;
	o->op.noted = REQUEST;
	o->op.u.remove.dir = (struct nfs_fh){.len = 3, .data = "dir"};
	o->op.u.remove.name = (struct nfs_name){"name", 4};
	nfs4_task_bind(&o->op, &o->srv.conn[0], &o->user, NFS_REMOVE);
	o->op.slot = nfs4_slots_take_locked(&o->srv.slots, false);
	*state = o;
	return 0;
}

static int teardown(void **state)
{
	struct one *o = *state;

	nfs4_replay_free(o->srv.replay);
	nfs4_server_finish(&o->srv);
	ledger_free(o->ledger);
	free(o);
	return 0;
}

static struct former *read_ledger(struct one *o)
{
	struct err e = {.kind = ERR_NONE};
	struct former *f = former_read(ledger_fd(o->ledger), &e);

	assert_non_null(f);
	return f;
}

static uint32_t notes(struct one *o, enum note_kind kind)
{
	struct former *f = read_ledger(o);
	uint32_t n = former_count(f, kind);

	former_free(f);
	return n;
}

/* o's op gives its slot back. */
static void put_slot(struct one *o)
{
	nfs4_slots_put_locked(&o->srv.slots, o->op.slot, NFS4_SLOT_USED);
	o->op.slot = NULL;
}

static void a_change_is_noted_until_it_is_answered(void **state)
{
	struct one *o = *state;

	assert_int_equal(notes(o, NOTE_SLOTS), 1);
	nfs4_replay_calls(&o->op);
	assert_int_equal(notes(o, NOTE_CHANGE), 1);
	nfs4_replay_calls(&o->op); /* the same op calls again */
	assert_int_equal(notes(o, NOTE_CHANGE), 1);
	nfs4_replay_replied(&o->op, 0, false, NFS4_SLOT_USED, "reply", 5);
	put_slot(o);
	nfs4_replay_answered(&o->srv, REQUEST + NFS4_REPLAY_BUCKETS);
	assert_int_equal(notes(o, NOTE_CHANGE), 1);
	nfs4_replay_ended(&o->op);
	nfs4_replay_answered(&o->srv, REQUEST);
	assert_int_equal(notes(o, NOTE_CHANGE), 0);
	assert_int_equal(o->srv.replay->n, 0);
}

/* The request of a killed process is answered before its op has ended. */
static void an_op_under_way_outlives_its_request(void **state)
{
	struct one *o = *state;

	nfs4_replay_calls(&o->op);
	nfs4_replay_answered(&o->srv, REQUEST);
	assert_int_equal(notes(o, NOTE_CHANGE), 0);
	nfs4_replay_replied(&o->op, 0, false, NFS4_SLOT_USED, "reply", 5);
	nfs4_replay_calls(&o->op);
	assert_int_equal(notes(o, NOTE_CHANGE), 0);
	put_slot(o);
	nfs4_replay_ended(&o->op);
	assert_int_equal(o->srv.replay->n, 0);
}

static void reads_and_closes_are_not_noted(void **state)
{
	static const unsigned kinds[] = {NFS_READ, NFS_WRITE, NFS_CLOSE, NFS4_K_LOCKU, NFS_GETATTR};
	struct one *o = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		o->op.be.v4.kind = (uint8_t)kinds[i];
		nfs4_replay_calls(&o->op);
	}
	o->op.be.v4.kind = NFS_REMOVE;
	o->op.noted = 0;
	nfs4_replay_calls(&o->op);
	assert_int_equal(notes(o, NOTE_CHANGE), 0);
	put_slot(o);
}

/* The note of o's op, with a reply or without, in a copy. *len: its bytes. */
static uint8_t *note_of(struct one *o, bool replied, uint32_t *len)
{
	struct former *f;
	const void *note;
	uint8_t *copy;

	nfs4_replay_calls(&o->op);
	if (replied)
		nfs4_replay_replied(&o->op, 0, false, NFS4_SLOT_USED, "reply", 5);
	f = read_ledger(o);
	assert_int_equal(former_count(f, NOTE_CHANGE), 1);
	note = former_note(f, NOTE_CHANGE, 0, len);
	copy = malloc(*len);
	memcpy(copy, note, *len);
	former_free(f);
	nfs4_replay_ended(&o->op);
	nfs4_replay_answered(&o->srv, REQUEST);
	return copy;
}

static void a_note_that_is_cut_is_damaged(void **state)
{
	struct one *o = *state;

	for (int replied = 0; replied < 2; replied++) {
		uint32_t len;
		uint8_t *note = note_of(o, replied, &len);

		for (uint32_t n = 0; n < len; n++) {
			uint8_t *cut = malloc(n ? n : 1); /* a read behind the end is found */

			memcpy(cut, note, n);
			assert_int_equal(nfs4_replay_read_change(&o->srv, cut, n), -EBADMSG);
			free(cut);
		}
		assert_false(nfs4_replay_has(&o->srv, REQUEST));
		assert_int_equal(nfs4_replay_read_change(&o->srv, note, len), 0);
		assert_true(nfs4_replay_has(&o->srv, REQUEST));
		nfs4_replay_end(&o->srv);
		assert_true(nfs4_replay_has(&o->srv, REQUEST));
		nfs4_replay_answered(&o->srv, REQUEST);
		assert_false(nfs4_replay_has(&o->srv, REQUEST));
		free(note);
	}
	put_slot(o);
}

/* Any byte may be wrong: the note is read or refused. */
static void a_note_with_a_wrong_byte_does_no_harm(void **state)
{
	struct one *o = *state;
	uint32_t len;
	uint8_t *note = note_of(o, true, &len);
	unsigned refused = 0;

	for (uint32_t i = 0; i < len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			note[i] ^= (uint8_t)(1u << bit);
			refused += nfs4_replay_read_change(&o->srv, note, len) != 0;
			note[i] ^= (uint8_t)(1u << bit);
			nfs4_replay_end(&o->srv);
		}
	assert_true(refused > 0);
	assert_int_equal(o->srv.slots.ndoubtful, 0);
	free(note);
	put_slot(o);
}

/* The order of notes is that of the calls. */
static void an_op_finds_the_first_note(void **state)
{
	struct one *o = *state;
	uint8_t *reply = NULL;
	uint32_t len[2];
	uint8_t *note[2];
	size_t n;

	note[0] = note_of(o, true, &len[0]);
	note[1] = note_of(o, false, &len[1]);
	put_slot(o);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nfs4_replay_read_change(&o->srv, note[i], len[i]), 0);
	o->op.u.remove.name.len = 3;
	assert_int_equal(nfs4_replay_find(&o->op, &reply, &n), NFS4_REPLAY_NONE);
	assert_false(o->op.be.v4.unsure);
	o->op.u.remove.name.len = 4;
	assert_int_equal(nfs4_replay_find(&o->op, &reply, &n), NFS4_REPLAY_REPLY);
	assert_int_equal(n, 5);
	assert_memory_equal(reply, "reply", 5);
	free(reply);
	/* the slot of the second is not reserved: the server may have executed the call */
	assert_int_equal(nfs4_replay_find(&o->op, &reply, &n), NFS4_REPLAY_NONE);
	assert_true(o->op.be.v4.unsure);
	assert_int_equal(nfs4_replay_find(&o->op, &reply, &n), NFS4_REPLAY_NONE);
	nfs4_replay_ended(&o->op);
	nfs4_replay_answered(&o->srv, REQUEST);
	free(note[0]);
	free(note[1]);
}

/* The server answers from its cache only if the bytes of the call are the same. */
static void an_append_is_the_same_call_again(void **state)
{
	struct one *o = *state;
	struct nfs_op *op = &o->op;
	uint8_t *note, *reply = NULL;
	uint32_t len;
	size_t n;

	op->type = NFS_WRITE;
	memset(&op->u, 0, sizeof(op->u));
	op->u.write.fh = (struct nfs_fh){.len = 4, .data = "file"};
	op->u.write.append = true;
	op->u.write.offset = 100;
	op->u.write.stable = NFS_FILE_SYNC;
	nfs4_task_bind(op, &o->srv.conn[0], &o->user, NFS4_K_APPEND);
	note = note_of(o, false, &len);
	put_slot(o);
	assert_int_equal(nfs4_replay_read_change(&o->srv, note, len), 0);
	op->u.write.offset = 200;
	op->u.write.stable = NFS_UNSTABLE;
	nfs4_replay_find(op, &reply, &n);
	assert_null(reply);
	assert_int_equal(op->u.write.offset, 100);
	assert_int_equal(op->u.write.stable, NFS_FILE_SYNC);
	nfs4_replay_ended(op);
	nfs4_replay_answered(&o->srv, REQUEST);
	free(note);
}

#define WITH_OP(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_OP(a_change_is_noted_until_it_is_answered),
		WITH_OP(an_op_under_way_outlives_its_request),
		WITH_OP(reads_and_closes_are_not_noted),
		WITH_OP(a_note_that_is_cut_is_damaged),
		WITH_OP(a_note_with_a_wrong_byte_does_no_harm),
		WITH_OP(an_op_finds_the_first_note),
		WITH_OP(an_append_is_the_same_call_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
