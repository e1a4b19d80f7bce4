/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_padded: RDMA_MSGP.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_PADDED_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_PADDED_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* s fits into a Send under header h. Adds padding to s if the padded message fits, too. The padding
 * aligns the payload. */
void rpcrdma_pad(struct rpcrdma_conn *c, const struct xdr_out *args, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s);

#endif
