/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/inquiry: the server asks the holder of a write delegation for
 * the
 * file's attributes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/inquiry.h"
#include "contrib/serve/v4/cb.h"
#include "tests/unit/contrib/serve/state/serve-two.h"
#include "transport/clock.h"

static struct nfs4_stateid sid; /* the delegation */
static uint64_t base;		/* the change attribute that the holder knows */

static uint32_t ask(struct two *f)
{
	struct nfs4_getattr_args a = {
		.want = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, FATTR4_TIME_MODIFY, -1)};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_getattr_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

static struct nfs_attr result(struct two *f)
{
	struct nfs4_attrs attrs;

	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	env_expect(&f->e, OP_GETATTR, NFS4_OK);
	assert_int_equal(nfs4_get_attrs(&f->e.res, &attrs, NULL), 0);
	return attrs.attr;
}

/* The same for a COMPOUND that has waited. */
static struct nfs_attr late_result(struct two *f)
{
	assert_false(f->e.waits);
	assert_int_equal(env_result(&f->e), NFS4_OK);
	return result(f);
}

/* The holder has a write delegation; the other client calls. */
static int setup(void **state)
{
	int r = two_setup(state);
	struct two *f = *state;

	f->e.sv.state.delegs->mode = DELEG_WRITE;
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_WRITE);
	sid = f->d.stateid;
	assert_int_equal(ask(f), NFS4_OK); /* the holder knows the attributes of its file */
	base = result(f).change;
	two_be(f, true);
	return r;
}

static void wait_for_answer(struct two *f)
{
	assert_int_equal(ask(f), ENV_WAITS);
	assert_null(two_out);
	cb_notify_all(&f->e.sv);
}

static void the_holder_says_what_it_looks_like(void **state)
{
	struct two *f = *state;
	struct nfs_attr before, a;
	struct timespec now;

	wait_for_answer(f);
	two_answer_getattr(f, NFS4_OK, base, 4);
	before = late_result(f);
	assert_int_equal(before.size, 4);
	assert_int_equal(before.change, base);
	/* the holder has written */
	wait_for_answer(f);
	clock_gettime(CLOCK_REALTIME, &now);
	two_answer_getattr(f, NFS4_OK, base + 1, 100);
	a = late_result(f);
	assert_int_equal(a.size, 100);
	assert_true(a.change > before.change);
	assert_true(a.mtime.tv_sec >= now.tv_sec);
	/* and perhaps more of the same */
	before = a;
	wait_for_answer(f);
	two_answer_getattr(f, NFS4_OK, base + 1, 100);
	assert_true(late_result(f).change > before.change);
	/* another size is enough */
	wait_for_answer(f);
	two_answer_getattr(f, NFS4_OK, base, 2);
	assert_int_equal(late_result(f).size, 2);
	assert_int_equal(two_ncalls, 4);
	assert_int_equal(f->e.sv.state.delegs->n, 1);
	assert_int_equal(f->e.sv.state.delegs->nrecalled, 0);
}

static void what_it_has_written_back_is_no_change(void **state)
{
	struct two *f = *state;
	struct nfs_attr a;

	two_be(f, false);
	assert_int_equal(env_write(&f->e, &f->fh, &sid, 0, (char[]){"12345678"}, 8), NFS4_OK);
	assert_int_equal(ask(f), NFS4_OK);
	a = result(f);
	two_be(f, true);
	wait_for_answer(f);
	two_answer_getattr(f, NFS4_OK, a.change, 8);
	assert_int_equal(late_result(f).change, a.change);
	wait_for_answer(f); /* or the holder has not looked since */
	two_answer_getattr(f, NFS4_OK, base, 8);
	assert_int_equal(late_result(f).change, a.change);
}

static void verify_asks_too(void **state)
{
	struct two *f = *state;
	struct nfs4_bitmap mask = nfs4_bits(FATTR4_SIZE, -1);
	struct nfs4_attrs attrs = {.mask = mask, .attr.size = 100};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t op = i ? OP_NVERIFY : OP_VERIFY;

		env_begin(&f->e, true);
		env_put_fh(&f->e, &f->fh);
		nfs4_put_op(&f->e.args, op);
		nfs4_put_attrs(&f->e.args, &mask, &attrs);
		assert_int_equal(env_run(&f->e, 3), ENV_WAITS);
		cb_notify_all(&f->e.sv);
		two_answer_getattr(f, NFS4_OK, base + 1, 100);
		assert_false(f->e.waits);
		assert_int_equal(env_result(&f->e), i ? NFS4ERR_SAME : NFS4_OK);
	}
}

/* Attributes that do not depend on the holder are answered at once, and later operations go on. */
static void the_rest_of_the_request_is_carried_out(void **state)
{
	struct two *f = *state;
	struct nfs4_getattr_args mode = {.want = nfs4_bits(FATTR4_MODE, -1)},
				 size = {.want = nfs4_bits(FATTR4_SIZE, -1)};
	struct nfs4_attrs attrs;

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_getattr_args(&f->e.args, &mode);
	assert_int_equal(env_run(&f->e, 3), NFS4_OK);
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_getattr_args(&f->e.args, &size);
	nfs4_put_getattr_args(&f->e.args, &mode);
	nfs4_put_getattr_args(&f->e.args, &size);
	assert_int_equal(env_run(&f->e, 5), ENV_WAITS);
	for (unsigned i = 0; i < 2; i++) { /* each time the holder is asked anew */
		assert_true(f->e.waits);
		cb_notify_all(&f->e.sv);
		two_answer_getattr(f, NFS4_OK, base + 1, 100 + i);
	}
	assert_false(f->e.waits);
	assert_int_equal(env_result(&f->e), NFS4_OK);
	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	for (unsigned i = 0; i < 3; i++) {
		env_expect(&f->e, OP_GETATTR, NFS4_OK);
		assert_int_equal(nfs4_get_attrs(&f->e.res, &attrs, NULL), 0);
		if (i != 1)
			assert_int_equal(attrs.attr.size, i ? 101 : 100);
	}
	/* the same request once more is answered from the slot */
	assert_int_equal(env_again(&f->e), NFS4_OK);
	assert_int_equal(two_ncalls, 2);
}

/* The delegation is recalled: the answer is DELAY until the delegation is back. */
static void recalled(struct two *f)
{
	assert_false(f->e.waits);
	assert_int_equal(env_result(&f->e), NFS4ERR_DELAY);
	two_answer_recall(f, &sid, NFS4_OK);
	/* for no callback: that is decided behind the request */
	assert_int_equal(ask(f), ENV_WAITS);
	cb_notify_all(&f->e.sv);
	assert_int_equal(env_result(&f->e), NFS4ERR_DELAY);
	two_be(f, false);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	two_be(f, true);
	assert_int_equal(ask(f), NFS4_OK);
	assert_int_equal(result(f).size, 4);
}

static void who_does_not_say_loses_it(void **state)
{
	struct two *f = *state;

	wait_for_answer(f);
	two_answer_getattr(f, NFS4ERR_BADHANDLE, 0, 0);
	recalled(f);
}

static void nonsense_is_no_answer(void **state)
{
	struct two *f = *state;

	wait_for_answer(f);
	two_answer_getattr(f, NFS4_OK, base, UINT64_MAX);
	recalled(f);
}

static void nobody_waits_for_long(void **state)
{
	struct two *f = *state;

	wait_for_answer(f);
	two_later_ns += NSEC_PER_SEC;
	inquiry_tick(&f->e.sv.state, false);
	cb_notify_all(&f->e.sv);
	assert_true(f->e.waits);
	two_later_ns += 2 * NSEC_PER_SEC;
	inquiry_tick(&f->e.sv.state, false);
	cb_notify_all(&f->e.sv);
	assert_false(f->e.waits);
	/* too late; the recall has waited behind the inquiry */
	two_answer_getattr(f, NFS4_OK, base, 4);
	recalled(f);
}

static void a_call_that_fails_is_no_answer(void **state)
{
	struct two *f = *state;
	struct rpc_call *call;

	wait_for_answer(f);
	call = two_out;
	two_out = NULL;
	call->done(call, -ETIMEDOUT, &(struct xdr_in){0});
	recalled(f);
}

static void at_the_end_all_are_answered(void **state)
{
	struct two *f = *state;

	wait_for_answer(f);
	inquiry_tick(&f->e.sv.state, true);
	assert_true(inquiry_end_all(&f->e.sv.state));
	assert_int_equal(env_result(&f->e), NFS4ERR_DELAY);
	two_answer_getattr(f, NFS4_OK, base, 4);
	recalled(f);
}

static void a_delegation_that_ends_is_not_waited_for(void **state)
{
	struct two *f = *state;
	struct state *s = &f->e.sv.state;
	struct client *c;
	struct obj *o;

	wait_for_answer(f);
	mutex_lock(&s->lock);
	c = client_find_locked(s, f->holder.clientid);
	mutex_unlock(&s->lock);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(deleg_return(s, c, o, &sid), NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_int_equal(late_result(f).size, 4);
	two_answer_getattr(f, NFS4_OK, base + 1, 100); /* too late */
	assert_int_equal(ask(f), NFS4_OK);
	assert_int_equal(result(f).size, 4);
	obj_unref(f->e.sv.objs, o);
	client_unref(s, c);
}

static unsigned ended;

static void end(struct inquiry *q)
{
	ended++;
}

/* An answer includes the holder's changes from before the question. */
static void who_comes_later_has_a_call_of_his_own(void **state)
{
	struct two *f = *state;
	struct state *s = &f->e.sv.state;
	struct inquiry q[3] = {{.done = end}, {.done = end}, {.done = end}};
	struct obj *o;

	ended = 0;
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	inquiry_make(s, o, NULL, &q[0]);
	cb_notify_all(&f->e.sv);
	inquiry_make(s, o, NULL, &q[1]);
	inquiry_make(s, o, NULL, &q[2]);
	cb_notify_all(&f->e.sv);
	two_answer_getattr(f, NFS4_OK, base, 50);
	assert_int_equal(ended, 1);
	assert_true(q[0].said);
	assert_int_equal(q[0].size, 50);
	two_answer_getattr(f, NFS4_OK, base, 60);
	assert_int_equal(ended, 3);
	assert_int_equal(q[1].size, 60);
	assert_int_equal(q[2].size, 60);
	assert_int_equal(two_ncalls, 2);
	obj_unref(f->e.sv.objs, o);
}

/* The thread that continues the request, perhaps the main one, has other work behind it. */
static void the_thread_keeps_its_own_identity(void **state)
{
	struct nfs4_getattr_args size = {.want = nfs4_bits(FATTR4_SIZE, -1)};
	struct two *f = *state;

	if (geteuid() != 0)
		skip();
	ident_init(false);
	assert_int_equal(chmod(f->e.dir, 0755), 0);
	f->e.uid = f->e.gid = 1000;
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_getattr_args(&f->e.args, &size);
	nfs4_put_op(&f->e.args, OP_ACCESS);
	xdr_put_u32(&f->e.args, ACCESS4_READ);
	assert_int_equal(env_run(&f->e, 4), ENV_WAITS);
	ident_drop();
	assert_int_equal(ident_uid(), 0);
	cb_notify_all(&f->e.sv);
	two_answer_getattr(f, NFS4_OK, base, 4);
	assert_false(f->e.waits);
	assert_int_equal(env_result(&f->e), NFS4_OK);
	assert_int_equal(ident_uid(), 0);
	f->e.uid = f->e.gid = 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_holder_says_what_it_looks_like),
		TEST(what_it_has_written_back_is_no_change),
		TEST(verify_asks_too),
		TEST(the_rest_of_the_request_is_carried_out),
		TEST(who_does_not_say_loses_it),
		TEST(nonsense_is_no_answer),
		TEST(nobody_waits_for_long),
		TEST(a_call_that_fails_is_no_answer),
		TEST(at_the_end_all_are_answered),
		TEST(a_delegation_that_ends_is_not_waited_for),
		TEST(who_comes_later_has_a_call_of_his_own),
		/* last: identities are switched from then on */
		TEST(the_thread_keeps_its_own_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
