/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_pull: replies with Read chunks, at the requester (draft-ietf-nfsv4-rpcrdma-01
 * section 3.8).
 *
 * The requester reads such chunks like the chunks of a call (responder_call.c), into new memory. So
 * the owner can take the call back meanwhile: the RDMA Reads then continue without an owner. The
 * owner gets the reply like an inline reply.
 */
#include "transport/rpcrdma/old/rpcrdma_pull.h"

#include <errno.h>

#include "transport/log.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpcrdma/old/rpcrdma_done.h"
#include "transport/rpcrdma/requester_close.h"
#include "transport/rpcrdma/rpcrdma_read.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_taken.h"

/* Most bytes of the reply to call. */
static uint64_t reply_bound(const struct rpc_call *call)
{
	uint64_t n =
		RPCRDMA_REPLY_HDR + (uint64_t)call->reply_max + rpc_auth_of(call)->ops->verf_max;

	for (unsigned i = 0; i < call->nsinks; i++)
		n += (uint64_t)call->sink[i].len + xdr_pad(call->sink[i].len);
	return n + 3;
}

/* Does the Read list of h have the message, and no data at positions behind? */
static bool is_message_alone(const struct rpcrdma_hdr *h)
{
	for (unsigned i = 0; i < h->nreads; i++)
		if (h->read[i].position)
			return false;
	return h->proc == RDMA_NOMSG;
}

/* Why the reply under header h cannot be read, or NULL. */
static const char *why_not(
	const struct rpcrdma_conn *c, const struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	uint64_t len = 0;

	for (unsigned i = 0; i < h->nreads; i++)
		len += h->read[i].seg.length;
	if (!c->reads_max)
		return "has a Read list, though the peer takes no RDMA Reads";
	if (p->in.npayloads && !is_message_alone(h))
		return "has a Read list and data in a Write chunk";
	if (len > reply_bound(p->call))
		return "has a Read list of more bytes than its results can have";
	return NULL;
}

/* Makes p->pull. 0, or -EIO, also for want of memory. */
static int plan(struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	const char *why = why_not(c, p, h);
	struct rpcrdma_taken *t;

	if (why) {
		log_warn("%s: reply %08x %s: protocol error by the peer", c->x.peer, h->xid, why);
		return -EIO;
	}
	t = rpcrdma_taken_new(h);
	if (!t)
		return -EIO;
	t->nsegs = t->nwrites = 0;
	t->has_reply = t->has_inv = false;
	t->is_reply = true;
	if (rpcrdma_taken_plan(c, t, h, &p->reply)) {
		log_warn("%s: reply %08x has a Read list that makes no sense: protocol error by "
			 "the peer",
			c->x.peer, h->xid);
		rpcrdma_taken_free(c, t);
		return -EIO;
	}
	t->posted = p;
	p->pull = t;
	return 0;
}

void rpcrdma_pull_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	if (!p->error)
		p->error = plan(c, p, h);
	if (p->error) {
		rpcrdma_send_done(c, h->xid); /* so that the peer releases the reply */
		rpcrdma_close_doors(c, p);
		return;
	}
	rpcrdma_msg_done(c, &p->reply); /* p->pull has the rest */
	mutex_lock(&c->lock);
	p->state = RPCRDMA_PULLED;
	mutex_unlock(&c->lock);
	if (rpcrdma_read_go(c, p->pull))
		rpcrdma_reply_pulled(c, p->pull);
}

void rpcrdma_reply_pulled(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	struct rpcrdma_posted *p = t->posted;
	struct xdr_in in;

	rpcrdma_send_done(c, t->xid);
	rpc_count(&c->x.stats->replies_read, 1);
	if (!p) {
		rpcrdma_taken_free(c, t);
		return;
	}
	rpcrdma_taken_stream(t, &in);
	for (unsigned i = 0; i < p->in.npayloads; i++) /* payloads in sinks */
		in.payload[in.npayloads++] = p->in.payload[i];
	p->in = in;
	mutex_lock(&c->lock);
	p->state = RPCRDMA_CLOSING;
	mutex_unlock(&c->lock);
	rpcrdma_close_doors(c, p);
}
