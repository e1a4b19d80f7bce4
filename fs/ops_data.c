/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_data: READ and WRITE.
 *
 * The kernel's request is cut into parts of at most rsize or wsize, which run in parallel. READ
 * data lands in one block of pool memory and is answered from there; WRITE data is sent from the
 * block that the worker read the request into. Neither is copied here, but for a small WRITE: a
 * block that holds the largest request is too much to be kept for it until the server has answered,
 * so that goes to a block of its own size. A part that comes back short
 * (and not at the end of the file) goes out again for the rest; a part is settled when there is no
 * rest. What is to be appended goes another way (ops_append.c).
 */
#include <errno.h>
#include <fcntl.h>

#include "fs/file.h"
#include "fs/ops.h"
#include "fs/ops_append.h"
#include "fs/worker.h"
#include "fs/write.h"
#include "transport/log.h"

#define SMALL_WRITE (16u << 10) /* bytes that are copied rather than keep a worker's block */

/* Cuts r->u.io.size bytes into parts of at most max. False when out of memory. */
static bool cut(struct request *r, uint32_t max)
{
	struct part *p = &r->batch.first;

	if (r->u.io.size > max && !batch_reserve(&r->batch, (r->u.io.size - 1) / max))
		return false;
	for (uint32_t off = 0;;) {
		p->off = off;
		p->want = r->u.io.size - off < max ? r->u.io.size - off : max;
		p->got = 0;
		p->settled = false;
		off += p->want;
		if (off == r->u.io.size)
			return true;
		p = batch_part(&r->batch);
	}
}

/* --- read ------------------------------------------------------------------------------------- */

static void read_fill(struct request *r, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_READ, read);
	uint32_t off = p->off + p->got;

	op->u.read.open = r->file->open;
	op->u.read.fh = r->file->inode->fh;
	op->u.read.offset = r->u.io.offset + off;
	op->u.read.to = seg_list_of_buf(r->buf, off, p->want - p->got);
}

/* Takes in what a part brought. 0 or a negative errno. */
static int read_part(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;

	if (op->error)
		return op->error;
	p->got += op->u.read.count;
	if (op->u.read.eof || p->got >= p->want) {
		p->settled = true;
		return 0;
	}
	if (!op->u.read.count) {
		log_error("server returned no data and no end of file for a READ of %u bytes at "
			  "%llu: server bug",
			p->want - p->got, (unsigned long long)(r->u.io.offset + p->off + p->got));
		return -EREMOTEIO;
	}
	read_fill(r, p);
	return 0;
}

static void read_reply(struct request *r)
{
	fuse_req_t fuse;
	struct part *p;
	uint32_t n = 0;

	/* up to the first gap: a file that grew meanwhile may have data behind its former end */
	STAILQ_FOREACH (p, &r->batch.parts, next) {
		n += p->got;
		if (p->got < p->want)
			break;
	}
	stats_add(&r->fs->stats.read_bytes, n);
	fuse = request_take_fuse(r);
	fuse_reply_buf(fuse, (const char *)r->buf->data, n);
	request_free(r);
}

static void read_step(struct request *r)
{
	struct part *p;

	STAILQ_FOREACH (p, &r->batch.parts, next) {
		int error = p->settled ? 0 : read_part(r, p);

		if (error) {
			request_end(r, error);
			return;
		}
	}
	if (batch_ready(&r->batch))
		request_submit(r, read_step);
	else
		read_reply(r);
}

void ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fi);
	struct mem_buf *buf;
	struct request *r;
	struct part *p;

	if (!size || size > MEM_MAX_SIZE) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	buf = worker_data_wait(fs, size, fuse_req_ctx(req)->pid);
	if (!buf) {
		fuse_reply_err(req, ENOTCONN);
		return;
	}
	r = request_new_cred(fs, req, &f->cred);
	if (!r) {
		data_put(fs, buf);
		return;
	}
	request_take_data(r, buf);
	r->file = f;
	r->u.io.size = size;
	r->u.io.offset = off;
	if (!cut(r, fs->info.rsize)) {
		request_end(r, -ENOMEM);
		return;
	}
	STAILQ_FOREACH (p, &r->batch.parts, next)
		read_fill(r, p);
	request_submit(r, read_step);
}

/* --- write ------------------------------------------------------------------------------------ */

static void write_fill(struct request *r, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_WRITE, write);
	uint32_t off = p->off + p->got;

	op->u.write.open = r->file->open;
	op->u.write.fh = r->file->inode->fh;
	op->u.write.offset = r->u.io.offset + off;
	op->u.write.from =
		seg_list_of_buf(r->buf, (r->u.io.data - r->buf->data) + off, p->want - p->got);
	op->u.write.stable = write_stable(r);
}

/* Takes in how far a part came. An error settles it. */
static void write_part(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;
	int error = write_took(r, op, p->want - p->got);

	if (error) {
		p->settled = true;
		if (!r->u.io.error)
			r->u.io.error = error;
		return;
	}
	p->got += op->u.write.count;
	if (p->got == p->want)
		p->settled = true;
	else
		write_fill(r, p);
}

static void write_step(struct request *r)
{
	struct part *p;

	STAILQ_FOREACH (p, &r->batch.parts, next)
		if (!p->settled)
			write_part(r, p);
	if (batch_ready(&r->batch))
		request_submit(r, write_step);
	else
		write_reply(r);
}

/* The data in a block that is the request's own (counted by data_get()), at *data. NULL if it is
 * not where the worker has read it to. */
static struct mem_buf *write_take_data(struct fs *fs, const struct fuse_bufvec *in, uint8_t **data)
{
	const struct fuse_buf *from = &in->buf[0];
	struct mem_buf *buf;

	if (in->count != 1 || from->flags & FUSE_BUF_IS_FD)
		return NULL;
	buf = from->size <= SMALL_WRITE ? data_get(fs, from->size) : NULL;
	if (buf) {
		memcpy(buf->data, from->mem, from->size);
		stats_add(&fs->stats.small_bytes, from->size);
		*data = buf->data;
		return buf;
	}
	*data = from->mem;
	return worker_take_buf(from->mem, from->size);
}

void ops_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t off,
	struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fi);
	size_t size = fuse_buf_size(in);
	struct mem_buf *buf;
	struct request *r;
	struct part *p;
	uint8_t *data;

	if (!size) {
		fuse_reply_write(req, 0);
		return;
	}
	buf = write_take_data(fs, in, &data);
	if (!buf) {
		log_error("WRITE data is not where it was read to");
		fuse_reply_err(req, EIO);
		return;
	}
	r = request_new_cred(fs, req, &f->cred);
	if (!r) {
		data_put(fs, buf);
		return;
	}
	request_take_data(r, buf);
	r->u.io.data = data;
	r->file = f;
	r->u.io.size = size;
	r->u.io.offset = off;
	r->u.io.writepage = fi->writepage;
	r->u.io.flags = fi->flags;
	inode_touch(f->inode);
	/* As the descriptor is now, whatever it was opened with; pages that are written back know
	 * where they belong. */
	if (fi->flags & O_APPEND && !r->u.io.writepage) {
		append_start(r);
		return;
	}
	if (!cut(r, fs->info.wsize)) {
		r->u.io.error = -ENOMEM;
		write_failed(r);
		return;
	}
	STAILQ_FOREACH (p, &r->batch.parts, next)
		write_fill(r, p);
	request_submit(r, write_step);
}
