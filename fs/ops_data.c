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
 * rest.
 */
#include <errno.h>
#include <fcntl.h>

#include "fs/ops.h"
#include "fs/worker.h"
#include "transport/log.h"

#define SMALL_WRITE (16u << 10) /* bytes that are copied rather than keep a worker's block */

/* Cuts r->size bytes into parts of at most max. False when out of memory. */
static bool cut(struct request *r, enum nfs_op_type type, size_t op_size, uint32_t max)
{
	struct part *p = &r->first;

	part_ready(p, type, op_size);
	for (uint32_t off = 0;;) {
		p->off = off;
		p->want = r->size - off < max ? r->size - off : max;
		p->got = 0;
		off += p->want;
		if (off == r->size)
			return true;
		p = request_part(r, type, op_size);
		if (!p)
			return false;
	}
}

static bool all_settled(struct request *r)
{
	struct part *p;

	STAILQ_FOREACH (p, &r->parts, next)
		if (!p->settled)
			return false;
	return true;
}

/* --- read ------------------------------------------------------------------------------------- */

static void read_fill(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;
	uint32_t off = p->off + p->got;

	part_ready(p, NFS_READ, sizeof(op->u.read));
	op->u.read.open = r->file->open;
	op->u.read.fh = r->file->inode->fh;
	op->u.read.offset = r->offset + off;
	op->u.read.to.place = mem_buf_sge(r->buf, off, p->want - p->got);
	op->u.read.to.hold = r->buf;
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
			p->want - p->got, (unsigned long long)(r->offset + p->off + p->got));
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
	STAILQ_FOREACH (p, &r->parts, next) {
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

	STAILQ_FOREACH (p, &r->parts, next) {
		int error = p->settled ? 0 : read_part(r, p);

		if (error) {
			request_end(r, error);
			return;
		}
	}
	if (all_settled(r))
		read_reply(r);
	else
		request_submit_parts(r, read_step);
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
	buf = worker_data_wait(fs, size);
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
	r->size = size;
	r->offset = off;
	if (!cut(r, NFS_READ, sizeof(r->first.op.u.read), fs->info.rsize)) {
		request_end(r, -ENOMEM);
		return;
	}
	STAILQ_FOREACH (p, &r->parts, next)
		read_fill(r, p);
	request_submit_parts(r, read_step);
}

/* --- write ------------------------------------------------------------------------------------ */

static void write_fill(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;
	uint32_t off = p->off + p->got;

	part_ready(p, NFS_WRITE, sizeof(op->u.write));
	op->u.write.open = r->file->open;
	op->u.write.fh = r->file->inode->fh;
	op->u.write.offset = r->offset + off;
	op->u.write.from = mem_buf_sge(r->buf, (r->data - r->buf->data) + off, p->want - p->got);
	op->u.write.stable = NFS_UNSTABLE;
}

/* Takes in how far a part came. An error settles it. */
static void write_part(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;
	struct inode *ino = r->file->inode;

	if (!op->error && (!op->u.write.count || op->u.write.count > p->want - p->got)) {
		log_error("server says it wrote %u of %u bytes: server bug", op->u.write.count,
			p->want - p->got);
		op->error = -EREMOTEIO;
	}
	if (op->error) {
		p->settled = true;
		if (!r->error)
			r->error = op->error;
		return;
	}
	if (!inode_wrote(ino, op->u.write.committed, op->u.write.verf))
		log_error("the server restarted before data of file %llu was committed: "
			  "what was written before may be lost",
			(unsigned long long)ino->fileid);
	p->got += op->u.write.count;
	if (p->got == p->want)
		p->settled = true;
	else
		write_fill(r, p);
}

static void write_reply(struct request *r)
{
	fuse_req_t fuse;
	struct part *p;
	uint32_t n = 0;

	STAILQ_FOREACH (p, &r->parts, next) {
		n += p->got;
		if (p->got < p->want)
			break;
	}
	stats_add(&r->fs->stats.write_bytes, n);
	if (n)
		ops_doubt_set_id(r->fs, r->file->inode);
	/* The kernel knows no short count when it writes mapped pages back: that must be an error.
	 */
	if (r->error && (!n || r->writepage)) {
		request_end(r, r->error);
		return;
	}
	inode_told_end(r->file->inode, r->offset + n);
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_write(fuse, n);
}

static void write_step(struct request *r)
{
	struct part *p;

	STAILQ_FOREACH (p, &r->parts, next)
		if (!p->settled)
			write_part(r, p);
	if (all_settled(r))
		write_reply(r);
	else
		request_submit_parts(r, write_step);
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
	r->data = data;
	r->file = f;
	r->size = size;
	r->offset = off;
	r->writepage = fi->writepage;
	inode_touch(f->inode);
	if (!cut(r, NFS_WRITE, sizeof(r->first.op.u.write), fs->info.wsize)) {
		request_end(r, -ENOMEM);
		return;
	}
	STAILQ_FOREACH (p, &r->parts, next)
		write_fill(r, p);
	request_submit_parts(r, write_step);
}
