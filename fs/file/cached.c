/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cached: READs that are answered from the cache.
 */
#include "fs/file/cached.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/coherence/change.h"
#include "fs/kernel/data.h"
#include "fs/kernel/io.h"
#include "fs/kernel/order.h"
#include "fs/file/opening.h"
#include "fs/coherence/repeat.h"
#include "fs/kernel/reply.h"
#include "transport/clock.h"
#include "transport/lock.h"

#define FIRST_MAX (64u << 10) /* largest file that an OPEN brings the data of, in bytes */

TAILQ_HEAD(waiting_list, io_state);

struct cached {
	/* guards waiting, and io_state.wait; taken before a cache file's lock */
	struct mutex lock;
	struct waiting_list waiting GUARDED_BY(lock);
};

struct cached *cached_new(void)
{
	struct cached *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	mutex_init(&c->lock);
	TAILQ_INIT(&c->waiting);
	return c;
}

struct cached *cached_free(struct cached *c)
{
	if (!c)
		return NULL;
	mutex_destroy(&c->lock);
	free(c);
	return NULL;
}

/* --- the READs of a file ---------------------------------------------------------------------- */

static struct file *file_of_fetcher(struct fetcher *by)
{
	return (struct file *)((char *)by - offsetof(struct file, fetcher));
}

static bool want_attr(struct fetcher *by, uint64_t now)
{
	struct file *f = file_of_fetcher(by);

	return change_wants_attr(f->fs, f->inode, now);
}

static void ended(struct fetcher *by, const struct nfs_op *op, uint64_t asked)
{
	struct file *f = file_of_fetcher(by);
	struct stats *s = &f->fs->stats;

	stats_add(&s->ops[NFS_READ], 1);
	if (op->error)
		stats_add(&s->errors[NFS_READ], 1);
	else
		change_look(f->fs, f->inode, &op->u.read.attr, asked);
}

static const struct fetcher_ops fetcher_ops = {.want_attr = want_attr, .ended = ended};

void cached_opened(struct fs *fs, struct file *f)
{
	size_t max = cache_limit(fs->cache) / 4, ahead = (size_t)fs->opt->readahead_kb << 10;

	f->fs = fs;
	f->fetcher = (struct fetcher){
		.all = fs->fetches,
		.ops = &fetcher_ops,
		.file = &f->inode->cache,
		.fh = &f->inode->fh,
		.open = f->open,
		.cred = &f->cred,
	};
	fetcher_init(&f->fetcher, (uint32_t)(ahead < max ? ahead : max));
}

/* --- the data that comes with an open --------------------------------------------------------- */

void cached_open_begin(struct request *r, struct nfs_op *op)
{
	struct inode *ino = r->inode;
	uint64_t size = atomic_load(&ino->view.size);
	int flags = r->file->flags;
	struct seg_list data;
	struct mem_buf *buf;

	open_of(r)->drops = atomic_load(&ino->cache.drops);
	if (!r->batch.data.len) {
		if (flags & (O_ACCMODE | O_TRUNC | O_DIRECT) || !size || size > FIRST_MAX ||
			cache_first(size) > r->fs->info.rsize || r->fs->info.vers_major < 4 ||
			!cache_limit(r->fs->cache) || atomic_load(&ino->view.pages) ||
			atomic_load(&ino->cache.count))
			return;
		buf = data_get(r->fs, cache_first(size));
		if (!buf)
			return;
		data = seg_list_of_buf(buf, 0, cache_first(size));
		request_take_data(r, &data);
	}
	op->u.open.to = r->batch.data;
}

void cached_open_end(struct request *r, bool kept)
{
	const struct nfs_op *op = &r->batch.first.op;
	struct inode *ino = r->inode;

	if (!kept)
		atomic_store(&ino->view.pages, false);
	if (!op->u.open.have_data || atomic_load(&ino->append.displaced))
		return;
	/* pages that were not to be kept have been invalidated, once */
	cache_give(r->fs->cache, &ino->cache, r->batch.data.one.hold, op->u.open.attr.size,
		open_of(r)->drops + !kept, op->u.open.count, op->u.open.eof);
}

/* --- answering -------------------------------------------------------------------------------- */

static void answer(struct fs *fs, fuse_req_t fuse, struct cache_hit *hit)
{
	stats_add(&fs->stats.read_bytes, hit->data.len);
	reply_data(fuse, &hit->data);
	cache_hit_end(hit);
}

/* According to the cached data the file ended there when the server was asked. Has this mount
 * written behind that end, and does the server lack the written data? Then the server is asked
 * again. */
static bool ends_too_early(
	const struct file *f, uint64_t off, uint32_t len, const struct cache_hit *hit)
{
	return hit->data.len < len && written_end(&f->inode->written) > off + hit->data.len;
}

/* May the kernel take zeros for data behind a short hit? Then the READ goes to the server, and may
 * have to be repeated. */
static bool must_repeat(struct file *f, uint64_t off, uint32_t len, const struct cache_hit *hit,
	uint64_t born, pid_t tid)
{
	return hit->data.len < len && repeat_must(f, off + hit->data.len, born, tid);
}

static void look(struct request *r);

/* Removes r from the list in which look() put it. */
static void leave(struct cached *c, struct request *r)
{
	mutex_lock(&c->lock);
	TAILQ_REMOVE(&c->waiting, io_of(r), waiting);
	mutex_unlock(&c->lock);
}

static void ready(struct cache_wait *w)
{
	struct request *r =
		request_of_io((struct io_state *)((char *)w - offsetof(struct io_state, wait)));

	request_waited(r);
	leave(r->fs->cached, r);
	if (request_is_gone(r))
		request_end(r, -EINTR);
	else
		look(r);
}

/* Answers r from the cache, or waits for a READ in flight, or asks the server. */
static void look(struct request *r)
{
	struct cached *c = r->fs->cached;
	struct cache_stats *stats = cache_stats(r->fs->cache);
	struct file *f = r->file;
	bool gone = false;
	struct cache_hit hit;
	enum cache_found found;

	io_of(r)->wait.ready = ready;
	mutex_lock(&c->lock);
	found = cache_find(
		&f->inode->cache, io_of(r)->offset, r->batch.data.len, &hit, &io_of(r)->wait);
	/* cached_end_gone() may have looked before r was in the list; ready() takes the lock before
	 * it touches r */
	if (found == CACHE_PENDING) {
		gone = request_is_gone(r) && cache_unwait(&f->inode->cache, &io_of(r)->wait);
		if (!gone)
			TAILQ_INSERT_TAIL(&c->waiting, io_of(r), waiting);
	}
	mutex_unlock(&c->lock);
	if (gone) {
		request_end(r, -EINTR);
	} else if (found == CACHE_PENDING) {
		stats_add(&stats->joined, 1);
	} else if (found == CACHE_HIT &&
		   (order_overtaken(r) ||
			   written_may_miss(&f->inode->written, io_of(r)->offset, r->batch.data.len,
				   io_of(r)->sent) ||
			   ends_too_early(f, io_of(r)->offset, r->batch.data.len, &hit) ||
			   must_repeat(f, io_of(r)->offset, r->batch.data.len, &hit, r->born,
				   r->pid))) {
		cache_hit_end(&hit);
		r->next(r);
	} else if (found == CACHE_HIT) {
		repeat_answers(r->fs, f->inode, r->pid);
		answer(r->fs, request_take_fuse(r), &hit);
		request_free(r);
	} else {
		stats_add(&stats->misses, 1);
		r->next(r);
	}
}

void cached_wait(struct request *r, request_step_fn *ask)
{
	r->next = ask;
	request_watch(r);
	look(r);
}

enum cache_found cached_read(fuse_req_t req, struct file *f, uint64_t off, uint32_t size)
{
	uint64_t known = atomic_load_explicit(&f->inode->view.size, memory_order_relaxed);
	struct cache_stats *stats = cache_stats(f->fs->cache);
	struct cache_file *blocks = &f->inode->cache;
	struct readahead_plan plan;
	struct cache_hit hit;
	enum cache_found found;

	atomic_store_explicit(&f->inode->view.pages, true, memory_order_relaxed);
	if (off + size < off)
		return CACHE_MISS;
	plan = fetcher_plan(&f->fetcher, off, size, known);
	found = cache_find(blocks, off, size, &hit, NULL);
	if (found == CACHE_MISS && plan.cache && fetch(&f->fetcher, off, off + size, known))
		found = cache_find(blocks, off, size, &hit, NULL);
	else if (found == CACHE_PENDING)
		fetcher_waited(&f->fetcher, off);
	if (found == CACHE_HIT &&
		(ends_too_early(f, off, size, &hit) ||
			must_repeat(f, off, size, &hit, clock_ns(), fuse_req_ctx(req)->pid))) {
		cache_hit_end(&hit);
		found = CACHE_MISS;
	}
	if (found == CACHE_HIT) {
		stats_add(&stats->hits, 1);
		repeat_answers(f->fs, f->inode, fuse_req_ctx(req)->pid);
		answer(f->fs, req, &hit);
	}
	fetch_ahead(&f->fetcher, &plan, known);
	if (found == CACHE_MISS)
		stats_add(&stats->misses, 1);
	fetcher_release(&f->fetcher);
	return found;
}

void cached_end_gone(struct fs *fs)
{
	struct waiting_list gone = TAILQ_HEAD_INITIALIZER(gone);
	struct cached *c = fs->cached;
	struct io_state *io, *next;

	mutex_lock(&c->lock);
	for (io = TAILQ_FIRST(&c->waiting); io; io = next) {
		struct request *r = request_of_io(io);

		next = TAILQ_NEXT(io, waiting);
		if (!request_is_gone(r) || !cache_unwait(&r->file->inode->cache, &io->wait))
			continue;
		TAILQ_REMOVE(&c->waiting, io, waiting);
		TAILQ_INSERT_TAIL(&gone, io, waiting);
	}
	mutex_unlock(&c->lock);
	while ((io = TAILQ_FIRST(&gone))) {
		TAILQ_REMOVE(&gone, io, waiting);
		request_end(request_of_io(io), -EINTR);
	}
}
