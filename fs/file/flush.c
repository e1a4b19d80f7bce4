/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flush: requests that wait until data written to a file before is on the server.
 */
#include "fs/file/flush.h"

#include <errno.h>
#include <stdlib.h>
#include <stdint.h>
#include <time.h>

#include "fs/coherence/change.h"
#include "fs/kernel/data.h"
#include "fs/kernel/ending.h"
#include "fs/known/file.h"
#include "fs/known/lost.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define END_POLL_NS 5000000u
#define END_ROUNDS  9u /* without progress; each pause is twice as long: 2.5 s in all */
#define END_FILES   64u

struct flushes {
	struct lost lost;
	struct mutex lock; /* taken before the locks of cache/writeback.h */
	GUARDED_BY(lock) TAILQ_HEAD(flush_list, request) waiting; /* by request.flush.link */
};

struct flushes *flushes_new(void)
{
	struct flushes *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	lost_init(&f->lost);
	mutex_init(&f->lock);
	TAILQ_INIT(&f->waiting);
	return f;
}

struct flushes *flushes_free(struct flushes *f)
{
	if (!f)
		return NULL;
	lost_finish(&f->lost);
	mutex_destroy(&f->lock);
	free(f);
	return NULL;
}

/* --- called by cache/writeback.h -------------------------------------------------------------- */

static struct inode *inode_of_written(struct written *w)
{
	return (struct inode *)((char *)w - offsetof(struct inode, written));
}

static struct file *file_of_writer(struct writer *by)
{
	return (struct file *)((char *)by - offsetof(struct file, writer));
}

static struct mem_buf *get(void *ctx, size_t size)
{
	return data_get(ctx, size);
}

static void put(void *ctx, struct mem_buf *buf)
{
	data_put(ctx, buf);
}

static void kept(void *ctx, struct mem_buf *buf)
{
	data_kept(ctx, buf);
}

static void hold(struct written *w)
{
	inode_ref(inode_of_written(w));
}

static void release(struct written *w)
{
	inode_unref(inode_of_written(w));
}

static void write_begin(struct writer *by)
{
	change_begin(file_of_writer(by)->inode);
}

static void count(struct fs *fs, const struct nfs_op *op)
{
	stats_add(&fs->stats.ops[op->type], 1);
	if (op->error)
		stats_add(&fs->stats.errors[op->type], 1);
}

/* The retries at the end of the mount are not logged here: lost_say() logs their result. */
static void failed(struct fs *fs, struct inode *ino, const struct nfs_op *op)
{
	struct lost *l = &fs->flushes->lost;
	bool write = op->type == NFS_WRITE;

	if (write)
		lost_note(l, ino, op->u.write.from.len);
	log_at(lost_begun(l) ? LOG_L_CTRL : LOG_L_WARN, "%s file %llu %s: %s",
		write ? "data written to" : "COMMIT of", (unsigned long long)ino->fileid,
		write ? "could not be sent to the server and is lost" : "failed",
		strerror(-op->error));
}

/* Was ino changed after `asked`, or are later attributes known? Then the attributes behind a WRITE
 * of ino are out of date. */
static bool is_past(struct inode *ino, uint64_t asked)
{
	return atomic_load(&ino->attrs.touched) > asked || attrs_is_past(&ino->attrs, asked);
}

static void write_end(struct writer *by, const struct nfs_op *op)
{
	struct nfs_then *then = op->error ? NULL : op->u.write.then;
	struct file *f = file_of_writer(by);

	count(f->fs, op);
	if (then && is_past(f->inode, then->asked))
		then->done = false;
	change_end(f->fs, f->inode, op);
	if (then && then->set.mask)
		inode_touch(f->inode);
	else
		attrs_touch(&f->inode->attrs);
	atomic_store(&f->inode->written_at, clock_ns());
	if (then) /* as of now: the attributes show all changes made until now */
		then->asked = clock_ns();
	if (op->error)
		failed(f->fs, f->inode, op);
	else
		ending_took(f->fs);
}

static void commit_end(
	void *ctx, struct written *w, const struct nfs_op *op, uint64_t asked, bool again)
{
	struct inode *ino = inode_of_written(w);
	struct fs *fs = ctx;

	count(fs, op);
	if (op->error && !again)
		failed(fs, ino, op);
	if (op->error)
		return;
	ending_took(fs);
	change_look(fs, ino, &op->u.commit.attr, asked);
}

struct writeback_ops flush_ops(struct fs *fs)
{
	return (struct writeback_ops){
		.get = get,
		.put = put,
		.kept = kept,
		.hold = hold,
		.release = release,
		.write_begin = write_begin,
		.write_end = write_end,
		.commit_end = commit_end,
		.ctx = fs,
	};
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void enter(struct request *r, struct inode *ino, request_step_fn *next)
{
	struct flushes *f = r->fs->flushes;

	r->flush.of = ino;
	r->flush.next = next;
	mutex_lock(&f->lock);
	TAILQ_INSERT_TAIL(&f->waiting, r, flush.link);
	mutex_unlock(&f->lock);
}

static void leave(struct request *r)
{
	struct flushes *f = r->fs->flushes;

	mutex_lock(&f->lock);
	TAILQ_REMOVE(&f->waiting, r, flush.link);
	mutex_unlock(&f->lock);
}

/* r is GONE, but others wait for its end. Under the lock, because r might end meanwhile. */
static void outlive_locked(struct request *r) REQUIRES(r->fs->flushes->lock)
{
	int error = request_gone_error(r);
	fuse_req_t fuse = request_take_fuse(r);

	r->file->outlived++; /* the kernel may release the file from now on */
	request_keep_going(r);
	r->flush.closes = true;
	fuse_reply_err(fuse, error);
}

void flush_outlive(struct request *r)
{
	struct flushes *f = r->fs->flushes;

	mutex_lock(&f->lock);
	outlive_locked(r);
	mutex_unlock(&f->lock);
}

void flush_outlived(struct fs *fs, struct file *f)
{
	struct flushes *all = fs->flushes;
	struct request *parked = NULL;

	mutex_lock(&all->lock);
	if (!--f->outlived)
		parked = f->parked;
	mutex_unlock(&all->lock);
	if (parked)
		parked->flush.next(parked);
}

bool flush_waits_outlived(struct request *r, request_step_fn *next)
{
	struct flushes *all = r->fs->flushes;
	bool waits;

	r->flush.next = next;
	mutex_lock(&all->lock);
	waits = r->file->outlived > 0;
	r->file->parked = waits ? r : NULL;
	mutex_unlock(&all->lock);
	return waits;
}

void flush_end_killed(struct request *r)
{
	if (r->flush.gone)
		r->flush.gone(r);
	else
		request_end(r, -EINTR);
}

static void go_on(struct request *r)
{
	struct flushes *f = r->fs->flushes;

	request_waited(r);
	mutex_lock(&f->lock);
	TAILQ_REMOVE(&f->waiting, r, flush.link);
	if (request_is_gone(r) && r->flush.outlives && !r->flush.closes)
		outlive_locked(r);
	mutex_unlock(&f->lock);
	if (request_is_gone(r) && !r->flush.closes)
		flush_end_killed(r);
	else
		r->flush.next(r);
}

static void flushed(struct writeback_wait *w)
{
	go_on((struct request *)((char *)w - offsetof(struct request, flush.wait)));
}

static void room(struct writeback_room *w)
{
	go_on((struct request *)((char *)w - offsetof(struct request, flush.room)));
}

static bool wait_for(struct request *r, struct inode *ino, enum written_level level,
	struct nfs_then *then, request_step_fn *next)
{
	struct writeback_wait *w = &r->flush.wait;
	uint64_t gen;

	r->flush.then.done = false;
	if (!written_dirty(&ino->written) && (level != STABLE || !filedata_dirty(&ino->data, &gen)))
		return false;
	w->ready = flushed;
	w->cred = &r->batch.cred;
	w->then = then;
	if (!r->flush.closes && r->fuse)
		request_watch(r);
	enter(r, ino, next);
	if (writeback_wait(r->fs->writeback, &ino->written, w, level))
		return true;
	leave(r);
	return false;
}

bool flush_waits(
	struct request *r, struct inode *ino, enum written_level level, request_step_fn *next)
{
	return wait_for(r, ino, level, NULL, next);
}

bool flush_cut_waits(struct request *r, struct inode *ino, request_step_fn *next)
{
	written_cut_begin(&ino->written, &r->cut);
	if (!written_dirty(&ino->written))
		return false;
	written_cut_end(&ino->written, &r->cut, 0, 0);
	if (flush_waits(r, ino, WRITTEN, next))
		return true;
	written_cut_begin(&ino->written, &r->cut);
	return false;
}

bool flush_waits_then(struct request *r, struct inode *ino, enum written_level level,
	const struct nfs_sattr *set, request_step_fn *next)
{
	r->flush.then.set = set ? *set : (struct nfs_sattr){0};
	return wait_for(r, ino, level, &r->flush.then, next);
}

bool flush_waits_room(struct request *r, request_step_fn *next)
{
	r->flush.room.ready = room;
	request_watch(r);
	enter(r, NULL, next);
	if (writeback_wait_room(r->fs->writeback, &r->flush.room))
		return true;
	leave(r);
	return false;
}

bool flush_before_read(struct inode *ino, uint64_t off, uint32_t len)
{
	struct written *w = &ino->written;

	if (written_may_be_lost(w, off, len))
		return true;
	if (!written_dirty(w))
		return false;
	return written_overlaps(w, off, len) ||
	       (written_end(w) > off + len && filechange_size(&ino->data.change) < off + len);
}

enum written_level flush_kept_level(struct inode *ino, uint64_t off, uint64_t len)
{
	return written_may_be_lost(&ino->written, off, len) ? STABLE : WRITTEN;
}

uint64_t flush_size(struct inode *ino, uint64_t size, uint64_t asked)
{
	/* in this order: lost data becomes NEW */
	uint64_t lost = written_lost_end(&ino->written), end = written_end(&ino->written);

	/* 0: all data is on the server, and the time of the last write_end() was noted before `end`
	 * became 0 */
	if (!end && asked && asked <= atomic_load(&ino->written_at))
		end = atomic_load(&ino->view.size);
	end = end > lost ? end : lost;
	return end > size ? end : size;
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool unwait(struct request *r)
{
	struct inode *ino = r->flush.of;

	return ino ? writeback_unwait(&ino->written, &r->flush.wait)
		   : writeback_unwait_room(r->fs->writeback, &r->flush.room);
}

void flush_end_gone(struct fs *fs)
{
	struct flush_list gone = TAILQ_HEAD_INITIALIZER(gone);
	struct flushes *f = fs->flushes;
	struct request *r, *next;

	mutex_lock(&f->lock);
	for (r = TAILQ_FIRST(&f->waiting); r; r = next) {
		next = TAILQ_NEXT(r, flush.link);
		if (r->flush.closes || !request_is_gone(r))
			continue;
		if (r->flush.outlives) {
			outlive_locked(r);
			continue;
		}
		if (!unwait(r))
			continue;
		TAILQ_REMOVE(&f->waiting, r, flush.link);
		TAILQ_INSERT_TAIL(&gone, r, flush.link);
	}
	mutex_unlock(&f->lock);
	while ((r = TAILQ_FIRST(&gone))) {
		TAILQ_REMOVE(&gone, r, flush.link);
		flush_end_killed(r);
	}
}

static void pause_for(uint64_t ns)
{
	nanosleep(&(struct timespec){ns / NSEC_PER_SEC, ns % NSEC_PER_SEC}, NULL);
}

static uint64_t bytes_left(const struct written *w)
{
	uint64_t bytes = 0;

	for (unsigned state = 0; state < DIRTY_STATES; state++)
		bytes += dirty_bytes(&w->dirty, state);
	return bytes;
}

static void note_left(struct fs *fs)
{
	struct written *file[END_FILES];
	unsigned n, at = 0;

	do {
		n = writeback_files(fs->writeback, at, file, END_FILES);
		at += n;
		for (unsigned i = 0; i < n; i++) {
			lost_note(
				&fs->flushes->lost, inode_of_written(file[i]), bytes_left(file[i]));
			release(file[i]);
		}
	} while (n == END_FILES);
}

bool flush_end(struct fs *fs)
{
	struct writeback *all = fs->writeback;
	uint64_t pause = END_POLL_NS;
	size_t least = SIZE_MAX, used;
	unsigned rounds = 0;

	lost_begin(&fs->flushes->lost);
	while (rounds < END_ROUNDS && !ending_over(fs) && writeback_sync(all)) {
		while (writeback_busy(all) && !ending_over(fs))
			pause_for(END_POLL_NS);
		used = writeback_bytes(all);
		if (used < least) { /* some data has become safe */
			least = used;
			rounds = 0;
			pause = END_POLL_NS;
		} else if (used) {
			rounds++;
			pause_for(pause);
			pause *= 2;
		}
	}
	note_left(fs);
	return !lost_say(fs, &fs->flushes->lost);
}
