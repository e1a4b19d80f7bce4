/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * process: what /proc says about a thread that waits for an answer of ours: will it ever look at
 * it?
 *
 * A thread is KILLED when it has a deadly signal before it: one that is pending, of its own or of
 * its process, and neither blocked nor ignored nor caught, or SIGKILL, which the kernel makes of
 * most others. So is one that has taken the signal and ends: its signals are not pending any more,
 * but the kernel has marked it; what it waits for then is the FLUSH of files that it had open.
 *
 * ENDING is a thread that ends of its own accord. The kernel drops every signal that is sent to it
 * from then on, also SIGKILL: nobody could tell that somebody wants to be rid of it.
 */
#ifndef RNFS_FS_PROCESS_H
#define RNFS_FS_PROCESS_H

#include <sys/types.h>

enum process_fate {
	PROCESS_UNKNOWN, /* of another PID namespace, hidden, or gone */
	PROCESS_LIVES,
	PROCESS_ENDING,
	PROCESS_KILLED,
};

/* tid: as the kernel names it in a request, or 0. Any thread; two small files are read. */
enum process_fate process_fate(pid_t tid);

/* What the texts of /proc/TID/status and /proc/TID/stat mean. */
enum process_fate process_fate_of(const char *status, const char *stat);

#endif
