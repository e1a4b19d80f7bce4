/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_flow: decides when a message of ours may leave, in a dialect that talks.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_FLOW_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_FLOW_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* The Sends of a message of ours before the last Send, in separate memory. */
struct rpcrdma_lead {
	unsigned n;
	struct prov_wr *wr;
};

/* The Sends of a call. */
struct rpcrdma_sends {
	struct rpcrdma_lead lead;
	struct prov_wr last;
	struct mem_buf *held; /* memory of the last */
};

/* Frees the Sends. An empty lead is zero, and any lead is zero afterwards. */
void rpcrdma_lead_drop(struct rpcrdma_lead *lead);
/* Posts the Sends of a message, lead and last, and releases lead. Sends without a grant follow
 * later, and so do all later messages. paid: the message is a call, with a credit for each Send. 0,
 * -ENOMEM, or prov->post()'s. */
int rpcrdma_post_message(struct rpcrdma_conn *c, struct rpcrdma_lead *lead,
	const struct prov_wr *last, bool paid) REQUIRES(c->chain);
/* Posts a Send that takes no credit: a message that only grants, for which the peer has a receive
 * besides the granted ones. prov->post()'s. */
int rpcrdma_post_now(struct rpcrdma_conn *c, const struct prov_wr *wr) REQUIRES(c->chain);
/* Posts a message without payload. A message that only grants credits waits for no credit. 0,
 * -ENOMEM, or the error of prov->post(). Any thread. */
int rpcrdma_post_hdr(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);

/* A message has come, with header h, decoded with result rc. Progress thread. */
void rpcrdma_heard(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc);
/* A Send of a message that continues has come: grants more before the peer can have run out of
 * credits. Progress thread. */
void rpcrdma_heard_part(struct rpcrdma_conn *c);
/* Grants more if the peer may have run out, and no answer of ours is about to do so. Progress
 * thread. */
void rpcrdma_flow_say(struct rpcrdma_conn *c);
/* Posts stalled messages that may leave now, and watches for a stall that lasts too long. Progress
 * thread. */
void rpcrdma_flow_look(struct rpcrdma_conn *c);
/* Do so many bytes wait that no further call must begin? Any thread. */
bool rpcrdma_flow_holds_enough(const struct rpcrdma_conn *c);
/* Frees all waiting messages. No other thread uses c any more. */
void rpcrdma_flow_drop(struct rpcrdma_conn *c);

#endif
