/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * append: WRITE through a descriptor that is O_APPEND.
 *
 * The kernel gives such a WRITE the offset of the end of the file, as the kernel believes. Other
 * clients may have moved the end since, so the offset is not used. The data is put at the end of
 * the file on the server (nfs_op.h, NFS_WRITE with append). The appends to an inode go one after
 * the other, and so do the parts of one append. inode.attrs.end is the first place to try: the
 * newest size known here. Parts are not sent at once, because each must find the end made by the
 * part before. So no data is overwritten. But without a lock, appended data of other clients may
 * come between the parts.
 *
 * The kernel believes that the data stands at the kernel's offset: the kernel has copied the data
 * into its pages there, and set its size accordingly. No answer to a WRITE can correct the offset.
 * But after every write the kernel asks for the attributes at the next look (read, stat, SEEK_END),
 * finds another size than the believed one, and drops the pages. If other clients have made the
 * file just as long meanwhile, the kernel might not notice: then ops_getattr() first invalidates
 * the pages (inode.append.displaced). The daemon cannot invalidate the pages at once. Before the
 * WRITE is answered the kernel may hold the last page locked. Afterwards the kernel would discard
 * the answer to a GETATTR in flight, and go on with the wrong size. The file offset of the
 * descriptor cannot be corrected.
 *
 * To notice the difference, the daemon must know the size that the kernel believes. Attributes that
 * reach the kernel during the WRITE may change that size or not, because the answer to the WRITE
 * may overtake the attributes. So a notification after the kernel has asked makes the kernel
 * discard the attributes. stat(2) still returns them (change_goes_astray()). The last notification
 * comes before the WRITE is answered: the writer may look at the file next, and must get its own
 * answer.
 *
 * The kernel takes no size while a program appends, and none that a thread asked for before an
 * append ended. Beside appends without a pause a reader has only the kernel's own size. So that
 * size must not fall behind the file by an append that is in the file, but has failed.
 *
 * When the answer to an append is lost with a session, the server does not say whether the append
 * was carried out (rnfs-serve does, contrib/serve/state/answers.h). If it was, the data stands at
 * the offset in the WRITE, and the file has grown beyond that offset. So the file is read there:
 *
 *     other bytes      the data is not in the file: the data is appended again
 *     the same bytes   if a lock or a delegation has kept other clients from writing there since,
 *                      the bytes are this mount's. Then a COMMIT follows, so that no restart can
 *                      lose bytes with an unseen verifier. (NFSv3 would put the bytes at the
 *                      same place again in any case.) Otherwise another client may have
 *                      appended the same, and the log names the file. If all bytes are there,
 *                      write(2) succeeds after a COMMIT, and the kernel's size counts the bytes;
 *                      fsync(2) and close(2) fail with EIO. If some are there, write(2) fails
 *
 * An append that was carried out, and then cut off or overwritten by another client, is made again.
 */
#include "fs/file/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/coherence/change.h"
#include "fs/kernel/data.h"
#include "fs/known/file.h"
#include "fs/coherence/inval.h"
#include "fs/kernel/io.h"
#include "fs/file/late.h"
#include "fs/known/lost.h"
#include "fs/file/write.h"
#include "transport/lock.h"
#include "transport/log.h"

STAILQ_HEAD(append_queue, io_state);

struct appends {
	struct mutex lock; /* also guards inode.append.busy */
	struct append_queue waiting GUARDED_BY(lock);
};

struct appends *appends_new(void)
{
	struct appends *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	mutex_init(&a->lock);
	STAILQ_INIT(&a->waiting);
	return a;
}

struct appends *appends_free(struct appends *a)
{
	if (!a)
		return NULL;
	mutex_destroy(&a->lock);
	free(a);
	return NULL;
}

static void append_send(struct request *r);

/* The bytes of r that the next WRITE takes. */
static uint32_t part_len(const struct request *r)
{
	uint32_t left = r->batch.first.want - r->batch.first.got, max = r->fs->info.wsize;

	return left < max ? left : max;
}

/* The next request that waits to append to ino, if it may do so now; else NULL. */
static struct request *append_next(struct appends *a, struct inode *ino)
{
	struct io_state *next;

	mutex_lock(&a->lock);
	STAILQ_FOREACH (next, &a->waiting, queue)
		if (request_of_io(next)->file->inode == ino)
			break;
	if (next)
		STAILQ_REMOVE(&a->waiting, next, io_state, queue);
	else
		ino->append.busy = false;
	mutex_unlock(&a->lock);
	return next ? request_of_io(next) : NULL;
}

/* r is about to be answered. */
static void leave_astray(struct request *r)
{
	if (io_of(r)->append.astray)
		change_astray_end(r->fs, r->file->inode);
}

/* Must the kernel drop pages before r is answered? Before Linux 6.7 a write through a descriptor
 * that is direct_io (file_info.c) moves the size, but leaves the pages: readers would find zeros in
 * the rest of the page in which the file ended. */
static bool drops_pages(const struct request *r)
{
	return r->fuse && r->batch.first.got &&
	       (r->file->flags & (O_APPEND | O_DIRECT)) == (O_APPEND | O_DIRECT);
}

static off_t page_of(uint64_t off)
{
	return (off_t)(off - off % (uint64_t)sysconf(_SC_PAGESIZE));
}

static void append_end(struct request *r, int error)
{
	struct inode *ino = r->file->inode;
	struct request *next = append_next(r->fs->appends, ino);

	io_of(r)->error = error;
	if (r->batch.first.got && atomic_load(&ino->append.displaced)) {
		atomic_store(&ino->append.kernel_end, io_of(r)->offset + r->batch.first.got);
		atomic_store(&ino->view.size, io_of(r)->offset + r->batch.first.got);
	}
	leave_astray(r);
	if (drops_pages(r))
		inval_pages_then(r->fs->inval, r, page_of(io_of(r)->offset), 0, write_reply);
	else
		write_reply(r);
	if (next)
		append_send(next);
}

/* n more bytes of r are in the file, at `at`. */
static void append_took(struct request *r, uint64_t at, uint32_t n)
{
	struct part *p = &r->batch.first;

	if (at != io_of(r)->offset + p->got)
		atomic_store(&r->file->inode->append.displaced, true);
	atomic_store_explicit(&r->file->inode->attrs.end, at + n, memory_order_relaxed);
	p->got += n;
	if (p->got < p->want)
		append_send(r);
	else
		append_end(r, 0);
}

/* --- was the append carried out? -------------------------------------------------------------- */

static void compare_read(struct request *r, struct mem_buf *buf);

/* A part of r may be in the file, and r fails as a whole: after a short write the program would
 * write the rest again. */
static void append_fails(struct request *r, int error)
{
	r->batch.first.got = 0;
	append_end(r, error);
}

static void warn_of_doubt(struct request *r, const char *why, const char *fails)
{
	struct inode *ino = r->file->inode;
	char path[LOST_PATH_MAX];

	lost_path(r->fs, ino, path, sizeof(path));
	log_always_warn("the server's answer to an append to %s (file %llu) is lost, and %s: the "
			"append may or may not be in the file, and %s with EIO",
		path, (unsigned long long)ino->fileid, why, fails);
}

static void append_unknown(struct request *r, const char *why)
{
	warn_of_doubt(r, why, "fails");
	append_fails(r, -EIO);
}

#define MAY_BE_OTHERS "another client may have appended the same bytes"

/* The bytes are in the file, safely. */
static void compare_committed(struct request *r)
{
	if (r->batch.first.op.error) {
		append_fails(r, r->batch.first.op.error);
		return;
	}
	if (!io_of(r)->append.ours) {
		warn_of_doubt(r, MAY_BE_OTHERS, "fsync or close fails");
		if (r->fuse) /* else the program was killed */
			filedata_lost(&r->file->inode->data, -EIO);
	}
	append_took(r, io_of(r)->append.at, io_of(r)->append.compared);
}

static void compare_commit(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_COMMIT, commit);

	op->u.commit.fh = r->file->inode->fh;
	op->u.commit.offset = io_of(r)->append.at;
	op->u.commit.len = io_of(r)->append.compared;
	request_submit(r, compare_committed);
}

/* Are the n bytes at `found` the next n bytes to compare? */
static bool same_bytes(const struct request *r, const uint8_t *found, uint32_t n)
{
	uint32_t off = r->batch.first.got + io_of(r)->append.compared;
	struct seg_list wrote = seg_list_cut(&r->batch.data, off, n);
	struct seg_iter it = seg_iter_of(&wrote);
	struct mem_sge at;

	while (seg_next(&it, UINT32_MAX, &at, NULL)) {
		if (memcmp(at.addr, found, at.len))
			return false;
		found += at.len;
	}
	return true;
}

static void compare_step(struct request *r)
{
	struct part *p = &r->batch.first;
	struct nfs_op *op = &p->op;
	struct mem_buf *buf = op->u.read.to.one.hold;
	bool same;

	if (op->error) {
		data_put(r->fs, buf);
		if (op->error == -EINTR)
			append_fails(r, -EINTR);
		else
			append_unknown(r, "the file cannot be read");
		return;
	}
	same = same_bytes(r, buf->data, op->u.read.count);
	io_of(r)->append.compared += op->u.read.count;
	if (same && io_of(r)->append.compared < part_len(r) && !op->u.read.eof) {
		compare_read(r, buf);
		return;
	}
	data_put(r->fs, buf);
	if (!same || !io_of(r)->append.compared)
		append_send(r);
	else if (io_of(r)->append.ours || io_of(r)->append.compared == part_len(r))
		compare_commit(r); /* all bytes, or as many as there was room for */
	else
		append_unknown(r, MAY_BE_OTHERS);
}

/* A descriptor for writing only does not prove that its owner may read: the server decides. */
static void compare_read(struct request *r, struct mem_buf *buf)
{
	uint32_t left = part_len(r) - io_of(r)->append.compared, max = r->fs->info.rsize;
	struct file *f = r->file;
	struct nfs_op *op = request_op(r, NFS_READ, read);

	op->u.read.open = (f->flags & O_ACCMODE) == O_RDWR ? f->open : NULL;
	op->u.read.fh = f->inode->fh;
	op->u.read.offset = io_of(r)->append.at + io_of(r)->append.compared;
	op->u.read.to = seg_list_of_buf(buf, 0, left < max ? left : max);
	request_submit(r, compare_step);
}

/* --- appending -------------------------------------------------------------------------------- */

static void append_step(struct request *r)
{
	struct part *p = &r->batch.first;
	struct nfs_op *op = &p->op;
	uint32_t sent = part_len(r);
	struct mem_buf *buf;
	int error;

	if (op->error == -EALREADY) {
		change_end(r->fs, r->file->inode, op);
		io_of(r)->append.at = op->u.write.offset;
		io_of(r)->append.ours = op->u.write.ours;
		io_of(r)->append.compared = 0;
		buf = data_get(r->fs, sent);
		if (buf)
			compare_read(r, buf);
		else
			append_unknown(r, "there is no memory to read the file");
		return;
	}
	error = write_took(r, op, sent);
	if (error == -ETIMEDOUT || error == -EREMOTEIO)
		append_fails(r, error);
	else if (error)
		append_end(r, error);
	else
		append_took(r, op->u.write.offset, op->u.write.count);
}

static void append_send(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_WRITE, write);
	struct inode *ino = r->file->inode;

	op->u.write.open = r->file->open;
	op->u.write.fh = ino->fh;
	op->u.write.offset = atomic_load_explicit(&ino->attrs.end, memory_order_relaxed);
	op->u.write.append = true;
	op->u.write.from = seg_list_cut(&r->batch.data, r->batch.first.got, part_len(r));
	op->u.write.stable = write_stable(r);
	change_begin(ino);
	if (!r->cut.begun)
		written_cut_begin(&ino->written, &r->cut);
	/* the end of the file at the time of the WRITE is not known */
	late_begin(r, ino, 0, UINT64_MAX);
	request_submit(r, append_step);
}

void append_start(struct request *r)
{
	struct inode *ino = r->file->inode;
	struct appends *a = r->fs->appends;
	bool waits;

	r->batch.first.got = 0;
	r->batch.first.want = r->batch.data.len;
	io_of(r)->append.astray =
		io_of(r)->offset != atomic_load_explicit(&ino->attrs.end, memory_order_relaxed);
	if (io_of(r)->append.astray)
		atomic_fetch_add(&ino->append.astray, 1);
	mutex_lock(&a->lock);
	waits = ino->append.busy;
	ino->append.busy = true;
	if (waits)
		STAILQ_INSERT_TAIL(&a->waiting, io_of(r), queue);
	mutex_unlock(&a->lock);
	if (!waits)
		append_send(r);
}

void append_end_gone(struct fs *fs)
{
	struct append_queue all = STAILQ_HEAD_INITIALIZER(all);
	struct append_queue gone = STAILQ_HEAD_INITIALIZER(gone);
	struct appends *a = fs->appends;
	struct io_state *io;

	mutex_lock(&a->lock);
	STAILQ_CONCAT(&all, &a->waiting);
	while ((io = STAILQ_FIRST(&all))) {
		STAILQ_REMOVE_HEAD(&all, queue);
		if (request_is_gone(request_of_io(io)))
			STAILQ_INSERT_TAIL(&gone, io, queue);
		else
			STAILQ_INSERT_TAIL(&a->waiting, io, queue);
	}
	mutex_unlock(&a->lock);
	while ((io = STAILQ_FIRST(&gone))) {
		STAILQ_REMOVE_HEAD(&gone, queue);
		leave_astray(request_of_io(io));
		request_end(request_of_io(io), -EINTR);
	}
}
