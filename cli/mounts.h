/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mounts: the mounts of rnfs, and the daemons behind them.
 *
 * The kernel's list of mounts tells where they are, the daemons' sockets who serves them; the
 * device number of the file system brings the two together. Nothing asks a mount itself, for that
 * may wait for a dead server, with one exception: where no daemon answers at its socket, a child
 * process asks the kernel whether the daemon has died, and has a second for that.
 *
 * A user sees the own mounts, root all of them. For processes with one thread: this forks.
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
	MOUNT_MUTE,    /* there is a daemon, or may be, but none answers at a socket */
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
	struct mount *of; /* in the kernel's order, the later ones above the earlier ones */
	unsigned n;
};

/* All of them. probes: finds out which daemons are DEAD; else those are MUTE. 0, or -1 with *e set:
 * out of memory, or there is no /proc. mounts_free() ends it in either case. */
int mounts_find(struct mounts *all, bool probes, struct err *e);
void mounts_free(struct mounts *all);

/* Where it is, for people and programs. */
const char *mount_point(const struct mount *m);

/* The mount that path is in, or the only one if path is NULL. Follows symbolic links up to the
 * mount and looks at nothing inside it. NULL with *e set: none is, or there are several. */
const struct mount *mounts_pick(const struct mounts *all, const char *path, struct err *e);

/* Asks the daemon of that mount. 0 with c open, for contact_line(), or -1 with *e set and c
 * closed: no daemon answers. */
int mounts_ask(const struct mounts *all, const char *path, const struct ask *a, struct contact *c,
	struct err *e);
/* Reads the report that was asked for into r, and closes c. 0, or -1 with *e set. */
int mounts_read(struct contact *c, struct report *r, struct err *e);

#endif
