/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v2_ops: the table of the properties of dialects that talk.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_V2_V2_OPS_H
#define RNFS_TRANSPORT_RPCRDMA_V2_V2_OPS_H

#include "transport/rpcrdma/rpcrdma_parts.h"

extern const struct rpcrdma_v2_ops rpcrdma_v2_ops;

#endif
