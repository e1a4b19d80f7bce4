/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_continue: messages in several Sends.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONTINUE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONTINUE_H

#include "transport/rpcrdma/rpcrdma_flow.h"

/* The bytes of an RPC message that fit into n Sends of size bytes, the last with a header of hlen
 * bytes. */
uint64_t rpcrdma_continue_room(
	const struct rpcrdma_dialect *d, uint32_t size, size_t hlen, unsigned n);
/* How many such Sends a message of len bytes takes; 0: more than `most`. */
unsigned rpcrdma_continue_sends(
	const struct rpcrdma_dialect *d, unsigned most, uint32_t size, size_t hlen, uint64_t len);
/* The most Sends of a reply: where the ends talk, the reply may wait for credits in the middle. */
static inline unsigned rpcrdma_reply_sends(const struct rpcrdma_dialect *d)
{
	return d->talks ? RPCRDMA_REPLY_SENDS : d->limits.sends;
}
/* Makes the first n - 1 of the n Sends of the message s under header h; s is then the rest for the
 * last. 0, or -ENOMEM: *lead is empty, and s is unchanged. */
int rpcrdma_lead_make(struct rpcrdma_conn *c, struct rpcrdma_lead *lead,
	const struct rpcrdma_hdr *h, struct rpcrdma_stream *s, unsigned n);
/* Takes the Send in r, of wc->len bytes. Header h was decoded with result rc. True: *m is the whole
 * message (with an undecodable header: all bytes in r). False: the message continues, or the
 * connection is being closed; r was given back. */
bool rpcrdma_join(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_recv *r, const struct prov_wc *wc, struct rpcrdma_msg *m);

#endif
