/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * repeat: READs that the kernel must send again.
 *
 * The server says that a file ends, and the kernel believes a larger size. A short answer to the
 * READ normally teaches the kernel the smaller size. The kernel ignores the short answer if its
 * inode has changed since the kernel made the READ: by attributes, a notification, or a write or a
 * change of the size by a process of this mount. The kernel then fills the rest of the pages with
 * zeros, and a reader that waits for a page takes zeros that no program wrote.
 *
 * The daemon answers such a READ with an error. The kernel has sent almost every first READ of a
 * page for its read-ahead. No program sees the error of a read-ahead: the page stays empty, and the
 * reader that needs the page makes the kernel send another READ. The kernel makes the second READ
 * after the error, and so believes a short answer. The daemon delays the error until the kernel has
 * handled all earlier answers, BELIEVED_TAKEN_NS after the last one at most.
 *
 * If this mount has written behind the end meanwhile, the daemon asks the server again instead, and
 * gets a longer answer.
 *
 * The inode may change once more meanwhile, and the kernel may still believe a larger size. Then
 * the second READ gets an error, too. The program gets EINTR, or a short read, and for its next
 * read(2) the kernel asks for the attributes first.
 *
 * A repetition costs one READ for each page. The daemon asks for no repetition while the kernel
 * believes no size larger than the file.
 */
#ifndef RNFS_FS_COHERENCE_REPEAT_H
#define RNFS_FS_COHERENCE_REPEAT_H

#include "fs/kernel/request.h"

struct repeats;

/* NULL when out of memory. */
struct repeats *repeats_new(void);
/* No request may wait. Accepts NULL, returns NULL. */
struct repeats *repeats_free(struct repeats *t);

/* The daemon read a READ of f from the device at `born`, by thread tid (0: not known). The server
 * has sent fewer bytes than asked for, up to `end`: the end of the file. May the kernel take zeros
 * for the data behind the end? Any thread. */
bool repeat_must(const struct file *f, uint64_t end, uint64_t born, pid_t tid);
/* repeat_must() for r, a READ that has `got` bytes. True: r waits, and then calls next, which asks
 * the server again; or r ends with an error. False: the caller answers r. */
bool repeat_waits(struct request *r, uint32_t got, request_step_fn *next);

#define REPEAT_ASKS                                                                                \
	3u /* how often the daemon asks the server again, because of writes of this mount */
/* The server says to r, a READ, that the file ends at `end`. Has this mount written behind `end`
 * since the daemon asked? True: the caller asks the server again; at most REPEAT_ASKS times. */
bool repeat_is_outgrown(struct request *r, uint64_t end);

/* The daemon is about to answer thread tid's READ of ino. The kernel makes the thread's next READ
 * after the answer. */
void repeat_answers(struct fs *fs, const struct inode *ino, pid_t tid);

/* READs that have waited long enough, or are GONE, go on. True: other READs wait. all: the mount
 * ends, and no READ waits from now on. For the main thread. */
bool repeats_tick(struct fs *fs, bool all);

#endif
