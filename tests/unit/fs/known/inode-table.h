/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * A table of inodes with file handles made of numbers, for unit tests of fs/known/inode.
 */
#ifndef RNFS_TESTS_INODE_TABLE_H
#define RNFS_TESTS_INODE_TABLE_H

#include <stdint.h>
#include <string.h>

#include "fs/known/inode.h"

static inline struct nfs_fh fh_of(uint32_t n)
{
	struct nfs_fh fh = {.len = 16};

	memcpy(fh.data + 4, &n, sizeof(n));
	return fh;
}

static inline struct inode_table *table(void)
{
	struct nfs_attr attr = {.type = NFS_DIR, .fileid = 2};
	struct nfs_fh fh = fh_of(0);

	return inode_table_new(&fh, &attr);
}

static inline struct inode *get(struct inode_table *t, uint32_t n)
{
	struct nfs_attr attr = {.type = NFS_REG, .fileid = n};
	struct nfs_fh fh = fh_of(n);

	return inode_lookup(t, &fh, &attr);
}

/* The server, asked at `asked`, has told attr: inode_note_attr(). */
static inline bool note_attr(struct inode *ino, const struct nfs_attr *attr, uint64_t asked)
{
	struct told told = {.attr = attr, .asked = asked};

	return inode_note_attr(ino, &told);
}

#endif
