/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_connect: the connection to a server, by name.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_CONNECT_H
#define RNFS_NFSPROTO_COMMON_NFS_CONNECT_H

#include "nfsproto/common/nfs_mount.h"

/* Resolves p->host and connects to the first of its addresses that answers: in parallel, or, with
 * an RDMA device, one after the other. The caller has set program, version, callback service and
 * callbacks in rp. This function fills in the rest from p, with the address that answered as peer.
 * NULL with *e set: the error of the first attempt. Blocks for p->connect_ms, the hand-shake and
 * the name look-up. */
struct rpc_client *nfs_connect(
	const struct nfs_mount_params *p, struct rpc_client_params *rp, struct err *e);

/* Logs that a connection beside the first `made` of `wanted` cannot be made. Registered memory that
 * is too small is a warning with both counts, since the user must mend that. */
void nfs_connect_fewer(const char *server, unsigned made, unsigned wanted, const struct err *e);

/* The port of NFS servers for a transport. */
uint16_t nfs_usual_port(enum rpc_proto proto);
/* The addresses of p->host, with the port of the mount, as nfs_address_find(). */
unsigned nfs_addresses(
	const struct nfs_mount_params *p, struct dial_addr out[DIAL_ADDRS_MAX], struct err *e);

/* Sets *e for a server that ends every connection before it has answered: its name, and the step of
 * mounting. */
void nfs_shut_out(struct err *e, struct rpc_client *rpc, const char *server, const char *step);

#endif
