/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * commit: bringing what was written to a file to stable storage on the server.
 *
 * Written data is UNSTABLE on the server until a COMMIT. One is sent at fsync, at each close
 * (flush), before an unlock and before the server's CLOSE if anything was written since the last.
 * If the server restarted in between, data may be lost, and there is no copy to send again: the
 * caller of fsync or close is told, as is every other one that has the file open (filedata.h).
 */
#ifndef RNFS_FS_COMMIT_H
#define RNFS_FS_COMMIT_H

#include "fs/request.h"

/* A WRITE or COPY to ino was answered. The caller touches it. */
void commit_wrote(struct inode *ino, enum nfs_stable committed, const uint8_t *verf);
/* Sends a COMMIT of r->file; step follows. gen is filedata_dirty()'s. */
void commit_submit(struct request *r, uint64_t gen, request_step_fn *step);
/* Evaluates it: 0 or a negative errno, which has been noted for whoever else is to be told. */
int commit_result(struct request *r);

#endif
