/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_note: the note of an inode (ledger.h): the numbers by which the kernel knows the inode, and
 * the handle by which the server does. Attributes and names are left out: the successor asks the
 * server.
 *
 *     a word    the lookups that the kernel holds
 *     XDR       node ID, generation, handle, and type and numbers of the file
 *
 * The count is noted before the kernel is told of a lookup, and a FORGET is noted after the kernel
 * has sent it. So a successor may know of a lookup too many, and never of one too few. An inode
 * with a lookup too many stays until the end of the mount.
 */
#ifndef RNFS_FS_KNOWN_INODE_NOTE_H
#define RNFS_FS_KNOWN_INODE_NOTE_H

#include "nfsproto/wire/nfs_file.h"
#include "transport/ledger.h"

/* What a note says. */
struct inode_told {
	uint64_t nlookup, id, generation;
	struct nfs_fh fh;
	struct nfs_attr attr; /* type, fileid and fsid; the rest is zero */
};

/* Makes *note the note of an inode, which is not the root. l: NULL is no ledger. Under the table's
 * lock. */
void inode_note_put(struct ledger *l, struct note *note, const struct inode_told *told);
/* The count has changed; does nothing if there is no note. Under the table's lock. */
void inode_note_lookups(struct ledger *l, const struct note *note, uint64_t nlookup);
/* Reads the note of len bytes at data. False: no inode has such a note. */
bool inode_note_get(const void *data, uint32_t len, struct inode_told *out);

#endif
