/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * former: all that a daemon takes over from one that was killed, by the notes of its ledger.
 *
 *     the mount        run (numbers.h) and tag of silly names: a note of this module
 *     threads          that open again after ESTALE: stale.h
 *     inodes           inode_note.h
 *     answers          underway.h
 *     open files       file_note.h; owners of locks: locker.h
 *     silly names      silly.h
 *     directories      ops.h
 *
 * The attributes, pages and names that the kernel believes are not noted. So the kernel is made to
 * forget attributes and pages, of one inode after the other, by the invalidator's thread, which may
 * wait for requests. Names are believed until their time-outs. (A new epoch, FUSE_NOTIFY_INC_EPOCH,
 * would make the kernel drop each name at the next walk, and with the name a file system that is
 * mounted there.)
 */
#ifndef RNFS_FS_PROGRAM_FORMER_H
#define RNFS_FS_PROGRAM_FORMER_H

#include "fs/known/fs.h"
#include "transport/err.h"
#include "transport/ledger.h"

/* Makes or renews the note of the mount; without a ledger does nothing. */
void former_keep_note(struct fs *fs);
/* Makes fs, which has only its root, what the former daemon was. fs->client has taken over the
 * state at the server, INIT has been answered, and the notifier runs. 0, or -1 with *e set: the
 * notes are damaged, or no memory. Before requests are served. */
int fs_former_restore(struct fs *fs, const struct former *f, struct err *e);
/* Then: the kernel forgets, and sends again what was not answered (underway_resend()). -1 with *e
 * set: the kernel refuses. */
int fs_former_go_on(struct fs *fs, struct err *e);
/* For the main thread, about once a second: forgets the former daemon when all requests that the
 * kernel has sent again have ended. */
void former_tick(struct fs *fs);

#endif
