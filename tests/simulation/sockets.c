/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sockets: socket(2) and its like. In a run the sockets of IPv4 and IPv6 are simulated; all others
 * are the system's.
 *
 * A datagram socket sends into the void, as no simulated process receives datagrams: a host that is
 * there answers that the port is unreachable, and the next call gets ECONNREFUSED.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/network_impl.h"
#include "tests/simulation/sched.h"

#define REAL(fn) ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))

#define PORT_RESERVED 600 /* the first one that bindresvport(3) tries here */
#define PORT_ANY      32768

static const struct description_ops ops;

int socket_ends(ssize_t res)
{
	if (res >= 0)
		return (int)res;
	errno = (int)-res;
	return -1;
}

struct socket *socket_find(int fd)
{
	struct description *d;

	sched_point();
	d = descriptor_get(fd);
	if (d && d->ops == &ops) {
		network_settle();
		return d->of;
	}
	errno = d ? ENOTSOCK : EBADF;
	return NULL;
}

static bool waits(int fd, int flags)
{
	const struct description *d = descriptor_get(fd);

	return d && !(flags & MSG_DONTWAIT) && !(d->flags & O_NONBLOCK);
}

static void wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	poll(&p, 1, -1);
}

/* --- addresses -------------------------------------------------------------------------------- */

static int read_address(
	const struct socket *s, const struct sockaddr *sa, socklen_t len, struct address *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;

	memset(a, 0, sizeof(*a));
	if (s->family == AF_INET6) {
		if (len < sizeof(*in6))
			return -EINVAL;
		if (sa->sa_family != AF_INET6)
			return -EAFNOSUPPORT;
		a->ip = in6->sin6_addr;
		a->port = ntohs(in6->sin6_port);
		return 0;
	}
	if (len < sizeof(*in))
		return -EINVAL;
	if (sa->sa_family != AF_INET)
		return -EAFNOSUPPORT;
	a->ip.s6_addr[10] = a->ip.s6_addr[11] = 0xff;
	memcpy(a->ip.s6_addr + 12, &in->sin_addr, 4);
	a->port = ntohs(in->sin_port);
	return 0;
}

static void write_address(
	const struct socket *s, const struct address *a, struct sockaddr *sa, socklen_t *len)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(a->port)};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(a->port), .sin6_addr = a->ip};
	bool six = s->family == AF_INET6;
	socklen_t n = six ? sizeof(in6) : sizeof(in);

	if (!sa || !len)
		return;
	if (a->port || !network_is_any(&a->ip))
		memcpy(&in.sin_addr, a->ip.s6_addr + 12, 4);
	memcpy(sa, six ? (void *)&in6 : (void *)&in, *len < n ? *len : n);
	*len = n;
}

/* --- the description's functions -------------------------------------------------------------- */

static ssize_t recv_now(struct socket *s, const struct iovec *iov, size_t n, int flags)
{
	int error = s->error;

	if (s->type == SOCK_DGRAM) {
		if (!s->answer_at || s->answer_at > sched_now())
			return -EAGAIN;
		s->answer_at = 0;
		return -ECONNREFUSED;
	}
	switch (s->state) {
	case SOCKET_CONNECTED:
		return connection_recv(s->end, iov, n, flags & MSG_PEEK);
	case SOCKET_CALLS:
		return -EAGAIN;
	case SOCKET_FAILED:
		s->error = 0;
		return -error;
	default:
		return -ENOTCONN;
	}
}

static ssize_t send_now(struct socket *s, const struct iovec *iov, size_t n)
{
	int error = s->error;
	ssize_t len = 0;

	if (s->type == SOCK_DGRAM) {
		if (!s->to.port)
			return -EDESTADDRREQ;
		if (s->answer_at && s->answer_at <= sched_now()) {
			s->answer_at = 0;
			return -ECONNREFUSED;
		}
		for (size_t i = 0; i < n; i++)
			len += (ssize_t)iov[i].iov_len;
		if (network_hears(&s->to.ip))
			s->answer_at = sched_now() + 2 * network_delay_to(s->host, &s->to.ip);
		descriptors_changed();
		return len;
	}
	switch (s->state) {
	case SOCKET_CONNECTED:
		return connection_send(s->end, iov, n);
	case SOCKET_CALLS:
		return -EAGAIN;
	case SOCKET_FAILED:
		s->error = 0;
		return error ? -error : -EPIPE;
	default:
		return -EPIPE;
	}
}

static ssize_t read_socket(struct description *d, const struct iovec *iov, int n)
{
	network_settle();
	return recv_now(d->of, iov, (size_t)n, 0);
}

static ssize_t write_socket(struct description *d, const struct iovec *iov, int n)
{
	network_settle();
	return send_now(d->of, iov, (size_t)n);
}

static short events_of(struct description *d, uint64_t *at)
{
	struct socket *s = d->of;
	uint64_t next;

	network_settle();
	if (s->type == SOCK_DGRAM) {
		if (s->answer_at && s->answer_at <= sched_now())
			return POLLOUT | POLLERR;
		if (s->answer_at && s->answer_at < *at)
			*at = s->answer_at;
		return POLLOUT;
	}
	next = network_next(s);
	if (next < *at)
		*at = next;
	switch (s->state) {
	case SOCKET_CONNECTED:
		return connection_events(s->end, at);
	case SOCKET_LISTENS:
		return s->nwaiting ? POLLIN | POLLRDNORM : 0;
	case SOCKET_CALLS:
		return 0;
	case SOCKET_FAILED:
		return (short)(POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM | POLLHUP |
			       (s->error ? POLLERR : 0));
	default:
		return POLLOUT | POLLWRNORM | POLLHUP;
	}
}

/* Callers in the queue that the server has not accepted get a reset. */
static void turn_away(struct socket *s)
{
	static const struct tuning abrupt = {.linger = true};
	struct waiting *w;

	while ((w = STAILQ_FIRST(&s->waiting))) {
		STAILQ_REMOVE_HEAD(&s->waiting, link);
		w->end->tuning = &abrupt;
		connection_close(w->end);
		free(w);
	}
}

static void close_socket(struct description *d)
{
	struct socket *s = d->of;

	network_settle();
	turn_away(s);
	if (s->end)
		connection_close(s->end);
	network_remove(s);
	free(s);
}

static const struct description_ops ops = {.name = "socket",
	.read = read_socket,
	.write = write_socket,
	.events = events_of,
	.close = close_socket};

/* --- beginnings ------------------------------------------------------------------------------- */

static struct socket *make(int family, int type, struct host *host)
{
	struct socket *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->family = family;
	s->type = type;
	s->host = host;
	s->tuning = (struct tuning){.keep_idle_s = 7200, .keep_interval_s = 75, .keep_count = 9};
	if (family == AF_INET)
		s->at.ip.s6_addr[10] = s->at.ip.s6_addr[11] = 0xff;
	s->to.ip = s->at.ip;
	STAILQ_INIT(&s->waiting);
	network_add(s);
	return s;
}

static int add(struct socket *s, int flags)
{
	return descriptor_add(&ops, s, O_RDWR | (flags & SOCK_NONBLOCK ? O_NONBLOCK : 0));
}

int socket(int family, int type, int protocol)
{
	int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), fd;
	struct socket *s;

	if (!sched_on() || (family != AF_INET && family != AF_INET6) ||
		(kind != SOCK_STREAM && kind != SOCK_DGRAM))
		return REAL(socket)(family, type, protocol);
	sched_point();
	s = make(family, kind, network_host());
	fd = add(s, type);
	if (fd < 0) {
		network_remove(s);
		free(s);
	}
	return socket_ends(fd);
}

static int bind_to(struct socket *s, const struct address *a, uint16_t first)
{
	if (s->bound || s->state != SOCKET_NEW)
		return -EINVAL;
	return network_bind(s, a, first);
}

int bind(int fd, const struct sockaddr *sa, socklen_t len)
{
	struct address a;
	struct socket *s;
	int rc;

	if (!descriptor_is_ours(fd))
		return REAL(bind)(fd, sa, len);
	s = socket_find(fd);
	if (!s)
		return -1;
	rc = read_address(s, sa, len, &a);
	return socket_ends(rc ? rc : bind_to(s, &a, PORT_ANY));
}

int bindresvport(int fd, struct sockaddr_in *sin)
{
	struct address a;
	struct socket *s;

	if (!descriptor_is_ours(fd))
		return REAL(bindresvport)(fd, sin);
	s = socket_find(fd);
	if (!s)
		return -1;
	a = s->at;
	return socket_ends(bind_to(s, &a, PORT_RESERVED));
}

int listen(int fd, int backlog)
{
	struct socket *s;
	int rc;

	if (!descriptor_is_ours(fd))
		return REAL(listen)(fd, backlog);
	s = socket_find(fd);
	if (!s)
		return -1;
	if (s->type != SOCK_STREAM)
		return socket_ends(-EOPNOTSUPP);
	if (s->state != SOCKET_NEW && s->state != SOCKET_LISTENS)
		return socket_ends(-EINVAL);
	rc = s->bound ? 0 : network_bind(s, &s->at, PORT_ANY);
	if (rc == 0 && s->state == SOCKET_NEW)
		rc = network_may_listen(s) ? 0 : -EADDRINUSE;
	if (rc)
		return socket_ends(rc);
	s->state = SOCKET_LISTENS;
	s->backlog = backlog < 0 ? 4096 : (unsigned)backlog;
	descriptors_changed();
	return 0;
}

/* --- connections ------------------------------------------------------------------------------ */

/* The result of connect(2): 0 or -errno; -EINPROGRESS: none yet. */
static int outcome(struct socket *s)
{
	int error = s->error;

	if (s->state == SOCKET_CALLS)
		return -EINPROGRESS;
	if (s->state == SOCKET_CONNECTED)
		return 0;
	s->error = 0;
	s->state = SOCKET_NEW;
	return error ? -error : -ECONNABORTED;
}

static int begin_call(struct socket *s, const struct sockaddr *sa, socklen_t len)
{
	struct address a;
	int rc = read_address(s, sa, len, &a);

	if (rc)
		return rc;
	if (network_is_any(&a.ip)) /* the machine itself */
		a.ip = IN6_IS_ADDR_V4MAPPED(&a.ip)
			       ? (struct in6_addr){.s6_addr = {[10] = 0xff, 0xff, 127, 0, 0, 1}}
			       : in6addr_loopback;
	if (s->type == SOCK_DGRAM) {
		s->to = a;
		return s->bound ? 0 : network_bind(s, &s->at, PORT_ANY);
	}
	switch (s->state) {
	case SOCKET_CONNECTED:
		return -EISCONN;
	case SOCKET_LISTENS:
		return -EISCONN;
	case SOCKET_CALLS:
		return -EALREADY;
	case SOCKET_FAILED:
		return outcome(s);
	default:
		s->to = a;
		return network_call(s);
	}
}

int connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	struct socket *s;
	int rc;

	if (!descriptor_is_ours(fd))
		return REAL(connect)(fd, sa, len);
	s = socket_find(fd);
	if (!s)
		return -1;
	rc = begin_call(s, sa, len);
	if (rc || s->type == SOCK_DGRAM)
		return socket_ends(rc);
	while (s && (rc = outcome(s)) == -EINPROGRESS && waits(fd, 0)) {
		wait_for(fd, POLLOUT);
		s = socket_find(fd);
	}
	return s ? socket_ends(rc) : -1;
}

int accept4(int fd, struct sockaddr *sa, socklen_t *len, int flags)
{
	struct socket *s, *made;
	struct waiting *w;
	int got;

	if (!descriptor_is_ours(fd))
		return REAL(accept4)(fd, sa, len, flags);
	for (;;) {
		s = socket_find(fd);
		if (!s)
			return -1;
		if (s->state != SOCKET_LISTENS)
			return socket_ends(-EINVAL);
		if (s->nwaiting)
			break;
		if (!waits(fd, 0))
			return socket_ends(-EAGAIN);
		wait_for(fd, POLLIN);
	}
	w = STAILQ_FIRST(&s->waiting);
	made = make(s->family, SOCK_STREAM, s->host);
	made->state = SOCKET_CONNECTED;
	made->tuning = s->tuning;
	made->reuse = s->reuse;
	made->bound = true;
	made->end = w->end;
	made->at = w->end->at;
	made->to = end_other(w->end)->at;
	got = add(made, flags);
	if (got < 0) {
		network_remove(made);
		free(made);
		return socket_ends(got);
	}
	STAILQ_REMOVE_HEAD(&s->waiting, link);
	s->nwaiting--;
	made->end->tuning = &made->tuning;
	free(w);
	sched_event("connection %u is accepted", made->end->c->number);
	write_address(made, &made->to, sa, len);
	return got;
}

int accept(int fd, struct sockaddr *sa, socklen_t *len)
{
	return descriptor_is_ours(fd) ? accept4(fd, sa, len, 0) : REAL(accept)(fd, sa, len);
}

int getsockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	struct socket *s;

	if (!descriptor_is_ours(fd))
		return REAL(getsockname)(fd, sa, len);
	s = socket_find(fd);
	if (!s)
		return -1;
	write_address(s, &s->at, sa, len);
	return 0;
}

int getpeername(int fd, struct sockaddr *sa, socklen_t *len)
{
	struct socket *s;

	if (!descriptor_is_ours(fd))
		return REAL(getpeername)(fd, sa, len);
	s = socket_find(fd);
	if (!s)
		return -1;
	if (s->type == SOCK_DGRAM ? !s->to.port : s->state != SOCKET_CONNECTED || s->end->closed)
		return socket_ends(-ENOTCONN);
	write_address(s, &s->to, sa, len);
	return 0;
}

int shutdown(int fd, int how)
{
	struct socket *s;

	if (!descriptor_is_ours(fd))
		return REAL(shutdown)(fd, how);
	s = socket_find(fd);
	if (!s)
		return -1;
	return socket_ends(
		s->state == SOCKET_CONNECTED ? connection_shutdown(s->end, how) : -ENOTCONN);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static ssize_t receive(int fd, const struct iovec *iov, size_t n, int flags)
{
	ssize_t res;

	for (;;) {
		struct socket *s = socket_find(fd);

		if (!s)
			return -1;
		res = recv_now(s, iov, n, flags);
		if (res != -EAGAIN || !waits(fd, flags))
			break;
		wait_for(fd, POLLIN);
	}
	if (res >= 0)
		return res;
	return socket_ends(res);
}

/* A blocking call sends all, as Linux does. */
static ssize_t transmit(int fd, const struct iovec *iov, size_t n, int flags)
{
	struct iovec rest[64];
	size_t at = 0;
	ssize_t sum = 0, res;

	if (n > 64 && waits(fd, flags))
		sched_fail("a blocking send of %zu pieces is not simulated", n);
	for (;;) {
		struct socket *s = socket_find(fd);

		if (!s)
			return -1;
		res = send_now(s, iov, n);
		if (res >= 0)
			sum += res;
		if (!waits(fd, flags) || (res < 0 && res != -EAGAIN))
			break;
		for (; res > 0 && at < n && (size_t)res >= iov[at].iov_len; at++)
			res -= (ssize_t)iov[at].iov_len;
		while (at < n && !iov[at].iov_len)
			at++;
		if (at == n)
			return sum;
		if (iov != rest)
			memcpy(rest, iov, n * sizeof(*iov));
		iov = rest;
		if (res > 0) {
			rest[at].iov_base = (char *)rest[at].iov_base + res;
			rest[at].iov_len -= (size_t)res;
		}
		for (size_t i = 0; i < at; i++)
			rest[i].iov_len = 0;
		wait_for(fd, POLLOUT);
	}
	return sum || res >= 0 ? sum : socket_ends(res);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	if (!descriptor_is_ours(fd))
		return REAL(recvmsg)(fd, m, flags);
	m->msg_flags = 0;
	m->msg_controllen = 0;
	m->msg_namelen = 0;
	return receive(fd, m->msg_iov, m->msg_iovlen, flags);
}

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	return descriptor_is_ours(fd) ? receive(fd, &(struct iovec){buf, n}, 1, flags)
				      : REAL(recv)(fd, buf, n, flags);
}

ssize_t recvfrom(int fd, void *restrict buf, size_t n, int flags, struct sockaddr *restrict sa,
	socklen_t *restrict len)
{
	if (!descriptor_is_ours(fd))
		return REAL(recvfrom)(fd, buf, n, flags, sa, len);
	if (len)
		*len = 0;
	return receive(fd, &(struct iovec){buf, n}, 1, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return descriptor_is_ours(fd) ? transmit(fd, m->msg_iov, m->msg_iovlen, flags)
				      : REAL(sendmsg)(fd, m, flags);
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	return descriptor_is_ours(fd) ? transmit(fd, &(struct iovec){(void *)buf, n}, 1, flags)
				      : REAL(send)(fd, buf, n, flags);
}

ssize_t sendto(
	int fd, const void *buf, size_t n, int flags, const struct sockaddr *sa, socklen_t len)
{
	if (!descriptor_is_ours(fd))
		return REAL(sendto)(fd, buf, n, flags, sa, len);
	if (sa)
		sched_fail("sendto(2) with an address is not simulated");
	return send(fd, buf, n, flags);
}
