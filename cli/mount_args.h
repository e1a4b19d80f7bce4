/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount_args: a command line of rnfs or of mount.rnfs, taken apart without a check of the options:
 * this process's own command line, or a daemon's.
 */
#ifndef RNFS_CLI_MOUNT_ARGS_H
#define RNFS_CLI_MOUNT_ARGS_H

#include <stdbool.h>

#include "cli/mountinfo.h"

struct mount_args {
	char *source, *dir; /* as given */
	char **items;	    /* the options, "name" or "name=value", in the given order */
	unsigned n;
	bool sloppy, fake; /* -s; -f of mount.rnfs */
};

/* Takes argv apart; argv need not stay. `root`: mount.rnfs called by root, with the options of
 * helper.h in front. False: not such a command line, or out of memory. mount_args_finish() is due
 * in either case. */
bool mount_args_init(struct mount_args *a, int argc, char **argv, bool root);
void mount_args_finish(struct mount_args *a);

/* The last item named `name`, of which len bytes count, or NULL. */
const char *mount_args_last(const struct mount_args *a, const char *name, unsigned len);

/* Fills *a from the command line of the daemon that serves the mount m. The daemon is a process in
 * /proc with the source and the mount point of m, in the same mount namespace as this process. Of
 * several processes the largest number counts: mounts that were unmounted lazily have older
 * daemons. For root. False: no such daemon. mount_args_finish() is due in either case. */
bool mount_args_of_daemon(struct mount_args *a, const struct mountinfo *m);

#endif
