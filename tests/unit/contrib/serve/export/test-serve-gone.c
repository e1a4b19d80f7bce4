/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "contrib/serve/export/gone.h"

static const uint8_t key[HANDLE_KEY] = "a test's secret";

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct gone));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void what_is_gone_is_remembered(void **state)
{
	struct handle_id id = {.ino = 1, .birth = 1}, later = {.ino = 1, .birth = 2};
	struct gone *g = *state;

	assert_false(gone_has(g, key, &id));
	gone_add(g, key, &id);
	assert_true(gone_has(g, key, &id));
	assert_false(gone_has(g, key, &later)); /* a new file of the same number */
}

static void the_number_alone_says_nothing(void **state)
{
	struct handle_id id = {.ino = 1};
	struct gone *g = *state;

	gone_add(g, key, &id);
	assert_false(gone_has(g, key, &id));
}

static void it_never_holds_what_was_not_put_in(void **state)
{
	struct gone *g = *state;
	unsigned kept = 0;

	for (uint64_t i = 0; i < 4 * GONE_MAX; i++)
		gone_add(g, key, &(struct handle_id){.ino = i, .birth = 1});
	for (uint64_t i = 0; i < 8 * GONE_MAX; i++) {
		bool has = gone_has(g, key, &(struct handle_id){.ino = i, .birth = 1});

		kept += has;
		assert_true(!has || i < 4 * GONE_MAX);
	}
	assert_in_range(kept, GONE_MAX / 2, GONE_MAX);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_gone_is_remembered),
		TEST(the_number_alone_says_nothing),
		TEST(it_never_holds_what_was_not_put_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
