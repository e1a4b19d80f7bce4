/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names-fixture: an inode table, and names of inodes in the table.
 */
#ifndef RNFS_TESTS_NAMES_FIXTURE_H
#define RNFS_TESTS_NAMES_FIXTURE_H

#include <string.h>

#include "fs/known/names.h"

static struct inode_table *t;
static struct names *n;

static inline struct inode *get(uint32_t number, enum nfs_type type)
{
	struct nfs_attr attr = {.type = type, .fileid = number};
	struct nfs_fh fh = {.len = 16};

	memcpy(fh.data, &number, sizeof(number));
	return inode_lookup(t, &fh, &attr);
}

static inline void names_begin(void)
{
	struct nfs_attr attr = {.type = NFS_DIR, .fileid = 2};
	struct nfs_fh fh = {.len = 16};

	t = inode_table_new(&fh, &attr);
	n = names_new(t);
}

static inline int teardown(void **state)
{
	t = inode_table_free(t);
	n = names_free(n);
	return 0;
}

#endif
