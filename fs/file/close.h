/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * close: the end of an open file. Written data is committed, locks are cleared, the server closes
 * the file, and a silly name is removed if this was the last open file.
 */
#ifndef RNFS_FS_FILE_CLOSE_H
#define RNFS_FS_FILE_CLOSE_H

#include "fs/known/file.h"

/* Closes f, which is no longer used, and frees f; then ends r with error. r may be NULL: then a
 * request of the daemon's own closes f. The steps go on even if the process is killed. */
void close_file(struct fs *fs, struct file *f, struct request *r, int error);

#endif
