/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_queue: the send queue of a connection.
 *
 * wr_id is the free-running index of the ring entry.
 */
#include "transport/verbs/verbs_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/log.h"
#include "transport/verbs/verbs_mem.h"

static struct verbs_sqe *sqe(struct verbs_conn *v, uint32_t index) REQUIRES(v->lock)
{
	return &v->sq[index % v->sq_size];
}

static void mrs_release(struct verbs_conn *v, struct verbs_sqe *e)
{
	for (unsigned i = 0; i < PROV_MAX_SGE; i++) {
		if (e->mr[i])
			verbs_dereg(v->dom, e->mr[i]);
		e->mr[i] = NULL;
	}
}

void verbs_sqe_release(struct verbs_conn *v, struct verbs_sqe *e) REQUIRES(v->lock)
{
	for (unsigned i = 0; i < e->nhold; i++)
		mem_buf_unref(e->hold[i]);
	e->nhold = 0;
	mrs_release(v, e);
	if (e->bounce)
		v->bounce[v->nbounce++] = e->bounce;
	e->bounce = NULL;
}

static bool is_send(const struct verbs_wr *w)
{
	return w->wr.opcode == IBV_WR_SEND || w->wr.opcode == IBV_WR_SEND_WITH_INV;
}

static size_t wr_bytes(const struct verbs_wr *w)
{
	size_t n = 0;

	for (int i = 0; i < w->wr.num_sge; i++)
		n += w->sge[i].length;
	return n;
}

/* Copies a Send into a bounce buffer. False: none is free. */
static bool bounce_locked(struct verbs_conn *v, struct verbs_wr *w) REQUIRES(v->lock)
{
	uint8_t *to;

	if (!v->nbounce)
		return false;
	w->e.bounce = v->bounce[--v->nbounce];
	to = w->e.bounce->data;
	for (int i = 0; i < w->wr.num_sge; i++) {
		memcpy(to, (void *)(uintptr_t)w->sge[i].addr, w->sge[i].length);
		to += w->sge[i].length;
	}
	w->sge[0] =
		(struct ibv_sge){(uintptr_t)w->e.bounce->data, (uint32_t)(to - w->e.bounce->data),
			((struct ibv_mr *)w->e.bounce->slab->reg)->lkey};
	w->wr.num_sge = 1;
	w->bare = 0;
	return true;
}

/* Registers the bare memory of an RDMA Write or Read, or of a long Send. False: not now. */
static bool register_locked(struct verbs_conn *v, struct verbs_wr *w) REQUIRES(v->lock)
{
	int access = w->wr.opcode != IBV_WR_RDMA_READ ? 0
		     : v->dom->iwarp ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
				     : IBV_ACCESS_LOCAL_WRITE;

	for (int i = 0; i < w->wr.num_sge; i++) {
		struct ibv_sge *s = &w->sge[i];

		if (!(w->bare & 1u << i) || !s->length)
			continue;
		w->e.mr[i] = verbs_reg(v->dom, (void *)(uintptr_t)s->addr, s->length, access);
		if (!w->e.mr[i]) {
			mrs_release(v, &w->e);
			return false;
		}
		s->lkey = w->e.mr[i]->lkey;
	}
	w->bare = 0;
	return true;
}

/* Is all memory of w registered, or in a bounce buffer? If not, `starved` makes poll() try again
 * soon, and wait() wake up in time. */
static bool ready_locked(struct verbs_conn *v, struct verbs_wr *w) REQUIRES(v->lock)
{
	bool ready = !w->bare || (is_send(w) && wr_bytes(w) <= VERBS_BOUNCE && v->bounces
						 ? bounce_locked(v, w)
						 : register_locked(v, w));
	uint64_t one = 1;

	if (atomic_exchange_explicit(&v->starved, !ready, memory_order_relaxed) || ready)
		return ready;
	if (write(v->wake_fd, &one, sizeof(one)) < 0)
		log_ctrl("%s: wake-up: %s", v->name, strerror(errno));
	return false;
}

static int post_chain_locked(struct verbs_conn *v) REQUIRES(v->lock)
{
	struct ibv_send_wr *bad;
	unsigned n = v->nchain;
	int ret;

	if (n == 0)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		struct verbs_wr *w = &v->chain[i];

		w->wr.sg_list = w->sge;
		w->wr.next = i + 1 < n ? &v->chain[i + 1].wr : NULL;
	}
	v->nchain = 0;
	ret = ibv_post_send(v->id->qp, &v->chain[0].wr, &bad);
	for (unsigned i = 0; i < n; i++)
		if (v->chain[i].wr.opcode == IBV_WR_BIND_MW)
			v->chain[i].wr.bind_mw.mw->rkey = v->chain[i].wr.bind_mw.rkey;
	if (!ret)
		return 0;
	/* A refused request stays in the ring, and the end of the connection releases both. */
	log_warn("%s: ibv_post_send: %s: closing the connection", v->name, strerror(ret));
	atomic_store_explicit(&v->disconnect, true, memory_order_relaxed);
	return -ENOTCONN;
}

/* Does e hold registered memory that the next request may need? */
static bool is_scarce(const struct verbs_conn *v, const struct verbs_sqe *e) REQUIRES(v->lock)
{
	for (unsigned i = 0; i < PROV_MAX_SGE; i++)
		if (e->mr[i])
			return true;
	return e->bounce && v->nbounce <= v->bounces / 2;
}

static bool wants_completion(struct verbs_conn *v, const struct verbs_sqe *e) REQUIRES(v->lock)
{
	v->since_signal++;
	for (unsigned i = 0; i < e->nhold; i++)
		v->held_since_signal += e->hold[i]->size;
	if (e->kind != VERBS_READ && e->kind != VERBS_INVALIDATE_LAST && !is_scarce(v, e) &&
		v->since_signal < VERBS_SIGNAL_WRS && v->held_since_signal < VERBS_SIGNAL_HELD)
		return false;
	v->since_signal = 0;
	v->held_since_signal = 0;
	return true;
}

static void enter_locked(struct verbs_conn *v, const struct verbs_wr *w) REQUIRES(v->lock)
{
	struct verbs_wr *slot = &v->chain[v->nchain++];

	*slot = *w;
	*sqe(v, v->sq_head) = w->e;
	slot->wr.wr_id = v->sq_head++;
	if (wants_completion(v, &w->e))
		slot->wr.send_flags |= IBV_SEND_SIGNALED;
}

static bool room_locked(const struct verbs_conn *v) REQUIRES(v->lock)
{
	return v->sq_head - v->sq_tail < v->sq_size;
}

int verbs_queue_locked(struct verbs_conn *v, struct verbs_wr *w, bool more) REQUIRES(v->lock)
{
	if (v->down)
		return -ENOTCONN;
	if (!STAILQ_EMPTY(&v->pending) || !room_locked(v) || !ready_locked(v, w)) {
		struct verbs_wr *copy = malloc(sizeof(*copy));

		if (!copy)
			return -ENOMEM;
		*copy = *w;
		STAILQ_INSERT_TAIL(&v->pending, copy, link);
		return post_chain_locked(v);
	}
	enter_locked(v, w);
	if (more && v->nchain < VERBS_CHAIN)
		return 0;
	return post_chain_locked(v);
}

void verbs_post_pending_locked(struct verbs_conn *v) REQUIRES(v->lock)
{
	struct verbs_wr *w;

	while (room_locked(v) && (w = STAILQ_FIRST(&v->pending)) && ready_locked(v, w)) {
		STAILQ_REMOVE_HEAD(&v->pending, link);
		if (v->nchain == VERBS_CHAIN)
			post_chain_locked(v);
		enter_locked(v, w);
		free(w);
	}
	post_chain_locked(v);
}

void verbs_release_all(struct verbs_conn *v) REQUIRES(v->lock)
{
	struct verbs_wr *w;

	while ((w = STAILQ_FIRST(&v->pending))) {
		STAILQ_REMOVE_HEAD(&v->pending, link);
		verbs_sqe_release(v, &w->e);
		free(w);
	}
	for (; v->sq_tail != v->sq_head; v->sq_tail++)
		verbs_sqe_release(v, sqe(v, v->sq_tail));
}

int verbs_retire(struct verbs_conn *v, uint32_t index, struct prov_wc *out)
{
	enum verbs_kind kind;
	int n = 0;

	mutex_lock(&v->lock);
	kind = sqe(v, index)->kind;
	if (kind == VERBS_READ || kind == VERBS_INVALIDATE_LAST) {
		*out = (struct prov_wc){
			.op = kind == VERBS_READ ? PROV_WC_READ : PROV_WC_WITHDRAWN,
			.cookie = sqe(v, index)->cookie,
		};
		n = 1;
	}
	for (; v->sq_tail != index + 1; v->sq_tail++)
		verbs_sqe_release(v, sqe(v, v->sq_tail));
	verbs_post_pending_locked(v);
	mutex_unlock(&v->lock);
	return n;
}
