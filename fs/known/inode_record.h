/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_record: the inodes of a mount for a successor (record.h): node IDs and lookups, and the
 * knowledge about each file that says what the kernel may believe.
 *
 * clock_ns() goes on in the successor, so times stay as they are. Rights and listings are left out:
 * the successor asks the server again. Open files, locks and silly names are the business of other
 * modules. So is data: none is in the daemon's memory when a record is written.
 */
#ifndef RNFS_FS_KNOWN_INODE_RECORD_H
#define RNFS_FS_KNOWN_INODE_RECORD_H

#include "fs/known/inode.h"
#include "transport/rpc/xdr.h"

/* One inode. No request is under way. */
void inode_put_record(struct inode *ino, struct xdr_out *x);
/* False: no memory, unless x is bad. */
bool inode_get_record(struct inode_table *t, struct xdr_in *x);

/* forgotten: the n inodes of fs_forgotten(). No request is under way. */
void inode_table_put_record(
	struct inode_table *t, struct inode *const forgotten[], uint32_t n, struct xdr_out *x);
/* t is the table of run `run`, and has only its root. On failure (x is bad, or false is returned:
 * no memory) t may have some of the inodes. */
bool inode_table_get_record(struct inode_table *t, unsigned run, struct xdr_in *x);

/* The inode that a record names by its node ID, which inode_id() has written. x becomes bad, and
 * NULL is returned, if there is no such inode. */
struct inode *inode_get_id(struct inode_table *t, struct xdr_in *x);

#endif
