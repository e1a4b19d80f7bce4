/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4.h"

static void statuses_have_names(void **state)
{
	/* all numbers of 4.1 and 4.2, except those that RFC 5662 leaves out */
	for (uint32_t s = NFS4ERR_BADHANDLE; s <= NFS4ERR_XATTR2BIG; s++) {
		bool gap = s == 10002 || s == 10073;

		assert_int_equal(strcmp(nfs4_status_name(s), "NFS4ERR_?") == 0, gap);
	}
	assert_string_equal(nfs4_status_name(NFS4_OK), "NFS4_OK");
	assert_string_equal(nfs4_status_name(NFS4ERR_DQUOT), "NFS4ERR_DQUOT");
	assert_string_equal(nfs4_status_name(10063), "NFS4ERR_SEQ_MISORDERED");
	assert_string_equal(nfs4_status_name(3), "NFS4ERR_?");
	assert_string_equal(nfs4_status_name(UINT32_MAX), "NFS4ERR_?");
}

static void statuses_become_errno(void **state)
{
	assert_int_equal(nfs4_status_errno(NFS4_OK), 0);
	assert_int_equal(nfs4_status_errno(NFS4ERR_NOENT), -ENOENT);
	assert_int_equal(nfs4_status_errno(NFS4ERR_NOTEMPTY), -ENOTEMPTY); /* 66 is not ENOTEMPTY */
	assert_int_equal(nfs4_status_errno(NFS4ERR_BADXDR), -EREMOTEIO);
	assert_int_equal(nfs4_status_errno(4711), -EREMOTEIO);
	for (uint32_t s = 1; s <= NFS4ERR_XATTR2BIG; s++)
		assert_true(nfs4_status_errno(s) < 0);
}

static void errno_comes_back(void **state)
{
	static const int same[] = {EPERM, ENOENT, EIO, ENXIO, EACCES, EEXIST, EXDEV, ENOTDIR,
		EISDIR, EINVAL, EFBIG, ENOSPC, EROFS, EMLINK, ENAMETOOLONG, ENOTEMPTY, EDQUOT,
		ESTALE, ELOOP, EOPNOTSUPP, EBUSY, EDEADLK, ENODATA, E2BIG};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(nfs4_status_errno(nfs4_errno_status(same[i])), -same[i]);
		assert_int_equal(nfs4_errno_status(-same[i]), nfs4_errno_status(same[i]));
	}
	assert_int_equal(nfs4_errno_status(0), NFS4_OK);
	assert_int_equal(nfs4_errno_status(EILSEQ), NFS4ERR_SERVERFAULT);
}

static void operations_have_names(void **state)
{
	for (uint32_t op = OP_ACCESS; op <= OP_LAST_42; op++)
		assert_string_not_equal(nfs4_op_name(op), "?");
	for (uint32_t op = OP_CB_GETATTR; op <= OP_CB_OFFLOAD; op++)
		assert_string_not_equal(nfs4_cb_op_name(op), "?");
	assert_string_equal(nfs4_op_name(OP_SEQUENCE), "SEQUENCE");
	assert_string_equal(nfs4_op_name(OP_ILLEGAL), "ILLEGAL");
	assert_string_equal(nfs4_op_name(0), "?");
	assert_string_equal(nfs4_op_name(OP_LAST_42 + 1), "?");
	assert_string_equal(nfs4_cb_op_name(OP_CB_RECALL), "CB_RECALL");
	assert_string_equal(nfs4_cb_op_name(2), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_have_names),
		cmocka_unit_test(statuses_become_errno),
		cmocka_unit_test(errno_comes_back),
		cmocka_unit_test(operations_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
