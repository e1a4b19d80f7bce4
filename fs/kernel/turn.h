/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * turn: a process that may be about to write, and smaller sizes that other processes are told.
 *
 * write(2) copies its data into pages of the kernel's cache, and the WRITE consists of those pages:
 * until the daemon has read the WRITE, the data is nowhere else. If a process is told a smaller
 * size than the kernel believes, the kernel clears the rest of the page in which the file now ends.
 * The kernel does so after it has let go of the inode's lock. If another process has filled that
 * page meanwhile, the WRITE brings zeros to the server, and readers of the page find zeros. The
 * kernel discards a smaller size in two cases only: while a write extends the file, by the size
 * that the kernel believes, and when a write has ended since the process asked.
 *
 * So a smaller size is dangerous if another client has cut the file and a process here writes
 * before the kernel has taken the new size. Two rules keep the two apart:
 *
 *     turn     A process is on turn from the moment that it is given a lock to write, opens the
 *              file to write or sends a WRITE. The turn ends when the process unlocks or closes
 *              the file, or after TURN_NS (turn.c). Other processes wait for a smaller size until
 *              the turn ends, for WAIT_NS if no WRITE is in flight, and then ask the server again.
 *              If the process on turn has written meanwhile, the kernel discards the answer. If
 *              not, a write in just that moment is unlikely. The process on turn is told at once.
 *     hearer   A thread that was told a smaller size may take long to handle the answer: the
 *              thread may wait for a page that is being read, or for a processor. The thread's
 *              next request shows that it has handled the answer. Until then, for HEARD_NS at
 *              most, no other process gets a lock to write, or opens the file to write.
 *
 * Where no other client cuts files no request waits. A request that has waited costs one round trip
 * more. These cases can still do harm, and only the kernel could prevent them:
 *
 *   - a thread handles a size later than HEARD_NS;
 *   - a thread is told a size after WAIT_NS, just when the process on turn writes;
 *   - one thread of the process on turn is told a size, and another thread writes;
 *   - a program stores to a mapping, or writes after a pause without a lock;
 *   - the answer to a LINK or CREATE, which does not wait, tells a smaller size.
 */
#ifndef RNFS_FS_KERNEL_TURN_H
#define RNFS_FS_KERNEL_TURN_H

#include "fs/kernel/request.h"

struct turns;

/* NULL when out of memory. */
struct turns *turns_new(void);
/* No request may wait. Accepts NULL, returns NULL. */
struct turns *turns_free(struct turns *t);

/* Thread pid (0: not known) may write to ino from now on. Any thread. */
void turn_begin(struct inode *ino, pid_t pid);
/* The process of thread pid has unlocked or closed ino: requests that wait for this turn go on. */
void turn_end(struct fs *fs, struct inode *ino, pid_t pid);
/* Is a process on turn that thread pid does not belong to, and may the kernel believe more than
 * `size` bytes of ino? Any thread. */
bool turn_forbids(struct inode *ino, pid_t pid, uint64_t size);
/* turn_forbids() for r, which asks about r->inode. True: r waits, and then calls next, which asks
 * the server again. A request waits once. */
bool turn_waits(struct request *r, uint64_t size, request_step_fn *next);

/* Thread tid is about to be told that ino has `size` bytes. */
void turn_told(struct fs *fs, struct inode *ino, pid_t tid, uint64_t size);
/* The daemon has read a request of thread tid. Called for each request. */
void turn_heard(struct fs *fs, pid_t tid);
/* r is about to give a process a turn to write to r->file. True: r waits for hearers of r->file,
 * and then calls next, even if r is GONE (request.h). */
bool turn_settles(struct request *r, request_step_fn *next);

/* Requests that have waited long enough go on. True: others wait. all: the mount ends, each request
 * goes on, and none waits from now on. For the main thread. */
bool turns_tick(struct fs *fs, bool all);
/* Ends the requests of turn_waits() that are GONE. */
void turn_end_gone(struct fs *fs);

#endif
