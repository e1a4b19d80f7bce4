/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_io: posting and completions of the verbs provider.
 *
 * wr_id is the index of the ring entry for send-queue requests (verbs_queue.c), and the caller's
 * cookie for receives. The opcode of a failed completion is never looked at: any failure ends
 * the connection.
 */
#include "transport/verbs/verbs_io.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "transport/verbs/verbs_end.h"
#include "transport/verbs/verbs_mem.h"
#include "transport/verbs/verbs_queue.h"

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
	mutex_lock(&v->lock);
	/* A chain that the device refused is in the ring, which then owns the entry: no release
	 * here. */
	ret = verbs_queue_locked(v, &w, wr->flags & PROV_MORE);
	if (ret == -ENOMEM || (ret && v->down))
		verbs_sqe_release(v, &w.e);
	mutex_unlock(&v->lock);
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
	mutex_lock(&v->lock);
	ret = v->down ? ENOTCONN : ibv_post_recv(v->id->qp, &wr, &bad);
	mutex_unlock(&v->lock);
	return ret == ENOMEM ? -ENOBUFS : -ret;
}

/* --- completions, progress thread ------------------------------------------------------------- */

static int translate(struct verbs_conn *v, const struct ibv_wc *wc, struct prov_wc *out)
{
	if (wc->status != IBV_WC_SUCCESS) {
		verbs_down(v, "%s: %s", v->name,
			wc->status == IBV_WC_WR_FLUSH_ERR ? "the connection was closed"
							  : ibv_wc_status_str(wc->status));
		return 0;
	}
	if (!(wc->opcode & IBV_WC_RECV))
		return verbs_retire(v, wc->wr_id, out);
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
	v->nstash = verbs_is_down(v) ? 0 : ibv_poll_cq(v->cq, VERBS_STASH, v->stash);
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

	while (!verbs_is_down(v) && got < n && stash_fill(v))
		got += translate(v, &v->stash[v->stash_next++], &wc[got]);
	if (atomic_load_explicit(&v->starved, memory_order_relaxed) && !verbs_is_down(v)) {
		mutex_lock(&v->lock);
		verbs_post_pending_locked(v);
		mutex_unlock(&v->lock);
	}
	if (v->cm_ready && !verbs_is_down(v)) {
		v->cm_ready = false;
		verbs_cm_event(v);
	}
	if (got == 0 && atomic_load_explicit(&v->disconnect, memory_order_relaxed))
		verbs_down(v, "%s: disconnected", v->name);
	if (got < n && verbs_is_down(v) && !v->down_told) {
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

	if (verbs_is_down(v) || ibv_req_notify_cq(v->cq, 0))
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
