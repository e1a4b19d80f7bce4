/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_taken: a call of the peer, or a reply with a Read list.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_TAKEN_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_TAKEN_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* A new call for the message under header h, without data from Sends, before any work on it. NULL:
 * no memory. */
struct rpcrdma_taken *rpcrdma_taken_new(const struct rpcrdma_hdr *h);
/* Plans where the message and each payload go. If the message lies in the buffers of m, t owns the
 * buffers afterwards. 0; -EBADMSG; -E2BIG: more Read chunks than we take; -EFBIG: longer chunks
 * than we take; -EPROTO: the peer has been told. */
int rpcrdma_taken_plan(struct rpcrdma_conn *c, struct rpcrdma_taken *t, const struct rpcrdma_hdr *h,
	struct rpcrdma_msg *m);
/* All of t has come: makes *in the message, with the payloads that were read. */
void rpcrdma_taken_stream(const struct rpcrdma_taken *t, struct xdr_in *in);
struct rpcrdma_taken *rpcrdma_taken_free(struct rpcrdma_conn *c, struct rpcrdma_taken *t);

#endif
