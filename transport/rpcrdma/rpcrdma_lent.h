/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_lent: replies with Read chunks, which a responder lends (rpcrdma_lent.c) and a requester
 * reads (rpcrdma_pull.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LENT_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LENT_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* rpcrdma_lent.c: replies with Read chunks, at the responder. */
/* Is so much lent that no further call must begin? */
bool rpcrdma_lends_enough(struct rpcrdma_conn *c);
/* Copies the n parts to a new buffer and opens the buffer for the peer. Adds the parts to the Read
 * list of h, part i at position[i]. n: 1..XDR_MAX_PAYLOADS. 0, -ENOMEM, -EMSGSIZE, -ENOTCONN. Any
 * thread; the caller then posts the Send of h. */
int rpcrdma_lend(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const struct rpcrdma_stream *part,
	const uint32_t *position, unsigned n);
/* RDMA_DONE has come. Progress thread, as in all functions below of rpcrdma_lent.c. */
void rpcrdma_handle_done(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Ends the connection if an RDMA_DONE is overdue. */
void rpcrdma_lent_look(struct rpcrdma_conn *c);
#define RPCRDMA_LENT_COOKIE 1u /* added to the address of a rpcrdma_lent: cookie of withdraw() */
void rpcrdma_lent_closed(struct rpcrdma_conn *c, struct rpcrdma_lent *l);
/* The connection is down. */
void rpcrdma_lent_drop_all(struct rpcrdma_conn *c);

/* rpcrdma_pull.c: replies with Read chunks, at the requester. Progress thread. */
/* Is h the header of a lent reply? Then the credit of the call passes to the RDMA_DONE. */
static inline bool rpcrdma_is_lent(
	const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	return !rc && h->nreads && c->dialect->legacy && c->requester;
}
/* Reads the Read list of h, the header of the reply to p. Then sends RDMA_DONE and tells the owner.
 * p->in has the payloads that the peer wrote to sinks. */
void rpcrdma_pull_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h);
/* All of t, a reply, has been read. Takes t. */
void rpcrdma_reply_pulled(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* Sends RDMA_DONE. The caller has a credit for the RDMA_DONE. The credit comes back with a later
 * answer of the peer. */
void rpcrdma_send_done(struct rpcrdma_conn *c, uint32_t xid);
/* Credits of RDMA_DONEs, the first n of all, are back. */
void rpcrdma_dones_back_locked(struct rpcrdma_conn *c, uint32_t n);

#endif
