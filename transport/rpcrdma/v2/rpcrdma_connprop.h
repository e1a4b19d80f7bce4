/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_connprop: the properties of both ends, in a dialect that talks. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_V2_RPCRDMA_CONNPROP_H
#define RNFS_TRANSPORT_RPCRDMA_V2_RPCRDMA_CONNPROP_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* A message in such a dialect has come. Sends our properties when due. */
void rpcrdma_tell_props(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* The peer's properties have come in m, under header h. */
void rpcrdma_handle_props(
	struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, struct rpcrdma_msg *m);

#endif
