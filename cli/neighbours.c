/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * neighbours: the NFS servers in the networks of this machine.
 */
#include "cli/neighbours.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/portmap.h"
#include "transport/clock.h"

#define ASKS	    3u
#define NFS_PROGRAM 100003

/* Sends the call to each network. Returns the number of networks that took the call. */
static unsigned ask(int fd, const struct ifaddrs *list, const uint32_t *call, size_t bytes)
{
	unsigned sent = 0;

	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		struct sockaddr_in to;

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !i->ifa_broadaddr ||
			!(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_BROADCAST))
			continue;
		memcpy(&to, i->ifa_broadaddr, sizeof(to));
		to.sin_port = htons(PORTMAP_PORT);
		sent += sendto(fd, call, bytes, 0, (const struct sockaddr *)&to, sizeof(to)) ==
			(ssize_t)bytes;
	}
	return sent;
}

static void add(struct neighbours *all, struct in_addr at)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i].s_addr == at.s_addr)
			return;
	if (all->n < NEIGHBOURS_MAX)
		all->at[all->n++] = at;
}

/* Collects answers until then, on clock_ns(). */
static void listen_until(struct neighbours *all, int fd, uint32_t xid, uint64_t end)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t now;

	while ((now = clock_ns()) < end &&
		poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) >= 0) {
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		uint32_t word[64], port;
		ssize_t n = recvfrom(
			fd, word, sizeof(word), MSG_DONTWAIT, (struct sockaddr *)&from, &len);

		/* port 0: there is no NFS */
		if (portmap_answer(word, n, xid, &port) && port)
			add(all, from.sin_addr);
	}
}

int neighbours_find(struct neighbours *all, struct err *e)
{
	static const uint32_t args[PORTMAP_ARGS_MAX] = {NFS_PROGRAM, 3, IPPROTO_TCP, 0};
	uint32_t call[PORTMAP_WORDS], xid;
	struct ifaddrs *list;
	const int yes = 1;
	unsigned sent = 0;
	size_t bytes;
	int fd;

	all->n = 0;
	if (getrandom(&xid, sizeof(xid), 0) != sizeof(xid) || getifaddrs(&list))
		return err_set(e, ERR_INTERNAL, "the network interfaces cannot be listed: %s",
			strerror(errno));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes))) {
		err_set(e, ERR_INTERNAL, "a socket cannot be made: %s", strerror(errno));
	} else {
		bytes = portmap_call(call, xid, 2, PORTMAP_GETPORT, args, PORTMAP_ARGS_MAX);
		for (unsigned i = 0; i < ASKS; i++) {
			sent += ask(fd, list, call, bytes);
			if (sent)
				listen_until(all, fd, xid,
					clock_ns() + NEIGHBOURS_MS / ASKS * NSEC_PER_MSEC);
		}
		if (!sent)
			err_set(e, ERR_UNREACHABLE,
				"no interface of this machine is up on a network whose servers can "
				"be asked: give the server's name, rnfs find SERVER");
	}
	if (fd >= 0)
		close(fd);
	freeifaddrs(list);
	return sent ? 0 : -1;
}
