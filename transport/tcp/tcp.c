/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp: RPC over a TCP socket with record marking (RFC 5531 section 11), both roles.
 *
 * tcp_tx sends from any thread, tcp_rx receives on the progress thread; this file is the socket
 * between them. While the progress thread hands over what it has received it is "corked": messages
 * that the upcalls send are only queued, and leave together when the batch ends (or, in a long
 * batch, after CORK_NS). A busy connection so needs less than one system call per message.
 *
 * Socket buffers are left to the kernel: setting SO_SNDBUF or SO_RCVBUF would turn its autotuning
 * off and cap them at a fraction of what it grows them to.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/tcp/tcp_rx.h"
#include "transport/tcp/tcp_tx.h"
#include "transport/rpc/xprt.h"

#define READS_PER_ROUND 16
#define CORK_NS		UINT64_C(50000)
#define CORK_MAX	32
#define SLOW_NS		UINT64_C(100000) /* a service that takes longer is not corked ... */
#define SLOW_REQS	64		 /* ... for so many requests */
#define BIG_SINK	(16u << 10)	 /* replies with larger payload are read into place */
#define MAX_REQS	1024		 /* requests under way; then the peer has to wait */

struct tcp_xprt {
	struct rpc_xprt x; /* first */
	int fd;
	bool server;
	struct tcp_tx tx;
	struct tcp_rx rx;
	int big_sinks; /* atomic: calls under way whose replies are worth reading narrowly */
	int nreqs;     /* atomic: requests with the service */
	/* the progress thread's */
	uint64_t received;   /* bytes */
	uint64_t cork_since; /* 0: not yet known */
	unsigned slow;	     /* so many requests more without cork: the service is slow */
};

/* The connection whose upcalls run on this thread. */
static _Thread_local struct tcp_xprt *corked;

static struct tcp_xprt *tcp_of(struct rpc_xprt *x)
{
	return (struct tcp_xprt *)x;
}

/* --- sending, any thread ---------------------------------------------------------------------- */

/* Sends what is queued, now or at the end of this thread's batch. */
static void tcp_push(struct tcp_xprt *t)
{
	if (corked == t) {
		uint64_t now = clock_ns();

		if (!t->cork_since)
			t->cork_since = now;
		if (!t->slow && tcp_rx_more(&t->rx) && now - t->cork_since < CORK_NS &&
			tcp_tx_queued(&t->tx) < CORK_MAX)
			return;
		t->cork_since = 0;
	}
	if (tcp_tx_flush(&t->tx, false) && corked != t)
		rpc_xprt_kick(&t->x);
}

static bool call_is_big(const struct rpc_call *call)
{
	return call->nsinks && call->peek && call->sink[0].len >= BIG_SINK;
}

static int tcp_send_call(struct rpc_xprt *x, struct rpc_call *call, uint32_t off)
{
	struct tcp_xprt *t = tcp_of(x);
	bool big = call_is_big(call);
	uint64_t exposed = 0;
	int rc;

	for (unsigned i = 0; i < call->args.npayloads; i++)
		exposed += call->args.payload[i].data.len;
	if (big)
		__atomic_fetch_add(&t->big_sinks, 1, __ATOMIC_RELAXED);
	rc = tcp_tx_call(&t->tx, call, off);
	if (rc < 0) {
		if (big)
			__atomic_fetch_sub(&t->big_sinks, 1, __ATOMIC_RELAXED);
		if (rc == -ENOMEM)
			tcp_tx_shut(&t->tx, "out of memory for sending");
		return -ENOTCONN;
	}
	if (exposed)
		__atomic_fetch_add(&x->stats->bytes_exposed, exposed, __ATOMIC_RELAXED);
	tcp_push(t);
	return 0;
}

static void tcp_req_end(struct tcp_xprt *t)
{
	if (__atomic_fetch_sub(&t->nreqs, 1, __ATOMIC_RELAXED) == MAX_REQS)
		rpc_xprt_kick(&t->x);
}

static void tcp_drop(struct rpc_xprt *x, struct rpc_req *req)
{
	tcp_req_end(tcp_of(x));
	rpc_req_free(req);
}

/* The server waits with more calls until its replies are read. A client must go on reading, because
 * replies to its own calls come the same way: a server that calls it back and does not read the
 * answers loses the connection. */
static void tcp_send_reply(struct rpc_xprt *x, struct rpc_req *req, uint32_t off)
{
	struct tcp_xprt *t = tcp_of(x);

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
	struct tcp_xprt *t = ctx;
	struct rpc_call *call = t->x.up.find(t->x.up.ctx, xid, t->server);

	/* acquire: pairs with tcp_tx's release; not posted yet: the peer guessed an XID */
	if (call && !__atomic_load_n(&call->posted, __ATOMIC_ACQUIRE))
		return NULL;
	return call;
}

static void rx_reply(void *ctx, struct rpc_call *call, struct xdr_in *msg)
{
	struct tcp_xprt *t = ctx;

	/* a reply to a call that is still going out: its memory is about to be its owner's again */
	if (__atomic_load_n(&call->xprt_priv, __ATOMIC_ACQUIRE))
		tcp_tx_forget(&t->tx, call);
	if (call_is_big(call))
		__atomic_fetch_sub(&t->big_sinks, 1, __ATOMIC_RELAXED);
	t->x.up.reply(t->x.up.ctx, call, 0, msg);
}

static void rx_request(void *ctx, struct mem_buf *buf, uint32_t len)
{
	struct tcp_xprt *t = ctx;
	struct rpc_req *req = rpc_req_new(&t->x);
	struct xdr_in msg;
	uint64_t start;

	if (!req) {
		mem_buf_unref(buf);
		tcp_tx_shut(&t->tx, "out of memory for a request");
		return;
	}
	xdr_in_init(&msg, buf->data, len);
	__atomic_fetch_add(&t->nreqs, 1, __ATOMIC_RELAXED);
	if (rpc_req_parse(req, buf, &msg) < 0) {
		mem_buf_unref(buf);
		tcp_drop(&t->x, req);
		return;
	}
	mem_buf_unref(buf); /* req has its own reference */
	req->res_max = TCP_RX_MAX_RECORD - RPC_HEADROOM;
	/* An answer must not wait in the queue for a slow request behind it. */
	if (t->slow)
		t->slow--;
	start = clock_ns();
	rpc_req_deliver(req);
	if (clock_ns() - start > SLOW_NS)
		t->slow = SLOW_REQS;
}

/* The peer has so many calls here, or so many answers not read, that no more are taken now. What
 * ends that kicks. */
static bool rx_hold(void *ctx)
{
	struct tcp_xprt *t = ctx;

	return __atomic_load_n(&t->nreqs, __ATOMIC_RELAXED) >= MAX_REQS ||
	       (t->server && tcp_tx_owes(&t->tx));
}

/* Reads once. Bytes read, 0: none there, negative: the end. */
static ssize_t tcp_read(struct tcp_xprt *t, bool *drained)
{
	bool narrow = __atomic_load_n(&t->big_sinks, __ATOMIC_RELAXED) > 0;
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

/* Reads and hands over what there is, in one batch. 1: something, 0: nothing, negative: the end. */
static int tcp_receive(struct tcp_xprt *t)
{
	bool drained = false;
	ssize_t n = 1;
	int got;

	corked = t;
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
	corked = NULL;
	if (got)
		tcp_tx_flush(&t->tx, false);
	return n < 0 ? -ENOTCONN : got;
}

static bool tcp_is_down(struct tcp_xprt *t)
{
	bool down;

	pthread_mutex_lock(&t->tx.lock);
	down = t->tx.down;
	pthread_mutex_unlock(&t->tx.lock);
	return down;
}

static int tcp_progress(struct rpc_xprt *x, int timeout_ms)
{
	struct tcp_xprt *t = tcp_of(x);
	struct pollfd pfd[2] = {{.fd = t->fd}, {.fd = x->kick_fd, .events = POLLIN}};
	int rc = tcp_receive(t);

	if (rc == 0) {
		if (!rx_hold(t)) {
			pfd[0].events = POLLIN;
			if (t->rx.held)
				timeout_ms = 0; /* there are records already */
		}
		if (__atomic_load_n(&t->tx.full, __ATOMIC_RELAXED))
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
	} else if (__atomic_load_n(&t->tx.full, __ATOMIC_RELAXED)) {
		tcp_tx_flush(&t->tx, true);
	}
	if (rc < 0 || tcp_is_down(t)) {
		tcp_tx_purge(&t->tx);
		return -ENOTCONN;
	}
	return 0;
}

static void tcp_forget(struct rpc_xprt *x, struct rpc_call *call)
{
	struct tcp_xprt *t = tcp_of(x);

	tcp_tx_forget(&t->tx, call);
	tcp_rx_forget(&t->rx, call);
	if (call_is_big(call) && __atomic_load_n(&call->posted, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&t->big_sinks, 1, __ATOMIC_RELAXED);
}

static void tcp_shutdown(struct rpc_xprt *x)
{
	tcp_tx_shut(&tcp_of(x)->tx, "closed");
	rpc_xprt_kick(x);
}

static bool tcp_keeps(struct rpc_xprt *x, uint64_t *moved)
{
	struct tcp_xprt *t = tcp_of(x);

	*moved = __atomic_load_n(&t->tx.sent, __ATOMIC_RELAXED) + t->received;
	return __atomic_load_n(&t->tx.owed, __ATOMIC_RELAXED) || t->rx.call_buf;
}

static void tcp_destroy(struct rpc_xprt *x)
{
	struct tcp_xprt *t = tcp_of(x);

	tcp_tx_purge(&t->tx);
	tcp_tx_fini(&t->tx);
	tcp_rx_fini(&t->rx);
	if (x->give_port) /* by a reset: TIME_WAIT would keep it */
		setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
			sizeof(struct linger));
	close(t->fd);
	rpc_xprt_fini(x);
	free(t);
}

static const struct rpc_xprt_ops tcp_ops = {
	.send_call = tcp_send_call,
	.send_reply = tcp_send_reply,
	.drop = tcp_drop,
	.progress = tcp_progress,
	.forget = tcp_forget,
	.shutdown = tcp_shutdown,
	.keeps = tcp_keeps,
	.destroy = tcp_destroy,
	.keeps_port = true,
};

/* --- making connections ----------------------------------------------------------------------- */

static void set_int(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

/* A connection on fd, which it then owns (also in case of failure). */
static struct tcp_xprt *tcp_new(int fd, bool server, struct mem_pool *pool,
	const struct rpc_xprt_up *up, const struct sockaddr *peer, unsigned dead_ms, struct err *e)
{
	struct tcp_rx_up rx_up = {
		.find = rx_find, .reply = rx_reply, .request = rx_request, .hold = rx_hold};
	struct tcp_xprt *t = calloc(1, sizeof(*t));
	int rc = -ENOMEM;

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
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 20);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, dead_ms);
	return t;
}

static int tcp_bind(int fd, int family, uint16_t port)
{
	struct sockaddr_storage ss = {.ss_family = family};

	if (family == AF_INET6)
		((struct sockaddr_in6 *)&ss)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&ss)->sin_port = htons(port);
	return bind(fd, (struct sockaddr *)&ss,
		       family == AF_INET6 ? sizeof(struct sockaddr_in6)
					  : sizeof(struct sockaddr_in)) < 0
		       ? errno
		       : 0;
}

static uint16_t tcp_local_port(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return 0;
	return ntohs(ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&ss)->sin6_port
					      : ((struct sockaddr_in *)&ss)->sin_port);
}

/* Root's calls come from a reserved port: many NFS servers insist ("secure" exports). */
static void tcp_bind_reserved(int fd, int family)
{
	uint16_t start = 0;

	if (geteuid() != 0 || getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
		return;
	for (int i = 0; i < 32; i++)
		if (tcp_bind(fd, family, 665 + (start + i) % (1023 - 665)) == 0)
			return;
}

/* Waits for a connect() under way. 0 or a positive errno. */
static int tcp_wait_connect(int fd, int abort_fd, int timeout_ms)
{
	struct pollfd pfd[2] = {
		{.fd = fd, .events = POLLOUT},
		{.fd = abort_fd > 0 ? abort_fd : -1, .events = POLLIN},
	};
	uint64_t until = clock_ns() + timeout_ms * UINT64_C(1000000), now;
	socklen_t len = sizeof(int);
	int rc, so_error = 0;

	do {
		now = clock_ns();
		if (now >= until)
			return ETIMEDOUT;
		rc = poll(pfd, 2, (until - now) / 1000000 + 1);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return errno;
	if (rc == 0)
		return ETIMEDOUT;
	if (pfd[1].revents)
		return ECANCELED;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &so_error, &len) < 0)
		return errno;
	return so_error;
}

enum { FROM_ANY = -2, FROM_RESERVED = -1 }; /* for tcp_dial(), besides ports */

static int tcp_dial(const struct rpc_client_params *p, int abort_fd, int from, int *fd)
{
	int rc = 0;

	*fd = socket(p->peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	if (from == FROM_RESERVED)
		tcp_bind_reserved(*fd, p->peer.ss_family);
	else if (from != FROM_ANY)
		rc = tcp_bind(*fd, p->peer.ss_family, (uint16_t)from);
	if (rc == 0 && connect(*fd, (const struct sockaddr *)&p->peer, p->peer_len) < 0)
		rc = errno;
	if (rc == EINPROGRESS || rc == EINTR)
		rc = tcp_wait_connect(*fd, abort_fd, p->connect_ms ? p->connect_ms : 10000);
	if (rc) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

static void tcp_explain(const struct rpc_client_params *p, int error, struct err *e)
{
	const char *name = p->peer_name ? p->peer_name : "?";
	struct rpc_xprt at;

	rpc_xprt_set_peer(&at, (const struct sockaddr *)&p->peer);
	switch (error) {
	case ECONNREFUSED:
		err_set(e, ERR_REFUSED,
			"%s refuses TCP connections at %s: start its NFS server or give its port "
			"with -o port=",
			name, at.peer);
		break;
	case ETIMEDOUT:
		err_set(e, ERR_UNREACHABLE,
			"%s does not answer at %s by TCP: check the address and the firewalls on "
			"the way",
			name, at.peer);
		break;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EHOSTDOWN:
	case ENETDOWN:
		err_set(e, ERR_UNREACHABLE, "there is no way to %s at %s: %s; check the network",
			name, at.peer, strerror(error));
		break;
	default:
		err_set(e, ERR_INTERNAL, "connecting to %s at %s by TCP: %s", name, at.peer,
			strerror(error));
	}
}

struct rpc_xprt *tcp_connect(
	const struct rpc_client_params *p, const struct rpc_xprt_up *up, struct err *e)
{
	unsigned dead_ms = p->timeo_ms > 10000 ? p->timeo_ms : 10000;
	struct tcp_xprt *t;
	int fd, rc = EADDRINUSE;

	if (up->from_port)
		rc = tcp_dial(p, up->abort_fd, up->from_port, &fd);
	if (rc == EADDRNOTAVAIL || rc == EADDRINUSE || rc == EACCES)
		rc = tcp_dial(p, up->abort_fd, FROM_RESERVED, &fd);
	if (rc == EADDRNOTAVAIL || rc == EADDRINUSE)
		rc = tcp_dial(p, up->abort_fd, FROM_ANY, &fd); /* that port was in use towards p */
	if (rc) {
		tcp_explain(p, rc, e);
		return NULL;
	}
	t = tcp_new(fd, false, p->pool, up, (const struct sockaddr *)&p->peer, dead_ms, e);
	if (!t)
		return NULL;
	t->x.local_port = tcp_local_port(fd);
	return &t->x;
}

/* --- accepting -------------------------------------------------------------------------------- */

struct tcp_acceptor {
	struct rpc_acceptor a; /* first */
	struct mem_pool *pool;
};

static int tcp_accept(struct rpc_acceptor *a, struct rpc_xprt **out, struct err *e)
{
	struct tcp_acceptor *ta = (struct tcp_acceptor *)a;
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	struct tcp_xprt *t;
	int fd = accept4(a->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return -EAGAIN;
		len = errno;
		err_set(e, ERR_INTERNAL, "accepting a connection: %s", strerror(len));
		return -(int)len;
	}
	t = tcp_new(fd, true, ta->pool, NULL, (struct sockaddr *)&peer, 120000, e);
	if (!t)
		return -ENOMEM;
	t->x.addr = peer;
	sock_user_of(fd, &t->x.user);
	*out = &t->x;
	return 0;
}

static void tcp_acceptor_free(struct rpc_acceptor *a)
{
	close(a->fd);
	free(a);
}

static const struct rpc_acceptor_ops tcp_acceptor_ops = {
	.accept = tcp_accept,
	.free = tcp_acceptor_free,
};

struct rpc_acceptor *tcp_listen(const struct rpc_server_params *p, struct err *e)
{
	struct tcp_acceptor *ta = calloc(1, sizeof(*ta));
	struct sockaddr_storage ss = p->addr;
	socklen_t len = sizeof(ss);
	struct rpc_xprt at;
	int fd;

	rpc_xprt_set_peer(&at, (const struct sockaddr *)&p->addr);
	fd = socket(p->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (!ta || fd < 0 || bind(fd, (struct sockaddr *)&ss, p->addr_len) < 0 ||
		listen(fd, 128) < 0 || getsockname(fd, (struct sockaddr *)&ss, &len) < 0) {
		err_set(e, errno == EADDRINUSE ? ERR_USAGE : ERR_INTERNAL, "listening at %s: %s",
			at.peer, ta ? strerror(errno) : "out of memory");
		if (fd >= 0)
			close(fd);
		free(ta);
		return NULL;
	}
	ta->a.ops = &tcp_acceptor_ops;
	ta->a.fd = fd;
	ta->a.port = ntohs(ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&ss)->sin6_port
						    : ((struct sockaddr_in *)&ss)->sin_port);
	ta->pool = p->pool;
	return &ta->a;
}

int tcp_establish(struct rpc_xprt *x, const struct rpc_xprt_up *up, struct err *e)
{
	x->up = *up;
	return 0;
}
