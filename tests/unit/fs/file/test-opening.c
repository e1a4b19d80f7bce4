/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/file/opening.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fs/file/opening.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"

static struct fs *fs;
static struct inode *ino;
static int opened;

static int setup(void **state)
{
	fake_knobs = (struct fake_knobs){0};
	fs = fs_fixture_new();
	ino = inode_table_root(fs->inodes);
	opened = 0;
	return 0;
}

static int teardown(void **state)
{
	fs = fs_fixture_free(fs);
	return 0;
}

/* Makes a request about ino. */
static struct request *about_ino(void)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 1};
	struct request *r = request_new_cred(fs, NULL, &cred);

	r->inode = inode_ref(ino);
	return r;
}

static void open_step(struct request *r)
{
	opened++;
	request_end(r, 0);
}

static void an_open_waits_while_the_name_goes(void **state)
{
	struct request *one = about_ino(), *two = about_ino(), *open = about_ino();

	assert_true(opening_claim(one, inode_ref(ino), false));
	assert_true(opening_claim(two, inode_ref(ino), false));
	assert_true(opening_waits(open, open_step));
	opening_claim_end(one);
	assert_int_equal(opened, 0); /* the other request still removes a name */
	opening_claim_end(two);
	assert_int_equal(opened, 1);
	opening_claim_end(two); /* without a claim the call does nothing */
	request_end(one, 0);
	request_end(two, 0);
	open = about_ino();
	assert_false(opening_waits(open, open_step));
	request_end(open, 0);
}

static void an_open_file_is_not_claimed(void **state)
{
	struct request *r = about_ino();

	opening_begin(fs, ino);
	assert_false(opening_claim(r, ino, false));
	assert_int_equal(ino->opens.count, 1);
	assert_false(opening_claim(r, ino, true)); /* and stays open for r */
	assert_int_equal(ino->opens.count, 2);
	assert_int_equal(atomic_load(&fs->open_files), 2);
	opening_end(fs, ino);
	opening_end(fs, ino);
	assert_int_equal(ino->opens.count, 0);
	assert_int_equal(atomic_load(&fs->open_files), 0);
	assert_null(r->unlinking);
	request_end(r, 0);
}

static void who_is_gone_waits_no_longer(void **state)
{
	struct request *remove = about_ino(), *stays = about_ino(), *goes = about_ino();
	struct request_list gone = SLIST_HEAD_INITIALIZER(gone);

	assert_true(opening_claim(remove, inode_ref(ino), false));
	assert_true(opening_waits(stays, open_step));
	assert_true(opening_waits(goes, open_step));
	atomic_store(&goes->fate.gone, true);
	openings_take_gone(fs, &gone);
	assert_ptr_equal(SLIST_FIRST(&gone), goes);
	assert_null(SLIST_NEXT(goes, free));
	request_end(goes, 0);
	opening_claim_end(remove);
	assert_int_equal(opened, 1);
	request_end(remove, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_open_waits_while_the_name_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(an_open_file_is_not_claimed, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_gone_waits_no_longer, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
