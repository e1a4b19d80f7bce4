/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pressure: how much memory the system leaves this process, and that it grows short.
 *
 * Two sources, and either may be missing:
 *
 *     limits    those of the process's control group and of the groups above it, as far as they can
 *               be seen: memory.max and memory.high of version 2, memory.limit_in_bytes of version
 *               1. A group's room is what is left below its limit when all pages of files are
 *               counted as free, for the kernel takes those before it kills anybody.
 *     stalls    pressure stall information: of the group (memory.pressure), or, where this process
 *               may not watch that, of the machine (/proc/pressure/memory). The kernel makes fd
 *               readable for POLLPRI when processes have waited for memory for PRESSURE_STALL_US
 *               of PRESSURE_WINDOW_US, once a window at most.
 *
 * The stalls of the machine are those of all its groups, and most groups that stall are short of
 * their own limits only. So a stall alone is no shortage of ours: pressure_stall_counts() looks at
 * the memory that the machine has left, and at the room of our groups.
 *
 * Without limits and stalls, nothing tells that memory is short.
 *
 * One thread at a time may use it.
 */
#ifndef RNFS_CACHE_PRESSURE_H
#define RNFS_CACHE_PRESSURE_H

#include <stdbool.h>
#include <stddef.h>

#define PRESSURE_PATH_MAX  128
#define PRESSURE_STALL_US  200000
#define PRESSURE_WINDOW_US 2000000 /* what an ordinary user may ask for is a multiple of this */
#define PRESSURE_ROOM	   16	   /* memory is short when a sixteenth of a limit is left */
#define PRESSURE_PLENTY	   8	   /* and plenty, if processes stall, when more than an eighth is */

struct pressure {
	int fd;	       /* -1: nobody tells of stalls */
	char *group;   /* the directory of the group; NULL: it has none with limits */
	size_t top;    /* how many bytes of group are where groups begin */
	bool v1;       /* files of version 1 */
	bool of_group; /* fd tells of the group's stalls, not of the machine's */
	char meminfo[PRESSURE_PATH_MAX]; /* the file that says how much memory the machine has left
					  */
};

/* What there is below root, which is "" but in tests. */
void pressure_init(struct pressure *p, const char *root);
void pressure_finish(struct pressure *p);
/* fd has told of stalls: do they mean that memory is short for this process? They do where the
 * machine has no more than an eighth of its memory left (MemAvailable; also if /proc/meminfo does
 * not tell), or where a group of ours is nearly full: by all that it uses if the stalls are the
 * group's own, without pages of files if they are the machine's. */
bool pressure_stall_counts(const struct pressure *p);
/* The least limit, now; SIZE_MAX if there is none. */
size_t pressure_limit(const struct pressure *p);
/* Is there so little room left in a group that it may not last? */
bool pressure_is_short(const struct pressure *p);
/* fd tells of nothing any more: what it stood for has gone. */
void pressure_lost(struct pressure *p);

#endif
