/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's COMPOUNDs (v4/compound, v4/v4): which operation may stand where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "contrib/serve/state/session.h"
#include "tests/unit/contrib/serve/serve-env.h"

static void operations_have_their_place(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sequence_args seq = {.session = e->session, .sequenceid = 1, .slotid = 1};
	struct nfs4_destroy_clientid_args dc = {.clientid = e->clientid};

	env_begin(e, false);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	assert_int_equal(env_run(e, 1), NFS4ERR_OP_NOT_IN_SESSION);
	env_begin(e, true);
	nfs4_put_sequence_args(&e->args, &seq);
	assert_int_equal(env_run(e, 2), NFS4ERR_SEQUENCE_POS);
	env_begin(e, false);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 2), NFS4ERR_NOT_ONLY_OP);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_GETFH);
	assert_int_equal(env_run(e, 2), NFS4ERR_NOFILEHANDLE);
	env_begin(e, true);
	nfs4_put_op(&e->args, 4711);
	assert_int_equal(env_run(e, 2), NFS4ERR_OP_ILLEGAL);
	env_expect(e, OP_ILLEGAL, NFS4ERR_OP_ILLEGAL);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_GETDEVICELIST);
	assert_int_equal(env_run(e, 2), NFS4ERR_NOTSUPP);
}

static void words_behind_the_last_operation_are_refused(void **state)
{
	struct serve_env *e = *state;

	env_begin(e, true);
	env_put_mkdir(e, "d");
	xdr_put_u32(&e->args, 0);
	assert_int_equal(env_run(e, 3), NFS4ERR_BADXDR);
	assert_int_equal(e->head.nops, 3);
	env_begin(e, true); /* the operation was not carried out */
	env_put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
}

static void only_minor_versions_1_and_2_are_spoken(void **state)
{
	struct serve_env *e = *state;

	for (uint32_t minor = 0; minor < 4; minor++) {
		xdr_out_init(&e->args, e->call, sizeof(e->call));
		e->count_at = nfs4_put_compound_args(&e->args, "", minor);
		assert_int_equal(env_run(e, 0),
			minor == 1 || minor == 2 ? NFS4_OK : NFS4ERR_MINOR_VERS_MISMATCH);
		assert_int_equal(e->head.nops, 0);
	}
}

/* 14 handles of more than 40 bytes do not fit into an answer of 512 bytes that is to be kept. */
static void an_answer_to_be_kept_has_its_bounds(void **state)
{
	struct serve_env *e = *state;

	e->cachethis = true;
	e->sv.state.sessions.tqh_first->fore.maxresponsesize_cached = 512;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	for (int i = 0; i < 14; i++)
		nfs4_put_op(&e->args, OP_GETFH);
	assert_int_equal(env_run(e, 16), NFS4ERR_REP_TOO_BIG_TO_CACHE);
	e->cachethis = false;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(operations_have_their_place),
		TEST(words_behind_the_last_operation_are_refused),
		TEST(only_minor_versions_1_and_2_are_spoken),
		TEST(an_answer_to_be_kept_has_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
