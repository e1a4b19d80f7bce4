/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * remount: changing a mount that is made already: what the kernel keeps of it, such as ro.
 *
 * mount(8) gives all options that the mount has, of fstab(5) or of the kernel's list, and the new
 * ones behind. Options of the daemon cannot change. Such an option is refused unless the daemon was
 * started with it.
 */
#ifndef RNFS_CLI_REMOUNT_H
#define RNFS_CLI_REMOUNT_H

#include <stdbool.h>

#include "transport/err.h"

/* Whether a command line of rnfs or mount.rnfs has the option remount. */
bool remount_wanted(int argc, char **argv);

/* Does what it says. 0, or -1 with *e set (ERR_USAGE: an option cannot change) and nothing changed.
 */
int remount_run(int argc, char **argv, struct err *e);

#endif
