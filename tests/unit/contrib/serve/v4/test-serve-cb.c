/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v4/cb: the backchannel, to a client that answers as told.
 *
 * Linked with --wrap of rpc_cb_init(), rpc_cb_submit() and rpc_call_finish(): a call ends here, and
 * is answered when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/state/session.h"
#include "contrib/serve/state/waiter.h"
#include "contrib/serve/v4/cb.h"
#include "nfsproto/wire/nfs4_xdr_cb.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/rpc/xprt.h"

#define RW OPEN4_SHARE_ACCESS_BOTH

/* The call that is out, and the number of calls so far. */
static struct rpc_call *out;
static unsigned ncalls;
static int submit_result;

int __wrap_rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max);
int __wrap_rpc_cb_submit(struct rpc_call *call);
void __wrap_rpc_call_finish(struct rpc_call *call);

int __wrap_rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max)
{
	uint8_t *buf = malloc(args_max);

	assert_non_null(buf);
	xdr_out_init(&call->args, buf, args_max);
	return 0;
}

int __wrap_rpc_cb_submit(struct rpc_call *call)
{
	assert_true(xdr_out_ok(&call->args));
	if (submit_result < 0)
		return submit_result;
	assert_null(out);
	out = call;
	ncalls++;
	return 0;
}

void __wrap_rpc_call_finish(struct rpc_call *call)
{
	free(call->args.base);
}

struct fix {
	struct serve_env e;
	struct rpc_xprt x;
	struct session *ses; /* referenced, with a backchannel over x */
	struct nfs4_stateid open;
	struct nfs_fh fh;
};

static void destroy(struct rpc_xprt *x)
{
}

static int setup(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = destroy};
	struct fix *f = calloc(1, sizeof(*f));

	out = NULL;
	ncalls = 0;
	submit_result = 0;
	env_init(&f->e);
	env_mount(&f->e, "client");
	assert_int_equal(env_open(&f->e, "f", true, RW, 0, "o", &f->open, &f->fh), NFS4_OK);
	f->x.ops = &ops;
	f->x.refs = 1;
	f->ses = session_get(&f->e.sv.state, &f->e.session);
	f->ses->cb_wanted = true;
	session_set_back(f->ses, &f->x);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	assert_null(out);
	session_set_back(f->ses, NULL);
	assert_int_equal(f->x.refs, 1);
	session_put(&f->e.sv.state, f->ses);
	env_finish(&f->e);
	free(f);
	return 0;
}

static void probe(struct fix *f)
{
	session_ref(f->ses);
	cb_probe(&f->e.sv, f->ses);
}

/* Ends the call that is out. */
static void end(int error, const struct xdr_out *res)
{
	struct rpc_call *call = out;
	struct xdr_in in = {0};

	assert_non_null(call);
	out = NULL;
	if (res)
		xdr_in_init(&in, res->base, res->len);
	call->done(call, error, &in);
}

/* CB_NULL is out: answers the call. */
static void answer_null(void)
{
	struct xdr_out x;
	uint8_t buf[4];

	assert_non_null(out);
	assert_int_equal(out->proc, NFS4_CB_NULL);
	xdr_out_init(&x, buf, sizeof(buf));
	end(0, &x);
}

/* Parses the CB_COMPOUND that is out: the CB_SEQUENCE, and the operation behind, if any. */
static unsigned parse(struct nfs4_cb_sequence_args *seq, struct nfs4_cb_args *next)
{
	struct nfs4_cb_args a;
	struct xdr_in in;
	uint32_t len, n;

	assert_non_null(out);
	assert_int_equal(out->proc, NFS4_CB_COMPOUND);
	xdr_in_init(&in, out->args.base, out->args.len);
	xdr_get_opaque(&in, 1024, &len);
	assert_int_equal(xdr_get_u32(&in), 1); /* minor version */
	xdr_get_u32(&in);
	n = xdr_get_u32(&in);
	assert_int_equal(nfs4_get_cb_args(&in, &a), 0);
	assert_int_equal(a.op, OP_CB_SEQUENCE);
	*seq = a.u.sequence;
	if (n > 1)
		assert_int_equal(nfs4_get_cb_args(&in, next), 0);
	assert_true(xdr_in_done(&in));
	return n;
}

/* Answers the CB_COMPOUND that is out as one of this number; returns the call's own number. */
static uint32_t answer_as(uint32_t status, const struct nfs4_sessionid *session, uint32_t number)
{
	struct nfs4_opaque tag = {.len = 0};
	struct nfs4_cb_sequence_args seq;
	struct nfs4_cb_sequence_res res = {0};
	struct nfs4_cb_args next;
	struct xdr_out x;
	uint8_t buf[256];
	size_t at;

	parse(&seq, &next);
	res.session = session ? *session : seq.session;
	res.sequenceid = number ? number : seq.sequenceid;
	xdr_out_init(&x, buf, sizeof(buf));
	at = nfs4_begin_compound_res(&x, &tag);
	nfs4_put_cb_sequence_res(&x, status, &res);
	nfs4_end_compound_res(&x, at, status, 1);
	end(0, &x);
	return seq.sequenceid;
}

static uint32_t answer(uint32_t status)
{
	return answer_as(status, NULL, 0);
}

/* The status flags that SEQUENCE tells the client. */
static uint32_t status_flags(struct fix *f)
{
	struct nfs4_sequence_res r;

	env_begin(&f->e, true);
	assert_int_equal(env_run(&f->e, 1), NFS4_OK);
	xdr_in_init(&f->e.res, f->e.reply, f->e.req.res.len);
	assert_int_equal(nfs4_get_compound_res(&f->e.res, &f->e.head), 0);
	env_expect(&f->e, OP_SEQUENCE, NFS4_OK);
	assert_int_equal(nfs4_get_sequence_res(&f->e.res, NFS4_OK, &r), 0);
	return r.status_flags;
}

static void a_new_backchannel_is_tried(void **state)
{
	struct fix *f = *state;

	probe(f);
	assert_int_equal(status_flags(f), 0);
	answer_null();
	assert_int_equal(answer(NFS4_OK), 1);
	assert_null(out);
	assert_int_equal(status_flags(f), 0);
	probe(f); /* again: the number goes on */
	answer_null();
	assert_int_equal(answer(NFS4_OK), 2);
	assert_int_equal(ncalls, 4);
}

static void while_it_is_tried_it_is_not_tried_again(void **state)
{
	struct fix *f = *state;

	probe(f);
	probe(f);
	assert_int_equal(ncalls, 1);
	answer_null();
	answer(NFS4_OK);
	assert_int_equal(ncalls, 2);
}

static void the_client_is_told_that_it_does_not_work(void **state)
{
	struct fix *f = *state;

	probe(f);
	end(-ETIMEDOUT, NULL);
	assert_int_equal(status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	probe(f);
	answer_null();
	end(-EIO, NULL);
	assert_int_equal(status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	probe(f);
	answer_null();
	answer(NFS4_OK);
	assert_int_equal(status_flags(f), 0);
	submit_result = -ENOTCONN;
	probe(f);
	assert_int_equal(status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	session_set_back(f->ses, NULL);
	assert_int_equal(
		status_flags(f), SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
}

static void a_wrong_answer_is_a_failure(void **state)
{
	struct nfs4_sessionid other = {.id = "another session"};
	struct fix *f = *state;
	struct xdr_out x;
	uint8_t buf[8];

	for (int i = 0; i < 3; i++) {
		probe(f);
		answer_null();
		if (i == 0) {
			answer_as(NFS4_OK, &other, 0);
		} else if (i == 1) {
			answer_as(NFS4_OK, NULL, 4711);
		} else {
			xdr_out_init(&x, buf, sizeof(buf));
			xdr_put_u32(&x, NFS4_OK); /* and no more */
			end(0, &x);
		}
		assert_int_equal(status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	}
	probe(f);
	answer_null();
	answer(NFS4_OK);
	assert_int_equal(status_flags(f), 0);
}

/* A callback that was lost, or answered too late, has used its number up. */
static void a_number_that_was_used_is_left_out(void **state)
{
	struct fix *f = *state;

	probe(f);
	answer_null();
	assert_int_equal(answer(NFS4ERR_RETRY_UNCACHED_REP), 1);
	assert_int_equal(answer(NFS4ERR_SEQ_FALSE_RETRY), 2);
	assert_null(out);
	probe(f);
	answer_null();
	assert_int_equal(answer(NFS4_OK), 3);
	assert_int_equal(status_flags(f), 0);
}

/* A number that the client does not expect is left out, once. */
static void a_misordered_number_is_left_out_once(void **state)
{
	struct fix *f = *state;

	probe(f);
	answer_null();
	assert_int_equal(answer(NFS4ERR_SEQ_MISORDERED), 1);
	assert_int_equal(answer(NFS4_OK), 2);
	assert_null(out);
	probe(f);
	answer_null();
	assert_int_equal(answer(NFS4ERR_SEQ_MISORDERED), 3);
	assert_int_equal(answer(NFS4ERR_SEQ_MISORDERED), 4);
	assert_null(out);
	/* a client that says "later" has not used the number up */
	probe(f);
	answer_null();
	assert_int_equal(answer(NFS4ERR_DELAY), 5);
	probe(f);
	answer_null();
	assert_int_equal(answer(NFS4_OK), 5);
}

/* An answer is not enough for a delegation: a client that refuses each CB_SEQUENCE would refuse
 * each recall, too. The server asks the client again when the client opens a file. */
static void only_an_accepted_sequence_proves_the_backchannel(void **state)
{
	static const uint32_t refusal[] = {
		NFS4ERR_SEQ_MISORDERED, NFS4ERR_SEQ_MISORDERED, NFS4ERR_DELAY, NFS4ERR_BADSESSION};
	struct fix *f = *state;

	for (unsigned i = 0; i < sizeof(refusal) / sizeof(refusal[0]); i++) {
		if (!out) {
			probe(f);
			answer_null();
		}
		answer(refusal[i]);
		assert_false(f->ses->cb_proved);
	}
	assert_null(out);
	assert_int_equal(status_flags(f), 0);
	assert_false(f->e.probes);
	assert_int_equal(env_open(&f->e, "f", false, RW, 0, "p", &f->open, &f->fh), NFS4_OK);
	assert_true(f->e.probes);
	probe(f);
	answer_null();
	answer(NFS4_OK);
	assert_true(f->ses->cb_proved);
	assert_int_equal(env_open(&f->e, "f", false, RW, 0, "q", &f->open, &f->fh), NFS4_OK);
	assert_false(f->e.probes);
}

/* n owners, of one letter each, wait for a range that is free again. */
static void owe(struct fix *f, unsigned n)
{
	struct nfs4_lock_res held, r;
	char owner[2] = "A";

	assert_int_equal(env_lock(&f->e, &f->fh, &f->open, "h", WRITE_LT, 0, 100, &held), NFS4_OK);
	for (unsigned i = 0; i < n; i++, owner[0]++)
		assert_int_equal(env_lock(&f->e, &f->fh, &f->open, owner, WRITEW_LT, i, 1, &r),
			NFS4ERR_DENIED);
	assert_int_equal(env_unlock(&f->e, &f->fh, &held.stateid, 0, 100), NFS4_OK);
}

/* The CB_NOTIFY_LOCK that is out is for this owner. Answers the call. */
static void take_notice(struct fix *f, const char *owner, uint32_t number)
{
	struct nfs4_cb_sequence_args seq;
	struct nfs4_cb_args a;

	assert_int_equal(parse(&seq, &a), 2);
	assert_int_equal(seq.sequenceid, number);
	assert_int_equal(a.op, OP_CB_NOTIFY_LOCK);
	assert_true(a.u.notify_lock.owner.clientid == f->e.clientid);
	assert_int_equal(a.u.notify_lock.owner.owner.len, 1);
	assert_memory_equal(a.u.notify_lock.owner.owner.data, owner, 1);
	assert_int_equal(a.u.notify_lock.fh.len, f->fh.len);
	assert_memory_equal(a.u.notify_lock.fh.data, f->fh.data, f->fh.len);
	answer(NFS4_OK);
}

static void notices_go_one_after_the_other(void **state)
{
	struct fix *f = *state;

	owe(f, 3);
	assert_int_equal(ncalls, 0);
	cb_notify_all(&f->e.sv);
	assert_int_equal(ncalls, 1);
	take_notice(f, "A", 1);
	take_notice(f, "B", 2);
	take_notice(f, "C", 3);
	assert_null(out);
	cb_notify_all(&f->e.sv); /* no owner is told twice */
	assert_null(out);
}

/* Each may leave out a number. */
static void each_notice_may_be_misordered(void **state)
{
	struct fix *f = *state;

	owe(f, 2);
	cb_notify_all(&f->e.sv);
	assert_int_equal(answer(NFS4ERR_SEQ_MISORDERED), 1);
	take_notice(f, "A", 2);
	assert_int_equal(answer(NFS4ERR_SEQ_MISORDERED), 3);
	take_notice(f, "B", 4);
	assert_null(out);
}

static void notices_wait_for_the_probe(void **state)
{
	struct fix *f = *state;

	probe(f);
	owe(f, 1);
	cb_notify_all(&f->e.sv);
	assert_int_equal(ncalls, 1);
	answer_null();
	assert_int_equal(answer(NFS4_OK), 1);
	take_notice(f, "A", 2);
}

static void a_backchannel_that_fails_loses_its_notices(void **state)
{
	struct fix *f = *state;

	owe(f, 2);
	cb_notify_all(&f->e.sv);
	end(-ETIMEDOUT, NULL);
	assert_null(out);
	assert_int_equal(f->ses->nnotices, 0);
	assert_int_equal(status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	probe(f); /* and works again */
	answer_null();
	assert_int_equal(answer(NFS4_OK), 1);
	assert_null(out);
}

static void without_a_connection_nothing_is_sent(void **state)
{
	struct fix *f = *state;

	owe(f, 1);
	session_set_back(f->ses, NULL);
	cb_notify_all(&f->e.sv);
	assert_int_equal(ncalls, 0);
	assert_int_equal(f->ses->nnotices, 0);
}

static void the_session_may_end_meanwhile(void **state)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};
	struct fix *f = *state;

	owe(f, 2);
	cb_notify_all(&f->e.sv);
	assert_int_equal(session_destroy(&f->e.sv.state, &cred, &f->e.session), NFS4_OK);
	end(-ENOTCONN, NULL);
	assert_null(out);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_new_backchannel_is_tried),
		TEST(while_it_is_tried_it_is_not_tried_again),
		TEST(the_client_is_told_that_it_does_not_work),
		TEST(a_wrong_answer_is_a_failure),
		TEST(a_number_that_was_used_is_left_out),
		TEST(a_misordered_number_is_left_out_once),
		TEST(only_an_accepted_sequence_proves_the_backchannel),
		TEST(notices_go_one_after_the_other),
		TEST(each_notice_may_be_misordered),
		TEST(notices_wait_for_the_probe),
		TEST(a_backchannel_that_fails_loses_its_notices),
		TEST(without_a_connection_nothing_is_sent),
		TEST(the_session_may_end_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
