/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * thread: the threads that a mount cannot do without.
 *
 * The limits of a control group (pids.max) or of a user (RLIMIT_NPROC) may leave no thread. A mount
 * that begins then fails with a sentence. A mount in use would end with its successor, so a
 * successor waits until the system has a thread.
 */
#ifndef RNFS_FS_KERNEL_THREAD_H
#define RNFS_FS_KERNEL_THREAD_H

#include <pthread.h>

struct fs;

/* Starts a thread, with all signals blocked but the signal `allowed` (0: none). With
 * fs->waits_for_threads: waits, and logs that once, until the system has a thread or a signal asks
 * for the end. With fs->former the wait lasts for the time of that end (ending.h). The service
 * manager hears meanwhile that this daemon is alive. 0, or the error number of pthread_create().
 * The main thread. */
int thread_start(struct fs *fs, pthread_t *t, void *(*run)(void *), void *arg, int allowed);

#endif
