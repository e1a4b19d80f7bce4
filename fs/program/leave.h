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

/* Stops the threads that wait while the kernel drops pages or names. */
void leave_notices(struct fs *fs);
/* Brings written data and all state back to the server, then frees all that setup.h has made.
 * mounted: with the FUSE session, which is unmounted. False: something that was written may be
 * lost, and the log says so. */
bool leave_mount(struct fs *fs, bool mounted);

#endif
