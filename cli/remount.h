/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * remount: changes the options of an existing mount that the kernel keeps, such as ro.
 *
 * mount(8) passes all options of the mount, from fstab(5) or the kernel's list, and behind them the
 * new options. Options of the daemon cannot change. Such an option is refused unless the daemon was
 * started with it.
 */
#ifndef RNFS_CLI_REMOUNT_H
#define RNFS_CLI_REMOUNT_H

#include <stdbool.h>

#include "transport/err.h"

/* Does a command line of rnfs or mount.rnfs have the option remount? */
bool remount_wanted(int argc, char **argv);

/* Remounts as the command line says. 0, or -1 with *e set (ERR_USAGE: an option cannot change) and
 * nothing changed.
 */
int remount_run(int argc, char **argv, struct err *e);

#endif
