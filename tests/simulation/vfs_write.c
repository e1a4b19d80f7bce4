/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_write: write(2): the bytes go to pages and, before the call returns, to the daemon; or to the
 * daemon alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* A WRITE of pages. */
struct writing {
	struct vfs_page *pages[256];
	unsigned n;
	uint64_t off;
	size_t len;
	struct vfs_span span;
	bool last_locked; /* the last page has bytes that are not known */
};

void vfs_write_update(struct vfs_inode *i, uint64_t end, ssize_t written)
{
	vfs_new_version(i);
	if (written > 0 && end > i->size)
		i->size = end;
	vfs_doubt(i, VFS_MODSIZE);
}

static uint32_t kill_flag(const struct vfs *v)
{
	return vfs_has(v, FUSE_HANDLE_KILLPRIV_V2) && proc_self()->uid ? FUSE_WRITE_KILL_SUIDGID
								       : 0;
}

/* Linux asks for security.capability before the bytes or the size of a file change
 * (dentry_needs_remove_privs), unless the file is known to have none. The answer does not matter
 * here: no file has any. */
void vfs_ask_rights(struct vfs_inode *i)
{
	struct fuse_getxattr_in in = {.size = 0};
	struct fuse_getxattr_out out;
	struct vfs_call c = {
		.opcode = FUSE_GETXATTR, .node = i->node, .out = &out, .room = sizeof(out)};

	if (i->nosec || i->v->no_getxattr)
		return;
	vfs_add_in(&c, &in, sizeof(in));
	vfs_add_name(&c, "security.capability");
	if (vfs_ask(i->v, &c) == -ENOSYS)
		i->v->no_getxattr = true;
}

/* The file is known to have none since the attributes were last taken, with handle_killpriv_v2
 * (file_remove_privs). */
int vfs_drop_rights(struct vfs_inode *i)
{
	bool set = i->a.mode & S_ISUID || (i->a.mode & S_ISGID && i->a.mode & S_IXGRP);
	struct fuse_setattr_in none = {0};
	int error = 0;

	vfs_ask_rights(i);
	/* such a SETATTR has nothing to set: the daemon drops the bits (fuse_setattr) */
	if (!i->nosec && set && proc_self()->uid)
		error = vfs_setattr(i, &none, NULL, false);
	if (error)
		return error;
	i->nosec = vfs_has(i->v, FUSE_HANDLE_KILLPRIV_V2) && !(i->a.mode & (S_ISUID | S_ISGID));
	return 0;
}

/* --- through pages ---------------------------------------------------------------------------- */

/* The page, in the cache and locked. */
static struct vfs_page *grab(struct vfs_inode *i, uint64_t index)
{
	struct vfs_page *p;

	for (;;) {
		p = vfs_pfind(i, index);
		if (!p)
			return vfs_padd(i, index);
		vfs_plock(p, false);
		if (p->inode)
			return p;
		vfs_punlock(p);
		vfs_punref(p);
	}
}

/* From an unlocked page to the WRITE: a writer that stops there is case 5 of doc/coherence.md. */
#define FILL_POINTS 10

/* Copies bytes into pages, as many as one WRITE takes. A page that is up to date is unlocked at
 * once. A page that is not stays locked until the answer, and is the last of the WRITE. */
static void fill(
	struct vfs_inode *i, struct writing *w, const uint8_t *buf, size_t len, uint64_t off)
{
	const struct vfs *v = i->v;

	*w = (struct writing){.off = off, .span = {.off = off, .end = off}};
	LIST_INSERT_HEAD(&i->spans, &w->span, next);
	while (w->len < len && w->n < v->max_pages && w->len < v->max_write) {
		uint64_t at = off + w->len;
		size_t in = at % VFS_PAGE, part = VFS_PAGE - in;
		struct vfs_page *p = grab(i, at / VFS_PAGE);

		if (part > len - w->len)
			part = len - w->len;
		if (part > v->max_write - w->len)
			part = v->max_write - w->len;
		memcpy(p->bytes + in, buf + w->len, part);
		w->pages[w->n++] = p;
		w->len += part;
		w->span.end = at + part;
		p->uptodate |= part == VFS_PAGE;
		if (!p->uptodate) {
			w->last_locked = true;
			break;
		}
		vfs_punlock(p);
		sched_hurry(FILL_POINTS);
		if (!vfs_has(v, FUSE_BIG_WRITES) || in + part < VFS_PAGE)
			break;
	}
}

static void release(struct writing *w, ssize_t written)
{
	size_t left = written > 0 ? (size_t)written : 0, in = w->off % VFS_PAGE;
	bool is_short = written >= 0 && left < w->len;

	LIST_REMOVE(&w->span, next);
	for (unsigned n = 0; n < w->n; n++, in = 0) {
		struct vfs_page *p = w->pages[n];

		if (written < 0) {
			p->uptodate = false;
		} else if (left >= VFS_PAGE - in) {
			left -= VFS_PAGE - in;
		} else {
			if (is_short)
				p->uptodate = false;
			left = 0;
		}
		if (w->last_locked && n == w->n - 1)
			vfs_punlock(p);
		vfs_punref(p);
	}
}

static ssize_t send(struct vfs_file *f, struct writing *w)
{
	struct fuse_write_in in = {.fh = f->handle->fh,
		.offset = w->off,
		.size = (uint32_t)w->len,
		.write_flags = kill_flag(f->v),
		.flags = (uint32_t)f->flags};
	struct fuse_write_out out = {0};
	struct vfs_call c = {
		.opcode = FUSE_WRITE, .node = f->inode->node, .out = &out, .room = sizeof(out)};
	size_t left = w->len, at = w->off % VFS_PAGE;
	ssize_t res;

	vfs_add_in(&c, &in, sizeof(in));
	for (unsigned n = 0; n < w->n; n++, at = 0) {
		size_t part = VFS_PAGE - at < left ? VFS_PAGE - at : left;

		vfs_wait_back(f->inode, w->pages[n]->index, w->pages[n]->index);
		/* the daemon reads the page's bytes later, as they are then */
		vfs_add_in(&c, w->pages[n]->bytes + at, part);
		left -= part;
	}
	res = vfs_ask(f->v, &c);
	if (res >= 0 && out.size > w->len)
		res = -EIO;
	else if (res >= 0)
		res = out.size;
	release(w, res);
	return res;
}

static ssize_t write_through(struct vfs_file *f, const uint8_t *buf, size_t len, uint64_t off)
{
	struct vfs_inode *i = f->inode;
	struct writing w;
	size_t done = 0;
	ssize_t res = 0;

	if (i->size < off + len)
		i->size_unstable = true;
	while (done < len) {
		fill(i, &w, buf + done, len - done, off + done);
		res = send(f, &w);
		if (res < 0)
			break;
		done += (size_t)res;
		if ((size_t)res != w.len) {
			res = -EIO;
			break;
		}
		sched_point();
	}
	vfs_write_update(i, off + done, (ssize_t)done);
	i->size_unstable = false;
	return done ? (ssize_t)done : res;
}

/* --- without pages ---------------------------------------------------------------------------- */

struct part {
	struct parts *all;
	struct fuse_write_in in;
	struct fuse_write_out out;
	const uint8_t *from;
};

struct parts {
	unsigned left;
	int error;
	uint64_t off;
	size_t done; /* up to the first short answer */
};

static void part_answered(struct vfs *v, struct vfs_request *q)
{
	struct part *p = q->ctx;
	struct parts *all = p->all;

	if (q->error)
		all->error = q->error;
	else if (p->out.size > p->in.size)
		all->error = -EIO;
	else if (p->out.size < p->in.size && p->in.offset - all->off + p->out.size < all->done)
		all->done = p->in.offset - all->off + p->out.size;
	if (!--all->left)
		sched_wake_all(all);
}

static void part_call(
	struct vfs_file *f, struct part *p, size_t size, uint64_t off, struct vfs_call *c)
{
	p->in = (struct fuse_write_in){.fh = f->handle->fh,
		.offset = off,
		.size = (uint32_t)size,
		/* also if the daemon does not want that (fuse_direct_io) */
		.write_flags =
			(proc_self()->uid ? FUSE_WRITE_KILL_SUIDGID : 0) | FUSE_WRITE_LOCKOWNER,
		.lock_owner = vfs_owner(proc_self()->number),
		.flags = (uint32_t)f->flags};
	*c = (struct vfs_call){.opcode = FUSE_WRITE,
		.node = f->inode->node,
		.out = &p->out,
		.room = sizeof(p->out)};
	vfs_add_in(c, &p->in, sizeof(p->in));
	vfs_add_in(c, p->from, size);
}

static size_t most_of(const struct vfs *v)
{
	size_t pages = (size_t)v->max_pages * VFS_PAGE;

	return v->max_write < pages ? v->max_write : pages;
}

/* All at once: O_DIRECT. */
static ssize_t write_parts(struct vfs_file *f, const uint8_t *buf, size_t len, uint64_t off)
{
	struct parts all = {.left = 1, .off = off, .done = len};
	size_t most = most_of(f->v);
	struct vfs_call c;

	for (size_t at = 0; at < len; at += most) {
		struct part *p = calloc(1, sizeof(*p));
		int error;

		if (!p)
			abort();
		p->all = &all;
		p->from = buf + at;
		part_call(f, p, len - at < most ? len - at : most, off + at, &c);
		all.left++;
		error = vfs_ask_later(f->v, &c, part_answered, p, p);
		if (error) {
			all.left--;
			all.error = error;
			free(p);
			break;
		}
	}
	all.left--;
	while (all.left)
		sched_wait(&all, SCHED_NEVER, "for writes");
	/* a short answer is an error here (fuse_get_res_by_io) */
	if (!all.error && all.done < len)
		all.error = -EIO;
	return all.error ? all.error : (ssize_t)len;
}

/* One after the other. */
static ssize_t write_in_order(struct vfs_file *f, const uint8_t *buf, size_t len, uint64_t off)
{
	size_t most = most_of(f->v), done = 0;
	struct vfs_call c;
	struct part p;
	ssize_t res;

	while (done < len) {
		p = (struct part){.from = buf + done};
		part_call(f, &p, len - done < most ? len - done : most, off + done, &c);
		res = vfs_ask(f->v, &c);
		if (res >= 0 && p.out.size > p.in.size)
			res = -EIO;
		if (res < 0)
			return done ? (ssize_t)done : res;
		done += p.out.size;
		if (p.out.size < p.in.size)
			break;
	}
	return (ssize_t)done;
}

/* A file with FOPEN_DIRECT_IO. Linux from 6.7 on sends and drops the pages of the range first; 6.1
 * keeps the pages. */
static ssize_t write_direct(struct vfs_file *f, const uint8_t *buf, size_t len, uint64_t off)
{
	struct vfs_inode *i = f->inode;
	uint64_t first = off / VFS_PAGE, last = (off + len - 1) / VFS_PAGE;
	ssize_t res;

	if (f->v->p.version >= 607)
		vfs_write_back(i, first, last);
	vfs_wait_back(i, first, last);
	if (f->v->p.version >= 607)
		vfs_pinvalidate(i, first, last);
	res = write_in_order(f, buf, len, off);
	vfs_write_update(i, off + (res > 0 ? (size_t)res : 0), res);
	return res;
}

/* O_DIRECT: pages of the range are sent first, and dropped before and after. */
static ssize_t write_around(struct vfs_file *f, const uint8_t *buf, size_t len, uint64_t off)
{
	struct vfs_inode *i = f->inode;
	uint64_t first = off / VFS_PAGE, last = (off + len - 1) / VFS_PAGE;
	bool extends = off + len > i->size;
	ssize_t res, more;

	vfs_write_back(i, first, last);
	vfs_wait_back(i, first, last);
	vfs_pinvalidate(i, first, last);
	if (vfs_has(f->v, FUSE_ASYNC_DIO))
		res = write_parts(f, buf, len, off);
	else
		res = write_in_order(f, buf, len, off);
	vfs_write_update(i, off + (res > 0 ? (size_t)res : 0), res);
	if (res < 0 && extends) {
		/* some parts may have been written: the file is cut to its old size */
		struct fuse_setattr_in in = {.valid = FATTR_SIZE, .size = i->size};

		vfs_setattr(i, &in, f, false);
	}
	vfs_pinvalidate(i, first, last);
	if (res < 0 || (size_t)res == len)
		return res;
	more = write_through(f, buf + res, len - (size_t)res, off + (size_t)res);
	vfs_pinvalidate(i, first, last);
	return more < 0 ? (res ? res : more) : res + more;
}

/* --- write(2) --------------------------------------------------------------------------------- */

static ssize_t write_locked(struct vfs_file *f, const uint8_t *buf, size_t len, off_t *off)
{
	struct vfs_inode *i = f->inode;
	int error;

	if (f->flags & O_APPEND)
		*off = (off_t)i->size; /* as the kernel knows it */
	if (!len)
		return 0;
	if (f->handle->open_flags & FOPEN_DIRECT_IO)
		return write_direct(f, buf, len, (uint64_t)*off);
	error = vfs_drop_rights(i);
	if (error)
		return error;
	if (f->flags & O_DIRECT)
		return write_around(f, buf, len, (uint64_t)*off);
	return write_through(f, buf, len, (uint64_t)*off);
}

ssize_t vfs_write_file(struct vfs_file *f, const void *buf, size_t len, off_t *off)
{
	struct vfs_inode *i = f->inode;
	ssize_t res;
	int error;

	if (i->bad)
		return -EIO;
	vfs_lock(&i->lock);
	res = write_locked(f, buf, len, off);
	vfs_unlock(&i->lock);
	if (res <= 0)
		return res;
	*off += res;
	if (f->flags & O_DSYNC && !(f->handle->open_flags & FOPEN_DIRECT_IO)) {
		/* of the bytes that are written here alone (generic_write_sync) */
		error = vfs_fsync_range(f, (uint64_t)(*off - res) / VFS_PAGE,
			(uint64_t)(*off - 1) / VFS_PAGE, (f->flags & O_SYNC) != O_SYNC);
		if (error)
			return error;
	}
	return res;
}
