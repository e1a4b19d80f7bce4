/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * writeout: WRITEs and COMMITs of written data (writeback.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "cache/writeback_impl.h"
#include "transport/clock.h"
#include "transport/log.h"

static struct writeout *writeout_new(struct writeback *all)
{
	struct writeout *x;

	mutex_lock(&all->lock);
	x = SLIST_FIRST(&all->spare);
	if (x)
		SLIST_REMOVE_HEAD(&all->spare, spare);
	all->under_way++;
	mutex_unlock(&all->lock);
	if (!x) {
		x = calloc(1, sizeof(*x));
		if (x)
			batch_init(&x->batch, &all->parts);
	}
	if (x) {
		batch_begin(&x->batch, all->client, &(struct rpc_cred){0});
		return x;
	}
	mutex_lock(&all->lock);
	all->under_way--;
	mutex_unlock(&all->lock);
	return NULL;
}

void writeout_destroy(struct writeout *x)
{
	batch_finish(&x->batch);
	free(x);
}

/* x has ended, or was not needed. All waits for room try again. */
static void writeout_free(struct writeback *all, struct writeout *x)
{
	struct room_list rooms = TAILQ_HEAD_INITIALIZER(rooms);
	struct writeback_room *w;

	mutex_lock(&all->lock);
	all->under_way--;
	SLIST_INSERT_HEAD(&all->spare, x, spare);
	TAILQ_CONCAT(&rooms, &all->rooms, link);
	TAILQ_FOREACH (w, &rooms, link)
		w->waits = false;
	mutex_unlock(&all->lock);
	while ((w = TAILQ_FIRST(&rooms))) {
		TAILQ_REMOVE(&rooms, w, link);
		w->ready(w);
	}
}

static void write_finish(struct writeout *x)
{
	struct writeback *all = x->f->all;
	struct written *f = x->f;
	bool redo = x->redo;
	bool keeps;
	uint64_t gen;

	if (x->error)
		filedata_lost(f->data, x->error);
	mutex_lock(&f->lock);
	TAILQ_REMOVE(&f->under_way, x, link);
	/* A COMMIT that ended since the first part was answered has seen these bytes WRITING. If
	 * the COMMIT told of a restart, the first part may be lost. If not, and no data is unstable
	 * any more, the COMMIT was sent behind all parts. */
	keeps = filedata_dirty(f->data, &gen);
	redo |= x->unstable && !x->error && filedata_restarts(f->data) != x->restarts;
	keeps = x->unstable && !x->error && (keeps || redo);
	if (keeps)
		written_keeps_locked(f);
	dirty_wrote(&f->dirty, x->run, x->n, keeps, gen, clock_ns());
	/* the server may have executed a later WRITE after x, and answered the later one first */
	if (x->waiter && !x->error && !redo && f->next_id == x->id + 1)
		*x->waiter->then = x->then;
	if (redo)
		written_redo_locked(f);
	written_list_locked(f);
	mutex_unlock(&f->lock);
	if (x->error)
		atomic_store(&f->failing, true);
	batch_end(&x->batch);
	if (redo)
		writeout_send_new(f);
	writeout_look(f);
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
	if (x->carries && !p->got) {
		x->then.asked = clock_ns();
		op->u.write.then = &x->then;
	}
	all->ops->write_begin(x->by);
	writeback_count(&all->stats.writes, 1);
}

static void write_took(struct writeout *x, struct part *p)
{
	uint32_t sent = p->want - p->got;
	struct nfs_op *op = &p->op;
	uint64_t restarts = filedata_restarts(x->f->data);

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
	if (op->u.write.committed == NFS_UNSTABLE) {
		x->restarts = x->unstable ? x->restarts : restarts;
		x->unstable = true;
	}
	x->redo |= written_restarted(filedata_wrote(
		x->f->data, x->by->cred, op->u.write.committed, op->u.write.verf, true));
	p->got += op->u.write.count;
	if (p->got < p->want && !x->error) {
		x->then.done = false; /* the operation was done, but too early */
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

/* Sends the run of x, which is WRITING. Without the lock. */
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
	batch_cut(&x->batch, all->wsize); /* cannot fail: parts are reserved */
	STAILQ_FOREACH (p, &x->batch.parts, next)
		write_fill(x, p);
	batch_submit(&x->batch, write_step);
}

static uint64_t run_len(struct dirty_extent *const run[], unsigned n)
{
	return run[n - 1]->off + run[n - 1]->len - run[0]->off;
}

/* Makes one WRITE of the n NEW extents of x->run. */
static void write_begin_locked(struct written *f, struct writeout *x, unsigned n, bool stable)
	REQUIRES(f->lock)
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
	x->carries = false;
	x->waiter = NULL;
	dirty_writing(&f->dirty, x->run, n, clock_ns(),
		written_guard(x->run[0]->by, x->off, run_len(x->run, n)));
	TAILQ_INSERT_TAIL(&f->under_way, x, link);
}

/* Is the run all data that the server does not have? */
static bool is_last_locked(struct written *f, struct dirty_extent *run[], unsigned n)
	REQUIRES(f->lock)
{
	return dirty_bytes(&f->dirty, DIRTY_NEW) == run_len(run, n) &&
	       !dirty_bytes(&f->dirty, DIRTY_WRITING);
}

/* Is the run all data that is not safe? */
static bool is_all_locked(struct written *f, struct dirty_extent *run[], unsigned n)
	REQUIRES(f->lock)
{
	uint64_t gen;

	return is_last_locked(f, run, n) && !filedata_dirty(f->data, &gen);
}

/* Is the run probably the whole file: small, and the file's first WRITE? */
static bool is_whole_locked(struct written *f, struct dirty_extent *run[], unsigned n)
	REQUIRES(f->lock)
{
	return !f->next_id && !run[0]->off && run_len(run, n) <= WHOLE_FILE_MAX;
}

/* Makes x, which is about to be sent, carry the operation of w. Attributes may only be set behind
 * data that will not be written again. safe: no data of the file will be, once x has ended. */
static void carry_locked(struct written *f, struct writeout *x, struct writeback_wait *w, bool safe)
	REQUIRES(f->lock)
{
	if (x->n && run_len(x->run, x->n) <= f->all->wsize && rpc_same_cred(w->cred, x->by->cred) &&
		(safe || !w->then->set.mask)) {
		x->carries = true;
		x->waiter = w;
		x->then = (struct nfs_then){.set = w->then->set};
	}
}

/* Sends the run that ends at `end`, or with end 0 the first run at or behind *from. False: there is
 * no run, or no memory. */
static bool send_run(
	struct written *f, uint64_t end, uint64_t *from, bool stable, struct writeback_wait *w)
{
	struct writeback *all = f->all;
	struct writeout *x = writeout_new(all);
	bool carries = false;
	unsigned n = 0;

	if (x && !batch_reserve(&x->batch, DIRTY_RUN / all->wsize)) {
		batch_end(&x->batch);
		writeout_free(all, x);
		x = NULL;
	}
	mutex_lock(&f->lock);
	if (!x)
		f->starved = true;
	else
		n = end ? dirty_run_to(&f->dirty, end, x->run) : dirty_run(&f->dirty, from, x->run);
	if (n) {
		carries = w && w->then && is_last_locked(f, x->run, n);
		stable |= carries && is_whole_locked(f, x->run, n);
		stable = stable && is_all_locked(f, x->run, n);
		write_begin_locked(f, x, n, stable || written_is_unsteady_locked(f));
	}
	if (carries)
		carry_locked(f, x, w, stable);
	mutex_unlock(&f->lock);
	if (n) {
		write_submit(x);
	} else if (x) {
		batch_end(&x->batch);
		writeout_free(all, x);
	}
	return n;
}

void writeout_send_to(struct written *f, uint64_t end)
{
	send_run(f, end, NULL, false, NULL);
}

void writeout_send_all(struct written *f, bool stable, struct writeback_wait *w)
{
	uint64_t from = 0;

	while (dirty_bytes(&f->dirty, DIRTY_NEW) && send_run(f, 0, &from, stable, w))
		;
}

void writeout_send_new(struct written *f)
{
	writeout_send_all(f, false, NULL);
	mutex_lock(&f->lock);
	written_all_sent_locked(f);
	mutex_unlock(&f->lock);
}

static void commit_submit(struct writeout *x);

/* If the server refuses the credential of the COMMIT, a waiting caller may be allowed to commit. */
static enum commit_refused commit_refused(struct writeout *x)
{
	const struct nfs_op *op = &x->batch.first.op;

	if (op->error != -EACCES && op->error != -EPERM)
		return COMMIT_NEVER;
	return written_refused(x->f, &x->batch.cred);
}

static void commit_done(struct batch *b)
{
	struct writeout *x = (struct writeout *)((char *)b - offsetof(struct writeout, batch));
	enum commit_refused refused = commit_refused(x);
	struct nfs_op *op = &b->first.op;
	struct written *f = x->f;
	struct writeback *all = f->all;
	bool redo = false;

	all->ops->commit_end(all->ops->ctx, f, op, x->asked, refused != COMMIT_NEVER);
	if (refused == COMMIT_AGAIN) {
		commit_submit(x);
		return;
	}
	if (!op->error)
		redo = written_restarted(filedata_committed(f->data, x->gen, op->u.commit.verf));
	else if (refused == COMMIT_NEVER)
		filedata_failed(f->data, x->gen, op->error);
	if (refused == COMMIT_NEVER)
		written_committed(f, x->gen, op->error, redo);
	batch_end(b);
	if (redo)
		writeout_send_new(f);
	writeout_look(f);
	writeout_free(all, x);
	all->ops->release(f);
}

static void commit_submit(struct writeout *x)
{
	struct nfs_op *op = part_op(&x->batch.first, NFS_COMMIT, commit);

	op->u.commit.fh = *x->f->fh;
	x->asked = clock_ns();
	writeback_count(&x->f->all->stats.commits, 1);
	batch_submit(&x->batch, commit_done);
}

void writeout_commit(struct written *f)
{
	struct writeback *all = f->all;
	struct writeout *x = writeout_new(all);
	struct rpc_cred by;
	uint64_t gen = filedata_commit(f->data, &by);

	if (!x) {
		filedata_failed(f->data, gen, -ENOMEM);
		written_committed(f, gen, true, false);
		return;
	}
	all->ops->hold(f);
	x->f = f;
	x->n = 0;
	x->gen = gen;
	x->batch.cred = by;
	commit_submit(x);
}

void writeout_look(struct written *f)
{
	struct writeback_waits done = TAILQ_HEAD_INITIALIZER(done);

	if (written_look(f, &done))
		writeout_commit(f);
	written_tell(&done);
}
