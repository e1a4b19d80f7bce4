/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * event: makes an event (trace.h) of a request that is being answered: its process, and its file.
 * Only while a command listens.
 *
 * The process still waits, and the kernel still knows the inode, so both can be looked up.
 */
#ifndef RNFS_FS_KERNEL_EVENT_H
#define RNFS_FS_KERNEL_EVENT_H

#include "cli/word.h"
#include "fs/observe/account.h"
#include "fs/known/fs.h"

/* The request with number unique, which the calling thread answers next, is about a name in dir; a
 * RENAME also about a name in to_dir, else to_dir is NULL. */
void event_names(struct fs *fs, uint64_t unique, struct inode *dir, const char *name,
	struct inode *to_dir, const char *to_name);
/* That request was answered. */
void event_ended(struct fs *fs, const struct account_end *end);

/* Adds the event as a line: see cli/ask.h. */
void event_write(const struct trace_event *e, struct words *w);

#endif
