/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * runtime_dir: the directory in which the daemons of one user have their sockets.
 *
 * Root's is /run/rnfs. Another user's is the first of $XDG_RUNTIME_DIR/rnfs, /run/user/UID/rnfs and
 * /tmp/rnfs-UID that can be had: the directory above belongs to the user, or is /tmp. A daemon and
 * a command may have different environments, so a command looks into all of them. A directory
 * counts only if it belongs to the user, is no symbolic link, and is closed to others: nobody else
 * can have put a socket there. Any thread.
 */
#ifndef RNFS_CLI_RUNTIME_DIR_H
#define RNFS_CLI_RUNTIME_DIR_H

#include <stdbool.h>

#include "transport/err.h"

#define RUNTIME_DIR_MAX	   88	   /* bytes of its path with the NUL; a socket's name fits behind */
#define RUNTIME_DIR_PLACES 3u	   /* that a user's may be in */
#define RUNTIME_SOCKET_MAX 108	   /* bytes of a socket's path with the NUL, unix(7) */
#define RUNTIME_SOCKET_END ".sock" /* of a socket's name */

/* The place of that number, below RUNTIME_DIR_PLACES, for the calling user. False: there is none of
 * that number, or its path is too long. Nothing is made or looked at. */
bool runtime_dir_place(unsigned n, char path[RUNTIME_DIR_MAX]);

/* Does the directory belong to this process's user, and to nobody else? */
bool runtime_dir_is_ours(const char *path);

/* Makes the directory, mode 0700, unless it is there. 0 with path set, or -1 with *e set. */
int runtime_dir_make(char path[RUNTIME_DIR_MAX], struct err *e);

#endif
