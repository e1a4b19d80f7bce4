/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * close: the end of an open file: what was written is committed, its locks are cleared, the server
 * closes it, and a silly name goes if it was the last one.
 */
#ifndef RNFS_FS_CLOSE_H
#define RNFS_FS_CLOSE_H

#include "fs/file.h"

/* Closes f, which nobody will use any more, and frees it; then r is ended with error. r may be
 * NULL: then a request of the daemon's own does it. What follows goes on whoever is killed. */
void close_file(struct fs *fs, struct file *f, struct request *r, int error);

#endif
