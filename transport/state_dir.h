/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state_dir: the directory for data that outlives a process: the server's key and record of
 * clients, the locks of NFSv3 mounts.
 */
#ifndef RNFS_TRANSPORT_STATE_DIR_H
#define RNFS_TRANSPORT_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* The directory's path, without a slash at the end: /var/lib/rnfs for root, else
 * $XDG_STATE_HOME/rnfs or ~/.local/state/rnfs. The directory need not exist. False: there is no
 * home directory, or size is too small. */
bool state_dir(char *path, size_t size);

/* Makes the directory path (absolute) and missing ones above it, with mode 0700. A failure shows at
 * the first use. */
void state_dir_make(const char *path);

/* The directory that path is in; dir has PATH_MAX bytes. */
void state_dir_of(const char *path, char *dir);

/* Is path's directory equal to the directory dir, which is absolute, or below dir? False also if
 * path's directory does not exist. */
bool state_dir_is_in(const char *path, const char *dir);

/* The name path was just made, replaced or removed. Puts the change on stable storage. 0 or
 * -errno. */
int state_sync_name(const char *path);

#endif
