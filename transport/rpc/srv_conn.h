/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_conn: a connection of a server (rpc_server.c): its thread, which calls the service, and our
 * calls to the client (rpc_cb.c).
 *
 * A srv_conn lives exactly as long as its rpc_xprt: the xprt's last unref frees both. The
 * connection's thread holds one reference, each request and each user of rpc_xprt_ref() one more.
 * So both outlive the connection, and the server, until the last request is answered.
 *
 * Locks: table.lock guards our calls and `down`; places->lock guards the fields marked below. None
 * is held while another is taken, nor during a callback.
 */
#ifndef RNFS_TRANSPORT_RPC_SRV_CONN_H
#define RNFS_TRANSPORT_RPC_SRV_CONN_H

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

/* A connection on x, not established yet, of the server with params p, with defaults filled in.
 * NULL when out of memory: x is the caller's. Else c has taken over the reference, and ends with
 * x. */
struct srv_conn *srv_conn_new(
	struct rpc_xprt *x, const struct rpc_server_params *p, struct srv_places *places);
/* Starts the thread of c, which has its place. The thread gives the place back at its end, and
 * touches nothing of the server's afterwards. 0, or -errno: no thread, c is the caller's to unref
 * by its x. */
int srv_conn_start(struct srv_conn *c);

/* --- rpc_cb.c: our calls to the client; the connection's thread --------------------------------
 */

/* The upcalls of the same names (xprt.h). */
struct rpc_call *srv_conn_find_call(struct srv_conn *c, uint32_t xid, bool reverse);
void srv_conn_end_call(struct srv_conn *c, struct rpc_call *call, int error, struct xdr_in *msg);
/* Ends the calls that are overdue or could not be marshalled. Returns how long it may sleep, in ms,
 * before it must look again; max when there are no calls. */
int srv_conn_watch_calls(struct srv_conn *c, int max);
/* The connection is gone: ends all calls, and takes no more. */
void srv_conn_end_calls(struct srv_conn *c);

#endif
