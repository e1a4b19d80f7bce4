/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * admit: who may connect, and for whom a connection may speak.
 *
 * By address: with --clients only peers in one of its networks are served, with --privileged-ports
 * only calls from a port below 1024.
 *
 * By user: a peer on this machine is trusted if its socket is root's, the server's own user's, or
 * that of one of --allow-users. A server that acts as its own user for everybody serves no other
 * local peer. A server run by root serves them too, but they speak for themselves only: a call in
 * the name of another is nobody's. Of a local peer without a socket (transport rdma) nothing is
 * known: it is served only if all users are allowed.
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

/* Add what the values of --allow-users and --clients name; the list is cut into words. 0; or -1
 * with *e set. */
int admit_add_users(struct admit *a, char *list, struct err *e);
int admit_add_clients(struct admit *a, char *list, struct err *e);

enum admit_verdict {
	ADMIT_YES,
	ADMIT_NOT_ADDRESS, /* not in --clients */
	ADMIT_NOT_PORT,	   /* not a privileged port */
	ADMIT_NOT_USER,	   /* a local user without trust */
	ADMIT_NOT_KNOWN,   /* a local peer of whom nothing is known */
};
/* May who at addr connect to a server run by user self? */
enum admit_verdict admit_check(const struct admit *a, uint32_t self, const struct sockaddr *addr,
	const struct sock_user *who);
/* The same for a connection of a server; a refusal is logged. */
bool admit_xprt(const struct admit *a, const struct rpc_xprt *x);

/* Is who elsewhere, or trusted by a server run by user self? a NULL: everybody is. */
bool admit_trusts(const struct admit *a, uint32_t self, const struct sock_user *who);

/* What cred counts for, when who has sent it to a server that acts as its callers: left alone if
 * who is elsewhere or trusted; if it names the user himself, his own groups stay of those that it
 * names, and the group is his first one if it is none of them; else it is made nobody's. May ask
 * the machine's name service, which may block. */
void admit_cred(const struct admit *a, const struct sock_user *who, struct rpc_cred *cred);

#endif
