/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * user_mounts: mounts the lines of a user's fstab: by hand, and at login.
 *
 *     rnfs mount -a                each line but those with noauto
 *     rnfs mount [-f] MOUNTPOINT   one line; -f: in the foreground
 *
 * At login systemd runs a generator, which makes a service of each line without noauto. The service
 * is an instance of rnfs@.service named after the mount point, and calls rnfs mount -f. The
 * generator is this program under the name rnfs-user-generator.
 */
#ifndef RNFS_CLI_USER_MOUNTS_H
#define RNFS_CLI_USER_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* The command; arguments and exit status as in command.h. */
int user_mounts_run(int argc, char **argv);

/* Has systemd called this program (argv[0]: program) to generate units? */
bool user_mounts_is_generator(const char *program);
/* The generator, systemd.generator(7): argv[1] is the directory for units. Returns the exit status.
 */
int user_mounts_generate(int argc, char **argv);

/* Writes the name of the service for a mount point, an absolute path, as systemd-escape(1) does.
 * False: the name exceeds size, or the length limit of unit names. */
bool user_mounts_unit(const char *dir, char *name, size_t size);

#endif
