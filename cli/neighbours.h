/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * neighbours: the NFS servers in the networks of this machine.
 *
 * A broadcast asks all port mappers of an IPv4 network for the port of NFS. A server without a port
 * mapper, behind a router or on IPv6 alone is not found. libnfs has nfs_find_local_servers(), which
 * asks port mappers to forward a call (CALLIT); today's port mappers refuse to forward.
 */
#ifndef RNFS_CLI_NEIGHBOURS_H
#define RNFS_CLI_NEIGHBOURS_H

#include <netinet/in.h>

#include "transport/err.h"

#define NEIGHBOURS_MAX 64 /* further ones are left out */
#define NEIGHBOURS_MS  2000

struct neighbours {
	unsigned n;
	struct in_addr at[NEIGHBOURS_MAX]; /* each once, in the order of the answers */
};

/* Asks three times, and collects the answers of NEIGHBOURS_MS. 0, also if there are none; or -1
 * with *e set: no question could be sent. Blocks. */
int neighbours_find(struct neighbours *all, struct err *e);

#endif
