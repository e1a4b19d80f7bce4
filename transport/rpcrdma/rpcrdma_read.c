/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_read: RDMA Reads, and calls that wait for memory. Progress thread.
 *
 * RDMA Reads are posted in the order of the calls, RPCRDMA_READS_MAX at a time; the provider keeps
 * to the peer's limit (ORD).
 *
 * Memory. A call with a message or payload to pull needs buffers first. Without memory, or with
 * rpcrdma_pulled_max bytes in buffers of the connection, the call waits, in order, until other
 * calls end. Any call also waits while RPCRDMA_UNSENT_MAX bytes of answers are unsent, since a
 * credit ends when the provider gets the answer. Both bounds are lower while the pool has little
 * room (mem_pool_share()). A call that offers many segments waits, too, until there is room to post
 * the RDMA Writes of the reply (RPCRDMA_SEGS_MAX). Calls that wait count against the credits. A
 * peer that answers no RDMA Read for rpcrdma_pull_ms loses the connection.
 */
#include "transport/rpcrdma/rpcrdma_read.h"

#include <errno.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/rpcrdma/rpcrdma_flow.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_taken.h"

void rpcrdma_read_drop_all(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t;

	TAILQ_CONCAT(&c->pulls, &c->come, link);
	TAILQ_CONCAT(&c->pulls, &c->waiting, link);
	while ((t = TAILQ_FIRST(&c->pulls))) {
		TAILQ_REMOVE(&c->pulls, t, link);
		if (t->is_reply && t->posted)
			t->posted->pull = NULL;
		rpcrdma_taken_free(c, t);
	}
}

/* Bytes that still need buffers. */
static uint32_t bytes_to_pull(const struct rpcrdma_taken *t)
{
	uint32_t n = t->msg ? 0 : t->msg_len;

	for (unsigned i = 0; i < t->npayloads; i++)
		n += t->here & 1u << i ? 0 : t->payload[i].data.len;
	return n;
}

static bool has_room(struct rpcrdma_conn *c, uint32_t bytes)
{
	size_t pulled = atomic_load_explicit(&c->pulled, memory_order_relaxed);
	uint64_t sent;

	if (atomic_load_explicit(&c->old.nlent, memory_order_relaxed) &&
		c->old_ops->lends_enough(c))
		return false;
	if (c->v2.stalls && rpcrdma_flow_holds_enough(c))
		return false;
	if (c->prov->unsent &&
		c->prov->unsent(c->pc, &sent) > mem_pool_share(c->pool, RPCRDMA_UNSENT_MAX))
		return false;
	return !bytes || !pulled || pulled + bytes <= mem_pool_share(c->pool, rpcrdma_pulled_max);
}

/* Whether the RDMA Writes of one more reply can be posted (RPCRDMA_SEGS_MAX). */
static bool has_segs(struct rpcrdma_conn *c, const struct rpcrdma_taken *t)
{
	unsigned n = atomic_load_explicit(&c->segs, memory_order_acquire);
	uint64_t sent;

	if (t->nsegs <= RPCRDMA_SEGS_FREE)
		return true;
	if (!c->prov->unsent || !c->prov->unsent(c->pc, &sent))
		atomic_store_explicit(&c->segs_out, 0, memory_order_relaxed);
	n += atomic_load_explicit(&c->segs_out, memory_order_relaxed);
	return n + t->nsegs <= RPCRDMA_SEGS_MAX;
}

/* All or nothing. 0, -EAGAIN. */
static int get_buffers(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	uint32_t bytes = bytes_to_pull(t);
	bool had_msg = t->msg;

	if (!has_room(c, bytes) || !has_segs(c, t))
		return -EAGAIN;
	if (!bytes)
		return 0;
	if (!t->msg)
		t->msg = mem_buf_get(c->pool, t->msg_len);
	if (!t->msg)
		return -EAGAIN;
	for (unsigned i = 0; i < t->npayloads; i++) {
		struct xdr_payload *p = &t->payload[i];

		if (!p->data.len || t->here & 1u << i)
			continue;
		t->pbuf[i] = mem_buf_get(c->pool, p->data.len);
		if (!t->pbuf[i])
			goto nomem;
		p->data = seg_list_of_buf(t->pbuf[i], 0, p->data.len);
	}
	t->held = bytes;
	atomic_fetch_add_explicit(&c->pulled, bytes, memory_order_relaxed);
	return 0;
nomem:
	for (unsigned i = 0; i < t->npayloads; i++)
		t->pbuf[i] = mem_buf_unref(t->pbuf[i]);
	if (!had_msg)
		t->msg = mem_buf_unref(t->msg);
	return -EAGAIN;
}

static bool pulled(const struct rpcrdma_taken *t)
{
	return t->next_read == t->nreads && t->reading == 0;
}

/* Asks for the next segment of t. */
static void read_next(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	const struct rpcrdma_read *r = &t->read[t->next_read];
	struct prov_wr wr = {
		.op = PROV_READ,
		.cookie = (uintptr_t)t,
		.nsge = 1,
		.remote_stag = r->seg.handle,
		.remote_offset = r->seg.offset,
	};
	struct mem_buf *buf;
	int rc;

	if (r->position && (!t->next_read || t->read[t->next_read - 1].position != r->position))
		do
			t->slot++;
		while (t->here & 1u << (t->slot - 1));
	t->next_read++;
	if (!r->seg.length)
		return;
	buf = t->slot ? t->pbuf[t->slot - 1] : t->msg;
	wr.sge[0] = mem_buf_sge(buf, t->filled[t->slot], r->seg.length);
	t->filled[t->slot] += r->seg.length;
	t->reading++;
	if (!c->reads++)
		c->read_ns = clock_ns();
	rc = c->prov->post(c->pc, &wr);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "an RDMA Read could not be posted: %s", strerror(-rc));
}

/* Posts the next RDMA Reads, as many as the peer takes, but at least one: the peer may have sent
 * the calls before its limit fell to 0. A call with only empty segments is complete at once. */
static void pump_reads(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t, *next;

	for (t = TAILQ_FIRST(&c->pulls); t; t = next) {
		while (t->next_read < t->nreads) {
			if (c->reads && c->reads >= c->reads_max)
				return;
			read_next(c, t);
		}
		next = TAILQ_NEXT(t, link);
		if (pulled(t)) {
			TAILQ_REMOVE(&c->pulls, t, link);
			TAILQ_INSERT_TAIL(&c->come, t, link);
		}
	}
}

void rpcrdma_read_done(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	c->reads--;
	c->read_ns = clock_ns();
	t->reading--;
	pump_reads(c);
}

/* Goes on with t as far as possible now. 1: all of t has come; 0: t is being read; -EAGAIN: t must
 * wait for memory. */
static int start(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	int rc = get_buffers(c, t);

	if (rc)
		return rc;
	if (t->nsegs > RPCRDMA_SEGS_FREE) {
		t->segs = t->nsegs;
		atomic_fetch_add_explicit(&c->segs, t->segs, memory_order_relaxed);
	}
	if (!t->nreads)
		return 1;
	TAILQ_INSERT_TAIL(&c->pulls, t, link);
	pump_reads(c);
	return 0;
}

struct rpcrdma_taken *rpcrdma_read_waiting(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t;
	int rc;

	while ((t = TAILQ_FIRST(&c->waiting))) {
		TAILQ_REMOVE(&c->waiting, t, link);
		rc = start(c, t);
		if (rc > 0)
			return t;
		if (rc < 0) {
			TAILQ_INSERT_HEAD(&c->waiting, t, link);
			break;
		}
	}
	return rpcrdma_read_next(c);
}

struct rpcrdma_taken *rpcrdma_read_next(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t = TAILQ_FIRST(&c->come);

	if (t)
		TAILQ_REMOVE(&c->come, t, link);
	return t;
}

bool rpcrdma_read_go(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	/* a call without RDMA Reads does not queue behind waiting calls */
	int rc = !TAILQ_EMPTY(&c->waiting) && t->nreads ? -EAGAIN : start(c, t);

	if (rc < 0) {
		TAILQ_INSERT_TAIL(&c->waiting, t, link);
		atomic_store_explicit(&c->starved, true, memory_order_relaxed);
	}
	return rc > 0;
}
