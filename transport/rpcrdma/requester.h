/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester: calls of ours: sent (requester_call.c), sent as Transmit Requests (requester_place.c),
 * and answered (requester_reply.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_REQUESTER_H
#define RNFS_TRANSPORT_RPCRDMA_REQUESTER_H

#include "transport/rpcrdma/rpcrdma_continue.h"

/* The Sends of a call. */
struct rpcrdma_sends {
	struct rpcrdma_lead lead;
	struct prov_wr last;
	struct mem_buf *held; /* memory of the last */
};

/* requester_call.c: sends calls of ours. */
int rpcrdma_send_call(struct rpc_xprt *x, struct rpc_call *call, uint32_t off);
/* Sends as many calls from the backlog as credits allow. Progress thread. */
void rpcrdma_send_backlog(struct rpcrdma_conn *c);
/* Makes wr the Send of s under header h. If s is a whole message in one piece in buf, with headroom
 * for h, the Send uses buf in place. Otherwise (buf may be NULL) the Send uses a copy. *out is the
 * buffer of wr's memory, with a reference for the caller. 0, -EMSGSIZE (more than the peer
 * receives), -ENOMEM. */
int rpcrdma_make_send(struct rpcrdma_conn *c, struct prov_wr *wr, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, struct mem_buf *buf, struct mem_buf **out);

/* Room for n doors more. 0 or -ENOMEM. */
int rpcrdma_reserve_doors(struct rpcrdma_posted *p, unsigned n);
/* A Write chunk for a sink; there is room. 0, or prov->expose()'s. */
int rpcrdma_expose_sink(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	const struct seg_list *sink);

/* requester_place.c: the same as Transmit Requests. */
/* May p be a Transmit Request, with the payload or the result in Sends? */
bool rpcrdma_may_place(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p);
/* Makes the Sends of p, as many as p has credits for. 0, -ENOMEM, prov->expose()'s; -EMSGSIZE: p
 * does not fit into so many, and no door is open. */
int rpcrdma_marshal_placed(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_sends *out);
/* Credits for the Sends that bring the payload of p. 1, too, if there are not enough credits: then
 * RDMA Reads fetch the payload (section 4.3 of the extension). */
unsigned rpcrdma_place_sends_locked(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p);

/* requester_reply.c: takes replies to calls of ours. */
/* Message m has come; h was decoded with result rc. Takes the buffers of m. */
void rpcrdma_handle_reply(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_msg *m, const struct prov_wc *wc);
void rpcrdma_reply_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p);
/* Closes the doors of p, which is in no list. The owner gets the reply now, or when the provider
 * has closed the doors. */
void rpcrdma_close_doors(struct rpcrdma_conn *c, struct rpcrdma_posted *p);
/* Reports calls that could not be sent to the owner. */
void rpcrdma_reply_failed(struct rpcrdma_conn *c);
bool rpcrdma_forget(struct rpc_xprt *x, struct rpc_call *call);
/* Drops the memory of p; all doors of p are closed. No lock is needed. */
void rpcrdma_posted_let_go(struct rpcrdma_posted *p);
/* Frees p after rpcrdma_posted_let_go(). lock held. */
void rpcrdma_posted_free_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p);

#endif
