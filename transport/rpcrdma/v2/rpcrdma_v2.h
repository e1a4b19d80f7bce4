/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v2: version 2 of RPC-over-RDMA (draft-ietf-nfsv4-rpcrdma-version-two, November 2019,
 * section 6).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_V2_RPCRDMA_V2_H
#define RNFS_TRANSPORT_RPCRDMA_V2_RPCRDMA_V2_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

#define RPCRDMA_V2_PREFIX_LEN 20 /* the fixed words and the flags */

/* The word of flags (section 6.3.2). */
#define RPCRDMA_V2_RESPONSE 0x1u
#define RPCRDMA_V2_MORE	    0x2u

extern const struct rpcrdma_dialect rpcrdma_v2;
/* The same with the operations of rpcrdma_rtr.h, as separate header types. */
extern const struct rpcrdma_dialect rpcrdma_v2_rtr;

#endif
