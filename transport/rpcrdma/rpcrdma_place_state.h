/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_place_state: the part of a connection that places data by Sends (rpcrdma_place.c,
 * rpcrdma_group.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PLACE_STATE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PLACE_STATE_H

#include <stdbool.h>

#include "transport/rpcrdma/rpcrdma_hdr.h"
#include "transport/rpcrdma/rpcrdma_msg.h"

/* Receive buffers for Sends with data: a message, then pages. The first page also takes the end of
 * a message that is too long for the head. */
#define RPCRDMA_RTR_HEAD 1024
#define RPCRDMA_RTR_PAGE 4096
#define RPCRDMA_RTR_OWN	 17
/* Bytes of one such buffer, which ends with a page. */
#define RPCRDMA_RTR_BLOCK ((1 + RPCRDMA_RTR_OWN) * RPCRDMA_RTR_PAGE)
#define RPCRDMA_PIECES	  (2 * RPCRDMA_RTR_OWN) /* pieces of a result that came in Sends */
#define RPCRDMA_RTR_FIXED 64  /* bytes of the header of a Transmit Request with an item, at most */
#define RPCRDMA_RTR_HDR	  256 /* bytes of a header with an item that fills a receive buffer */

/* A group of transmissions that has begun to arrive. Progress thread. */
struct rpcrdma_group {
	unsigned count;	       /* of transmissions; 0: no group has begun */
	bool refused;	       /* we refused the group and drop the rest of it ... */
	uint32_t xid;	       /* ... which has this XID */
	struct rpcrdma_hdr *h; /* of the first; allocated with the first group */
	struct rpcrdma_msg m;
};

struct rpcrdma_place_state {
	/* targets: our receive buffers have targets. layout: of the peer's receive buffers. ops:
	 * the operations that the peer takes (RPCRDMA_RTR_XREQ, ...). The layout does not change
	 * once ops is not 0. */
	bool targets; /* constant */
	struct rpcrdma_rtr_layout layout;
	/* Sends that the peer takes for a call, and Sends that a reply of the peer may take */
	unsigned req_sends, resp_sends;
	_Atomic uint32_t ops;
	bool layout_known; /* progress thread */
	struct rpcrdma_group group;
};

#endif
