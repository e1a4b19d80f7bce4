/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * commit: bringing what was written to a file to stable storage on the server.
 */
#include "fs/commit.h"

#include <errno.h>
#include <string.h>

#include "fs/change.h"
#include "fs/file.h"
#include "transport/log.h"

static void log_lost(const struct inode *ino)
{
	log_error("the server restarted before data of file %llu was committed: what was written "
		  "before may be lost",
		(unsigned long long)ino->fileid);
}

void commit_wrote(struct inode *ino, enum nfs_stable committed, const uint8_t *verf)
{
	if (!filedata_wrote(&ino->data, committed, verf))
		log_lost(ino);
}

void commit_submit(struct request *r, uint64_t gen, request_step_fn *step)
{
	r->commit_gen = gen;
	request_op(r, NFS_COMMIT, commit)->u.commit.fh = r->file->inode->fh;
	request_submit(r, step);
}

int commit_result(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct inode *ino = r->file->inode;

	if (op->error) {
		/* unless the caller was merely killed, all who wait for the data must know */
		if (op->error != -EINTR)
			filedata_failed(&ino->data, r->commit_gen, op->error);
		log_warn("COMMIT of file %llu failed: %s", (unsigned long long)ino->fileid,
			strerror(-op->error));
		return op->error;
	}
	change_look(r->fs, ino, &op->u.commit.attr, r->born);
	if (!filedata_committed(&ino->data, r->commit_gen, op->u.commit.verf)) {
		log_lost(ino);
		return -EIO;
	}
	return 0;
}
