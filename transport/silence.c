/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silence: how long a peer's kernel has owed an acknowledgement. Model: silence.h.
 */
#include "transport/silence.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "transport/clock.h"

#define PROBE_S 1

static void probe(int fd)
{
	int s = PROBE_S;

	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &s, sizeof(s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &s, sizeof(s));
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Since when does the peer owe an acknowledgement, as far as i tells? heard: when the last one
 * came. 0: the peer owes none. */
static uint64_t owes_since(
	const struct silence *s, const struct tcp_info *i, uint64_t now, uint64_t heard)
{
	/* Bytes that this machine cannot send although the peer has room: a link of its own is
	 * down. */
	bool stuck = i->tcpi_notsent_bytes && i->tcpi_snd_wnd;
	bool full = i->tcpi_notsent_bytes && !i->tcpi_snd_wnd; /* no probe leaves meanwhile */
	uint64_t due = later(heard, s->probing_since) + PROBE_S * NSEC_PER_SEC;

	if (i->tcpi_unacked || i->tcpi_probes || stuck)
		return later(heard, s->since ? s->since : now);
	return !full && now > due ? due : 0; /* the answer to a probe, which may not have left */
}

/* The ms of silence, 0: none. */
static unsigned look(struct silence *s, int fd, uint64_t now)
{
	struct tcp_info i = {0};
	socklen_t len = sizeof(i);

	if (!s->probing_since) {
		s->probing_since = now;
		probe(fd);
	}
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len))
		return 0;
	s->since = owes_since(s, &i, now, now - i.tcpi_last_ack_recv * NSEC_PER_MSEC);
	return s->since ? (unsigned)(clock_age(now, s->since) / NSEC_PER_MSEC) : 0;
}

bool silence_lasts(struct silence *s, int fd, uint64_t now, unsigned ms)
{
	s->looks = look(s, fd, now) < ms ? 0 : s->looks + 1;
	return s->looks > 1;
}

bool silence_rest(struct silence *s)
{
	bool was = s->probing_since != 0;

	*s = (struct silence){0};
	return was;
}
