/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * daemon: going into the background, and the message to the process that was started.
 *
 * Daemonising comes before any thread, socket or device exists. The process that was started stays
 * until the daemon's verdict. That process exits with 0 only once the mount is usable; else the
 * process prints the daemon's sentence.
 */
#ifndef RNFS_FS_PROGRAM_DAEMON_H
#define RNFS_FS_PROGRAM_DAEMON_H

#include <stdbool.h>

#include "transport/log.h"

/* Of the environment of a successor that the holder (holder.h) starts: the descriptors of the
 * connection to the holder, the device, the ledger, the pool's file, the clone of the device or -1;
 * when the former daemon ended, on clock_ns(); the command that waits for an answer, or -1; and the
 * enum holder_way. The variable and the messages to the holder belong to NOTES_FORMAT (record.h):
 * the holder may be of an older program.
 */
#define HOLDER_VARIABLE "RNFS_SURVIVOR"

struct daemon {
	int verdict_fd;	     /* -1 in the foreground */
	int failed_status;   /* set by the caller: the parent's exit status if nothing is mounted */
	int auto_unmount_fd; /* set by the caller (cli/auto_unmount.h), or -1 */
	int holder_fd;	     /* set by the caller (holder.h), or -1 */
	const struct log_choice *log;
};

/* To be called first: opens closed standard files on /dev/null. Otherwise a file opened later would
 * get the number of a standard file, and would be written to, or closed, as the standard file. */
void daemon_standard_files(void);
/* Goes on in the child; the parent does not return. In the foreground the function only begins the
 * log. log has been opened (log_target.h), and stays the caller's; d->failed_status is set. 0, or
 * -1 with errno. */
int daemon_start(struct daemon *d, bool foreground, const struct log_choice *log);
/* daemon_start() for a successor, which is in its place already. d->failed_status is set. */
void daemon_go_on(struct daemon *d, bool foreground, const struct log_choice *log);
/* The mount is usable, or will be when its server is (bg, delay_connect). In the background the
 * parent exits with 0, the log begins, and standard files that the log does not need are closed. If
 * a terminal is among those files, and the log is in a place that the user may not guess, the
 * terminal is told of the place. False: the parent has gone, and the mount is not wanted any
 * more. */
bool daemon_ready(struct daemon *d);
/* For the holder (holder.h) of a daemon in the background, which is ready: leaves the session, the
 * terminal and the standard files of the caller. */
void daemon_stay(struct daemon *d);
/* Has the parent gone, because the user ended the parent? Then the mount is not wanted any more. */
bool daemon_unwanted(const struct daemon *d);
/* The mount has failed: the parent prints sentence and exits with failed_status. In the foreground
 * the sentence is logged here, and printed if the log is not on standard error. */
void daemon_failed(struct daemon *d, const char *sentence);

#endif
