/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_wc: the completions of a connection, in order. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_WC_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_WC_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Polls if no completion is left. True: there is one to handle. */
bool rpcrdma_wc_fill(struct rpcrdma_conn *c);
/* Takes the next completion. False: there is none. */
bool rpcrdma_wc_next(struct rpcrdma_conn *c, struct prov_wc *wc);
/* Polls until the doors of p are closed or the connection is down; keeps other completions for
 * later. */
void rpcrdma_await_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p);

#endif
