/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountpoint: the directory for a mount, and old mounts of dead daemons there.
 *
 * A daemon that is killed leaves its mount: each access fails with ENOTCONN until the mount is
 * unmounted. Only an answer to a request tells a dead mount from a live one, and a live daemon may
 * not answer for long while the server is away.
 */
#ifndef RNFS_CLI_MOUNTPOINT_H
#define RNFS_CLI_MOUNTPOINT_H

#include <stdbool.h>

#include "cli/mountinfo.h"
#include "transport/err.h"

/* Is path fit for a mount? It must be a directory, writable for an ordinary user, without a mount
 * but an automount point. A dead mount of rnfs is unmounted if the caller has the right, with a
 * line in the log. 0 and *real, the absolute path (free() it), or -1 with *e set. Forks: to be
 * called before there are threads. */
int mountpoint_check(const char *path, char **real, struct err *e);

/* Asks the daemon of the mount at fd (O_PATH) and waits for the answer. True: the daemon answers.
 * False: the daemon is dead. The caller must be the daemon's user. */
bool mountpoint_alive(int fd);

/* Is the daemon of m, the mount at fd (O_PATH), dead? False, too, if the daemon has not answered
 * for a second, or the caller is neither the daemon's user nor root. Forks: to be called before
 * there are threads. */
bool mountpoint_dead(int fd, const struct mountinfo *m);
/* The same, of the mount at m->dir. */
bool mountpoint_dead_at(const struct mountinfo *m);

/* Unmounts the topmost mount at path lazily; open files there stay open. For an ordinary user,
 * fusermount3 does the unmount. Any thread. False: the mount is still there. */
bool mountpoint_detach(const char *path);

#endif
