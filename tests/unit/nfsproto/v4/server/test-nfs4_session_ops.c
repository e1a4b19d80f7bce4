/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_session_ops: the requests about client ID, session and
 * stateids, and the use of the answers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/server/nfs4_task.h"
#include "tests/unit/nfsproto/v4/nfs4-answer.h"
#include "transport/log.h"

static const struct nfs4_sessionid session = {"the session"};

struct session {
	struct nfs4_server srv;
	struct nfs4_sync s;
	struct answer a;
	struct nfs4_args said; /* with pointers into a */
};

static int setup(void **state)
{
	struct session *t = calloc(1, sizeof(*t));

	nfs4_server_init(&t->srv, nfs4_kinds);
	t->srv.minor = 1;
	t->srv.clientid = 4711;
	t->srv.create_seq = 3;
	t->srv.slots_wanted = 64;
	t->srv.session = session;
	nfs4_task_bind(&t->s.op, &t->srv.conn[0], NULL, NFS4_K_BIND);
	strcpy(t->srv.name, "server");
	strcpy(t->srv.owner, "owner");
	memcpy(t->srv.verf, "verifier", sizeof(t->srv.verf));
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct session *t = *state;

	nfs4_server_finish(&t->srv);
	free(t);
	return 0;
}

/* Puts the one operation of this kind into t->said. */
static void say(struct session *t, unsigned kind)
{
	struct nfs4_compound_args head;
	struct nfs4_comp k;
	struct xdr_out x;
	struct xdr_in in;

	t->s.op.be.v4.kind = (uint8_t)kind;
	xdr_out_init(&x, t->a.wire, sizeof(t->a.wire));
	nfs4_comp_begin(&k, &x, t->srv.minor);
	nfs4_kinds[kind].server_put(&t->srv, &t->s.op, &k);
	nfs4_comp_end(&k);
	assert_true(xdr_out_ok(&x));
	xdr_in_init(&in, t->a.wire, x.len);
	assert_int_equal(nfs4_get_compound_args(&in, &head), 0);
	assert_int_equal(head.nops, 1);
	assert_int_equal(nfs4_get_args(&in, &t->said), 0);
	assert_true(xdr_in_done(&in));
}

/* The verdict of kind on the answer that has been put together: 0, the status, or the errno. */
static int hear(struct session *t, unsigned kind, uint32_t status)
{
	struct nfs4_reply r;
	struct xdr_in in;

	t->s.op.be.v4.kind = (uint8_t)kind;
	nfs4_end_compound_res(&t->a.x, t->a.at, status, t->a.nops);
	xdr_in_init(&in, t->a.wire, any_splice(&t->a.x, t->a.wire));
	assert_int_equal(nfs4_reply_begin(&r, &in), 0);
	switch (nfs4_kinds[kind].server_get(&t->srv, &t->s.op, &r)) {
	case NFS_DONE:
		return nfs4_reply_end(&r);
	case NFS_STATUS:
		return (int)r.status;
	case NFS_FAILED:
		return t->s.op.error;
	default:
		return INT32_MAX;
	}
}

/* op, the only operation, has failed with status. */
static int hear_failure(struct session *t, unsigned kind, uint32_t op, uint32_t status)
{
	answer_begin(&t->a);
	nfs4_put_op_res(&t->a.x, op, status);
	answer_add(&t->a);
	return hear(t, kind, status);
}

/* --- EXCHANGE_ID --------------------------------------------------------------------------- */

static int hear_exchange_id(struct session *t, const struct nfs4_exchange_id_res *res)
{
	answer_begin(&t->a);
	nfs4_put_exchange_id_res(&t->a.x, NFS4_OK, res);
	answer_add(&t->a);
	return hear(t, NFS4_K_EXCHANGE_ID, NFS4_OK);
}

static void the_client_says_who_it_is(void **state)
{
	struct session *t = *state;
	const struct nfs4_exchange_id_args *a = &t->said.u.exchange_id;

	say(t, NFS4_K_EXCHANGE_ID);
	assert_int_equal(t->said.op, OP_EXCHANGE_ID);
	assert_int_equal(a->ownerid.len, 5);
	assert_memory_equal(a->ownerid.data, "owner", 5);
	assert_memory_equal(a->verf, "verifier", 8);
	assert_int_equal(a->flags, EXCHGID4_FLAG_USE_NON_PNFS);
	assert_int_equal(a->protect, SP4_NONE);
}

static void a_client_id_is_kept_as_it_comes(void **state)
{
	struct nfs4_exchange_id_res res = {.clientid = UINT64_MAX,
		.sequenceid = 17,
		.flags = EXCHGID4_FLAG_USE_NON_PNFS | EXCHGID4_FLAG_CONFIRMED_R};
	struct session *t = *state;

	assert_int_equal(hear_exchange_id(t, &res), 0);
	assert_true(t->s.u.exchange_id.clientid == UINT64_MAX);
	assert_int_equal(t->s.u.exchange_id.sequence, 17);
	assert_int_equal(t->s.u.exchange_id.flags, res.flags);
	assert_int_equal(
		hear_failure(t, NFS4_K_EXCHANGE_ID, OP_EXCHANGE_ID, NFS4ERR_DELAY), NFS4ERR_DELAY);
	assert_int_equal(
		hear_failure(t, NFS4_K_EXCHANGE_ID, OP_CREATE_SESSION, NFS4ERR_DELAY), -EBADMSG);
}

/* The client has not asked for state protection, and cannot do the required steps. */
static void state_protection_is_refused(void **state)
{
	struct nfs4_exchange_id_res res = {.protect = SP4_MACH_CRED};
	struct session *t = *state;

	assert_int_equal(hear_exchange_id(t, &res), -EBADMSG);
}

/* The name is shown to users, and the first answer counts. */
static void a_server_s_name_is_made_printable(void **state)
{
	static const char ugly[] = "a\0b\n\x1b[2J\xff~";
	struct session *t = *state;
	struct nfs4_exchange_id_res res = {.server_major_id = {(const uint8_t *)ugly, 10}};
	uint8_t longest[NFS4_OPAQUE_LIMIT];

	assert_int_equal(hear_exchange_id(t, &res), 0);
	assert_string_equal(t->srv.major_id, "a%00b%0A%1B[2J%FF~");
	memset(longest, 'x', sizeof(longest));
	res.server_major_id = (struct nfs4_opaque){longest, sizeof(longest)};
	assert_int_equal(hear_exchange_id(t, &res), 0);
	assert_string_equal(t->srv.major_id, "a%00b%0A%1B[2J%FF~");
	t->srv.major_id[0] = '\0';
	assert_int_equal(hear_exchange_id(t, &res), 0);
	assert_int_equal(strlen(t->srv.major_id), sizeof(t->srv.major_id) - 1);
}

/* --- CREATE_SESSION ------------------------------------------------------------------------ */

static const struct nfs4_create_session_res good = {
	.session = {"a new one"},
	.sequence = 3,
	.flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN,
	.fore = {.maxrequestsize = 1 << 20,
		.maxresponsesize = 1 << 20,
		.maxresponsesize_cached = 4096,
		.maxoperations = 16,
		.maxrequests = 8},
};

static int hear_create_session(struct session *t, const struct nfs4_create_session_res *res)
{
	answer_begin(&t->a);
	nfs4_put_create_session_res(&t->a.x, NFS4_OK, res);
	answer_add(&t->a);
	return hear(t, NFS4_K_CREATE_SESSION, NFS4_OK);
}

static void a_session_is_asked_for_with_a_backchannel(void **state)
{
	struct session *t = *state;
	const struct nfs4_create_session_args *a = &t->said.u.create_session;

	say(t, NFS4_K_CREATE_SESSION);
	assert_int_equal(t->said.op, OP_CREATE_SESSION);
	assert_int_equal(a->clientid, 4711);
	assert_int_equal(a->sequence, 3);
	assert_int_equal(a->flags, CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
	assert_int_equal(a->fore.maxrequests, 64);
	assert_int_equal(a->back.maxrequests, NFS4_CB_SLOTS);
	assert_int_equal(a->back.maxoperations, NFS4_CB_OPS);
	assert_int_equal(a->cb_program, NFS4_CB_PROGRAM);
	assert_int_equal(a->nsec, 1);
}

static void a_session_is_kept_and_counted(void **state)
{
	struct session *t = *state;

	assert_int_equal(
		hear_failure(t, NFS4_K_CREATE_SESSION, OP_CREATE_SESSION, NFS4ERR_SEQ_MISORDERED),
		NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(t->srv.create_seq, 3);
	assert_false(t->srv.have_session);
	assert_int_equal(hear_create_session(t, &good), 0);
	assert_int_equal(t->srv.create_seq, 4);
	assert_true(t->srv.have_session);
	assert_memory_equal(&t->srv.session, &good.session, sizeof(session));
	assert_true(t->srv.cb.have_session);
	assert_memory_equal(&t->srv.cb.session, &good.session, sizeof(session));
	assert_int_equal(t->srv.fore.maxrequests, 8);
}

/* Each limit alone; the session exists all the same, and must be destroyed. */
static void a_session_of_no_use_is_refused_with_a_sentence(void **state)
{
	static const struct {
		size_t member;
		uint32_t least;
	} limits[] = {
		{offsetof(struct nfs4_channel_attrs, maxrequests), 1},
		{offsetof(struct nfs4_channel_attrs, maxoperations), 10},
		{offsetof(struct nfs4_channel_attrs, maxrequestsize), 8192},
		{offsetof(struct nfs4_channel_attrs, maxresponsesize), 8192},
		{offsetof(struct nfs4_channel_attrs, maxresponsesize_cached), 576},
	};
	struct session *t = *state;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct nfs4_create_session_res res = good;
		uint32_t *limit = (void *)((char *)&res.fore + limits[i].member);

		*limit = limits[i].least - 1;
		t->srv.have_session = false;
		assert_int_equal(hear_create_session(t, &res), -EREMOTEIO);
		assert_true(t->srv.have_session);
		assert_non_null(strstr(t->srv.refused, "server"));
		*limit = limits[i].least;
		assert_int_equal(hear_create_session(t, &res), 0);
		assert_string_equal(t->srv.refused, "");
	}
}

/* --- the others ---------------------------------------------------------------------------- */

static void a_connection_is_bound_to_this_session_only(void **state)
{
	struct nfs4_bind_conn_to_session_res res = {.session = session, .dir = CDFS4_BOTH};
	struct session *t = *state;

	say(t, NFS4_K_BIND);
	assert_int_equal(t->said.op, OP_BIND_CONN_TO_SESSION);
	assert_memory_equal(&t->said.u.bind_conn_to_session.session, &session, sizeof(session));
	assert_int_equal(t->said.u.bind_conn_to_session.dir, CDFC4_FORE_OR_BOTH);
	for (int i = 0; i < 3; i++) {
		res.dir = i ? CDFS4_FORE : CDFS4_BOTH; /* no backchannel is fine, too */
		res.session.id[0] = i == 2 ? '?' : session.id[0];
		answer_begin(&t->a);
		nfs4_put_bind_conn_to_session_res(&t->a.x, NFS4_OK, &res);
		answer_add(&t->a);
		assert_int_equal(hear(t, NFS4_K_BIND, NFS4_OK), i == 2 ? -EBADMSG : 0);
	}
}

static void what_is_complete_already_is_complete(void **state)
{
	struct session *t = *state;

	say(t, NFS4_K_RECLAIM_COMPLETE);
	assert_int_equal(t->said.op, OP_RECLAIM_COMPLETE);
	assert_false(t->said.u.reclaim_complete.one_fs);
	assert_int_equal(hear_failure(t, NFS4_K_RECLAIM_COMPLETE, OP_RECLAIM_COMPLETE,
				 NFS4ERR_COMPLETE_ALREADY),
		0);
	assert_int_equal(
		hear_failure(t, NFS4_K_RECLAIM_COMPLETE, OP_RECLAIM_COMPLETE, NFS4ERR_DELAY),
		NFS4ERR_DELAY);
}

static void what_is_given_back_is_named(void **state)
{
	struct session *t = *state;

	say(t, NFS4_K_DESTROY_SESSION);
	assert_int_equal(t->said.op, OP_DESTROY_SESSION);
	assert_memory_equal(&t->said.u.destroy_session.session, &session, sizeof(session));
	say(t, NFS4_K_DESTROY_CLIENTID);
	assert_int_equal(t->said.op, OP_DESTROY_CLIENTID);
	assert_int_equal(t->said.u.destroy_clientid.clientid, 4711);
	t->s.u.free_id = (struct nfs4_stateid){.seqid = 1, .other = "id"};
	say(t, NFS4_K_FREE_STATEID);
	assert_int_equal(t->said.op, OP_FREE_STATEID);
	assert_memory_equal(&t->said.u.stateid.stateid, &t->s.u.free_id, sizeof(t->s.u.free_id));
	assert_int_equal(hear_failure(t, NFS4_K_FREE_STATEID, OP_FREE_STATEID, NFS4ERR_LOCKS_HELD),
		NFS4ERR_LOCKS_HELD);
}

static int hear_codes(struct session *t, const uint32_t *codes, uint32_t n)
{
	struct nfs4_test_stateid_res res = {.n = n, .codes = codes};

	answer_begin(&t->a);
	nfs4_put_test_stateid_res(&t->a.x, NFS4_OK, &res);
	answer_add(&t->a);
	return hear(t, NFS4_K_TEST_STATEID, NFS4_OK);
}

static void there_are_as_many_verdicts_as_stateids(void **state)
{
	static const uint32_t codes[33] = {NFS4_OK, NFS4ERR_EXPIRED, NFS4ERR_ADMIN_REVOKED};
	struct session *t = *state;

	t->s.u.test.n = 3;
	for (uint8_t i = 0; i < 3; i++)
		t->s.u.test.ids[i] = (struct nfs4_stateid){.seqid = i, .other = {'0' + i}};
	say(t, NFS4_K_TEST_STATEID);
	assert_int_equal(t->said.op, OP_TEST_STATEID);
	assert_int_equal(t->said.u.test_stateid.n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct nfs4_stateid id = nfs4_test_stateid_at(&t->said.u.test_stateid, i);

		assert_memory_equal(&id, &t->s.u.test.ids[i], sizeof(id));
	}
	for (uint32_t n = 0; n <= 33; n++)
		assert_int_equal(hear_codes(t, codes, n), n == 3 ? 0 : -EBADMSG);
	assert_int_equal(hear_codes(t, codes, 3), 0);
	assert_memory_equal(t->s.u.test.code, codes, 3 * sizeof(codes[0]));
}

/* A test of a slot may bring the answer to the slot's earlier request. */
static void whatever_a_doubtful_slot_answers_is_an_answer(void **state)
{
	struct session *t = *state;

	for (int slot_set = 0; slot_set < 2; slot_set++) {
		t->s.op.be.v4.flags = slot_set ? NFS4_F_PRIV | NFS4_F_SLOT_SET : NFS4_F_PRIV;
		answer_begin(&t->a);
		answer_ok(&t->a, OP_PUTFH);
		nfs4_put_op_res(&t->a.x, OP_REMOVE, NFS4ERR_NOENT);
		answer_add(&t->a);
		assert_int_equal(hear(t, NFS4_K_SEQUENCE, NFS4ERR_NOENT), slot_set ? 0 : -EBADMSG);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_client_says_who_it_is),
		TEST(a_client_id_is_kept_as_it_comes),
		TEST(state_protection_is_refused),
		TEST(a_server_s_name_is_made_printable),
		TEST(a_session_is_asked_for_with_a_backchannel),
		TEST(a_session_is_kept_and_counted),
		TEST(a_session_of_no_use_is_refused_with_a_sentence),
		TEST(a_connection_is_bound_to_this_session_only),
		TEST(what_is_complete_already_is_complete),
		TEST(what_is_given_back_is_named),
		TEST(there_are_as_many_verdicts_as_stateids),
		TEST(whatever_a_doubtful_slot_answers_is_an_answer),
	};

	log_init("test-nfs4_session_ops", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
