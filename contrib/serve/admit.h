/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * admit: decides which peers may connect, and which users' calls a connection may carry.
 *
 * By address: with --clients only peers in one of its networks are served, with --privileged-ports
 * only calls from a port below 1024.
 *
 * By user: a peer on this machine is trusted if its socket belongs to root, to the server's own
 * user, or to a user of --allow-users. A server that acts as its own user for all callers serves no
 * other local peer. A server run by root serves other local peers too, but only for their own
 * calls: a call with another user's credential becomes the anonymous user's. The user of a local
 * peer without a socket (transport rdma) is unknown: such a peer is served only if all users are
 * allowed.
 *
 * A struct admit does not change once the server runs.
 */
#ifndef RNFS_SERVE_ADMIT_H
#define RNFS_SERVE_ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/err.h"
#include "transport/rpc/rpc.h"

#define ADMIT_MAX_NETS	64
#define ADMIT_MAX_USERS 64

struct admit {
	bool all_users, privileged;
	unsigned nusers, nnets;
	uint32_t users[ADMIT_MAX_USERS];
	struct admit_net {
		uint8_t addr[16]; /* an IPv4 address is mapped into IPv6 */
		unsigned bits;	  /* of addr, 0..128 */
	} nets[ADMIT_MAX_NETS];
};

/* Add the users of --allow-users and the networks of --clients; the list is cut into words. 0; or
 * -1 with *e set. */
int admit_add_users(struct admit *a, char *list, struct err *e);
int admit_add_clients(struct admit *a, char *list, struct err *e);

enum admit_verdict {
	ADMIT_YES,
	ADMIT_NOT_ADDRESS, /* not in --clients */
	ADMIT_NOT_PORT,	   /* not a privileged port */
	ADMIT_NOT_USER,	   /* a local user without trust */
	ADMIT_NOT_KNOWN,   /* a local peer of an unknown user */
};
/* May the peer connect from addr to a server run by user self? */
enum admit_verdict admit_check(const struct admit *a, uint32_t self, const struct sockaddr *addr,
	const struct sock_user *who);
/* The same for a connection of a server. Logs a refusal. */
bool admit_xprt(const struct admit *a, const struct rpc_xprt *x);

/* Is the peer remote, or trusted by a server run by user self? a NULL: always. */
bool admit_trusts(const struct admit *a, uint32_t self, const struct sock_user *who);

/* Maps the credential of a peer's call to the credential that the server acts with. The credential
 * of a remote or trusted peer is used unchanged. A local user may name that user's own uid: of the
 * named groups only the user's own groups stay, and a foreign primary group is replaced by the
 * user's first. Any other credential becomes the anonymous user's. May ask the machine's name
 * service, which may block. */
void admit_cred(const struct admit *a, const struct sock_user *who, struct rpc_cred *cred);

#endif
