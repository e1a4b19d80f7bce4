/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dial: a TCP connection to one of several addresses, tried side by side (RFC 8305).
 *
 * The addresses stand in order of preference. An attempt begins DIAL_DELAY_MS after the one before,
 * or as soon as that one fails. The attempt that connects first wins, and the others are closed.
 */
#ifndef RNFS_TRANSPORT_DIAL_H
#define RNFS_TRANSPORT_DIAL_H

#include <sys/socket.h>

#define DIAL_ADDRS_MAX 8   /* further ones are not tried */
#define DIAL_DELAY_MS  250 /* RFC 8305 section 5, Connection Attempt Delay */

enum { DIAL_UNTRIED = -1, DIAL_CONNECTED = 0 };

struct dial_addr {
	struct sockaddr_storage ss; /* port included */
	socklen_t len;
	int outcome; /* set by dial_any(): DIAL_CONNECTED, DIAL_UNTRIED (also: given up for the
			winner), or a positive errno */
};

struct dial {
	struct dial_addr *addr;
	unsigned n;	     /* 1 or more */
	unsigned timeout_ms; /* for all together */
	int abort_fd;	     /* readable: give up with ECANCELED; 0 or -1: none */
	/* Called for each new socket, before it connects; may be NULL. go counts from 0: an attempt
	 * that fails at once with EADDRNOTAVAIL, EADDRINUSE or EACCES is made again with the next
	 * go, if that is below goes. Returns 0 or a positive errno. */
	int (*prepare)(void *ctx, int fd, int family, unsigned go);
	unsigned goes;
	void *ctx;
};

/* Blocks for timeout_ms at most. Returns a connected socket, non-blocking and close-on-exec, or -1.
 * Any thread. */
int dial_any(const struct dial *d);

/* After dial_any(): the connected address, or else the one with the most telling failure: an
 * answer, then silence, then no way there. NULL: n is 0. Pure. */
const struct dial_addr *dial_chosen(const struct dial_addr *addr, unsigned n);

#endif
