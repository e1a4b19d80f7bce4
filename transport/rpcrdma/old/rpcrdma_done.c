/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_done: RDMA_DONE, and its credit, at the requester.
 *
 * RDMA_DONE takes the credit of the call, which does not come back with such a reply. The credit
 * comes back with the answer to any call that was sent after the RDMA_DONE, since the peer takes
 * messages in order. If only RDMA_DONEs are under way, the credits come back at once.
 */
#include "transport/rpcrdma/old/rpcrdma_done.h"

#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_flow.h"

void rpcrdma_dones_back_locked(struct rpcrdma_conn *c, uint32_t n) REQUIRES(c->lock)
{
	if ((int32_t)(n - c->old.dones_back) <= 0)
		return; /* the answer to a later call came before */
	rpcrdma_credit_put(&c->credit_out, n - c->old.dones_back);
	c->old.dones_back = n;
}

void rpcrdma_send_done(struct rpcrdma_conn *c, uint32_t xid)
{
	struct rpcrdma_hdr h;
	int rc;

	rpcrdma_begin_hdr(c, &h, xid, RPCRDMA_DIR_CALL, RDMA_DONE);
	rc = rpcrdma_post_hdr(c, &h);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "RDMA_DONE could not be sent: %s", strerror(-rc));
	mutex_lock(&c->lock);
	c->old.dones_sent++; /* after the post: all later posts come behind this RDMA_DONE */
	mutex_unlock(&c->lock);
}
