/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * register: tells this machine's rpcbind the port of the server's programs.
 *
 * rpcbind takes registrations only over a socket in the file system. libtirpc uses the socket.
 */
#include "contrib/serve/main/register.h"

#include <string.h>

#ifdef HAVE_TIRPC
#include <netconfig.h>
#include <netinet/in.h>
#include <rpc/rpc.h>
#include <rpc/rpcb_clnt.h>

/* NFS, MOUNT, NLM and the status monitor: the programs of dispatch.c. If the machine already has a
 * status monitor, that one stays. */
static const struct {
	rpcprog_t prog;
	rpcvers_t vers;
	const char *name; /* NULL: another program may have registered it */
} services[] = {
	{100003, 3, "NFS version 3"},
	{100003, 4, "NFS version 4"},
	{100005, 3, "MOUNT version 3"},
	{100021, 4, "NLM version 4"},
	{100024, 1, NULL},
};

#define NSERVICES (sizeof(services) / sizeof(services[0]))

static bool taken[NSERVICES]; /* registered; the main thread's */

static struct netconfig *config(const struct sockaddr *addr)
{
	return getnetconfigent(addr->sa_family == AF_INET6 ? "tcp6" : "tcp");
}

static void unset(struct netconfig *nc, size_t n)
{
	while (n > 0) {
		n--;
		if (!taken[n])
			continue;
		taken[n] = false;
		rpcb_unset(services[n].prog, services[n].vers, nc);
	}
}

bool register_can(void)
{
	return true;
}

int register_set(const struct sockaddr *addr, socklen_t addr_len, uint16_t port, struct err *e)
{
	struct sockaddr_storage at = {0};
	struct netbuf nb = {.buf = &at, .len = addr_len, .maxlen = sizeof(at)};
	struct netconfig *nc = config(addr);
	int r = 0;

	if (!nc)
		return err_set(e, ERR_INTERNAL, "--register: /etc/netconfig does not tell of tcp");
	memcpy(&at, addr, addr_len);
	if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)&at)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&at)->sin_port = htons(port);
	for (size_t i = 0; r == 0 && i < NSERVICES; i++) {
		taken[i] = rpcb_set(services[i].prog, services[i].vers, nc, &nb);
		if (taken[i] || !services[i].name)
			continue;
		unset(nc, i);
		r = err_set(e, ERR_UNREACHABLE,
			"--register: rpcbind does not take %s: it is not running, or another "
			"server has registered it (see rpcinfo -p)",
			services[i].name);
	}
	freenetconfigent(nc);
	return r;
}

void register_unset(const struct sockaddr *addr)
{
	struct netconfig *nc = config(addr);

	if (!nc)
		return;
	unset(nc, NSERVICES);
	freenetconfigent(nc);
}

#else

bool register_can(void)
{
	return false;
}

int register_set(const struct sockaddr *addr, socklen_t addr_len, uint16_t port, struct err *e)
{
	return err_set(e, ERR_INTERNAL, "--register: built without libtirpc");
}

void register_unset(const struct sockaddr *addr)
{
}

#endif
