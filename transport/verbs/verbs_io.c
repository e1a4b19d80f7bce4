/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_io: posting and completions of the verbs provider.
 *
 * wr_id is the free-running index of the ring entry for send-queue requests, and the caller's
 * cookie for receives; the opcode of a failed completion is never looked at, for any failure ends
 * the connection.
 */
#include "transport/verbs/verbs_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/log.h"

/* --- send queue, under conn->lock ------------------------------------------------------------- */

static struct verbs_sqe *sqe(struct verbs_conn *v, uint32_t index)
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

static void sqe_release(struct verbs_conn *v, struct verbs_sqe *e)
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
static bool bounce_locked(struct verbs_conn *v, struct verbs_wr *w)
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
static bool register_locked(struct verbs_conn *v, struct verbs_wr *w)
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
static bool ready_locked(struct verbs_conn *v, struct verbs_wr *w)
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

static int post_chain_locked(struct verbs_conn *v)
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
static bool is_scarce(const struct verbs_conn *v, const struct verbs_sqe *e)
{
	for (unsigned i = 0; i < PROV_MAX_SGE; i++)
		if (e->mr[i])
			return true;
	return e->bounce && v->nbounce <= v->bounces / 2;
}

static bool wants_completion(struct verbs_conn *v, const struct verbs_sqe *e)
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

static void enter_locked(struct verbs_conn *v, const struct verbs_wr *w)
{
	struct verbs_wr *slot = &v->chain[v->nchain++];

	*slot = *w;
	*sqe(v, v->sq_head) = w->e;
	slot->wr.wr_id = v->sq_head++;
	if (wants_completion(v, &w->e))
		slot->wr.send_flags |= IBV_SEND_SIGNALED;
}

static bool room_locked(const struct verbs_conn *v)
{
	return v->sq_head - v->sq_tail < v->sq_size;
}

int verbs_queue_locked(struct verbs_conn *v, struct verbs_wr *w, bool more)
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

static void post_pending_locked(struct verbs_conn *v)
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

void verbs_release_all(struct verbs_conn *v)
{
	struct verbs_wr *w;

	while ((w = STAILQ_FIRST(&v->pending))) {
		STAILQ_REMOVE_HEAD(&v->pending, link);
		sqe_release(v, &w->e);
		free(w);
	}
	for (; v->sq_tail != v->sq_head; v->sq_tail++)
		sqe_release(v, sqe(v, v->sq_tail));
}

/* --- posting ---------------------------------------------------------------------------------- */

static int fill_sges(struct verbs_wr *w, const struct prov_wr *wr)
{
	for (unsigned i = 0; i < wr->nsge; i++) {
		const struct mem_sge *s = &wr->sge[i];
		bool bare = s->slab && !s->slab->reg;

		if (!s->slab)
			return -EINVAL;
		w->bare |= (unsigned)bare << i;
		w->sge[i] = (struct ibv_sge){(uintptr_t)s->addr, s->len, bare ? 0 : verbs_lkey(s)};
	}
	w->wr.num_sge = wr->nsge;
	return 0;
}

static int fill_op(struct verbs_conn *v, struct verbs_wr *w, const struct prov_wr *wr)
{
	w->wr.wr.rdma.remote_addr = wr->remote_offset;
	w->wr.wr.rdma.rkey = wr->remote_stag;
	switch (wr->op) {
	case PROV_SEND:
		w->wr.opcode = IBV_WR_SEND;
		return 0;
	case PROV_SEND_INV:
		w->wr.opcode = IBV_WR_SEND_WITH_INV;
		w->wr.invalidate_rkey = wr->inv_stag;
		return 0;
	case PROV_WRITE:
		w->wr.opcode = IBV_WR_RDMA_WRITE;
		return 0;
	case PROV_READ:
		if (wr->nsge != 1)
			return -EINVAL;
		w->wr.opcode = IBV_WR_RDMA_READ;
		w->e.kind = VERBS_READ;
		w->e.cookie = wr->cookie;
		/* On iWARP the peer sees the STag of the sink. So the sink gets its own STag for
		 * the duration of the read. */
		w->bare |= v->dom->iwarp;
		return 0;
	}
	return -EINVAL;
}

int verbs_post(struct prov_conn *pc, const struct prov_wr *wr)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	struct verbs_wr w = {.e.kind = VERBS_HOLD};
	int ret;

	if (wr->nsge > PROV_MAX_SGE || wr->nhold > PROV_MAX_HOLD)
		return -EINVAL;
	ret = fill_sges(&w, wr);
	if (!ret)
		ret = fill_op(v, &w, wr);
	if (ret)
		return ret;
	w.e.nhold = wr->nhold;
	for (unsigned i = 0; i < wr->nhold; i++)
		w.e.hold[i] = mem_buf_ref(wr->hold[i]);
	pthread_mutex_lock(&v->lock);
	/* A chain that the device refused is in the ring, which then owns the entry: no release
	 * here. */
	ret = verbs_queue_locked(v, &w, wr->flags & PROV_MORE);
	if (ret == -ENOMEM || (ret && v->down))
		sqe_release(v, &w.e);
	pthread_mutex_unlock(&v->lock);
	return ret;
}

int verbs_post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	struct ibv_recv_wr wr = {.wr_id = cookie, .num_sge = 1}, *bad;
	struct ibv_sge s;
	int ret;

	if (!sge->slab || !sge->slab->reg)
		return -EINVAL;
	s = (struct ibv_sge){(uintptr_t)sge->addr, sge->len, verbs_lkey(sge)};
	wr.sg_list = &s;
	pthread_mutex_lock(&v->lock);
	ret = v->down ? ENOTCONN : ibv_post_recv(v->id->qp, &wr, &bad);
	pthread_mutex_unlock(&v->lock);
	return ret == ENOMEM ? -ENOBUFS : -ret;
}

/* --- completions, progress thread ------------------------------------------------------------- */

/* Retires the ring up to and including the entry of a signalled completion. A read, or the last
 * invalidation of a withdraw(), is always signalled, so such an entry is always the last. */
static int retire(struct verbs_conn *v, uint32_t index, struct prov_wc *out)
{
	enum verbs_kind kind;
	int n = 0;

	pthread_mutex_lock(&v->lock);
	kind = sqe(v, index)->kind;
	if (kind == VERBS_READ || kind == VERBS_INVALIDATE_LAST) {
		*out = (struct prov_wc){
			.op = kind == VERBS_READ ? PROV_WC_READ : PROV_WC_WITHDRAWN,
			.cookie = sqe(v, index)->cookie,
		};
		n = 1;
	}
	for (; v->sq_tail != index + 1; v->sq_tail++)
		sqe_release(v, sqe(v, v->sq_tail));
	post_pending_locked(v);
	pthread_mutex_unlock(&v->lock);
	return n;
}

static int translate(struct verbs_conn *v, const struct ibv_wc *wc, struct prov_wc *out)
{
	if (wc->status != IBV_WC_SUCCESS) {
		verbs_down(v, "%s: %s", v->name,
			wc->status == IBV_WC_WR_FLUSH_ERR ? "the connection was closed"
							  : ibv_wc_status_str(wc->status));
		return 0;
	}
	if (!(wc->opcode & IBV_WC_RECV))
		return retire(v, wc->wr_id, out);
	*out = (struct prov_wc){
		.op = PROV_WC_RECV,
		.cookie = wc->wr_id,
		.len = wc->byte_len,
		.invalidated = wc->wc_flags & IBV_WC_WITH_INV,
		.inv_stag = wc->wc_flags & IBV_WC_WITH_INV ? wc->invalidated_rkey : 0,
	};
	return 1;
}

static bool stash_fill(struct verbs_conn *v)
{
	if (v->stash_next < v->nstash)
		return true;
	v->stash_next = 0;
	v->nstash = v->down ? 0 : ibv_poll_cq(v->cq, VERBS_STASH, v->stash);
	if (v->nstash < 0) {
		v->nstash = 0;
		verbs_down(v, "%s: the completion queue failed", v->name);
	}
	return v->nstash > 0;
}

int verbs_poll(struct prov_conn *pc, struct prov_wc *wc, int n)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	int got = 0;

	while (!v->down && got < n && stash_fill(v))
		got += translate(v, &v->stash[v->stash_next++], &wc[got]);
	if (atomic_load_explicit(&v->starved, memory_order_relaxed) && !v->down) {
		pthread_mutex_lock(&v->lock);
		post_pending_locked(v);
		pthread_mutex_unlock(&v->lock);
	}
	if (v->cm_ready && !v->down) {
		v->cm_ready = false;
		verbs_cm_event(v);
	}
	if (got == 0 && atomic_load_explicit(&v->disconnect, memory_order_relaxed))
		verbs_down(v, "%s: disconnected", v->name);
	if (got < n && v->down && !v->down_told) {
		v->down_told = true;
		wc[got++] = (struct prov_wc){.op = PROV_WC_DOWN};
	}
	return got;
}

static void take_comp_event(struct verbs_conn *v)
{
	struct ibv_cq *cq;
	void *ctx;

	if (ibv_get_cq_event(v->comp, &cq, &ctx))
		return;
	if (++v->events_unacked == 64) {
		ibv_ack_cq_events(v->cq, v->events_unacked);
		v->events_unacked = 0;
	}
}

void verbs_wait(struct prov_conn *pc, int kick_fd, int timeout_ms)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	struct pollfd fds[] = {
		{.fd = v->comp->fd, .events = POLLIN},
		{.fd = v->channel->fd, .events = POLLIN},
		{.fd = v->wake_fd, .events = POLLIN},
		{.fd = kick_fd, .events = POLLIN},
	};
	uint64_t count;

	if (v->down || ibv_req_notify_cq(v->cq, 0))
		return;
	/* A completion before the request to notify raises no event. */
	if (stash_fill(v))
		return;
	if (atomic_load_explicit(&v->starved, memory_order_relaxed) &&
		(timeout_ms < 0 || timeout_ms > VERBS_STARVED_MS))
		timeout_ms = VERBS_STARVED_MS;
	if (poll(fds, 4, timeout_ms) <= 0)
		return;
	if (fds[0].revents)
		take_comp_event(v);
	v->cm_ready = fds[1].revents;
	if (fds[2].revents && read(v->wake_fd, &count, sizeof(count)) < 0)
		return;
}
