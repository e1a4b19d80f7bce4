/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * repeat: READs that the kernel must send again.
 *
 * The server says that a file ends, and the kernel believes a larger size. A short answer to the
 * READ normally teaches the kernel the smaller size. The kernel ignores that lesson if it has
 * learned anything else about the inode since it made the READ: attributes, a notification, or a
 * write or a change of the size by a process of this mount. The kernel then fills the rest of the
 * pages with zeros, and a reader that waits for a page takes zeros that no program wrote.
 *
 * Such a READ is answered with an error. The kernel has sent almost every first READ of a page for
 * its read-ahead. No program sees the error of a read-ahead: the page stays empty, and the reader
 * that needs the page makes the kernel send another READ. The kernel has made that READ after the
 * error, so it believes a short answer. The error waits until all that the kernel may still learn
 * has been learned, BELIEVED_TAKEN_NS at most after the last answer.
 *
 * If the kernel has learned something else once more meanwhile, and still may believe a larger
 * size, the second READ gets an error, too. The program then finds EINTR, or a short read, and its
 * next read(2) asks for the attributes first.
 *
 * A repetition costs one READ for each page that is read. Nothing is repeated while the kernel
 * believes no size larger than the file.
 */
#ifndef RNFS_FS_REPEAT_H
#define RNFS_FS_REPEAT_H

#include "fs/request.h"

struct repeats;

/* NULL when out of memory. */
struct repeats *repeats_new(void);
/* No request may wait. Accepts NULL, returns NULL. */
struct repeats *repeats_free(struct repeats *t);

/* A READ of f that the daemon read from the device at `born` and that thread tid sent (0: not
 * known) has got bytes up to `end`, less than it asks for: the file ends there. May the kernel take
 * zeros for the data behind the end? Any thread. */
bool repeat_must(const struct file *f, uint64_t end, uint64_t born, pid_t tid);
/* The same for r, a READ that has `got` bytes. True: r waits, and then calls next, which asks the
 * server again, or is answered with an error. False: r is to be answered. */
bool repeat_waits(struct request *r, uint32_t got, request_step_fn *next);

/* Thread tid is about to be answered a READ of ino. The thread's next READ is made after that. */
void repeat_answers(struct fs *fs, const struct inode *ino, pid_t tid);

/* READs that have waited long enough, or are GONE, go on. True: others wait. all: the mount ends,
 * and no READ waits from now on. Called by the main thread. */
bool repeats_tick(struct fs *fs, bool all);

#endif
