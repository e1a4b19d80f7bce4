/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_conn: one RPC connection over TCP, for the connection's own files. All other code uses
 * transport/rpc/xprt.h.
 *
 *   tcp.c           the socket between tcp_tx and tcp_rx: the operations of an xprt
 *   tcp_connect.c   opens connections: connect(), accept()
 */
#ifndef RNFS_TRANSPORT_TCP_TCP_CONN_H
#define RNFS_TRANSPORT_TCP_TCP_CONN_H

#include <pthread.h>
#include <stdatomic.h>

#include "transport/keepalive.h"
#include "transport/rpc/xprt.h"
#include "transport/tcp/tcp_rx.h"
#include "transport/tcp/tcp_tx.h"

struct tcp_conn {
	struct rpc_xprt x; /* first */
	int fd;
	bool server;
	struct keepalive keepalive; /* without a lease; constant */
	struct tcp_tx tx;
	struct tcp_rx rx;
	_Atomic int big_sinks; /* calls under way with replies worth reading narrowly */
	_Atomic int nreqs;     /* requests with the service */
	/* The thread that runs upcalls of this connection; 0: none. Only the running thread finds
	 * its own id here. */
	_Atomic pthread_t corker;
	/* the progress thread's */
	uint64_t received;   /* bytes */
	uint64_t cork_since; /* 0: not yet known */
	unsigned slow;	     /* the next `slow` requests run without cork: the service is slow */
};

static inline struct tcp_conn *tcp_conn_of(struct rpc_xprt *x)
{
	return (struct tcp_conn *)x;
}

/* The operations of a connection, for code that wraps a connection (rpc/xprt.h). */
extern const struct rpc_xprt_ops tcp_ops;

/* Makes a connection on fd, a connected socket. The connection owns fd, also after a failure.
 * server: this process is the server. up may be NULL until establish(). dead_ms: the kernel closes
 * the connection when sent bytes are without an acknowledgement for so long. NULL with *e set. */
struct tcp_conn *tcp_conn_new(int fd, bool server, struct mem_pool *pool,
	const struct rpc_xprt_up *up, const struct sockaddr *peer, unsigned dead_ms, struct err *e);

#endif
