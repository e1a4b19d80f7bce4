/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * daemon: going into the background, and the message to the process that was started.
 *
 * Daemonising comes before any thread, socket or device exists. The process that was started stays
 * until the daemon's verdict. It exits with 0 only once the mount is usable; else it prints the
 * daemon's sentence.
 */
#ifndef RNFS_FS_PROGRAM_DAEMON_H
#define RNFS_FS_PROGRAM_DAEMON_H

#include <stdbool.h>

#include "transport/log.h"

struct daemon {
	int verdict_fd;	     /* -1 in the foreground */
	int failed_status;   /* set by the caller: the parent's exit status if nothing is mounted */
	int auto_unmount_fd; /* set by the caller (cli/auto_unmount.h), or -1 */
	const struct log_choice *log;
};

/* To be called first: makes closed standard files /dev/null. So no file that is opened later takes
 * their place (and is written to, or closed with them). */
void daemon_standard_files(void);
/* Goes on in the child; in the foreground only begins the log. The parent does not return. log has
 * been opened (log_target.h), and stays the caller's; d->failed_status is set. 0, or -1 with errno.
 */
int daemon_start(struct daemon *d, bool foreground, const struct log_choice *log);
/* The mount is usable, or will be when its server is (bg, delay_connect). In the background: the
 * parent exits with 0, the log begins, and standard files are let go that the log does not need. A
 * terminal there is told of a log in a place that the user may not guess. False: the parent has
 * gone, and the mount is not wanted any more. */
bool daemon_ready(struct daemon *d);
/* Has the parent gone, because its user ended it? Then the mount is not wanted any more. */
bool daemon_unwanted(const struct daemon *d);
/* The mount has failed: the parent prints sentence and exits with failed_status. In the foreground
 * the sentence is logged here, and printed if the log is not on standard error. */
void daemon_failed(struct daemon *d, const char *sentence);

#endif
