/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's stateids (state/stateid).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve-env.h"

static void the_current_stateid_can_be_freed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_open_args o = {.share_access = OPEN4_SHARE_ACCESS_READ,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.name = {"f", 1}};
	struct nfs4_free_stateid_args f = {.stateid = nfs4_stateid_current};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &o);
	nfs4_put_free_stateid_args(&e->args, &f);
	assert_int_equal(env_run(e, 4), NFS4ERR_LOCKS_HELD); /* it is open */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_current_stateid_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
