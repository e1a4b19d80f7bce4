/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_read: reading through pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* A READ of pages, which are locked. */
struct reading {
	struct vfs_inode *inode;
	struct vfs_handle *handle;
	struct vfs_page *pages[256];
	unsigned n;
	uint64_t version;
	struct fuse_read_in in;
	uint8_t *bytes;
};

/* The file ends where a READ was short, unless its size has changed since. */
void vfs_short_read(struct vfs_inode *i, uint64_t version, uint64_t end)
{
	if (version < i->attr_version || end >= i->size || i->size_unstable)
		return;
	vfs_new_version(i);
	i->size = end;
	i->v->counts.short_reads++;
	sched_event("kernel: %s: a short read, size %llu", vfs_name(i), (unsigned long long)end);
}

static struct reading *reading_new(struct vfs_file *f)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->inode = vfs_iref(f->inode);
	r->handle = vfs_href(f->handle);
	return r;
}

static void reading_call(struct reading *r, struct vfs_file *f, struct vfs_call *c)
{
	size_t len = (size_t)r->n * VFS_PAGE;

	r->version = vfs_version(r->inode->v);
	r->bytes = malloc(len);
	if (!r->bytes)
		abort();
	r->in = (struct fuse_read_in){.fh = f->handle->fh,
		.offset = r->pages[0]->index * VFS_PAGE,
		.size = (uint32_t)len,
		.flags = (uint32_t)f->flags};
	*c = (struct vfs_call){.opcode = FUSE_READ,
		.node = f->inode->node,
		.out = r->bytes,
		.room = len,
		.var = true};
	vfs_add_in(c, &r->in, sizeof(r->in));
	sched_detail("kernel: %s: read pages %llu+%u", vfs_name(f->inode),
		(unsigned long long)r->pages[0]->index, r->n);
}

/* Pages behind a short answer are zero, and up to date, too. */
static void reading_end(struct vfs *v, struct reading *r, ssize_t got)
{
	size_t len = (size_t)r->n * VFS_PAGE;

	if (got >= 0) {
		memset(r->bytes + got, 0, len - (size_t)got);
		for (unsigned i = 0; i < r->n; i++) {
			memcpy(r->pages[i]->bytes, r->bytes + (size_t)i * VFS_PAGE, VFS_PAGE);
			r->pages[i]->uptodate = true;
		}
		if ((size_t)got < len)
			vfs_short_read(r->inode, r->version, r->in.offset + (uint64_t)got);
		vfs_doubt(r->inode, VFS_ATIME);
	}
	for (unsigned i = 0; i < r->n; i++) {
		vfs_punlock(r->pages[i]);
		vfs_punref(r->pages[i]);
	}
	vfs_hunref(v, r->handle);
	vfs_iunref(r->inode);
	free(r->bytes);
	free(r);
}

static void reading_answered(struct vfs *v, struct vfs_request *q)
{
	reading_end(v, q->ctx, q->error ? q->error : (ssize_t)q->got);
}

/* One page, locked by the caller, by a READ that is waited for. Unlocks. */
static int read_one(struct vfs_file *f, struct vfs_page *p)
{
	struct reading *r;
	struct vfs_call c;
	ssize_t got;

	vfs_wait_back(f->inode, p->index, p->index);
	r = reading_new(f);
	r->pages[r->n++] = p;
	p->refs++;
	reading_call(r, f, &c);
	got = vfs_ask(f->v, &c);
	vfs_doubt(f->inode, VFS_ATIME); /* also after an error (fuse_read_folio) */
	reading_end(f->v, r, got);
	return got < 0 ? (int)got : 0;
}

/* --- read-ahead ------------------------------------------------------------------------------- */

static void send_reading(struct vfs_file *f, struct reading *r)
{
	struct vfs_call c;
	ssize_t got;

	for (unsigned i = 0; i < r->n; i++)
		vfs_wait_back(f->inode, r->pages[i]->index, r->pages[i]->index);
	reading_call(r, f, &c);
	if (vfs_has(f->v, FUSE_ASYNC_READ)) {
		got = vfs_ask_later(f->v, &c, reading_answered, r, NULL);
		if (!got)
			return;
	} else {
		got = vfs_ask(f->v, &c);
	}
	reading_end(f->v, r, got);
}

/* Reads the missing ones of n pages from first on: a READ for each row of missing pages, at most as
 * large as the daemon takes. The use of the page that is `marked` pages from the end begins the
 * next read-ahead. If the file ends first, the end is the file's (page_cache_ra_unbounded). */
static void read_pages(struct vfs_file *f, uint64_t first, uint64_t n, uint64_t marked)
{
	struct vfs_inode *i = f->inode;
	uint64_t end = i->size ? (i->size - 1) / VFS_PAGE + 1 : 0;
	struct reading *r = NULL;
	struct vfs_page *p;

	if (first + n < end)
		end = first + n;
	for (uint64_t at = first; at < end; at++) {
		p = vfs_padd(i, at);
		if (r && (!p || r->n == f->v->max_pages)) {
			send_reading(f, r);
			r = NULL;
		}
		if (!p)
			continue;
		p->ahead = at + marked == end;
		if (!r)
			r = reading_new(f);
		r->pages[r->n++] = p;
	}
	if (r)
		send_reading(f, r);
}

static uint64_t first_size(uint64_t want, uint64_t most)
{
	uint64_t n = 1;

	while (n < want)
		n *= 2;
	if (n <= most / 32)
		return n * 4;
	if (n <= most / 4)
		return n * 2;
	return most;
}

static uint64_t next_size(uint64_t size, uint64_t most)
{
	if (size < most / 16)
		return 4 * size;
	return size <= most / 2 ? 2 * size : most;
}

static void submit(struct vfs_file *f)
{
	/* with many requests in the background Linux leaves out pages that no process waits for */
	if (f->v->background >= f->v->congestion && f->ra_async >= f->ra_size)
		return;
	read_pages(f, f->ra_start, f->ra_size, f->ra_async);
}

static bool is_cached(struct vfs_inode *i, uint64_t index)
{
	struct vfs_page *p = vfs_pfind(i, index);

	if (p)
		vfs_punref(p);
	return p;
}

/* Up to 6.10: if the first page of a window would begin the next window, Linux merges both
 * (ondemand_readahead). */
static void merge(struct vfs_file *f, uint64_t index, uint64_t most)
{
	uint64_t more = next_size(f->ra_size, most);

	if (f->v->p.version >= 611 || index != f->ra_start || f->ra_size != f->ra_async)
		return;
	if (f->ra_size + more <= most) {
		f->ra_async = more;
		f->ra_size += more;
	} else {
		f->ra_size = most;
		f->ra_async = most / 2;
	}
}

/* A page is not in the cache. Linux reads ahead for the first read, for a read that follows the
 * last one, and for a read behind cached pages. want: pages of the call from index on */
static void read_ahead_missed(struct vfs_file *f, uint64_t index, uint64_t want)
{
	uint64_t most = f->v->p.readahead, row = 0;
	bool old = f->v->p.version < 611;

	if (!most) {
		read_pages(f, index, 1, 0);
		return;
	}
	if (old && index &&
		(index == f->ra_start + f->ra_size ||
			index == f->ra_start + f->ra_size - f->ra_async)) {
		/* the page may be in the last window, and the next begins behind (before 6.11) */
		f->ra_start += f->ra_size;
		f->ra_size = f->ra_async = next_size(f->ra_size, most);
	} else if (!index || want > most || index - f->ra_prev <= 1) {
		f->ra_start = index;
		f->ra_size = first_size(want, most);
		f->ra_async = f->ra_size > want ? f->ra_size - want
			      : old		? f->ra_size
						: f->ra_size / 2;
	} else {
		while (row < most && row < index && is_cached(f->inode, index - 1 - row))
			row++;
		if (row <= want) {
			read_pages(f, index, want, 0);
			return;
		}
		if (row == index)
			row *= 2;
		f->ra_start = index;
		f->ra_size = row + want < most ? row + want : most;
		f->ra_async = 1;
	}
	merge(f, index, most);
	submit(f);
}

/* From 6.16 on a window that follows another ends at a multiple of 4 pages (page_cache_async_ra).
 */
static void align(struct vfs_file *f)
{
	uint64_t end = f->ra_start + f->ra_size, at = end / 4 * 4;

	if (f->v->p.version >= 616 && at > f->ra_start)
		f->ra_size = at - f->ra_start;
}

/* The marked page is used. */
static void read_ahead_more(struct vfs_file *f, uint64_t index, uint64_t want)
{
	uint64_t most = f->v->p.readahead, start = index + 1;
	bool old = f->v->p.version < 611;

	if (!most)
		return;
	if (old && !index) {
		f->ra_start = index;
		f->ra_size = first_size(want, most);
		f->ra_async = f->ra_size > want ? f->ra_size - want : f->ra_size;
	} else if (index == f->ra_start + f->ra_size - f->ra_async ||
		   (old && index == f->ra_start + f->ra_size)) {
		f->ra_start += f->ra_size;
		f->ra_size = next_size(f->ra_size, most);
		align(f);
		f->ra_async = f->ra_size;
	} else {
		while (start - index <= most && is_cached(f->inode, start))
			start++;
		if (start - index > most)
			return;
		f->ra_start = start;
		f->ra_size = next_size(start - index + want, most);
		align(f);
		f->ra_async = f->ra_size;
	}
	merge(f, index, most);
	submit(f);
}

/* A mapping's page is not in the cache: pages around are read, too (do_sync_mmap_readahead). */
static void read_around(struct vfs_file *f, uint64_t index)
{
	uint64_t most = f->v->p.readahead;

	if (!most)
		return;
	f->ra_start = index > most / 2 ? index - most / 2 : 0;
	f->ra_size = most;
	f->ra_async = most / 4;
	submit(f);
}

/* --- through the cache ------------------------------------------------------------------------ */

/* The page is made up to date. 1: it has left the cache, look again. *reads: by a READ of the
 * caller
 */
static int update(struct vfs_file *f, struct vfs_page *p, bool *reads)
{
	if (p->uptodate)
		return 0;
	if (!vfs_plock(p, true))
		return -EINTR;
	if (!p->inode) {
		vfs_punlock(p);
		return 1;
	}
	if (p->uptodate) {
		vfs_punlock(p);
		return 0;
	}
	*reads = true;
	return read_one(f, p);
}

/* The page, in the cache and up to date at some moment. want: pages of the whole call from here; 0:
 * a mapping's fault. *reads: the caller itself has read the page */
static int get_page(
	struct vfs_file *f, uint64_t index, uint64_t want, struct vfs_page **out, bool *reads)
{
	bool tried = false; /* a fault has read around: its second try leaves the mark alone */
	struct vfs_page *p;
	int res;

	for (;;) {
		*reads = false;
		if (proc_must_end())
			return -EINTR;
		p = vfs_pfind(f->inode, index);
		if (!p) {
			if (want)
				read_ahead_missed(f, index, want);
			else
				read_around(f, index);
			tried = !want;
			p = vfs_pfind(f->inode, index);
		}
		if (!p) {
			p = vfs_padd(f->inode, index);
			*reads = true;
			res = read_one(f, p);
		} else {
			if (p->ahead && !tried) {
				p->ahead = false;
				read_ahead_more(f, index, want ? want : f->v->p.readahead);
			}
			res = update(f, p, reads);
		}
		if (!res && p->uptodate) {
			*out = p;
			return 0;
		}
		vfs_punref(p);
		if (res < 0)
			return res;
		f->v->counts.retries++;
	}
}

int vfs_read_page(struct vfs_file *f, uint64_t index, struct vfs_page **out)
{
	bool reads;

	return get_page(f, index, 0, out, &reads);
}

/* Before 6.16 the last page of a batch is made up to date, even one behind the end, and may wait
 * for its lock. False: the page is not of the batch (filemap_get_pages). */
static bool update_last(struct vfs_file *f, struct vfs_page *p, uint64_t want)
{
	bool reads;

	if (f->v->p.version >= 616)
		return false;
	if (p->ahead) {
		p->ahead = false;
		read_ahead_more(f, p->index, want);
	}
	if (p->locked) {
		if (vfs_plock(p, true))
			vfs_punlock(p);
		return false;
	}
	return !update(f, p, &reads) && p->uptodate;
}

/* Gets several pages before the check of the size, as Linux has done since 5.12. A page that the
 * caller reads is the last one. */
static int get_batch(
	struct vfs_file *f, uint64_t index, uint64_t want, struct vfs_page **batch, unsigned *n)
{
	struct vfs_page *p;
	bool last = false;
	int res = get_page(f, index, want, &batch[0], &last);

	if (res)
		return res;
	*n = 1;
	while (!last && *n < VFS_BATCH && *n < want) {
		p = vfs_pfind(f->inode, index + *n);
		if (!p)
			break;
		last = !p->uptodate || p->ahead;
		if (last && (p->uptodate || !update_last(f, p, want - *n))) {
			vfs_punref(p);
			break;
		}
		batch[(*n)++] = p;
	}
	return 0;
}

static ssize_t copy_batch(struct vfs_inode *i, struct vfs_page **batch, unsigned n, uint8_t *buf,
	size_t len, uint64_t off)
{
	uint64_t size = i->size;
	size_t done = 0;

	for (unsigned at = 0; at < n && done < len && off + done < size; at++) {
		size_t in = (off + done) % VFS_PAGE, part = VFS_PAGE - in;

		if (part > len - done)
			part = len - done;
		if (part > size - off - done)
			part = size - off - done;
		sched_point();
		memcpy(buf + done, batch[at]->bytes + in, part);
		done += part;
	}
	for (unsigned at = 0; at < n; at++)
		vfs_punref(batch[at]);
	return (ssize_t)done;
}

static ssize_t read_through(struct vfs_file *f, uint8_t *buf, size_t len, uint64_t off)
{
	struct vfs_page *batch[VFS_BATCH];
	bool late = f->v->p.version >= 611;
	size_t done = 0;
	ssize_t part;
	unsigned n;
	int error = 0;

	while (done < len && off + done < f->inode->size) {
		uint64_t index = (off + done) / VFS_PAGE;

		error = get_batch(f, index, (off + len - 1) / VFS_PAGE - index + 1, batch, &n);
		if (error)
			break;
		part = copy_batch(f->inode, batch, n, buf + done, len - done, off + done);
		if (!part)
			break;
		done += (size_t)part;
		if (!late)
			f->ra_prev = (off + done) / VFS_PAGE;
	}
	/* from 6.11 on at the end alone (filemap_read) */
	if (late && done)
		f->ra_prev = (off + done) / VFS_PAGE;
	return done ? (ssize_t)done : error;
}

ssize_t vfs_read_cached(struct vfs_file *f, void *buf, size_t len, off_t off)
{
	struct vfs_inode *i = f->inode;
	ssize_t got = 0, more;
	int error;

	if (i->bad)
		return -EIO;
	/* attributes come first, always with auto_inval_data, else behind the end only */
	if (vfs_has(i->v, FUSE_AUTO_INVAL_DATA) || (uint64_t)off + len > i->size) {
		error = vfs_getattr(i, f, VFS_SIZE, NULL);
		if (error)
			return error;
	}
	if (!len)
		return 0;
	if (f->flags & O_DIRECT) {
		vfs_write_back(i, (uint64_t)off / VFS_PAGE, ((uint64_t)off + len - 1) / VFS_PAGE);
		vfs_wait_back(i, (uint64_t)off / VFS_PAGE, ((uint64_t)off + len - 1) / VFS_PAGE);
		got = vfs_read_direct(f, buf, len, off, true);
		if (got < 0 || (size_t)got == len)
			return got;
		/* the rest is read through the cache */
	}
	more = read_through(f, (uint8_t *)buf + got, len - (size_t)got, (uint64_t)(off + got));
	return more < 0 && !got ? more : got + (more > 0 ? more : 0);
}
