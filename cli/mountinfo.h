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
	char flags[128];       /* of the mount, such as "rw,nosuid", cut to size */
	char type[64];	       /* such as "fuse.rnfs" */
	char source[256];
	char dir[1024]; /* the mount point */
	bool owned;	/* a FUSE file system: uid and gid are the daemon's */
	bool shared;	/* and other users are let in */
	uid_t uid;
	gid_t gid;
};

/* Takes one line apart, and changes the line. False: not a line of mountinfo. */
bool mountinfo_parse(char *line, struct mountinfo *out);

/* Finds the mount of fd, which may be open with O_PATH. Asks no file system. False: no /proc, or
 * the mount is gone. */
bool mountinfo_of(int fd, struct mountinfo *out);

#endif
