/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * place_ops: the table of data placed by Sends.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_PLACE_PLACE_OPS_H
#define RNFS_TRANSPORT_RPCRDMA_PLACE_PLACE_OPS_H

#include "transport/rpcrdma/rpcrdma_parts.h"

extern const struct rpcrdma_place_ops rpcrdma_place_ops;

#endif
