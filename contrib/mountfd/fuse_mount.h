/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fuse_mount: a FUSE mount with the daemon in another process.
 *
 * Any user may use the mount (allow_other): the server judges each operation. Programs and devices
 * on the mount have no privileges (nosuid, nodev), since the daemon is not trusted.
 *
 * The mount begins with its descriptor, and is dead when the last copy of the descriptor is closed.
 * A dead mount stays where it is, so that no program writes to the directory below in place of the
 * server; programs get ENOTCONN.
 */
#ifndef RNFS_MOUNTFD_FUSE_MOUNT_H
#define RNFS_MOUNTFD_FUSE_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/err.h"

#define FUSE_MOUNT_DATA 2000

struct fuse_mount {
	const char *source, *directory;
	uid_t uid; /* of the daemon */
	gid_t gid;
	unsigned long flags; /* of mount(2) */
	char data[FUSE_MOUNT_DATA];
	bool made;
	uint64_t id; /* of the mount, while made */
};

/* Sorts the options of the list, as for -o of rnfs, into flags and data for mount(2); both are
 * empty before. Taken are ro, noexec, noatime, default_permissions, context=... Other options are
 * for the daemon and are skipped. 0, or -1 with *e set: suid or dev, or data is full. */
int fuse_mount_options(struct fuse_mount *m, const char *list, struct err *e);

/* Opens /dev/fuse and mounts. Returns the descriptor, which the caller owns and which is
 * close-on-exec; or -1 with *e set. */
int fuse_mount_make(struct fuse_mount *m, struct err *e);

/* Does the directory show this mount, alive or dead? False: the mount was unmounted, or is covered
 * by another mount. Asks the daemon nothing. */
bool fuse_mount_is_there(const struct fuse_mount *m);

/* Unmounts the directory lazily, if the mount is there: open files stay. */
void fuse_mount_end(struct fuse_mount *m);

#endif
