/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_former: the inodes of a daemon that was killed, from their notes (inode_note.h).
 *
 * The inodes keep node IDs, generations and lookups. All other knowledge begins anew.
 */
#ifndef RNFS_FS_KNOWN_INODE_FORMER_H
#define RNFS_FS_KNOWN_INODE_FORMER_H

#include "fs/known/inode.h"
#include "transport/err.h"

struct former;

/* t is the table of run `run`, and has only its root. The inodes that the kernel has forgotten, but
 * may have open, stay until inode_table_settle_all(). 0, or -1 with *e set: a note is damaged, or
 * no memory. Before requests are served. */
int inode_table_former(struct inode_table *t, unsigned run, const struct former *f, struct err *e);

#endif
