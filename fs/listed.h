/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * listed: LOOKUPs that are answered by what a listing has told.
 *
 * A listing says what a name stands for, and with which attributes, as LOOKUP does; it is believed
 * as if it had been LOOKUP, sent when the page was asked for: for the attribute time of the file,
 * as far as this mount has not changed the name or the file meanwhile and nobody else was seen to
 * change the directory. That a name is not in a listing says nothing here (complete.h).
 *
 * Unlike what LOOKUPs said of other names, a listing is of use after a change of this mount's own
 * in the directory, but for no longer than the time that it was believed for when it came.
 */
#ifndef RNFS_FS_LISTED_H
#define RNFS_FS_LISTED_H

#include "fs/fs.h"
#include "fs/request.h"

/* Ends r, a LOOKUP of r->name in r->dir by somebody who may search that, with what a listing has
 * told; the server last said of the name otherwise at `seen` (0: never, or it is not believed).
 * False: the server must be asked. */
bool listed_lookup(struct request *r, uint64_t seen);
/* Does a listing that was asked for at `asked` still say of most names what they stand for? */
bool listed_is_of_use(struct fs *fs, struct inode *dir, uint64_t asked);

#endif
