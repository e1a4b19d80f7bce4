/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/survivor: a successor that ends tells of the written data that it leaves
 * behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/writeback.h"
#include "fs/program/survivor.h"

static uint64_t noted; /* bytes, in the former daemon's ledger */

uint64_t __wrap_written_former_bytes(const struct former *f);

uint64_t __wrap_written_former_bytes(const struct former *f)
{
	return noted;
}

static void written_data_is_lost_without_a_connection(void **state)
{
	struct fs fs = {.former = (void *)&noted};

	noted = 7;
	assert_true(survivor_loses(&fs));
	noted = 0;
	assert_false(survivor_loses(&fs));
}

/* The server answers, but there is no memory, or no thread. */
static void written_data_is_lost_if_the_successor_cannot_take_over(void **state)
{
	struct fs fs = {.former = (void *)&noted, .client = (void *)&noted};

	noted = 7;
	assert_true(survivor_loses(&fs));
	fs.took_over = true; /* the data is the successor's, which names each file */
	assert_false(survivor_loses(&fs));
}

static void a_daemon_without_a_former_one_loses_nothing(void **state)
{
	struct fs fs = {.former = NULL};

	noted = 7;
	assert_false(survivor_loses(&fs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_data_is_lost_without_a_connection),
		cmocka_unit_test(written_data_is_lost_if_the_successor_cannot_take_over),
		cmocka_unit_test(a_daemon_without_a_former_one_loses_nothing),
	};

	return cmocka_run_group_tests_name("survivor", tests, NULL, NULL);
}
