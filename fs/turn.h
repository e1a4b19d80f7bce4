/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * turn: a process that may be about to write, and smaller sizes that other processes are told.
 *
 * write(2) copies its data into pages of the kernel's cache, and the WRITE consists of those pages:
 * until the daemon has read the WRITE, the data is nowhere else. A process that is told a smaller
 * size than the kernel believes in has the kernel clear the rest of the page in which the file ends
 * now. The kernel does so after it has let go of the inode's lock. If another process has filled
 * that page meanwhile, the WRITE brings zeros to the server, and readers of the page find zeros.
 * The kernel discards a smaller size in two cases only: while a write extends the file, by the size
 * that the kernel believes in, and when a write has ended since the process asked.
 *
 * So a smaller size is dangerous if another client has cut the file and a process here writes
 * before the kernel has taken the new size. Two rules keep them apart:
 *
 *     turn     A process is on turn from the moment that it is given a lock to write, opens the
 *              file to write or sends a WRITE, until it unlocks or closes the file, for TURN_NS
 *              (turn.c) at most. Other processes wait for a smaller size until the turn ends, for
 *              WAIT_NS if no WRITE is under way, and then ask the server again. If the process on
 *              turn has written meanwhile, the kernel discards the answer; if not, it is not
 *              likely to write in just that moment. The process on turn is told at once.
 *     hearer   A thread that was told a smaller size may be long in handling it: it may wait for
 *              a page that is being read, or for a processor. Its next request shows that it has
 *              done so. Until then, for HEARD_NS at most, no other process gets a lock to write,
 *              or opens the file to write.
 *
 * Where no other client cuts files no request waits. A request that has waited costs one round trip
 * more. A thread that handles a size later than HEARD_NS, or is told one after WAIT_NS in the very
 * moment in which the process on turn writes, can still do harm, as can another thread of the
 * process on turn; only the kernel could prevent that.
 */
#ifndef RNFS_FS_TURN_H
#define RNFS_FS_TURN_H

#include "fs/request.h"

struct turns;

/* NULL when out of memory. */
struct turns *turns_new(void);
/* No request may wait. Accepts NULL, returns NULL. */
struct turns *turns_free(struct turns *t);

/* Thread pid (0: not known) may write to ino from now on. Any thread. */
void turn_begin(struct inode *ino, pid_t pid);
/* The process of thread pid has unlocked or closed ino: requests that wait for this turn go on. */
void turn_end(struct fs *fs, struct inode *ino, pid_t pid);
/* Is a process on turn that thread pid does not belong to, and may the kernel believe in more than
 * `size` bytes of ino? Any thread. */
bool turn_forbids(struct inode *ino, pid_t pid, uint64_t size);
/* The same for r, which asks about r->inode. True: r waits, and then calls next, which asks the
 * server again. A request waits once. */
bool turn_waits(struct request *r, uint64_t size, request_step_fn *next);

/* Thread tid is about to be told that ino has `size` bytes. */
void turn_told(struct fs *fs, struct inode *ino, pid_t tid, uint64_t size);
/* The daemon has read a request of thread tid. Called for each request. */
void turn_heard(struct fs *fs, pid_t tid);
/* r is about to give a process a turn to write to r->file. True: r waits for hearers of r->file,
 * and then calls next, even if r is GONE (request.h). */
bool turn_settles(struct request *r, request_step_fn *next);

/* Requests that have waited long enough go on. True: others wait. all: the mount ends; each request
 * goes on, and none waits from now on. By the main thread. */
bool turns_tick(struct fs *fs, bool all);
/* Ends the requests of turn_waits() that are GONE. */
void turn_end_gone(struct fs *fs);

#endif
