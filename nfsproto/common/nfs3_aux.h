/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_aux: single calls to the programs that NFSv3 needs beside itself: the portmapper (RFC 1833)
 * and MOUNT. The calls run over TCP or UDP also where NFS runs over RDMA. On servers that offer
 * this, the calls run on the port and by the transport of NFS itself. All block, and never for
 * longer than the given time.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS3_AUX_H
#define RNFS_NFSPROTO_COMMON_NFS3_AUX_H

#include "nfsproto/common/nfs3_sync.h"

#define PMAP_PORT 111

/* Where a program is. */
struct nfs3_aux {
	struct rpc_client_params rp; /* its program, version and address; the port counts */
	bool udp;		     /* else by rp.proto */
	struct rpc_cred cred;
	const atomic_bool *stop; /* of nfs3_aux_getport()'s call (nfs3_sync.h), or NULL */
};

void nfs3_aux_set_port(struct nfs3_aux *a, uint16_t port);

/* One call, as nfs3_sync_call(); connecting counts to ms. -ENOTCONN: no connection, *e has the
 * sentence (e may be NULL). */
int nfs3_aux_call(const struct nfs3_aux *a, struct nfs3_sync *s, uint32_t proc,
	void (*put)(struct nfs3_sync *s, struct xdr_out *x), uint32_t reply_max, unsigned ms,
	struct err *e);

/* Asks the portmapper at a's address for the port of a's program, by TCP or UDP as a says. 0 and
 * *port (0: the program is not there), or -errno: the portmapper does not answer. */
int nfs3_aux_getport(const struct nfs3_aux *a, uint16_t *port, unsigned ms);

/* RFC 1833's universal address ("10.0.0.1.8.1", "::1.8.1"), n bytes. Returns the port; 0: none. */
uint16_t nfs3_aux_uaddr_port(const char *s, uint32_t n);

#endif
