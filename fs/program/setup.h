/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * setup: making the parts of a mount, and freeing them.
 *
 *     setup_begin -> [fs->client is made] -> setup_root -> requests -> setup_end
 */
#ifndef RNFS_FS_PROGRAM_SETUP_H
#define RNFS_FS_PROGRAM_SETUP_H

#include "fs/known/fs.h"

/* Makes the parts of *fs that need no server. *fs is zeroed, but for its members of a former
 * daemon. 0, or -1 with *e set. The caller calls setup_end() in either case. */
int setup_begin(struct fs *fs, const struct options *o, struct err *e);
/* Makes the parts that need fs->client and the root of the mount. False when out of memory or
 * threads. */
bool setup_root(struct fs *fs);
/* Frees all parts, fs->client included, but not the FUSE session. The session's threads have ended.
 * No request may be pending, except requests that wait for the server, which end with
 * fs->client. */
void setup_end(struct fs *fs);

#endif
