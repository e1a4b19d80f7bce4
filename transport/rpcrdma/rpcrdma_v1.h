/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v1: RPC-over-RDMA version 1 (RFC 8166).
 *
 * The credit word counts calls: in a call how many the sender would like to have under way, in a
 * reply how many the sender grants (section 3.3.1). Only the RPC header behind the transport header
 * says the direction of a message, if that header is in the Send and there are no chunks (RFC 8167
 * section 5).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_V1_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_V1_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

extern const struct rpcrdma_dialect rpcrdma_v1;

/* RFC 8167: what follows a header without chunks is an RPC header, which names a direction; here of
 * len bytes at rpc. Bytes that are none say nothing. */
enum rpcrdma_dir rpcrdma_v1_direction(const struct rpcrdma_hdr *h, const void *rpc, size_t len);

#endif
