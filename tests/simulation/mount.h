/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount: a mount of rnfs in the simulator, on a device of the kernel's model: the steps of
 * fs/program/main.c without the process, its command line, signals and control socket.
 */
#ifndef RNFS_SIMULATION_MOUNT_H
#define RNFS_SIMULATION_MOUNT_H

#include <stddef.h>

struct mount;

/* Mounts source with the options of the list; the kernel's device is the simulated descriptor fd,
 * which the mount closes at its end. cache: the bytes of the cache, and of data that waits to be
 * sent, as if memory were short; 0: as the list says. Blocks until the kernel has its answer to
 * INIT. A mount that fails ends the run. */
struct mount *mount_new(const char *source, const char *list, size_t cache, int fd);
/* Waits for the end of the mount, which begins when the kernel has unmounted. */
struct mount *mount_free(struct mount *m);

/* The inodes that the mount knows, with the root. */
unsigned mount_inodes(const struct mount *m);

#endif
