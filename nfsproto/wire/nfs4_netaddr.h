/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_netaddr: a network address between netaddr4 (RFC 5665: a netid and a universal address) and
 * struct sockaddr.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_NETADDR_H
#define RNFS_NFSPROTO_WIRE_NFS4_NETADDR_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "nfsproto/wire/nfs4_xdr_layout.h"

#define NFS4_UADDR_MAX (INET6_ADDRSTRLEN + 8) /* bytes, with the terminator */

/* Reads "192.0.2.1.8.1" or "2001:db8::1.8.1" of the netid tcp, tcp6, rdma or rdma6. False: another
 * netid, a malformed address, an address of the other family, or port 0. *rdma: the netid is one of
 * RDMA. */
bool nfs4_netaddr_parse(const struct nfs4_netaddr *n, struct sockaddr_storage *sa, bool *rdma);
/* Writes sa (IPv4 or IPv6) into text, terminated; *n points to text and to a constant. False: sa is
 * of another family. */
bool nfs4_netaddr_format(
	const struct sockaddr *sa, bool rdma, char text[NFS4_UADDR_MAX], struct nfs4_netaddr *n);

#endif
