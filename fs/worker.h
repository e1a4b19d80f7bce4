/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * worker: the threads that read the kernel's requests.
 *
 * Each reads into a block of pool memory, so that the data of a WRITE lies where it can be sent
 * from. The operation of a large WRITE takes the block over and the worker gets another. A worker
 * waits only for requests and, when the data under way has used up the mount's memory, for memory.
 */
#ifndef RNFS_FS_WORKER_H
#define RNFS_FS_WORKER_H

#include <stddef.h>
#include <sys/types.h>

struct fs;
struct mem_buf;
struct workers;

/* Starts n threads. They block all signals but SIGUSR2, which only ends a sleep (the caller has
 * installed a handler). fs->wake_fd is written when INIT has been answered and when the last worker
 * has ended. NULL when threads or memory cannot be had. */
struct workers *workers_start(struct fs *fs, unsigned n);
/* How many have not ended. */
unsigned workers_running(struct workers *w);
/* Makes all end (the session has been told to exit) and joins them. Accepts NULL, returns NULL. */
struct workers *workers_stop(struct workers *w);

/* In a write operation: the block that data lies in, now the caller's (counted by data_get()). NULL
 * if it does not lie in the calling worker's block. */
struct mem_buf *worker_take_buf(const void *data, size_t len);

/* data_get() that waits until there is memory; NULL only if the session ends, or the thread tid is
 * being killed, for which it is wanted (0: for none). */
struct mem_buf *worker_data_wait(struct fs *fs, size_t size, pid_t tid);

#endif
