/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_meta: the INIT of the kernel's session, and operations that look at or change attributes.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fs/known/attr.h"
#include "fs/coherence/change.h"
#include "fs/coherence/deleg.h"
#include "fs/lookup/entry.h"
#include "fs/known/file.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/file/late.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"
#include "transport/log.h"

#define MAX_REQUEST (1u << 20) /* bytes of data in one READ or WRITE of the kernel */

struct getattr_state {
	uint64_t asked; /* when the server was asked */
	uint64_t born;	/* as in struct told */
	bool reads;	/* on behalf of a READ, which must know the end of the file */
};

static struct getattr_state *getattr_of(const struct request *r)
{
	return request_state(r, struct getattr_state);
}

struct setattr_state {
	struct nfs_sattr set;
};

static struct setattr_state *setattr_of(const struct request *r)
{
	return request_state(r, struct setattr_state);
}

struct access_state {
	uint32_t want; /* NFS_ACCESS_* */
};

static struct access_state *access_of(const struct request *r)
{
	return request_state(r, struct access_state);
}

void ops_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fs *fs = userdata;

	/* Data goes to and from the device directly; splicing through pipes is slower. */
	conn->want &= ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	if (conn->max_write > MAX_REQUEST)
		conn->max_write = MAX_REQUEST;
	conn->max_background = REQUEST_BACKGROUND;
	conn->congestion_threshold = REQUEST_BACKGROUND * 3 / 4;
	conn->time_gran = 1;
	/* The target of a symbolic link never changes: another target is another file. */
	conn->want |= conn->capable & FUSE_CAP_CACHE_SYMLINKS;
	/* The server clears set-ID bits when a file is written or gets another owner. The kernel
	 * must not try to clear the bits with the writer's rights. */
	fs->kills_priv = conn->capable & FUSE_CAP_HANDLE_KILLPRIV;
	fs->sends_umask = conn->capable & FUSE_CAP_DONT_MASK && fs->info.features & NFS_HAS_UMASK;
	if (fs->sends_umask)
		conn->want |= FUSE_CAP_DONT_MASK;
	log_ctrl("kernel speaks FUSE %u.%u, requests of up to %u bytes", conn->proto_major,
		conn->proto_minor, conn->max_write);
	atomic_store(&fs->init_done, true);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* The kernel may believe the attributes from told.asked on. */
static void end_attr(struct request *r, struct told told)
{
	fuse_req_t fuse = request_take_fuse(r);
	double timeout;
	struct stat st;

	if (!fuse) { /* r was LATE: the kernel is told nothing */
		request_free(r);
		return;
	}
	change_told(r->inode, told.attr, told.asked);
	timeout = entry_attr_left(r->fs, r->inode, told.attr, told.asked);

	entry_stat(r->fs, r->inode, &told, &timeout, &st);
	turn_told(r->fs, r->inode, r->pid, (uint64_t)st.st_size);
	request_free(r);
	fuse_reply_attr(fuse, &st, timeout);
}

static void getattr_begin(struct request *r);

static void getattr_end(struct request *r)
{
	struct told told = {
		.attr = &r->batch.first.op.u.getattr.attr,
		.asked = getattr_of(r)->asked,
		.born = getattr_of(r)->born,
		.tid = r->pid,
	};

	if (!turn_waits(r, flush_size(r->inode, told.attr->size, told.asked), getattr_begin))
		end_attr(r, told);
}

/* Answers from known attributes, if the kernel asks
 *
 *   - because of an open, a close or a write, and the open or close has just brought attributes;
 *   - about a delegated file, or for one of many reads of a file that other clients change;
 *   - about a directory. The kernel asks after reading entries, which may have moved the access
 *     time, and the attributes that came with the entries tell the new time. */
static bool getattr_known(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct inode *ino = r->inode;
	uint64_t since = entry_attr_since(r->fs, ino), asked;
	bool known;

	if (ino->type == NFS_DIR)
		known = inode_known_dir(ino, since, &op->u.getattr.attr, &asked);
	else
		known = (atomic_exchange(&ino->view.renewed, false) || deleg_since(r->fs, ino) ||
				(getattr_of(r)->reads && change_is_shared(ino))) &&
			!atomic_load(&ino->append.displaced) &&
			inode_known_attr(ino, since, &op->u.getattr.attr, &asked);
	if (!known)
		return false;
	getattr_of(r)->asked = asked;
	getattr_end(r);
	return true;
}

/* Appended data may stand at a wrong place in the kernel's pages (append.c): must the pages be
 * invalidated before the answer tells this size? The kernel itself drops the pages if the size is
 * not the believed one. After the same size twice, the pages have been invalidated. */
static bool getattr_drops(struct inode *ino, uint64_t size)
{
	if (!atomic_load(&ino->append.displaced))
		return false;
	if (size == atomic_load(&ino->append.kernel_end))
		return atomic_exchange(&ino->append.displaced, false);
	if (size == atomic_load(&ino->view.size))
		atomic_store(&ino->append.displaced, false);
	return false;
}

/* The server has answered the GETATTR sent at getattr_of(r)->asked. */
static void getattr_took(struct request *r)
{
	const struct nfs_attr *a = &r->batch.first.op.u.getattr.attr;

	entry_note_attr(r->fs, r->inode, a, getattr_of(r)->asked);
	if (getattr_drops(r->inode, a->size) || atomic_exchange(&r->inode->attrs.relinked, false))
		inval_then(r->fs->inval, r, getattr_end);
	else
		getattr_end(r);
}

static void getattr_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (op->error == -ESTALE && attrs_removed(&r->inode->attrs, &op->u.getattr.attr)) {
		end_attr(r, told_now(&op->u.getattr.attr, r->pid));
		return;
	}
	if (op->error) {
		request_end(r, op->error);
		return;
	}
	getattr_took(r);
}

/* Written data is on the server. */
static void getattr_flushed(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_GETATTR, getattr);

	op->u.getattr.fh = r->inode->fh;
	if (r->flush.then.done) {
		opening_settled(r);
		op->u.getattr.attr = r->flush.then.attr;
		getattr_of(r)->asked = r->flush.then.asked;
		getattr_took(r);
		return;
	}
	request_give_back(r);
	if (opening_settles(r, getattr_flushed))
		return;
	getattr_of(r)->asked = clock_ns();
	if (!getattr_known(r))
		request_submit(r, getattr_done);
}

static void getattr_begin(struct request *r)
{
	static const struct nfs_sattr now = {.mask = NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW};
	bool settles = r->opening.settler != NULL;

	if (settles)
		inode_touch(r->inode);
	if (!flush_waits_then(r, r->inode, flush_kept_level(r->inode, 0, UINT64_MAX),
		    settles ? &now : NULL, getattr_flushed))
		getattr_flushed(r);
}

void ops_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	r->owed.asks = true;
	view_asked(&r->inode->view);
	getattr_of(r)->born = r->born;
	getattr_of(r)->reads = fi != NULL;
	if ((written_is_one(&r->inode->written, true) && opening_take(r)) ||
		!opening_settles(r, getattr_begin))
		getattr_begin(r);
}

static void setattr_took(struct request *r, const struct nfs_attr *a)
{
	opening_settled(r);
	entry_note_attr(r->fs, r->inode, a, clock_ns());
	if (setattr_of(r)->set.mask & NFS_SET_SIZE)
		view_cut(&r->inode->view, a->size, r->pid);
	end_attr(r, told_now(a, r->pid));
}

static void setattr_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	inode_touch_end(r->inode);
	if (op->u.setattr.set.mask & NFS_SET_SIZE)
		view_cut_end(&r->inode->view, r->pid);
	written_cut_end(
		&r->inode->written, &r->cut, op->u.setattr.set.size, op->error ? 0 : UINT64_MAX);
	if (op->error) {
		request_end(r, op->error);
		return;
	}
	setattr_took(r, &op->u.setattr.attr);
}

/* r is about to set the size, and r->cut has begun. setattr_done() ends the change. */
static void cut_begin(struct request *r)
{
	view_cut_begin(&r->inode->view);
	late_begin(r, r->inode, setattr_of(r)->set.size, UINT64_MAX);
}

static void setattr_submit(struct request *r)
{
	struct nfs_op *op;

	if (setattr_of(r)->set.mask & NFS_SET_SIZE && flush_cut_waits(r, r->inode, setattr_submit))
		return;
	op = request_op(r, NFS_SETATTR, setattr);
	op->u.setattr.fh = r->inode->fh;
	op->u.setattr.set = setattr_of(r)->set;
	if (setattr_of(r)->set.mask & NFS_SET_SIZE) {
		deleg_changing(r->fs, r->inode);
		cut_begin(r);
	}
	inode_touch_begin(r->inode);
	request_submit(r, setattr_done);
}

static void truncate_asked(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;
	int error = entry_note_access(r, op);

	if (error || !(op->u.access.allowed & NFS_ACCESS_MODIFY))
		request_end(r, error ? error : -EACCES);
	else
		setattr_submit(r);
}

/* truncate(2) needs the right to write. But a server lets the owner of a file set the size with any
 * mode, for processes that have the file open. So the right is asked for first. */
static void truncate_ask(struct request *r)
{
	uint32_t may;

	if (attrs_known_access(&r->inode->attrs, &r->batch.cred, NFS_ACCESS_MODIFY,
		    entry_attr_since(r->fs, r->inode), &may) &&
		may) {
		setattr_submit(r);
		return;
	}
	entry_ask_access(r, &r->batch.first);
	request_submit(r, truncate_asked);
}

/* ftruncate(2): the mode of the open decides, with the opener's rights. */
static void ftruncate_submit(struct request *r)
{
	const struct file *f = r->file;
	struct nfs_op *op;

	if (flush_cut_waits(r, r->inode, ftruncate_submit))
		return;
	op = request_op(r, NFS_SETATTR, setattr);
	op->cred = f->cred;
	op->u.setattr.fh = r->inode->fh;
	op->u.setattr.set = setattr_of(r)->set;
	op->u.setattr.open = f->open;
	cut_begin(r);
	inode_touch_begin(r->inode);
	request_submit(r, setattr_done);
}

static void setattr_flushed(struct request *r)
{
	uint32_t mask = setattr_of(r)->set.mask;

	if (r->flush.then.done)
		setattr_took(r, &r->flush.then.attr);
	else if (!(mask & NFS_SET_SIZE))
		setattr_submit(r);
	else if (r->file)
		ftruncate_submit(r);
	else
		truncate_ask(r);
}

/* Data written before must not change the times afterwards. A program that sets anything but the
 * size has probably written all data, and closes next. So if one WRITE is left, that WRITE is a
 * stable one, and no COMMIT follows; and SETATTR goes with the WRITE. (Not for a new owner: the
 * owner's name may have to be asked for elsewhere than on the server,
 * nfsproto/v4/mount/nfs4_names.c.) */
static void setattr_begin(struct request *r)
{
	const struct nfs_sattr *set = &setattr_of(r)->set;
	bool waits;

	inode_touch(r->inode);
	if (set->mask & NFS_SET_SIZE &&
		late_waits(r, r->inode, set->size, UINT64_MAX, setattr_begin))
		return;
	if (set->mask & NFS_SET_SIZE)
		waits = flush_waits(r, r->inode, WRITTEN, setattr_flushed);
	else if (set->mask & (NFS_SET_UID | NFS_SET_GID))
		waits = flush_waits(r, r->inode, STABLE, setattr_flushed);
	else
		waits = flush_waits_then(r, r->inode, STABLE, set, setattr_flushed);
	if (!waits)
		setattr_flushed(r);
}

/* Adds both times to set, unless set has them already. */
static void settle_too(struct nfs_sattr *set)
{
	if (!(set->mask & (NFS_SET_ATIME | NFS_SET_ATIME_NOW)))
		set->mask |= NFS_SET_ATIME_NOW;
	if (!(set->mask & (NFS_SET_MTIME | NFS_SET_MTIME_NOW)))
		set->mask |= NFS_SET_MTIME_NOW;
}

static void setattr_start(struct request *r)
{
	if (opening_take(r)) {
		settle_too(&setattr_of(r)->set);
		setattr_begin(r);
	} else if (!opening_settles(r, setattr_begin)) {
		setattr_begin(r);
	}
}

/* The pages are written. Or the program is killed, and waits for nothing. */
static void setattr_dropped(struct request *r)
{
	if (request_is_gone(r))
		request_end(r, -EINTR);
	else
		setattr_start(r);
}

/* A program sets times. May there be pages that a store through a mapping has made dirty? The
 * kernel would write such pages later, and the server would set the times to now. The kernel does
 * not tell this daemon of a mapping. But a mapping that allows stores keeps a file open that was
 * opened to read and write. */
static bool setattr_writes_pages(const struct request *r)
{
	uint32_t mask = setattr_of(r)->set.mask;

	return mask & (NFS_SET_ATIME | NFS_SET_MTIME) && !(mask & NFS_SET_SIZE) &&
	       atomic_load(&r->inode->opens.mappers);
}

void ops_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	r->file = fi ? file_of(fs_of(req), fi) : NULL;
	attr_from_setattr(attr, to_set, &setattr_of(r)->set);
	if (!setattr_of(r)->set.mask) {
		memset(r->state, 0, sizeof(r->state));
		getattr_of(r)->born = UINT64_MAX;
		getattr_begin(r);
	} else if (setattr_writes_pages(r)) {
		/* to invalidate a dirty page the kernel writes the page first, and waits for the
		 * answer */
		inval_then(fs->inval, r, setattr_dropped);
	} else {
		setattr_start(r);
	}
}

static void access_end(struct request *r, uint32_t allowed)
{
	uint32_t want = access_of(r)->want;

	request_end(r, (allowed & want) == want ? 0 : -EACCES);
}

static void access_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	int error = entry_note_access(r, op);

	if (error) {
		request_end(r, error);
		return;
	}
	access_end(r, op->u.access.allowed);
}

void ops_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	uint32_t want = 0, allowed;

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
	access_of(r)->want = want;
	if (attrs_known_access(&r->inode->attrs, &r->batch.cred, want,
		    entry_attr_since(fs, r->inode), &allowed)) {
		access_end(r, allowed);
		return;
	}
	entry_ask_access(r, &r->batch.first);
	request_submit(r, access_done);
}

/* --- readlink and statfs ---------------------------------------------------------------------- */

static void readlink_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
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
	struct nfs_op *op = &r->batch.first.op;
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
