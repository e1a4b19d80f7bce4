/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * notify: telling the kernel that it must not believe names any more.
 *
 * The kernel takes the lock of the directory for that; a process that looks up, makes or removes a
 * name in the directory holds that lock until this daemon has answered. So a thread of its own
 * tells the kernel, and may block. An answer may wait for this thread only if nobody waits for the
 * answer with the directory locked. The answer to a LOOKUP of the directory itself does wait
 * (notify_then()): whoever walks into the directory then finds that the kernel believes no name in
 * it any more; unless names in the directory that the LOOKUP is in are to be doubted as well, for
 * which this thread may be waiting for that answer.
 *
 * A name that the kernel has already it looks up again without that lock. So whoever had asked may
 * have been answered before the name was taken back, and come to take the time from the answer only
 * afterwards: with it he brings the believing back. Answers that are given afterwards bring none
 * (inode_names_taken()); of those that were given just before nobody knows, so the names that they
 * are of are taken back a second time a moment later.
 */
#ifndef RNFS_FS_NOTIFY_H
#define RNFS_FS_NOTIFY_H

#include "fs/request.h"

struct fs;
struct notifier;

/* NULL when there is no memory or no thread. fs must have its session and its inodes. */
struct notifier *notifier_start(struct fs *fs);
/* Has the thread end when all that was asked for is done, and waits for that some seconds at most.
 * False: the kernel still waits for a directory's lock. Before workers_stop(): whoever holds the
 * lock waits for an answer. Afterwards nothing more is told to the kernel, and notify_then() does
 * not wait. Accepts NULL; may be called again. */
bool notifier_stop(struct notifier *n);
/* Stops the thread and frees n. Accepts NULL, returns NULL. */
struct notifier *notifier_free(struct notifier *n);

/* Calls the step of requests that wait here and are GONE (request.h). Accepts NULL. */
void notifier_end_gone(struct notifier *n);

/* Names in dir may stand for something else by now, or somebody may have lost the right to search
 * it: has the kernel doubt every name in it that it
 * believes. Does not wait. */
void notify_take_back(struct fs *fs, struct inode *dir);

/* Has the kernel doubt one name in dir. Does not wait. */
void notify_take_back_name(struct fs *fs, struct inode *dir, const char *name);

/* The same of every name of ino that it believes, wherever it is. */
void notify_take_back_names_of(struct fs *fs, struct inode *ino);

/* Is the kernel still to be told about names in dir? */
bool notify_pending(const struct inode *dir);
/* Calls step(r), on the notifier's thread, when the kernel has been told all that was asked for
 * before this call. r is asked by somebody who holds the lock of r->dir. False, and step is not
 * called: names in r->dir are to be told, and that waits for the answer to r; or out of memory, or
 * the mount ends. */
bool notify_then(struct fs *fs, struct request *r, request_step_fn *step);

#endif
