/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v1: RPC-over-RDMA version 1 (RFC 8166).
 *
 * The credit word counts calls: in a call the number that the sender would like to have under way,
 * in a reply the number that the sender grants (section 3.3.1). Only the RPC header tells the
 * direction of a message, if the RPC header is in the Send and there are no chunks (RFC 8167
 * section 5).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_V1_RPCRDMA_V1_H
#define RNFS_TRANSPORT_RPCRDMA_V1_RPCRDMA_V1_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

extern const struct rpcrdma_dialect rpcrdma_v1;

/* RFC 8167: behind a header without chunks stands an RPC header, which names a direction; here len
 * bytes at rpc. Bytes that are no RPC header name no direction. */
enum rpcrdma_dir rpcrdma_v1_direction(const struct rpcrdma_hdr *h, const void *rpc, size_t len);

#endif
