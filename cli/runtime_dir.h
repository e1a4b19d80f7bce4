/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * runtime_dir: the directory with the sockets of one user's daemons.
 *
 * Root's directory is /run/rnfs. Another user's is the first usable one of $XDG_RUNTIME_DIR/rnfs,
 * /run/user/UID/rnfs and /tmp/rnfs-UID: the parent belongs to the user, or is /tmp. A daemon and a
 * command may have different environments, so a command looks into all places. A directory counts
 * only if it belongs to the user, is no symbolic link, and is closed to others, so that no other
 * user can have put a socket there. Any thread.
 */
#ifndef RNFS_CLI_RUNTIME_DIR_H
#define RNFS_CLI_RUNTIME_DIR_H

#include <stdbool.h>

#include "transport/err.h"

#define RUNTIME_DIR_MAX	   88  /* bytes of the path with the NUL; leaves room for a socket's name */
#define RUNTIME_DIR_PLACES 3u  /* places for a user's directory */
#define RUNTIME_SOCKET_MAX 108 /* bytes of a socket's path with the NUL, unix(7) */
#define RUNTIME_SOCKET_END ".sock" /* of a socket's name */

/* Writes place n, below RUNTIME_DIR_PLACES, of the calling user to path. False: the user has no
 * place n, or the path is too long. Makes nothing and looks at no file. */
bool runtime_dir_place(unsigned n, char path[RUNTIME_DIR_MAX]);

/* Does the directory belong to this process's user, and is it closed to all others? */
bool runtime_dir_is_ours(const char *path);

/* Makes the directory, mode 0700, unless the directory exists. 0 with path set, or -1 with *e set.
 */
int runtime_dir_make(char path[RUNTIME_DIR_MAX], struct err *e);

#endif
