/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_dir: listing directories.
 *
 * The server is asked for more at a time than the kernel asks for; what is left over waits in the
 * directory handle. Offsets are the server's cookies: 0, 1 and 2 are never those of an entry (RFC
 * 8881 section 18.23.3) and stand for the start, the place after "." and the place after "..".
 *
 * An entry's attributes are given to the kernel only if they are younger than the attribute
 * time-out and neither the inode nor the directory has been changed through this mount since they
 * were asked for; otherwise the entry goes without, and the kernel asks when it wants to know.
 * rewinddir() asks the server again.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/attr.h"
#include "fs/entry.h"
#include "fs/names.h"
#include "fs/notify.h"
#include "fs/ops.h"
#include "transport/clock.h"
#include "transport/log.h"

#define FETCH_BYTES   (64u << 10) /* of READDIR reply, unless the server prefers less */
#define REPLY_BYTES   (64u << 10) /* most that one answer holds */
#define MAX_SERVED    (REPLY_BYTES / 128 + 1)
#define COOKIE_DOT    1u
#define COOKIE_DOTDOT 2u

struct record {
	uint64_t cookie, number; /* of the inode, as stat(2) shows it */
	uint32_t len;		 /* of the record with what follows it, a multiple of 8 */
	uint16_t namelen, fhlen; /* fhlen 0: no attributes */
	struct nfs_attr attr;
	char text[]; /* the handle, then the name and a NUL */
};

struct dirbuf {
	uint64_t after; /* the cookie that it begins after; 0: the start */
	uint64_t asked; /* when, on clock_ns() */
	bool eof;
	uint64_t last; /* the last entry's cookie */
	unsigned count;
	size_t len, cap;
	char *mem;
};

struct dir {
	struct handle handle; /* first */
	struct inode *inode;  /* a reference */
	struct rpc_cred cred;
	bool may_search;      /* whoever opened it may look names up in it */
	pthread_mutex_t lock; /* what follows */
	uint8_t verf[NFS_VERF_SIZE];
	struct dirbuf *buf;
	size_t pos; /* in buf: the record that follows cookie pos_after */
	uint64_t pos_after;
	/* loops_locked(): a cookie that an earlier reply of this listing ended with, how many
	 * replies there were since, and after how many the next cookie is taken instead */
	uint64_t mark;
	unsigned steps, stretch;
	uint32_t token;	    /* names_list()'s; 0: not all names have been listed */
	uint64_t listed_to; /* a cookie: all before it have */
};

static struct dir *dir_of(const struct fuse_file_info *fi)
{
	return (struct dir *)(uintptr_t)fi->fh;
}

static void dirbuf_free(struct dirbuf *b)
{
	if (b)
		free(b->mem);
	free(b);
}

static void dir_free(struct handle *h)
{
	struct dir *d = (struct dir *)h;

	inode_unref(d->inode);
	dirbuf_free(d->buf);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void opendir_reply(struct request *r, bool may_search)
{
	struct dir *d = calloc(1, sizeof(*d));
	struct fuse_file_info fi = {.fh = (uintptr_t)d};
	struct fs *fs = r->fs;
	fuse_req_t fuse;

	if (!d) {
		request_end(r, -ENOMEM);
		return;
	}
	d->inode = inode_ref(r->inode);
	d->cred = r->batch.cred;
	d->may_search = may_search;
	pthread_mutex_init(&d->lock, NULL);
	fs_add_handle(fs, &d->handle, dir_free);
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse_reply_open(fuse, &fi)) {
		fs_drop_handle(fs, &d->handle);
		dir_free(&d->handle);
	}
}

static void opendir_allowed(struct request *r, uint32_t allowed)
{
	if (allowed & NFS_ACCESS_READ)
		opendir_reply(r, allowed & NFS_ACCESS_LOOKUP);
	else
		request_end(r, -EACCES);
}

static void opendir_checked(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	int error = entry_note_access(r, op);

	if (error)
		request_end(r, error);
	else
		opendir_allowed(r, op->u.access.allowed);
}

void ops_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	uint32_t allowed;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	if (fs->opt->default_permissions) { /* the kernel checks the mode, now and at each walk */
		opendir_reply(r, true);
		return;
	}
	if (inode_known_access(r->inode, &r->batch.cred, NFS_ACCESS_READ | NFS_ACCESS_LOOKUP,
		    entry_attr_since(fs, r->inode), &allowed)) {
		opendir_allowed(r, allowed);
		return;
	}
	entry_ask_access(r, &r->batch.first);
	request_submit(r, opendir_checked);
}

void ops_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct dir *d = dir_of(fi);

	names_list_end(fs_of(req)->names, d->inode, d->token, false);
	fs_drop_handle(fs_of(req), &d->handle);
	dir_free(&d->handle);
	fuse_reply_err(req, 0);
}

void ops_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0); /* the server answers a change of names when it is durable */
}

/* --- from the server -------------------------------------------------------------------------- */

/* The entry of a mount point of the server stands for the root of what is mounted there, as in
 * stat(2); for the directory below it only if that root cannot be looked at. */
static uint64_t entry_number(const struct request *r, const struct nfs_dirent *ent)
{
	struct nfs_attr a = {
		.fileid = ent->fileid,
		.fsid_major = r->u.list.dir->inode->fsid_major,
		.fsid_minor = r->u.list.dir->inode->fsid_minor,
	};

	return inode_number(r->fs->inodes, ent->have_attr ? &ent->attr : &a);
}

static bool fetch_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	struct request *r = request_of(op);
	struct dirbuf *b = r->u.list.buf;
	uint32_t fhlen = ent->have_attr && ent->have_fh ? ent->fh.len : 0;
	size_t len = (sizeof(struct record) + fhlen + ent->namelen + 1 + 7) & ~(size_t)7;
	struct record *rec;

	if (b->cap - b->len < len) {
		size_t cap = b->cap ? b->cap * 2 : 8192;
		char *mem = realloc(b->mem, cap);

		if (!mem) {
			r->u.list.error = -ENOMEM;
			return false;
		}
		b->mem = mem;
		b->cap = cap;
	}
	rec = (struct record *)(b->mem + b->len);
	rec->cookie = ent->cookie;
	rec->number = entry_number(r, ent);
	rec->len = len;
	rec->namelen = ent->namelen;
	rec->fhlen = fhlen;
	if (ent->have_attr)
		rec->attr = ent->attr;
	else
		rec->attr.type = 0;
	memcpy(rec->text, ent->fh.data, fhlen);
	memcpy(rec->text + fhlen, ent->name, ent->namelen);
	rec->text[fhlen + ent->namelen] = 0;
	b->len += len;
	b->count++;
	b->last = ent->cookie;
	if (ent->cookie <= COOKIE_DOTDOT) {
		log_error("server gave the reserved cookie %llu to a directory entry: server bug",
			(unsigned long long)ent->cookie);
		r->u.list.error = -EREMOTEIO;
		return false;
	}
	return true;
}

static int fetch_check(const struct request *r, const struct nfs_op *op)
{
	const struct dirbuf *b = r->u.list.buf;

	if (op->error)
		return op->error;
	if (r->u.list.error)
		return r->u.list.error;
	if (!b->eof && (!b->count || b->last == b->after)) {
		log_error(
			"server's listing does not advance after cookie %llu (%u entries, not the "
			"end): server bug",
			(unsigned long long)b->after, b->count);
		return -EREMOTEIO;
	}
	return 0;
}

/* Does b, a further reply of a listing, end with a cookie that an earlier one ended with? Then the
 * listing would never end. One remembered cookie, d->mark, is enough to find out if it is replaced
 * after one reply, then two, four and so on: in the end it lies in the loop, and stays long enough.
 */
static bool loops_locked(struct dir *d, const struct dirbuf *b)
{
	bool goes_on = d->buf && d->buf->last == b->after;

	if (b->eof)
		return false;
	if (goes_on && d->stretch && b->last == d->mark)
		return true;
	if (!goes_on)
		d->steps = d->stretch = 0;
	if (d->steps++ == d->stretch) {
		d->mark = b->last;
		d->stretch = d->stretch ? d->stretch * 2 : 1;
		d->steps = 0;
	}
	return false;
}

/* Notes the names of b, if all that stand before it have been noted. */
static void note_names_locked(struct fs *fs, struct dir *d, const struct dirbuf *b)
{
	if (b->after != d->listed_to || !d->token)
		return;
	for (size_t pos = 0; pos < b->len;) {
		const struct record *rec = (struct record *)(b->mem + pos);

		names_listed(fs->names, d->inode, d->token, rec->text + rec->fhlen, rec->namelen);
		pos += rec->len;
	}
	d->listed_to = b->last;
	if (!b->eof)
		return;
	names_list_end(fs->names, d->inode, d->token, true);
	d->token = 0;
}

static void serve(struct request *r);

static void fetch_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct dirbuf *b = r->u.list.buf;
	struct dir *d = r->u.list.dir;
	int error;

	b->eof = op->u.readdir.eof;
	entry_note_dir(r->fs, d->inode, &op->u.readdir.dir_attr, b->asked);
	error = fetch_check(r, op);
	r->u.list.buf = NULL;
	if (error) {
		dirbuf_free(b);
		request_end(r, error);
		return;
	}
	pthread_mutex_lock(&d->lock);
	if (loops_locked(d, b)) {
		pthread_mutex_unlock(&d->lock);
		log_error("server's listing comes back to cookie %llu without end: server bug",
			(unsigned long long)b->last);
		dirbuf_free(b);
		request_end(r, -ELOOP);
		return;
	}
	memcpy(d->verf, op->u.readdir.verf, sizeof(d->verf));
	note_names_locked(r->fs, d, b);
	dirbuf_free(d->buf);
	d->buf = b;
	d->pos = 0;
	d->pos_after = b->after;
	serve(r); /* unlocks */
}

/* Asks the server for what follows cookie after. */
static void fetch(struct request *r, uint64_t after)
{
	struct dir *d = r->u.list.dir;
	struct fs *fs = r->fs;
	struct nfs_op *op;

	r->u.list.buf = calloc(1, sizeof(*r->u.list.buf));
	if (!r->u.list.buf) {
		request_end(r, -ENOMEM);
		return;
	}
	r->u.list.buf->after = after;
	inode_listing(d->inode);
	r->u.list.buf->asked = clock_ns();
	op = request_op(r, NFS_READDIR, readdir);
	op->u.readdir.dir = d->inode->fh;
	op->u.readdir.cookie = after;
	pthread_mutex_lock(&d->lock);
	if (!after && entry_keeps_names(fs, d->inode)) {
		d->token = names_list(
			fs->names, d->inode, r->u.list.buf->asked, d->cred.uid, COMPLETE_NAMES_MAX);
		d->listed_to = 0;
	}
	if (after)
		memcpy(op->u.readdir.verf, d->verf, sizeof(d->verf));
	pthread_mutex_unlock(&d->lock);
	op->u.readdir.max_bytes = FETCH_BYTES;
	if (fs->info.dtsize && fs->info.dtsize < FETCH_BYTES)
		op->u.readdir.max_bytes = fs->info.dtsize;
	op->u.readdir.plus = true; /* for the type, which is wanted either way */
	op->u.readdir.entry = fetch_entry;
	op->u.readdir.want_dir = entry_wants_dir(fs);
	request_submit(r, fetch_done);
}

/* --- to the kernel ---------------------------------------------------------------------------- */

struct reply {
	char *mem;
	size_t len, cap;
	unsigned nserved;
	struct inode *served[MAX_SERVED]; /* each with a lookup for the kernel */
};

/* The inode of rec, with a lookup for the kernel, if the kernel may believe the attributes of rec;
 * else NULL. */
static struct inode *believe(struct fs *fs, const struct inode *dir, const struct dirbuf *b,
	const struct record *rec, uint64_t now)
{
	struct nfs_fh fh = {.len = rec->fhlen};
	struct inode *ino;
	uint64_t s;

	if (!rec->fhlen || rec->fhlen > NFS_FH_MAX)
		return NULL;
	s = fs->opt->acregmin < fs->opt->acdirmin ? fs->opt->acregmin : fs->opt->acdirmin;
	if (now - b->asked > s * NSEC_PER_SEC && now - b->asked > 20000000)
		return NULL;
	/* the name may have been removed since, or given to another file */
	if (atomic_load_explicit(&dir->touched, memory_order_relaxed) >= b->asked)
		return NULL;
	memcpy(fh.data, rec->text, rec->fhlen);
	ino = inode_lookup(fs->inodes, &fh, &rec->attr);
	if (ino && (atomic_load_explicit(&ino->touched, memory_order_relaxed) >= b->asked ||
			   notify_pending(ino))) {
		inode_forget(fs->inodes, ino, 1);
		return NULL;
	}
	return ino;
}

/* Adds an entry. False: there is no room for it. */
static bool put(struct request *r, struct reply *out, const char *name, uint64_t off,
	const struct fuse_entry_param *e)
{
	size_t room = out->cap - out->len, n;

	if (r->u.list.plus)
		n = fuse_add_direntry_plus(r->fuse, out->mem + out->len, room, name, e, off);
	else
		n = fuse_add_direntry(r->fuse, out->mem + out->len, room, name, &e->attr, off);
	if (n > room)
		return false;
	out->len += n;
	return true;
}

static bool put_record(struct request *r, struct reply *out, const struct dirbuf *b,
	const struct record *rec, uint64_t now)
{
	struct fuse_entry_param e = {0};
	struct inode *ino = NULL;

	if (r->u.list.plus && r->u.list.dir->may_search && out->nserved < MAX_SERVED)
		ino = believe(r->fs, r->u.list.dir->inode, b, rec, now);
	if (ino) {
		entry_note_attr(r->fs, ino, &rec->attr, b->asked);
		entry_fill(r->fs, r->u.list.dir->inode, rec->text + rec->fhlen, ino, &rec->attr,
			b->asked, &e);
	} else {
		e.attr.st_ino = rec->number;
		e.attr.st_mode = attr_type_mode(rec->attr.type);
	}
	if (!put(r, out, rec->text + rec->fhlen, rec->cookie, &e)) {
		if (ino)
			inode_forget(r->fs->inodes, ino, 1);
		return false;
	}
	if (ino)
		out->served[out->nserved++] = ino;
	return true;
}

static bool put_dots(struct request *r, struct reply *out)
{
	struct fuse_entry_param e = {
		.attr.st_ino = r->u.list.dir->inode->number, .attr.st_mode = S_IFDIR};

	if (r->u.list.offset < COOKIE_DOT && !put(r, out, ".", COOKIE_DOT, &e))
		return false;
	return r->u.list.offset >= COOKIE_DOTDOT || put(r, out, "..", COOKIE_DOTDOT, &e);
}

/* Answers from the buffer of the handle, beginning at d->pos. Unlocks the handle. */
static void serve(struct request *r)
{
	struct dir *d = r->u.list.dir;
	struct dirbuf *b = d->buf;
	struct fs *fs = r->fs;
	struct reply out = {.cap = r->u.list.size < REPLY_BYTES ? r->u.list.size : REPLY_BYTES};
	uint64_t now = clock_ns();
	fuse_req_t fuse;

	out.mem = r->text = malloc(out.cap);
	if (!out.mem) {
		pthread_mutex_unlock(&d->lock);
		request_end(r, -ENOMEM);
		return;
	}
	if (put_dots(r, &out)) {
		while (d->pos < b->len) {
			const struct record *rec = (struct record *)(b->mem + d->pos);

			if (!put_record(r, &out, b, rec, now))
				break;
			d->pos += rec->len;
			d->pos_after = rec->cookie;
		}
	}
	pthread_mutex_unlock(&d->lock);
	fuse = request_take_fuse(r);
	if (fuse_reply_buf(fuse, out.mem, out.len))
		while (out.nserved)
			inode_forget(fs->inodes, out.served[--out.nserved], 1);
	request_free(r);
}

/* Finds the record after cookie in the handle's buffer, or its end. */
static bool seek_locked(struct dir *d, uint64_t cookie)
{
	struct dirbuf *b = d->buf;

	if (!b)
		return false;
	if (cookie == d->pos_after)
		return true;
	if (cookie == b->after) {
		d->pos = 0;
		d->pos_after = cookie;
		return true;
	}
	for (size_t pos = 0; pos < b->len;) {
		const struct record *rec = (struct record *)(b->mem + pos);

		pos += rec->len;
		if (rec->cookie == cookie) {
			d->pos = pos;
			d->pos_after = cookie;
			return true;
		}
	}
	return false;
}

static void list(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	struct fs *fs = fs_of(req);
	struct dir *d = dir_of(fi);
	struct request *r = request_new_cred(fs, req, &d->cred);
	uint64_t cookie = (uint64_t)off <= COOKIE_DOTDOT ? 0 : (uint64_t)off;

	if (!r)
		return;
	r->u.list.dir = d;
	r->u.list.size = size;
	r->u.list.offset = off;
	r->u.list.plus = plus;
	pthread_mutex_lock(&d->lock);
	if (off && seek_locked(d, cookie) && (d->pos < d->buf->len || d->buf->eof)) {
		serve(r);
		return;
	}
	pthread_mutex_unlock(&d->lock);
	fetch(r, cookie);
}

void ops_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, size, off, fi, false);
}

void ops_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, size, off, fi, true);
}
