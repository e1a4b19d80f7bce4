/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * process: what /proc says about a thread that waits for an answer of ours: which groups it has,
 * and will it ever look at it?
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

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on every process is one of another PID namespace. Before requests are served. */
void process_hide(void);

enum process_fate {
	PROCESS_UNKNOWN, /* of another PID namespace, hidden, or gone */
	PROCESS_LIVES,
	PROCESS_ENDING,
	PROCESS_KILLED,
};

/* tid: as the kernel names it in a request, or 0. Any thread; two small files are read. */
enum process_fate process_fate(pid_t tid);

/* Is there a thread or process of that number, as far as /proc shows? Any thread. */
bool process_exists(pid_t tid);
/* Is tid a thread of the process that pid is one of? Any thread; looks at /proc. */
bool process_has_thread(pid_t pid, pid_t tid);

/* The supplementary groups that thread tid has now, at most max of them, to gids; how many. 0 if it
 * has none or is not to be seen. The calling thread keeps the files of the last few open, since
 * opening one costs more than to read it; what it reads is never of another thread that has got the
 * same number since. */
unsigned process_groups(pid_t tid, uint32_t *gids, unsigned max);
/* The calling thread is to end, or needs those no more. */
void process_forget(void);

/* The process of thread tid, and the thread's name, cut to size; 0 and an empty name if tid is 0 or
 * not to be seen. Any thread; the calling thread remembers the last ones for a second. */
pid_t process_name(pid_t tid, char *name, size_t size);
/* The same from the text of /proc/TID/status, which may end anywhere. */
pid_t process_name_of(const char *status, char *name, size_t size);

/* The groups in the text of /proc/TID/status, which may end anywhere. */
unsigned process_groups_of(const char *status, uint32_t *gids, unsigned max);

/* What the texts of /proc/TID/status and /proc/TID/stat mean. */
enum process_fate process_fate_of(const char *status, const char *stat);

#endif
