/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/dirnames: until when answers about names are believed.
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

static bool note(struct inode *dir, uint64_t change, uint64_t seen)
{
	struct nfs_attr attr = {.type = NFS_DIR, .mode = 0755, .change = change};

	/* as when a name is made: mtime and ctime move together */
	attr.mtime.tv_nsec = attr.ctime.tv_nsec = (long)change;
	return note_attr(dir, &attr, seen);
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
	assert_true(dirnames_version(&dir->dirnames) == 6);
	assert_true(inode_name_until(dir, asked, 3, 10) == 0);
	assert_true(inode_name_until(dir, clock_ns(), 3, 10) > asked);
	dirnames_doubt(&dir->dirnames);
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
	dirnames_naming_begin(&dir->dirnames);
	assert_false(note(dir, 6, clock_ns())); /* the change may be by this mount already */
	dirnames_naming_begin(&dir->dirnames);
	dirnames_naming_end(&dir->dirnames, &dir->attrs);
	asked = clock_ns();
	dirnames_naming_end(&dir->dirnames, &dir->attrs);
	assert_true(inode_name_until(dir, asked, 3, 10) == 0);
	assert_false(note(dir, 7, asked)); /* asked for before the end of the naming */
	assert_false(note(dir, 7, clock_ns()));
	assert_true(dirnames_version(&dir->dirnames) == 7);
	assert_true(inode_name_until(dir, clock_ns(), 3, 10) > 0);
	assert_true(note(dir, 8, clock_ns()));
	inode_table_free(t);
}

/* A change that an answer has told before the answer's name is no reason to doubt that name. */
static void a_name_is_as_of_the_change_that_came_with_it(void **state)
{
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);
	struct nfs_attr at = {.type = NFS_DIR, .change = 5};
	uint64_t seen = clock_ns();

	note_attr(dir, &at, seen);
	assert_int_equal(dirnames_as_of(&dir->dirnames, &dir->attrs, 5, seen), seen);
	seen = clock_ns();
	at.change = 6;
	assert_true(note_attr(dir, &at, seen)); /* another client */
	assert_int_equal(inode_name_until(dir, seen, 60, 60), 0);
	assert_true(inode_name_until(dir, dirnames_as_of(&dir->dirnames, &dir->attrs, 6, seen), 60,
			    60) > clock_ns());
	/* neither a name from before the version, nor a name that this mount may have changed
	 * meanwhile */
	assert_int_equal(dirnames_as_of(&dir->dirnames, &dir->attrs, 5, seen), seen);
	dirnames_naming_begin(&dir->dirnames);
	assert_int_equal(dirnames_as_of(&dir->dirnames, &dir->attrs, 6, seen), seen);
	dirnames_naming_end(&dir->dirnames, &dir->attrs);
	assert_int_equal(dirnames_as_of(&dir->dirnames, &dir->attrs, 6, seen), seen);
	inode_table_free(t);
}

static void looks_count_together_for_a_while(void **state)
{
	struct inode_table *t = table();
	struct inode *dir = inode_table_root(t);

	assert_int_equal(dirnames_looked(&dir->dirnames, "a"), 1);
	assert_int_equal(dirnames_looked(&dir->dirnames, "a"), 1);
	assert_int_equal(dirnames_looked(&dir->dirnames, "b"), 2);
	assert_int_equal(dirnames_looks(&dir->dirnames, false), 2);
	assert_int_equal(dirnames_looks(&dir->dirnames, true), 1);
	assert_int_equal(dirnames_looks(&dir->dirnames, true), 0);
	assert_int_equal(dirnames_looks(&dir->dirnames, true), 0);
	assert_int_equal(dirnames_looked(&dir->dirnames, "b"), 1);
	dir->dirnames.looks_at -= 6 * NSEC_PER_SEC;
	assert_int_equal(dirnames_looked(&dir->dirnames, "c"), 1);
	dirnames_leave_unlisted(&dir->dirnames, 60 * NSEC_PER_SEC);
	assert_int_equal(dirnames_looked(&dir->dirnames, "d"), 0);
	dir->dirnames.unlisted_until = 0;
	assert_int_equal(dirnames_looked(&dir->dirnames, "e"), 3);
	inode_table_free(t);
}

/* Each event of the table in dirnames.h: is an answer from before it still true? */
enum event { SAME_VERSION, OTHER_VERSION, OWN_VERSION, DOUBT, VERSION_WHILE_NAMING, FOREIGN };

static bool happens(enum event e, struct dirnames *d, struct attrs *own)
{
	switch (e) {
	case DOUBT:
		dirnames_doubt(d);
		return false;
	case FOREIGN:
		dirnames_note_foreign(d);
		return false;
	case OWN_VERSION:
		attrs_touch(own);
		while (clock_ns() <= attrs_touched(own))
			;
		break;
	case VERSION_WHILE_NAMING:
		dirnames_naming_begin(d);
		break;
	default:
		break;
	}
	return dirnames_note(d, own, e == SAME_VERSION ? 5 : 6, clock_ns(), false);
}

static void answers_are_true_until_another_client_is_seen(void **state)
{
	static const struct {
		bool is_true, distrusts; /* the answer; dirnames_note() */
	} after[] = {
		[SAME_VERSION] = {true, false},
		[OTHER_VERSION] = {false, true},
		[OWN_VERSION] = {false, false},
		[DOUBT] = {false, false},
		[VERSION_WHILE_NAMING] = {true, false},
		[FOREIGN] = {true, false},
	};

	for (enum event e = SAME_VERSION; e <= FOREIGN; e++) {
		struct attrs own = {.touched = 0};
		struct dirnames d = {.naming = 0};
		uint64_t seen;

		attrs_init(&own);
		dirnames_init(&d, 5);
		assert_false(dirnames_note(&d, &own, 5, clock_ns(), false));
		seen = clock_ns();
		assert_true(dirnames_until(&d, &own, seen, 60) > seen);
		while (clock_ns() <= seen)
			;
		assert_int_equal(happens(e, &d, &own), after[e].distrusts);
		assert_int_equal(dirnames_until(&d, &own, seen, 60) != 0, after[e].is_true);
		assert_int_equal(dirnames_is_shared(&d, NSEC_PER_SEC * 60),
			e == OTHER_VERSION || e == FOREIGN);
		dirnames_finish(&d);
		attrs_finish(&own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_end_with_their_directorys_version),
		cmocka_unit_test(our_own_names_are_nobody_elses_change),
		cmocka_unit_test(a_name_is_as_of_the_change_that_came_with_it),
		cmocka_unit_test(looks_count_together_for_a_while),
		cmocka_unit_test(answers_are_true_until_another_client_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
