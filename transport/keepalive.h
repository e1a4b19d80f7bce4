/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * keepalive: how soon the kernel of this machine notices that the peer of a TCP connection is gone.
 *
 * A requester whose calls have all arrived sends nothing more. If the server loses its power, only
 * a probe of TCP finds out: the restarted server answers the probe with a reset. The client's state
 * lives for one lease after that restart, so the probes of such a connection follow the lease. A
 * probe leaves only while no data is under way in either direction. The peer's kernel answers the
 * probe, so a peer whose program is slow is not given up.
 */
#ifndef RNFS_TRANSPORT_KEEPALIVE_H
#define RNFS_TRANSPORT_KEEPALIVE_H

struct keepalive {
	unsigned idle_s;     /* silence before the first probe */
	unsigned interval_s; /* from probe to probe */
	unsigned probes;     /* without an answer, before the connection is given up */
	unsigned lost_ms;    /* likewise: sent bytes without an acknowledgement, and probes */
};

/* k for a connection whose peer keeps state for lease_s after a restart; 0: keeps none. No time is
 * longer than k's. */
struct keepalive keepalive_within(const struct keepalive *k, unsigned lease_s);
/* Sets the options of fd, a TCP socket. The connection works without them, too. */
void keepalive_set(int fd, const struct keepalive *k);

#endif
