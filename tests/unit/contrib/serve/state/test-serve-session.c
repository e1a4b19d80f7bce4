/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's sessions, their slots and kept answers (state/session,
 * state/session_create).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/session.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "tests/unit/contrib/serve/short-malloc.h"
#include "transport/rpc/xprt.h"

static void a_replay_is_answered_from_the_cache(void **state)
{
	struct serve_env *e = *state;
	static uint8_t first[4096];
	size_t len;

	env_begin(e, true);
	env_put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
	len = e->req.res.len;
	memcpy(first, e->reply, len);
	memset(e->reply, 0xaa, sizeof(e->reply));
	/* a second execution would give NFS4ERR_EXIST */
	assert_int_equal(env_again(e), NFS4_OK);
	assert_int_equal(e->req.res.len, len);
	assert_memory_equal(e->reply, first, len);
}

/* The server's next run, which does not know the session any more. */
static void restart(struct serve_env *e, const char *path)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};

	session_destroy(&e->sv.state, &cred, &e->session);
	answers_free(e->sv.answers);
	e->sv.answers = answers_new(path);
	assert_non_null(e->sv.answers);
}

static void the_next_run_answers_what_this_one_did(void **state)
{
	struct serve_env *e = *state;
	static uint8_t first[4096];
	char path[128];
	size_t len;

	env_path(e, ".answers", path, sizeof(path));
	e->sv.answers = answers_new(path);
	env_begin(e, true);
	env_put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
	len = e->req.res.len;
	memcpy(first, e->reply, len);
	restart(e, path);
	assert_int_equal(env_again(e), NFS4_OK);
	assert_int_equal(e->req.res.len, len);
	assert_memory_equal(e->reply, first, len);
	e->uid = 7; /* another caller */
	assert_int_equal(env_again(e), NFS4ERR_BADSESSION);
	e->uid = 0;
	env_begin(e, true); /* another request under the same number, and the next number */
	env_put_mkdir(e, "x");
	assert_int_equal(env_run(e, 3), NFS4ERR_BADSESSION);
	e->sv.answers = answers_free(e->sv.answers);
	assert_int_equal(unlink(path), 0);
}

/* COMPOUND of WRITE at the end of the file: behind VERIFY of the size, or (plain) without. */
static uint32_t append(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t end, enum nfs_stable stable, bool plain)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_SIZE, -1);
	const struct nfs4_attrs attrs = {.mask = mask, .attr.size = end};
	struct nfs4_write_args a = {.stateid = *sid,
		.offset = end,
		.stable = stable,
		.data = SEG_LIST_MEM((char[]){"line"}, 4)};

	env_begin(e, true);
	env_put_fh(e, fh);
	if (!plain) {
		nfs4_put_op(&e->args, OP_VERIFY);
		nfs4_put_attrs(&e->args, &mask, &attrs);
	}
	nfs4_put_write_args(&e->args, &a);
	return env_run(e, plain ? 3 : 4);
}

/* How stable the data is by the answer of append(). */
static uint32_t committed(struct serve_env *e)
{
	struct nfs4_write_res r;

	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_VERIFY, NFS4_OK);
	env_expect(e, OP_WRITE, NFS4_OK);
	assert_int_equal(nfs4_get_write_res(&e->res, NFS4_OK, &r), 0);
	assert_int_equal(r.count, 4);
	return r.committed;
}

/* A second execution would append at another place. The next run has synced the data, and tells
 * so. */
static void the_next_run_answers_an_append(void **state)
{
	struct serve_env *e = *state;
	const enum nfs_stable stable[] = {NFS_UNSTABLE, NFS_FILE_SYNC};
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	struct stat st;
	char path[128], file[128];

	env_path(e, ".answers", path, sizeof(path));
	env_path(e, "f", file, sizeof(file));
	for (unsigned i = 0; i < 2; i++) {
		e->sv.answers = answers_new(path);
		if (i)
			env_mount(e, "client again");
		assert_int_equal(env_open(e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh),
			NFS4_OK);
		assert_int_equal(append(e, &fh, &sid, 4 * i, stable[i], false), NFS4_OK);
		assert_int_equal(committed(e), stable[i]);
		restart(e, path);
		assert_int_equal(env_again(e), NFS4_OK);
		assert_int_equal(env_result(e), NFS4_OK);
		assert_int_equal(committed(e), NFS_FILE_SYNC);
		e->sv.answers = answers_free(e->sv.answers);
	}
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 8);
	assert_int_equal(unlink(path), 0);
}

/* A second WRITE at the same place does no harm, and an unverified one is not done. */
static void the_next_run_answers_no_other_write(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	char path[128];

	env_path(e, ".answers", path, sizeof(path));
	for (unsigned i = 0; i < 2; i++) {
		e->sv.answers = answers_new(path);
		if (i)
			env_mount(e, "client again");
		assert_int_equal(env_open(e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh),
			NFS4_OK);
		assert_int_equal(append(e, &fh, &sid, 7, NFS_UNSTABLE, i == 0),
			i ? NFS4ERR_NOT_SAME : NFS4_OK);
		restart(e, path);
		assert_int_equal(env_again(e), NFS4ERR_BADSESSION);
		e->sv.answers = answers_free(e->sv.answers);
	}
	assert_int_equal(unlink(path), 0);
}

/* Answers to reads are not kept, nor answers to OPEN: the next run does not have the open. */
static void the_next_run_answers_no_reads(void **state)
{
	struct serve_env *e = *state;
	char path[128];

	env_path(e, ".answers", path, sizeof(path));
	e->sv.answers = answers_new(path);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "missing");
	assert_int_equal(env_run(e, 3), NFS4ERR_NOENT);
	restart(e, path);
	assert_int_equal(env_again(e), NFS4ERR_BADSESSION);
	e->sv.answers = answers_free(e->sv.answers);
	assert_int_equal(unlink(path), 0);
}

static void a_replay_of_an_error_is_the_same_error(void **state)
{
	struct serve_env *e = *state;

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "missing");
	assert_int_equal(env_run(e, 3), NFS4ERR_NOENT);
	assert_int_equal(env_again(e), NFS4ERR_NOENT);
	assert_int_equal(e->head.nops, 3);
}

static void another_request_under_the_same_number_is_told(void **state)
{
	struct serve_env *e = *state;
	uint32_t first;

	env_begin(e, true);
	env_put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
	e->uid = 7; /* a call of another user */
	assert_int_equal(env_again(e), NFS4ERR_SEQ_FALSE_RETRY);
	e->uid = 0;
	first = --e->slot_seq;
	env_begin(e, true);
	env_put_mkdir(e, "x");
	assert_int_equal(env_run(e, 3), NFS4ERR_SEQ_FALSE_RETRY);
	assert_int_equal(e->head.nops, 1);
	e->slot_seq = first;
	env_begin(e, true); /* a client that asks for the fate of its call */
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_FALSE_RETRY);
	e->slot_seq = first;
	env_begin(e, true);
	env_put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
}

static void sequence_numbers_must_follow(void **state)
{
	struct serve_env *e = *state;

	e->slot_seq += 1; /* leaves one number out */
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(e->head.nops, 1);
	e->slot_seq = UINT32_MAX; /* 0: older than the last */
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_MISORDERED);
	e->slot_seq += 1;
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4_OK);
}

static uint32_t sequence(struct serve_env *e, const struct nfs4_sequence_args *a, uint32_t more)
{
	env_begin(e, false);
	nfs4_put_sequence_args(&e->args, a);
	for (uint32_t i = 0; i < more; i++)
		nfs4_put_op(&e->args, OP_PUTROOTFH);
	return env_run(e, 1 + more);
}

static void slots_and_sessions_are_checked(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sequence_args a = {.session = e->session, .sequenceid = 1};

	a.slotid = a.highest_slotid = 4;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_BADSLOT);
	a.slotid = 1;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_BAD_HIGH_SLOT);
	a.highest_slotid = 3;
	assert_int_equal(sequence(e, &a, 0), NFS4_OK);
	a.sequenceid = 2;
	assert_int_equal(sequence(e, &a, 16), NFS4ERR_TOO_MANY_OPS);
	assert_int_equal(sequence(e, &a, 15), NFS4_OK);
	/* a slot that was never used has nothing to replay */
	a.slotid = 2;
	a.sequenceid = 0;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_SEQ_MISORDERED);
	a.session.id[15] ^= 0x80;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_BADSESSION);
}

/* A call that was carried out can be answered again; otherwise the server does not carry the call
 * out. */
static void without_memory_for_the_reply_nothing_is_done(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sequence_args a = {
		.session = e->session, .sequenceid = 1, .slotid = 1, .highest_slotid = 1};
	struct session *ses = session_get(&e->sv.state, &e->session);

	malloc_max = ses->cached_max - 1;
	session_put(&e->sv.state, ses);
	assert_int_equal(sequence(e, &a, 1), NFS4ERR_DELAY);
	assert_int_equal(e->head.nops, 1);
	malloc_max = SIZE_MAX;
	assert_int_equal(sequence(e, &a, 1), NFS4_OK);
}

static void create_session_is_replayed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_create_session_args cs = {
		.clientid = e->clientid, .sequence = 1, .cb_program = 1};
	struct nfs4_create_session_res r;

	cs.fore = env_channel;
	cs.back = cs.fore;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	env_expect(e, OP_CREATE_SESSION, NFS4_OK);
	assert_int_equal(nfs4_get_create_session_res(&e->res, NFS4_OK, &r), 0);
	assert_memory_equal(&r.session, &e->session, sizeof(r.session));
	cs.sequence = 3;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_MISORDERED);
	cs.sequence = 2;
	cs.back.maxrequestsize = 10; /* no callback fits */
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4ERR_TOOSMALL);
	cs.back = cs.fore; /* the refused call did not use up the number */
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	cs.clientid++;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4ERR_STALE_CLIENTID);
}

static void xprt_destroyed(struct rpc_xprt *x)
{
	*(bool *)x->owner = true;
}

/* A connection that is bound to a session while the session is being destroyed is not kept. */
static void a_destroyed_session_keeps_no_connection(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = xprt_destroyed};
	struct serve_env *e = *state;
	struct session *ses = session_get(&e->sv.state, &e->session);
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};
	bool destroyed = false;
	struct rpc_xprt x = {.ops = &ops, .refs = 1, .owner = &destroyed};

	assert_non_null(ses);
	assert_int_equal(session_destroy(&e->sv.state, &cred, &e->session), NFS4_OK);
	session_set_back(ses, &x);
	rpc_xprt_unref(&x);
	assert_false(destroyed);
	session_put(&e->sv.state, ses);
	assert_true(destroyed);
}

/* Makes another session of the client. Returns the number of the session's slots, or 0 if it is
 * refused with NOSPC. */
static uint32_t one_more_session(struct serve_env *e, uint32_t sequence)
{
	struct nfs4_create_session_args cs = {
		.clientid = e->clientid, .sequence = sequence, .cb_program = 1};
	struct nfs4_create_session_res r;

	cs.fore = env_channel;
	cs.fore.maxresponsesize_cached = 1 << 20;
	cs.fore.maxrequests = 100000;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	if (env_run(e, 1) != NFS4_OK) {
		assert_int_equal(e->head.status, NFS4ERR_NOSPC);
		return 0;
	}
	env_expect(e, OP_CREATE_SESSION, NFS4_OK);
	assert_int_equal(nfs4_get_create_session_res(&e->res, NFS4_OK, &r), 0);
	assert_true(r.fore.maxrequests > 0);
	return r.fore.maxrequests;
}

static void kept_replies_have_a_common_budget(void **state)
{
	struct serve_env *e = *state;
	_Atomic uint32_t *used = &e->sv.state.cache_used;
	uint32_t before = *used, n;
	struct nfs4_destroy_session_args ds;

	assert_true(before > 0);
	assert_int_equal(one_more_session(e, 2), STATE_MAX_SLOTS);
	assert_true(*used >= before + STATE_MAX_SLOTS * STATE_MAX_CACHED);
	*used += STATE_MAX_CACHE - *used - (1 << 20); /* 1 MiB is left */
	n = one_more_session(e, 3);
	assert_in_range(n, 1, (1 << 20) / 8 / STATE_MAX_CACHED);
	*used = STATE_MAX_CACHE - 5000;
	assert_int_equal(one_more_session(e, 4), 1);
	assert_int_equal(one_more_session(e, 5), 0);
	/* a destroyed session gives its memory back */
	n = *used;
	ds.session = e->session;
	env_begin(e, false);
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	assert_int_equal(*used, n - before);
}

static void session_ids_cannot_be_guessed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sessionid a = e->session;
	unsigned same = 0;

	env_mount(e, "another");
	for (size_t i = 0; i < sizeof(a.id); i++)
		same += a.id[i] == e->session.id[i];
	assert_true(same < 8); /* by chance: once in 2^50 */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_replay_is_answered_from_the_cache),
		TEST(the_next_run_answers_what_this_one_did),
		TEST(the_next_run_answers_an_append),
		TEST(the_next_run_answers_no_other_write),
		TEST(the_next_run_answers_no_reads),
		TEST(a_replay_of_an_error_is_the_same_error),
		TEST(another_request_under_the_same_number_is_told),
		TEST(sequence_numbers_must_follow),
		TEST(slots_and_sessions_are_checked),
		TEST(without_memory_for_the_reply_nothing_is_done),
		TEST(create_session_is_replayed),
		TEST(a_destroyed_session_keeps_no_connection),
		TEST(kept_replies_have_a_common_budget),
		TEST(session_ids_cannot_be_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
