/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/deleg_use: which opens get a delegation, and the conflicts with
 * a
 * delegation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "contrib/serve/ops/entry.h"
#include "contrib/serve/v4/cb.h"
#include "tests/unit/contrib/serve/state/serve-two.h"
#include "transport/clock.h"

static void who_wants_one_gets_one(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);
	const uint8_t *data;
	uint32_t len;
	bool eof;

	/* the delegation outlives the open, and allows reads */
	assert_int_equal(env_read(&f->e, &f->fh, &sid, 0, 100, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4);
	assert_int_equal(env_write(&f->e, &f->fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_OPENMODE);
	assert_int_equal(two_test_sid(f, &sid), NFS4_OK);
	assert_int_equal(two_free_sid(f, &sid), NFS4ERR_LOCKS_HELD);
	/* one delegation is enough */
	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_ANY_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(
		env_read(&f->e, &f->fh, &sid, 0, 100, &data, &len, &eof), NFS4ERR_BAD_STATEID);
	assert_int_equal(f->e.sv.state.delegs->n, 0);
}

static void who_wants_none_gets_none(void **state)
{
	static const struct {
		uint32_t access;
		uint32_t why;
	} ask[] = {
		{RD | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, WND4_NOT_WANTED},
		{RD | OPEN4_SHARE_ACCESS_WANT_CANCEL, WND4_CANCELLED},
		{RD | OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG, WND4_RESOURCE},
		{RW | OPEN4_SHARE_ACCESS_WANT_ANY_DELEG, WND4_RESOURCE},
	};
	struct two *f = *state;

	for (unsigned i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(two_open(f, ask[i].access, 0), NFS4_OK);
		assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
		assert_int_equal(f->d.why, ask[i].why);
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	}
	f->e.sv.state.delegs->mode = DELEG_NONE;
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.why, WND4_RESOURCE);
}

static void a_new_file_too_if_it_is_only_read(void **state)
{
	static const enum createmode4 modes[] = {UNCHECKED4, GUARDED4, EXCLUSIVE4_1};
	char name[] = "new0";
	struct two *f = *state;

	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++, name[3]++) {
		struct nfs4_open_args a = {
			.share_access = RD, .create = true, .mode = modes[i], .claim = CLAIM_NULL};

		assert_int_equal(two_open_with(f, name, &a), NFS4_OK);
		assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	}
}

static void without_a_backchannel_there_is_none(void **state)
{
	struct two *f = *state;
	struct session *ses = session_get(&f->e.sv.state, &f->e.session);

	two_be(f, true);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	two_be(f, false);
	ses->cb_proved = false;
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	ses->cb_proved = ses->cb_down = true;
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	ses->cb_down = false;
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	session_put(&f->e.sv.state, ses);
}

static void nor_of_a_file_that_others_change(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid w;
	struct obj *o;

	two_be(f, true);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	w = f->open;
	two_be(f, false);
	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	two_be(f, true);
	assert_int_equal(env_close(&f->e, &f->fh, &w), NFS4_OK);
	/* nor while a change is under way */
	two_be(f, false);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(deleg_begin_use(&f->e.sv.state, o, NULL, DELEG_CHANGE), NFS4_OK);
	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	deleg_end_use(&f->e.sv.state, o, DELEG_CHANGE);
	obj_unref(f->e.sv.objs, o);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
}

static void two_readers_may_both_have_one(void **state)
{
	struct two *f = *state;

	two_delegated(f);
	two_be(f, true);
	two_call_back(f);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	assert_int_equal(two_ncalls, 0);
}

static void a_client_has_so_many_and_no_more(void **state)
{
	struct two *f = *state;
	struct delegs *d = f->e.sv.state.delegs;
	unsigned given = 0;
	char name[16];

	assert_in_range(d->max_client, 1, d->max);
	d->max_client = 5;
	for (unsigned i = 0; i < 20; i++) {
		struct nfs4_open_args a = {.share_access = RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG,
			.claim = CLAIM_NULL};

		snprintf(name, sizeof(name), "n%u", i);
		two_make_file(f, name);
		assert_int_equal(two_open_with(f, name, &a), NFS4_OK);
		given += f->d.type == OPEN_DELEGATE_READ;
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	}
	assert_int_equal(given, 5);
	assert_int_equal(d->n, 5);
	d->max = 6;
	two_be(f, true);
	two_call_back(f);
	given = 0;
	for (unsigned i = 0; i < 3; i++) {
		struct nfs4_open_args a = {.share_access = RD, .claim = CLAIM_NULL};

		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(two_open_with(f, name, &a), NFS4_OK);
		given += f->d.type == OPEN_DELEGATE_READ;
	}
	assert_int_equal(given, 1);
}

/* --- conflicts ------------------------------------------------------------------------------ */

static uint32_t open_deny(struct two *f)
{
	return two_open(f, RD, OPEN4_SHARE_DENY_READ);
}

static uint32_t write_anonymous(struct two *f)
{
	return env_write(&f->e, &f->fh, &nfs4_stateid_anonymous, 0, (char[]){"x"}, 1);
}

static uint32_t rename_it(struct two *f)
{
	return two_rename(f, "f", "g");
}

static uint32_t rename_over_it(struct two *f)
{
	two_make_file(f, "h");
	return two_rename(f, "h", "f");
}

/* As in NFSv3: without a client. */
static uint32_t remove_as_v3(struct two *f)
{
	struct obj *root = obj_root(f->e.sv.objs);
	uint32_t status =
		entry_remove(&f->e.sv, NULL, root, &(struct nfs_name){"f", 1}, ENTRY_OTHER);

	obj_unref(f->e.sv.objs, root);
	return status;
}

static uint32_t (*const conflicts[])(struct two *f) = {two_open_write, open_deny, write_anonymous,
	two_set_mode, rename_it, rename_over_it, two_link, two_remove, remove_as_v3};

static void what_conflicts_waits_until_it_is_back(void **state)
{
	for (unsigned i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		struct nfs4_stateid sid;
		struct two *f;

		if (i > 0)
			assert_int_equal(two_setup(state), 0);
		f = *state;
		sid = two_delegated(f);
		two_be(f, true);
		assert_int_equal(conflicts[i](f), NFS4ERR_DELAY);
		assert_null(two_out);
		cb_notify_all(&f->e.sv);
		two_answer_recall(f, &sid, NFS4_OK);
		/* the delegation is not back yet */
		assert_int_equal(conflicts[i](f), NFS4ERR_DELAY);
		cb_notify_all(&f->e.sv);
		assert_null(two_out); /* and not recalled twice in a row */
		two_be(f, false);
		assert_int_equal(two_give(f, &sid), NFS4_OK);
		two_be(f, true);
		assert_int_equal(conflicts[i](f), NFS4_OK);
		assert_int_equal(f->e.sv.state.delegs->n, 0);
		assert_int_equal(f->e.sv.state.delegs->nrecalled, 0);
		if (i + 1 < sizeof(conflicts) / sizeof(conflicts[0]))
			assert_int_equal(two_teardown(state), 0);
	}
}

static void its_holder_is_not_in_its_own_way(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);

	assert_int_equal(two_set_mode(f), NFS4_OK);
	assert_int_equal(two_link(f), NFS4_OK);
	assert_int_equal(rename_it(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_null(two_out);
	/* the delegation of a file without a name must come back */
	assert_int_equal(two_remove(f), NFS4ERR_NOENT);
	assert_int_equal(two_rename(f, "g", "f"), NFS4_OK);
	assert_int_equal(two_remove(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_null(two_out);
	assert_int_equal(two_rename(f, "l", "f"), NFS4_OK);
	assert_int_equal(two_remove(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	two_be(f, false); /* f->holder is saved */
	two_answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
}

/* The holder's opens for writing end the delegation, but do not wait. */
static void the_holder_may_write(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);

	assert_int_equal(two_open_write(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	two_be(f, false); /* f->holder is saved */
	two_answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
}

static void reading_is_in_nobodys_way(void **state)
{
	struct two *f = *state;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	two_delegated(f);
	two_be(f, true);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(env_read(&f->e, &f->fh, &nfs4_stateid_anonymous, 0, 10, &data, &len, &eof),
		NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_int_equal(two_ncalls, 0);
}

static void opens_are_claimed_by_a_delegation(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f), wrong = sid;
	struct nfs4_open_args a = {.share_access = RD, .deleg = sid};

	two_be(f, true);
	assert_int_equal(two_open_write(f), NFS4ERR_DELAY);
	two_be(f, false);
	a.claim = CLAIM_DELEGATE_CUR;
	assert_int_equal(two_open_with(f, "f", &a), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	a.claim = CLAIM_DELEG_CUR_FH;
	assert_int_equal(two_open_with(f, "f", &a), NFS4_OK);
	wrong.other[11] ^= 1;
	a.deleg = wrong;
	assert_int_equal(two_open_with(f, "f", &a), NFS4ERR_BAD_STATEID);
	a.deleg = f->open;
	assert_int_equal(two_open_with(f, "f", &a), NFS4ERR_BAD_STATEID);
	a.claim = CLAIM_DELEGATE_PREV;
	assert_int_equal(two_open_with(f, "f", &a), NFS4ERR_NOTSUPP);
	a.claim = CLAIM_DELEG_PREV_FH;
	assert_int_equal(two_open_with(f, "f", &a), NFS4ERR_NOTSUPP);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	cb_notify_all(&f->e.sv); /* the recall is too late, and its answer changes nothing */
	two_answer_recall(f, &sid, NFS4ERR_BAD_STATEID);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, two_setup, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_wants_one_gets_one),
		TEST(who_wants_none_gets_none),
		TEST(a_new_file_too_if_it_is_only_read),
		TEST(without_a_backchannel_there_is_none),
		TEST(nor_of_a_file_that_others_change),
		TEST(two_readers_may_both_have_one),
		TEST(a_client_has_so_many_and_no_more),
		TEST(what_conflicts_waits_until_it_is_back),
		TEST(its_holder_is_not_in_its_own_way),
		TEST(the_holder_may_write),
		TEST(reading_is_in_nobodys_way),
		TEST(opens_are_claimed_by_a_delegation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
