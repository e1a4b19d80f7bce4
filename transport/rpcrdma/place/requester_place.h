/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_place: calls of ours as Transmit Requests.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_PLACE_REQUESTER_PLACE_H
#define RNFS_TRANSPORT_RPCRDMA_PLACE_REQUESTER_PLACE_H

#include "transport/rpcrdma/rpcrdma_flow.h"

/* May p be a Transmit Request, with the payload or the result in Sends? */
bool rpcrdma_may_place(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p);
/* Makes the Sends of p, as many as p has credits for. 0, -ENOMEM, prov->expose()'s; -EMSGSIZE: p
 * does not fit into so many, and no door is open. */
int rpcrdma_marshal_placed(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_sends *out);
/* Credits for the Sends that bring the payload of p. 1, too, if there are not enough credits: then
 * RDMA Reads fetch the payload (section 4.3 of the extension). */
unsigned rpcrdma_place_sends_locked(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p)
	REQUIRES(c->lock);

#endif
