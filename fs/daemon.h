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

struct daemon {
	int verdict_fd;	     /* -1 in the foreground */
	int failed_status;   /* the caller's: with which the parent exits if nothing is mounted */
	int auto_unmount_fd; /* the caller's (cli/auto_unmount.h), or -1 */
};

/* First of all: standard files that are closed become /dev/null, so that nothing that is opened
 * later takes their place (and is written to, or let go with them). */
void daemon_standard_files(void);
/* Goes on in the child (foreground: does nothing). The parent does not return. d->failed_status is
 * set. 0, or -1 with errno. */
int daemon_start(struct daemon *d, bool foreground);
/* The mount is usable. In the background: the parent exits with 0, standard files are let go and
 * the log goes to syslog. False: the parent has gone, nobody wants the mount any more. */
bool daemon_ready(struct daemon *d);
/* It is not: the parent prints sentence and exits with failed_status. In the foreground it is
 * printed here. */
void daemon_failed(struct daemon *d, const char *sentence);

#endif
