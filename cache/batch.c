/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * batch: operations on the server that are executed together, in steps.
 */
#include "cache/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void batch_pool_init(struct batch_pool *p)
{
	mutex_init(&p->lock);
	STAILQ_INIT(&p->free);
}

static void free_parts(struct part_list *list)
{
	struct part *p;

	while ((p = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, next);
		free(p);
	}
}

void batch_pool_finish(struct batch_pool *p)
{
	mutex_destroy(&p->lock);
	free_parts(&p->free);
}

void batch_init(struct batch *b, struct batch_pool *pool)
{
	mutex_init(&b->lock);
	b->pool = pool;
}

void batch_finish(struct batch *b)
{
	mutex_destroy(&b->lock);
}

void batch_begin(struct batch *b, struct nfs_client *client, const struct rpc_cred *cred)
{
	mutex_alone(&b->lock); /* no other thread knows of the batch yet */
	b->client = client;
	b->cred = *cred;
	b->since_ns = b->ended_ns = b->noted = 0;
	b->op_ended = NULL;
	b->data = (struct seg_list){.n = 0};
	b->pending = 0;
	b->wish = BATCH_GO_ON;
	b->keep_going = false;
	b->first.batch = b;
	b->first.state = PART_IDLE;
	b->first.ready = false;
	STAILQ_INIT(&b->spare);
	STAILQ_INIT(&b->parts);
	STAILQ_INSERT_HEAD(&b->parts, &b->first, next);
}

void batch_end(struct batch *b)
{
	if (!STAILQ_NEXT(&b->first, next) && STAILQ_EMPTY(&b->spare))
		return;
	mutex_lock(&b->lock); /* batch_cancel() may be reading the list */
	STAILQ_REMOVE_HEAD(&b->parts, next);
	STAILQ_CONCAT(&b->spare, &b->parts);
	STAILQ_INSERT_HEAD(&b->parts, &b->first, next);
	mutex_unlock(&b->lock);
	mutex_lock(&b->pool->lock);
	STAILQ_CONCAT(&b->pool->free, &b->spare);
	mutex_unlock(&b->pool->lock);
}

/* --- parts ------------------------------------------------------------------------------------ */

bool batch_reserve(struct batch *b, unsigned n)
{
	struct batch_pool *pool = b->pool;
	struct part *p;

	STAILQ_FOREACH (p, &b->spare, next)
		n -= n > 0;
	mutex_lock(&pool->lock);
	for (; n && (p = STAILQ_FIRST(&pool->free)); n--) {
		STAILQ_REMOVE_HEAD(&pool->free, next);
		STAILQ_INSERT_HEAD(&b->spare, p, next);
	}
	mutex_unlock(&pool->lock);
	for (; n; n--) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return false;
		STAILQ_INSERT_HEAD(&b->spare, p, next);
	}
	return true;
}

struct part *batch_part(struct batch *b)
{
	struct part *p = STAILQ_FIRST(&b->spare);

	STAILQ_REMOVE_HEAD(&b->spare, next);
	p->batch = b;
	p->ready = false;
	mutex_lock(&b->lock);
	p->state = PART_IDLE;
	STAILQ_INSERT_TAIL(&b->parts, p, next);
	mutex_unlock(&b->lock);
	return p;
}

struct nfs_op *part_op_sized(struct part *p, enum nfs_op_type type, size_t size)
{
	struct nfs_op *op = &p->op;

	op->type = type;
	op->cred = p->batch->cred;
	op->error = 0;
	op->noted = p->batch->noted;
	memset(&op->u, 0, size);
	p->ready = true;
	return op;
}

/* --- data ------------------------------------------------------------------------------------- */

bool batch_cut(struct batch *b, uint32_t max)
{
	uint32_t len = b->data.len;
	struct part *p = &b->first;

	if (len > max && !batch_reserve(b, (len - 1) / max))
		return false;
	for (uint32_t off = 0;;) {
		p->off = off;
		p->want = len - off < max ? len - off : max;
		p->got = 0;
		p->settled = false;
		off += p->want;
		if (off == len)
			return true;
		p = batch_part(b);
	}
}

struct seg_list part_rest(const struct part *p)
{
	return seg_list_cut(&p->batch->data, p->off + p->got, p->want - p->got);
}

uint32_t batch_done_bytes(const struct batch *b)
{
	const struct part *p;
	uint32_t n = 0;

	STAILQ_FOREACH (p, &b->parts, next) {
		n += p->got;
		if (p->got < p->want)
			break;
	}
	return n;
}

/* --- submitting ------------------------------------------------------------------------------- */

static void op_done(struct nfs_op *op)
{
	struct part *p = op->ctx;
	struct batch *b = p->batch;
	bool last;

	if (b->op_ended)
		b->op_ended(b, op);
	mutex_lock(&b->lock);
	p->state = PART_IDLE;
	last = --b->pending == 0;
	b->ended_ns = op->ended_ns;
	mutex_unlock(&b->lock);
	if (last)
		b->done(b);
}

/* The server may execute an operation at any time once it has the request. So a cancelled batch
 * must not send a change. */
static bool is_unwanted(struct batch *b, const struct part *p)
{
	bool unwanted;

	mutex_lock(&b->lock);
	unwanted = b->wish != BATCH_GO_ON && !b->keep_going && nfs_op_changes_data(&p->op);
	mutex_unlock(&b->lock);
	return unwanted;
}

static void submit_part(struct batch *b, struct part *p)
{
	p->ready = false;
	p->op.done = op_done;
	p->op.ctx = p;
	p->op.since_ns = b->since_ns;
	if (is_unwanted(b, p)) {
		p->op.calls = (struct nfs_op_calls){0};
		p->op.ended_ns = 0;
		p->op.error = -EINTR;
		op_done(&p->op);
		return;
	}
	nfs_submit(b->client, &p->op);
}

static void tell_locked(struct batch *b, struct part *p) REQUIRES(b->lock)
{
	if (b->keep_going || p->state != PART_PENDING)
		return;
	if (b->wish == BATCH_CANCEL)
		nfs_cancel(&p->op);
	else if (b->wish == BATCH_INTERRUPT)
		nfs_interrupt(&p->op);
}

/* p has been submitted: from now on p can be cancelled. */
static void submitted_locked(struct batch *b, struct part *p) REQUIRES(b->lock)
{
	if (p->state != PART_SUBMITTING) /* p has ended */
		return;
	p->state = PART_PENDING;
	tell_locked(b, p);
}

void batch_submit(struct batch *b, batch_done_fn *done)
{
	struct part *p, *before = NULL;
	bool last;

	mutex_lock(&b->lock);
	b->done = done;
	b->pending = 1;
	if (b->ended_ns)
		b->since_ns = b->ended_ns;
	STAILQ_FOREACH (p, &b->parts, next) {
		if (!p->ready)
			continue;
		p->state = PART_SUBMITTING;
		b->pending++;
	}
	mutex_unlock(&b->lock);
	STAILQ_FOREACH (p, &b->parts, next) {
		if (!p->ready)
			continue;
		if (before) {
			mutex_lock(&b->lock);
			submitted_locked(b, before);
			mutex_unlock(&b->lock);
		}
		submit_part(b, p);
		before = p;
	}
	mutex_lock(&b->lock);
	if (before)
		submitted_locked(b, before);
	last = --b->pending == 0;
	mutex_unlock(&b->lock);
	if (last)
		done(b);
}

bool batch_ready(const struct batch *b)
{
	const struct part *p;

	STAILQ_FOREACH (p, &b->parts, next)
		if (p->ready)
			return true;
	return false;
}

/* --- cancelling ------------------------------------------------------------------------------- */

static bool end_early(struct batch *b, enum batch_wish wish)
{
	struct part *p;
	bool first;

	mutex_lock(&b->lock);
	first = b->wish == BATCH_GO_ON;
	if (b->wish < wish) {
		b->wish = wish;
		STAILQ_FOREACH (p, &b->parts, next)
			tell_locked(b, p);
	}
	mutex_unlock(&b->lock);
	return first;
}

bool batch_cancel(struct batch *b)
{
	return end_early(b, BATCH_CANCEL);
}

bool batch_interrupt(struct batch *b)
{
	return end_early(b, BATCH_INTERRUPT);
}

void batch_keep_going(struct batch *b)
{
	mutex_lock(&b->lock);
	b->keep_going = true;
	mutex_unlock(&b->lock);
}
