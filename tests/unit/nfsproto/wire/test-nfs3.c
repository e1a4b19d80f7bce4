/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "nfsproto/wire/nfs3.h"

static void statuses_are_errnos(void **state)
{
	assert_int_equal(nfs3_status_errno(NFS3_OK), 0);
	assert_int_equal(nfs3_status_errno(NFS3ERR_NAMETOOLONG), -ENAMETOOLONG);
	assert_int_equal(nfs3_status_errno(NFS3ERR_BADHANDLE), -ESTALE);
	assert_int_equal(nfs3_status_errno(NFS3ERR_JUKEBOX), -EAGAIN);
	assert_int_equal(nfs3_status_errno(4711), -EREMOTEIO);
	assert_string_equal(nfs3_status_name(NFS3ERR_NOTEMPTY), "NFS3ERR_NOTEMPTY");
	assert_string_equal(nfs3_status_name(4711), "NFS3ERR_?");
}

static void procedures_have_names(void **state)
{
	assert_string_equal(nfs3_proc_name(0), "NULL");
	assert_string_equal(nfs3_proc_name(17), "READDIRPLUS");
	assert_string_equal(nfs3_proc_name(21), "COMMIT");
	assert_string_equal(nfs3_proc_name(22), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_are_errnos),
		cmocka_unit_test(procedures_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
