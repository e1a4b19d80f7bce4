/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/layout and contrib/serve/state/layout_use: layouts, their ends,
 * recalls and fences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/v4/cb.h"
#include "tests/unit/contrib/serve/state/serve-layouts.h"
#include "transport/clock.h"

static void a_layout_lives_from_get_to_return(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid first = laid_out(f, false), sid = first;
	struct nfs4_layoutreturn_res r;

	assert_int_equal(first.seqid, 1);
	assert_int_equal(layouts(f), 1);
	/* again, under the layout's own stateid, and under one that is behind */
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(sid.seqid, 2);
	sid = first;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(sid.seqid, 3);
	assert_int_equal(layouts(f), 1);
	/* a part, and one iomode: the layout stays */
	assert_int_equal(give_with(f, &sid, LAYOUTIOMODE4_ANY, 4096, NULL, &r), NFS4_OK);
	assert_true(r.left);
	assert_int_equal(
		give_with(f, &sid, LAYOUTIOMODE4_READ, NFS4_LENGTH_EOF, NULL, &r), NFS4_OK);
	assert_true(r.left);
	assert_int_equal(r.stateid.seqid, 5);
	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
	sid.seqid = 0;
	assert_int_equal(two_test_sid(f, &sid), NFS4ERR_BAD_STATEID);
}

/* A stateid of the future, another client's, of another kind of state. */
static void foreign_stateids_are_refused(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), bad = sid;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	bad.seqid++;
	assert_int_equal(give(f, &bad), NFS4ERR_BAD_STATEID);
	assert_int_equal(give(f, &f->open), NFS4ERR_BAD_STATEID);
	bad = nfs4_stateid_anonymous;
	assert_int_equal(get(f, &bad, LAYOUTIOMODE4_READ, NULL), NFS4ERR_BAD_STATEID);
	/* no I/O and no CLOSE by a layout's stateid */
	assert_int_equal(
		env_read(&f->e, &f->fh, &sid, 0, 10, &data, &len, &eof), NFS4ERR_BAD_STATEID);
	assert_int_equal(env_close(&f->e, &f->fh, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_free_sid(f, &sid), NFS4ERR_LOCKS_HELD);
	two_be(f, true);
	bad = sid;
	assert_int_equal(get(f, &bad, LAYOUTIOMODE4_READ, NULL), NFS4ERR_BAD_STATEID);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
	two_be(f, false);
	assert_int_equal(layouts(f), 1);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void what_was_opened_decides(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;

	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_OPENMODE);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_OPENMODE);
	assert_int_equal(two_open(f, WR, 0), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
}

static void the_last_close_ends_the_layout(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), open;

	laid_out(f, true);
	assert_int_equal(layouts(f), 2);
	open = f->open;
	assert_int_equal(env_close(&f->e, &f->fh, &open), NFS4_OK);
	assert_int_equal(layouts(f), 1); /* the other client's has ended */
	two_be(f, false);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK); /* the same open */
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
}

/* A delegation keeps the layout, until the delegation goes too. */
static void a_delegation_keeps_the_layout(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid, deleg;

	f->e.sv.state.delegs->mode = DELEG_READ;
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	deleg = f->d.stateid;
	sid = deleg;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(layouts(f), 1);
	assert_int_equal(two_give(f, &deleg), NFS4_OK);
	assert_int_equal(layouts(f), 0);
}

static void all_layouts_are_returned_at_once(void **state)
{
	struct nfs4_layoutreturn_args a = {
		.type = LAYOUT4_FLEX_FILES, .iomode = LAYOUTIOMODE4_ANY, .what = LAYOUTRETURN4_ALL};
	struct two *f = *state;

	laid_out(f, true);
	laid_out(f, false);
	env_begin(&f->e, true);
	nfs4_put_layoutreturn_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 2), NFS4_OK);
	assert_int_equal(layouts(f), 1);
}

/* --- recalls ---------------------------------------------------------------------------------- */

static void a_change_of_the_mode_waits_for_the_layout(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), other, open = f->open;

	laid_out(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	sid.seqid++; /* the recall counts */
	two_answer_layoutrecall(f, &sid, NFS4_OK);
	two_be(f, false);
	other = sid;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_READ, NULL), NFS4ERR_RECALLCONFLICT);
	assert_int_equal(give(f, &sid), NFS4_OK);
	/* or else a busy client always had one when the change is tried again */
	two_later_ns += 6 * NSEC_PER_SEC;
	other = open;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	/* for a moment there is none, so that the change comes first */
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	other = f->open;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_READ, NULL), NFS4ERR_LAYOUTTRYLATER);
	two_later_ns += 3 * NSEC_PER_SEC;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
}

/* The change may never come. */
static void layouts_return_if_the_change_does_not_come(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), open = f->open;

	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	two_be(f, false);
	sid.seqid = 0;
	assert_int_equal(give(f, &sid), NFS4_OK);
	sid = open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
	two_later_ns += 17 * NSEC_PER_SEC;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
}

/* A former holder may know the ids still. */
static void a_change_of_the_mode_fences_the_file(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct fence_ids before = ids(f);

	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_true(before.uid == ids(f).uid);
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	two_be(f, false);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
}

/* Half of the table is for opens and locks. */
static void a_crowded_client_gets_no_layout(void **state)
{
	struct two *f = *state;
	struct state *s = &f->e.sv.state;
	struct nfs4_stateid sid;
	struct client *c;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	mutex_lock(&s->lock);
	c = client_find_locked(s, f->e.clientid);
	mutex_unlock(&s->lock);
	mutex_lock(&c->lock);
	c->nused += STATE_MAX_OPENS / 2;
	mutex_unlock(&c->lock);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
	mutex_lock(&c->lock);
	c->nused -= STATE_MAX_OPENS / 2;
	mutex_unlock(&c->lock);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	client_unref(s, c);
}

/* No state is left for a layout: then I/O goes through this server, at once. */
static void a_full_table_means_no_layout(void **state)
{
	struct two *f = *state;
	struct state *s = &f->e.sv.state;
	struct nfs4_stateid sid;
	struct client *c;
	uint32_t n = 0;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	mutex_lock(&s->lock);
	c = client_find_locked(s, f->e.clientid);
	mutex_unlock(&s->lock);
	while (share_take(c->share, c->holder, SHARE_STATES, 1))
		n++;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
	share_give(c->share, c->holder, SHARE_STATES, n);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	client_unref(s, c);
}

/* The holder that makes the change itself need not wait. Its layout is recalled all the same. */
static void the_holders_own_change_does_not_wait(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);

	assert_int_equal(two_set_mode(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	sid.seqid++;
	two_answer_layoutrecall(f, &sid, NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void a_refused_layoutrecall_is_repeated(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);

	sid.seqid++;
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_layoutrecall(f, &sid, NFS4ERR_DELAY);
	two_later_ns += NSEC_PER_SEC;
	layout_tick(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	two_answer_layoutrecall(f, &sid, NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(layouts(f), 0); /* the client does not have it */
	assert_int_equal(two_set_mode(f), NFS4_OK);
}

static void a_layout_that_does_not_come_back_ends(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct fence_ids before = ids(f);

	sid.seqid++;
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	for (unsigned i = 0; i < 10; i++) {
		cb_notify_all(&f->e.sv);
		if (two_out)
			two_answer_layoutrecall(f, &sid, NFS4_OK);
		two_be(f, false); /* the client lives */
		assert_int_equal(two_status_flags(f), 0);
		two_be(f, true);
		assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
		two_later_ns += 10 * NSEC_PER_SEC;
		layout_tick(&f->e.sv.state);
	}
	cb_notify_all(&f->e.sv); /* the last call comes too late */
	two_answer_layoutrecall(f, &sid, NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(layouts(f), 0);
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	two_be(f, false);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
}

/* The state of a client that has gone silent ends with its first conflict. */
static void an_expired_client_keeps_no_layout(void **state)
{
	struct two *f = *state;
	struct fence_ids before;

	laid_out(f, false);
	before = ids(f);
	two_later_ns += 100 * NSEC_PER_SEC;
	two_be(f, true);
	assert_int_equal(two_status_flags(f), 0);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	cb_notify_all(&f->e.sv); /* the call has no client any more */
	assert_null(two_out);
}

static struct two *watched;
static unsigned fences, opens_then; /* so far; at the last one */

int __real_setxattr(const char *path, const char *name, const void *v, size_t n, int flags);
int __wrap_setxattr(const char *path, const char *name, const void *v, size_t n, int flags);
int __wrap_setxattr(const char *path, const char *name, const void *v, size_t n, int flags)
{
	struct obj *o;
	struct st *st;

	if (watched) {
		struct obj_table *t = watched->e.sv.objs;

		assert_int_equal(obj_by_handle(t, watched->fh.data, watched->fh.len, &o), 0);
		fences++;
		opens_then = 0;
		mutex_lock(&o->lock);
		LIST_FOREACH (st, &o->states, obj_link)
			opens_then += st->kind == ST_OPEN;
		mutex_unlock(&o->lock);
		obj_unref(t, o);
	}
	return __real_setxattr(path, name, v, n, flags);
}

/* Or else another client could get a lock while data servers still take a WRITE of the expired
 * one. */
static void the_fence_comes_before_the_locks_are_free(void **state)
{
	struct two *f = *state;

	laid_out(f, false);
	two_later_ns += 100 * NSEC_PER_SEC;
	two_be(f, true);
	assert_int_equal(two_status_flags(f), 0);
	watched = f;
	fences = 0;
	assert_true(client_evict_expired(&f->e.sv.state, f->holder.clientid));
	watched = NULL;
	assert_int_equal(fences, 1);
	assert_int_equal(opens_then, 1);
	assert_int_equal(layouts(f), 0);
}

static void a_doubted_layout_is_fenced_before_the_close(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct client *c;
	struct obj *o;

	mutex_lock(&f->e.sv.state.lock);
	c = client_find_locked(&f->e.sv.state, f->e.clientid);
	mutex_unlock(&f->e.sv.state.lock);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	layout_doubt(c, o, &sid);
	obj_unref(f->e.sv.objs, o);
	client_unref(&f->e.sv.state, c);
	watched = f;
	fences = 0;
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	watched = NULL;
	assert_int_equal(fences, 1);
	assert_int_equal(opens_then, 1);
}

/* A layout that was returned, or closed, fences nothing. */
static void an_orderly_end_fences_nothing(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct fence_ids before = ids(f);

	assert_int_equal(give(f, &sid), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_true(before.uid == ids(f).uid && before.gid == ids(f).gid);
}

/* A holder that keeps a delegation has data to write, which must not come late. */
static void a_revoked_delegation_is_fenced(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid, deleg;
	struct fence_ids before;

	f->e.sv.state.delegs->mode = DELEG_READ;
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	deleg = f->d.stateid;
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	before = ids(f);
	two_be(f, true);
	assert_int_equal(two_open(f, WR, 0), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &deleg, NFS4_OK);
	for (unsigned i = 0; i < 10; i++) {
		two_be(f, false); /* the client lives */
		assert_int_equal(two_status_flags(f), 0);
		assert_true(before.uid == ids(f).uid);
		two_later_ns += 10 * NSEC_PER_SEC;
		deleg_tick(&f->e.sv.state);
		cb_notify_all(&f->e.sv);
		if (two_out)
			two_answer_recall(f, &deleg, NFS4_OK);
	}
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	two_be(f, true);
	assert_int_equal(two_open(f, WR, 0), NFS4_OK);
}

/* A user that may not change the mode cannot take layouts away, nor keep clients waiting. */
static void a_change_by_another_user_disturbs_no_one(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;
	struct fence_ids before;

	if (geteuid() != 0)
		skip();
	sid = laid_out(f, false);
	before = ids(f);
	ident_init(false);
	assert_int_equal(chmod(f->e.dir, 0755), 0);
	two_be(f, true);
	f->e.uid = f->e.gid = 1000;
	assert_int_equal(two_set_mode(f), NFS4ERR_PERM);
	f->e.uid = f->e.gid = 0;
	cb_notify_all(&f->e.sv);
	assert_null(two_out);
	two_be(f, false);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_true(before.uid == ids(f).uid);
	ident_assume(&(struct rpc_cred){.flavor = RPC_AUTH_SYS});
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, layouts_setup, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_layout_lives_from_get_to_return),
		TEST(foreign_stateids_are_refused),
		TEST(what_was_opened_decides),
		TEST(the_last_close_ends_the_layout),
		TEST(a_delegation_keeps_the_layout),
		TEST(all_layouts_are_returned_at_once),
		TEST(a_change_of_the_mode_waits_for_the_layout),
		TEST(layouts_return_if_the_change_does_not_come),
		TEST(a_change_of_the_mode_fences_the_file),
		TEST(a_crowded_client_gets_no_layout),
		TEST(a_full_table_means_no_layout),
		TEST(the_holders_own_change_does_not_wait),
		TEST(a_refused_layoutrecall_is_repeated),
		TEST(a_layout_that_does_not_come_back_ends),
		TEST(an_expired_client_keeps_no_layout),
		TEST(the_fence_comes_before_the_locks_are_free),
		TEST(a_doubted_layout_is_fenced_before_the_close),
		TEST(an_orderly_end_fences_nothing),
		TEST(a_revoked_delegation_is_fenced),
		/* last: identities are switched from then on */
		TEST(a_change_by_another_user_disturbs_no_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
