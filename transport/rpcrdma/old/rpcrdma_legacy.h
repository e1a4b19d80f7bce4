/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_legacy: RPC-over-RDMA version 1 of 2005 (draft-ietf-nfsv4-rpcrdma-01). RFC 8166 removed
 * some parts. The dialect has version 1 and:
 *
 * - RDMA_MSGP, a message with padding before long opaque data (rpcrdma_padded.c);
 * - Read chunks in replies, which the client reads; then it sends RDMA_DONE
 *   (rpcrdma_lent.c at the server, rpcrdma_pull.c at the client);
 * - the Connection Configuration Protocol (ccp.h, rpcrdma_ccp.c).
 *
 * The version word is 1, too, so a table has only one of the two dialects.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_LEGACY_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_LEGACY_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

extern const struct rpcrdma_dialect rpcrdma_legacy;

#endif
