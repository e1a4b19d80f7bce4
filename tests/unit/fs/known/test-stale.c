/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/stale.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fs/known/stale.h"

static void an_open_is_tried_again_once(void **state)
{
	struct stale_threads s = {0};

	assert_false(stale_opens_again(&s, 7, 22, false));
	stale_answered(&s, 7, 20);
	assert_true(stale_walks_again(&s, 7));
	assert_false(stale_walks_again(&s, 8));
	assert_false(stale_opens_again(&s, 8, 22, false));
	assert_true(stale_opens_again(&s, 7, 22, false));
	assert_false(stale_walks_again(&s, 7));
	assert_false(stale_opens_again(&s, 7, 22, false));
}

static void two_failed_look_ups_end_it(void **state)
{
	struct stale_threads s = {0};

	stale_answered(&s, 7, 20);
	assert_false(stale_not_found(&s, 7));
	assert_true(stale_walks_again(&s, 7));
	assert_true(stale_not_found(&s, 7));
	assert_false(stale_walks_again(&s, 7));
	assert_false(stale_opens_again(&s, 7, 22, false));
	assert_false(stale_not_found(&s, 7)); /* of a thread that is not remembered */
	assert_false(stale_walks_again(&s, 7));
	stale_answered(&s, 7, 20);
	stale_not_found(&s, 7);
	assert_true(stale_opens_again(&s, 7, 22, false));
}

static void a_thread_that_is_not_known_is_not_remembered(void **state)
{
	struct stale_threads s = {0};

	stale_answered(&s, 0, 20);
	assert_false(stale_walks_again(&s, 0));
	stale_not_found(&s, 0);
	assert_false(stale_opens_again(&s, 0, 22, false));
}

static void a_place_is_the_last_one_s(void **state)
{
	struct stale_threads s = {0};

	stale_answered(&s, 7, 20);
	stale_answered(&s, 7 + STALE_THREADS, 20);
	assert_false(stale_walks_again(&s, 7));
	stale_not_found(&s, 7);
	assert_false(stale_opens_again(&s, 7, 22, false));
	assert_true(stale_opens_again(&s, 7 + STALE_THREADS, 22, false));
}

static void is_killed(const struct ledger *l, struct stale_threads *successor)
{
	struct former *f = former_read(ledger_fd(l), NULL);

	assert_non_null(f);
	memset(successor, 0, sizeof(*successor));
	assert_true(stale_former(successor, f));
	former_free(f);
}

static void a_successor_knows_the_second_open(void **state)
{
	struct ledger *l = ledger_new(NULL), *next = ledger_new(NULL);
	struct stale_threads s = {0}, t, u;

	stale_keep_note(&s, l);
	stale_answered(&s, 7, 20);
	is_killed(l, &t); /* the open comes later */
	assert_true(stale_walks_again(&t, 7));
	assert_true(stale_opens_again(&t, 7, 26, false));
	is_killed(l, &t); /* the kernel sends the first open again */
	assert_false(stale_opens_again(&t, 7, 20, true));
	assert_false(stale_opens_again(&t, 7, 26, false));
	assert_true(stale_opens_again(&s, 7, 26, false));
	is_killed(
		l, &t); /* the kernel sends the second open again, once more after the next kill */
	stale_keep_note(&t, next);
	assert_false(stale_walks_again(&t, 7));
	is_killed(next, &u);
	assert_false(stale_opens_again(&u, 7, 28, false));
	assert_false(stale_opens_again(&u, 7, 20, true));
	assert_true(stale_opens_again(&u, 7, 26, true));
	ledger_free(l);
	ledger_free(next);
}

static void a_damaged_note_is_refused(void **state)
{
	uint64_t words[STALE_THREADS] = {[8] = 7};
	struct ledger *l = ledger_new(NULL);
	struct stale_threads s = {0};
	struct note note = {0};
	struct former *f;

	ledger_put(l, &note, NOTE_STALE, words, sizeof(words) - 8);
	f = former_read(ledger_fd(l), NULL);
	assert_false(stale_former(&s, f));
	former_free(f);
	ledger_put(l, &note, NOTE_STALE, words, sizeof(words));
	f = former_read(ledger_fd(l), NULL);
	assert_false(stale_former(&s, f)); /* the place of another thread */
	former_free(f);
	ledger_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_is_tried_again_once),
		cmocka_unit_test(two_failed_look_ups_end_it),
		cmocka_unit_test(a_thread_that_is_not_known_is_not_remembered),
		cmocka_unit_test(a_place_is_the_last_one_s),
		cmocka_unit_test(a_successor_knows_the_second_open),
		cmocka_unit_test(a_damaged_note_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
