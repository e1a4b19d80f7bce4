/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xprt: the common part of all kinds of connection: references, kicks, names.
 */
#include "transport/rpc/xprt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Counters of connections without a reader of their numbers. */
static struct rpc_counts no_stats;

int rpc_xprt_init(struct rpc_xprt *x, const struct rpc_xprt_ops *ops, const struct rpc_xprt_up *up)
{
	x->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (x->kick_fd < 0)
		return -errno;
	x->ops = ops;
	if (up)
		x->up = *up;
	x->refs = 1;
	x->spare = NULL;
	x->stats = &no_stats;
	return 0;
}

void rpc_xprt_fini(struct rpc_xprt *x)
{
	if (x->kick_fd >= 0)
		close(x->kick_fd);
	x->kick_fd = -1;
	free(atomic_exchange_explicit(&x->spare, NULL, memory_order_acquire));
}

struct rpc_xprt *rpc_xprt_ref(struct rpc_xprt *x)
{
	atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
	return x;
}

struct rpc_xprt *rpc_xprt_unref(struct rpc_xprt *x)
{
	void (*owner_free)(void *);
	void *owner;

	/* acq_rel: the acts of other holders happen before destroy() */
	if (!x || atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1)
		return NULL;
	owner = x->owner;
	owner_free = x->owner_free;
	x->ops->destroy(x);
	if (owner_free)
		owner_free(owner);
	return NULL;
}

void rpc_xprt_kick(struct rpc_xprt *x)
{
	uint64_t one = 1;

	/* a full counter is a kick as well */
	if (write(x->kick_fd, &one, sizeof(one)) < 0)
		return;
}

void rpc_xprt_unkick(struct rpc_xprt *x)
{
	uint64_t n;

	if (read(x->kick_fd, &n, sizeof(n)) < 0)
		return;
}

void rpc_xprt_address(const struct sockaddr *sa, char buf[RPC_ADDRESS_MAX])
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];

	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)sa;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(buf, RPC_ADDRESS_MAX, "%s:%u", host, ntohs(in->sin_port));
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)sa;

		/* with its scope */
		if (getnameinfo(sa, sizeof(*in), host, sizeof(host), NULL, 0, NI_NUMERICHOST))
			strcpy(host, "?");
		snprintf(buf, RPC_ADDRESS_MAX, "[%s]:%u", host, ntohs(in->sin6_port));
	} else {
		snprintf(buf, RPC_ADDRESS_MAX, "address family %u", sa->sa_family);
	}
}

void rpc_xprt_set_peer(struct rpc_xprt *x, const struct sockaddr *sa)
{
	rpc_xprt_address(sa, x->peer);
}

const char *rpc_xprt_peer(const struct rpc_xprt *x)
{
	return x->peer;
}

bool rpc_xprt_keeps_port(const struct rpc_xprt *x)
{
	return x->ops && x->ops->keeps_port;
}

const struct sockaddr *rpc_xprt_addr(const struct rpc_xprt *x)
{
	return (const struct sockaddr *)&x->addr;
}

const struct sock_user *rpc_xprt_user(const struct rpc_xprt *x)
{
	return &x->user;
}

const char *rpc_proto_name(enum rpc_proto p)
{
	return p == RPC_TCP ? "tcp" : p == RPC_IWARP ? "iwarp" : p == RPC_RDMA ? "rdma" : "unknown";
}
