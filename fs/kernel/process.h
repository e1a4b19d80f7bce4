/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * process: facts from /proc about a thread that waits for an answer of the daemon: its groups, and
 * whether the thread will ever look at the answer.
 *
 * A thread is KILLED when a deadly signal is pending for the thread or its process, and neither
 * blocked nor ignored nor caught; or SIGKILL, into which the kernel turns most others. A thread is
 * also KILLED after the signal, while it ends: the signal is not pending any more, but the kernel
 * has marked the thread. The thread then waits for the FLUSH of its open files.
 *
 * A thread is ENDING when it ends without a signal. From then on the kernel discards every signal
 * sent to the thread, also SIGKILL, so the daemon cannot see a user's attempt to kill the thread.
 */
#ifndef RNFS_FS_KERNEL_PROCESS_H
#define RNFS_FS_KERNEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on every process counts as one of another PID namespace. To be called before requests
 * are served. */
void process_hide(void);

enum process_fate {
	PROCESS_UNKNOWN, /* of another PID namespace, hidden, or gone */
	PROCESS_LIVES,
	PROCESS_ENDING,
	PROCESS_KILLED,
};

/* tid: as the kernel names it in a request, or 0. Any thread; reads two small files. */
enum process_fate process_fate(pid_t tid);

/* Is there a thread or process with number tid, as far as /proc shows? Any thread. */
bool process_exists(pid_t tid);
/* Is tid a thread of the process of thread pid? Any thread; looks at /proc. */
bool process_has_thread(pid_t pid, pid_t tid);

/* Stores the present supplementary groups of thread tid in gids, at most max, and returns the
 * number; 0 if the thread has none or cannot be seen. The calling thread keeps the files of the
 * last few threads open, because opening a file costs more than reading it. A file never tells of
 * another thread that has got the same number since. */
unsigned process_groups(pid_t tid, uint32_t *gids, unsigned max);
/* Closes these files. The calling thread is about to end, or needs the files no more. */
void process_forget(void);

/* The process of thread tid, and the thread's name, cut to size; 0 and an empty name if tid is 0 or
 * cannot be seen. Any thread; the calling thread caches the last results for a second. */
pid_t process_name(pid_t tid, char *name, size_t size);
/* process_name() from the text of /proc/TID/status, which may end anywhere. */
pid_t process_name_of(const char *status, char *name, size_t size);

/* The groups in the text of /proc/TID/status, which may end anywhere. */
unsigned process_groups_of(const char *status, uint32_t *gids, unsigned max);

/* The meaning of the texts of /proc/TID/status and /proc/TID/stat. */
enum process_fate process_fate_of(const char *status, const char *stat);

#endif
