/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * keepalive: how soon the kernel of this machine notices that the peer of a TCP connection is gone.
 */
#include "transport/keepalive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* A peer that reads nothing for a while has a closed window, which counts as missing
 * acknowledgements: shorter leases leave such a peer this time. */
#define LOST_MIN_MS 10000u

static unsigned less(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned more(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* After a third of the lease the first probe leaves. A server that is up again at any later moment
 * is noticed within a twelfth of the lease. */
struct keepalive keepalive_within(const struct keepalive *k, unsigned lease_s)
{
	struct keepalive w = *k;

	if (!lease_s)
		return w;
	w.idle_s = less(k->idle_s, more(lease_s / 3, 1));
	w.interval_s = less(k->interval_s, more(lease_s / 12, 1));
	if (lease_s < k->lost_ms / 1000)
		w.lost_ms = less(k->lost_ms, more(lease_s * 1000, LOST_MIN_MS));
	return w;
}

static void set(int fd, int level, int name, unsigned value)
{
	int n = (int)value;

	setsockopt(fd, level, name, &n, sizeof(n));
}

void keepalive_set(int fd, const struct keepalive *k)
{
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, k->idle_s);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, k->interval_s);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, k->probes);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, k->lost_ms);
}
