/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval: the thread that has the kernel drop a file's cached pages. The kernel does that while the
 * caller waits, and it may have to wait itself until pages have been read or written by this
 * daemon: whoever serves requests or replies must not be the caller.
 */
#ifndef RNFS_FS_INVAL_H
#define RNFS_FS_INVAL_H

#include <stdbool.h>

#include "fs/request.h"

struct fs;
struct inval;

/* NULL when out of memory or threads. */
struct inval *inval_start(struct fs *fs);
/* Has the thread end after what has been asked for, and waits for that, but not for ever: false if
 * the kernel still waits for a page. So the workers must be there yet, to answer what it waits for.
 * Accepts NULL; may be called again. */
bool inval_stop(struct inval *v);
/* Stops it, too. Accepts NULL, returns NULL. */
struct inval *inval_free(struct inval *v);
/* Drops the pages and attributes of the file of r (r->inode, or without one r->file; nothing of r
 * may be under way), then calls next(r), on a thread that may not wait for long. Any thread; does
 * not wait. After inval_stop() it only calls next. */
void inval_then(struct inval *v, struct request *r, request_step_fn *next);
/* The same, and then ends r with 0. */
void inval_then_end(struct inval *v, struct request *r);
/* Goes on with what is GONE (request.h), its pages dropped or not. */
void inval_end_gone(struct inval *v);

#endif
