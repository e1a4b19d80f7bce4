/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_credit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/rpcrdma/rpcrdma_credit.h"

static void starts_with_one(void **state)
{
	struct rpcrdma_credit c;

	rpcrdma_credit_init(&c, 64, 1);
	assert_true(rpcrdma_credit_take(&c, 1));
	assert_false(rpcrdma_credit_take(&c, 1));
	rpcrdma_credit_put(&c, 1);
	assert_true(rpcrdma_credit_take(&c, 1));
}

static void grants_are_clamped(void **state)
{
	struct rpcrdma_credit c;

	rpcrdma_credit_init(&c, 64, 1);
	rpcrdma_credit_grant(&c, 0);
	assert_int_equal(c.granted, 1);
	rpcrdma_credit_grant(&c, 64);
	assert_int_equal(c.granted, 64);
	rpcrdma_credit_grant(&c, 65);
	assert_int_equal(c.granted, 64);
	rpcrdma_credit_grant(&c, UINT32_MAX);
	assert_int_equal(c.granted, 64);
}

static void a_lowered_grant_waits_for_what_is_out(void **state)
{
	struct rpcrdma_credit c;

	rpcrdma_credit_init(&c, 8, 1);
	rpcrdma_credit_grant(&c, 4);
	for (int i = 0; i < 4; i++)
		assert_true(rpcrdma_credit_take(&c, 1));
	rpcrdma_credit_grant(&c, 2);
	rpcrdma_credit_put(&c, 1);
	rpcrdma_credit_put(&c, 1);
	assert_false(rpcrdma_credit_take(&c, 1));
	rpcrdma_credit_put(&c, 1);
	assert_true(rpcrdma_credit_take(&c, 1));
}

static void orphans_hold_their_credit(void **state)
{
	struct rpcrdma_credit c;

	rpcrdma_credit_init(&c, 8, 1);
	assert_true(rpcrdma_credit_take(&c, 1));
	rpcrdma_credit_orphan(&c, 1);
	assert_false(rpcrdma_credit_take(&c, 1));
	rpcrdma_credit_put(&c, 1); /* of no call: must not free the orphan's credit */
	assert_false(rpcrdma_credit_take(&c, 1));
	rpcrdma_credit_late(&c, 1);
	assert_true(rpcrdma_credit_take(&c, 1));
	/* forged late replies change nothing */
	rpcrdma_credit_late(&c, 1);
	rpcrdma_credit_late(&c, 1);
	assert_int_equal(c.used, 1);
	assert_false(rpcrdma_credit_take(&c, 1));
}

/* The peer's messages: as many as this end has receives for, and not one more. */
static void what_we_grant_is_kept_to(void **state)
{
	struct rpcrdma_credit c;

	rpcrdma_credit_init(&c, 3, 3);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			assert_true(rpcrdma_credit_take(&c, 1));
		assert_false(rpcrdma_credit_take(&c, 1));
		for (int i = 0; i < 3; i++)
			rpcrdma_credit_put(&c, 1);
	}
	assert_int_equal(c.used, 0);
	rpcrdma_credit_put(&c, 1); /* of no call */
	assert_int_equal(c.used, 0);
}

/* A call of several Sends takes all of its credits or none, and gives them back together. */
static void several_at_once(void **state)
{
	struct rpcrdma_credit c;

	rpcrdma_credit_init(&c, 8, 5);
	assert_true(rpcrdma_credit_take(&c, 3));
	assert_false(rpcrdma_credit_take(&c, 3));
	assert_false(rpcrdma_credit_take(&c, UINT32_MAX));
	assert_true(rpcrdma_credit_take(&c, 2));
	rpcrdma_credit_orphan(&c, 3);
	rpcrdma_credit_put(&c, 3); /* not the orphan's credits */
	assert_int_equal(c.used, 3);
	rpcrdma_credit_orphan(&c, 1);
	assert_int_equal(c.orphans, 3);
	rpcrdma_credit_late(&c, 3);
	assert_int_equal(c.used, 0);
	assert_int_equal(c.orphans, 0);
	/* a grant that was lowered meanwhile */
	assert_true(rpcrdma_credit_take(&c, 5));
	rpcrdma_credit_grant(&c, 2);
	rpcrdma_credit_put(&c, 4);
	assert_false(rpcrdma_credit_take(&c, 2));
	assert_true(rpcrdma_credit_take(&c, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_with_one),
		cmocka_unit_test(grants_are_clamped),
		cmocka_unit_test(a_lowered_grant_waits_for_what_is_out),
		cmocka_unit_test(orphans_hold_their_credit),
		cmocka_unit_test(what_we_grant_is_kept_to),
		cmocka_unit_test(several_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
