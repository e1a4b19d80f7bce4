/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pressure: how much memory the system leaves this process, and whether memory grows short.
 *
 * Two sources, and either may be missing:
 *
 *     limits    of the process's control group and of the visible groups above: memory.max and
 *               memory.high of version 2, memory.limit_in_bytes of version 1. A group's room is the
 *               rest of its limit, with all pages of files counted as free. The kernel takes those
 *               pages before killing any process.
 *     stalls    pressure stall information: of the group (memory.pressure), or of the machine
 *               (/proc/pressure/memory) if this process may not watch the group's. The kernel makes
 *               fd readable for POLLPRI when processes have waited for memory for PRESSURE_STALL_US
 *               of PRESSURE_WINDOW_US, once a window at most.
 *
 * The machine's stalls are the stalls of all groups. Most groups that stall are short of their own
 * limits only. So a stall alone is no shortage of this process: pressure_stall_counts() also looks
 * at the machine's free memory and at the room of our groups.
 *
 * Without limits and stalls, no source tells that memory is short.
 *
 * Only one thread at a time may call.
 */
#ifndef RNFS_CACHE_PRESSURE_H
#define RNFS_CACHE_PRESSURE_H

#include <stdbool.h>
#include <stddef.h>

#define PRESSURE_PATH_MAX  128
#define PRESSURE_STALL_US  200000
#define PRESSURE_WINDOW_US 2000000 /* an ordinary user may only ask for multiples of this */
#define PRESSURE_ROOM	   16	   /* memory is short when 1/16 of a limit is left */
#define PRESSURE_PLENTY	   8 /* memory is plenty, even with stalls, when more than 1/8 is left */

struct pressure {
	int fd;				 /* -1: no stalls are reported */
	char *group;			 /* the group's directory; NULL: no group with limits */
	size_t top;			 /* length of the part of group where the groups begin */
	bool v1;			 /* files of version 1 */
	bool of_group;			 /* fd reports the group's stalls, not the machine's */
	char meminfo[PRESSURE_PATH_MAX]; /* the file with the machine's free memory */
};

/* Finds the sources below root, which is "" outside of tests. */
void pressure_init(struct pressure *p, const char *root);
void pressure_finish(struct pressure *p);
/* fd has reported stalls: is memory short for this process? Yes, if the machine has no more than an
 * eighth of its memory left (MemAvailable; also if /proc/meminfo does not tell). Yes, if one of our
 * groups is nearly full. Pages of files count as used if the stalls are the group's own, and as
 * free if the stalls are the machine's. */
bool pressure_stall_counts(const struct pressure *p);
/* The least limit, now; SIZE_MAX if there is none. */
size_t pressure_limit(const struct pressure *p);
/* How many bytes this process may take until 1/part of a limit is left: the least of all groups.
 * SIZE_MAX: no group has a limit. With PRESSURE_ROOM, 0 says that memory is short. */
size_t pressure_room(const struct pressure *p, unsigned part);
/* fd reports no stalls any more: its group has gone. */
void pressure_lost(struct pressure *p);

#endif
