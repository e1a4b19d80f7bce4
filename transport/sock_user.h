/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sock_user: whose the other end of a connection is, if it is on this machine.
 *
 * The kernel knows the owner of every socket and tells it to everybody (sock_diag(7)). The owner is
 * who made the socket; only a privileged process can give it away. What counts is the network
 * namespace of this process: a peer in another one has an address of its own, and is a machine like
 * any other.
 */
#ifndef RNFS_TRANSPORT_SOCK_USER_H
#define RNFS_TRANSPORT_SOCK_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sock_user {
	bool local;   /* the peer's address is one of this machine's */
	bool known;   /* and its socket is there, open and connected: */
	uint32_t uid; /* of its owner, if known */
};

/* Looks at fd, a connected TCP socket. A peer that has closed or shut down its end is not known any
 * more; what cannot be found out counts as local and not known. Any thread; does not wait for the
 * peer. */
void sock_user_of(int fd, struct sock_user *u);
/* The same for a peer without a socket: never known. */
void sock_user_at(const struct sockaddr *peer, struct sock_user *u);
/* Is it an address that only this machine itself can come from (127.0.0.0/8, ::1)? */
bool sock_user_loopback(const struct sockaddr *sa);

#endif
