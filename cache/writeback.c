/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * writeback: what was written to files, on its way to the server.
 */
#include "cache/writeback.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "transport/clock.h"
#include "transport/log.h"

#define MUCH	   (8ull << 20) /* NEW bytes of a file that are not kept back any longer */
#define AGE_NS	   NSEC_PER_SEC
#define ROUNDS_MAX 8 /* a server whose verifier changes at each COMMIT */
#define TICK_FILES 64

/* One run of extents that is being written, or a COMMIT (n is 0). */
struct writeout {
	struct batch batch;
	struct written *f;
	struct writer *by;
	uint64_t id;
	uint64_t off; /* in the file */
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	struct seg seg[DIRTY_RUN_EXTENTS];
	unsigned n;
	enum nfs_stable stable;
	bool unstable; /* so was an answer */
	bool redo;     /* an answer had another verifier */
	int error;
	uint64_t gen, asked; /* of a COMMIT */
	TAILQ_ENTRY(writeout) link;
	SLIST_ENTRY(writeout) spare;
};

struct writeback {
	const struct writeback_ops *ops;
	struct dirty_memory memory;
	size_t limit;
	atomic_size_t used;
	struct nfs_client *client;
	uint32_t wsize;
	struct batch_pool parts;
	struct writeback_stats stats;
	pthread_mutex_t lock; /* what follows */
	SLIST_HEAD(, writeout) spare;
	unsigned under_way;
	LIST_HEAD(, written) files; /* those that have extents */
	TAILQ_HEAD(room_list, writeback_room) rooms;
	uint64_t next_room;
};

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool charge(struct writeback *all, size_t size)
{
	if (atomic_fetch_add(&all->used, size) + size <= all->limit)
		return true;
	atomic_fetch_sub(&all->used, size);
	return false;
}

static struct mem_buf *get(void *ctx, size_t size)
{
	struct writeback *all = ctx;
	struct mem_buf *buf;

	if (!charge(all, size))
		return NULL;
	buf = all->ops->get(all->ops->ctx, size);
	if (!buf)
		atomic_fetch_sub(&all->used, size);
	else
		atomic_fetch_add(&all->used, buf->size - size);
	return buf;
}

static void put(void *ctx, struct mem_buf *buf)
{
	struct writeback *all = ctx;

	atomic_fetch_sub(&all->used, buf->size);
	all->ops->put(all->ops->ctx, buf);
}

struct writeback *writeback_new(const struct writeback_ops *ops, size_t limit)
{
	struct writeback *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->ops = ops;
	all->memory = (struct dirty_memory){.get = get, .put = put, .ctx = all};
	all->limit = limit;
	pthread_mutex_init(&all->lock, NULL);
	batch_pool_init(&all->parts);
	SLIST_INIT(&all->spare);
	LIST_INIT(&all->files);
	TAILQ_INIT(&all->rooms);
	return all;
}

struct writeback *writeback_free(struct writeback *all)
{
	struct writeout *x;

	if (!all)
		return NULL;
	assert(!all->under_way && LIST_EMPTY(&all->files));
	while ((x = SLIST_FIRST(&all->spare))) {
		SLIST_REMOVE_HEAD(&all->spare, spare);
		batch_finish(&x->batch);
		free(x);
	}
	batch_pool_finish(&all->parts);
	pthread_mutex_destroy(&all->lock);
	free(all);
	return NULL;
}

void writeback_start(struct writeback *all, struct nfs_client *client, uint32_t wsize)
{
	all->client = client;
	all->wsize = wsize;
}

struct writeback_stats *writeback_stats(struct writeback *all)
{
	return &all->stats;
}

size_t writeback_bytes(const struct writeback *all)
{
	return atomic_load_explicit(&all->used, memory_order_relaxed);
}

/* --- a file ----------------------------------------------------------------------------------- */

void written_init(struct written *f, const struct nfs_fh *fh, struct filedata *data)
{
	*f = (struct written){.fh = fh, .data = data};
	pthread_mutex_init(&f->lock, NULL);
	dirty_init(&f->dirty, NULL);
	TAILQ_INIT(&f->under_way);
	TAILQ_INIT(&f->waits);
}

void written_finish(struct written *f)
{
	assert(TAILQ_EMPTY(&f->waits) && !f->listed);
	dirty_finish(&f->dirty);
	pthread_mutex_destroy(&f->lock);
}

bool written_overlaps(struct written *f, uint64_t off, uint64_t len)
{
	bool overlaps;

	pthread_mutex_lock(&f->lock);
	overlaps = dirty_overlaps(&f->dirty, off, len);
	pthread_mutex_unlock(&f->lock);
	return overlaps;
}

/* f is one of all's from now on. */
static void join_locked(struct written *f, struct writeback *all)
{
	if (f->all)
		return;
	f->all = all;
	f->dirty.memory = &all->memory;
}

/* f is among the files with extents, or not, as it has some now or not. */
static void list_locked(struct written *f)
{
	struct writeback *all = f->all;
	bool any = !RB_EMPTY(&f->dirty.tree);

	if (!all || any == f->listed)
		return;
	pthread_mutex_lock(&all->lock);
	if (any)
		LIST_INSERT_HEAD(&all->files, f, link);
	else
		LIST_REMOVE(f, link);
	f->listed = any;
	pthread_mutex_unlock(&all->lock);
}

void written_cut(struct written *f, uint64_t off, uint64_t len)
{
	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return;
	pthread_mutex_lock(&f->lock);
	dirty_cut(&f->dirty, off, len);
	list_locked(f);
	pthread_mutex_unlock(&f->lock);
}

void writer_init(
	struct writer *by, struct written *to, struct nfs_open *open, const struct rpc_cred *cred)
{
	*by = (struct writer){.to = to, .open = open, .cred = cred};
}

bool writeback_close(struct writer *by)
{
	struct written *f = by->to;
	bool none;

	pthread_mutex_lock(&f->lock);
	dirty_forget(&f->dirty, &by->owner);
	list_locked(f);
	none = !by->owner.extents;
	pthread_mutex_unlock(&f->lock);
	return none;
}

/* --- operations ------------------------------------------------------------------------------- */

static void look(struct written *f);
static void send_all(struct written *f, bool stable);

static struct writeout *writeout_new(struct writeback *all)
{
	struct writeout *x;

	pthread_mutex_lock(&all->lock);
	x = SLIST_FIRST(&all->spare);
	if (x)
		SLIST_REMOVE_HEAD(&all->spare, spare);
	all->under_way++;
	pthread_mutex_unlock(&all->lock);
	if (!x) {
		x = calloc(1, sizeof(*x));
		if (x)
			batch_init(&x->batch, &all->parts);
	}
	if (x) {
		batch_begin(&x->batch, all->client, &(struct rpc_cred){0});
		return x;
	}
	pthread_mutex_lock(&all->lock);
	all->under_way--;
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* x has ended, or was not needed: who waits for room tries again. */
static void writeout_free(struct writeback *all, struct writeout *x)
{
	struct room_list rooms = TAILQ_HEAD_INITIALIZER(rooms);
	struct writeback_room *w;

	pthread_mutex_lock(&all->lock);
	all->under_way--;
	SLIST_INSERT_HEAD(&all->spare, x, spare);
	TAILQ_CONCAT(&rooms, &all->rooms, link);
	TAILQ_FOREACH (w, &rooms, link)
		w->waits = false;
	pthread_mutex_unlock(&all->lock);
	while ((w = TAILQ_FIRST(&rooms))) {
		TAILQ_REMOVE(&rooms, w, link);
		w->ready(w);
	}
}

/* All that is NEW has been sent, or there was no memory for that: who waits for it waits for those
 * WRITEs. */
static void all_sent_locked(struct written *f)
{
	struct writeback_wait *w;

	if (f->starved)
		return;
	TAILQ_FOREACH (w, &f->waits, link)
		if (w->target == UINT64_MAX)
			w->target = f->next_id;
}

/* The server has answered with another verifier: what it had is written again. */
static void redo_locked(struct written *f)
{
	struct writeback_wait *w;

	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return;
	log_warn("the server restarted before data of a file was committed: it is written again");
	count(&f->all->stats.rewritten, 1);
	dirty_redo(&f->dirty);
	TAILQ_FOREACH (w, &f->waits, link)
		w->target = UINT64_MAX;
}

/* After redo_locked(), without the lock. */
static void redone(struct written *f)
{
	send_all(f, false);
	pthread_mutex_lock(&f->lock);
	all_sent_locked(f);
	pthread_mutex_unlock(&f->lock);
}

void writeback_redo(struct written *f)
{
	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return;
	pthread_mutex_lock(&f->lock);
	redo_locked(f);
	pthread_mutex_unlock(&f->lock);
	redone(f);
}

static bool restarted(enum filedata_verf is)
{
	if (is == FILEDATA_LOST)
		log_error("the server restarted before data of a file was committed: what was "
			  "written by O_DIRECT, appended or copied may be lost");
	return is != FILEDATA_SAME;
}

static void write_finish(struct writeout *x)
{
	struct writeback *all = x->f->all;
	struct written *f = x->f;
	bool redo = x->redo;
	uint64_t gen;

	filedata_dirty(f->data, &gen);
	if (x->error)
		filedata_lost(f->data, x->error);
	pthread_mutex_lock(&f->lock);
	TAILQ_REMOVE(&f->under_way, x, link);
	dirty_wrote(&f->dirty, x->run, x->n, x->unstable && !x->error, gen);
	if (redo)
		redo_locked(f);
	list_locked(f);
	pthread_mutex_unlock(&f->lock);
	if (x->error)
		atomic_store(&f->failing, true);
	batch_end(&x->batch);
	if (redo)
		redone(f);
	look(f);
	writeout_free(all, x);
	all->ops->release(f);
}

static void write_fill(struct writeout *x, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_WRITE, write);
	struct writeback *all = x->f->all;

	op->u.write.open = x->by->open;
	op->u.write.fh = *x->f->fh;
	op->u.write.offset = x->off + p->off + p->got;
	op->u.write.from = part_rest(p);
	op->u.write.stable = x->stable;
	all->ops->write_begin(x->by);
	count(&all->stats.writes, 1);
}

static void write_took(struct writeout *x, struct part *p)
{
	uint32_t sent = p->want - p->got;
	struct nfs_op *op = &p->op;

	x->f->all->ops->write_end(x->by, op);
	p->settled = true;
	if (!op->error && (!op->u.write.count || op->u.write.count > sent)) {
		log_error(
			"server says it wrote %u of %u bytes: server bug", op->u.write.count, sent);
		op->error = -EREMOTEIO;
	}
	if (op->error) {
		x->error = x->error ? x->error : op->error;
		return;
	}
	if (op->u.write.committed == NFS_UNSTABLE)
		x->unstable = true;
	x->redo |= restarted(
		filedata_wrote(x->f->data, op->u.write.committed, op->u.write.verf, true));
	p->got += op->u.write.count;
	if (p->got < p->want && !x->error) {
		p->settled = false;
		write_fill(x, p);
	}
}

static void write_step(struct batch *b)
{
	struct writeout *x = (struct writeout *)((char *)b - offsetof(struct writeout, batch));
	struct part *p;

	STAILQ_FOREACH (p, &b->parts, next)
		if (!p->settled)
			write_took(x, p);
	if (batch_ready(b))
		batch_submit(b, write_step);
	else
		write_finish(x);
}

/* The run of x is WRITING: sends it. Without the lock. */
static void write_submit(struct writeout *x)
{
	struct writeback *all = x->f->all;
	struct part *p;

	for (unsigned i = 0; i < x->n; i++) {
		const struct dirty_extent *e = x->run[i];

		x->seg[i] = (struct seg){
			.at = mem_buf_sge(e->mem->buf, e->at, e->len), .hold = e->mem->buf};
	}
	x->batch.cred = *x->by->cred;
	seg_list_init(&x->batch.data, x->seg, x->n);
	batch_cut(&x->batch, all->wsize); /* reserved */
	STAILQ_FOREACH (p, &x->batch.parts, next)
		write_fill(x, p);
	batch_submit(&x->batch, write_step);
}

/* The n extents of x->run, which are NEW, become one WRITE. */
static void write_begin_locked(struct written *f, struct writeout *x, unsigned n, bool stable)
{
	f->all->ops->hold(f);
	x->f = f;
	x->by = (struct writer *)x->run[0]->by;
	x->id = f->next_id++;
	x->off = x->run[0]->off;
	x->n = n;
	x->stable = stable ? NFS_FILE_SYNC : NFS_UNSTABLE;
	x->unstable = x->redo = false;
	x->error = 0;
	dirty_writing(&f->dirty, x->run, n);
	TAILQ_INSERT_TAIL(&f->under_way, x, link);
}

/* Is that run all that is not safe? */
static bool is_all_locked(struct written *f, struct dirty_extent *run[], unsigned n)
{
	uint64_t len = run[n - 1]->off + run[n - 1]->len - run[0]->off, gen;

	return dirty_bytes(&f->dirty, DIRTY_NEW) == len && !dirty_bytes(&f->dirty, DIRTY_WRITING) &&
	       !filedata_dirty(f->data, &gen);
}

/* Sends the run that ends at `end`, or with end 0 the first one at or behind *from. False: there is
 * none, or no memory. */
static bool send_run(struct written *f, uint64_t end, uint64_t *from, bool stable)
{
	struct writeback *all = f->all;
	struct writeout *x = writeout_new(all);
	unsigned n = 0;

	if (x && !batch_reserve(&x->batch, DIRTY_RUN / all->wsize)) {
		batch_end(&x->batch);
		writeout_free(all, x);
		x = NULL;
	}
	pthread_mutex_lock(&f->lock);
	if (!x)
		f->starved = true;
	else
		n = end ? dirty_run_to(&f->dirty, end, x->run) : dirty_run(&f->dirty, from, x->run);
	if (n)
		write_begin_locked(f, x, n, stable && is_all_locked(f, x->run, n));
	pthread_mutex_unlock(&f->lock);
	if (n) {
		write_submit(x);
	} else if (x) {
		batch_end(&x->batch);
		writeout_free(all, x);
	}
	return n;
}

/* Sends all that is NEW; stable: somebody waits for it to be safe. */
static void send_all(struct written *f, bool stable)
{
	uint64_t from = 0;

	while (dirty_bytes(&f->dirty, DIRTY_NEW) && send_run(f, 0, &from, stable))
		;
}

/* --- commit ----------------------------------------------------------------------------------- */

/* Those of f that a COMMIT with that gen concerns go on: it has failed, or made all safe (!redo),
 * or they begin again. */
static void committed_locked(
	struct written *f, uint64_t gen, bool redo, struct writeback_waits *done)
{
	struct writeback_wait *w, *next;

	for (w = TAILQ_FIRST(&f->waits); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (!w->commits)
			continue;
		if (redo && ++w->rounds < ROUNDS_MAX) {
			w->commits = false;
		} else if (redo || w->need <= gen) {
			if (redo)
				filedata_lost(f->data, -EIO);
			TAILQ_REMOVE(&f->waits, w, link);
			w->waits = false;
			TAILQ_INSERT_TAIL(done, w, link);
		}
	}
}

static void tell(struct writeback_waits *done)
{
	struct writeback_wait *w;

	while ((w = TAILQ_FIRST(done))) {
		TAILQ_REMOVE(done, w, link);
		w->ready(w);
	}
}

/* A COMMIT of f with that gen has ended, and filedata knows how. */
static void commit_end(struct written *f, uint64_t gen, bool failed, bool redo)
{
	struct writeback_waits done = TAILQ_HEAD_INITIALIZER(done);

	pthread_mutex_lock(&f->lock);
	f->committing = false;
	if (redo)
		redo_locked(f);
	else if (!failed)
		dirty_committed(&f->dirty, gen);
	committed_locked(f, gen, redo, &done);
	list_locked(f);
	pthread_mutex_unlock(&f->lock);
	tell(&done);
}

static void commit_done(struct batch *b)
{
	struct writeout *x = (struct writeout *)((char *)b - offsetof(struct writeout, batch));
	struct nfs_op *op = &b->first.op;
	struct written *f = x->f;
	struct writeback *all = f->all;
	bool redo = false;

	all->ops->commit_end(all->ops->ctx, f, op, x->asked);
	if (op->error)
		filedata_failed(f->data, x->gen, op->error);
	else
		redo = restarted(filedata_committed(f->data, x->gen, op->u.commit.verf));
	commit_end(f, x->gen, op->error, redo);
	batch_end(b);
	if (redo)
		redone(f);
	look(f);
	writeout_free(all, x);
	all->ops->release(f);
}

/* f->committing has been set. */
static void commit_submit(struct written *f, const struct rpc_cred *cred)
{
	struct writeback *all = f->all;
	struct writeout *x = writeout_new(all);
	struct nfs_op *op;
	uint64_t gen;

	filedata_dirty(f->data, &gen);
	if (!x) {
		filedata_failed(f->data, gen, -ENOMEM);
		commit_end(f, gen, true, false);
		return;
	}
	all->ops->hold(f);
	x->f = f;
	x->n = 0;
	x->gen = gen;
	x->asked = clock_ns();
	x->batch.cred = *cred;
	op = part_op(&x->batch.first, NFS_COMMIT, commit);
	op->u.commit.fh = *f->fh;
	count(&all->stats.commits, 1);
	batch_submit(&x->batch, commit_done);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* w has what it waits for (true), or needs a COMMIT, or waits on. */
static bool is_done_locked(struct written *f, struct writeback_wait *w)
{
	const struct writeout *first = TAILQ_FIRST(&f->under_way);

	if (w->commits || w->target == UINT64_MAX || (first && first->id < w->target))
		return false;
	if (w->level == WRITTEN || !filedata_dirty(f->data, &w->need))
		return true;
	w->commits = true;
	return false;
}

/* Who sends a COMMIT that nobody waits for: the one who wrote what is first. */
static const struct rpc_cred *writer_cred_locked(struct written *f)
{
	return ((struct writer *)dirty_first(&f->dirty))->cred;
}

/* Something of f has ended: who waits for that goes on, and a COMMIT is sent if it is time. */
static void look(struct written *f)
{
	struct writeback_waits done = TAILQ_HEAD_INITIALIZER(done);
	struct writeback *all = f->all;
	struct writeback_wait *w, *next;
	struct rpc_cred cred;
	bool commit = false;

	pthread_mutex_lock(&f->lock);
	for (w = TAILQ_FIRST(&f->waits); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (is_done_locked(f, w)) {
			TAILQ_REMOVE(&f->waits, w, link);
			w->waits = false;
			TAILQ_INSERT_TAIL(&done, w, link);
		} else if (w->commits && !f->committing && !commit) {
			commit = true;
			cred = *w->cred;
		}
	}
	/* what is kept takes room that others may need soon */
	if (!f->committing && !commit && writeback_bytes(all) > all->limit / 2 &&
		dirty_bytes(&f->dirty, DIRTY_UNSTABLE) >= all->limit / 8) {
		commit = true;
		cred = *writer_cred_locked(f);
	}
	f->committing |= commit;
	pthread_mutex_unlock(&f->lock);
	if (commit)
		commit_submit(f, &cred);
	tell(&done);
}

bool writeback_wait(struct writeback *all, struct written *f, struct writeback_wait *w,
	enum written_level level)
{
	uint64_t gen;

	if (!written_dirty(f) && (level == WRITTEN || !filedata_dirty(f->data, &gen)))
		return false;
	w->level = level;
	w->commits = false;
	w->target = UINT64_MAX;
	w->rounds = 0;
	all->ops->hold(f); /* whoever answers w may let it go */
	pthread_mutex_lock(&f->lock);
	join_locked(f, all);
	pthread_mutex_unlock(&f->lock);
	send_all(f, level == STABLE);
	pthread_mutex_lock(&f->lock);
	w->waits = true;
	TAILQ_INSERT_TAIL(&f->waits, w, link);
	all_sent_locked(f);
	pthread_mutex_unlock(&f->lock);
	look(f);
	all->ops->release(f);
	return true;
}

bool writeback_unwait(struct written *f, struct writeback_wait *w)
{
	bool waited;

	pthread_mutex_lock(&f->lock);
	waited = w->waits;
	w->waits = false;
	if (waited)
		TAILQ_REMOVE(&f->waits, w, link);
	pthread_mutex_unlock(&f->lock);
	return waited;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* After [off, end) has been put: sends what need not wait for more. */
static void put_end(struct written *f, uint64_t end, bool whole)
{
	if (dirty_bytes(&f->dirty, DIRTY_NEW) >= MUCH)
		send_all(f, false);
	else if (whole || end % DIRTY_RUN == 0)
		send_run(f, end, NULL, false);
}

/* Before that: f has something NEW from now on. */
static void put_begin_locked(struct written *f, struct writeback *all)
{
	join_locked(f, all);
	if (!dirty_bytes(&f->dirty, DIRTY_NEW))
		f->since = clock_ns();
}

enum dirty_put writeback_put(struct writeback *all, struct writer *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took)
{
	uint64_t first = off / DIRTY_RUN, last = (off + len) / DIRTY_RUN;
	struct written *f = by->to;
	enum dirty_put r;

	pthread_mutex_lock(&f->lock);
	put_begin_locked(f, all);
	r = dirty_put(&f->dirty, &by->owner, off, data, len, took);
	list_locked(f);
	pthread_mutex_unlock(&f->lock);
	count(&all->stats.gathered, *took);
	if (r == DIRTY_BUSY)
		send_all(f, false);
	else if (r == DIRTY_DONE)
		put_end(f, first == last ? off + len : last * DIRTY_RUN, false);
	return r;
}

enum dirty_put writeback_take(struct writeback *all, struct writer *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len)
{
	struct written *f = by->to;
	enum dirty_put r;

	if (!charge(all, buf->size))
		return DIRTY_FULL;
	pthread_mutex_lock(&f->lock);
	put_begin_locked(f, all);
	r = dirty_take(&f->dirty, &by->owner, off, buf, at, len);
	list_locked(f);
	pthread_mutex_unlock(&f->lock);
	if (r != DIRTY_DONE) {
		atomic_fetch_sub(&all->used, buf->size);
		return r;
	}
	count(&all->stats.taken, len);
	put_end(f, off + len, true);
	return r;
}

/* --- all files -------------------------------------------------------------------------------- */

/* Up to max files that have extents, held, from the n-th on. */
static unsigned files_from(struct writeback *all, unsigned n, struct written *file[], unsigned max)
{
	struct written *f;
	unsigned got = 0;

	pthread_mutex_lock(&all->lock);
	LIST_FOREACH (f, &all->files, link) {
		if (n && n--)
			continue;
		if (got == max)
			break;
		all->ops->hold(f);
		file[got++] = f;
	}
	pthread_mutex_unlock(&all->lock);
	return got;
}

/* Sends what there is of f, and has what is kept committed. */
static void push(struct written *f)
{
	struct rpc_cred cred;
	bool commit;

	send_all(f, false);
	pthread_mutex_lock(&f->lock);
	commit = !f->committing && dirty_bytes(&f->dirty, DIRTY_UNSTABLE);
	if (commit)
		cred = *writer_cred_locked(f);
	f->committing |= commit;
	pthread_mutex_unlock(&f->lock);
	if (commit)
		commit_submit(f, &cred);
}

static void for_all(struct writeback *all, void (*fn)(struct written *f))
{
	struct written *file[TICK_FILES];
	unsigned n, at = 0;

	do {
		n = files_from(all, at, file, TICK_FILES);
		at += n;
		for (unsigned i = 0; i < n; i++) {
			fn(file[i]);
			all->ops->release(file[i]);
		}
	} while (n == TICK_FILES);
}

static void send_old(struct written *f)
{
	bool old, starved;

	pthread_mutex_lock(&f->lock);
	old = dirty_bytes(&f->dirty, DIRTY_NEW) && f->since + AGE_NS <= clock_ns();
	starved = f->starved;
	f->starved = false;
	pthread_mutex_unlock(&f->lock);
	if (!old && !starved)
		return;
	send_all(f, false);
	pthread_mutex_lock(&f->lock);
	all_sent_locked(f);
	pthread_mutex_unlock(&f->lock);
	look(f);
}

void writeback_tick(struct writeback *all)
{
	for_all(all, send_old);
}

bool writeback_sync(struct writeback *all)
{
	bool left;

	for_all(all, push);
	pthread_mutex_lock(&all->lock);
	left = all->under_way || !LIST_EMPTY(&all->files);
	pthread_mutex_unlock(&all->lock);
	return left;
}

bool writeback_unwait_room(struct writeback *all, struct writeback_room *w)
{
	bool waited;

	pthread_mutex_lock(&all->lock);
	waited = w->waits;
	w->waits = false;
	if (waited)
		TAILQ_REMOVE(&all->rooms, w, link);
	pthread_mutex_unlock(&all->lock);
	return waited;
}

bool writeback_wait_room(struct writeback *all, struct writeback_room *w)
{
	struct writeback_room *one;
	uint64_t id;

	pthread_mutex_lock(&all->lock);
	id = w->id = all->next_room++;
	w->waits = true;
	TAILQ_INSERT_TAIL(&all->rooms, w, link);
	pthread_mutex_unlock(&all->lock);
	count(&all->stats.full, 1);
	for_all(all, push);
	/* from here on w may be gone */
	pthread_mutex_lock(&all->lock);
	TAILQ_FOREACH (one, &all->rooms, link)
		if (one->id == id)
			break;
	if (all->under_way)
		one = NULL;
	if (one) {
		one->waits = false;
		TAILQ_REMOVE(&all->rooms, one, link);
	}
	pthread_mutex_unlock(&all->lock);
	return !one;
}
