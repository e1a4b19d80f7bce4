/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fuse_fd: an open FUSE device that a mounter has mounted, given as /dev/fd/N.
 *
 * The mounter opens /dev/fuse, calls mount(2) with fd=N, and starts rnfs, which inherits the
 * descriptor. The kernel has then queued INIT. After a daemon has read INIT, no other daemon can
 * use the mount: the mounter has to mount anew.
 */
#ifndef RNFS_CLI_FUSE_FD_H
#define RNFS_CLI_FUSE_FD_H

#include <stdbool.h>

#include "transport/err.h"

#define FUSE_MAJOR 10 /* the device number of /dev/fuse: misc */
#define FUSE_MINOR 229

/* Does the path of a mount point mean an open descriptor? */
bool fuse_fd_meant(const char *path);

/* Checks that path, for which fuse_fd_meant(), names an open and mounted FUSE device without a
 * begun session. Waits a second at most for the kernel's INIT. The descriptor becomes
 * close-on-exec. 0, or -1 with *e set. */
int fuse_fd_check(const char *path, struct err *e);

/* May the mounter be in another PID namespace than this process? The kernel names processes by the
 * numbers of the mounter's namespace, and does not name the namespace. A descriptor is inherited
 * from a process of the same namespace or of an outer one, so in the machine's first namespace the
 * answer is no. */
bool fuse_fd_is_foreign(void);

#endif
