/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_connect: makes RPC connections over TCP: a client connects, a server accepts. There is no
 * hand-shake.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "transport/dial.h"
#include "transport/tcp/tcp_conn.h"

/* --- calling -----------------------------------------------------------------------------------
 */

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

/* The ports to call from: the port of the previous connection, a reserved port, any port. */
static int tcp_prepare(void *ctx, int fd, int family, unsigned go)
{
	const struct rpc_xprt_up *up = ctx;

	if (go == 0 && up->from_port)
		return tcp_bind(fd, family, up->from_port);
	if (go == (up->from_port ? 1 : 0))
		tcp_bind_reserved(fd, family);
	return 0;
}

static void tcp_explain(const struct rpc_client_params *p, const struct dial_addr *a, struct err *e)
{
	const char *name = p->peer_name ? p->peer_name : "?";
	struct rpc_xprt at;

	rpc_xprt_set_peer(&at, (const struct sockaddr *)&a->ss);
	switch (a->outcome) {
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
			name, at.peer, strerror(a->outcome));
		break;
	default:
		err_set(e, ERR_INTERNAL, "connecting to %s at %s by TCP: %s", name, at.peer,
			strerror(a->outcome));
	}
}

struct rpc_xprt *tcp_connect(
	const struct rpc_client_params *p, const struct rpc_xprt_up *up, struct err *e)
{
	unsigned dead_ms = p->timeo_ms > 10000 ? p->timeo_ms : 10000;
	struct dial_addr one = {.ss = p->peer, .len = p->peer_len};
	struct dial d = {
		.addr = p->nchoice ? p->choice : &one,
		.n = p->nchoice ? p->nchoice : 1,
		.timeout_ms = p->connect_ms ? p->connect_ms : 10000,
		.abort_fd = up->abort_fd,
		.prepare = tcp_prepare,
		.goes = up->from_port ? 3 : 2,
		.ctx = (void *)up,
	};
	int fd = dial_any(&d);
	const struct dial_addr *a = dial_chosen(d.addr, d.n);
	struct tcp_conn *t;

	if (fd < 0) {
		tcp_explain(p, a, e);
		return NULL;
	}
	t = tcp_conn_new(fd, false, p->pool, up, (const struct sockaddr *)&a->ss, dead_ms, e);
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
	struct tcp_conn *t;
	int fd = accept4(a->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return -EAGAIN;
		len = errno;
		err_set(e, ERR_INTERNAL, "accepting a connection: %s", strerror(len));
		return -(int)len;
	}
	t = tcp_conn_new(fd, true, ta->pool, NULL, (struct sockaddr *)&peer, 120000, e);
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
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
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
