/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * write: what every WRITE of the kernel's has in common, wherever its data goes.
 */
#include "fs/write.h"

#include <errno.h>
#include <fcntl.h>

#include "fs/change.h"
#include "fs/commit.h"
#include "fs/entry.h"
#include "fs/file.h"
#include "transport/log.h"

#define WHOLE_FILE_MAX (64u << 10) /* bytes of a file that is written at once */
#define WHOLE_PAGE     4096u

/* Is this write probably all of a small file? Then no COMMIT need follow it at close, if it goes to
 * stable storage by itself: a round trip, for what the server does anyway. If more is written after
 * all the server has had one sync more to do. A write that ends with a page is one of many more
 * often. */
static bool is_whole_file(struct request *r)
{
	uint32_t n = r->batch.data.len;
	uint64_t gen;

	return !r->u.io.writepage && atomic_exchange(&r->file->fresh, false) && !r->u.io.offset &&
	       n <= WHOLE_FILE_MAX && n % WHOLE_PAGE &&
	       !filedata_dirty(&r->file->inode->data, &gen);
}

enum nfs_stable write_stable(struct request *r)
{
	if (is_whole_file(r))
		return NFS_FILE_SYNC;
	if (r->u.io.writepage || !(r->u.io.flags & O_DSYNC))
		return NFS_UNSTABLE;
	return (r->u.io.flags & O_SYNC) == O_SYNC ? NFS_FILE_SYNC : NFS_DATA_SYNC;
}

int write_took(struct request *r, struct nfs_op *op, uint32_t sent)
{
	change_end(r->fs, r->file->inode, op);
	if (op->error)
		return op->error;
	if (!op->u.write.count || op->u.write.count > sent) {
		log_error(
			"server says it wrote %u of %u bytes: server bug", op->u.write.count, sent);
		return -EREMOTEIO;
	}
	inode_touch_data(r->file->inode);
	commit_wrote(r->file->inode, op->u.write.committed, op->u.write.verf);
	return 0;
}

void write_failed(struct request *r)
{
	if (r->u.io.writepage)
		filedata_unwritten(&r->file->inode->data, r->u.io.error);
	request_end(r, r->u.io.error);
}

void write_reply(struct request *r)
{
	fuse_req_t fuse;
	uint32_t n = batch_done_bytes(&r->batch);

	stats_add(&r->fs->stats.write_bytes, n);
	if (n)
		entry_doubt_set_id(r->fs, r->file->inode);
	/* The kernel knows no short count when it writes mapped pages back: that must be an error.
	 */
	if (r->u.io.error && (!n || r->u.io.writepage)) {
		write_failed(r);
		return;
	}
	inode_told_end(r->file->inode, r->u.io.offset + n);
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_write(fuse, n);
}
