/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * path: where an inode is in the mount, according to the names that the kernel was told.
 */
#ifndef RNFS_FS_KNOWN_PATH_H
#define RNFS_FS_KNOWN_PATH_H

#include "fs/known/fs.h"

/* Fills buf, of size bytes (32 or more), with the path below the mount: "/a/b"; "/" for the root. A
 * path that is too long begins with "...". A path with unknown upper names begins with a
 * file's number, as "#12/b". Any thread; takes the lock of the names, once for each name. */
void path_of(struct fs *fs, struct inode *ino, char *buf, size_t size);
/* The same for a name in the directory dir. */
void path_of_name(struct fs *fs, struct inode *dir, const char *name, char *buf, size_t size);

#endif
