/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg_watch: learns by inotify(7) that a local program has changed the mode, owner, times, links
 * or name of a delegated file. Such a change breaks no lease. Unlike a program that opens the file
 * to write, the changing program does not wait for the return of the delegation.
 *
 * A watch belongs to the inode: delegations of one file share the watch number. If there are no
 * more watches, files are delegated without one.
 */
#ifndef RNFS_SERVE_STATE_DELEG_WATCH_H
#define RNFS_SERVE_STATE_DELEG_WATCH_H

#include <stdbool.h>

#define DELEG_WATCH_SEEN 128u

/* Files with news. */
struct deleg_seen {
	bool all; /* more than fit: any file may have news */
	unsigned n;
	int wd[DELEG_WATCH_SEEN];
};

/* Opens the descriptor for all watches. The process gets SIGIO when one has news. -1: error. */
int deleg_watch_new(void);
/* Watches the file open as `file` from now on, perhaps again. Returns the watch's number, or -1. */
int deleg_watch_add(int watches, int file);
/* The server itself is about to change the file: until deleg_watch_add() changes make no news. The
 * watch keeps its number, and earlier news is still told. */
void deleg_watch_pause(int watches, int file);
/* No delegation needs wd any more. */
void deleg_watch_end(int watches, int wd);
/* Takes the news. False: there is none. True: there may be more. */
bool deleg_watch_take(int watches, struct deleg_seen *seen);
bool deleg_watch_has(const struct deleg_seen *seen, int wd);

#endif
