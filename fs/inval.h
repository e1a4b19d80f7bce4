/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval: the thread that has the kernel drop a file's cached pages. The kernel does that while the
 * caller waits, and it may have to wait itself until pages have been read or written by this
 * daemon: whoever serves requests or replies must not be the caller.
 */
#ifndef RNFS_FS_INVAL_H
#define RNFS_FS_INVAL_H

struct fs;
struct inval;
struct request;

/* NULL when out of memory or threads. */
struct inval *inval_start(struct fs *fs);
/* Ends after what has been asked for. Accepts NULL, returns NULL. */
struct inval *inval_stop(struct inval *v);
/* Drops the pages and attributes of the file of r (r->file, nothing of r may be under way), then
 * ends r with 0. Any thread; does not wait. */
void inval_then_end(struct inval *v, struct request *r);

#endif
