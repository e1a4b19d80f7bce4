/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * append: WRITE through a descriptor that is O_APPEND.
 */
#ifndef RNFS_FS_FILE_APPEND_H
#define RNFS_FS_FILE_APPEND_H

#include "fs/kernel/request.h"

struct appends; /* the requests that wait until others have appended to the same file */

/* NULL when out of memory. */
struct appends *appends_new(void);
/* No request may wait. Accepts NULL, returns NULL. */
struct appends *appends_free(struct appends *a);

/* Writes the data of r (r->file, r->batch.data, io_of(r)) to the end of the file, once all earlier
 * appends to the file have ended, and answers r. */
void append_start(struct request *r);
/* Ends the requests that wait and are GONE (request.h). */
void append_end_gone(struct fs *fs);

#endif
