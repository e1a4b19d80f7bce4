/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tell: reports of the daemon about itself and its mount.
 *
 * For any thread, while requests are served and until setup_end(). The caller waits for no request
 * and no connection: counters are read without a lock, and locks are held for moments only.
 */
#ifndef RNFS_FS_COHERENCE_TELL_H
#define RNFS_FS_COHERENCE_TELL_H

#include "cli/report.h"
#include "fs/known/fs.h"

/* The mount and its state. */
void tell_hello(struct fs *fs, struct report *r);
/* tell_hello() with all counters; r has requests and operations. */
void tell_stat(struct fs *fs, struct report *r);

#endif
