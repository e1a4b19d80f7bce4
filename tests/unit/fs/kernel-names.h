/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel-names: names in a mount at fake-kernel.h, for tests that make and find names.
 */
#ifndef RNFS_TESTS_KERNEL_NAMES_H
#define RNFS_TESTS_KERNEL_NAMES_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-mount.h"

static struct fuse_entry_out e; /* the last entry that was answered */

/* Makes a new file of this name in the root; fh: the file stays open, else it is closed again. */
static inline uint64_t make(const char *name, uint64_t *fh)
{
	uint64_t node, mine;

	assert_int_equal(kernel_create(KERNEL_ROOT, name, O_RDWR, &node, fh ? fh : &mine), 0);
	if (!fh)
		assert_int_equal(kernel_release(node, mine), 0);
	return node;
}

static inline bool exists(const char *name)
{
	int error = kernel_lookup(KERNEL_ROOT, name, &e);

	assert_true(!error || error == -ENOENT);
	return !error && e.nodeid;
}

static inline struct inode *inode(uint64_t node)
{
	return inode_of(fs->inodes, node);
}

/* With names that may be answered from the cache. */
static inline void believe_names(void)
{
	fs_fixture_options.cache_names = fs_fixture_options.cache_absent = true;
	fs_fixture_options.cache_complete = true;
	fs_fixture_options.acregmin = fs_fixture_options.acregmax = 1000;
	fs_fixture_options.acdirmin = fs_fixture_options.acdirmax = 1000;
}

static inline uint64_t make_in(uint64_t dir, const char *name)
{
	uint64_t node, fh;

	assert_int_equal(kernel_create(dir, name, O_RDWR, &node, &fh), 0);
	assert_int_equal(kernel_release(node, fh), 0);
	return node;
}

static inline bool exists_in(uint64_t dir, const char *name)
{
	int error = kernel_lookup(dir, name, &e);

	assert_true(!error || error == -ENOENT);
	return !error && e.nodeid;
}

static inline uint64_t make_dir(void)
{
	assert_int_equal(kernel_mkdir(KERNEL_ROOT, "d", &e), 0);
	return e.nodeid;
}

#endif
