/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/log_limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/clock.h"
#include "transport/log_limit.h"

#define SPAN (LOG_LIMIT_SPAN_S * NSEC_PER_SEC)

/* At most this many in a span, and as many in the next. */
static void so_many_in_a_span(void **state)
{
	struct log_limit l = {0};
	uint64_t began = 5; /* the machine has just started */

	for (int span = 0; span < 3; span++, began += SPAN) {
		for (int i = 0; i < 3; i++) {
			assert_true(log_limit_may(&l, 3, began + (uint64_t)i));
			log_limit_said(&l, began + (uint64_t)i);
		}
		assert_false(log_limit_may(&l, 3, began + 3));
		assert_false(log_limit_over(&l, began + SPAN - 1));
		assert_false(log_limit_may(&l, 3, began + SPAN - 1));
		assert_true(log_limit_over(&l, began + SPAN));
	}
}

/* A span begins with a line: after a pause all lines may come at once. */
static void a_span_begins_with_a_line(void **state)
{
	struct log_limit l = {0};

	log_limit_said(&l, 1);
	assert_true(log_limit_may(&l, 1, 10 * SPAN));
	log_limit_said(&l, 10 * SPAN);
	assert_false(log_limit_may(&l, 1, 11 * SPAN - 1));
	assert_true(log_limit_may(&l, 1, 11 * SPAN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_in_a_span),
		cmocka_unit_test(a_span_begins_with_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
