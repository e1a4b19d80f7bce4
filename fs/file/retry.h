/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * retry: files that a thread is about to open again.
 *
 * After ESTALE for an open the kernel looks the path up and opens once more (stale.h). A rename in
 * between, by another process of this mount, would remove the file: the second open then finds
 * neither the name nor the handle, and the program is told ESTALE. On a local file system, and with
 * the kernel's client, the program opens the old file or the new one. So the file of the first open
 * counts as open until the second open comes (opening.h), and a rename or unlink gives the file a
 * silly name (silly.h). The hold also ends when the thread has failed to find the path, and after
 * RETRY_HOLD_NS: a signal may have ended the thread.
 *
 * A thread's place is its number modulo the size of the table. A thread that takes the place of
 * another ends the other's hold. Any thread may call any function. The lock is a leaf.
 */
#ifndef RNFS_FS_FILE_RETRY_H
#define RNFS_FS_FILE_RETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RETRY_HOLD_NS UINT64_C(3000000000)

struct fs;
struct inode;
struct retries;

/* NULL when out of memory. */
struct retries *retries_new(void);
/* Before the inode table ends. Accepts NULL, returns NULL. */
struct retries *retries_free(struct retries *t);

/* The open of ino by thread tid is about to be answered ESTALE; 0: not known, and nothing is held.
 */
void retry_hold(struct fs *fs, pid_t tid, struct inode *ino);
/* tid has begun its next open, or will not open. */
void retry_let_go(struct fs *fs, pid_t tid);
/* Ends holds that have lasted long enough, or all. The main thread, about once a second. */
void retries_tick(struct fs *fs, bool all);

#endif
