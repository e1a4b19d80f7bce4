/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * user_mounts: mounting what a user's fstab lists: by hand, and at login.
 *
 *     rnfs mount -a                   each line but those with noauto
 *     rnfs mount [-f] MOUNTPOINT      one line; -f: in the foreground
 *
 * At login systemd has a generator make a service of each line but those with noauto: an instance
 * of rnfs@.service, whose name is that of the mount point, and which calls rnfs mount -f. The
 * generator is this program under the name rnfs-user-generator.
 */
#ifndef RNFS_CLI_USER_MOUNTS_H
#define RNFS_CLI_USER_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* The command: its arguments and exit status as in command.h. */
int user_mounts_run(int argc, char **argv);

/* Whether a program of that name (argv[0]) was called by systemd to generate units. */
bool user_mounts_is_generator(const char *program);
/* The generator, systemd.generator(7): argv[1] is the directory for units. Returns the exit status.
 */
int user_mounts_generate(int argc, char **argv);

/* The name of the service for a mount point, an absolute path, as systemd-escape(1) makes it.
 * False: it does not fit into size, or is longer than names of units may be. */
bool user_mounts_unit(const char *dir, char *name, size_t size);

#endif
