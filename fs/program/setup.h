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

/* The parts of *fs, which is zeroed, that need no server. False when out of memory or file
 * descriptors. setup_end() is due either way. */
bool setup_begin(struct fs *fs, const struct options *o);
/* Those that need the root of the mount, fs->client's. False when out of memory or threads. */
bool setup_root(struct fs *fs);
/* Frees all of them but the FUSE session, fs->client included. No request may be under way but
 * those that wait for the server, which end with fs->client. The session's threads have ended. */
void setup_end(struct fs *fs);

#endif
