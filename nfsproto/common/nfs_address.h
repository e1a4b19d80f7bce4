/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_address: the addresses of a server's name.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_ADDRESS_H
#define RNFS_NFSPROTO_COMMON_NFS_ADDRESS_H

#include <stdint.h>

#include "transport/dial.h"
#include "transport/err.h"

/* Looks host up and fills `out` with at most DIAL_ADDRS_MAX addresses. host: a name or an address
 * (IPv6 without brackets, with its scope). The addresses have the order of getaddrinfo(3), which
 * prefers IPv6 if there is a route, with the two families by turns (RFC 8305 section 4). family:
 * AF_INET6, or AF_UNSPEC for either. Blocks as name look-ups do. Returns the number, or 0 with *e
 * set (ERR_RESOLVE). */
unsigned nfs_address_find(const char *host, int family, uint16_t port,
	struct dial_addr out[DIAL_ADDRS_MAX], struct err *e);

#endif
