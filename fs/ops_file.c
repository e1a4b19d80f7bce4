/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_file: opening, creating, committing and closing files.
 *
 * Written data is UNSTABLE on the server until a COMMIT. One is sent at fsync, at each close
 * (flush) and before the server's CLOSE if anything was written since the last. If the server
 * restarted in between, data may be lost, and there is no copy to send again: the caller of fsync
 * or close is told EIO, as is every other one that has the file open, once.
 *
 * Locks that a process or an open file leaves behind go at flush and release (ops_lock.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/opening.h"
#include "fs/ops.h"
#include "transport/log.h"

#define OPEN_EXEC 0x20 /* the kernel's __FMODE_EXEC: execve(2) opens */

/* --- open ------------------------------------------------------------------------------------- */

/* Closes what nobody will release. Takes f and frees it. */
static void file_close(struct fs *fs, struct file *f, struct request *r, int error);

static struct file *file_new(const struct request *r, int flags)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->cred = r->cred;
	f->flags = flags;
	f->flock_owner = atomic_fetch_add(&r->fs->flock_owners, 1) + 1;
	return f;
}

static void file_free(struct handle *h)
{
	struct file *f = (struct file *)h;

	inode_unref(f->inode);
	free(f);
}

/* The server has opened it: f becomes an open file of ino, upon which the caller has called
 * opening_begin(). */
static void file_opened(struct fs *fs, struct file *f, struct inode *ino, struct nfs_open *open)
{
	f->inode = inode_ref(ino);
	f->open = open;
	pthread_mutex_lock(&ino->lock);
	atomic_init(&f->err_seen, ino->err_seq);
	pthread_mutex_unlock(&ino->lock);
	fs_add_handle(fs, &f->handle, file_free);
}

/* Close-to-open consistency is about the size and the times as well: at an open the kernel forgets
 * attributes that are not the newest. (Without pages to drop, this does not wait.) */
static void renew_attr(const struct fs *fs, struct inode *ino, const struct nfs_attr *attr)
{
	if (atomic_load_explicit(&ino->told, memory_order_relaxed) == attr->change)
		return;
	fuse_lowlevel_notify_inval_inode(fs->se, inode_id(fs->inodes, ino), -1, 0);
}

static struct fuse_file_info file_info(
	const struct fs *fs, struct file *f, const struct nfs_attr *attr)
{
	renew_attr(fs, f->inode, attr);
	return (struct fuse_file_info){
		.fh = (uintptr_t)f,
		.flags = f->flags,
		.keep_cache = inode_keep_cache(f->inode, attr->change),
		/* nothing can have been written through it, nor locked for fcntl() */
		.noflush = (f->flags & O_ACCMODE) == O_RDONLY && !fs->posix_locks,
	};
}

static void open_reply(struct request *r)
{
	struct fs *fs = r->fs;
	struct file *f = r->file;
	struct fuse_file_info fi = file_info(fs, f, &r->first.op.u.open.attr);
	fuse_req_t fuse = request_take_fuse(r);

	request_free(r);
	if (fuse_reply_open(fuse, &fi))
		file_close(fs, f, NULL, 0);
}

/* The right that OPEN for reading does not tell: a server lets those read who may only execute, so
 * that they can, and lets those read whom execve(2) must refuse. 0: there is no doubt. */
static uint32_t open_doubt(const struct file *f, const struct nfs_attr *attr)
{
	if (f->flags & OPEN_EXEC)
		return NFS_ACCESS_EXECUTE;
	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return 0;
	return (attr->mode & 0444) != 0444 && attr->mode & 0111 ? NFS_ACCESS_READ : 0;
}

static void open_allowed(struct request *r, bool allowed)
{
	if (allowed)
		open_reply(r);
	else
		file_close(r->fs, r->file, r, -EACCES);
}

static void open_asked(struct request *r)
{
	struct nfs_op *op = &STAILQ_NEXT(&r->first, next)->op;
	uint32_t doubt = open_doubt(r->file, &r->first.op.u.open.attr);

	if (op->error) {
		file_close(r->fs, r->file, r, op->error);
		return;
	}
	inode_note_access(r->inode, &r->cred, op->u.access.want, op->u.access.allowed, r->born);
	open_allowed(r, op->u.access.allowed & doubt);
}

static void open_ask(struct request *r)
{
	struct fs *fs = r->fs;
	struct file *f = r->file;
	uint32_t doubt = open_doubt(f, &r->first.op.u.open.attr), may;
	struct part *p;

	if (!doubt) {
		open_reply(r);
		return;
	}
	if (inode_known_access(r->inode, &r->cred, doubt, ops_attr_since(fs), &may)) {
		open_allowed(r, may);
		return;
	}
	p = request_part(r, NFS_ACCESS, sizeof(p->op.u.access));
	if (!p) {
		file_close(fs, f, r, -ENOMEM);
		return;
	}
	p->op.u.access.fh = r->inode->fh;
	p->op.u.access.want = ops_access_bits(r->inode);
	r->first.settled = true;
	request_submit_parts(r, open_asked);
}

static bool open_by_old_name(struct request *r)
{
	struct inode *ino = r->inode;

	if (r->again || !inode_renew_name(ino, &r->first.op.u.open.attr, r->file->flags & O_APPEND,
				fuse_req_ctx(r->fuse)->pid))
		return false;
	names_doubt_all(inode_table_names(r->fs->inodes), ino);
	inode_doubt(ino);
	opening_tell_stale(r);
	return true;
}

static void open_failed(struct request *r, int error)
{
	free(r->file);
	r->file = NULL;
	opening_end(r->fs, r->inode);
	if (error == -ESTALE && !r->again)
		opening_tell_stale(r);
	request_end(r, error);
}

static void open_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct file *f = r->file;

	if (op->error) {
		open_failed(r, op->error);
		return;
	}
	if (f->flags & O_TRUNC) {
		inode_touch(r->inode);
		atomic_store(&r->inode->told_size, 0);
	}
	file_opened(r->fs, f, r->inode, op->u.open.open);
	if (!(f->flags & O_TRUNC) && open_by_old_name(r)) {
		/* the kernel looks all names of the path up again, and opens what it has found */
		file_close(r->fs, f, r, -ESTALE);
		return;
	}
	open_ask(r);
}

static void open_by_handle(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_OPEN, open);

	op->u.open.dir = r->inode->fh;
	op->u.open.flags = r->file->flags & (O_ACCMODE | O_TRUNC | NFS_O_EXEC);
	request_submit(r, open_done);
}

/* The name stands for something else by now, or for nothing: the kernel is to look it up again,
 * which it does once for ESTALE. If it cannot, because it came here without a name, it is told by
 * the handle the next time. If it has just done so, what it has found is opened: names that change
 * all the time must not become an error. */
static void open_stale(struct request *r)
{
	if (r->again) {
		open_by_handle(r);
		return;
	}
	names_unsure(inode_table_names(r->fs->inodes), r->inode);
	if (r->fuse)
		inode_renewing_name(r->inode, fuse_req_ctx(r->fuse)->pid);
	open_failed(r, -ESTALE);
}

static void open_other_closed(struct request *r)
{
	open_stale(r);
}

static bool same_handle(const struct nfs_fh *a, const struct nfs_fh *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static void open_named_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct nfs_open *other;

	switch (op->error) {
	case 0:
		if (same_handle(&op->u.open.fh, &r->inode->fh)) {
			open_done(r);
			return;
		}
		other = op->u.open.open;
		request_keep_going(r);
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
	case -EPERM:
		open_by_handle(r); /* perhaps it is only the directory that is shut */
		return;
	default:
		open_done(r);
	}
}

static void open_begin(struct request *r)
{
	struct fs *fs = r->fs;
	struct nfs_op *op;

	if (fs->info.vers_major < 4 || !names_of(inode_table_names(fs->inodes), r->inode,
					       &r->inode2, r->name, sizeof(r->name))) {
		open_by_handle(r);
		return;
	}
	op = request_op(r, NFS_OPEN, open);
	op->u.open.dir = r->inode2->fh;
	op->u.open.name = (struct nfs_name){r->name, (uint32_t)strlen(r->name)};
	op->u.open.flags = r->file->flags & (O_ACCMODE | O_TRUNC | NFS_O_EXEC);
	request_submit(r, open_named_done);
}

/* The kernel says what to open by its inode, and may have believed a name for a while. Over NFSv4
 * the name can be opened just as well as the handle, and then it is the server that says what it
 * stands for. */
void ops_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	r->file = file_new(r, fi->flags);
	if (!r->file) {
		request_end(r, -ENOMEM);
		return;
	}
	r->again = opening_take_stale(r);
	opening_begin(fs, r->inode);
	if (!opening_waits(r, open_begin))
		open_begin(r);
}

static void create_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct fs *fs = r->fs;
	struct file *f = r->file;
	struct fuse_entry_param e;
	struct fuse_file_info fi;
	struct inode *ino;
	fuse_req_t fuse;

	if (op->error) {
		free(f);
		request_end(r, op->error);
		return;
	}
	ops_changed(fs, r->inode2, r->name, true, 0);
	ino = inode_lookup(fs->inodes, &op->u.open.fh, &op->u.open.attr);
	if (!ino) {
		/* it must be closed again, by the same request */
		f->open = op->u.open.open;
		file_close(fs, f, r, -ENOMEM);
		return;
	}
	inode_touch(ino);
	opening_begin(fs, ino);
	file_opened(fs, f, ino, op->u.open.open);
	ops_entry(fs, r->inode2, r->name, ino, &op->u.open.attr, inode_clock(), &e);
	fi = file_info(fs, f, &op->u.open.attr);
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse_reply_create(fuse, &e, &fi)) {
		file_close(fs, f, NULL, 0);
		inode_forget(fs->inodes, ino, 1);
	}
}

void ops_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	op = request_op(r, NFS_OPEN, open);
	if (!request_set_name(r->name, &op->u.open.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	r->file = file_new(r, fi->flags);
	if (!r->file) {
		request_end(r, -ENOMEM);
		return;
	}
	r->inode2 = inode_ref(inode_of(fs->inodes, parent));
	op->u.open.dir = r->inode2->fh;
	op->u.open.flags = (fi->flags & (O_ACCMODE | O_TRUNC | O_EXCL)) | O_CREAT;
	ops_set_mode(req, &op->u.open.set, mode, false);
	request_submit(r, create_done);
}

/* --- commit ----------------------------------------------------------------------------------- */

/* What fsync or close must say: an error once for each loss since the last time. */
static int file_error(struct file *f)
{
	uint32_t seq = inode_err_seq(f->inode);

	return atomic_exchange(&f->err_seen, seq) == seq ? 0 : -EIO;
}

void ops_commit_submit(struct request *r, request_step_fn *step)
{
	request_op(r, NFS_COMMIT, commit)->u.commit.fh = r->file->inode->fh;
	request_submit(r, step);
}

/* Evaluates the COMMIT of r; 0 or a negative errno. */
int ops_commit_result(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct inode *ino = r->file->inode;

	if (op->error) {
		/* The data is still unstable and may yet be committed: unless the caller was merely
		 * killed, those who wait for it must know. */
		if (op->error != -EINTR)
			inode_lost(ino);
		log_warn("COMMIT of file %llu failed: %s", (unsigned long long)ino->fileid,
			strerror(-op->error));
		return op->error;
	}
	if (!inode_committed(ino, r->gen, op->u.commit.verf)) {
		log_error("the server restarted before data of file %llu was committed: "
			  "what was written last may be lost",
			(unsigned long long)ino->fileid);
		return -EIO;
	}
	return 0;
}

static void sync_done(struct request *r)
{
	int error = ops_commit_result(r), earlier = file_error(r->file);

	request_end(r, error ? error : earlier);
}

static void file_sync(fuse_req_t req, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);
	struct request *r;
	uint64_t gen;

	if (!inode_dirty(f->inode, &gen)) {
		fuse_reply_err(req, -file_error(f));
		return;
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	if (!r)
		return;
	r->file = f;
	r->gen = gen;
	ops_commit_submit(r, sync_done);
}

static void flush_unlocked(struct request *r)
{
	int earlier = file_error(r->file);

	request_end(r, r->error ? r->error : earlier);
}

static void flush_committed(struct request *r)
{
	r->error = ops_commit_result(r);
	lock_clear(r, flush_unlocked);
}

void ops_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);
	struct request *r;

	if (!lock_leave_owner(f, fi->lock_owner)) {
		file_sync(req, fi);
		return;
	}
	r = request_new_cred(fs_of(req), req, &f->cred);
	if (!r)
		return;
	r->file = f;
	r->owner = fi->lock_owner;
	if (inode_dirty(f->inode, &r->gen))
		ops_commit_submit(r, flush_committed);
	else
		lock_clear(r, flush_unlocked);
}

void ops_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	file_sync(req, fi);
}

/* --- close ------------------------------------------------------------------------------------ */

static void close_done(struct request *r)
{
	struct fs *fs = r->fs;
	struct file *f = r->file;
	struct silly *s = NULL;
	bool leaves = f->silly_leaves;
	int error = r->error;

	if (f->inode) {
		pthread_mutex_lock(&f->inode->lock);
		f->inode->nopen--;
		pthread_mutex_unlock(&f->inode->lock);
		atomic_fetch_sub(&fs->open_files, 1);
		s = silly_take(f->inode);
		fs_drop_handle(fs, &f->handle);
	}
	file_free(&f->handle);
	request_end(r, error);
	if (s)
		silly_remove(fs, s);
	if (leaves)
		silly_left(fs);
}

static void close_unlocked(struct request *r)
{
	request_op(r, NFS_CLOSE, close)->u.close.open = r->file->open;
	request_submit(r, close_done);
}

static void close_submit(struct request *r)
{
	if (r->file->inode)
		lock_leave_file(r, close_unlocked);
	else
		close_unlocked(r);
}

static void release_committed(struct request *r)
{
	ops_commit_result(r); /* nobody to tell any more but the log */
	close_submit(r);
}

static void file_close(struct fs *fs, struct file *f, struct request *r, int error)
{
	if (!r)
		r = request_new_cred(fs, NULL, &f->cred);
	if (!r) {
		log_warn("a file stays open on the server: out of memory");
		return;
	}
	request_keep_going(r);
	r->file = f;
	r->error = error;
	if (f->inode) {
		lock_leaving_file(f);
		pthread_mutex_lock(&f->inode->lock);
		f->silly_leaves = f->inode->silly && f->inode->nopen == 1;
		pthread_mutex_unlock(&f->inode->lock);
		if (f->silly_leaves)
			silly_leave(fs);
	}
	if (f->inode && inode_dirty(f->inode, &r->gen))
		ops_commit_submit(r, release_committed);
	else
		close_submit(r);
}

void ops_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = file_of(fi);
	struct request *r = request_new_cred(fs_of(req), req, &f->cred);

	file_close(fs_of(req), f, r, 0);
}
