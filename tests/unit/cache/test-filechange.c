/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/filechange.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/filechange.h"
#include "transport/clock.h"

static struct filechange f;

/* The file is known as of change 10 and size 100, and all cached data is of that version. */
static int setup(void **state)
{
	const struct fileversion v = {10, 100};

	filechange_init(&f);
	filechange_dropped(&f, filechange_open(&f, &v, clock_ns()));
	filechange_cleared(&f, filechange_to_drop(&f));
	assert_int_equal(filechange_open(&f, &v, clock_ns()), 0);
	return 0;
}

static int teardown(void **state)
{
	filechange_finish(&f);
	return 0;
}

static enum filechange_by look_at(uint64_t change, uint64_t size, uint64_t asked)
{
	const struct fileversion v = {change, size};

	return filechange_look(&f, &v, asked);
}

static enum filechange_by look(uint64_t change, uint64_t size)
{
	return look_at(change, size, clock_ns());
}

static uint64_t open_now(uint64_t change, uint64_t size)
{
	const struct fileversion v = {change, size};

	return filechange_open(&f, &v, clock_ns());
}

/* May cached data be kept? If not, the kernel drops the data at once. */
static bool kept(uint64_t change, uint64_t size)
{
	uint64_t dropping = open_now(change, size);

	if (dropping)
		filechange_dropped(&f, dropping);
	return !dropping;
}

/* A WRITE's answer with wcc_data. */
static enum filechange_by wcc(uint64_t before, uint64_t size0, uint64_t after, uint64_t size1)
{
	const struct nfs_data_attr a = {.have = true,
		.have_before = true,
		.change = after,
		.size = size1,
		.before_change = before,
		.before_size = size0};

	return filechange_end(&f, &a, 0);
}

/* A WRITE ends with these attributes as after the WRITE. */
static enum filechange_by after(uint64_t change, uint64_t size, bool counted)
{
	const struct nfs_data_attr a = {
		.have = true, .counted = counted, .change = change, .size = size};

	return filechange_end(&f, &a, 0);
}

/* The same for a file that no other client can have changed since `alone`. */
static enum filechange_by after_alone(uint64_t change, uint64_t size, uint64_t alone)
{
	const struct nfs_data_attr a = {.have = true, .change = change, .size = size};

	return filechange_end(&f, &a, alone);
}

static void begin(unsigned n)
{
	while (n--)
		filechange_begin(&f);
}

static void who_only_looks_sees_a_foreign_change_at_once(void **state)
{
	assert_int_equal(look(10, 100), FILECHANGE_NONE);
	assert_int_equal(look(11, 100), FILECHANGE_FOREIGN);
	assert_int_equal(look(11, 100), FILECHANGE_NONE);    /* said once */
	assert_int_equal(look(11, 101), FILECHANGE_FOREIGN); /* a coarse clock */
	assert_false(kept(11, 101));
	assert_true(kept(11, 101));
}

static void a_server_that_has_lost_changes_shows_no_other_client(void **state)
{
	assert_int_equal(filechange_replaced(&f), 0);
	assert_int_equal(look(8, 100), FILECHANGE_FOREIGN); /* from before */
	assert_int_equal(filechange_replaced(&f), 0);
	assert_int_equal(look(8, 50), FILECHANGE_FOREIGN); /* a coarse clock */
	assert_int_not_equal(filechange_replaced(&f), 0);
}

/* The server answered one request before a loss and a later request behind the loss. The thread
 * with the first answer comes last, or a thread tells the attributes of the first answer again. */
static void an_answer_from_before_a_loss_shows_no_other_client(void **state)
{
	uint64_t before = clock_ns();

	assert_int_equal(look(8, 100), FILECHANGE_FOREIGN);
	assert_int_equal(look_at(10, 100, before), FILECHANGE_PENDING);
	assert_int_equal(look_at(9, 100, before), FILECHANGE_PENDING);
	assert_int_equal(filechange_replaced(&f), 0);
	assert_int_equal(look_at(11, 100, before), FILECHANGE_FOREIGN); /* never told before */
	assert_int_not_equal(filechange_replaced(&f), 0);
}

/* The server's times are coarse: WRITEs within one tick, and the server loses some of them. */
static void a_loss_within_a_tick_shows_no_other_client(void **state)
{
	begin(2); /* NFSv3 */
	assert_int_equal(wcc(10, 100, 10, 150), FILECHANGE_PENDING);
	assert_int_equal(wcc(10, 150, 10, 200), FILECHANGE_OURS);
	assert_int_equal(look(10, 100), FILECHANGE_FOREIGN);
	assert_int_equal(filechange_replaced(&f), 0);
	begin(2); /* NFSv4, in a later tick */
	assert_int_equal(after(11, 150, false), FILECHANGE_PENDING);
	assert_int_equal(after(11, 200, false), FILECHANGE_ASSUMED);
	/* the answer to the WRITE was lost, too */
	assert_int_equal(look(11, 160), FILECHANGE_FOREIGN);
	assert_int_equal(filechange_replaced(&f), 0);
	begin(1); /* NFSv3: the first WRITE after the restart shows the loss */
	assert_int_equal(wcc(11, 150, 12, 170), FILECHANGE_FOREIGN);
	assert_int_equal(filechange_replaced(&f), 0);
	assert_int_equal(look(12, 150), FILECHANGE_FOREIGN); /* no size of that tick */
	assert_int_not_equal(filechange_replaced(&f), 0);
}

/* A size of an earlier tick says nothing about a later tick. */
static void a_size_of_another_tick_may_be_another_client_s(void **state)
{
	begin(1);
	assert_int_equal(wcc(10, 100, 11, 200), FILECHANGE_OURS);
	assert_int_equal(look(11, 100), FILECHANGE_FOREIGN);
	assert_int_not_equal(filechange_replaced(&f), 0);
}

/* The server carries out WRITEs side by side, and reads the versions apart from the WRITEs. */
static void sizes_between_writes_of_a_tick_show_no_other_client(void **state)
{
	begin(2);
	assert_int_equal(wcc(10, 100, 11, 200), FILECHANGE_PENDING);
	assert_int_equal(wcc(11, 150, 11, 200), FILECHANGE_FOREIGN);
	assert_int_equal(filechange_replaced(&f), 0);
	begin(2); /* the same tick, but the file was shorter than before the first of the WRITEs */
	assert_int_equal(wcc(11, 200, 12, 300), FILECHANGE_PENDING);
	assert_int_equal(wcc(12, 190, 12, 300), FILECHANGE_FOREIGN);
	assert_int_not_equal(filechange_replaced(&f), 0);
}

static void a_gap_in_the_chain_may_be_what_was_lost(void **state)
{
	uint64_t at;

	begin(3);
	assert_int_equal(wcc(10, 100, 12, 120), FILECHANGE_PENDING);
	assert_int_equal(wcc(8, 90, 20, 200), FILECHANGE_PENDING); /* after a restart */
	assert_int_equal(wcc(20, 200, 21, 210), FILECHANGE_FOREIGN);
	assert_int_equal(filechange_replaced(&f), 0);
	begin(1);
	assert_int_equal(wcc(30, 210, 31, 220), FILECHANGE_FOREIGN);
	at = filechange_replaced(&f);
	assert_int_not_equal(at, 0);
	begin(1);
	assert_int_equal(after(33, 220, true), FILECHANGE_FOREIGN);
	assert_true(filechange_replaced(&f) > at);
}

static void the_first_answer_is_no_news(void **state)
{
	filechange_finish(&f);
	filechange_init(&f);
	assert_int_equal(look(7, 1), FILECHANGE_NONE);
	assert_int_equal(look(8, 1), FILECHANGE_FOREIGN);
	assert_false(kept(8, 1));
	assert_true(kept(8, 1));
}

static void an_old_answer_is_no_news(void **state)
{
	uint64_t before = clock_ns();

	assert_int_equal(look(12, 50), FILECHANGE_FOREIGN);
	assert_int_equal(look_at(10, 100, before), FILECHANGE_NONE);
	assert_int_equal(look(12, 50), FILECHANGE_NONE);
}

/* Two requests were under way at once, and the server has answered in the other order. */
static void a_new_answer_to_an_older_question_is_news(void **state)
{
	uint64_t first = clock_ns(), second;

	second = clock_ns();
	assert_int_equal(look_at(12, 50, second), FILECHANGE_FOREIGN);
	filechange_cleared(&f, filechange_to_drop(&f));
	assert_int_equal(look_at(13, 60, first), FILECHANGE_FOREIGN);
	assert_int_not_equal(filechange_to_drop(&f), 0);
	assert_int_equal(look_at(12, 50, second), FILECHANGE_NONE);
	/* but a server may have been set back */
	assert_int_equal(look(12, 50), FILECHANGE_FOREIGN);
}

static void a_look_while_we_write_decides_nothing(void **state)
{
	uint64_t before = clock_ns();

	begin(1);
	assert_int_equal(look(11, 100), FILECHANGE_PENDING);
	assert_int_equal(wcc(10, 100, 11, 100), FILECHANGE_OURS);
	/* asked before the end of the WRITE: the WRITE may have been carried out or not */
	assert_int_equal(look_at(10, 100, before), FILECHANGE_PENDING);
	assert_int_equal(look(11, 100), FILECHANGE_NONE);
	assert_int_equal(look(12, 100), FILECHANGE_FOREIGN);
}

static void our_writes_keep_what_is_cached(void **state)
{
	for (uint64_t i = 0; i < 20; i++) {
		begin(1);
		assert_int_equal(wcc(10 + i, 100 + i, 11 + i, 101 + i), FILECHANGE_OURS);
	}
	assert_true(kept(30, 120));
	begin(1);
	assert_int_equal(wcc(31, 120, 32, 121), FILECHANGE_FOREIGN);
	assert_int_equal(look(32, 121), FILECHANGE_NONE);
	assert_false(kept(32, 121));
}

/* In each of the orders in which the answers to four WRITEs can come. */
static void answers_may_come_in_any_order(void **state)
{
	for (unsigned code = 0; code < 24; code++) {
		unsigned left[4] = {0, 1, 2, 3}, n = 4, c = code;

		teardown(NULL);
		setup(NULL);
		begin(4);
		while (n) {
			unsigned pick = c % n, i = left[pick];
			enum filechange_by by = wcc(10 + i, 100 + i, 11 + i, 101 + i);

			c /= n;
			left[pick] = left[--n];
			assert_int_equal(by, n ? FILECHANGE_PENDING : FILECHANGE_OURS);
		}
		assert_true(kept(14, 104));
	}
}

static void a_foreign_write_among_ours_is_a_gap(void **state)
{
	begin(3);
	assert_int_equal(wcc(13, 102, 14, 103), FILECHANGE_PENDING); /* behind the foreign WRITE */
	assert_int_equal(wcc(11, 101, 12, 102), FILECHANGE_PENDING);
	assert_int_equal(wcc(10, 100, 11, 101), FILECHANGE_FOREIGN);
	assert_int_equal(look(14, 103), FILECHANGE_NONE);
	assert_false(kept(14, 103));
}

/* More answers overtake one than the chain has room for: then there is no proof. */
static void too_many_overtake_one(void **state)
{
	unsigned n = 100;

	begin(n);
	for (unsigned i = 1; i < n; i++)
		assert_int_equal(wcc(10 + i, 100, 11 + i, 100), FILECHANGE_PENDING);
	assert_int_equal(wcc(10, 100, 11, 100), FILECHANGE_ASSUMED);
	assert_int_equal(look(10 + n, 100), FILECHANGE_ASSUMED);
	assert_int_equal(look(10 + n, 100), FILECHANGE_NONE);
	assert_false(kept(10 + n, 100));
}

/* The clock of the server ticks coarsely. */
static void writes_within_a_tick_are_ours(void **state)
{
	begin(4);
	assert_int_equal(wcc(11, 100, 12, 100), FILECHANGE_PENDING);
	assert_int_equal(wcc(11, 100, 11, 100), FILECHANGE_PENDING);
	assert_int_equal(wcc(11, 100, 11, 100), FILECHANGE_PENDING);
	assert_int_equal(wcc(10, 100, 11, 100), FILECHANGE_OURS);
	assert_true(kept(12, 100));
}

static void without_a_version_before_it_is_assumed_to_be_ours(void **state)
{
	begin(3);
	assert_int_equal(after(12, 102, false), FILECHANGE_PENDING);
	assert_int_equal(after(13, 103, false), FILECHANGE_PENDING);
	assert_int_equal(after(11, 101, false), FILECHANGE_ASSUMED); /* comes late */
	assert_int_equal(look(13, 103), FILECHANGE_NONE);
	assert_int_equal(look(14, 103), FILECHANGE_FOREIGN);
	assert_false(kept(14, 103));
	/* no such answer proves that data from the cache is good */
	assert_true(kept(14, 103));
	begin(1);
	assert_int_equal(after(15, 103, false), FILECHANGE_ASSUMED);
	assert_false(kept(15, 103));
}

static void a_counter_proves_it(void **state)
{
	begin(3);
	assert_int_equal(after(13, 103, true), FILECHANGE_PENDING);
	assert_int_equal(after(13, 103, true), FILECHANGE_PENDING);
	assert_int_equal(after(11, 101, true), FILECHANGE_OURS);
	assert_true(kept(13, 103));
	begin(2);
	assert_int_equal(after(14, 103, true), FILECHANGE_PENDING);
	assert_int_equal(after(16, 103, true), FILECHANGE_FOREIGN);
	assert_false(kept(16, 103));
	/* the attribute of this server does not count at all */
	begin(2);
	assert_int_equal(after(17, 103, true), FILECHANGE_PENDING);
	assert_int_equal(after(17, 103, true), FILECHANGE_ASSUMED);
	assert_false(kept(17, 103));
	/* a chmod by this mount counts, too */
	begin(1);
	filechange_touch(&f);
	assert_int_equal(after(19, 103, true), FILECHANGE_ASSUMED);
}

static void a_write_without_an_answer_is_nobodys(void **state)
{
	begin(2);
	assert_int_equal(filechange_end(&f, NULL, 0), FILECHANGE_PENDING);
	assert_int_equal(wcc(10, 100, 11, 100), FILECHANGE_ASSUMED);
	assert_int_equal(look(12, 100), FILECHANGE_ASSUMED);
	assert_int_equal(look(13, 100), FILECHANGE_FOREIGN);
}

static void what_we_do_otherwise_is_not_foreign(void **state)
{
	uint64_t before = clock_ns();

	filechange_touch(&f);
	assert_int_equal(look_at(11, 100, before), FILECHANGE_PENDING);
	assert_int_equal(look(11, 100), FILECHANGE_ASSUMED);
	assert_false(kept(11, 100));
	assert_int_equal(look(12, 100), FILECHANGE_FOREIGN);
}

/* A chmod of this mount is under way, and the server has carried the chmod out. */
static void what_is_under_way_is_not_foreign(void **state)
{
	struct fileversion v;

	filechange_touch_begin(&f);
	begin(1);
	assert_int_equal(after(11, 100, true), FILECHANGE_ASSUMED);
	assert_int_equal(look(12, 100), FILECHANGE_PENDING);
	assert_false(filechange_newest(&f, false, &v));
	begin(1);
	assert_int_equal(after(13, 100, true), FILECHANGE_ASSUMED);
	filechange_touch_end(&f);
	assert_int_equal(look(14, 100), FILECHANGE_ASSUMED);
	assert_int_equal(filechange_replaced(&f), 0);
	assert_int_equal(look(15, 100), FILECHANGE_FOREIGN);
}

static void nobody_keeps_what_is_only_about_to_be_dropped(void **state)
{
	uint64_t first, second;

	assert_int_equal(look(11, 100), FILECHANGE_FOREIGN);
	first = open_now(11, 100);
	assert_int_not_equal(first, 0);
	second = open_now(11, 100);
	assert_int_not_equal(second, 0);
	filechange_dropped(&f, first);
	assert_true(kept(11, 100));
	filechange_dropped(&f, second);
	assert_true(kept(11, 100));
}

static void what_changes_before_the_drop_must_be_dropped_again(void **state)
{
	uint64_t first;

	assert_int_equal(look(11, 100), FILECHANGE_FOREIGN);
	first = open_now(11, 100);
	assert_int_equal(look(12, 100), FILECHANGE_FOREIGN);
	filechange_dropped(&f, first);
	assert_false(kept(12, 100));
	assert_true(kept(12, 100));
}

static void whoever_is_told_a_version_drops_what_is_older(void **state)
{
	uint64_t dropping;

	assert_int_equal(filechange_to_drop(&f), 0);
	assert_int_equal(look(11, 100), FILECHANGE_FOREIGN);
	/* the thread that has seen the change has not dropped the cache yet, and another thread
	 * gets the same version */
	assert_int_equal(look(11, 100), FILECHANGE_NONE);
	dropping = filechange_to_drop(&f);
	assert_int_not_equal(dropping, 0);
	assert_int_equal(look(12, 100), FILECHANGE_FOREIGN);
	filechange_cleared(&f, dropping); /* only data from before 11 was dropped */
	dropping = filechange_to_drop(&f);
	assert_int_not_equal(dropping, 0);
	filechange_cleared(&f, dropping);
	assert_int_equal(filechange_to_drop(&f), 0);
}

static void attributes_grow_old(void **state)
{
	uint64_t now = clock_ns();

	assert_true(filechange_is_old(&f, now));
	assert_int_equal(look(10, 100), FILECHANGE_NONE);
	assert_false(filechange_is_old(&f, now));
	now = clock_ns();
	begin(1);
	assert_int_equal(filechange_end(&f, NULL, 0), FILECHANGE_ASSUMED);
	assert_true(filechange_is_old(&f, now));
	begin(1);
	after(11, 100, false);
	assert_false(filechange_is_old(&f, now));
}

/* A write delegation of this mount: all changes are by this mount, as long as the delegation
 * lasts. */
static void nobody_else_may_have_changed_it(void **state)
{
	struct fileversion v;
	uint64_t alone;

	look(10, 100);
	kept(10, 100);
	assert_int_equal(filechange_open_alone(&f), 0);
	begin(1);
	alone = clock_ns(); /* too late for the first WRITE */
	begin(1);
	assert_int_equal(after_alone(12, 100, alone), FILECHANGE_PENDING);
	assert_int_equal(after_alone(13, 100, alone), FILECHANGE_ASSUMED);
	assert_int_not_equal(filechange_open_alone(&f), 0);
	assert_false(kept(13, 100));
	begin(2);
	assert_int_equal(after_alone(15, 200, alone), FILECHANGE_PENDING);
	assert_true(filechange_newest(&f, true, &v));
	assert_int_equal(v.size, 200);
	assert_false(filechange_newest(&f, false, &v));
	assert_int_equal(after_alone(14, 150, alone), FILECHANGE_OURS);
	assert_int_equal(filechange_open_alone(&f), 0);
	assert_true(kept(15, 200));
	assert_true(filechange_newest(&f, false, &v));
	assert_int_equal(v.change, 15);
	begin(1); /* other changes of this mount need not be in order */
	filechange_touch(&f);
	assert_int_equal(after_alone(16, 200, alone), FILECHANGE_ASSUMED);
	filechange_touch(&f);
	assert_false(filechange_newest(&f, false, &v));
	look(17, 10);
	assert_true(filechange_newest(&f, false, &v));
	assert_int_equal(v.size, 10);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(who_only_looks_sees_a_foreign_change_at_once),
		T(the_first_answer_is_no_news),
		T(a_server_that_has_lost_changes_shows_no_other_client),
		T(an_answer_from_before_a_loss_shows_no_other_client),
		T(a_loss_within_a_tick_shows_no_other_client),
		T(a_size_of_another_tick_may_be_another_client_s),
		T(sizes_between_writes_of_a_tick_show_no_other_client),
		T(a_gap_in_the_chain_may_be_what_was_lost),
		T(an_old_answer_is_no_news),
		T(a_new_answer_to_an_older_question_is_news),
		T(a_look_while_we_write_decides_nothing),
		T(our_writes_keep_what_is_cached),
		T(answers_may_come_in_any_order),
		T(a_foreign_write_among_ours_is_a_gap),
		T(too_many_overtake_one),
		T(writes_within_a_tick_are_ours),
		T(without_a_version_before_it_is_assumed_to_be_ours),
		T(a_counter_proves_it),
		T(a_write_without_an_answer_is_nobodys),
		T(what_we_do_otherwise_is_not_foreign),
		T(what_is_under_way_is_not_foreign),
		T(nobody_keeps_what_is_only_about_to_be_dropped),
		T(what_changes_before_the_drop_must_be_dropped_again),
		T(whoever_is_told_a_version_drops_what_is_older),
		T(attributes_grow_old),
		T(nobody_else_may_have_changed_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
