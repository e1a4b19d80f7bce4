/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_connector: makes a client's connections, one attempt after the other.
 *
 *   idle --rpc_connector_start(), once retry_at has come--> running --thread ends--> done
 *     ^----------------------rpc_connector_collect()--------------------------------'
 *
 * An attempt may block for connect_ms. A thread of its own makes the attempt, writes kick_fd at the
 * outcome, and ends. The pause between attempts doubles until an attempt has led to a connection
 * that worked.
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
	struct rpc_xprt_up up;	  /* for every connection */
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
	bool refused;	       /* nothing listened at the last attempt */
};

/* p, stats and kick_fd must outlive n. 0, or -errno when there is no descriptor for abort_fd. */
int rpc_connector_init(struct rpc_connector *n, const struct rpc_client_params *p,
	const struct rpc_xprt_up *up, struct rpc_counts *stats, int kick_fd);
/* Any thread: the attempt under way, and any later one, gives up. */
void rpc_connector_abort(struct rpc_connector *n);
/* Ends the attempt under way, and a connection that the attempt has made. */
void rpc_connector_finish(struct rpc_connector *n);

/* Makes a connection in the calling thread; a readable abort_fd ends the attempt (0 or -1: none).
 * NULL with *e set. */
struct rpc_xprt *rpc_connector_connect(struct rpc_connector *n, int abort_fd, struct err *e);

/* Starts an attempt if none runs and the pause is over. Returns the ms of pause left, at most
 * max. 0: the system has no thread for the attempt, which has failed. */
int rpc_connector_start(struct rpc_connector *n, int max);
/* Has the attempt ended? Then *x is its connection, or NULL: n->err says why, and the next attempt
 * waits. */
bool rpc_connector_collect(struct rpc_connector *n, struct rpc_xprt **x);
/* The connection x was lost after lived_ns. worked: x has carried an answer. Such a connection is
 * replaced at once, or after 20 ms if it lived for less than a second. The pause after a connection
 * that did not work grows each time.
 *
 * The next attempt begins with the last version of RPC-over-RDMA on x, so the server is not asked
 * again for a version that it has just refused. After a life of ten minutes or more the next
 * attempt begins with the best version, at the cost of one refused message: the server may be a
 * newer one by then. */
void rpc_connector_lost(
	struct rpc_connector *n, const struct rpc_xprt *x, bool worked, uint64_t lived_ns);

#endif
