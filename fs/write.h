/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * write: what every WRITE of the kernel's has in common, wherever its data goes: to where the
 * kernel says (ops_data.c), or to the end of the file (append.c).
 */
#ifndef RNFS_FS_WRITE_H
#define RNFS_FS_WRITE_H

#include "fs/request.h"

/* How durable the data must be when r is answered. O_SYNC, O_DSYNC and their like of pwritev2(2):
 * durable once answered, so that the FSYNC that the kernel sends behind each has nothing to commit.
 */
enum nfs_stable write_stable(struct request *r);
/* Takes in the results of a WRITE to r->file that was sent for `sent` bytes; 0 or a negative errno.
 */
int write_took(struct request *r, struct nfs_op *op, uint32_t sent);
/* Answers with what the parts have got, or with r->u.io.error, and frees r. */
void write_reply(struct request *r);
/* Answers with r->u.io.error, and frees r. Nobody sees the answer if mapped pages are written back:
 * then the error is noted for close (filedata_unwritten()). */
void write_failed(struct request *r);

#endif
