/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * first: the first connection of a mount, which may be waited for (options retry, bg and
 * delay_connect).
 *
 *     attempt --connected--> the mount goes on
 *        ^ '--failed--> for good, or the time is over: the mount fails
 *        '---pause-------' else
 *
 * An attempt is made on a thread of its own, since it blocks; the main thread waits for it, and
 * sees meanwhile whether the mount is still wanted. A failure is for good if time does not help:
 * the server answers, and has no such export, say.
 */
#ifndef RNFS_FS_PROGRAM_FIRST_H
#define RNFS_FS_PROGRAM_FIRST_H

#include "fs/program/daemon.h"
#include "fs/known/fs.h"

enum first_end {
	FIRST_CONNECTED, /* fs->client is set; why: as connect_server() leaves it */
	FIRST_FAILED,	 /* why: the sentence */
	FIRST_UNWANTED,	 /* no attempt is under way */
	FIRST_LEFT, /* unwanted, and an attempt is under way that uses fs: the process must end */
};

/* Asked every half a second, on the main thread: is the mount still wanted? */
typedef bool first_wanted_fn(void *ctx);

/* Connects; setup_begin() has been called. Blocks until the end: for an attempt, as long as
 * connect.h says, and with retry, bg or delay_connect until the last that time allows. Says once,
 * on the terminal or in the log, what is waited for, after two seconds or a first failure. With bg
 * a first failure that is not for good is the daemon's verdict: the parent exits with 0. */
enum first_end first_connect(struct fs *fs, struct daemon *d, first_wanted_fn *wanted, void *ctx,
	char *why, size_t size);

#endif
