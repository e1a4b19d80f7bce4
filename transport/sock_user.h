/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sock_user: the owner of the other end of a connection, if on this machine.
 *
 * The kernel tells every process the owner of any socket (sock_diag(7)). The owner is the user that
 * made the socket; only a privileged process can give a socket away. Only sockets in the network
 * namespace of this process are local: a peer in another namespace has an address of its own, and
 * counts as another machine.
 */
#ifndef RNFS_TRANSPORT_SOCK_USER_H
#define RNFS_TRANSPORT_SOCK_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sock_user {
	bool local;   /* the peer's address is on this machine */
	bool known;   /* and the peer's socket exists, open and connected */
	uint32_t uid; /* the owner, if known */
};

/* Looks at fd, a connected TCP socket. known is false for a peer that has closed or shut down the
 * connection. If the look-up fails, the peer counts as local and not known. Any thread; does not
 * wait for the peer. */
void sock_user_of(int fd, struct sock_user *u);
/* The same for a peer without a socket: never known. */
void sock_user_at(const struct sockaddr *peer, struct sock_user *u);
/* Is sa a loopback address (127.0.0.0/8, ::1)? */
bool sock_user_loopback(const struct sockaddr *sa);

#endif
