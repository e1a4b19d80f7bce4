/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_lent: replies with Read chunks, at the responder.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_LENT_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_RPCRDMA_LENT_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Is so much lent that no further call must begin? */
bool rpcrdma_lends_enough(struct rpcrdma_conn *c);
/* Copies the n parts to a new buffer and opens the buffer for the peer. Adds the parts to the Read
 * list of h, part i at position[i]. n: 1..XDR_MAX_PAYLOADS. 0, -ENOMEM, -EMSGSIZE, -ENOTCONN. Any
 * thread; the caller then posts the Send of h. */
int rpcrdma_lend(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const struct rpcrdma_stream *part,
	const uint32_t *position, unsigned n);
/* RDMA_DONE has come. Progress thread, as in all functions below. */
void rpcrdma_handle_done(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Ends the connection if an RDMA_DONE is overdue. Called while a reply is lent. */
void rpcrdma_lent_look(struct rpcrdma_conn *c);
void rpcrdma_lent_closed(struct rpcrdma_conn *c, struct rpcrdma_lent *l);
/* The connection is down. */
void rpcrdma_lent_drop_all(struct rpcrdma_conn *c);

#endif
