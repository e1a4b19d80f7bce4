/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/believed: the sizes that the kernel may believe, by a table of events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/known/believed.h"

#define MS    1000000ull
#define BEGIN (1000 * MS) /* of each test, on the clock */
#define P     11	  /* threads */
#define Q     12
#define R     13 /* the reader */

static uint64_t at(unsigned ms)
{
	return BEGIN + ms * MS;
}

static void told(struct believed *b, uint64_t size, unsigned born, pid_t tid, unsigned now)
{
	struct nfs_attr attr = {.size = size};
	struct told told = {.attr = &attr, .born = at(born), .tid = tid};

	believed_told(b, &told, at(now));
}

static bool ignores(struct believed *b, uint64_t end, unsigned made, unsigned now)
{
	uint64_t until;

	return believed_ignores(b, end,
		&(struct believed_read){.tid = R, .born = at(made), .since = at(made)}, at(now),
		&until);
}

static uint64_t ignores_until(struct believed *b, uint64_t end, unsigned made, unsigned now)
{
	uint64_t until;

	assert_true(believed_ignores(b, end,
		&(struct believed_read){.tid = R, .born = at(made), .since = at(made)}, at(now),
		&until));
	return until;
}

static void a_smaller_size_counts_when_its_thread_has_handled_it(void **state)
{
	struct believed b = {0};

	told(&b, 100, 0, P, 0);
	assert_false(believed_more(&b, 100, at(0)));
	assert_true(believed_more(&b, 99, at(0)));
	told(&b, 40, 200, P, 201);
	assert_true(believed_more(&b, 40, at(202)));
	believed_heard(&b, Q, at(203));
	assert_true(believed_more(&b, 40, at(203)));
	believed_heard(&b, P, at(200)); /* before the answer */
	assert_true(believed_more(&b, 40, at(203)));
	believed_heard(&b, P, at(204));
	assert_false(believed_more(&b, 40, at(204)));
	assert_true(believed_more(&b, 39, at(204)));
}

static void the_largest_of_the_smaller_sizes_counts_after_a_while(void **state)
{
	struct believed b = {0};

	told(&b, 100, 0, P, 0);
	told(&b, 40, 200, P, 201);
	told(&b, 50, 200, Q, 202);
	told(&b, 30, 200, P, 203);
	believed_heard(&b, P, at(204)); /* Q may not have handled the answer */
	assert_true(believed_more(&b, 50, at(204)));
	assert_false(believed_more(&b, 50, at(301)));
	assert_true(believed_more(&b, 40, at(301)));
}

/* The kernel ignores attributes if it has learned others since the asking thread asked. */
static void a_smaller_size_that_was_asked_for_too_early_counts_never(void **state)
{
	struct believed b = {0};

	told(&b, 100, 0, P, 5);
	told(&b, 40, 50, Q, 60); /* P may handle the answer at 55 */
	assert_true(believed_more(&b, 40, at(500)));
	told(&b, 40, 500, Q, 501);
	believed_wrote(&b, 10, P, at(502));
	assert_true(believed_more(&b, 40, at(900)));
	told(&b, 40, 900, Q, 901);
	believed_notifies(&b, at(902));
	believed_notified(&b, at(903));
	assert_true(believed_more(&b, 40, at(1500)));
	/* a thread handles its earlier answers before it asks */
	told(&b, 100, 1500, P, 1501);
	told(&b, 40, 1502, P, 1503);
	assert_false(believed_more(&b, 40, at(1603)));
}

static void attributes_are_handled_when_each_thread_has_gone_on(void **state)
{
	struct believed b = {0};

	assert_true(believed_handled(&b, at(0)));
	told(&b, 100, 0, P, 0);
	told(&b, 100, 0, Q, 1);
	assert_false(believed_handled(&b, at(2)));
	believed_heard(&b, P, at(2));
	assert_false(believed_handled(&b, at(3)));
	believed_heard(&b, Q, at(3));
	assert_true(believed_handled(&b, at(4)));
	told(&b, 100, 4, P, 5); /* a thread that asks no more */
	assert_false(believed_handled(&b, at(24)));
	assert_true(believed_handled(&b, at(25)));
}

static void a_write_and_a_cut_count_at_once(void **state)
{
	struct believed b = {0};

	believed_wrote(&b, 70, P, at(0));
	assert_true(believed_more(&b, 69, at(0)));
	believed_wrote(&b, 20, P, at(1));
	assert_true(believed_more(&b, 69, at(1)));
	believed_cut(&b, 20, P, at(2));
	assert_false(believed_more(&b, 20, at(2)));
}

static void the_end_of_a_read_counts_unless_the_kernel_learns_more(void **state)
{
	struct believed b = {0};

	told(&b, 100, 0, P, 5);
	assert_false(ignores(&b, 100, 0, 6)); /* the kernel believes no more */
	assert_int_equal(ignores_until(&b, 40, 0, 6), at(105));
	assert_true(ignores(&b, 40, 104, 200));
	assert_false(ignores(&b, 40, 106, 200));
	believed_wrote(&b, 10, P, at(300));
	assert_true(ignores(&b, 40, 290, 301));
	believed_heard(&b, P, at(302)); /* P has handled the answer */
	assert_int_equal(ignores_until(&b, 40, 301, 302), at(302));
	assert_false(ignores(&b, 40, 303, 304));
	believed_wrote(&b, 10, P, at(400));
	believed_wrote(&b, 10, Q, at(401));
	believed_heard(&b, Q, at(402));
	assert_true(ignores(&b, 40, 403, 404)); /* P may not have handled the answer */
	assert_false(ignores(&b, 40, 501, 502));
}

static void a_threads_own_answers_hide_no_end_from_its_later_reads(void **state)
{
	struct believed b = {0};
	struct believed_read own = {.tid = P, .born = at(310), .since = at(290)};
	struct believed_read before = {.tid = P, .born = at(299), .since = at(290)};
	uint64_t until;

	believed_wrote(&b, 100, P, at(300));
	assert_true(believed_ignores(&b, 40, &before, at(301), &until));
	assert_false(believed_ignores(&b, 40, &own, at(311), &until));
	/* the kernel had sent the other thread's READ before */
	assert_true(ignores(&b, 40, 305, 312));
}

static void a_notification_hides_the_end(void **state)
{
	struct believed b = {0};

	told(&b, 100, 0, P, 0);
	believed_notifies(&b, at(500));
	assert_int_equal(ignores_until(&b, 40, 510, 511), at(600));
	believed_notified(&b, at(520));
	assert_int_equal(ignores_until(&b, 40, 510, 521), at(520));
	assert_false(ignores(&b, 40, 521, 522));
}

static void a_cut_hides_the_end_until_its_thread_has_handled_it(void **state)
{
	struct believed b = {0};

	told(&b, 100, 0, P, 0);
	believed_cut_begin(&b, at(500));
	assert_true(ignores_until(&b, 40, 501, 502) == UINT64_MAX);
	believed_cut_end(&b, P, at(510));
	believed_cut(&b, 40, P, at(510));
	assert_int_equal(ignores_until(&b, 40, 505, 511), at(610)); /* still 100 */
	believed_heard(&b, P, at(512));
	assert_false(ignores(&b, 40, 505, 513)); /* all believe 40 */
	assert_true(ignores(&b, 30, 505, 513));
	/* a cut that fails leaves the size */
	believed_cut_begin(&b, at(700));
	believed_cut_end(&b, P, at(701));
	assert_true(ignores(&b, 30, 700, 702));
	assert_false(ignores(&b, 30, 802, 803));
	assert_true(believed_more(&b, 30, at(803)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_smaller_size_counts_when_its_thread_has_handled_it),
		cmocka_unit_test(the_largest_of_the_smaller_sizes_counts_after_a_while),
		cmocka_unit_test(a_smaller_size_that_was_asked_for_too_early_counts_never),
		cmocka_unit_test(attributes_are_handled_when_each_thread_has_gone_on),
		cmocka_unit_test(a_write_and_a_cut_count_at_once),
		cmocka_unit_test(the_end_of_a_read_counts_unless_the_kernel_learns_more),
		cmocka_unit_test(a_threads_own_answers_hide_no_end_from_its_later_reads),
		cmocka_unit_test(a_notification_hides_the_end),
		cmocka_unit_test(a_cut_hides_the_end_until_its_thread_has_handled_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
