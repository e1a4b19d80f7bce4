/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_name: operations that make, move and remove names.
 *
 * A server need not keep a file whose last name is gone while it is open, but programs rely on
 * that. So the last name of an open file is not removed but changed to a silly one (.nfsXXXX)
 * beside it, which is removed at the last close, and until then by nobody (EBUSY, as the kernel's
 * client says). The kernel does not wait for that, so a directory may seem not empty just after:
 * then rmdir waits and tries again. Which file a name stands for is asked of the server, and only
 * when some file is open at all. A file that is being opened counts as open; one whose name is
 * being removed is opened afterwards (opening.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "fs/attr.h"
#include "fs/opening.h"
#include "fs/ops.h"
#include "transport/log.h"

#define RMDIR_TRIES 16 /* while silly names go, of whatever directory */

/* --- making ----------------------------------------------------------------------------------- */

static void create_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	ops_end_made(r, op->error, &op->u.create.fh, &op->u.create.attr);
}

/* A request for making name, its first op ready for submission once more is filled in; NULL if it
 * has already been answered. */
static struct request *create_begin(
	fuse_req_t req, fuse_ino_t parent, const char *name, enum nfs_type type, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return NULL;
	r->inode2 = inode_ref(inode_of(fs->inodes, parent));
	op = request_op(r, NFS_CREATE, create);
	op->u.create.dir = r->inode2->fh;
	op->u.create.type = type;
	ops_set_mode(req, &op->u.create.set, mode, type == NFS_LNK);
	if (!request_set_name(r->name, &op->u.create.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return NULL;
	}
	return r;
}

static void mknod_close_done(struct request *r)
{
	struct nfs_op *made = &STAILQ_NEXT(&r->first, next)->op;

	ops_end_made(r, 0, &made->u.open.fh, &made->u.open.attr);
}

static void mknod_open_done(struct request *r)
{
	struct nfs_op *made = &STAILQ_NEXT(&r->first, next)->op;

	if (made->error) {
		request_end(r, made->error);
		return;
	}
	request_keep_going(r);
	request_op(r, NFS_CLOSE, close)->u.close.open = made->u.open.open;
	request_submit(r, mknod_close_done);
}

/* A regular file without opening it for the caller: servers make those by OPEN only. */
static void make_regular(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct part *p;

	if (!r)
		return;
	p = request_part(r, NFS_OPEN, sizeof(p->op.u.open));
	if (!p) {
		request_end(r, -ENOMEM);
		return;
	}
	r->inode2 = inode_ref(inode_of(fs->inodes, parent));
	p->op.u.open.dir = r->inode2->fh;
	p->op.u.open.flags = O_WRONLY | O_CREAT | O_EXCL;
	ops_set_mode(req, &p->op.u.open.set, mode, false);
	if (!request_set_name(r->name, &p->op.u.open.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	r->first.settled = true;
	request_submit_parts(r, mknod_open_done);
}

void ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	enum nfs_type type = attr_mode_type(mode);
	struct request *r;

	switch (type) {
	case NFS_REG:
		make_regular(req, parent, name, mode);
		return;
	case NFS_BLK:
	case NFS_CHR:
	case NFS_FIFO:
	case NFS_SOCK:
		break;
	default:
		fuse_reply_err(req, EINVAL);
		return;
	}
	r = create_begin(req, parent, name, type, mode);
	if (!r)
		return;
	r->first.op.u.create.rdev_major = major(rdev);
	r->first.op.u.create.rdev_minor = minor(rdev);
	request_submit(r, create_done);
}

void ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct request *r = create_begin(req, parent, name, NFS_DIR, mode);

	if (r)
		request_submit(r, create_done);
}

void ops_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct request *r = create_begin(req, parent, name, NFS_LNK, 0777);

	if (!r)
		return;
	r->text = strdup(target);
	if (!r->text) {
		request_end(r, -ENOMEM);
		return;
	}
	r->first.op.u.create.target = r->text;
	r->first.op.u.create.target_len = strlen(target);
	request_submit(r, create_done);
}

static void link_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	inode_touch(r->inode);
	ops_end_made(r, op->error, &op->u.link.fh, &op->u.link.attr);
}

void ops_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	op = request_op(r, NFS_LINK, link);
	op->u.link.fh = r->inode->fh;
	r->inode2 = inode_ref(inode_of(fs->inodes, newparent));
	op->u.link.dir = r->inode2->fh;
	if (!inode_same_fs(r->inode, r->inode2)) {
		request_end(r, -EXDEV);
		return;
	}
	if (!request_set_name(r->name, &op->u.link.name, newname)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	request_submit(r, link_done);
}

/* --- silly names ------------------------------------------------------------------------------ */

/* r, which has found r->inode2 open, is done with it. */
static void silly_unclaim(struct request *r)
{
	if (r->to_inode)
		opening_end(r->fs, r->inode2);
	r->inode2 = inode_unref(r->inode2);
}

static void silly_renamed(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct silly *s = r->silly;

	r->silly = NULL;
	if (op->error) {
		free(s);
		r->error = op->error;
		silly_unclaim(r);
	} else {
		pthread_mutex_lock(&r->inode2->lock);
		if (!r->inode2->silly) {
			r->inode2->silly = s;
			s = NULL;
		}
		pthread_mutex_unlock(&r->inode2->lock);
		atomic_store(&r->inode2->is_silly, true);
		inode_touch(r->inode2);
		/* If the file was closed in the meantime, or had another silly name (a server that
		 * counts links wrongly), nobody would remove this one. */
		if (!s)
			s = silly_take(r->inode2);
		if (s)
			silly_remove(r->fs, s);
		r->error = 1;
	}
	r->next(r);
}

/* Is name in dir the silly one of ino already? */
static bool silly_is(struct inode *ino, const struct nfs_fh *dir, const struct nfs_name *name)
{
	const struct silly *s;
	bool is;

	pthread_mutex_lock(&ino->lock);
	s = ino->silly;
	is = s && s->dir.len == dir->len && !memcmp(s->dir.data, dir->data, dir->len) &&
	     strlen(s->name) == name->len && !memcmp(s->name, name->s, name->len);
	pthread_mutex_unlock(&ino->lock);
	return is;
}

static void silly_looked_up(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct fs *fs = r->fs;
	struct nfs_fh dir = op->u.lookup.dir;
	struct nfs_name name = op->u.lookup.name;
	bool last = !op->error && op->u.lookup.attr.type == NFS_REG && op->u.lookup.attr.nlink <= 1;

	r->error = 0;
	if (last)
		r->inode2 = inode_find(fs->inodes, &op->u.lookup.fh);
	/* a rename may have to give it its name back */
	if (r->inode2 && opening_claim(r, r->inode2, r->to_inode != NULL))
		r->inode2 = NULL;
	if (!r->inode2) {
		r->next(r);
		return;
	}
	r->error = silly_is(r->inode2, &dir, &name) ? -EBUSY : 0;
	r->silly = r->error ? NULL : calloc(1, sizeof(*r->silly));
	if (!r->silly) {
		r->error = r->error ? r->error : -ENOMEM;
		silly_unclaim(r);
		r->next(r);
		return;
	}
	r->silly->dir = dir;
	r->silly->cred = r->cred;
	snprintf(r->silly->name, sizeof(r->silly->name), ".nfs%016llx%08x%04x",
		(unsigned long long)r->inode2->fileid, fs->silly_tag,
		atomic_fetch_add(&fs->silly_next, 1) & 0xffff);
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = op->u.rename.to_dir = dir;
	op->u.rename.from = name;
	op->u.rename.to = (struct nfs_name){r->silly->name, strlen(r->silly->name)};
	request_submit(r, silly_renamed);
}

/* Is no file open, and none being opened? Then whoever opens the one of that name waits. */
static bool silly_none_open(struct request *r, const char *name)
{
	struct names *names = inode_table_names(r->fs->inodes);
	struct inode *dir = r->to_inode ? r->to_inode : r->inode;
	struct name_info info;

	if (atomic_load(&r->fs->open_files))
		return false;
	if (!names_get(names, dir, name, &info) || opening_claim(r, info.ino, false))
		return true;
	inode_unref(info.ino);
	return false;
}

void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next)
{
	struct nfs_op *op;

	r->error = 0;
	if (silly_none_open(r, name->s)) {
		next(r);
		return;
	}
	r->next = next;
	op = request_op(r, NFS_LOOKUP, lookup);
	op->u.lookup.dir = *dir;
	op->u.lookup.name = *name;
	request_submit(r, silly_looked_up);
}

struct silly *silly_take(struct inode *ino)
{
	struct silly *s = NULL;

	pthread_mutex_lock(&ino->lock);
	if (!ino->nopen) {
		s = ino->silly;
		ino->silly = NULL;
	}
	pthread_mutex_unlock(&ino->lock);
	return s;
}

static void silly_removed(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct fs *fs = r->fs;

	if (op->error && op->error != -ENOENT)
		log_warn("%s of an unlinked file that was open could not be removed: %s",
			r->silly->name, strerror(-op->error));
	free(r->silly);
	silly_left(fs);
	atomic_fetch_sub(&fs->silly_removals, 1);
	request_free(r);
}

void silly_remove(struct fs *fs, struct silly *s)
{
	struct request *r = request_new_cred(fs, NULL, &s->cred);
	struct nfs_op *op;

	if (!r) {
		log_warn("%s of an unlinked file stays: out of memory", s->name);
		free(s);
		return;
	}
	atomic_fetch_add(&fs->silly_removals, 1);
	silly_leave(fs);
	r->silly = s;
	op = request_op(r, NFS_REMOVE, remove);
	op->u.remove.dir = s->dir;
	op->u.remove.name = (struct nfs_name){s->name, strlen(s->name)};
	request_submit(r, silly_removed);
}

/* --- removing and moving ---------------------------------------------------------------------- */

static void remove_done(struct request *r)
{
	opening_claim_end(r);
	ops_changed(r->fs, r->inode, r->name, false, r->first.op.error);
	request_end(r, r->first.op.error);
}

static void unlink_checked(struct request *r)
{
	struct nfs_op *op;

	if (r->error) {
		ops_changed(r->fs, r->inode, r->name, false, r->error < 0 ? r->error : 0);
		request_end(r, r->error < 0 ? r->error : 0);
		return;
	}
	op = request_op(r, NFS_REMOVE, remove);
	op->u.remove.dir = r->inode->fh;
	op->u.remove.name = (struct nfs_name){r->name, strlen(r->name)};
	request_submit(r, remove_done);
}

void ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_name n;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, parent));
	if (!request_set_name(r->name, &n, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	silly_check(r, &r->inode->fh, &n, unlink_checked);
}

static void rmdir_done(struct request *r);

static void rmdir_submit(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_REMOVE, remove);
	struct fs *fs = r->fs;

	op->u.remove.dir = r->inode->fh;
	op->u.remove.name = (struct nfs_name){r->name, strlen(r->name)};
	op->u.remove.is_dir = true;
	pthread_mutex_lock(&fs->silly_lock);
	r->gen = fs->silly_left;
	pthread_mutex_unlock(&fs->silly_lock);
	request_submit(r, rmdir_done);
}

static void rmdir_done(struct request *r)
{
	int error = r->first.op.error;
	struct fs *fs = r->fs;
	bool again = false, waits = false;

	ops_changed(fs, r->inode, r->name, false, error);

	if ((error == -ENOTEMPTY || error == -EEXIST) && r->offset++ < RMDIR_TRIES) {
		pthread_mutex_lock(&fs->silly_lock);
		again = r->gen != fs->silly_left; /* one has gone since it was sent */
		waits = !again && fs->silly_leaving;
		if (waits)
			SLIST_INSERT_HEAD(&fs->rmdirs, r, free);
		pthread_mutex_unlock(&fs->silly_lock);
	}
	if (again)
		rmdir_submit(r);
	else if (!waits)
		request_end(r, error);
}

void silly_leave(struct fs *fs)
{
	pthread_mutex_lock(&fs->silly_lock);
	fs->silly_leaving++;
	pthread_mutex_unlock(&fs->silly_lock);
}

void silly_left(struct fs *fs)
{
	SLIST_HEAD(, request) list = SLIST_HEAD_INITIALIZER(list);
	struct request *r;

	pthread_mutex_lock(&fs->silly_lock);
	fs->silly_leaving--;
	fs->silly_left++;
	while ((r = SLIST_FIRST(&fs->rmdirs))) {
		SLIST_REMOVE_HEAD(&fs->rmdirs, free);
		SLIST_INSERT_HEAD(&list, r, free);
	}
	pthread_mutex_unlock(&fs->silly_lock);
	while ((r = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, free);
		rmdir_submit(r);
	}
}

void ops_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_name n;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, parent));
	if (!request_set_name(r->name, &n, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	r->offset = 0; /* tries */
	rmdir_submit(r);
}

static void rename_undone(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	if (op->error)
		log_warn("a file that a failed rename was to replace is left as %s: %s",
			r->silly->name, strerror(-op->error));
	free(r->silly);
	silly_unclaim(r);
	request_end(r, r->error);
}

/* Keeps what is known of names in step with the server. */
static void rename_note(struct request *r)
{
	struct names *names = inode_table_names(r->fs->inodes);
	struct name_info info;

	inode_touch(r->inode);
	inode_touch(r->to_inode);
	if (names_get(names, r->to_inode, r->name2, &info)) {
		inode_touch(info.ino); /* it has lost a name */
		inode_unref(info.ino);
	}
	if (names_get(names, r->inode, r->name, &info)) {
		inode_touch(info.ino);
		inode_unref(info.ino);
	}
	if (!r->error)
		names_move(names, r->inode, r->name, r->to_inode, r->name2);
}

static void rename_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct inode *was = r->inode2;

	opening_claim_end(r);
	r->error = op->error;
	rename_note(r);
	if (r->error && was) {
		/* What was to be replaced has got a silly name for nothing: it gets its own back.
		 */
		pthread_mutex_lock(&was->lock);
		r->silly = was->silly;
		was->silly = NULL;
		pthread_mutex_unlock(&was->lock);
	}
	if (was && !r->silly)
		silly_unclaim(r);
	if (!r->silly) {
		request_end(r, r->error);
		return;
	}
	atomic_store(&was->is_silly, false);
	request_keep_going(r);
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = op->u.rename.to_dir = r->to_inode->fh;
	op->u.rename.from = (struct nfs_name){r->silly->name, strlen(r->silly->name)};
	op->u.rename.to = (struct nfs_name){r->name2, strlen(r->name2)};
	request_submit(r, rename_undone);
}

static void rename_checked(struct request *r)
{
	struct nfs_op *op;

	if (r->error < 0) {
		request_end(r, r->error);
		return;
	}
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = r->inode->fh;
	op->u.rename.to_dir = r->to_inode->fh;
	op->u.rename.from = (struct nfs_name){r->name, strlen(r->name)};
	op->u.rename.to = (struct nfs_name){r->name2, strlen(r->name2)};
	request_submit(r, rename_done);
}

void ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned flags)
{
	struct fs *fs = fs_of(req);
	struct request *r;
	struct nfs_name n;

	if (flags) { /* NFS has no exchange and no atomic no-replace */
		fuse_reply_err(req, EINVAL);
		return;
	}
	r = request_new(fs, req);
	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, parent));
	r->to_inode = inode_ref(inode_of(fs->inodes, newparent));
	if (!inode_same_fs(r->inode, r->to_inode)) {
		request_end(r, -EXDEV);
		return;
	}
	if (!request_set_name(r->name, &n, name) || !request_set_name(r->name2, &n, newname)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	silly_check(r, &r->to_inode->fh, &n, rename_checked);
}
