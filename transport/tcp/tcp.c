/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp: RPC over a TCP socket with record marking (RFC 5531 section 11), both roles.
 *
 * tcp_tx sends from any thread, tcp_rx receives on the progress thread; this file is the socket
 * between both. While the progress thread hands over received records, the thread is "corked":
 * upcalls only queue messages, which leave together when the batch ends (or, in a long batch, after
 * CORK_NS). So a busy connection needs less than one system call per message.
 *
 * The kernel chooses the sizes of the socket buffers. SO_SNDBUF or SO_RCVBUF would turn the
 * kernel's autotuning off, and cap the buffers at a fraction of the autotuned size.
 */
#include "transport/tcp/tcp_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"

#define READS_PER_ROUND 16
#define CORK_NS		UINT64_C(50000)
#define CORK_MAX	32
#define SLOW_NS		UINT64_C(100000) /* a service that takes longer is not corked ... */
#define SLOW_REQS	64		 /* ... for so many requests */
#define BIG_SINK	(16u << 10)	 /* replies with larger payload are read into place */
#define MAX_REQS	1024		 /* requests under way; above, the peer has to wait */

/* --- sending, any thread ---------------------------------------------------------------------- */

/* Is the calling thread handing over a batch? */
static bool is_corked(struct tcp_conn *t)
{
	/* relaxed: only the calling thread itself stores its own id */
	return pthread_equal(
		atomic_load_explicit(&t->corker, memory_order_relaxed), pthread_self());
}

/* Sends the queue, now or at the end of this thread's batch. */
static void tcp_push(struct tcp_conn *t)
{
	bool corked = is_corked(t);

	if (corked) {
		uint64_t now = clock_ns();

		if (!t->cork_since)
			t->cork_since = now;
		if (!t->slow && tcp_rx_more(&t->rx) && clock_age(now, t->cork_since) < CORK_NS &&
			tcp_tx_queued(&t->tx) < CORK_MAX)
			return;
		t->cork_since = 0;
	}
	if (tcp_tx_flush(&t->tx, false) && !corked)
		rpc_xprt_kick(&t->x);
}

static bool call_is_big(const struct rpc_call *call)
{
	return call->nsinks && call->peek && call->sink[0].len >= BIG_SINK;
}

static int tcp_send_call(struct rpc_xprt *x, struct rpc_call *call, uint32_t off)
{
	struct tcp_conn *t = tcp_conn_of(x);
	bool big = call_is_big(call);
	uint64_t exposed = 0;
	int rc;

	for (unsigned i = 0; i < call->args.npayloads; i++)
		exposed += call->args.payload[i].data.len;
	if (big)
		atomic_fetch_add_explicit(&t->big_sinks, 1, memory_order_relaxed);
	rc = tcp_tx_call(&t->tx, call, off);
	if (rc < 0) {
		if (big)
			atomic_fetch_sub_explicit(&t->big_sinks, 1, memory_order_relaxed);
		if (rc == -ENOMEM)
			tcp_tx_shut(&t->tx, "out of memory for sending");
		return -ENOTCONN;
	}
	if (exposed)
		rpc_count(&x->stats->bytes_exposed, exposed);
	tcp_push(t);
	return 0;
}

static void tcp_req_end(struct tcp_conn *t)
{
	if (atomic_fetch_sub_explicit(&t->nreqs, 1, memory_order_relaxed) == MAX_REQS)
		rpc_xprt_kick(&t->x);
}

static void tcp_drop(struct rpc_xprt *x, struct rpc_req *req)
{
	tcp_req_end(tcp_conn_of(x));
	rpc_req_free(req);
}

/* A server reads no more calls until the client has read replies. A client must go on reading,
 * because replies to the client's calls come the same way. So a server that calls back and does not
 * read the answers loses the connection. */
static void tcp_send_reply(struct rpc_xprt *x, struct rpc_req *req, uint32_t off)
{
	struct tcp_conn *t = tcp_conn_of(x);

	rpc_xprt_ref(x); /* req's own reference goes with it */
	tcp_req_end(t);
	if (tcp_tx_reply(&t->tx, req, off) < 0)
		rpc_req_free(req);
	else if (!t->server && tcp_tx_owes(&t->tx))
		tcp_tx_shut(&t->tx, "the peer does not read the answers to its calls");
	else
		tcp_push(t);
	rpc_xprt_unref(x);
}

/* --- receiving, progress thread --------------------------------------------------------------- */

static struct rpc_call *rx_find(void *ctx, uint32_t xid)
{
	struct tcp_conn *t = ctx;
	struct rpc_call *call = t->x.up.find(t->x.up.ctx, xid, t->server);

	/* acquire: pairs with tcp_tx's release; not posted yet: the peer guessed an XID */
	if (call && !atomic_load_explicit(&call->posted, memory_order_acquire))
		return NULL;
	return call;
}

static void rx_reply(void *ctx, struct rpc_call *call, struct xdr_in *msg)
{
	struct tcp_conn *t = ctx;

	/* a reply to a call that is not wholly sent: the owner is about to get the call's memory
	 * back */
	if (atomic_load_explicit(&call->xprt_priv, memory_order_acquire))
		tcp_tx_forget(&t->tx, call);
	if (call_is_big(call))
		atomic_fetch_sub_explicit(&t->big_sinks, 1, memory_order_relaxed);
	t->x.up.reply(t->x.up.ctx, call, 0, msg);
}

static void rx_request(void *ctx, struct mem_buf *buf, uint32_t len)
{
	struct tcp_conn *t = ctx;
	struct rpc_req *req = rpc_req_new(&t->x);
	struct xdr_in msg;
	uint64_t start;

	if (!req) {
		mem_buf_unref(buf);
		tcp_tx_shut(&t->tx, "out of memory for a request");
		return;
	}
	xdr_in_init(&msg, buf->data, len);
	atomic_fetch_add_explicit(&t->nreqs, 1, memory_order_relaxed);
	if (rpc_req_parse(req, buf, &msg) < 0) {
		mem_buf_unref(buf);
		tcp_drop(&t->x, req);
		return;
	}
	mem_buf_unref(buf); /* req has its own reference */
	req->res_max = TCP_RX_MAX_RECORD - RPC_HEADROOM;
	/* An answer must not wait in the queue for a slow later request. */
	if (t->slow)
		t->slow--;
	start = clock_ns();
	rpc_req_deliver(req);
	if (clock_age(clock_ns(), start) > SLOW_NS)
		t->slow = SLOW_REQS;
}

/* Has the peer too many calls here, or too many unread answers, for another call? When the number
 * has fallen, the progress thread gets a kick. */
static bool rx_hold(void *ctx)
{
	struct tcp_conn *t = ctx;

	return atomic_load_explicit(&t->nreqs, memory_order_relaxed) >= MAX_REQS ||
	       (t->server && tcp_tx_owes(&t->tx));
}

/* Reads once. Returns the bytes read, 0: nothing to read, negative: the end. */
static ssize_t tcp_read(struct tcp_conn *t, bool *drained)
{
	bool narrow = atomic_load_explicit(&t->big_sinks, memory_order_relaxed) > 0;
	struct iovec iov[TCP_RX_IOV];
	struct msghdr m = {.msg_iov = iov};
	size_t want = 0;
	ssize_t n;

	m.msg_iovlen = tcp_rx_space(&t->rx, narrow, iov);
	for (size_t i = 0; i < m.msg_iovlen; i++)
		want += iov[i].iov_len;
	n = recvmsg(t->fd, &m, MSG_DONTWAIT);
	*drained = n < (ssize_t)want;
	if (n > 0) {
		t->received += (uint64_t)n;
		if (tcp_rx_filled(&t->rx, n) == 0)
			return n;
		tcp_tx_shut(&t->tx, t->rx.error);
	} else if (n == 0) {
		tcp_tx_shut(&t->tx, "the peer closed the connection");
	} else if (errno == EAGAIN || errno == EINTR) {
		return 0;
	} else {
		tcp_tx_shut(&t->tx, strerror(errno));
	}
	return -ENOTCONN;
}

/* Reads and hands over all received bytes, in one batch. 1: some, 0: none, negative: the end. */
static int tcp_receive(struct tcp_conn *t)
{
	bool drained = false;
	ssize_t n = 1;
	int got;

	atomic_store_explicit(&t->corker, pthread_self(), memory_order_relaxed);
	t->cork_since = 0;
	got = tcp_rx_resume(&t->rx);
	if (got < 0) {
		tcp_tx_shut(&t->tx, t->rx.error);
		n = got;
	}
	for (int i = 0; n >= 0 && i < READS_PER_ROUND && !drained; i++) {
		if (t->rx.held || rx_hold(t))
			break;
		n = tcp_read(t, &drained);
		if (n <= 0)
			break;
		got = 1;
	}
	atomic_store_explicit(&t->corker, 0, memory_order_relaxed);
	if (got)
		tcp_tx_flush(&t->tx, false);
	return n < 0 ? -ENOTCONN : got;
}

static bool tcp_is_down(struct tcp_conn *t)
{
	bool down;

	mutex_lock(&t->tx.lock);
	down = t->tx.down;
	mutex_unlock(&t->tx.lock);
	return down;
}

static int tcp_progress(struct rpc_xprt *x, int timeout_ms)
{
	struct tcp_conn *t = tcp_conn_of(x);
	struct pollfd pfd[2] = {{.fd = t->fd}, {.fd = x->kick_fd, .events = POLLIN}};
	int rc = tcp_receive(t);

	if (rc == 0) {
		if (!rx_hold(t)) {
			pfd[0].events = POLLIN;
			if (t->rx.held)
				timeout_ms = 0; /* there are records already */
		}
		if (atomic_load_explicit(&t->tx.full, memory_order_relaxed))
			pfd[0].events |= POLLOUT;
		if (poll(pfd, 2, timeout_ms) > 0) {
			if (pfd[1].revents & POLLIN)
				rpc_xprt_unkick(x);
			if (pfd[0].revents & POLLOUT)
				tcp_tx_flush(&t->tx, true);
			if (pfd[0].revents & POLLIN)
				rc = tcp_receive(t);
			else if (pfd[0].revents & (POLLHUP | POLLERR))
				tcp_tx_shut(&t->tx, "the peer closed the connection");
		}
	} else if (atomic_load_explicit(&t->tx.full, memory_order_relaxed)) {
		tcp_tx_flush(&t->tx, true);
	}
	if (rc < 0 || tcp_is_down(t)) {
		tcp_tx_purge(&t->tx);
		return -ENOTCONN;
	}
	return 0;
}

static bool tcp_forget(struct rpc_xprt *x, struct rpc_call *call)
{
	struct tcp_conn *t = tcp_conn_of(x);
	bool posted = atomic_load_explicit(&call->posted, memory_order_relaxed);
	bool left = tcp_tx_forget(&t->tx, call) && posted;

	tcp_rx_forget(&t->rx, call);
	if (call_is_big(call) && posted)
		atomic_fetch_sub_explicit(&t->big_sinks, 1, memory_order_relaxed);
	return left;
}

static void tcp_shutdown(struct rpc_xprt *x)
{
	tcp_tx_shut(&tcp_conn_of(x)->tx, "closed");
	rpc_xprt_kick(x);
}

static bool tcp_keeps(struct rpc_xprt *x, uint64_t *moved)
{
	struct tcp_conn *t = tcp_conn_of(x);

	*moved = atomic_load_explicit(&t->tx.sent, memory_order_relaxed) + t->received;
	return atomic_load_explicit(&t->tx.owed, memory_order_relaxed) || t->rx.call_buf;
}

static void tcp_destroy(struct rpc_xprt *x)
{
	struct tcp_conn *t = tcp_conn_of(x);

	tcp_tx_purge(&t->tx);
	tcp_tx_fini(&t->tx);
	tcp_rx_fini(&t->rx);
	if (x->give_port) /* a reset: otherwise TIME_WAIT would keep the port */
		setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
			sizeof(struct linger));
	close(t->fd);
	rpc_xprt_fini(x);
	free(t);
}

static int tcp_establish(struct rpc_xprt *x, const struct rpc_xprt_up *up, struct err *e)
{
	x->up = *up;
	return 0;
}

static void tcp_lease(struct rpc_xprt *x, unsigned s)
{
	const struct tcp_conn *t = tcp_conn_of(x);
	struct keepalive k = keepalive_within(&t->keepalive, s);

	keepalive_set(t->fd, &k);
}

static int tcp_fd(struct rpc_xprt *x)
{
	return tcp_conn_of(x)->fd;
}

const struct rpc_xprt_ops tcp_ops = {
	.establish = tcp_establish,
	.send_call = tcp_send_call,
	.send_reply = tcp_send_reply,
	.drop = tcp_drop,
	.progress = tcp_progress,
	.forget = tcp_forget,
	.shutdown = tcp_shutdown,
	.keeps = tcp_keeps,
	.lease = tcp_lease,
	.tcp_fd = tcp_fd,
	.destroy = tcp_destroy,
	.keeps_port = true,
};

/* --- the beginning -----------------------------------------------------------------------------
 */

struct tcp_conn *tcp_conn_new(int fd, bool server, struct mem_pool *pool,
	const struct rpc_xprt_up *up, const struct sockaddr *peer, unsigned dead_ms, struct err *e)
{
	struct tcp_rx_up rx_up = {
		.find = rx_find, .reply = rx_reply, .request = rx_request, .hold = rx_hold};
	struct tcp_conn *t = calloc(1, sizeof(*t));
	int one = 1, rc = -ENOMEM;

	if (t)
		rc = rpc_xprt_init(&t->x, &tcp_ops, up);
	if (rc == 0) {
		rx_up.ctx = t;
		rc = tcp_rx_init(&t->rx, pool, &rx_up);
		if (rc < 0)
			rpc_xprt_fini(&t->x);
	}
	if (rc < 0) {
		err_set(e, ERR_INTERNAL, "cannot set up a connection: %s", strerror(-rc));
		free(t);
		close(fd);
		return NULL;
	}
	t->fd = fd;
	t->server = server;
	t->x.provider = "tcp";
	tcp_tx_init(&t->tx, fd, server ? pool : NULL, t->x.down_reason, sizeof(t->x.down_reason));
	rpc_xprt_set_peer(&t->x, peer);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	t->keepalive =
		(struct keepalive){.idle_s = 60, .interval_s = 20, .probes = 3, .lost_ms = dead_ms};
	keepalive_set(fd, &t->keepalive);
	return t;
}
