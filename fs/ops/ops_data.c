/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_data: READ and WRITE.
 *
 * The data of a request is a list of segments, batch.data. The list is cut into parts of at most
 * rsize or wsize that run in parallel (cache/batch.h). READ data lands in pool memory, in one block
 * or, if there is no block so large, in several, and the kernel is answered from there. WRITE data
 * is sent from the block that the worker read the request into. The data is not copied here, except
 * for a small WRITE: a block that holds the largest request is too large to be kept until the
 * server has answered. So a small WRITE goes to a block of its own size.
 *
 * A part that comes back short (and not at the end of the file) goes out again for the rest. A part
 * is settled when there is no rest. Appends go another way (append.c).
 */
#include <errno.h>
#include <fcntl.h>

#include "fs/file/admission.h"
#include "fs/file/append.h"
#include "fs/file/cached.h"
#include "fs/coherence/change.h"
#include "fs/kernel/arrival.h"
#include "fs/kernel/data.h"
#include "fs/known/file.h"
#include "fs/file/flush.h"
#include "fs/kernel/io.h"
#include "fs/file/late.h"
#include "fs/ops/ops.h"
#include "fs/kernel/order.h"
#include "fs/coherence/repeat.h"
#include "fs/kernel/reply.h"
#include "fs/kernel/turn.h"
#include "fs/kernel/worker.h"
#include "fs/file/write.h"
#include "transport/clock.h"
#include "transport/log.h"

#define AGAIN_NS    (2 * NSEC_PER_SEC) /* for how long a READ is asked again at most */
#define SMALL_WRITE (16u << 10)	       /* bytes that are copied rather than keep a worker's block */

/* A READ or WRITE in the name of the opener. Takes data over. NULL: there was no memory, data stays
 * the caller's, and req has been answered. */
static struct request *io_request(
	fuse_req_t req, const struct fuse_file_info *fi, off_t off, struct seg_list *data)
{
	struct file *f = file_of(fs_of(req), fi);
	struct request *r = request_new_cred(f->fs, req, &f->cred);

	if (!r) {
		data_put_list(f->fs, data);
		return NULL;
	}
	request_take_data(r, data);
	r->file = f;
	io_of(r)->offset = off;
	io_of(r)->flags = fi->flags;
	io_of(r)->sent = r->born;
	return r;
}

/* The kernel may have pages from now on. */
static void data_moves(struct inode *ino)
{
	if (atomic_load(&ino->view.blank))
		atomic_store(&ino->view.blank, false);
}

/* --- read ------------------------------------------------------------------------------------- */

static void read_fill(struct request *r, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_READ, read);

	op->u.read.open = r->file->open;
	op->u.read.fh = r->file->inode->fh;
	op->u.read.offset = io_of(r)->offset + p->off + p->got;
	op->u.read.to = part_rest(p);
	op->u.read.want_attr = change_wants_attr(r->fs, r->file->inode, r->born);
	op->u.read.moves = op->u.read.to.len == r->batch.data.len;
}

/* Handles the answer to a part. 0 or a negative errno. */
static int read_part(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;

	if (op->error) {
		nfs_read_let_go(op);
		return op->error;
	}
	change_look(r->fs, r->file->inode, &op->u.read.attr, r->born);
	p->got += op->u.read.count;
	if (op->u.read.eof || p->got >= p->want) {
		p->settled = true;
		return 0;
	}
	if (!op->u.read.count) {
		log_error("server returned no data and no end of file for a READ of %u bytes at "
			  "%llu: server bug",
			p->want - p->got, (unsigned long long)(io_of(r)->offset + p->off + p->got));
		return -EREMOTEIO;
	}
	if (op->u.read.moved.len) /* the rest goes behind the moved data */
		seg_list_copy(&op->u.read.to, &op->u.read.moved);
	nfs_read_let_go(op);
	read_fill(r, p);
	return 0;
}

/* The server says that the file ends behind the n bytes of r that have come. The kernel takes a
 * short answer as the end of the file, unless the kernel has learned the size otherwise since it
 * sent the READ. Must the server be asked again?
 *
 * Yes if this mount has written behind that end since the server was asked, or is about to: then
 * the answer is out of date. Also if the file ends before r begins. The kernel then believes that
 * the file ends where r begins, and discards attributes that it has asked for meanwhile. A process
 * that has just got a lock, or opened the file, would not learn the end of the file, and would find
 * zeros up to the beginning of r. When those attributes have come, the kernel does not take the
 * answer to r as the end any more.
 *
 * The answer is always the server's last one. So the asking ends. */
static bool must_ask_again(struct request *r, uint32_t n)
{
	struct inode *ino = r->file->inode;
	struct believed_read read = {.tid = r->pid, .born = r->born, .asked = io_of(r)->sent};
	uint64_t end = io_of(r)->offset + n;

	if (n == r->batch.data.len || (io_of(r)->flags | r->file->flags) & O_DIRECT ||
		clock_age(clock_ns(), r->born) > AGAIN_NS)
		return false;
	if (repeat_is_outgrown(r, end))
		return true;
	return !n && io_of(r)->offset && view_end_spoils(&ino->view, &read);
}

static void read_reply(struct request *r, uint32_t n)
{
	struct nfs_op *first = &r->batch.first.op;
	struct seg_list data = seg_list_cut(&r->batch.data, 0, n);

	stats_add(&r->fs->stats.read_bytes, n);
	repeat_answers(r->fs, r->file->inode, r->pid);
	reply_data(request_take_fuse(r), first->u.read.moved.len ? &first->u.read.moved : &data);
	nfs_read_let_go(first);
	request_free(r);
}

static void ask(struct request *r);

/* Asks the server again for all of r, when the server has all written data. */
static void ask_again(struct request *r)
{
	nfs_read_let_go(&r->batch.first.op);
	admission_read_again(r, ask);
}

/* May the kernel take zeros for data behind the n bytes of r? Then r waits, and is asked again or
 * answered with an error. */
static bool must_repeat(struct request *r, uint32_t n)
{
	return n != r->batch.data.len && !((io_of(r)->flags | r->file->flags) & O_DIRECT) &&
	       repeat_waits(r, n, ask_again);
}

static void read_step(struct request *r)
{
	struct part *p;
	uint32_t n;

	STAILQ_FOREACH (p, &r->batch.parts, next) {
		int error = p->settled ? 0 : read_part(r, p);

		if (error) {
			request_end(r, error);
			return;
		}
	}
	if (batch_ready(&r->batch)) {
		request_submit(r, read_step);
		return;
	}
	/* up to the first gap: a file that grew meanwhile may have data behind its former end */
	n = batch_done_bytes(&r->batch);
	if (admission_read_misses(r)) {
		nfs_read_let_go(&r->batch.first.op);
		admission_read_anew(r, ask);
		return;
	}
	if (must_ask_again(r, n))
		ask_again(r);
	else if (!must_repeat(r, n))
		read_reply(r, n);
}

/* The parts of r, before any byte has come. */
static bool read_cut(struct request *r)
{
	struct part *p;

	if (!io_of(r)->asked)
		return batch_cut(&r->batch, r->fs->info.rsize);
	STAILQ_FOREACH (p, &r->batch.parts, next) {
		p->got = 0;
		p->settled = false;
	}
	return true;
}

/* Asks the server for all of r. */
static void ask(struct request *r)
{
	struct part *p;

	if (!read_cut(r)) {
		request_end(r, -ENOMEM);
		return;
	}
	io_of(r)->asked = true;
	STAILQ_FOREACH (p, &r->batch.parts, next)
		read_fill(r, p);
	request_submit(r, read_step);
}

/* Is a WRITE by the kernel perhaps older than the READ that this worker has read, and not known to
 * order.c? Then the cache may have the data from before the WRITE. */
static bool may_lack_write(struct fs *fs, const struct file *f)
{
	return atomic_load(&f->inode->opens.writers) && arrival_is_missing(fs->arrivals);
}

void ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fs_of(req), fi);
	enum cache_found found = CACHE_MISS;
	struct seg_list data;
	struct request *r;
	bool cached, waits;
	int error;

	if (!size || size > MEM_MAX_SIZE) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	change_file_used(f);
	data_moves(f->inode);
	if (atomic_load(&f->inode->view.listener) == fuse_req_ctx(req)->pid)
		view_heard(&f->inode->view, fuse_req_ctx(req)->pid, clock_ns());
	/* asked first: a WRITE that has begun meanwhile is known to order_meets() */
	cached = !(fi->flags & O_DIRECT) && !may_lack_write(fs, f);
	waits = flush_before_read(f->inode, (uint64_t)off, (uint32_t)size) ||
		order_meets(fs, f->inode, (uint64_t)off, (uint32_t)size);
	if (cached && !waits)
		found = cached_read(req, f, (uint64_t)off, (uint32_t)size);
	if (found == CACHE_HIT)
		return;
	error = worker_data_wait(fs, (uint32_t)size, fuse_req_ctx(req)->pid, &data);
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	r = io_request(req, fi, off, &data);
	if (!r)
		return;
	if (waits)
		admission_read_anew(r, ask);
	else
		admission_read(r, found == CACHE_PENDING, ask);
}

/* --- write ------------------------------------------------------------------------------------ */

static void write_fill(struct request *r, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_WRITE, write);

	op->u.write.open = r->file->open;
	op->u.write.fh = r->file->inode->fh;
	op->u.write.offset = io_of(r)->offset + p->off + p->got;
	op->u.write.from = part_rest(p);
	op->u.write.stable = write_stable(r);
	change_begin(r->file->inode);
}

/* Notes how far a part came. An error settles the part. */
static void write_part(struct request *r, struct part *p)
{
	struct nfs_op *op = &p->op;
	int error = write_took(r, op, p->want - p->got);

	if (error) {
		p->settled = true;
		if (!io_of(r)->error)
			io_of(r)->error = error;
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

/* The worker has read the data to a place where the data cannot stay: copies the data to data
 * memory. 0 or the errno of worker_data_wait(). */
static int write_copy_data(
	struct fs *fs, pid_t tid, const struct fuse_buf *from, struct seg_list *data)
{
	struct seg_list src = SEG_LIST_MEM(from->mem, (uint32_t)from->size);
	int error = worker_data_wait(fs, src.len, tid, data);

	if (!error)
		seg_list_copy(data, &src);
	return error;
}

/* The request's own data memory, as from data_get(). 0 or the errno to answer the request with. */
static int write_take_data(
	struct fs *fs, pid_t tid, const struct fuse_bufvec *in, struct seg_list *data)
{
	const struct fuse_buf *from = &in->buf[0];
	struct mem_buf *buf;
	size_t off = 0;

	if (in->count != 1 || from->flags & FUSE_BUF_IS_FD)
		return ENOTCONN;
	buf = from->size <= SMALL_WRITE ? data_get(fs, from->size) : NULL;
	if (buf) {
		memcpy(buf->data, from->mem, from->size);
		stats_add(&fs->stats.small_bytes, from->size);
	} else {
		buf = worker_take_buf(fs, from->mem, from->size);
		if (!buf)
			return write_copy_data(fs, tid, from, data);
		off = (size_t)((uint8_t *)from->mem - buf->data);
	}
	*data = seg_list_of_buf(buf, off, (uint32_t)from->size);
	return 0;
}

/* r sends its data itself, when data gathered before is on the server. */
static void write_send(struct request *r)
{
	struct part *p;

	if (!batch_cut(&r->batch, r->fs->info.wsize)) {
		io_of(r)->error = -ENOMEM;
		write_reply(r);
		return;
	}
	written_cut_begin(&r->file->inode->written, &r->cut);
	STAILQ_FOREACH (p, &r->batch.parts, next)
		write_fill(r, p);
	late_begin(r, r->file->inode, io_of(r)->offset, io_of(r)->offset + (r->batch.data.len - 1));
	request_submit(r, write_step);
}

/* True: all data was gathered, and req was answered. */
static bool gathered_at_once(fuse_req_t req, struct file *f, bool writepage, uint64_t off,
	const struct fuse_bufvec *in, uint32_t *took)
{
	struct order_gather g;
	struct fs *fs = f->fs; /* f may be gone once the kernel has been answered */
	bool done;

	if (!writepage)
		order_gather_begin(fs, f->inode, off, (uint32_t)fuse_buf_size(in), &g);
	done = write_gather(req, f, writepage, off, in, took);
	if (!writepage)
		order_gather_end(fs, &g);
	return done;
}

void ops_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t off,
	struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file *f = file_of(fs_of(req), fi);
	bool gathers = write_is_gathered(fs, f, fi->flags, fi->writepage);
	size_t size = fuse_buf_size(in);
	struct seg_list data;
	struct request *r;
	uint32_t took = 0;
	int error;

	if (!size) {
		fuse_reply_write(req, 0);
		return;
	}
	change_file_used(f);
	data_moves(f->inode);
	if (fi->writepage || fi->flags & O_DIRECT) /* no READ waits for such a WRITE */
		arrival_begins(fs->arrivals);
	attrs_touch(&f->inode->attrs);
	if (!fi->writepage)
		turn_begin(f->inode, fuse_req_ctx(req)->pid);
	if (gathers && !late_meets(fs, f->inode, (uint64_t)off, (uint64_t)off + (size - 1)) &&
		gathered_at_once(req, f, fi->writepage, (uint64_t)off, in, &took))
		return;
	error = write_take_data(fs, fuse_req_ctx(req)->pid, in, &data);
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	r = io_request(req, fi, off, &data);
	if (!r)
		return;
	io_of(r)->writepage = fi->writepage;
	io_of(r)->took = took;
	admission_write(r, write_is_append(fi->flags, fi->writepage) ? append_start : write_send);
}
