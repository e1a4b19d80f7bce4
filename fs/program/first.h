/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * first: the first connection of a mount, which the user may let wait (options retry, bg and
 * delay_connect).
 *
 *     attempt --connected--> the mount goes on
 *        ^ '--failed--> for good, or the time is over: the mount fails
 *        '---pause-------' else
 *
 * An attempt blocks, so each attempt has a thread of its own. The main thread waits for the
 * attempt, and asks meanwhile whether the mount is still wanted. A failure is for good if time does
 * not help: the server answers, and has no such export, say.
 */
#ifndef RNFS_FS_PROGRAM_FIRST_H
#define RNFS_FS_PROGRAM_FIRST_H

#include "fs/program/daemon.h"
#include "fs/known/fs.h"

enum first_end {
	FIRST_CONNECTED, /* fs->client is set; why: as connect_server() leaves it */
	FIRST_FAILED,	 /* why: the sentence */
	FIRST_UNWANTED,	 /* no attempt is in flight */
	FIRST_LEFT,	 /* unwanted, and an attempt in flight uses fs: the process must end */
};

/* Is the mount still wanted? Called every half a second, on the main thread. */
typedef bool first_wanted_fn(void *ctx);

/* Connects; setup_begin() has been called. Blocks for one attempt, as long as connect.h says; with
 * retry, bg or delay_connect, until the last attempt that the option allows. Says once, on the
 * terminal or in the log, the reason for waiting, after two seconds or a first failure. With bg, a
 * first failure that is not for good is the daemon's verdict: the parent exits with 0. */
enum first_end first_connect(struct fs *fs, struct daemon *d, first_wanted_fn *wanted, void *ctx,
	char *why, size_t size);

#endif
