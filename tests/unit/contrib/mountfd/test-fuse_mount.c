/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/mountfd/fuse_mount: options. The mount itself is in tests/e2e/sidecar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mount.h>

#include "contrib/mountfd/fuse_mount.h"

static struct fuse_mount options(const char *list)
{
	struct fuse_mount m = {0};
	struct err e = {0};

	if (fuse_mount_options(&m, list, &e))
		fail_msg("%s: %s", list, e.msg);
	return m;
}

static void what_mount_2_obeys_is_taken(void **state)
{
	struct fuse_mount m = options("proto=tcp,ro,noexec,default_permissions,port=1,context=a:b");

	assert_true(m.flags == (MS_RDONLY | MS_NOEXEC));
	assert_string_equal(m.data, ",default_permissions,context=a:b");
	m = options("ro,sync,rw,async,noatime");
	assert_true(m.flags == MS_NOATIME);
	m = options("");
	assert_true(m.flags == 0 && !m.data[0]);
}

/* Nothing gets into mount(2)'s data but words of the table. */
static void what_is_the_daemons_is_passed_over(void **state)
{
	struct fuse_mount m =
		options("fd=0,rootmode=0,user_id=0,allow_other,roll,ro=1,context,contexts=x,rdma");

	assert_true(m.flags == 0);
	assert_string_equal(m.data, "");
}

static void privileges_are_refused(void **state)
{
	struct fuse_mount m = {0};
	struct err e = {0};

	assert_int_equal(fuse_mount_options(&m, "ro,suid", &e), -1);
	assert_non_null(strstr(e.msg, "option suid cannot be used"));
	e = (struct err){0};
	assert_int_equal(fuse_mount_options(&m, "dev", &e), -1);
}

static void there_is_an_end(void **state)
{
	static char list[4000];
	struct fuse_mount m = {0};
	struct err e = {0};

	for (unsigned i = 0; i < 100; i++)
		strcat(list, ",context=0123456789012345678901");
	assert_int_equal(fuse_mount_options(&m, list, &e), -1);
	assert_non_null(strstr(e.msg, "too long"));
	assert_in_range(strlen(m.data), 1000, sizeof(m.data) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_mount_2_obeys_is_taken),
		cmocka_unit_test(what_is_the_daemons_is_passed_over),
		cmocka_unit_test(privileges_are_refused),
		cmocka_unit_test(there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
