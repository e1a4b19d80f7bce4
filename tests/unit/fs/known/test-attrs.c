/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/attrs: attributes as the server told them, and rights.
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

static void expect_known(struct inode *ino, uint64_t change)
{
	struct nfs_attr attr;
	uint64_t seen;

	assert_int_equal(inode_known_attr(ino, 1, &attr, &seen), change != 0);
	if (change)
		assert_int_equal(attr.change, change);
}

static void attributes_that_stay_are_believed_longer(void **state)
{
	struct inode_table *t = table();
	struct inode *ino = get(t, 1);

	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 7, 7), 7);
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 10), 3);
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 10), 3); /* within the kept time */
	ino->attrs.timeout_at -= 3000000000u;
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 10), 6);
	ino->attrs.timeout_at -= 5000000000u;
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 10), 6);
	ino->attrs.timeout_at -= 1000000000u;
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 10), 10);
	ino->attrs.timeout_at -= 60000000000u;
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 10), 10);
	assert_int_equal(attrs_next_timeout(&ino->attrs, 6, 3, 10), 3);
	assert_int_equal(attrs_next_timeout(&ino->attrs, 7, 0, 10), 0);
	assert_int_equal(attrs_next_timeout(&ino->attrs, 7, 0, 10), 1);
	inode_table_free(t);
}

/* In the answer of any operation. */
static void attributes_that_change_are_believed_for_the_shortest(void **state)
{
	struct nfs_attr attr = {.type = NFS_REG, .change = 5};
	struct inode_table *t = table();
	struct inode *ino = get(t, 1);

	note_attr(ino, &attr, clock_ns());
	attrs_next_timeout(&ino->attrs, 5, 3, 60);
	ino->attrs.timeout_at -= 3000000000u;
	assert_int_equal(attrs_next_timeout(&ino->attrs, 5, 3, 60), 6);
	assert_int_equal(attrs_timeout(&ino->attrs, 3, 60), 6);
	attr.change++;
	note_attr(ino, &attr, clock_ns());
	assert_int_equal(attrs_timeout(&ino->attrs, 3, 60), 3);
	assert_int_equal(attrs_next_timeout(&ino->attrs, 6, 3, 60), 3);
	inode_table_free(t);
}

static void rights_may_change_without_a_sign(void **state)
{
	struct nfs_attr attr = {.type = NFS_DIR, .mode = 0755, .change = 5};
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);

	assert_false(note_attr(dir, &attr, clock_ns()));
	attr.ctime.tv_nsec = attr.mtime.tv_nsec = 1; /* a name */
	inode_touch(dir);
	assert_false(note_attr(dir, &attr, clock_ns()));
	/* the time of change alone: by this mount, which knows the change, or by an ACL */
	attr.ctime.tv_nsec = 2;
	inode_touch(dir);
	assert_false(note_attr(dir, &attr, clock_ns()));
	attr.ctime.tv_nsec = 3;
	assert_true(note_attr(dir, &attr, clock_ns()));
	attr.mode = 0711; /* every user keeps the right to search */
	assert_false(note_attr(dir, &attr, clock_ns()));
	inode_touch(dir);
	attr.mode = 0700;
	assert_true(note_attr(dir, &attr, clock_ns()));
	inode_touch(dir);
	attr.uid = 7;
	assert_true(note_attr(dir, &attr, clock_ns()));
	inode_table_free(t);
}

/* A change of ctime may be a change of an ACL, unless this mount alone has changed the file. */
static void rights_stay_while_no_other_client_can_change_the_file(void **state)
{
	enum { ASKED = 10 };
	static const struct {
		unsigned alone;
		bool stay;
	} row[] = {{0, false}, {ASKED + 1, false}, {ASKED, true}, {ASKED - 1, true}};
	struct rpc_cred cred = {.uid = 1};
	uint32_t may;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct nfs_attr attr = {.type = NFS_REG, .change = 5};
		struct told told = {.attr = &attr, .asked = ASKED};
		struct attrs a = {.touched = 0};

		attrs_init(&a);
		attrs_note(&a, &told);
		attrs_note_access(&a, &cred, NFS_ACCESS_READ, NFS_ACCESS_READ, ASKED);
		attr.ctime.tv_nsec = 1;
		attr.change = 6;
		told.asked = clock_ns() + 1;
		told.alone = row[i].alone;
		attrs_note(&a, &told);
		assert_int_equal(
			attrs_known_access(&a, &cred, NFS_ACCESS_READ, 0, &may), row[i].stay);
		attrs_finish(&a);
	}
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
	note_attr(a, &at, first);
	assert_true(attrs_is_past(&a->attrs, first - 1));
	assert_false(attrs_is_past(&a->attrs, first));
	at.change = 5;
	note_attr(a, &at, second);
	expect_known(a, 6);
	at.change = 7;
	note_attr(a, &at, first - 1);
	expect_known(a, 7);
	/* attributes asked for when others are known are newer, for any change number */
	at.change = 3;
	note_attr(a, &at, clock_ns() + 1);
	expect_known(a, 3);
	/* an answer to a request from before the doubt is not believed */
	attrs_doubt_rights(&a->attrs);
	at.change = 8;
	note_attr(a, &at, second);
	expect_known(a, 0);
	assert_true(attrs_is_past(&a->attrs, second));
	note_attr(a, &at, clock_ns() + 1);
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

	assert_false(attrs_removed(&dir->attrs, &got));
	inode_note_removed(dir);
	inode_note_removed(file);
	attrs_doubt_rights(&dir->attrs);
	assert_true(attrs_removed(&dir->attrs, &got));
	assert_int_equal(got.nlink, 0);
	assert_int_equal(got.mode, 0750);
	assert_int_equal(got.fileid, 7);
	assert_false(attrs_removed(&file->attrs, &got));
	inode_table_free(t);
}

/* Each event in each state of the table in attrs.h. */
enum state { NONE, KNOWN, TOUCHED, DOUBTED };

static enum state state_of(struct attrs *a)
{
	struct nfs_attr attr;
	uint64_t seen;

	if (attrs_known(a, 1, &attr, &seen))
		return KNOWN;
	return a->seen ? TOUCHED : attrs_has(a) ? DOUBTED : NONE;
}

/* As if the server had been asked an instant ago. */
static void note_now(struct attrs *a)
{
	const struct nfs_attr attr = {.type = NFS_REG, .change = 9};
	uint64_t begun = clock_ns();

	while (clock_ns() <= begun + 1)
		;
	attrs_note(a, &(struct told){.attr = &attr, .asked = clock_ns()});
}

static void touch_now(struct attrs *a)
{
	while (clock_ns() <= a->seen)
		;
	attrs_touch(a);
}

static void events_lead_from_state_to_state(void **state)
{
	static void (*const to[])(struct attrs *) = {
		[KNOWN] = note_now, [TOUCHED] = touch_now, [DOUBTED] = attrs_doubt};
	static const struct {
		void (*event)(struct attrs *);
		enum state after[4]; /* by the state before */
	} table[] = {
		{note_now, {KNOWN, KNOWN, KNOWN, KNOWN}},
		{touch_now, {NONE, TOUCHED, TOUCHED, DOUBTED}},
		{attrs_doubt, {DOUBTED, DOUBTED, DOUBTED, DOUBTED}},
		{attrs_doubt_rights, {DOUBTED, DOUBTED, DOUBTED, DOUBTED}},
	};

	for (unsigned e = 0; e < sizeof(table) / sizeof(*table); e++)
		for (enum state before = NONE; before <= DOUBTED; before++) {
			struct attrs a = {.touched = 0};

			attrs_init(&a);
			if (before == TOUCHED)
				note_now(&a);
			if (before != NONE)
				to[before](&a);
			assert_int_equal(state_of(&a), before);
			table[e].event(&a);
			assert_int_equal(state_of(&a), table[e].after[before]);
			attrs_finish(&a);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_that_stay_are_believed_longer),
		cmocka_unit_test(attributes_that_change_are_believed_for_the_shortest),
		cmocka_unit_test(rights_stay_while_no_other_client_can_change_the_file),
		cmocka_unit_test(rights_may_change_without_a_sign),
		cmocka_unit_test(of_answers_that_overtake_each_other_the_newest_is_known),
		cmocka_unit_test(a_directory_that_was_removed_has_no_links),
		cmocka_unit_test(events_lead_from_state_to_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
