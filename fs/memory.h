/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * memory: how much of the machine's memory a mount takes, and how it gives it back.
 *
 * At its beginning the pool is bounded by cache_size= and by half of the least limit of the
 * process's control groups, since other processes live there too. A quarter is for messages, half
 * of the rest for data under way, the other half for the cache. RLIMIT_MEMLOCK bounds none of that:
 * where it is low, memory is registered for each RPC (transport/mem.h).
 *
 * While it runs, the main thread looks each second how much room the groups have left, and whenever
 * the kernel says that processes wait for memory and that is our shortage (cache/pressure.h). Is
 * memory short, the cache's share is cut (cache/budget.h), blocks are evicted, and what the pool
 * does not use goes back to the system. The share of data under way is cut, too: what is under way
 * goes on, and requests that need more wait until it has ended; written data that waits for its
 * COMMIT is committed. Both shares also follow the least limit of the control groups, down and up
 * to where they were at the beginning.
 *
 * The functions are the main thread's but for memory_bytes().
 */
#ifndef RNFS_FS_MEMORY_H
#define RNFS_FS_MEMORY_H

#include "fs/fs.h"

struct memory;

/* root is where /proc and /sys are, "" but in tests; wanted is cache_size. NULL when out of memory.
 */
struct memory *memory_new(const char *root, size_t wanted);
/* Accepts NULL, returns NULL. */
struct memory *memory_free(struct memory *m);

/* How many bytes the pool may have. */
size_t memory_bytes(const struct memory *m);
/* The shares of data and of the cache in them; of so few that data needs them all, 0 is the
 * cache's.
 */
void memory_split(size_t bytes, size_t *data, size_t *cached);

/* The connection is there. Before requests are served. */
void memory_connected(struct fs *fs);
/* Says in the log what bounds the memory, and what does not tell of it. */
void memory_log(const struct fs *fs);

/* Readable for POLLPRI when processes wait for memory; -1: nobody says so. */
int memory_fd(const struct fs *fs);
/* revents of memory_fd() have come. */
void memory_stalled(struct fs *fs, short revents);
/* About once a second. */
void memory_tick(struct fs *fs);

#endif
