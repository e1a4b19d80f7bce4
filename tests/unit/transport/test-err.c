/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/err.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/err.h"

static void the_first_error_stays(void **state)
{
	struct err e = {0};

	assert_int_equal(err_set(&e, ERR_REFUSED, "port %d", 20049), -1);
	assert_int_equal(err_set(&e, ERR_INTERNAL, "later"), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_string_equal(e.msg, "port 20049");
}

static void null_is_accepted(void **state)
{
	assert_int_equal(err_set(NULL, ERR_USAGE, "nobody listens"), -1);
}

static void every_kind_has_a_name(void **state)
{
	for (int k = ERR_NONE; k <= ERR_NO_MEMLOCK; k++)
		assert_string_not_equal(err_kind_name(k), "unknown");
	assert_string_equal(err_kind_name(ERR_NO_MEMLOCK + 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_error_stays),
		cmocka_unit_test(null_is_accepted),
		cmocka_unit_test(every_kind_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
