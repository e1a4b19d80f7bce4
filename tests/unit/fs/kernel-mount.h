/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel-mount: a mount at fake-kernel.h, one for each test.
 */
#ifndef RNFS_TESTS_KERNEL_MOUNT_H
#define RNFS_TESTS_KERNEL_MOUNT_H

#include <stdint.h>

#include "tests/unit/fs/fake-kernel.h"

static struct fs *fs;

static inline int setup_mount(void **state)
{
	fs = kernel_mount();
	return 0;
}

static inline int teardown(void **state)
{
	kernel_unmount();
	return 0;
}

/* How many operations of this type have gone to the server. */
static inline uint64_t count(enum nfs_op_type t)
{
	return stats_get(&fs->stats.ops[t]);
}

/* Answers a LOOKUP of ino with another version of ino, of this size; false: op is no LOOKUP. */
static inline bool lookup_tells_change(struct nfs_op *op, const struct inode *ino, uint64_t size)
{
	if (op->type != NFS_LOOKUP)
		return false;
	op->error = 0;
	op->u.lookup.fh = ino->fh;
	op->u.lookup.attr = ino->attrs.attr;
	op->u.lookup.attr.change += 5;
	op->u.lookup.attr.size = size;
	op->u.lookup.dir_attr.have = false;
	return true;
}

#endif
