/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_conn_impl: a connection of a server (rpc_server.c): its thread, which calls the service, and
 * our calls to the client (rpc_cb.c).
 *
 * A srv_conn lives exactly as long as its rpc_xprt: the xprt's last unref frees both. The
 * connection's thread holds one reference, each request and each user of rpc_xprt_ref() one more.
 * So both outlive the connection, and the server, until the last request is answered.
 *
 * Locks: table.lock guards our calls and `down`; places->lock guards the fields marked below. None
 * is held while another is taken, nor during a callback.
 */
#ifndef RNFS_TRANSPORT_RPC_SRV_CONN_IMPL_H
#define RNFS_TRANSPORT_RPC_SRV_CONN_IMPL_H

#include "transport/rpc/rpc_table.h"
#include "transport/rpc/xprt.h"
#include "transport/share.h"

#define SRV_STILL_MS 1000 /* a connection on which nothing has moved for so long stands still */

struct srv_places;

struct srv_conn {
	/* the server's: only on the connection's thread, and while that runs */
	const struct rpc_server_params *p;
	struct srv_places *places;

	struct mem_pool *pool;
	struct rpc_xprt *x;
	TAILQ_ENTRY(srv_conn) link; /* places->lock */
	bool evicted;		    /* places->lock: its place was given to a newcomer */
	uint64_t since_ns;	    /* when it was accepted, CLOCK_MONOTONIC */
	struct share_key key;	    /* the peer's */
	uint64_t moved, still_ns;   /* its thread's: since when keeps() says the same; 0: keeps()
				     * says false */
	struct rpc_counts stats;

	struct rpc_table table; /* our calls to the client */
	bool down;		/* table.lock: no more calls are taken */
};

#endif
