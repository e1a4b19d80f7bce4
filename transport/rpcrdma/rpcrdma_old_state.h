/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_old_state: the part of a connection for the dialect of 2005 (rpcrdma_ccp.c,
 * rpcrdma_lent.c, rpcrdma_done.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_OLD_STATE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_OLD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "transport/provider.h"
#include "transport/rpc/xdr.h"

/* Limits of lent replies (rpcrdma_lent.c); beyond, calls wait. */
#define RPCRDMA_LENT_MAX    64		/* replies */
#define RPCRDMA_LENT_BYTES  (64u << 20) /* bytes of the lent replies */
#define RPCRDMA_RARELY_LONG 8192 /* most bytes of a reply without a Reply chunk, with RDMA_DONE */

#define RPCRDMA_LENT_COOKIE 1u /* added to the address of a rpcrdma_lent: cookie of withdraw() */

/* A reply that the peer may read from our memory until RDMA_DONE comes. */
struct rpcrdma_lent {
	TAILQ_ENTRY(rpcrdma_lent) link;
	uint32_t xid;
	uint64_t since_ns;
	struct mem_buf *buf;
	uint32_t len; /* bytes in buf */
	unsigned ndoors;
	struct prov_door door[XDR_MAX_PAYLOADS];
};
TAILQ_HEAD(rpcrdma_lent_list, rpcrdma_lent);

struct rpcrdma_old_state {
	/* progress thread, or the connecting thread before */
	bool shy;	       /* the peer may speak version 1: we lend nothing */
	bool configured;       /* the ends have exchanged limits: */
	uint32_t ccp_send;     /* most bytes of a Send of ours */
	uint32_t ccp_align;    /* of the peer's receive buffers, 0: none */
	_Atomic bool may_lend; /* the peer takes Read chunks in replies */

	struct rpcrdma_lent_list lent,
		returned;	/* under the connection's lock; returned: doors being closed */
	_Atomic unsigned nlent; /* in both lists */
	_Atomic size_t lent_bytes;

	/* Our RDMA_DONEs (rpcrdma_done.c), and how many credits of RDMA_DONEs are back; under
	 * the connection's lock */
	uint32_t dones_sent, dones_back;
};

#endif
