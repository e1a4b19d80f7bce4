/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/view: the attributes that the kernel was told, and may believe.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/fs/known/inode-table.h"
#include "transport/clock.h"

static bool told_as(
	struct inode *ino, const struct nfs_attr *attr, uint64_t asked, uint64_t born, bool *lasts)
{
	struct told told = {.attr = attr, .asked = asked, .born = born, .writes = ino->view.writes};

	return inode_told(ino, &told, lasts);
}

/* The server has just told attr. May the kernel believe attr? */
static bool told(struct inode *ino, const struct nfs_attr *attr)
{
	bool lasts = true;

	return told_as(ino, attr, clock_ns(), clock_ns(), &lasts);
}

/* The name is asked for anew once, when the name may stand for another file by now. */
static void names_are_renewed_at_open(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.nlink = 1, .change = 5, .size = 10};

	told(a, &at);
	assert_false(view_renew_name(&a->view, &at, a->silly.is, 1));
	/* written by another client */
	at.change = 6;
	at.size = 20;
	assert_false(view_renew_name(&a->view, &at, a->silly.is, 1));
	/* renamed: ctime alone moves */
	at.ctime.tv_nsec = 1;
	at.change = 8;
	assert_true(view_renew_name(&a->view, &at, a->silly.is, 1));
	assert_false(view_renew_name(&a->view, &at, a->silly.is, 1)); /* the renewal did not help */
	assert_true(view_renew_name(&a->view, &at, a->silly.is, 2));
	told(a, &at);
	assert_false(view_renew_name(&a->view, &at, a->silly.is, 1));
	/* removed by another client, or by this mount */
	at.nlink = 0;
	assert_true(view_renew_name(&a->view, &at, a->silly.is, 1));
	told(a, &at);
	atomic_store(&a->silly.is, true);
	assert_false(view_renew_name(&a->view, &at, a->silly.is, 1));
	inode_table_free(t);
}

/* At open, the server's attributes are compared with those that the kernel believes, including the
 * kernel's own writes, also where the change attribute is too coarse to tell. */
static void the_kernels_size_is_known(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.nlink = 1, .change = 5, .size = 10};

	told(a, &at);
	assert_int_equal(atomic_load(&a->attrs.end), 10);
	assert_true(inode_told_this(a, &at));
	at.change = 6;
	assert_false(inode_told_this(a, &at));
	at.change = 5;
	at.mode = 0600;
	assert_false(inode_told_this(a, &at));
	at.mode = 0;
	at.mtime.tv_sec = 1;
	assert_false(inode_told_this(a, &at));
	at.mtime.tv_sec = 0;
	assert_true(inode_told_this(a, &at));
	at.size = 20;
	assert_false(inode_told_this(a, &at));
	assert_int_equal(atomic_load(&a->attrs.end), 20);
	view_wrote(&a->view, 20, 0);
	assert_true(inode_told_this(a, &at));
	view_wrote(&a->view, 15, 0);
	assert_true(inode_told_this(a, &at));
	/* appended behind the size that the kernel believed: the end on the server is no guess */
	view_wrote(&a->view, 30, 0);
	assert_int_equal(atomic_load(&a->attrs.end), 20);
	inode_table_free(t);
}

/* Two answers are on their way to the kernel: the kernel takes one, and drops the one handled
 * later. */
static void which_of_several_answers_the_kernel_believes_is_not_known(void **state)
{
	unsigned times;
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.nlink = 1, .change = 5, .size = 10};

	assert_false(inode_told_this(a, &at));
	told(a, &at);
	told(a, &at);
	assert_true(inode_told_this(a, &at));
	at.change = 6;
	told(a, &at);
	assert_false(inode_told_this(a, &at));
	told(a, &at);
	assert_false(inode_told_this(a, &at));
	assert_true(view_believes(&a->view));
	times = view_notifies(&a->view);
	view_notified(&a->view, times, 0);
	assert_false(view_believes(&a->view));
	assert_false(inode_told_this(a, &at));
	told(a, &at);
	assert_true(inode_told_this(a, &at));
	inode_table_free(t);
}

static void a_doubt_ends_with_a_notification(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.nlink = 1, .change = 5, .size = 10};
	unsigned times, doubted;

	assert_false(view_still_believes(&a->view, view_times(&a->view)));
	told(a, &at);
	doubted = view_times(&a->view);
	told(a, &at);
	assert_true(view_still_believes(&a->view, doubted));
	times = view_notifies(&a->view);
	view_notified(&a->view, times, 0);
	assert_false(view_still_believes(&a->view, doubted));
	told(a, &at);
	assert_false(view_still_believes(&a->view, doubted));
	assert_true(view_still_believes(&a->view, view_times(&a->view)));
	inode_table_free(t);
}

static void it_is_known_from_which_version_on_the_kernel_was_told(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.change = 5, .size = 10};
	unsigned times;

	assert_true(view_told_from(&a->view, 9, 10)); /* nothing */
	told(a, &at);
	assert_true(view_told_from(&a->view, 5, 10));
	assert_true(view_told_from(&a->view, 4, 3));
	assert_false(view_told_from(&a->view, 5, 11)); /* two changes in one tick of a clock */
	assert_false(view_told_from(&a->view, 6, 10));
	at.change = 7;
	told(a, &at);
	assert_false(
		view_told_from(&a->view, 7, 10)); /* the kernel may have taken the first only */
	assert_true(view_told_from(&a->view, 4, 10));
	assert_true(view_believes(&a->view));
	times = view_notifies(&a->view);
	told(a, &at);
	view_notified(&a->view, times, 0);
	assert_false(view_told_from(&a->view, 7, 10)); /* the time of the forgetting is unknown */
	assert_true(view_believes(&a->view));
	times = view_notifies(&a->view);
	view_notified(&a->view, times, 0);
	told(a, &at);
	assert_true(view_told_from(&a->view, 7, 10));
	inode_table_free(t);
}

/* The known attributes are told, also where they came while an older answer was being made
 * ready. */
static void nothing_older_than_what_is_known_is_told(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10}, newer = at;
	uint64_t asked = clock_ns();

	newer.change = 6;
	note_attr(a, &newer, clock_ns());
	assert_false(told(a, &at));
	assert_true(attrs_newer(&a->attrs, &at, &asked));
	assert_int_equal(at.change, 6);
	assert_true(told(a, &at));
	assert_true(inode_told_this(a, &newer));
	inode_table_free(t);
}

/* A server may show the time of a change before the new size. */
static void of_one_change_what_was_asked_for_last_is_told(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr early = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10};
	struct nfs_attr late = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 20};
	struct nfs_attr at = early;
	uint64_t first = 1000, second = 2000, asked = first;
	bool lasts = true;

	note_attr(a, &late, second);
	note_attr(a, &early, first);
	assert_false(told_as(a, &early, first, clock_ns(), &lasts));
	assert_true(attrs_newer(&a->attrs, &at, &asked));
	assert_int_equal(at.size, 20);
	assert_int_equal(asked, second);
	at.size = 30; /* including data that is written and not yet on the server */
	assert_true(told_as(a, &at, asked, clock_ns(), &lasts));
	/* also where no earlier attributes are believed any more */
	attrs_doubt_rights(&a->attrs);
	at = early;
	asked = first;
	at.change = 4;
	assert_true(attrs_newer(&a->attrs, &at, &asked));
	assert_int_equal(at.size, 20);
	/* an answer to a later request is told as it is */
	at = early;
	asked = second + 1;
	assert_false(attrs_newer(&a->attrs, &at, &asked));
	assert_int_equal(at.size, 10);
	assert_true(told_as(a, &at, asked, clock_ns(), &lasts));
	inode_table_free(t);
}

/* The kernel may take a size from a side answer long afterwards. */
static void sizes_told_in_passing_are_known_until_it_forgets(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10};
	bool lasts = false;
	unsigned times;

	assert_true(view_told_size(&a->view, 20));
	assert_true(told_as(a, &at, clock_ns(), clock_ns(), &lasts));
	assert_true(view_told_size(&a->view, 10));
	assert_false(view_told_size(&a->view, 20));
	assert_false(view_believes(&a->view)); /* the kernel believes nothing */
	/* told before a valid answer, the size is hidden by that answer */
	at.size = 20;
	told(a, &at);
	assert_true(inode_told_this(a, &at));
	assert_false(view_told_size(&a->view, 20));
	assert_true(told_as(a, &at, clock_ns(), clock_ns(), &lasts));
	assert_false(view_told_size(&a->view, 20));
	assert_true(view_believes(&a->view));
	times = view_notifies(&a->view);
	view_notified(&a->view, times, 0);
	assert_true(view_told_size(&a->view, 20));
	/* an answer during the forgetting may come before or after it */
	at.size = 30;
	times = view_notifies(&a->view);
	assert_true(told_as(a, &at, clock_ns(), clock_ns(), &lasts));
	view_notified(&a->view, times, 0);
	assert_false(view_told_size(&a->view, 20));
	assert_true(view_told_size(&a->view, 30));
	inode_table_free(t);
}

/* A size from before a write of the kernel, told after the write, says nothing. */
static void a_write_beside_what_is_told(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10};
	struct told before = told_now(&at, 0);
	bool lasts = true;

	view_wrote(&a->view, 20, 0);
	assert_false(inode_told(a, &before, &lasts));
	assert_int_equal(a->view.size, 20);
	assert_true(told(a, &at));
	assert_int_equal(a->view.size, 10);
	inode_table_free(t);
}

/* An answer to a request from before the forgetting does not reach an inode that the kernel still
 * has. */
static void answers_thrown_away_do_not_count(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10};
	uint64_t born = clock_ns();
	bool lasts = true;
	unsigned times;

	told(a, &at);
	times = view_notifies(&a->view);
	view_notified(&a->view, times, born + 1);
	at.size = 20;
	a->opens.count = 1;
	assert_true(told_as(a, &at, clock_ns(), born, &lasts));
	assert_false(lasts);
	assert_true(view_told_size(&a->view, 30));
	assert_false(view_believes(&a->view));
	lasts = true;
	assert_true(told_as(a, &at, clock_ns(), born + 1, &lasts));
	assert_true(view_believes(&a->view));
	/* the kernel may have made an inode anew since, if it did not hold the inode */
	view_notified(&a->view, times, born + 1);
	a->opens.count = 0;
	assert_true(told_as(a, &at, clock_ns(), born, &lasts));
	assert_true(view_believes(&a->view));
	inode_table_free(t);
}

/* An answer that was under way when attributes were doubted may be older than the doubt. */
static void what_was_doubted_meanwhile_does_not_last(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10};
	uint64_t asked = clock_ns();
	bool lasts = true;

	attrs_doubt_rights(&a->attrs);
	assert_true(told_as(a, &at, asked, clock_ns(), &lasts));
	assert_false(lasts);
	assert_false(inode_told_this(a, &at));
	lasts = true;
	assert_true(told_as(a, &at, clock_ns(), clock_ns(), &lasts));
	assert_true(lasts);
	assert_true(inode_told_this(a, &at));
	/* the kernel may take either of two answers, even if it is not to believe the second */
	at.change = 6;
	lasts = false;
	assert_true(told_as(a, &at, clock_ns(), clock_ns(), &lasts));
	assert_false(inode_told_this(a, &at));
	inode_table_free(t);
}

/* `asked` says how old the attributes are, and `born` whether the kernel still waits for them. */
static void each_time_decides_for_itself(void **state)
{
	enum { NOTIFIED = 10, FROM = 20 };
	static const struct {
		unsigned asked, born;
		bool open, counts, lasts;
	} row[] = {
		{FROM, NOTIFIED, true, true, true},
		{FROM - 1, NOTIFIED, true, true, false},
		{FROM, NOTIFIED - 1, true, false, false},
		{FROM, NOTIFIED - 1, false, true, true},
		{FROM - 1, NOTIFIED - 1, false, true, false},
		{NOTIFIED - 1, FROM, true, true, false},
	};
	const struct nfs_attr attr = {.change = 5, .size = 10};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct attrs known = {.from = CLOCK_BEGIN + FROM};
		struct view v = {.notified_at = CLOCK_BEGIN + NOTIFIED};
		struct told told = {.attr = &attr,
			.asked = CLOCK_BEGIN + row[i].asked,
			.born = CLOCK_BEGIN + row[i].born};
		bool lasts = true, counts;

		attrs_init(&known);
		view_init(&v);
		assert_true(view_told(&v, &known, &told, row[i].open, &lasts, &counts));
		assert_int_equal(counts, row[i].counts);
		assert_int_equal(lasts, row[i].lasts);
		assert_int_equal(view_believes(&v), row[i].lasts);
		/* the kernel takes the answer to its own change in any case */
		known.from = v.notified_at = clock_ns();
		told = told_now(&attr, 0);
		lasts = true;
		assert_true(view_told(&v, &known, &told, row[i].open, &lasts, &counts));
		assert_true(counts && lasts);
		view_finish(&v);
		attrs_finish(&known);
	}
}

/* Each event in each state of the table in view.h. */
enum state { NOTHING, ONE, SEVERAL };
enum event { SAME, OTHER, SAME_IN_PASSING, OTHER_IN_PASSING, FORGETS, TOLD_WHILE_FORGETTING };

static enum state state_of(struct view *v, const struct nfs_attr *last)
{
	return !view_believes(v) ? NOTHING : view_told_this(v, last) ? ONE : SEVERAL;
}

static void tell(struct view *v, struct attrs *known, const struct nfs_attr *attr, bool lasts)
{
	struct told told = told_now(attr, 0);
	bool counts;

	told.writes = v->writes;
	assert_true(view_told(v, known, &told, false, &lasts, &counts));
	assert_true(counts);
}

static void play(enum state before, enum event e, enum state after)
{
	const struct nfs_attr at[] = {{.change = 5, .size = 10}, {.change = 6, .size = 20}};
	const struct nfs_attr *last = &at[before == SEVERAL];
	bool other = e == OTHER || e == OTHER_IN_PASSING;
	const struct nfs_attr *now = other ? &at[before != SEVERAL] : last;
	struct attrs known = {.touched = 0};
	struct view v = {.change = 0};
	unsigned times;

	attrs_init(&known);
	view_init(&v);
	if (before != NOTHING)
		tell(&v, &known, &at[0], true);
	if (before == SEVERAL)
		tell(&v, &known, &at[1], true);
	assert_int_equal(state_of(&v, last), before);
	times = e >= FORGETS ? view_notifies(&v) : 0;
	if (e != FORGETS)
		tell(&v, &known, now, e != SAME_IN_PASSING && e != OTHER_IN_PASSING);
	if (e >= FORGETS)
		view_notified(&v, times, 0);
	assert_int_equal(state_of(&v, now), after);
	view_finish(&v);
	attrs_finish(&known);
}

static void events_lead_from_state_to_state(void **state)
{
	static const enum state after[][3] = {
		[SAME] = {ONE, ONE, SEVERAL},
		[OTHER] = {ONE, SEVERAL, SEVERAL},
		[SAME_IN_PASSING] = {NOTHING, ONE, SEVERAL},
		[OTHER_IN_PASSING] = {NOTHING, SEVERAL, SEVERAL},
		[FORGETS] = {NOTHING, NOTHING, NOTHING},
		[TOLD_WHILE_FORGETTING] = {SEVERAL, SEVERAL, SEVERAL},
	};

	for (enum event e = SAME; e <= TOLD_WHILE_FORGETTING; e++)
		for (enum state before = NOTHING; before <= SEVERAL; before++)
			play(before, e, after[e][before]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_renewed_at_open),
		cmocka_unit_test(the_kernels_size_is_known),
		cmocka_unit_test(which_of_several_answers_the_kernel_believes_is_not_known),
		cmocka_unit_test(it_is_known_from_which_version_on_the_kernel_was_told),
		cmocka_unit_test(a_doubt_ends_with_a_notification),
		cmocka_unit_test(nothing_older_than_what_is_known_is_told),
		cmocka_unit_test(of_one_change_what_was_asked_for_last_is_told),
		cmocka_unit_test(sizes_told_in_passing_are_known_until_it_forgets),
		cmocka_unit_test(a_write_beside_what_is_told),
		cmocka_unit_test(answers_thrown_away_do_not_count),
		cmocka_unit_test(what_was_doubted_meanwhile_does_not_last),
		cmocka_unit_test(each_time_decides_for_itself),
		cmocka_unit_test(events_lead_from_state_to_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
