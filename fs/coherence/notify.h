/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * notify: invalidates names in the kernel.
 *
 * To handle such a notification the kernel takes the lock of the directory. A process that looks
 * up, makes or removes a name in the directory holds the lock until this daemon has answered. So a
 * separate thread, the notifier, tells the kernel, and may block. An answer may wait for the
 * notifier only if no process waits for the answer with the directory locked. The answer to a
 * LOOKUP of the directory itself does wait (notify_then()): a process that walks into the directory
 * then finds no believed name there. The answer does not wait if names in the parent directory are
 * to be invalidated as well: the notifier may be waiting for that very answer.
 *
 * The kernel looks up a name that it already has without that lock. So a process may be answered
 * before the name is invalidated, and apply the time-out in the answer only afterwards: then the
 * kernel believes the name again. Answers after the invalidation give no time-out
 * (dirnames_recalled()). The daemon does not know when answers just before are handled. So the
 * names in such answers are invalidated a second time a moment later.
 */
#ifndef RNFS_FS_COHERENCE_NOTIFY_H
#define RNFS_FS_COHERENCE_NOTIFY_H

#include "fs/kernel/request.h"
#include "transport/rpc/xdr.h"

struct fs;
struct notifier;

/* NULL when there is no memory or no thread. fs must have its session and its inodes. */
struct notifier *notifier_start(struct fs *fs);
/* Makes the thread end when all work is done, and waits some seconds at most. False: the kernel
 * still waits for a directory's lock. To be called before workers_stop(): the process with the lock
 * waits for an answer. Afterwards no notification is sent, and notify_then() does not wait. Accepts
 * NULL; may be called again. */
bool notifier_stop(struct notifier *n);
/* Is every name told that was to be told, except names that wait to be told again? Any thread. */
bool notifier_is_idle(struct notifier *n);
/* The names that wait to be told again, for a successor (record.h). put: the notifier is idle. get:
 * fs->inodes are those of the record; on failure x is bad; false: no memory. */
void notifier_put_record(struct notifier *n, struct xdr_out *x);
bool notifier_get_record(struct notifier *n, struct xdr_in *x);
/* Stops the thread and frees n. Accepts NULL, returns NULL. */
struct notifier *notifier_free(struct notifier *n);

/* Calls the step of requests that wait here and are GONE (request.h). Accepts NULL. */
void notifier_end_gone(struct notifier *n);

/* Names in dir may stand for other files by now, or a user may have lost the right to search dir:
 * invalidates every name in dir that the kernel believes. Does not wait. */
void notify_take_back(struct fs *fs, struct inode *dir);

/* Invalidates one name in dir. Does not wait. */
void notify_take_back_name(struct fs *fs, struct inode *dir, const char *name);

/* Invalidates every name of ino that the kernel believes, in any directory. Does not wait. */
void notify_take_back_names_of(struct fs *fs, struct inode *ino);

/* Is an invalidation of names in dir still pending? */
bool notify_pending(const struct inode *dir);
/* Calls step(r), on the notifier's thread, after all invalidations that were asked for before this
 * call. The process that waits for r holds the lock of r->dir. False, and step is not called: an
 * invalidation of names in r->dir is pending, and waits for the answer to r; or out of memory, or
 * the mount ends. */
bool notify_then(struct fs *fs, struct request *r, request_step_fn *step);

#endif
