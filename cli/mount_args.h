/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount_args: a command line of rnfs or of mount.rnfs, taken apart without a judgement of its
 * options: this process's own, or that of a daemon.
 */
#ifndef RNFS_CLI_MOUNT_ARGS_H
#define RNFS_CLI_MOUNT_ARGS_H

#include <stdbool.h>

#include "cli/mountinfo.h"

struct mount_args {
	char *source, *dir; /* as given */
	char **items;	    /* the options, "name" or "name=value", in their order */
	unsigned n;
	bool sloppy, fake; /* -s; -f of mount.rnfs */
};

/* Takes argv apart, which is not kept. `root`: a mount.rnfs of root's, whose options begin with
 * those of helper.h. False: it is no such command line, or no memory. mount_args_finish() is due in
 * either case. */
bool mount_args_init(struct mount_args *a, int argc, char **argv, bool root);
void mount_args_finish(struct mount_args *a);

/* The last item of that name, of which len bytes count, or NULL. */
const char *mount_args_last(const struct mount_args *a, const char *name, unsigned len);

/* Fills *a from the command line of the daemon that serves the mount m, which /proc lists: a
 * process of this mount namespace whose source and mount point are those of m. Of several, the one
 * with the largest number; mounts that were unmounted lazily have older ones. For root. False:
 * there is none. mount_args_finish() is due in either case. */
bool mount_args_of_daemon(struct mount_args *a, const struct mountinfo *m);

#endif
