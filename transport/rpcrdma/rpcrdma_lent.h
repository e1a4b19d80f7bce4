/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_lent: replies with Read chunks: what a responder lends (rpcrdma_lent.c), and a requester
 * reads (rpcrdma_pull.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LENT_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LENT_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* rpcrdma_lent.c: replies with Read chunks, at the responder. */
/* Is there so much of them that no call is begun? */
bool rpcrdma_lends_enough(struct rpcrdma_conn *c);
/* Copies the n parts to memory of their own and opens it for the peer, and adds it to h as the Read
 * list, part i at position[i]. n: 1..XDR_MAX_PAYLOADS. 0, -ENOMEM, -EMSGSIZE, -ENOTCONN. Any
 * thread; to be followed by the Send of h. */
int rpcrdma_lend(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const struct rpcrdma_stream *part,
	const uint32_t *position, unsigned n);
/* RDMA_DONE has come; the rest progress thread, too. */
void rpcrdma_handle_done(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Ends a connection whose peer does not say it. */
void rpcrdma_lent_look(struct rpcrdma_conn *c);
#define RPCRDMA_LENT_COOKIE 1u /* added to the address of one, when its doors are closed */
void rpcrdma_lent_closed(struct rpcrdma_conn *c, struct rpcrdma_lent *l);
/* The connection is down. */
void rpcrdma_lent_drop_all(struct rpcrdma_conn *c);

/* rpcrdma_pull.c: replies with Read chunks, at the requester. Progress thread. */
/* The credit of a call whose reply has a Read list goes over to its RDMA_DONE. */
static inline bool rpcrdma_is_lent(
	const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	return !rc && h->nreads && c->dialect->legacy && c->requester;
}
/* Reads what the reply to p, under header h, leaves to be read, then says RDMA_DONE, and tells the
 * owner. p->in has what was placed in sinks. */
void rpcrdma_pull_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h);
/* All of t, a reply, has been read. Takes t. */
void rpcrdma_reply_pulled(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* Says RDMA_DONE; there is a credit for it, which is back once the peer has got further. */
void rpcrdma_send_done(struct rpcrdma_conn *c, uint32_t xid);
/* Credits of RDMA_DONEs, the first n of all, are back. */
void rpcrdma_dones_back_locked(struct rpcrdma_conn *c, uint32_t n);

#endif
