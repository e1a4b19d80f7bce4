/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_connprop: the properties of both ends, in a dialect that talks. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONNPROP_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONNPROP_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* A mechanism that proves the identity of hosts (version 2, section 5.2.6). */
struct rpcrdma_host_auth {
	/* The data for the peer, *len bytes (1..RPCRDMA_AUTH_MAX), which must not change; NULL:
	 * none. */
	const uint8_t *(*tell)(uint32_t *len);
	/* May the peer connect? auth is NULL if the peer has sent no data. False: the connection
	 * ends.
	 */
	bool (*takes)(const uint8_t *auth, uint32_t len);
};
/* The mechanism in use. The default sends nothing and accepts every peer. */
extern const struct rpcrdma_host_auth *rpcrdma_host_auth;
/* A message in such a dialect has come. Sends our properties when due. */
void rpcrdma_tell_props(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* The peer's properties have come in m, under header h. */
void rpcrdma_handle_props(
	struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, struct rpcrdma_msg *m);

#endif
