/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state_dir: the directory for what outlives a process: the server's key and record of clients, the
 * locks of NFSv3 mounts.
 */
#ifndef RNFS_TRANSPORT_STATE_DIR_H
#define RNFS_TRANSPORT_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* Its path, without a slash at the end: /var/lib/rnfs for root, else $XDG_STATE_HOME/rnfs or
 * ~/.local/state/rnfs. It need not exist. False: there is no home directory, or size is too small.
 */
bool state_dir(char *path, size_t size);

/* Makes the directory path (absolute) and those above it, as far as they do not exist, with mode
 * 0700. Whether that has worked shows when it is used. */
void state_dir_make(const char *path);

/* The directory that path is in; dir has PATH_MAX bytes. */
void state_dir_of(const char *path, char *dir);

/* Is the directory that path is in the directory dir, which is absolute, or below it? False also if
 * that directory is not there. */
bool state_dir_is_in(const char *path, const char *dir);

/* The name path, just made, replaced or removed, is on stable storage when this returns 0. Or
 * -errno. */
int state_sync_name(const char *path);

#endif
