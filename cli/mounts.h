/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mounts: the mounts of rnfs, and the daemons behind them.
 *
 * The kernel's list has the places of the mounts. The daemons' sockets lead to the daemons. The
 * device number of the file system matches a mount with a daemon. No function accesses a mount
 * itself, because the access may wait for a dead server. There is one exception: for a mount
 * without an answering daemon, a child process asks the kernel whether the daemon has died. The
 * child has one second.
 *
 * A user sees the user's own mounts, root sees all mounts. For processes with one thread: this
 * forks.
 */
#ifndef RNFS_CLI_MOUNTS_H
#define RNFS_CLI_MOUNTS_H

#include <stdbool.h>

#include "cli/contact.h"
#include "cli/mountinfo.h"
#include "cli/report.h"
#include "cli/runtime_dir.h"
#include "transport/err.h"

enum mount_daemon {
	MOUNT_ANSWERS, /* report and socket are set */
	MOUNT_MUTE,    /* there is or may be a daemon, but no answer at a socket */
	MOUNT_DEAD,    /* the daemon has died */
};

struct mount {
	bool is_here; /* info is set; else the mount is in another mount namespace */
	struct mountinfo info;
	enum mount_daemon daemon;
	struct report report;
	char socket[RUNTIME_SOCKET_MAX];
};

struct mounts {
	struct mount *of; /* in the kernel's order, upper mounts after lower ones */
	unsigned n;
};

/* Finds all mounts. probes: finds out which daemons are DEAD; without, such mounts are MUTE. 0, or
 * -1 with *e set: out of memory, or no /proc. mounts_free() is due in either case. */
int mounts_find(struct mounts *all, bool probes, struct err *e);
void mounts_free(struct mounts *all);

/* The mount point, for people and programs. */
const char *mount_point(const struct mount *m);

/* Finds the mount that contains path, or the only mount if path is NULL. Follows symbolic links up
 * to the mount and looks at nothing inside. NULL with *e set: no mount, or several. */
const struct mount *mounts_pick(const struct mounts *all, const char *path, struct err *e);

/* Finds the mount as mounts_pick() does, and sends a to its daemon. 0 with c open, for
 * contact_line(), or -1 with *e set and c closed: no daemon answers. */
int mounts_ask(const struct mounts *all, const char *path, const struct ask *a, struct contact *c,
	struct err *e);
/* Reads the answer, a report, into r, and closes c. 0, or -1 with *e set. */
int mounts_read(struct contact *c, struct report *r, struct err *e);

#endif
