/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirents: entries of a directory, as the kernel gets them.
 *
 * Entries are made from the records of a listing (listing.h). An entry carries attributes in two
 * cases:
 *
 *   - The record has attributes younger than the attribute time-out. This mount has changed neither
 *     inode nor directory since the server was asked, and the server was not asked again.
 *   - The attributes of the inode are known and believed, and the entry shows no newer ones.
 *
 * Other entries carry none, and the kernel asks for attributes when needed. An entry with
 * attributes adds a lookup to its inode, which the kernel returns by FORGET.
 */
#ifndef RNFS_FS_LOOKUP_DIRENTS_H
#define RNFS_FS_LOOKUP_DIRENTS_H

#include "fs/known/fs.h"
#include "fs/lookup/listing.h"

#define DIRENTS_BYTES	   (64u << 10) /* most bytes of one answer */
#define DIRENTS_SERVED_MAX (DIRENTS_BYTES / 128 + 1)

/* One answer. The caller sets the members down to cap, and the rest to 0. */
struct dirents {
	struct fs *fs;
	struct inode *dir;
	fuse_req_t fuse; /* the request to answer */
	bool plus;	 /* READDIRPLUS */
	bool may_search; /* the caller may search dir: entries can have attributes */
	char *mem;
	size_t cap; /* of mem, <= DIRENTS_BYTES */

	size_t len;
	unsigned nserved;
	struct inode *served[DIRENTS_SERVED_MAX]; /* each with a lookup for the kernel */
};

/* Adds an entry with the contents of e; off is the cookie after which the next entry is asked for.
 * False: there is no room. */
bool dirents_put(
	struct dirents *out, const char *name, uint64_t off, const struct fuse_entry_param *e);
/* Adds the entry of rec, which is in p. The caller holds the lock of the listing. */
bool dirents_put_record(
	struct dirents *out, const struct page *p, const struct listing_entry *rec, uint64_t now);
/* The kernel has not taken the answer, nor its lookups. */
void dirents_untaken(struct dirents *out);

/* Do most entries of l, which is whole, have attributes that the kernel may believe? If not,
 * another listing costs less than a GETATTR for each entry. */
bool dirents_have_attr(struct fs *fs, const struct listing *l);

#endif
