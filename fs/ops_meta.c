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
#include "fs/opening.h"
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
	fs->sends_umask = conn->capable & FUSE_CAP_DONT_MASK && fs->info.features & NFS_HAS_UMASK;
	if (fs->sends_umask)
		conn->want |= FUSE_CAP_DONT_MASK;
	log_ctrl("kernel speaks FUSE %u.%u, requests of up to %u bytes", conn->proto_major,
		conn->proto_minor, conn->max_write);
	atomic_store(&fs->init_done, true);
}

void ops_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link)
{
	set->mask = NFS_SET_MODE;
	set->mode = mode & 07777;
	if (!fs_of(req)->sends_umask || is_link)
		return;
	set->mask |= NFS_SET_UMASK;
	set->umask = fuse_req_ctx(req)->umask & 0777;
}

void ops_stat(struct inode *ino, const struct nfs_attr *a, struct stat *st)
{
	inode_told(ino, a);
	attr_to_stat(a, st);
	st->st_ino = ino->number;
	if (atomic_load_explicit(&ino->is_silly, memory_order_relaxed) && st->st_nlink)
		st->st_nlink--;
}

void ops_note(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen)
{
	if (inode_note_attr(ino, a, seen))
		notify_take_back(fs, ino);
}

void ops_doubt_set_id(const struct fs *fs, struct inode *ino)
{
	uint64_t seen;

	if (inode_mode(ino, &seen) & (S_ISUID | S_ISGID))
		fuse_lowlevel_notify_inval_inode(fs->se, inode_id(fs->inodes, ino), -1, 0);
}

uint64_t ops_attr_since(const struct fs *fs)
{
	return inode_clock() - (uint64_t)(fs->opt->attr_timeout * 1e9);
}

/* How long the kernel may believe names in dir. It lets everybody walk through those: where not
 * everybody may search, it must ask at each walk, and the server decides. */
static double entry_timeout(const struct fs *fs, struct inode *dir)
{
	uint64_t seen;

	if (fs->shared && (inode_mode(dir, &seen) & 0111) != 0111)
		return 0;
	return fs->opt->entry_timeout;
}

/* Is the mode of dir, which that depends on, too old? The kernel does not look a directory up
 * again while somebody works in it, and the root never. */
static bool mode_is_old(const struct fs *fs, struct inode *dir)
{
	uint64_t seen;

	if (!fs->shared || fs->opt->entry_timeout <= 0)
		return false;
	inode_mode(dir, &seen);
	return seen <= ops_attr_since(fs);
}

double ops_attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a)
{
	const struct options *o = fs->opt;
	bool dir = ino->type == NFS_DIR;

	return inode_attr_timeout(
		ino, a->change, dir ? o->acdirmin : o->acregmin, dir ? o->acdirmax : o->acregmax);
}

void ops_entry(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout = ops_attr_timeout(fs, ino, a),
		.entry_timeout = entry_timeout(fs, dir),
	};
	ops_note(fs, ino, a, seen);
	/* what was asked before a change of names must not be answered after it */
	if (seen <= atomic_load_explicit(&dir->touched, memory_order_relaxed))
		seen = 0;
	if (!names_put(inode_table_names(fs->inodes), dir, name, ino, seen,
		    (uint64_t)(e->entry_timeout * 1e9)))
		e->entry_timeout = 0;
	ops_stat(ino, a, &e->attr);
}

static void reply_entry(struct request *r, const struct fuse_entry_param *e)
{
	struct inode *ino = r->entry;
	struct fs *fs = r->fs;
	fuse_req_t fuse;

	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse_reply_entry(fuse, e))
		inode_forget(fs->inodes, ino, 1); /* the kernel did not take it */
}

static void end_entry(struct request *r)
{
	struct fuse_entry_param e;

	ops_entry(r->fs, r->inode2, r->name, r->entry, r->attr, r->gen, &e);
	reply_entry(r, &e);
}

void ops_end_entry(struct request *r, int error, const struct nfs_fh *fh,
	const struct nfs_attr *attr, uint64_t seen)
{
	r->entry = error ? NULL : inode_lookup(r->fs->inodes, fh, attr);
	if (!r->entry) {
		request_end(r, error ? error : -ENOMEM);
		return;
	}
	r->attr = attr;
	r->gen = seen;
	if (notify_pending(r->entry))
		notify_then(r->fs, r, end_entry);
	else
		end_entry(r);
}

void ops_changed(struct fs *fs, struct inode *dir, const char *name, bool made, int error)
{
	struct names *names = inode_table_names(fs->inodes);
	struct name_info was;

	inode_touch(dir);
	if (made || !names_get(names, dir, name, &was))
		return;
	inode_touch(was.ino); /* its links, its change time */
	inode_unref(was.ino);
	if (error)
		names_doubt(names, dir, name);
	else
		names_drop(names, dir, name);
}

void ops_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	ops_changed(r->fs, r->inode2, r->name, true, error);
	ops_end_entry(r, error, fh, attr, inode_clock());
}

/* --- lookup and forget ------------------------------------------------------------------------ */

static void lookup_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;
	struct part *dir = STAILQ_NEXT(&r->first, next);

	if (dir && !dir->op.error)
		ops_note(r->fs, r->inode2, &dir->op.u.getattr.attr, r->born);
	/* Who is told what a name stands for, or that there is none, may search. */
	if (!op->error || op->error == -ENOENT)
		inode_note_access(
			r->inode2, &r->cred, NFS_ACCESS_LOOKUP, NFS_ACCESS_LOOKUP, r->born);
	if (op->error)
		opening_not_found(r);
	ops_end_entry(r, op->error, &op->u.lookup.fh, &op->u.lookup.attr, r->born);
}

/* A name that the kernel was given to ask for at each walk: all that decides may be known. If it
 * asks for a name that it could believe, it wants to know better. */
static bool lookup_known(struct request *r)
{
	struct fs *fs = r->fs;
	uint64_t since = ops_attr_since(fs), now = inode_clock(), seen;
	struct nfs_op *op = &r->first.op;
	struct fuse_entry_param e;
	struct name_info info;
	uint32_t may;
	bool known;

	if (opening_told_stale(r) ||
		!names_get(inode_table_names(fs->inodes), r->inode2, r->name, &info))
		return false;
	known = info.until < now && info.seen > now - (uint64_t)(fs->opt->entry_timeout * 1e9) &&
		inode_known_access(r->inode2, &r->cred, NFS_ACCESS_LOOKUP, since, &may) && may &&
		inode_known_attr(info.ino, since, &op->u.lookup.attr, &seen) &&
		!notify_pending(info.ino) && inode_hold(fs->inodes, info.ino);
	inode_unref(info.ino);
	if (!known)
		return false;
	r->entry = info.ino;
	e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, info.ino),
		.generation = info.ino->generation,
		.attr_timeout = fs->opt->attr_timeout - (now - seen) / 1e9,
	};
	ops_stat(info.ino, &op->u.lookup.attr, &e.attr);
	reply_entry(r, &e);
	return true;
}

void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_op *op;

	if (!r)
		return;
	r->inode2 = inode_ref(inode_of(fs->inodes, parent));
	op = request_op(r, NFS_LOOKUP, lookup);
	op->u.lookup.dir = r->inode2->fh;
	if (!request_set_name(r->name, &op->u.lookup.name, name)) {
		request_end(r, -ENAMETOOLONG);
		return;
	}
	if (lookup_known(r))
		return;
	if (mode_is_old(fs, r->inode2)) {
		struct part *p = request_part(r, NFS_GETATTR, sizeof(p->op.u.getattr));

		if (p)
			p->op.u.getattr.fh = r->inode2->fh;
	}
	request_submit_parts(r, lookup_done);
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
	double timeout = ops_attr_timeout(r->fs, r->inode, a);
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

	if (op->error) {
		request_end(r, op->error);
		return;
	}
	ops_note(r->fs, r->inode, &op->u.getattr.attr, r->born);
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
	if (op->error) {
		request_end(r, op->error);
		return;
	}
	ops_note(r->fs, r->inode, &op->u.setattr.attr, inode_clock());
	end_attr(r, &op->u.setattr.attr);
}

static void truncate_asked(struct request *r)
{
	const struct nfs_op *ask = &STAILQ_NEXT(&r->first, next)->op;
	uint32_t need = NFS_ACCESS_MODIFY;
	int error = ask->error;

	if (!error) {
		inode_note_access(
			r->inode, &r->cred, ask->u.access.want, ask->u.access.allowed, r->born);
		error = (ask->u.access.allowed & need) == need ? 0 : -EACCES;
	}
	if (error) {
		request_end(r, error);
		return;
	}
	inode_touch(r->inode);
	request_submit(r, setattr_done);
}

/* truncate(2) needs the right to write, but a server lets the owner set the size whatever the mode
 * is, for those who have the file open: so it is asked first. */
static void truncate_ask(struct request *r)
{
	uint32_t may;
	struct part *p;

	if (inode_known_access(
		    r->inode, &r->cred, NFS_ACCESS_MODIFY, ops_attr_since(r->fs), &may) &&
		may) {
		inode_touch(r->inode);
		request_submit(r, setattr_done);
		return;
	}
	p = request_part(r, NFS_ACCESS, sizeof(p->op.u.access));
	if (!p) {
		request_end(r, -ENOMEM);
		return;
	}
	p->op.u.access.fh = r->inode->fh;
	p->op.u.access.want = ops_access_bits(r->inode);
	r->first.settled = true;
	request_submit_parts(r, truncate_asked);
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
	} else if (op->u.setattr.set.mask & NFS_SET_SIZE) {
		truncate_ask(r);
		return;
	}
	inode_touch(r->inode);
	request_submit(r, setattr_done);
}

uint32_t ops_access_bits(const struct inode *ino)
{
	uint32_t bits = NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND;

	return bits |
	       (ino->type == NFS_DIR ? NFS_ACCESS_LOOKUP | NFS_ACCESS_DELETE : NFS_ACCESS_EXECUTE);
}

static void access_end(struct request *r, uint32_t allowed)
{
	uint32_t want = (uint32_t)r->flags;

	request_end(r, (allowed & want) == want ? 0 : -EACCES);
}

static void access_done(struct request *r)
{
	struct nfs_op *op = &r->first.op;

	if (op->error) {
		request_end(r, op->error);
		return;
	}
	ops_note(r->fs, r->inode, &op->u.access.attr, r->born);
	inode_note_access(r->inode, &r->cred, op->u.access.want, op->u.access.allowed, r->born);
	access_end(r, op->u.access.allowed);
}

void ops_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	uint32_t want = 0, allowed;
	struct nfs_op *op;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	want |= mask & R_OK ? NFS_ACCESS_READ : 0;
	want |= mask & W_OK ? NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND : 0;
	if (r->inode->type == NFS_DIR) {
		want |= mask & W_OK ? NFS_ACCESS_DELETE : 0;
		want |= mask & X_OK ? NFS_ACCESS_LOOKUP : 0;
	} else {
		want |= mask & X_OK ? NFS_ACCESS_EXECUTE : 0;
	}
	r->flags = (int)want;
	if (inode_known_access(r->inode, &r->cred, want, ops_attr_since(fs), &allowed)) {
		access_end(r, allowed);
		return;
	}
	op = request_op(r, NFS_ACCESS, access);
	op->u.access.fh = r->inode->fh;
	op->u.access.want = ops_access_bits(r->inode); /* the next may ask for others */
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
