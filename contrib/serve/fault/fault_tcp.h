/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault_tcp: the fault that needs the socket of a connection over TCP.
 */
#ifndef RNFS_SERVE_FAULT_FAULT_TCP_H
#define RNFS_SERVE_FAULT_FAULT_TCP_H

#include "transport/rpc/xprt.h"

/* Is x a connection over TCP? Call before fault_xprt_wrap(). */
bool fault_tcp_is(const struct rpc_xprt *x);
/* Sends the earlier answers, then half of the reply's record. The reply's XID is at off of
 * req->msg. Then closes the connection. req stays the caller's. Any thread. */
void fault_tcp_cut(struct rpc_xprt *x, const struct rpc_req *req, uint32_t off);

#endif
