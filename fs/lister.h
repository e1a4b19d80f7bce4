/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lister: lists a directory beside what its users do. Nobody waits for it.
 *
 * Where several names in a directory are looked up or made one after the other, the next ones are
 * likely to be asked for as well, and one listing tells what they stand for (listed.h), or that all
 * names in the directory are known (complete.h). The first page is fetched beside the second
 * LOOKUP, or when the first has found a file, which then is being opened; each further page beside
 * another LOOKUP that no page has answered. So a directory is listed as far as it is worked in, up
 * to LISTER_NAMES_MAX, and listings cost no more than they have earned (listing.h). One that only
 * leads to another directory is not listed.
 *
 * With lookupcache=complete, where names that are not there are asked for again and again, all
 * names are listed, without attributes.
 */
#ifndef RNFS_FS_LISTER_H
#define RNFS_FS_LISTER_H

#include "fs/fs.h"

#define LISTER_NAMES_MAX 4096u /* a directory with more is left alone */

/* The server is about to be asked what name in dir stands for, by cred. Not NULL: by now it is
 * worth it to list dir, or to go on with that, and listing_send() does so, behind the LOOKUP, which
 * is waited for. Any thread; does not wait. */
struct request *lister_asking(
	struct fs *fs, struct inode *dir, const char *name, const struct rpc_cred *cred);
/* The server has told cred of something of that type. Lists dir if that is worth it. */
void lister_found(
	struct fs *fs, struct inode *dir, const struct rpc_cred *cred, enum nfs_type type);

/* The server has said that there is no such name in dir as was asked for. cred, who may search dir,
 * lists it if that is worth it by now. Any thread; does not wait. */
void lister_missed(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);

#endif
