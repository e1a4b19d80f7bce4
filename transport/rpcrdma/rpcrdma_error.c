/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_error: answers with RDMA_ERROR.
 */
#include "transport/rpcrdma/rpcrdma_error.h"

#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_flow.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"

void rpcrdma_send_error(
	struct rpcrdma_conn *c, uint32_t xid, uint32_t vers, const struct rpcrdma_fault *f)
{
	struct rpcrdma_hdr h;
	int rc;

	rpcrdma_begin_hdr(c, &h, xid, RPCRDMA_DIR_REPLY, RDMA_ERROR);
	h.vers = vers;
	h.err = f->err;
	h.err_arg = f->arg;
	h.err_index = f->index;
	rpcrdma_offer(c, &h.vers_low, &h.vers_high);
	rc = rpcrdma_post_hdr(c, &h);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "an error could not be sent: %s", strerror(-rc));
}
