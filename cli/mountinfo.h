/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountinfo: one mount, as the kernel lists it in /proc/self/mountinfo, proc(5).
 */
#ifndef RNFS_CLI_MOUNTINFO_H
#define RNFS_CLI_MOUNTINFO_H

#include <stdbool.h>
#include <sys/types.h>

struct mountinfo {
	unsigned id;
	unsigned major, minor; /* of the file system's device number */
	char flags[128];       /* of this mount, such as "rw,nosuid", cut to size */
	char type[64];	       /* such as "fuse.rnfs" */
	char source[256];
	char dir[1024]; /* the mount point */
	bool owned;	/* a FUSE file system: uid and gid are those of its daemon's user */
	bool shared;	/* and other users are let in */
	uid_t uid;
	gid_t gid;
};

/* Takes one line apart; it is changed. False: it is no such line. */
bool mountinfo_parse(char *line, struct mountinfo *out);

/* The mount that fd, open with O_PATH or otherwise, is on. Asks no file system. False: there is no
 * /proc, or the mount has gone. */
bool mountinfo_of(int fd, struct mountinfo *out);

#endif
