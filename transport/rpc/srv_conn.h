/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_conn: one connection of a server.
 */
#ifndef RNFS_TRANSPORT_RPC_SRV_CONN_H
#define RNFS_TRANSPORT_RPC_SRV_CONN_H

#include "transport/rpc/srv_conn_impl.h"

/* A connection on x, not established yet, of the server with params p, with defaults filled in.
 * NULL when out of memory: x is the caller's. Else c has taken over the reference, and ends with
 * x. */
struct srv_conn *srv_conn_new(
	struct rpc_xprt *x, const struct rpc_server_params *p, struct srv_places *places);
/* Starts the thread of c, which has its place. The thread gives the place back at its end, and
 * touches nothing of the server's afterwards. 0, or -errno: no thread, c is the caller's to unref
 * by its x. */
int srv_conn_start(struct srv_conn *c);

#endif
