/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_append: WRITE through a descriptor that is O_APPEND.
 */
#ifndef RNFS_FS_OPS_APPEND_H
#define RNFS_FS_OPS_APPEND_H

#include "fs/request.h"

/* r, a WRITE of the kernel's at hand (r->file, data, size and offset), goes to the end of the file,
 * behind appends that came before, and is answered. */
void append_start(struct request *r);
/* Ends those that wait for others and are GONE (request.h). */
void append_end_gone(struct fs *fs);

#endif
