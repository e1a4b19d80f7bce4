/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v2_2016: the first draft of version 2 of RPC-over-RDMA
 * (draft-cel-nfsv4-rpcrdma-version-two-01, 2016). This draft has the version number of the draft of
 * 2019 (rpcrdma_v2.h) but other headers: an end of one draft cannot speak the other.
 *
 * The draft is version 1 with a direction in each header, an inline threshold of 4096 bytes, and
 * RDMA2_OPTIONAL for extensions. The answer to an unknown operation is RDMA2_ERR_INVAL_OPTION
 * (section 3.1). The credit word is as in version 1.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_V2_2016_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_V2_2016_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

extern const struct rpcrdma_dialect rpcrdma_v2_2016;
/* The same with the operations 5 to 8 of rpcrdma_rtr.h. The dialect has no properties, so no end
 * knows the receive buffers of the other. RDMA alone places data, as items and places tell. */
extern const struct rpcrdma_dialect rpcrdma_v2_2016_rtr;

#endif
