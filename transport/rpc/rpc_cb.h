/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_cb: calls of a server to a client. All functions belong to the connection's thread.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CB_H
#define RNFS_TRANSPORT_RPC_RPC_CB_H

#include "transport/rpc/srv_conn_impl.h"

/* The upcalls of the same names (xprt.h). */
struct rpc_call *srv_conn_find_call(struct srv_conn *c, uint32_t xid, bool reverse);
void srv_conn_end_call(struct srv_conn *c, struct rpc_call *call, int error, struct xdr_in *msg);
/* Ends the calls that are overdue or could not be marshalled. Returns how long it may sleep, in ms,
 * before it must look again; max when there are no calls. */
int srv_conn_watch_calls(struct srv_conn *c, int max);
/* The connection is gone: ends all calls, and takes no more. */
void srv_conn_end_calls(struct srv_conn *c);

#endif
