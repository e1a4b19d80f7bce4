/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * keepalive: how soon the kernel of this machine notices that the peer of a TCP connection is gone.
 *
 * A requester sends nothing more once all calls have arrived. If the server loses power, only a TCP
 * probe finds out: the restarted server answers the probe with a reset. The client's state lives
 * for one lease after the restart, so the time between probes depends on the lease. A probe leaves
 * only while no data is under way in either direction. The peer's kernel answers the probe, so a
 * slow program on the peer does not end the connection.
 */
#ifndef RNFS_TRANSPORT_KEEPALIVE_H
#define RNFS_TRANSPORT_KEEPALIVE_H

struct keepalive {
	unsigned idle_s;     /* silence before the first probe */
	unsigned interval_s; /* from probe to probe */
	unsigned probes;     /* without an answer, before the connection is given up */
	unsigned lost_ms;    /* likewise: sent bytes without an acknowledgement, and probes */
};

/* Returns k with times short enough for a peer that keeps state for lease_s after a restart; 0: no
 * state. No time is longer than k's. */
struct keepalive keepalive_within(const struct keepalive *k, unsigned lease_s);
/* Sets the options of fd, a TCP socket. The connection works without the options, too. */
void keepalive_set(int fd, const struct keepalive *k);

#endif
