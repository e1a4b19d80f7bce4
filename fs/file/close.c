/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * close: the end of an open file.
 */
#include "fs/file/close.h"

#include "fs/coherence/change.h"
#include "fs/file/flush.h"
#include "fs/file/late.h"
#include "fs/file/locker.h"
#include "fs/file/opening.h"
#include "fs/file/silly.h"
#include "transport/log.h"

struct close_state {
	int error; /* to be answered */
};

static struct close_state *close_of(const struct request *r)
{
	return request_state(r, struct close_state);
}

static void closed(struct request *r)
{
	bool drops_silly = r->file->drops_silly;
	struct inode *ino = r->file->inode;
	int error = close_of(r)->error;
	struct fs *fs = r->fs;

	if (ino) {
		inode_ref(ino);
		if (!r->batch.first.op.error)
			change_look(fs, ino, &r->batch.first.op.u.close.attr, r->born);
		opening_end(fs, ino);
		file_closed(fs, r->file);
	}
	file_free(r->file);
	request_end(r, error);
	if (ino)
		silly_drop(fs, ino);
	if (drops_silly)
		silly_close_end(fs);
	inode_unref(ino);
}

static void unlocked(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_CLOSE, close);

	op->u.close.open = r->file->open;
	/* not if a program waits for the close: rmdir(2), if the file has a silly name, or the
	 * caller that gets the error */
	op->u.close.patient = !r->file->drops_silly && !close_of(r)->error;
	request_submit(r, closed);
}

static void unlock(struct request *r)
{
	struct inode *ino = r->file->inode;

	if (!ino)
		unlocked(r);
	else if (!late_waits(r, ino, 0, UINT64_MAX, unlock))
		locker_close(r, unlocked);
}

/* Data that could not be made safe is given up. An open soon after reports the loss. */
static void flushed(struct request *r)
{
	if (!writeback_close(&r->file->writer) && flush_waits(r, r->file->inode, WRITTEN, flushed))
		return;
	if (!flush_waits_outlived(r, unlock))
		unlock(r);
}

/* Nor does a request of a killed process need the open file any more. */
static void nothing_late(struct request *r)
{
	if (!flush_waits(r, r->file->inode, STABLE, flushed))
		flushed(r);
}

/* No READ that needs this open file is in flight any more. */
static void nothing_read(void *ctx)
{
	struct request *r = ctx;

	if (!late_waits(r, r->file->inode, 0, UINT64_MAX, nothing_late))
		nothing_late(r);
}

void close_file(struct fs *fs, struct file *f, struct request *r, int error)
{
	bool known; /* to the kernel */

	if (!r)
		r = request_new_cred(fs, NULL, &f->cred);
	if (!r) {
		log_warn("a file stays open on the server: out of memory");
		return;
	}
	known = !error && r->fuse;
	request_keep_going(r); /* from here on it may time out */
	r->flush.closes = true;
	r->file = f;
	close_of(r)->error = error;
	if (!known)
		ledger_drop(fs->ledger, &f->note);
	if (f->inode) {
		writeback_give_up(&f->writer);
		locker_close_begin(f);
		f->drops_silly = silly_close_begin(fs, f->inode);
	}
	if (f->inode)
		fetcher_stop(&f->fetcher, nothing_read, r);
	else
		unlock(r);
}
