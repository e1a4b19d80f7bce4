/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/inode_attr.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "inode-table.h"
#include "transport/clock.h"

static void attributes_that_stay_are_believed_longer(void **state)
{
	struct inode_table *t = table();
	struct inode *ino = get(t, 1);

	assert_int_equal(inode_attr_timeout(ino, 5, 7, 7), 7);
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 10), 3);
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 10), 3); /* within the kept time */
	ino->timeout_at -= 3000000000u;
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 10), 6);
	ino->timeout_at -= 5000000000u;
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 10), 6);
	ino->timeout_at -= 1000000000u;
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 10), 10);
	ino->timeout_at -= 60000000000u;
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 10), 10);
	assert_int_equal(inode_attr_timeout(ino, 6, 3, 10), 3);
	assert_int_equal(inode_attr_timeout(ino, 7, 0, 10), 0);
	assert_int_equal(inode_attr_timeout(ino, 7, 0, 10), 1);
	inode_table_free(t);
}

/* In the answer of any operation. */
static void attributes_that_change_are_believed_for_the_shortest(void **state)
{
	struct nfs_attr attr = {.type = NFS_REG, .change = 5};
	struct inode_table *t = table();
	struct inode *ino = get(t, 1);

	inode_note_attr(ino, &attr, clock_ns(), 0);
	inode_attr_timeout(ino, 5, 3, 60);
	ino->timeout_at -= 3000000000u;
	assert_int_equal(inode_attr_timeout(ino, 5, 3, 60), 6);
	assert_int_equal(inode_timeout(ino, 3, 60), 6);
	attr.change++;
	inode_note_attr(ino, &attr, clock_ns(), 0);
	assert_int_equal(inode_timeout(ino, 3, 60), 3);
	assert_int_equal(inode_attr_timeout(ino, 6, 3, 60), 3);
	inode_table_free(t);
}

static bool note(struct inode *dir, uint64_t change, uint64_t seen)
{
	struct nfs_attr attr = {.type = NFS_DIR, .mode = 0755, .change = change};

	/* as when a name is made: mtime and ctime move together */
	attr.mtime.tv_nsec = attr.ctime.tv_nsec = (long)change;
	return inode_note_attr(dir, &attr, seen, 0);
}

static void rights_may_change_without_a_sign(void **state)
{
	struct nfs_attr attr = {.type = NFS_DIR, .mode = 0755, .change = 5};
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);

	assert_false(inode_note_attr(dir, &attr, clock_ns(), 0));
	attr.ctime.tv_nsec = attr.mtime.tv_nsec = 1; /* a name */
	inode_touch(dir);
	assert_false(inode_note_attr(dir, &attr, clock_ns(), 0));
	/* the time of change alone: by this mount, which knows the change, or by an ACL */
	attr.ctime.tv_nsec = 2;
	inode_touch(dir);
	assert_false(inode_note_attr(dir, &attr, clock_ns(), 0));
	attr.ctime.tv_nsec = 3;
	assert_true(inode_note_attr(dir, &attr, clock_ns(), 0));
	attr.mode = 0711; /* every user keeps the right to search */
	assert_false(inode_note_attr(dir, &attr, clock_ns(), 0));
	inode_touch(dir);
	attr.mode = 0700;
	assert_true(inode_note_attr(dir, &attr, clock_ns(), 0));
	inode_touch(dir);
	attr.uid = 7;
	assert_true(inode_note_attr(dir, &attr, clock_ns(), 0));
	inode_table_free(t);
}

static void names_end_with_their_directorys_version(void **state)
{
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);
	uint64_t asked = clock_ns();

	assert_false(note(dir, 5, asked)); /* the first version of the directory */
	assert_true(inode_name_until(dir, asked, 3, 10) == asked + 3000000000u);
	/* as long as the version is the same, earlier answers stay true */
	assert_false(note(dir, 5, asked + 10));
	assert_true(inode_name_until(dir, asked, 3, 10) == asked + 10 + 3000000000u);
	/* an answer to an earlier request is no news */
	assert_false(note(dir, 4, asked + 5));
	/* another client */
	asked = clock_ns();
	assert_true(note(dir, 6, asked));
	assert_true(inode_version(dir) == 6);
	assert_true(inode_name_until(dir, asked, 3, 10) == 0);
	assert_true(inode_name_until(dir, clock_ns(), 3, 10) > asked);
	inode_doubt_names(dir);
	assert_true(inode_name_until(dir, asked + 1, 3, 10) == 0);
	assert_true(inode_name_until(dir, 0, 3, 10) == 0);
	inode_table_free(t);
}

static void our_own_names_are_nobody_elses_change(void **state)
{
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);
	uint64_t asked = clock_ns();

	assert_false(note(dir, 5, asked));
	inode_naming_begin(dir);
	assert_false(note(dir, 6, clock_ns())); /* the change may be by this mount already */
	inode_naming_begin(dir);
	inode_naming_end(dir);
	asked = clock_ns();
	inode_naming_end(dir);
	assert_true(inode_name_until(dir, asked, 3, 10) == 0);
	assert_false(note(dir, 7, asked)); /* asked for before the end of the naming */
	assert_false(note(dir, 7, clock_ns()));
	assert_true(inode_version(dir) == 7);
	assert_true(inode_name_until(dir, clock_ns(), 3, 10) > 0);
	assert_true(note(dir, 8, clock_ns()));
	inode_table_free(t);
}

/* The server has just told attr. May the kernel believe attr? */
static bool told(struct inode *ino, const struct nfs_attr *attr)
{
	bool lasts = true;

	return inode_told(ino, attr, clock_ns(), clock_ns(), 0, ino->told_writes, &lasts);
}

/* The name is asked for anew once, when the name may stand for another file by now. */
static void names_are_renewed_at_open(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.nlink = 1, .change = 5, .size = 10};

	told(a, &at);
	assert_false(inode_renew_name(a, &at, 1));
	/* written by another client */
	at.change = 6;
	at.size = 20;
	assert_false(inode_renew_name(a, &at, 1));
	/* renamed: ctime alone moves */
	at.ctime.tv_nsec = 1;
	at.change = 8;
	assert_true(inode_renew_name(a, &at, 1));
	assert_false(inode_renew_name(a, &at, 1)); /* the renewal did not help */
	assert_true(inode_renew_name(a, &at, 2));
	told(a, &at);
	assert_false(inode_renew_name(a, &at, 1));
	/* removed by another client, or by this mount */
	at.nlink = 0;
	assert_true(inode_renew_name(a, &at, 1));
	told(a, &at);
	atomic_store(&a->is_silly, true);
	assert_false(inode_renew_name(a, &at, 1));
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
	assert_int_equal(atomic_load(&a->end), 10);
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
	assert_int_equal(atomic_load(&a->end), 20);
	inode_told_end(a, 20, 0);
	assert_true(inode_told_this(a, &at));
	inode_told_end(a, 15, 0);
	assert_true(inode_told_this(a, &at));
	/* appended behind the size that the kernel believed: the end on the server is no guess */
	inode_told_end(a, 30, 0);
	assert_int_equal(atomic_load(&a->end), 20);
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
	assert_true(inode_must_forget(a));
	times = inode_forgets(a);
	inode_forgot(a, times, 0);
	assert_false(inode_must_forget(a));
	assert_false(inode_told_this(a, &at));
	told(a, &at);
	assert_true(inode_told_this(a, &at));
	inode_table_free(t);
}

static void expect_known(struct inode *ino, uint64_t change)
{
	struct nfs_attr attr;
	uint64_t seen;

	assert_int_equal(inode_known_attr(ino, 1, &attr, &seen), change != 0);
	if (change)
		assert_int_equal(attr.change, change);
}

static void it_is_known_from_which_version_on_the_kernel_was_told(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.change = 5, .size = 10};
	unsigned times;

	assert_true(inode_told_from(a, 9, 10)); /* nothing */
	told(a, &at);
	assert_true(inode_told_from(a, 5, 10));
	assert_true(inode_told_from(a, 4, 3));
	assert_false(inode_told_from(a, 5, 11)); /* two changes in one tick of a clock */
	assert_false(inode_told_from(a, 6, 10));
	at.change = 7;
	told(a, &at);
	assert_false(inode_told_from(a, 7, 10)); /* the kernel may have taken the first only */
	assert_true(inode_told_from(a, 4, 10));
	assert_true(inode_must_forget(a));
	times = inode_forgets(a);
	told(a, &at);
	inode_forgot(a, times, 0);
	assert_false(inode_told_from(a, 7, 10)); /* the time of the forgetting is unknown */
	assert_true(inode_must_forget(a));
	times = inode_forgets(a);
	inode_forgot(a, times, 0);
	told(a, &at);
	assert_true(inode_told_from(a, 7, 10));
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
	inode_note_attr(a, &newer, clock_ns(), 0);
	assert_false(told(a, &at));
	assert_true(inode_newer_attr(a, &at, &asked));
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

	inode_note_attr(a, &late, second, 0);
	inode_note_attr(a, &early, first, 0);
	assert_false(inode_told(a, &early, first, clock_ns(), 0, a->told_writes, &lasts));
	assert_true(inode_newer_attr(a, &at, &asked));
	assert_int_equal(at.size, 20);
	assert_int_equal(asked, second);
	at.size = 30; /* including data that is written and not yet on the server */
	assert_true(inode_told(a, &at, asked, clock_ns(), 0, a->told_writes, &lasts));
	/* also where no earlier attributes are believed any more */
	inode_doubt(a);
	at = early;
	asked = first;
	at.change = 4;
	assert_true(inode_newer_attr(a, &at, &asked));
	assert_int_equal(at.size, 20);
	/* an answer to a later request is told as it is */
	at = early;
	asked = second + 1;
	assert_false(inode_newer_attr(a, &at, &asked));
	assert_int_equal(at.size, 10);
	assert_true(inode_told(a, &at, asked, clock_ns(), 0, a->told_writes, &lasts));
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

	assert_true(inode_told_size(a, 20));
	assert_true(inode_told(a, &at, clock_ns(), clock_ns(), 0, a->told_writes, &lasts));
	assert_true(inode_told_size(a, 10));
	assert_false(inode_told_size(a, 20));
	assert_false(inode_must_forget(a)); /* the kernel believes nothing */
	/* told before a valid answer, the size is hidden by that answer */
	at.size = 20;
	told(a, &at);
	assert_true(inode_told_this(a, &at));
	assert_false(inode_told_size(a, 20));
	assert_true(inode_told(a, &at, clock_ns(), clock_ns(), 0, a->told_writes, &lasts));
	assert_false(inode_told_size(a, 20));
	assert_true(inode_must_forget(a));
	times = inode_forgets(a);
	inode_forgot(a, times, 0);
	assert_true(inode_told_size(a, 20));
	/* an answer during the forgetting may come before or after it */
	at.size = 30;
	times = inode_forgets(a);
	assert_true(inode_told(a, &at, clock_ns(), clock_ns(), 0, a->told_writes, &lasts));
	inode_forgot(a, times, 0);
	assert_false(inode_told_size(a, 20));
	assert_true(inode_told_size(a, 30));
	inode_table_free(t);
}

/* A size from before a write of the kernel, told after the write, says nothing. */
static void a_write_beside_what_is_told(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 5, .size = 10};
	unsigned writes = a->told_writes;
	bool lasts = true;

	inode_told_end(a, 20, 0);
	assert_false(inode_told(a, &at, clock_ns(), clock_ns(), 0, writes, &lasts));
	assert_int_equal(a->told_size, 20);
	assert_true(told(a, &at));
	assert_int_equal(a->told_size, 10);
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
	times = inode_forgets(a);
	inode_forgot(a, times, born + 1);
	at.size = 20;
	a->nopen = 1;
	assert_true(inode_told(a, &at, clock_ns(), born, 0, a->told_writes, &lasts));
	assert_false(lasts);
	assert_true(inode_told_size(a, 30));
	assert_false(inode_must_forget(a));
	lasts = true;
	assert_true(inode_told(a, &at, clock_ns(), born + 1, 0, a->told_writes, &lasts));
	assert_true(inode_must_forget(a));
	/* the kernel may have made an inode anew since, if it did not hold the inode */
	inode_forgot(a, times, born + 1);
	a->nopen = 0;
	assert_true(inode_told(a, &at, clock_ns(), born, 0, a->told_writes, &lasts));
	assert_true(inode_must_forget(a));
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

	inode_doubt(a);
	assert_true(inode_told(a, &at, asked, clock_ns(), 0, a->told_writes, &lasts));
	assert_false(lasts);
	assert_false(inode_told_this(a, &at));
	lasts = true;
	assert_true(inode_told(a, &at, clock_ns(), clock_ns(), 0, a->told_writes, &lasts));
	assert_true(lasts);
	assert_true(inode_told_this(a, &at));
	/* the kernel may take either of two answers, even if it is not to believe the second */
	at.change = 6;
	lasts = false;
	assert_true(inode_told(a, &at, clock_ns(), clock_ns(), 0, a->told_writes, &lasts));
	assert_false(inode_told_this(a, &at));
	inode_table_free(t);
}

/* The server may answer a later request first. */
static void of_answers_that_overtake_each_other_the_newest_is_known(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1);
	struct nfs_attr at = {.type = NFS_REG, .nlink = 1, .change = 6};
	uint64_t first = clock_ns(), second = clock_ns() + 1;

	while (clock_ns() <= second)
		;
	inode_note_attr(a, &at, first, 0);
	assert_true(inode_attr_is_past(a, first - 1));
	assert_false(inode_attr_is_past(a, first));
	at.change = 5;
	inode_note_attr(a, &at, second, 0);
	expect_known(a, 6);
	at.change = 7;
	inode_note_attr(a, &at, first - 1, 0);
	expect_known(a, 7);
	/* attributes asked for when others are known are newer, for any change number */
	at.change = 3;
	inode_note_attr(a, &at, clock_ns() + 1, 0);
	expect_known(a, 3);
	/* an answer to a request from before the doubt is not believed */
	inode_doubt(a);
	at.change = 8;
	inode_note_attr(a, &at, second, 0);
	expect_known(a, 0);
	assert_true(inode_attr_is_past(a, second));
	inode_note_attr(a, &at, clock_ns() + 1, 0);
	expect_known(a, 8);
	inode_table_free(t);
}

/* Only a directory: a file has other names, or a silly one. */
static void a_directory_that_was_removed_has_no_links(void **state)
{
	struct inode_table *t = table();
	struct nfs_attr attr = {.type = NFS_DIR, .fileid = 7, .nlink = 3, .mode = 0750}, got;
	struct nfs_fh fh = fh_of(7);
	struct inode *dir = inode_lookup(t, &fh, &attr), *file = get(t, 1);

	assert_false(inode_removed_attr(dir, &got));
	inode_note_removed(dir);
	inode_note_removed(file);
	inode_doubt(dir);
	assert_true(inode_removed_attr(dir, &got));
	assert_int_equal(got.nlink, 0);
	assert_int_equal(got.mode, 0750);
	assert_int_equal(got.fileid, 7);
	assert_false(inode_removed_attr(file, &got));
	inode_table_free(t);
}

/* A change that an answer has told before the answer's name is no reason to doubt that name. */
static void a_name_is_as_of_the_change_that_came_with_it(void **state)
{
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);
	struct nfs_attr at = {.type = NFS_DIR, .change = 5};
	uint64_t seen = clock_ns();

	inode_note_attr(dir, &at, seen, 0);
	assert_int_equal(inode_name_seen(dir, 5, seen), seen);
	seen = clock_ns();
	at.change = 6;
	assert_true(inode_note_attr(dir, &at, seen, 0)); /* another client */
	assert_int_equal(inode_name_until(dir, seen, 60, 60), 0);
	assert_true(inode_name_until(dir, inode_name_seen(dir, 6, seen), 60, 60) > clock_ns());
	/* neither a name from before the version, nor a name that this mount may have changed
	 * meanwhile */
	assert_int_equal(inode_name_seen(dir, 5, seen), seen);
	inode_naming_begin(dir);
	assert_int_equal(inode_name_seen(dir, 6, seen), seen);
	inode_naming_end(dir);
	assert_int_equal(inode_name_seen(dir, 6, seen), seen);
	inode_table_free(t);
}

static void what_is_forgotten_is_not_taken_for_older_than_it_was(void **state)
{
	struct inode_table *t = table();
	struct inode *a = get(t, 1), *b = get(t, 2);
	struct nfs_attr at = {.type = NFS_REG};
	struct nfs_fh of_a = fh_of(1), of_b = fh_of(2);
	uint64_t since = clock_ns();

	assert_true(inode_is_older(a, since));
	inode_note_attr(a, &at, since, 0);
	assert_true(inode_is_older(a, since));
	assert_false(inode_is_older(a, since - 1));
	inode_forget(t, a, 1);
	assert_false(inode_left_since(t, &of_a, since));
	assert_true(inode_left_since(t, &of_a, since - 1));
	inode_touch_data(b);
	assert_false(inode_is_older(b, since));
	since = clock_ns();
	assert_true(inode_is_older(b, since));
	inode_forget(t, b, 1); /* data written to the file may still be on its way */
	assert_true(inode_left_since(t, &of_b, since));
	inode_table_free(t);
}

static void looks_count_together_for_a_while(void **state)
{
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);

	assert_int_equal(inode_looked(dir, "a"), 1);
	assert_int_equal(inode_looked(dir, "a"), 1);
	assert_int_equal(inode_looked(dir, "b"), 2);
	assert_int_equal(inode_looks(dir, false), 2);
	assert_int_equal(inode_looks(dir, true), 1);
	assert_int_equal(inode_looks(dir, true), 0);
	assert_int_equal(inode_looks(dir, true), 0);
	assert_int_equal(inode_looked(dir, "b"), 1);
	dir->looks_at -= 6 * NSEC_PER_SEC;
	assert_int_equal(inode_looked(dir, "c"), 1);
	inode_leave_unlisted(dir, 60 * NSEC_PER_SEC);
	assert_int_equal(inode_looked(dir, "d"), 0);
	dir->unlisted_until = 0;
	assert_int_equal(inode_looked(dir, "e"), 3);
	inode_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_that_stay_are_believed_longer),
		cmocka_unit_test(attributes_that_change_are_believed_for_the_shortest),
		cmocka_unit_test(names_end_with_their_directorys_version),
		cmocka_unit_test(rights_may_change_without_a_sign),
		cmocka_unit_test(our_own_names_are_nobody_elses_change),
		cmocka_unit_test(names_are_renewed_at_open),
		cmocka_unit_test(a_directory_that_was_removed_has_no_links),
		cmocka_unit_test(the_kernels_size_is_known),
		cmocka_unit_test(which_of_several_answers_the_kernel_believes_is_not_known),
		cmocka_unit_test(it_is_known_from_which_version_on_the_kernel_was_told),
		cmocka_unit_test(nothing_older_than_what_is_known_is_told),
		cmocka_unit_test(of_one_change_what_was_asked_for_last_is_told),
		cmocka_unit_test(sizes_told_in_passing_are_known_until_it_forgets),
		cmocka_unit_test(a_write_beside_what_is_told),
		cmocka_unit_test(answers_thrown_away_do_not_count),
		cmocka_unit_test(what_was_doubted_meanwhile_does_not_last),
		cmocka_unit_test(of_answers_that_overtake_each_other_the_newest_is_known),
		cmocka_unit_test(a_name_is_as_of_the_change_that_came_with_it),
		cmocka_unit_test(what_is_forgotten_is_not_taken_for_older_than_it_was),
		cmocka_unit_test(looks_count_together_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
