/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * old_ops: the table of the dialect of 2005.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_OLD_OPS_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_OLD_OPS_H

#include "transport/rpcrdma/rpcrdma_parts.h"

extern const struct rpcrdma_old_ops rpcrdma_old_ops;

#endif
