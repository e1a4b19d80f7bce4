/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * listed: LOOKUPs that are answered from a listing.
 *
 * A listing tells the file and the attributes of a name, as LOOKUP does. An entry counts like the
 * answer to a LOOKUP sent when the page was asked for. So the entry is believed for the attribute
 * time of the file, unless this mount has changed the name or the file meanwhile, or another client
 * was seen to change the directory. A name missing from a listing tells nothing here (complete.h).
 *
 * After a change in the directory by this mount, the answers to earlier LOOKUPs of other names have
 * expired. A listing has not, but keeps the time-out that counted when the listing came.
 */
#ifndef RNFS_FS_LOOKUP_LISTED_H
#define RNFS_FS_LOOKUP_LISTED_H

#include "fs/known/fs.h"
#include "fs/kernel/request.h"

/* Ends r, a LOOKUP of r->name in r->dir by a user that may search r->dir, with an entry of a
 * listing. asked: when the server was last asked for the name otherwise (0: never, or the answer
 * has expired). False: the server must be asked. */
bool listed_lookup(struct request *r, uint64_t asked);
/* Does a listing that was asked for at `asked` still tell the right file for most names? */
bool listed_is_of_use(struct fs *fs, struct inode *dir, uint64_t asked);

#endif
