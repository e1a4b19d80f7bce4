/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * notify: telling the kernel that it must not believe names any more.
 *
 * The kernel takes the directory's lock for that, which whoever looks up, makes or removes a name
 * in it holds until we have answered. So a thread of its own tells, which may block; no answer may
 * wait for it but those that hold no directory's lock: a LOOKUP of the directory itself does
 * (notify_then()), so that whoever walks into it finds the names in it in doubt already.
 */
#ifndef RNFS_FS_NOTIFY_H
#define RNFS_FS_NOTIFY_H

#include "fs/request.h"

struct fs;
struct notifier;

/* NULL when there is no memory or no thread. fs must have its session and its inodes. */
struct notifier *notifier_start(struct fs *fs);
/* Has the thread end after what has been asked for, and waits for that a few seconds at most: false
 * if the kernel still waits for a directory's lock. The workers must be there yet, to answer who
 * holds it. What comes later is not told, but goes on. Accepts NULL; may be called again. */
bool notifier_stop(struct notifier *n);
/* Stops it, too. Accepts NULL, returns NULL. */
struct notifier *notifier_free(struct notifier *n);

/* Goes on with requests that wait here and are GONE (request.h). Accepts NULL. */
void notifier_end_gone(struct notifier *n);

/* Others than before may search dir: takes back the names in it that the kernel believes. Does not
 * wait. */
void notify_take_back(struct fs *fs, struct inode *dir);

/* Is something about names in dir still to be told? */
bool notify_pending(const struct inode *dir);
/* Calls step(r), on the notifier's thread, when all is told that has been asked for by now. */
void notify_then(struct fs *fs, struct request *r, request_step_fn *step);

#endif
