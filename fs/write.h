/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * write: WRITEs of the kernel's.
 *
 * Most are gathered: answered when their data is in the daemon's memory, and sent to the server
 * later, together with what follows (cache/writeback.h). Whoever writes waits for the server's
 * answer if he has asked for that (O_DIRECT, O_SYNC, O_DSYNC), if it decides where the data goes
 * (O_APPEND: append.c), if the last WRITE to the file has failed, so that he is told at once, or if
 * a lock on the file may be lost (nfs_locks_doubtful()): if it is, the write that relies on it must
 * fail.
 */
#ifndef RNFS_FS_WRITE_H
#define RNFS_FS_WRITE_H

#include "fs/fs.h"
#include "fs/request.h"

/* Gathers a small write and answers req. False: it is not small, or that cannot be done at once.
 * *took: how many bytes were gathered. */
bool write_gather(struct fuse_req *req, struct file *f, uint64_t off, const struct fuse_bufvec *in,
	uint32_t *took);
/* The same with the data of r, of which r->u.io.took bytes have been gathered: waits where it must,
 * and answers r; or goes on with direct, if r is to send the data itself, also where
 * write_is_gathered() says no. */
void write_gather_wait(struct request *r, request_step_fn *direct);
/* May a write through a descriptor with these flags be gathered? */
bool write_is_gathered(const struct fs *fs, const struct file *f, int flags, bool writepage);

/* How durable the data must be when r is answered. O_SYNC, O_DSYNC and their like of pwritev2(2):
 * durable once answered, so that the FSYNC that the kernel sends behind each has nothing to commit.
 */
enum nfs_stable write_stable(struct request *r);
/* Takes in the results of a WRITE to r->file that was sent for `sent` bytes; 0 or a negative errno.
 */
int write_took(struct request *r, struct nfs_op *op, uint32_t sent);
/* The server has changed ino by an operation of `by` whose data is not kept, and says how safe that
 * is. What was gathered and changed by it has been cut (written_cut_part()). */
void write_unkept(struct inode *ino, const struct rpc_cred *by, enum nfs_stable committed,
	const uint8_t *verf);
/* Answers with what the parts have got, or with r->u.io.error, and frees r. */
void write_reply(struct request *r);

#endif
