/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_versions: the dialects that we speak.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_SETUP_RPCRDMA_VERSIONS_H
#define RNFS_TRANSPORT_RPCRDMA_SETUP_RPCRDMA_VERSIONS_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

/* The table of dialects that we speak. A new connection keeps the table set at the time of its
 * creation (tests set another table before). */
extern const struct rpcrdma_dialect *const *rpcrdma_dialects;
/* The table of a set of RPC_RDMA_V1, ...; none: rpcrdma_dialects. */
const struct rpcrdma_dialect *const *rpcrdma_table(unsigned versions);

#endif
