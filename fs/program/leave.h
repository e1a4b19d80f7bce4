/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * leave: the end of a mount, in the order that loses nothing.
 *
 *     leave_notices -> workers_stop -> leave_mount
 *
 * For the main thread.
 */
#ifndef RNFS_FS_PROGRAM_LEAVE_H
#define RNFS_FS_PROGRAM_LEAVE_H

#include "fs/known/fs.h"

/* Stops the threads that wait while the kernel invalidates pages or names. */
void leave_notices(struct fs *fs);
/* Sends written data to the server and returns all state, then frees all parts that setup.h has
 * made. mounted: also unmounts and frees the FUSE session. False: written data may be lost, and the
 * log says so. */
bool leave_mount(struct fs *fs, bool mounted);

#endif
