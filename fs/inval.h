/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval: the thread that has the kernel drop a file's cached pages. The call into the kernel
 * returns when that is done, and the kernel may first wait for pages that this daemon has to read
 * or write. So neither a worker nor a progress thread makes that call, but a thread of its own.
 */
#ifndef RNFS_FS_INVAL_H
#define RNFS_FS_INVAL_H

#include <stdbool.h>

#include "fs/request.h"

struct fs;
struct inval;

/* NULL when out of memory or threads. */
struct inval *inval_start(struct fs *fs);
/* Has the thread end when all that was asked for is done, and waits for that some seconds at most.
 * False: the kernel still waits for a page. Before workers_stop(): the kernel may wait for READs
 * and WRITEs. Accepts NULL; may be called again. */
bool inval_stop(struct inval *v);
/* Stops the thread and frees v. Accepts NULL, returns NULL. */
struct inval *inval_free(struct inval *v);
/* Has the kernel drop the pages and attributes of r->inode, or, if that is NULL, of r->file's, then
 * calls next(r), which must not wait for long, on that thread. No part of r may be pending. Any
 * thread; does not wait. After inval_stop() it calls next(r) at once, and the pages stay. */
void inval_then(struct inval *v, struct request *r, request_step_fn *next);
/* The same with the pages of [from, from + len) alone (len 0: to the end), of which the kernel
 * writes the dirty ones first. */
void inval_pages_then(
	struct inval *v, struct request *r, off_t from, off_t len, request_step_fn *next);
/* Calls next for the requests that wait here and are GONE (request.h), pages dropped or not. */
void inval_end_gone(struct inval *v);

#endif
