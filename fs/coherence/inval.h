/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval: the thread that makes the kernel invalidate a file's cached pages, and attributes that may
 * be wrong. The call into the kernel returns when the pages are gone. The kernel may first wait for
 * pages that this daemon has to read or write. So a separate thread makes the call, not a worker
 * and not a progress thread.
 */
#ifndef RNFS_FS_COHERENCE_INVAL_H
#define RNFS_FS_COHERENCE_INVAL_H

#include <stdbool.h>

#include "fs/kernel/request.h"

struct fs;
struct inval;

/* NULL when out of memory or threads. */
struct inval *inval_start(struct fs *fs);
/* Makes the thread end when all work is done, and waits some seconds at most. False: the kernel
 * still waits for a page. Call inval_stop() before workers_stop(): the kernel may wait for READs
 * and WRITEs. Accepts NULL, and a second call. */
bool inval_stop(struct inval *v);
/* Is there nothing that the kernel is to invalidate? Any thread. */
bool inval_is_idle(struct inval *v);
/* Stops the thread and frees v. Accepts NULL, returns NULL. */
struct inval *inval_free(struct inval *v);
/* Makes the kernel invalidate the pages and attributes of r->inode or, if r->inode is NULL, of
 * r->file's inode. Then calls next(r), which must not wait for long, on the thread of v. No part of
 * r may be pending. Any thread; does not wait. After inval_stop() calls next(r) at once, and the
 * pages stay. */
void inval_then(struct inval *v, struct request *r, request_step_fn *next);
/* inval_then() for r, a granted lock. If a program's thread asks for attributes before a
 * notification and gets the answer after the notification, the kernel ignores the answer. The
 * program's thread goes on with the old size, although the thread may itself hold a lock. So the
 * notification waits until no attributes are in flight: 200 ms at most, or 2 s if the server is
 * slow, and the kernel is told no attributes. */
void inval_lock_then(struct inval *v, struct request *r, request_step_fn *next);
/* inval_then() for only the pages of [from, from + len) (len 0: to the end). The kernel writes
 * dirty pages first. */
void inval_pages_then(
	struct inval *v, struct request *r, off_t from, off_t len, request_step_fn *next);
/* Other clients may soon change ino, or a change that no answer has shown has ended: makes the
 * kernel invalidate its attributes of ino, if the kernel may believe any. As for a lock, the
 * notification waits until no attributes are in flight, 200 ms at most: a program that has just
 * opened the file gets the size that the open has brought. Does not wait. Any thread. */
void inval_doubt(struct inval *v, struct inode *ino);
/* Calls next for the requests that wait here and are GONE (request.h), also before the kernel has
 * invalidated the pages. */
void inval_end_gone(struct inval *v);

#endif
