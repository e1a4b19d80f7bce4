/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * memory: how much of the machine's memory a mount takes, and how it gives memory back.
 *
 * At the beginning the pool is bounded by cache_size= and by half of the least limit of the
 * process's control groups, since other processes live there too. A quarter is for messages, half
 * of the rest for data under way, the other half for the cache. RLIMIT_MEMLOCK bounds none of that:
 * where it is low, memory is registered for each RPC (transport/mem.h).
 *
 * Each second, the main thread looks how much room the groups have left. It also looks whenever the
 * kernel says that processes wait for memory, and the shortage is one of this process's
 * (cache/pressure.h). If memory is short, the cache's share is cut (cache/budget.h), blocks are
 * evicted, and unused pool memory goes back to the system. The share of data under way is cut too:
 * calls under way go on, and requests that need more memory wait until those have ended. Written
 * data that waits for its COMMIT is committed. Both shares also follow the least limit of the
 * control groups, down, and up to their first values.
 *
 * The main thread calls these functions, except memory_bytes().
 */
#ifndef RNFS_FS_PROGRAM_MEMORY_H
#define RNFS_FS_PROGRAM_MEMORY_H

#include "fs/known/fs.h"

struct memory;

/* root is the directory of /proc and /sys, "" but in tests; wanted is cache_size. NULL when out of
 * memory. */
struct memory *memory_new(const char *root, size_t wanted);
/* Accepts NULL, returns NULL. */
struct memory *memory_free(struct memory *m);

/* How many bytes the pool may have. */
size_t memory_bytes(const struct memory *m);
/* The shares of data and of the cache in bytes. If data needs all of them, the cache gets 0. */
void memory_split(size_t bytes, size_t *data, size_t *cached);

/* The connection is there. To be called before requests are served. */
void memory_connected(struct fs *fs);
/* Logs the bounds of the memory, and the sources that do not tell one. */
void memory_log(const struct fs *fs);

/* Readable for POLLPRI when processes wait for memory; -1: the kernel does not tell. */
int memory_fd(const struct fs *fs);
/* revents of memory_fd() have come. */
void memory_stalled(struct fs *fs, short revents);
/* About once a second. */
void memory_tick(struct fs *fs);

#endif
