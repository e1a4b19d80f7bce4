/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_continue: messages in several Sends.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONTINUE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_CONTINUE_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* The Sends of a message of ours before its last, in memory of their own. */
struct rpcrdma_lead {
	unsigned n;
	struct prov_wr *wr;
};

/* A message of ours of which Sends are left that wait for credits, or for those of another. */
struct rpcrdma_stalled {
	STAILQ_ENTRY(rpcrdma_stalled) link;
	unsigned n, next;
	struct prov_wr wr[];
};

/* Bytes of an RPC message that n Sends of size bytes have room for, the last with a header of hlen
 * bytes. */
uint64_t rpcrdma_continue_room(
	const struct rpcrdma_dialect *d, uint32_t size, size_t hlen, unsigned n);
/* How many such Sends a message of len bytes takes; 0: more than `most`. */
unsigned rpcrdma_continue_sends(
	const struct rpcrdma_dialect *d, unsigned most, uint32_t size, size_t hlen, uint64_t len);
/* How many Sends a reply may take: where the ends talk, it waits for credits in the middle. */
static inline unsigned rpcrdma_reply_sends(const struct rpcrdma_dialect *d)
{
	return d->talks ? RPCRDMA_REPLY_SENDS : d->limits.sends;
}
/* Makes the first n - 1 of the n Sends of the message s under header h; s is then what remains for
 * the last. 0, or -ENOMEM: *lead is empty, and s as it was. */
int rpcrdma_lead_make(struct rpcrdma_conn *c, struct rpcrdma_lead *lead,
	const struct rpcrdma_hdr *h, struct rpcrdma_stream *s, unsigned n);
/* An empty one is zero, and zero afterwards. */
void rpcrdma_lead_drop(struct rpcrdma_lead *lead);
/* Posts the Sends of a message, lead and last, and lets go of lead; those that may not leave yet
 * follow later. paid: it has taken credits for all of them. `chain` is held. 0, -ENOMEM, or
 * prov->post()'s. */
int rpcrdma_post_message(
	struct rpcrdma_conn *c, struct rpcrdma_lead *lead, const struct prov_wr *last, bool paid);
/* A message that grants credits has come. */
void rpcrdma_granted(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Looks after what waits for credits. Progress thread. */
void rpcrdma_stalled_look(struct rpcrdma_conn *c);
void rpcrdma_stalled_drop(struct rpcrdma_conn *c);
/* Takes the Send in r, of wc->len bytes, whose header h was decoded with result rc. True: *m is its
 * message (with an undecodable header: what came in r). False: more is to come, or the connection
 * is being closed; r was given back. */
bool rpcrdma_join(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_recv *r, const struct prov_wc *wc, struct rpcrdma_msg *m);
/* A Send has come whose message goes on; before its sender can have run out of credits it is told
 * of more. */
void rpcrdma_heard_part(struct rpcrdma_conn *c);
/* Gives back what a message lies in. */
void rpcrdma_msg_done(struct rpcrdma_conn *c, struct rpcrdma_msg *m);

#endif
