/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silence: how long a peer's kernel has owed an acknowledgement. Model: silence.h.
 */
#include "transport/silence.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "transport/clock.h"

static void probe_each_second(int fd)
{
	int s = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &s, sizeof(s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &s, sizeof(s));
}

unsigned silence_look(struct silence *s, int fd, uint64_t now)
{
	struct tcp_info i = {0};
	socklen_t len = sizeof(i);
	uint64_t heard_ns;

	if (!s->probing)
		probe_each_second(fd);
	s->probing = true;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) ||
		(!i.tcpi_unacked && !i.tcpi_probes)) {
		s->since = 0;
		return 0;
	}
	heard_ns = i.tcpi_last_ack_recv * NSEC_PER_MSEC;
	if (!s->since)
		s->since = now;
	else if (clock_age(now, s->since) > heard_ns)
		s->since = now - heard_ns;
	return (unsigned)(clock_age(now, s->since) / NSEC_PER_MSEC);
}

bool silence_rest(struct silence *s)
{
	bool was = s->probing;

	*s = (struct silence){0};
	return was;
}
