/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_error: answers with RDMA_ERROR.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_ERROR_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_ERROR_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Answers with RDMA_ERROR (RFC 8166 section 4.5); ERR_VERS in the version of the call. */
void rpcrdma_send_error(
	struct rpcrdma_conn *c, uint32_t xid, uint32_t vers, const struct rpcrdma_fault *f);

#endif
