/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * write: WRITEs by the kernel.
 *
 * Most are gathered: answered when their data is in the daemon's memory, and sent to the server
 * later, together with the data that follows (cache/writeback.h). A WRITE waits for the server's
 * answer in these cases:
 *
 *   - the program asked for durable data (O_DIRECT, O_SYNC, O_DSYNC);
 *   - the server decides where the data goes (O_APPEND: append.c);
 *   - the last WRITE to the file has failed, so that the program is told at once;
 *   - a lock on the file may be lost (nfs_locks_doubtful()): then a write that relies on the lock
 *     must fail.
 *
 * The kernel could gather writes itself (FUSE's write-back cache). The kernel would then take its
 * own size and times of a file for the right ones, and miss changes by other clients. So the kernel
 * writes through, and the daemon gathers.
 */
#ifndef RNFS_FS_FILE_WRITE_H
#define RNFS_FS_FILE_WRITE_H

#include "fs/known/fs.h"
#include "fs/kernel/request.h"

/* Gathers a small write and answers req. False: the write is not small, or cannot be gathered at
 * once. writepage: the kernel writes back mapped pages. *took: how many bytes were gathered. */
bool write_gather(struct fuse_req *req, struct file *f, bool writepage, uint64_t off,
	const struct fuse_bufvec *in, uint32_t *took);
/* write_gather() with the data of r, of which io_of(r)->took bytes have been gathered. Waits where
 * needed, and answers r. Or goes on with direct, if r must send the data itself, also where
 * write_is_gathered() says no. */
void write_gather_wait(struct request *r, request_step_fn *direct);
/* May a write through a descriptor with these flags be gathered? */
bool write_is_gathered(const struct fs *fs, const struct file *f, int flags, bool writepage);

/* How durable the data must be when r is answered. With O_SYNC, O_DSYNC and the like of pwritev2(2)
 * data is durable once answered, so the FSYNC that the kernel sends behind each write finds no data
 * to commit. */
enum nfs_stable write_stable(struct request *r);
/* Handles the result of a WRITE to r->file that was sent for `sent` bytes; 0 or a negative
 * errno. */
int write_took(struct request *r, struct nfs_op *op, uint32_t sent);
/* The server has changed ino by an operation of `by` whose data is not kept here, and tells how
 * safe the change is. The caller has cut the gathered data in the changed range
 * (written_cut_part()). */
void write_unkept(struct inode *ino, const struct rpc_cred *by, enum nfs_stable committed,
	const uint8_t *verf);
/* Answers with the bytes that the parts got, or with io_of(r)->error, and frees r. */
void write_reply(struct request *r);

#endif
