/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silence: for how long the kernel of a TCP connection's peer has owed an acknowledgement.
 *
 * A server that takes long over a call still acknowledges the bytes of the call. Only a server that
 * lost power, or a cut link, leaves bytes or probes without an acknowledgement. While calls wait,
 * the kernel of this machine probes an idle connection each second.
 */
#ifndef RNFS_TRANSPORT_SILENCE_H
#define RNFS_TRANSPORT_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
	/* when the peer was first seen to owe an answer, or last answered; 0: the peer owes none */
	uint64_t since;
	uint64_t probing_since; /* probes are on; 0: they are off */
	unsigned looks;		/* in a row that found a silence that is too long */
};

/* Looks at fd, a TCP socket with calls that wait, at `now` (ns). Turns the probes on. True: this
 * look and the one before found more than ms of silence. One look may follow a pause of this
 * machine: then the acknowledgements have yet to be taken in. One thread. */
bool silence_lasts(struct silence *s, int fd, uint64_t now, unsigned ms);
/* No call waits: the next silence begins anew. True: the caller must set the keepalive options
 * anew. */
bool silence_rest(struct silence *s);

#endif
