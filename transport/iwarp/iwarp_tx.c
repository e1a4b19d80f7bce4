/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: requests in, bytes out.
 *
 * A request is in exactly one place: spare, reads_waiting, queue, ready or batch.done. A thread
 * that moves a request holds the lock of both places. A request leaves batch.done when all of the
 * batch is in the socket; its references are dropped at the same time.
 *
 * A batch is a list of pieces for sendmsg(): FPDU headers and trailers lie in batch.hdr (neighbours
 * are joined into one piece), payload stays in place.
 */
#include "transport/iwarp/iwarp_tx.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/crc32c.h"
#include "transport/iwarp/iwarp_stag.h"

/* --- the batch: all under tx_lock ------------------------------------------------------------- */

static void put_iov(struct iwarp_batch *b, void *p, size_t n)
{
	struct iovec *last = b->n ? &b->iov[b->n - 1] : NULL;

	if (last && (uint8_t *)last->iov_base + last->iov_len == p) {
		last->iov_len += n;
		return;
	}
	assert(b->n < IWARP_BATCH_IOV);
	b->iov[b->n++] = (struct iovec){.iov_base = p, .iov_len = n};
}

/* Payload of the next n bytes of r; returns the CRC with them. */
static uint32_t put_payload(struct iwarp_conn *c, struct iwarp_req *r, uint32_t n, uint32_t crc)
{
	struct iwarp_batch *b = &c->batch;

	if (r->op == DDP_OP_READ_REQ || r->op == DDP_OP_TERMINATE) {
		memcpy(b->hdr + b->hdr_n, r->small, n);
		put_iov(b, b->hdr + b->hdr_n, n);
		if (c->crc)
			crc = crc32c(crc, r->small, n);
		b->hdr_n += n;
		return crc;
	}
	while (n) {
		struct mem_sge *s = &r->sge[r->sge_at];
		uint32_t m = s->len - r->sge_off < n ? s->len - r->sge_off : n;

		if (m) {
			put_iov(b, (uint8_t *)s->addr + r->sge_off, m);
			if (c->crc)
				crc = crc32c(crc, (uint8_t *)s->addr + r->sge_off, m);
		}
		n -= m;
		r->sge_off += m;
		if (r->sge_off == s->len) {
			r->sge_at++;
			r->sge_off = 0;
		}
	}
	return crc;
}

static bool is_tagged(enum ddp_op op)
{
	return op == DDP_OP_WRITE || op == DDP_OP_READ_RESP;
}

static unsigned queue_number(enum ddp_op op)
{
	return op == DDP_OP_READ_REQ	? DDP_QN_READ_REQ
	       : op == DDP_OP_TERMINATE ? DDP_QN_TERMINATE
					: DDP_QN_SEND;
}

/* Builds the next FPDU of r. True: the last one. */
static bool put_fpdu(struct iwarp_conn *c, struct iwarp_req *r) REQUIRES(c->tx_lock)
{
	struct iwarp_batch *b = &c->batch;
	uint8_t *h = b->hdr + b->hdr_n, *t;
	bool tagged = is_tagged(r->op);
	uint32_t hlen = tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	uint32_t n = r->len - r->built, crc = 0;
	bool last = n <= c->mulpdu - hlen;
	unsigned pad, qn = queue_number(r->op);

	if (!last)
		n = c->mulpdu - hlen;
	h[0] = (uint8_t)((hlen + n) >> 8);
	h[1] = (uint8_t)(hlen + n);
	if (tagged)
		ddp_put_tagged(h + 2, r->op, last, r->stag, r->to + r->built);
	else
		ddp_put_untagged(h + 2, r->op, last, r->stag, c->tx_msn[qn], r->built);
	put_iov(b, h, 2 + hlen);
	b->hdr_n += 2 + hlen;
	if (c->crc)
		crc = crc32c(0, h, 2 + hlen);
	if (n)
		crc = put_payload(c, r, n, crc);
	r->built += n;

	t = b->hdr + b->hdr_n;
	pad = mpa_pad(hlen + n);
	memset(t, 0, pad + 4);
	if (c->crc) {
		crc = crc32c(crc, t, pad);
		for (int i = 0; i < 4; i++)
			t[pad + i] = (uint8_t)(crc >> 8 * i);
	}
	put_iov(b, t, pad + 4);
	b->hdr_n += pad + 4;
	if (last) {
		if (!tagged)
			c->tx_msn[qn]++;
		r->end_iov = b->n - 1;
		r->end_ptr = t + pad + 4;
	}
	return last;
}

static void release(struct iwarp_conn *c, struct iwarp_req *r)
{
	for (unsigned i = 0; i < r->nhold; i++)
		mem_buf_unref(r->hold[i]);
	free(r->copy);
	r->copy = NULL;
	r->nhold = 0;
	if (r->op == DDP_OP_READ_RESP)
		atomic_fetch_sub(&c->nresp, 1);
}

/* The batch is through. Returns how many of its requests were of users. */
static unsigned release_done(struct iwarp_conn *c) REQUIRES(c->tx_lock)
{
	struct iwarp_batch *b = &c->batch;
	struct iwarp_req *r;
	size_t bytes = 0;
	unsigned n = 0;

	if (TAILQ_EMPTY(&b->done))
		return 0;
	TAILQ_FOREACH (r, &b->done, link) {
		release(c, r);
		if (r->user && r->op != DDP_OP_READ_REQ) {
			n++;
			bytes += r->cost;
		}
	}
	atomic_fetch_add_explicit(&c->sent, bytes, memory_order_relaxed);
	atomic_fetch_sub_explicit(&c->unsent, bytes, memory_order_relaxed);
	return n;
}

unsigned iwarp_tx_segment(const struct iwarp_conn *c)
{
	int mss = 0;
	socklen_t len = sizeof(mss);

	if (getsockopt(c->fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) || mss <= 0)
		return 1448;
	return mss < IWARP_LOOPBACK_EMSS ? mss : IWARP_LOOPBACK_EMSS;
}

/* Bytes of the next FPDU of r. */
static uint32_t fpdu_size(const struct iwarp_conn *c, const struct iwarp_req *r)
	REQUIRES(c->tx_lock)
{
	uint32_t hlen = is_tagged(r->op) ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	uint32_t n = r->len - r->built;

	if (n > c->mulpdu - hlen)
		n = c->mulpdu - hlen;
	return 2 + hlen + n + mpa_pad(hlen + n) + 4;
}

/* Gives back the requests of the old batch, which is through, and fills the batch anew. False:
 * there is nothing to send.
 *
 * FPDUs are kept within TCP segments (RFC 5044 section 5.1). A batch begins a segment, since the
 * last batch was sent with MSG_EOR. A batch ends before an FPDU that would cross into another
 * segment. */
static bool fill_batch(struct iwarp_conn *c) REQUIRES(c->tx_lock)
{
	struct iwarp_batch *b = &c->batch;
	size_t bytes = 0, segment = 0;
	unsigned ended = release_done(c);
	struct iwarp_req *r;

	b->at = b->n = b->hdr_n = 0;
	mutex_lock(&c->q_lock);
	TAILQ_CONCAT(&c->spare, &b->done, link);
	c->under_way -= ended;
	if (!c->held)
		TAILQ_CONCAT(&c->ready, &c->queue, link);
	mutex_unlock(&c->q_lock);
	r = TAILQ_FIRST(&c->ready);
	if (c->growing && r && r->len - r->built > c->mulpdu) {
		c->emss = iwarp_tx_segment(c);
		c->mulpdu = mpa_mulpdu(c->emss);
		c->growing = c->emss < IWARP_LOOPBACK_EMSS;
	}
	while ((r = TAILQ_FIRST(&c->ready)) &&
		bytes < (r->built ? IWARP_BATCH_MAX : IWARP_BATCH_BYTES) &&
		b->n + PROV_MAX_SGE + 2 <= IWARP_BATCH_IOV &&
		b->hdr_n + 2 + DDP_UNTAGGED_LEN + DDP_TERM_MAX + 8 <= IWARP_BATCH_HDR) {
		uint32_t before = r->built, size = fpdu_size(c, r);

		if (c->aligned && segment + size > c->emss)
			break;
		/* The kernel cuts short segments from a long one, at multiples of emss. */
		segment += size;
		if (segment == c->emss && c->emss < IWARP_LOOPBACK_MSS)
			segment = 0;
		if (put_fpdu(c, r)) {
			TAILQ_REMOVE(&c->ready, r, link);
			TAILQ_INSERT_TAIL(&b->done, r, link);
		}
		bytes += r->built - before;
	}
	return b->n > 0;
}

static void advance(struct iwarp_batch *b, size_t n)
{
	while (n) {
		struct iovec *v = &b->iov[b->at];

		if (n < v->iov_len) {
			v->iov_base = (uint8_t *)v->iov_base + n;
			v->iov_len -= n;
			return;
		}
		n -= v->iov_len;
		b->at++;
	}
}

static void wake_sleeper(struct iwarp_conn *c)
{
	/* pairs with wait(), which sets sleeping, then looks at blocked and tx_dead */
	if (atomic_load(&c->sleeping))
		eventfd_write(c->wake_fd, 1);
}

static void flush_locked(struct iwarp_conn *c) REQUIRES(c->tx_lock)
{
	struct iwarp_batch *b = &c->batch;

	while (!c->tx_error && !atomic_load(&c->tx_yield)) {
		struct msghdr m = {.msg_iov = NULL};
		ssize_t n;

		if (b->at == b->n && !fill_batch(c))
			return;
		m.msg_iov = &b->iov[b->at];
		m.msg_iovlen = b->n - b->at;
		n = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL | (c->aligned ? MSG_EOR : 0));
		if (n >= 0) {
			advance(b, (size_t)n);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			atomic_store(&c->blocked, true);
			wake_sleeper(c);
			return;
		} else if (errno != EINTR) {
			c->tx_error = errno;
			atomic_store(&c->tx_dead, true);
			wake_sleeper(c);
		}
	}
}

void iwarp_tx_flush(struct iwarp_conn *c)
{
	bool again, left;

	do {
		if (atomic_load(&c->blocked) || !mutex_trylock(&c->tx_lock))
			return;
		flush_locked(c);
		left = c->batch.at != c->batch.n || !TAILQ_EMPTY(&c->ready);
		mutex_unlock(&c->tx_lock);
		/* A thread that found the lock taken has left a request here, or has seen that the
		 * socket is free again. Both cases rely on us. */
		mutex_lock(&c->q_lock);
		again = (!TAILQ_EMPTY(&c->queue) && !c->held && !c->closed) ||
			(left && !atomic_load(&c->blocked));
		mutex_unlock(&c->q_lock);
	} while (again && !atomic_load(&c->tx_yield) && !atomic_load(&c->tx_dead));
}

/* Takes tx_lock for the progress thread, without a wait for a long flush: the flush gives up, and
 * the next poll() goes on with it. */
static void lock_tx(struct iwarp_conn *c) ACQUIRE(c->tx_lock)
{
	c->flush_due = true;
	atomic_store(&c->tx_yield, true);
	mutex_lock(&c->tx_lock);
	atomic_store(&c->tx_yield, false);
}

/* --- requests in ------------------------------------------------------------------------------ */

static struct iwarp_req *take_spare_locked(struct iwarp_conn *c) REQUIRES(c->q_lock)
{
	struct iwarp_req *r = TAILQ_FIRST(&c->spare);

	if (!r)
		return NULL;
	TAILQ_REMOVE(&c->spare, r, link);
	r->built = r->sge_at = r->sge_off = 0;
	r->nsge = r->nhold = 0;
	r->stag = r->src_stag = 0;
	r->user = false;
	return r;
}

/* Puts a read on the wire: the ring and the queue have the same order. */
static void start_read_locked(struct iwarp_conn *c, struct iwarp_req *r) REQUIRES(c->q_lock)
{
	unsigned i = (c->reads_at + c->reads_n++) % c->prov.ord;

	c->reads[i] = (struct iwarp_read){.stag = r->sink.stag,
		.addr = r->sink.addr,
		.len = r->sink.len,
		.cookie = r->cookie};
	TAILQ_INSERT_TAIL(&c->queue, r, link);
}

static void fill_read(
	struct iwarp_conn *c, struct iwarp_req *r, const struct prov_wr *wr, uint32_t sink_stag)
{
	struct ddp_read_req q = {.sink_stag = sink_stag,
		.size = wr->sge[0].len,
		.src_stag = wr->remote_stag,
		.src_to = wr->remote_offset};

	r->op = DDP_OP_READ_REQ;
	r->len = DDP_READ_REQ_LEN;
	r->sink = (struct iwarp_door){
		.stag = sink_stag, .addr = wr->sge[0].addr, .len = wr->sge[0].len};
	r->cookie = wr->cookie;
	ddp_put_read_req(r->small, &q);
}

static void fill_payload(struct iwarp_req *r, const struct prov_wr *wr, uint32_t len)
{
	r->op = wr->op == PROV_WRITE	  ? DDP_OP_WRITE
		: wr->op == PROV_SEND_INV ? DDP_OP_SEND_INV
					  : DDP_OP_SEND;
	r->stag = wr->op == PROV_WRITE	    ? wr->remote_stag
		  : wr->op == PROV_SEND_INV ? wr->inv_stag
					    : 0;
	r->to = wr->remote_offset;
	r->len = len;
	r->nsge = wr->nsge;
	memcpy(r->sge, wr->sge, wr->nsge * sizeof(r->sge[0]));
	for (unsigned i = 0; i < wr->nhold; i++)
		r->hold[i] = mem_buf_ref(wr->hold[i]);
	r->nhold = wr->nhold;
	/* a Send's buffer is its own and may be larger than len; several RDMA Writes share one */
	r->cost = len;
	for (unsigned i = 0; wr->op != PROV_WRITE && i < wr->nhold; i++)
		r->cost += wr->hold[i]->size;
}

int iwarp_tx_post(struct iwarp_conn *c, const struct prov_wr *wr)
{
	uint32_t sink = 0;
	uint64_t len = 0;
	struct iwarp_req *r;

	if (wr->nsge > PROV_MAX_SGE || wr->nhold > PROV_MAX_HOLD)
		return -EINVAL;
	for (unsigned i = 0; i < wr->nsge; i++)
		len += wr->sge[i].len;
	if (len > UINT32_MAX)
		return -EINVAL;
	if (wr->op == PROV_READ) {
		if (wr->nsge != 1 || !c->prov.ord)
			return -EINVAL;
		sink = iwarp_stags_random(&c->stags);
	}

	mutex_lock(&c->q_lock);
	if (c->closed || !atomic_load(&c->up) || atomic_load(&c->over)) {
		mutex_unlock(&c->q_lock);
		return -ENOTCONN;
	}
	if (c->under_way >= c->params.send_depth || !(r = take_spare_locked(c))) {
		mutex_unlock(&c->q_lock);
		return -ENOBUFS;
	}
	c->under_way++;
	r->user = true;
	if (wr->op != PROV_READ) {
		fill_payload(r, wr, (uint32_t)len);
		atomic_fetch_add_explicit(&c->unsent, r->cost, memory_order_relaxed);
		TAILQ_INSERT_TAIL(&c->queue, r, link);
	} else {
		fill_read(c, r, wr, sink);
		if (c->reads_n < c->prov.ord)
			start_read_locked(c, r);
		else
			TAILQ_INSERT_TAIL(&c->reads_waiting, r, link);
	}
	mutex_unlock(&c->q_lock);
	if (!(wr->flags & PROV_MORE))
		iwarp_tx_flush(c);
	return 0;
}

bool iwarp_tx_oldest_read(struct iwarp_conn *c, struct iwarp_read *r)
{
	bool any;

	mutex_lock(&c->q_lock);
	any = c->reads_n > 0;
	if (any)
		*r = c->reads[c->reads_at];
	mutex_unlock(&c->q_lock);
	return any;
}

void iwarp_tx_read_got(struct iwarp_conn *c, uint32_t n)
{
	mutex_lock(&c->q_lock);
	c->reads[c->reads_at].got += n;
	mutex_unlock(&c->q_lock);
}

void iwarp_tx_read_done(struct iwarp_conn *c)
{
	struct iwarp_req *r;

	mutex_lock(&c->q_lock);
	c->reads_at = (c->reads_at + 1) % c->prov.ord;
	c->reads_n--;
	c->under_way--;
	r = TAILQ_FIRST(&c->reads_waiting);
	if (r) {
		TAILQ_REMOVE(&c->reads_waiting, r, link);
		start_read_locked(c, r);
		c->flush_due = true;
	}
	mutex_unlock(&c->q_lock);
}

/* --- the peer's reads ------------------------------------------------------------------------- */

/* Is the last byte of r, which is in batch.done, in the socket? */
static bool is_written(const struct iwarp_batch *b, const struct iwarp_req *r)
{
	return b->at > r->end_iov ||
	       (b->at == r->end_iov && (const uint8_t *)b->iov[b->at].iov_base >= r->end_ptr);
}

/* nresp counts answers until their batch is through; the peer may have seen some of the answers. */
static unsigned unwritten_responses(struct iwarp_conn *c)
{
	const struct iwarp_req *r;
	unsigned n;

	lock_tx(c);
	n = atomic_load(&c->nresp);
	TAILQ_FOREACH (r, &c->batch.done, link)
		n -= r->op == DDP_OP_READ_RESP && is_written(&c->batch, r);
	mutex_unlock(&c->tx_lock);
	c->flush_due = true;
	return n;
}

bool iwarp_tx_read_resp(struct iwarp_conn *c, const struct ddp_read_req *q, uint8_t *addr)
{
	struct iwarp_req *r;

	if (atomic_load(&c->nresp) >= c->prov.ird && unwritten_responses(c) >= c->prov.ird)
		return false;
	mutex_lock(&c->q_lock);
	r = take_spare_locked(c);
	if (r) {
		r->op = DDP_OP_READ_RESP;
		r->stag = q->sink_stag;
		r->to = q->sink_to;
		r->len = q->size;
		r->src_stag = q->src_stag;
		r->nsge = 1;
		r->sge[0] = (struct mem_sge){.addr = addr, .len = q->size};
		TAILQ_INSERT_TAIL(&c->queue, r, link);
		atomic_fetch_add(&c->nresp, 1);
		c->flush_due = true;
	}
	mutex_unlock(&c->q_lock);
	return r != NULL;
}

/* Moves r's source, and its pieces in the batch, to a copy. A piece of another request may overlap
 * the source: the batch may keep a piece of the copy only if the copy lives as long as the batch,
 * and only as far as the copy goes. */
static int copy_out(struct iwarp_conn *c, struct iwarp_req *r) REQUIRES(c->tx_lock)
{
	uint8_t *old = r->sge[0].addr, *copy = malloc(r->len);
	struct iwarp_batch *b = &c->batch;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, old, r->len);
	for (unsigned i = b->at; r->built && i < b->n; i++) {
		uint8_t *p = b->iov[i].iov_base;

		if (p >= old && p + b->iov[i].iov_len <= old + r->len)
			b->iov[i].iov_base = copy + (p - old);
	}
	r->sge[0].addr = r->copy = copy;
	r->src_stag = 0;
	return 0;
}

static int copy_out_of(struct iwarp_conn *c, struct iwarp_reqs *list, uint32_t stag)
	REQUIRES(c->tx_lock)
{
	struct iwarp_req *r;

	TAILQ_FOREACH (r, list, link)
		if (r->op == DDP_OP_READ_RESP && r->src_stag == stag && r->len && copy_out(c, r))
			return -ENOMEM;
	return 0;
}

int iwarp_tx_detach(struct iwarp_conn *c, uint32_t stag)
{
	int rc;

	/* Only the progress thread, the caller, adds answers. */
	if (!atomic_load(&c->nresp))
		return 0;
	lock_tx(c);
	mutex_lock(&c->q_lock);
	rc = copy_out_of(c, &c->queue, stag);
	mutex_unlock(&c->q_lock);
	if (!rc)
		rc = copy_out_of(c, &c->ready, stag);
	if (!rc)
		rc = copy_out_of(c, &c->batch.done, stag);
	mutex_unlock(&c->tx_lock);
	iwarp_tx_flush(c);
	return rc;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Leaves a partly built request to the batch, which still sends from that memory. */
static void keep_partly_built(struct iwarp_conn *c) REQUIRES(c->tx_lock)
{
	struct iwarp_batch *b = &c->batch;
	struct iwarp_req *r = TAILQ_FIRST(&c->ready);

	if (!r || !r->built || b->at == b->n)
		return;
	TAILQ_REMOVE(&c->ready, r, link);
	TAILQ_INSERT_TAIL(&b->done, r, link);
	r->end_iov = b->n - 1;
	r->end_ptr = (uint8_t *)b->iov[b->n - 1].iov_base + b->iov[b->n - 1].iov_len;
}

/* All requests outside the batch. */
static void drop_unbuilt_locked(struct iwarp_conn *c, struct iwarp_reqs *dropped)
	REQUIRES(c->tx_lock, c->q_lock)
{
	TAILQ_CONCAT(dropped, &c->ready, link);
	TAILQ_CONCAT(dropped, &c->queue, link);
	TAILQ_CONCAT(dropped, &c->reads_waiting, link);
}

static void release_dropped(struct iwarp_conn *c, struct iwarp_reqs *dropped)
{
	struct iwarp_req *r;

	TAILQ_FOREACH (r, dropped, link)
		release(c, r);
	mutex_lock(&c->q_lock);
	TAILQ_CONCAT(&c->spare, dropped, link);
	mutex_unlock(&c->q_lock);
}

void iwarp_tx_terminate(struct iwarp_conn *c, const struct ddp_term *t)
{
	struct iwarp_reqs dropped = TAILQ_HEAD_INITIALIZER(dropped);
	struct iwarp_req *r;

	lock_tx(c);
	mutex_lock(&c->q_lock);
	c->closed = true;
	c->held = false;
	keep_partly_built(c);
	drop_unbuilt_locked(c, &dropped);
	mutex_unlock(&c->q_lock);
	release_dropped(c, &dropped);
	mutex_lock(&c->q_lock);
	r = take_spare_locked(c);
	mutex_unlock(&c->q_lock);
	if (r) {
		r->op = DDP_OP_TERMINATE;
		r->len = (uint32_t)ddp_put_term(r->small, t);
		TAILQ_INSERT_TAIL(&c->ready, r, link);
		flush_locked(c);
	}
	mutex_unlock(&c->tx_lock);
}

void iwarp_tx_purge(struct iwarp_conn *c)
{
	struct iwarp_reqs dropped = TAILQ_HEAD_INITIALIZER(dropped);

	lock_tx(c);
	mutex_lock(&c->q_lock);
	c->closed = true;
	drop_unbuilt_locked(c, &dropped);
	mutex_unlock(&c->q_lock);
	TAILQ_CONCAT(&dropped, &c->batch.done, link);
	c->batch.at = c->batch.n = 0;
	if (!c->tx_error)
		c->tx_error = ENOTCONN;
	release_dropped(c, &dropped);
	mutex_unlock(&c->tx_lock);
}
