/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_layout_devices: layouts and devices that are of no use.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/pnfs/pnfs-fixture.h"

/* --- hostile layouts ----------------------------------------------------------------------- */

/* Data goes through the metadata server, and nothing breaks. */
static void stays_away(struct env *e)
{
	uint32_t got;
	bool eof;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_asked(e);
	assert_int_equal(pnfs_write_at(e, 0, 5000), 0);
	assert_int_equal(pnfs_read_at(e, 20000, 100, true, &got, &eof), 0);
	assert_int_equal(got, 100);
	assert_int_equal(pnfs_all_calls(e, 0) + pnfs_all_calls(e, 1), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_false(e->f->srv.layouts.held);
}

static void a_malformed_layout_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.malformed = true;
	stays_away(e);
}

static void segments_that_overlap_are_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.second = 30000;
	e->f->srv.layouts.overlaps = true;
	stays_away(e);
}

static void stripes_without_a_unit_are_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.nstripes = 2;
	stays_away(e);
}

static void a_layout_to_read_is_not_one_to_write(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.reads_only = true;
	pnfs_open_file(e, O_RDWR);
	assert_int_equal(pnfs_write_at(e, 0, 50000), 0);
	assert_int_equal(pnfs_write_at(e, 0, 50000), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), 2);
	assert_int_equal(pnfs_all_calls(e, 0), 0);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
}

static void a_malformed_device_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.bad_device = true;
	stays_away(e);
}

static void an_address_that_names_no_host_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.host = "0.0.0.0";
	stays_away(e);
}

static void an_unknown_version_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.version = 7;
	stays_away(e);
}

static void a_user_by_name_is_not_used(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.user = "user@domain";
	stays_away(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DS(a_malformed_layout_is_not_used),
		WITH_DS(segments_that_overlap_are_not_used),
		WITH_DS(stripes_without_a_unit_are_not_used),
		WITH_DS(a_layout_to_read_is_not_one_to_write),
		WITH_DS(a_malformed_device_is_not_used),
		WITH_DS(an_address_that_names_no_host_is_not_used),
		WITH_DS(an_unknown_version_is_not_used),
		WITH_DS(a_user_by_name_is_not_used),
	};

	return cmocka_run_group_tests_name("nfs4_layout_devices", tests, NULL, NULL);
}
