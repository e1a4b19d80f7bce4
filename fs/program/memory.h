/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * memory: how much of the machine's memory a mount takes, and how the mount gives memory back.
 *
 * At the beginning the pool is bounded by cache_size= and by half of the least limit of the
 * process's control groups, because other processes live there too. A quarter is for messages, half
 * of the rest for data in flight, the other half for the cache. RLIMIT_MEMLOCK bounds none of these
 * shares: where RLIMIT_MEMLOCK is low, memory is registered for each RPC (transport/mem.h).
 *
 * Each second, the main thread looks how much room the groups have left. The main thread also looks
 * whenever the kernel says that processes wait for memory, and the shortage is one of this
 * process's (cache/pressure.h). If memory is short, the cache's share is cut (cache/budget.h),
 * blocks are evicted, and unused pool memory goes back to the system. The share of data in flight
 * is cut too: calls in flight go on, and requests that need more memory wait until those calls have
 * ended. UNSTABLE data is committed. Both shares also follow the least limit of the control groups,
 * down, and up to their first values. A share exceeds the bytes in use by half of the room at most
 * (an eighth of each limit is not counted as room):
 * a mount that has rested while other processes took memory does not take at once memory that is
 * not there.
 *
 * The main thread calls these functions, except memory_bytes().
 */
#ifndef RNFS_FS_PROGRAM_MEMORY_H
#define RNFS_FS_PROGRAM_MEMORY_H

#include "fs/known/fs.h"

struct memory;

/* root: the directory of /proc and /sys, "" but in tests; wanted: cache_size. NULL when out of
 * memory. */
struct memory *memory_new(const char *root, size_t wanted);
/* Accepts NULL, returns NULL. */
struct memory *memory_free(struct memory *m);

/* How many bytes the pool may have. */
size_t memory_bytes(const struct memory *m);
/* How many KiB the kernel may read ahead of a program, if the mount's readahead is kb. The kernel
 * cannot reclaim those pages before it has its answer, and has up to twice as many for each
 * program. So a control group with a limit of 128 MiB gets 2 MiB, a larger or smaller one in
 * proportion. */
unsigned memory_ahead_kb(const struct memory *m, unsigned kb);
/* The shares of data and of the cache in bytes. If data needs all bytes, the cache gets 0. */
void memory_split(size_t bytes, size_t *data, size_t *cached);

/* The daemon has connected. To be called before requests are served. */
void memory_connected(struct fs *fs);
/* Logs the bounds of the memory, and the sources without a bound. */
void memory_log(const struct fs *fs);

/* Readable for POLLPRI when processes wait for memory; -1: the kernel does not tell. */
int memory_fd(const struct fs *fs);
/* poll() has returned revents for memory_fd(). */
void memory_stalled(struct fs *fs, short revents);
/* About once a second. */
void memory_tick(struct fs *fs);

#endif
