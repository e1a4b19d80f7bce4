/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tell: what this daemon tells of itself and its mount, as a report.
 *
 * For any thread, while requests are served and until setup_end(). The caller waits for no request
 * and no connection: counters are read as they are, and the locks that are taken are held for
 * moments.
 */
#ifndef RNFS_FS_TELL_H
#define RNFS_FS_TELL_H

#include "cli/report.h"
#include "fs/fs.h"

/* Which mount that is, and its state. */
void tell_hello(struct fs *fs, struct report *r);
/* The same with all counters; r has requests and operations. */
void tell_stat(struct fs *fs, struct report *r);

#endif
