/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * daemon: going into the background, and what whoever started it is told.
 *
 * Daemonising comes before any thread, socket or device exists. The process that was started stays
 * until the daemon's verdict: it exits with 0 only once the mount is usable, and else prints the
 * daemon's sentence.
 */
#ifndef RNFS_FS_DAEMON_H
#define RNFS_FS_DAEMON_H

#include <stdbool.h>

#include "transport/log.h"

struct daemon {
	int verdict_fd;	     /* -1 in the foreground */
	int failed_status;   /* the caller's: with which the parent exits if nothing is mounted */
	int auto_unmount_fd; /* the caller's (cli/auto_unmount.h), or -1 */
	const struct log_choice *log;
};

/* First of all: standard files that are closed become /dev/null, so that nothing that is opened
 * later takes their place (and is written to, or let go with them). */
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
/* Has the parent gone, whose user ended it? Then the mount is not wanted any more. */
bool daemon_unwanted(const struct daemon *d);
/* The mount has failed: the parent prints sentence and exits with failed_status. In the foreground
 * the sentence is logged here, and printed if the log is not on standard error. */
void daemon_failed(struct daemon *d, const char *sentence);

#endif
