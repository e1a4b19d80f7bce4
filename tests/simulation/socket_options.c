/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * socket_options: setsockopt(2) and getsockopt(2) of simulated sockets. An option that the product
 * has never asked for ends the run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/network_impl.h"
#include "tests/simulation/sched.h"

#define REAL(fn) ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))

#define MSS	     1448
#define MSS_LOOPBACK 65483

static void set_flag(struct socket *s, int name, const void *value, socklen_t len)
{
	int n = len >= sizeof(n) ? *(const int *)value : 0;
	const struct linger *l = value;

	switch (name) {
	case SO_REUSEADDR:
		s->reuse = n;
		break;
	case SO_KEEPALIVE:
		s->tuning.keepalive = n;
		break;
	case SO_SNDBUF:
		s->tuning.send_buffer = n < 4096 ? 4096 : (unsigned)n;
		break;
	case SO_LINGER:
		if (len < sizeof(*l))
			sched_fail("SO_LINGER of %u bytes", len);
		s->tuning.linger = l->l_onoff;
		s->tuning.linger_s = (unsigned)l->l_linger;
		break;
	case SO_RCVBUF:
		break;
	default:
		sched_fail("setsockopt(SOL_SOCKET, %d) is not simulated", name);
	}
}

static void set_tcp(struct socket *s, int name, int n)
{
	switch (name) {
	case TCP_NODELAY:
	case TCP_QUICKACK:
	case TCP_CORK:
		break;
	case TCP_KEEPIDLE:
		s->tuning.keep_idle_s = (unsigned)n;
		break;
	case TCP_KEEPINTVL:
		s->tuning.keep_interval_s = (unsigned)n;
		break;
	case TCP_KEEPCNT:
		s->tuning.keep_count = (unsigned)n;
		break;
	case TCP_USER_TIMEOUT:
		s->tuning.user_timeout_ms = (unsigned)n;
		break;
	default:
		sched_fail("setsockopt(IPPROTO_TCP, %d) is not simulated", name);
	}
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	struct socket *s;

	if (!descriptor_is_ours(fd))
		return REAL(setsockopt)(fd, level, name, value, len);
	s = socket_find(fd);
	if (!s)
		return -1;
	if (len < sizeof(int))
		return socket_ends(-EINVAL);
	if (s->state == SOCKET_CONNECTED)
		connection_settle(s->end->c); /* by the old times */
	if (level == SOL_SOCKET)
		set_flag(s, name, value, len);
	else if (level == IPPROTO_TCP)
		set_tcp(s, name, *(const int *)value);
	else if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
		s->six_only = *(const int *)value;
	else
		sched_fail("setsockopt(%d, %d) is not simulated", level, name);
	if (s->state == SOCKET_CONNECTED)
		acks_retune(s->end);
	descriptors_changed(); /* a time-out may be another */
	return 0;
}

static int take_error(struct socket *s)
{
	int *error = s->state == SOCKET_CONNECTED ? &s->end->error : &s->error, got;

	if (s->type == SOCK_DGRAM && s->answer_at && s->answer_at <= sched_now()) {
		s->answer_at = 0;
		return ECONNREFUSED;
	}
	if (s->state == SOCKET_CONNECTED)
		connection_settle(s->end->c);
	got = *error;
	*error = 0;
	return got;
}

static int state(struct socket *s)
{
	switch (s->state) {
	case SOCKET_LISTENS:
		return TCP_LISTEN;
	case SOCKET_CALLS:
		return TCP_SYN_SENT;
	case SOCKET_CONNECTED:
		connection_settle(s->end->c);
		return connection_state(s->end);
	default:
		return TCP_CLOSE;
	}
}

static int number(struct socket *s, int level, int name)
{
	if (level == IPPROTO_TCP && name == TCP_MAXSEG)
		return network_is_loopback(&s->to.ip) ? MSS_LOOPBACK : MSS;
	if (level != SOL_SOCKET)
		sched_fail("getsockopt(%d, %d) is not simulated", level, name);
	switch (name) {
	case SO_ERROR:
		return take_error(s);
	case SO_TYPE:
		return s->type;
	case SO_DOMAIN:
		return s->family;
	case SO_PROTOCOL:
		return s->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
	case SO_ACCEPTCONN:
		return s->state == SOCKET_LISTENS;
	case SO_SNDBUF:
		return 2 *
		       (int)(s->tuning.send_buffer ? s->tuning.send_buffer : network.send_buffer);
	case SO_RCVBUF:
		return (int)network.window;
	case SO_KEEPALIVE:
		return s->tuning.keepalive;
	case SO_REUSEADDR:
		return s->reuse;
	default:
		sched_fail("getsockopt(SOL_SOCKET, %d) is not simulated", name);
	}
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct socket *s;
	int n;

	if (!descriptor_is_ours(fd))
		return REAL(getsockopt)(fd, level, name, value, len);
	s = socket_find(fd);
	if (!s)
		return -1;
	if (level == IPPROTO_TCP && name == TCP_INFO) {
		*len = acks_info(
			s, state(s), (unsigned)number(s, IPPROTO_TCP, TCP_MAXSEG), value, *len);
		return 0;
	}
	n = number(s, level, name);
	*len = *len < sizeof(n) ? *len : sizeof(n);
	memcpy(value, &n, *len);
	return 0;
}
