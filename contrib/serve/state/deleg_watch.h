/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg_watch: being told by inotify(7) that a program of this machine has changed the mode, owner,
 * times, links or name of a file that is delegated: that breaks no lease. Unlike who writes, it
 * does not wait for the delegation to come back.
 *
 * A watch is the inode's: delegations of one file share its number. What is not watched, because
 * there are no more watches to be had, is delegated all the same.
 */
#ifndef RNFS_SERVE_STATE_DELEG_WATCH_H
#define RNFS_SERVE_STATE_DELEG_WATCH_H

#include <stdbool.h>

#define DELEG_WATCH_SEEN 128u

/* Files of which something was told. */
struct deleg_seen {
	bool all; /* more than could be kept: it may be any */
	unsigned n;
	int wd[DELEG_WATCH_SEEN];
};

/* The descriptor that all watches are on; the process gets SIGIO when one has seen something. -1:
 * there is none. */
int deleg_watch_new(void);
/* Watches the file open as file, (again) from now on. The watch's number, or -1. */
int deleg_watch_add(int watches, int file);
/* The server itself is about to change it: until deleg_watch_add() nothing is told of that. The
 * watch keeps its number, and what it has seen already is still told. */
void deleg_watch_pause(int watches, int file);
/* Nobody needs wd any more. */
void deleg_watch_end(int watches, int wd);
/* Takes what has been seen. False: nothing. There may be more. */
bool deleg_watch_take(int watches, struct deleg_seen *seen);
bool deleg_watch_has(const struct deleg_seen *seen, int wd);

#endif
