/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_progress: the progress thread's loop.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PROGRESS_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PROGRESS_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* rpcrdma_progress.c: the progress thread's loop. */
int rpcrdma_progress(struct rpc_xprt *x, int timeout_ms);

#endif
