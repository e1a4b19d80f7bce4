/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * survivor: a mount whose daemon may be killed (option survive), from the daemon's side.
 *
 *     mounted, served -> the note of the mount -> the holder has the files     (survivor_hold())
 *     killed
 *     successor: the ledger is read -> the connection, the same session -> objects, written data
 *         -> its own ledger to the holder -> the kernel sends its requests again -> workers
 *
 * Until the holder has the ledger of the successor, the successor asks the server only what a
 * second successor may ask again: to bind a connection to the session, and SEQUENCE on slots in
 * doubt. So a successor may be killed as well.
 *
 * `rnfs upgrade` (upgrade.h): the daemon, which has come to rest, ends by itself, and a successor
 * of the installed program follows, in the same way.
 *
 * The kernel sends requests again that a former daemon has read and not answered
 * (FUSE_NOTIFY_RESEND), from Linux 6.9 on. Before, they end with EIO (underway.h).
 */
#ifndef RNFS_FS_PROGRAM_SURVIVOR_H
#define RNFS_FS_PROGRAM_SURVIVOR_H

#include "fs/known/fs.h"

/* Is this process the successor of a killed daemon (HOLDER_VARIABLE)? If so, fs->former is the
 * ledger of the former daemon, fs->survive its files, and fs->record the note of the mount; or *e
 * is set. To be called once, before other threads exist. */
bool survivor_begin(struct fs *fs, struct err *e);
/* With option survive: makes the ledger of this daemon, and the pool, of so many bytes at most. 0,
 * or -1 with *e set. */
int survivor_setup(struct fs *fs, size_t bytes, struct err *e);
/* Asked while the successor has no connection: shall it go on trying? Yes, until a signal or an
 * unmount by the user begins the end, and then for the time of an end (ending.h). If the server
 * answers in that time, the successor takes over, makes written data safe, and gives the state
 * back. For the main thread. */
bool survivor_is_wanted(struct fs *fs);
/* This process ends. True: this successor never had a connection to the server, or could not take
 * over, and written data may be lost. Tells the log. */
bool survivor_loses(const struct fs *fs);
/* fs has been connected. Makes the tables and the FUSE session, and all that the ledger tells. 0,
 * or -1 with *e set. */
int survivor_take(struct fs *fs, struct err *e);
/* The mount is about to be used, or the successor to begin: the holder gets the files. Without
 * option survive there is nothing to do. 0: also if the holder has gone, because then no successor
 * follows. -1 with *e set: the kernel has taken none of several attempts to send the files, and the
 * holder keeps those that it had. */
int survivor_hold(struct fs *fs, struct err *e);
/* Notes the mount again, after a change of the log's level. Does nothing without option survive. */
void survivor_note(struct fs *fs);
/* Nothing is under way: this process ends, and the holder starts the program at path as its
 * successor, which answers the command at asker (holder_replace()). Returns only if that cannot be:
 * -1 with *e set, and the daemon is as it was. */
int survivor_replace(struct fs *fs, const char *path, int asker, uint64_t paused_at, struct err *e);
/* The mount ends, and needs no successor. Also for a successor that does not take over. */
void survivor_leave(struct fs *fs);
/* Warns once if the ledger is not whole any more. The main thread calls about once a second. */
void survivor_tick(struct fs *fs);

#endif
