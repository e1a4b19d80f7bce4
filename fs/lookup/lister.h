/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lister: lists a directory beside its users' requests. No request waits for the listing.
 *
 * If a program looks up or makes several names in a directory one after the other, the program is
 * likely to ask for the next names as well. One listing tells the files of those names (listed.h),
 * or makes the directory complete (complete.h). The first page is fetched beside the second LOOKUP,
 * or beside the first one if that has found a file, which is then being opened. Each further page
 * is fetched beside another LOOKUP that no page has answered. So a directory is listed as far as
 * programs work in it, up to LISTER_NAMES_MAX entries, and listings cost no more than they have
 * earned (listing.h). A directory that only leads to another directory is not listed.
 *
 * With lookupcache=complete, if absent names are asked for again and again, all names are listed,
 * without attributes.
 */
#ifndef RNFS_FS_LOOKUP_LISTER_H
#define RNFS_FS_LOOKUP_LISTER_H

#include "fs/known/fs.h"

#define LISTER_NAMES_MAX 4096u /* a directory with more is not listed */

/* cred is about to ask the server for name in dir. If a listing of dir, or its next page, is worth
 * it by now, returns the request, which the caller passes to listing_send() behind the LOOKUP. Only
 * the LOOKUP is waited for. Else NULL. Any thread; does not wait. */
struct request *lister_asking(
	struct fs *fs, struct inode *dir, const char *name, const struct rpc_cred *cred);
/* The server has told cred of a file of that type in dir. Lists dir if the listing is worth it. */
void lister_found(
	struct fs *fs, struct inode *dir, const struct rpc_cred *cred, enum nfs_type type);

/* The server has said that a name in dir is absent. cred, which may search dir, lists dir if the
 * listing is worth it by now. Any thread; does not wait. */
void lister_missed(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);

#endif
