/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_meta: the start of the conversation with the kernel, and operations that look at or change
 * attributes.
 */
#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fs/attr.h"
#include "fs/ops.h"
#include "transport/log.h"

#define MAX_REQUEST    (1u << 20) /* bytes of data in one READ or WRITE of the kernel's */
#define MAX_BACKGROUND 128

void ops_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fs *fs = userdata;

	/* Memory goes to and comes from the device as it stands; splicing through pipes is slower.
	 */
	conn->want &= ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	if (conn->max_write > MAX_REQUEST)
		conn->max_write = MAX_REQUEST;
	conn->max_background = MAX_BACKGROUND;
	conn->congestion_threshold = MAX_BACKGROUND * 3 / 4;
	conn->time_gran = 1;
	/* Set-ID bits go when a file is written or changes hands: the server sees to that, and the
	 * kernel must not try to in the name of whoever writes. */
	fs->kills_priv = conn->capable & FUSE_CAP_HANDLE_KILLPRIV;
	log_ctrl("kernel speaks FUSE %u.%u, requests of up to %u bytes", conn->proto_major,
		conn->proto_minor, conn->max_write);
	atomic_store(&fs->init_done, true);
}

void ops_stat(const struct inode *ino, const struct nfs_attr *a, struct stat *st)
{
	attr_to_stat(a, st);
	st->st_ino = ino->number;
	if (atomic_load_explicit(&ino->is_silly, memory_order_relaxed) && st->st_nlink)
		st->st_nlink--;
}

void ops_entry(
	struct fs *fs, struct inode *ino, const struct nfs_attr *a, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout = fs->opt->attr_timeout,
		.entry_timeout = fs->opt->entry_timeout,
	};
	ops_stat(ino, a, &e->attr);
}

void ops_end_entry(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	struct fs *fs = r->fs;
	struct fuse_entry_param e;
	struct inode *ino;
	fuse_req_t fuse;

	ino = error ? NULL : inode_lookup(fs->inodes, fh, attr);
	if (!ino) {
		request_end(r, error ? error : -ENOMEM);
		return;
	}
	ops_entry(fs, ino, attr, &e);
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse_reply_entry(fuse, &e))
		inode_forget(fs->inodes, ino, 1); /* the kernel did not take it */
}

/* --- lookup and forget ------------------------------------------------------------------------ */

static void lookup_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	ops_end_entry(r, op->error, &op->u.lookup.fh, &op->u.lookup.attr);
}

void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	op = request_op(r, NFS_LOOKUP, lookup);
	op->u.lookup.dir = inode_of(fs->inodes, parent)->fh;
	if (!request_set_name(r->name, &op->u.lookup.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	request_submit(r, lookup_done);
}

void ops_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	struct fs *fs = fs_of(req);

	inode_forget(fs->inodes, inode_of(fs->inodes, ino), nlookup);
	fuse_reply_none(req);
}

void ops_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fs *fs = fs_of(req);

	for (size_t i = 0; i < count; i++)
		inode_forget(fs->inodes, inode_of(fs->inodes, forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(req);
}

/* --- attributes ------------------------------------------------------------------------------- */

static void end_attr(struct request *r, const struct nfs_attr *a)
{
	double timeout = r->fs->opt->attr_timeout;
	struct stat st;
	fuse_req_t fuse;

	ops_stat(r->inode, a, &st);
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_attr(fuse, &st, timeout);
}

static void getattr_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	if (op->error)
		request_end(r, op->error);
	else
		end_attr(r, &op->u.getattr.attr);
}

void ops_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = r->inode->fh;
	request_submit(r, getattr_done);
}

static void setattr_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	inode_touch(r->inode);
	if (op->error)
		request_end(r, op->error);
	else
		end_attr(r, &op->u.setattr.attr);
}

void ops_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	op = request_op(r, NFS_SETATTR, setattr);
	op->u.setattr.fh = r->inode->fh;
	attr_from_setattr(attr, to_set, &op->u.setattr.set);
	if (!op->u.setattr.set.mask) {
		request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = r->inode->fh;
		request_submit(r, getattr_done);
		return;
	}
	if (fi && op->u.setattr.set.mask & NFS_SET_SIZE) {
		/* ftruncate(2): what the file was opened for decides, with the opener's rights */
		op->u.setattr.open = file_of(fi)->open;
		op->cred = file_of(fi)->cred;
	}
	inode_touch(r->inode);
	request_submit(r, setattr_done);
}

static void access_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	int error = op->error;

	if (!error && (op->u.access.allowed & op->u.access.want) != op->u.access.want)
		error = -EACCES;
	request_end(r, error);
}

void ops_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;
	uint32_t want = 0;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	op = request_op(r, NFS_ACCESS, access);
	op->u.access.fh = r->inode->fh;
	if (r->inode->type == NFS_DIR) {
		want |= mask & R_OK ? NFS_ACCESS_READ : 0;
		want |= mask & W_OK ? NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_DELETE : 0;
		want |= mask & X_OK ? NFS_ACCESS_LOOKUP : 0;
	} else {
		want |= mask & R_OK ? NFS_ACCESS_READ : 0;
		want |= mask & W_OK ? NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND : 0;
		want |= mask & X_OK ? NFS_ACCESS_EXECUTE : 0;
	}
	op->u.access.want = want;
	request_submit(r, access_done);
}

/* --- readlink and statfs ---------------------------------------------------------------------- */

static void readlink_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct mem_buf *buf;
	fuse_req_t fuse;

	if (op->error) {
		request_end(r, op->error);
		return;
	}
	buf = mem_buf_ref(r->buf);
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_readlink(fuse, (const char *)buf->data);
	mem_buf_unref(buf);
}

void ops_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	r->buf = mem_buf_get(fs->pool, NFS_PATH_MAX + 1);
	if (!r->buf) {
		request_end(r, -ENOMEM);
		return;
	}
	op = request_op(r, NFS_READLINK, readlink);
	op->u.readlink.fh = r->inode->fh;
	op->u.readlink.buf = (char *)r->buf->data;
	op->u.readlink.size = NFS_PATH_MAX + 1;
	request_submit(r, readlink_done);
}

static void statfs_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	const struct nfs_fsstat *fs = &op->u.statfs.st;
	struct statvfs st = {.f_bsize = 1 << 20, .f_frsize = 4096};
	fuse_req_t fuse;

	if (op->error) {
		request_end(r, op->error);
		return;
	}
	st.f_blocks = fs->tbytes / st.f_frsize;
	st.f_bfree = fs->fbytes / st.f_frsize;
	st.f_bavail = fs->abytes / st.f_frsize;
	st.f_files = fs->tfiles;
	st.f_ffree = fs->ffiles;
	st.f_favail = fs->afiles;
	st.f_namemax = fs->name_max && fs->name_max < NFS_NAME_MAX ? fs->name_max : NFS_NAME_MAX;
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_statfs(fuse, &st);
}

void ops_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	request_op(r, NFS_STATFS, statfs)->u.statfs.fh = r->inode->fh;
	request_submit(r, statfs_done);
}
