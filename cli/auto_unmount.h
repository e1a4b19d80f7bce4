/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * auto_unmount: a process that outlives the daemon and unmounts a mount that the daemon leaves.
 *
 * libfuse has such a process too. Root runs libfuse's, and root may not look at another user's
 * mount: an ordinary user's mount stays unless other users are let in.
 *
 * The process is this program under the name "auto_unmount". The process has the user and the name
 * space of the daemon, and holds nothing but the reading end of a pipe. The kernel closes the other
 * end when the daemon ends. Signals to all processes of a group or a service do not end the
 * process.
 */
#ifndef RNFS_CLI_AUTO_UNMOUNT_H
#define RNFS_CLI_AUTO_UNMOUNT_H

#include <stdbool.h>

/* Starts the process for a mount point (an absolute path), before there are threads. Returns the
 * pipe's writing end, which the kernel closes when the daemon ends, or -1 with errno. */
int auto_unmount_start(const char *mountpoint);

/* After mounting: tells the process the number of the mount. False: /proc does not tell the number,
 * and nothing will be unmounted. Any thread. */
bool auto_unmount_mounted(int fd, const char *mountpoint);

/* Is this program (argv[0]: program) such a process? */
bool auto_unmount_named(const char *program);
/* The main function of the process. Returns the exit status. */
int auto_unmount_main(int argc, char **argv);

#endif
