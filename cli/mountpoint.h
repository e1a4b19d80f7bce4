/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountpoint: the directory that a mount is made on, and the mounts that dead daemons leave there.
 *
 * A daemon that is killed leaves its mount: each access fails with ENOTCONN until the mount is
 * unmounted. The kernel tells a dead mount from a live one by the answer to a request alone, and a
 * live daemon may not answer for long, while its server is away.
 */
#ifndef RNFS_CLI_MOUNTPOINT_H
#define RNFS_CLI_MOUNTPOINT_H

#include <stdbool.h>

#include "cli/mountinfo.h"
#include "transport/err.h"

/* Can something be mounted at path? A directory, writable for an ordinary user, on which nothing is
 * mounted but an automount point. A dead mount of rnfs that the caller may unmount is unmounted,
 * with a line in the log. 0 and *real, the absolute path (free() it), or -1 with *e set. Forks: to
 * be called before there are threads. */
int mountpoint_check(const char *path, char **real, struct err *e);

/* Waits until the daemon of the mount that fd (O_PATH) is on answers, true, or is dead, false. The
 * caller must be the daemon's user. */
bool mountpoint_alive(int fd);

/* Is the daemon dead of the mount m that fd (O_PATH) is on? The answer is no after a second without
 * an answer of the daemon, and where the caller is neither its user nor root. Forks: to be called
 * before there are threads. */
bool mountpoint_dead(int fd, const struct mountinfo *m);
/* The same, of the mount at m->dir. */
bool mountpoint_dead_at(const struct mountinfo *m);

/* Takes the topmost mount at path out of the name space; files that are open there stay open. For
 * an ordinary user fusermount3 does that. Any thread. False: the mount is still there. */
bool mountpoint_detach(const char *path);

#endif
