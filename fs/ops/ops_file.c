/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_file: opening files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/file/cached.h"
#include "fs/file/close.h"
#include "fs/coherence/deleg.h"
#include "fs/lookup/entry.h"
#include "fs/coherence/file_info.h"
#include "fs/file/file_former.h"
#include "fs/file/flush.h"
#include "fs/file/late.h"
#include "fs/file/open_note.h"
#include "fs/known/names.h"
#include "fs/coherence/notify.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/file/retry.h"
#include "fs/file/silly.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"

#define OPEN_EXEC 0x20 /* the kernel's __FMODE_EXEC: execve(2) opens */

static void open_tell(struct request *r)
{
	struct fs *fs = r->fs;
	struct file *f = r->file;
	/* the attributes of an open that truncates are from after the truncation */
	uint64_t asked = f->flags & O_TRUNC ? clock_ns() : r->born;
	const struct nfs_attr *attr = open_of(r)->alone ? NULL : &r->batch.first.op.u.open.attr;
	struct fuse_file_info fi = file_info(fs, f, attr, asked);
	fuse_req_t fuse;

	cached_open_end(r, fi.keep_cache);
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse_reply_open(fuse, &fi))
		close_file(fs, f, NULL, 0);
}

/* A process that opens a file to write may write next. */
static void open_reply(struct request *r)
{
	if ((r->file->flags & O_ACCMODE) == O_RDONLY) {
		open_tell(r);
		return;
	}
	turn_begin(r->file->inode, r->pid);
	if (!turn_settles(r, open_tell))
		open_tell(r);
}

static bool open_only_reads(const struct file *f)
{
	return (f->flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY;
}

/* The right that a successful OPEN does not prove, and that must be asked for; 0: none. A server
 * opens a file for reading, too, for users that may only execute the file, and for execve(2), too,
 * for users that may only read the file. */
static uint32_t open_doubt(const struct file *f, const struct nfs_attr *attr)
{
	if (f->flags & OPEN_EXEC)
		return NFS_ACCESS_EXECUTE;
	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return 0;
	return (attr->mode & 0444) != 0444 && attr->mode & 0111 ? NFS_ACCESS_READ : 0;
}

/* The rights that a caller must be known to have, to open a file with these flags without the
 * server. */
static uint32_t open_rights(int flags)
{
	const uint32_t write = NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND;

	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		return flags & OPEN_EXEC ? NFS_ACCESS_EXECUTE : NFS_ACCESS_READ;
	case O_WRONLY:
		return write;
	default:
		return NFS_ACCESS_READ | write;
	}
}

/* The rights that the OPEN must ask for as well, because a successful OPEN will probably not prove
 * them; 0: the rights are known. */
static uint32_t open_wants(struct request *r)
{
	const struct nfs_attr seen = {.mode = attrs_mode(&r->inode->attrs, &(uint64_t){0})};
	uint32_t doubt = open_doubt(r->file, &seen), may;

	if (deleg_to_write_may_come(r->fs, r->file->flags))
		doubt |= open_rights(r->file->flags);

	if (!doubt || attrs_known_access(&r->inode->attrs, &r->batch.cred, doubt,
			      entry_attr_since(r->fs, r->inode), &may))
		return 0;
	return entry_access_bits(r->inode);
}

static void open_allowed(struct request *r, bool allowed)
{
	if (allowed)
		open_reply(r);
	else
		close_file(r->fs, r->file, r, -EACCES);
}

static void open_asked(struct request *r)
{
	const struct nfs_op *op = &open_of(r)->access->op;
	uint32_t doubt = open_doubt(r->file, &r->batch.first.op.u.open.attr);
	int error = entry_note_access(r, op);

	if (error)
		close_file(r->fs, r->file, r, error);
	else
		open_allowed(r, op->u.access.allowed & doubt);
}

static void open_ask(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;
	uint32_t doubt = open_doubt(r->file, &op->u.open.attr), may;

	if (!doubt) {
		open_reply(r);
		return;
	}
	if (op->u.open.have_access && (op->u.open.want & doubt) == doubt) {
		open_allowed(r, op->u.open.allowed & doubt);
		return;
	}
	if (attrs_known_access(&r->inode->attrs, &r->batch.cred, doubt,
		    entry_attr_since(r->fs, r->inode), &may)) {
		open_allowed(r, may);
		return;
	}
	open_of(r)->access = batch_part(&r->batch);
	entry_ask_access(r, open_of(r)->access);
	request_submit(r, open_asked);
}

/* Does the kernel believe more names of r's file than `links`? If the thread is not known
 * (fs/known/stale.h), its second try cannot be seen, so the file found first must be good
 * enough. */
static bool open_has_many_names(const struct request *r, uint32_t links)
{
	return !open_of(r)->again && names_too_many(r->fs->names, r->inode, links, r->pid != 0);
}

/* The kernel must look up each name of r's file again before opening the file by that name. */
static void open_forget_names(struct request *r)
{
	names_unsure(r->fs->names, r->inode);
	notify_take_back_names_of(r->fs, r->inode);
}

static bool open_by_old_name(struct request *r)
{
	const struct nfs_attr *attr = &r->batch.first.op.u.open.attr;
	struct inode *ino = r->inode;

	if (open_has_many_names(r, attr->nlink))
		open_forget_names(r);
	else if (open_of(r)->again ||
		 !view_renew_name(
			 &ino->view, attr, atomic_load(&ino->silly.is), fuse_req_ctx(r->fuse)->pid))
		return false;
	names_doubt_all(r->fs->names, ino);
	attrs_doubt_rights(&ino->attrs);
	stale_answered(&r->fs->stale, r->pid, request_number(r));
	retry_hold(r->fs, r->pid, ino);
	return true;
}

/* Notes the answer to OPEN about the file. The answer is as of the time when r came. */
static void open_note(struct request *r, const struct nfs_op *op)
{
	bool reads = open_only_reads(r->file);
	uint64_t asked = reads || op->u.open.deleg_writes ? deleg_note(r->fs, r->inode, op, r->born)
							  : r->born;

	entry_note_attr(r->fs, r->inode, &op->u.open.attr, asked);
	if (op->u.open.have_access)
		attrs_note_access(&r->inode->attrs, &r->batch.cred, op->u.open.want,
			op->u.open.allowed, asked);
	if (asked != r->born && reads && !open_doubt(r->file, &op->u.open.attr))
		attrs_note_access(
			&r->inode->attrs, &r->batch.cred, NFS_ACCESS_READ, NFS_ACCESS_READ, asked);
}

/* Around an open that truncates: before the OPEN is sent; after it has ended, and the server has
 * cut `len` bytes. */
static void open_cut_begin(struct request *r)
{
	open_of(r)->cuts = true;
	inode_touch_begin(r->inode);
	view_cut_begin(&r->inode->view);
	written_cut_begin(&r->inode->written, &r->cut);
}

static void open_cut_end(struct request *r, uint64_t len)
{
	if (open_of(r)->cuts) {
		inode_touch_end(r->inode);
		view_cut_end(&r->inode->view, r->pid);
	}
	open_of(r)->cuts = false;
	written_cut_end(&r->inode->written, &r->cut, 0, len);
}

static void open_failed(struct request *r, int error)
{
	free(r->file);
	r->file = NULL;
	open_cut_end(r, 0);
	if (error == -ESTALE && !open_of(r)->again) {
		stale_answered(&r->fs->stale, r->pid, request_number(r));
		retry_hold(r->fs, r->pid, r->inode);
	}
	opening_end(r->fs, r->inode);
	silly_drop(r->fs, r->inode);
	request_end(r, error);
}

static void open_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct file *f = r->file;

	late_end(r);
	if (op->error) {
		open_failed(r, op->error);
		return;
	}
	if (f->flags & O_TRUNC) {
		open_cut_end(r, UINT64_MAX);
		view_cut(&r->inode->view, 0, r->pid);
	}
	file_opened(r->fs, f, r->inode, op->u.open.open);
	open_note(r, op);
	cached_opened(r->fs, f);
	if (!r->fuse) { /* r was LATE */
		close_file(r->fs, f, r, -EINTR);
		return;
	}
	if (!(f->flags & O_TRUNC) && open_by_old_name(r)) {
		/* the kernel looks the path up again, and opens the file that the name stands for
		 * now */
		close_file(r->fs, f, r, -ESTALE);
		return;
	}
	open_ask(r);
}

/* r is about to submit OPEN. */
static void open_sends(struct request *r, struct nfs_op *op)
{
	/* a noted answer cannot bring data */
	if (!r->batch.noted)
		cached_open_begin(r, op);
	open_note_put(r, op);
	if (op->u.open.flags & O_TRUNC)
		late_begin(r, r->inode, 0, UINT64_MAX);
}

static void open_by_handle(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_OPEN, open);

	op->u.open.dir = r->inode->fh;
	op->u.open.flags = r->file->flags & (O_ACCMODE | O_TRUNC | NFS_O_EXEC);
	op->u.open.want = open_wants(r);
	open_sends(r, op);
	request_submit(r, open_done);
}

/* The name by which r->inode was to be opened is another file's by now, or absent. ESTALE makes the
 * kernel look the path up again and open the file that the name stands for now, but only once.
 * After that second try the file is opened by its handle: names that change all the time must not
 * become an error. The next open uses the handle too, if the program has no name for the file
 * (/proc/self/fd): names_unsure(). */
static void open_stale(struct request *r)
{
	if (!r->fuse) { /* r was LATE */
		open_failed(r, -EINTR);
		return;
	}
	if (open_of(r)->again) {
		open_by_handle(r);
		return;
	}
	open_forget_names(r);
	view_renewing_name(&r->inode->view, fuse_req_ctx(r->fuse)->pid);
	open_failed(r, -ESTALE);
}

static void open_other_closed(struct request *r)
{
	open_stale(r);
}

static void open_named_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct nfs_open *other;

	late_end(r);
	switch (op->error) {
	case 0:
		if (nfs_fh_same(&op->u.open.fh, &r->inode->fh)) {
			open_done(r);
			return;
		}
		other = op->u.open.open;
		request_op(r, NFS_CLOSE, close)->u.close.open = other;
		request_submit(r, open_other_closed);
		return;
	case -ENOENT:
	case -EISDIR:
	case -ELOOP:
	case -EINVAL:
	case -ENOTDIR:
	case -ESTALE:
		open_stale(r);
		return;
	case -EACCES:
	case -EPERM: /* perhaps the caller may only not search the directory */
		if (r->fuse)
			open_by_handle(r);
		else
			open_failed(r, -EINTR);
		return;
	default:
		open_done(r);
	}
}

/* Is it unknown by which name r opens its file, and which of the names are still the file's?
 * Another client may have given away a name that the kernel believes and now opens: by the other
 * name the file would look the same. An old link count must not decide whether a file is
 * truncated. */
static bool open_is_unclear(struct request *r)
{
	return open_has_many_names(r, r->file->flags & O_TRUNC ? 1 : attrs_links(&r->inode->attrs));
}

/* Does r come again, and has a former daemon sent its OPEN? Then the server may have an open of r,
 * which belongs to the same OPEN. */
static bool open_was_sent(struct request *r)
{
	return request_is_again(r) && open_note_is(r->fs, request_number(r));
}

/* Opens a delegated file without asking the server, for callers that are known to have the right.
 * The names of a file do not change without a recall either. If the file is delegated to write, its
 * attributes need not be known: the kernel knows its own changes. But a process that only reads
 * will ask for attributes and data: an OPEN brings both at once. */
static bool open_locally(struct request *r)
{
	struct fs *fs = r->fs;
	struct inode *ino = r->inode;
	struct nfs_op *op = request_op(r, NFS_OPEN, open);
	int flags = r->file->flags;
	uint32_t want = open_rights(flags), may;
	uint64_t since = deleg_since(fs, ino), asked;
	struct nfs_open *open;

	if (!since || flags & O_TRUNC || open_was_sent(r))
		return false;
	open_of(r)->alone = !inode_known_attr(ino, since - 1, &op->u.open.attr, &asked);
	if ((open_of(r)->alone && (open_only_reads(r->file) || !deleg_alone_since(fs, ino))) ||
		!attrs_known_access(&ino->attrs, &r->batch.cred, want, since - 1, &may) ||
		(may & want) != want)
		return false;
	open = deleg_open(fs, ino, flags, &r->batch.cred);
	if (!open)
		return false;
	stats_add(&fs->stats.local_opens, 1);
	file_opened(fs, r->file, ino, open);
	cached_opened(fs, r->file);
	open_reply(r);
	return true;
}

static void open_by_name(struct request *r, const struct nfs_fh *dir)
{
	struct nfs_op *op = request_op(r, NFS_OPEN, open);

	op->u.open.dir = *dir;
	op->u.open.name = (struct nfs_name){r->name, (uint32_t)strlen(r->name)};
	op->u.open.flags = r->file->flags & (O_ACCMODE | O_TRUNC | NFS_O_EXEC);
	op->u.open.only = r->inode->fh;
	op->u.open.want = open_wants(r);
	open_sends(r, op);
	request_submit(r, open_named_done);
}

/* True: r comes again, and its OPEN goes out as a former daemon has sent the OPEN. */
static bool open_as_noted(struct request *r)
{
	struct nfs_fh dir;

	if (!request_is_again(r) || !open_note_take(r, &dir))
		return false;
	if (r->file->flags & O_TRUNC)
		open_cut_begin(r);
	if (r->name[0])
		open_by_name(r, &dir);
	else
		open_by_handle(r);
	return true;
}

static void open_flushed(struct request *r)
{
	struct fs *fs = r->fs;

	if (!open_only_reads(r->file))
		deleg_changing(fs, r->inode);
	if (open_locally(r))
		return;
	open_of(r)->alone = false;
	if (open_as_noted(r))
		return;
	if (open_is_unclear(r)) {
		open_stale(r);
		return;
	}
	if (r->file->flags & O_TRUNC)
		open_cut_begin(r);
	if (fs->info.vers_major < 4 ||
		!names_of(fs->names, r->inode, &r->dir, r->name, sizeof(r->name))) {
		open_by_handle(r);
		return;
	}
	open_by_name(r, &r->dir->fh);
}

static void open_gone(struct request *r)
{
	open_failed(r, -EINTR);
}

/* Data written before is part of the opened file, or is truncated. */
static void open_begin(struct request *r)
{
	if (deleg_alone_since(r->fs, r->inode) && open_locally(r))
		return;
	r->flush.gone = open_gone;
	if (r->file->flags & O_TRUNC && late_waits(r, r->inode, 0, UINT64_MAX, open_begin))
		return;
	if (!flush_waits(r, r->inode, WRITTEN, open_flushed))
		open_flushed(r);
}

/* The kernel opens a file by its inode, and may have believed a name for a while. Over NFSv4 the
 * daemon can open the name instead of the handle: then the server decides which file has the
 * name. */
void ops_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	r->file = file_new(r->fs, &r->batch.cred, fi->flags);
	if (!r->file || !batch_reserve(&r->batch, 1)) { /* for open_ask() */
		free(r->file);
		request_end(r, -ENOMEM);
		return;
	}
	r->file->request = request_number(r);
	file_former_drop(r);
	open_of(r)->again =
		stale_opens_again(&fs->stale, r->pid, request_number(r), request_is_again(r));
	opening_begin(fs, r->inode);
	retry_let_go(fs, r->pid);
	if (!opening_waits(r, open_begin))
		open_begin(r);
}
