/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_place: calls of ours as Transmit Requests (rpcrdma_rtr.h).
 *
 * A call with one payload, or one sink, becomes a Transmit Request. The payload goes in as many
 * Sends as the peer takes and our credits allow. A result that fits into one Send comes in a Send.
 * A longer result comes by RDMA Writes, which need no round trip either and put the data in place.
 */
#include "transport/rpcrdma/place/requester_place.h"

#include <errno.h>

#include "transport/rpc/rpc_auth.h"
#include "transport/rpcrdma/place/rpcrdma_place.h"
#include "transport/rpcrdma/requester_posted.h"
#include "transport/rpcrdma/rpcrdma_send.h"

bool rpcrdma_may_place(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p)
{
	const struct rpc_call *call = p->call;
	uint64_t reply =
		RPCRDMA_REPLY_HDR + (uint64_t)call->reply_max + rpc_auth_of(call)->ops->verf_max;

	/* a reply, data apart, must fit into one Send of the peer */
	return c->dialect->places && c->requester && c->settled && !p->plain &&
	       (c->place.ops & RPCRDMA_RTR_XREQ) && call->args.npayloads + call->nsinks == 1 &&
	       reply + RPCRDMA_RTR_HDR <= RPCRDMA_RTR_MSG;
}

/* Asks for the result of p in a Send, unless the result is too long for one. The message of p has
 * len bytes and no payload. */
static int ask_place(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h, uint32_t len)
{
	const struct seg_list *sink = &p->call->sink[0];
	struct rpcrdma_rtr_place *at = &h->rtr.place[0];
	unsigned n;
	int rc = 0;

	*at = (struct rpcrdma_rtr_place){.end = len, .type = RPCRDMA_RTR_TBSN};
	if (p->call->sink_for[0].end) {
		at->begin = RPC_HEADROOM - p->off + p->call->sink_for[0].begin;
		at->end = RPC_HEADROOM - p->off + p->call->sink_for[0].end;
	}
	if (sink->len > RPCRDMA_RTR_DATA || !c->dialect->talks ||
		!(c->place.ops & RPCRDMA_RTR_XRESP)) {
		n = seg_list_count_joined(sink, p->limits.seg_size);
		if (n > p->limits.segs ||
			RPCRDMA_RTR_HDR + n * sizeof(struct rpcrdma_seg) + len > c->x.inline_send)
			return -EMSGSIZE;
		rc = rpcrdma_reserve_doors(p, n);
		if (!rc)
			rc = rpcrdma_expose_sink(c, p, h, sink);
		at->type = c->dialect->talks ? RPCRDMA_RTR_BYSIZE : RPCRDMA_RTR_EXRW;
		at->most = c->place.ops & RPCRDMA_RTR_XRESP ? RPCRDMA_RTR_DATA : 0;
		at->at = (struct rpcrdma_rtr_run){h->write[0].first, h->write[0].n};
	}
	h->rtr.nplaces = 1;
	p->place = at->type;
	return rc;
}

int rpcrdma_marshal_placed(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_sends *out)
{
	const struct xdr_out *args = &p->call->args;
	const struct seg_list *data = args->npayloads ? &args->payload[0].data : NULL;
	struct rpcrdma_stream s;
	uint64_t all = RPC_HEADROOM - p->off + xdr_out_total(args);
	int rc = 0;

	if (all > UINT32_MAX || (!data && all > RPCRDMA_RTR_MSG))
		return -EMSGSIZE;
	rpcrdma_begin_hdr(c, h, p->call->xid, RPCRDMA_DIR_CALL, RPCRDMA_XMT_REQ);
	rpcrdma_stream_init(&s, p->call->msg, p->off, args, data != NULL, c->zero);
	h->rtr.count = 1;
	h->rtr.reserved = c->place.resp_sends;
	h->rtr.len = (uint32_t)s.len;
	if (p->call->nsinks && p->call->sink[0].len)
		rc = ask_place(c, p, h, (uint32_t)all);
	if (rc)
		return rc;
	if (p->ndoors && c->prov->remote_inval)
		h->inv_handle = p->door[0].stag;
	if (!data || !data->len)
		return rpcrdma_make_send(c, &out->last, h, &s, p->call->msg, &out->held);
	h->rtr.nitems = 1;
	rc = rpcrdma_place_item(
		c, h, 0, (uint32_t)rpcrdma_stream_pos(p->off, args, 0), data, s.len, p->sends);
	return rc ? rc : rpcrdma_make_placed(c, &out->lead, &out->last, h, &s, data, &out->held);
}

unsigned rpcrdma_place_sends_locked(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p)
	REQUIRES(c->lock)
{
	const struct xdr_out *args = &p->call->args;
	uint32_t len = args->payload[0].data.len, n = 1;
	/* the header names each target */
	uint32_t before = RPC_HEADROOM - p->off + (uint32_t)args->len + RPCRDMA_RTR_FIXED +
			  4 * (len / RPCRDMA_RTR_PAGE + 1);

	while (n < c->place.req_sends && rpcrdma_place_room(c, before, n) < len)
		n++;
	return rpcrdma_place_room(c, before, n) >= len &&
			       c->credit_out.used + n + 1 <= c->credit_out.granted
		       ? n
		       : 1;
}
