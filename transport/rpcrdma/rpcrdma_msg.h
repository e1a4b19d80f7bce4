/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_msg: a received message and its receive buffers.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_MSG_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_MSG_H

#include <stdint.h>
#include <sys/queue.h>

#include "transport/mem.h"

#define RPCRDMA_RTR_SENDS 16 /* most Sends of a message with data in its Sends */

/* One receive buffer of the connection, and the cookie of the posted receive. Progress thread only.
 */
struct rpcrdma_recv {
	struct mem_buf *buf; /* NULL: given away with a request, to be replaced */
	STAILQ_ENTRY(rpcrdma_recv) link;
};

/* A whole received message. */
struct rpcrdma_msg {
	struct rpcrdma_recv *recv; /* of the last Send ... */
	uint32_t recv_len;	   /* ... of so many bytes */
	struct mem_buf *joined;	   /* the RPC message, if several Sends brought it; else NULL */
	uint32_t off, len;	   /* place of the RPC message in joined or recv */
	unsigned sends;
	/* The transmissions of a group (rpcrdma_group.c) behind the first, which is in recv. `end`
	 * is the offset in a receive buffer behind header and message, where data may begin. */
	uint32_t end;
	unsigned nmore;
	struct rpcrdma_part {
		struct rpcrdma_recv *recv;
		uint32_t recv_len, off, end; /* the part of the message is [off, end) */
	} more[RPCRDMA_RTR_SENDS - 1];
};

#endif
