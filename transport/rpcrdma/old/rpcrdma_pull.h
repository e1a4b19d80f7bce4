/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_pull: replies with Read chunks, at the requester. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_PULL_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_PULL_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Reads the Read list of h, the header of the reply to p. Then sends RDMA_DONE and tells the owner.
 * p->in has the payloads that the peer wrote to sinks. */
void rpcrdma_pull_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h);
/* All of t, a reply, has been read. Takes t. */
void rpcrdma_reply_pulled(struct rpcrdma_conn *c, struct rpcrdma_taken *t);

#endif
