/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirents: entries of a directory, as they are given to the kernel.
 *
 * They are made from the records of a listing (listing.h). Attributes are given with an entry only
 * if they are younger than the attribute time-out and neither the inode nor the directory has been
 * changed through this mount since they were asked for, nor the server asked again, or if those of
 * the inode are known and believed; otherwise the entry goes without, and the kernel asks when it
 * wants to know. The inode of an entry with attributes has a lookup more, which the kernel forgets
 * like any other.
 */
#ifndef RNFS_FS_DIRENTS_H
#define RNFS_FS_DIRENTS_H

#include "fs/fs.h"
#include "fs/listing.h"

#define DIRENTS_BYTES	   (64u << 10) /* most that one answer holds */
#define DIRENTS_SERVED_MAX (DIRENTS_BYTES / 128 + 1)

/* One answer. The caller sets the first part, and the rest to 0. */
struct dirents {
	struct fs *fs;
	struct inode *dir;
	fuse_req_t fuse; /* that is answered */
	bool plus;	 /* READDIRPLUS */
	bool may_search; /* whoever asks may look names up in dir: entries can have attributes */
	char *mem;
	size_t cap; /* of mem, <= DIRENTS_BYTES */

	size_t len;
	unsigned nserved;
	struct inode *served[DIRENTS_SERVED_MAX]; /* each with a lookup for the kernel */
};

/* Adds an entry with what e says; off is the cookie behind which the next one is asked for. False:
 * there is no room for it. */
bool dirents_put(
	struct dirents *out, const char *name, uint64_t off, const struct fuse_entry_param *e);
/* Adds the entry of rec, which is in p. The caller holds the lock of the listing. */
bool dirents_put_record(
	struct dirents *out, const struct page *p, const struct record *rec, uint64_t now);
/* The kernel has not taken the answer: nor the lookups. */
void dirents_untaken(struct dirents *out);

/* Have most of the entries of l, which is whole, attributes that the kernel may believe? If not it
 * is better to list again than to be asked for each. */
bool dirents_have_attr(struct fs *fs, const struct listing *l);

#endif
