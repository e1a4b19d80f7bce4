/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_connector: makes a client's connections, one attempt after the other.
 *
 *   idle --rpc_connector_start(), once retry_at has come--> running --thread ends--> done
 *     ^----------------------rpc_connector_collect()--------------------------------'
 *
 * An attempt may block for connect_ms; a thread of its own makes it, writes kick_fd when it has an
 * outcome, and ends. The pause between attempts doubles until one has led to a connection that
 * worked.
 *
 * Threads: one, the owner's, calls these functions; the attempt's thread touches only attempts,
 * xprt, err and done. No lock.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CONNECTOR_H
#define RNFS_TRANSPORT_RPC_RPC_CONNECTOR_H

#include <pthread.h>
#include <stdatomic.h>

#include "transport/rpc/xprt.h"

struct rpc_connector {
	const struct rpc_client_params *p;
	struct rpc_xprt_up up;	  /* what every connection is given */
	struct rpc_counts *stats; /* likewise */
	int kick_fd;		  /* an attempt has ended: written */
	int abort_fd;		  /* readable: attempts give up */

	pthread_t thread;
	bool running;	  /* owner's: there is a thread to be joined */
	atomic_bool done; /* xprt and err are set */
	struct rpc_xprt *xprt;
	struct err err;

	uint64_t retry_at;     /* ns, as clock_coarse_ns(): no attempt is made before */
	unsigned backoff_ms;   /* before the attempt after the next */
	uint16_t from_port;    /* with same_port: of the last connection */
	unsigned rdma_version; /* of RPC-over-RDMA, to begin with; 0: the best */
	unsigned attempts;     /* to replace it */
};

/* p, stats and kick_fd must outlive n. 0, or -errno when there is no descriptor for abort_fd. */
int rpc_connector_init(struct rpc_connector *n, const struct rpc_client_params *p,
	const struct rpc_xprt_up *up, struct rpc_counts *stats, int kick_fd);
/* Any thread: the attempt under way, and any later one, gives up. */
void rpc_connector_abort(struct rpc_connector *n);
/* Ends the attempt under way, and the connection that it may have made. */
void rpc_connector_finish(struct rpc_connector *n);

/* Makes a connection here and now; a readable abort_fd ends it (0 or -1: none). NULL with *e set.
 */
struct rpc_xprt *rpc_connector_connect(struct rpc_connector *n, int abort_fd, struct err *e);

/* Starts an attempt if none runs and the pause is over. Returns ms until it is, at most max. */
int rpc_connector_start(struct rpc_connector *n, int max);
/* Has the attempt ended? Then *x is its connection, or NULL: n->err says why, and the next attempt
 * waits. */
bool rpc_connector_collect(struct rpc_connector *n, struct rpc_xprt **x);
/* The connection x was lost, which lived for lived_ns. worked: it has carried an answer. One that
 * worked is replaced at once, one that did not after a pause that grows each time. The next begins
 * with the version of RPC-over-RDMA that x spoke last: what the server has just refused it is not
 * asked again. But after a connection that lived for ten minutes or more it begins with the best,
 * since the server may be a newer one by then: at the cost of one refused message. */
void rpc_connector_lost(
	struct rpc_connector *n, const struct rpc_xprt *x, bool worked, uint64_t lived_ns);

#endif
