/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * worker: the threads that read the kernel's requests.
 *
 * Each worker reads into a block of pool memory, so that the data of a WRITE can be sent from where
 * it lies. The operation of a large WRITE takes the block over, and the worker gets another. A
 * worker waits only for requests and, when the data in flight has used up the mount's memory, for
 * memory. If that wait is as long as the kernel may wait for a request, requests that are still to
 * be read may be as old: request_pool_overdue() makes such requests fail at once.
 *
 * Requests come in rows. While a message that a worker has sent is kept back (cork.h), the worker
 * reads on, and does not sleep before the message has left.
 */
#ifndef RNFS_FS_KERNEL_WORKER_H
#define RNFS_FS_KERNEL_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fs;
struct mem_buf;
struct seg_list;

/* Starts n threads: fs->workers. The threads block all signals but SIGUSR2, which only ends a sleep
 * (the caller has installed a handler). fs->wake_fd is written when INIT has been answered and when
 * the last worker has ended. False: no threads or no memory. */
bool workers_start(struct fs *fs, unsigned n);
/* The number of workers that have not ended. */
unsigned workers_running(const struct fs *fs);
/* The workers read no more requests from now on, and end those that they have read. Returns once
 * all are at rest; false: not before `until` (clock_ns()), and the workers go on. For the main
 * thread. */
bool workers_pause(struct fs *fs, uint64_t until);
/* The workers, which are at rest, go on. */
void workers_resume(struct fs *fs);
/* Tells the session to exit, waits until all workers have ended and frees them. Does nothing
 * without workers. */
void workers_stop(struct fs *fs);

/* Is the calling thread a worker that reads on, while the message of an earlier request is kept
 * back? Then read() must not sleep (device.h). */
bool worker_in_row(void);

/* In a write operation: the block with the data, now the caller's (as from data_get()). NULL if the
 * data does not lie in the calling worker's block. */
struct mem_buf *worker_take_buf(struct fs *fs, const void *data, size_t len);

/* data_get_list() that waits for memory, for a request that was just read. Returns 0, or the errno
 * to answer the request with: ENOTCONN, the session ends; EINTR, the request's thread tid (0: not
 * known) is being killed; ETIMEDOUT, the kernel would not wait longer (patience.h). */
int worker_data_wait(struct fs *fs, uint32_t size, pid_t tid, struct seg_list *l);

#endif
