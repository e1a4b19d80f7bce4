/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_ccp: the two ends exchange limits, in the dialect of 2005.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_CCP_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_CCP_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Requester, after the hand-shake: asks, and waits for the answer, at most timeout_ms, or until
 * abort_fd (0: none) is readable. A peer that does not know the program has the limits of
 * section 6.1. 0, or -errno with *e set. */
int rpcrdma_ccp_ask(struct rpcrdma_conn *c, int timeout_ms, int abort_fd, struct err *e);
/* Responder: is req a call of the program? True: the call was answered, and req is gone. */
bool rpcrdma_ccp_serve(struct rpcrdma_conn *c, struct rpc_req *req);

#endif
