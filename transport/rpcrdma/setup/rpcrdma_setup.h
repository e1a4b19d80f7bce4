/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_setup: makes connections, and ends them.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_SETUP_RPCRDMA_SETUP_H
#define RNFS_TRANSPORT_RPCRDMA_SETUP_RPCRDMA_SETUP_H

#include "transport/rpcrdma/rpcrdma_conn.h"

extern const struct rpc_xprt_ops rpcrdma_ops;
/* rpcrdma_connect() and rpcrdma_listen() on a given provider (tests). */
struct rpc_xprt *rpcrdma_connect_on(const struct prov_ops *prov, const struct rpc_client_params *p,
	const struct rpc_xprt_up *up, struct err *e);
struct rpc_acceptor *rpcrdma_listen_on(
	const struct prov_ops *prov, const struct rpc_server_params *p, struct err *e);

#endif
