/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nested: a mount point inside the directory that the server exports.
 *
 * The bundled server enters file systems that are mounted below its directory. At such a mount
 * point the server would ask this mount, and the mount would ask the server, on a connection that
 * is served by the waiting thread.
 */
#ifndef RNFS_FS_LOOKUP_NESTED_H
#define RNFS_FS_LOOKUP_NESTED_H

#include "nfsproto/nfs_client.h"

/* Fails if the mount point (an absolute path without links) lies below the directory with the
 * attributes *root, exported by a bundled server: -1 with *e set, else 0. Looks at the directories
 * above the mount point, and asks the server nothing. */
int nested_check(
	const char *mountpoint, const char *source, const struct nfs_attr *root, struct err *e);

#endif
