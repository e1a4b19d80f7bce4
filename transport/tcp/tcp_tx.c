/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_tx: the sending half of an RPC connection over TCP.
 */
#include "transport/tcp/tcp_tx.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_IOV   512 /* of one sendmsg(); the kernel takes 1024 */
#define LAST_RECORD 0x80000000u

static const uint8_t zeros[4];

void tcp_tx_init(struct tcp_tx *tx, int fd, struct mem_pool *pool, char *reason, size_t reason_size)
{
	memset(tx, 0, sizeof(*tx));
	mutex_init(&tx->lock);
	tx->fd = fd;
	tx->pool = pool;
	tx->reason = reason;
	tx->reason_size = reason_size;
	pthread_cond_init(&tx->idle, NULL);
	TAILQ_INIT(&tx->queue);
	TAILQ_INIT(&tx->spare);
}

void tcp_tx_fini(struct tcp_tx *tx)
{
	struct tcp_out *o;

	mutex_destroy(&tx->lock);
	while ((o = TAILQ_FIRST(&tx->spare))) {
		TAILQ_REMOVE(&tx->spare, o, link);
		free(o);
	}
	pthread_cond_destroy(&tx->idle);
}

/* --- building --------------------------------------------------------------------------------- */

static void out_add(struct tcp_out *o, const void *p, size_t n)
{
	if (n)
		o->iov[o->niov++] = (struct iovec){.iov_base = (void *)p, .iov_len = n};
}

static void out_add_list(struct tcp_out *o, const struct seg_list *l)
{
	o->niov += seg_iter_iov(seg_iter_of(l), o->iov + o->niov, l->n);
}

/* Room for the iovecs of body. 0 or -ENOMEM. */
static int out_reserve(struct tcp_out *o, const struct xdr_out *body)
{
	size_t n = TCP_OUT_IOV;

	for (unsigned i = 0; i < body->npayloads; i++)
		n += body->payload[i].data.n - 1;
	o->iov = n > TCP_OUT_IOV ? malloc(n * sizeof(*o->iov)) : o->few;
	return o->iov ? 0 : -ENOMEM;
}

static void out_free(struct tcp_out *o)
{
	if (o->iov != o->few)
		free(o->iov);
	free(o);
}

/* Builds the record of the message that begins at msg + off: mark, header, and body with the
 * payloads spliced in (RFC 5531 section 11; the mark goes into the headroom). */
static void out_build(struct tcp_out *o, uint8_t *msg, uint32_t off, const struct xdr_out *body)
{
	uint32_t mark = htobe32(LAST_RECORD | (uint32_t)(RPC_HEADROOM - off + xdr_out_total(body)));
	const uint8_t *from = msg + off - 4;

	memcpy(msg + off - 4, &mark, 4);
	o->niov = 0;
	for (unsigned i = 0; i < body->npayloads; i++) {
		const struct xdr_payload *p = &body->payload[i];

		out_add(o, from, body->base + p->pos - from);
		out_add_list(o, &p->data);
		out_add(o, zeros, xdr_pad(p->data.len));
		from = body->base + p->pos;
	}
	out_add(o, from, body->base + body->len - from);
}

static struct tcp_out *out_get_locked(struct tcp_tx *tx, const struct xdr_out *body)
	REQUIRES(tx->lock)
{
	struct tcp_out *o = TAILQ_FIRST(&tx->spare);

	if (o)
		TAILQ_REMOVE(&tx->spare, o, link);
	else
		o = malloc(sizeof(*o));
	if (!o)
		return NULL;
	memset(o, 0, offsetof(struct tcp_out, iov));
	if (out_reserve(o, body) == 0)
		return o;
	free(o);
	return NULL;
}

/* Bytes of memory that req keeps until the reply is sent. */
static size_t req_size(const struct rpc_req *req)
{
	size_t n = sizeof(*req) + sizeof(struct tcp_out) + req->msg->size + req->call_msg->size;

	for (unsigned i = 0; i < req->nhold; i++)
		n += seg_list_kept(&req->hold[i]);
	return n;
}

static size_t owed_max(const struct tcp_tx *tx)
{
	return tx->pool ? mem_pool_share(tx->pool, TCP_TX_OWED_MAX) : TCP_TX_OWED_MAX;
}

static void owe_locked(struct tcp_tx *tx, size_t more, size_t less) REQUIRES(tx->lock)
{
	atomic_store_explicit(&tx->owed, tx->owed + more - less, memory_order_relaxed);
}

static int out_append(struct tcp_tx *tx, struct rpc_call *call, struct rpc_req *req, uint32_t off)
{
	struct tcp_out *o;
	int rc = 0;

	mutex_lock(&tx->lock);
	o = tx->down ? NULL : out_get_locked(tx, call ? &call->args : &req->res);
	if (!o) {
		rc = tx->down ? -ENOTCONN : -ENOMEM;
	} else if (call) {
		o->call = call;
		out_build(o, call->msg->data, off, &call->args);
		atomic_store_explicit(&call->xprt_priv, o, memory_order_relaxed);
		/* release: a thread that sees `posted` sees xprt_priv */
		atomic_store_explicit(&call->posted, true, memory_order_release);
	} else {
		o->req = req;
		o->owed = req_size(req);
		owe_locked(tx, o->owed, 0);
		out_build(o, req->msg->data, off, &req->res);
	}
	if (o) {
		TAILQ_INSERT_TAIL(&tx->queue, o, link);
		tx->queued++;
	}
	mutex_unlock(&tx->lock);
	return rc;
}

int tcp_tx_call(struct tcp_tx *tx, struct rpc_call *call, uint32_t off)
{
	return out_append(tx, call, NULL, off);
}

int tcp_tx_reply(struct tcp_tx *tx, struct rpc_req *req, uint32_t off)
{
	return out_append(tx, NULL, req, off);
}

/* --- sending ---------------------------------------------------------------------------------- */

void tcp_tx_shut_locked(struct tcp_tx *tx, const char *reason) REQUIRES(tx->lock)
{
	if (tx->down)
		return;
	tx->down = true;
	snprintf(tx->reason, tx->reason_size, "%s", reason);
	shutdown(tx->fd, SHUT_RDWR);
}

/* Ends an entry that has left the queue. An entry goes onto done if the rest must happen without
 * the lock. */
static void out_end_locked(struct tcp_tx *tx, struct tcp_out *o, struct tcp_out_list *done)
	REQUIRES(tx->lock)
{
	tx->queued--;
	owe_locked(tx, 0, o->owed);
	if (o->call) {
		/* release: the progress thread may end the call from here on */
		atomic_store_explicit(&o->call->xprt_priv, NULL, memory_order_release);
		o->call = NULL;
	}
	if (o->req || o->kept || o->copy || o->iov != o->few)
		TAILQ_INSERT_TAIL(done, o, link);
	else
		TAILQ_INSERT_HEAD(&tx->spare, o, link);
}

/* Requests hold the connection: the last release may free tx, unless the caller holds the
 * connection. */
static void outs_release(struct tcp_out_list *done)
{
	struct tcp_out *o;

	while ((o = TAILQ_FIRST(done))) {
		TAILQ_REMOVE(done, o, link);
		if (o->req)
			rpc_req_free(o->req);
		mem_buf_unref(o->kept);
		free(o->copy);
		out_free(o);
	}
}

/* Gathers the iovecs for one sendmsg(). Of a record with too many, only a part. */
static unsigned tx_gather_locked(struct tcp_tx *tx, struct iovec *iov, size_t *total)
	REQUIRES(tx->lock)
{
	struct tcp_out *o;
	unsigned n = 0;

	*total = 0;
	TAILQ_FOREACH (o, &tx->queue, link) {
		if (n == BATCH_IOV)
			break;
		o->started = true;
		for (unsigned i = o->at; i < o->niov && n < BATCH_IOV; i++) {
			iov[n++] = o->iov[i];
			*total += o->iov[i].iov_len;
		}
	}
	return n;
}

/* The kernel has taken n bytes. */
static void tx_advance_locked(struct tcp_tx *tx, size_t n, struct tcp_out_list *done)
	REQUIRES(tx->lock)
{
	struct tcp_out *o;

	while ((o = TAILQ_FIRST(&tx->queue))) {
		while (o->at < o->niov && n >= o->iov[o->at].iov_len)
			n -= o->iov[o->at++].iov_len;
		if (o->at < o->niov) {
			o->iov[o->at].iov_base = (uint8_t *)o->iov[o->at].iov_base + n;
			o->iov[o->at].iov_len -= n;
			return;
		}
		TAILQ_REMOVE(&tx->queue, o, link);
		out_end_locked(tx, o, done);
		if (n == 0)
			return;
	}
}

int tcp_tx_flush(struct tcp_tx *tx, bool writable)
{
	struct tcp_out_list done = TAILQ_HEAD_INITIALIZER(done);
	struct iovec iov[BATCH_IOV];
	size_t total;
	ssize_t n;
	char why[128];
	int rc = 0;

	mutex_lock(&tx->lock);
	if (tx->sending || tx->down || (tx->full && !writable)) {
		mutex_unlock(&tx->lock);
		return 0;
	}
	tx->sending = true;
	atomic_store_explicit(&tx->full, false, memory_order_relaxed);
	while (!tx->down && !TAILQ_EMPTY(&tx->queue)) {
		struct msghdr m = {.msg_iov = iov};

		m.msg_iovlen = tx_gather_locked(tx, iov, &total);
		mutex_unlock(&tx->lock);
		n = sendmsg(tx->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			snprintf(why, sizeof(why), "sending: %s", strerror(errno));
		else
			why[0] = 0;
		mutex_lock(&tx->lock);
		if (why[0]) {
			tcp_tx_shut_locked(tx, why);
			break;
		}
		if (n > 0) {
			atomic_fetch_add_explicit(&tx->sent, (uint64_t)n, memory_order_relaxed);
			tx_advance_locked(tx, n, &done);
		}
		if (n < (ssize_t)total && !tx->down) {
			atomic_store_explicit(&tx->full, true, memory_order_relaxed);
			rc = 1;
			break;
		}
	}
	tx->sending = false;
	if (tx->waiting && tx->owed <= owed_max(tx)) {
		tx->waiting = false;
		rc = 1;
	}
	pthread_cond_broadcast(&tx->idle);
	mutex_unlock(&tx->lock);
	outs_release(&done);
	return rc;
}

bool tcp_tx_owes(struct tcp_tx *tx)
{
	size_t max = owed_max(tx);
	bool owes;

	if (atomic_load_explicit(&tx->owed, memory_order_relaxed) <= max)
		return false;
	mutex_lock(&tx->lock);
	owes = tx->owed > max;
	tx->waiting = owes;
	mutex_unlock(&tx->lock);
	return owes;
}

unsigned tcp_tx_queued(struct tcp_tx *tx)
{
	unsigned n;

	mutex_lock(&tx->lock);
	n = tx->queued;
	mutex_unlock(&tx->lock);
	return n;
}

/* --- taking back ------------------------------------------------------------------------------ */

/* Moves the rest of a half-sent call into private memory: the stream must go on. */
static int out_detach(struct tcp_out *o)
{
	const uint8_t *msg = o->call->msg->data;
	uint32_t size = o->call->msg->size;
	size_t n = 0;
	uint8_t *p;

	for (unsigned i = o->at; i < o->niov; i++)
		n += o->iov[i].iov_len;
	p = o->copy = malloc(n);
	if (!p)
		return -ENOMEM;
	for (unsigned i = o->at; i < o->niov; i++) {
		const uint8_t *from = o->iov[i].iov_base;

		if (from >= msg && from < msg + size)
			continue; /* stays where it is: the message buffer is referenced */
		memcpy(p, from, o->iov[i].iov_len);
		o->iov[i].iov_base = p;
		p += o->iov[i].iov_len;
	}
	o->kept = mem_buf_ref(o->call->msg);
	return 0;
}

bool tcp_tx_forget(struct tcp_tx *tx, struct rpc_call *call)
{
	struct tcp_out *o, *unstarted = NULL;

	mutex_lock(&tx->lock);
	/* a thread in sendmsg() may be reading the call's memory; sendmsg() never blocks here */
	while (tx->sending && atomic_load_explicit(&call->xprt_priv, memory_order_acquire))
		cond_wait(&tx->idle, &tx->lock);
	o = call->xprt_priv;
	if (o) {
		if (!o->started) {
			TAILQ_REMOVE(&tx->queue, o, link);
			tx->queued--;
			unstarted = o;
		} else if (out_detach(o) < 0) {
			tcp_tx_shut_locked(tx, "out of memory for the rest of a cancelled call");
			o->niov = o->at;
		}
		o->call = NULL;
		atomic_store_explicit(&call->xprt_priv, NULL, memory_order_release);
	}
	mutex_unlock(&tx->lock);
	if (unstarted)
		out_free(unstarted);
	return !unstarted;
}

void tcp_tx_shut(struct tcp_tx *tx, const char *reason)
{
	mutex_lock(&tx->lock);
	tcp_tx_shut_locked(tx, reason);
	mutex_unlock(&tx->lock);
}

void tcp_tx_purge(struct tcp_tx *tx)
{
	struct tcp_out_list done = TAILQ_HEAD_INITIALIZER(done);
	struct tcp_out *o;

	mutex_lock(&tx->lock);
	while (tx->sending)
		cond_wait(&tx->idle, &tx->lock);
	while ((o = TAILQ_FIRST(&tx->queue))) {
		TAILQ_REMOVE(&tx->queue, o, link);
		out_end_locked(tx, o, &done);
	}
	mutex_unlock(&tx->lock);
	outs_release(&done);
}
