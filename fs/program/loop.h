/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loop: the main thread's work while the mount is used.
 *
 * The thread sleeps until a signal, the end of the last worker, an interrupted request or a
 * shortage of memory wakes the thread (fs.wake_fd, memory_fd()). The sleep lasts a second at most,
 * because some work goes by time. The sleep is shorter in three cases: a process with a request is
 * being killed; the server is silent and programs may wait for moments only; requests are parked.
 *
 * The first signal to end unmounts, and sends written data to the server. Programs that have files
 * open have two seconds, or until the next signal, to close their files.
 */
#ifndef RNFS_FS_PROGRAM_LOOP_H
#define RNFS_FS_PROGRAM_LOOP_H

#include "fs/known/fs.h"
#include "fs/kernel/service.h"

/* Waits until the kernel's INIT has been answered, half a minute at most. The workers run. 0, or -1
 * with *e set. */
int loop_until_init(struct fs *fs, struct err *e);
/* Works until the mount ends. True: the session has ended; false: a signal has come. */
bool loop_run(struct fs *fs, struct service *service);

#endif
