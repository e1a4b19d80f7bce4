/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/known/attr.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sysmacros.h>
#include <cmocka.h>

#include "fs/known/attr.h"

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

static void types_and_modes_belong_together(void **state)
{
	for (unsigned t = NFS_REG; t <= NFS_FIFO; t++) {
		assert_int_not_equal(attr_type_mode(t), 0);
		assert_int_equal(attr_mode_type(attr_type_mode(t) | 04755), t);
	}
	assert_int_equal(attr_type_mode(0), 0);
	assert_int_equal(attr_type_mode(NFS_FIFO + 1), 0);
	assert_int_equal(attr_mode_type(0644), 0);
}

static void stat_shows_what_the_server_said(void **state)
{
	struct nfs_attr a = {.type = NFS_CHR,
		.mode = 02640,
		.nlink = 3,
		.uid = 4,
		.gid = 5,
		.rdev_major = 10,
		.rdev_minor = 229,
		.size = 1000,
		.used = 513,
		.fileid = 1ull << 63,
		.mtime = {7, 999999999}};
	struct stat st;

	attr_to_stat(&a, &st);
	assert_int_equal(st.st_mode, S_IFCHR | 02640);
	assert_int_equal(st.st_nlink, 3);
	assert_int_equal(st.st_rdev, makedev(10, 229));
	assert_int_equal(st.st_blocks, 2);
	assert_true(st.st_ino == 1ull << 63);
	assert_int_equal(st.st_mtim.tv_nsec, 999999999);
}

static void sizes_never_look_negative(void **state)
{
	struct nfs_attr a = {.type = NFS_REG, .size = UINT64_MAX, .used = UINT64_MAX};
	struct stat st;

	attr_to_stat(&a, &st);
	assert_true(st.st_size == INT64_MAX);
	assert_true(st.st_blocks > 0);
}

static void setattr_says_what_is_to_be_set(void **state)
{
	struct stat st = {.st_mode = S_IFREG | 0640,
		.st_uid = 1,
		.st_gid = 2,
		.st_size = 3,
		.st_atim = {4, 5},
		.st_mtim = {6, 7}};
	struct nfs_sattr s;

	attr_from_setattr(&st, FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_SIZE, &s);
	assert_int_equal(s.mask, NFS_SET_MODE | NFS_SET_SIZE);
	assert_int_equal(s.mode, 0640);
	assert_int_equal(s.size, 3);
	attr_from_setattr(&st, FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME, &s);
	assert_int_equal(s.mask, NFS_SET_ATIME | NFS_SET_MTIME);
	assert_int_equal(s.mtime.tv_nsec, 7);
	/* "now" is the server's clock, also when the request carries a value */
	attr_from_setattr(&st, FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW, &s);
	assert_int_equal(s.mask, NFS_SET_ATIME_NOW);
	attr_from_setattr(&st, FUSE_SET_ATTR_CTIME, &s);
	assert_int_equal(s.mask, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_and_modes_belong_together),
		cmocka_unit_test(stat_shows_what_the_server_said),
		cmocka_unit_test(sizes_never_look_negative),
		cmocka_unit_test(setattr_says_what_is_to_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
