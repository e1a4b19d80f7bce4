/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_layout_error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/v4/pnfs/nfs4_layout_error.h"

struct list {
	struct nfs4_layout_error e[NFS4_LAYOUT_ERRORS];
	unsigned n;
};

static bool note(struct list *l, uint8_t device, uint32_t status, uint64_t offset, uint64_t length)
{
	const struct nfs4_layout_error e = {
		offset, length, {.device = {{device}}, .status = status, .op = OP_WRITE}};

	return nfs4_layout_error_note(l->e, &l->n, &e);
}

static void errors_of_one_kind_have_one_range(void **state)
{
	struct list l = {.n = 0};

	assert_true(note(&l, 1, NFS4ERR_IO, 5000, 100));
	assert_false(note(&l, 1, NFS4ERR_IO, 5050, 10)); /* inside */
	assert_int_equal(l.e[0].offset, 5000);
	assert_int_equal(l.e[0].length, 100);
	assert_false(note(&l, 1, NFS4ERR_IO, 9000, 500));
	assert_false(note(&l, 1, NFS4ERR_IO, 1000, 1));
	assert_int_equal(l.e[0].offset, 1000);
	assert_int_equal(l.e[0].length, 8500);
	assert_int_equal(l.n, 1);
}

static void ranges_end_with_the_file(void **state)
{
	struct list l = {.n = 0};

	assert_true(note(&l, 1, NFS4ERR_IO, 10, NFS4_LENGTH_EOF));
	assert_false(note(&l, 1, NFS4ERR_IO, 5, 10));
	assert_int_equal(l.e[0].offset, 5);
	assert_int_equal(l.e[0].length, NFS4_LENGTH_EOF);
	assert_true(note(&l, 2, NFS4ERR_IO, 10, 10));
	assert_false(note(&l, 2, NFS4ERR_IO, UINT64_MAX - 2, 1));
	assert_int_equal(l.e[1].length, UINT64_MAX - 11);
	assert_false(note(&l, 2, NFS4ERR_IO, UINT64_MAX - 2, 7));
	assert_int_equal(l.e[1].length, NFS4_LENGTH_EOF);
}

static void the_number_of_kinds_is_bounded(void **state)
{
	struct list l = {.n = 0};

	assert_true(note(&l, 1, NFS4ERR_IO, 0, 1));
	assert_true(note(&l, 2, NFS4ERR_IO, 0, 1));
	assert_true(note(&l, 2, NFS4ERR_NXIO, 0, 1));
	assert_true(note(&l, 3, NFS4ERR_IO, 0, 1));
	assert_false(note(&l, 4, NFS4ERR_IO, 0, 1));
	assert_false(note(&l, 2, NFS4ERR_NXIO, 3, 1));
	assert_int_equal(l.n, NFS4_LAYOUT_ERRORS);
	assert_int_equal(l.e[2].length, 4);
	assert_int_equal(l.e[3].length, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_one_kind_have_one_range),
		cmocka_unit_test(ranges_end_with_the_file),
		cmocka_unit_test(the_number_of_kinds_is_bounded),
	};

	return cmocka_run_group_tests_name("nfs4_layout_error", tests, NULL, NULL);
}
