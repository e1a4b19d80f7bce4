/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fstab: the mounts of one user, listed in a file of the user's configuration in the format of
 * fstab(5).
 *
 *     server:/data  ~/data  rnfs  proto=iwarp,noauto
 *
 * A mount point begins with "/", or with "~/" for the home directory. The type is rnfs or
 * fuse.rnfs. Options and the two numbers may be left out.
 */
#ifndef RNFS_CLI_FSTAB_H
#define RNFS_CLI_FSTAB_H

#include <stdbool.h>
#include <stdio.h>

#include "transport/err.h"

struct fstab_line {
	char *source;
	char *dir;	/* absolute, without superfluous slashes */
	char *options;	/* "defaults" if there are none */
	bool automatic; /* no option noauto */
};

struct fstab {
	struct fstab_line *lines;
	unsigned n;
};

/* The path of the file: $XDG_CONFIG_HOME/rnfs/fstab or ~/.config/rnfs/fstab. False: there is no
 * home directory, or size is too small. */
bool fstab_path(char *path, size_t size);

/* Reads the file; fstab_finish() is due. Unusable lines are logged and left out. 0, or -1 with *e
 * set: the file cannot be read. */
int fstab_read(struct fstab *t, const char *path, struct err *e);
void fstab_finish(struct fstab *t);

/* Finds the line for a mount point, with any number of slashes, or NULL. */
const struct fstab_line *fstab_find(const struct fstab *t, const char *dir);

#endif
